//! Who waits for whom: wait states of messages and collective operations.
//!
//! Definitions are those of KOJAK and Scalasca (Wolf and Mohr, "Automatic performance analysis of
//! hybrid MPI/OpenMP applications", 2003; "Performance properties", the documentation of
//! Scalasca 2.6), with enter times of the calls of MPI:
//!
//! - **Late senders** and **late receivers** of messages: see [`super::messages`].
//! - Waits at **collective operations**: see [`super::collectives`].
//! - Waits of GPU streams for **late launches**, and of threads **for GPUs**: see [`super::gpu`].
//!
//! **No time counts twice.** Waits of one track do not overlap: a call may have several reasons to
//! wait, and calls may lie in each other, but a moment has one reason. Of several the one counts
//! that began first, and of those that began together the kind that comes first in [`WaitKind`]:
//! what a call waits beyond it counts for the next one. So an `MPI_Sendrecv` whose partner is late
//! waits for a late sender, and not for a late receiver over the same time: that its receive
//! waits is certain, while its send may have been buffered. So waiting in a call is at most the
//! call, and that of a track at most its time.
//!
//! Where a message is received before it is sent, the clocks are wrong and nothing is known about
//! waiting: it counts as none, and is counted apart.

use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};

use super::activity::Activities;
use super::enclosing::{Around, Moment, calls_around};
use super::{Selection, collectives, gpu, messages};

/// Why a call waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitKind {
    /// A receive, because its message is sent late.
    LateSender,
    /// A send, because its message is received late.
    LateReceiver,
    /// In a barrier, for the last to come.
    Barrier,
    /// In an all-to-all collective, for the last to come. Scalasca's "Wait at N x N".
    AllToAll,
    /// In a one-to-all collective, for the root.
    LateBroadcast,
    /// The root of an all-to-one collective, for the last of the others. Scalasca counts until the
    /// first of them; but the root cannot leave before the last.
    EarlyReduce,
    /// In a scan, for those of lower rank.
    EarlyScan,
    /// A GPU stream that is idle, because its next work is launched late.
    LateLaunch,
    /// A thread that synchronises with a GPU, for work to end. CASITA's "early blocking wait".
    ForGpu,
}

impl WaitKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::LateSender,
        Self::LateReceiver,
        Self::Barrier,
        Self::AllToAll,
        Self::LateBroadcast,
        Self::EarlyReduce,
        Self::EarlyScan,
        Self::LateLaunch,
        Self::ForGpu,
    ];

    /// The display name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LateSender => "late sender",
            Self::LateReceiver => "late receiver",
            Self::Barrier => "wait at barrier",
            Self::AllToAll => "wait at all-to-all",
            Self::LateBroadcast => "late broadcast",
            Self::EarlyReduce => "early reduce",
            Self::EarlyScan => "early scan",
            Self::LateLaunch => "late launch",
            Self::ForGpu => "wait for GPU",
        }
    }

    /// Whether it is a wait at a collective operation.
    #[must_use]
    pub const fn is_collective(self) -> bool {
        matches!(
            self,
            Self::Barrier
                | Self::AllToAll
                | Self::LateBroadcast
                | Self::EarlyReduce
                | Self::EarlyScan
        )
    }
}

/// How it is known who waits for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Basis {
    /// By records of the trace: messages, collective operations, flows, or the only stream.
    #[default]
    Recorded,
    /// The trace does not say it: matched by time and stream.
    Matched,
}

impl Basis {
    /// The display name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Matched => "matched by time",
        }
    }
}

/// One call that waits, or GPU work that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Why.
    pub kind: WaitKind,
    /// The track that waits.
    pub track: TrackIdx,
    /// The track that it waits for.
    pub delayed_by: TrackIdx,
    /// The waiting call; the root where it is not known. Of a late launch, the work that is
    /// launched.
    pub context: ContextIdx,
    /// From when it waits: the call is entered, or a wait before in it ends; of a late launch, the
    /// stream has nothing more to do. Nanoseconds on the trace's clock.
    pub start_nanos: u64,
    /// Until when: the other one comes, or the call ends; the launching call is entered.
    pub end_nanos: u64,
    /// When the call is entered, not after `start_nanos`; of a late launch, `start_nanos`.
    pub call_start_nanos: u64,
    /// When the call, or the work that is launched, ends; not before `end_nanos`.
    pub call_end_nanos: u64,
    /// How it is known.
    pub basis: Basis,
}

impl Wait {
    /// How long it waits.
    #[must_use]
    pub const fn nanos(&self) -> u64 {
        self.end_nanos.saturating_sub(self.start_nanos)
    }
}

