//! What an experiment is, and its metrics.

use serde::{Deserialize, Serialize};

use super::IssueReply;
use crate::Experiment;
use crate::macros::{question, table};

question! {
    /// What an experiment is.
    "info" of Experiment,
    request InfoRequest {}
    reply InfoReply,
    tables InfoTables {
        /// The metrics.
        metrics: MetricTable,
        /// The components of a workflow.
        components: ComponentTable,
    }
}

/// The reply to `info`.
///
/// Plural names of things (`contexts`, `issues`) are counts; `*_list` has the things themselves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InfoReply {
    /// Name of the measured program.
    pub title: String,
    /// The format it was read from, with its version: `HPCToolkit 4.0`.
    pub format: String,
    /// Nodes of the calling context tree, entries included, the implicit root not.
    pub contexts: u64,
    /// How many of them there are of each kind.
    pub context_kinds: Vec<KindReply>,
    /// Depth of the deepest of them; entries have depth 1.
    pub depth: u32,
    /// Functions.
    pub functions: u64,
    /// Source files that contexts name.
    pub source_files: u64,
    /// Executables and libraries.
    pub modules: u64,
    /// Profiles other than the summary, empty ones included.
    pub locations: u64,
    /// Of these, profiles without any value.
    pub empty_locations: u64,
    /// Values of all of them.
    pub values: u64,
    /// Metrics, not counted again for each scope.
    pub metrics: u64,
    /// Locations that have a trace.
    pub traces: u64,
    /// Samples of all traces.
    pub samples: u64,
    /// Records of a trace of events, as its source has them; null for other experiments.
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
    /// Records of anything else.
    pub other_records: Option<u64>,
    /// Records that the source declares; null where it does not say.
    pub declared_events: Option<u64>,
    /// Calls: from entering something to leaving it; null for other experiments.
    pub calls: Option<u64>,
    /// Call instances and accesses; null where sums were recorded only.
    pub activations: Option<ActivationCountsReply>,
    /// Kinds of issue met while opening.
    pub issues: u64,
    /// Names of the entry points: the roots below which programs and threads start.
    pub entries: Vec<String>,
    /// What locations are identified by, outermost first, and how many there are of each.
    pub kinds: Vec<KindReply>,
    /// The coupled applications of a workflow; 0 where there is one application.
    pub components: u64,
    /// From the first to the last sample of all traces; null without a trace.
    pub span: Option<SpanReply>,
    /// Length of all files together, in bytes.
    pub size_bytes: u64,
    /// The files that were read.
    pub file_list: Vec<FileReply>,
    /// The metrics.
    pub metric_list: Vec<MetricReply>,
    /// The components.
    pub component_list: Vec<ComponentInfoReply>,
    /// What the source says about the execution: host, processor, command, start and whatever else
    /// it recorded. Where threads differ, their first values.
    pub fact_list: Vec<FactReply>,
    /// What was repaired, dropped or guessed.
    pub issue_list: Vec<IssueReply>,
}

/// Something that the source recorded about the execution.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FactReply {
    /// Its name, in the source's words.
    pub name: String,
    /// Its value; several are separated by commas.
    pub value: String,
}

/// How many call instances and accesses there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// One of several coupled applications.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// When it began, in seconds since the first component did; null where that is not known.
    pub start_s: Option<f64>,
    /// When it ended, likewise.
    pub end_s: Option<f64>,
    /// Seconds that were added to the times of its own clock.
    pub shift_s: f64,
    /// Names of the components it takes data from.
    pub depends_on: Vec<String>,
}

/// A kind of identity or context, such as `rank` or `loop`, and how many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct KindReply {
    /// Name of the kind, as in query expressions.
    pub name: String,
    /// Different ones.
    pub count: u64,
}

/// A window of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SpanReply {
    /// Nanoseconds on the trace's clock.
    pub start_ns: u64,
    /// Nanoseconds on the trace's clock, included.
    pub end_ns: u64,
}

/// A file that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Statistics stored in the summary, such as `sum`.
    pub statistics: Vec<String>,
    /// What it means, in the source's words; may be empty.
    pub description: String,
    /// The whole execution's inclusive sum over all locations; null when it has none, or when a
    /// counter wrapped, which is an issue then. Of a derived metric, its formula on these sums.
    pub total: Option<f64>,
    /// The formula of a derived metric, which the source computes from others; null for metrics
    /// that were measured.
    pub formula: Option<String>,
}

table! {
    /// Metrics, in the order of the source, those that are computed from others last.
    pub struct MetricRow => MetricTable {
        /// Name of the metric.
        metric: String,
        /// Unit of its values.
        unit: String,
        /// Inclusive sum over all locations for the whole execution.
        total: Option<f64> [of unit],
        /// Scopes stored for each location.
        scopes: String,
        /// Statistics stored in the summary.
        statistics: String,
        /// Description by the source.
        description: String,
        /// Formula of a metric that is computed from others.
        formula: Option<String>,
    }
}

table! {
    /// Components of a workflow; none where there is one application.
    pub columns ComponentTable {
        /// Name of the application.
        component: Vec<String>,
        /// Its number, as in the identity of locations.
        application: Vec<u64>,
        /// How many.
        ranks: Vec<u64>,
        /// What its ranks are counted from in the one space of ranks of all components.
        first_rank: Vec<u64>,
        /// How many.
        locations: Vec<u64>,
        /// Seconds since the first component began.
        start_s: Vec<Option<f64>> ["s"],
        /// Seconds since the first component began.
        end_s: Vec<Option<f64>> ["s"],
        /// Seconds that were added to the times of its own clock, where a clock was shifted.
        shift_s: Option<Vec<f64>> ["s"],
        /// The components that it takes data from.
        depends_on: Vec<String>,
    }
}

question! {
    /// The metrics of an experiment.
    "metrics" of Experiment,
    request MetricsRequest {}
    reply MetricsReply,
}

/// The reply to `metrics`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MetricsReply {
    /// The metrics, in the order of the source, those that are computed from others last.
    pub metrics: Vec<MetricReply>,
    /// The metric that is shown where none is chosen; null when nothing has values.
    pub default: Option<String>,
    /// Why that one.
    pub reason: Option<String>,
    /// Whether there are traces, so that time in them can count as cost.
    pub has_traces: bool,
}
