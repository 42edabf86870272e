//! Answers that are not tables.
//!
//! These types know nothing of where the numbers come from: commands fill them from plain values.

use std::io::Write;

use parallax_protocol::IssueReply;
use parallax_service::{ActivationCounts, ComponentInfo, Info, MetricInfo, issue_replies};
use serde::{Deserialize, Serialize};

use crate::WireError;

/// What `info` says about an experiment.
///
/// Plural names of things (`contexts`, `issues`) are counts; `*_list` has the things themselves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InfoReply {
    /// Name of the measured program.
    pub title: String,
    /// The format it was read from, with its version: `HPCToolkit 4.0`.
    pub format: String,
    /// Nodes of the calling context tree.
    pub contexts: u64,
    /// Profiles other than the summary, empty ones included.
    pub locations: u64,
    /// Metrics, not counted again for each scope.
    pub metrics: u64,
    /// Locations that have a trace.
    pub traces: u64,
    /// Samples of all traces.
    pub samples: u64,
    /// Records of a trace of events, as its source has them; absent for other experiments.
    pub events: Option<u64>,
    /// Of these, records of entering something.
    pub enters: Option<u64>,
    /// Records of leaving something.
    pub leaves: Option<u64>,
    /// Records of sending a message.
    pub sends: Option<u64>,
    /// Records of receiving a message.
    pub receives: Option<u64>,
    /// Records of metrics' values.
    pub metric_records: Option<u64>,
    /// Records that the source declares; absent where it does not say.
    pub declared_events: Option<u64>,
    /// Calls: from entering something to leaving it; absent for other experiments.
    pub calls: Option<u64>,
    /// Single calls and accesses; absent where sums were recorded only.
    pub activations: Option<ActivationCountsReply>,
    /// Kinds of issue met while opening.
    pub issues: u64,
    /// Names of the entry points: the roots below which programs and threads start.
    pub entries: Vec<String>,
    /// What locations are identified by, outermost first, and how many there are of each.
    pub kinds: Vec<KindReply>,
    /// The coupled applications of a workflow; 0 where there is one application.
    pub components: u64,
    /// From the first to the last sample of all traces; absent without a trace.
    pub span: Option<SpanReply>,
    /// Length of all files together, in bytes.
    pub size_bytes: u64,
    /// The files that were read.
    pub file_list: Vec<FileReply>,
    /// The metrics.
    pub metric_list: Vec<MetricReply>,
    /// The components.
    pub component_list: Vec<ComponentInfoReply>,
    /// What was repaired, dropped or guessed.
    pub issue_list: Vec<IssueReply>,
}

/// How many single calls and accesses there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ActivationCountsReply {
    /// Calls of functions.
    pub calls: u64,
    /// Executions of loops.
    pub loop_executions: u64,
    /// Iterations of them.
    pub iterations: u64,
    /// Variables and allocations.
    pub references: u64,
    /// Reads of them.
    pub reads: u64,
    /// Writes of them.
    pub writes: u64,
    /// Threads.
    pub threads: u64,
}

impl From<ActivationCounts> for ActivationCountsReply {
    fn from(counts: ActivationCounts) -> Self {
        let ActivationCounts {
            calls,
            loop_executions,
            iterations,
            references,
            reads,
            writes,
            threads,
        } = counts;
        Self { calls, loop_executions, iterations, references, reads, writes, threads }
    }
}

/// One of several coupled applications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComponentInfoReply {
    /// Number, as `application(NUMBER)` chooses it.
    pub application: u64,
    /// Name.
    pub name: String,
    /// How many ranks it has.
    pub ranks: u64,
    /// How many locations it has.
    pub locations: u64,
    /// What its ranks are counted from in the one space of ranks of all components.
    pub first_rank: u64,
    /// When it began, in seconds since the first component did; absent where that is not known.
    pub start_s: Option<f64>,
    /// When it ended, likewise.
    pub end_s: Option<f64>,
    /// Seconds that were added to the times of its own clock.
    pub shift_s: f64,
    /// Names of the components it takes data from.
    pub depends_on: Vec<String>,
}

