//! Load imbalance of contexts over locations.

use serde::Serialize;

use super::BalanceBy;
use crate::Experiment;
use crate::macros::{question, table};

question! {
    /// Load imbalance of contexts over locations, ranks or nodes.
    "balance" of Experiment,
    request BalanceRequest {
        /// A metric expression; null for the metric that says most about time.
        metric: Option<String>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// A context expression; null for the functions that cost at least 1 %, without what lies
        /// below calls of MPI and without helper threads.
        contexts: Option<String>,
        /// Compare costs without what contexts call.
        is_exclusive: bool,
        /// What is compared.
        by: BalanceBy,
        /// Compare single contexts, not functions wherever they are called from.
        by_context: bool,
        /// Count locations that ran, but never entered a context, with 0; otherwise only those that
        /// take part are compared, and `absent` is how many do not.
        all_locations: bool,
        /// How many of the slowest to name.
        slowest: u32 = 3,
        /// Include helper threads: those that MPI, networks, drivers or the measurement start for
        /// themselves.
        helpers: bool,
    }
    reply BalanceReply,
    tables BalanceTables {
        /// The contexts or functions.
        rows: BalanceTable,
    }
}

/// The reply to `balance`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BalanceReply {
    /// Why this metric, where the request names none.
    pub reason: Option<String>,
    /// The whole execution's inclusive cost over the chosen locations.
    pub total: f64,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// Contexts or functions, the largest potential saving first.
    pub struct BalanceTableRow => BalanceTable {
        /// Id of the context in the database; of a function, the first one.
        context_id: u32,
        /// Context or function.
        name: String,
        /// Call path from the entry down.
        path: String,
        /// Number of contexts that were added up.
        contexts: u64,
        /// Number of locations, ranks or nodes that are compared.
        members: u64,
        /// Number of them that spent something here.
        with_value: u64,
        /// Number of locations, ranks or nodes that ran, but never entered it, and are not compared.
        absent: u64,
        /// Maximum minus mean: the potential saving.
        saving: f64 [metric],
        /// members x max - sum: the waiting of all together.
        wasted: f64 [metric],
        /// mean / max; 1 is perfect balance.
        balance_ratio: Option<f64>,
        /// max / mean; 1 is perfect balance.
        imbalance: Option<f64>,
        /// Sum over all members.
        sum: f64 [metric],
        /// sum / members.
        mean: f64 [metric],
        /// The smallest share.
        min: f64 [metric],
        /// 5th percentile.
        p5: f64 [metric],
        /// 25th percentile.
        p25: f64 [metric],
        /// Median.
        p50: f64 [metric],
        /// 75th percentile.
        p75: f64 [metric],
        /// 95th percentile.
        p95: f64 [metric],
        /// The largest share.
        max: f64 [metric],
        /// Sample variance, divisor n - 1.
        variance: Option<f64> [metric squared],
        /// Square root of the variance.
        std_dev: Option<f64> [metric],
        /// Coefficient of variation: std_dev / mean.
        variation: Option<f64>,
        /// The members with the largest values, from the largest.
        slowest: String,
        /// Number of members in equal bins from min to max.
        histogram: String,
    }
}
