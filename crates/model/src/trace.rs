//! [`TraceStore`] and [`EventStore`]: what happened when, by track.

use std::sync::Arc;

use parallax_base::{Control, LocationIdx, TimeWindow, TrackIdx};

use crate::StoreError;

/// The function in which a recorded thread is while it waits, below the one that gave its processor
/// away.
pub const WAITING: &str = "<waiting>";

/// The function in which a recorded thread is while another one has its processor.
pub const PREEMPTED: &str = "<preempted>";

/// The fact about a recorded thread, name and value, that says that its process does nothing but
/// start the ranks of the program and wait for their end.
pub const LAUNCHER: (&str, &str) = ("role", "launcher of ranks");

/// A line of a timeline: the trace of one location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Track {
    /// Whose trace it is.
    pub location: LocationIdx,
    /// Number of samples, or of calls.
    pub num_samples: u64,
}

/// A context was active from `start_nanos` until `end_nanos` (excluded).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Context id of the source; 0 when nothing ran.
    pub context: u32,
    /// Nanoseconds on the trace's clock.
    pub start_nanos: u64,
    /// The time of the next sample; equal to the start for the last sample of a track, of which it
    /// is unknown how long it held.
    pub end_nanos: u64,
}

/// A context was entered and left. Unlike an [`Interval`] it goes on while others are entered from
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Context id of the source.
    pub context: u32,
    /// Nanoseconds on the trace's clock.
    pub start_nanos: u64,
    /// When it was left; `u64::MAX` when the source does not say.
    pub end_nanos: u64,
}

/// What one context takes of a time window of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextTime {
    /// Context id of the source; 0 when nothing ran.
    pub context: u32,
    /// How often it was entered; 0 where the trace has samples.
    pub calls: u64,
    /// Time during which it was the active one.
    pub nanos: u64,
}

/// What one context takes of a time window of several tracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracksTime {
    /// Context id of the source; 0 when nothing ran.
    pub context: u32,
    /// How often it was entered; 0 where the trace has samples.
    pub calls: u64,
    /// Nanoseconds during which it was the active one. Over 100,000 tracks of 51 hours this is more
    /// than 64 bits.
    pub nanos: u128,
}

/// What one context takes of a bin of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinTime {
    /// Number of the bin.
    pub bin: u64,
    /// The context, and what it takes of the bin.
    pub time: ContextTime,
}

/// What a trace says about each track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceKind {
    /// Which context was active at moments: how often it was entered is not known.
    Samples,
    /// When contexts were entered and left.
    Calls,
}

/// See [`TraceStore::track_ids`].
pub type TrackIds = std::iter::Map<std::ops::Range<u32>, fn(u32) -> TrackIdx>;

/// Time by track.
///
/// Sums over a time window are exact: a context that is active at an edge counts with the part
/// inside. Implementations that keep sums answer [`TraceStore::sums`] and [`TraceStore::bins`]
/// without reading what lies inside; the answers equal those of the default ones.
pub trait TraceStore: Send + Sync {
    /// All tracks, those without samples included.
    fn tracks(&self) -> &[Track];

    /// The ids of all tracks, in order.
    fn track_ids(&self) -> TrackIds {
        (0..TrackIdx::from_len(self.tracks().len()).get()).map(TrackIdx::new)
    }

    /// The track with an id; `None` when there is no such track.
    fn track(&self, track: TrackIdx) -> Option<&Track> {
        self.tracks().get(track.idx())
    }

    /// Number of samples, or of calls, of each track, in no particular order. Cheaper than
    /// [`TraceStore::tracks`] where those have to be put in order first.
    fn track_sizes(&self) -> Vec<u64> {
        self.tracks().iter().map(|track| track.num_samples).collect()
    }

    /// From the first to the last record of all tracks.
    fn span(&self) -> TimeWindow;

    /// What the trace says.
    fn kind(&self) -> TraceKind {
        TraceKind::Samples
    }

