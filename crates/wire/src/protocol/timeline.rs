//! Questions about what happened when.
//!
//! Times are nanoseconds since the first record of the trace, so that they are exact in JavaScript
//! for a hundred days; [`TimelineReply::origin_ns`] is what to add. A stretch of time begins at
//! `from_ns` and ends before `to_ns`. Tracks are rows of the table `tracks` of [`TimelineReply`].

use parallax_service::{FindOrder, FindRequest, TimelineBy, TrackRange, TracksChoice};
use serde::{Deserialize, Serialize};

use super::common::WindowAsk;

/// Tracks that follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TrackRangeAsk {
    /// The first.
    pub from: u32,
    /// One past the last.
    pub to: u32,
}

impl From<TrackRangeAsk> for TrackRange {
    fn from(TrackRangeAsk { from, to }: TrackRangeAsk) -> Self {
        from..to
    }
}

/// Which tracks; null for all.
pub type TracksAsk = Option<Vec<TrackRangeAsk>>;

/// The tracks that a request names.
#[must_use]
pub fn tracks_choice(ask: &TracksAsk) -> TracksChoice {
    ask.as_ref().map(|ranges| ranges.iter().copied().map(Into::into).collect())
}

/// What colours and rows of statistics stand for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TimelineByAsk {
    /// Functions: rows of the table `functions`.
    #[default]
    Function,
    /// Groups of functions: rows of the table `groups`.
    Group,
}

impl From<TimelineByAsk> for TimelineBy {
    fn from(ask: TimelineByAsk) -> Self {
        match ask {
            TimelineByAsk::Function => Self::Function,
            TimelineByAsk::Group => Self::Group,
        }
    }
}

/// What there is to see in a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TimelineAsk {
    /// An experiment with a trace.
    pub item: String,
}

/// What there is to see in a trace. Tables: `tracks` (`location`, `label`, `calls`, `component`: the
/// application's number or null, and one column for each identity kind that there is); `functions`
/// (`name`, `group`: a row of `groups`, `exclusive_ns`, `calls`, over everything); `groups` (`name`,
/// `exclusive_ns`, `calls`); `contexts` (`context_id`, `parent`: a row or 4294967295, `function`,
/// `depth`: 0 for the root), in depth-first order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
}

/// A metric whose value changes over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CounterReply {
    /// Name.
    pub name: String,
    /// Unit symbol; empty when unknown.
    pub unit: String,
}

/// One of several coupled applications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComponentReply {
    /// Number, as tracks have it.
    pub application: u64,
    /// Name.
    pub name: String,
    /// Names of the components it takes data from.
    pub depends_on: Vec<String>,
}

/// A picture: rows of tracks by bins of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TileAsk {
    /// An experiment with a trace.
    pub item: String,
    /// Rows of the picture; each adds its tracks up.
    pub rows: Vec<TrackRangeAsk>,
    /// Where it begins.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
    /// Bins at most; there are at least half as many, unless they would be shorter than 1 ns.
    pub bins: u32,
    /// What colours stand for.
    #[serde(default)]
    pub by: TimelineByAsk,
    /// Depth below which contexts count as the one above them, 1 for the outermost; null for none.
    #[serde(default)]
    pub max_depth: Option<u32>,
    /// Functions or groups (as `by` says) that are left out.
    #[serde(default)]
    pub hidden: Vec<u32>,
}

/// A picture; table `cells`, row after row of the picture, each with all bins: `key` (function or
/// group that has most of the time; 4294967295 where nothing ran), `dominant_ns` (time of it),
/// `busy_ns` (time of all that is not left out), `calls` (entered in the bin), `depth` (of the
/// deepest context). A cell has at most `bin_ns` times the tracks of its row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TileReply {
    /// Where the first bin begins; it may be before the trace does.
    pub first_ns: f64,
    /// Length of a bin.
    pub bin_ns: u64,
    /// Number of bins.
    pub bins: u32,
}

