//! `stats`, `messages` and `find`.

use clap::Args;
use parallax_protocol::{
    Answer, AnswerTable as _, CallDurationTable, Column, FindOrder, FindRequest, MessagesBy,
    MessagesRequest, StatsBy, StatsRequest, Table, TypedTable as _,
};
use parallax_service::Answers as _;

use super::Context;
use crate::args::{PartArgs, nanoseconds};
use crate::choice::names;
use crate::text::{Show, Style, TextTable, count, duration};

/// What `stats` looks at.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    part: PartArgs,
    /// Rows of the table.
    #[arg(long, value_parser = names::<StatsBy>(), default_value_t)]
    by: StatsBy,
    /// Include helper threads, which MPI, network libraries or the measurement tool start for their
    /// own use.
    #[arg(long)]
    helpers: bool,
}

pub(super) fn stats(context: &Context, arguments: StatsArgs) -> anyhow::Result<()> {
    let StatsArgs { part, by, helpers } = arguments;
    let (database, part) = part.parted();
    let request = StatsRequest { part, by, helpers, ..StatsRequest::default() };
    let opened = context.open(&database)?;
    let answer = opened.answer(&request, &context.control)?;
    let table = answer.tables.rows.into_table();
    context.output.emit_with(&table, |style, out| {
        TextTable::new(&table).show("share_percent", Show::Quantity).write(style, out)
    })?;
    context.finish(&opened, &answer.reply.notes);
    Ok(())
}

/// What `messages` looks at.
#[derive(Debug, Args)]
pub(crate) struct MessagesArgs {
    #[command(flatten)]
    part: PartArgs,
    /// Rows of the table.
    #[arg(long, value_parser = names::<MessagesBy>(), default_value_t)]
    by: MessagesBy,
    /// Show flows instead of messages, such as from a kernel launch to the kernel.
    #[arg(long)]
    flows: bool,
}

pub(super) fn messages(context: &Context, arguments: MessagesArgs) -> anyhow::Result<()> {
    let MessagesArgs { part, by, flows } = arguments;
    let (database, part) = part.parted();
    let request = MessagesRequest { part, by, flows, ..MessagesRequest::default() };
    let opened = context.open(&database)?;
    let answer = opened.answer(&request, &context.control)?;
    let table = answer.tables.rows.into_answer_table("");
    context.output.emit_with(&table, |style, out| TextTable::new(&table).write(style, out))?;
    context.finish(&opened, &answer.reply.notes);
    Ok(())
}

/// What `find` looks at.
#[derive(Debug, Args)]
pub(crate) struct FindArgs {
    #[command(flatten)]
    part: PartArgs,
    /// Words in the function name, such as 'nccl reduce', a glob such as 'MPI_*', a regular
    /// expression such as '/^MPI_I/', or an exact name such as '"MPI_Send"' (default: all
    /// functions).
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Minimum duration, such as 2ms or 1.5s.
    #[arg(long, value_name = "TIME", value_parser = nanoseconds)]
    longer_than: Option<u64>,
    /// Maximum duration, such as 2ms or 1.5s.
    #[arg(long, value_name = "TIME", value_parser = nanoseconds)]
    shorter_than: Option<u64>,
    /// Sort by start time instead of duration.
    #[arg(long)]
    first: bool,
    /// Show a histogram of durations instead of individual calls.
    #[arg(long, conflicts_with = "first")]
    histogram: bool,
    /// Maximum number of calls to show; a note gives the number of matches.
    #[arg(long, value_name = "N", default_value_t = FindRequest::default().max_rows)]
    limit: u32,
    /// Also show the arguments recorded with each call, such as the grid of a kernel.
    #[arg(long, conflicts_with = "histogram")]
    arguments: bool,
}

pub(super) fn find(context: &Context, arguments: FindArgs) -> anyhow::Result<()> {
    let (database, part) = arguments.part.parted();
    let request = FindRequest {
        part,
        name: arguments.name,
        min_ns: arguments.longer_than,
        max_ns: arguments.shorter_than,
        order: if arguments.first { FindOrder::First } else { FindOrder::Longest },
        max_rows: arguments.limit,
        arguments: arguments.arguments,
        ..FindRequest::default()
    };
    let opened = context.open(&database)?;
    let Answer { reply, tables, .. } = opened.answer(&request, &context.control)?;
    let mut notes = reply.notes;
    if arguments.histogram {
        let shown = |style: &Style| histogram(&tables.histogram, style);
        let table = tables.histogram.clone().into_table();
        context.output.emit_with(&table, |style, out| {
            TextTable::new(&shown(style))
                .show("calls", Show::Count)
                .show("calls_percent", Show::PercentBar)
                .write(style, out)
        })?;
    } else {
        let rows = tables.rows.into_table();
        notes.extend(limit_note(&rows, reply.total));
        context.output.emit_with(&rows, |style, out| {
            let mut columns = vec!["name", "location", "start_ns", "duration_ns"];
            columns.extend(arguments.arguments.then_some("arguments"));
            TextTable::new(&rows).columns(&columns).below("arguments").write(style, out)
        })?;
    }
    context.finish(&opened, &notes);
    Ok(())
}

/// That a list has not all of so many calls; `None` where it has.
pub(super) fn limit_note(calls: &Table, total: u64) -> Option<String> {
    let shown = calls.num_rows() as u64;
    (shown < total).then(|| {
        format!("{} of {} calls are shown; --limit shows more.", count(shown), count(total))
    })
}

/// A histogram for users: durations with units of their own, and shares.
fn histogram(bins: &CallDurationTable, style: &Style) -> Table {
    let all: u64 = bins.calls.iter().sum();
    let takes = bins.from_ns.iter().map(|&from| match from {
        0.0 => "no time".to_owned(),
        from => {
            let end = duration(from * 2.0 / 1e9, style);
            format!("{} to {end}", duration(from / 1e9, style))
        }
    });
    let calls: Vec<f64> = bins.calls.iter().map(|&calls| calls as f64).collect();
    let shares = calls.iter().map(|calls| calls / all as f64 * 100.0).collect();
    Table::new(vec![
        Column::strings("duration", "", takes),
        Column::f64s("calls", "", "", calls),
        Column::f64s("calls_percent", "%", "", shares),
        Column::f64s("total_s", "s", "", bins.total_ns.iter().map(|n| n / 1e9).collect()),
    ])
}
