//! Questions about what rises and falls together over locations.

use serde::{Deserialize, Serialize};

/// Which costs and numbers of identity rise and fall together over locations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CorrelationsAsk {
    /// An experiment.
    pub item: String,
    /// Metric expressions, or formulas after `=`; none for the metric that says most about time.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// A profile expression; null for all locations.
    #[serde(default)]
    pub profiles: Option<String>,
    /// One column of each pair has such a name, which may be a glob: a metric, a kind of identity
    /// such as `rank`, or a function; none for all.
    #[serde(default)]
    pub with: Vec<String>,
    /// What columns are: `function` (default) or `context`.
    #[serde(default)]
    pub by: Option<String>,
    /// By what pairs are ranked: `significance` (default), `pearson` or `spearman`.
    #[serde(default)]
    pub order: Option<String>,
    /// Pairs at most; null for 200.
    #[serde(default)]
    pub top: Option<u32>,
}

/// What varies together; table `pairs`, the strongest first: `first`, `second`, `locations`,
/// `pearson`, `pearson_p`, `spearman`, `spearman_p`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CorrelationsReply {
    /// Number of pairs that were looked at.
    pub tested: u64,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Two columns of `correlations` at each location.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CorrelationPointsAsk {
    /// The question that `first` and `second` come from.
    pub of: CorrelationsAsk,
    /// Name of a column, as the table `pairs` has it.
    pub first: String,
    /// Name of another one.
    pub second: String,
}

/// A scatter plot; table `points`: `location`, `label`, `first`, `second`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CorrelationPointsReply {
    /// Unit symbol of the first column; empty for counts and numbers of identity.
    pub first_unit: String,
    /// Unit symbol of the second one.
    pub second_unit: String,
}
