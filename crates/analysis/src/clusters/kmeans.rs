//! k-means (Lloyd, 1982) from starts that are not drawn at random.
//!
//! For each k three starts are tried, and the one that ends with the smallest sum of squared
//! distances wins: cuts of equal counts along the first principal axis (after Su and Dy, 2007);
//! points as far from each other as they get (Gonzalez, 1985); and the groups of k - 1 with the
//! loosest one cut at its mean. Points come in their canonical order and sums are added up in that
//! order, so that neither the order of the members nor the number of threads changes anything.

use parallax_base::{Control, threads};
use parallax_engine::EngineError;

use super::axes::Axes;
use super::points::{Points, compare, squared_distance};

/// Rounds at most; what has not settled by then changes by single points.
const ROUNDS: usize = 200;
/// Points that are examined together. Fixed, because it decides the order of sums.
const CHUNK: usize = 4096;

/// Points in k groups around their centres.
#[derive(Debug, Clone)]
pub(super) struct Partition {
    /// Centres, one after the other.
    pub(super) centres: Vec<Vec<f64>>,
    /// Group of each row.
    pub(super) of: Vec<u32>,
    /// Sum of squared distances to the own centre.
    pub(super) inertia: f64,
}

/// The best partitions into 1, 2, ... `most` groups, as far as there are different points.
pub(super) fn partitions(
    points: &Points,
    most: usize,
    control: &Control,
) -> Result<Vec<Partition>, EngineError> {
    let most = most.min(points.num_distinct(most));
    let axes = Axes::new(points);
    let along: Vec<f64> = points.rows().map(|row| axes.project(row, 1).sum()).collect();
    let mut by_axis: Vec<usize> = (0..points.len()).collect();
    by_axis.sort_by(|&a, &b| along[a].total_cmp(&along[b]).then(a.cmp(&b)));
    let mut out: Vec<Partition> = Vec::new();
    for k in 1..=most {
        let mut starts = vec![cuts(points, &by_axis, k)];
        if k > 1 {
            starts.push(far_apart(points, k));
        }
        if let Some(last) = out.last() {
            starts.push(split(points, last));
        }
        let mut best: Option<Partition> = None;
        for start in starts {
            control.check()?;
            let found = settle(points, start);
            if best.as_ref().is_none_or(|best| found.inertia < best.inertia) {
                best = Some(found);
            }
        }
        out.extend(best.map(numbered));
    }
    Ok(out)
}

/// Means of runs of equal counts along an axis.
fn cuts(points: &Points, by_axis: &[usize], k: usize) -> Vec<Vec<f64>> {
    let n = by_axis.len();
    (0..k)
        .map(|group| {
            let part = by_axis.get(group * n / k..(group + 1) * n / k).unwrap_or_default();
            mean_of(points, part.iter().copied())
        })
        .collect()
}

fn mean_of(points: &Points, rows: impl Iterator<Item = usize>) -> Vec<f64> {
    let (mut mean, mut len) = (vec![0.0; points.width()], 0.0);
    for row in rows {
        mean.iter_mut().zip(points.row(row)).for_each(|(mean, value)| *mean += value);
        len += 1.0;
    }
    mean.iter_mut().for_each(|mean| *mean /= f64::max(len, 1.0));
    mean
}

/// The point farthest from the mean, then always the one farthest from all so far.
fn far_apart(points: &Points, k: usize) -> Vec<Vec<f64>> {
    let mean = mean_of(points, 0..points.len());
    let mut nearest: Vec<f64> = points.rows().map(|row| squared_distance(row, &mean)).collect();
    let mut centres: Vec<Vec<f64>> = Vec::new();
    while centres.len() < k {
        let far = farthest(&nearest);
        let centre = points.row(far).to_vec();
        if centres.is_empty() {
            nearest.fill(f64::INFINITY);
        }
        for (nearest, row) in nearest.iter_mut().zip(points.rows()) {
            *nearest = nearest.min(squared_distance(row, &centre));
        }
        centres.push(centre);
    }
    centres
}

fn farthest(distances: &[f64]) -> usize {
    let (mut at, mut most) = (0, -1.0);
    for (row, &distance) in distances.iter().enumerate() {
        if distance > most {
            (at, most) = (row, distance);
        }
    }
    at
}

/// The centres of `last` with the loosest group cut in two at its mean, along the feature in which
/// it is widest.
fn split(points: &Points, last: &Partition) -> Vec<Vec<f64>> {
    let width = points.width();
    let mut spread = vec![vec![0.0; width]; last.centres.len()];
    for (row, &group) in points.rows().zip(&last.of) {
        let centre = &last.centres[group as usize];
        for (spread, (value, centre)) in
            spread[group as usize].iter_mut().zip(row.iter().zip(centre))
        {
            *spread += (value - centre) * (value - centre);
        }
    }
    let sums: Vec<f64> = spread.iter().map(|parts| parts.iter().sum()).collect();
    let loosest = farthest(&sums);
    let feature = farthest(&spread[loosest]);
    let middle = last.centres[loosest][feature];
    let half = |is_upper: bool| {
        let rows = (0..points.len()).filter(|&row| {
            last.of[row] as usize == loosest && (points.row(row)[feature] > middle) == is_upper
        });
        mean_of(points, rows)
    };
    let mut centres = last.centres.clone();
    centres[loosest] = half(false);
    centres.push(half(true));
    centres
}

