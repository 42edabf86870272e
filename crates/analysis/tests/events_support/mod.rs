//! Small parallel programs with planted answers, as archives in memory.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::sync::Arc;

use parallax_base::{Folder, Limits, MemorySink};
use parallax_engine::Session;
use parallax_import::archive;
use parallax_import::events::{Collective, Conversion, Endpoint, TrackIdentity};
use parallax_model::IdentityKind;
use proptest::prelude::*;

/// What a rank does at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Do {
    Enter(&'static str),
    Leave,
    /// Sends a message to a rank.
    Send(u32),
    /// Has received a message from a rank.
    Receive(u32),
    /// Starts to send a message to a rank, with the number of a request.
    Isend(u32, u64),
    /// What was sent with a request is sent.
    Sent(u64),
    /// Posts a receive, with the number of a request.
    Post(u64),
    /// Has received a message from a rank for a request.
    Got(u32, u64),
    /// Comes to a collective operation.
    Come,
    /// Goes on after one: its number in OTF2, and its root.
    Go(u8, Option<u64>),
}

/// The trace of ranks with their steps; `every` steps a batch of the archive is forced.
pub(crate) fn trace_in_batches(ranks: &[Vec<(u64, Do)>], every: usize) -> Session {
    let sink = MemorySink::new();
    let memory = if every == usize::MAX { 1 << 20 } else { 0 };
    let mut conversion = Conversion::new(Arc::new(sink.clone()), memory).unwrap();
    for rank in 0..ranks.len() as u64 {
        let identity = vec![(IdentityKind::Rank, rank), (IdentityKind::Thread, 0)];
        conversion.track(TrackIdentity { identity, ..TrackIdentity::default() });
    }
    for (rank, steps) in (0..).zip(ranks) {
        for (nth, &(nanos, step)) in steps.iter().enumerate() {
            let function = match step {
                Do::Enter(name) => {
                    let group = if name.starts_with("MPI_") { "MPI" } else { "USER" };
                    conversion.function(name, group)
                }
                _ => 0,
            };
            let partner = match step {
                Do::Send(partner)
                | Do::Receive(partner)
                | Do::Isend(partner, _)
                | Do::Got(partner, _) => conversion.peer_of(partner),
                _ => None,
            };
            let builder = conversion.builder(rank).unwrap();
            let side = Endpoint {
                nanos,
                partner,
                communicator: 0,
                tag: 0,
                bytes: 8,
                is_send: matches!(step, Do::Send(_) | Do::Isend(..)),
            };
            match step {
                Do::Enter(_) => builder.enter(nanos, function),
                Do::Leave => builder.leave(nanos, None),
                Do::Send(_) | Do::Receive(_) => builder.message(side),
                Do::Isend(_, request) => builder.post_send(side, request),
                Do::Sent(request) => builder.complete_send(nanos, request),
                Do::Post(request) => builder.post_receive(nanos, request),
                Do::Got(_, request) => builder.complete_receive(side, request),
                Do::Come => builder.begin_collective(nanos),
                Do::Go(operation, root) => builder.end_collective(Collective {
                    start_nanos: nanos,
                    end_nanos: nanos,
                    operation,
                    communicator: 0,
                    root,
                    sent: 8,
                    received: 8,
                }),
            }
            if nth % every == every - 1 {
                conversion.commit().unwrap();
            }
        }
    }
    conversion.finish().unwrap();
    let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("memory"));
    Session::new(archive::open(&folder, &Limits::default()).unwrap())
}

/// The trace of ranks with their steps.
pub(crate) fn trace(ranks: &[Vec<(u64, Do)>]) -> Session {
    trace_in_batches(ranks, usize::MAX)
}

/// The path of functions to a context.
pub(crate) fn path(session: &Session, context: parallax_base::ContextIdx) -> String {
    let tree = session.tree();
    let names: Vec<String> = tree.path(context).into_iter().map(|c| tree.label(c)).collect();
    names.join(" > ")
}

