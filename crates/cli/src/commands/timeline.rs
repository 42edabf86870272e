//! `stats`, `messages` and `find`.

use parallax_protocol::{
    Answer, AnswerTable as _, CallDurationTable, Column, FindRequest, MessagesRequest,
    StatsRequest, Table, TypedTable as _,
};
use parallax_service::Answers as _;

use super::Context;
use crate::args::Database;
use crate::text::{Show, Style, TextTable, count, duration};

pub(super) fn stats(
    context: &Context,
    database: &Database,
    request: &StatsRequest,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let answer = opened.answer(request, &context.control)?;
    let table = answer.tables.rows.into_table();
    context.output.emit_with(&table, |style, out| {
        TextTable::new(&table).show("share_percent", Show::Quantity).write(style, out)
    })?;
    context.finish(&opened, &answer.reply.notes);
    Ok(())
}

pub(super) fn messages(
    context: &Context,
    database: &Database,
    request: &MessagesRequest,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let answer = opened.answer(request, &context.control)?;
    let table = answer.tables.rows.into_answer_table("");
    context.output.emit_with(&table, |style, out| TextTable::new(&table).write(style, out))?;
    context.finish(&opened, &answer.reply.notes);
    Ok(())
}

pub(super) fn find(
    context: &Context,
    database: &Database,
    request: &FindRequest,
    is_histogram: bool,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let Answer { reply, tables, .. } = opened.answer(request, &context.control)?;
    let mut notes = reply.notes;
    if is_histogram {
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
        let shown = rows.num_rows() as u64;
        if shown < reply.total {
            notes.push(format!(
                "{} of {} calls are shown; --limit shows more.",
                count(shown),
                count(reply.total)
            ));
        }
        context.output.emit_with(&rows, |style, out| {
            TextTable::new(&rows)
                .columns(&["name", "location", "start_ns", "duration_ns"])
                .write(style, out)
        })?;
    }
    context.finish(&opened, &notes);
    Ok(())
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
