//! From expressions to what they name in an experiment.
//!
//! A literal name that nothing bears is an error that lists near names. A pattern, a family word
//! (`time`, `gpu`) or a kind that nothing matches is an empty choice with a note: that an
//! experiment has no MPI is an answer, a typing mistake is not.

mod contexts;
mod formula;
mod metrics;
mod paths;
mod profiles;

pub use contexts::{find_functions, resolve_contexts};
pub use formula::{Operand, OperandScope, ResolvedFormula, resolve_formula};
pub use metrics::{ResolvedMetrics, resolve_metric, resolve_metrics};
pub use profiles::{ProfileSet, resolve_profiles};

/// Something the user should know about how an expression was understood.
pub type Notes = Vec<String>;
