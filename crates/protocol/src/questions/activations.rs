//! Call instances, executions of loops, iterations, and what they read and write.
//!
//! Entities are asked for by kind and number, many of them in one question, so that a client can
//! combine what several views need at the same time.

use serde::Serialize;

use super::NotesReply;
use crate::macros::{choice, one_of, question, table};
use crate::{Experiment, Repeated};

choice! {
    /// What an entity is. Its number is a row of the experiment: the same as long as the bytes are.
    pub enum EntityKind {
        /// A call, an execution of a loop, or an iteration, by its position in depth-first order.
        Activation = "activation",
        /// All calls of one function by one call, in its loops or not, by the position of the
        /// first.
        Group = "group",
        /// A variable or an allocation.
        Reference = "reference",
        /// A thread.
        Thread = "thread",
        /// A function.
        Function = "function",
        /// A source file.
        File = "file",
        /// A time range of a thread that the program marked with a name.
        Tag = "tag",
    }
}

choice! {
    /// What is asked for about entities.
    pub enum Relation {
        /// Of an activation: the call, execution or iteration around it. Activations.
        Parent = "parent",
        /// Of an activation or group: the call around it. Activations.
        Caller = "caller",
        /// Of an activation: all around it, innermost first. Activations.
        Ancestors = "ancestors",
        /// Of an activation: directly inside it, by time. Activations.
        Children = "children",
        /// Of an activation: calls that it makes, in its loops or not; of a group: its calls; of a
        /// thread: its entry calls; of a function: its calls. Activations, by time.
        Calls = "calls",
        /// Of a call: the calls that it makes, by function; of a group: those of each of its
        /// calls. Groups; loops and iterations have none, as they make only some of the calls of
        /// one.
        Groups = "groups",
        /// Of an activation: loops directly in it; of a group: those of all its calls.
        /// Activations.
        Executions = "executions",
        /// Of an execution of a loop: its iterations. Activations.
        Iterations = "iterations",
        /// Of an activation: everything below it, in depth-first order. Activations.
        Within = "within",
        /// What the code of an activation or group reads and writes, in its loops too, but not
        /// what it calls. References, with `reads` and `writes` of the entity.
        References = "references",
        /// The same with everything below. References.
        ReferencesWithin = "references_within",
        /// Of a reference: what reads and writes it. Activations, with `reads` and `writes`.
        Touchers = "touchers",
        /// Of an activation: its thread; of a thread: those that it started. Threads.
        Threads = "threads",
        /// Of an activation or group: its function; of a file: those in it. Functions.
        Functions = "functions",
        /// Of a thread: what is marked in it. Tags.
        Tags = "tags",
    }
}

question! {
    /// Call instances, references, threads and other entities, in the order of their numbers.
    "entities" of Experiment,
    request EntitiesRequest {
        /// What they are.
        kind: EntityKind [required],
        /// Their numbers; null for all.
        ids: Option<Vec<u32>>,
        /// Maximum number of rows; null for as many as an answer may have.
        limit: Option<u32>,
    }
    reply EntitiesReply,
    tables EntitiesTables {
        /// One row for each entity.
        rows: EntityTable,
    }
}

question! {
    /// What belongs to entities, in the order of the request.
    "related" of Experiment,
    request RelatedRequest {
        /// What they are.
        kind: EntityKind [required],
        /// Their numbers.
        ids: Vec<u32> [required],
        /// What is asked for about each of them.
        relation: Relation [required],
        /// Of `within`, `calls` and `children`: only what takes longer, in nanoseconds; null for
        /// all. The comparison is strict, as in Parceive.
        longer_than_ns: Option<u64>,
        /// Maximum number of rows; null for as many as an answer may have.
        limit: Option<u32>,
    }
    reply EntitiesReply,
    tables RelatedTables {
        /// One row for each related entity.
        rows: EntityTable,
    }
}

question! {
    /// Variables and allocations that all of several activations and groups read or write, most
    /// accesses first.
    "shared" of Experiment,
    request SharedRequest {
        /// Activations.
        activations: Vec<u32>,
        /// Groups.
        groups: Vec<u32>,
        /// Whether accesses of what they call count, too.
        is_inclusive: bool,
    }
    reply EntitiesReply,
    tables SharedTables {
        /// One row for each shared reference.
        rows: ReferenceTable,
    }
}

/// The reply to questions about entities.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EntitiesReply {
    /// Rows beyond the limit.
    pub left_out: u64,
    /// Remarks.
    pub notes: Vec<String>,
}

