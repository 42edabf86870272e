//! Time by context, location and iteration.

use parallax_base::{ContextIdx, Control, LimitExceeded, TimeWindow, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextKind, ContextTree, StoreError};

use super::spacing::median;
use super::stretches::idle_contexts;
use super::{IterationState, Iterations, PARTIAL, WARM_UP, length};
use crate::events::{Activities, Activity};

/// At most so many cells are kept; 24 bytes each.
pub const MOST_CELLS: u64 = 16_000_000;
/// Up to so many records for each iteration, a track is read from one end to the other; above, each
/// iteration is asked for from the sums of the store.
const READ_THROUGH: u64 = 8192;

/// The time of one unit, on one location, in one iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Place of the track in [`Iterations::tracks`].
    pub location: u32,
    /// Number of the iteration, from 0.
    pub iteration: u32,
    /// The unit: the context that its time is counted to; see [`Units`].
    pub context: ContextIdx,
    /// Time in it, in nanoseconds.
    pub nanos: u64,
}

/// What the time of each context is counted to: the function call that it lies in, or the routine
/// of MPI that was called from outside of MPI. The units share the time without overlap.
#[derive(Debug, Clone)]
pub struct Units {
    unit_of: Vec<Option<ContextIdx>>,
}

impl Units {
    /// Of the contexts of `tree`. Contexts in which nothing runs have none.
    #[must_use]
    pub fn new(tree: &ContextTree, activities: &Activities) -> Self {
        let idle = idle_contexts(tree);
        let mut unit_of: Vec<Option<ContextIdx>> = vec![None; tree.len()];
        let mut in_mpi = vec![false; tree.len()];
        for context in tree.iter().skip(1) {
            let above = tree.parent(context);
            let unit_above = above.and_then(|above| *unit_of.get(above.idx())?);
            let is_below = above.is_some_and(|above| in_mpi.get(above.idx()) == Some(&true));
            let is_call = tree.kind(context) == ContextKind::Function;
            let unit = match (idle.get(context.idx()), is_below, is_call) {
                (Some(true), ..) => None,
                (_, true, _) => unit_above,
                (_, false, true) => Some(context),
                (_, false, false) => unit_above.or(Some(context)),
            };
            if let Some(slot) = unit_of.get_mut(context.idx()) {
                *slot = unit;
            }
            if let Some(slot) = in_mpi.get_mut(context.idx()) {
                *slot = is_below || activities.is_mpi(context);
            }
        }
        Self { unit_of }
    }

    /// The unit of a context; `None` when nothing runs in it.
    #[must_use]
    pub fn of(&self, context: ContextIdx) -> Option<ContextIdx> {
        self.unit_of.get(context.idx()).copied().flatten()
    }
}

/// Time by context, location and iteration: the contexts are [`Units`].
#[derive(Debug, Clone, PartialEq)]
pub struct Cube {
    /// By location, iteration and context; those with no time are left out.
    pub cells: Vec<Cell>,
    /// The contexts that have time, ascending.
    pub contexts: Vec<ContextIdx>,
    /// For each of `contexts`, what a location does in it.
    pub activities: Vec<Activity>,
    /// Number of locations.
    pub num_locations: usize,
    /// Number of iterations.
    pub num_iterations: usize,
}

impl Cube {
    /// Nanoseconds of a context: by location those of each iteration, location by location.
    #[must_use]
    pub fn of_context(&self, context: ContextIdx) -> Vec<u64> {
        self.sums(|cell| cell.context == context)
    }

    /// Nanoseconds of all contexts that a filter wants, as [`Cube::of_context`] has them.
    #[must_use]
    pub fn sums(&self, is_wanted: impl Fn(&Cell) -> bool) -> Vec<u64> {
        let mut out = vec![0; self.num_locations * self.num_iterations];
        for cell in self.cells.iter().filter(|cell| is_wanted(cell)) {
            let at = cell.location as usize * self.num_iterations + cell.iteration as usize;
            if let Some(slot) = out.get_mut(at) {
                *slot += cell.nanos;
            }
        }
        out
    }

    /// What a location does in a context.
    #[must_use]
    pub fn activity(&self, context: ContextIdx) -> Activity {
        let at = self.contexts.binary_search(&context).ok();
        at.and_then(|at| self.activities.get(at)).copied().unwrap_or(Activity::Outside)
    }
}

