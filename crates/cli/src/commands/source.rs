//! `source`.

use clap::Args;
use parallax_protocol::{
    Answer, Column, CostsChoice, SourceLineTable, SourceRequest, Table, TypedTable as _,
};
use parallax_service::Answers as _;

use super::Context;
use super::views::{explain, title};
use crate::args::{CostArgs, Database};
use crate::text::TextTable;

/// What `source` looks at.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    #[command(flatten)]
    database: Database,
    /// Path of the source file, or the end of the path, such as 'solver.c'.
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    cost: CostArgs,
}

pub(super) fn source(context: &Context, arguments: SourceArgs) -> anyhow::Result<()> {
    let SourceArgs { database, file, cost } = arguments;
    let opened = context.open(&database)?;
    let cost = cost.choice();
    let request = SourceRequest {
        path: file,
        costs: CostsChoice {
            metrics: cost.metric.into_iter().collect(),
            profiles: cost.profiles,
            is_trace: cost.is_trace,
            window: cost.window,
            helpers: cost.helpers,
        },
        contexts_per_line: 0,
    };
    let Answer { reply: answer, tables, .. } = opened.answer(&request, &context.control)?;
    let mut notes = answer.notes.clone();
    if answer.text.is_none() {
        notes.push(format!("source text not in the database ({})", answer.text_path));
    }
    let table = with_code(answer.text.as_deref(), tables.lines);
    context.output.emit_with(&table, |style, out| {
        let mut text = TextTable::new(&table)
            .columns(&["exclusive", "inclusive", "line", "code"])
            .head("exclusive", "excl.")
            .head("inclusive", "incl.");
        if let Some(header) = answer.costs.first() {
            text = text.title(title(&answer.path, header, style));
        }
        text.write(style, out)
    })?;
    notes.extend(answer.costs.first().map(explain).unwrap_or_default());
    context.finish(&opened, &notes);
    Ok(())
}

/// The lines with a cost by the only metric, and what stands there.
fn with_code(text: Option<&str>, lines: SourceLineTable) -> Table {
    let text: Vec<&str> = text.unwrap_or_default().lines().collect();
    let code: Vec<Option<&str>> = (lines.line.iter())
        .map(|&line| text.get((line as usize).checked_sub(1)?).copied())
        .collect();
    let mut columns = lines.into_table().columns;
    for column in &mut columns {
        if let Some(name) = column.name.strip_suffix(":0") {
            column.name = name.to_owned();
        }
    }
    let doc = "The text of the line; null where the database does not hold it.";
    columns.push(Column::optional_strings("code", doc, code));
    Table::new(columns)
}