/// The calls in a stretch of time, one by one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallsAsk {
    /// An experiment with a trace.
    pub item: String,
    /// Which tracks.
    pub tracks: Vec<TrackRangeAsk>,
    /// Where it begins.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
    /// Calls at most: where there are more, none are given.
    pub max_calls: u32,
    /// Shorter calls are counted and left out.
    #[serde(default)]
    pub shortest_ns: u64,
}

/// Calls; table `calls`, ordered by track and start, what is around a call before it: `track`,
/// `context` (row of the table `contexts`), `depth` (1 for the outermost), `start_ns`, `end_ns` (not
/// cut at the window). For samples, a call is a run of samples with the same contexts above.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CallsReply {
    /// Whether there were few enough.
    pub is_complete: bool,
    /// How many there are, about, where they are too many; exactly, where they are given.
    pub calls: u64,
    /// How many of these are shorter than asked for, and left out.
    pub shorter: u64,
}

/// What was active at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PathAtAsk {
    /// An experiment with a trace.
    pub item: String,
    /// The track.
    pub track: u32,
    /// The moment.
    pub at_ns: u64,
}

/// What was active at a moment; table `path` from the outermost: `context` (row of the table
/// `contexts`), `name`, `depth`, `start_ns`, `end_ns`. Empty where nothing ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PathAtReply {}

/// Messages or flows that are under way in a stretch of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LinksAsk {
    /// An experiment with a trace of events.
    pub item: String,
    /// Tracks of which the sender or the receiver is one; null for all.
    #[serde(default)]
    pub tracks: TracksAsk,
    /// Where it begins.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
    /// At most so many; of more, those that take longest.
    pub max_links: u32,
    /// Flows (causes and effects) instead of messages.
    #[serde(default)]
    pub flows: bool,
}

/// Messages or flows; table `links`, in order of sending: `sender`, `receiver` (tracks; 4294967295
/// when not in the trace), `send_ns`, `receive_ns` (null where that side was not found), `bytes`,
/// `tag`, `communicator`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LinksReply {
    /// How many there are.
    pub total: u64,
}

/// How many messages were sent when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LinkBinsAsk {
    /// An experiment with a trace of events.
    pub item: String,
    /// Tracks of which the sender or the receiver is one; null for all.
    #[serde(default)]
    pub tracks: TracksAsk,
    /// Where it begins.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
    /// Bins at most, as for a picture.
    pub bins: u32,
    /// Flows (causes and effects) instead of messages.
    #[serde(default)]
    pub flows: bool,
}

/// Messages over time; table `bins`: `messages` (sent in the bin), `bytes` (of these).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LinkBinsReply {
    /// Where the first bin begins; it may be before the trace does.
    pub first_ns: f64,
    /// Length of a bin.
    pub bin_ns: u64,
}

/// Time and calls in a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StatsAsk {
    /// An experiment with a trace.
    pub item: String,
    /// Which tracks; null for all.
    #[serde(default)]
    pub tracks: TracksAsk,
    /// The stretch of time.
    #[serde(flatten)]
    pub window: WindowAsk,
    /// What rows are: `function` (default), `group` or `context`.
    #[serde(default)]
    pub by: Option<String>,
}

/// Messages put together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MessagesAsk {
    /// An experiment with a trace of events.
    pub item: String,
    /// Tracks of which the sender or the receiver is one; null for all.
    #[serde(default)]
    pub tracks: TracksAsk,
    /// The stretch of time.
    #[serde(flatten)]
    pub window: WindowAsk,
    /// What rows are: `pair` (default), `message`, `size`, `tag`, `component` or `file`.
    #[serde(default)]
    pub by: Option<String>,
    /// Flows (causes and effects) instead of messages.
    #[serde(default)]
    pub flows: bool,
}

/// Which calls come first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FindOrderAsk {
    /// Those that take longest.
    #[default]
    Longest,
    /// Those that begin first.
    First,
}

