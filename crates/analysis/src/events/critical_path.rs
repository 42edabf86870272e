//! The critical path: what the run time consists of, excluding wait time.
//!
//! Böhme, de Supinski, Geimer, Schulz and Wolf, "Scalable critical-path based performance
//! analysis" (IPDPS 2012): start where the last track ends and go back in time. Where the track
//! has waited, go on with the one that it waited for, at the moment at which that one let it go
//! on; where it has not, it is what the time went into. So the path has no gap and no overlap, and
//! is as long as the execution; making anything on it faster makes the execution faster, until
//! another path is longer.
//!
//! Waits are those of [`mod@super::waits`]. What these do not know (threads that wait for threads,
//! streams that wait for streams) counts as time of the track that waits.
//!
//! With GPUs, the path goes from the end of the work that a thread waits for to the stream, and from
//! the first work after a late launch to the thread that launches it, at the enter of its call: what
//! lies between that enter and the work, the launch latency, is on the path as time of the stream in
//! which nothing runs. So are gaps between work that was launched in time.
//!
//! Where a trace has no records of launches, these are matched by time and stream
//! ([`super::launches`]), and the segments that end so say it.
//!
//! Tracks that only look on do not start the path, though they may end last: threads that do nothing
//! but ask or wait for a GPU (the watchdog of PyTorch's communication), and the span for which
//! Kineto records. A recording also has the processes that started the ranks and wait for their end;
//! where it has ranks, the path starts with one of them.
//!
//! Only the calls that wait are in memory, and one pass over each track on the path says what it
//! did there.

use std::collections::HashMap;

use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextTree, IdentityKind, TraceKind, TraceStore};

use super::Selection;
use super::waits::{Basis, Wait, WaitChoice, WaitCounts, WaitKind, waits};
use crate::taxonomy::gpu::{idle_contexts, onlooking_contexts};

/// A segment of the path on one track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The track.
    pub track: TrackIdx,
    /// Nanoseconds on the trace's clock.
    pub start_nanos: u64,
    /// Where the next segment starts; excluded.
    pub end_nanos: u64,
    /// The context that took most of it; the root where nothing ran.
    pub context: ContextIdx,
    /// How much that took.
    pub context_nanos: u64,
    /// Why the track of the next segment had waited, and how that is known; `None` at the end of
    /// the path.
    pub releases: Option<(WaitKind, Basis)>,
}

impl Segment {
    /// How long it is.
    #[must_use]
    pub const fn nanos(&self) -> u64 {
        self.end_nanos.saturating_sub(self.start_nanos)
    }
}

/// Time on the path of one context on one track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnPath {
    /// The track.
    pub track: TrackIdx,
    /// The context; the root where nothing ran.
    pub context: ContextIdx,
    /// Time in it and in nothing below.
    pub nanos: u64,
}

/// The critical path, or a window of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// In order of time, without a gap unless tracks were selected.
    pub segments: Vec<Segment>,
    /// What it consists of, by track and context.
    pub parts: Vec<OnPath>,
    /// Length of the whole path in the window, in nanoseconds: that of the window, as far as the
    /// trace has it.
    pub whole_nanos: u64,
    /// Which waits it rests on.
    pub counts: WaitCounts,
    /// How many calls wait in the whole trace.
    pub num_waits: usize,
}

/// The critical path of the whole trace, as far as it runs through the selected tracks and window.
///
/// # Errors
/// When there is no trace of events, it cannot be read, or the question is withdrawn.
pub fn critical_path(
    session: &Session,
    selection: &Selection,
    control: &Control,
) -> Result<CriticalPath, EngineError> {
    let store = session.traces()?;
    let span = store.span();
    let all = Selection::all(session)?;
    let found = waits(session, &all, WaitChoice::ALL, control)?;
    let num_waits = found.list.len();
    let Some(last) = last_track(session, store, span, control)? else {
        return Ok(CriticalPath { counts: found.counts, ..CriticalPath::default() });
    };
    let mut segments = walk(found.list, last, span, control)?;
    let window = selection.window.intersect(span);
    segments.retain_mut(|segment| {
        let inside = TimeWindow::new(segment.start_nanos, segment.end_nanos).intersect(window);
        (segment.start_nanos, segment.end_nanos) = (inside.start_nanos, inside.end_nanos);
        !inside.is_empty() && selection.has(segment.track)
    });
    let parts = describe(session, store, &mut segments, control)?;
    let whole_nanos = window.nanos();
    Ok(CriticalPath { segments, parts, whole_nanos, counts: found.counts, num_waits })
}

