//! `info`: what a database holds.

use clap::Args;
use parallax_protocol::{FactReply, InfoReply, InfoRequest, TypedTable as _};
use parallax_service::{Answers as _, Column, Unit};

use super::Context;
use crate::args::Database;
use crate::text::{KeyValues, Show, Style, TextTable, bytes, count, duration, quantity};

/// What `info` looks at.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    database: Database,
}

pub(super) fn info(context: &Context, arguments: &InfoArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.database)?;
    let answer = opened.answer(&InfoRequest {}, &context.control)?;
    let info = &answer.reply;
    let origin = &opened.session().experiment().metadata.origin;
    let components = answer.tables.components.into_table();
    let component_facts = answer.tables.component_facts.into_table();
    let processes = answer.tables.processes.into_table();
    let mut metrics = answer.tables.metrics.into_table();
    context.output.emit_reply(info, |style, out| {
        facts(info, origin, style).write(style, out)?;
        writeln!(out)?;
        if !info.component_list.is_empty() {
            writeln!(out, "Components\n")?;
            TextTable::new(&components)
                .columns(&["component", "ranks", "first_rank", "start_s", "end_s", "depends_on"])
                .write(style, out)?;
            writeln!(out)?;
        }
        // Every metric has a unit of its own, so the column has none in common.
        let totals = info.metric_list.iter().map(|metric| match metric.total {
            Some(total) => quantity(total, &metric.unit, style),
            None => style.nothing().to_owned(),
        });
        let totals = Column::strings("total", "", totals.collect::<Vec<_>>());
        metrics.columns.iter_mut().filter(|column| column.name == "total").for_each(|column| {
            *column = totals.clone();
        });
        let mut shown = vec!["metric", "unit", "total", "scopes", "statistics", "description"];
        if info.metric_list.iter().any(|metric| metric.formula.is_some()) {
            shown.push("formula");
        }
        TextTable::new(&metrics).columns(&shown).show("total", Show::Text).write(style, out)?;
        let whole: Vec<&FactReply> = info.fact_list.iter().filter(|f| is_of_all(info, f)).collect();
        if !whole.is_empty() {
            let metadata = KeyValues::new().section("Metadata");
            let pair = |all: KeyValues, fact: &&FactReply| all.pair(&fact.name, &fact.value);
            write!(out, "\n{}", whole.iter().fold(metadata, pair).render(style))?;
        }
        if component_facts.num_rows() > 0 {
            writeln!(out)?;
            let mut table = TextTable::new(&component_facts).title("Metadata of components");
            // Names of components are written as they are.
            for component in &info.component_list {
                table = table.head(&component.name, component.name.as_str());
            }
            table.write(style, out)?;
        }
        if processes.num_rows() > 0 {
            writeln!(out)?;
            // Where they are, and what they run; all that differs is in the table of other formats.
            let is_there = |name: &&str| processes.column(name).is_some();
            let shown: Vec<&str> = PROCESSES.iter().copied().filter(is_there).collect();
            TextTable::new(&processes).title("Processes").columns(&shown).write(style, out)?;
        }
        if !info.issue_list.is_empty() {
            write!(out, "\n{}", issues(info).render(style))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Columns of processes that are shown.
const PROCESSES: [&str; 8] =
    ["component", "process", "threads", "host", "start_s", "pid", "cpu", "command"];

/// Whether a fact is about the whole execution: those of components are in a table of their own.
fn is_of_all(info: &InfoReply, fact: &FactReply) -> bool {
    let is_own =
        |name: &str| fact.name.strip_prefix(name).is_some_and(|rest| rest.starts_with(": "));
    !info.component_list.iter().any(|component| is_own(&component.name))
}

fn counted(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), plural(one, n))
}

fn facts(info: &InfoReply, origin: &str, style: &Style) -> KeyValues {
    let kinds: Vec<String> = info
        .context_kinds
        .iter()
        .filter(|kind| kind.count > 0)
        .map(|kind| {
            format!("{} {}{}", count(kind.count), kind.name, plural(&kind.name, kind.count))
        })
        .collect();
    let identities: Vec<String> =
        info.kinds.iter().map(|kind| counted(kind.count, &kind.name)).collect();
    let mut locations = count(info.locations);
    if !identities.is_empty() {
        locations += &format!(": {}", identities.join(", "));
    }
    if info.empty_locations > 0 {
        locations += &format!("; {} without values", count(info.empty_locations));
    }
    let mut facts = KeyValues::new()
        .section(&info.title)
        .pair("format", &info.format)
        .pair("from", format!("{origin} ({})", bytes(info.size_bytes, style)))
        .pair("locations", locations)
        .pair(
            "contexts",
            format!("{}: {}; depth {}", count(info.contexts), kinds.join(", "), info.depth),
        )
        .pair(
            "code",
            format!(
                "{}, {}, {}",
                counted(info.functions, "function"),
                counted(info.source_files, "source file"),
                counted(info.modules, "module")
            ),
        )
        .pair("values", count(info.values));
    let what = match (info.calls, &info.activations) {
        (_, Some(_)) => "calls and loop executions",
        (Some(_), None) => "calls",
        (None, None) => "samples",
    };
    facts = match info.span {
        Some(span) => facts.pair(
            "traces",
            format!(
                "{}: {} {what} over {}",
                count(info.traces),
                count(info.samples),
                duration(span.end_ns.saturating_sub(span.start_ns) as f64 / 1e9, style)
            ),
        ),
        None => facts.pair("traces", "none"),
    };
    if let Some(events) = info.events {
        let parts = [
            (info.enters, "enter"),
            (info.leaves, "leave"),
            (info.sends, "send"),
            (info.receives, "receive"),
            (info.metric_records, "metric"),
            (info.other_records, "other"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter_map(|(n, name)| Some((n.filter(|n| *n > 0)?, name)))
            .map(|(n, name)| format!("{} {name}", count(n)))
            .collect();
        let declared = match info.declared_events {
            Some(declared) if declared != events => format!("; {} declared", count(declared)),
            _ => String::new(),
        };
        facts = facts.pair("events", format!("{}: {}{declared}", count(events), parts.join(", ")));
    }
    if let Some(counts) = &info.activations {
        let calls = format!(
            "{}; {} loop executions, {} iterations; {} threads",
            count(counts.calls),
            count(counts.loop_executions),
            count(counts.iterations),
            count(counts.threads)
        );
        let memory = format!(
            "{} variables and allocations; {} reads, {} writes",
            count(counts.references),
            count(counts.reads),
            count(counts.writes)
        );
        facts = facts.pair("calls", calls).pair("references", memory);
    }
    let totals = info.metric_list.iter().filter(|m| m.unit == Unit::Seconds.to_string());
    if let Some((metric, total)) = totals.filter_map(|m| Some((m, m.total?))).next() {
        let text = format!(
            "{} of {} over all locations",
            quantity(total, &metric.unit, style),
            metric.name
        );
        facts = facts.pair("total", text);
    }
    facts.pair("issues", if info.issues == 0 { "none".into() } else { count(info.issues) })
}

fn plural(name: &str, n: u64) -> &'static str {
    match (n, name) {
        (1, _) => "",
        (_, "entry") => " points",
        (_, "process") => "es",
        _ => "s",
    }
}

fn issues(info: &InfoReply) -> KeyValues {
    let mut out = KeyValues::new().section("Issues");
    for issue in &info.issue_list {
        let times = if issue.count > 1 {
            format!(" ({} times)", count(issue.count))
        } else {
            String::new()
        };
        let text = format!("{}: {}{times}", issue.place, issue.message);
        out = out.pair(issue.severity.to_string(), text);
    }
    out
}
