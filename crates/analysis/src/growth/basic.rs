//! The basic search along one parameter: every shape of the search space, the best one wins.

use super::fit::{FitResult, Hypothesis, Line, constant, fit};
use super::function::Function;
use super::model::{ModelOptions, ModelWarning};
use super::space::{Shape, shapes};

/// Points that the method asks for along a parameter.
pub(super) const MIN_POINTS: usize = 5;

pub(super) fn search(line: &Line, options: &ModelOptions) -> FitResult {
    let mut warnings = Vec::new();
    if line.ys.len() < MIN_POINTS {
        warnings.push(ModelWarning::FewPoints { parameter: line.parameter, points: line.ys.len() });
    }
    let (best, without_logarithms) = best(line, options);
    if without_logarithms {
        warnings.push(ModelWarning::NoLogarithms { parameter: line.parameter });
    }
    FitResult { function: Function::Sum(best.sum(line.parameter)), quality: best.quality, warnings }
}

/// The best hypothesis, and whether logarithms had to be left out.
pub(super) fn best(line: &Line, options: &ModelOptions) -> (Hypothesis, bool) {
    let constant = constant(line);
    if constant.quality.rss == 0.0 {
        return (constant, false);
    }
    let all = shapes(options.exponents.as_ref(), options.logarithms, options.negative_exponents);
    let allowed = line.allows_logarithms(options.negative_exponents);
    let usable: Vec<Shape> =
        all.iter().copied().filter(|shape| allowed || shape.logarithm.is_zero()).collect();
    let mut best = constant;
    for &shape in &usable {
        let Some(next) = fit(line, shape, constant.quality.rss, options) else { continue };
        // Strictly better, so that of equals the earlier shape stays.
        if next.contributes(options.min_contribution) && next.beats(&best, options.criterion) {
            best = next;
        }
    }
    (best, usable.len() < all.len())
}
