//! `anomalies`.

use clap::Args;
use parallax_base::quantity::counted;
use parallax_protocol::{AnomaliesRequest, Answer, TypedTable as _};
use parallax_service::Answers as _;

use super::Context;
use super::timeline::limit_note;
use crate::args::{PartArgs, nanoseconds};
use crate::text::{Show, TextTable, count};

/// What `anomalies` looks at.
#[derive(Debug, Args)]
pub(crate) struct AnomaliesArgs {
    #[command(flatten)]
    part: PartArgs,
    /// Include MPI calls and calls that wait, the duration of which depends on other locations.
    #[arg(long)]
    waiting: bool,
    /// Minimum time above the median of the function, such as 50us or 2ms.
    #[arg(long, value_name = "TIME", value_parser = nanoseconds, default_value = "10us")]
    min_excess: u64,
    /// Maximum number of calls to show; a note gives the total number.
    #[arg(long, value_name = "N", default_value_t = AnomaliesRequest::default().max_rows)]
    limit: u32,
}

pub(super) fn anomalies(context: &Context, arguments: AnomaliesArgs) -> anyhow::Result<()> {
    let (database, part) = arguments.part.parted();
    let request = AnomaliesRequest {
        part,
        waiting: arguments.waiting,
        min_excess_ns: arguments.min_excess,
        max_rows: arguments.limit,
        ..AnomaliesRequest::default()
    };
    let opened = context.open(&database)?;
    let Answer { reply, tables, .. } = opened.answer(&request, &context.control)?;
    let table = tables.rows.into_table();
    let mut notes = reply.notes;
    notes.extend(limit_note(&table, reply.total));
    if let Some(detector) = reply.detector.as_ref().filter(|_| !reply.is_compared) {
        let calls = counted(reply.total, "call");
        notes.push(format!("{detector} reported {calls} of this part as anomalies."));
    } else if reply.found > 0 {
        notes.push(format!(
            "{} of {} compared calls take {:.3} s longer than the medians of their functions.",
            count(reply.found),
            count(reply.compared),
            reply.excess_ns / 1e9
        ));
    }
    let mut columns = vec!["name", "location", "start_ns", "exclusive_ns"];
    if reply.is_compared {
        columns.extend(["median_ns", "times_median", "calls", "score"]);
        // Where nobody named any, all of them are found.
        columns.extend(["found", "named"].into_iter().filter(|_| reply.detector.is_some()));
    }
    context.output.emit_with(&table, |style, out| {
        TextTable::new(&table)
            .columns(&columns)
            .head("times_median", "times")
            .head("exclusive_ns", "excl.")
            .show("calls", Show::Count)
            .write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}