one_of! {
    /// Entities; the form depends on what they are.
    pub enum EntityTable {
        "activations and groups" => Activations(ActivationTable),
        "references" => References(ReferenceTable),
        "threads" => Threads(ThreadTable),
        "functions" => Functions(FunctionTable),
        "files" => Files(FileTable),
        "tags" => Tags(TagTable),
    }
}

table! {
    /// Activations and groups of calls.
    pub columns ActivationTable {
        /// Of related entities: the entity of the request that the row belongs to.
        of: Option<Vec<u32>>,
        /// Position in depth-first order; of a group that of its first call.
        activation: Vec<u32>,
        /// `call`, `loop` (an execution of one), `iteration` or `group`.
        kind: Repeated,
        /// The function or loop.
        name: Repeated,
        /// Id of its call path in the database.
        context_id: Vec<u32>,
        /// The function whose code it is.
        function: Vec<Option<u64>>,
        /// The activation around it.
        parent: Vec<Option<u64>>,
        /// The call around it; null for entry calls.
        caller: Vec<Option<u64>>,
        /// Its thread.
        thread: Vec<u32>,
        /// Number of activations around it.
        depth: Vec<u32>,
        /// Start, since that of the run.
        start_ns: Vec<u64> ["ns"],
        /// End, since the start of the run; of a group that of its last call.
        end_ns: Vec<u64> ["ns"],
        /// Inclusive time; of a group that of all its calls.
        length_ns: Vec<u64> ["ns"],
        /// Number of calls of a group, else 1.
        count: Vec<u64>,
        /// Number of an iteration.
        number: Vec<u32>,
        /// Line of the call in its caller.
        line: Vec<Option<u64>>,
        /// Number of activations directly inside.
        children: Vec<u64>,
        /// Number of functions that it calls, in its loops or not.
        groups: Vec<u64>,
        /// Number of executions of loops directly inside.
        executions: Vec<u64>,
        /// Number of iterations directly inside.
        iterations: Vec<u64>,
        /// 1 when a loop of its caller is around it.
        is_in_loop: Vec<u32>,
        /// 1 when a time is estimated rather than recorded.
        is_estimated: Vec<u32>,
        /// Number of references that it reads or writes, in its loops too, without its callees.
        touched: Vec<u64>,
        /// 1 when it or a callee reads or writes references.
        is_touching_within: Vec<u32>,
        /// Number in the database, by kind.
        source_id: Vec<u64>,
        /// Related to references: number of reads.
        reads: Option<Vec<u64>>,
        /// Related to references: number of writes.
        writes: Option<Vec<u64>>,
        /// Related to references: line of the first read.
        read_line: Option<Vec<Option<u64>>>,
        /// Related to references: line of the first write.
        write_line: Option<Vec<Option<u64>>>,
    }
}

table! {
    /// Variables and allocations.
    pub columns ReferenceTable {
        /// Of related entities: the entity of the request that the row belongs to.
        of: Option<Vec<u32>>,
        /// Number of the variable or allocation.
        reference: Vec<u32>,
        /// Its name.
        name: Vec<String>,
        /// Storage: stack, heap, static or global.
        storage: Vec<String>,
        /// Its size.
        size_bytes: Vec<Option<u64>> ["bytes"],
        /// Number of reads, of the whole run or of the entity.
        reads: Vec<u64>,
        /// Number of writes, likewise.
        writes: Vec<u64>,
        /// The activation that allocates it; null for variables.
        allocated_by: Vec<Option<u64>>,
        /// The activation that frees it.
        freed_by: Vec<Option<u64>>,
        /// Line of the allocation.
        allocated_line: Vec<Option<u64>>,
        /// Line of the release.
        freed_line: Vec<Option<u64>>,
        /// Number in the database.
        source_id: Vec<u64>,
        /// Related to activations: line of the first read.
        read_line: Option<Vec<Option<u64>>>,
        /// Related to activations: line of the first write.
        write_line: Option<Vec<Option<u64>>>,
    }
}

table! {
    /// Threads.
    pub columns ThreadTable {
        /// Of related entities: the entity of the request that the row belongs to.
        of: Option<Vec<u32>>,
        /// Number of the thread.
        thread: Vec<u32>,
        /// Its display name.
        name: Vec<String>,
        /// Its entry call.
        entry: Vec<Option<u64>>,
        /// The thread that started it.
        creator: Vec<Option<u64>>,
        /// The activation that started it.
        created_by: Vec<Option<u64>>,
        /// The line where it was started.
        created_line: Vec<Option<u64>>,
        /// Start of its entry call, since that of the run.
        start_ns: Vec<Option<u64>> ["ns"],
        /// Inclusive time of its entry call.
        length_ns: Vec<Option<u64>> ["ns"],
        /// Number of calls on it.
        calls: Vec<u64>,
        /// Number in the database.
        source_id: Vec<u64>,
    }
}

