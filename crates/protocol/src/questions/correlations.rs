//! Correlations over locations.

use serde::Serialize;

use crate::Experiment;
use crate::macros::{choice, question, table};

choice! {
    /// What the correlated values belong to.
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
        /// The strongest linear correlation first.
        Pearson = "pearson",
        /// The strongest rank correlation first.
        Spearman = "spearman",
    }
}

question! {
    /// Correlations over locations between exclusive values of functions, totals and identities.
    "correlations" of Experiment,
    request CorrelationsRequest {
        /// Metric expressions, or formulas after `=`; none for the metric that says most about
        /// time.
        metrics: Vec<String>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// One column of each pair has such a name, which may be a glob: a metric (its total), a
        /// kind of identity such as `rank`, or a function; none for all.
        with: Vec<String>,
        /// What the values belong to.
        by: CorrelationBy,
        /// Omit contexts whose exclusive value is below this share of the total, in per cent.
        min_percent: f64 = 1.0,
        /// By what pairs are ranked.
        order: CorrelationOrder,
        /// Pairs at most.
        top: u32 = 200,
        /// Include helper threads: those that MPI, networks, drivers or the measurement start for
        /// themselves.
        helpers: bool,
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
    /// Number of pairs that were tested.
    pub tested: u64,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// Pairs of columns, the strongest first.
    pub struct CorrelatedPairRow => CorrelatedPairTable {
        /// The exclusive value of a function, a total, or a number such as the rank.
        first: String,
        /// The correlated quantity.
        second: String,
        /// Locations with both values.
        locations: u64,
        /// Linear correlation: 1 positive, -1 negative, 0 none.
        pearson: f64,
        /// p value of the coefficient, adjusted for all pairs.
        pearson_p: f64 => "p",
        /// Rank correlation: 1 the same order, -1 the reverse order.
        spearman: f64,
        /// p value of the coefficient, adjusted for all pairs.
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
    /// Locations with both values; their units are in the reply.
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
