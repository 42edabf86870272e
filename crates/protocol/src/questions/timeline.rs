//! What happened when, as pictures need it.
//!
//! Times are nanoseconds since the first record of the trace, so that they are exact in JavaScript
//! for a hundred days; [`TimelineReply::origin_ns`] is what to add. A time range begins at
//! `from_ns` and ends before `to_ns`. Tracks are rows of the table `tracks` of `timeline`.

use serde::Serialize;

use super::{NotesReply, TrackSpan};
use crate::macros::{choice, question, table};
use crate::{Experiment, Family};

choice! {
    /// What colours and stacks stand for.
    pub enum TimelineBy {
        /// Functions: rows of the table `functions` of `timeline`.
        Function = "function",
        /// Groups of functions, such as MPI: rows of the table `groups`.
        Group = "group",
    }
}

question! {
    /// What there is to see in a trace.
    "timeline" of Experiment,
    request TimelineRequest {}
    reply TimelineReply,
    tables TimelineTables {
        /// The tracks.
        tracks: TrackTable,
        /// The functions, from the one that takes most time.
        functions: TimelineFunctionTable,
        /// Groups of functions, from the one that takes most time.
        groups: TimelineGroupTable,
        /// The contexts.
        contexts: TimelineContextTable,
    }
}

/// The reply to `timeline`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TimelineReply {
    /// Whether calls were recorded, or samples of what was active.
    pub has_calls: bool,
    /// The first record of all, in nanoseconds on the trace's clock; decimal, for it may be large.
    pub origin_ns: String,
    /// From the first to the last record.
    pub span_ns: u64,
    /// Records of sending a message.
    pub sends: u64,
    /// Records of receiving a message.
    pub receives: u64,
    /// The metrics whose values change over time.
    pub counters: Vec<CounterReply>,
    /// The coupled applications; empty where there is one.
    pub components: Vec<ComponentReply>,
    /// The tracks without those of helper threads, which views show; null where none is one.
    pub program_tracks: Option<Vec<TrackSpan>>,
    /// What is excluded with the others, in words.
    pub helpers: Option<String>,
    /// Remarks, such as that functions have no times and why.
    pub notes: Vec<String>,
}

/// A metric whose value changes over time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CounterReply {
    /// Name.
    pub name: String,
    /// Unit symbol; empty when unknown.
    pub unit: String,
}

/// One of several coupled applications.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComponentReply {
    /// Number, as tracks have it.
    pub application: u64,
    /// Name.
    pub name: String,
    /// Names of the components it takes data from.
    pub depends_on: Vec<String>,
}

table! {
    /// Tracks, in the order of the trace.
    pub columns TrackTable {
        /// Row of the location.
        location: Vec<u32>,
        /// What it is called.
        label: Vec<String>,
        /// Calls, or samples.
        calls: Vec<u64>,
        /// One column for each kind of identity; that of the application is called `component`.
        identities: Family,
    }
}

table! {
    /// Functions with different names.
    pub struct TimelineFunctionRow => TimelineFunctionTable {
        /// What it is called.
        name: String,
        /// Time in it and in nothing below, over everything.
        exclusive_ns: f64 ["ns"],
        /// How often it was entered.
        calls: f64,
        /// Row of its group.
        group: u32,
    }
}

table! {
    /// Groups of functions.
    pub struct TimelineGroupRow => TimelineGroupTable {
        /// What it is called.
        name: String,
        /// Time in it and in nothing below, over everything.
        exclusive_ns: f64 ["ns"],
        /// How often it was entered.
        calls: f64,
    }
}

table! {
    /// Contexts, in depth-first order.
    pub columns TimelineContextTable {
        /// Id in the source.
        context_id: Vec<u32>,
        /// Row of the context above; 4294967295 for the root.
        parent: Vec<u32>,
        /// Row of its function; 4294967295 above all functions.
        function: Vec<u32>,
        /// Functions down to it, itself included.
        depth: Vec<u32>,
    }
}

question! {
    /// A picture of tracks over time: rows of tracks by bins of time.
    "tile" of Experiment,
    request TileRequest {
        /// Rows of the picture; each adds its tracks up.
        rows: Vec<TrackSpan> [required],
        /// Where it begins.
        from_ns: u64 [required],
        /// Where it ends.
        to_ns: u64 [required],
        /// Bins at most; there are at least half as many, unless they would be shorter than 1 ns.
        bins: u32 [required],
        /// What colours stand for.
        by: TimelineBy,
        /// Depth below which contexts count as the one above them, 1 for the outermost; null for
        /// none.
        max_depth: Option<u32>,
        /// Functions or groups (as `by` says) to hide.
        hidden: Vec<u32>,
    }
    reply BinsReply,
    tables TileTables {
        /// The cells: row after row of the picture, each with all bins.
        cells: TileCellTable,
    }
}

