//! Waits between threads and GPUs.
//!
//! Definitions follow the dependencies of Schmitt, Dietrich and Juckeland ("Scalable critical path
//! analysis for hybrid MPI-CUDA applications", IPDPS workshops 2014; their tool is CASITA), which
//! Holistic Trace Analysis has too: a kernel depends on the *enter* of the call that launches it and
//! on the end of the work before it on its stream; the *end* of a synchronisation depends on the end
//! of the work that it waits for.
//!
//! *Work* of a stream are kernels, copies and fills; not the records of marks of the host and of
//! synchronisations that Kineto writes there. What lies inside of work belongs to it. A stream is all
//! tracks of one identity: what overlaps without nesting has tracks of its own.
//!
//! - **Late launch**: the launching call of some work is entered when all work before it on the
//!   stream has ended. The stream waits from the end of that work, at first from the beginning of
//!   the trace, until the call is entered. Launch and work are joined by a flow; the launching call
//!   is the innermost one of a GPU runtime around the flow's start, or the start itself where there
//!   is none. Holistic Trace Analysis has a launch edge under the same condition, CASITA calls the
//!   time an idle device. What follows until the work starts, the *launch latency*, is no waiting:
//!   it is time of the stream, as the transfer of a message is time of the receiver. Holistic Trace
//!   Analysis counts it apart, too (`kernel_launch_delay`). Of work that was launched in time the
//!   gap before it is time of the stream as well (`kernel_kernel_delay`).
//! - **Wait for GPU**: a call that synchronises, or that copies between host and GPU, is entered
//!   before the work ends that it waits for. It waits from its enter until the latest end of work
//!   inside the call, and never beyond it: on the stream that a flow from the call leads to; without
//!   such a flow on all streams of its process, because traces do not say which one was meant. An
//!   asynchronous copy waits where a flow leads to a copy into host memory that is not pinned: its
//!   call returns when the copy has ended. CASITA's "early blocking wait".
//!
//! Which streams belong to a process is told as for idle GPUs
//! ([`with_gpus`]): by flows, else by identity.
//!
//! Where no work of a process has a flow from its launch, launches are matched by time and stream:
//! see [`super::launches`].
//!
//! Not known: streams that wait for events of other streams, threads that poll (`cudaEventQuery`),
//! and calls that wait by the way, such as `cudaFree`. Work that starts before its launch says that
//! clocks are wrong; it counts as no waiting, and is counted apart.

use std::collections::{BTreeMap, HashMap};

use parallax_base::{ContextIdx, Control, LocationIdx, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextTree, IdentityKind, LinkKind, TraceKind, TraceStore};

use super::enclosing::{Moment, Side};
use super::launches::{Matched, match_launches};
use super::waits::{Basis, Wait, WaitKind, Waits, is_in, look_up};
use super::{Selection, events};
use crate::idleness::groups::{Members, with_gpus};
use crate::taxonomy::gpu::{RuntimeCall, idle_contexts, is_copy_to_pageable};

/// A kernel, copy or fill on a stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) start_nanos: u64,
    pub(super) end_nanos: u64,
    track: TrackIdx,
    pub(super) context: ContextIdx,
    /// Since when its stream has nothing to do: the end of all work before it, at first the
    /// beginning of the trace.
    pub(super) idle_nanos: u64,
    /// The flow from its launch.
    pub(super) launch: Option<u32>,
    /// Where there are no flows, what its launch was by time and stream.
    pub(super) matched: Matched,
}

/// From a thread to a stream.
#[derive(Debug, Clone, Copy)]
struct Flow {
    sender: TrackIdx,
    send_nanos: u64,
    stream: usize,
    receive_nanos: u64,
}

/// What a flow leads to, as its thread sees it.
#[derive(Debug, Clone, Copy)]
struct Target {
    send_nanos: u64,
    stream: usize,
    /// A copy for which the call that starts it waits.
    is_awaited: bool,
}