/// What one chunk of points adds to a round.
struct Share {
    of: Vec<u32>,
    distances: Vec<f64>,
    sums: Vec<Vec<f64>>,
    counts: Vec<f64>,
    inertia: f64,
}

fn settle(points: &Points, mut centres: Vec<Vec<f64>>) -> Partition {
    let width = points.width();
    let mut last: Option<Partition> = None;
    for _ in 0..ROUNDS {
        let starts: Vec<usize> = (0..points.len()).step_by(CHUNK).collect();
        let shares = threads::map(starts, |start| share(points, start, &centres));
        let (mut of, mut distances) = (Vec::with_capacity(points.len()), Vec::new());
        let mut sums = vec![vec![0.0; width]; centres.len()];
        let mut counts = vec![0.0; centres.len()];
        let mut inertia = 0.0;
        for share in shares {
            of.extend(share.of);
            distances.extend(share.distances);
            inertia += share.inertia;
            for (group, part) in share.sums.iter().enumerate() {
                sums[group].iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
                counts[group] += share.counts[group];
            }
        }
        let is_settled = last.as_ref().is_some_and(|last| last.of == of);
        last = Some(Partition { centres: centres.clone(), of, inertia });
        if is_settled {
            break;
        }
        for (group, centre) in centres.iter_mut().enumerate() {
            if counts[group] > 0.0 {
                *centre = sums[group].iter().map(|sum| sum / counts[group]).collect();
            } else {
                // A group without members starts over where the others fit worst.
                let far = farthest(&distances);
                *centre = points.row(far).to_vec();
                distances[far] = 0.0;
            }
        }
    }
    last.unwrap_or_else(|| Partition { centres, of: Vec::new(), inertia: 0.0 })
}

fn share(points: &Points, start: usize, centres: &[Vec<f64>]) -> Share {
    let end = (start + CHUNK).min(points.len());
    let mut out = Share {
        of: Vec::with_capacity(end - start),
        distances: Vec::with_capacity(end - start),
        sums: vec![vec![0.0; points.width()]; centres.len()],
        counts: vec![0.0; centres.len()],
        inertia: 0.0,
    };
    for row in (start..end).map(|row| points.row(row)) {
        let (mut nearest, mut least) = (0, f64::INFINITY);
        for (group, centre) in centres.iter().enumerate() {
            let distance = squared_distance(row, centre);
            if distance < least {
                (nearest, least) = (group, distance);
            }
        }
        out.of.push(u32::try_from(nearest).unwrap_or(0));
        out.distances.push(least);
        out.inertia += least;
        out.counts[nearest] += 1.0;
        out.sums[nearest].iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    out
}

/// Groups in their order: the largest first, of equal ones the one with the smaller centre.
fn numbered(mut partition: Partition) -> Partition {
    let mut sizes = vec![0_usize; partition.centres.len()];
    partition.of.iter().for_each(|&group| sizes[group as usize] += 1);
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&a, &b| {
        let centres = || compare(&partition.centres[a], &partition.centres[b]);
        sizes[b].cmp(&sizes[a]).then_with(centres).then(a.cmp(&b))
    });
    let mut new = vec![0_u32; sizes.len()];
    (0..).zip(&order).for_each(|(number, &old)| new[old] = number);
    partition.of.iter_mut().for_each(|group| *group = new[*group as usize]);
    partition.centres = order.iter().map(|&old| partition.centres[old].clone()).collect();
    partition
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(values: &[f64]) -> Points {
        Points::new(1, values)
    }

    #[test]
    fn groups_of_a_line_are_the_best_ones() {
        // All ways of cutting 0 1 2 10 11 30 in three: {0 1 2} {10 11} {30} leaves 2 + 0.5 + 0.
        let points = line(&[10.0, 0.0, 30.0, 1.0, 11.0, 2.0]);
        let found = partitions(&points, 3, &Control::default()).unwrap();
        assert_eq!(found[2].of, [0, 0, 0, 1, 1, 2]);
        assert!((found[2].inertia - 2.5).abs() < 1e-12, "{}", found[2].inertia);
        assert!((found[2].centres[0][0] - 1.0).abs() < 1e-12);
        // In two: {0 1 2 10 11} {30} leaves 110.8, {0 1 2} {10 11 30} leaves 244.
        assert_eq!(found[1].of, [0, 0, 0, 0, 0, 1]);
        assert!((found[1].inertia - 110.8).abs() < 1e-9, "{}", found[1].inertia);
    }

    #[test]
    fn there_are_no_more_groups_than_different_points() {
        let found = partitions(&line(&[1.0, 1.0, 2.0]), 5, &Control::default()).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].inertia, 0.0);
    }
}
