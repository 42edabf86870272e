//! DBSCAN (Ester, Kriegel, Sander and Xu, 1996) on a grid (Gunawan, 2013): groups are where members
//! lie close together, and those far from all groups are outliers.
//!
//! A member is **core** when at least `min_points` members, itself included, lie within `eps`. Core
//! members within `eps` of each other belong together; others belong to the nearest core member
//! within `eps`, and to no group where there is none. Unlike in the original, which of several
//! groups a member between them joins does not depend on the order in which they are examined.

use std::collections::HashMap;

use parallax_base::{Control, threads};
use parallax_engine::EngineError;

use super::points::{Points, squared_distance};
use crate::math::numeric::count;

/// Axes that DBSCAN looks at: distances in more directions say less and less (Beyer, Goldstein,
/// Ramakrishnan and Shaft, 1999), and the grid grows with each.
pub(super) const MOST_AXES: usize = 3;
/// Points whose distance to their neighbours is examined when `eps` is chosen.
const SAMPLED: usize = 500;
/// Each `eps` that is tried is the one before times the square root of 2.
const STEP: f64 = std::f64::consts::SQRT_2;
/// Steps at most: a factor of 2^32.
const STEPS: usize = 64;
/// Steps over which groups must stay the same to be believed: a factor of 2.
const STABLE_STEPS: usize = 3;
/// Part of the members that may be outliers of groups that are believed.
const MOST_OUTLIERS: f64 = 0.1;

/// What DBSCAN finds with one `eps`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpsStep {
    /// Largest distance of neighbours, in standard deviations.
    pub eps: f64,
    /// Number of groups.
    pub groups: u32,
    /// Number of members in no group.
    pub outliers: u64,
}

/// How the parameters of DBSCAN were chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct EpsChoice {
    /// Members within `eps` that make a core: twice the number of axes (Sander, Ester, Kriegel and
    /// Xu, 1998), and at least the logarithm of the number of members.
    pub min_points: u32,
    /// Number of principal axes that distances are measured in.
    pub num_axes: u32,
    /// Part of the variance that these axes hold, 0 to 1.
    pub explained: f64,
    /// The knee of the distances to the `min_points`-th neighbour, where `eps` is tried from: the
    /// point of the sorted distances that is farthest below the line from the first to the last
    /// (Satopaa, Albrecht, Irwin and Raghavan, 2011).
    pub knee: f64,
    /// What was found with each `eps`, from the knee on.
    pub steps: Vec<EpsStep>,
    /// The range of `eps` in which the number of groups stays what was chosen.
    pub stable: (f64, f64),
    /// The chosen one: the middle of that range.
    pub eps: f64,
    /// Whether the user chose `eps`.
    pub is_given: bool,
}

/// "In no group."
pub(super) const OUTLIER: u32 = u32::MAX;

/// Groups of the points; members in no group have [`OUTLIER`].
pub(super) fn dbscan(
    points: &Points,
    given: Option<f64>,
    min_points: Option<u32>,
    control: &Control,
) -> Result<(EpsChoice, Vec<u32>), EngineError> {
    let n = points.len();
    let least = libm::ceil(libm::log(count(n.max(1)))) as usize;
    let wanted = min_points.map_or((2 * points.width()).max(least), |m| m as usize);
    let min_points = wanted.clamp(1, n.max(1));
    let mut choice = EpsChoice {
        min_points: u32::try_from(min_points).unwrap_or(u32::MAX),
        num_axes: u32::try_from(points.width()).unwrap_or(0),
        explained: 1.0,
        knee: 0.0,
        steps: Vec::new(),
        stable: (0.0, 0.0),
        eps: 0.0,
        is_given: given.is_some(),
    };
    choice.knee = knee(points, min_points);
    if let Some(eps) = given {
        let of = run(points, eps, min_points);
        choice.steps.push(step(eps, &of));
        (choice.eps, choice.stable) = (eps, (eps, eps));
        return Ok((choice, of));
    }
    let mut eps = choice.knee;
    while choice.steps.len() < STEPS {
        control.check()?;
        let found = step(eps, &run(points, eps, min_points));
        choice.steps.push(found);
        if found.groups <= 1 && found.outliers == 0 {
            break;
        }
        eps *= STEP;
    }
    let (first, last) = stable(&choice.steps, n);
    let at = |nth: usize| choice.steps.get(nth).map_or(choice.knee, |step| step.eps);
    choice.stable = (at(first), at(last));
    choice.eps = at(usize::midpoint(first, last));
    let of = run(points, choice.eps, min_points);
    Ok((choice, of))
}

