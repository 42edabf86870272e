//! `query` and `trace`.

use clap::Args;
use parallax_protocol::{
    Answer, Column, QueryRequest, Table, TraceBy, TraceGroupsReply, TraceGroupsRequest,
    TraceRequest, TypedTable as _,
};
use parallax_service::Answers as _;
use parallax_wire::{Cell, Cells};

use super::Context;
use crate::args::{Database, PartArgs, PruneArgs, nanoseconds};
use crate::choice::names;
use crate::device::Chosen as _;
use crate::text::{Show, Style, TextTable, count, quantity};

const EXAMPLES: &str = "\
Examples:
  parallax query DB -p summary -m 'time:sum (i)'          totals over all ranks
  parallax query DB -p 'rank(0-9)' -c 'function(MPI_*)'   MPI calls of ten ranks
  parallax query DB -c 'function(*)[time (i) > 5%]'       contexts above 5 %
  parallax query DB -c 'function(main) > function(*)' --raw --format csv

Ranges include their end: rank(0-9) is ten ranks. See docs/query-language.md for the syntax.";

/// Columns from which on a line has room for ids.
const WIDE: usize = 120;

/// What `query` looks at.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    database: Database,
    /// Profiles to include, such as 'rank(0-9).thread(0)'; ranges include their end.
    #[arg(long, short, value_name = "PROFILES")]
    profiles: Option<String>,
    /// Contexts to include, such as 'function(main).function(MPI_*)'.
    #[arg(long, short, value_name = "CONTEXTS")]
    contexts: Option<String>,
    /// Metrics to include, such as 'cputime:prop (i,e)'.
    #[arg(long, short, value_name = "METRICS")]
    metrics: Option<String>,
    /// Show only ids, without names.
    #[arg(long)]
    raw: bool,
    /// Include values of contexts that are stored in the database but omitted from its tree.
    #[arg(long)]
    with_elided: bool,
    #[command(flatten)]
    prune: PruneArgs,
}

pub(super) fn query(context: &Context, arguments: QueryArgs) -> anyhow::Result<()> {
    let request = QueryRequest {
        profiles: arguments.profiles,
        contexts: arguments.contexts,
        metrics: arguments.metrics,
        prune: arguments.prune.choice(),
        is_raw: arguments.raw,
        with_elided: arguments.with_elided,
    };
    let opened = context.open(&arguments.database)?;
    let Answer { reply, tables, unit } = opened.answer(&request, &context.control)?;
    let table = tables.rows.into_table_in(&unit);
    context.output.emit_with(&table, |style, out| {
        let in_units = with_units(&table, style)?;
        let mut text = TextTable::new(&in_units).show("value", Show::Quantity);
        // Ids are for programs; a narrow line has room for what they mean.
        if !request.is_raw && style.width < WIDE {
            text = text.columns(&["value", "metric", "location", "context"]);
        }
        text.write(style, out)
    })?;
    context.finish(&opened, &reply.notes);
    Ok(())
}

/// The table with each value in the unit of its metric, where these differ.
fn with_units(table: &Table, style: &Style) -> std::io::Result<Table> {
    let column = |name: &str| table.column(name).map(Cells::of).transpose();
    let (Some(values), Some(units)) = (column("value")?, column("unit")?) else {
        return Ok(table.clone());
    };
    let texts = (0..table.num_rows()).map(|row| {
        let unit = match units.get(row) {
            Cell::Text(unit) => unit,
            _ => "",
        };
        values.get(row).as_f64().map_or_else(String::new, |value| quantity(value, unit, style))
    });
    let texts = Column::strings("value", "", texts);
    let columns = table.columns.iter().filter(|column| column.name != "unit");
    let shown = columns.map(|column| match &*column.name {
        "value" => texts.clone(),
        _ => column.clone(),
    });
    Ok(Table::new(shown.collect()))
}

