//! Principal axes: the directions in which points differ most (Pearson, 1901; Hotelling, 1933).

use super::points::Points;
use crate::math::numeric::count;

/// Principal axes of points around their mean.
#[derive(Debug, Clone)]
pub(super) struct Axes {
    /// Mean of the points.
    mean: Vec<f64>,
    /// Unit vectors, the one with most variance first.
    directions: Vec<Vec<f64>>,
    /// Variance along each.
    pub(super) variances: Vec<f64>,
}

/// Sweeps of the Jacobi method; it converges in fewer than ten.
const SWEEPS: usize = 60;

impl Axes {
    pub(super) fn new(points: &Points) -> Self {
        let (width, n) = (points.width(), count(points.len().max(1)));
        let mut mean = vec![0.0; width];
        for row in points.rows() {
            mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += value / n);
        }
        let mut matrix = vec![vec![0.0; width]; width];
        for row in points.rows() {
            for (i, line) in matrix.iter_mut().enumerate() {
                for (j, cell) in line.iter_mut().enumerate() {
                    *cell += (row[i] - mean[i]) * (row[j] - mean[j]) / n;
                }
            }
        }
        let vectors = jacobi(&mut matrix);
        let mut order: Vec<usize> = (0..width).collect();
        order.sort_by(|&a, &b| matrix[b][b].total_cmp(&matrix[a][a]).then(a.cmp(&b)));
        let directions = order
            .iter()
            .map(|&axis| {
                let column: Vec<f64> = vectors.iter().map(|line| line[axis]).collect();
                // An axis has no sense of its own: its largest part points up.
                let largest = column
                    .iter()
                    .fold(0.0_f64, |a, b| if b.abs() > a.abs() + 1e-12 { *b } else { a });
                let sign = if largest < 0.0 { -1.0 } else { 1.0 };
                column.into_iter().map(|part| sign * part).collect()
            })
            .collect();
        let variances: Vec<f64> = order.iter().map(|&axis| matrix[axis][axis].max(0.0)).collect();
        let mut axes = Self { mean, directions, variances };
        axes.leave_out_rounding();
        axes
    }

    /// Axes along which points differ by rounding only, so that nobody sees distances in it.
    fn leave_out_rounding(&mut self) {
        /// Of the largest variance, to which sums over many points are exact at best.
        const ROUNDING: f64 = 1e-13;
        let largest = self.variances.first().copied().unwrap_or(0.0);
        for (direction, variance) in self.directions.iter_mut().zip(&mut self.variances) {
            if *variance <= largest * ROUNDING {
                *variance = 0.0;
                direction.fill(0.0);
            }
        }
    }

    /// Coordinates of a point along the first `number` axes.
    pub(super) fn project<'a>(
        &'a self,
        row: &'a [f64],
        number: usize,
    ) -> impl Iterator<Item = f64> + 'a {
        self.directions.iter().take(number).map(move |direction| {
            let parts = direction.iter().zip(row.iter().zip(&self.mean));
            parts.fold(0.0, |total, (part, (value, mean))| total + part * (value - mean))
        })
    }

    /// Part of the variance that lies along the first `number` axes, 0 to 1.
    pub(super) fn explained(&self, number: usize) -> f64 {
        let all: f64 = self.variances.iter().sum();
        let first: f64 = self.variances.iter().take(number).sum();
        if all > 0.0 { first / all } else { 1.0 }
    }
}

/// Makes a symmetric matrix diagonal; returns the eigenvectors as columns (Jacobi, 1846; the
/// rotation is that of Golub and Van Loan, "Matrix Computations", 8.5).
fn jacobi(matrix: &mut [Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut vectors: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let whole: f64 = matrix.iter().flatten().map(|cell| cell * cell).sum();
    for _ in 0..SWEEPS {
        let above = |(p, line): (usize, &Vec<f64>)| {
            line.iter().skip(p + 1).fold(0.0, |total, cell| total + cell * cell)
        };
        let off: f64 = matrix.iter().enumerate().map(above).sum();
        if off <= whole * 1e-28 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if matrix[p][q] == 0.0 {
                    continue;
                }
                let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
                let sign = if theta < 0.0 { -1.0 } else { 1.0 };
                let t = sign / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for line in matrix.iter_mut() {
                    let (a, b) = (line[p], line[q]);
                    line[p] = c * a - s * b;
                    line[q] = s * a + c * b;
                }
                let (upper, lower) = matrix.split_at_mut(q);
                if let (Some(first), Some(second)) = (upper.get_mut(p), lower.first_mut()) {
                    for (a, b) in first.iter_mut().zip(second) {
                        (*a, *b) = (c * *a - s * *b, s * *a + c * *b);
                    }
                }
                for line in &mut vectors {
                    let (a, b) = (line[p], line[q]);
                    line[p] = c * a - s * b;
                    line[q] = s * a + c * b;
                }
            }
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_have_one_axis() {
        // Along (3, 4) / 5.
        let points = Points::new(2, &[0.0, 0.0, 3.0, 4.0, 6.0, 8.0]);
        let axes = Axes::new(&points);
        let along: Vec<f64> = points.rows().map(|row| axes.project(row, 1).sum()).collect();
        for (found, expected) in along.iter().zip([-5.0, 0.0, 5.0]) {
            assert!((found - expected).abs() < 1e-12, "{along:?}");
        }
        assert!((axes.variances[0] - 50.0 / 3.0).abs() < 1e-12);
        assert!(axes.variances[1] < 1e-12 && axes.explained(1) > 1.0 - 1e-12);
        // What is left along the other one is rounding, and no place.
        let along: Vec<f64> = points.rows().filter_map(|row| axes.project(row, 2).last()).collect();
        assert_eq!(along, [0.0; 3]);
    }
}
