//! Fitting one hypothesis `c0 + c1 x^i log2(x)^j` to a line of points, and its errors.

use super::function::{Factor, Function, Sum, Term, basis};
use super::left_out::of_others;
use super::model::{Criterion, Model, ModelOptions, ModelWarning, Quality, Validation};
use super::space::Shape;
use crate::math::numeric::{Cutoff, count, least_squares, mean};

/// A constant below this part of the smallest value is rounding while a point is left out.
const CONSTANT_LEFT_OUT: f64 = 0.0005;
/// The same when errors are measured on the points of the fit.
const CONSTANT_FITTED: f64 = 0.001;

/// Values over one parameter.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    /// Position of the parameter, for warnings and factors.
    pub(super) parameter: usize,
    pub(super) xs: Vec<f64>,
    pub(super) ys: Vec<f64>,
}

impl Line {
    /// Whether a logarithm is harmless at every point.
    pub(super) fn allows_logarithms(&self, negative_exponents: bool) -> bool {
        self.xs.iter().all(|&x| if negative_exponents { x > 1.0 } else { x >= 1.0 })
    }

    /// The part of the line in a range of positions.
    pub(super) fn slice(&self, range: std::ops::Range<usize>) -> Self {
        let part = |values: &[f64]| values.get(range.clone()).unwrap_or_default().to_vec();
        Self { parameter: self.parameter, xs: part(&self.xs), ys: part(&self.ys) }
    }
}

/// A hypothesis with its coefficients and errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hypothesis {
    pub(super) constant: f64,
    /// Shape and coefficient; `None` for a constant.
    pub(super) term: Option<(Shape, f64)>,
    pub(super) quality: Quality,
    /// Root of the residual sum of squares over the mean, as the segment search needs it.
    pub(super) normalised_rss: f64,
    /// Largest part of a value that the term reaches; not a number when a value is 0 and so is
    /// the term.
    contribution: f64,
}

/// What a search along one parameter found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FitResult {
    pub(super) function: Function,
    pub(super) quality: Quality,
    pub(super) warnings: Vec<ModelWarning>,
}

impl FitResult {
    pub(super) fn into_model(self) -> Model {
        Model { function: self.function, quality: self.quality, warnings: self.warnings }
    }
}

impl Hypothesis {
    pub(super) fn sum(&self, parameter: usize) -> Sum {
        let term = self.term.map(|(shape, coefficient)| Term {
            coefficient,
            factors: vec![Factor {
                parameter,
                polynomial: shape.polynomial,
                logarithm: shape.logarithm,
            }],
        });
        Sum { constant: self.constant, terms: term.into_iter().collect() }
    }

    /// Whether the term is worth having.
    pub(super) fn contributes(&self, min_contribution: f64) -> bool {
        let coefficient = self.term.map_or(0.0, |(_, coefficient)| coefficient);
        // Written so that an undecidable contribution passes.
        coefficient != 0.0
            && !matches!(
                self.contribution.partial_cmp(&min_contribution),
                Some(std::cmp::Ordering::Less)
            )
    }

    /// Whether this hypothesis is better.
    pub(super) fn beats(&self, other: &Self, criterion: Criterion) -> bool {
        better(&self.quality, &other.quality, criterion)
    }
}

/// Whether a model is better than another by more than rounding, so that of models that say the
/// same about the points the one tried first stays, on every platform.
pub(super) fn better(new: &Quality, old: &Quality, criterion: Criterion) -> bool {
    const RELATIVE: f64 = 1e-9;
    /// In percent: an error below this is rounding.
    const SMAPE_FLOOR: f64 = 1e-11;
    match criterion {
        Criterion::Smape => new.smape < old.smape * (1.0 - RELATIVE) - SMAPE_FLOOR,
        Criterion::Rss => new.rss < old.rss * (1.0 - RELATIVE),
    }
}

/// Errors summed over points.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Errors {
    smape: f64,
    rss: f64,
    relative_rss: f64,
    relative_error: f64,
}

impl Errors {
    pub(super) fn add(&mut self, predicted: f64, actual: f64) {
        let difference = predicted - actual;
        self.rss += difference * difference;
        if actual != 0.0 {
            let relative = difference / actual;
            self.relative_rss += relative * relative;
            self.relative_error += relative.abs();
        }
        let size = actual.abs() + predicted.abs();
        // Both are 0 otherwise, and so is the error.
        if size != 0.0 {
            self.smape += difference.abs() / size * 2.0;
        }
    }

    pub(super) fn quality(&self, points: usize, adjusted_r2: Option<f64>) -> Quality {
        Quality {
            smape: self.smape / count(points) * 100.0,
            rss: self.rss,
            relative_rss: self.relative_rss,
            relative_error: self.relative_error / count(points),
            adjusted_r2,
        }
    }
}