/// A stream with its work in order of time.
pub(super) struct Stream {
    pub(super) application: Option<u64>,
    tracks: Vec<TrackIdx>,
    pub(super) work: Vec<Work>,
    /// Ends of work and their tracks, ascending.
    ends: Vec<(u64, TrackIdx)>,
}

/// Adds the waits between threads and GPUs to `out`.
pub(super) fn waits(
    session: &Session,
    selection: &Selection,
    out: &mut Waits,
    control: &Control,
) -> Result<(), EngineError> {
    let store = session.traces()?;
    let locations = &session.experiment().locations;
    let has_gpus = store.tracks().iter().any(|track| locations.is_gpu(track.location));
    if store.kind() != TraceKind::Calls || !has_gpus {
        return Ok(());
    }
    let ranks: Vec<Members> = with_gpus(session, store)?.into_values().collect();
    let who = identities(session, store);
    let mut streams: Vec<Stream> = Vec::new();
    let mut stream_of: HashMap<TrackIdx, usize> = HashMap::new();
    let mut rank_streams: Vec<Vec<usize>> = Vec::new();
    for members in &ranks {
        let mut own: BTreeMap<TrackIdx, usize> = BTreeMap::new();
        for &track in &members.streams {
            let first = who.get(track.idx()).copied().unwrap_or(track);
            let number = *own.entry(first).or_insert_with(|| {
                streams.push(Stream {
                    application: application(session, store, first),
                    tracks: Vec::new(),
                    work: Vec::new(),
                    ends: Vec::new(),
                });
                streams.len() - 1
            });
            if let Some(stream) = streams.get_mut(number) {
                stream.tracks.push(track);
            }
            stream_of.insert(first, number);
        }
        rank_streams.push(own.into_values().collect());
    }
    // Flows lead to the first track of a stream, also where its work is on others.
    let stream_of = |track: TrackIdx| {
        let first = who.get(track.idx()).copied().unwrap_or(track);
        stream_of.get(&first).copied()
    };
    let flows = flows(session, store, &stream_of)?;
    let mut streams = read_streams(session, streams, control)?;
    let targets = launches(session.tree(), &mut streams, &flows, &who);
    for (members, own) in ranks.iter().zip(&rank_streams) {
        match_launches(session, &members.threads, &mut streams, own, control)?;
    }
    late_launches(session, selection, &streams, &flows, out, control)?;
    for (members, own) in ranks.iter().zip(&rank_streams) {
        let threads = members.threads.iter().copied();
        let of_rank = Rank { streams: &streams, own, who: &who, targets: &targets };
        let chosen = threads.filter(|&track| selection.has(track)).collect();
        for_gpus(session, selection.window, &of_rank, chosen, out, control)?;
    }
    Ok(())
}

/// By track, the first track with the same identity; itself where it has none.
fn identities(session: &Session, store: &dyn TraceStore) -> Vec<TrackIdx> {
    let locations = &session.experiment().locations;
    let mut first: HashMap<[Option<u64>; 8], TrackIdx> = HashMap::new();
    let identity =
        |location: LocationIdx| IdentityKind::ALL.map(|kind| locations.identity(location, kind));
    store
        .track_ids()
        .zip(store.tracks())
        .map(|(track, described)| {
            let own = identity(described.location);
            let has_any = own.iter().any(Option::is_some);
            if has_any { *first.entry(own).or_insert(track) } else { track }
        })
        .collect()
}

pub(super) fn application(
    session: &Session,
    store: &dyn TraceStore,
    track: TrackIdx,
) -> Option<u64> {
    let location = store.track(track)?.location;
    session.experiment().locations.identity(location, IdentityKind::Application)
}

