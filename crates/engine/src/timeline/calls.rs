//! Calls one by one, of traces of calls and of samples.

use parallax_base::casts::saturated_u64;
use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx, threads};
use parallax_model::{ContextTree, TraceKind, TraceStore};

use super::{TrackRange, is_call, tracks_of};
use crate::{EngineError, Session};

/// Which calls.
#[derive(Debug, Clone, Copy)]
pub struct CallsQuestion<'a> {
    /// Which tracks.
    pub tracks: &'a [TrackRange],
    /// When: calls that overlap it, not cut at it.
    pub window: TimeWindow,
    /// Calls at most: where there are more, none are given.
    pub max_calls: usize,
    /// Shorter calls are counted and left out.
    pub shortest_nanos: u64,
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRow {
    /// The track that made it.
    pub track: TrackIdx,
    /// What was called.
    pub context: ContextIdx,
    /// When it was entered, in nanoseconds on the trace's clock.
    pub start_nanos: u64,
    /// When it was left.
    pub end_nanos: u64,
}

/// Calls of a time window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallList {
    /// Whether there were few enough; otherwise there are no rows.
    pub is_complete: bool,
    /// How many there are; where there are too many, about.
    pub num_calls: u64,
    /// Of these, those that are shorter than requested, and left out.
    pub num_shorter: u64,
    /// By track and start, what is around a call before it.
    pub rows: Vec<CallRow>,
}

impl Session {
    /// Calls in a window. Of a trace of samples, a call is a run of samples with the same functions
    /// above.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn calls(
        &self,
        question: &CallsQuestion<'_>,
        control: &Control,
    ) -> Result<CallList, EngineError> {
        let store = self.traces()?;
        let tracks = tracks_of(store, question.tracks);
        let about = self.about(store, &tracks, question.window)?;
        // What is around the window is not counted yet, so that a small excess decides nothing.
        if about > question.max_calls as u64 {
            return Ok(CallList { num_calls: about, ..CallList::default() });
        }
        control.begin(tracks.len() as u64);
        let weight =
            |i: usize| tracks.get(i).and_then(|&t| store.track(t)).map_or(0, |t| t.num_samples);
        let parts = threads::map(threads::ranges(tracks.len(), weight), |range| {
            let mut rows = Vec::new();
            let mut shorter = 0_u64;
            for &track in tracks.get(range).unwrap_or_default() {
                let first = rows.len();
                self.for_each_call(store, track, question.window, &mut |row| {
                    if row.end_nanos - row.start_nanos < question.shortest_nanos {
                        shorter += 1;
                    } else {
                        rows.push(row);
                    }
                })?;
                if let Some(own) = rows.get_mut(first..) {
                    // Of equal starts, the outer call is the longer one, and of equal lengths the
                    // one that comes first in the tree.
                    own.sort_by_key(|row| (row.start_nanos, u64::MAX - row.end_nanos, row.context));
                }
                control.advance(1)?;
            }
            Ok((rows, shorter))
        });
        let mut list = CallList { is_complete: true, ..CallList::default() };
        for part in parts {
            let (rows, shorter): (Vec<CallRow>, u64) = part.map_err(|error: EngineError| error)?;
            list.num_shorter += shorter;
            list.rows.extend(rows);
        }
        list.num_calls = list.rows.len() as u64 + list.num_shorter;
        Ok(list)
    }

    /// Calls `visit` with each call of a track that overlaps `window`; a call comes after those
    /// made from it.
    pub(super) fn for_each_call(
        &self,
        store: &dyn TraceStore,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(CallRow),
    ) -> Result<(), EngineError> {
        let tree = self.tree();
        if store.kind() == TraceKind::Calls {
            store.visit_calls(track, window, &mut |call| {
                if let Some(context) = tree.by_source_id(call.context) {
                    let end_nanos = call.end_nanos.max(call.start_nanos);
                    let start_nanos = call.start_nanos;
                    visit(CallRow { track, context, start_nanos, end_nanos });
                }
            })?;
            return Ok(());
        }
        let mut runs = Runs { tree, track, open: Vec::new(), last: None, until: 0 };
        store.visit(track, window, &mut |interval| {
            let context = tree.by_source_id(interval.context);
            runs.next(context, interval.start_nanos, interval.end_nanos, visit);
        })?;
        runs.close(0, visit);
        Ok(())
    }

    /// How many calls begin in a window, or about how many samples there are.
    fn about(
        &self,
        store: &dyn TraceStore,
        tracks: &[TrackIdx],
        window: TimeWindow,
    ) -> Result<u64, EngineError> {
        let mut about = 0_u64;
        for &track in tracks {
            if store.kind() == TraceKind::Calls {
                store.sums(track, window, &mut |time| about += time.calls)?;
            } else {
                let all = store.track(track).map_or(0, |track| track.num_samples);
                let span = store.span();
                let share = span.intersect(window).nanos() as f64 / span.nanos().max(1) as f64;
                about += saturated_u64(all as f64 * share.min(1.0));
            }
        }
        Ok(about)
    }
}

/// Makes calls of samples: what consecutive samples have in common went on.
struct Runs<'a> {
    tree: &'a ContextTree,
    track: TrackIdx,
    /// Open calls and when they began, the outermost first.
    open: Vec<(ContextIdx, u64)>,
    /// Context of the last sample.
    last: Option<ContextIdx>,
    /// Until when the last sample held.
    until: u64,
}

impl Runs<'_> {
    fn next(
        &mut self,
        context: Option<ContextIdx>,
        start: u64,
        end: u64,
        visit: &mut dyn FnMut(CallRow),
    ) {
        // Only what differs from the last sample is walked: samples may be deep, and many.
        let last = self.last.filter(|_| start <= self.until).unwrap_or(ContextTree::ROOT);
        let (mut before, mut now) = (last, context.unwrap_or(ContextTree::ROOT));
        let mut fresh: Vec<ContextIdx> = Vec::new();
        while before != now {
            if self.tree.depth(before) >= self.tree.depth(now) {
                before = self.tree.parent(before).unwrap_or(ContextTree::ROOT);
            } else {
                fresh.push(now);
                now = self.tree.parent(now).unwrap_or(ContextTree::ROOT);
            }
        }
        let depth = self.tree.depth(now);
        let same = self.open.partition_point(|(open, _)| self.tree.depth(*open) <= depth);
        self.close(if start > self.until { 0 } else { same }, visit);
        let calls = fresh.into_iter().rev().filter(|&context| is_call(self.tree, context));
        self.open.extend(calls.map(|call| (call, start)));
        self.last = context;
        self.until = end;
    }

    /// Ends all but the `keep` outermost calls.
    fn close(&mut self, keep: usize, visit: &mut dyn FnMut(CallRow)) {
        while self.open.len() > keep {
            let Some((context, start_nanos)) = self.open.pop() else { return };
            let end_nanos = self.until;
            visit(CallRow { track: self.track, context, start_nanos, end_nanos });
        }
    }
}
