//! `waits`, `critical-path` and `over-time`: analyses of traces of events.

use clap::{Args, ValueEnum};
use parallax_service::{
    Answer, Column, CriticalPathBy, CriticalPathRequest, OverTimeAnswer, OverTimeBy,
    OverTimeRequest, OverTimeWhat, Table, WaitsBy, WaitsKind, WaitsRequest,
};

use super::Context;
use crate::args::PartArgs;
use crate::text::{Show, Style, TextTable, count, quantity, sparkline};

/// What `waits` shows.
#[derive(Debug, Args)]
pub(crate) struct WaitsArgs {
    #[command(flatten)]
    part: PartArgs,
    /// Which waits; all unless told.
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// What the rows are.
    #[arg(long, value_enum, default_value = "function")]
    by: By,
}

/// Kinds of waits.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Kind {
    /// Receives whose message is sent late.
    LateSender,
    /// Sends whose message is received late.
    LateReceiver,
    /// Barriers and other collective operations, for those who come late.
    Collective,
    /// GPU streams whose next work is launched late.
    LateLaunch,
    /// Threads that synchronise with a GPU.
    ForGpu,
}

/// Rows of `waits`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum By {
    /// Routines that wait.
    Function,
    /// Call paths that wait.
    Context,
    /// Locations that wait.
    Track,
    /// Who waits, and for whom.
    Pair,
}

/// What `critical-path` shows.
#[derive(Debug, Args)]
pub(crate) struct CriticalPathArgs {
    #[command(flatten)]
    part: PartArgs,
    /// What the rows are.
    #[arg(long, value_enum, default_value = "function")]
    by: PathBy,
    /// One row for each stretch of the path on one location, in order of time.
    #[arg(long, conflicts_with = "by")]
    segments: bool,
}

/// Rows of `critical-path`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PathBy {
    /// Functions.
    Function,
    /// Groups of functions, such as MPI.
    Group,
    /// Call paths.
    Context,
    /// Locations.
    Track,
}

/// What `over-time` shows.
#[derive(Debug, Args)]
pub(crate) struct OverTimeArgs {
    #[command(flatten)]
    part: PartArgs,
    /// What changes over time.
    #[arg(long, value_enum, default_value = "profile")]
    what: What,
    /// Most bins. Bins are 2^k ns long, so there may be half as many.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    bins: u32,
    /// What the rows of a time profile are.
    #[arg(long, value_enum, default_value = "function")]
    by: ProfileBy,
    /// One row for all bins together in every format, as the text has it.
    #[arg(long)]
    totals: bool,
}

/// What changes over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Time by function or group.
    Profile,
    /// How evenly locations compute.
    Imbalance,
    /// How long locations wait or do nothing.
    Idle,
    /// How much later locations come to the same call than the first of them.
    Lateness,
    /// How far locations compute while messages are under way.
    Overlap,
}

/// Rows of a time profile.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ProfileBy {
    /// Functions.
    Function,
    /// Groups of functions, such as MPI.
    Group,
}

pub(super) fn waits(context: &Context, arguments: WaitsArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.part.database)?;
    let request = WaitsRequest {
        profiles: arguments.part.profiles,
        window: arguments.part.window,
        kind: arguments.kind.map(|kind| match kind {
            Kind::LateSender => WaitsKind::LateSender,
            Kind::LateReceiver => WaitsKind::LateReceiver,
            Kind::Collective => WaitsKind::Collective,
            Kind::LateLaunch => WaitsKind::LateLaunch,
            Kind::ForGpu => WaitsKind::ForGpu,
        }),
        by: match arguments.by {
            By::Function => WaitsBy::Function,
            By::Context => WaitsBy::Context,
            By::Track => WaitsBy::Track,
            By::Pair => WaitsBy::Pair,
        },
    };
    let Answer { value: table, notes } = opened.waits(&request, &context.control)?;
    context.output.emit_with(&table, |style, out| {
        let mut shown = narrowed(&table, &WAITS_WIDE_ONLY, style);
        shown.retain(|name| *name != "context_id");
        let text = TextTable::new(&table)
            .title("Waiting for others, longest first")
            .columns(&shown)
            .show("kind", Show::Text)
            .show("share_percent", Show::Percent);
        with_heads(text, &table).write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

pub(super) fn critical_path(context: &Context, arguments: CriticalPathArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.part.database)?;
    let request = CriticalPathRequest {
        profiles: arguments.part.profiles,
        window: arguments.part.window,
        by: match arguments.by {
            PathBy::Function => CriticalPathBy::Function,
            PathBy::Group => CriticalPathBy::Group,
            PathBy::Context => CriticalPathBy::Context,
            PathBy::Track => CriticalPathBy::Track,
        },
        segments: arguments.segments,
    };
    let Answer { value: answer, notes } = opened.critical_path(&request, &context.control)?;
    let table = &answer.table;
    context.output.emit_with(table, |style, out| {
        let title = format!(
            "The critical path: {} in {} over {}",
            quantity(answer.length_seconds, "s", style),
            counted(answer.num_segments, "stretch", "stretches"),
            counted(answer.num_locations, "location", "locations"),
        );
        let mut shown = narrowed(table, &[], style);
        shown.retain(|name| *name != "context_id");
        let text = TextTable::new(table)
            .title(title)
            .columns(&shown)
            .show("location", Show::Text)
            .show("context_percent", Show::Percent)
            .head("context_percent", "of it")
            .show("releases", Show::Text);
        let text = text.head("on_path_s", "on path").head("all_locations_s", "everywhere");
        let text = if arguments.segments { text } else { with_heads(text, table) };
        text.write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number as u64), if number == 1 { one } else { many })
}

/// Columns from which on a line has room for what is good to know besides.
const WIDE: usize = 100;
/// Columns of `waits` that narrow terminals leave out.
const WAITS_WIDE_ONLY: [&str; 2] = ["longest_s", "in_calls_s"];
/// Columns of what changes over time that narrow terminals leave out.
const OVER_TIME_WIDE_ONLY: [&str; 1] = ["messages"];
/// Columns of the imbalance that narrow terminals leave out.
const IMBALANCE_WIDE_ONLY: [&str; 2] = ["saving_s", "balance_ratio"];

/// The columns of `table` for which a line has room.
fn narrowed<'a>(table: &'a Table, wide_only: &[&str], style: &Style) -> Vec<&'a str> {
    let names = table.columns.iter().map(|column| column.name.as_str());
    names.filter(|name| style.width >= WIDE || !wide_only.contains(name)).collect()
}

