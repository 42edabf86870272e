//! Who reads and writes what, and which loops there are, in recordings of call instances.

use super::NotesReply;
use crate::Experiment;
use crate::macros::{question, table};

question! {
    /// Who reads and writes which variable or allocation.
    "references" of Experiment,
    request ReferencesRequest {
        /// Context expressions. None: everything that the run touches. One: what its contexts
        /// touch. Several: what contexts of each of them touch, which is what they share.
        contexts: Vec<String>,
        /// What is called from the contexts, and what is inside of them, counts as well.
        is_inclusive: bool,
    }
    reply NotesReply,
    tables ReferencesTables {
        /// The variables and allocations.
        rows: AccessTable,
    }
}

table! {
    /// Variables and allocations, most accesses first.
    pub struct AccessRow => AccessTable {
        /// The variable or allocation.
        reference: String,
        /// Id of it in the database.
        reference_id: u64,
        /// Where it lies: stack, heap, static, global.
        storage: String,
        /// Its size.
        size_bytes: Option<u64> ["bytes"],
        /// How often it is read.
        reads: u64,
        /// How often it is written.
        writes: u64,
        /// How many threads read or write it.
        threads: u64,
        /// Contexts that read it, without what they call.
        read_in: String,
        /// Contexts that write it, without what they call.
        written_in: String,
        /// The call path that allocates it; empty for variables.
        allocated_in: Option<String>,
        /// The line of the allocation, where it is known.
        allocated_line: Option<u64>,
    }
}

question! {
    /// The loops that were executed, by call path.
    "loops" of Experiment,
    request LoopsRequest {}
    reply NotesReply,
    tables LoopsTables {
        /// The loops.
        rows: LoopTable,
    }
}

table! {
    /// Loops by call path, longest first.
    pub struct LoopRow => LoopTable {
        /// The loop.
        r#loop: String,
        /// The function it is in.
        function: String,
        /// Its call path.
        context: String,
        /// Id of it in the database.
        context_id: u32,
        /// How often it was entered.
        executions: u64,
        /// Passes of its body.
        iterations: u64,
        /// Iterations of the execution with the fewest.
        iterations_min: u64,
        /// Iterations of the execution with the most.
        iterations_max: u64,
        /// Time from entering to leaving it, with what it calls.
        time_s: f64 ["s"],
        /// Its longest execution.
        longest_s: f64 ["s"],
        /// Of the time of the entry calls of all threads.
        share_percent: f64 ["%"],
    }
}