/// One thing that all ranks of a program do, or two of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Each rank computes for a time.
    Compute(Vec<u64>),
    /// One rank sends, another one receives; the message may be buffered.
    Message { from: u32, to: u32, is_buffered: bool },
    /// Every rank sends to the next one and receives from the one before, in one call.
    Shift,
    /// The same with requests: each rank computes for a time before it completes them.
    ShiftLater(Vec<u64>),
    /// One rank sends synchronously, another one posts its receive, computes for a time, and then
    /// completes it.
    Posted { from: u32, to: u32, computes: u64 },
    /// All ranks meet.
    Barrier,
}

/// A wait that the program has: rank, whom it waits for, from, to.
pub(crate) type Planted = (u32, u32, u64, u64);

/// What a run of a program is known to have.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) steps: Vec<Vec<(u64, Do)>>,
    pub(crate) late_senders: Vec<Planted>,
    pub(crate) late_receivers: Vec<Planted>,
    pub(crate) barriers: Vec<Planted>,
    /// When ranks could not go on because of a message, whatever that is called: rank, from, to.
    pub(crate) blocked: Vec<(u32, u64, u64)>,
    /// When each rank ends.
    pub(crate) ends: Vec<u64>,
}

/// Runs a program of `ranks` ranks: messages take 3 ns from the moment at which both sides are
/// there, a barrier is left 2 ns after the last has come. Requests are numbered by the phase.
pub(crate) fn run(ranks: u32, phases: &[Phase], has_records: bool) -> Run {
    let mut out = Run::default();
    let mut now: Vec<u64> = vec![1000; ranks as usize];
    out.steps = now.iter().map(|&t| vec![(t, Do::Enter("main"))]).collect();
    for (phase, request) in phases.iter().zip((0..).step_by(2)) {
        match phase {
            Phase::Compute(times) => {
                for (rank, time) in times.iter().take(ranks as usize).enumerate() {
                    let start = now[rank] + 1;
                    out.steps[rank].push((start, Do::Enter("work")));
                    out.steps[rank].push((start + time, Do::Leave));
                    now[rank] = start + time;
                }
            }
            Phase::Message { from, to, is_buffered } => {
                let (from, to) = (from % ranks, to % ranks);
                if from == to {
                    continue;
                }
                let (send, receive) = (now[from as usize] + 1, now[to as usize] + 1);
                let both = send.max(receive);
                let sent = if *is_buffered { send + 2 } else { both + 3 };
                let received = if *is_buffered { both + 3 } else { sent };
                let name = if *is_buffered { "MPI_Send" } else { "MPI_Ssend" };
                out.steps[from as usize].extend([
                    (send, Do::Enter(name)),
                    (send + 1, Do::Send(to)),
                    (sent, Do::Leave),
                ]);
                out.steps[to as usize].extend([
                    (receive, Do::Enter("MPI_Recv")),
                    (received, Do::Receive(from)),
                    (received + 1, Do::Leave),
                ]);
                if send > receive {
                    out.late_senders.push((to, from, receive, send));
                    out.blocked.push((to, receive, send));
                }
                if receive > send && receive < sent {
                    out.late_receivers.push((from, to, send, receive));
                    out.blocked.push((from, send, receive));
                }
                (now[from as usize], now[to as usize]) = (sent, received + 1);
            }
            Phase::Shift => {
                let enters: Vec<u64> = now.iter().map(|now| now + 1).collect();
                for (rank, steps) in out.steps.iter_mut().enumerate() {
                    let (next, before) = neighbours(rank, ranks);
                    let last = enters[next as usize].max(enters[before as usize]);
                    let end = last.max(enters[rank]) + 3;
                    steps.extend([
                        (enters[rank], Do::Enter("MPI_Sendrecv")),
                        (enters[rank], Do::Send(next)),
                        (end, Do::Receive(before)),
                        (end, Do::Leave),
                    ]);
                    out.blocked.push((rank as u32, enters[rank], last));
                    now[rank] = end;
                }
            }
            Phase::ShiftLater(computes) => {
                let posts: Vec<u64> = now.iter().map(|now| now + 1).collect();
                for (rank, steps) in out.steps.iter_mut().enumerate() {
                    let (next, before) = neighbours(rank, ranks);
                    let post = posts[rank];
                    let enter = post + 8 + computes.get(rank).unwrap_or(&0);
                    // Until the send of the one before, and the receive of the next one.
                    let last = (posts[before as usize] + 4).max(posts[next as usize]);
                    let end = last.max(enter) + 3;
                    steps.extend([
                        (post, Do::Enter("MPI_Irecv")),
                        (post + 2, Do::Post(request)),
                        (post + 3, Do::Leave),
                        (post + 4, Do::Enter("MPI_Isend")),
                        (post + 5, Do::Isend(next, request + 1)),
                        (post + 6, Do::Leave),
                        (enter, Do::Enter("MPI_Waitall")),
                        (end, Do::Sent(request + 1)),
                        (end, Do::Got(before, request)),
                        (end, Do::Leave),
                    ]);
                    out.blocked.push((rank as u32, enter, last));
                    now[rank] = end;
                }
            }
            Phase::Posted { from, to, computes } => {
                let (from, to) = (from % ranks, to % ranks);
                if from == to {
                    continue;
                }
                let (send, post) = (now[from as usize] + 1, now[to as usize] + 1);
                let sent = send.max(post) + 3;
                let wait = post + 3 + computes;
                let received = wait.max(sent);
                out.steps[from as usize].extend([
                    (send, Do::Enter("MPI_Ssend")),
                    (send, Do::Send(to)),
                    (sent, Do::Leave),
                ]);
                out.steps[to as usize].extend([
                    (post, Do::Enter("MPI_Irecv")),
                    (post + 1, Do::Post(request)),
                    (post + 2, Do::Leave),
                    (wait, Do::Enter("MPI_Wait")),
                    (received, Do::Got(from, request)),
                    (received, Do::Leave),
                ]);
                out.blocked.push((from, send, post));
                out.blocked.push((to, wait, send));
                (now[from as usize], now[to as usize]) = (sent, received);
            }
            Phase::Barrier => {
                let last = now.iter().max().unwrap() + 1;
                let delayed_by = now.iter().position(|&t| t + 1 == last).unwrap() as u32;
                for rank in 0..ranks {
                    let steps = &mut out.steps[rank as usize];
                    let enter = now[rank as usize] + 1;
                    steps.push((enter, Do::Enter("MPI_Barrier")));
                    if has_records {
                        steps.extend([(enter, Do::Come), (last + 2, Do::Go(0, None))]);
                    }
                    steps.push((last + 2, Do::Leave));
                    if enter < last {
                        out.barriers.push((rank, delayed_by, enter, last));
                    }
                    now[rank as usize] = last + 2;
                }
            }
        }
    }
    for (steps, now) in out.steps.iter_mut().zip(&now) {
        steps.push((now + 5, Do::Leave));
    }
    out.ends = now.iter().map(|now| now + 5).collect();
    out.blocked.retain(|(_, from, to)| from < to);
    out
}

