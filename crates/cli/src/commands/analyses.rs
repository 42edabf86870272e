//! `balance` and `idleness`.

use clap::Args;
use parallax_protocol::{BalanceBy, BalanceRequest, IdlenessSource, TypedTable as _};
use parallax_service::analysis::balance::BalanceRow;
use parallax_service::analysis::idleness::{CpuIdleness, CpuTimes, GpuBlame, SourceChoice};
use parallax_service::{
    Answer, BalanceAnswer, Column, OpenExperiment, Table, gpu_table, thread_table,
};

use super::Context;
use super::sql_cluster::{ClusterPartsArgs, open_over};
use crate::args::{Database, MetricArgs};
use crate::choice::names;
use crate::text::{Show, Style, TextTable, count, quantity, sparkline, width_of};

/// Options of `balance`.
#[derive(Debug, Args)]
pub(crate) struct BalanceArgs {
    #[command(flatten)]
    database: Database,
    /// Contexts to compare (default: functions with at least 1 % of the total).
    #[arg(long, short, value_name = "CONTEXTS")]
    contexts: Option<String>,
    /// Use exclusive instead of inclusive values.
    #[arg(long, short)]
    exclusive: bool,
    /// Compare individual locations, or sums over the locations of each rank or node.
    #[arg(long, value_parser = names::<BalanceBy>(), default_value_t)]
    per: BalanceBy,
    /// Compare individual contexts instead of functions.
    #[arg(long)]
    by_context: bool,
    /// Number of slowest locations to list.
    #[arg(long, default_value_t = BalanceRequest::default().slowest)]
    slowest: u32,
    /// Include locations that ran but never entered a context, with the value 0 (default: compare
    /// only locations that entered it).
    #[arg(long)]
    all_locations: bool,
    /// Include helper threads, which MPI, network libraries, drivers or the measurement tool start
    /// for their own use.
    #[arg(long)]
    helpers: bool,
    #[command(flatten)]
    cost: MetricArgs,
    #[command(flatten)]
    parts: ClusterPartsArgs,
}

pub(super) fn balance(context: &Context, arguments: BalanceArgs) -> anyhow::Result<()> {
    let (path, parts) = (&arguments.database.path, &arguments.parts);
    let over = open_over(context, path, &parts.members, parts.part_rows)?;
    let opened = &over.opened;
    let request = BalanceRequest {
        metric: arguments.cost.metric,
        profiles: arguments.cost.profiles,
        contexts: arguments.contexts,
        is_exclusive: arguments.exclusive,
        by: arguments.per,
        by_context: arguments.by_context,
        all_locations: arguments.all_locations,
        slowest: arguments.slowest,
        helpers: arguments.helpers,
    };
    let Answer { value: answer, mut notes } = opened.balance(&request, &context.control)?;
    over.check()?;
    notes.extend(answer.reason.iter().cloned());
    let table = opened.balance_table(&answer.balance);
    let table = table.into_table_in(&answer.balance.unit.to_string());
    context.output.emit_with(&table, |style, out| {
        let shown = balance_text(&answer, style);
        TextTable::new(&shown)
            .title(balance_title(&answer, style))
            .show("mean/max", Show::Quantity)
            .show(SHAPE, Show::Text)
            .write(style, out)
    })?;
    context.finish(opened, &notes);
    Ok(())
}

fn balance_title(answer: &BalanceAnswer, style: &Style) -> String {
    let balance = &answer.balance;
    let number = common_total(&balance.rows).map(|all| format!("{} ", count(all as u64)));
    format!(
        "Load balance by {} over {}{}s ({}), largest saving first",
        balance.metric,
        number.unwrap_or_default(),
        balance.grouping.name(),
        quantity(answer.total, &balance.unit.to_string(), style)
    )
}

/// Width in columns from which a line has room for details.
const WIDE: usize = 140;
/// Columns below which a line has room for numbers and names only.
const NARROW: usize = 100;

/// The column that shows how many members cost little and how many cost much.
const SHAPE: &str = "distribution";

/// Columns of that shape.
const SPARK_WIDTH: usize = 16;

