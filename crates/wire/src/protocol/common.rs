//! What several requests share.

use parallax_service::{CostChoice, CostHeader, CostsChoice, PruneChoice};
use serde::{Deserialize, Serialize};

/// What counts as cost, and over which locations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct CostAsk {
    /// A metric expression; null for the metric that says most about time.
    pub metric: Option<String>,
    /// A profile expression; null for all locations.
    pub profiles: Option<String>,
    /// Count time in the traces instead of a metric.
    pub is_trace: bool,
    /// A time window of the traces; implies `is_trace`.
    pub window: Option<String>,
}

impl From<CostAsk> for CostChoice {
    fn from(ask: CostAsk) -> Self {
        let CostAsk { metric, profiles, is_trace, window } = ask;
        Self { metric, profiles, is_trace, window }
    }
}

/// What counts as cost where several metrics stand side by side, and over which locations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct CostsAsk {
    /// Metric expressions, or formulas that begin with `=`; the default metric when empty.
    pub metrics: Vec<String>,
    /// A profile expression; null for all locations.
    pub profiles: Option<String>,
    /// Count time in the traces instead of metrics.
    pub is_trace: bool,
    /// A time window of the traces; implies `is_trace`.
    pub window: Option<String>,
}

impl From<CostsAsk> for CostsChoice {
    fn from(ask: CostsAsk) -> Self {
        let CostsAsk { metrics, profiles, is_trace, window } = ask;
        Self { metrics, profiles, is_trace, window }
    }
}

/// What is left out of trees.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct PruneAsk {
    /// What lies below calls of MPI.
    pub mpi: bool,
    /// Functions of OpenMP runtimes.
    pub openmp: bool,
    /// Loops, lines and instructions.
    pub lines: bool,
    /// Contexts below this share of the total, in per cent.
    pub below_percent: Option<f64>,
    /// Functions whose own node is hidden; globs.
    pub hide: Vec<String>,
    /// Functions below which everything is hidden; globs.
    pub fold: Vec<String>,
    /// Functions that are hidden with everything below; globs.
    pub cut: Vec<String>,
}

impl From<PruneAsk> for PruneChoice {
    fn from(ask: PruneAsk) -> Self {
        let PruneAsk { mpi, openmp, lines, below_percent, hide, fold, cut } = ask;
        Self { mpi, openmp, lines, below_percent, hide, fold, cut }
    }
}

/// What the numbers of a view count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CostReply {
    /// Name of the metric, or `trace time`.
    pub metric: String,
    /// Its unit symbol; empty for counts.
    pub unit: String,
    /// Why this metric, where nobody named one.
    pub reason: Option<String>,
    /// Cost of the whole execution over the chosen locations.
    pub total: f64,
    /// Number of locations that the numbers are sums over.
    pub locations: u64,
    /// What a person should know.
    pub notes: Vec<String>,
}

impl From<CostHeader> for CostReply {
    fn from(header: CostHeader) -> Self {
        Self {
            metric: header.metric,
            unit: header.unit.to_string(),
            reason: header.reason,
            total: header.total,
            locations: header.locations as u64,
            notes: header.notes,
        }
    }
}

/// A stretch of time, in nanoseconds since the first record of the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WindowAsk {
    /// Where it begins; null for the beginning.
    #[serde(default)]
    pub from_ns: Option<u64>,
    /// Where it ends; null for the end.
    #[serde(default)]
    pub to_ns: Option<u64>,
}
