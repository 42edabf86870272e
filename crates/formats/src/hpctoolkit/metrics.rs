//! The Metrics section of `meta.db`: scopes, metrics, their scope instances and summaries.

use std::sync::Arc;

use parallax_base::{Issues, Place, Severity, Stage};

use super::header::{FileKind, Section};
use super::layout::{
    DRAFT_METRIC_SIZE, DRAFT_SCOPE_SIZE, DRAFT_SUMMARY_SIZE, METRIC_SIZE, SCOPE_INSTANCE_SIZE,
    SCOPE_SIZE, SUMMARY_SIZE,
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
    if meta.u8(at + 0x0c).is_some_and(|size| u64::from(size) == DRAFT_METRIC_SIZE) {
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
            self.fault(start, || format!("{what} arrays overlap; this one is left out"));
            return Table { len: 0, ..table };
        }
        self.budget -= table.len * stride;
        if lost > 0 {
            self.fault(start, || {
                format!("{lost} of {len} {what} records lie outside the file; they are left out")
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
        let (Some(metrics), Some(num_metrics)) = (meta.u64(at), meta.u32(at + 0x08)) else {
            self.fault(at, || "the Metrics section is outside the file; no metric is known".into());
            return Vec::new();
        };
        let (instance_size, summary_size) = (byte(0x0d), byte(0x0e));
        let (scopes, num_scopes) =
            (meta.u64(at + 0x10).unwrap_or(0), meta.u16(at + 0x18).unwrap_or(0));

        let scopes = self.table(scopes, num_scopes.into(), byte(0x1a), SCOPE_SIZE, "scope");
        for i in 0..scopes.len {
            let scope = scopes.at(i);
            let name = self.name(scope, meta.u64(scope).unwrap_or(0), "scope");
            let kind = match meta.u8(scope + 0x08).unwrap_or(0) {
                0 => ScopeKind::Custom,
                1 => ScopeKind::Point,
                2 => ScopeKind::Execution,
                3 => ScopeKind::Transitive,
                other => ScopeKind::Unknown(other),
            };
            let propagation_index = meta.u8(scope + 0x09).unwrap_or(255);
            self.scopes.push(ScopeRecord { name, kind, propagation_index });
        }

        let table = self.table(metrics, num_metrics.into(), byte(0x0c), METRIC_SIZE, "metric");
        let mut out = Vec::new();
        for i in 0..table.len {
            let metric = table.at(i);
            let word = |offset: u64| meta.u64(metric + offset).unwrap_or(0);
            let count = |offset: u64| u64::from(meta.u16(metric + offset).unwrap_or(0));
            let name = self.name(metric, word(0), "metric");
            let instances = self.table(
                word(0x08),
                count(0x18),
                instance_size,
                SCOPE_INSTANCE_SIZE,
                "scope instance",
            );
            let summaries =
                self.table(word(0x10), count(0x1a), summary_size, SUMMARY_SIZE, "summary");
            let mut record = MetricRecord { name, instances: Vec::new(), summaries: Vec::new() };
            for j in 0..instances.len {
                let at = instances.at(j);
                if let Some(scope) = self.scope_index(scopes, at) {
                    let prop_metric_id = meta.u16(at + 0x08).unwrap_or(0);
                    record.instances.push(ScopeInstance { scope, prop_metric_id });
                }
            }
            for j in 0..summaries.len {
                let at = summaries.at(j);
                if let Some(scope) = self.scope_index(scopes, at) {
                    let formula =
                        self.name(at, meta.u64(at + 0x08).unwrap_or(0), "summary formula");
                    record.summaries.push(SummaryRecord {
                        scope,
                        formula,
                        combine: combine(meta.u8(at + 0x10).unwrap_or(0)),
                        stat_metric_id: meta.u16(at + 0x12).unwrap_or(0),
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
                format!("offset {pointer} is not the start of a scope; the value is left out")
            });
        }
        found
    }

    /// The draft keeps scopes inside each metric, so equal names become one scope here.
    fn draft(&mut self, at: u64) -> Vec<MetricRecord> {
        let meta = self.meta;
        let (Some(metrics), Some(num_metrics)) = (meta.u64(at), meta.u32(at + 0x08)) else {
            return Vec::new();
        };
        let scope_size = u64::from(meta.u8(at + 0x0d).unwrap_or(0));
        let summary_size = u64::from(meta.u8(at + 0x0e).unwrap_or(0));
        let table =
            self.table(metrics, num_metrics.into(), DRAFT_METRIC_SIZE, DRAFT_METRIC_SIZE, "metric");
        let mut out = Vec::new();
        for i in 0..table.len {
            let metric = table.at(i);
            let name = self.name(metric, meta.u64(metric).unwrap_or(0), "metric");
            let num_scopes = u64::from(meta.u16(metric + 0x08).unwrap_or(0));
            let scopes = meta.u64(metric + 0x10).unwrap_or(0);
            let scopes = self.table(scopes, num_scopes, scope_size, DRAFT_SCOPE_SIZE, "scope");
            let mut record = MetricRecord { name, instances: Vec::new(), summaries: Vec::new() };
            for j in 0..scopes.len {
                let at = scopes.at(j);
                let scope_name = self.name(at, meta.u64(at).unwrap_or(0), "scope");
                let scope = self.scope_named(scope_name);
                let prop_metric_id = meta.u16(at + 0x0a).unwrap_or(0);
                record.instances.push(ScopeInstance { scope, prop_metric_id });
                let num_summaries = u64::from(meta.u16(at + 0x08).unwrap_or(0));
                let summaries = meta.u64(at + 0x10).unwrap_or(0);
                let summaries = self.table(
                    summaries,
                    num_summaries,
                    summary_size,
                    DRAFT_SUMMARY_SIZE,
                    "summary",
                );
                for k in 0..summaries.len {
                    let at = summaries.at(k);
                    let formula = self.name(at, meta.u64(at).unwrap_or(0), "summary formula");
                    record.summaries.push(SummaryRecord {
                        scope,
                        formula,
                        combine: combine(meta.u8(at + 0x08).unwrap_or(0)),
                        stat_metric_id: meta.u16(at + 0x0a).unwrap_or(0),
                    });
                }
            }
            out.push(record);
        }
        out
    }

    fn scope_named(&mut self, name: Arc<str>) -> usize {
        if let Some(known) = self.scopes.iter().position(|scope| scope.name == name) {
            return known;
        }
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
