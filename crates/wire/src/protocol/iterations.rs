//! Questions about iterations.

use serde::{Deserialize, Serialize};

use super::common::WindowAsk;

/// The iterations of a program, found in its trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IterationsAsk {
    /// An experiment with a trace.
    pub item: String,
    /// A profile expression for the locations; null for all.
    #[serde(default)]
    pub profiles: Option<String>,
    /// The stretch of time.
    #[serde(flatten)]
    pub window: WindowAsk,
    /// A context expression: iterations begin where one of these is entered; null to find them.
    #[serde(default)]
    pub marker: Option<String>,
    /// Id of the context whose times table `cells` has; null for all that computes.
    #[serde(default)]
    pub context: Option<u32>,
}

/// Why something is taken for iterations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RepetitionReply {
    /// The context with which iterations begin.
    pub marker: String,
    /// Its call path.
    pub path: String,
    /// Its id.
    pub context_id: u32,
    /// How many.
    pub count: u64,
    /// Median distance of two begins.
    pub period_s: f64,
    /// Share of the distances within a factor of 1.5 of the median.
    pub regular_percent: f64,
    /// Share of the time of the locations that regular iterations cover.
    pub coverage_percent: f64,
    /// Share of the locations that show as many; where all locations together show them, the share
    /// that one location shows.
    pub agreement_percent: f64,
    /// Whether all locations together show them.
    pub is_pooled: bool,
    /// Share of that time in contexts that repeat as often.
    pub explained_percent: f64,
    /// How many contexts do.
    pub contexts: u64,
}

/// How the locations of one kind repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IterationsGroupReply {
    /// `GPU streams`, `first threads` or `other threads`.
    pub group: String,
    /// How many of them are active.
    pub locations: u64,
    /// The best way; null when they do not repeat regularly.
    pub best: Option<RepetitionReply>,
    /// Other ways.
    pub others: Vec<RepetitionReply>,
    /// Why there is none.
    pub why_not: Option<String>,
}

/// The iterations that were found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IterationsFoundReply {
    /// Which locations.
    pub group: String,
    /// What iterations begin with.
    pub marker: String,
    /// Whether a person named it.
    pub is_named: bool,
    /// Names of the locations; table `cells` has their places in this list.
    pub locations: Vec<String>,
    /// Their tracks, as rows of the table `tracks` of `timeline`.
    pub tracks: Vec<u32>,
    /// How many more of this kind do not have these iterations.
    pub left_out: u64,
    /// How many iterations.
    pub count: u64,
    /// How many count in statistics.
    pub whole: u64,
    /// How many at the beginning do not.
    pub warm_up: u64,
    /// How many at the end do not.
    pub partial: u64,
    /// Median length.
    pub period_s: f64,
    /// From the first begin, after the start of the trace.
    pub from_s: f64,
    /// To the last end.
    pub to_s: f64,
    /// That time as a share of what was looked at.
    pub span_percent: f64,
    /// The time that savings are a share of.
    pub window_s: f64,
    /// Whether iterations begin at about the same time everywhere.
    pub is_aligned: bool,
    /// Share of the begins that no sample shows.
    pub guessed_percent: f64,
    /// How far samples are apart; null where times are exact.
    pub interval_s: Option<f64>,
    /// How alike iterations are.
    pub similarity_percent: f64,
    /// Saved if each context that computes were balanced on its own.
    pub saving_s: f64,
    /// Saved if the sum of the computing of each location were balanced.
    pub joint_saving_s: f64,
    /// Saved if only lasting differences were balanced.
    pub lasting_saving_s: f64,
    /// Contexts with too few samples to be judged; they are not in `saving_s`.
    pub unresolved: u64,
}

/// Iterations. Table `contexts`: `context`, `does`, `share_percent`, `mean_s`, `max_s`,
/// `balance_ratio`, `across_percent`, `within_percent`, `saving_s`, `total_saving_s`,
/// `lasting_saving_s`, `resolved`, `slowest`, `call_path`, `context_id`. Table `iterations`:
/// `iteration`, `state`, `start_s`, `length_s`, `mean_s`, `max_s`, `balance_ratio`,
/// `imbalance_percent`, `saving_s`, `waiting_s`, `slowest`. Table `locations`: `location`,
/// `length_s`, `computing_s`, `communicating_s`, `waiting_s`, `variation_percent`, `slowest_in`.
/// Table `cells`, by location and iteration: `location`, `iteration`, `time_s`, `difference_s` from
/// the mean of the locations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IterationsReply {
    /// What was found; null when there are no regular iterations.
    pub found: Option<IterationsFoundReply>,
    /// By kind of location why, or why not.
    pub groups: Vec<IterationsGroupReply>,
    /// What a person should know.
    pub notes: Vec<String>,
}
