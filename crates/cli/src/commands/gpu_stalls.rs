//! `gpu-stalls`: where instructions of GPUs stall, and why.

use std::io::{self, Write};

use clap::Args;
use parallax_protocol::{
    Column, GpuStallReasonTable, GpuStallTable, GpuStallsBy, GpuStallsReply, GpuStallsRequest,
    Table, TypedTable as _,
};
use parallax_service::Answers as _;

use super::Context;
use crate::args::Database;
use crate::choice::names;
use crate::text::{Show, Style, TextTable, count, quantity, width_of, wrapped};

/// What `gpu-stalls` shows.
#[derive(Debug, Args)]
pub(crate) struct GpuStallsArgs {
    #[command(flatten)]
    database: Database,
    /// Rows of the table.
    #[arg(long, value_parser = names::<GpuStallsBy>(), default_value_t)]
    by: GpuStallsBy,
    /// Show only the kernel with this name, or kernels that match this glob, such as 'gemm*'.
    #[arg(long, short, value_name = "NAME")]
    kernel: Option<String>,
    /// Locations to include, such as 'rank(0-9)'; ranges include their end.
    #[arg(long, short, value_name = "PROFILES")]
    profiles: Option<String>,
}

/// Reasons with at least this share of the stalls are explained, in per cent.
const MIN_EXPLAINED_PERCENT: f64 = 10.0;

pub(super) fn gpu_stalls(context: &Context, arguments: GpuStallsArgs) -> anyhow::Result<()> {
    let GpuStallsArgs { database, by, kernel, profiles } = arguments;
    let opened = context.open(&database)?;
    let request = GpuStallsRequest { by, kernel, profiles };
    let answer = opened.answer(&request, &context.control)?;
    let (reply, reasons) = (&answer.reply, &answer.tables.reasons);
    let table = answer.tables.rows.clone().into_table();
    context.output.emit_with(&table, |style, out| {
        let shown = with_place(&answer.tables.rows, by);
        let columns: Vec<&str> = shown.columns.iter().map(|column| column.name.as_str()).collect();
        TextTable::new(&shown)
            .title(title(reply, by, style))
            .columns(&columns)
            .show("cycles_percent", Show::PercentBar)
            .show("issue_percent", Show::Percent)
            .show("hidden_percent", Show::Percent)
            .show("exposed_percent", Show::Percent)
            .show("reason_percent", Show::Percent)
            .show(PLACE, Show::Text)
            .show("reason", Show::Text)
            .head("cycles_percent", "share")
            .head("issue_percent", "issue rate")
            .head("hidden_percent", "hidden")
            .head("exposed_percent", "exposed")
            .head("reason", "first reason")
            .head("reason_percent", "for it")
            .head("kernel_s", "time")
            .write(style, out)?;
        explain(reasons, style, out)
    })?;
    context.finish(&opened, &answer.reply.notes);
    Ok(())
}

/// "GPU stalls by kernel: issue rate 38.0 %, exposed stalls 56.0 % of 10,000 samples".
fn title(reply: &GpuStallsReply, by: GpuStallsBy, style: &Style) -> String {
    let percent = |value: f64| format!("{value:.1} %");
    let mut parts = Vec::new();
    if let Some(issued) = reply.issue_percent {
        parts.push(format!("issue rate {}", percent(issued)));
    }
    if let Some(hidden) = reply.hidden_percent {
        parts.push(format!("hidden stalls {}", percent(hidden)));
    }
    if let Some(exposed) = reply.exposed_percent {
        parts.push(format!("exposed stalls {}", percent(exposed)));
    }
    let whole = match reply.samples {
        Some(samples) => format!("{} samples", count(samples.round() as u64)),
        None => quantity(reply.cycles, "cycles", style),
    };
    match parts.is_empty() {
        true => format!("GPU cycles by {by}: {whole}"),
        false => format!("GPU stalls by {by}: {} of {whole}", parts.join(", ")),
    }
}

/// The column that says where.
const PLACE: &str = "place";

/// What the user reads: one column for the place, and no column without values.
fn with_place(rows: &GpuStallTable, by: GpuStallsBy) -> Table {
    let text = |column: &[String], row: usize| column.get(row).cloned().unwrap_or_default();
    let base = |path: String| path.rsplit('/').next().unwrap_or_default().to_owned();
    let place = |row: usize| {
        let (kernel, function) = (text(&rows.kernel, row), text(&rows.function, row));
        let function = match function.as_str() {
            "" => format!("(unknown function) of {kernel}"),
            same if same == kernel => kernel.clone(),
            other => format!("{other} of {kernel}"),
        };
        let line = rows.line.get(row).copied().flatten();
        match (by, line) {
            (GpuStallsBy::Kernel, _) => kernel,
            (GpuStallsBy::Function, _) => function,
            (GpuStallsBy::Line, Some(line)) => {
                format!("{}:{line} in {function}", base(text(&rows.file, row)))
            }
            (GpuStallsBy::Line, None) => format!("(unknown line) in {function}"),
            (GpuStallsBy::Instruction, _) => {
                format!("{} in {function}", text(&rows.instruction, row))
            }
        }
    };
    let places: Vec<String> = (0..rows.kernel.len()).map(place).collect();
    let mut columns = vec![Column::f64s("cycles_percent", "%", "", rows.cycles_percent.clone())];
    for (name, unit, values) in [
        ("issue_percent", "%", &rows.issue_percent),
        ("hidden_percent", "%", &rows.hidden_percent),
        ("exposed_percent", "%", &rows.exposed_percent),
        ("reason_percent", "%", &rows.reason_percent),
        ("kernel_s", "s", &rows.kernel_s),
    ] {
        if values.iter().any(Option::is_some) {
            columns.push(Column::optional_f64s(name, unit, "", values.clone()));
        }
    }
    // Where comes before why: what does not fit into a line goes from its end.
    columns.push(Column::strings(PLACE, "", places));
    columns.push(Column::optional_strings("reason", "", rows.reason.iter().copied()));
    Table::new(columns)
}

/// What the reasons mean, and what one usually does.
fn explain(reasons: &GpuStallReasonTable, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let rows = reasons.reason.iter().zip(&reasons.meaning).zip(&reasons.remedy);
    let shares = reasons.stalls_percent.iter().zip(&reasons.cycles_percent);
    for (((reason, meaning), remedy), (stalls, cycles)) in rows.zip(shares) {
        if *stalls < MIN_EXPLAINED_PERCENT {
            continue;
        }
        let head = format!("{reason} ({stalls:.1} % of the stalls, {cycles:.1} % of the cycles): ");
        let usual =
            if remedy.is_empty() { String::new() } else { format!(" Usual remedies: {remedy}") };
        writeln!(out)?;
        let text = format!("{head}{meaning}{usual}");
        for line in wrapped(&text, style.width.max(width_of(&head))) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
