//! Questions about several experiments beside each other.

use serde::{Deserialize, Serialize};

/// What changed from one experiment to another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DifferencesAsk {
    /// The old version: an experiment.
    pub old: String,
    /// The new version: an experiment.
    pub new: String,
    /// A metric expression, or a formula after `=`; null for a time that both have.
    #[serde(default)]
    pub metric: Option<String>,
    /// A profile expression; null for all locations.
    #[serde(default)]
    pub profiles: Option<String>,
    /// What rows are: `context` or `function`; null for contexts, or functions where the
    /// experiments come from different tools.
    #[serde(default)]
    pub by: Option<String>,
    /// How locations become one value: `sum`, `mean` or `max`; null for the sum, or the mean of
    /// different numbers of locations.
    #[serde(default)]
    pub over: Option<String>,
}

/// What changed; table `rows` in the order of the tree, the whole program first: `name`, `context`,
/// `kind`, `in`, `parent`, `depth`, for inclusive costs `old`, `new`, `difference`,
/// `change_percent`, `ratio`, `share_percent`, `low`, `high`, `p`, `p_adjusted`, `effect`,
/// `verdict`, the same with `own_` before for costs without the rows below, `width_new` and
/// `width_either` for pictures, and `old_context_id` and `new_context_id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DifferencesReply {
    /// What is counted.
    pub metric: String,
    /// Its unit symbol; empty for counts.
    pub unit: String,
    /// What rows are: `context` or `function`.
    pub by: String,
    /// How locations became one value: `sum`, `mean` or `max`.
    pub over: String,
    /// What tests stand on; null where noise cannot be told.
    pub basis: Option<String>,
    /// The same in words: which test, on how much, adjusted for how many looks, at which level.
    #[serde(default)]
    pub evidence: String,
    /// What changed, in plain words, the most important first.
    pub sentences: Vec<String>,
    /// What a person should know.
    pub notes: Vec<String>,
}