/// Heads without the words that the unit beside them says already.
fn with_heads<'a>(text: TextTable<'a>, table: &Table) -> TextTable<'a> {
    table.columns.iter().fold(text, |text, column| match column.name.strip_suffix("_percent") {
        Some(head) => text.head(&column.name, head.replace('_', " ")),
        None => text,
    })
}

pub(super) fn over_time(context: &Context, arguments: OverTimeArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.part.database)?;
    let what = arguments.what;
    let request = OverTimeRequest {
        profiles: arguments.part.profiles,
        window: arguments.part.window,
        what: match what {
            What::Profile => OverTimeWhat::Profile,
            What::Imbalance => OverTimeWhat::Imbalance,
            What::Idle => OverTimeWhat::Idle,
            What::Lateness => OverTimeWhat::Lateness,
            What::Overlap => OverTimeWhat::Overlap,
        },
        bins: arguments.bins as usize,
        by: match arguments.by {
            ProfileBy::Function => OverTimeBy::Function,
            ProfileBy::Group => OverTimeBy::Group,
        },
    };
    let Answer { value: answer, notes } = opened.over_time(&request, &context.control)?;
    let table = if arguments.totals { &answer.totals } else { &answer.by_bin };
    context.output.emit_with(table, |style, out| {
        let title = title(what, &answer, style);
        if answer.shapes.is_empty() {
            let shown = narrowed(&answer.totals, &IMBALANCE_WIDE_ONLY, style);
            let text = TextTable::new(&answer.totals).title(title).columns(&shown);
            return with_heads(text, &answer.totals)
                .show("imbalance_percent", Show::PercentBar)
                .write(style, out);
        }
        let shown = with_shapes(&answer, style);
        let names = narrowed(&shown, &OVER_TIME_WIDE_ONLY, style);
        let mut text = TextTable::new(&shown).title(title).columns(&names).show(SHAPE, Show::Text);
        for column in &shown.columns {
            if column.unit == "%" {
                text = text.show(&column.name, Show::Percent);
            }
        }
        with_heads(text, &shown).write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

/// The column that shows how something changes.
const SHAPE: &str = "over time";

fn title(what: What, answer: &OverTimeAnswer, style: &Style) -> String {
    let about = match what {
        What::Profile => "Time by function or group, longest first",
        What::Imbalance => "How evenly locations compute",
        What::Idle => "Time in which locations wait or do nothing",
        What::Lateness => "Later than the first location, longest in all first",
        What::Overlap => "Computing while messages are under way",
    };
    format!(
        "{about}: {} of {}",
        counted(answer.num_bins, "bin", "bins"),
        quantity(answer.bin_nanos as f64 / 1e9, "s", style)
    )
}

/// The totals with a picture of each row's change, as wide as there is room for.
fn with_shapes(answer: &OverTimeAnswer, style: &Style) -> Table {
    let width = (style.width / 4).clamp(8, 64);
    let pictures: Vec<String> =
        answer.shapes.iter().map(|shape| sparkline(shape, width, style)).collect();
    let mut columns = answer.totals.columns.clone();
    columns.insert(1.min(columns.len()), Column::strings(SHAPE, "", pictures));
    Table::new(columns)
}
