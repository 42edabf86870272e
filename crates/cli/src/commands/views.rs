//! `tree`, `callers` and `flat`.

use clap::Args;
use parallax_protocol::{
    Answer, CallersRequest, CostReply, FlatBy, FlatRequest, FlatTable, Table, TypedTable as _,
};
use parallax_service::{Answers as _, TreeRequest};

use super::Context;
use super::sql_cluster::{ClusterPartsArgs, open_over};
use crate::args::{CostArgs, Database, PruneArgs};
use crate::choice::names;
use crate::text::{Show, Style, TextTable, TextTree, quantity};

/// What the numbers of a view are, as its title.
pub(super) fn title(what: &str, header: &CostReply, style: &Style) -> String {
    let total = quantity(header.total, &header.unit, style);
    let locations = match header.locations {
        1 => "1 location".to_owned(),
        n => format!("{} locations", crate::text::count(n)),
    };
    format!("{what} by {}: {total} over {locations}", header.metric)
}

/// Width in columns from which a line has room for details.
const WIDE: usize = 120;

/// Why this metric, where none was requested and it is no time, and what is excluded.
pub(super) fn explain(header: &CostReply) -> Vec<String> {
    let mut notes: Vec<String> = header.reason.iter().cloned().collect();
    notes.extend(header.helpers.iter().map(|said| format!("{said} --helpers includes them.")));
    notes.extend(header.notes.iter().cloned());
    notes
}

fn write_tree(
    table: &Table,
    header: &CostReply,
    hot: &[usize],
    what: &str,
    is_callers: bool,
    style: &Style,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    let (order, share) = if is_callers {
        (["exclusive", "exclusive_percent", "inclusive"], "exclusive")
    } else {
        (["inclusive", "inclusive_percent", "exclusive"], "inclusive")
    };
    TextTree::new(table, "depth", "name")
        .title(title(what, header, style))
        .columns(&order)
        .show("inclusive", Show::Quantity)
        .show("exclusive", Show::Quantity)
        .head("inclusive", "incl.")
        .head("exclusive", "excl.")
        .head("inclusive_percent", "share")
        .head("exclusive_percent", "share")
        .head("name", if is_callers { "function, callers" } else { "context" })
        .detail("place")
        .cost(share)
        .hot_rows(hot.iter().copied())
        .fold_chains()
        .write(style, out)
}

/// What `tree` looks at.
#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    database: Database,
    /// Start at the contexts that match this expression, such as 'function(solve)'.
    #[arg(long, value_name = "CONTEXTS")]
    from: Option<String>,
    /// Maximum depth of the tree.
    #[arg(long, short)]
    depth: Option<u32>,
    /// Hot path: minimum share of a child in the inclusive value of its parent, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = 50.0)]
    hot: f64,
    #[command(flatten)]
    cost: CostArgs,
    #[command(flatten)]
    prune: PruneArgs,
}

pub(super) fn tree(context: &Context, arguments: TreeArgs) -> anyhow::Result<()> {
    let TreeArgs { database, from, depth, hot, cost, prune } = arguments;
    let opened = context.open(&database)?;
    let request = TreeRequest {
        cost: cost.choice(),
        prune: prune.choice(),
        from,
        max_depth: depth,
        hot_percent: hot,
    };
    let answer = opened.tree(&request, &context.control)?;
    let rows = answer.rows.iter().enumerate();
    let hot: Vec<usize> = rows.filter(|(_, row)| row.is_hot).map(|(i, _)| i).collect();
    let table = answer.table();
    context.output.emit_with(&table, |style, out| {
        write_tree(&table, &answer.header, &hot, "Calling context tree", false, style, out)
    })?;
    context.finish(&opened, &explain(&answer.header));
    Ok(())
}

