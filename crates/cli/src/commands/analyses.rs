//! `balance`, `report` and `idleness`.

use parallax_service::{Answer, BalanceAnswer, BalanceBy, BalanceRequest, Column, Table};

use super::Context;
use crate::args::{BalanceArgs, Per};
use crate::text::{Show, Style, TextTable, quantity, sparkline};

pub(super) fn balance(context: &Context, arguments: BalanceArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.database)?;
    let request = BalanceRequest {
        metric: arguments.cost.metric,
        profiles: arguments.cost.profiles,
        contexts: arguments.contexts,
        is_exclusive: arguments.exclusive,
        by: match arguments.per {
            Per::Profile => BalanceBy::Profile,
            Per::Rank => BalanceBy::Rank,
            Per::Node => BalanceBy::Node,
        },
        by_context: arguments.by_context,
        stored_only: arguments.stored_only,
        num_slowest: arguments.slowest,
    };
    let Answer { value: answer, mut notes } = opened.balance(&request, &context.control)?;
    notes.extend(answer.reason.iter().filter(|r| !r.ends_with("measures time")).cloned());
    let table = answer.balance.to_table(opened.session());
    context.output.emit_with(&table, |style, out| {
        let shown = balance_text(&answer, style);
        TextTable::new(&shown)
            .title(balance_title(&answer, style))
            .show("mean/max", Show::Quantity)
            .show(SHAPE, Show::Text)
            .write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

fn balance_title(answer: &BalanceAnswer, style: &Style) -> String {
    let balance = &answer.balance;
    format!(
        "Balance by {} over {} {}s ({} in all), largest saving first",
        balance.metric,
        balance.members.len(),
        balance.grouping.name(),
        quantity(answer.total, &balance.unit.to_string(), style)
    )
}

/// Columns from which on a line has room for what is good to know besides.
const WIDE: usize = 140;
/// Columns below which a line has room for numbers and names only.
const NARROW: usize = 100;

/// The column that shows how many members cost little and how many cost much.
const SHAPE: &str = "little..much";

/// Columns of that shape.
const SPARK_WIDTH: usize = 16;

/// What a person compares at a glance: the numbers, the shape, and who is slow.
fn balance_text(answer: &BalanceAnswer, style: &Style) -> Table {
    let balance = &answer.balance;
    let unit = balance.unit.to_string();
    let rows = &balance.rows;
    let is_wide = style.width >= WIDE;
    let slowest = rows.iter().map(|row| {
        let labels = balance.slowest_labels(row);
        labels.take(if is_wide { usize::MAX } else { 1 }).collect::<Vec<_>>().join(", ")
    });
    let shape = rows.iter().map(|row| {
        let counts: Vec<f64> = row.distribution.histogram.iter().map(|&n| f64::from(n)).collect();
        sparkline(&counts, SPARK_WIDTH, style)
    });
    let name = if rows.iter().any(|row| row.num_contexts > 1) { "function" } else { "context" };
    let mut columns = vec![
        Column::f64s("mean", &unit, "", rows.iter().map(|r| r.distribution.mean).collect()),
        Column::f64s("max", &unit, "", rows.iter().map(|r| r.distribution.max).collect()),
        Column::optional_f64s(
            "mean/max",
            "",
            "",
            rows.iter().map(|r| r.distribution.balance_ratio).collect(),
        ),
        Column::f64s("saving", &unit, "", rows.iter().map(|r| r.distribution.saving).collect()),
        Column::strings(SHAPE, "", shape),
        Column::strings(name, "", rows.iter().map(|r| &r.name)),
        Column::strings("slowest", "", slowest),
    ];
    if style.width < NARROW {
        columns.retain(|column| column.name != SHAPE);
    }
    if is_wide {
        let variation = rows.iter().map(|r| r.distribution.variation).collect();
        columns.insert(3, Column::optional_f64s("CV", "", "", variation));
    }
    Table::new(columns)
}
