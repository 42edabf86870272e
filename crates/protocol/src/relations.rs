//! Tables that no question gives: what an experiment holds, row by row, for queries over all of it.
//!
//! Ids are those of the database, and a column that means the same has the same name everywhere, so
//! that tables are joined by it: `profile_id`, `context_id`, `metric_id`.

use crate::macros::table;

table! {
    /// The calling context tree, callers before what they call.
    pub struct StoredContextRow => StoredContextTable {
        /// Context id in the database; 0 is the whole run.
        context_id: u32,
        /// The context above it; null for the whole run.
        parent_id: Option<u32>,
        /// What it is called.
        name: String,
        /// `root`, `entry`, `function`, `loop`, `line`, `instruction` or `other`.
        kind: &'static str,
        /// How it hangs below the context above: `lexical`, `call`, `inlined` or `other`.
        relation: &'static str,
        /// Number of contexts above it.
        depth: u32,
        /// Name of the function that it is, or is part of.
        function: Option<String>,
        /// What the function belongs to, such as MPI.
        function_group: Option<String>,
        /// Source file.
        file: Option<String>,
        /// Line of the source file.
        line: Option<u32>,
        /// Executable or library.
        module: Option<String>,
        /// Place in the order of the tree, counted from 0.
        position: u32,
        /// Place of the last context below it; its own where nothing is below.
        last_position: u32,
    }
}

table! {
    /// What was measured, one row for each metric and scope.
    pub struct MeasuredRow => MeasuredTable {
        /// Metric id in the profiles of locations.
        metric_id: u16,
        /// Name of the metric.
        metric: String,
        /// `execution` (with everything below), `function`, `point` or `lex_aware`.
        scope: String,
        /// Unit of its values.
        unit: String,
        /// Description by the source.
        description: String,
    }
}

table! {
    /// What the summary over all locations holds, one row for each metric, scope and statistic.
    pub struct StatisticRow => StatisticTable {
        /// Metric id in the summary: another numbering than that of `metrics`.
        statistic_id: u16,
        /// Name of the metric.
        metric: String,
        /// The scope of the values that it is over.
        scope: String,
        /// `sum`, `min`, `max`, `count`, `sqr` (sum of squares) or `other`.
        statistic: String,
        /// Unit of the metric; empty where the statistic has another.
        unit: String,
    }
}

table! {
    /// Values of locations, ascending by the three ids; zeros are not stored.
    pub columns LocationValueTable {
        /// Profile number in the database.
        profile_id: Vec<u32>,
        /// Context id in the database; 0 is the whole run.
        context_id: Vec<u32>,
        /// Metric id in the profiles of locations: a metric in a scope.
        metric_id: Vec<u16>,
        /// The value, in the unit of its metric.
        value: Vec<f64>,
    }
}

table! {
    /// Values of the summary over all locations, ascending by the two ids.
    pub columns SummaryValueTable {
        /// Context id in the database; 0 is the whole run.
        context_id: Vec<u32>,
        /// Metric id in the summary: a metric in a scope, with a statistic.
        statistic_id: Vec<u16>,
        /// The value, in the unit of its statistic.
        value: Vec<f64>,
    }
}

table! {
    /// Calls of a trace of events, by location; a call comes after those made from it.
    pub columns TraceCallTable {
        /// Profile number in the database.
        profile_id: Vec<u32>,
        /// Context id in the database.
        context_id: Vec<u32>,
        /// When it was entered, on the trace's clock.
        start_ns: Vec<u64> ["ns"],
        /// When it was left; null where the source does not say.
        end_ns: Vec<Option<u64>> ["ns"],
    }
}

table! {
    /// Messages and other links between two locations, about in order of sending.
    pub struct StoredLinkRow => StoredLinkTable {
        /// `message`, `flow` (a cause and its effect) or `transfer` (through a file).
        kind: &'static str,
        /// Profile number of who sends; null where that is not in the trace.
        sender_id: Option<u32>,
        /// Profile number of who receives; null where that is not in the trace.
        receiver_id: Option<u32>,
        /// When it was sent; null where no send was found.
        send_ns: Option<u64> ["ns"],
        /// When it was received; null where no receive was found.
        receive_ns: Option<u64> ["ns"],
        /// Size.
        bytes: u64 ["B"],
        /// Tag; of a flow its number.
        tag: i64,
        /// Communicator.
        communicator: u32,
        /// The file of a transfer.
        file: Option<String>,
    }
}

table! {
    /// Parts of locations in collective operations.
    pub struct CollectiveRow => CollectiveTable {
        /// Profile number in the database.
        profile_id: u32,
        /// Which operation.
        operation: String,
        /// Communicator; all-ones for one that has this rank only.
        communicator: u32,
        /// Rank of the root.
        root: Option<u64>,
        /// Bytes sent.
        sent_bytes: u64 ["B"],
        /// Bytes received.
        received_bytes: u64 ["B"],
        /// When the location came.
        start_ns: u64 ["ns"],
        /// When it went on.
        end_ns: u64 ["ns"],
    }
}

table! {
    /// Values of metrics that change over time, by location and metric.
    pub struct StoredCounterRow => StoredCounterTable {
        /// Profile number in the database.
        profile_id: u32,
        /// Name of the metric.
        counter: String,
        /// Unit of its values.
        unit: String,
        /// When it took the value.
        time_ns: u64 ["ns"],
        /// The value.
        value: f64 [of unit],
    }
}

table! {
    /// Moments that the program or the measurement named.
    pub struct MomentRow => MomentTable {
        /// Profile number in the database.
        profile_id: u32,
        /// Its name.
        name: String,
        /// When it was.
        time_ns: u64 ["ns"],
    }
}

table! {
    /// What was repaired, dropped or guessed.
    pub struct IssueRow => IssueTable {
        /// A short stable name.
        kind: String,
        /// `note`, `warning` or `error`.
        severity: String,
        /// `read`, `import` or `analysis`.
        stage: String,
        /// Where it was seen first, for users.
        place: String,
        /// The file it was seen in, when it is about a file.
        file: Option<String>,
        /// Bytes from the start of the file, when it is about a byte.
        byte_offset: Option<u64> ["B"],
        /// What is wrong and what was kept.
        message: String,
        /// How many of the kind there are.
        count: u64,
    }
}

table! {
    /// Questions that are functions behind FROM.
    pub struct TableFunctionRow => TableFunctionTable {
        /// Name of the function.
        function: String,
        /// The question that it asks.
        question: String,
        /// The table of the answer that it gives.
        gives: String,
        /// What is asked.
        about: String,
        /// Fields of the question, which are given as `field => value`.
        fields: String,
    }
}
