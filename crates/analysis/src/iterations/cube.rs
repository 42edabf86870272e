//! Time by context, location and iteration.

use parallax_base::{ContextIdx, Control, LimitExceeded, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextKind, ContextTree, StoreError};

use super::read::{COMPUTING, Reader};
use super::spacing::median;
use super::visits::idle_contexts;
use super::{IterationState, Iterations, WARM_UP};
use crate::events::{Activities, Activity};
use crate::taxonomy::Phases;

/// At most so many cells are kept; 24 bytes each.
pub const MOST_CELLS: u64 = 16_000_000;

/// The time of one unit, on one location, in one iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Place of the location in [`Iterations::streams`].
    pub location: u32,
    /// Number of the iteration, from 0.
    pub iteration: u32,
    /// The unit: the context that its time is counted to; see [`Units`].
    pub context: ContextIdx,
    /// Time in it, in nanoseconds.
    pub nanos: u64,
}

/// What the time of each context is counted to: the function call that it lies in, or the routine
/// of MPI that was called from outside of MPI. The units share the time without overlap. What is
/// the same in phases with different numbers is one unit: the first of these contexts.
#[derive(Debug, Clone)]
pub struct Units {
    unit_of: Vec<Option<ContextIdx>>,
    phases: Phases,
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
        Self { unit_of, phases: Phases::new(tree) }
    }

    /// Those below `contexts` only, `contexts` included.
    #[must_use]
    pub fn below(mut self, tree: &ContextTree, contexts: &[ContextIdx]) -> Self {
        let mut is_asked = vec![false; tree.len()];
        for &context in contexts {
            let below = is_asked.get_mut(tree.subtree(context));
            below.into_iter().flatten().for_each(|slot| *slot = true);
        }
        for unit in &mut self.unit_of {
            *unit = unit.filter(|unit| is_asked.get(unit.idx()) == Some(&true));
        }
        self
    }

    /// Positions of units are below this.
    pub(super) fn len(&self) -> usize {
        self.unit_of.len()
    }

    /// The unit of a context; `None` when nothing runs in it.
    #[must_use]
    pub fn of(&self, context: ContextIdx) -> Option<ContextIdx> {
        let unit = self.unit_of.get(context.idx()).copied().flatten();
        unit.map(|unit| self.phases.first(unit))
    }

    /// Which units stand for several numbered phases, and how they are called.
    #[must_use]
    pub const fn phases(&self) -> &Phases {
        &self.phases
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
    /// Reads what all locations do in all iterations.
    ///
    /// # Errors
    /// When the traces cannot be read, there are more than [`MOST_CELLS`] cells, or the question is
    /// withdrawn.
    pub fn read(
        session: &Session,
        iterations: &Iterations,
        units: &Units,
        control: &Control,
    ) -> Result<Self, EngineError> {
        let activities = Activities::new(session.tree());
        let reader = Reader { session, units, activities: &activities };
        let num_iterations = iterations.len();
        let mut cells: Vec<Cell> = Vec::new();
        reader.for_each_location(iterations, 0..num_iterations, control, &mut |at, own| {
            let location = u32::try_from(at).unwrap_or(u32::MAX);
            cells.extend(own.parts.iter().map(|part| Cell {
                location,
                iteration: part.iteration,
                context: part.context,
                nanos: part.nanos,
            }));
            within(cells.len() as u64)
        })?;
        let mut contexts: Vec<ContextIdx> = cells.iter().map(|cell| cell.context).collect();
        contexts.sort_unstable();
        contexts.dedup();
        let activities = contexts.iter().map(|&context| activities.of(context)).collect();
        let num_locations = iterations.streams.len();
        Ok(Self { cells, contexts, activities, num_locations, num_iterations })
    }

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

/// Whether so many times by location and iteration are kept.
pub(super) fn within(wanted: u64) -> Result<(), EngineError> {
    let what = "times by location and iteration";
    if wanted > MOST_CELLS {
        let limit = LimitExceeded { what, wanted, limit: MOST_CELLS };
        return Err(StoreError::Limit(limit).into());
    }
    Ok(())
}

/// What the map of locations and iterations shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapOf {
    /// Time in which locations compute.
    Computing,
    /// Time in one of the units.
    Context(Option<ContextIdx>),
}

