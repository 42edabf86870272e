//! Wait states, the critical path, and how a trace changes over time.

use serde::Serialize;

use super::{NotesReply, TracePart};
use crate::Experiment;
use crate::macros::{choice, one_of, question, table};

choice! {
    /// Kinds of wait states.
    pub enum WaitsKind {
        /// Receives whose message is sent late.
        LateSender = "late_sender",
        /// Sends whose message is received late.
        LateReceiver = "late_receiver",
        /// Barriers and other collective operations that some locations enter late.
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
        /// Pairs of a waiting location and the one that is late.
        Pair = "pair",
    }
}

question! {
    /// Wait states: which location waits, for which, and how long; needs a trace of events.
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
    /// Wait states, longest total first.
    pub columns WaitTable {
        /// Kind of wait state: late sender or late receiver, the sort of collective, late launch of
        /// GPU work, or wait for a GPU.
        kind: Vec<&'static str>,
        /// The routine that waits, or the GPU work that is launched late.
        function: Option<Vec<String>>,
        /// The call path that waits, or the GPU work that is launched late.
        context: Option<Vec<String>> => "Call path",
        /// Id of it in the database.
        context_id: Option<Vec<u32>>,
        /// The waiting location.
        location: Option<Vec<String>>,
        /// The location that is late.
        waits_for: Option<Vec<String>> => "Caused by",
        /// Number of waits.
        waits: Vec<u64>,
        /// Wait time: from entering the call, or from idle, until the other side is ready, added
        /// up.
        waiting_s: Vec<f64> ["s"],
        /// Share of the time of the selected tracks in the window.
        share_percent: Vec<f64> ["%"],
        /// The longest of them.
        longest_s: Vec<f64> ["s"],
        /// Time of the waiting calls, including the wait time, and of GPU work launched late.
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
    /// What the run time consists of, excluding wait time; needs a trace of events.
    ///
    /// The path is that of the whole trace; locations and window say which part of it is shown.
    "critical_path" of Experiment,
    request CriticalPathRequest {
        ..part: TracePart,
        /// What the rows are.
        by: CriticalPathBy,
        /// One row for each segment of the path instead, in order of time.
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
    /// How long the path is in the time range, on all locations, in seconds.
    pub length_s: f64,
    /// In how many segments of one location each.
    pub segments: u64,
    /// Through how many locations.
    pub locations: u64,
    /// How many segments end with a wait that is matched by time and stream, not recorded.
    pub matched: u64,
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
        /// Share of the length of the path.
        share_percent: Vec<f64> ["%"],
        /// Time over all locations in the window, on the path or not.
        all_locations_s: Option<Vec<Option<f64>>> ["s"],
        /// Id of it in the database.
        context_id: Option<Vec<u32>>,
    }
}

table! {
    /// Segments of the path on one location each, in order of time.
    pub struct PathSegmentRow => PathSegmentTable {
        /// When the path comes to the location, after the start of the trace.
        start_s: f64 ["s"],
        /// How long it stays; the next row begins then.
        length_s: f64 ["s"],
        /// Where the path is.
        location: String,
        /// The call path that takes most of it.
        context: String => "Call path",
        /// Share of the segment in this call path.
        context_percent: f64 ["%"] => "Share of segment",
        /// What ends the segment: the wait of the next row's location; null at the end.
        releases: Option<&'static str> => "Ends with",
        /// How that is known: `recorded` in the trace, or `matched by time` and stream, where the
        /// trace has no record of the launch or does not name the stream; null at the end.
        basis: Option<&'static str>,
    }
}

choice! {
    /// What changes over time.
    pub enum OverTimeWhat {
        /// Time by function or group.
        Profile = "profile",
        /// How evenly locations compute.
        Imbalance = "imbalance",
        /// How long locations wait or are idle.
        Idle = "idle",
        /// How much later locations come to the same call than the first of them.
        Lateness = "lateness",
        /// How far locations compute while messages are in transit.
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
    /// How a trace changes over time. The time range grows to whole bins.
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
        /// Wait time.
        waiting_s: Vec<f64> ["s"],
        /// Time outside functions.
        outside_s: Vec<f64> ["s"],
        /// Wait time and time outside functions, as a share of all time.
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
        /// The location that is late for the longest time in total.
        latest: Option<Vec<String>>,
    }
}

table! {
    /// Computing while messages are in transit.
    pub columns OverlapTable {
        /// Start of the bin, after the start of the trace.
        start_s: Option<Vec<f64>> ["s"],
        /// End of the bin.
        end_s: Option<Vec<f64>> ["s"],
        /// Whose time.
        location: Vec<String>,
        /// Messages from and to it.
        messages: Option<Vec<u64>>,
        /// Time with messages from or to it in transit.
        under_way_s: Vec<f64> ["s"] => "Communication",
        /// Part of it in which the location computes.
        computing_s: Vec<f64> ["s"],
        /// Computing, as a share of the communication time.
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
        /// Maximum minus mean: the potential saving.
        saving_s: Vec<f64> ["s"],
        /// Mean / maximum; 1 is balanced; null where no location computes.
        balance_ratio: Vec<Option<f64>>,
        /// Maximum minus mean, as a share of the maximum.
        imbalance_percent: Vec<Option<f64>> ["%"],
        /// The location that computes most; null where none does.
        slowest: Vec<Option<String>>,
    }
}
