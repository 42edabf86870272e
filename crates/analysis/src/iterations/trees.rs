//! The calling context tree of each iteration.

use std::collections::BTreeMap;

use parallax_base::ContextIdx;
use parallax_engine::EngineError;
use parallax_model::ContextTree;

use super::cube::{Cell, Cube, Units, within};
use super::{IterationState, Iterations};
use crate::math::numeric::count;

/// How a time differs over the locations of the iterations, in seconds. A location that is never in
/// the context has a time of 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// The shortest.
    pub min: f64,
    /// The longest.
    pub max: f64,
    /// Standard deviation of the population.
    pub deviation: f64,
}

/// A context of the tree of one iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeTimes {
    /// Number of the iteration, from 0.
    pub iteration: u32,
    /// The context, one of the [`Units`].
    pub context: ContextIdx,
    /// The unit that calls it; `None` for the roots.
    pub parent: Option<ContextIdx>,
    /// Number of units above it.
    pub depth: u32,
    /// Number of locations that are in it, or in what it calls.
    pub num_locations: u32,
    /// Time in it without what it calls.
    pub exclusive: Spread,
    /// Time with what it calls.
    pub inclusive: Spread,
}

/// Times so far: Welford's mean and sum of squared differences.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    num: u32,
    mean: f64,
    squares: f64,
    min: f64,
    max: f64,
}

impl Sums {
    fn add(&mut self, nanos: u64) {
        let time = nanos as f64 / 1e9;
        self.num += 1;
        let difference = time - self.mean;
        self.mean += difference / f64::from(self.num);
        self.squares += difference * (time - self.mean);
        self.min = if self.num == 1 { time } else { self.min.min(time) };
        self.max = self.max.max(time);
    }

    /// Over `of` locations, of which the others have a time of 0.
    fn over(&self, of: usize) -> Spread {
        let (num, of) = (f64::from(self.num), count(of).max(1.0));
        let absent = (of - num).max(0.0);
        // Two groups of times, of which one is all zeros.
        let squares = self.squares + self.mean * self.mean * num * absent / of;
        Spread {
            mean: self.mean * num / of,
            min: if absent > 0.0 { 0.0 } else { self.min },
            max: self.max,
            deviation: (squares / of).max(0.0).sqrt(),
        }
    }
}

/// For each unit, the unit that calls it.
fn parents(tree: &ContextTree, units: &Units) -> Vec<Option<ContextIdx>> {
    let above = |context: ContextIdx| {
        tree.ancestors(context).find_map(|at| units.of(at).filter(|unit| *unit != context))
    };
    tree.iter().map(above).collect()
}

/// The calling context tree of each iteration that counts: by iteration, and callers before what
/// they call.
///
/// # Errors
/// When there are more rows than [`super::MOST_CELLS`].
pub fn trees(
    tree: &ContextTree,
    units: &Units,
    iterations: &Iterations,
    cube: &Cube,
) -> Result<Vec<TreeTimes>, EngineError> {
    let parents = parents(tree, units);
    let parent = |context: ContextIdx| parents.get(context.idx()).copied().flatten();
    let mut sums: BTreeMap<(u32, ContextIdx), (Sums, Sums)> = BTreeMap::new();
    let counts = |cell: &&Cell| {
        iterations.states.get(cell.iteration as usize) != Some(&IterationState::LeftOut)
    };
    let cells: Vec<Cell> = cube.cells.iter().filter(counts).copied().collect();
    for own in cells.chunk_by(|a, b| (a.location, a.iteration) == (b.location, b.iteration)) {
        let mut times: BTreeMap<ContextIdx, (u64, u64)> = BTreeMap::new();
        for cell in own {
            times.entry(cell.context).or_default().0 += cell.nanos;
            let callers = std::iter::successors(Some(cell.context), |&context| parent(context));
            for context in callers {
                times.entry(context).or_default().1 += cell.nanos;
            }
        }
        let iteration = own.first().map_or(0, |cell| cell.iteration);
        for (context, (exclusive, inclusive)) in times {
            let of_context = sums.entry((iteration, context)).or_default();
            of_context.0.add(exclusive);
            of_context.1.add(inclusive);
        }
        within(sums.len() as u64)?;
    }
    let depth = |context| {
        let above = std::iter::successors(parent(context), |&context| parent(context));
        u32::try_from(above.count()).unwrap_or(u32::MAX)
    };
    let row =
        |((iteration, context), (exclusive, inclusive)): ((u32, ContextIdx), (Sums, Sums))| {
            TreeTimes {
                iteration,
                context,
                parent: parent(context),
                depth: depth(context),
                num_locations: inclusive.num,
                exclusive: exclusive.over(cube.num_locations),
                inclusive: inclusive.over(cube.num_locations),
            }
        };
    Ok(sums.into_iter().map(row).collect())
}