/// The flows from threads to streams.
fn flows(
    session: &Session,
    store: &dyn TraceStore,
    stream_of: &dyn Fn(TrackIdx) -> Option<usize>,
) -> Result<Vec<Flow>, EngineError> {
    let locations = &session.experiment().locations;
    let is_thread = |track: TrackIdx| {
        let track = store.track(track);
        track.is_some_and(|track| !locations.is_gpu(track.location))
    };
    let mut flows = Vec::new();
    // Which work came before is told by all of them, whatever the window.
    events(session)?.messages(TimeWindow::ALL, &mut |link| {
        let sides = link.sender.zip(link.receiver).filter(|_| link.kind == LinkKind::Flow);
        let times = link.send_nanos.zip(link.receive_nanos);
        if let Some(((sender, receiver), (send_nanos, receive_nanos))) = sides.zip(times)
            && let Some(stream) = stream_of(receiver)
            && is_thread(sender)
        {
            flows.push(Flow { sender, send_nanos, stream, receive_nanos });
        }
    })?;
    Ok(flows)
}

/// Reads the work of all streams.
fn read_streams(
    session: &Session,
    streams: Vec<Stream>,
    control: &Control,
) -> Result<Vec<Stream>, EngineError> {
    let (store, tree) = (session.traces()?, session.tree());
    let is_work =
        outermost(tree, &idle_contexts(tree).iter().map(|idle| !idle).collect::<Vec<_>>());
    control.begin(streams.len() as u64);
    let read = threads::map(streams, |mut stream| {
        for &track in &stream.tracks {
            store.visit_calls(track, TimeWindow::ALL, &mut |call| {
                let Some(context) = tree.by_source_id(call.context) else { return };
                if is_work.get(context.idx()) == Some(&true) {
                    let (start_nanos, end_nanos) = (call.start_nanos, call.end_nanos);
                    stream.work.push(Work {
                        start_nanos,
                        end_nanos,
                        track,
                        context,
                        idle_nanos: 0,
                        launch: None,
                        matched: Matched::No,
                    });
                }
            })?;
        }
        stream.work.sort_by_key(|work| (work.start_nanos, work.end_nanos, work.track));
        let mut idle_nanos = store.span().start_nanos;
        for work in &mut stream.work {
            work.idle_nanos = idle_nanos;
            idle_nanos = idle_nanos.max(work.end_nanos);
        }
        stream.ends = stream.work.iter().map(|work| (work.end_nanos, work.track)).collect();
        stream.ends.sort_unstable();
        control.advance(1)?;
        Ok::<_, EngineError>(stream)
    });
    read.into_iter().collect()
}

/// By position in the tree: contexts that are wanted and lie in none that is.
pub(super) fn outermost(tree: &ContextTree, is_wanted: &[bool]) -> Vec<bool> {
    let wanted = |context: ContextIdx| is_wanted.get(context.idx()) == Some(&true);
    let mut is_within = vec![false; tree.len()];
    let mut out = vec![false; tree.len()];
    for context in tree.iter().skip(1) {
        let above = tree.parent(context).map_or(0, ContextIdx::idx);
        let is_below = is_within.get(above) == Some(&true);
        if let Some(slot) = is_within.get_mut(context.idx()) {
            *slot = is_below || wanted(context);
        }
        if let Some(slot) = out.get_mut(context.idx()) {
            *slot = !is_below && wanted(context);
        }
    }
    out
}

/// Joins work with the flow from its launch: of those that end in it, one that ends at its start, and
/// the first to start. Gives by thread what its flows lead to, in order of time.
fn launches(
    tree: &ContextTree,
    streams: &mut [Stream],
    flows: &[Flow],
    who: &[TrackIdx],
) -> HashMap<TrackIdx, Vec<Target>> {
    let mut targets: HashMap<TrackIdx, Vec<Target>> = HashMap::new();
    for (number, flow) in (0..).zip(flows) {
        let mut is_awaited = false;
        if let Some(stream) = streams.get_mut(flow.stream) {
            let after = stream.work.partition_point(|work| work.start_nanos <= flow.receive_nanos);
            let work = after.checked_sub(1).and_then(|at| stream.work.get_mut(at));
            if let Some(work) = work.filter(|work| {
                flow.receive_nanos == work.start_nanos || flow.receive_nanos < work.end_nanos
            }) {
                // Flows of synchronisations end anywhere in work that they wait for.
                let rank = |flow: &Flow| {
                    let is_inside = flow.receive_nanos != work.start_nanos;
                    (is_inside, flow.send_nanos > work.start_nanos, flow.send_nanos)
                };
                let known = work.launch.and_then(|known| flows.get(known as usize));
                if known.is_none_or(|known| rank(flow) < rank(known)) {
                    work.launch = Some(number);
                }
                is_awaited = tree.function_name(work.context).is_some_and(is_copy_to_pageable);
            }
        }
        let sender = who.get(flow.sender.idx()).copied().unwrap_or(flow.sender);
        let target = Target { send_nanos: flow.send_nanos, stream: flow.stream, is_awaited };
        targets.entry(sender).or_default().push(target);
    }
    for list in targets.values_mut() {
        list.sort_by_key(|target| (target.send_nanos, target.stream));
    }
    targets
}

