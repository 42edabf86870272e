//! Anomalies: calls that take much longer than others of their function.

use serde::{Deserialize, Serialize};

use super::{TracePart, TrackSpan};
use crate::Experiment;
use crate::macros::{question, table};

question! {
    /// Calls of a trace that take much longer than the other calls of their function on the same
    /// location, or those that a detector named; see [anomalies.md](anomalies.md).
    "anomalies" of Experiment,
    request AnomaliesRequest {
        ..part: TracePart,
        /// Which tracks, of those of the locations; null for all.
        tracks: Option<Vec<TrackSpan>>,
        /// Also calls of MPI, and those that wait: how long they take depends on other locations.
        /// What a detector named is always listed.
        waiting: bool,
        /// The least time by which a call exceeds the median of its function, in nanoseconds; not
        /// used for what a detector named.
        min_excess_ns: u64 = 10_000,
        /// Rows at most.
        max_rows: u32 = 1_000,
    }
    reply AnomaliesReply,
    tables AnomaliesTables {
        /// The calls, the largest excess first; of what a detector named, the longest first.
        rows: AnomalyTable,
    }
}

/// The reply to `anomalies`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AnomaliesReply {
    /// Who named anomalies: a detector or its file; null where there are none.
    pub detector: Option<String>,
    /// Whether calls were compared with others of their function. They are not where the trace has
    /// only calls that the detector chose, which need not be all calls of the program.
    pub is_compared: bool,
    /// How many there are, those beyond the requested number of rows included.
    pub total: u64,
    /// How many of them take much longer than others of their function.
    pub found: u64,
    /// How many of them the detector named.
    pub named: u64,
    /// What those that were found take longer than the medians of their functions, in nanoseconds.
    pub excess_ns: f64,
    /// How many calls were compared with others of their function.
    pub compared: u64,
    /// How many calls were not, because their function has too few on its location.
    pub too_few: u64,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// Calls that take much longer than others of their function, the largest excess first.
    pub struct AnomalyRow => AnomalyTable {
        /// Row of the track.
        track: u32,
        /// Where.
        location: String,
        /// Row of the context.
        context: u32,
        /// Id of the context.
        context_id: u32,
        /// The function.
        name: String,
        /// When it was entered, since the first record.
        start_ns: f64 ["ns"],
        /// When it was left, since the first record.
        end_ns: f64 ["ns"],
        /// Its time without that of the calls made from it.
        exclusive_ns: f64 ["ns"],
        /// Whether it takes much longer than others of its function.
        found: bool,
        /// Whether the detector named it.
        named: bool,
        /// The median of the exclusive time of the function's calls on this location; null where
        /// they are not compared: too few, of MPI, or chosen by the detector.
        median_ns: Option<f64> ["ns"],
        /// The exclusive time as a multiple of the median; null as `median_ns`.
        times_median: Option<f64>,
        /// How far it lies from the median, in deviations on a logarithmic scale: the scaled median
        /// absolute deviation; null as `median_ns`.
        score: Option<f64>,
        /// How many calls the function has on this location; null as `median_ns`.
        calls: Option<u64>,
    }
}