/// Fills in where the last iteration ends, which iterations count, and what was done in each.
pub(super) fn fill(
    session: &Session,
    activities: &Activities,
    mut iterations: Iterations,
    window: TimeWindow,
    control: &Control,
) -> Result<(Iterations, Cube), EngineError> {
    let units = Units::new(session.tree(), activities);
    let num_iterations = iterations.len();
    let regular = regular_units(session, &units, &iterations, window)?;
    let limits = last_limits(&iterations, window);
    let work: Vec<(usize, usize)> = iterations.tracks.iter().copied().enumerate().collect();
    control.begin(work.len() as u64);
    let iterations_ref = &iterations;
    let parts = threads::map(work, |(at, track)| {
        let mut bounds = iterations_ref.bounds.get(at).cloned().unwrap_or_default();
        let limit = limits.get(at).copied().unwrap_or(window.end_nanos);
        let end = last_end(session, &units, &regular, track, &bounds, limit)?;
        bounds.push(end);
        let location = u32::try_from(at).unwrap_or(u32::MAX);
        let cells = of_track(session, &units, track, location, &bounds)?;
        control.advance(1)?;
        Ok::<_, EngineError>((bounds, cells))
    });
    let mut cells = Vec::new();
    for (slot, part) in iterations.bounds.iter_mut().zip(parts) {
        let (bounds, mut more) = part?;
        *slot = bounds;
        cells.append(&mut more);
        let len = cells.len() as u64;
        if len > MOST_CELLS {
            let what = "times by context, location and iteration";
            let limit = LimitExceeded { what, wanted: len, limit: MOST_CELLS };
            return Err(StoreError::Limit(limit).into());
        }
    }
    let mut contexts: Vec<ContextIdx> = cells.iter().map(|cell| cell.context).collect();
    contexts.sort_unstable();
    contexts.dedup();
    let activities = contexts.iter().map(|&context| activities.of(context)).collect();
    let num_locations = iterations.tracks.len();
    let cube = Cube { cells, contexts, activities, num_locations, num_iterations };
    iterations.states = states(&iterations, &cube);
    Ok((iterations, cube))
}

/// Contexts that belong to the loop: those that are active in at least half of all iterations but
/// the last, on any track; by position in the tree.
fn regular_units(
    session: &Session,
    units: &Units,
    iterations: &Iterations,
    window: TimeWindow,
) -> Result<Vec<bool>, EngineError> {
    let tree = session.tree();
    let mut seen: Vec<u32> = vec![0; tree.len()];
    // Few tracks say what the loop consists of.
    let step = iterations.tracks.len().div_ceil(16).max(1);
    let looked_at = iterations.tracks.iter().zip(&iterations.bounds).step_by(step);
    let between = iterations.len().saturating_sub(1);
    // More than this many iterations say nothing new.
    let every = between.div_ceil(64).max(1);
    let numbers: Vec<usize> = (0..between).step_by(every).collect();
    let mut by_iteration = vec![vec![false; tree.len()]; numbers.len()];
    for (&track, bounds) in looked_at {
        for (seen, &number) in by_iteration.iter_mut().zip(&numbers) {
            let ends = bounds.get(number).zip(bounds.get(number + 1));
            let Some((&start, &end)) = ends else { continue };
            let part = TimeWindow::new(start, end).intersect(window);
            session.traces()?.sums(track, part, &mut |time| {
                let context = tree.by_source_id(time.context).and_then(|c| units.of(c));
                if let Some(slot) = context.and_then(|c| seen.get_mut(c.idx())) {
                    *slot = true;
                }
            })?;
        }
    }
    for iteration in &by_iteration {
        for (count, &is_seen) in seen.iter_mut().zip(iteration) {
            *count += u32::from(is_seen);
        }
    }
    let half = numbers.len().div_ceil(2).max(1);
    Ok(seen.into_iter().map(|count| count as usize >= half).collect())
}

/// When the last iteration of each track ends at the latest: so long after its begin as the longest
/// regular iteration.
fn last_limits(iterations: &Iterations, window: TimeWindow) -> Vec<u64> {
    let of_track = |bounds: &Vec<u64>| {
        let lengths = super::spacing::differences(bounds);
        let Some(start) = bounds.last() else { return window.end_nanos };
        let Some(period) = median(&lengths) else { return window.end_nanos };
        let regular = lengths.iter().filter(|&&l| super::spacing::is_regular(l as f64, period));
        let longest = regular.max().copied().unwrap_or(period as u64);
        start.saturating_add(longest).min(window.end_nanos)
    };
    iterations.bounds.iter().map(of_track).collect()
}

