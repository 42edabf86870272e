//! What the language accepts, how it complains, and what holds for every expression.

mod bad;
mod docs;
mod formula;
mod good;
mod matching;
mod property;

use super::{
    QueryError, parse_contexts, parse_formula, parse_metrics, parse_profiles, parse_window,
};

/// Reads an expression and gives its canonical form.
type Canonical = fn(&str) -> Result<String, QueryError>;

const PROFILES: Canonical = |text| parse_profiles(text).map(|parsed| parsed.to_string());
const CONTEXTS: Canonical = |text| parse_contexts(text).map(|parsed| parsed.to_string());
const METRICS: Canonical = |text| parse_metrics(text).map(|parsed| parsed.to_string());
const WINDOW: Canonical = |text| parse_window(text).map(|parsed| parsed.to_string());
const FORMULA: Canonical = |text| parse_formula(text).map(|parsed| parsed.to_string());
