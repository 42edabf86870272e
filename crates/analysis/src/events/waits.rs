//! Who waits for whom: wait states of messages and collective operations.
//!
//! Definitions are those of KOJAK and Scalasca (Wolf and Mohr, "Automatic performance analysis of
//! hybrid MPI/OpenMP applications", 2003; "Performance properties", the documentation of
//! Scalasca 2.6), with enter times of the calls of MPI:
//!
//! - **Late sender**: a receiving call is entered before the call that sends. It waits from its
//!   enter to the enter of the sending call, and at most until it ends. The receiving call is the
//!   one in which the receive is recorded: `MPI_Recv`, or the `MPI_Wait` that completes an
//!   `MPI_Irecv`. A call that completes several messages waits once, for the one sent last.
//! - **Late receiver**: a blocking send is entered before the blocking receive of its message, and
//!   is still there when that is entered. It waits from its enter to that of the receive. Sends
//!   that ended before were buffered, and wait for nobody. Non-blocking receives are not judged:
//!   traces do not say which `MPI_Irecv` a message belongs to.
//! - Waits at **collective operations**: see [`super::collectives`].
//! - Waits of GPU streams for **late launches**, and of threads **for GPUs**: see [`super::gpu`].
//!
//! Where a message is received before it is sent, the clocks are wrong and nothing is known about
//! waiting: it counts as none, and is counted apart.

