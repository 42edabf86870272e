//! What an experiment is, and its metrics.

use serde::{Deserialize, Serialize};

use super::IssueReply;
use crate::macros::{question, table};
use crate::{Experiment, Family};

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
        /// What the source says about each component.
        component_facts: ComponentFactTable,
        /// What it says about each process.
        processes: ProcessTable,
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
    /// Processes that the source distinguishes: their number where it says something of single ones
    /// that differs, else 0.
    pub processes: u64,
    /// These processes, the first 1,000 of them; the table has all.
    pub process_list: Vec<ProcessInfoReply>,
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
    /// Where it ran.
    pub hosts: Vec<String>,
    /// What the source says about all of it: processor, command, settings of the tool.
    pub fact_list: Vec<FactReply>,
}

/// What the source says about one process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProcessInfoReply {
    /// Name of its component; null where there is one application.
    pub component: Option<String>,
    /// Display name of the process: `rank 3`.
    pub process: String,
    /// Its rank; null where it has none.
    pub rank: Option<u64>,
    /// How many locations it has: threads and streams.
    pub threads: u64,
    /// Name of its host.
    pub host: Option<String>,
    /// Its processor.
    pub cpu: Option<String>,
    /// When it was started, in seconds since the first process was.
    pub start_s: Option<f64>,
    /// Number of the process.
    pub pid: Option<String>,
    /// Its command line, else its executable.
    pub command: Option<String>,
    /// What else differs between the processes of its component; where its threads differ, their
    /// first values.
    pub fact_list: Vec<FactReply>,
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

table! {
    /// What the source says about each component as a whole; no rows where there is one
    /// application.
    pub columns ComponentFactTable {
        /// What it is, in the source's words: `Hostname`, `TAU_THROTTLE`.
        fact: Vec<String>,
        /// One column for each component, by its name; null where nothing is said, and where its
        /// processes differ.
        values: Family,
    }
}

table! {
    /// Processes, where the source says something that differs between them.
    pub columns ProcessTable {
        /// Name of the component.
        component: Option<Vec<String>>,
        /// Display name of the process.
        process: Vec<String>,
        /// Rank; null where it has none.
        rank: Vec<Option<u64>>,
        /// Number of its locations: threads and streams.
        threads: Vec<u64>,
        /// Name of its host; null where that is not known.
        host: Vec<Option<String>>,
        /// Processor; null where that is not known.
        cpu: Vec<Option<String>> => "CPU",
        /// When it was started, since the first process was; null where that is not known.
        start_s: Vec<Option<f64>> ["s"],
        /// Number of the process; null where that is not known.
        pid: Vec<Option<String>> => "PID",
        /// Command line, else executable; null where that is not known.
        command: Vec<Option<String>>,
        /// One column for each other fact that differs between the processes of a component, by its
        /// name; null where nothing is said.
        facts: Family,
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
