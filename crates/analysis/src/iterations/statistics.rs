//! What the cube says about each context, location and iteration.
//!
//! The formulas are those of the tri-dimensional model of hpcanalysis (arXiv 2605.03561, section
//! VI-A, Tables IV and V). With t(l, i) the time of a context on location l of L in iteration i of
//! I, iterations that do not count left out:
//!
//! - mean(i) and max(i) are over the locations, those without any time included;
//! - *average mean* and *average max* are their means over the iterations;
//! - *saving* per iteration = average max - average mean; *total saving* = saving * I;
//! - *balance ratio* = mean over locations / largest of the locations, of their times over all
//!   iterations: as for profiles;
//! - *lasting saving* = largest - mean of the locations' mean times: what is left of the saving when
//!   differences that change from iteration to iteration even out;
//! - *variation across locations* = the standard deviation (divisor L - 1) of the locations' mean
//!   times, over their mean: it tells a lasting difference between locations from noise;
//! - *variation within a location* = the mean over locations of the standard deviation (divisor
//!   I - 1) of its times, over its mean.

use parallax_base::ContextIdx;

use super::{Cube, IterationState, Iterations};
use crate::balance::Distribution;
use crate::events::Activity;

/// What one context costs.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextStatistics {
    /// Which.
    pub context: ContextIdx,
    /// What a location does in it.
    pub activity: Activity,
    /// Of the time in which locations are active in iterations.
    pub share: f64,
    /// Mean over iterations of the mean over locations, in seconds.
    pub mean_seconds: f64,
    /// Mean over iterations of the largest of the locations, in seconds.
    pub max_seconds: f64,
    /// Mean over locations / the largest of them, of their times over all iterations that count.
    pub balance_ratio: f64,
    /// Coefficient of variation of the locations' means; `None` for a single location.
    pub across_locations: Option<f64>,
    /// Mean of the coefficients of variation of each location's iterations; `None` for a single
    /// iteration.
    pub within_location: Option<f64>,
    /// `max - mean`: what an iteration would be shorter if the context were balanced, in seconds.
    pub saving_seconds: f64,
    /// The same over all iterations that count.
    pub total_saving_seconds: f64,
    /// Largest - mean of the locations' mean times, over all iterations that count, in seconds.
    pub lasting_saving_seconds: f64,
    /// Whether it takes at least two samples for each location and iteration in the mean over both,
    /// so that the saving of an iteration is not mostly noise of sampling. The mean, because a
    /// location that does little of it is what an imbalance consists of. Always where times are
    /// exact.
    pub is_resolved: bool,
    /// The location with the largest mean: its place in [`Iterations::tracks`].
    pub slowest: usize,
}

/// What one location does in an iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct LocationStatistics {
    /// Its place in [`Iterations::tracks`].
    pub location: usize,
    /// Mean length of its iterations, in seconds.
    pub length_seconds: f64,
    /// Mean time in which it computes, in seconds.
    pub computing_seconds: f64,
    /// Mean time in which it communicates without waiting, in seconds.
    pub communicating_seconds: f64,
    /// Mean time in which it waits, in seconds.
    pub waiting_seconds: f64,
    /// Coefficient of variation over iterations of the time in which it computes.
    pub variation: Option<f64>,
    /// In how many iterations no location computes longer.
    pub num_slowest: usize,
}

/// How one iteration went.
#[derive(Debug, Clone, PartialEq)]
pub struct IterationStatistics {
    /// Number, from 0.
    pub iteration: usize,
    /// Whether it counts.
    pub state: IterationState,
    /// When the first location begins it, in nanoseconds on the trace's clock.
    pub start_nanos: u64,
    /// Mean length over the locations, in seconds.
    pub length_seconds: f64,
    /// Of computing, over the locations, in seconds.
    pub computing: Option<Distribution>,
    /// The location that computes longest.
    pub slowest: usize,
    /// Mean time of waiting, in seconds.
    pub waiting_seconds: f64,
    /// Sum over contexts that compute of `max - mean`: the saving if each were balanced.
    pub saving_seconds: f64,
}

/// All of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Contexts, most time first.
    pub contexts: Vec<ContextStatistics>,
    /// Locations, in their order.
    pub locations: Vec<LocationStatistics>,
    /// Iterations, in their order.
    pub iterations: Vec<IterationStatistics>,
    /// How many iterations count.
    pub num_whole: usize,
    /// Sum of the total savings of contexts that compute and are resolved: what is saved if each of
    /// them is balanced on its own. In seconds.
    pub saving_seconds: f64,
    /// How many contexts that compute are not resolved.
    pub num_unresolved: usize,
    /// Sum over iterations of max - mean of all computing together: what is saved if only the sum of
    /// the work of each location is balanced. Not more than the one above, were all contexts
    /// resolved. In seconds.
    pub joint_saving_seconds: f64,
    /// Largest - mean of the locations' computing over all iterations: what is saved if only the
    /// differences that last are balanced. Not more than the one above. In seconds.
    pub lasting_saving_seconds: f64,
    /// Over how much of the contents two iterations agree: mean over iterations of the sum over
    /// contexts of the smaller of its share in the iteration and its share on average.
    pub similarity: f64,
}

