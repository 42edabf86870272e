//! Single iterations that take far longer than all others: events, and no property of the program.
//!
//! One stall of some seconds would otherwise be most of what balancing saves over thousands of
//! iterations, in which nothing is out of balance.

use parallax_base::{ContextIdx, Control};
use parallax_engine::EngineError;

use super::read::{COMMUNICATING, Reader, WAITING};
use super::spacing::median;
use super::statistics::Statistics;
use super::{IterationState, Iterations, length};
use crate::events::Activity;

/// An iteration that takes so many times the median is out of the ordinary.
const FACTOR: f64 = 5.0;
/// What is one in so many, or more often, belongs to the program.
const RARE: usize = 20;
/// At least so many iterations are asked for: of fewer none is ordinary.
const LEAST: usize = 8;
/// Samples that an iteration is longer by, at least.
const SAMPLES: f64 = 10.0;
/// So many at the same distance are a period of their own.
const PERIODIC: usize = 3;
/// A location waits that waits for at least this part of what the iteration takes too long.
const WAITS: f64 = 0.5;
/// Stalls that are examined.
const MOST: usize = 3;

/// An iteration that takes far longer than the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Stall {
    /// Number, from 0.
    pub iteration: usize,
    /// When the first location begins it, in nanoseconds on the trace's clock.
    pub start_nanos: u64,
    /// Mean length over the locations, in nanoseconds.
    pub nanos: f64,
    /// The median length of the ordinary iterations.
    pub usual_nanos: f64,
    /// Where most of the time is spent that others do not take: place of the location in
    /// [`Iterations::streams`], context and time in it, in nanoseconds.
    pub place: Option<(usize, ContextIdx, u64)>,
    /// Whether the location computes there; else it waits or communicates as all do, and what it
    /// waits for is outside of these locations.
    pub is_computing: bool,
    /// How many locations wait or communicate for most of it.
    pub num_waiting: usize,
}

impl Stall {
    /// How much longer than usual, in nanoseconds.
    #[must_use]
    pub const fn excess_nanos(&self) -> f64 {
        self.nanos - self.usual_nanos
    }
}

/// Says of iterations that they are out of the ordinary.
pub(super) fn mark(iterations: &mut Iterations) {
    let is_whole = |i: &usize| iterations.states.get(*i) == Some(&IterationState::Whole);
    let whole: Vec<usize> = (0..iterations.len()).filter(is_whole).collect();
    if whole.len() < LEAST {
        return;
    }
    let lengths: Vec<u64> =
        whole.iter().map(|&i| iterations.mean_nanos(i).round() as u64).collect();
    let usual = median(&lengths).unwrap_or(0.0);
    let grain = iterations.interval_nanos.map_or(0.0, |nanos| nanos as f64 * SAMPLES);
    let least = (usual * FACTOR).max(usual + grain);
    let long = whole.iter().zip(&lengths).filter(|(_, nanos)| **nanos as f64 > least);
    let long: Vec<usize> = long.map(|(&iteration, _)| iteration).collect();
    if long.len() > (whole.len() / RARE).max(1) || is_periodic(&long) {
        return;
    }
    for iteration in long {
        if let Some(state) = iterations.states.get_mut(iteration) {
            *state = IterationState::Extraordinary;
        }
    }
}

/// Whether several come at the same distance: what a program does every so often is no event.
fn is_periodic(numbers: &[usize]) -> bool {
    let distances: Vec<usize> =
        numbers.windows(2).filter_map(|pair| Some(pair.last()? - pair.first()?)).collect();
    let (least, most) = (distances.iter().min(), distances.iter().max());
    numbers.len() >= PERIODIC
        && least.zip(most).is_some_and(|(least, most)| most - least <= most / 10)
}

/// What happened in the longest of the iterations that are out of the ordinary.
pub(super) fn stalls(
    reader: &Reader,
    iterations: &Iterations,
    statistics: &Statistics,
    control: &Control,
) -> Result<Vec<Stall>, EngineError> {
    let usual_nanos = iterations.period_nanos();
    let is_stall = |i: &usize| iterations.states.get(*i) == Some(&IterationState::Extraordinary);
    let mut long: Vec<(usize, f64)> =
        (0..iterations.len()).filter(is_stall).map(|i| (i, iterations.mean_nanos(i))).collect();
    long.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    long.truncate(MOST);
    let mut usual = vec![0.0; reader.units.len()];
    for row in &statistics.contexts {
        if let Some(slot) = usual.get_mut(row.context.idx()) {
            *slot = row.mean_seconds * 1e9;
        }
    }
    let mut out = Vec::new();
    for (iteration, nanos) in long {
        let excess = nanos - usual_nanos;
        let mut num_waiting = 0;
        // Of what computes, and of anything.
        let mut most: [Option<(f64, usize, ContextIdx, u64)>; 2] = [None, None];
        let range = iteration..iteration + 1;
        reader.for_each_location(iterations, range, control, &mut |location, own| {
            let busy = own.busy.first().copied().unwrap_or_default();
            let waited = (busy[WAITING] + busy[COMMUNICATING]) as f64;
            num_waiting += usize::from(waited >= WAITS * excess);
            for part in &own.parts {
                let more =
                    part.nanos as f64 - usual.get(part.context.idx()).copied().unwrap_or(0.0);
                let computes = reader.activities.of(part.context) == Activity::Computing;
                for (slot, counts) in most.iter_mut().zip([computes, true]) {
                    if counts && slot.is_none_or(|(known, ..)| more > known) {
                        *slot = Some((more, location, part.context, part.nanos));
                    }
                }
            }
            Ok(())
        })?;
        let computing = most[0].filter(|(more, ..)| *more >= WAITS * excess);
        let place = computing.or(most[1].filter(|(more, ..)| *more >= WAITS * excess));
        let begins = iterations.bounds.iter().filter(|bounds| length(bounds, iteration) > 0);
        out.push(Stall {
            iteration,
            start_nanos: begins.filter_map(|b| b.get(iteration)).min().copied().unwrap_or(0),
            nanos,
            usual_nanos,
            place: place.map(|(_, location, context, nanos)| (location, context, nanos)),
            is_computing: computing.is_some(),
            num_waiting,
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_every_so_often_is_no_event() {
        assert!(is_periodic(&[9, 59, 109]));
        assert!(!is_periodic(&[9, 59]));
        assert!(!is_periodic(&[3, 10, 90]));
        assert!(!is_periodic(&[]));
    }
}
