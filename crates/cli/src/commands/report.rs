//! `report`: what bounds the program, then the numbers.

use std::io::{self, Write};

use parallax_service::analysis::report::{GpuRow, Report};
use parallax_service::{Column, Table};
use parallax_wire::ReportReply;

use super::Context;
use crate::args::Database;
use crate::output::Format;
use crate::text::{KeyValues, Style, TextTable, count, quantity};

pub(super) fn report(
    context: &Context,
    database: &Database,
    metric: Option<&str>,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let report = opened.report(metric, &context.control)?;
    match context.output.format {
        Format::Text | Format::Json => {
            let path = database.path.display().to_string();
            let reply = ReportReply::of(&report, &opened, &path)?;
            context.output.emit_reply(&reply, |style, out| text(&report, &reply, style, out))?;
        }
        // Formats of one table carry where the cost goes.
        _ => context.output.emit(&report.categories_table())?,
    }
    context.finish(&opened, &[]);
    Ok(())
}

fn text(
    report: &Report,
    reply: &ReportReply,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let unit = report.unit.to_string();
    let amount = |value: f64| quantity(value, &unit, style);
    let mut facts = KeyValues::new().section(&report.title);
    if report.metric.is_none() {
        return facts.pair("metric", &report.reason).write(style, out);
    }
    facts = facts.pair("metric", format!("{} ({})", report.metric_name, report.reason));
    let mut cost = amount(report.program_total);
    if report.helper_total > 0.0 {
        cost += &format!(
            ", and {} on helper threads that wait for events of MPI or the measurement",
            amount(report.helper_total)
        );
    }
    facts = facts.pair("cost", cost);
    let ranks = match report.num_ranks {
        0 => String::new(),
        1 => "1 rank, ".into(),
        n => format!("{} ranks, ", count(n as u64)),
    };
    let samples = report.num_samples.map_or_else(String::new, |n| {
        format!("; about {} samples", count(n.round().max(0.0) as u64))
    });
    facts = facts.pair(
        "measured",
        format!(
            "{ranks}{} of {} locations have values{samples}",
            count(report.num_sampled as u64),
            count(report.num_locations as u64)
        ),
    );
    facts.write(style, out)?;

    writeln!(out)?;
    if report.findings.is_empty() {
        KeyValues::new()
            .section("What bounds the program")
            .pair("-", "nothing stands out")
            .write(style, out)?;
    } else {
        let mut findings = KeyValues::new().section("What bounds the program");
        for (i, finding) in reply.findings.iter().enumerate() {
            let text = format!("{}\nnext: {}", finding.text, finding.next);
            findings = findings.pair(format!("{}.", i + 1), text);
        }
        findings.write(style, out)?;
    }

    section("Where the cost goes", &report.categories_table(), style, out, |table| {
        table.columns(&["group", "class", "cost", "percent"]).head("percent", "share")
    })?;
    section("Functions by their own cost", &report.functions_table(), style, out, |table| {
        table
            .columns(&["exclusive", "percent", "inclusive", "function", "module"])
            .head("exclusive", "excl.")
            .head("percent", "share")
            .head("inclusive", "incl.")
    })?;
    section("Routines", &report.routines_table(), style, out, |table| {
        table.columns(&["routine", "group", "class", "cost", "percent"]).head("percent", "share")
    })?;
    section("GPU", &gpu(report, style), style, out, |table| table)
}

/// Metrics of GPUs differ in unit, so each value is shown with its own.
fn gpu(report: &Report, style: &Style) -> Table {
    let rows = &report.gpu;
    let value = |row: &GpuRow| quantity(row.value, &row.unit.to_string(), style);
    Table::new(vec![
        Column::strings("what", "", rows.iter().map(|row| row.what)),
        Column::strings("metric", "", rows.iter().map(|row| &*row.metric)),
        Column::strings("value", "", rows.iter().map(value)),
        Column::optional_f64s("share", "%", "", rows.iter().map(|row| row.percent).collect()),
    ])
}

/// Rows of a section of the report, unless all are asked for.
const SECTION_ROWS: usize = 10;

fn section<'t>(
    title: &str,
    table: &'t Table,
    style: &Style,
    out: &mut dyn Write,
    shape: impl FnOnce(TextTable<'t>) -> TextTable<'t>,
) -> io::Result<()> {
    if table.num_rows() == 0 {
        return Ok(());
    }
    let style = Style { rows: style.rows.map(|rows| rows.min(SECTION_ROWS)), ..*style };
    writeln!(out)?;
    shape(TextTable::new(table).title(title)).write(&style, out)
}
