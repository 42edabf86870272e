//! Formulas of derived metrics.

use parallax_base::{MetricIdx, Remedy, Unit};
use parallax_model::MetricCatalog;

use super::metrics::{resolve_metric, resolve_metrics};
use crate::query::{
    Aggregation, Formula, MetricExpr, MetricName, MetricReference, MetricScope, NameMatch,
    QueryError,
};

/// A formula with the metrics of an experiment that it names.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedFormula {
    /// The formula.
    pub formula: Formula,
    /// The distinct metrics that it names, in the order in which they are first written.
    pub metrics: Vec<MetricIdx>,
    /// For each reference of the formula where its values are.
    pub operands: Vec<Operand>,
}

/// Where the values of a reference are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    /// Position among [`ResolvedFormula::metrics`].
    pub metric: usize,
    /// Which of its values.
    pub scope: OperandScope,
}

/// Which values of a metric a formula computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandScope {
    /// Those of the column that is computed: inclusive ones for the inclusive column.
    Column,
    /// Inclusive ones, whatever the column.
    Inclusive,
    /// Exclusive ones, whatever the column.
    Exclusive,
    /// The value of the whole execution.
    Whole,
}

/// What `formula` names. `expression` is its text, for errors that show the place.
///
/// # Errors
/// When it names no metric, one that the experiment lacks, or values that are no sums.
pub fn resolve_formula(
    catalog: &MetricCatalog,
    formula: Formula,
    expression: &str,
) -> Result<ResolvedFormula, QueryError> {
    let (mut metrics, mut operands) = (Vec::new(), Vec::new());
    for reference in formula.references() {
        let scope = scope_of(reference, expression)?;
        let named = MetricExpr { selectors: vec![reference.metric.clone()] };
        let metric = resolve_metric(catalog, &named)
            .map_err(|error| placed(error, reference, expression))?;
        let is_pattern = matches!(
            &reference.metric.name,
            MetricName::Word(NameMatch::Glob(_)) | MetricName::Regex(_)
        );
        if is_pattern && resolve_metrics(catalog, &named)?.metrics.len() > 1 {
            let name = name_of(reference);
            let message = "a formula computes with one metric at a time, and this names several";
            return Err(QueryError::unknown_name(expression, &name, message)
                .with_hint("add them up: `$a + $b`"));
        }
        let known = metrics.iter().position(|other| *other == metric);
        let metric = known.unwrap_or_else(|| {
            metrics.push(metric);
            metrics.len() - 1
        });
        operands.push(Operand { metric, scope });
    }
    if metrics.is_empty() {
        let message = "this formula names no metric";
        return Err(QueryError::unknown_name(expression, expression, message)
            .with_hint("a metric begins with `$`: `$cputime`"));
    }
    Ok(ResolvedFormula { formula, metrics, operands })
}

impl ResolvedFormula {
    /// The unit of the result; see [`Formula::unit`].
    #[must_use]
    pub fn unit(&self, catalog: &MetricCatalog) -> Unit {
        self.formula.unit(|reference| {
            let metric = self.operands.get(reference).and_then(|o| self.metrics.get(o.metric));
            metric.map_or(Unit::Ratio, |&metric| catalog.get(metric).unit.clone())
        })
    }
}

fn scope_of(reference: &MetricReference, expression: &str) -> Result<OperandScope, QueryError> {
    let metric = &reference.metric;
    let wrong = |message: &str, hint: &str| {
        let name = name_of(reference);
        Err(QueryError::unknown_name(expression, &name, message).with_hint(hint))
    };
    let is_sum = |one: &Aggregation| matches!(one, Aggregation::Sum | Aggregation::Prop);
    if !metric.aggregations.iter().all(is_sum) {
        return wrong(
            "a formula computes with sums over locations",
            &format!("omit the aggregation; {} for single ones", Remedy::SeeDistribution),
        );
    }
    match (metric.scopes.as_slice(), reference.is_whole) {
        ([], false) => Ok(OperandScope::Column),
        ([] | [MetricScope::Inclusive], true) => Ok(OperandScope::Whole),
        ([MetricScope::Inclusive], false) => Ok(OperandScope::Inclusive),
        ([MetricScope::Exclusive], false) => Ok(OperandScope::Exclusive),
        (_, true) => wrong(
            "the whole execution has one value, its inclusive one",
            "leave the scope out after `@`",
        ),
        (_, false) => wrong(
            "a formula computes with inclusive (i) or exclusive (e) values",
            "leave the scope out to take that of the column",
        ),
    }
}

/// The name of a metric as it stands in the formula.
fn name_of(reference: &MetricReference) -> String {
    match &reference.metric.name {
        MetricName::Word(word) => word.text().to_owned(),
        MetricName::Exact(exact) => exact.clone(),
        _ => reference.metric.to_string(),
    }
}

/// An error about a metric, shown in the whole formula.
fn placed(error: QueryError, reference: &MetricReference, expression: &str) -> QueryError {
    let placed = QueryError::unknown_name(expression, &name_of(reference), error.message);
    match error.hint {
        Some(hint) => placed.with_hint(hint),
        None => placed,
    }
}