/// Work before which its stream is idle, and the flow from its launch.
struct Gap<'f> {
    work: Work,
    flow: &'f Flow,
}

fn late_launches(
    session: &Session,
    selection: &Selection,
    streams: &[Stream],
    flows: &[Flow],
    out: &mut Waits,
    control: &Control,
) -> Result<(), EngineError> {
    let store = session.traces()?;
    let mut gaps: Vec<Gap<'_>> = Vec::new();
    for stream in streams {
        for work in &stream.work {
            let since = work.idle_nanos;
            if !selection.has(work.track) || !is_in(selection.window, work.start_nanos) {
                continue;
            }
            out.counts.gpu_work += 1;
            let Some(flow) = work.launch.and_then(|flow| flows.get(flow as usize)) else {
                match work.matched {
                    Matched::No => out.counts.not_launched += 1,
                    Matched::InTime => out.counts.matched += 1,
                    Matched::At(thread, launched) => {
                        out.counts.matched += 1;
                        let wait = late_launch(work, thread, launched, Basis::Matched);
                        out.list.extend(wait);
                    }
                }
                continue;
            };
            if flow.send_nanos > work.start_nanos {
                out.counts.launched_backwards += 1;
            } else if flow.send_nanos > since {
                gaps.push(Gap { work: *work, flow });
            }
        }
    }
    let mut moments: Vec<Vec<Moment>> = vec![Vec::new(); store.tracks().len()];
    for (number, gap) in (0..).zip(&gaps) {
        if let Some(list) = moments.get_mut(gap.flow.sender.idx()) {
            list.push(Moment { nanos: gap.flow.send_nanos, side: Side::Begin, number });
        }
    }
    let tree = session.tree();
    let is_runtime =
        |context| tree.function_name(context).is_some_and(|name| RuntimeCall::of(name).is_some());
    let calls = look_up(session, &is_runtime, gaps.len(), moments, control)?;
    for (gap, call) in gaps.iter().zip(calls) {
        let Gap { work, flow } = gap;
        // A call that ends where the flow starts is the one before.
        let call = call.filter(|call| call.end_nanos > flow.send_nanos);
        let launched = call.map_or(flow.send_nanos, |call| call.start_nanos);
        out.list.extend(late_launch(work, flow.sender, launched, Basis::Recorded));
    }
    Ok(())
}

/// The wait of a stream until its next work is launched; `None` where it was launched in time.
fn late_launch(work: &Work, thread: TrackIdx, launched: u64, basis: Basis) -> Option<Wait> {
    (launched > work.idle_nanos).then(|| Wait {
        kind: WaitKind::LateLaunch,
        track: work.track,
        delayed_by: thread,
        context: work.context,
        start_nanos: work.idle_nanos,
        end_nanos: launched,
        call_start_nanos: work.idle_nanos,
        call_end_nanos: work.end_nanos.max(launched),
        basis,
    })
}

/// What the threads of a rank have to do with GPUs.
struct Rank<'r> {
    /// All streams, and which of them are its own.
    streams: &'r [Stream],
    own: &'r [usize],
    who: &'r [TrackIdx],
    targets: &'r HashMap<TrackIdx, Vec<Target>>,
}

