//! Metrics that `metrics/default.yaml` computes from others, as formulas of the query language.
//!
//! ```text
//! name: GKER:OCC_THR
//! exclusive: {"*": [100, {/: [*GKER:FGP_ACT_ACUMU (function), *GKER:FGP_MAX_ACUMU (function)]}]}
//!
//! GKER:OCC_THR = 100 * ($`GKER:FGP_ACT_ACUMU` / $`GKER:FGP_MAX_ACUMU`)
//! ```
//!
//! The file writes a formula for each scope; they are the same formula with inputs of that scope,
//! and so is what a view computes in each of its columns. What loses something is left out, with an
//! issue: formulas that differ between scopes, and those of other statistics than sums.

use std::collections::BTreeSet;
use std::sync::Arc;

use parallax_base::{Issues, Place, Severity, Stage, Unit};
use parallax_formats::hpctoolkit::{
    Combine, Expression, Formula, Operation, Taxonomy, TaxonomyNode,
};
use parallax_model::{DerivedMetric, Metric};

use super::metadata::collect_inputs;

/// The metrics that are computed from several others, in the order of the file.
pub(super) fn metrics(taxonomy: &Taxonomy, issues: &mut Issues) -> Vec<DerivedMetric> {
    let mut out = Vec::new();
    let mut open: Vec<&TaxonomyNode> = taxonomy.roots.iter().rev().collect();
    while let Some(node) = open.pop() {
        open.extend(node.children.iter().rev());
        match derived(taxonomy, node) {
            Ok(metric) => out.extend(metric),
            Err(why) => {
                let place = Place::File { file: Taxonomy::PATH.into() };
                issues.report(Severity::Note, Stage::Import, "derived-metric", place, || {
                    format!("the metric {} cannot be computed: {why}", node.name)
                });
            }
        }
    }
    out
}

/// The metric that a node computes; `None` where it shows what was measured.
fn derived(taxonomy: &Taxonomy, node: &TaxonomyNode) -> Result<Option<DerivedMetric>, String> {
    // Mean, deviation and extremes over locations are statistics of one metric.
    let [variant] = node.variants.as_slice() else { return Ok(None) };
    let Formula::Own { inclusive, exclusive } = &variant.formula else { return Ok(None) };
    let expressions: Vec<&Expression> =
        [&inclusive.standard, &inclusive.custom, &exclusive.standard, &exclusive.custom]
            .into_iter()
            .flatten()
            .collect();
    let mut inputs = Vec::new();
    expressions.iter().for_each(|expression| collect_inputs(expression, &mut inputs));
    let named = |input: &usize| taxonomy.inputs.get(*input).map(|input| &*input.metric);
    let metrics: BTreeSet<&str> = inputs.iter().filter_map(named).collect();
    if metrics.len() < 2 {
        return Ok(None);
    }
    let mut texts = expressions.into_iter().map(|expression| text(taxonomy, expression));
    let Some(first) = texts.next() else { return Ok(None) };
    let formula = first?;
    for other in texts {
        if other? != formula {
            return Err("its formula differs between inclusive and exclusive values".into());
        }
    }
    let (name, unit) = Metric::split_name(&node.name);
    let is_percent = variant.format.trim_end().ends_with("%%");
    let unit = match unit {
        _ if is_percent => Some(Unit::Other("%".into())),
        Unit::Count => None,
        known => Some(known),
    };
    let description =
        if *node.description == *node.name { Arc::from("") } else { Arc::clone(&node.description) };
    Ok(Some(DerivedMetric {
        name: name.into(),
        unit,
        description,
        formula: format!("={formula}").into(),
    }))
}

/// A formula as the query language writes it, with all that it applies in parentheses.
fn text(taxonomy: &Taxonomy, expression: &Expression) -> Result<String, String> {
    Ok(match expression {
        Expression::Number(number) if *number < 0.0 => format!("(-{})", -number),
        Expression::Number(number) => number.to_string(),
        Expression::Input(input) => {
            let Some(input) = taxonomy.inputs.get(*input) else {
                return Err("it names an input that is missing".into());
            };
            if !input.has_formula("$$") || input.combine != Combine::Sum {
                return Err(format!("it uses a statistic of {} other than the sum", input.metric));
            }
            let (name, _) = Metric::split_name(&input.metric);
            format!("$`{name}`")
        }
        Expression::Apply { operation, arguments } => {
            // The depth of an expression is bounded where it is read.
            let texts: Vec<String> =
                arguments.iter().map(|one| text(taxonomy, one)).collect::<Result<_, _>>()?;
            let joined = |symbol: &str| format!("({})", texts.join(symbol));
            let called = |name: &str| format!("{name}({})", texts.join(", "));
            match operation {
                Operation::Add => joined(" + "),
                Operation::Subtract => joined(" - "),
                Operation::Multiply => joined(" * "),
                Operation::Divide => joined(" / "),
                Operation::Power => joined("^"),
                Operation::Negate => format!("(-{})", texts.concat()),
                Operation::SquareRoot => called("sqrt"),
                Operation::NaturalLogarithm => called("log"),
                Operation::Minimum => called("min"),
                Operation::Maximum => called("max"),
                Operation::Logarithm => match texts.as_slice() {
                    [of, base] => format!("(log({of}) / log({base}))"),
                    _ => return Err("its logarithm has no base".into()),
                },
                Operation::Floor
                | Operation::Ceiling
                | Operation::StrictFloor
                | Operation::StrictCeiling => return Err("it rounds".into()),
            }
        }
    })
}
