//! `distribution`.

use parallax_service::{Answer, Column, CostScope, DistributionAnswer, DistributionRequest, Table};
use parallax_wire::{Cell, Cells};

use super::Context;
use crate::args::DistributionArgs;
use crate::text::{KeyValues, Show, Style, TextTable, count, quantity, sparkline};

/// Columns of the shape of a distribution.
const SPARK_WIDTH: usize = 16;

pub(super) fn distribution(context: &Context, arguments: DistributionArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.database)?;
    let mut notes = Vec::new();
    let context_id = match arguments.context.parse() {
        Ok(id) => id,
        Err(_) => {
            let found = opened.context_id(&arguments.context, &context.control)?;
            notes.extend(found.notes);
            found.value
        }
    };
    let scope = if arguments.exclusive { CostScope::Exclusive } else { CostScope::Inclusive };
    let request = DistributionRequest {
        context_id,
        metric: arguments.cost.metric,
        scope,
        profiles: arguments.cost.profiles,
        by: arguments.per.choice(),
    };
    let Answer { value: answer, notes: more } = opened.distribution(&request, &context.control)?;
    notes.extend(more);
    notes.extend(answer.reason.iter().filter(|r| !r.ends_with("measures time")).cloned());
    context.output.emit_with(&answer.table, |style, out| {
        facts(&answer, scope, style).write(style, out)?;
        writeln!(out)?;
        let shown = largest_first(&answer)?;
        TextTable::new(&shown).show("value", Show::Quantity).write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

fn facts(answer: &DistributionAnswer, scope: CostScope, style: &Style) -> KeyValues {
    let unit = answer.unit.to_string();
    let amount = |value: f64| quantity(value, &unit, style);
    let scope = match scope {
        CostScope::Inclusive => "inclusive",
        CostScope::Exclusive => "exclusive",
    };
    let facts = KeyValues::new()
        .section(answer.context.clone())
        .pair("metric", format!("{}, {scope}", answer.metric));
    let Some(found) = &answer.statistics else {
        return facts.pair(format!("{}s", answer.member), "none with a value");
    };
    let ratio = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    let bins: Vec<f64> = found.histogram.iter().map(|&n| f64::from(n)).collect();
    let [_, _, median, _, p95] = found.percentiles;
    facts
        .pair(
            format!("{}s", answer.member),
            format!(
                "{}, {} with a value",
                count(found.num_members as u64),
                count(found.num_values as u64)
            ),
        )
        .pair("min..max", format!("{} .. {}", amount(found.min), amount(found.max)))
        .pair("mean", amount(found.mean))
        .pair("median", amount(median))
        .pair("95 % below", amount(p95))
        .pair("max/mean", ratio(found.imbalance))
        .pair("variation", ratio(found.variation))
        .pair("little..much", sparkline(&bins, SPARK_WIDTH, style))
}

/// Members and values as a person compares them.
fn largest_first(answer: &DistributionAnswer) -> std::io::Result<Table> {
    let column = |name: &str| answer.table.column(name).map(Cells::of).transpose();
    let (Some(labels), Some(values)) = (column("label")?, column("value")?) else {
        return Ok(answer.table.clone());
    };
    let mut rows: Vec<(&str, Option<f64>)> = (0..values.len())
        .map(|row| match labels.get(row) {
            Cell::Text(label) => (label, values.get(row).as_f64()),
            _ => ("", None),
        })
        .collect();
    let order = |value: Option<f64>| value.unwrap_or(f64::NEG_INFINITY);
    rows.sort_by(|a, b| order(b.1).total_cmp(&order(a.1)));
    let unit = answer.unit.to_string();
    Ok(Table::new(vec![
        Column::optional_f64s("value", &unit, "", rows.iter().map(|row| row.1).collect()),
        Column::strings(answer.member, "", rows.iter().map(|row| row.0)),
    ]))
}