/// `1 - (1 - R^2) (n - 1) / (n - k - 1)` with `R^2 = 1 - RSS / TSS` and `k` coefficients besides
/// the constant; `None` where that is not defined.
pub(super) fn adjusted_r2(rss: f64, total: f64, points: usize, coefficients: usize) -> Option<f64> {
    let freedom = points.checked_sub(coefficients + 1).filter(|&freedom| freedom > 0)?;
    let value = 1.0 - rss / total * (count(points) - 1.0) / count(freedom);
    value.is_finite().then_some(value)
}

/// The mean of all values; exactly the value when all are equal.
pub(super) fn constant_of(ys: &[f64]) -> f64 {
    match ys.first() {
        Some(&first) if ys.iter().all(|&y| y == first) => first,
        _ => mean(ys).unwrap_or(0.0),
    }
}

/// The constant hypothesis; its errors are never cross-validated.
pub(super) fn constant(line: &Line) -> Hypothesis {
    let constant = constant_of(&line.ys);
    let mut errors = Errors::default();
    for &actual in &line.ys {
        errors.add(constant, actual);
    }
    Hypothesis {
        constant,
        term: None,
        quality: errors.quality(line.ys.len(), Some(1.0)),
        normalised_rss: if constant == 0.0 { f64::NAN } else { errors.rss.sqrt() / constant },
        contribution: 0.0,
    }
}

/// Fits one shape to a line. `None` when the shape is not defined at a point or the errors are
/// not finite. `total` is the residual sum of squares of the constant.
pub(super) fn fit(
    line: &Line,
    shape: Shape,
    total: f64,
    options: &ModelOptions,
) -> Option<Hypothesis> {
    let values: Vec<f64> =
        line.xs.iter().map(|&x| basis(x, shape.polynomial, shape.logarithm)).collect();
    let points = line.ys.len();
    let mut errors = Errors::default();
    let mut normalised_rss = 0.0;
    let (constant, coefficient) = match options.validation {
        Validation::LeaveOneOut => {
            let others = of_others(&values, &line.ys);
            for ((others, value), &actual) in others.iter().zip(&values).zip(&line.ys) {
                let (constant, coefficient) = others.fit()?;
                let constant = cleaned(constant, others.smallest_y, CONSTANT_LEFT_OUT);
                errors.add(constant + coefficient * value, actual);
                normalised_rss += errors.rss.sqrt() / others.mean_y / count(points);
            }
            coefficients(&values, &line.ys)?
        }
        Validation::None => {
            let (constant, coefficient) = coefficients(&values, &line.ys)?;
            let smallest = line.ys.iter().copied().fold(f64::INFINITY, f64::min);
            let constant = cleaned(constant, smallest, CONSTANT_FITTED);
            for (value, &actual) in values.iter().zip(&line.ys) {
                errors.add(constant + coefficient * value, actual);
            }
            normalised_rss = errors.rss.sqrt() / mean(&line.ys)?;
            (constant, coefficient)
        }
    };
    if !errors.rss.is_finite() {
        return None;
    }
    let contribution = largest_contribution(
        values.iter().zip(&line.ys).map(|(value, actual)| (coefficient * value, *actual)),
    );
    Some(Hypothesis {
        constant,
        term: Some((shape, coefficient)),
        quality: errors.quality(points, adjusted_r2(errors.rss, total, points, 1)),
        normalised_rss,
        contribution,
    })
}

/// Largest `|term / value|`; not a number as soon as one of them is 0 / 0.
pub(super) fn largest_contribution(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    pairs.map(|(term, actual)| (term / actual).abs()).fold(0.0, |largest, part| {
        if part.is_nan() || f64::is_nan(largest) { f64::NAN } else { largest.max(part) }
    })
}

fn coefficients(values: &[f64], ys: &[f64]) -> Option<(f64, f64)> {
    let columns = vec![vec![1.0; values.len()], values.to_vec()];
    let solution = least_squares(columns, ys, Cutoff::Dimension)?;
    Some((*solution.coefficients.first()?, *solution.coefficients.get(1)?))
}

/// A constant that is small against the smallest value is taken as 0.
fn cleaned(constant: f64, smallest: f64, limit: f64) -> f64 {
    let size = if smallest == 0.0 { constant.abs() } else { (constant / smallest).abs() };
    if size < limit { 0.0 } else { constant }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::basic;
    use crate::math::numeric::work;

    #[test]
    fn a_search_over_twice_the_points_looks_at_no_more_than_thrice_as_many() {
        let searched = |points: u32| {
            let xs: Vec<f64> = (1..=points).map(f64::from).collect();
            let ys = xs.iter().map(|x| 3.0 + 0.5 * x * (1.0 + 0.01 * (7.0 * x).sin())).collect();
            work::taken();
            let line = Line { parameter: 0, xs, ys };
            let found = basic::search(&line, &ModelOptions::default());
            assert!(!found.function.is_constant());
            work::taken()
        };
        let (few, many) = (searched(500), searched(1000));
        assert!(few > 42 * 500, "{few}: every shape looks at every point");
        assert!(many < 3 * few, "{few} {many}");
    }
}