table! {
    /// Functions.
    pub columns FunctionTable {
        /// Of related entities: the entity of the request that the row belongs to.
        of: Option<Vec<u32>>,
        /// Number of the function.
        function: Vec<u32>,
        /// Its name.
        name: Vec<String>,
        /// The file that it is defined in, by its number.
        file: Vec<Option<u64>>,
        /// Path of the file.
        path: Vec<Option<String>>,
        /// Line of the definition.
        line: Vec<Option<u64>>,
        /// Number of calls.
        calls: Vec<u64>,
        /// Inclusive time; of recursive calls only the outermost one counts.
        time_ns: Vec<u64> ["ns"],
    }
}

table! {
    /// Source files.
    pub columns FileTable {
        /// Of related entities: the entity of the request that the row belongs to.
        of: Option<Vec<u32>>,
        /// Number of the file.
        file: Vec<u32>,
        /// Its path.
        path: Vec<String>,
        /// Number of functions that are defined in it.
        functions: Vec<u64>,
    }
}

table! {
    /// Time ranges of threads that the program marked with names.
    pub columns TagTable {
        /// Of related entities: the entity of the request that the row belongs to.
        of: Option<Vec<u32>>,
        /// Number of the tag.
        tag: Vec<u32>,
        /// Its name.
        name: Vec<String>,
        /// What it marks.
        what: Vec<String> => "Kind",
        /// Its thread.
        thread: Vec<Option<u64>>,
        /// Start, since that of the run.
        start_ns: Vec<u64> ["ns"],
        /// Its duration.
        length_ns: Vec<u64> ["ns"],
        /// Counts the tags of one name.
        counter: Vec<u64>,
        /// The activation that stands for it, with what is done in it below; null when it is an
        /// interval of time only.
        activation: Vec<Option<u64>>,
    }
}

question! {
    /// Calls over time, one lane for each of several activations, without short calls.
    ///
    /// Call instances lie where they were executed. Aggregated calls lie one after the other below
    /// their caller, longest first, as wide as the sum of their times.
    "lanes" of Experiment,
    request LanesRequest {
        /// The activation that each lane begins with: entry calls of threads, or what the user
        /// zoomed into.
        tops: Vec<u32> [required],
        /// Aggregate calls of one function by the same calls (profiling), rather than show call
        /// instances in order of time (tracing).
        is_merged: bool,
        /// Calls that take less than this percentage of the top of their lane are omitted with
        /// everything below them.
        below_percent: f64,
        /// Whether executions of loops are rows, too; for call instances.
        loops: bool,
    }
    reply LanesReply,
    tables LanesTables {
        /// The calls of all lanes.
        rows: LaneTable,
    }
}

/// The reply to `lanes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LanesReply {
    /// Number of calls that are omitted because they are short, by lane.
    pub left_out: Vec<u64>,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// Calls in depth-first order, lane after lane.
    pub columns LaneTable {
        /// Position of the lane in the request.
        lane: Vec<u32>,
        /// The call or execution; of aggregated calls the first.
        activation: Vec<u32>,
        /// `call`, `loop` (an execution of one) or `iteration`.
        kind: Vec<&'static str>,
        /// The function or loop.
        name: Repeated,
        /// Id of its call path in the database.
        context_id: Vec<u32>,
        /// Number of calls around it in the lane; of a loop that of its call.
        level: Vec<u32>,
        /// Start, since that of the run; of aggregated calls since that of the lane.
        start_ns: Vec<u64> ["ns"],
        /// Inclusive time.
        length_ns: Vec<u64> ["ns"],
        /// Number of aggregated calls.
        count: Vec<u64>,
        /// Number of iterations of an execution.
        iterations: Vec<u64>,
    }
}

question! {
    /// Definitions, calls, loops and accesses on the lines of a source file.
    "lines" of Experiment,
    request LinesRequest {
        /// The file, as the experiment names it, or the end of its path where that is unique.
        path: String [required],
    }
    reply NotesReply,
    tables LinesTables {
        /// What happens on the lines.
        rows: LineTable,
    }
}

table! {
    /// What happens on lines, by line.
    pub struct LineRow => LineTable {
        /// The line.
        line: u32,
        /// `definition` (of a function), `call`, `loop`, `read`, `write`, `allocation` or
        /// `release`.
        what: &'static str => "Kind",
        /// The function, loop, variable or allocation.
        name: String,
        /// Number of calls, executions, or activations that read or write.
        times: u64 => "Count",
        /// Id of the call path where it happens first.
        context_id: Option<u64>,
        /// Number of the variable or allocation.
        reference: Option<u64>,
    }
}