fn step(eps: f64, of: &[u32]) -> EpsStep {
    let groups = of.iter().filter(|&&group| group != OUTLIER).max().map_or(0, |most| most + 1);
    let outliers = of.iter().filter(|&&group| group == OUTLIER).count() as u64;
    EpsStep { eps, groups, outliers }
}

/// The longest run of steps with the same number of at least two groups and few outliers; where
/// none is long enough, the first step with one group.
fn stable(steps: &[EpsStep], len: usize) -> (usize, usize) {
    let is_sound =
        |step: &EpsStep| step.groups >= 2 && step.outliers as f64 <= MOST_OUTLIERS * count(len);
    let mut best: Option<(usize, usize)> = None;
    let mut first = 0;
    for (at, step) in steps.iter().enumerate() {
        if at > 0
            && steps
                .get(at - 1)
                .is_some_and(|before| before.groups != step.groups || !is_sound(before))
        {
            first = at;
        }
        let is_longer = best.is_none_or(|(from, to)| at - first > to - from);
        if is_sound(step) && at - first + 1 >= STABLE_STEPS && is_longer {
            best = Some((first, at));
        }
    }
    best.unwrap_or_else(|| {
        let is_one =
            |step: &EpsStep| step.groups == 1 && step.outliers as f64 <= MOST_OUTLIERS * count(len);
        let last = steps.len().saturating_sub(1);
        let from = steps.iter().position(is_one).unwrap_or(last);
        (from, from)
    })
}

/// The knee of the sorted distances to the `min_points`-th neighbour.
fn knee(points: &Points, min_points: usize) -> f64 {
    let n = points.len();
    let sampled = n.min(SAMPLED);
    let rows: Vec<usize> = (0..sampled).map(|nth| nth * n / sampled.max(1)).collect();
    let mut distances = threads::map(rows, |at| {
        let own = points.row(at);
        let mut all: Vec<f64> = points.rows().map(|row| squared_distance(own, row)).collect();
        let nth = min_points.saturating_sub(1).min(n.saturating_sub(1));
        all.select_nth_unstable_by(nth, f64::total_cmp).1.sqrt()
    });
    distances.sort_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (distances.first(), distances.last()) else { return 1.0 };
    let mut best = (low, -1.0);
    for (at, &distance) in distances.iter().enumerate() {
        let along = count(at) / count(sampled.saturating_sub(1).max(1));
        let up = if high > low { (distance - low) / (high - low) } else { 0.0 };
        if along - up > best.1 {
            best = (distance, along - up);
        }
    }
    // Where most members are equal, any distance above 0 is as good.
    let floor = distances.iter().copied().find(|distance| *distance > 0.0).unwrap_or(1e-3);
    best.0.max(floor.min(1e-3))
}

type Key = [i64; MOST_AXES];

struct Cell {
    key: Key,
    /// Rows, ascending, so that they ascend in the first coordinate, too.
    rows: Vec<u32>,
}

struct Grid<'a> {
    points: &'a Points,
    eps: f64,
    cells: Vec<Cell>,
    by_key: HashMap<Key, usize>,
    offsets: Vec<Key>,
}