/// How many messages, collective operations, launches and synchronisations were judged, and how
/// many could not be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WaitCounts {
    /// Messages of which both sides are known.
    pub messages: u64,
    /// Of these, those received before they were sent.
    pub backwards: u64,
    /// Of these, those whose record of receiving lies in no call of MPI.
    pub unplaced: u64,
    /// Of these, those of which it is not known when their receive was posted, although their
    /// sender may have waited for that.
    pub unposted: u64,
    /// Collective operations with at least two ranks.
    pub collectives: u64,
    /// Of these, those that a rank leaves before everybody has come whom it has to wait for. They
    /// count as no waiting.
    pub left_early: u64,
    /// Of these, those of which a rank has no record. They count as no waiting.
    pub incomplete_collectives: u64,
    /// Of these, those without a root where one is needed. They count as no waiting.
    pub without_root: u64,
    /// Whether collective operations were inferred from calls, because the trace has no
    /// records of them.
    pub is_inferred: bool,
    /// Routines that were not inferred, because tracks call them differently often or the
    /// root is not known.
    pub not_inferred: Vec<String>,
    /// Kernels and copies on GPU streams.
    pub gpu_work: u64,
    /// Of these, those whose launch is not known.
    pub not_launched: u64,
    /// Of these, those without a flow from a launch, whose launch was matched by time and stream.
    pub matched: u64,
    /// Of these, those that start before they are launched.
    pub launched_backwards: u64,
    /// Calls that wait for GPUs.
    pub synchronisations: u64,
}

/// The calls that wait, and how much was judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waits {
    /// By kind, waiting track and time; without those that wait for no time.
    pub list: Vec<Wait>,
    /// What was judged.
    pub counts: WaitCounts,
}

impl WaitCounts {
    /// What users must know to trust an answer that rests on these.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.backwards > 0 {
            notes.push(format!(
                "{} of {} messages are received before they are sent: clocks are not synchronised; \
                 their wait time is 0.",
                self.backwards, self.messages
            ));
        }
        if self.unplaced > 0 {
            notes.push(format!(
                "{} of {} messages are received outside any MPI call; their wait time is unknown.",
                self.unplaced, self.messages
            ));
        }
        if self.unposted > 0 {
            notes.push(format!(
                "For {} of {} messages the trace lacks the time of posting the receive; the wait \
                 time of their senders is unknown.",
                self.unposted, self.messages
            ));
        }
        if self.is_inferred && self.collectives > 0 {
            notes.push(
                "Collective operations are inferred: the n-th call of a routine on each track of a \
                 component is one operation."
                    .into(),
            );
        }
        if !self.not_inferred.is_empty() {
            notes.push(format!(
                "Not analysed, because the number of calls differs between tracks or the root is \
                 unknown: {}.",
                self.not_inferred.join(", ")
            ));
        }
        if self.left_early > 0 {
            notes.push(format!(
                "{} of {} collective operations are left before the last rank enters: clocks are \
                 not synchronised, or calls were matched wrongly; their wait time is 0.",
                self.left_early, self.collectives
            ));
        }
        if self.incomplete_collectives > 0 {
            notes.push(format!(
                "{} of {} collective operations lack the record of a rank; their wait time is 0; \
                 the others are matched by operation, root and time.",
                self.incomplete_collectives, self.collectives
            ));
        }
        if self.without_root > 0 {
            notes.push(format!(
                "{} of {} collective operations name no root; their wait time is 0.",
                self.without_root, self.collectives
            ));
        }
        if self.not_launched > 0 {
            notes.push(format!(
                "{} of {} kernels and copies on GPU streams have no flow from their launch; the \
                 wait time of their stream is unknown.",
                self.not_launched, self.gpu_work
            ));
        }
        if self.matched > 0 {
            notes.push(format!(
                "{} of {} kernels and copies on GPU streams have no launch record: their launches \
                 were matched with calls of the host by time and stream.",
                self.matched, self.gpu_work
            ));
        }
        if self.launched_backwards > 0 {
            notes.push(format!(
                "{} of {} kernels and copies start before they are launched: clocks are not \
                 synchronised; their wait time is 0.",
                self.launched_backwards, self.gpu_work
            ));
        }
        notes
    }

    /// How many of anything were judged.
    #[must_use]
    pub const fn judged(&self) -> u64 {
        self.messages + self.collectives + self.gpu_work + self.synchronisations
    }
}

/// Which wait states are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitChoice {
    /// Late senders.
    pub late_sender: bool,
    /// Late receivers.
    pub late_receiver: bool,
    /// Waits at collective operations.
    pub collective: bool,
    /// GPU streams whose work is launched late.
    pub late_launch: bool,
    /// Threads that wait for GPUs.
    pub for_gpu: bool,
}

impl WaitChoice {
    /// All of them.
    pub const ALL: Self = Self {
        late_sender: true,
        late_receiver: true,
        collective: true,
        late_launch: true,
        for_gpu: true,
    };
}

impl WaitChoice {
    /// Whether waits of a kind are looked for.
    const fn has(self, kind: WaitKind) -> bool {
        match kind {
            WaitKind::LateSender => self.late_sender,
            WaitKind::LateReceiver => self.late_receiver,
            WaitKind::LateLaunch => self.late_launch,
            WaitKind::ForGpu => self.for_gpu,
            WaitKind::Barrier
            | WaitKind::AllToAll
            | WaitKind::LateBroadcast
            | WaitKind::EarlyReduce
            | WaitKind::EarlyScan => self.collective,
        }
    }
}

