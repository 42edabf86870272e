//! The Metrics section of `meta.db`: scopes, metrics, their scope instances and summaries.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{Issues, Place, Severity, Stage};

use super::header::{FileKind, Section};
use super::layout::{
    draft_metric, draft_metrics, draft_scope, draft_summary, metric, metrics, scope,
    scope_instance, summary,
};
use super::names::Names;
use super::record::{Record, Table};

/// How a scope spreads a measured value over the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// Defined by the writer alone, such as `lex_aware`.
    Custom,
    /// The measured value at the context itself.
    Point,
    /// The context and everything below it.
    Execution,
    /// The context and what propagates to it through the bit of the propagation index.
    Transitive,
    /// A kind this reader does not know.
    Unknown(u8),
}

/// A propagation scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeRecord {
    /// Name in the file: `point`, `function`, `lex_aware`, `execution`.
    pub name: Arc<str>,
    /// How it spreads values.
    pub kind: ScopeKind,
    /// Bit of the contexts' propagation mask that a transitive scope follows; 255 when unused.
    pub propagation_index: u8,
}

/// A metric in one scope, as profiles and `cct.db` store it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeInstance {
    /// Index into [`super::MetaDb::scopes`].
    pub scope: usize,
    /// The metric id of its values in `cct.db` and in all profiles but the summary.
    pub prop_metric_id: u16,
}

/// How the values of all profiles become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// Added.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// A way this reader does not know.
    Unknown(u8),
}

/// A statistic over all profiles, as the summary profile stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryRecord {
    /// Index into [`super::MetaDb::scopes`].
    pub scope: usize,
    /// What is combined, with `$$` for the value of one profile: `$$`, `1`, `($$^2)`.
    pub formula: Arc<str>,
    /// How.
    pub combine: Combine,
    /// The metric id of its values in the summary profile. A different numbering than
    /// [`ScopeInstance::prop_metric_id`], over the same small integers.
    pub stat_metric_id: u16,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricRecord {
    /// Name with its unit, such as `CPUTIME (sec)`.
    pub name: Arc<str>,
    /// The scopes it is stored in.
    pub instances: Vec<ScopeInstance>,
    /// The statistics of it in the summary profile.
    pub summaries: Vec<SummaryRecord>,
}

pub(super) struct Metrics {
    pub(super) scopes: Vec<ScopeRecord>,
    pub(super) metrics: Vec<MetricRecord>,
    /// Whether the section has the layout of the 2022 draft.
    pub(super) is_draft: bool,
}

/// Reads the section. Metrics whose name, scopes or summaries lie outside the file lose those
/// parts and are reported.
pub(super) fn read<'a>(
    meta: Record<'a>,
    names: &mut Names<'a>,
    section: Section,
    issues: &mut Issues,
) -> Metrics {
    let budget = meta.len();
    let mut reader = Reader { meta, names, issues, scopes: Vec::new(), budget };
    let at = section.start;
    let stride = meta.u8(at + metrics::METRIC_STRIDE);
    if stride.is_some_and(|stride| u64::from(stride) == draft_metric::SIZE) {
        let metrics = reader.draft(at);
        return Metrics { scopes: reader.scopes, metrics, is_draft: true };
    }
    let metrics = reader.current(at);
    Metrics { scopes: reader.scopes, metrics, is_draft: false }
}

struct Reader<'a, 'i> {
    meta: Record<'a>,
    names: &'i mut Names<'a>,
    issues: &'i mut Issues,
    scopes: Vec<ScopeRecord>,
    /// Bytes of arrays that may still be walked. Arrays of a valid file do not overlap, so all of
    /// them together are no longer than the file; a hostile one could point many metrics at one
    /// large array.
    budget: u64,
}

impl Reader<'_, '_> {
    fn fault(&mut self, offset: u64, what: impl FnOnce() -> String) {
        let place = Place::Byte { file: FileKind::Meta.file_name().into(), offset };
        self.issues.report(Severity::Error, Stage::Read, "metric-record", place, what);
    }

