//! `report`: what bounds the program, then the numbers.

use std::io::{self, Write};

use parallax_service::analysis::report::{Finding, GpuRow, Report};
use parallax_service::{Column, Table};
use parallax_wire::{EvidenceReply, FindingReply, ReportReply, TableReply};

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
            let tables = tables(&report, report.hot_path_table(opened.session()));
            let reply = reply(&report, &database.path.display().to_string(), &tables)?;
            context.output.emit_reply(&reply, |style, out| {
                text(&report, &database.path.display().to_string(), style, out)
            })?;
        }
        // Formats of one table carry where the cost goes.
        _ => context.output.emit(&report.categories_table())?,
    }
    context.finish(&opened, &[]);
    Ok(())
}

fn tables(report: &Report, hot_path: Table) -> Vec<(&'static str, Table)> {
    vec![
        ("categories", report.categories_table()),
        ("routines", report.routines_table()),
        ("functions", report.functions_table()),
        ("gpu", report.gpu_table()),
        ("hot_path", hot_path),
        ("metrics", report.metrics_table()),
    ]
}

/// The command that a finding suggests, as it can be typed.
fn next_command(finding: &Finding, path: &str) -> String {
    let contexts = finding.next.contexts.as_ref();
    match (finding.next.command, contexts) {
        (command @ ("tree" | "flat"), Some(contexts)) => {
            format!("parallax {command} {path} --from '{contexts}'")
        }
        (command @ "callers", Some(contexts)) => {
            let name = contexts.trim_start_matches("function(").trim_end_matches(')');
            format!("parallax {command} {path} --function '{name}'")
        }
        (command, Some(contexts)) => format!("parallax {command} {path} -c '{contexts}'"),
        (command, None) => format!("parallax {command} {path}"),
    }
}

fn text(report: &Report, path: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
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
        for (i, finding) in report.findings.iter().enumerate() {
            findings = findings.pair(
                format!("{}.", i + 1),
                format!("{}\nnext: {}", finding.text, next_command(finding, path)),
            );
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

fn reply(report: &Report, path: &str, tables: &[(&str, Table)]) -> io::Result<ReportReply> {
    let finding = |finding: &Finding| FindingReply {
        kind: format!("{:?}", finding.kind),
        text: finding.text.clone(),
        percent: finding.percent,
        evidence: finding
            .evidence
            .iter()
            .map(|e| EvidenceReply { what: e.what.clone(), value: e.value, unit: e.unit.clone() })
            .collect(),
        next: next_command(finding, path),
    };
    Ok(ReportReply {
        title: report.title.clone(),
        metric: report.metric.map(|_| report.metric_name.clone()),
        unit: report.unit.to_string(),
        reason: report.reason.clone(),
        total: report.total,
        helper_total: report.helper_total,
        program_total: report.program_total,
        samples: report.num_samples,
        ranks: report.num_ranks as u64,
        locations: report.num_locations as u64,
        findings: report.findings.iter().map(finding).collect(),
        tables: tables
            .iter()
            .map(|(name, table)| Ok(((*name).to_owned(), TableReply::of(table)?)))
            .collect::<io::Result<_>>()?,
    })
}
