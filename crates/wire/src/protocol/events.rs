//! Questions about who waits for whom, and how a trace changes over time.
//!
//! Times of requests are nanoseconds since the first record of the trace; a stretch of time begins at
//! `from_ns` and ends before `to_ns`.

use serde::{Deserialize, Serialize};

use super::common::WindowAsk;

/// Who waits for whom, and for how long.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct WaitsAsk {
    /// An experiment with a trace of events.
    pub item: String,
    /// A profile expression for those who wait; null for all.
    #[serde(default)]
    pub profiles: Option<String>,
    /// The stretch of time.
    #[serde(flatten)]
    pub window: WindowAsk,
    /// `late_sender`, `late_receiver`, `collective`, `late_launch` or `for_gpu`; null for all.
    #[serde(default)]
    pub kind: Option<String>,
    /// What rows are: `function` (default), `context`, `track` or `pair`.
    #[serde(default)]
    pub by: Option<String>,
}

/// What the run time consists of, if nobody's waiting is counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CriticalPathAsk {
    /// An experiment with a trace of events.
    pub item: String,
    /// A profile expression for the locations that the path runs through; null for all.
    #[serde(default)]
    pub profiles: Option<String>,
    /// The stretch of time.
    #[serde(flatten)]
    pub window: WindowAsk,
    /// What rows are: `function` (default), `group`, `context` or `track`.
    #[serde(default)]
    pub by: Option<String>,
    /// One row for each stretch of the path instead, in order of time.
    #[serde(default)]
    pub segments: bool,
}

/// The critical path; table `rows`: `function`, `group`, `context` with `context_id`, or `location`;
/// `on_path_s`, `share_percent`, and except for locations `all_locations_s`. Of segments: `start_s`,
/// `length_s`, `location`, `context`, `context_percent`, `releases`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CriticalPathReply {
    /// How long the path is in the stretch of time, on all locations, in seconds.
    pub length_s: f64,
    /// In how many stretches of one location each.
    pub segments: u64,
    /// Through how many locations.
    pub locations: u64,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// How a trace changes over time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OverTimeAsk {
    /// An experiment with a trace.
    pub item: String,
    /// A profile expression; null for all.
    #[serde(default)]
    pub profiles: Option<String>,
    /// The stretch of time.
    #[serde(flatten)]
    pub window: WindowAsk,
    /// What changes: `profile` (default), `imbalance`, `idle`, `lateness` or `overlap`.
    #[serde(default)]
    pub what: Option<String>,
    /// What rows of a profile are: `function` (default) or `group`.
    #[serde(default)]
    pub by: Option<String>,
    /// Bins at most; 200 when null.
    #[serde(default)]
    pub bins: Option<u32>,
}

/// How a trace changes over time; table `rows`, by bin: `start_s` and `end_s` after the first record,
/// and by what is asked: profile: `name`, `exclusive_s`, `share_percent`; idle: `location`,
/// `waiting_s`, `outside_s`, `idle_percent`; lateness: `function`, `calls`, `mean_s`, `longest_s`;
/// overlap: `location`, `under_way_s`, `computing_s`, `overlap_percent`; imbalance: `mean_s`, `max_s`,
/// `balance_ratio`, `imbalance_percent`, `saving_s`, `slowest`. Table `totals`: the same over all bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OverTimeReply {
    /// Length of a bin.
    pub bin_ns: u64,
    /// Number of bins.
    pub bins: u32,
    /// What a person should know.
    pub notes: Vec<String>,
}
