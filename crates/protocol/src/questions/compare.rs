//! Two ensembles as versions of one program.

use serde::Serialize;

use super::ScalingView;
use crate::EnsemblePair;
use crate::macros::{question, table};

question! {
    /// Two ensembles as versions of one program, on the configurations of the old one.
    "compare" of EnsemblePair,
    request CompareRequest {
        /// How to look at them.
        view: ScalingView,
        /// Smallest change of time, in per cent, that counts.
        tolerance: f64 [0.0..=100.0] = 2.0,
        /// A change counts when its adjusted probability by chance is below this.
        significance: f64 [0.0..=1.0] = 0.05,
    }
    reply CompareReply,
    tables CompareTables {
        /// All configurations of all regions that both versions have.
        cells: ComparedCellTable,
    }
}

/// A region that both versions have.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedRegionReply {
    /// Id in the old version.
    pub id: String,
    /// Position of the region around it in the answer; null at the top.
    pub parent: Option<u32>,
    /// What a sentence calls it.
    pub display_name: String,
    /// Call path.
    pub path: String,
    /// Largest absolute value of all differences of efficiency.
    pub range: f64,
}

/// The reply to `compare`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CompareReply {
    /// What the versions are called.
    pub titles: (String, String),
    /// Inputs of the old version.
    pub inputs: Vec<String>,
    /// Core counts of the old version.
    pub cores: Vec<u32>,
    /// Regions that both have, the whole program first.
    pub regions: Vec<ComparedRegionReply>,
    /// Paths of regions that only the old version has.
    pub only_old: Vec<String>,
    /// Paths of regions that only the new version has.
    pub only_new: Vec<String>,
    /// What changes are judged by: which test, on how many runs, adjusted for how many looks, at
    /// which level.
    pub evidence: String,
    /// The verdict in plain words.
    pub sentences: Vec<String>,
    /// Notes and warnings.
    pub notes: Vec<String>,
}

table! {
    /// One row for each region, input and core count of the old version, nested as `cells` of
    /// `scaling` is.
    pub struct ComparedCellRow => ComparedCellTable {
        /// Region.
        region: std::sync::Arc<str>,
        /// Program arguments.
        input: std::sync::Arc<str>,
        /// Cores used.
        cores: u32,
        /// Time of the old version.
        time_old: Option<f64> [metric] => "Old",
        /// Time of the new version.
        time_new: Option<f64> [metric] => "New",
        /// New over old: below 1 is faster.
        time_ratio: Option<f64> => "New over old",
        /// faster, slower, within noise, or not tested where a version has a single run.
        change: Option<&'static str>,
        /// Repetitions of the old version.
        runs_old: Option<u64>,
        /// Repetitions of the new version.
        runs_new: Option<u64>,
        /// Probability of such a difference by chance.
        p: Option<f64> => "p",
        /// The same for all configurations and regions at once.
        p_adjusted: Option<f64> => "p adjusted",
        /// 95 % interval of the difference, lower end.
        low: Option<f64> [metric],
        /// 95 % interval of the difference, upper end.
        high: Option<f64> [metric],
        /// Difference of efficiency.
        efficiency: Option<f64>,
        /// Difference of scalability.
        scalability_abs: Option<f64>,
        /// Difference of strong scaling.
        strong_abs: Option<f64>,
        /// Difference of weak scaling.
        weak_abs: Option<f64>,
        /// Difference of scalability, relative.
        scalability_rel: Option<f64>,
        /// Difference of strong scaling, relative.
        strong_rel: Option<f64>,
        /// Difference of weak scaling, relative.
        weak_rel: Option<f64>,
    }
}
