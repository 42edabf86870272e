//! The query language: from text to a tree that says which profiles, contexts, metrics and times.
//!
//! The expressions of hpcanalysis are the base (`rank(0-9).thread(0)`,
//! `function(main).function(MPI_*)`, `cputime:sum (i,e)`), with its ambiguities settled; Hatchet's
//! path patterns are a second notation for contexts. `docs/query-language.md` is the reference.
//!
//! **Ranges include their end.** `rank(0-9)` is ten ranks. (hpcanalysis leaves the end out.)
//!
//! This module knows no experiment, only the kinds of identity that locations have. Every tree prints (`Display`) the canonical form of its
//! expression, which reads back as the same tree. Reading takes time linear in the length of the
//! expression, and never fails on any text but with a [`QueryError`] that says where and why.

mod argument;
mod contexts;
mod contexts_parse;
mod cursor;
mod error;
mod formula;
mod formula_parse;
mod metrics;
mod name;
mod near;
mod path;
mod path_object;
mod path_string;
mod predicate;
mod profiles;
mod range;
mod search;
mod window;

#[cfg(test)]
mod tests;

pub use contexts::{ChainStep, ContextExpr, ContextSelector, ModulePlace, Relation, SourcePlace};
pub use contexts_parse::parse_contexts;
pub use error::{QueryError, QueryErrorKind};
pub use formula::{Formula, MetricReference};
pub use formula_parse::{is_formula, parse_formula};
pub use metrics::{
    Aggregation, GPU_METRICS, MetricExpr, MetricName, MetricScope, MetricSelector, TIME_METRICS,
    parse_metrics, split_unit,
};
pub use name::{Glob, NameMatch, PatternError, RegexMatch, normalised_name};
pub use near::near_names;
pub use path::{
    PathColumn, PathCondition, PathPattern, PathQuery, PathStep, PathTest, PathValue, Quantifier,
};
pub use predicate::{
    ATTRIBUTES, CompareOp, NumberAttribute, Predicate, TextAttribute, Threshold, Unit,
};
pub use profiles::{ProfileExpr, parse_profiles};
pub use range::{Range, RangeList};
pub use search::NameSearch;
pub use window::{TimePoint, TimeWindow, parse_window};

/// The longest expression in bytes.
pub const MAX_LENGTH: usize = 1 << 20;

/// How deep parentheses and negations may nest.
pub const MAX_DEPTH: usize = 64;
