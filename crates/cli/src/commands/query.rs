//! `query` and `trace`.

use parallax_protocol::{Answer, Column, QueryRequest, Table, TraceRequest, TypedTable as _};
use parallax_service::Answers as _;
use parallax_wire::{Cell, Cells};

use super::Context;
use crate::args::Database;
use crate::text::{Show, TextTable};

/// Columns from which on a line has room for ids.
const WIDE: usize = 120;

pub(super) fn query(
    context: &Context,
    database: &Database,
    request: &QueryRequest,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let Answer { reply, tables, unit } = opened.answer(request, &context.control)?;
    let table = tables.rows.into_table_in(&unit);
    context.output.emit_with(&table, |style, out| {
        let mut text = TextTable::new(&table).show("value", Show::Quantity);
        // Ids are for programs; a narrow line has room for what they mean.
        if !request.is_raw && style.width < WIDE {
            text = text.columns(&["value", "metric", "location", "context"]);
        }
        text.write(style, out)
    })?;
    context.finish(&opened, &reply.notes);
    Ok(())
}

pub(super) fn trace(
    context: &Context,
    database: &Database,
    request: &TraceRequest,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let Answer { reply, tables, .. } = opened.answer(request, &context.control)?;
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

/// The samples as a person reads them: seconds since `begin` instead of time stamps. Of a raw
/// table the ids are shown, of another the names.
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