/// The bins of an answer over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct BinsReply {
    /// Where the first bin begins; it may be before the trace does.
    pub first_ns: f64,
    /// Length of a bin.
    pub bin_ns: u64,
    /// Number of bins.
    pub bins: u32,
}

table! {
    /// Cells of a picture. A cell has at most the length of a bin times the tracks of its row.
    pub struct TileCellRow => TileCellTable {
        /// Function or group with most of the time; 4294967295 where nothing ran.
        key: u32,
        /// Time of it.
        dominant_ns: f64 ["ns"],
        /// Time in which anything ran that is not hidden.
        busy_ns: f64 ["ns"],
        /// How often contexts were entered.
        calls: f64,
        /// Depth of the deepest context.
        depth: u32,
    }
}

question! {
    /// The call instances in a time range. For samples, a call is a run of samples with the same
    /// contexts above.
    "calls" of Experiment,
    request CallsRequest {
        /// Which tracks.
        tracks: Vec<TrackSpan> [required],
        /// Where it begins.
        from_ns: u64 [required],
        /// Where it ends.
        to_ns: u64 [required],
        /// Calls at most: where there are more, none are given.
        max_calls: u32 [required],
        /// Shorter calls are counted and omitted.
        shortest_ns: u64,
    }
    reply CallsReply,
    tables CallsTables {
        /// The calls.
        calls: CallTable,
    }
}

/// The reply to `calls`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallsReply {
    /// Whether there were few enough.
    pub is_complete: bool,
    /// How many there are, about, where they are too many; exactly, where they are given.
    pub calls: u64,
    /// How many of these are shorter than asked for, and omitted.
    pub shorter: u64,
}

table! {
    /// Calls by track and start, what is around a call before it; not cut at the window.
    pub struct CallTableRow => CallTable {
        /// Row of the track.
        track: u32,
        /// Row of the context.
        context: u32,
        /// 1 for the outermost.
        depth: u32,
        /// When it was entered, since the first record.
        start_ns: f64 ["ns"],
        /// When it was left, since the first record.
        end_ns: f64 ["ns"],
    }
}

question! {
    /// What was active at a moment.
    "path_at" of Experiment,
    request PathAtRequest {
        /// The track.
        track: u32 [required],
        /// The moment.
        at_ns: u64 [required],
        /// Also the exclusive time of each call, for which all calls inside it are summed up.
        exclusive: bool,
        /// Also what the source recorded with each call.
        arguments: bool,
    }
    reply NotesReply,
    tables PathAtTables {
        /// The calls, from the outermost; none where nothing ran.
        path: PathAtTable,
        /// What the source recorded with them; none where it was not asked for.
        arguments: ArgumentTable,
    }
}

table! {
    /// What the source recorded with calls, such as the grid of a kernel, in its order.
    pub struct ArgumentRow => ArgumentTable {
        /// Depth of the call, 1 for the outermost.
        depth: u32,
        /// What it is called.
        name: String,
        /// The value, as text.
        value: String,
    }
}

table! {
    /// Calls inside one another, from the outermost.
    pub struct PathAtRow => PathAtTable {
        /// Row of the context.
        context: u32,
        /// What it is called.
        name: String,
        /// 1 for the outermost.
        depth: u32,
        /// When it was entered, since the first record.
        start_ns: f64 ["ns"],
        /// When it was left, since the first record.
        end_ns: f64 ["ns"],
        /// Time in this one call and in nothing below; null where it was not asked for.
        exclusive_ns: Option<f64> ["ns"],
    }
}

question! {
    /// Messages or flows in transit in a time range; needs a trace of events.
    "links" of Experiment,
    request LinksRequest {
        /// Tracks of which the sender or the receiver is one; null for all.
        tracks: Option<Vec<TrackSpan>>,
        /// Where it begins.
        from_ns: u64 [required],
        /// Where it ends.
        to_ns: u64 [required],
        /// At most so many; of more, those that take longest.
        max_links: u32 [required],
        /// Flows (causes and effects) instead of messages.
        flows: bool,
    }
    reply TotalReply,
    tables LinksTables {
        /// The messages or flows.
        links: LinkTable,
    }
}

/// The reply of a question that gives some of what there is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TotalReply {
    /// How many there are.
    pub total: u64,
}

