//! `source`.

use parallax_service::{Answer, Column, CostsChoice, SourceAnswer, SourceRequest, Table};
use parallax_wire::{Cell, Cells};

use super::Context;
use super::views::{explain, title};
use crate::args::{CostArgs, Database};
use crate::text::TextTable;

pub(super) fn source(
    context: &Context,
    database: &Database,
    file: String,
    cost: CostArgs,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let cost = cost.choice();
    let request = SourceRequest {
        file,
        costs: CostsChoice {
            metrics: cost.metric.into_iter().collect(),
            profiles: cost.profiles,
            is_trace: cost.is_trace,
            window: cost.window,
        },
        contexts_per_line: Some(0),
    };
    let Answer { value: answer, mut notes } = opened.source(&request, &context.control)?;
    if answer.text.is_none() {
        notes.push(format!("the database does not hold the text ({})", answer.text_path));
    }
    let table = with_code(&answer)?;
    context.output.emit_with(&table, |style, out| {
        let mut text = TextTable::new(&table)
            .columns(&["exclusive", "inclusive", "line", "code"])
            .head("exclusive", "excl.")
            .head("inclusive", "incl.");
        if let Some(header) = answer.headers.first() {
            text = text.title(title(&answer.path, header, style));
        }
        text.write(style, out)
    })?;
    notes.extend(answer.headers.first().map(explain).unwrap_or_default());
    context.finish(&opened, &notes);
    Ok(())
}

/// The lines with a cost by the only metric, and what stands there.
fn with_code(answer: &SourceAnswer) -> std::io::Result<Table> {
    let mut columns = answer.lines.columns.clone();
    for column in &mut columns {
        if let Some(name) = column.name.strip_suffix(":0") {
            column.name = name.to_owned();
        }
    }
    let text: Vec<&str> = answer.text.as_deref().unwrap_or_default().lines().collect();
    if let Some(lines) = answer.lines.column("line").map(Cells::of).transpose()? {
        let code = (0..lines.len()).map(|row| match lines.get(row) {
            Cell::Unsigned(line) => {
                let at = usize::try_from(line).ok().and_then(|line| line.checked_sub(1))?;
                text.get(at).copied()
            }
            _ => None,
        });
        let doc = "The text of the line; null where the database does not hold it.";
        columns.push(Column::optional_strings("code", doc, code));
    }
    Ok(Table::new(columns))
}
