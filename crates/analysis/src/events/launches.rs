//! Launches of work where the trace has no records of them, matched by time and stream (ADR 0050).
//!
//! Writers of OTF2 and others know which kernel ran when on which stream, and which calls the host
//! made, but not which call launched which kernel. Where no work of a process has a launch record,
//! its launches are matched:
//!
//! 1. Calls that start work of a sort (kernels, copies, fills) and work of that sort on the only
//!    stream that has any, as many of both: the n-th call launched the n-th work, as streams run
//!    work in the order of its launches.
//! 2. Otherwise by gaps: work before which its stream is idle was launched by the last call of its
//!    sort that is entered in the gap. A stream that is idle starts work within microseconds, so
//!    that an earlier call would have started it earlier. Where no such call is entered in the gap,
//!    the work was launched before: in time.
//! 3. Where the trace has no calls that start work of the sort, the thread counts as the launching
//!    one that is the first to synchronise with the work after it, and the launch as the last moment
//!    of the gap at which that thread does not wait for a GPU.
//!
//! ```text
//! thread   launch A   ·   wait for A ........   compute   launch B   wait for B .......
//! stream              AAAAAAAAAAAAAAAAAAA   ·   idle   ·   ·   ·  BBBBBBBBBBBBBB
//!                                               B is late until `launch B` is entered
//! ```

use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};

use super::gpu::{Stream, application, outermost};
use crate::taxonomy::GpuOperation;
use crate::taxonomy::gpu::{RuntimeCall, operation_of};

/// How work was launched, as far as that could be matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Matched {
    /// Not at all.
    #[default]
    No,
    /// Before its stream was idle.
    InTime,
    /// By this thread, in a call that is entered at this time.
    At(TrackIdx, u64),
}

/// The sorts of work that calls start.
const SORTS: [GpuOperation; 3] = [GpuOperation::Kernel, GpuOperation::Copy, GpuOperation::Memset];

/// A call of a GPU runtime that starts work or waits for it.
#[derive(Debug, Clone, Copy)]
struct HostCall {
    track: TrackIdx,
    start_nanos: u64,
    end_nanos: u64,
    call: RuntimeCall,
}

/// Where work is: its stream and its place there.
#[derive(Debug, Clone, Copy)]
struct StreamPosition {
    stream: usize,
    at: usize,
    start_nanos: u64,
}

/// Matches the work of the streams `own` with calls of `threads`, all of one process or rank.
/// Nothing where any of that work has a launch record: then the rest has no launch in the trace.
pub(super) fn match_launches(
    session: &Session,
    threads: &[TrackIdx],
    streams: &mut [Stream],
    own: &[usize],
    control: &Control,
) -> Result<(), EngineError> {
    let mut is_launched = own.iter().filter_map(|&stream| streams.get(stream));
    if is_launched.any(|stream| stream.work.iter().any(|work| work.launch.is_some())) {
        return Ok(());
    }
    let store = session.traces()?;
    let mut components: Vec<Option<u64>> =
        own.iter().filter_map(|&stream| streams.get(stream)).map(|s| s.application).collect();
    components.sort_unstable();
    components.dedup();
    for component in components {
        let is_own = |track: &TrackIdx| application(session, store, *track) == component;
        let threads: Vec<TrackIdx> = threads.iter().copied().filter(is_own).collect();
        let calls = host_calls(session, threads, control)?;
        for sort in SORTS {
            let places = places(session, streams, own, component, sort);
            let starting: Vec<HostCall> =
                calls.iter().copied().filter(|call| call.call.starts() == Some(sort)).collect();
            if starting.is_empty() {
                by_synchronisation(streams, &places, &calls);
            } else if !in_order(streams, &places, &starting) {
                in_gaps(streams, &places, &starting);
            }
        }
    }
    Ok(())
}

/// The calls of threads that start work or wait for it, in order of time.
fn host_calls(
    session: &Session,
    tracks: Vec<TrackIdx>,
    control: &Control,
) -> Result<Vec<HostCall>, EngineError> {
    let (store, tree) = (session.traces()?, session.tree());
    let role = |context: ContextIdx| {
        let call = RuntimeCall::of(tree.function_name(context).unwrap_or(""));
        call.filter(|call| call.may_wait() || call.starts().is_some())
    };
    let roles: Vec<Option<RuntimeCall>> = tree.iter().map(role).collect();
    let is_outermost = outermost(tree, &roles.iter().map(Option::is_some).collect::<Vec<_>>());
    control.begin(tracks.len() as u64);
    let read = threads::map(tracks, |track| {
        let mut calls = Vec::new();
        store.visit_calls(track, TimeWindow::ALL, &mut |call| {
            let Some(context) = tree.by_source_id(call.context) else { return };
            let is_wanted = is_outermost.get(context.idx()) == Some(&true);
            if let Some(role) = roles.get(context.idx()).copied().flatten().filter(|_| is_wanted) {
                let (start_nanos, end_nanos) = (call.start_nanos, call.end_nanos);
                calls.push(HostCall { track, start_nanos, end_nanos, call: role });
            }
        })?;
        control.advance(1)?;
        Ok::<_, EngineError>(calls)
    });
    let mut calls = Vec::new();
    for part in read {
        calls.extend(part?);
    }
    calls.sort_by_key(|call| (call.start_nanos, call.track, call.end_nanos));
    Ok(calls)
}