    /// How far samples of a thread lie apart while it has a processor, in nanoseconds, where the
    /// source says so: intervals of the trace may be shorter where their ends are known otherwise.
    fn sample_interval_nanos(&self) -> Option<u64> {
        None
    }

    /// Whether it has every call of MPI as it was, with the record of what it communicates: traces
    /// of calls do, and traces of samples may.
    fn has_mpi_calls(&self) -> bool {
        self.kind() == TraceKind::Calls
    }

    /// Calls `visit` with each interval of track `track` that reaches into `window`, in order of
    /// time, as stored: not cut at the window.
    ///
    /// # Errors
    /// When the source fails.
    fn visit(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(Interval),
    ) -> Result<(), StoreError>;

    /// Calls `visit` with each call of track `track` that overlaps `window`, not cut at the window;
    /// a call comes after those made from it. For traces of samples calls of MPI at most are
    /// to be trusted, see [`TraceStore::has_mpi_calls`], and there may be nothing.
    ///
    /// # Errors
    /// When the source fails.
    fn visit_calls(
        &self,
        _track: TrackIdx,
        _window: TimeWindow,
        _visit: &mut dyn FnMut(Call),
    ) -> Result<(), StoreError> {
        Ok(())
    }

    /// Calls `visit` with the time of each context inside `window`; a context may come several
    /// times.
    ///
    /// # Errors
    /// When the source fails.
    fn sums(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        self.visit(track, window, &mut |interval| {
            let active = TimeWindow::new(interval.start_nanos, interval.end_nanos);
            let nanos = active.intersect(window).nanos();
            if nanos > 0 {
                visit(ContextTime { context: interval.context, calls: 0, nanos });
            }
        })
    }

    /// What contexts take of `window`, added up over tracks; a context comes once. `None` where the
    /// sums of each track have to be added up, as always where this process reads them itself.
    ///
    /// # Errors
    /// When the source fails, or the question is withdrawn.
    fn sums_of_tracks(
        &self,
        _tracks: &[TrackIdx],
        _window: TimeWindow,
        _control: &Control,
    ) -> Result<Option<Vec<TracksTime>>, StoreError> {
        Ok(None)
    }

    /// Calls `visit` with the time of each context in each bin of 2^`exponent` nanoseconds that
    /// overlaps `window`: bin b begins at b · 2^`exponent`. Bins come in order, as many at once as
    /// are at hand; a context may come several times in one. Bins at the edges are not cut at the
    /// window.
    ///
    /// # Errors
    /// When the source fails.
    fn bins(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        exponent: u8,
        visit: &mut dyn FnMut(&[BinTime]),
    ) -> Result<(), StoreError> {
        let window = whole_bins(window, exponent);
        let mut times = Vec::new();
        self.visit(track, window, &mut |interval| {
            let active = TimeWindow::new(interval.start_nanos, interval.end_nanos);
            for_each_bin(active.intersect(window), exponent, |bin, nanos| {
                let time = ContextTime { context: interval.context, calls: 0, nanos };
                times.push(BinTime { bin, time });
            });
            if times.len() >= AT_ONCE {
                visit(&times);
                times.clear();
            }
        })?;
        visit(&times);
        Ok(())
    }
}

/// Times of bins that are handed over at once, about.
const AT_ONCE: usize = 256;

/// Calls `visit` with each bin of 2^`exponent` nanoseconds that `window` reaches into, and how much
/// of the window lies in it.
pub fn for_each_bin(window: TimeWindow, exponent: u8, mut visit: impl FnMut(u64, u64)) {
    let mut start = window.start_nanos;
    while start < window.end_nanos {
        let bin = start >> exponent;
        // The last bin of all ends where numbers do.
        let end = (bin + 1).checked_shl(exponent.into()).filter(|end| end >> exponent == bin + 1);
        let stop = end.unwrap_or(u64::MAX).min(window.end_nanos);
        visit(bin, stop - start);
        start = stop;
    }
}

