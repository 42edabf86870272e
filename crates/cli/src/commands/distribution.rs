//! `distribution`.

use clap::Args;
use parallax_protocol::{
    Answer, BalanceBy, Column, DistributionReply, DistributionRequest, MemberTable, Table,
    TypedTable as _,
};
use parallax_service::Spread;
use parallax_service::analysis::balance::Distribution;

use super::Context;
use crate::args::{Database, MetricArgs};
use crate::choice::names;
use crate::text::{KeyValues, Show, Style, TextTable, count, quantity, sparkline};

/// Columns of the shape of a distribution.
const SPARK_WIDTH: usize = 16;

/// Options of `distribution`.
#[derive(Debug, Args)]
pub(crate) struct DistributionArgs {
    #[command(flatten)]
    database: Database,
    /// Context id, or an expression such as 'function(solve)'; if several contexts match, the one
    /// with the largest value is shown.
    #[arg(long, short, value_name = "CONTEXT")]
    context: String,
    /// Use the exclusive instead of the inclusive value.
    #[arg(long, short)]
    exclusive: bool,
    /// Compare individual locations, or sums over the locations of each rank or node.
    #[arg(long, value_parser = names::<BalanceBy>(), default_value_t)]
    per: BalanceBy,
    /// Include locations that ran but have no value for the context, with the value 0 (default:
    /// exclude them).
    #[arg(long)]
    all_locations: bool,
    #[command(flatten)]
    cost: MetricArgs,
}

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
    let request = DistributionRequest {
        context_id,
        metric: arguments.cost.metric,
        profiles: arguments.cost.profiles,
        is_exclusive: arguments.exclusive,
        by: arguments.per,
        all_locations: arguments.all_locations,
        bins: None,
    };
    let Spread { answer, statistics } = opened.distribution(&request, &context.control)?;
    let Answer { reply, tables, unit } = answer;
    notes.extend(reply.notes.iter().cloned());
    notes.extend(reply.reason.iter().cloned());
    let table = tables.rows.clone().into_table_in(&unit);
    context.output.emit_with(&table, |style, out| {
        facts(&reply, statistics.as_ref(), arguments.exclusive, style).write(style, out)?;
        writeln!(out)?;
        let shown = largest_first(&reply, &tables.rows);
        TextTable::new(&shown).show("value", Show::Quantity).write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

fn facts(
    answer: &DistributionReply,
    statistics: Option<&Distribution>,
    is_exclusive: bool,
    style: &Style,
) -> KeyValues {
    let amount = |value: f64| quantity(value, &answer.unit, style);
    let scope = if is_exclusive { "exclusive" } else { "inclusive" };
    let facts = KeyValues::new()
        .section(answer.context.clone())
        .pair("metric", format!("{}, {scope}", answer.metric));
    let Some(found) = statistics else {
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
        .pair("min to max", format!("{} to {}", amount(found.min), amount(found.max)))
        .pair("mean", amount(found.mean))
        .pair("median", amount(median))
        .pair("95th percentile", amount(p95))
        .pair("max/mean", ratio(found.imbalance))
        .pair("CV", ratio(found.variation))
        .pair("histogram", sparkline(&bins, SPARK_WIDTH, style))
}

/// Members and values, the largest value first.
fn largest_first(reply: &DistributionReply, members: &MemberTable) -> Table {
    let values = members.value.0.iter().map(|value| (!value.is_nan()).then_some(*value));
    let mut rows: Vec<(&String, Option<f64>)> = members.label.iter().zip(values).collect();
    let order = |value: Option<f64>| value.unwrap_or(f64::NEG_INFINITY);
    rows.sort_by(|a, b| order(b.1).total_cmp(&order(a.1)));
    Table::new(vec![
        Column::optional_f64s("value", &reply.unit, "", rows.iter().map(|row| row.1).collect()),
        Column::strings(reply.member, "", rows.iter().map(|row| row.0)),
    ])
}
