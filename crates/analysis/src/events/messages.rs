//! Waits for messages: late senders and late receivers.
//!
//! - **Late sender**: a call that receives is entered before the call that sends. It waits from its
//!   enter to the enter of the sending call, and at most until it ends. The receiving call is the
//!   one in which the receive is recorded: `MPI_Recv`, or the `MPI_Wait` that completes an
//!   `MPI_Irecv`.
//! - **Late receiver**: a send cannot end before its receive is posted. It waits from the enter of
//!   its call until the call is entered that posts the receive: `MPI_Recv`, or `MPI_Irecv` (and
//!   `MPI_Start`) where the trace says when that was. The waiting call is a blocking send that is
//!   still there then, or the `MPI_Wait` that completes an `MPI_Isend` and is still there then.
//!   Sends that ended before were buffered, and do not wait.
//!
//! Scalasca does not judge sends that are completed in `MPI_Wait`. Here they are, and the rule is
//! the same.
//!
//! **One call, several messages.** A call that needs all of them (`MPI_Waitall`, `MPI_Sendrecv`)
//! waits for the one that comes last. One that needs any of them (`MPI_Waitany`, `MPI_Waitsome`)
//! waits for the one that comes first, of those that it completes. Calls of `MPI_Test` and its kin
//! do not wait.

use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};
use parallax_model::{LinkKind, Message};

use super::activity::{Activities, Role};
use super::enclosing::{Around, Moment, Side};
use super::waits::{Basis, Wait, WaitChoice, WaitKind, Waits, is_in, look_up};
use super::{Selection, events};

/// A message of which both sides are known. What is looked up is known by its number.
#[derive(Debug, Clone, Copy)]
struct Pair {
    sender: TrackIdx,
    receiver: TrackIdx,
    send_nanos: u64,
    posted_nanos: Option<u64>,
    is_counted: bool,
    /// The calls that send, that receive, that post the receive, and that complete the send.
    send: usize,
    receive: usize,
    posting: Option<usize>,
    completion: Option<usize>,
}

/// Records to look up, by track.
struct Moments {
    of_track: Vec<Vec<Moment>>,
    len: usize,
}

impl Moments {
    fn add(&mut self, track: TrackIdx, nanos: u64, side: Side) -> usize {
        let number = u32::try_from(self.len).unwrap_or(u32::MAX);
        if let Some(list) = self.of_track.get_mut(track.idx()) {
            list.push(Moment { nanos, side, number });
        }
        self.len += 1;
        self.len - 1
    }
}

/// A message for which a call may wait.
#[derive(Debug, Clone, Copy)]
struct Cause {
    kind: WaitKind,
    track: TrackIdx,
    delayed_by: TrackIdx,
    call: Around,
    /// When the other one comes.
    until_nanos: u64,
    /// Whether the call ends when any of its messages is there.
    is_any: bool,
}

impl Cause {
    /// Equal for causes of one call.
    const fn call(&self) -> (TrackIdx, u64, u64, ContextIdx) {
        (self.track, self.call.start_nanos, self.call.end_nanos, self.call.context)
    }
}

