//! `report`: the top findings, then the numbers.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use parallax_protocol::{ClusterChoice, FindingReply, NextAction, ReportReply, TableSet as _};
use parallax_service::analysis::balance::Grouping;
use parallax_service::analysis::report::{GpuRow, Report, rank_findings};
use parallax_service::{
    Answer, Column, ComparedVersion, ComparisonRequest, Table, compare_experiments, regression,
};
use parallax_wire::Document;

use super::Command;
use super::clusters::PlaceArgs;
use super::sql_cluster::{ClusterPartsArgs, open_over};
use super::{Context, report_html};
use crate::args::{Cli, Database};
use crate::output::{Format, Output};
use crate::text::{KeyValues, Role, Style, TextTable, count, printable, quantity, with_options};
use crate::{open, scaling};

/// What a report is about.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    database: Database,
    /// Metric to report (default: the most suitable time metric of the database).
    #[arg(long, short, value_name = "METRIC")]
    metric: Option<String>,
    /// Earlier run to compare with; a slowdown is reported as a finding.
    #[arg(long, value_name = "PATH")]
    against: Option<PathBuf>,
    /// List the numbers behind each finding.
    #[arg(long)]
    evidence: bool,
    #[command(flatten)]
    place: PlaceArgs,
    /// Also write the report to this file, as self-contained HTML.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    parts: ClusterPartsArgs,
}

pub(super) fn report(context: &Context, arguments: ReportArgs) -> anyhow::Result<()> {
    let ReportArgs { database, metric, against, evidence, place, html, parts } = arguments;
    let path = database.path.display().to_string();
    if scaling::is_ensemble(&database.path) {
        if parts.members.cluster.is_some() {
            anyhow::bail!("--cluster is not supported for measurements of several runs");
        }
        return of_several_runs(context, &path, metric, html);
    }
    let request = place.request(ClusterChoice::default())?;
    let over = open_over(context, &database.path, &parts.members, parts.part_rows)?;
    let opened = &over.opened;
    let Answer { value: mut report, mut notes } =
        opened.diagnose_at(metric.as_deref(), &request, &context.control)?;
    let named_metric = metric.clone();
    let mut changes = Vec::new();
    let mut compared = None;
    if let Some(other) = against {
        let old = open::database(&other, &context.control)?;
        let other = other.display().to_string();
        let version = |name: &str, opened| ComparedVersion {
            name: name.to_owned(),
            experiments: vec![opened],
        };
        let versions = [version(&other, &old), version(&path, opened)];
        let request = ComparisonRequest { metric, ..ComparisonRequest::default() };
        let answer = compare_experiments(&versions, &request, &context.control)?;
        notes.extend(answer.notes);
        if let Some(pair) = answer.value.comparison.pairs.first() {
            report.findings.extend(regression(&answer.value, pair));
            rank_findings(&mut report.findings);
            changes = answer.value.comparison.sentences(pair);
        }
        compared = Some(other);
    }
    over.check()?;
    let mut answer = opened.report_answer(&report, notes.clone());
    let asked = Asked {
        path: &path,
        metric: named_metric.as_deref(),
        compared: compared.as_deref(),
        grouping: report.balance.as_ref().map(|balance| balance.grouping),
        place: &place,
    };
    for finding in &mut answer.reply.findings {
        finding.next = Some(asked.next_command(finding));
    }
    let (reply, unit) = (answer.reply, answer.unit);
    let tables = answer.tables.into_named(&unit);
    let beside = compared.as_deref().map(|other| (other, changes.as_slice()));
    match (context.output.format, tables.first()) {
        // Formats of one table carry where the cost goes.
        (Format::Jsonl | Format::Csv | Format::Arrow | Format::Parquet, Some((_, categories))) => {
            context.output.emit(categories)?;
        }
        _ => {
            let document = Document::new(&reply, &tables)?;
            context.output.emit_reply(&document, |style, out| {
                text(&report, &reply, &tables, beside, evidence, style, out)
            })?;
        }
    }
    if let Some(file) = html {
        let page = report_html::page(&report, &reply, beside, &context.output.style);
        let file = Output::new(Some(Format::Text), Some(file), context.output.style);
        file.emit_reply(&(), |_, out| out.write_all(page.as_bytes()))?;
    }
    context.finish(opened, &notes);
    Ok(())
}