/// Nanoseconds by location and iteration, location by location.
///
/// # Errors
/// When the traces cannot be read, there are more than [`MOST_CELLS`], or the question is withdrawn.
pub fn map_of(
    session: &Session,
    iterations: &Iterations,
    units: &Units,
    wanted: MapOf,
    control: &Control,
) -> Result<Vec<u64>, EngineError> {
    let num = iterations.len();
    within(num as u64 * iterations.streams.len() as u64)?;
    let activities = Activities::new(session.tree());
    let reader = Reader { session, units, activities: &activities };
    let mut out: Vec<u64> = Vec::with_capacity(num * iterations.streams.len());
    let wanted = match wanted {
        MapOf::Context(Some(context)) => MapOf::Context(Some(units.phases.first(context))),
        other => other,
    };
    reader.for_each_location(iterations, 0..num, control, &mut |_, own| {
        let from = out.len();
        match wanted {
            MapOf::Computing => out.extend(own.busy.iter().map(|busy| busy[COMPUTING])),
            MapOf::Context(context) => {
                out.resize(from + num, 0);
                for part in own.parts.iter().filter(|part| Some(part.context) == context) {
                    if let Some(slot) = out.get_mut(from + part.iteration as usize) {
                        *slot += part.nanos;
                    }
                }
            }
        }
        Ok(())
    })?;
    Ok(out)
}

/// Adds to the begins of iterations where the last one ends, and says which of them warm up.
pub(super) fn finish(
    session: &Session,
    units: &Units,
    iterations: &mut Iterations,
    window: TimeWindow,
) -> Result<(), EngineError> {
    let regular = regular_units(session, units, iterations, window)?;
    let limits = last_limits(iterations, window);
    let work: Vec<usize> = (0..iterations.streams.len()).collect();
    let found = &*iterations;
    let ends = threads::map(work, |at| {
        let tracks = found.streams.get(at).map(Vec::as_slice).unwrap_or_default();
        let bounds = found.bounds.get(at).map(Vec::as_slice).unwrap_or_default();
        let limit = limits.get(at).copied().unwrap_or(window.end_nanos);
        last_end(session, units, &regular, tracks, bounds, limit)
    });
    for (bounds, end) in iterations.bounds.iter_mut().zip(ends) {
        bounds.push(end?);
    }
    // The user who names the marker means every iteration.
    let len = iterations.len();
    if iterations.repetition.is_none() || len < 3 {
        return Ok(());
    }
    let lengths: Vec<u64> = (0..len).map(|i| iterations.mean_nanos(i).round() as u64).collect();
    let period = median(lengths.get(..len - 1).unwrap_or_default()).unwrap_or(0.0);
    for (state, &length) in iterations.states.iter_mut().zip(&lengths).take(len - 1) {
        let times = length as f64 / period.max(1.0);
        if (1.0 / WARM_UP..=WARM_UP).contains(&times) {
            break;
        }
        *state = IterationState::WarmUp;
    }
    Ok(())
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
    let step = iterations.streams.len().div_ceil(16).max(1);
    let looked_at = iterations.streams.iter().zip(&iterations.bounds).step_by(step);
    let between = iterations.len().saturating_sub(1);
    // More than this many iterations say nothing new.
    let every = between.div_ceil(64).max(1);
    let numbers: Vec<usize> = (0..between).step_by(every).collect();
    let mut by_iteration = vec![vec![false; tree.len()]; numbers.len()];
    for (tracks, bounds) in looked_at {
        for (seen, &number) in by_iteration.iter_mut().zip(&numbers) {
            let ends = bounds.get(number).zip(bounds.get(number + 1));
            let Some((&start, &end)) = ends else { continue };
            let part = TimeWindow::new(start, end).intersect(window);
            for &track in tracks {
                session.traces()?.sums(track, part, &mut |time| {
                    let context = tree.by_source_id(time.context).and_then(|c| units.of(c));
                    if let Some(slot) = context.and_then(|c| seen.get_mut(c.idx())) {
                        *slot = true;
                    }
                })?;
            }
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
    tracks: &[TrackIdx],
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
    for &track in tracks {
        session.traces()?.visit(track, window, &mut |interval| {
            let unit = tree.by_source_id(interval.context).and_then(|context| units.of(context));
            if unit.is_some_and(|unit| regular.get(unit.idx()) == Some(&true)) {
                end = end.max(interval.end_nanos.min(limit));
            }
        })?;
    }
    Ok(end)
}