    /// The records of an array that lie inside the file; the rest is reported.
    fn table(&mut self, start: u64, len: u64, stride: u64, least: u64, what: &str) -> Table {
        let stride_fits = stride >= least;
        let (table, lost) = Table::clamped(start, len, stride, self.meta.len());
        if len > 0 && !stride_fits {
            self.fault(start, || {
                format!("{what} records of {stride} bytes are too short for their {least} bytes")
            });
            return Table { len: 0, ..table };
        }
        if table.len * stride > self.budget {
            self.fault(start, || format!("{what} arrays overlap; this one is omitted"));
            return Table { len: 0, ..table };
        }
        self.budget -= table.len * stride;
        if lost > 0 {
            self.fault(start, || {
                format!("{lost} of {len} {what} records lie outside the file; they are omitted")
            });
        }
        table
    }

    fn name(&mut self, at: u64, pointer: u64, what: &str) -> Arc<str> {
        self.names.get(pointer).unwrap_or_else(|| {
            self.fault(at, || format!("the name of a {what} cannot be read"));
            format!("<unreadable {what}>").into()
        })
    }

    fn current(&mut self, at: u64) -> Vec<MetricRecord> {
        let meta = self.meta;
        let byte = |offset: u64| u64::from(meta.u8(at + offset).unwrap_or(0));
        let start = meta.u64(at + metrics::METRICS);
        let (Some(start), Some(count)) = (start, meta.u32(at + metrics::COUNT)) else {
            self.fault(at, || "the Metrics section is outside the file; no metric is known".into());
            return Vec::new();
        };
        let instance_stride = byte(metrics::INSTANCE_STRIDE);
        let summary_stride = byte(metrics::SUMMARY_STRIDE);
        let scopes = meta.u64(at + metrics::SCOPES).unwrap_or(0);
        let num_scopes = meta.u16(at + metrics::NUM_SCOPES).unwrap_or(0).into();

        let scopes =
            self.table(scopes, num_scopes, byte(metrics::SCOPE_STRIDE), scope::SIZE, "scope");
        for i in 0..scopes.len {
            let at = scopes.at(i);
            let name = self.name(at, meta.u64(at + scope::NAME).unwrap_or(0), "scope");
            let kind = match meta.u8(at + scope::KIND).unwrap_or(0) {
                0 => ScopeKind::Custom,
                1 => ScopeKind::Point,
                2 => ScopeKind::Execution,
                3 => ScopeKind::Transitive,
                other => ScopeKind::Unknown(other),
            };
            let propagation_index = meta.u8(at + scope::PROPAGATION_INDEX).unwrap_or(255);
            self.scopes.push(ScopeRecord { name, kind, propagation_index });
        }

        let table =
            self.table(start, count.into(), byte(metrics::METRIC_STRIDE), metric::SIZE, "metric");
        let mut out = Vec::new();
        for i in 0..table.len {
            let at = table.at(i);
            let word = |field: u64| meta.u64(at + field).unwrap_or(0);
            let count = |field: u64| u64::from(meta.u16(at + field).unwrap_or(0));
            let name = self.name(at, word(metric::NAME), "metric");
            let instances = self.table(
                word(metric::INSTANCES),
                count(metric::NUM_INSTANCES),
                instance_stride,
                scope_instance::SIZE,
                "scope instance",
            );
            let summaries = self.table(
                word(metric::SUMMARIES),
                count(metric::NUM_SUMMARIES),
                summary_stride,
                summary::SIZE,
                "summary",
            );
            let mut record = MetricRecord { name, instances: Vec::new(), summaries: Vec::new() };
            for j in 0..instances.len {
                let at = instances.at(j);
                if let Some(scope) = self.scope_index(scopes, at + scope_instance::SCOPE) {
                    let prop_metric_id = meta.u16(at + scope_instance::PROP_METRIC_ID).unwrap_or(0);
                    record.instances.push(ScopeInstance { scope, prop_metric_id });
                }
            }
            for j in 0..summaries.len {
                let at = summaries.at(j);
                if let Some(scope) = self.scope_index(scopes, at + summary::SCOPE) {
                    let formula = meta.u64(at + summary::FORMULA).unwrap_or(0);
                    let formula = self.name(at, formula, "summary formula");
                    record.summaries.push(SummaryRecord {
                        scope,
                        formula,
                        combine: combine(meta.u8(at + summary::COMBINE).unwrap_or(0)),
                        stat_metric_id: meta.u16(at + summary::STAT_METRIC_ID).unwrap_or(0),
                    });
                }
            }
            out.push(record);
        }
        out
    }