impl Statistics {
    /// Of a cube.
    #[must_use]
    pub fn new(iterations: &Iterations, cube: &Cube) -> Self {
        let whole: Vec<usize> = (0..cube.num_iterations)
            .filter(|&i| iterations.states.get(i) == Some(&IterationState::Whole))
            .collect();
        let num = cube.num_iterations;
        // One table of times for each context, in the order of the cube's contexts.
        let mut times: Vec<Vec<u64>> = vec![Vec::new(); cube.contexts.len()];
        for cell in &cube.cells {
            let Ok(at) = cube.contexts.binary_search(&cell.context) else { continue };
            let Some(table) = times.get_mut(at) else { continue };
            if table.is_empty() {
                table.resize(cube.num_locations * num, 0);
            }
            let place = cell.location as usize * num + cell.iteration as usize;
            if let Some(slot) = table.get_mut(place) {
                *slot += cell.nanos;
            }
        }
        let total: u64 = times.iter().map(|table| sum_of(table, num, &whole)).sum();
        let mut contexts: Vec<ContextStatistics> = cube
            .contexts
            .iter()
            .zip(&cube.activities)
            .zip(&times)
            .map(|((&context, &activity), table)| {
                let of = Table { nanos: table, num, whole: &whole };
                of_context(context, activity, &of, total, iterations.interval_nanos)
            })
            .filter(|row| row.mean_seconds > 0.0)
            .collect();
        contexts.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.context.cmp(&b.context)));
        let of_activity =
            |wanted: Activity| cube.sums(|cell| cube.activity(cell.context) == wanted);
        let computing = of_activity(Activity::Computing);
        let communicating = of_activity(Activity::Communicating);
        let waiting = of_activity(Activity::Waiting);
        let column = |table: &[u64], iteration: usize| -> Vec<f64> {
            table.iter().skip(iteration).step_by(num.max(1)).map(|&n| seconds(n)).collect()
        };
        let saving_of = |iteration: usize| -> f64 {
            let computes = cube.activities.iter().zip(&times);
            computes
                .filter(|(activity, _)| **activity == Activity::Computing)
                .map(|(_, table)| saving(&column(table, iteration)))
                .sum()
        };
        let rows: Vec<IterationStatistics> = (0..num)
            .map(|iteration| {
                let nanos = column(&computing, iteration);
                let waits = column(&waiting, iteration);
                IterationStatistics {
                    iteration,
                    state: iterations
                        .states
                        .get(iteration)
                        .copied()
                        .unwrap_or(IterationState::Whole),
                    start_nanos: iterations
                        .bounds
                        .iter()
                        .filter_map(|bounds| bounds.get(iteration))
                        .min()
                        .copied()
                        .unwrap_or(0),
                    length_seconds: iterations.mean_nanos(iteration) / 1e9,
                    slowest: largest(&nanos),
                    computing: Distribution::new(&nanos, 0),
                    waiting_seconds: mean(&waits),
                    saving_seconds: saving_of(iteration),
                }
            })
            .collect();
        let joint = whole.iter().map(|&i| saving(&column(&computing, i))).sum();
        let locations = (0..cube.num_locations)
            .map(|location| {
                let row = |table: &[u64]| -> Vec<f64> {
                    let of = |&i: &usize| table.get(location * num + i).copied().unwrap_or(0);
                    whole.iter().map(|i| seconds(of(i))).collect()
                };
                let lengths: Vec<f64> = whole
                    .iter()
                    .filter_map(|&i| {
                        let bounds = iterations.bounds.get(location)?;
                        Some(seconds(super::length(bounds, i)))
                    })
                    .collect();
                let computes = row(&computing);
                LocationStatistics {
                    location,
                    length_seconds: mean(&lengths),
                    computing_seconds: mean(&computes),
                    communicating_seconds: mean(&row(&communicating)),
                    waiting_seconds: mean(&row(&waiting)),
                    variation: variation(&computes),
                    num_slowest: whole
                        .iter()
                        .filter(|&&i| rows.get(i).is_some_and(|row| row.slowest == location))
                        .count(),
                }
            })
            .collect();
        let computes = || contexts.iter().filter(|row| row.activity == Activity::Computing);
        let resolved = computes().filter(|row| row.is_resolved);
        let of_location: Vec<f64> = computing
            .chunks(num.max(1))
            .map(|row| whole.iter().filter_map(|&i| row.get(i)).map(|&n| seconds(n)).sum())
            .collect();
        Self {
            saving_seconds: resolved.map(|row| row.total_saving_seconds).sum(),
            num_unresolved: computes().filter(|row| !row.is_resolved).count(),
            joint_saving_seconds: joint,
            lasting_saving_seconds: saving(&of_location),
            similarity: similarity(&times, num, &whole),
            contexts,
            locations,
            iterations: rows,
            num_whole: whole.len(),
        }
    }
}

