//! What changed from one experiment to another.

use serde::Serialize;

use super::OverLocations;
use crate::ExperimentPair;
use crate::macros::{choice, question, table};

choice! {
    /// What rows of differences are.
    pub enum DifferencesBy {
        /// Contexts with the same call path.
        Context = "context",
        /// Functions of the same name, wherever they are called from.
        Function = "function",
    }
}

question! {
    /// What changed from one experiment to another.
    "differences" of ExperimentPair,
    request DifferencesRequest {
        /// A metric expression, or a formula after `=`; null for a time that both have.
        metric: Option<String>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// What rows are; null for contexts, or functions where the experiments come from
        /// different tools.
        by: Option<DifferencesBy>,
        /// How locations become one value; null for the sum, or the mean of different numbers of
        /// locations.
        over: Option<OverLocations>,
    }
    reply DifferencesReply,
    tables DifferencesTables {
        /// The rows in the order of the tree, the whole program first.
        rows: DifferenceTable,
    }
}

/// The reply to `differences`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct DifferencesReply {
    /// What is counted.
    pub metric: String,
    /// Its unit symbol; empty for counts.
    pub unit: String,
    /// What rows are.
    pub by: DifferencesBy,
    /// How locations became one value.
    pub over: OverLocations,
    /// What tests stand on; null where noise cannot be told.
    pub basis: Option<&'static str>,
    /// The same in words: which test, on how much, adjusted for how many looks, at which level.
    pub evidence: String,
    /// What changed, in plain words, the most important first.
    pub sentences: Vec<String>,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// Contexts or functions of two versions. Columns that begin with `own_` are about costs
    /// without the rows below.
    pub columns DifferenceTable {
        /// The version that is compared with the first.
        version: Option<Vec<String>>,
        /// What the context is called.
        name: Vec<String>,
        /// The names from the outermost context down to it.
        context: Vec<String>,
        /// What it is: function, loop, ...
        kind: Vec<&'static str>,
        /// Where it exists: both versions, old or new.
        r#in: Vec<&'static str>,
        /// Cost in the old version.
        old: Vec<f64> [metric],
        /// Cost in the new version.
        new: Vec<f64> [metric],
        /// New minus old.
        difference: Vec<f64> [metric],
        /// The difference of the old cost.
        change_percent: Vec<Option<f64>> ["%"],
        /// New over old.
        ratio: Vec<Option<f64>>,
        /// Of the whole program's difference.
        share_percent: Vec<Option<f64>> ["%"],
        /// 95 % interval of the difference, lower end.
        low: Vec<Option<f64>> [metric],
        /// 95 % interval of the difference, upper end.
        high: Vec<Option<f64>> [metric],
        /// Probability of such a difference by chance.
        p: Vec<Option<f64>>,
        /// The same for many contexts at once.
        p_adjusted: Vec<Option<f64>>,
        /// The difference in standard deviations.
        effect: Vec<Option<f64>>,
        /// more, less, or within what chance makes; null where it was not tested.
        verdict: Vec<Option<&'static str>>,
        /// Cost in the old version.
        own_old: Vec<f64> [metric],
        /// Cost in the new version.
        own_new: Vec<f64> [metric],
        /// New minus old.
        own_difference: Vec<f64> [metric],
        /// The difference of the old cost.
        own_change_percent: Vec<Option<f64>> ["%"],
        /// New over old.
        own_ratio: Vec<Option<f64>>,
        /// Of the whole program's difference.
        own_share_percent: Vec<Option<f64>> ["%"],
        /// 95 % interval of the difference, lower end.
        own_low: Vec<Option<f64>> [metric],
        /// 95 % interval of the difference, upper end.
        own_high: Vec<Option<f64>> [metric],
        /// Probability of such a difference by chance.
        own_p: Vec<Option<f64>>,
        /// The same for many contexts at once.
        own_p_adjusted: Vec<Option<f64>>,
        /// The difference in standard deviations.
        own_effect: Vec<Option<f64>>,
        /// more, less, or within what chance makes; null where it was not tested.
        own_verdict: Vec<Option<&'static str>>,
        /// What p stands on: repetitions, paired locations or locations; null where nothing was
        /// tested.
        basis: Option<Vec<Option<&'static str>>>,
        /// Differences that were tested at once, which p_adjusted is adjusted for.
        tested: Option<Vec<u64>>,
        /// Row around this one; the largest number for the whole program.
        parent: Option<Vec<u32>>,
        /// Number of rows around this one.
        depth: Option<Vec<u32>>,
        /// Sum of the own values of the new version in this subtree: a width that children fit
        /// into.
        width_new: Option<Vec<f64>> [metric],
        /// The same with the larger of the old and the new own value.
        width_either: Option<Vec<f64>> [metric],
        /// A context of the version; null where it has none.
        old_context_id: Option<Vec<Option<u64>>>,
        /// A context of the version; null where it has none.
        new_context_id: Option<Vec<Option<u64>>>,
    }
}
