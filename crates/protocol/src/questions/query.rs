//! Values and samples as stored.

use super::{NotesReply, PruneChoice};
use crate::macros::{question, table};
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
