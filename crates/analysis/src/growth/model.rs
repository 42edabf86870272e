//! What goes into a search, what comes out, and the way from one to the other.

use super::basic;
use super::fit::Line;
use super::function::Function;
use super::space::Exponents;
use super::{multi, refining, segmented};
use crate::scaling::Measure;

/// Measurements at one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The parameters' values, in the order of the parameters.
    pub coordinate: Vec<f64>,
    /// The values of the repetitions, at least one.
    pub values: Vec<f64>,
}

/// How the search works. The default is that of Extra-P.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOptions {
    /// Statistic of the repetitions that is modelled.
    pub measure: Measure,
    /// Search for one parameter; for several, the search along each of them.
    pub modeler: Modeler,
    /// What makes one model better than another.
    pub criterion: Criterion,
    /// On which points errors are measured. Models of several parameters are never
    /// cross-validated.
    pub validation: Validation,
    /// Terms with logarithms are tried. They never are where a parameter is below 1.
    pub logarithms: bool,
    /// Terms that fall are tried too. For a term with a negative exponent every parameter must be
    /// above 1 if logarithms shall be tried.
    pub negative_exponents: bool,
    /// Exponents to try instead of the default ones.
    pub exponents: Option<Exponents>,
    /// A term must reach this part of the value at one point at least.
    pub min_contribution: f64,
    /// Points from which the models along each parameter are made.
    pub selection: PointSelection,
    /// For two or three parameters, mixtures such as `a b + a` are tried in addition to `a b` and
    /// `a + b`.
    pub mixtures: bool,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            measure: Measure::Mean,
            modeler: Modeler::Basic,
            criterion: Criterion::Smape,
            validation: Validation::LeaveOneOut,
            logarithms: true,
            negative_exponents: false,
            exponents: None,
            min_contribution: 0.0005,
            selection: PointSelection::Longest,
            mixtures: true,
        }
    }
}

/// The search along one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Modeler {
    /// Tries every shape of the search space.
    #[default]
    Basic,
    /// Refines exponents step by step (Reisert et al., "Following the blind seer", Euro-Par 2017).
    Refining,
    /// Looks for a change of behaviour first and models both sides of it (Ilyas et al.,
    /// "Detecting segmented behavior", Euro-Par 2017 workshops). One parameter only.
    Segmented,
}

/// What makes one model better than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Criterion {
    /// Smaller symmetric mean absolute percentage error.
    #[default]
    Smape,
    /// Smaller residual sum of squares.
    Rss,
}

/// On which points errors are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Validation {
    /// Each point is predicted by the model of all others.
    #[default]
    LeaveOneOut,
    /// On the points the model was made of.
    None,
}

/// Points from which the models along each parameter are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PointSelection {
    /// The longest lines along the parameter; points of several lines with the same value of the
    /// parameter are averaged. Extra-P calls it `auto`.
    #[default]
    Longest,
    /// The line at the smallest values of the other parameters. Extra-P's `smallest`.
    Smallest,
}

/// How well a model fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quality {
    /// Symmetric mean absolute percentage error, `100/n sum 2 |d| / (|y| + |f|)`, in percent.
    pub smape: f64,
    /// Residual sum of squares, `sum d^2`.
    pub rss: f64,
    /// Relative residual sum of squares, `sum (d/y)^2`; points with `y = 0` do not count.
    pub relative_rss: f64,
    /// Mean relative error, `1/n sum |d/y|`; points with `y = 0` do not count.
    pub relative_error: f64,
    /// Adjusted coefficient of determination; 1 for a constant, as Extra-P has it, and `None`
    /// where there are not more points than coefficients.
    pub adjusted_r2: Option<f64>,
}

/// A model of one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// What it says.
    pub function: Function,
    /// How well it fits; cross-validated where the search was.
    pub quality: Quality,
    /// What a reader should know, in the order of the search and without repeats.
    pub warnings: Vec<ModelWarning>,
}

/// What a reader of a model should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelWarning {
    /// Fewer points along a parameter than the five that the method asks for.
    FewPoints {
        /// Position of the parameter.
        parameter: usize,
        /// Points found.
        points: usize,
    },
    /// Logarithms were not tried, because a parameter has values below 1 (or 1, with negative
    /// exponents).
    NoLogarithms {
        /// Position of the parameter.
        parameter: usize,
    },
    /// Too few points to look for segments well (nine) or at all (five).
    FewPointsForSegments {
        /// Points found.
        points: usize,
    },
}

/// Why there is no model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GrowthError {
    /// No points at all.
    #[error("no measurements to model")]
    NoPoints,
    /// A point has no repetitions.
    #[error("point {point} has no values")]
    NoValues {
        /// Position of the point.
        point: usize,
    },
    /// A coordinate or value is not finite.
    #[error("point {point} has a {what} of {value}: finite numbers are needed")]
    NotFinite {
        /// Position of the point.
        point: usize,
        /// Whether it is a coordinate or a value.
        what: &'static str,
        /// The number found.
        value: f64,
    },
    /// Points differ in their number of parameters, or have none.
    #[error("point {point} has {found} parameters, {expected} are expected (at least 1)")]
    Dimensions {
        /// Position of the point.
        point: usize,
        /// Parameters found.
        found: usize,
        /// Parameters of the first point.
        expected: usize,
    },
    /// Segments are only known for one parameter.
    #[error("segmented models exist for one parameter, not for {parameters}")]
    SegmentsOfSeveral {
        /// Number of parameters.
        parameters: usize,
    },
}

/// A configuration with the statistic that is modelled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub(super) coordinate: Vec<f64>,
    pub(super) value: f64,
}

/// The growth model of a quantity over one or several parameters.
///
/// The order of the points matters only where points are equally good choices.
///
/// # Errors
/// When the points cannot be modelled at all: see [`GrowthError`].
pub fn model(points: &[Point], options: &ModelOptions) -> Result<Model, GrowthError> {
    let measured = measure(points, options.measure)?;
    let parameters = measured.first().map_or(0, |point| point.coordinate.len());
    if parameters > 1 {
        if options.modeler == Modeler::Segmented {
            return Err(GrowthError::SegmentsOfSeveral { parameters });
        }
        return Ok(multi::search(&measured, parameters, options));
    }
    let line = Line {
        parameter: 0,
        xs: measured.iter().filter_map(|point| point.coordinate.first().copied()).collect(),
        ys: measured.iter().map(|point| point.value).collect(),
    };
    Ok(match options.modeler {
        Modeler::Basic => basic::search(&line, options),
        Modeler::Refining => refining::search(&line, options),
        Modeler::Segmented => segmented::search(&line, options),
    }
    .into_model())
}

fn measure(points: &[Point], measure: Measure) -> Result<Vec<Measured>, GrowthError> {
    let expected = points.first().ok_or(GrowthError::NoPoints)?.coordinate.len();
    let finite = |point: usize, what: &'static str, values: &[f64]| {
        values
            .iter()
            .find(|value| !value.is_finite())
            .map_or(Ok(()), |&value| Err(GrowthError::NotFinite { point, what, value }))
    };
    points
        .iter()
        .enumerate()
        .map(|(at, point)| {
            let found = point.coordinate.len();
            if found != expected || found == 0 {
                return Err(GrowthError::Dimensions { point: at, found, expected });
            }
            finite(at, "coordinate", &point.coordinate)?;
            finite(at, "value", &point.values)?;
            let value = measure.of(&point.values).ok_or(GrowthError::NoValues { point: at })?;
            Ok(Measured { coordinate: point.coordinate.clone(), value })
        })
        .collect()
}