/// What `trace` looks at.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    part: PartArgs,
    /// Show only ids, without names.
    #[arg(long)]
    raw: bool,
    /// Show the number and durations of samples instead of the samples.
    #[arg(long, value_parser = names::<TraceBy>())]
    by: Option<TraceBy>,
    /// With --by: minimum duration of samples, such as 2ms or 1.5s.
    #[arg(long, value_name = "TIME", value_parser = nanoseconds, requires = "by")]
    min_duration: Option<u64>,
    /// With --by: print the device on which samples were grouped, and the reason.
    #[arg(long, requires = "by")]
    stats: bool,
}

impl TraceArgs {
    /// Whether a device has something to do.
    pub(super) fn uses_device(&self) -> bool {
        self.by.is_some()
    }
}

/// `trace --by`.
fn trace_groups(context: &Context, arguments: TraceArgs, by: TraceBy) -> anyhow::Result<()> {
    let PartArgs { database, profiles, window } = arguments.part;
    let min_ns = arguments.min_duration.unwrap_or(0);
    let request = TraceGroupsRequest { profiles, window, by, min_ns };
    let opened = context.open(&database)?.with_compute(context.device.compute()?);
    let Answer { reply, tables, .. } = opened.answer(&request, &context.control)?;
    let table = tables.rows.into_table();
    context.output.emit_with(&table, |style, out| {
        let times = ["total_ns", "mean_ns", "min_ns", "max_ns", "std_dev_ns"];
        let mut text = TextTable::new(&table).show("location", Show::Text);
        for time in times {
            text = text.show(time, Show::Quantity);
        }
        // Ids are for programs; a line has room for what they mean.
        if !arguments.raw {
            let names = ["location", "context"].into_iter();
            let names = names.filter(|name| table.column(name).is_some());
            let shown: Vec<&str> = ["samples"].into_iter().chain(times).chain(names).collect();
            text = text.columns(&shown);
        }
        text.write(style, out)
    })?;
    if arguments.stats {
        let TraceGroupsReply { samples, device, device_reason, .. } = &reply;
        let samples = count(*samples);
        context.note(format!("{samples} samples grouped on {device}: {device_reason}."));
    }
    context.finish(&opened, &reply.notes);
    Ok(())
}

pub(super) fn trace(context: &Context, arguments: TraceArgs) -> anyhow::Result<()> {
    if let Some(by) = arguments.by {
        return trace_groups(context, arguments, by);
    }
    let PartArgs { database, profiles, window } = arguments.part;
    let request = TraceRequest { profiles, window, is_raw: arguments.raw };
    let opened = context.open(&database)?;
    let Answer { reply, tables, .. } = opened.answer(&request, &context.control)?;
    let table = tables.rows.into_table();
    let begin = opened.session().traces()?.span().start_nanos;
    context.output.emit_with(&table, |style, out| {
        let readable = since(&table, begin)?;
        let title =
            "Trace samples: time since the first sample, and duration until the next".to_owned();
        TextTable::new(&readable).title(title).show("location", Show::Text).write(style, out)
    })?;
    context.finish(&opened, &reply.notes);
    Ok(())
}

/// The samples as the user reads them: seconds since `begin` instead of time stamps. Of a raw table
/// the ids are shown, of another the names.
fn since(table: &Table, begin: u64) -> std::io::Result<Table> {
    let column = |name: &str| table.column(name).map(Cells::of).transpose();
    let (Some(start), Some(end)) = (column("start_ns")?, column("end_ns")?) else {
        return Ok(table.clone());
    };
    let at = |cells: &Cells<'_>, row| match cells.get(row) {
        Cell::Unsigned(nanos) => nanos,
        _ => begin,
    };
    let rows = 0..table.num_rows();
    let seconds = |nanos: u64| nanos as f64 / 1e9;
    let after = rows.clone().map(|row| seconds(at(&start, row).saturating_sub(begin))).collect();
    let held = rows.map(|row| seconds(at(&end, row).saturating_sub(at(&start, row)))).collect();
    let names = match table.column("location") {
        Some(_) => ["location", "context"],
        None => ["profile_id", "context_id"],
    };
    let mut columns =
        vec![Column::f64s("after", "s", "", after), Column::f64s("for", "s", "", held)];
    columns.extend(names.iter().filter_map(|name| table.column(name)).cloned());
    Ok(Table::new(columns))
}