/// What the user compares at a glance: the numbers, the shape, and who is slow.
fn balance_text(answer: &BalanceAnswer, style: &Style) -> Table {
    let balance = &answer.balance;
    let unit = balance.unit.to_string();
    let rows = &balance.rows;
    let is_wide = style.width >= WIDE;
    let slowest = rows.iter().map(|row| {
        let labels = balance.slowest_labels(row);
        labels.take(if is_wide { usize::MAX } else { 1 }).collect::<Vec<_>>().join(", ")
    });
    let shape = rows.iter().map(|row| {
        let counts: Vec<f64> = row.distribution.histogram.iter().map(|&n| f64::from(n)).collect();
        sparkline(&counts, SPARK_WIDTH, style)
    });
    let name = if rows.iter().any(|row| row.num_contexts > 1) { "function" } else { "context" };
    let mut columns = vec![
        Column::f64s("mean", &unit, "", rows.iter().map(|r| r.distribution.mean).collect()),
        Column::f64s("max", &unit, "", rows.iter().map(|r| r.distribution.max).collect()),
        Column::optional_f64s(
            "mean/max",
            "",
            "",
            rows.iter().map(|r| r.distribution.balance_ratio).collect(),
        ),
        Column::f64s("saving", &unit, "", rows.iter().map(|r| r.distribution.saving).collect()),
        Column::strings(SHAPE, "", shape),
        Column::strings(name, "", rows.iter().map(|r| &r.name)),
        Column::strings("slowest", "", slowest),
    ];
    if style.width < NARROW {
        columns.retain(|column| column.name != SHAPE);
    }
    if rows.iter().any(|row| row.num_absent > 0) {
        let at = columns.iter().position(|column| column.name == "saving").map_or(0, |at| at + 1);
        columns.insert(at, taking_part(rows, balance.grouping.name()));
    }
    if is_wide {
        let variation = rows.iter().map(|r| r.distribution.variation).collect();
        columns.insert(3, Column::optional_f64s("CV", "", "", variation));
    }
    Table::new(columns)
}

/// How many take part, of how many that ran where the row is.
fn taking_part(rows: &[BalanceRow], member: &str) -> Column {
    let members = |row: &BalanceRow| row.distribution.num_members as u64;
    if let Some(all) = common_total(rows) {
        let head = format!("of {}", count(all as u64));
        return Column::u64s(head, "", "", rows.iter().map(members).collect());
    }
    let of_all = rows.iter().map(|row| {
        let all = members(row) + row.num_absent as u64;
        format!("{} of {}", count(members(row)), count(all))
    });
    Column::strings(format!("{member}s"), "", of_all)
}

/// How many members ran where the rows are, if they are as many everywhere.
fn common_total(rows: &[BalanceRow]) -> Option<usize> {
    let mut totals = rows.iter().map(|row| row.distribution.num_members + row.num_absent);
    let first = totals.next()?;
    totals.all(|total| total == first).then_some(first)
}

/// What `idleness` looks at.
#[derive(Debug, Args)]
pub(crate) struct IdlenessArgs {
    #[command(flatten)]
    database: Database,
    /// Source of thread times.
    #[arg(long, value_parser = names::<IdlenessSource>(), default_value_t)]
    source: IdlenessSource,
    /// Time metric for results from profiles.
    #[arg(long, short, value_name = "METRIC")]
    metric: Option<String>,
    /// Blame shifting: show what threads executed while the GPUs of their rank were idle, from
    /// traces.
    #[arg(long, conflicts_with_all = ["source", "metric"])]
    blame: bool,
}

pub(super) fn idleness(context: &Context, arguments: &IdlenessArgs) -> anyhow::Result<()> {
    if arguments.blame {
        blame(context, &arguments.database)
    } else {
        gpus_and_threads(context, arguments)
    }
}

/// GPUs first, then threads. Formats of one table carry the threads, or the GPUs where no time of
/// threads was measured.
fn gpus_and_threads(context: &Context, arguments: &IdlenessArgs) -> anyhow::Result<()> {
    let opened = context.open(&arguments.database)?;
    let source = match arguments.source {
        IdlenessSource::Best => SourceChoice::Best,
        IdlenessSource::Trace => SourceChoice::Trace,
        IdlenessSource::Profile => SourceChoice::Profile,
    };
    let answer = opened.idleness(arguments.metric.as_deref(), source, &context.control)?;
    let gpu = gpu_table(&answer, &opened.session().experiment().locations).into_table();
    let table = match &answer.cpu {
        Some(cpu) => thread_table(cpu).into_table_in(&cpu.unit.to_string()),
        None => gpu.clone(),
    };
    context.output.emit_with(&table, |style, out| {
        if !answer.gpu.is_empty() {
            let mut gpu = gpu.clone();
            // What only profiles, or only traces tell.
            gpu.columns.retain(Column::has_values);
            TextTable::new(&gpu)
                .title("GPUs")
                .head("group", "GPUs of")
                .head("trace_span", "span")
                .head("trace_active", "active")
                .head("trace_idle", "idle")
                .head("trace_idle_percent", "idle")
                .write(style, out)?;
            writeln!(out)?;
        }
        match &answer.cpu {
            Some(cpu) => {
                let shares = shares(cpu);
                let mut text = TextTable::new(&shares)
                    .title(threads_title(cpu, style))
                    .show("thread", Show::Text);
                for column in &shares.columns {
                    if column.unit == "%" && column.name != WORKING {
                        text = text.show(&column.name, Show::Percent);
                    }
                }
                text.write(style, out)
            }
            None if answer.gpu.is_empty() => writeln!(
                out,
                "No GPU streams and no times of threads \
                                                            in this experiment."
            ),
            None => Ok(()),
        }
    })?;
    context.finish(&opened, &answer.notes);
    Ok(())
}

