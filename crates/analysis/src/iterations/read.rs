//! Reading what locations do in iterations, some locations at a time.

use std::ops::Range;

use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};

use super::Iterations;
use super::cube::Units;
use crate::devices::visit_in_order;
use crate::events::{Activities, Activity};

/// Up to so many records for each iteration, a track is read from one end to the other; above, each
/// iteration is asked for from the sums of the store.
const READ_THROUGH: u64 = 8192;
/// Records that one thread reads before its results are taken from it.
const AT_ONCE: u64 = 1 << 18;

/// What is added up over contexts: time in which a location computes, communicates, waits, and in
/// which it does anything. Of a GPU with several streams these are times in which any of them does.
pub(super) const COMPUTING: usize = 0;
/// See [`COMPUTING`].
pub(super) const COMMUNICATING: usize = 1;
/// See [`COMPUTING`].
pub(super) const WAITING: usize = 2;
/// See [`COMPUTING`].
pub(super) const ANYTHING: usize = 3;
/// How many there are.
const BUSY: usize = 4;

/// The time of one context in one iteration of a location.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContextTime {
    pub(super) iteration: u32,
    pub(super) context: ContextIdx,
    pub(super) nanos: u64,
}

/// One location in a range of iterations.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// By iteration and context, one each; those without time are left out.
    pub(super) parts: Vec<ContextTime>,
    /// For each iteration of the range times by [`COMPUTING`] and the others.
    pub(super) busy: Vec<[u64; BUSY]>,
}

/// Reads what locations do in iterations.
pub(super) struct Reader<'a> {
    pub(super) session: &'a Session,
    pub(super) units: &'a Units,
    pub(super) activities: &'a Activities,
}

impl Reader<'_> {
    /// Calls `visit` with each location in turn, its place and what it does in a range of
    /// iterations.
    pub(super) fn for_each_location(
        &self,
        iterations: &Iterations,
        range: Range<usize>,
        control: &Control,
        visit: &mut dyn FnMut(usize, Own) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let store = self.session.traces()?;
        let records = |&track: &TrackIdx| store.track(track).map_or(0, |t| t.num_samples);
        let mut work: Vec<Range<usize>> = Vec::new();
        let (mut start, mut sum) = (0, 0);
        for (at, tracks) in iterations.streams.iter().enumerate() {
            sum += tracks.iter().map(records).sum::<u64>() + range.len() as u64;
            if sum >= AT_ONCE || at + 1 == iterations.streams.len() {
                work.push(start..at + 1);
                (start, sum) = (at + 1, 0);
            }
        }
        control.begin(work.len() as u64);
        for some in work.chunks(threads::count() * 2) {
            let parts = threads::map(some.to_vec(), |locations| {
                let mut scratch = Scratch::new(self.units.len());
                let one = |at: usize| {
                    let (tracks, bounds) =
                        iterations.streams.get(at).zip(iterations.bounds.get(at))?;
                    Some(self.of_location(&mut scratch, tracks, bounds, range.clone()))
                };
                let out = locations.filter_map(one).collect::<Result<Vec<Own>, _>>()?;
                control.advance(1)?;
                Ok::<_, EngineError>(out)
            });
            for (locations, part) in some.iter().zip(parts) {
                for (at, own) in locations.clone().zip(part?) {
                    visit(at, own)?;
                }
            }
        }
        Ok(())
    }

    fn of_location(
        &self,
        scratch: &mut Scratch,
        tracks: &[TrackIdx],
        bounds: &[u64],
        range: Range<usize>,
    ) -> Result<Own, EngineError> {
        let store = self.session.traces()?;
        let tree = self.session.tree();
        let is_merged = tracks.len() > 1;
        let records = |&track: &TrackIdx| store.track(track).map_or(0, |t| t.num_samples);
        let all: u64 = tracks.iter().map(records).sum();
        let each = all / (bounds.len().saturating_sub(1).max(1) as u64);
        let mut walk = Walk {
            bounds,
            at: range.start,
            range: range.clone(),
            num_units: self.units.len(),
            activities: self.activities,
            is_merged,
            scratch,
            own: Own { parts: Vec::new(), busy: vec![[0; BUSY]; range.len()] },
        };
        if is_merged || each <= READ_THROUGH {
            let span = bounds.get(range.start).zip(bounds.get(range.end));
            let span = span.map_or(TimeWindow::new(0, 0), |(a, b)| TimeWindow::new(*a, *b));
            visit_in_order(store, tracks, span, &mut |interval| {
                let unit = tree.by_source_id(interval.context).and_then(|c| self.units.of(c));
                if let Some(unit) = unit {
                    walk.interval(unit, interval.start_nanos, interval.end_nanos);
                }
            })?;
            walk.finish();
        } else {
            let &[track] = tracks else { return Ok(walk.own) };
            for number in range {
                walk.at = number;
                let ends = bounds.get(number).zip(bounds.get(number + 1));
                let Some((&start, &end)) = ends else { break };
                store.sums(track, TimeWindow::new(start, end), &mut |time| {
                    let unit = tree.by_source_id(time.context).and_then(|c| self.units.of(c));
                    if let Some(unit) = unit {
                        walk.scratch.add(unit.idx(), time.nanos);
                    }
                })?;
                walk.flush();
            }
        }
        Ok(walk.own)
    }
}