/// The calls of the selected tracks that wait.
///
/// A call that waits counts in the window in which it ends, a launch in that in which its work
/// starts, each with all of its waiting. So adjacent windows have the waits of the whole, and so
/// have the kinds.
///
/// # Errors
/// When there is no trace of events, it cannot be read, or the question is withdrawn.
pub fn waits(
    session: &Session,
    selection: &Selection,
    choice: WaitChoice,
    control: &Control,
) -> Result<Waits, EngineError> {
    let activities = Activities::new(session.tree());
    let mut out = Waits::default();
    // All kinds are looked for, because they share the time: which one a moment counts for must
    // not depend on what was asked.
    let reach = reach(session, &activities, selection)?;
    messages::waits(session, &activities, selection, reach, choice, &mut out, control)?;
    collectives::waits(session, &activities, selection, &mut out, control)?;
    gpu::waits(session, selection, &mut out, control)?;
    separate(&mut out.list);
    out.list.retain(|wait| {
        let is_inside =
            wait.kind == WaitKind::LateLaunch || is_in(selection.window, wait.call_end_nanos);
        is_inside && choice.has(wait.kind)
    });
    out.counts.keep(choice);
    out.list.sort_by_key(|wait| (wait.kind, wait.track, wait.start_nanos, wait.delayed_by));
    Ok(out)
}

impl WaitCounts {
    /// Forgets what was not asked for.
    fn keep(&mut self, choice: WaitChoice) {
        if !choice.collective {
            (self.collectives, self.left_early) = (0, 0);
            (self.incomplete_collectives, self.without_root) = (0, 0);
            self.is_inferred = false;
            self.not_inferred.clear();
        }
        if !choice.late_launch {
            (self.gpu_work, self.not_launched, self.launched_backwards) = (0, 0, 0);
            self.matched = 0;
        }
        if !choice.for_gpu {
            self.synchronisations = 0;
        }
    }
}

/// The window, from the enter of the first call of MPI that goes on when it begins: such a call may
/// have records before the window, and end in it.
fn reach(
    session: &Session,
    activities: &Activities,
    selection: &Selection,
) -> Result<TimeWindow, EngineError> {
    let mut window = selection.window;
    let store = session.traces()?;
    let edge = window.start_nanos;
    if edge <= store.span().start_nanos {
        return Ok(window);
    }
    for &track in &selection.tracks {
        store.visit_calls(track, TimeWindow::new(edge, edge.saturating_add(1)), &mut |call| {
            let context = session.tree().by_source_id(call.context);
            if context.is_some_and(|context| activities.is_mpi(context)) {
                window.start_nanos = window.start_nanos.min(call.start_nanos);
            }
        })?;
    }
    Ok(window)
}

/// Cuts waits of one track so that they do not overlap; what is left of none goes.
fn separate(list: &mut Vec<Wait>) {
    list.sort_by_key(|wait| {
        (wait.track, wait.start_nanos, wait.call_start_nanos, wait.kind, wait.end_nanos)
    });
    let mut until = None;
    list.retain_mut(|wait| {
        if let Some((_, end_nanos)) = until.filter(|(track, _)| *track == wait.track) {
            wait.start_nanos = wait.start_nanos.max(end_nanos);
        }
        let is_left = wait.start_nanos < wait.end_nanos;
        if is_left {
            until = Some((wait.track, wait.end_nanos));
        }
        is_left
    });
}

type Calls = Vec<Option<Around>>;

/// The calls that `is_wanted` around all moments, by the numbers of these: `len` of them.
pub(super) fn look_up(
    session: &Session,
    is_wanted: &(dyn Fn(ContextIdx) -> bool + Sync),
    len: usize,
    moments: Vec<Vec<Moment>>,
    control: &Control,
) -> Result<Calls, EngineError> {
    let ids = session.traces()?.track_ids();
    let work: Vec<(TrackIdx, Vec<Moment>)> =
        ids.zip(moments).filter(|(_, list)| !list.is_empty()).collect();
    control.begin(work.len() as u64);
    let parts = threads::map(work, |(track, mut list)| {
        let found = calls_around(session, &is_wanted, track, &mut list)?;
        control.advance(1)?;
        Ok::<_, EngineError>((list, found))
    });
    let mut calls: Calls = vec![None; len];
    for part in parts {
        let (list, found) = part?;
        for (moment, call) in list.iter().zip(found) {
            if let Some(slot) = calls.get_mut(moment.number as usize) {
                *slot = call;
            }
        }
    }
    Ok(calls)
}

/// Whether `nanos` lies in `window`.
pub(super) const fn is_in(window: TimeWindow, nanos: u64) -> bool {
    window.start_nanos <= nanos && nanos < window.end_nanos
}
