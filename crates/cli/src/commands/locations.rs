//! `locations`.

use clap::Args;
use parallax_protocol::{Answer, LocationsRequest, TypedTable as _};
use parallax_service::Answers as _;

use super::Context;
use crate::args::Database;
use crate::text::{Show, TextTable};

/// What `locations` lists.
#[derive(Debug, Args)]
pub(crate) struct LocationsArgs {
    #[command(flatten)]
    database: Database,
    /// Profiles to include, such as 'rank(0-9).thread(0)'; ranges include their end.
    #[arg(long, short, value_name = "PROFILES")]
    profiles: Option<String>,
}

pub(super) fn locations(context: &Context, arguments: LocationsArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.database)?;
    let request = LocationsRequest { profiles: arguments.profiles };
    let Answer { reply, tables, .. } = opened.answer(&request, &context.control)?;
    let table = tables.rows.into_table();
    context.output.emit_with(&table, |style, out| {
        TextTable::new(&table)
            .show("location", Show::Text)
            .show("role", Show::Text)
            .write(style, out)
    })?;
    context.finish(&opened, &reply.notes);
    Ok(())
}