    fn scope_index(&mut self, scopes: Table, at: u64) -> Option<usize> {
        let pointer = self.meta.u64(at).unwrap_or(0);
        let found = scopes.index_of(pointer).and_then(|i| usize::try_from(i).ok());
        if found.is_none() {
            self.fault(at, || {
                format!("offset {pointer} is not the start of a scope; the value is omitted")
            });
        }
        found
    }

    /// The draft keeps scopes inside each metric, so equal names become one scope here.
    fn draft(&mut self, at: u64) -> Vec<MetricRecord> {
        let meta = self.meta;
        let start = meta.u64(at + draft_metrics::METRICS).unwrap_or(0);
        let count = meta.u32(at + draft_metrics::COUNT).unwrap_or(0).into();
        let byte = |field: u64| u64::from(meta.u8(at + field).unwrap_or(0));
        let stride = byte(draft_metrics::METRIC_STRIDE);
        let scope_stride = byte(draft_metrics::SCOPE_STRIDE);
        let summary_stride = byte(draft_metrics::SUMMARY_STRIDE);
        let table = self.table(start, count, stride, draft_metric::SIZE, "metric");
        let mut scopes_by_name = HashMap::new();
        let mut out = Vec::new();
        for i in 0..table.len {
            let at = table.at(i);
            let name = self.name(at, meta.u64(at + draft_metric::NAME).unwrap_or(0), "metric");
            let num_scopes = u64::from(meta.u16(at + draft_metric::NUM_SCOPES).unwrap_or(0));
            let scopes = meta.u64(at + draft_metric::SCOPES).unwrap_or(0);
            let scopes = self.table(scopes, num_scopes, scope_stride, draft_scope::SIZE, "scope");
            let mut record = MetricRecord { name, instances: Vec::new(), summaries: Vec::new() };
            for j in 0..scopes.len {
                let at = scopes.at(j);
                let scope_name = meta.u64(at + draft_scope::NAME).unwrap_or(0);
                let scope_name = self.name(at, scope_name, "scope");
                let scope = self.scope_named(scope_name, &mut scopes_by_name);
                let prop_metric_id = meta.u16(at + draft_scope::PROP_METRIC_ID).unwrap_or(0);
                record.instances.push(ScopeInstance { scope, prop_metric_id });
                let num_summaries = meta.u16(at + draft_scope::NUM_SUMMARIES).unwrap_or(0);
                let summaries = meta.u64(at + draft_scope::SUMMARIES).unwrap_or(0);
                let summaries = self.table(
                    summaries,
                    num_summaries.into(),
                    summary_stride,
                    draft_summary::SIZE,
                    "summary",
                );
                for k in 0..summaries.len {
                    let at = summaries.at(k);
                    let formula = meta.u64(at + draft_summary::FORMULA).unwrap_or(0);
                    let formula = self.name(at, formula, "summary formula");
                    record.summaries.push(SummaryRecord {
                        scope,
                        formula,
                        combine: combine(meta.u8(at + draft_summary::COMBINE).unwrap_or(0)),
                        stat_metric_id: meta.u16(at + draft_summary::STAT_METRIC_ID).unwrap_or(0),
                    });
                }
            }
            out.push(record);
        }
        out
    }

    fn scope_named(&mut self, name: Arc<str>, by_name: &mut HashMap<Arc<str>, usize>) -> usize {
        if let Some(&known) = by_name.get(&name) {
            return known;
        }
        by_name.insert(Arc::clone(&name), self.scopes.len());
        let (kind, propagation_index) = match &*name {
            "point" => (ScopeKind::Point, 255),
            "function" => (ScopeKind::Transitive, 0),
            "execution" => (ScopeKind::Execution, 255),
            _ => (ScopeKind::Custom, 255),
        };
        self.scopes.push(ScopeRecord { name, kind, propagation_index });
        self.scopes.len() - 1
    }
}

const fn combine(byte: u8) -> Combine {
    match byte {
        0 => Combine::Sum,
        1 => Combine::Min,
        2 => Combine::Max,
        other => Combine::Unknown(other),
    }
}
