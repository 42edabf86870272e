//! Questions to one experiment.

use serde::{Deserialize, Serialize};

use super::{CostAsk, CostReply, CostsAsk, PruneAsk};
use crate::MetricReply;

/// The metrics of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MetricsAsk {
    /// An experiment.
    pub item: String,
}

/// The metrics of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MetricsReply {
    /// The metrics, in the order of the source.
    pub metrics: Vec<MetricReply>,
    /// The metric that is shown when nobody names one; null when nothing has values.
    pub default: Option<String>,
    /// Why that one.
    pub reason: Option<String>,
    /// Whether there are traces, so that time in them can count as cost.
    pub has_traces: bool,
}

/// The calling context tree with several metrics.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TreeTableAsk {
    /// An experiment.
    pub item: String,
    /// What counts as cost. Rows are ordered by the first metric.
    #[serde(default)]
    pub costs: CostsAsk,
    /// What is left out.
    #[serde(default)]
    pub prune: PruneAsk,
}

/// The calling context tree; table `rows`, one row for each context in depth-first order, children
/// from the most expensive: `depth`, `parent` (row, absent at the top), `context_id`, `kind`, `name`,
/// `place`, `file`, `line`, `module`, and for metric k `inclusive:k` and `exclusive:k`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TreeTableReply {
    /// What the columns count, one for each metric.
    pub costs: Vec<CostReply>,
}

/// Who called functions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallersAsk {
    /// An experiment.
    pub item: String,
    /// What counts as cost.
    #[serde(default)]
    pub cost: CostAsk,
    /// What is left out.
    #[serde(default)]
    pub prune: PruneAsk,
    /// A context expression: only what lies below the contexts that it names; null for everything.
    #[serde(default)]
    pub from: Option<String>,
    /// Exact name of one function; null for all.
    #[serde(default)]
    pub function: Option<String>,
    /// Callers in a chain at most; 0 for the functions alone, null for all.
    #[serde(default)]
    pub max_depth: Option<u32>,
    /// Rows at most; null for all.
    #[serde(default)]
    pub max_rows: Option<u32>,
}

/// A tree; table `rows` in the order it is read: `depth`, `context_id`, `kind`, `name`, `place`,
/// `inclusive`, `exclusive`, `inclusive_percent`, `exclusive_percent`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TreeReply {
    /// What the numbers count.
    pub cost: CostReply,
}

/// Contexts grouped by what they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FlatAsk {
    /// An experiment.
    pub item: String,
    /// What counts as cost.
    #[serde(default)]
    pub cost: CostAsk,
    /// What is left out.
    #[serde(default)]
    pub prune: PruneAsk,
    /// A context expression: only what lies below the contexts that it names; null for everything.
    #[serde(default)]
    pub from: Option<String>,
    /// `function` (default), `file`, `module`, `loop` or `line`.
    #[serde(default)]
    pub by: Option<String>,
}

/// Groups; table `rows` from the highest exclusive cost: `name`, `place`, `exclusive`, `inclusive`,
/// `exclusive_percent`, `inclusive_percent`, ...
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FlatReply {
    /// What the numbers count.
    pub cost: CostReply,
}

/// A context's cost over locations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DistributionAsk {
    /// An experiment.
    pub item: String,
    /// Context id in the database; 0 is the whole execution.
    #[serde(default)]
    pub context_id: u32,
    /// A metric expression or a formula; null for the default.
    #[serde(default)]
    pub metric: Option<String>,
    /// A profile expression; null for all locations.
    #[serde(default)]
    pub profiles: Option<String>,
    /// Cost of the context itself, without what lies below.
    #[serde(default)]
    pub is_exclusive: bool,
    /// What is compared: `profile` (default), `rank` or `node`.
    #[serde(default)]
    pub by: Option<String>,
    /// Bins of the histogram; null for as many as the values suggest.
    #[serde(default)]
    pub bins: Option<u32>,
}

/// How a cost is spread over members: locations, ranks or nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StatisticsReply {
    /// Members that count, those that spent nothing included.
    pub members: u64,
    /// Of these, members that spent something.
    pub values: u64,
    /// Sum over all members.
    pub sum: f64,
    /// Smallest value.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Middle value.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Largest value.
    pub max: f64,
    /// Sample standard deviation; null for a single member.
    pub std_dev: Option<f64>,
    /// Coefficient of variation: standard deviation over mean.
    pub variation: Option<f64>,
    /// Balance ratio: mean over maximum; 1 is even.
    pub balance_ratio: Option<f64>,
    /// What each member would save if the work were spread evenly: maximum less mean.
    pub saving: f64,
}