impl<'a> Grid<'a> {
    /// Cells so small that all points of one are within `eps` of each other.
    fn new(points: &'a Points, eps: f64) -> Self {
        let width = points.width().min(MOST_AXES);
        let side = eps / count(width.max(1)).sqrt();
        let mut by_key: HashMap<Key, usize> = HashMap::new();
        let mut cells: Vec<Cell> = Vec::new();
        for (row, at) in (0..).zip(points.rows()) {
            let mut key = Key::default();
            key.iter_mut().zip(at).for_each(|(key, at)| *key = (at / side).floor() as i64);
            let cell = *by_key.entry(key).or_insert_with(|| {
                cells.push(Cell { key, rows: Vec::new() });
                cells.len() - 1
            });
            cells[cell].rows.push(row);
        }
        let reach = libm::ceil(count(width.max(1)).sqrt()) as i64;
        let mut offsets = vec![Key::default()];
        for axis in 0..width {
            let moved = |offset: &Key| {
                let offset = *offset;
                (-reach..=reach).map(move |by| {
                    let mut offset = offset;
                    offset[axis] = by;
                    offset
                })
            };
            offsets = offsets.iter().flat_map(moved).collect();
        }
        Self { points, eps, cells, by_key, offsets }
    }

    fn near(&self, cell: usize) -> impl Iterator<Item = usize> {
        let key = self.cells[cell].key;
        self.offsets.iter().filter_map(move |offset| {
            let mut at = key;
            at.iter_mut().zip(offset).for_each(|(at, by)| *at += by);
            self.by_key.get(&at).copied()
        })
    }

    /// Rows of a cell within `eps` of a point, with their squared distance.
    fn within<'b>(&'b self, cell: usize, own: &'b [f64]) -> impl Iterator<Item = (u32, f64)> + 'b {
        let rows = &self.cells[cell].rows;
        let first = |row: u32| self.points.row(row as usize).first().copied().unwrap_or(0.0);
        let at = own.first().copied().unwrap_or(0.0);
        let from = rows.partition_point(|&row| first(row) < at - self.eps);
        let rest = rows.get(from..).unwrap_or_default().iter().copied();
        rest.take_while(move |&row| first(row) <= at + self.eps).filter_map(move |row| {
            let distance = squared_distance(own, self.points.row(row as usize));
            (distance <= self.eps * self.eps).then_some((row, distance))
        })
    }
}

fn run(points: &Points, eps: f64, min_points: usize) -> Vec<u32> {
    let grid = Grid::new(points, eps);
    let is_core = cores(&grid, min_points);
    // Cells whose core points belong together.
    let mut parents: Vec<usize> = (0..grid.cells.len()).collect();
    for cell in 0..grid.cells.len() {
        for other in grid.near(cell).filter(|&other| other > cell) {
            let (a, b) = (root(&mut parents, cell), root(&mut parents, other));
            if a == b {
                continue;
            }
            let (few, many) = match grid.cells[cell].rows.len() <= grid.cells[other].rows.len() {
                true => (cell, other),
                false => (other, cell),
            };
            let cores = grid.cells[few].rows.iter().filter(|row| is_core[**row as usize]);
            let is_joined = cores.into_iter().any(|&row| {
                let own = points.row(row as usize);
                grid.within(many, own).any(|(row, _)| is_core[row as usize])
            });
            if is_joined {
                parents[a.max(b)] = a.min(b);
            }
        }
    }
    let mut of = vec![OUTLIER; points.len()];
    for cell in 0..grid.cells.len() {
        let group = u32::try_from(root(&mut parents, cell)).unwrap_or(OUTLIER);
        for &row in &grid.cells[cell].rows {
            let own = points.row(row as usize);
            if is_core[row as usize] {
                of[row as usize] = group;
                continue;
            }
            let mut nearest: Option<(f64, u32, usize)> = None;
            for near in grid.near(cell) {
                for (core, distance) in grid.within(near, own).filter(|(r, _)| is_core[*r as usize])
                {
                    if nearest.is_none_or(|best| (distance, core) < (best.0, best.1)) {
                        nearest = Some((distance, core, near));
                    }
                }
            }
            if let Some((_, _, near)) = nearest {
                of[row as usize] = u32::try_from(root(&mut parents, near)).unwrap_or(OUTLIER);
            }
        }
    }
    number(&mut of);
    of
}

