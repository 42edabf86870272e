//! Archives: traces of any format, converted once so that every question about any window of
//! time is answered by reading little. A folder of Arrow IPC tables; `FORMAT.md` beside this file
//! describes them.
//!
//! Intervals lie in batches of one track. Over the batches of a track stands a pyramid of nodes,
//! each with the time of every context in up to [`BINS`] bins of equal length, so that a picture of
//! a time window, and the exact sums over it, need a few nodes at any zoom.

mod arguments;
mod reader;
mod records;
pub mod table;
mod writer;

pub use arguments::{ArgumentText, LONGEST_VALUE, MOST_ARGUMENTS, arguments};
pub use reader::Archive;
pub use records::{
    ArgumentNamesRow, ArgumentRow, CollectiveRow, ComponentRow, ContextRow, CountRow, CounterRow,
    Fact, FunctionRow, IntervalRow, IssueRow, MarkerRow, MessageRow, NONE_32, NONE_64, NodeRow,
    OpenRow, ProfileRow, Record, SpanRow, SumRow, TrackRow, ValueRow,
};
pub use writer::{ArchiveWriter, WriteError};

use table::Layout;

/// The version of the layout that is written.
pub const VERSION: u32 = 6;

/// The oldest version that is read. Its messages do not say when receives were posted; archives
/// before version 4 have no arguments of calls, those before version 5 no counts of events, and those
/// before version 6 neither loops nor lines.
pub const OLDEST_VERSION: u32 = 2;

/// The file that makes a folder an archive, and is written last.
pub const MANIFEST: &str = "manifest.arrow";

/// Whether `bytes`, the first ones of a file, are those of a manifest: an Arrow file with the key
/// that says which version the archive is of.
#[must_use]
pub fn is_manifest(bytes: &[u8]) -> bool {
    let key = keys::VERSION.as_bytes();
    bytes.starts_with(b"ARROW1") && bytes.windows(key.len()).any(|window| window == key)
}

/// Most bins of a node.
pub const BINS: u64 = 512;

/// Intervals of a batch, but for the last of a track and for deep stacks.
pub const BATCH_INTERVALS: usize = 4096;

/// A node of level 0 with fewer intervals shares its batch with those of other tracks, and has no
/// sums: they would be longer than what they add up.
pub const SMALL_INTERVALS: usize = 256;

/// Nodes that one node of the next level covers.
pub const FANOUT: usize = 4;

/// How many coarser nodes stand over the highest node of a track that has at least
/// [`COARSER_FROM`] sums.
pub const COARSER_NODES: u8 = 2;

/// Each of them has bins 2^2 times as long as those of the node below.
pub const COARSER_BY: u8 = 2;

/// A node of fewer sums is as quickly read as a coarser one.
pub const COARSER_FROM: usize = 256;

/// Keys of the manifest that readers need; others are facts about the execution.
pub mod keys {
    /// [`super::VERSION`].
    pub const VERSION: &str = "archive-version";
    /// Name of the measured program.
    pub const TITLE: &str = "title";
    /// The format that it was converted from, for users.
    pub const FORMAT: &str = "converted-from";
    /// Time of the first record, nanoseconds on the trace's clock.
    pub const FIRST_NANOS: &str = "first-nanos";
    /// Time of the last record, nanoseconds on the trace's clock.
    pub const LAST_NANOS: &str = "last-nanos";
    /// Nanoseconds from the start of 1970 to the zero of the trace's clock, where that is known.
    pub const EPOCH_OFFSET_NANOS: &str = "epoch-offset-nanos";
    /// Samples for each second of processor time, where the intervals come from samples: then how
    /// often something was called is not known.
    pub const SAMPLED: &str = "sampled-hertz";
    /// `exact` where intervals come from samples, but those of functions of MPI are calls as they
    /// were, with all messages and collective operations.
    pub const MPI_CALLS: &str = "mpi-calls";
    /// Rows of the counters whose events [`super::CountRow`] has by context, separated by commas; each
    /// with a colon and how often the event happened in all, where that is known.
    pub const COUNTED: &str = "counted-events";
    /// How many samples there were, where intervals come from samples.
    pub const NUM_SAMPLES: &str = "samples";
    /// The tool that chose which calls there are, where the trace has not all of them.
    pub const CHOSEN_BY: &str = "calls-chosen-by";
    /// Who named anomalies in a trace that has all calls.
    pub const NAMED_BY: &str = "anomalies-named-by";
    /// How many calls [`CHOSEN_BY`] takes for anomalies, or [`NAMED_BY`] names.
    pub const CHOSEN_ANOMALIES: &str = "anomalies";
    /// Facts about the execution begin with this.
    pub const FACT: &str = "fact:";
    /// Facts about single tracks begin with this, then have the row of the track, a colon and their
    /// name.
    pub const TRACK_FACT: &str = "track-fact:";
}

/// All tables but the manifest.
static TABLES: [&Layout; 19] = [
    TrackRow::LAYOUT,
    FunctionRow::LAYOUT,
    ContextRow::LAYOUT,
    IntervalRow::LAYOUT,
    NodeRow::LAYOUT,
    OpenRow::LAYOUT,
    SumRow::LAYOUT,
    ProfileRow::LAYOUT,
    MessageRow::LAYOUT,
    SpanRow::LAYOUT,
    CollectiveRow::LAYOUT,
    CounterRow::LAYOUT,
    ValueRow::LAYOUT,
    MarkerRow::LAYOUT,
    ComponentRow::LAYOUT,
    IssueRow::LAYOUT,
    ArgumentNamesRow::LAYOUT,
    ArgumentRow::LAYOUT,
    CountRow::LAYOUT,
];