/// Time in one iteration by what is added up: units by their position in the tree, and behind them
/// what is added up over units. Kept from one location to the next.
struct Scratch {
    nanos: Vec<u64>,
    /// Those that are not 0.
    touched: Vec<usize>,
    /// What reaches into later iterations: what, from when until when.
    carried: Vec<(usize, u64, u64)>,
    /// Of GPUs with several streams, until when each was counted.
    until: Vec<u64>,
}

impl Scratch {
    fn new(num_units: usize) -> Self {
        let len = num_units + BUSY;
        Self { nanos: vec![0; len], touched: Vec::new(), carried: Vec::new(), until: Vec::new() }
    }

    fn add(&mut self, what: usize, nanos: u64) {
        if let Some(slot) = self.nanos.get_mut(what).filter(|_| nanos > 0) {
            if *slot == 0 {
                self.touched.push(what);
            }
            *slot += nanos;
        }
    }
}

/// A walk through the iterations of one location.
struct Walk<'a> {
    bounds: &'a [u64],
    /// The iteration that it is in.
    at: usize,
    range: Range<usize>,
    num_units: usize,
    activities: &'a Activities,
    is_merged: bool,
    scratch: &'a mut Scratch,
    own: Own,
}

impl Walk<'_> {
    /// Something that was active; begins ascend.
    fn interval(&mut self, unit: ContextIdx, start: u64, end: u64) {
        while self.at + 1 < self.range.end && self.end() <= start {
            self.next();
        }
        if !self.is_merged {
            return self.add(unit.idx(), start, end);
        }
        if self.scratch.until.is_empty() {
            self.scratch.until.resize(self.num_units + BUSY, 0);
        }
        let mut whats = [unit.idx(), self.num_units + ANYTHING, usize::MAX];
        if let Some(kind) = busy_kind(self.activities.of(unit)) {
            whats[2] = self.num_units + kind;
        }
        for what in whats {
            // What another stream has been counted for does not count again.
            let Some(until) = self.scratch.until.get_mut(what) else { continue };
            let from = start.max(*until);
            *until = end.max(*until);
            if from < end {
                self.add(what, from, end);
            }
        }
    }

    /// When the iteration ends.
    fn end(&self) -> u64 {
        self.bounds.get(self.at + 1).copied().unwrap_or(u64::MAX)
    }

    fn add(&mut self, what: usize, start: u64, end: u64) {
        let Some(&begin) = self.bounds.get(self.at) else { return };
        let stop = self.end();
        self.scratch.add(what, end.min(stop).saturating_sub(start.max(begin)));
        if end > stop && self.at + 1 < self.range.end {
            self.scratch.carried.push((what, start, end));
        }
    }

    fn next(&mut self) {
        self.flush();
        self.at += 1;
        for (what, start, end) in std::mem::take(&mut self.scratch.carried) {
            self.add(what, start, end);
        }
    }

    /// Takes what was added up in this iteration.
    fn flush(&mut self) {
        let Some(busy) = self.own.busy.get_mut(self.at - self.range.start) else { return };
        let iteration = u32::try_from(self.at).unwrap_or(u32::MAX);
        self.scratch.touched.sort_unstable();
        for what in self.scratch.touched.drain(..) {
            let Some(slot) = self.scratch.nanos.get_mut(what) else { continue };
            let nanos = std::mem::take(slot);
            if let Some(sum) = what.checked_sub(self.num_units) {
                if let Some(slot) = busy.get_mut(sum) {
                    *slot = nanos;
                }
                continue;
            }
            let context = ContextIdx::from_len(what);
            if !self.is_merged {
                busy[ANYTHING] += nanos;
                if let Some(kind) = busy_kind(self.activities.of(context)) {
                    busy[kind] += nanos;
                }
            }
            self.own.parts.push(ContextTime { iteration, context, nanos });
        }
    }

    /// Takes what is left.
    fn finish(&mut self) {
        while self.at + 1 < self.range.end && !self.scratch.carried.is_empty() {
            self.next();
        }
        if self.at < self.range.end {
            self.flush();
        }
        self.scratch.carried.clear();
        self.scratch.until.clear();
    }
}

const fn busy_kind(activity: Activity) -> Option<usize> {
    match activity {
        Activity::Computing => Some(COMPUTING),
        Activity::Communicating => Some(COMMUNICATING),
        Activity::Waiting => Some(WAITING),
        Activity::Outside => None,
    }
}
