//! `user-events`: values that programs report one at a time, such as sizes of messages.

use clap::{Args, ValueEnum};
use parallax_protocol::{
    Column, Table, TypedTable as _, UserEventLocationsRequest, UserEventsRequest,
};
use parallax_service::Answers as _;
use parallax_wire::{Cell, Cells};

use super::Context;
use crate::args::Database;
use crate::text::{Show, Style, TextTable, quantity, width_of};

/// What `user-events` shows.
#[derive(Debug, Args)]
pub(crate) struct UserEventsArgs {
    #[command(flatten)]
    database: Database,
    /// Show only the event with this name, or events that match this glob, such as 'Message size*'.
    #[arg(long, short, value_name = "NAME")]
    event: Option<String>,
    /// Rows of the table.
    #[arg(long, value_enum, default_value = "event")]
    by: By,
    /// Show only events in this context, by location: a context id, or an expression such as
    /// 'function(MPI_Send)'; if several contexts match, the one with the largest value is used.
    #[arg(long, short, value_name = "CONTEXT", conflicts_with = "by")]
    context: Option<String>,
    /// Locations to include, such as 'rank(0-9)'; ranges include their end.
    #[arg(long, short, value_name = "PROFILES")]
    profiles: Option<String>,
}

/// Rows of `user-events`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Events, aggregated over all locations.
    Event,
    /// Events by context, aggregated over all locations.
    Context,
    /// Events by location.
    Location,
}

pub(super) fn user_events(context: &Context, arguments: UserEventsArgs) -> anyhow::Result<()> {
    let by = match &arguments.context {
        Some(_) => By::Location,
        None => arguments.by,
    };
    let opened = context.open(&arguments.database)?;
    let (event, profiles) = (arguments.event, arguments.profiles);
    let mut notes = Vec::new();
    let table = if by == By::Location {
        let context_id = match arguments.context {
            None => None,
            Some(text) => Some(match text.parse() {
                Ok(id) => id,
                Err(_) => {
                    let found = opened.context_id(&text, &context.control)?;
                    notes.extend(found.notes);
                    found.value
                }
            }),
        };
        let request = UserEventLocationsRequest { event, context_id, profiles };
        let answer = opened.answer(&request, &context.control)?;
        notes.extend(answer.reply.notes);
        answer.tables.locations.into_table()
    } else {
        let request = UserEventsRequest { event, profiles };
        let answer = opened.answer(&request, &context.control)?;
        notes.extend(answer.reply.notes);
        match by {
            By::Event => answer.tables.events.into_table(),
            _ => answer.tables.contexts.into_table(),
        }
    };
    let (title, shown): (_, &[&str]) = match by {
        By::Event => ("User events, most frequent first", &["event", "count", "locations"]),
        By::Context => ("User events by context", &["event", "name", "count", "locations"]),
        By::Location => ("User events by location", &["event", "label", "count"]),
    };
    context.output.emit_with(&table, |style, out| {
        let (readable, heads) = with_units(&table, style)?;
        let is_shown = |name: &&str| style.width >= WIDE || !WIDE_ONLY.contains(name);
        let columns: Vec<&str> = shown.iter().chain(&VALUES).copied().filter(is_shown).collect();
        let text = TextTable::new(&readable).title(title).columns(&columns);
        let text = heads
            .into_iter()
            .fold(text, |text, (name, head)| text.show(&name, Show::Text).head(&name, head));
        text.head("name", "context").head("label", "location").write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

/// Width in columns from which a line has room for details.
const WIDE: usize = 100;
/// Columns of the answer that narrow terminals omit.
const WIDE_ONLY: [&str; 2] = ["locations", "min"];

/// The columns whose unit is that of the event.
const VALUES: [&str; 5] = ["sum", "mean", "min", "max", "std_dev"];

/// The table with values as texts, each in the unit of its row, and what stands above them; both
/// so wide that all end together.
fn with_units(table: &Table, style: &Style) -> std::io::Result<(Table, Vec<(String, String)>)> {
    let mut columns = table.columns.clone();
    let mut heads = Vec::new();
    let units = table.column("unit").map(Cells::of).transpose()?;
    for column in columns.iter_mut().filter(|column| VALUES.contains(&column.name.as_str())) {
        let cells = Cells::of(column)?;
        let text = |row: usize| {
            let unit = match units.as_ref().map(|units| units.get(row)) {
                Some(Cell::Text(unit)) => unit,
                _ => "",
            };
            cells.get(row).as_f64().map_or("-".to_owned(), |value| quantity(value, unit, style))
        };
        let texts: Vec<String> = (0..cells.len()).map(text).collect();
        let said = if column.name == "std_dev" { "deviation" } else { &column.name };
        let width = texts.iter().map(|text| width_of(text)).max().unwrap_or(0).max(said.len());
        let padded = |text: &str| format!("{}{text}", " ".repeat(width - width_of(text)));
        heads.push((column.name.clone(), padded(said)));
        let texts: Vec<String> = texts.iter().map(|text| padded(text)).collect();
        *column = Column::strings(column.name.clone(), column.doc, texts);
    }
    Ok((Table::new(columns), heads))
}
