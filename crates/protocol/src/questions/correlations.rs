//! What varies together over locations.

use serde::Serialize;

use crate::Experiment;
use crate::macros::{choice, question, table};

choice! {
    /// What the costs that are correlated belong to.
    pub enum CorrelationBy {
        /// Functions, wherever they are called from.
        Function = "function",
        /// Contexts, by call path.
        Context = "context",
    }
}

choice! {
    /// Order of pairs.
    pub enum CorrelationOrder {
        /// The least likely to be chance first.
        Significance = "significance",
        /// The nearest to a line first.
        Pearson = "pearson",
        /// The nearest to one order first.
        Spearman = "spearman",
    }
}

question! {
    /// Which own costs of functions, whole costs and identities rise and fall together over
    /// locations.
    "correlations" of Experiment,
    request CorrelationsRequest {
        /// Metric expressions, or formulas after `=`; none for the metric that says most about
        /// time.
        metrics: Vec<String>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// One column of each pair has such a name, which may be a glob: a metric (its whole
        /// cost), a kind of identity such as `rank`, or a function; none for all.
        with: Vec<String>,
        /// What the costs belong to.
        by: CorrelationBy,
        /// Contexts whose own cost is below this share of the whole are left out, in per cent.
        min_percent: f64 = 1.0,
        /// By what pairs are ranked.
        order: CorrelationOrder,
        /// Pairs at most.
        top: u32 = 200,
    }
    reply CorrelationsReply,
    tables CorrelationsTables {
        /// The strongest pairs.
        pairs: CorrelatedPairTable,
    }
}

/// The reply to `correlations`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CorrelationsReply {
    /// Number of pairs that were looked at.
    pub tested: u64,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// Pairs of columns, the strongest first.
    pub struct CorrelatedPairRow => CorrelatedPairTable {
        /// One column.
        first: String => "One",
        /// The other one.
        second: String => "Other",
        /// Locations with both.
        locations: u64,
        /// How near to a line, from -1 to 1.
        pearson: f64,
        /// Probability by chance, for all pairs.
        pearson_p: f64 => "p",
        /// How near to one order, from -1 to 1.
        spearman: f64,
        /// Probability by chance, for all pairs.
        spearman_p: f64 => "p",
    }
}

question! {
    /// Two columns of `correlations` at each location, as a scatter plot needs them.
    "correlation_points" of Experiment,
    request CorrelationPointsRequest {
        /// The question that `first` and `second` come from.
        of: CorrelationsRequest,
        /// Name of a column, as the table `pairs` has it.
        first: String [required],
        /// Name of another one.
        second: String [required],
    }
    reply CorrelationPointsReply,
    tables CorrelationPointsTables {
        /// The points.
        points: CorrelationPointTable,
    }
}

/// The reply to `correlation_points`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CorrelationPointsReply {
    /// Unit symbol of the first column; empty for counts and numbers of identity.
    pub first_unit: String,
    /// Unit symbol of the second one.
    pub second_unit: String,
}

table! {
    /// Locations where both numbers are known; their units are in the reply.
    pub struct CorrelationPointRow => CorrelationPointTable {
        /// Id of the location.
        location: u32,
        /// What the location is called.
        label: String,
        /// The first column.
        first: f64,
        /// The second column.
        second: f64,
    }
}
