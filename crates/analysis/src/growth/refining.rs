//! The refining search along one parameter: exponents are narrowed down step by step.
//!
//! The space is cut into slices: powers with a fixed logarithm, and logarithms without a power. In
//! each slice the best whole exponent is found first; then its neighbours move towards it by
//! mediants, as in a Farey sequence, until no slice halves its error any more.

use super::exponent::Exponent;
use super::fit::{FitResult, Hypothesis, Line, constant, fit};
use super::function::Function;
use super::model::{Criterion, ModelOptions, ModelWarning};
use super::space::Shape;
use crate::growth::basic::MIN_POINTS;

const MAX_POLYNOMIAL: i32 = 5;
const MAX_LOGARITHM: i32 = 2;
const MAX_STEPS: usize = 10;
/// A refined exponent must make the error this much smaller, and ever more after each refusal.
const ACCEPTANCE: f64 = 1.5;
/// The search ends when no slice makes its error this much smaller.
const TERMINATION: f64 = 2.0;
/// A model must make the error of the constant this much smaller.
const NON_CONSTANCY: f64 = 1.3;

/// One direction of the search space: which exponent varies, and the value of the other.
#[derive(Debug, Clone, Copy)]
enum Slice {
    Powers { logarithm: Exponent },
    Logarithms,
}

impl Slice {
    fn shape(self, varied: Exponent) -> Shape {
        match self {
            Self::Powers { logarithm } => Shape { polynomial: varied, logarithm },
            Self::Logarithms => Shape { polynomial: Exponent::ZERO, logarithm: varied },
        }
    }

    fn start(self) -> Vec<Exponent> {
        let most = match self {
            Self::Powers { .. } => MAX_POLYNOMIAL,
            Self::Logarithms => MAX_LOGARITHM,
        };
        (0..=most).map(Exponent::whole).collect()
    }
}

/// Exponents between which a slice still looks.
#[derive(Debug, Clone, Copy)]
struct State {
    left: Exponent,
    centre: Exponent,
    right: Exponent,
}

pub(super) fn search(line: &Line, options: &ModelOptions) -> FitResult {
    let mut warnings = Vec::new();
    if line.ys.len() < MIN_POINTS {
        warnings.push(ModelWarning::FewPoints { parameter: line.parameter, points: line.ys.len() });
    }
    let allowed = line.allows_logarithms(false);
    if options.logarithms && !allowed {
        warnings.push(ModelWarning::NoLogarithms { parameter: line.parameter });
    }
    let constant = constant(line);
    let refined = if constant.quality.rss == 0.0 {
        None
    } else {
        refine(line, constant.quality.rss, options.logarithms && allowed, options)
    };
    let best = refined
        .filter(|best| {
            let improvement = constant.quality.smape / best.quality.smape;
            let too_little = improvement < NON_CONSTANCY;
            best.contributes(options.min_contribution) && !too_little
        })
        .unwrap_or(constant);
    FitResult { function: Function::Sum(best.sum(line.parameter)), quality: best.quality, warnings }
}

fn refine(line: &Line, total: f64, logarithms: bool, options: &ModelOptions) -> Option<Hypothesis> {
    let most = if logarithms { MAX_LOGARITHM } else { 0 };
    let mut slices: Vec<Slice> = (0..=most)
        .map(|logarithm| Slice::Powers { logarithm: Exponent::whole(logarithm) })
        .collect();
    if logarithms {
        slices.push(Slice::Logarithms);
    }
    let mut states = Vec::new();
    let mut previous = Vec::new();
    // A slice in which nothing can be fitted takes no further part.
    slices.retain(|&slice| {
        let exponents = slice.start();
        let Some((at, hypothesis)) = best_of(line, slice, &exponents, total, options) else {
            return false;
        };
        let pick = |at: usize| exponents.get(at).copied();
        let (Some(left), Some(centre)) = (pick(at.saturating_sub(1)), pick(at)) else {
            return false;
        };
        states.push(State { left, centre, right: pick(at + 1).unwrap_or(centre) });
        previous.push(hypothesis);
        true
    });
    let mut accepted = previous.clone();
    let mut threshold = ACCEPTANCE;
    for _ in 0..MAX_STEPS {
        let mut step = Vec::new();
        for (&slice, state) in slices.iter().zip(&mut states) {
            let (hypothesis, next) = narrow(line, slice, *state, total, options)?;
            *state = next;
            step.push(hypothesis);
        }
        let best_step = first_best(&step, options.criterion)?;
        let best = first_best(&accepted, options.criterion)?;
        if best.quality.smape / best_step.quality.smape >= threshold {
            accepted.push(best_step);
            threshold = ACCEPTANCE;
        } else {
            threshold *= ACCEPTANCE;
        }
        let improvement = previous
            .iter()
            .zip(&step)
            .map(|(before, after)| before.quality.smape / after.quality.smape)
            .reduce(|largest, next| if next > largest { next } else { largest })?;
        // Also ends when the improvement is not a number.
        if !matches!(
            improvement.partial_cmp(&TERMINATION),
            Some(std::cmp::Ordering::Greater | std::cmp::Ordering::Equal)
        ) {
            break;
        }
        previous = step;
    }
    first_best(&accepted, options.criterion)
}

/// The best of the centre and the two exponents between it and its bounds, and where to look next.
fn narrow(
    line: &Line,
    slice: Slice,
    old: State,
    total: f64,
    options: &ModelOptions,
) -> Option<(Hypothesis, State)> {
    let state = State {
        left: old.left.mediant(old.centre)?,
        centre: old.centre,
        right: old.centre.mediant(old.right)?,
    };
    let exponents = [state.left, state.centre, state.right];
    let (at, hypothesis) = best_of(line, slice, &exponents, total, options)?;
    let next = match at {
        0 => State { left: old.left, centre: state.left, right: state.centre },
        1 => state,
        _ => State { left: state.centre, centre: state.right, right: old.right },
    };
    Some((hypothesis, next))
}

/// The best of some exponents and its position. The first that can be fitted stands even if its
/// term contributes little; the others must contribute and be strictly better.
fn best_of(
    line: &Line,
    slice: Slice,
    exponents: &[Exponent],
    total: f64,
    options: &ModelOptions,
) -> Option<(usize, Hypothesis)> {
    let mut best: Option<(usize, Hypothesis)> = None;
    for (at, &exponent) in exponents.iter().enumerate() {
        let shape = slice.shape(exponent);
        if shape.polynomial.is_zero() && shape.logarithm.is_zero() {
            continue;
        }
        let Some(next) = fit(line, shape, total, options) else { continue };
        let better = best.as_ref().is_none_or(|(_, best)| {
            next.contributes(options.min_contribution) && next.beats(best, options.criterion)
        });
        if better {
            best = Some((at, next));
        }
    }
    best
}

fn first_best(hypotheses: &[Hypothesis], criterion: Criterion) -> Option<Hypothesis> {
    hypotheses
        .iter()
        .reduce(|best, next| if next.beats(best, criterion) { next } else { best })
        .copied()
}
