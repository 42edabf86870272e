//! Who waits for whom, what the run time consists of, and how a trace changes over time.

use serde::Serialize;

use super::{NotesReply, TracePart};
use crate::Experiment;
use crate::macros::{choice, one_of, question, table};

choice! {
    /// Kinds of waits.
    pub enum WaitsKind {
        /// Receives whose message is sent late.
        LateSender = "late_sender",
        /// Sends whose message is received late.
        LateReceiver = "late_receiver",
        /// Barriers and other collective operations, for those who come late.
        Collective = "collective",
        /// GPU streams whose next work is launched late.
        LateLaunch = "late_launch",
        /// Threads that synchronise with a GPU.
        ForGpu = "for_gpu",
    }
}

choice! {
    /// What the rows of waits are.
    pub enum WaitsBy {
        /// Routines that wait.
        Function = "function",
        /// Call paths that wait.
        Context = "context",
        /// Locations that wait.
        Track = "track",
        /// Who waits, and for whom.
        Pair = "pair",
    }
}

question! {
    /// Who waits for whom, and for how long; needs a trace of events.
    "waits" of Experiment,
    request WaitsRequest {
        ..part: TracePart,
        /// Which; null for all.
        kind: Option<WaitsKind>,
        /// What the rows are.
        by: WaitsBy,
    }
    reply NotesReply,
    tables WaitsTables {
        /// The waits.
        rows: WaitTable,
    }
}

table! {
    /// Waits, most waiting first.
    pub columns WaitTable {
        /// Why: late sender or late receiver of a message, the sort of collective, late launch of
        /// GPU work, or wait for a GPU.
        kind: Vec<&'static str>,
        /// The routine that waits, or the GPU work that is launched late.
        function: Option<Vec<String>>,
        /// The call path that waits, or the GPU work that is launched late.
        context: Option<Vec<String>> => "Call path",
        /// Id of it in the database.
        context_id: Option<Vec<u32>>,
        /// Who waits.
        location: Option<Vec<String>>,
        /// For whom.
        waits_for: Option<Vec<String>>,
        /// How many calls wait.
        waits: Vec<u64>,
        /// From entering the call, or from when the stream has nothing to do, until the other one
        /// comes, added up.
        waiting_s: Vec<f64> ["s"],
        /// Waiting, of the time of all chosen tracks in the window.
        share_percent: Vec<f64> ["%"],
        /// The longest of them.
        longest_s: Vec<f64> ["s"],
        /// Time in the calls that wait, waiting or not, and in GPU work launched late.
        in_calls_s: Vec<f64> ["s"],
    }
}

choice! {
    /// What the rows of a critical path are.
    pub enum CriticalPathBy {
        /// Functions.
        Function = "function",
        /// Groups of functions, such as MPI.
        Group = "group",
        /// Call paths.
        Context = "context",
        /// Locations.
        Track = "track",
    }
}

question! {
    /// What the run time consists of, if nobody's waiting is counted; needs a trace of events.
    ///
    /// The path is that of the whole trace; locations and window say which part of it is shown.
    "critical_path" of Experiment,
    request CriticalPathRequest {
        ..part: TracePart,
        /// What the rows are.
        by: CriticalPathBy,
        /// One row for each stretch of the path instead, in order of time.
        segments: bool,
    }
    reply CriticalPathReply,
    tables CriticalPathTables {
        /// The path.
        rows: CriticalPathTable,
    }
}

/// The reply to `critical_path`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CriticalPathReply {
    /// How long the path is in the stretch of time, on all locations, in seconds.
    pub length_s: f64,
    /// In how many stretches of one location each.
    pub segments: u64,
    /// Through how many locations.
    pub locations: u64,
    /// Remarks.
    pub notes: Vec<String>,
}

one_of! {
    /// The critical path; the form depends on what rows are.
    pub enum CriticalPathTable {
        "what it consists of" => Sums(OnPathTable),
        "segments" => Segments(PathSegmentTable),
    }
}

table! {
    /// What the path consists of, the longest first.
    pub columns OnPathTable {
        /// What the time goes into.
        function: Option<Vec<String>>,
        /// What the time goes into.
        group: Option<Vec<String>>,
        /// What the time goes into.
        context: Option<Vec<String>> => "Call path",
        /// Where the path is.
        location: Option<Vec<String>>,
        /// Time on the path, in it and in nothing below.
        on_path_s: Vec<f64> ["s"] => "On the path",
        /// Of the length of the path.
        share_percent: Vec<f64> ["%"],
        /// Time in it on all locations in the window, on the path or not.
        all_locations_s: Option<Vec<Option<f64>>> ["s"],
        /// Id of it in the database.
        context_id: Option<Vec<u32>>,
    }
}

table! {
    /// Stretches of the path on one location each, in order of time.
    pub struct PathSegmentRow => PathSegmentTable {
        /// When the path comes to the location, after the start of the trace.
        start_s: f64 ["s"],
        /// How long it stays; the next row begins then.
        length_s: f64 ["s"],
        /// Where the path is.
        location: String,
        /// The call path that takes most of it.
        context: String => "Call path",
        /// How much of it.
        context_percent: f64 ["%"] => "Of it",
        /// Why the location of the next row had waited for this one; nothing at the end.
        releases: Option<&'static str> => "Then",
    }
}