/// What `callers` looks at.
#[derive(Debug, Args)]
pub(crate) struct CallersArgs {
    #[command(flatten)]
    database: Database,
    /// Include only the contexts that match this expression, such as 'function(solve)', and their
    /// callees.
    #[arg(long, value_name = "CONTEXTS")]
    from: Option<String>,
    /// Show only functions whose names match this glob, such as 'MPI_*'.
    #[arg(long, value_name = "GLOB")]
    function: Option<String>,
    /// Show only the function with exactly this name, as shown in the rows.
    #[arg(long, value_name = "NAME", conflicts_with = "function")]
    exact: Option<String>,
    /// Maximum depth of caller chains.
    #[arg(long, short)]
    depth: Option<u32>,
    #[command(flatten)]
    cost: CostArgs,
    #[command(flatten)]
    prune: PruneArgs,
}

pub(super) fn callers(context: &Context, arguments: CallersArgs) -> anyhow::Result<()> {
    let CallersArgs { database, from, function, exact, depth, cost, prune } = arguments;
    let opened = context.open(&database)?;
    let request = CallersRequest {
        cost: cost.choice(),
        prune: prune.choice(),
        from,
        matching: function,
        function: exact,
        max_depth: depth,
        ..CallersRequest::default()
    };
    let Answer { reply, tables, unit } = opened.answer(&request, &context.control)?;
    let table = tables.rows.into_table_in(&unit);
    context.output.emit_with(&table, |style, out| {
        write_tree(&table, &reply.cost, &[], "Functions and their callers", true, style, out)
    })?;
    context.finish(&opened, &explain(&reply.cost));
    Ok(())
}

/// Names such as `poll [libc.so.6]` repeat the place that has a column of its own.
fn without_repeated_places(mut table: FlatTable) -> FlatTable {
    for (name, place) in table.name.iter_mut().zip(&table.place) {
        if let Some(short) = name.strip_suffix(&format!(" [{place}]")) {
            *name = short.to_owned();
        }
    }
    table
}

/// The title of a view that groups so.
const fn title_of(by: FlatBy) -> &'static str {
    match by {
        FlatBy::Function => "Functions",
        FlatBy::File => "Source files",
        FlatBy::Module => "Modules",
        FlatBy::Loop => "Loops",
        FlatBy::Line => "Source lines",
    }
}

/// What `flat` looks at.
#[derive(Debug, Args)]
pub(crate) struct FlatArgs {
    #[command(flatten)]
    database: Database,
    /// Include only the contexts that match this expression, such as 'function(solve)', and their
    /// callees.
    #[arg(long, value_name = "CONTEXTS")]
    from: Option<String>,
    /// Rows of the table.
    #[arg(long, value_parser = names::<FlatBy>(), default_value_t)]
    by: FlatBy,
    #[command(flatten)]
    cost: CostArgs,
    #[command(flatten)]
    prune: PruneArgs,
    #[command(flatten)]
    parts: ClusterPartsArgs,
}

pub(super) fn flat(context: &Context, arguments: FlatArgs) -> anyhow::Result<()> {
    let FlatArgs { database, from, by, cost, prune, parts } = arguments;
    let over = open_over(context, &database.path, &parts.members, parts.part_rows)?;
    let opened = &over.opened;
    let request = FlatRequest { cost: cost.choice(), prune: prune.choice(), from, by };
    let Answer { reply, tables, unit } = opened.answer(&request, &context.control)?;
    over.check()?;
    let table = tables.rows.clone().into_table_in(&unit);
    context.output.emit_with(&table, |style, out| {
        let table = without_repeated_places(tables.rows.clone()).into_table_in(&unit);
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
            .title(title(title_of(by), &reply.cost, style))
            .columns(if style.width < WIDE { &narrow } else { &wide })
            .show("inclusive_percent", Show::Percent)
            .head("exclusive", "excl.")
            .head("exclusive_percent", "share")
            .head("inclusive", "incl.")
            .head("inclusive_percent", "share")
            .head("contexts", "paths")
            .head("name", by.to_string())
            .write(style, out)
    })?;
    context.finish(opened, &explain(&reply.cost));
    Ok(())
}
