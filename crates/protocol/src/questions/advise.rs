//! What of a run could have been executed in parallel.

use serde::Serialize;

use crate::Experiment;
use crate::macros::{choice, one_of, question, table};

choice! {
    /// What the rows of advice are.
    pub enum AdviseBy {
        /// Loops: whether iterations depend on each other, and what to change.
        Loop = "loop",
        /// What iterations of loops share and write, and where.
        Reference = "reference",
        /// Calls that could be tasks but depend on each other, and through what.
        Pair = "pair",
        /// Work, span and parallelism of calls and loops.
        Context = "context",
        /// Tasks on workers, the longest first, where that saves most.
        Task = "task",
        /// Accesses of several threads that nothing orders.
        Race = "race",
    }
}

question! {
    /// What of a run could have been executed in parallel; needs every call, iteration and access.
    "advise" of Experiment,
    request AdviseRequest {
        /// A context expression: only these contexts and what is below them; null for all. Tasks
        /// are those of the first.
        contexts: Option<String>,
        /// How many workers tasks are put on.
        workers: u32 [1..=100_000] = 4,
        /// What the rows are.
        by: AdviseBy,
    }
    reply AdviseReply,
    tables AdviseTables {
        /// The advice.
        rows: AdviseTable,
    }
}

/// The reply to `advise`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
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
    /// Remarks.
    pub notes: Vec<String>,
}

/// Tasks on workers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TasksReply {
    /// The call path below which the tasks are.
    pub parent: String,
    /// Seconds, executed sequentially.
    pub serial_s: f64,
    /// Seconds on the workers.
    pub parallel_s: f64,
    /// Seconds that no schedule on so many workers can beat.
    pub bound_s: f64,
    /// How many times faster; 1 is as fast as sequentially.
    pub speedup: f64,
    /// How many workers.
    pub workers: u32,
}

one_of! {
    /// Advice; the form depends on what rows are.
    pub enum AdviseTable {
        "loops" => Loops(LoopAdviceTable),
        "references" => References(SharedReferenceTable),
        "pairs" => Pairs(DependentPairTable),
        "contexts" => Contexts(ContextWorkTable),
        "tasks" => Tasks(TaskTable),
        "races" => Races(RaceTable),
    }
}

table! {
    /// Loops, most work first.
    pub struct LoopAdviceRow => LoopAdviceTable {
        /// Result for the iterations of the recorded run.
        verdict: &'static str,
        /// The loop, with its call path.
        r#loop: String,
        /// Id of it in the database.
        context_id: u32,
        /// Reasons for and against, and what to change.
        because: String => "Reason",
        /// Time of all executions.
        work_s: f64 ["s"],
        /// Share of the work of the run.
        share_percent: f64 ["%"],
        /// Work minus span: the potential saving.
        saving_s: f64 ["s"],
        /// How often it was entered.
        executions: u64,
        /// Iterations of all executions.
        iterations: u64,
        /// Most iterations of one execution.
        most_iterations: u64 => "Most",
    }
}

table! {
    /// What iterations share and write.
    pub struct SharedReferenceRow => SharedReferenceTable {
        /// The loop, with its call path.
        r#loop: String,
        /// Id of it in the database.
        context_id: u32,
        /// Variable or allocation.
        reference: String => "Variable",
        /// Storage class.
        storage: String,
        /// Effect on the iterations.
        effect: String,
        /// Where it is written.
        written_at: Option<String>,
        /// Where it is read.
        read_at: Option<String>,
        /// Iterations that it concerns.
        iterations: u64,
        /// An iteration that shows it.
        earlier: u32 => "First",
        /// A later one that shows it.
        later: u32 => "Then",
        /// Variables or allocations of this kind.
        references: u64,
        /// Whole variables, or byte ranges.
        compared: &'static str,
    }
}

table! {
    /// Calls that could be tasks but depend on each other.
    pub struct DependentPairRow => DependentPairTable {
        /// The common caller.
        below: String => "Caller",
        /// Id of it in the database.
        context_id: u32,
        /// What comes first.
        earlier: String => "First",
        /// What depends on it.
        later: String => "Then",
        /// How it depends on it.
        dependence: &'static str,
        /// Through what.
        reference: String => "Variable",
        /// First access.
        earlier_at: Option<String> => "First at",
        /// Second access.
        later_at: Option<String> => "Then at",
        /// How many pairs of calls.
        pairs: u64,
    }
}

table! {
    /// Calls and loops, most work first.
    pub struct ContextWorkRow => ContextWorkTable {
        /// The call path.
        context: String => "Call path",
        /// Id of it in the database.
        context_id: u32,
        /// Call or loop execution.
        kind: &'static str,
        /// How many of these.
        times: u64,
        /// Total time, executed sequentially.
        work_s: f64 ["s"],
        /// Time with any number of workers.
        span_s: f64 ["s"],
        /// Work divided by span: the maximum speedup.
        parallelism: f64,
        /// Share of the work of the run.
        share_percent: f64 ["%"],
    }
}

table! {
    /// Tasks on workers, in order of their start.
    pub struct TaskRow => TaskTable {
        /// Who executes it, from 1.
        worker: u32,
        /// Which task it is, in the order of the run.
        number: u64 => "No.",
        /// The call or loop.
        task: String,
        /// Id of it in the database.
        context_id: u32,
        /// From the start of the schedule.
        start_s: f64 ["s"],
        /// From the start of the schedule.
        end_s: f64 ["s"],
        /// Its work.
        takes_s: f64 ["s"],
        /// Numbers of tasks that it depends on.
        waits_for: String,
    }
}

table! {
    /// Accesses of several threads that nothing orders.
    pub struct RaceRow => RaceTable {
        /// Variable or allocation.
        reference: String => "Variable",
        /// Storage class.
        storage: String,
        /// Where the first access is.
        first_at: Option<String> => "One access",
        /// What it does.
        first_access: &'static str => "does",
        /// A thread that does.
        first_thread: String => "by",
        /// Where the other access is.
        second_at: Option<String> => "The other",
        /// What it does.
        second_access: &'static str => "does",
        /// A thread that does.
        second_thread: String => "by",
        /// How many pairs of accesses.
        pairs: u64,
    }
}