/// Whom a rank sends to, and receives from, in a ring.
fn neighbours(rank: usize, ranks: u32) -> (u32, u32) {
    let rank = rank as u32;
    ((rank + 1) % ranks, (rank + ranks - 1) % ranks)
}

/// Intervals of time by rank, those that touch merged.
pub(crate) fn joined(mut list: Vec<(u32, u64, u64)>) -> Vec<(u32, u64, u64)> {
    list.sort_unstable();
    list.dedup_by(|next, kept| {
        let is_joined = next.0 == kept.0 && next.1 <= kept.2;
        if is_joined {
            kept.2 = kept.2.max(next.2);
        }
        is_joined
    });
    list
}

/// Programs of some phases.
pub(crate) fn phases(ranks: u32) -> impl Strategy<Value = Vec<Phase>> {
    let compute = prop::collection::vec(0..60_u64, ranks as usize).prop_map(Phase::Compute);
    let message = (0..ranks, 0..ranks, any::<bool>())
        .prop_map(|(from, to, is_buffered)| Phase::Message { from, to, is_buffered });
    let later = prop::collection::vec(0..30_u64, ranks as usize).prop_map(Phase::ShiftLater);
    let posted = (0..ranks, 0..ranks, 0..30_u64).prop_map(|(from, to, computes)| Phase::Posted {
        from,
        to,
        computes,
    });
    let phase = prop_oneof![
        4 => compute,
        3 => message,
        1 => Just(Phase::Shift),
        1 => later,
        2 => posted,
        1 => Just(Phase::Barrier),
    ];
    prop::collection::vec(phase, 0..40)
}
