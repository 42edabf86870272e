//! `waits`, `critical-path` and `over-time`: analyses of traces of events.

use clap::Args;
use parallax_protocol::{
    Answer, AnswerTable as _, Column, CriticalPathBy, CriticalPathRequest, OverTimeBy,
    OverTimeReply, OverTimeRequest, OverTimeWhat, Table, TypedTable as _, WaitsBy, WaitsKind,
    WaitsRequest,
};
use parallax_service::{Answers as _, OverTimeShapes};

use super::Context;
use crate::args::PartArgs;
use crate::choice::names;
use crate::text::{Show, Style, TextTable, count, quantity, sparkline};

/// What `waits` shows.
#[derive(Debug, Args)]
pub(crate) struct WaitsArgs {
    #[command(flatten)]
    part: PartArgs,
    /// Kind of wait states to show (default: all).
    #[arg(long, value_parser = names::<WaitsKind>())]
    kind: Option<WaitsKind>,
    /// Rows of the table.
    #[arg(long, value_parser = names::<WaitsBy>(), default_value_t)]
    by: WaitsBy,
}

/// What `critical-path` shows.
#[derive(Debug, Args)]
pub(crate) struct CriticalPathArgs {
    #[command(flatten)]
    part: PartArgs,
    /// Rows of the table.
    #[arg(long, value_parser = names::<CriticalPathBy>(), default_value_t)]
    by: CriticalPathBy,
    /// Show one row per segment of the path on one location, in chronological order.
    #[arg(long, conflicts_with = "by")]
    segments: bool,
}

/// What `over-time` shows.
#[derive(Debug, Args)]
pub(crate) struct OverTimeArgs {
    #[command(flatten)]
    part: PartArgs,
    /// Quantity to show over time.
    #[arg(long, value_parser = names::<OverTimeWhat>(), default_value_t)]
    what: OverTimeWhat,
    /// Maximum number of bins; bins are 2^k ns long, so there may be only half as many.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    bins: u32,
    /// Rows of a time profile.
    #[arg(long, value_parser = names::<OverTimeBy>(), default_value_t)]
    by: OverTimeBy,
    /// Output totals over all bins in any format, as in text output.
    #[arg(long)]
    totals: bool,
}

pub(super) fn waits(context: &Context, arguments: WaitsArgs) -> anyhow::Result<()> {
    let WaitsArgs { part, kind, by } = arguments;
    let (database, part) = part.parted();
    let opened = context.open(&database)?;
    let answer = opened.answer(&WaitsRequest { part, kind, by }, &context.control)?;
    let table = answer.tables.rows.into_table();
    context.output.emit_with(&table, |style, out| {
        let mut shown = narrowed(&table, &WAITS_WIDE_ONLY, style);
        shown.retain(|name| *name != "context_id");
        let text = TextTable::new(&table)
            .title("Wait states, longest first")
            .columns(&shown)
            .show("kind", Show::Text)
            .show("share_percent", Show::Percent);
        with_heads(text, &table).write(style, out)
    })?;
    context.finish(&opened, &answer.reply.notes);
    Ok(())
}

pub(super) fn critical_path(context: &Context, arguments: CriticalPathArgs) -> anyhow::Result<()> {
    let CriticalPathArgs { part, by, segments } = arguments;
    let (database, part) = part.parted();
    let opened = context.open(&database)?;
    let Answer { reply, tables, .. } =
        opened.answer(&CriticalPathRequest { part, by, segments }, &context.control)?;
    let table = &tables.rows.into_answer_table("");
    context.output.emit_with(table, |style, out| {
        let title = format!(
            "Critical path: {} in {} over {}",
            quantity(reply.length_s, "s", style),
            counted(reply.segments, "segment", "segments"),
            counted(reply.locations, "location", "locations"),
        );
        let mut shown = narrowed(table, &[], style);
        shown.retain(|name| *name != "context_id");
        let text = TextTable::new(table)
            .title(title)
            .columns(&shown)
            .show("location", Show::Text)
            .show("context_percent", Show::Percent)
            .head("context_percent", "share of segment")
            .show("releases", Show::Text);
        let text = text.head("on_path_s", "on path").head("all_locations_s", "all locations");
        let text = if segments { text } else { with_heads(text, table) };
        text.write(style, out)
    })?;
    context.finish(&opened, &reply.notes);
    Ok(())
}

fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Width in columns from which a line has room for details.
const WIDE: usize = 100;
/// Columns of `waits` that narrow terminals omit.
const WAITS_WIDE_ONLY: [&str; 2] = ["longest_s", "in_calls_s"];
/// Columns of what changes over time that narrow terminals omit.
const OVER_TIME_WIDE_ONLY: [&str; 1] = ["messages"];
/// Columns of the imbalance that narrow terminals omit.
const IMBALANCE_WIDE_ONLY: [&str; 2] = ["saving_s", "balance_ratio"];

/// The columns of `table` for which a line has room.
fn narrowed<'a>(table: &'a Table, wide_only: &[&str], style: &Style) -> Vec<&'a str> {
    let names = table.columns.iter().map(|column| column.name.as_str());
    names.filter(|name| style.width >= WIDE || !wide_only.contains(name)).collect()
}

/// Heads without the words that the unit next to them says already.
fn with_heads<'a>(text: TextTable<'a>, table: &Table) -> TextTable<'a> {
    table.columns.iter().fold(text, |text, column| match column.name.strip_suffix("_percent") {
        Some(head) => text.head(&column.name, head.replace('_', " ")),
        None => text,
    })
}

pub(super) fn over_time(context: &Context, arguments: OverTimeArgs) -> anyhow::Result<()> {
    let OverTimeArgs { part, what, bins, by, totals: is_totals } = arguments;
    let (database, part) = part.parted();
    let opened = context.open(&database)?;
    let request = OverTimeRequest { part, what, by, bins };
    let OverTimeShapes { answer, shapes } = opened.over_time(&request, &context.control)?;
    let Answer { reply, tables, .. } = answer;
    let totals = tables.totals.into_answer_table("");
    let by_bin = tables.rows.into_answer_table("");
    let table = if is_totals { &totals } else { &by_bin };
    context.output.emit_with(table, |style, out| {
        let title = title(what, &reply, style);
        if shapes.is_empty() {
            let shown = narrowed(&totals, &IMBALANCE_WIDE_ONLY, style);
            let text = TextTable::new(&totals).title(title).columns(&shown);
            return with_heads(text, &totals)
                .show("imbalance_percent", Show::PercentBar)
                .write(style, out);
        }
        let shown = with_shapes(&totals, &shapes, style);
        let names = narrowed(&shown, &OVER_TIME_WIDE_ONLY, style);
        let mut text = TextTable::new(&shown).title(title).columns(&names).show(SHAPE, Show::Text);
        for column in &shown.columns {
            if column.unit == "%" {
                text = text.show(&column.name, Show::Percent);
            }
        }
        with_heads(text, &shown).write(style, out)
    })?;
    context.finish(&opened, &reply.notes);
    Ok(())
}

/// The column that shows how something changes.
const SHAPE: &str = "over time";

fn title(what: OverTimeWhat, reply: &OverTimeReply, style: &Style) -> String {
    let about = match what {
        OverTimeWhat::Profile => "Time by function or group, longest first",
        OverTimeWhat::Imbalance => "Computation imbalance over locations",
        OverTimeWhat::Idle => "Wait and idle time of locations",
        OverTimeWhat::Lateness => "Lateness against the first location, largest total first",
        OverTimeWhat::Overlap => "Overlap of computation and communication",
    };
    format!(
        "{about}: {} of {}",
        counted(reply.bins.into(), "bin", "bins"),
        quantity(reply.bin_ns as f64 / 1e9, "s", style)
    )
}

/// The totals with a picture of each row's change, as wide as there is room for.
fn with_shapes(totals: &Table, shapes: &[Vec<f64>], style: &Style) -> Table {
    let width = (style.width / 4).clamp(8, 64);
    let pictures: Vec<String> = shapes.iter().map(|shape| sparkline(shape, width, style)).collect();
    let mut columns = totals.columns.clone();
    columns.insert(1.min(columns.len()), Column::strings(SHAPE, "", pictures));
    Table::new(columns)
}