/// Where the work of a sort is, in order of its start. What is called neither a copy nor a fill is
/// a kernel.
fn places(
    session: &Session,
    streams: &[Stream],
    own: &[usize],
    component: Option<u64>,
    sort: GpuOperation,
) -> Vec<StreamPosition> {
    let tree = session.tree();
    let sort_of = |context: ContextIdx| {
        let function = tree.function(context).and_then(|f| tree.functions().get(f.idx()));
        let known = function.and_then(operation_of).filter(|known| SORTS.contains(known));
        known.unwrap_or(GpuOperation::Kernel)
    };
    let mut places = Vec::new();
    for &number in own {
        let Some(stream) = streams.get(number).filter(|s| s.application == component) else {
            continue;
        };
        for (at, work) in stream.work.iter().enumerate() {
            if sort_of(work.context) == sort {
                places.push(StreamPosition { stream: number, at, start_nanos: work.start_nanos });
            }
        }
    }
    places.sort_by_key(|place| (place.start_nanos, place.stream, place.at));
    places
}

/// The first rule; whether it applies.
fn in_order(streams: &mut [Stream], places: &[StreamPosition], calls: &[HostCall]) -> bool {
    let Some(first) = places.first() else { return true };
    let is_one_stream = places.iter().all(|place| place.stream == first.stream);
    let mut pairs = places.iter().zip(calls);
    let fits = pairs.all(|(place, call)| call.start_nanos <= place.start_nanos);
    let applies = is_one_stream && places.len() == calls.len() && fits;
    if applies {
        for (place, call) in places.iter().zip(calls) {
            set(streams, *place, Matched::At(call.track, call.start_nanos));
        }
    }
    applies
}

/// The second rule.
fn in_gaps(streams: &mut [Stream], places: &[StreamPosition], calls: &[HostCall]) {
    for &place in places {
        let Some(idle_nanos) = idle_before(streams, place) else { continue };
        let after = calls.partition_point(|call| call.start_nanos <= place.start_nanos);
        let last = after.checked_sub(1).and_then(|at| calls.get(at));
        let matched = match last.filter(|call| call.start_nanos > idle_nanos) {
            Some(call) => Matched::At(call.track, call.start_nanos),
            None => Matched::InTime,
        };
        set(streams, place, matched);
    }
}

/// The third rule. Nothing where no thread waits for a GPU.
fn by_synchronisation(streams: &mut [Stream], places: &[StreamPosition], calls: &[HostCall]) {
    let mut waiting: Vec<HostCall> =
        calls.iter().copied().filter(|call| call.call.may_wait()).collect();
    waiting.sort_by_key(|call| (call.end_nanos, call.track));
    for &place in places {
        let Some(idle_nanos) = idle_before(streams, place) else { continue };
        let end_nanos = work_end(streams, place).unwrap_or(place.start_nanos);
        let after = waiting.partition_point(|call| call.end_nanos < end_nanos);
        let Some(thread) = waiting.get(after).or(waiting.last()).map(|call| call.track) else {
            continue;
        };
        let is_around = |call: &&HostCall| {
            call.track == thread
                && call.start_nanos < place.start_nanos
                && call.end_nanos >= place.start_nanos
        };
        let around = waiting.iter().find(is_around);
        let launched = around.map_or(place.start_nanos, |call| call.start_nanos);
        let is_late = launched > idle_nanos;
        let matched = if is_late { Matched::At(thread, launched) } else { Matched::InTime };
        set(streams, place, matched);
    }
}

fn idle_before(streams: &[Stream], place: StreamPosition) -> Option<u64> {
    Some(streams.get(place.stream)?.work.get(place.at)?.idle_nanos)
}

fn work_end(streams: &[Stream], place: StreamPosition) -> Option<u64> {
    Some(streams.get(place.stream)?.work.get(place.at)?.end_nanos)
}

fn set(streams: &mut [Stream], place: StreamPosition, matched: Matched) {
    let work = streams.get_mut(place.stream).and_then(|stream| stream.work.get_mut(place.at));
    if let Some(work) = work {
        work.matched = matched;
    }
}