/// Calls by name and duration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FindAsk {
    /// An experiment with a trace.
    pub item: String,
    /// Name of functions, as in context expressions: `MPI_*`, `/regular expression/`; null for all.
    #[serde(default)]
    pub name: Option<String>,
    /// Which tracks; null for all.
    #[serde(default)]
    pub tracks: TracksAsk,
    /// The stretch of time.
    #[serde(flatten)]
    pub window: WindowAsk,
    /// They take at least so long.
    #[serde(default)]
    pub min_ns: Option<u64>,
    /// They take at most so long.
    #[serde(default)]
    pub max_ns: Option<u64>,
    /// Which come first.
    #[serde(default)]
    pub order: FindOrderAsk,
    /// Rows at most; 1,000 when null.
    #[serde(default)]
    pub max_rows: Option<u32>,
}

impl FindAsk {
    /// The question for the service.
    #[must_use]
    pub fn request(&self) -> FindRequest {
        FindRequest {
            name: self.name.clone(),
            tracks: tracks_choice(&self.tracks),
            min_nanos: self.min_ns,
            max_nanos: self.max_ns,
            order: match self.order {
                FindOrderAsk::Longest => FindOrder::Longest,
                FindOrderAsk::First => FindOrder::First,
            },
            max_rows: self.max_rows.map_or(1_000, |rows| rows as usize),
            ..FindRequest::default()
        }
    }
}

/// Calls that were found; table `rows`: `track`, `context` (row of the table `contexts`), `name`,
/// `start_ns`, `end_ns`, `duration_ns`; table `histogram` of all that have the name, whatever they
/// take: `from_ns` (durations up to twice that; 0 for no time), `calls`, `total_ns`; bins without
/// calls are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FindReply {
    /// How many were found.
    pub total: u64,
    /// What they take together.
    pub total_ns: u64,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// A counter over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CounterBinsAsk {
    /// An experiment with a trace of events.
    pub item: String,
    /// Position in the list of counters.
    pub counter: u32,
    /// Which tracks; null for all.
    #[serde(default)]
    pub tracks: TracksAsk,
    /// Where it begins.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
    /// Bins at most, as for a picture.
    pub bins: u32,
}

/// A counter over time; table `values`, of each track that has values, for each bin in which one
/// came (and one for the value before the first bin, in bin 4294967295): `track`, `bin`, `min`,
/// `max`, `last`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CounterBinsReply {
    /// Where the first bin begins; it may be before the trace does.
    pub first_ns: f64,
    /// Length of a bin.
    pub bin_ns: u64,
    /// Number of bins.
    pub bins: u32,
}

/// What happened at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MarkersAsk {
    /// An experiment with a trace of events.
    pub item: String,
    /// Where it begins.
    pub from_ns: u64,
    /// Where it ends.
    pub to_ns: u64,
    /// At most so many; of more, the first.
    pub max_markers: u32,
}

/// Markers; table `markers` by time: `track`, `name`, `at_ns`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MarkersReply {
    /// How many there are.
    pub total: u64,
}

/// What each location spends on what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StacksAsk {
    /// An experiment.
    pub item: String,
    /// A metric expression; null for the default.
    #[serde(default)]
    pub metric: Option<String>,
    /// A profile expression; null for all locations.
    #[serde(default)]
    pub profiles: Option<String>,
    /// What is stacked: `function` (default) or `group`.
    #[serde(default)]
    pub by: Option<String>,
    /// How many are told apart; the others are added up. 12 when null.
    #[serde(default)]
    pub top: Option<u32>,
}

/// What each location spends on what; table `locations`: `location`, `label`, `total`, and one column
/// for each identity kind that there is; table `stack`, for each location all parts: `location` (row
/// of `locations`), `part`, `value`, exclusive costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct StacksReply {
    /// Name of the metric.
    pub metric: String,
    /// Its unit symbol.
    pub unit: String,
    /// Why this metric, where nobody named one.
    pub reason: Option<String>,
    /// Names of the parts, from the most expensive; the last is `(others)` where there are more.
    pub parts: Vec<String>,
    /// What a person should know.
    pub notes: Vec<String>,
}