/// What is wrong with a program of which several runs are there, is its scaling.
fn of_several_runs(
    context: &Context,
    path: &str,
    metric: Option<String>,
    html: Option<PathBuf>,
) -> anyhow::Result<()> {
    let mut words = vec!["parallax".to_owned(), "scaling".to_owned(), path.to_owned()];
    words.extend(metric.map(|metric| format!("--metric={metric}")));
    words.extend(html.map(|html| format!("--html={}", html.display())));
    let typed = Cli::of(words.iter().map(Into::into))?;
    context.note(format!("several runs: same as `{}`", words.join(" ")));
    match typed.command {
        Command::Scaling(arguments) => {
            scaling::run(&arguments, &context.output, &context.stderr, &context.control)
        }
        _ => Ok(()),
    }
}

/// What commands of one report have in common.
struct Asked<'a> {
    path: &'a str,
    metric: Option<&'a str>,
    /// An earlier execution.
    compared: Option<&'a str>,
    /// What the balance of the report compares.
    grouping: Option<Grouping>,
    place: &'a PlaceArgs,
}

impl Asked<'_> {
    /// The command that a finding suggests, as it can be typed.
    fn next_command(&self, finding: &FindingReply) -> String {
        let path = shell_word(self.path);
        let mut out = match finding.action {
            NextAction::Info => format!("info {path}"),
            NextAction::Balance => format!("balance {path}"),
            NextAction::Callers => format!("callers {path}"),
            NextAction::Idleness => format!("idleness {path}"),
            NextAction::GpuBlame => format!("idleness {path} --blame"),
            NextAction::GpuStalls => format!("gpu-stalls {path} --by line"),
            NextAction::Iterations | NextAction::Stall => format!("iterations {path}"),
            NextAction::RankClusters => format!("cluster {path} --by rank"),
            NextAction::NodeClusters => format!("cluster {path} --by node"),
            NextAction::RankRacks => format!("topology {path} --by rank{}", self.place.words()),
            NextAction::NodeRacks => format!("topology {path} --by node{}", self.place.words()),
            NextAction::Waits => format!("waits {path}"),
            NextAction::LateLaunches => format!("waits {path} --kind late-launch --by track"),
            NextAction::CriticalPath => format!("critical-path {path}"),
            NextAction::Differences => match self.compared {
                Some(other) => format!("compare {} {path}", shell_word(other)),
                None => format!("compare {path}"),
            },
        };
        let mut add = |option: &str, value: &str| {
            out.push_str(&format!(" {option} {}", shell_word(value)));
        };
        match finding.action {
            NextAction::Callers => {
                if let Some(function) = &finding.function {
                    add("--exact", function);
                }
                if let Some(contexts) = &finding.contexts {
                    add("--from", contexts);
                }
            }
            NextAction::Balance => {
                if let Some(contexts) = &finding.contexts {
                    add("-c", contexts);
                }
                if let Some(Grouping::Identity(kind)) = self.grouping {
                    add("--per", kind.name());
                }
            }
            NextAction::Stall => {
                if let Some(iteration) = finding.iteration {
                    add("-i", &iteration.to_string());
                }
            }
            _ => {}
        }
        let has_metric = matches!(
            finding.action,
            NextAction::Balance
                | NextAction::Callers
                | NextAction::RankClusters
                | NextAction::NodeClusters
                | NextAction::RankRacks
                | NextAction::NodeRacks
                | NextAction::Differences
        );
        if let Some(metric) = self.metric.filter(|_| has_metric) {
            add("--metric", metric);
        }
        format!("parallax {out}")
    }
}

/// A word as a shell reads it: in single quotes where it has anything that means something there.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// `Potential saving: 2.10 s (12.3 % of the run), if balanced`.
pub(super) fn saving(finding: &FindingReply, style: &Style) -> Option<String> {
    let of = finding.potential.as_ref()?;
    Some(format!(
        "Potential saving: {} ({:.1} % of the run) {}",
        quantity(of.amount, &of.unit, style),
        of.percent,
        of.condition
    ))
}