/// Times by location and iteration.
struct Table<'a> {
    nanos: &'a [u64],
    /// How many iterations there are.
    num: usize,
    /// Those that count.
    whole: &'a [usize],
}

fn of_context(
    context: ContextIdx,
    activity: Activity,
    times: &Table,
    total: u64,
    interval_nanos: Option<u64>,
) -> ContextStatistics {
    let &Table { nanos: table, num, whole } = times;
    let num_locations = table.len() / num.max(1);
    let value = |location: usize, iteration: usize| {
        seconds(table.get(location * num + iteration).copied().unwrap_or(0))
    };
    let (mut means, mut maxima) = (Vec::new(), Vec::new());
    for &iteration in whole {
        let column: Vec<f64> = (0..num_locations).map(|l| value(l, iteration)).collect();
        means.push(mean(&column));
        maxima.push(column.iter().copied().fold(0.0, f64::max));
    }
    let rows: Vec<Vec<f64>> =
        (0..num_locations).map(|l| whole.iter().map(|&i| value(l, i)).collect()).collect();
    let of_location: Vec<f64> = rows.iter().map(|row| mean(row)).collect();
    let within: Vec<f64> = rows.iter().filter_map(|row| variation(row)).collect();
    // The sum of equal numbers may be off by its last digits; a mean is at most the maximum.
    let max_seconds = mean(&maxima);
    let mean_seconds = mean(&means).min(max_seconds);
    let saving_seconds = max_seconds - mean_seconds;
    let largest_mean = of_location.iter().copied().fold(0.0, f64::max);
    let mean_of_means = mean(&of_location).min(largest_mean);
    let least = interval_nanos.map_or(0.0, |nanos| 2.0 * seconds(nanos));
    ContextStatistics {
        context,
        activity,
        share: sum_of(table, num, whole) as f64 / total.max(1) as f64,
        mean_seconds,
        max_seconds,
        balance_ratio: if largest_mean > 0.0 { mean_of_means / largest_mean } else { 1.0 },
        lasting_saving_seconds: (largest_mean - mean_of_means) * whole.len() as f64,
        is_resolved: mean_seconds >= least,
        across_locations: variation(&of_location),
        within_location: (!within.is_empty()).then(|| mean(&within)),
        saving_seconds,
        total_saving_seconds: saving_seconds * whole.len() as f64,
        slowest: largest(&of_location),
    }
}

fn sum_of(table: &[u64], num: usize, whole: &[usize]) -> u64 {
    let rows = table.chunks(num.max(1));
    rows.flat_map(|row| whole.iter().filter_map(|&i| row.get(i))).sum()
}

/// See [`Statistics::similarity`].
fn similarity(times: &[Vec<u64>], num: usize, whole: &[usize]) -> f64 {
    let of =
        |table: &Vec<u64>, i: usize| table.iter().skip(i).step_by(num.max(1)).sum::<u64>() as f64;
    let shares: Vec<Vec<f64>> = whole
        .iter()
        .map(|&i| {
            let nanos: Vec<f64> = times.iter().map(|table| of(table, i)).collect();
            let total = nanos.iter().sum::<f64>();
            nanos.into_iter().map(|n| if total > 0.0 { n / total } else { 0.0 }).collect()
        })
        .collect();
    let average: Vec<f64> = (0..times.len())
        .map(|c| shares.iter().filter_map(|s| s.get(c)).sum::<f64>() / whole.len().max(1) as f64)
        .collect();
    let agreed = shares.iter().map(|s| s.iter().zip(&average).map(|(a, b)| a.min(*b)).sum::<f64>());
    agreed.sum::<f64>() / whole.len().max(1) as f64
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// `max - mean`, not below 0.
fn saving(values: &[f64]) -> f64 {
    (values.iter().copied().fold(0.0, f64::max) - mean(values)).max(0.0)
}

/// The coefficient of variation; `None` of a single value and where the mean is 0.
fn variation(values: &[f64]) -> Option<f64> {
    Distribution::new(values, 0)?.variation
}

/// Where the largest is; the first of several.
fn largest(values: &[f64]) -> usize {
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    values.iter().position(|&value| value == largest).unwrap_or(0)
}