use parallax_base::{ContextIdx, Control, TimeWindow, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::LinkKind;

use super::activity::{Activities, Role};
use super::collectives;
use super::enclosing::{Around, Moment, Side, calls_around};
use super::{Selection, events, gpu};

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
    /// A GPU stream that has nothing to do, because its next work is launched late.
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

    /// What people call it.
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

/// One call that waits, or GPU work that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Why.
    pub kind: WaitKind,
    /// The track that waits.
    pub track: u32,
    /// The track that it waits for.
    pub holdup: u32,
    /// The waiting call; the root where it is not known. Of a late launch, the work that is
    /// launched.
    pub context: ContextIdx,
    /// From when it waits: the call is entered; of a late launch, the stream has nothing more to
    /// do. Nanoseconds on the trace's clock.
    pub start_nanos: u64,
    /// Until when: the other one comes, or the call ends; the launching call is entered.
    pub end_nanos: u64,
    /// When the call, or the work that is launched, ends; not before `end_nanos`.
    pub call_end_nanos: u64,
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
    /// Collective operations with at least two tracks.
    pub collectives: u64,
    /// Of these, those that a track leaves before everybody has come whom it has to wait for. Its
    /// wait ends when its call does.
    pub left_early: u64,
    /// Sets of parts that do not belong together, or without a root where one is needed.
    pub unmatched_collectives: u64,
    /// Whether collective operations were put together from calls, because the trace has no
    /// records of them.
    pub is_inferred: bool,
    /// Routines that were not put together, because tracks call them differently often or the
    /// root is not known.
    pub not_inferred: Vec<String>,
    /// Kernels and copies on GPU streams.
    pub gpu_work: u64,
    /// Of these, those without a flow from a launch.
    pub not_launched: u64,
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
    /// What a person must know to trust an answer that rests on these.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.backwards > 0 {
            notes.push(format!(
                "{} of {} messages are received before they are sent: the clocks disagree, and \
                 their waiting counts as 0",
                self.backwards, self.messages
            ));
        }
        if self.unplaced > 0 {
            notes.push(format!(
                "{} of {} messages are received outside of any call of MPI; whether somebody \
                 waits for them is not known",
                self.unplaced, self.messages
            ));
        }
        if self.is_inferred && self.collectives > 0 {
            notes.push(
                "collective operations are inferred: the n-th call of a routine on each track \
                 of a component is taken for one operation"
                    .into(),
            );
        }
        if !self.not_inferred.is_empty() {
            notes.push(format!(
                "not judged, because tracks call them differently often or the root is not \
                 known: {}",
                self.not_inferred.join(", ")
            ));
        }
        if self.left_early > 0 {
            notes.push(format!(
                "{} of {} collective operations are left before the last track comes: clocks \
                 disagree, or their tracks do not belong together",
                self.left_early, self.collectives
            ));
        }
        if self.unmatched_collectives > 0 {
            notes.push(format!(
                "{} collective operations are not judged: their parts name different operations \
                 or no root",
                self.unmatched_collectives
            ));
        }
        if self.not_launched > 0 {
            notes.push(format!(
                "{} of {} kernels and copies on GPU streams have no flow from their launch; \
                 whether their stream waits for it is not known",
                self.not_launched, self.gpu_work
            ));
        }
        if self.launched_backwards > 0 {
            notes.push(format!(
                "{} of {} kernels and copies start before they are launched: the clocks \
                 disagree, and their waiting counts as 0",
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

/// The calls of the selected tracks that wait.
///
/// A message counts in the window in which it is received, a part of a collective operation and a
/// synchronisation in that in which it ends, a launch in that in which its work starts, each with
/// all of its waiting. So windows side by side have the waits of the whole.
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
    if choice.late_sender || choice.late_receiver {
        of_messages(session, &activities, selection, choice, &mut out, control)?;
    }
    if choice.collective {
        collectives::waits(session, &activities, selection, &mut out, control)?;
    }
    if choice.late_launch || choice.for_gpu {
        gpu::waits(session, selection, choice, &mut out, control)?;
    }
    out.list.sort_by_key(|wait| (wait.kind, wait.track, wait.start_nanos, wait.holdup));
    Ok(out)
}

/// A message of which both sides are known.
#[derive(Debug, Clone, Copy)]
struct Pair {
    sender: u32,
    receiver: u32,
    send_nanos: u64,
}

fn of_messages(
    session: &Session,
    activities: &Activities,
    selection: &Selection,
    choice: WaitChoice,
    out: &mut Waits,
    control: &Control,
) -> Result<(), EngineError> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut moments: Vec<Vec<Moment>> = vec![Vec::new(); session.traces()?.tracks().len()];
    let window = selection.window;
    let counts = &mut out.counts;
    events(session)?.messages(window, &mut |message| {
        let sides = message.sender.zip(message.receiver);
        let times = message.send_nanos.zip(message.receive_nanos);
        let Some(((sender, receiver), (send_nanos, receive_nanos))) = sides.zip(times) else {
            return;
        };
        let is_inside = window.start_nanos <= receive_nanos && receive_nanos < window.end_nanos;
        let is_chosen = (choice.late_sender && selection.has(receiver))
            || (choice.late_receiver && selection.has(sender));
        if message.kind != LinkKind::Message || !is_inside || !is_chosen {
            return;
        }
        counts.messages += 1;
        if message.is_backwards() {
            counts.backwards += 1;
            return;
        }
        let number = u32::try_from(pairs.len()).unwrap_or(u32::MAX);
        for (track, nanos, side) in
            [(sender, send_nanos, Side::Begin), (receiver, receive_nanos, Side::End)]
        {
            if let Some(list) = moments.get_mut(track as usize) {
                list.push(Moment { nanos, side, number });
            }
        }
        pairs.push(Pair { sender, receiver, send_nanos });
    })?;
    let is_mpi = |context| activities.is_mpi(context);
    let (sends, receives) = look_up(session, &is_mpi, pairs.len(), moments, control)?;
    let mut list: Vec<Wait> = Vec::new();
    for (pair, (send, receive)) in pairs.iter().zip(sends.iter().zip(&receives)) {
        let Some(receive) = receive else {
            counts.unplaced += 1;
            continue;
        };
        let role = |call: &Around| {
            activities.routine(call.context).map_or(Role::Other, |routine| routine.role)
        };
        let wait = |kind, call: &Around, until: u64| {
            let is_late = kind == WaitKind::LateSender;
            let (track, holdup) = match is_late {
                true => (pair.receiver, pair.sender),
                false => (pair.sender, pair.receiver),
            };
            Wait {
                kind,
                track,
                holdup,
                context: call.context,
                start_nanos: call.start_nanos,
                end_nanos: until.min(call.end_nanos),
                call_end_nanos: call.end_nanos,
            }
        };
        let sent = send.map_or(pair.send_nanos, |call| call.start_nanos);
        if choice.late_sender && selection.has(pair.receiver) && role(receive).receives() {
            list.push(wait(WaitKind::LateSender, receive, sent));
        }
        let Some(send) = send else { continue };
        let is_blocking = matches!(role(send), Role::Send | Role::SendReceive)
            && matches!(role(receive), Role::Receive | Role::SendReceive);
        if choice.late_receiver
            && selection.has(pair.sender)
            && is_blocking
            && receive.start_nanos < send.end_nanos
        {
            list.push(wait(WaitKind::LateReceiver, send, receive.start_nanos));
        }
    }
    list.retain(|wait| wait.nanos() > 0);
    // A call waits once, for what comes last.
    list.sort_by_key(|w| (w.kind, w.track, w.start_nanos, w.context, w.end_nanos, w.holdup));
    list.dedup_by(|later, kept| {
        let call = |w: &Wait| (w.kind, w.track, w.start_nanos, w.context);
        let is_same = call(later) == call(kept);
        if is_same {
            *kept = *later;
        }
        is_same
    });
    out.list.append(&mut list);
    Ok(())
}

type Calls = Vec<Option<Around>>;

/// The calls that `is_wanted` around all moments, by number: those of [`Side::Begin`] and those of [`Side::End`].
pub(super) fn look_up(
    session: &Session,
    is_wanted: &(dyn Fn(ContextIdx) -> bool + Sync),
    len: usize,
    moments: Vec<Vec<Moment>>,
    control: &Control,
) -> Result<(Calls, Calls), EngineError> {
    let work: Vec<(usize, Vec<Moment>)> =
        moments.into_iter().enumerate().filter(|(_, list)| !list.is_empty()).collect();
    control.begin(work.len() as u64);
    let parts = threads::map(work, |(track, mut list)| {
        let found = calls_around(session, &is_wanted, track, &mut list)?;
        control.advance(1)?;
        Ok::<_, EngineError>((list, found))
    });
    let (mut begins, mut ends): (Calls, Calls) = (vec![None; len], vec![None; len]);
    for part in parts {
        let (list, found) = part?;
        for (moment, call) in list.iter().zip(found) {
            let side = match moment.side {
                Side::Begin => &mut begins,
                Side::End => &mut ends,
            };
            if let Some(slot) = side.get_mut(moment.number as usize) {
                *slot = call;
            }
        }
    }
    Ok((begins, ends))
}

/// Whether `nanos` lies in `window`.
pub(super) const fn is_in(window: TimeWindow, nanos: u64) -> bool {
    window.start_nanos <= nanos && nanos < window.end_nanos
}
