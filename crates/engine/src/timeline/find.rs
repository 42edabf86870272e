//! Calls by name and duration.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use parallax_base::{ContextIdx, Control, TimeWindow, threads};
use parallax_model::TraceKind;

use super::{CallRow, TrackRange, is_call, tracks_of};
use crate::{EngineError, Session};

/// Which calls are looked for.
#[derive(Debug, Clone, Copy)]
pub struct FindQuestion<'a> {
    /// For each context, by position, whether it is looked for.
    pub wanted: &'a [bool],
    /// Which tracks.
    pub tracks: &'a [TrackRange],
    /// When: calls that begin in it.
    pub window: TimeWindow,
    /// They take at least so long.
    pub min_nanos: u64,
    /// They take at most so long.
    pub max_nanos: u64,
    /// The longest first; otherwise those that begin first.
    pub is_longest_first: bool,
    /// Rows at most.
    pub max_rows: usize,
}

/// Calls whose durations are between one power of two and the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DurationBin {
    /// The shortest duration of the bin in nanoseconds; the next bin begins at twice that.
    pub from_nanos: u64,
    /// How many calls.
    pub calls: u64,
    /// What they take together, in nanoseconds.
    pub nanos: u128,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindResult {
    /// How many were found.
    pub calls: u64,
    /// What they take together, in nanoseconds.
    pub nanos: u128,
    /// The first of them, in the requested order.
    pub rows: Vec<CallRow>,
    /// All calls of the contexts, whatever they take, from the shortest; bins without calls are
    /// left out, and the one that begins at 0 is for calls that take no time.
    pub histogram: Vec<DurationBin>,
}

/// Number of powers of two, and one bin for no time at all.
const BINS: usize = 65;

/// What one thread found.
struct TrackResult {
    calls: u64,
    nanos: u128,
    best: BinaryHeap<(Reverse<(u64, u64)>, Ranked)>,
    bins: [(u64, u128); BINS],
}

/// A row that is ordered by its track and start, so that equal durations come in a fixed order.
#[derive(PartialEq, Eq)]
struct Ranked(CallRow);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |row: &CallRow| (row.track, row.start_nanos, row.context);
        key(&self.0).cmp(&key(&other.0))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Session {
    /// Looks for calls by what they are of and how long they take.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn find(
        &self,
        question: &FindQuestion<'_>,
        control: &Control,
    ) -> Result<FindResult, EngineError> {
        let store = self.traces()?;
        let tree = self.tree();
        let tracks = tracks_of(store, question.tracks);
        let is_wanted = |context: ContextIdx| {
            is_call(tree, context) && question.wanted.get(context.idx()) == Some(&true)
        };
        let weight =
            |i: usize| tracks.get(i).and_then(|&t| store.track(t)).map_or(0, |t| t.num_samples);
        control.begin(tracks.len() as u64);
        let parts = threads::map(threads::ranges(tracks.len(), weight), |range| {
            let mut part =
                TrackResult { calls: 0, nanos: 0, best: BinaryHeap::new(), bins: [(0, 0); BINS] };
            for &track in tracks.get(range).unwrap_or_default() {
                control.advance(1)?;
                let mut has_any = store.kind() == TraceKind::Samples;
                if !has_any {
                    store.sums(track, question.window, &mut |time| {
                        let context = tree.by_source_id(time.context);
                        has_any |= time.calls > 0 && context.is_some_and(is_wanted);
                    })?;
                }
                // The sums of a track cost nothing compared with its calls.
                if !has_any {
                    continue;
                }
                self.for_each_call(store, track, question.window, &mut |row| {
                    let begins = question.window.start_nanos <= row.start_nanos
                        && row.start_nanos < question.window.end_nanos;
                    if begins && is_wanted(row.context) {
                        part.add(row, question);
                    }
                })?;
            }
            Ok(part)
        });
        let mut found = FindResult::default();
        let mut bins = [(0_u64, 0_u128); BINS];
        let mut rows: Vec<(Reverse<(u64, u64)>, Ranked)> = Vec::new();
        for part in parts {
            let part: TrackResult = part.map_err(|error: EngineError| error)?;
            found.calls += part.calls;
            found.nanos += part.nanos;
            rows.extend(part.best);
            for (sum, more) in bins.iter_mut().zip(part.bins) {
                sum.0 += more.0;
                sum.1 += more.1;
            }
        }
        rows.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        rows.truncate(question.max_rows);
        found.rows = rows.into_iter().map(|(_, row)| row.0).collect();
        found.histogram = (0..)
            .zip(bins)
            .filter(|(_, (calls, _))| *calls > 0)
            .map(|(bin, (calls, nanos))| {
                let from_nanos = if bin == 0 { 0 } else { 1 << (bin - 1) };
                DurationBin { from_nanos, calls, nanos }
            })
            .collect();
        Ok(found)
    }
}

impl TrackResult {
    fn add(&mut self, row: CallRow, question: &FindQuestion<'_>) {
        let nanos = row.end_nanos - row.start_nanos;
        let bin = nanos.checked_ilog2().map_or(0, |power| power as usize + 1);
        if let Some((calls, sum)) = self.bins.get_mut(bin) {
            *calls += 1;
            *sum += u128::from(nanos);
        }
        if nanos < question.min_nanos || nanos > question.max_nanos {
            return;
        }
        self.calls += 1;
        self.nanos += u128::from(nanos);
        // What comes first has the greatest rank, so that it is the smallest reversed.
        let rank = if question.is_longest_first {
            (nanos, u64::MAX - row.start_nanos)
        } else {
            (u64::MAX - row.start_nanos, nanos)
        };
        let entry = (Reverse(rank), Ranked(row));
        if self.best.len() < question.max_rows {
            self.best.push(entry);
        } else if self.best.peek().is_some_and(|worst| entry < *worst) {
            self.best.pop();
            self.best.push(entry);
        }
    }
}