fn cores(grid: &Grid<'_>, min_points: usize) -> Vec<bool> {
    let mut is_core = vec![false; grid.points.len()];
    let work: Vec<usize> = (0..grid.cells.len()).collect();
    let found = threads::map(work, |cell| {
        let rows = &grid.cells[cell].rows;
        let is_dense = rows.len() >= min_points;
        let near: Vec<usize> = if is_dense { Vec::new() } else { grid.near(cell).collect() };
        let is_one = |&row: &u32| {
            let own = grid.points.row(row as usize);
            let within = near.iter().flat_map(|&near| grid.within(near, own));
            within.take(min_points).count() >= min_points
        };
        rows.iter().map(|row| is_dense || is_one(row)).collect::<Vec<bool>>()
    });
    for (cell, found) in grid.cells.iter().zip(found) {
        for (&row, core) in cell.rows.iter().zip(found) {
            is_core[row as usize] = core;
        }
    }
    is_core
}

fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

/// Numbers groups from the largest, of equal ones from the one with the first row.
fn number(of: &mut [u32]) {
    let mut groups: HashMap<u32, (usize, usize)> = HashMap::new();
    for (row, &group) in of.iter().enumerate().filter(|(_, group)| **group != OUTLIER) {
        groups.entry(group).or_insert((0, row)).0 += 1;
    }
    let mut order: Vec<(u32, (usize, usize))> = groups.into_iter().collect();
    order.sort_by_key(|(_, (size, first))| (usize::MAX - size, *first));
    let new: HashMap<u32, u32> = order.iter().map(|(group, _)| *group).zip(0..).collect();
    of.iter_mut().for_each(|group| *group = new.get(group).copied().unwrap_or(OUTLIER));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    /// DBSCAN by its definition, all pairs.
    fn plain(points: &Points, eps: f64, min_points: usize) -> Vec<u32> {
        let n = points.len();
        let near = |a: usize, b: usize| squared_distance(points.row(a), points.row(b)) <= eps * eps;
        let core: Vec<bool> =
            (0..n).map(|a| (0..n).filter(|&b| near(a, b)).count() >= min_points).collect();
        let mut of: Vec<u32> = (0..n as u32).collect();
        loop {
            let mut is_changed = false;
            for a in 0..n {
                for b in 0..n {
                    if core[a] && core[b] && near(a, b) && of[b] < of[a] {
                        of[a] = of[b];
                        is_changed = true;
                    }
                }
            }
            if !is_changed {
                break;
            }
        }
        for a in (0..n).filter(|&a| !core[a]) {
            let distance = |b: usize| squared_distance(points.row(a), points.row(b));
            let nearest = (0..n)
                .filter(|&b| core[b] && near(a, b))
                .min_by(|&b, &c| distance(b).total_cmp(&distance(c)).then(b.cmp(&c)));
            of[a] = nearest.map_or(OUTLIER, |b| of[b]);
        }
        number(&mut of);
        of
    }

    #[test]
    fn the_grid_finds_what_the_definition_says() {
        let mut random = Random(7);
        for width in 1..=3 {
            for eps in [0.02, 0.1, 0.3] {
                let blob =
                    |random: &mut Random| (random.below(3) as f64, random.unit() * random.unit());
                let coordinates: Vec<f64> = (0..150 * width)
                    .map(|_| {
                        let (at, off) = blob(&mut random);
                        if width == 1 { at + off } else { 0.4 * at + 0.3 * off }
                    })
                    .collect();
                let points = Points::new(width, &coordinates);
                for min_points in [1, 4, 9] {
                    let found = run(&points, eps, min_points);
                    assert_eq!(
                        found,
                        plain(&points, eps, min_points),
                        "{width} {eps} {min_points}"
                    );
                }
            }
        }
    }

    #[test]
    fn groups_of_different_density_are_found_with_an_outlier() {
        let mut values: Vec<f64> = (0..80).map(|i| 0.001 * f64::from(i)).collect();
        values.extend((0..20).map(|i| 3.0 + 0.02 * f64::from(i)));
        values.push(9.0);
        let points = Points::new(1, &values);
        let (choice, of) = dbscan(&points, None, None, &Control::default()).unwrap();
        assert!(of[..80].iter().all(|group| *group == 0), "{choice:?}");
        assert!(of[80..100].iter().all(|group| *group == 1), "{choice:?}");
        assert_eq!(of[100], OUTLIER);
        assert!(choice.stable.0 < 0.2 && choice.stable.1 > 1.0, "{choice:?}");
    }
}