/// The track whose last call ends last, of those that do not only look on; the first of several.
fn last_track(
    session: &Session,
    store: &dyn TraceStore,
    span: TimeWindow,
    control: &Control,
) -> Result<Option<TrackIdx>, EngineError> {
    let tracks: Vec<TrackIdx> = store.track_ids().collect();
    control.begin(tracks.len() as u64);
    let ends = threads::map(tracks, |track| {
        let end = end_of(store, track, span)?;
        control.advance(1)?;
        Ok::<_, EngineError>(end)
    });
    let mut by_end: Vec<(u64, TrackIdx)> = Vec::new();
    for (track, end) in store.track_ids().zip(ends) {
        by_end.extend(end?.map(|end| (end, track)));
    }
    by_end.sort_by_key(|&(end, track)| (u64::MAX - end, track));
    if store.kind() == TraceKind::Samples {
        let locations = &session.experiment().locations;
        let is_rank = |&(_, track): &(u64, TrackIdx)| {
            let track = store.track(track);
            track.is_some_and(|t| locations.identity(t.location, IdentityKind::Rank).is_some())
        };
        if by_end.iter().any(is_rank) {
            by_end.retain(is_rank);
        }
    }
    let tree = session.tree();
    let is_onlooking = onlooking_contexts(tree);
    for &(_, track) in &by_end {
        let mut takes_part = false;
        store.sums(track, span, &mut |time| {
            let context = tree.by_source_id(time.context).filter(|_| time.context != 0);
            takes_part |= time.nanos > 0
                && context.is_some_and(|c| is_onlooking.get(c.idx()) == Some(&false));
        })?;
        if takes_part {
            return Ok(Some(track));
        }
    }
    Ok(by_end.first().map(|&(_, track)| track))
}

/// When something ran last on a track.
fn end_of(
    store: &dyn TraceStore,
    track: TrackIdx,
    span: TimeWindow,
) -> Result<Option<u64>, EngineError> {
    // Twice as long a window at the end of the trace each time, until something runs in it.
    for exponent in 10.. {
        let len = 1_u64.checked_shl(exponent).unwrap_or(u64::MAX);
        let start = span.end_nanos.saturating_sub(len).max(span.start_nanos);
        let mut end = None;
        store.visit(track, TimeWindow::new(start, u64::MAX), &mut |interval| {
            if interval.context != 0 {
                end = Some(interval.end_nanos);
            }
        })?;
        if end.is_some() || start == span.start_nanos {
            return Ok(end);
        }
    }
    Ok(None)
}

/// Goes back from the end of `last`; the segments come in order of time and have no contexts yet.
fn walk(
    mut list: Vec<Wait>,
    last: TrackIdx,
    span: TimeWindow,
    control: &Control,
) -> Result<Vec<Segment>, EngineError> {
    // Of waits of a track that end at the same time the longest comes last.
    list.sort_by_key(|w| (w.track, w.end_nanos, u64::MAX - w.start_nanos, w.kind, w.delayed_by));
    let mut segments = Vec::new();
    let (mut track, mut now, mut releases) = (last, span.end_nanos, None);
    // Tracks on which the path was at this very moment: where clocks are wrong two tracks may wait
    // for each other.
    let mut here = vec![track];
    let mut add = |track, from: u64, to: u64, releases| {
        if from < to {
            segments.push(Segment {
                track,
                start_nanos: from,
                end_nanos: to,
                context: ContextTree::ROOT,
                context_nanos: 0,
                releases,
            });
        }
    };
    loop {
        control.check()?;
        let from = list.partition_point(|wait| wait.track < track);
        let to = list.partition_point(|wait| (wait.track, wait.end_nanos) <= (track, now));
        let own = list.get(from..to).unwrap_or_default();
        let is_new = |wait: &&Wait| wait.end_nanos < now || !here.contains(&wait.delayed_by);
        let wait = own.iter().rev().find(|wait| wait.end_nanos > span.start_nanos && is_new(wait));
        let Some(&Wait { kind, delayed_by, end_nanos, basis, .. }) = wait else {
            add(track, span.start_nanos, now, releases);
            break;
        };
        add(track, end_nanos, now, releases);
        if end_nanos < now {
            here.clear();
            here.push(track);
            now = end_nanos;
        }
        (track, releases) = (delayed_by, Some((kind, basis)));
        here.push(track);
    }
    segments.reverse();
    Ok(segments)
}

