//! `stats`, `messages` and `convert`.

use std::path::Path;

use parallax_service::{Answer, MessagesRequest, Severity, StatsRequest};

use super::Context;
use crate::args::{Database, MessagesBy, StatsBy};
use crate::text::{Level, Notice, Show, TextTable, count};
use crate::traces;

pub(super) fn stats(
    context: &Context,
    database: &Database,
    profiles: Option<String>,
    window: Option<String>,
    by: StatsBy,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let by = match by {
        StatsBy::Function => parallax_service::StatsBy::Function,
        StatsBy::Group => parallax_service::StatsBy::Group,
        StatsBy::Context => parallax_service::StatsBy::Context,
    };
    let request = StatsRequest { profiles, window, by };
    let Answer { value: table, notes } = opened.stats(&request, &context.control)?;
    context.output.emit_with(&table, |style, out| {
        TextTable::new(&table).show("share_percent", Show::Quantity).write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

pub(super) fn messages(
    context: &Context,
    database: &Database,
    profiles: Option<String>,
    window: Option<String>,
    by: MessagesBy,
    flows: bool,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let by = match by {
        MessagesBy::Pair => parallax_service::MessagesBy::Pair,
        MessagesBy::Message => parallax_service::MessagesBy::Message,
        MessagesBy::Size => parallax_service::MessagesBy::Size,
        MessagesBy::Tag => parallax_service::MessagesBy::Tag,
    };
    let request = MessagesRequest { profiles, window, by, flows };
    let Answer { value: table, notes } = opened.messages(&request, &context.control)?;
    context.output.emit_with(&table, |style, out| TextTable::new(&table).write(style, out))?;
    context.finish(&opened, &notes);
    Ok(())
}

pub(super) fn convert(
    context: &Context,
    input: &Path,
    output: &Path,
    memory: usize,
) -> anyhow::Result<()> {
    let issues = traces::convert(input, output, memory.saturating_mul(1 << 20), &context.control)?;
    for issue in issues.list() {
        let level = match issue.severity {
            Severity::Note => continue,
            Severity::Warning | Severity::Error => Level::Warning,
        };
        let times = if issue.count > 1 {
            format!(" ({} times)", count(issue.count))
        } else {
            String::new()
        };
        Notice::new(level, format!("{}: {}{times}", issue.place, issue.message))
            .print(&context.stderr);
    }
    Ok(())
}