impl Rank<'_> {
    /// What the flows lead to that start in a call.
    fn targets(&self, track: TrackIdx, start_nanos: u64, end_nanos: u64) -> &[Target] {
        let first = self.who.get(track.idx()).copied().unwrap_or(track);
        let list = self.targets.get(&first).map_or(&[][..], Vec::as_slice);
        let from = list.partition_point(|target| target.send_nanos < start_nanos);
        let to = list.partition_point(|target| target.send_nanos < end_nanos).max(from);
        list.get(from..to).unwrap_or_default()
    }

    /// The latest end of work inside a call, and its track.
    fn last_end(
        &self,
        among: &mut dyn Iterator<Item = usize>,
        start_nanos: u64,
        end_nanos: u64,
    ) -> Option<(u64, TrackIdx)> {
        let ends = among.filter_map(|stream| {
            let ends = &self.streams.get(stream)?.ends;
            let after = ends.partition_point(|end| end.0 <= end_nanos);
            ends.get(after.checked_sub(1)?).copied().filter(|end| end.0 > start_nanos)
        });
        // Of those that end together, the first.
        ends.reduce(|last, end| if end.0 > last.0 { end } else { last })
    }
}

/// Adds the waits of threads of one rank for its GPUs.
fn for_gpus(
    session: &Session,
    window: TimeWindow,
    rank: &Rank<'_>,
    chosen: Vec<TrackIdx>,
    out: &mut Waits,
    control: &Control,
) -> Result<(), EngineError> {
    let (store, tree) = (session.traces()?, session.tree());
    let role = |context| RuntimeCall::of(tree.function_name(context).unwrap_or(""));
    let may_wait = |context| role(context).is_some_and(RuntimeCall::may_wait);
    let may_wait = outermost(tree, &tree.iter().map(may_wait).collect::<Vec<_>>());
    control.begin(chosen.len() as u64);
    let found = threads::map(chosen, |track| {
        let application = application(session, store, track);
        let (mut list, mut calls) = (Vec::new(), 0_u64);
        let is_own = |stream: &usize| {
            let stream = rank.streams.get(*stream);
            stream.is_some_and(|s| s.application == application && !s.work.is_empty())
        };
        let own: Vec<usize> = rank.own.iter().copied().filter(is_own).collect();
        store.visit_calls(track, window, &mut |call| {
            let Some(context) = tree.by_source_id(call.context) else { return };
            let (start_nanos, call_end_nanos) = (call.start_nanos, call.end_nanos);
            if may_wait.get(context.idx()) != Some(&true) || !is_in(window, call_end_nanos) {
                return;
            }
            let targets = rank.targets(track, start_nanos, call_end_nanos);
            let is_later = role(context) == Some(RuntimeCall::CopyLater);
            if is_later && !targets.iter().any(|target| target.is_awaited) {
                return;
            }
            calls += 1;
            // Of several streams the latest end decides, where no flow says which was meant.
            let is_named = !targets.is_empty() || own.len() < 2;
            let basis = if is_named { Basis::Recorded } else { Basis::Matched };
            let end = if targets.is_empty() {
                rank.last_end(&mut own.iter().copied(), start_nanos, call_end_nanos)
            } else {
                let mut streams = targets.iter().map(|target| target.stream);
                rank.last_end(&mut streams, start_nanos, call_end_nanos)
            };
            if let Some((end_nanos, delayed_by)) = end {
                let kind = WaitKind::ForGpu;
                list.push(Wait {
                    kind,
                    track,
                    delayed_by,
                    context,
                    start_nanos,
                    end_nanos,
                    call_start_nanos: start_nanos,
                    call_end_nanos,
                    basis,
                });
            }
        })?;
        control.advance(1)?;
        Ok::<_, EngineError>((list, calls))
    });
    for part in found {
        let (mut list, calls) = part?;
        out.list.append(&mut list);
        out.counts.synchronisations += calls;
    }
    Ok(())
}