impl From<&ComponentInfo> for ComponentInfoReply {
    fn from(component: &ComponentInfo) -> Self {
        Self {
            application: component.application,
            name: component.name.clone(),
            ranks: component.ranks as u64,
            locations: component.locations as u64,
            first_rank: component.first_rank,
            start_s: component.span_s.map(|span| span.0),
            end_s: component.span_s.map(|span| span.1),
            shift_s: component.shift_s,
            depends_on: component.depends_on.clone(),
        }
    }
}

/// A kind of identity, such as `rank`, and how many different ones there are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KindReply {
    /// Name of the kind, as in query expressions.
    pub name: String,
    /// Different values.
    pub count: u64,
}

/// A window of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SpanReply {
    /// Nanoseconds on the trace's clock.
    pub start_ns: u64,
    /// Nanoseconds on the trace's clock, included.
    pub end_ns: u64,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FileReply {
    /// Name, relative to what was opened.
    pub name: String,
    /// Length in bytes.
    pub size_bytes: u64,
}

/// A metric.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MetricReply {
    /// Name, as in query expressions.
    pub name: String,
    /// Unit symbol; empty for counts.
    pub unit: String,
    /// Scopes that were measured: `inclusive`, `exclusive` and others.
    pub scopes: Vec<String>,
    /// What it means, in the source's words; may be empty.
    #[serde(default)]
    pub description: String,
    /// The whole execution's inclusive sum over all locations; null when there is none.
    #[serde(default)]
    pub total: Option<f64>,
}

impl From<&MetricInfo> for MetricReply {
    fn from(metric: &MetricInfo) -> Self {
        Self {
            name: metric.name.clone(),
            unit: metric.unit.clone(),
            scopes: metric.scopes.clone(),
            description: metric.description.clone(),
            total: metric.total,
        }
    }
}

impl From<&Info> for InfoReply {
    fn from(info: &Info) -> Self {
        Self {
            title: info.title.clone(),
            format: info.format.clone(),
            contexts: info.contexts as u64,
            locations: info.locations as u64,
            metrics: info.metrics.len() as u64,
            traces: info.traces as u64,
            samples: info.samples,
            events: info.records.map(|records| records.total()),
            enters: info.records.map(|records| records.enters),
            leaves: info.records.map(|records| records.leaves),
            sends: info.records.map(|records| records.sends),
            receives: info.records.map(|records| records.receives),
            metric_records: info.records.map(|records| records.metrics),
            declared_events: info.records.and_then(|records| records.declared),
            calls: info.records.map(|_| info.samples),
            activations: info.activations.map(ActivationCountsReply::from),
            issues: info.issues.len() as u64,
            entries: info.entries.clone(),
            kinds: info
                .identities
                .iter()
                .map(|(name, n)| KindReply { name: (*name).to_owned(), count: *n as u64 })
                .collect(),
            components: info.components.len() as u64,
            span: info.span_nanos.map(|(start_ns, end_ns)| SpanReply { start_ns, end_ns }),
            size_bytes: info.file_sizes.iter().map(|(_, len)| len).sum(),
            file_list: info
                .file_sizes
                .iter()
                .map(|(name, len)| FileReply { name: name.clone(), size_bytes: *len })
                .collect(),
            metric_list: info.metrics.iter().map(MetricReply::from).collect(),
            component_list: info.components.iter().map(ComponentInfoReply::from).collect(),
            issue_list: issue_replies(&info.issues),
        }
    }
}

/// Writes a reply as indented JSON that ends in a line feed.
///
/// # Errors
///
/// [`WireError::Io`] when `out` fails.
pub fn write_reply<T: Serialize>(reply: &T, mut out: impl Write) -> Result<(), WireError> {
    serde_json::to_writer_pretty(&mut out, reply)
        .map_err(|error| WireError::Io { source: error.into() })?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
