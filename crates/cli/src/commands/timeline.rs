//! `stats`, `messages` and `find`.

use std::io;

use parallax_service::{Answer, Column, FindRequest, MessagesRequest, StatsRequest, Table};
use parallax_wire::{Cells, WireError};

use super::Context;
use crate::args::{Database, MessagesBy, PartArgs, StatsBy};
use crate::text::{Show, Style, TextTable, count, duration};

pub(super) fn stats(
    context: &Context,
    PartArgs { database, profiles, window }: PartArgs,
    by: StatsBy,
) -> anyhow::Result<()> {
    let opened = context.open(&database)?;
    let by = match by {
        StatsBy::Function => parallax_service::StatsBy::Function,
        StatsBy::Group => parallax_service::StatsBy::Group,
        StatsBy::Context => parallax_service::StatsBy::Context,
    };
    let request = StatsRequest { profiles, window, by, ..StatsRequest::default() };
    let Answer { value: table, notes } = opened.stats(&request, &context.control)?;
    context.output.emit_with(&table, |style, out| {
        TextTable::new(&table).show("share_percent", Show::Quantity).write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

pub(super) fn messages(
    context: &Context,
    PartArgs { database, profiles, window }: PartArgs,
    by: MessagesBy,
    flows: bool,
) -> anyhow::Result<()> {
    let opened = context.open(&database)?;
    let by = match by {
        MessagesBy::Pair => parallax_service::MessagesBy::Pair,
        MessagesBy::Message => parallax_service::MessagesBy::Message,
        MessagesBy::Size => parallax_service::MessagesBy::Size,
        MessagesBy::Tag => parallax_service::MessagesBy::Tag,
        MessagesBy::Component => parallax_service::MessagesBy::Component,
        MessagesBy::File => parallax_service::MessagesBy::File,
    };
    let request = MessagesRequest { profiles, window, by, flows, ..MessagesRequest::default() };
    let Answer { value: table, notes } = opened.messages(&request, &context.control)?;
    context.output.emit_with(&table, |style, out| TextTable::new(&table).write(style, out))?;
    context.finish(&opened, &notes);
    Ok(())
}

pub(super) fn find(
    context: &Context,
    database: &Database,
    request: &FindRequest,
    is_histogram: bool,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let Answer { value: found, mut notes } = opened.find(request, &context.control)?;
    if is_histogram {
        context.output.emit_with(&found.histogram, |style, out| {
            histogram(&found.histogram, style).map_err(io::Error::other).and_then(|table| {
                TextTable::new(&table)
                    .show("calls", Show::Count)
                    .show("calls_percent", Show::PercentBar)
                    .write(style, out)
            })
        })?;
    } else {
        let shown = found.rows.num_rows() as u64;
        if shown < found.total {
            notes.push(format!(
                "these are {} of {} calls; --limit gives more",
                count(shown),
                count(found.total)
            ));
        }
        context.output.emit_with(&found.rows, |style, out| {
            TextTable::new(&found.rows)
                .columns(&["name", "location", "start_ns", "duration_ns"])
                .write(style, out)
        })?;
    }
    context.finish(&opened, &notes);
    Ok(())
}

/// A histogram for people: durations with units of their own, and shares.
fn histogram(table: &Table, style: &Style) -> Result<Table, WireError> {
    let column = |name: &str| -> Result<Vec<f64>, WireError> {
        let Some(column) = table.column(name) else { return Ok(Vec::new()) };
        let cells = Cells::of(column)?;
        Ok((0..cells.len()).filter_map(|row| cells.get(row).as_f64()).collect())
    };
    let (from, calls, nanos) = (column("from_ns")?, column("calls")?, column("total_ns")?);
    let all: f64 = calls.iter().sum();
    let takes = from.iter().map(|&from| match from {
        0.0 => "no time".to_owned(),
        from => {
            let end = duration(from * 2.0 / 1e9, style);
            format!("{} to {end}", duration(from / 1e9, style))
        }
    });
    Ok(Table::new(vec![
        Column::strings("a call takes", "", takes),
        Column::f64s("calls", "", "", calls.clone()),
        Column::f64s("calls_percent", "%", "", calls.iter().map(|n| n / all * 100.0).collect()),
        Column::f64s("total_s", "s", "", nanos.iter().map(|n| n / 1e9).collect()),
    ]))
}
