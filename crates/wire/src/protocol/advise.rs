//! Questions about what could run in parallel.

use serde::{Deserialize, Serialize};

/// What of a run could have been executed in parallel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AdviseAsk {
    /// An experiment with activations.
    pub item: String,
    /// A context expression: only these and what is below them; null for all.
    #[serde(default)]
    pub contexts: Option<String>,
    /// How many workers tasks are put on, at least 1; null for 4.
    #[serde(default)]
    pub workers: Option<u32>,
    /// What rows are: `loop` (default), `reference`, `pair`, `context`, `task` or `race`.
    #[serde(default)]
    pub by: Option<String>,
}

/// Tasks on workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TasksReply {
    /// The call path below which the tasks are.
    pub parent: String,
    /// Seconds one after the other.
    pub serial_s: f64,
    /// Seconds on the workers.
    pub parallel_s: f64,
    /// Seconds that no schedule on so many workers can beat.
    pub bound_s: f64,
    /// How many times faster.
    pub speedup: f64,
    /// How many workers.
    pub workers: u32,
}

/// Advice; table `rows`, by what was asked: loops (`verdict`, `loop`, `context_id`, `because`,
/// `work_s`, `share_percent`, `saving_s`, `executions`, `iterations`, `most_iterations`), references
/// (`loop`, `context_id`, `reference`, `storage`, `effect`, `written_at`, `read_at`, `iterations`,
/// `earlier`, `later`, `references`, `compared`), pairs (`below`, `context_id`, `earlier`, `later`,
/// `dependence`, `reference`, `earlier_at`, `later_at`, `pairs`), contexts (`context`, `context_id`,
/// `kind`, `times`, `work_s`, `span_s`, `parallelism`, `share_percent`), tasks (`worker`, `number`,
/// `task`, `context_id`, `start_s`, `end_s`, `takes_s`, `waits_for`) or races (`reference`,
/// `storage`, `first_at`, `first_access`, `first_thread`, `second_at`, `second_access`,
/// `second_thread`, `pairs`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AdviseReply {
    /// Seconds of work of the run.
    pub work_s: f64,
    /// Seconds of its span.
    pub span_s: f64,
    /// Work divided by span.
    pub parallelism: f64,
    /// Of tasks: where they are, and what workers bring; null otherwise.
    pub tasks: Option<TasksReply>,
    /// What a person should know.
    pub notes: Vec<String>,
}
