//! `query` and `trace`.

use parallax_service::{Answer, QueryRequest, TraceRequest};

use super::Context;
use crate::args::Database;
use crate::text::{Show, TextTable};

pub(super) fn query(
    context: &Context,
    database: &Database,
    request: &QueryRequest,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let Answer { value: table, notes } = opened.query(request, &context.control)?;
    context.output.emit_with(&table, |style, out| {
        TextTable::new(&table).show("value", Show::Quantity).write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

pub(super) fn trace(
    context: &Context,
    database: &Database,
    request: &TraceRequest,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let Answer { value: table, notes } = opened.trace(request, &context.control)?;
    context.output.emit(&table)?;
    context.finish(&opened, &notes);
    Ok(())
}