/// What threads did while the GPUs of their rank were idle, then the ranks.
fn blame(context: &Context, database: &Database) -> anyhow::Result<()> {
    let opened = context.open(database)?;
    let Answer { value: blame, notes } = opened.gpu_blame(&context.control)?;
    let locations = &opened.session().experiment().locations;
    let calls = opened.blame_table(&blame);
    let table = calls.clone().into_table();
    context.output.emit_with(&table, |style, out| {
        if blame.ranks.is_empty() {
            return writeln!(out, "No GPU streams in this experiment.");
        }
        let is_narrow = style.width < NARROW;
        let room = style.width.saturating_sub(if is_narrow { NUMBERS } else { WIDE_NUMBERS });
        let mut calls = calls.clone();
        for (path, &id) in calls.call_path.iter_mut().zip(&calls.context_id) {
            let id = id.and_then(|id| u32::try_from(id).ok());
            let context = id.and_then(|id| opened.session().tree().by_source_id(id));
            if let Some(context) = context {
                *path = end_of_path(&opened.short_call_path(context), room, style);
            }
        }
        let mut calls = calls.into_table();
        calls.columns.retain(|column| {
            column.name != "context_id" && !(is_narrow && column.name == "idle_with_calls")
        });
        TextTable::new(&calls)
            .title(blame_title(&blame, &opened, style))
            .head("idle_percent", "share")
            .head("idle", "exclusive")
            .head("idle_with_calls", "inclusive")
            .write(style, out)?;
        writeln!(out)?;
        let ranks = blame.ranks_table(locations, |context| {
            end_of_path(&opened.short_call_path(context), room / 2, style)
        });
        TextTable::new(&ranks)
            .title("GPUs")
            .head("idle_percent", "GPU idle")
            .head("unattributed", "no thread")
            .head("most_of_it", "largest blame")
            .write(style, out)
    })?;
    context.finish(&opened, &notes);
    Ok(())
}

/// Columns that the numbers next to a call path take on a line, and those on a wide one.
const NUMBERS: usize = 32;
const WIDE_NUMBERS: usize = 50;

fn blame_title(blame: &GpuBlame, opened: &OpenExperiment, style: &Style) -> String {
    let ranks = match blame.ranks.as_slice() {
        [one] => one.group.label(&opened.session().experiment().locations),
        many => format!("{} GPUs", count(many.len() as u64)),
    };
    let idle = quantity(blame.idle_nanos() as f64 / 1e9, "s", style);
    format!("Blame for GPU idle time: {idle} on {ranks}")
}

/// The inner end of a call path, as much of it as fits `room`: `… > initMC > cudaMallocManaged`.
fn end_of_path(path: &str, room: usize, style: &Style) -> String {
    const ARROW: &str = " > ";
    let mut rest = path;
    let mut room = room;
    while width_of(rest) > room
        && let Some((_, inner)) = rest.split_once(ARROW)
    {
        if rest.len() == path.len() {
            room = room.saturating_sub(width_of(style.ellipsis()) + ARROW.len());
        }
        rest = inner;
    }
    if rest.len() == path.len() {
        path.to_owned()
    } else {
        format!("{}{ARROW}{rest}", style.ellipsis())
    }
}

fn threads_title(cpu: &CpuIdleness, style: &Style) -> String {
    let total = &cpu.total;
    let unit = cpu.unit.to_string();
    format!(
        "Threads by {}: working {:.1} % of {}, without helper threads",
        cpu.metric,
        total.percent(total.working()),
        quantity(total.whole, &unit, style)
    )
}

/// What each thread did, in shares of its time: the program's threads, then helpers. What no
/// thread did is omitted.
fn shares(cpu: &CpuIdleness) -> Table {
    let mut rows: Vec<_> = cpu.rows.iter().collect();
    rows.sort_by_key(|row| row.is_helper);
    let share = |name: &str, of: fn(&CpuTimes) -> f64| {
        let values: Vec<f64> = rows.iter().map(|row| row.times.percent(of(&row.times))).collect();
        let is_any = values.iter().any(|value| *value != 0.0);
        is_any.then(|| Column::f64s(name, "%", "", values))
    };
    let kind = |is_helper| if is_helper { "helper" } else { "program" };
    let mut columns = vec![Column::strings("thread", "", rows.iter().map(|row| &*row.label))];
    columns.extend(
        [
            share(WORKING, CpuTimes::working),
            share("MPI", |times| times.mpi),
            share("off", |times| times.not_running),
            share("omp idle", |times| times.openmp_idle),
            share("omp wait", |times| times.openmp_wait),
            share("waiting", |times| times.other_wait),
            share("no core", |times| times.without_core),
        ]
        .into_iter()
        .flatten(),
    );
    columns.push(Column::strings("of", "", rows.iter().map(|row| kind(row.is_helper))));
    Table::new(columns)
}

/// The column with a bar.
const WORKING: &str = "working";
