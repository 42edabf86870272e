//! Statistics of traces, messages, and calls by name and duration.

use serde::Serialize;

use super::{NotesReply, TracePart, TrackSpan};
use crate::Experiment;
use crate::macros::{choice, one_of, question, table};

choice! {
    /// What the rows of statistics are.
    pub enum StatsBy {
        /// Functions.
        Function = "function",
        /// Groups of functions, such as MPI.
        Group = "group",
        /// Call paths.
        Context = "context",
    }
}

question! {
    /// Time and calls in a time range, exactly: what is active at an edge counts with the part
    /// inside.
    "stats" of Experiment,
    request StatsRequest {
        ..part: TracePart,
        /// Which tracks, of those of the locations; null for all.
        tracks: Option<Vec<TrackSpan>>,
        /// What the rows are.
        by: StatsBy,
        /// Include helper threads: those that MPI, networks or the measurement start for
        /// themselves.
        helpers: bool,
    }
    reply NotesReply,
    tables StatsTables {
        /// Functions, groups or call paths.
        rows: StatsTable,
    }
}

table! {
    /// Time and calls, most exclusive time first.
    pub columns StatsTable {
        /// What the row is about.
        name: Vec<String>,
        /// What it belongs to; empty where the source has no groups.
        group: Option<Vec<String>>,
        /// How often it was entered in the window.
        calls: Option<Vec<u64>>,
        /// Time in it and in nothing below.
        exclusive_s: Vec<f64> ["s"],
        /// Time in it and below; recursion counts once.
        inclusive_s: Vec<f64> ["s"],
        /// Exclusive time, of the time in which anything ran.
        share_percent: Vec<f64> ["%"],
    }
}

choice! {
    /// How messages are aggregated.
    pub enum MessagesBy {
        /// Pairs of sender and receiver.
        Pair = "pair",
        /// Single messages.
        Message = "message",
        /// Sizes, in powers of two.
        Size = "size",
        /// Tags.
        Tag = "tag",
        /// Pairs of components of a workflow, with what goes through files.
        Component = "component",
        /// Files through which data goes from one component to another.
        File = "file",
    }
}

question! {
    /// Messages in transit in a time range; needs a trace of events.
    "messages" of Experiment,
    request MessagesRequest {
        ..part: TracePart,
        /// Tracks of which the sender or the receiver is one; null for all.
        tracks: Option<Vec<TrackSpan>>,
        /// What the rows are.
        by: MessagesBy,
        /// Flows (causes and effects, such as starting a kernel and the kernel) instead of
        /// messages.
        flows: bool,
    }
    reply NotesReply,
    tables MessagesTables {
        /// The messages.
        rows: MessagesTable,
    }
}

one_of! {
    /// Messages; the form depends on what rows are.
    pub enum MessagesTable {
        "added up" => Sums(MessageSumTable),
        "single messages" => Single(MessageTable),
    }
}

table! {
    /// Messages that have something in common, in its order.
    pub columns MessageSumTable {
        /// Smallest size of the row; up to twice that.
        from_bytes: Option<Vec<u64>> ["B"],
        /// Tag.
        tag: Option<Vec<String>>,
        /// Through which the data goes.
        file: Option<Vec<String>>,
        /// Who sends.
        sender: Option<Vec<String>>,
        /// Who receives.
        receiver: Option<Vec<String>>,
        /// Message between ranks, or transfer: written to a file and read from it.
        kind: Option<Vec<&'static str>>,
        /// How many.
        messages: Vec<u64>,
        /// Their sizes together.
        bytes: Vec<u64> ["B"],
        /// From sending to receiving, on average; nothing where none is matched.
        mean_s: Vec<Option<f64>> ["s"],
        /// The longest; nothing where none is matched.
        longest_s: Vec<Option<f64>> ["s"],
        /// Of these, those of which only one side is known.
        unmatched: Vec<u64>,
        /// Of these, those received before they were sent: the clocks disagree.
        backwards: Vec<u64>,
    }
}

table! {
    /// Single messages, in order of sending.
    pub struct MessageRow => MessageTable {
        /// Nanoseconds on the trace's clock; nothing where that side is not known.
        send_ns: Option<u64> ["ns"],
        /// Nanoseconds on the trace's clock; nothing where that side is not known.
        receive_ns: Option<u64> ["ns"],
        /// Who sends.
        sender: String,
        /// Who receives.
        receiver: String,
        /// Size.
        bytes: u64 ["B"],
        /// Tag.
        tag: String,
        /// Communicator.
        communicator: u64,
    }
}

choice! {
    /// Which calls come first.
    pub enum FindOrder {
        /// Those that take longest.
        Longest = "longest",
        /// Those that begin first.
        First = "first",
    }
}

question! {
    /// Calls that begin in a time range, by name and duration.
    "find" of Experiment,
    request FindRequest {
        ..part: TracePart,
        /// Words that names of functions contain, in any case and order: `nccl reduce`. `MPI_*` is a
        /// glob, `/regular expression/` what it says, `"MPI_Recv"` one name, `a|b` several; null for
        /// all.
        name: Option<String>,
        /// Which tracks, of those of the locations; null for all.
        tracks: Option<Vec<TrackSpan>>,
        /// They take at least so long, in nanoseconds.
        min_ns: Option<u64>,
        /// They take at most so long, in nanoseconds.
        max_ns: Option<u64>,
        /// Which come first.
        order: FindOrder,
        /// Rows at most.
        max_rows: u32 = 1_000,
        /// Also what the source recorded with each call.
        arguments: bool,
    }
    reply FindReply,
    tables FindTables {
        /// The first of those that were found.
        rows: FoundCallTable,
        /// How many calls of the name take how long, whatever was asked about duration.
        histogram: CallDurationTable,
    }
}

/// The reply to `find`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FindReply {
    /// How many were found.
    pub total: u64,
    /// What they take together.
    pub total_ns: u64,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// Calls that were found, in the order that was asked for.
    pub struct FoundCallRow => FoundCallTable {
        /// Row of the track.
        track: u32,
        /// Where.
        location: String,
        /// Row of the context.
        context: u32,
        /// Id of the context.
        context_id: u32,
        /// The function.
        name: String,
        /// When it was entered, since the first record.
        start_ns: f64 ["ns"],
        /// When it was left, since the first record.
        end_ns: f64 ["ns"],
        /// How long it took.
        duration_ns: f64 ["ns"],
        /// What the source recorded with it, as `name=value`, separated by commas; null where that
        /// is nothing, and where it was not asked for.
        arguments: Option<String>,
    }
}

table! {
    /// Calls by duration, the shortest first; bins without calls are omitted.
    pub struct CallDurationRow => CallDurationTable {
        /// Shortest duration of the bin; the next bin begins at twice that.
        from_ns: f64 ["ns"],
        /// How many.
        calls: u64,
        /// What they take together.
        total_ns: f64 ["ns"],
    }
}