/// The window grown to whole bins of 2^`exponent` nanoseconds.
#[must_use]
pub fn whole_bins(window: TimeWindow, exponent: u8) -> TimeWindow {
    if window.is_empty() {
        return window;
    }
    let start = window.start_nanos >> exponent << exponent;
    let last = (window.end_nanos - 1) >> exponent;
    // The last bin of all ends where numbers do.
    let end = (last + 1).checked_shl(exponent.into()).filter(|end| end >> exponent == last + 1);
    TimeWindow::new(start, end.unwrap_or(u64::MAX))
}

/// What connects two moments of two tracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// A message between two ranks.
    Message,
    /// A cause and its effect, such as starting a kernel and the kernel.
    Flow,
    /// Data that one component wrote to a file and another one read from it.
    Transfer,
}

/// A message or another link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub kind: LinkKind,
    /// The sending track; `None` when it is not in the trace.
    pub sender: Option<TrackIdx>,
    /// The receiving track; `None` when it is not in the trace.
    pub receiver: Option<TrackIdx>,
    /// When it was sent; `None` when no send was found.
    pub send_nanos: Option<u64>,
    /// When it was received; `None` when no receive was found.
    pub receive_nanos: Option<u64>,
    /// Communicator.
    pub communicator: u32,
    /// Tag; of a flow its number, of a transfer the source's number of the file.
    pub tag: i64,
    /// Size in bytes.
    pub bytes: u64,
    /// When the receive was posted (`MPI_Irecv`); `None` for blocking receives, and where the
    /// source does not say.
    pub posted_nanos: Option<u64>,
    /// When the request of a send that does not block (`MPI_Isend`) was complete; `None` for
    /// blocking sends, and where the source does not say.
    pub completed_nanos: Option<u64>,
    /// Whether the two sides disagree about the size.
    pub is_doubtful: bool,
}

impl Message {
    /// Whether it was received before it was sent: the clocks of the two tracks disagree.
    #[must_use]
    pub fn is_backwards(&self) -> bool {
        matches!((self.send_nanos, self.receive_nanos), (Some(send), Some(receive)) if receive < send)
    }
}

/// A collective operation of MPI and of what is like it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those of MPI")]
pub enum CollectiveOperation {
    Barrier,
    Bcast,
    Gather,
    Gatherv,
    Scatter,
    Scatterv,
    Allgather,
    Allgatherv,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Allreduce,
    Reduce,
    ReduceScatter,
    Scan,
    Exscan,
    ReduceScatterBlock,
    /// The source does not say which.
    Unknown,
    /// Another one, such as creating a communicator, by the number that its source gives it.
    Other(u8),
}

/// A track's part in a collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectivePart {
    /// The track.
    pub track: TrackIdx,
    /// Which operation.
    pub operation: CollectiveOperation,
    /// Communicator; all-ones for one that has this rank only.
    pub communicator: u32,
    /// Rank of the root.
    pub root: Option<u64>,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// When the track came.
    pub start_nanos: u64,
    /// When it went on.
    pub end_nanos: u64,
}

/// A metric whose value changes over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// Its name.
    pub name: Arc<str>,
    /// Its unit; empty when unknown.
    pub unit: Arc<str>,
}

/// One of several coupled applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Number, as in the identity of locations.
    pub application: u64,
    /// Name.
    pub name: Arc<str>,
    /// Names of the components it takes data from.
    pub depends_on: Vec<Arc<str>>,
    /// What its own ranks are counted from in the one space of ranks of all components: 8 where
    /// its rank 0 is rank 8 of the workflow; 0 where its ranks are numbers of that space already.
    pub first_rank: u64,
    /// Nanoseconds that were added to the times of its own clock.
    pub shift_nanos: i64,
    /// Its first and last time, in nanoseconds on the clock that all components share; `None` where
    /// it has no times.
    pub span: Option<(u64, u64)>,
    /// Files and streams that it reads, as a description of the workflow names them.
    pub inputs: Vec<Arc<str>>,
    /// Files and streams that it writes, likewise.
    pub outputs: Vec<Arc<str>>,
}