choice! {
    /// What changes over time.
    pub enum OverTimeWhat {
        /// Time by function or group.
        Profile = "profile",
        /// How evenly locations compute.
        Imbalance = "imbalance",
        /// How long locations wait or do nothing.
        Idle = "idle",
        /// How much later locations come to the same call than the first of them.
        Lateness = "lateness",
        /// How far locations compute while messages are under way.
        Overlap = "overlap",
    }
}

choice! {
    /// What the rows of a time profile are.
    pub enum OverTimeBy {
        /// Functions.
        Function = "function",
        /// Groups of functions, such as MPI.
        Group = "group",
    }
}

question! {
    /// How a trace changes over time. The stretch of time grows to whole bins.
    "over_time" of Experiment,
    request OverTimeRequest {
        ..part: TracePart,
        /// What changes.
        what: OverTimeWhat,
        /// What rows of a profile are.
        by: OverTimeBy,
        /// Bins at most. They are 2^k ns long, so there may be half as many.
        bins: u32 [1..=100_000] = 200,
    }
    reply OverTimeReply,
    tables OverTimeTables {
        /// One row for each bin, or for each bin and function, group or location.
        rows: OverTimeTable,
        /// One row for each function, group or location over all bins; of imbalance the same as
        /// `rows`.
        totals: OverTimeTable,
    }
}

/// The reply to `over_time`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct OverTimeReply {
    /// Length of a bin.
    pub bin_ns: u64,
    /// Number of bins.
    pub bins: u32,
    /// Remarks.
    pub notes: Vec<String>,
}

one_of! {
    /// What changes; the form depends on what is asked.
    pub enum OverTimeTable {
        "profile" => Profile(TimeProfileTable),
        "idle" => Idle(IdleTimeTable),
        "lateness" => Lateness(LatenessTable),
        "overlap" => Overlap(OverlapTable),
        "imbalance" => Imbalance(ImbalanceTable),
    }
}

table! {
    /// Time by function or group, the longest first.
    pub columns TimeProfileTable {
        /// Start of the bin, after the start of the trace.
        start_s: Option<Vec<f64>> ["s"],
        /// End of the bin.
        end_s: Option<Vec<f64>> ["s"],
        /// What ran.
        name: Vec<String>,
        /// Time in it and in nothing below.
        exclusive_s: Vec<f64> ["s"],
        /// Of the time in which anything ran.
        share_percent: Vec<f64> ["%"],
    }
}

table! {
    /// Time in which locations wait or are in no function.
    pub columns IdleTimeTable {
        /// Start of the bin, after the start of the trace.
        start_s: Option<Vec<f64>> ["s"],
        /// End of the bin.
        end_s: Option<Vec<f64>> ["s"],
        /// Whose time.
        location: Vec<String>,
        /// In functions that wait for somebody else.
        waiting_s: Vec<f64> ["s"],
        /// In no function.
        outside_s: Vec<f64> ["s"],
        /// Both, of the time there is.
        idle_percent: Vec<f64> ["%"],
    }
}

table! {
    /// How much later locations come to the same call than the first of them, the latest first.
    pub columns LatenessTable {
        /// Start of the bin, after the start of the trace.
        start_s: Option<Vec<f64>> ["s"],
        /// End of the bin.
        end_s: Option<Vec<f64>> ["s"],
        /// What was called.
        function: Vec<String>,
        /// How many calls are compared.
        calls: Vec<u64>,
        /// How much later than the first location, on average over all calls.
        mean_s: Vec<f64> ["s"],
        /// The latest call.
        longest_s: Vec<f64> ["s"],
        /// Who is late for the longest time in all.
        latest: Option<Vec<String>>,
    }
}

table! {
    /// Computing while messages are under way.
    pub columns OverlapTable {
        /// Start of the bin, after the start of the trace.
        start_s: Option<Vec<f64>> ["s"],
        /// End of the bin.
        end_s: Option<Vec<f64>> ["s"],
        /// Whose time.
        location: Vec<String>,
        /// Messages from and to it.
        messages: Option<Vec<u64>>,
        /// While at least one message from or to it is under way.
        under_way_s: Vec<f64> ["s"],
        /// Of this, while it computes.
        computing_s: Vec<f64> ["s"],
        /// The share of the time under way in which it computes.
        overlap_percent: Vec<f64> ["%"],
    }
}

table! {
    /// How evenly locations compute, bin by bin.
    pub columns ImbalanceTable {
        /// Start of the bin, after the start of the trace.
        start_s: Vec<f64> ["s"],
        /// End of the bin.
        end_s: Vec<f64> ["s"],
        /// Computing in the bin, on average over the locations.
        mean_s: Vec<f64> ["s"],
        /// Of the location that computes most.
        max_s: Vec<f64> ["s"] => "Largest",
        /// max - mean: what perfect balance would save.
        saving_s: Vec<f64> ["s"],
        /// mean / max: 1 is perfect; nothing where nobody computes.
        balance_ratio: Vec<Option<f64>>,
        /// (max - mean) / max: the share that the average location has nothing to do.
        imbalance_percent: Vec<Option<f64>> ["%"],
        /// Who computes most; nothing where nobody does.
        slowest: Vec<Option<String>>,
    }
}
