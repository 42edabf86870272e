//! How many groups k-means makes.
//!
//! For each k two numbers are shown. The **silhouette** says how clear the groups are: the mean over
//! the members of (b - a) / max(a, b), with a the distance to the own centre and b to the nearest
//! other one; 1 is perfect (the simplified silhouette of Hruschka, Campello and de Castro, 2004,
//! after Rousseeuw, 1987). The **gap** says whether they are groups at all: how much closer the
//! members are to their centres than points spread evenly over the same space would be, as a
//! difference of logarithms, with its standard error (Tibshirani, Walther and Hastie, 2001).
//!
//! The k with the highest silhouette is chosen, if its gap is larger than that of one group by more
//! than its standard error; otherwise the members are one group.

use parallax_base::{Control, threads};
use parallax_engine::EngineError;

use super::axes::Axes;
use super::kmeans::{Partition, partitions};
use super::points::{Points, squared_distance};
use crate::math::Random;
use crate::math::numeric::count;

/// How good k groups are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KScore {
    /// Number of groups.
    pub k: u32,
    /// Part of the variance that lies between the groups, 0 to 1.
    pub explained: f64,
    /// The simplified silhouette, -1 to 1; `None` for one group.
    pub silhouette: Option<f64>,
    /// The gap statistic.
    pub gap: f64,
    /// Its standard error.
    pub gap_error: f64,
}

/// Sets of evenly spread points that data are compared with.
const REFERENCES: u64 = 10;
/// Points of each at most: more only make the standard error smaller.
const REFERENCE_POINTS: usize = 500;

/// Scores of all partitions, and the chosen number of groups.
pub(super) fn choose(
    points: &Points,
    found: &[Partition],
    control: &Control,
) -> Result<(Vec<KScore>, usize), EngineError> {
    let references = references(points, found.len(), control)?;
    let whole = found.first().map_or(0.0, |one| one.inertia);
    let scores: Vec<KScore> = (1..)
        .zip(found)
        .map(|(k, partition)| {
            let logs: Vec<f64> =
                references.iter().filter_map(|logs| logs.get(k as usize - 1)).copied().collect();
            let n = count(logs.len().max(1));
            let mean = logs.iter().sum::<f64>() / n;
            let variance = logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / n;
            KScore {
                k,
                explained: if whole > 0.0 { 1.0 - partition.inertia / whole } else { 0.0 },
                silhouette: (k > 1).then(|| silhouette(points, partition)),
                gap: mean - log_spread(partition.inertia, points.len()),
                gap_error: (variance * (1.0 + 1.0 / n)).sqrt(),
            }
        })
        .collect();
    let clearest = scores.iter().filter_map(|score| Some((score, score.silhouette?))).fold(
        None,
        |best: Option<(&KScore, f64)>, next| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        },
    );
    let chosen = match (clearest, scores.first()) {
        (Some((best, _)), Some(one)) if best.gap - best.gap_error > one.gap => best.k as usize,
        _ => 1,
    };
    Ok((scores, chosen))
}

fn silhouette(points: &Points, partition: &Partition) -> f64 {
    let one = |(row, &own): (&[f64], &u32)| {
        let (mut a, mut b) = (0.0, f64::INFINITY);
        for (group, centre) in (0_u32..).zip(&partition.centres) {
            let distance = squared_distance(row, centre).sqrt();
            if group == own { a = distance } else { b = b.min(distance) }
        }
        let most = f64::max(a, b);
        if most > 0.0 { (b - a) / most } else { 0.0 }
    };
    points.rows().zip(&partition.of).map(one).sum::<f64>() / count(points.len().max(1))
}

/// The logarithm of the mean squared distance; very small where it is 0.
fn log_spread(inertia: f64, len: usize) -> f64 {
    libm::log((inertia / count(len.max(1))).max(1e-24))
}

/// For each reference the logarithms of its spread in 1, 2, ... groups.
fn references(
    points: &Points,
    most: usize,
    control: &Control,
) -> Result<Vec<Vec<f64>>, EngineError> {
    let width = points.width();
    let axes = Axes::new(points);
    // Evenly over the box along the principal axes that holds all points.
    let mut sides = vec![(f64::INFINITY, f64::NEG_INFINITY); width];
    for row in points.rows() {
        for (side, at) in sides.iter_mut().zip(axes.project(row, width)) {
            *side = (side.0.min(at), side.1.max(at));
        }
    }
    let len = points.len().min(REFERENCE_POINTS);
    let work: Vec<u64> = (0..REFERENCES).collect();
    let all = threads::map(work, |number| {
        let mut random = Random(number);
        let even = |random: &mut Random| -> Vec<f64> {
            sides.iter().map(|(low, high)| low + (high - low) * random.unit()).collect()
        };
        let coordinates: Vec<f64> = (0..len).flat_map(|_| even(&mut random)).collect();
        let spread = Points::new(width, &coordinates);
        let found = partitions(&spread, most, control)?;
        let logs = found.iter().map(|one| log_spread(one.inertia, len)).collect();
        Ok::<Vec<f64>, EngineError>(logs)
    });
    all.into_iter().collect()
}