/// When the last context of the loop ends, before `limit`.
fn last_end(
    session: &Session,
    units: &Units,
    regular: &[bool],
    track: usize,
    starts: &[u64],
    limit: u64,
) -> Result<u64, EngineError> {
    let Some(&start) = starts.last() else { return Ok(limit) };
    // A single iteration has no others to be compared with.
    if starts.len() == 1 {
        return Ok(limit);
    }
    let tree = session.tree();
    let mut end = start;
    let window = TimeWindow::new(start, limit);
    session.traces()?.visit(track, window, &mut |interval| {
        let unit = tree.by_source_id(interval.context).and_then(|context| units.of(context));
        if unit.is_some_and(|unit| regular.get(unit.idx()) == Some(&true)) {
            end = end.max(interval.end_nanos.min(limit));
        }
    })?;
    Ok(end)
}

/// The cells of one track.
fn of_track(
    session: &Session,
    units: &Units,
    track: usize,
    location: u32,
    bounds: &[u64],
) -> Result<Vec<Cell>, EngineError> {
    let store = session.traces()?;
    let tree = session.tree();
    let num = bounds.len().saturating_sub(1).max(1) as u64;
    let records = store.tracks().get(track).map_or(0, |track| track.num_samples);
    let mut cells: Vec<Cell> = Vec::new();
    let mut nanos: std::collections::BTreeMap<(u32, ContextIdx), u64> = Default::default();
    if records / num <= READ_THROUGH {
        let span = bounds.first().zip(bounds.last());
        let span = span.map_or(TimeWindow::new(0, 0), |(a, b)| TimeWindow::new(*a, *b));
        let mut at = 0;
        store.visit(track, span, &mut |interval| {
            let unit = tree.by_source_id(interval.context).and_then(|c| units.of(c));
            let Some(unit) = unit else { return };
            while bounds.get(at + 1).is_some_and(|&end| end <= interval.start_nanos) {
                at += 1;
            }
            let active = TimeWindow::new(interval.start_nanos, interval.end_nanos);
            for nth in at..bounds.len().saturating_sub(1) {
                let (Some(&start), Some(&end)) = (bounds.get(nth), bounds.get(nth + 1)) else {
                    break;
                };
                if start >= interval.end_nanos {
                    break;
                }
                let inside = active.intersect(TimeWindow::new(start, end)).nanos();
                if inside > 0 {
                    let number = u32::try_from(nth).unwrap_or(u32::MAX);
                    *nanos.entry((number, unit)).or_default() += inside;
                }
            }
        })?;
    } else {
        for (number, (&start, &end)) in (0..).zip(bounds.iter().zip(bounds.iter().skip(1))) {
            store.sums(track, TimeWindow::new(start, end), &mut |time| {
                let unit = tree.by_source_id(time.context).and_then(|c| units.of(c));
                if let Some(unit) = unit.filter(|_| time.nanos > 0) {
                    *nanos.entry((number, unit)).or_default() += time.nanos;
                }
            })?;
        }
    }
    cells.extend(nanos.into_iter().map(|((iteration, context), nanos)| Cell {
        location,
        iteration,
        context,
        nanos,
    }));
    Ok(cells)
}

/// Which iterations count.
fn states(iterations: &Iterations, cube: &Cube) -> Vec<IterationState> {
    let len = iterations.len();
    let mut states = vec![IterationState::Whole; len];
    // A person who names the marker means every iteration.
    if iterations.repetition.is_none() || len < 3 {
        return states;
    }
    let lengths: Vec<u64> = (0..len).map(|i| iterations.mean_nanos(i).round() as u64).collect();
    let period = median(lengths.get(..len - 1).unwrap_or_default()).unwrap_or(0.0);
    for (state, &length) in states.iter_mut().zip(&lengths).take(len - 1) {
        let times = length as f64 / period.max(1.0);
        if (1.0 / WARM_UP..=WARM_UP).contains(&times) {
            break;
        }
        *state = IterationState::WarmUp;
    }
    let all = cube.sums(|_| true);
    let active = |iteration: usize| {
        let of = all.iter().skip(iteration).step_by(len);
        of.sum::<u64>()
    };
    let usual: Vec<u64> = (0..len - 1).map(active).collect();
    let usual = median(&usual).unwrap_or(0.0);
    if let Some(last) = states.last_mut()
        && (active(len - 1) as f64) < PARTIAL * usual
    {
        *last = IterationState::Partial;
    }
    debug_assert!(iterations.bounds.iter().all(|bounds| length(bounds, len) == 0));
    states
}