/// How many records of which kind a track has, as its source has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Of entering something.
    pub enters: u64,
    /// Of leaving something.
    pub leaves: u64,
    /// Of sending a message.
    pub sends: u64,
    /// Of receiving a message.
    pub receives: u64,
    /// Of a metric's values.
    pub metrics: u64,
    /// Others.
    pub others: u64,
    /// What the source says there are in all.
    pub declared: Option<u64>,
}

impl RecordCounts {
    /// All records.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.enters + self.leaves + self.sends + self.receives + self.metrics + self.others
    }

    /// Both together; declared is what both declare, where both do.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            enters: self.enters + other.enters,
            leaves: self.leaves + other.leaves,
            sends: self.sends + other.sends,
            receives: self.receives + other.receives,
            metrics: self.metrics + other.metrics,
            others: self.others + other.others,
            declared: self.declared.zip(other.declared).map(|(a, b)| a + b),
        }
    }
}

/// What happened besides calls: messages, collective operations, counters, markers. Tracks are
/// those of the [`TraceStore`] of the same experiment.
pub trait EventStore: Send + Sync {
    /// How many records each track has.
    fn records(&self) -> &[RecordCounts];

    /// The metrics whose values change.
    fn counters(&self) -> &[Counter];

    /// Whether there is any message, flow or transfer.
    fn has_links(&self) -> bool;

    /// Calls `visit` with each message that is under way at some moment of `window`, about in order
    /// of sending.
    ///
    /// # Errors
    /// When the source fails.
    fn messages(
        &self,
        window: TimeWindow,
        visit: &mut dyn FnMut(Message),
    ) -> Result<(), StoreError>;

    /// The file through which the data of a transfer goes; `None` for other links.
    fn file_of(&self, message: &Message) -> Option<&Arc<str>>;

    /// Calls `visit` with each part in a collective operation that overlaps `window`.
    ///
    /// # Errors
    /// When the source fails.
    fn collectives(
        &self,
        window: TimeWindow,
        visit: &mut dyn FnMut(CollectivePart),
    ) -> Result<(), StoreError>;

    /// Calls `visit` with time and value of a counter of a track: those inside `window`, and the
    /// last one before, in order of time.
    ///
    /// # Errors
    /// When the source fails.
    fn values(
        &self,
        track: TrackIdx,
        counter: u32,
        window: TimeWindow,
        visit: &mut dyn FnMut(u64, f64),
    ) -> Result<(), StoreError>;

    /// Calls `visit` with track, name and time of each marker inside `window`.
    ///
    /// # Errors
    /// When the source fails.
    fn markers(
        &self,
        window: TimeWindow,
        visit: &mut dyn FnMut(TrackIdx, &Arc<str>, u64),
    ) -> Result<(), StoreError>;

    /// Calls `visit` with name and value of what the source recorded with a call; not at all where
    /// that is nothing.
    ///
    /// # Errors
    /// When the source fails.
    fn arguments(
        &self,
        track: TrackIdx,
        call: &Call,
        visit: &mut dyn FnMut(&str, &str),
    ) -> Result<(), StoreError> {
        let _ = (track, call, visit);
        Ok(())
    }

    /// Calls `visit` with each call with which the source recorded `value` as `name`, and its track.
    ///
    /// # Errors
    /// When the source fails.
    fn described(
        &self,
        name: &str,
        value: &str,
        visit: &mut dyn FnMut(TrackIdx, Call),
    ) -> Result<(), StoreError> {
        let _ = (name, value, visit);
        Ok(())
    }
}
