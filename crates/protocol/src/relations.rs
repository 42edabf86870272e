//! Tables that no question gives: what an experiment holds, row by row, for queries over all of it.
//!
//! Ids are those of the database, and a column that means the same has the same name everywhere, so
//! that tables are joined by it: `profile_id`, `context_id`, `metric_id`.

use crate::Family;
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
        /// The question that it asks; null for a function of the tree.
        question: Option<String>,
        /// The table of the answer that it gives.
        gives: String,
        /// What is asked.
        about: String,
        /// Fields of the question, which are given as `field => value`.
        fields: String,
    }
}

table! {
    /// Samples of traces: what was active from one moment to the next, by location and time.
    pub columns StoredSampleTable {
        /// Profile number in the database.
        profile_id: Vec<u32>,
        /// Context id in the database.
        context_id: Vec<u32>,
        /// When it became active, on the trace's clock.
        start_ns: Vec<u64> ["ns"],
        /// When the next one did.
        end_ns: Vec<u64> ["ns"],
    }
}

table! {
    /// Calls, executions of loops and iterations of a recording, depth-first.
    pub columns StoredActivationTable {
        /// Position in depth-first order.
        activation_id: Vec<u32>,
        /// The activation around it; null for entry calls.
        parent_id: Vec<Option<u32>>,
        /// `call`, `loop execution` or `iteration`.
        kind: Vec<&'static str>,
        /// Profile number of its thread.
        profile_id: Vec<u32>,
        /// Context id in the database.
        context_id: Vec<u32>,
        /// The last activation below it; its own number where nothing is below.
        last_activation_id: Vec<u32>,
        /// Number of an iteration; null for others.
        number: Vec<Option<u32>>,
        /// When it began, on the clock of the run.
        start_ns: Vec<u64> ["ns"],
        /// When it ended.
        end_ns: Vec<u64> ["ns"],
        /// Whether a time is estimated rather than recorded.
        is_estimated: Vec<bool>,
    }
}

table! {
    /// Variables and allocations of a recording.
    pub struct StoredReferenceRow => StoredReferenceTable {
        /// Its number, as `accesses` has it.
        reference_id: u32,
        /// The variable or allocation.
        reference: String,
        /// Where it lies: stack, heap, static, global.
        storage: String,
        /// Its size.
        size_bytes: Option<u64> ["B"],
        /// The activation that allocates it; null for variables.
        allocated_by_id: Option<u32>,
        /// The line of the allocation, where it is known.
        allocated_line: Option<u32>,
        /// The activation that frees it, where it is known.
        freed_by_id: Option<u32>,
        /// Number in the source.
        source_id: u64,
    }
}

table! {
    /// What activations read and write themselves, without what they call or contain: a row for each
    /// reference between two synchronisations of the thread.
    pub columns StoredAccessTable {
        /// Position of the activation in depth-first order.
        activation_id: Vec<u32>,
        /// Number of the variable or allocation.
        reference_id: Vec<u32>,
        /// How often it is read.
        reads: Vec<u32>,
        /// How often it is written.
        writes: Vec<u32>,
        /// Line of the first read; null where it is not known or not read.
        read_line: Vec<Option<u32>>,
        /// Line of the first write; null where it is not known or not written.
        write_line: Vec<Option<u32>>,
        /// How many synchronisations the thread had passed.
        epoch: Vec<u32>,
    }
}

table! {
    /// Regions of an ensemble, outer ones before those inside.
    pub struct StoredRegionRow => StoredRegionTable {
        /// Place in the order of the tree, counted from 0.
        region_id: u32,
        /// Id; 0 is the whole program.
        region: String,
        /// The region around it.
        parent_id: Option<u32>,
        /// The last region inside it; its own number where nothing is inside.
        last_region_id: u32,
        /// Number of regions around it.
        depth: u32,
        /// What it is: `program`, `region`, `function`, `loop`, ...
        kind: &'static str,
        /// Name; may be empty.
        name: String,
        /// Call path.
        path: String,
        /// Source file.
        file: Option<String>,
        /// First line.
        first_line: Option<u32>,
        /// Last line.
        last_line: Option<u32>,
    }
}

table! {
    /// What was measured of each run in each region.
    pub columns StoredRunTable {
        /// Number of the run, by parameters and repetition.
        run_id: Vec<u32>,
        /// Number of the region.
        region_id: Vec<u32>,
        /// Number of the repetition, as the source counts.
        repetition: Vec<u32>,
        /// False for a run that was far too short and may have failed.
        is_trusted: Vec<bool>,
        /// True for a run that was ended after its first iterations: its times are estimates.
        is_estimated: Vec<bool>,
        /// One column for each parameter, such as `cores` and `input`: numbers where all of its
        /// values are numbers.
        parameters: Family,
        /// One column for each metric, such as `time`; null where it was not measured.
        metrics: Family,
    }
}

table! {
    /// Statistics over repetitions, of files that have these instead of the repetitions.
    pub columns StoredRunStatisticTable {
        /// Number of the region.
        region_id: Vec<u32>,
        /// Name of the metric.
        metric: Vec<String>,
        /// Unit of the metric.
        unit: Vec<String>,
        /// One column for each parameter.
        parameters: Family,
        /// Number of repetitions.
        repetitions: Vec<u32>,
        /// Arithmetic mean.
        mean: Vec<f64> [of unit],
        /// Median.
        median: Vec<f64> [of unit],
        /// Smallest value.
        min: Vec<f64> [of unit],
        /// Largest value.
        max: Vec<f64> [of unit],
        /// Population standard deviation.
        deviation: Vec<f64> [of unit],
    }
}

table! {
    /// Values of the parameters of an ensemble, in their order.
    pub struct ParameterValueRow => ParameterValueTable {
        /// Name of the parameter.
        parameter: String,
        /// Place among the values of the parameter, counted from 0.
        place: u32,
        /// The value as a text.
        value: String,
        /// The number that it is; null where it is none.
        number: Option<f64>,
    }
}

table! {
    /// What was measured in an ensemble.
    pub struct EnsembleMetricRow => EnsembleMetricTable {
        /// Name: that of its column in `runs`.
        metric: String,
        /// Unit of its values.
        unit: String,
        /// How many values there are.
        values: u64,
    }
}