/// Says what ran in each segment; gives the sums by track and context.
fn describe(
    session: &Session,
    store: &dyn TraceStore,
    segments: &mut [Segment],
    control: &Control,
) -> Result<Vec<OnPath>, EngineError> {
    let tree = session.tree();
    let locations = &session.experiment().locations;
    // What tools write on streams next to work is nothing that runs.
    let is_idle = idle_contexts(tree);
    let mut of_track: Vec<Vec<(usize, Segment)>> = vec![Vec::new(); store.tracks().len()];
    for (at, segment) in segments.iter().enumerate() {
        if let Some(list) = of_track.get_mut(segment.track.idx()) {
            list.push((at, *segment));
        }
    }
    let work: Vec<Vec<(usize, Segment)>> =
        of_track.into_iter().filter(|list| !list.is_empty()).collect();
    control.begin(work.len() as u64);
    let done = threads::map(work, |mut list| {
        let mut sums: HashMap<ContextIdx, u64> = HashMap::new();
        let track = list.first().map_or(TrackIdx::new(0), |(_, segment)| segment.track);
        let first = list.first().map_or(0, |(_, segment)| segment.start_nanos);
        let last = list.last().map_or(0, |(_, segment)| segment.end_nanos);
        let described = store.track(track);
        let is_stream = described.is_some_and(|track| locations.is_gpu(track.location));
        let runs = |context: &ContextIdx| !is_stream || is_idle.get(context.idx()) == Some(&false);
        let mut inside = Inside::default();
        let mut at = 0;
        store.visit(track, TimeWindow::new(first, last), &mut |interval| {
            let context = tree.by_source_id(interval.context).filter(runs);
            let context = context.unwrap_or(ContextTree::ROOT);
            while let Some((_, segment)) = list.get_mut(at) {
                let start = interval.start_nanos.max(segment.start_nanos);
                let end = interval.end_nanos.min(segment.end_nanos);
                if start < end {
                    inside.add(context, end - start);
                }
                if interval.end_nanos < segment.end_nanos {
                    break;
                }
                inside.finish(segment, &mut sums);
                at += 1;
            }
        })?;
        while let Some((_, segment)) = list.get_mut(at) {
            inside.finish(segment, &mut sums);
            at += 1;
        }
        control.advance(1)?;
        let mut parts: Vec<OnPath> =
            sums.into_iter().map(|(context, nanos)| OnPath { track, context, nanos }).collect();
        parts.sort_by_key(|part| part.context);
        Ok::<_, EngineError>((list, parts))
    });
    let mut parts = Vec::new();
    for track in done {
        let (list, own) = track?;
        parts.extend(own);
        for (at, segment) in list {
            if let Some(slot) = segments.get_mut(at) {
                *slot = segment;
            }
        }
    }
    Ok(parts)
}

/// What runs inside one segment.
#[derive(Default)]
struct Inside {
    contexts: HashMap<ContextIdx, u64>,
    nanos: u64,
}

impl Inside {
    fn add(&mut self, context: ContextIdx, nanos: u64) {
        *self.contexts.entry(context).or_default() += nanos;
        self.nanos += nanos;
    }

    /// Completes the segment and begins the next one.
    fn finish(&mut self, segment: &mut Segment, sums: &mut HashMap<ContextIdx, u64>) {
        // Before the first and after the last call of a track nothing runs.
        let rest = segment.nanos().saturating_sub(self.nanos);
        if rest > 0 {
            self.add(ContextTree::ROOT, rest);
        }
        for (context, nanos) in self.contexts.drain() {
            *sums.entry(context).or_default() += nanos;
            let is_more = nanos > segment.context_nanos
                || (nanos == segment.context_nanos && context < segment.context);
            if is_more {
                (segment.context, segment.context_nanos) = (context, nanos);
            }
        }
        self.nanos = 0;
    }
}