/// Adds the waits for messages that reach into `reach` to `out`, and counts those that are received
/// in the window of the selection.
pub(super) fn waits(
    session: &Session,
    activities: &Activities,
    selection: &Selection,
    reach: TimeWindow,
    choice: WaitChoice,
    out: &mut Waits,
    control: &Control,
) -> Result<(), EngineError> {
    let counts = &mut out.counts;
    let of_track = vec![Vec::new(); session.traces()?.tracks().len()];
    let mut moments = Moments { of_track, len: 0 };
    let mut pairs: Vec<Pair> = Vec::new();
    events(session)?.messages(reach, &mut |message| {
        let Some(mut pair) = pair_of(&message) else { return };
        let Pair { sender, receiver, send_nanos, .. } = pair;
        let receive_nanos = message.receive_nanos.unwrap_or(send_nanos);
        pair.is_counted = is_in(selection.window, receive_nanos)
            && ((choice.late_sender && selection.has(receiver))
                || (choice.late_receiver && selection.has(sender)));
        counts.messages += u64::from(pair.is_counted);
        if message.is_backwards() {
            counts.backwards += u64::from(pair.is_counted);
            return;
        }
        if !selection.has(sender) && !selection.has(receiver) {
            return;
        }
        pair.send = moments.add(sender, send_nanos, Side::Begin);
        pair.receive = moments.add(receiver, receive_nanos, Side::End);
        let posted = message.posted_nanos;
        pair.posting = posted.map(|nanos| moments.add(receiver, nanos, Side::End));
        let completed = message.completed_nanos;
        pair.completion = completed.map(|nanos| moments.add(sender, nanos, Side::End));
        pairs.push(pair);
    })?;
    let is_mpi = |context| activities.is_mpi(context);
    let calls = look_up(session, &is_mpi, moments.len, moments.of_track, control)?;
    let call = |number: usize| calls.get(number).copied().flatten();
    let role = |call: &Around| {
        activities.routine(call.context).map_or(Role::Other, |routine| routine.role)
    };
    let mut causes: Vec<Cause> = Vec::new();
    for pair in &pairs {
        let (send, receive) = (call(pair.send), call(pair.receive));
        if let Some(receive) = receive {
            let role = role(&receive);
            if selection.has(pair.receiver) && role.receives() {
                causes.push(Cause {
                    kind: WaitKind::LateSender,
                    track: pair.receiver,
                    delayed_by: pair.sender,
                    call: receive,
                    until_nanos: send.map_or(pair.send_nanos, |call| call.start_nanos),
                    is_any: role == Role::CompleteAny,
                });
            }
        } else {
            counts.unplaced += u64::from(pair.is_counted);
        }
        if !selection.has(pair.sender) {
            continue;
        }
        // Of a send that does not block, what waits is the call that completes it.
        let ending = match pair.completion {
            Some(completion) => call(completion).filter(|call| role(call).completes()),
            None => send.filter(|call| role(call).sends()),
        };
        let Some(ending) = ending else { continue };
        let posted = match pair.posting {
            Some(posting) => call(posting).map(|call| call.start_nanos).or(pair.posted_nanos),
            None => receive
                .filter(|call| matches!(role(call), Role::Receive | Role::SendReceive))
                .map(|call| call.start_nanos),
        };
        let Some(posted) = posted else {
            counts.unposted += u64::from(pair.is_counted && choice.late_receiver);
            continue;
        };
        if posted < ending.end_nanos {
            causes.push(Cause {
                kind: WaitKind::LateReceiver,
                track: pair.sender,
                delayed_by: pair.receiver,
                call: ending,
                until_nanos: posted,
                is_any: role(&ending) == Role::CompleteAny,
            });
        }
    }
    causes.sort_by_key(|cause| (cause.call(), cause.kind, cause.until_nanos, cause.delayed_by));
    for same in causes.chunk_by(|a, b| a.call() == b.call()) {
        control.check().map_err(EngineError::from)?;
        if same.first().is_some_and(|cause| cause.is_any) {
            // Of those that come together, the first in order.
            let first = same.iter().min_by_key(|cause| cause.until_nanos);
            out.list.extend(first.and_then(wait));
        } else {
            // The later one of each kind; what the kinds have in common is settled for all waits.
            let of_kinds = same.chunk_by(|a, b| a.kind == b.kind);
            out.list.extend(of_kinds.filter_map(|of_kind| of_kind.last().and_then(wait)));
        }
    }
    Ok(())
}

/// The message with nothing looked up; `None` where one side is not known, and for other links.
fn pair_of(message: &Message) -> Option<Pair> {
    let (sender, receiver) = message.sender.zip(message.receiver)?;
    let (send_nanos, _) = message.send_nanos.zip(message.receive_nanos)?;
    (message.kind == LinkKind::Message).then_some(Pair {
        sender,
        receiver,
        send_nanos,
        posted_nanos: message.posted_nanos,
        is_counted: false,
        send: 0,
        receive: 0,
        posting: None,
        completion: None,
    })
}

/// The wait that a cause gives; `None` where the other one was there already.
fn wait(cause: &Cause) -> Option<Wait> {
    let Around { context, start_nanos, end_nanos } = cause.call;
    let until = cause.until_nanos.min(end_nanos);
    (until > start_nanos).then_some(Wait {
        kind: cause.kind,
        track: cause.track,
        delayed_by: cause.delayed_by,
        context,
        start_nanos,
        end_nanos: until,
        call_start_nanos: start_nanos,
        call_end_nanos: end_nanos,
        basis: Basis::Recorded,
    })
}