fn text(
    report: &Report,
    reply: &ReportReply,
    tables: &[(&'static str, Table)],
    against: Option<(&str, &[String])>,
    is_evidence: bool,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let unit = report.unit.to_string();
    let amount = |value: f64| quantity(value, &unit, style);
    let mut facts = KeyValues::new().section(&report.title);
    if report.metric.is_none() {
        return facts.pair("metric", &report.reason).write(style, out);
    }
    let metric = match &*report.reason {
        "" => report.metric_name.clone(),
        reason => format!("{} ({})", report.metric_name, reason.trim_end_matches('.')),
    };
    facts = facts.pair("metric", metric);
    let mut total = amount(report.program_total);
    if report.helper_total > 0.0 {
        total += &format!(
            "; {} more on helper threads of MPI, drivers or the measurement tool",
            amount(report.helper_total)
        );
    }
    facts = facts.pair("total", total);
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
            "{ranks}{} of {} locations with values{samples}",
            count(report.num_sampled as u64),
            count(report.num_locations as u64)
        ),
    );
    facts = facts.pair("verdict", &reply.verdict.line);
    facts.write(style, out)?;

    writeln!(out)?;
    if report.findings.is_empty() {
        KeyValues::new().section("Top findings").pair("-", "No findings").write(style, out)?;
    } else {
        let mut findings = KeyValues::new().section("Top findings");
        for (i, finding) in reply.findings.iter().enumerate() {
            let mut text = format!("{}\n{}", finding.title, with_options(&finding.text));
            if let Some(saving) = saving(finding, style) {
                text.push_str(&format!("\n{saving}."));
            }
            if is_evidence {
                for one in &finding.evidence {
                    let value = match one.unit.as_str() {
                        "%" => format!("{:.1} %", one.value),
                        unit => quantity(one.value, unit, style),
                    };
                    text.push_str(&format!("\nevidence: {} = {value}", one.what));
                }
            }
            let next = finding.next.as_deref().unwrap_or_default();
            text.push_str(&format!("\nnext: {next}"));
            findings = findings.pair(format!("{}.", i + 1), text);
        }
        findings.write(style, out)?;
    }

    if let Some((other, sentences)) = against {
        writeln!(out)?;
        writeln!(
            out,
            "{}\n",
            style.paint(Role::Head, &format!("Compared with {}", printable(other)))
        )?;
        for sentence in sentences {
            scaling::bullet(&printable(sentence), style, out)?;
        }
    }

    let what = if report.unit.is_time() { "time" } else { "value" };
    let named = |wanted: &str| tables.iter().find(|(name, _)| *name == wanted).map(|(_, t)| t);
    section(&by_class(report), named("categories"), style, out, |table| {
        table
            .columns(&["group", "class", "cost", "percent"])
            .head("cost", what)
            .head("percent", "share")
    })?;
    section(&format!("Functions by exclusive {what}"), named("functions"), style, out, |table| {
        table
            .columns(&["exclusive", "percent", "inclusive", "function", "module"])
            .head("exclusive", "excl.")
            .head("percent", "share")
            .head("inclusive", "incl.")
    })?;
    section("Routines", named("routines"), style, out, |table| {
        table
            .columns(&["routine", "group", "class", "cost", "percent"])
            .head("cost", what)
            .head("percent", "share")
    })?;
    section("GPU", Some(&gpu(report, style)), style, out, |table| table)
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

/// `Time by class`.
pub(super) fn by_class(report: &Report) -> String {
    format!("{} by class", if report.unit.is_time() { "Time" } else { &report.metric_name })
}

/// Rows of a section of the report, unless all are asked for.
const SECTION_ROWS: usize = 10;

fn section<'t>(
    title: &str,
    table: Option<&'t Table>,
    style: &Style,
    out: &mut dyn Write,
    shape: impl FnOnce(TextTable<'t>) -> TextTable<'t>,
) -> io::Result<()> {
    let Some(table) = table.filter(|table| table.num_rows() > 0) else { return Ok(()) };
    let style = Style { rows: style.rows.map(|rows| rows.min(SECTION_ROWS)), ..*style };
    writeln!(out)?;
    shape(TextTable::new(table).title(title)).write(&style, out)
}
