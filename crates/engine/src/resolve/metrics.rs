//! Metric expressions.

use std::collections::BTreeSet;

use parallax_base::{MetricIdx, Remedy};
use parallax_model::{Metric, MetricCatalog, MetricChoice, MetricInstance, Scope, Statistic};

use super::Notes;
use crate::query::{
    Aggregation, MetricExpr, MetricName, MetricScope, MetricSelector, NameMatch, QueryError,
    TIME_METRICS, near_names,
};

/// What a metric expression names, in the two numberings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedMetrics {
    /// Ids for slices.
    pub choice: MetricChoice,
    /// The metrics, whatever their scopes and statistics.
    pub metrics: Vec<MetricIdx>,
    /// Remarks.
    pub notes: Notes,
}

/// What `expression` names.
///
/// # Errors
/// When a literal name is no metric of the experiment, or an aggregation cannot be had from
/// stored values.
pub fn resolve_metrics(
    catalog: &MetricCatalog,
    expression: &MetricExpr,
) -> Result<ResolvedMetrics, QueryError> {
    let mut notes = Notes::new();
    let is_everything = expression.selectors.iter().any(|selector| {
        selector.name == MetricName::All
            && selector.aggregations.is_empty()
            && selector.scopes.is_empty()
    });
    let (mut values, mut statistics) = (BTreeSet::new(), BTreeSet::new());
    let mut metrics = BTreeSet::new();
    for selector in &expression.selectors {
        reject_derived(expression, selector)?;
        let chosen = named(catalog, expression, &selector.name, &mut notes)?;
        let is_any = !chosen.is_empty();
        let (before, mut any_id) = (values.len() + statistics.len(), false);
        for metric in chosen {
            metrics.insert(metric);
            let metric = catalog.get(metric);
            for instance in metric.instances.iter().filter(|i| takes_values(selector, i)) {
                any_id = true;
                values.insert(instance.id);
            }
            for statistic in metric.statistics.iter().filter(|s| takes_statistic(selector, s)) {
                any_id = true;
                statistics.insert(statistic.id);
            }
        }
        if is_any && !any_id && before == values.len() + statistics.len() {
            notes.push(format!(
                "{selector} is not stored: {} for the scopes and statistics",
                Remedy::SeeMetrics
            ));
        }
    }
    let choice = if is_everything {
        MetricChoice::All
    } else {
        MetricChoice::Ids {
            values: values.into_iter().collect(),
            statistics: statistics.into_iter().collect(),
        }
    };
    Ok(ResolvedMetrics { choice, metrics: metrics.into_iter().collect(), notes })
}

/// The one metric that an expression names where only one can be used; the first of several.
///
/// # Errors
/// As [`resolve_metrics`], and when the expression names none.
pub fn resolve_metric(
    catalog: &MetricCatalog,
    expression: &MetricExpr,
) -> Result<MetricIdx, QueryError> {
    let resolved = resolve_metrics(catalog, expression)?;
    resolved.metrics.first().copied().ok_or_else(|| {
        let text = expression.to_string();
        let note = resolved.notes.first().cloned().unwrap_or_default();
        QueryError::unknown_name(&text, &text, format!("no metric is named by {text}"))
            .with_hint(if note.is_empty() { all_names(catalog) } else { note })
    })
}

fn reject_derived(expression: &MetricExpr, selector: &MetricSelector) -> Result<(), QueryError> {
    let derived = [Aggregation::Mean, Aggregation::StdDev, Aggregation::CfVar];
    let Some(found) = selector.aggregations.iter().find(|a| derived.contains(a)) else {
        return Ok(());
    };
    let word = found.word();
    let message = format!("{word} is not stored in databases but computed over locations");
    let text = expression.to_string();
    Err(QueryError::unknown_name(&text, word, message)
        .with_hint(format!("{}, which computes it from the profiles", Remedy::SeeBalance)))
}

fn named(
    catalog: &MetricCatalog,
    expression: &MetricExpr,
    name: &MetricName,
    notes: &mut Notes,
) -> Result<Vec<MetricIdx>, QueryError> {
    if *name == MetricName::DefaultTime {
        let find = |time: &str| {
            catalog.iter().find(|(_, m)| m.name.eq_ignore_ascii_case(time)).map(|(i, _)| i)
        };
        let found: Vec<_> =
            TIME_METRICS.iter().chain(&["time"]).filter_map(|time| find(time)).take(1).collect();
        if found.is_empty() {
            notes.push(format!(
                "this experiment has no time metric ({}); {}",
                TIME_METRICS.join(", "),
                all_names(catalog)
            ));
        }
        return Ok(found);
    }
    let is_named = |m: &Metric| name.matches(&m.source_name) || name.matches(&m.name);
    let found: Vec<_> = catalog.iter().filter(|(_, m)| is_named(m)).map(|(i, _)| i).collect();
    if !found.is_empty() || *name == MetricName::All {
        return Ok(found);
    }
    let literal = match name {
        MetricName::Word(NameMatch::Exact(text)) | MetricName::Exact(text) => text,
        MetricName::Gpu => {
            notes.push("this experiment has no GPU metrics".into());
            return Ok(found);
        }
        _ => {
            notes.push(format!("no metric matches; {}", all_names(catalog)));
            return Ok(found);
        }
    };
    let known_words = TIME_METRICS.iter().chain(&crate::query::GPU_METRICS);
    if known_words.clone().any(|word| word.eq_ignore_ascii_case(literal)) {
        notes.push(format!("this experiment did not measure {literal}; {}", all_names(catalog)));
        return Ok(found);
    }
    let text = expression.to_string();
    let message = format!("this experiment has no metric {literal}");
    let error = QueryError::unknown_name(&text, literal, message);
    let near = near_names(literal, catalog.iter().map(|(_, m)| &*m.name), 3);
    Err(error.with_hint(if near.is_empty() {
        all_names(catalog)
    } else {
        format!("did you mean {}?", near.join(" or "))
    }))
}

fn all_names(catalog: &MetricCatalog) -> String {
    let mut names: Vec<&str> = catalog.iter().map(|(_, m)| &*m.name).collect();
    let more = names.len().saturating_sub(8);
    names.truncate(8);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("it has {}{rest}", names.join(", "))
}

fn is_scope(scopes: &[MetricScope], scope: &Scope) -> bool {
    let wanted = |wanted: &MetricScope| {
        matches!(
            (wanted, scope),
            (MetricScope::Inclusive, Scope::Inclusive)
                | (MetricScope::Exclusive, Scope::Exclusive)
                | (MetricScope::Point, Scope::Point)
                | (MetricScope::Lexical, Scope::LexicalAware)
        )
    };
    scopes.is_empty() || scopes.iter().any(wanted)
}

fn takes_values(selector: &MetricSelector, instance: &MetricInstance) -> bool {
    let is_asked =
        selector.aggregations.is_empty() || selector.aggregations.contains(&Aggregation::Prop);
    is_asked && is_scope(&selector.scopes, &instance.scope)
}

fn takes_statistic(selector: &MetricSelector, statistic: &Statistic) -> bool {
    let is_asked = selector.aggregations.is_empty()
        || selector.aggregations.iter().any(|a| Some(a.word()) == statistic.name());
    is_asked && is_scope(&selector.scopes, &statistic.scope)
}
