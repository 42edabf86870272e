//! Sums and least squares whose order of operations is fixed, so that the same values give the
//! same bits on every platform and with any number of threads.

/// Sum by pairwise summation (Higham, "The accuracy of floating point summation", 1993), with
/// eight interleaved partial sums in the leaves; below eight values it is a plain left-to-right
/// sum. Error grows with the logarithm of the count instead of the count.
pub(crate) fn sum(values: &[f64]) -> f64 {
    const LANES: usize = 8;
    const LEAF: usize = 128;
    if values.len() < LANES {
        return values.iter().fold(0.0, |total, value| total + value);
    }
    if values.len() > LEAF {
        let half = values.len() / 2;
        let half = half - half % LANES;
        let (left, right) = values.split_at(half);
        return sum(left) + sum(right);
    }
    let mut lanes = [0.0; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let whole = ((a + b) + (c + d)) + ((e + f) + (g + h));
    rest.iter().fold(whole, |total, value| total + value)
}

/// Arithmetic mean; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(sum(values) / count(values.len())) }
}

/// A count as a number. Exact up to 2^53, far above any number of runs.
#[expect(clippy::as_conversions, reason = "no lossless conversion from usize to f64 exists")]
pub(crate) fn count(len: usize) -> f64 {
    len as f64
}

/// Relative cut-off for singular values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cutoff {
    /// Machine epsilon times the larger dimension of the matrix.
    Dimension,
    /// Half the distance from 1 to the next number: keeps what may still be told from rounding.
    Precision,
}

impl Cutoff {
    /// The share of the largest singular value at and below which others are dropped.
    pub(crate) fn relative(self, rows: usize, columns: usize) -> f64 {
        match self {
            Self::Dimension => f64::EPSILON * count(rows.max(columns)),
            Self::Precision => f64::EPSILON / 2.0,
        }
    }
}

/// The solution of a least-squares problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Solution {
    /// One coefficient per column.
    pub(crate) coefficients: Vec<f64>,
    /// Number of singular values above the cut-off.
    pub(crate) rank: usize,
}

/// Minimum-norm least squares: the shortest `x` that minimises `|A x - b|`, where `columns` are
/// the columns of `A`, all of the length of `rhs`.
///
/// The singular value decomposition is found by one-sided Jacobi rotations (Hestenes 1958; Demmel
/// and Veselic 1992), which is accurate also for columns of very different size, such as a constant
/// next to x^3. `None` when a value is not finite or there are no columns or rows.
pub(crate) fn least_squares(
    mut columns: Vec<Vec<f64>>,
    rhs: &[f64],
    cutoff: Cutoff,
) -> Option<Solution> {
    const SWEEPS: usize = 60;
    let num_columns = columns.len();
    let rows = rhs.len();
    if num_columns == 0
        || rows == 0
        || columns.iter().any(|column| column.len() != rows)
        || columns.iter().flatten().chain(rhs).any(|value| !value.is_finite())
    {
        return None;
    }
    let mut basis: Vec<Vec<f64>> = (0..num_columns)
        .map(|at| (0..num_columns).map(|row| if row == at { 1.0 } else { 0.0 }).collect())
        .collect();
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for left in 0..num_columns {
            for right in left + 1..num_columns {
                rotated |= rotate(&mut columns, &mut basis, left, right);
            }
        }
        if !rotated {
            break;
        }
    }
    let singular: Vec<f64> = columns.iter().map(|column| dot(column, column).sqrt()).collect();
    let largest = singular.iter().copied().fold(0.0, f64::max);
    if !largest.is_finite() {
        return None;
    }
    let relative = cutoff.relative(rows, num_columns);
    let mut coefficients = vec![0.0; num_columns];
    let mut rank = 0;
    for ((column, direction), &value) in columns.iter().zip(&basis).zip(&singular) {
        if value > relative * largest {
            rank += 1;
            let weight = dot(column, rhs) / value / value;
            for (coefficient, part) in coefficients.iter_mut().zip(direction) {
                *coefficient += weight * part;
            }
        }
    }
    coefficients.iter().all(|value| value.is_finite()).then_some(Solution { coefficients, rank })
}

/// Makes two columns orthogonal by a plane rotation; says whether that was necessary.
fn rotate(columns: &mut [Vec<f64>], basis: &mut [Vec<f64>], left: usize, right: usize) -> bool {
    #[cfg(test)]
    work::add(columns.first().map_or(0, Vec::len));
    let alpha = dot(&columns[left], &columns[left]);
    let beta = dot(&columns[right], &columns[right]);
    let gamma = dot(&columns[left], &columns[right]);
    if gamma == 0.0 || gamma.abs() <= f64::EPSILON * alpha.sqrt() * beta.sqrt() {
        return false;
    }
    let zeta = (beta - alpha) / (2.0 * gamma);
    // Square roots are exact on every platform; `hypot` is not.
    let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    let sine = cosine * tangent;
    for matrix in [columns, basis] {
        let (head, tail) = matrix.split_at_mut(right);
        for (a, b) in head[left].iter_mut().zip(tail[0].iter_mut()) {
            let (old_a, old_b) = (*a, *b);
            *a = cosine * old_a - sine * old_b;
            *b = sine * old_a + cosine * old_b;
        }
    }
    true
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |total, (x, y)| total + x * y)
}

/// How many points were examined on this thread, so that tests can show how cost grows.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local! {
        static POINTS: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn add(points: usize) {
        POINTS.with(|sum| sum.set(sum.get() + points));
    }

    /// The number since the last call.
    pub(crate) fn taken() -> usize {
        POINTS.with(|sum| sum.replace(0))
    }
}
