//! [`Points`]: members as points of standardised features, in an order of their own.

use super::Features;
use crate::math::numeric::{count, sum};

/// How one feature was put on the common scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// Mean over the members, in the unit of the feature.
    pub mean: f64,
    /// Standard deviation over the members (divisor n), in the unit of the feature; 0 for a
    /// feature that is the same everywhere.
    pub std_dev: f64,
    /// Whether groups are made by it. Features that are the same everywhere, or that are only
    /// described, are not.
    pub is_used: bool,
}

/// Deviations below this share of the mean are what rounding leaves of equal values.
const EQUAL: f64 = 1e-12;

/// Points in their canonical order: sorted by their coordinates, so that nothing computed from them
/// depends on the order of the members.
#[derive(Debug, Clone)]
pub(super) struct Points {
    width: usize,
    /// Row by row.
    coordinates: Vec<f64>,
    /// The member of each row.
    pub(super) member: Vec<u32>,
}

impl Points {
    pub(super) fn new(width: usize, coordinates: &[f64]) -> Self {
        let len = coordinates.len().checked_div(width).unwrap_or(0);
        let mut order: Vec<u32> = (0..u32::try_from(len).unwrap_or(u32::MAX)).collect();
        let row = |at: u32| {
            let start = at as usize * width;
            coordinates.get(start..start + width).unwrap_or_default()
        };
        order.sort_unstable_by(|&a, &b| compare(row(a), row(b)).then(a.cmp(&b)));
        let sorted = order.iter().flat_map(|&at| row(at).iter().copied()).collect();
        Self { width, coordinates: sorted, member: order }
    }

    pub(super) fn len(&self) -> usize {
        self.member.len()
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn row(&self, at: usize) -> &[f64] {
        let start = at * self.width;
        self.coordinates.get(start..start + self.width).unwrap_or_default()
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.coordinates.chunks_exact(self.width.max(1))
    }

    /// What was found for each row, for each member instead.
    pub(super) fn by_member<T: Copy + Default>(&self, of_row: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); self.len()];
        for (&member, &value) in self.member.iter().zip(of_row) {
            if let Some(slot) = out.get_mut(member as usize) {
                *slot = value;
            }
        }
        out
    }

    /// Number of different points, counted up to `most`.
    pub(super) fn num_distinct(&self, most: usize) -> usize {
        let mut distinct = usize::from(self.len() > 0);
        for at in 1..self.len() {
            if distinct >= most {
                break;
            }
            distinct += usize::from(self.row(at) != self.row(at - 1));
        }
        distinct
    }

    /// Some of the rows, as points of their own; `member` then counts in those.
    pub(super) fn some(&self, keep: impl Fn(usize) -> bool) -> (Self, Vec<u32>) {
        let rows: Vec<usize> = (0..self.len()).filter(|&at| keep(at)).collect();
        let coordinates: Vec<f64> =
            rows.iter().flat_map(|&at| self.row(at).iter().copied()).collect();
        let members = rows.iter().filter_map(|&at| self.member.get(at)).copied().collect();
        // They are sorted already, so rows keep their order.
        (Self::new(self.width, &coordinates), members)
    }
}

pub(super) fn compare(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    let pairs = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    pairs.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
}

pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |total, (a, b)| total + (a - b) * (a - b))
}

/// The features on one scale: less their mean, divided by their standard deviation.
pub(super) fn standardise(features: &Features) -> (Vec<Scaling>, Points) {
    let len = features.num_members();
    let mut scalings = Vec::new();
    let mut used: Vec<Vec<f64>> = Vec::new();
    for column in &features.columns {
        let mut sorted = column.values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let n = count(len.max(1));
        let mean = sum(&sorted) / n;
        let squares: Vec<f64> =
            sorted.iter().map(|value| (value - mean) * (value - mean)).collect();
        let std_dev = (sum(&squares) / n).sqrt();
        let is_constant = std_dev <= EQUAL * mean.abs() || !std_dev.is_finite();
        let is_used = column.is_used && !is_constant;
        if is_used {
            // Adding 0 makes one zero of two.
            used.push(column.values.iter().map(|value| (value - mean) / std_dev + 0.0).collect());
        }
        scalings.push(Scaling { mean, std_dev: if is_constant { 0.0 } else { std_dev }, is_used });
    }
    let width = used.len();
    let mut coordinates = Vec::with_capacity(len * width);
    if width > 0 {
        for member in 0..len {
            coordinates.extend(used.iter().map(|c| c.get(member).copied().unwrap_or(0.0)));
        }
    }
    (scalings, Points::new(width, &coordinates))
}
