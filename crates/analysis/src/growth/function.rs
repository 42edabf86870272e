//! Functions in performance model normal form.

use super::exponent::Exponent;

/// `x^i log2(x)^j` of one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor {
    /// Position of the parameter.
    pub parameter: usize,
    /// `i`; 0 when the factor is a pure logarithm.
    pub polynomial: Exponent,
    /// `j`; 0 when the factor is a pure power.
    pub logarithm: Exponent,
}

/// A coefficient times a product of factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The coefficient, in the unit of the modelled quantity.
    pub coefficient: f64,
    /// The factors, by parameter.
    pub factors: Vec<Factor>,
}

/// A constant plus terms.
#[derive(Debug, Clone, PartialEq)]
pub struct Sum {
    /// The constant, in the unit of the modelled quantity.
    pub constant: f64,
    /// The terms; empty for a constant function.
    pub terms: Vec<Term>,
}

/// What a model says about a quantity.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// One sum everywhere.
    Sum(Sum),
    /// Two sums of one parameter, for behaviour that changes at some point.
    Segmented {
        /// Holds up to and including `below_end`.
        below: Sum,
        /// End of the lower segment.
        below_end: f64,
        /// Holds from `above_start`, and above `below_end`.
        above: Sum,
        /// Begin of the upper segment; equals `below_end` when both share a point. Nothing is
        /// known in between otherwise.
        above_start: f64,
    },
}

/// `x^i log2(x)^j`, each part left out when its exponent is 0.
pub(super) fn basis(x: f64, polynomial: Exponent, logarithm: Exponent) -> f64 {
    let power = |base: f64, exponent: Exponent| {
        if exponent.is_zero() { 1.0 } else { libm::pow(base, exponent.value()) }
    };
    let logarithmic = if logarithm.is_zero() { 1.0 } else { power(libm::log2(x), logarithm) };
    power(x, polynomial) * logarithmic
}

impl Factor {
    /// The factor at a point; `None` when the point has too few parameters or the factor is not
    /// defined there (a logarithm or a root of a negative number).
    #[must_use]
    pub fn evaluate(&self, point: &[f64]) -> Option<f64> {
        let value = basis(*point.get(self.parameter)?, self.polynomial, self.logarithm);
        value.is_finite().then_some(value)
    }
}

impl Term {
    /// The product of the factors at a point, without the coefficient.
    #[must_use]
    pub fn basis(&self, point: &[f64]) -> Option<f64> {
        self.factors.iter().try_fold(1.0, |product, factor| Some(product * factor.evaluate(point)?))
    }

    /// The term at a point.
    #[must_use]
    pub fn evaluate(&self, point: &[f64]) -> Option<f64> {
        Some(self.coefficient * self.basis(point)?)
    }
}

impl Sum {
    /// The sum at a point; `None` where a factor is not defined or the value is not finite.
    #[must_use]
    pub fn evaluate(&self, point: &[f64]) -> Option<f64> {
        self.terms
            .iter()
            .try_fold(self.constant, |total, term| Some(total + term.evaluate(point)?))
            .filter(|value| value.is_finite())
    }

    /// Whether there are no terms.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }
}

impl Function {
    /// The value at a point; `None` where undefined, such as between two segments.
    #[must_use]
    pub fn evaluate(&self, point: &[f64]) -> Option<f64> {
        self.part(point)?.evaluate(point)
    }

    /// The sum that holds at a point.
    #[must_use]
    pub fn part(&self, point: &[f64]) -> Option<&Sum> {
        match self {
            Self::Sum(sum) => Some(sum),
            Self::Segmented { below, below_end, above, above_start } => {
                let x = *point.first()?;
                if x <= *below_end {
                    Some(below)
                } else if x >= *above_start {
                    Some(above)
                } else {
                    None
                }
            }
        }
    }

    /// Whether the function is a constant everywhere.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Sum(sum) if sum.is_constant())
    }

    /// The term that contributes most at a point: what dominates there. `None` when the constant
    /// does, or the function is not defined. Of equal terms the first.
    #[must_use]
    pub fn dominant_term(&self, point: &[f64]) -> Option<&Term> {
        let sum = self.part(point)?;
        let mut best = (sum.constant.abs(), None);
        for term in &sum.terms {
            let size = term.evaluate(point)?.abs();
            if size > best.0 {
                best = (size, Some(term));
            }
        }
        best.1
    }
}
