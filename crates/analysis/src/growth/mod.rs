//! Growth models: how a quantity grows with the parameters of a run, found by the method of
//! Extra-P and agreeing with version 4.2.5 of it.
//!
//! A model is a sum of a constant and products of `x^i log2(x)^j` (the performance model normal
//! form of Calotoiu et al., "Using automated performance modeling to find scalability bugs in
//! complex codes", SC 2013). [`model()`] searches it for one parameter or several.
//!
//! What is computed, and where it differs from Extra-P, stands in `docs/scaling-formulas.md`.
//! Powers and logarithms come from a portable library, so a model has the same bits everywhere.

mod basic;
mod exponent;
mod fit;
mod format;
mod function;
mod left_out;
mod model;
mod multi;
mod refining;
mod segmented;
mod space;
mod strong;

pub use exponent::{Exponent, ExponentError};
pub use format::Style;
pub use function::{Factor, Function, Sum, Term};
pub use model::{
    Criterion, GrowthError, Model, ModelOptions, ModelWarning, Modeler, Point, PointSelection,
    Quality, Validation, model,
};
pub use space::{Exponents, Shape, default_shapes};
pub use strong::{falls_strictly, resource_consumption};