/// Number of values in bins of one width.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistogramReply {
    /// Where the first bin begins.
    pub start: f64,
    /// Width of a bin; 0 when all values are equal.
    pub width: f64,
    /// Number of values in each bin.
    pub counts: Vec<u64>,
}

/// A context's cost over locations; table `rows`: `location`, `label`, one column for each identity
/// kind that there is, `value`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DistributionReply {
    /// What the context is called.
    pub context: String,
    /// Name of the metric, or the formula.
    pub metric: String,
    /// Its unit symbol.
    pub unit: String,
    /// Why this metric, where nobody named one.
    pub reason: Option<String>,
    /// What members are called, in the singular: `location`, `rank`, `node`.
    pub member: String,
    /// How the cost is spread; null when no member has a value.
    pub statistics: Option<StatisticsReply>,
    /// The histogram; null when no member has a value.
    pub histogram: Option<HistogramReply>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Source files that the experiment brought along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceFilesAsk {
    /// An experiment.
    pub item: String,
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceFileReply {
    /// Path, as contexts name it.
    pub path: String,
    /// Length of its text, in bytes.
    pub bytes: u64,
}

/// Source files whose text came with the experiment, sorted by path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceFilesReply {
    /// The files.
    pub files: Vec<SourceFileReply>,
}

/// A source file with the costs of its lines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceAsk {
    /// An experiment.
    pub item: String,
    /// Path, as contexts name it, or the end of one that no other file has.
    pub path: String,
    /// What counts as cost.
    #[serde(default)]
    pub costs: CostsAsk,
}

/// A source file; table `lines`, one row for each line with a cost: `line` (from 1), `contexts` (how
/// many), and for metric k `inclusive:k`, `exclusive:k`; table `contexts`: `line`, `context_id`, from
/// the most expensive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SourceReply {
    /// Path, as contexts name it.
    pub path: String,
    /// The text; null when the experiment did not bring it along.
    pub text: Option<String>,
    /// Where in the folder of the database the text lies, or is missing.
    pub text_path: String,
    /// What the columns count, one for each metric.
    pub costs: Vec<CostReply>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// What bounds the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReportAsk {
    /// An experiment.
    pub item: String,
    /// A metric expression; null for the default.
    #[serde(default)]
    pub metric: Option<String>,
}

/// How evenly contexts cost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BalanceAsk {
    /// An experiment.
    pub item: String,
    /// A metric expression; null for the default.
    #[serde(default)]
    pub metric: Option<String>,
    /// A profile expression; null for all locations.
    #[serde(default)]
    pub profiles: Option<String>,
    /// A context expression; null for the functions that cost at least 1 %.
    #[serde(default)]
    pub contexts: Option<String>,
    /// What is compared: `profile` (default), `rank` or `node`.
    #[serde(default)]
    pub by: Option<String>,
    /// Compare costs without what contexts call.
    #[serde(default)]
    pub is_exclusive: bool,
}

/// How evenly contexts cost; table `rows`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BalanceReply {
    /// Why this metric, where nobody named one.
    pub reason: Option<String>,
    /// The whole execution's inclusive cost over the chosen locations.
    pub total: f64,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// When threads and GPUs had nothing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IdlenessAsk {
    /// An experiment.
    pub item: String,
    /// A metric expression; null for the default.
    #[serde(default)]
    pub metric: Option<String>,
    /// Instead, what threads did while the GPUs of their rank had nothing to do.
    #[serde(default)]
    pub blame: bool,
}

/// Values as stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct QueryAsk {
    /// An experiment.
    pub item: String,
    /// A profile expression; null for all, the summary included.
    #[serde(default)]
    pub profiles: Option<String>,
    /// A context expression; null for all.
    #[serde(default)]
    pub contexts: Option<String>,
    /// A metric expression; null for all.
    #[serde(default)]
    pub metrics: Option<String>,
    /// Contexts that are left out although the expression names them.
    #[serde(default)]
    pub prune: PruneAsk,
    /// Leave the readable names out.
    #[serde(default)]
    pub is_raw: bool,
}

/// Samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TraceAsk {
    /// An experiment.
    pub item: String,
    /// A profile expression; null for all locations.
    #[serde(default)]
    pub profiles: Option<String>,
    /// A time window; null for everything.
    #[serde(default)]
    pub window: Option<String>,
    /// Leave the readable names out.
    #[serde(default)]
    pub is_raw: bool,
}
