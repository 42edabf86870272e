//! The segmented search along one parameter: is there a point at which behaviour changes?
//!
//! Windows of five neighbouring points are modelled. A window across the change fits badly, so
//! the windows with a large error mark where it is.

use super::basic;
use super::fit::{Errors, FitResult, Line, adjusted_r2, constant};
use super::function::Function;
use super::model::{ModelOptions, ModelWarning};

const WINDOW: usize = basic::MIN_POINTS;
/// A window with a larger error than this proves segments.
const CERTAIN_ERROR: f64 = 0.5;
/// So does an error this many times larger than that of the window before.
const CERTAIN_JUMP: f64 = 4.0;
/// Windows with at least this error lie across the change.
const SUSPECT_ERROR: f64 = 0.1;
const TINY: f64 = 1e-16;

pub(super) fn search(line: &Line, options: &ModelOptions) -> FitResult {
    let points = line.ys.len();
    let mut order: Vec<usize> = (0..points).collect();
    order.sort_by(|&a, &b| {
        let x = |at: usize| line.xs.get(at).copied().unwrap_or(0.0);
        x(a).total_cmp(&x(b))
    });
    let by_order =
        |values: &[f64]| order.iter().filter_map(|&at| values.get(at).copied()).collect();
    let line = &Line { parameter: line.parameter, xs: by_order(&line.xs), ys: by_order(&line.ys) };

    let mut found = split(line, options).unwrap_or_else(|| basic::search(line, options));
    if points < 2 * WINDOW - 1 {
        found.warnings.insert(0, ModelWarning::FewPointsForSegments { points });
    }
    found
}

/// The segmented model, or `None` when there are no segments.
fn split(line: &Line, options: &ModelOptions) -> Option<FitResult> {
    let points = line.ys.len();
    let windows = points.checked_sub(WINDOW - 1).filter(|&windows| windows > 0)?;
    let errors: Vec<f64> = (0..windows)
        .map(|at| basic::best(&line.slice(at..at + WINDOW), options).0.normalised_rss.abs())
        .collect();
    let jumps: Vec<f64> = std::iter::once(f64::NEG_INFINITY)
        .chain(errors.windows(2).map(|pair| pair[1] / (pair[0] + TINY)))
        .collect();
    // An error that is not a number hides the others, as it cannot be compared.
    let certain = errors.iter().all(|error| !error.is_nan())
        && errors.iter().any(|&error| error > CERTAIN_ERROR);
    if !certain && !jumps.iter().any(|&jump| jump > CERTAIN_JUMP) {
        return None;
    }
    let suspects: Vec<usize> = errors
        .iter()
        .zip(&jumps)
        .enumerate()
        .filter(|&(_, (&error, &jump))| error >= SUSPECT_ERROR || jump > CERTAIN_JUMP)
        .map(|(at, _)| at)
        .collect();
    let middle = *suspects.get(suspects.len() / 2)?;
    let half = WINDOW / 2;
    let (below_last, above_first) = if suspects.len() == WINDOW - 2 {
        // Exactly as many windows as can have the change inside: it is at a measured point.
        (middle + half, middle + half)
    } else {
        // The window before the first one is the last one, as in Extra-P.
        let window = middle.checked_sub(1).unwrap_or(windows - 1);
        (window + half, window + half + 1)
    };
    let below = basic::search(&line.slice(0..below_last + 1), options);
    let above = basic::search(&line.slice(above_first..points), options);
    let (Function::Sum(below_sum), Function::Sum(above_sum)) = (below.function, above.function)
    else {
        return None;
    };
    let function = Function::Segmented {
        below: below_sum,
        below_end: *line.xs.get(below_last)?,
        above: above_sum,
        above_start: *line.xs.get(above_first)?,
    };
    let mut errors = Errors::default();
    for (&x, &actual) in line.xs.iter().zip(&line.ys) {
        errors.add(function.evaluate(&[x])?, actual);
    }
    let total = constant(line).quality.rss;
    let quality = errors.quality(points, None);
    let quality = super::model::Quality {
        adjusted_r2: adjusted_r2(quality.rss, total, points, 1),
        ..quality
    };
    let mut warnings = below.warnings;
    warnings.extend(above.warnings);
    Some(FitResult { function, quality, warnings })
}
