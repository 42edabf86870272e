//! `info`: what a database holds.

use clap::Args;
use parallax_service::{Column, Info, Severity, Unit};
use parallax_wire::InfoReply;

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
    let info = opened.info(&context.control)?;
    context.output.emit_reply(&InfoReply::from(&info), |style, out| {
        facts(&info, style).write(style, out)?;
        writeln!(out)?;
        if !info.components.is_empty() {
            writeln!(out, "Components\n")?;
            TextTable::new(&info.components_table())
                .columns(&["component", "ranks", "first_rank", "start_s", "end_s", "depends_on"])
                .write(style, out)?;
            writeln!(out)?;
        }
        // Every metric has a unit of its own, so the column has none in common.
        let mut table = info.metrics_table();
        let totals = info.metrics.iter().map(|metric| match metric.total {
            Some(total) => quantity(total, &metric.unit, style),
            None => style.nothing().to_owned(),
        });
        let totals = Column::strings("total", "", totals.collect::<Vec<_>>());
        table.columns.iter_mut().filter(|column| column.name == "total").for_each(|column| {
            *column = totals.clone();
        });
        TextTable::new(&table)
            .columns(&["metric", "unit", "total", "scopes", "statistics", "description"])
            .show("total", Show::Text)
            .write(style, out)?;
        if !info.issues.is_empty() {
            write!(out, "\n{}", issues(&info).render(style))?;
        }
        Ok(())
    })?;
    Ok(())
}

fn counted(n: usize, one: &str) -> String {
    format!("{} {one}{}", number(n), if n == 1 { "" } else { "s" })
}

fn number(n: usize) -> String {
    count(n as u64)
}

fn facts(info: &Info, style: &Style) -> KeyValues {
    let kinds: Vec<String> = info
        .contexts_by_kind
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| format!("{} {name}{}", number(*n), plural(name, *n)))
        .collect();
    let identities: Vec<String> = info
        .identities
        .iter()
        .map(|(name, n)| format!("{} {name}{}", number(*n), if *n == 1 { "" } else { "s" }))
        .collect();
    let mut locations = number(info.locations);
    if !identities.is_empty() {
        locations += &format!(": {}", identities.join(", "));
    }
    if info.empty_locations > 0 {
        locations += &format!("; {} without values", number(info.empty_locations));
    }
    let size = info.file_sizes.iter().map(|(_, len)| len).sum();
    let mut facts = KeyValues::new()
        .section(&info.title)
        .pair("format", &info.format)
        .pair("from", format!("{} ({})", info.origin, bytes(size, style)))
        .pair("locations", locations)
        .pair(
            "contexts",
            format!("{}: {}; depth {}", number(info.contexts), kinds.join(", "), info.depth),
        )
        .pair(
            "code",
            format!(
                "{}, {}, {}",
                counted(info.functions, "function"),
                counted(info.files, "source file"),
                counted(info.modules, "module")
            ),
        )
        .pair("values", count(info.values));
    let what = match (&info.records, &info.activations) {
        (_, Some(_)) => "calls and loop executions",
        (Some(_), None) => "calls",
        (None, None) => "samples",
    };
    facts = match info.span_nanos {
        Some((start, end)) => facts.pair(
            "traces",
            format!(
                "{}: {} {what} over {}",
                number(info.traces),
                count(info.samples),
                duration(end.saturating_sub(start) as f64 / 1e9, style)
            ),
        ),
        None => facts.pair("traces", "none"),
    };
    if let Some(records) = &info.records {
        let parts = [
            (records.enters, "enter"),
            (records.leaves, "leave"),
            (records.sends, "send"),
            (records.receives, "receive"),
            (records.metrics, "metric"),
            (records.others, "other"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, name)| format!("{} {name}", count(*n)))
            .collect();
        let declared = match records.declared {
            Some(declared) if declared != records.total() => {
                format!("; {} declared", count(declared))
            }
            _ => String::new(),
        };
        let text = format!("{}: {}{declared}", count(records.total()), parts.join(", "));
        facts = facts.pair("events", text);
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
    let totals = info.metrics.iter().filter(|m| m.unit == Unit::Seconds.to_string());
    if let Some((metric, total)) = totals.filter_map(|m| Some((m, m.total?))).next() {
        let text = format!(
            "{} of {} over all locations",
            quantity(total, &metric.unit, style),
            metric.name
        );
        facts = facts.pair("total", text);
    }
    facts.pair(
        "issues",
        if info.issues.is_empty() { "none".into() } else { number(info.issues.len()) },
    )
}

fn plural(name: &str, n: usize) -> &'static str {
    match (n, name.ends_with('y')) {
        (1, _) => "",
        // "entry" is the only kind that ends so.
        (_, true) => " points",
        _ => "s",
    }
}

fn issues(info: &Info) -> KeyValues {
    let mut out = KeyValues::new().section("Issues");
    for issue in info.issues.list() {
        let severity = match issue.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let times = if issue.count > 1 {
            format!(" ({} times)", count(issue.count))
        } else {
            String::new()
        };
        out = out.pair(severity, format!("{}: {}{times}", issue.place, issue.message));
    }
    out
}
