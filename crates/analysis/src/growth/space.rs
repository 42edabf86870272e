//! Which terms the search tries, and in which order.

use super::exponent::Exponent;

/// The exponents of one candidate term `x^polynomial log2(x)^logarithm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Exponent of the parameter.
    pub polynomial: Exponent,
    /// Exponent of its logarithm.
    pub logarithm: Exponent,
}

/// Exponents chosen by the user instead of the default search space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exponents {
    /// Exponents of the parameter.
    pub polynomial: Vec<Exponent>,
    /// Exponents of the logarithm.
    pub logarithm: Vec<Exponent>,
    /// Only products of both, no pure powers and no pure logarithms.
    pub force_combination: bool,
    /// The default space is tried after these.
    pub keep_defaults: bool,
}

/// Numerator, denominator and exponent of the logarithm of the 42 default hypotheses. Their order
/// decides between equally good ones.
const POSITIVE: [(i32, i32, i32); 42] = [
    (0, 1, 1),
    (0, 1, 2),
    (1, 4, 0),
    (1, 3, 0),
    (1, 4, 1),
    (1, 3, 1),
    (1, 4, 2),
    (1, 3, 2),
    (1, 2, 0),
    (1, 2, 1),
    (1, 2, 2),
    (2, 3, 0),
    (3, 4, 0),
    (2, 3, 1),
    (3, 4, 1),
    (4, 5, 0),
    (2, 3, 2),
    (3, 4, 2),
    (1, 1, 0),
    (1, 1, 1),
    (1, 1, 2),
    (5, 4, 0),
    (5, 4, 1),
    (4, 3, 0),
    (4, 3, 1),
    (3, 2, 0),
    (3, 2, 1),
    (3, 2, 2),
    (5, 3, 0),
    (7, 4, 0),
    (2, 1, 0),
    (2, 1, 1),
    (2, 1, 2),
    (9, 4, 0),
    (7, 3, 0),
    (5, 2, 0),
    (5, 2, 1),
    (5, 2, 2),
    (8, 3, 0),
    (11, 4, 0),
    (3, 1, 0),
    (3, 1, 1),
];

/// The default shapes in the order in which they are tried.
///
/// Without `logarithms` these are the pure powers. With `negative`, every shape follows mirrored:
/// first those with a logarithm, then the pure powers.
#[must_use]
pub fn default_shapes(logarithms: bool, negative: bool) -> Vec<Shape> {
    let shapes = || {
        POSITIVE.iter().map(|&(numerator, denominator, logarithm)| Shape {
            polynomial: Exponent::reduced(numerator, denominator),
            logarithm: Exponent::whole(logarithm),
        })
    };
    let mirrored = |shape: Shape| Shape {
        polynomial: Exponent::reduced(
            -shape.polynomial.numerator(),
            shape.polynomial.denominator(),
        ),
        logarithm: Exponent::whole(-shape.logarithm.numerator()),
    };
    let pure = |shape: &Shape| shape.logarithm.is_zero();
    let mut found: Vec<Shape> = shapes().filter(|shape| logarithms || pure(shape)).collect();
    if negative {
        if logarithms {
            found.extend(shapes().filter(|shape| !pure(shape)).map(mirrored));
        }
        found.extend(shapes().filter(pure).map(mirrored));
    }
    found
}

/// The shapes for user-chosen exponents, with the defaults where wanted; the defaults alone when
/// no exponent was chosen.
pub(super) fn shapes(chosen: Option<&Exponents>, logarithms: bool, negative: bool) -> Vec<Shape> {
    let defaults = || default_shapes(logarithms, negative);
    let Some(chosen) = chosen else { return defaults() };
    if chosen.polynomial.is_empty() && chosen.logarithm.is_empty() {
        return defaults();
    }
    let zero = [Exponent::ZERO];
    let product = |polynomials: &[Exponent], logarithms: &[Exponent]| -> Vec<Shape> {
        polynomials
            .iter()
            .flat_map(|&polynomial| {
                logarithms.iter().map(move |&logarithm| Shape { polynomial, logarithm })
            })
            .collect()
    };
    let mut found = Vec::new();
    if !chosen.force_combination {
        found.extend(product(&chosen.polynomial, &zero));
        found.extend(product(&zero, &chosen.logarithm));
    }
    found.extend(product(&chosen.polynomial, &chosen.logarithm));
    found.retain(|shape| !(shape.polynomial.is_zero() && shape.logarithm.is_zero()));
    if chosen.keep_defaults {
        found.extend(defaults());
    }
    found
}
