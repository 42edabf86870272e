//! `references` and `loops`: single calls of a recorded program.

use clap::Args;
use parallax_protocol::{LoopsRequest, ReferencesRequest, TypedTable as _};
use parallax_service::Answers as _;

use super::Context;
use crate::args::Database;
use crate::text::{Show, TextTable};

/// What `references` shows.
#[derive(Debug, Args)]
pub(crate) struct ReferencesArgs {
    #[command(flatten)]
    database: Database,
    /// Show only accesses from contexts that match this expression, such as 'function(solve)'; can
    /// be repeated to show only data that all of them share.
    #[arg(long = "context", value_name = "CONTEXTS")]
    contexts: Vec<String>,
    /// Include callees and nested contexts.
    #[arg(long)]
    inclusive: bool,
}

/// Width in columns from which a line has room for details.
const WIDE: usize = 110;

pub(super) fn references(context: &Context, arguments: ReferencesArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.database)?;
    let is_shared = arguments.contexts.len() > 1;
    let request =
        ReferencesRequest { contexts: arguments.contexts, is_inclusive: arguments.inclusive };
    let answer = opened.answer(&request, &context.control)?;
    let table = answer.tables.rows.into_table();
    context.output.emit_with(&table, |style, out| {
        let is_shown = |name: &&str| match *name {
            "reference_id" => false,
            "allocated_line" | "allocated_in" | "read_in" => style.width >= WIDE,
            _ => true,
        };
        let names = table.columns.iter().map(|column| column.name.as_str());
        let shown: Vec<&str> = names.filter(is_shown).collect();
        let title = match is_shared {
            true => "Shared variables and allocations of these contexts, most accesses first",
            false => "Variables and allocations, most accesses first",
        };
        TextTable::new(&table)
            .title(title)
            .columns(&shown)
            .show("storage", Show::Text)
            .show("read_in", Show::Text)
            .show("written_in", Show::Text)
            .show("allocated_in", Show::Text)
            .head("size_bytes", "size")
            .head("read_in", "read in")
            .head("written_in", "written in")
            .head("allocated_in", "allocated in")
            .head("allocated_line", "line")
            .write(style, out)
    })?;
    context.finish(&opened, &answer.reply.notes);
    Ok(())
}

/// What `loops` looks at.
#[derive(Debug, Args)]
pub(crate) struct LoopsArgs {
    #[command(flatten)]
    database: Database,
}

pub(super) fn loops(context: &Context, arguments: &LoopsArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.database)?;
    let answer = opened.answer(&LoopsRequest {}, &context.control)?;
    let table = answer.tables.rows.into_table();
    context.output.emit_with(&table, |style, out| {
        let is_shown = |name: &&str| match *name {
            "context_id" | "context" => false,
            "iterations_min" | "iterations_max" | "longest_s" => style.width >= WIDE,
            _ => true,
        };
        let names = table.columns.iter().map(|column| column.name.as_str());
        let shown: Vec<&str> = names.filter(is_shown).collect();
        TextTable::new(&table)
            .title("Loops by call path, longest first")
            .columns(&shown)
            .show("function", Show::Text)
            .show("share_percent", Show::Percent)
            .head("iterations_min", "fewest")
            .head("iterations_max", "most")
            .head("time_s", "time")
            .head("longest_s", "longest")
            .head("share_percent", "share")
            .write(style, out)
    })?;
    context.finish(&opened, &answer.reply.notes);
    Ok(())
}
