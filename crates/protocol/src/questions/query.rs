//! Values and samples as stored.

use serde::Serialize;

use super::{NotesReply, PruneChoice};
use crate::macros::{choice, question, table};
use crate::{Experiment, Repeated};

question! {
    /// Values as stored, by expressions.
    "query" of Experiment,
    request QueryRequest {
        /// A profile expression; null for all profiles, the summary included.
        profiles: Option<String>,
        /// A context expression; null for all contexts of the tree.
        contexts: Option<String>,
        /// A metric expression; null for all.
        metrics: Option<String>,
        /// Contexts to exclude although the expression names them. Values stay as stored.
        prune: PruneChoice,
        /// Omit the readable names.
        is_raw: bool,
        /// Also values of elided contexts, which the database keeps but the tree lacks; only
        /// without a context expression and without pruning.
        with_elided: bool,
    }
    reply NotesReply,
    tables QueryTables {
        /// The values.
        rows: ValueTable,
    }
}

table! {
    /// Values, ascending by the three ids.
    pub columns ValueTable {
        /// Profile number in the database; 0 is the summary.
        profile_id: Vec<u32>,
        /// Context id in the database; 0 is the whole run.
        context_id: Vec<u32>,
        /// Metric id in the database: of a statistic in the summary, of a scope elsewhere.
        metric_id: Vec<u16>,
        /// The value, in the unit of its metric.
        value: Vec<f64> [metric],
        /// Where it was measured.
        location: Option<Repeated>,
        /// What the context is called.
        context: Option<Repeated>,
        /// Metric and scope; statistic in the summary.
        metric: Option<Repeated>,
        /// Unit of the value; absent where all have the same, which the column of values says.
        unit: Option<Repeated>,
    }
}

question! {
    /// Samples of traces: which context was active when.
    "trace" of Experiment,
    request TraceRequest {
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// A time window; null for everything.
        window: Option<String>,
        /// Omit the readable names.
        is_raw: bool,
    }
    reply NotesReply,
    tables TraceTables {
        /// The samples.
        rows: SampleTable,
    }
}

table! {
    /// Samples, by location and time; the last sample of a location ends when it starts, because
    /// its duration is unknown.
    pub columns SampleTable {
        /// Profile number in the database.
        profile_id: Vec<u32>,
        /// Context id in the database; 0 while nothing ran.
        context_id: Vec<u32>,
        /// Time of the sample, since the Unix epoch.
        start_ns: Vec<u64> ["ns"],
        /// Time of the next sample of the same location.
        end_ns: Vec<u64> ["ns"],
        /// Where it was measured.
        location: Option<Repeated>,
        /// What the context is called.
        context: Option<Repeated>,
    }
}

choice! {
    /// What samples of traces are grouped by.
    pub enum TraceBy {
        /// Contexts, over all locations.
        Context = "context",
        /// Locations.
        Location = "location",
        /// Contexts of each location.
        Both = "both",
    }
}

question! {
    /// Samples of traces by context, location or both: how many, and their durations.
    ///
    /// The answer is the same on every device, bit for bit: durations and their squares are added as
    /// whole numbers.
    "trace_groups" of Experiment,
    request TraceGroupsRequest {
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// A time window, to which samples are cut; null for everything.
        window: Option<String>,
        /// Rows of the table.
        by: TraceBy,
        /// Only samples that last this many nanoseconds or longer.
        min_ns: u64,
    }
    reply TraceGroupsReply,
    tables TraceGroupsTables {
        /// The groups.
        rows: TraceGroupTable,
    }
}

/// The reply to `trace_groups`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TraceGroupsReply {
    /// Number of samples, before short ones are excluded.
    pub samples: u64,
    /// Where they were grouped: the name of a GPU, or `cpu`.
    pub device: String,
    /// Why there.
    pub device_reason: String,
    /// Remarks, such as that nothing matched and why.
    pub notes: Vec<String>,
}

table! {
    /// One row for each group, the longest total first.
    pub columns TraceGroupTable {
        /// Profile number in the database.
        profile_id: Option<Vec<u32>>,
        /// Where it was measured.
        location: Option<Repeated>,
        /// Context id in the database; 0 while nothing ran.
        context_id: Option<Vec<u32>>,
        /// What the context is called.
        context: Option<Repeated>,
        /// Number of samples.
        samples: Vec<u64>,
        /// Sum of their durations.
        total_ns: Vec<u64> ["ns"] => "Total",
        /// Mean duration.
        mean_ns: Vec<f64> ["ns"] => "Mean",
        /// Shortest duration.
        min_ns: Vec<u64> ["ns"] => "Minimum",
        /// Longest duration.
        max_ns: Vec<u64> ["ns"] => "Maximum",
        /// Standard deviation of the durations.
        std_dev_ns: Vec<f64> ["ns"] => "Std. dev.",
    }
}