table! {
    /// Messages or flows, in order of sending.
    pub struct LinkRow => LinkTable {
        /// Row of the sending track; 4294967295 when not in the trace.
        sender: u32,
        /// Row of the receiving track; 4294967295 when not in the trace.
        receiver: u32,
        /// When it was sent, since the first record; null where that side was not found.
        send_ns: Option<f64> ["ns"],
        /// When it was received, since the first record; null where that side was not found.
        receive_ns: Option<f64> ["ns"],
        /// Size.
        bytes: f64 ["B"],
        /// Tag.
        tag: f64,
        /// Communicator.
        communicator: u32,
    }
}

question! {
    /// How many messages or flows were sent when; needs a trace of events.
    ///
    /// A message of which only the receipt is known counts when it was received.
    "link_bins" of Experiment,
    request LinkBinsRequest {
        /// Tracks of which the sender or the receiver is one; null for all.
        tracks: Option<Vec<TrackSpan>>,
        /// Where it begins.
        from_ns: u64 [required],
        /// Where it ends.
        to_ns: u64 [required],
        /// Bins at most, as for a picture.
        bins: u32 [required],
        /// Flows (causes and effects) instead of messages.
        flows: bool,
    }
    reply BinsReply,
    tables LinkBinsTables {
        /// One row for each bin.
        bins: LinkBinTable,
    }
}

table! {
    /// Messages or flows by bin.
    pub columns LinkBinTable {
        /// How many were sent.
        messages: Vec<u32>,
        /// Their sizes together.
        bytes: Vec<f64> ["B"],
    }
}

question! {
    /// A counter over time; needs a trace of events.
    "counter_bins" of Experiment,
    request CounterBinsRequest {
        /// Position in the list of counters.
        counter: u32 [required],
        /// Which tracks; null for all.
        tracks: Option<Vec<TrackSpan>>,
        /// Where it begins.
        from_ns: u64 [required],
        /// Where it ends.
        to_ns: u64 [required],
        /// Bins at most, as for a picture.
        bins: u32 [required],
    }
    reply BinsReply,
    tables CounterBinsTables {
        /// One row for each track and each bin in which a value came.
        values: CounterValueTable,
    }
}

table! {
    /// Values of a counter by track and bin.
    pub columns CounterValueTable {
        /// Row of the track.
        track: Vec<u32>,
        /// The bin; 4294967295 for before the first.
        bin: Vec<u32>,
        /// Smallest value.
        min: Vec<f64>,
        /// Largest value.
        max: Vec<f64>,
        /// Last value.
        last: Vec<f64>,
    }
}

question! {
    /// What happened at moments of a time range; needs a trace of events.
    "markers" of Experiment,
    request MarkersRequest {
        /// Where it begins.
        from_ns: u64 [required],
        /// Where it ends.
        to_ns: u64 [required],
        /// At most so many; of more, the first.
        max_markers: u32 [required],
    }
    reply TotalReply,
    tables MarkersTables {
        /// The markers.
        markers: MarkerTable,
    }
}

table! {
    /// Markers by time.
    pub struct MarkerRow => MarkerTable {
        /// Row of the track.
        track: u32,
        /// What happened.
        name: String,
        /// When, since the first record.
        at_ns: f64 ["ns"],
    }
}

question! {
    /// What each location spends on its most expensive functions or groups: exclusive costs.
    "stacks" of Experiment,
    request StacksRequest {
        /// A metric expression; null for the metric that says most about time.
        metric: Option<String>,
        /// A profile expression; null for all locations.
        profiles: Option<String>,
        /// What is stacked.
        by: TimelineBy,
        /// How many parts are distinguished; the others are added up.
        top: u32 = 12,
        /// Include helper threads: those that MPI, networks or the measurement start for
        /// themselves.
        helpers: bool,
    }
    reply StacksReply,
    tables StacksTables {
        /// The locations.
        locations: StackLocationTable,
        /// All parts of each location.
        stack: StackTable,
    }
}

/// The reply to `stacks`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StacksReply {
    /// Name of the metric.
    pub metric: String,
    /// Its unit symbol.
    pub unit: String,
    /// Why this metric, where the request names none.
    pub reason: Option<String>,
    /// Names of the parts, from the most expensive; the last is `(others)` where there are more.
    pub parts: Vec<String>,
    /// What is excluded because it ran on helper threads, in words; null where nothing is.
    pub helpers: Option<String>,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// Locations with what they spend.
    pub columns StackLocationTable {
        /// Profile number.
        location: Vec<u32>,
        /// What it is called.
        label: Vec<String>,
        /// All parts together.
        total: Vec<f64> [metric],
        /// One column for each kind of identity; null where a location has none.
        identities: Family,
    }
}

table! {
    /// Parts by location.
    pub columns StackTable {
        /// Row of the location.
        location: Vec<u32>,
        /// Which part.
        part: Vec<u32>,
        /// What the location spends on it.
        value: Vec<f64> [metric],
    }
}
