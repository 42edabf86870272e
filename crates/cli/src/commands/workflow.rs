//! `workflow`: components and what goes from one to the other.

use clap::{Args, ValueEnum};
use parallax_protocol::{Answer, Table, TypedTable as _, WorkflowGraphRequest};
use parallax_service::Answers as _;
use parallax_wire::{Cell, Cells};

use super::Context;
use crate::args::PartArgs;
use crate::output::Format;
use crate::text::{Show, TextTable};

/// What `workflow` looks at.
#[derive(Debug, Args)]
pub(crate) struct WorkflowArgs {
    #[command(flatten)]
    part: PartArgs,
    /// Rows of the table (default: both tables in text output, exchange in other formats).
    #[arg(long, value_enum)]
    by: Option<By>,
}

/// Rows of `workflow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Components: ranks, hosts, times.
    Component,
    /// Exchanges between components.
    Exchange,
}

/// Columns of components that are shown.
const COMPONENTS: [&str; 7] =
    ["component", "ranks", "start_ns", "end_ns", "busy_percent", "hosts", "depends_on"];
/// Columns of exchanges that are shown, where they have values.
const EXCHANGES: [&str; 8] = ["from", "to", "by", "name", "count", "bytes", "first_ns", "last_ns"];
/// Columns that wide terminals show as well.
const DETAILS: [&str; 3] = ["senders", "receivers", "evidence"];
/// Width in columns from which a line has room for details.
const WIDE: usize = 110;

/// The columns of exchanges that say something.
fn shown_columns(exchanges: &Table, width: usize) -> Vec<&'static str> {
    let details = DETAILS.iter().filter(|_| width >= WIDE);
    let has_values = |name: &&str| {
        let cells = exchanges.column(name).and_then(|column| Cells::of(column).ok());
        cells.is_some_and(|cells| {
            cells.is_empty() || (0..cells.len()).any(|row| cells.get(row) != Cell::Null)
        })
    };
    EXCHANGES.iter().chain(details).copied().filter(has_values).collect()
}

pub(super) fn workflow(context: &Context, arguments: WorkflowArgs) -> anyhow::Result<()> {
    let (database, part) = arguments.part.parted();
    let request = WorkflowGraphRequest { part, bins: 0 };
    let opened = context.open(&database)?;
    let Answer { reply, tables, .. } = opened.answer(&request, &context.control)?;
    let components = tables.components.into_table();
    let exchanges = tables.exchanges.into_table();
    let by = arguments.by.or_else(|| {
        // Other formats have one table.
        (context.output.format != Format::Text).then_some(By::Exchange)
    });
    let (main, other) = match by {
        Some(By::Component) => (&components, None),
        Some(By::Exchange) => (&exchanges, None),
        None => (&components, Some(&exchanges)),
    };
    context.output.emit_with(main, |style, out| {
        let exchanges = |table| {
            TextTable::new(table)
                .columns(&shown_columns(table, style.width))
                .head("first_ns", "first")
                .head("last_ns", "last")
        };
        if by == Some(By::Exchange) {
            return exchanges(main).write(style, out);
        }
        TextTable::new(main)
            .columns(&COMPONENTS)
            .head("busy_percent", "busy")
            .show("busy_percent", Show::Quantity)
            .write(style, out)?;
        if let Some(other) = other.filter(|table| table.num_rows() > 0) {
            writeln!(out)?;
            exchanges(other).title("Exchanges").write(style, out)?;
        }
        Ok(())
    })?;
    context.finish(&opened, &reply.notes);
    Ok(())
}
