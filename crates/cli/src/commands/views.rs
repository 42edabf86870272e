//! `tree`, `callers` and `flat`.

use parallax_service::{
    CallersRequest, CostHeader, FlatAnswer, FlatRequest, TreeAnswer, TreeRequest,
};

use super::Context;
use crate::args::{By, CostArgs, Database, PruneArgs};
use crate::text::{Show, Style, TextTable, TextTree, quantity};

/// What the numbers of a view are, as its title.
pub(super) fn title(what: &str, header: &CostHeader, style: &Style) -> String {
    let total = quantity(header.total, &header.unit.to_string(), style);
    let locations = match header.locations {
        1 => "1 location".to_owned(),
        n => format!("{} locations", crate::text::count(n as u64)),
    };
    format!("{what} by {}: {total} over {locations}", header.metric)
}

/// Columns from which on a line has room for what is good to know besides.
const WIDE: usize = 120;

/// Why this metric, where nobody named one and it is not plain time.
pub(super) fn explain(header: &CostHeader) -> Vec<String> {
    let reason = header.reason.iter().filter(|reason| !reason.ends_with("measures time"));
    let mut notes: Vec<String> = reason.cloned().collect();
    notes.extend(header.notes.iter().cloned());
    notes
}

fn write_tree(
    answer: &TreeAnswer,
    what: &str,
    is_callers: bool,
    style: &Style,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    let table = answer.table();
    let (order, share) = if is_callers {
        (["exclusive", "exclusive_percent", "inclusive"], "exclusive")
    } else {
        (["inclusive", "inclusive_percent", "exclusive"], "inclusive")
    };
    let hot = answer.rows.iter().enumerate().filter(|(_, row)| row.is_hot).map(|(i, _)| i);
    TextTree::new(&table, "depth", "name")
        .title(title(what, &answer.header, style))
        .columns(&order)
        .show("inclusive", Show::Quantity)
        .show("exclusive", Show::Quantity)
        .head("inclusive", "incl.")
        .head("exclusive", "excl.")
        .head("inclusive_percent", "share")
        .head("exclusive_percent", "share")
        .head("name", if is_callers { "function, called by" } else { "context" })
        .detail("place")
        .cost(share)
        .hot_rows(hot)
        .fold_chains()
        .write(style, out)
}

pub(super) fn tree(
    context: &Context,
    database: &Database,
    from: Option<String>,
    depth: Option<u32>,
    hot: f64,
    cost: CostArgs,
    prune: PruneArgs,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let request = TreeRequest {
        cost: cost.choice(),
        prune: prune.choice(),
        from,
        max_depth: depth,
        hot_percent: hot,
    };
    let answer = opened.tree(&request, &context.control)?;
    context.output.emit_with(&answer.table(), |style, out| {
        write_tree(&answer, "Calling context tree", false, style, out)
    })?;
    context.finish(&opened, &explain(&answer.header));
    Ok(())
}

pub(super) fn callers(
    context: &Context,
    database: &Database,
    from: Option<String>,
    function: Option<String>,
    depth: Option<u32>,
    cost: CostArgs,
    prune: PruneArgs,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let request = CallersRequest {
        cost: cost.choice(),
        prune: prune.choice(),
        from,
        function,
        max_depth: depth,
        ..CallersRequest::default()
    };
    let answer = opened.callers(&request, &context.control)?;
    context.output.emit_with(&answer.table(), |style, out| {
        write_tree(&answer, "Functions and their callers", true, style, out)
    })?;
    context.finish(&opened, &explain(&answer.header));
    Ok(())
}

/// Names such as `poll [libc.so.6]` repeat the place that has a column of its own.
fn without_repeated_places(answer: &FlatAnswer) -> FlatAnswer {
    let mut answer = answer.clone();
    for row in &mut answer.rows {
        if let Some(short) = row.name.strip_suffix(&format!(" [{}]", row.place)) {
            row.name = short.to_owned();
        }
    }
    answer
}

pub(super) fn flat(
    context: &Context,
    database: &Database,
    from: Option<String>,
    by: By,
    cost: CostArgs,
    prune: PruneArgs,
) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let request = FlatRequest { cost: cost.choice(), prune: prune.choice(), from, by: by.choice() };
    let answer = opened.flat(&request, &context.control)?;
    context.output.emit_with(&answer.table(), |style, out| {
        let table = without_repeated_places(&answer).table();
        let narrow = ["exclusive", "exclusive_percent", "inclusive", "name", "place"];
        let wide = [
            "exclusive",
            "exclusive_percent",
            "inclusive",
            "inclusive_percent",
            "contexts",
            "name",
            "place",
        ];
        TextTable::new(&table)
            .title(title(by.title(), &answer.header, style))
            .columns(if style.width < WIDE { &narrow } else { &wide })
            .show("inclusive_percent", Show::Percent)
            .head("exclusive", "excl.")
            .head("exclusive_percent", "share")
            .head("inclusive", "incl.")
            .head("inclusive_percent", "share")
            .head("contexts", "paths")
            .head("name", by.word())
            .write(style, out)
    })?;
    context.finish(&opened, &explain(&answer.header));
    Ok(())
}
