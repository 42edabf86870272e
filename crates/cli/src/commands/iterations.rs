//! `iterations`: repeated phases of a trace, and what is lost in them.

use std::collections::HashMap;
use std::io::{self, Write};

use clap::{Args, ValueEnum};
use parallax_protocol::{
    Answer, AnswerTable as _, IterationCellTable, IterationCells, IterationContextTable,
    IterationTreeTable, IterationsFoundReply, IterationsGroupReply, IterationsReply,
    IterationsRequest, RepetitionReply, Table, TracePart, TypedTable as _,
};
use parallax_service::Answers as _;

use super::Context;
use crate::args::Database;
use crate::text::{KeyValues, Show, Style, TextTable, count, quantity};

/// What `iterations` shows.
#[derive(Debug, Args)]
pub(crate) struct IterationsArgs {
    #[command(flatten)]
    database: Database,
    /// Locations to include, such as 'rank(0-9).thread(0)' or 'gpustream'; ranges include their
    /// end.
    #[arg(long, short, value_name = "PROFILES")]
    profiles: Option<String>,
    /// Time window, such as '1.5s..2s' after the start, '10%..20%', or two timestamps in ns.
    #[arg(long, short, value_name = "WINDOW")]
    window: Option<String>,
    /// Contexts with which iterations begin, such as 'function(time_step)' (default: detected
    /// automatically).
    #[arg(long, value_name = "CONTEXTS")]
    marker: Option<String>,
    /// Include only these contexts and their callees, such as 'function(solve)'.
    #[arg(long, short, value_name = "CONTEXTS")]
    contexts: Option<String>,
    /// Include only these iterations, such as 3 or 3-7, counted from 0.
    #[arg(long, short, value_name = "RANGE")]
    iterations: Option<String>,
    /// Rows of the table.
    #[arg(long, value_enum, default_value = "context")]
    by: By,
}

/// Rows of `iterations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Functions with their call path: load balance and potential saving.
    Context,
    /// Locations: computation and wait time per iteration.
    Location,
    /// Iterations in chronological order, with duration and load imbalance.
    Iteration,
    /// Time of each function, location and iteration.
    Cell,
    /// The calling context tree of each iteration, with times over locations.
    Tree,
}

/// Columns from which on a line has room for more than the numbers that matter most.
const WIDE: usize = 120;

pub(super) fn iterations(context: &Context, arguments: IterationsArgs) -> anyhow::Result<()> {
    let by = arguments.by;
    let opened = context.open(&arguments.database)?;
    let request = IterationsRequest {
        part: TracePart {
            profiles: arguments.profiles,
            window: arguments.window,
            ..TracePart::default()
        },
        marker: arguments.marker,
        contexts: arguments.contexts,
        chosen: arguments.iterations,
        cells: match by {
            By::Cell => IterationCells::All,
            By::Tree => IterationCells::Tree,
            By::Context | By::Location | By::Iteration => IterationCells::None,
        },
        context: None,
    };
    let Answer { reply: answer, tables, .. } = opened.answer(&request, &context.control)?;
    // A profile has numbered phases without anything about contexts or locations in them.
    let has_phases = answer.found.is_none() && !tables.iterations.iteration.is_empty();
    let by = if has_phases { By::Iteration } else { by };
    let told = match &tables.cells {
        IterationCellTable::Tree(rows) => indented(rows.clone()).into_table(),
        _ => with_callers(tables.contexts.clone()).into_table(),
    };
    let table = match by {
        By::Context => tables.contexts.into_table(),
        By::Location => tables.locations.into_table(),
        By::Iteration => tables.iterations.into_table(),
        By::Cell | By::Tree => tables.cells.into_answer_table(""),
    };
    let shown = if matches!(by, By::Context | By::Tree) { &told } else { &table };
    context.output.emit_with(&table, |style, out| write_text(&answer, shown, by, style, out))?;
    let mut notes = answer.notes.clone();
    if answer.found.is_none() && !has_phases {
        notes.insert(0, "No regular iterations found.".into());
    }
    context.finish(&opened, &notes);
    Ok(())
}

/// The table with names as far to the right as they are deep in the tree.
fn indented(mut table: IterationTreeTable) -> IterationTreeTable {
    for (name, &depth) in table.context.iter_mut().zip(&table.depth) {
        name.insert_str(0, &"  ".repeat(depth as usize));
    }
    table
}

/// The table with the caller behind names that several contexts have: `__brk < Release`.
fn with_callers(mut table: IterationContextTable) -> IterationContextTable {
    let mut count: HashMap<String, usize> = HashMap::new();
    for name in &table.context {
        *count.entry(name.clone()).or_default() += 1;
    }
    for (name, path) in table.context.iter_mut().zip(&table.call_path) {
        if count.get(name).is_none_or(|&count| count < 2) {
            continue;
        }
        // Lines, loops, placeholders and code of libraries say less than the function of the program.
        let is_function = |at: &&str| {
            !at.starts_with("loop at ") && !at.starts_with('<') && !at.contains(" [") && {
                let line = at.rsplit_once(':').map_or("", |(_, line)| line);
                line.is_empty() || !line.bytes().all(|byte| byte.is_ascii_digit())
            }
        };
        if let Some(caller) = path.rsplit(" > ").skip(1).find(is_function) {
            let plain = name.split_once(" [lib").map_or(&**name, |(plain, _)| plain);
            *name =
                format!("{plain} < {}", caller.split_once('(').map_or(caller, |(name, _)| name));
        }
    }
    table
}

fn write_text(
    answer: &IterationsReply,
    table: &Table,
    by: By,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(found) = &answer.found else {
        if table.num_rows() > 0 {
            return TextTable::new(table)
                .title("Phases that the program marks: totals of the profile")
                .columns(&["iteration", "length_s"])
                .head("length_s", "length")
                .write(style, out);
        }
        return nothing(answer, style, out);
    };
    evidence(answer, found, style).write(style, out)?;
    writeln!(out)?;
    let text = match by {
        By::Context => {
            let names = context_columns(table, found, style);
            let shown: Vec<&str> = names.iter().map(String::as_str).collect();
            let text = TextTable::new(table).title(title(found, style)).columns(&shown);
            text.show("share_percent", Show::Percent)
                .head("share_percent", "share")
                .head("balance_ratio", "balance")
                .show("across_percent", Show::Percent)
                .head("across_percent", "CV across")
                .show("within_percent", Show::Percent)
                .head("within_percent", "CV within")
                .head("saving_s", "saving")
                .head("total_saving_s", "total saving")
                .head("lasting_saving_s", "static")
                .head("mean_s", "mean")
                .head("max_s", "max")
                .show("slowest", Show::Text)
        }
        By::Location => {
            let mut shown = vec!["location"];
            if style.width >= WIDE {
                shown.push("length_s");
            }
            shown.extend(["computing_s", "communicating_s", "waiting_s", "variation_percent"]);
            shown.push("slowest_in");
            TextTable::new(table)
                .title("Locations: mean time in an iteration")
                .columns(&shown)
                .show("location", Show::Text)
                .head("length_s", "length")
                .head("computing_s", "computing")
                .head("communicating_s", "MPI")
                .head("waiting_s", "waiting")
                .show("variation_percent", Show::Percent)
                .head("variation_percent", "CV")
                .head("slowest_in", "slowest in")
        }
        By::Iteration => {
            let mut shown = vec!["iteration", "state", "start_s", "length_s"];
            if style.width >= WIDE {
                shown.push("mean_s");
            }
            shown.extend(["max_s", "imbalance_percent"]);
            if style.width >= WIDE {
                shown.extend(["saving_s", "waiting_s"]);
            }
            shown.push("slowest");
            TextTable::new(table)
                .title("Iterations: computation over locations")
                .columns(&shown)
                .head("iteration", "no.")
                .show("imbalance_percent", Show::PercentBar)
                .head("imbalance_percent", "imbalance")
                .head("start_s", "start")
                .head("length_s", "length")
                .head("mean_s", "mean")
                .head("max_s", "max")
                .head("saving_s", "saving")
                .head("waiting_s", "waiting")
                .show("slowest", Show::Text)
        }
        By::Cell => TextTable::new(table)
            .title("Time by function, location and iteration")
            .head("time_s", "time"),
        By::Tree => {
            let mut columns = vec!["iteration", "inclusive_s"];
            if style.width >= WIDE {
                columns.extend(["inclusive_min_s", "inclusive_max_s"]);
            }
            columns.extend(["inclusive_deviation_s", "exclusive_s"]);
            if style.width >= WIDE {
                columns.push("locations");
            }
            columns.push("context");
            TextTable::new(table)
                .title("Calling context tree of each iteration: time over locations")
                .columns(&columns)
                .head("iteration", "no.")
                .head("inclusive_s", "incl.")
                .head("inclusive_min_s", "min")
                .head("inclusive_max_s", "max")
                .head("inclusive_deviation_s", "dev.")
                .head("exclusive_s", "excl.")
        }
    };
    text.write(style, out)?;
    let columns = columns(by, found, style);
    if !columns.is_empty() {
        writeln!(out)?;
        let add = |facts: KeyValues, (head, what): &(&str, &str)| facts.pair(*head, *what);
        columns.iter().fold(KeyValues::new().section("Columns"), add).write(style, out)?;
    }
    if by == By::Context {
        writeln!(out)?;
        savings(found, style).write(style, out)?;
    }
    Ok(())
}

fn title(found: &IterationsFoundReply, style: &Style) -> String {
    let iterations = count(found.whole);
    match found.locations.len() {
        1 => format!("Time per iteration: mean over {iterations} iterations"),
        n => format!(
            "Time per iteration: mean{} of {} locations, over {iterations} iterations",
            if style.width >= WIDE { " and maximum" } else { "" },
            count(n as u64),
        ),
    }
}

/// What columns mean that their heads do not say.
fn columns(
    by: By,
    found: &IterationsFoundReply,
    style: &Style,
) -> Vec<(&'static str, &'static str)> {
    let is_compared = found.locations.len() > 1;
    let is_wide = style.width >= WIDE;
    let mut out = Vec::new();
    if by == By::Tree {
        out.push(("incl., excl.", "mean over all locations, with and without what it calls"));
        out.push(("dev.", "standard deviation of incl. over all locations"));
    }
    if by == By::Context && is_compared {
        out.push(("balance", "mean / maximum over locations; 1 is balanced"));
        if is_wide {
            out.push(("CV across", "coefficient of variation over locations"));
            out.push((
                "CV within",
                "coefficient of variation over the iterations of one location, \
                                    mean over locations",
            ));
            out.push((
                "saving",
                "potential saving per iteration if the context were balanced: \
                                 maximum - mean",
            ));
        }
        out.push((
            "total saving",
            "potential saving over all iterations, limited to the wait time",
        ));
        if is_wide || found.interval_s.is_some() {
            let what = "potential saving from static imbalance (the same in all iterations)";
            out.push(("static", what));
        }
    }
    if by == By::Context && !is_compared {
        out.push(("CV within", "coefficient of variation over iterations"));
    }
    if by == By::Location {
        out.push(("CV", "coefficient of variation of computing over iterations"));
        out.push(("slowest in", "iterations in which the location computes longest"));
    }
    if by == By::Iteration {
        if is_wide {
            out.push(("mean", "mean of computing over locations"));
        }
        out.push(("max", "maximum of computing over locations"));
        out.push(("imbalance", "(max - mean) / max"));
        if is_wide {
            out.push(("saving", "potential saving if each context were balanced separately"));
        }
    }
    out
}

/// A count with the display name of the locations of a kind.
fn counted(number: u64, kind: &str) -> String {
    let one = kind.strip_suffix('s').filter(|_| number == 1);
    format!("{} {}", count(number), one.unwrap_or(kind))
}

/// The columns for which a line has room.
fn context_columns(table: &Table, found: &IterationsFoundReply, style: &Style) -> Vec<String> {
    let is_compared = found.locations.len() > 1;
    let is_wide = style.width >= WIDE;
    let is_shown = |name: &str| match name {
        "context" | "share_percent" | "mean_s" => true,
        "balance_ratio" | "total_saving_s" => is_compared,
        "max_s" | "saving_s" => is_compared && is_wide,
        "lasting_saving_s" => is_compared && (is_wide || found.interval_s.is_some()),
        "does" => is_wide,
        "within_percent" => is_wide || !is_compared,
        "across_percent" | "slowest" => is_compared && is_wide,
        _ => false,
    };
    let names = table.columns.iter().map(|column| column.name.clone());
    names.filter(|name| is_shown(name)).collect()
}

/// What was found, and why it is believed.
fn evidence(answer: &IterationsReply, found: &IterationsFoundReply, style: &Style) -> KeyValues {
    let seconds = |value: f64| quantity(value, "s", style);
    let about = match &best(answer, found) {
        Some(best) if best.is_estimate => "about ",
        _ => "",
    };
    let mut parts = Vec::new();
    for (number, what) in [
        (found.warm_up, "of them warm-up"),
        (found.partial, "of them incomplete at the end"),
        (found.extraordinary, "of them extraordinary"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", count(number)));
        }
    }
    let parts = match parts.is_empty() {
        true => String::new(),
        false => format!(" ({})", parts.join(", ")),
    };
    let mut facts = KeyValues::new()
        .section(format!("{about}{} iterations", count(found.count)))
        .pair("marker", begin_with(answer, found))
        .pair("period", format!("{}{parts}", seconds(found.period_s)))
        .pair(
            "time range",
            format!(
                "{} to {} after the start: {:.1} % of {}",
                seconds(found.from_s),
                seconds(found.to_s),
                found.span_percent,
                seconds(found.window_s),
            ),
        )
        .pair("locations", locations(found));
    if let Some(best) = best(answer, found) {
        facts = facts.pair("evidence", because(best, found));
    }
    if found.marked_by.is_some() {
        facts = facts.pair("evidence", "the program marks its iterations itself");
    }
    for stall in &answer.stalls {
        facts = facts.pair("stall", stall.text.clone());
    }
    facts = facts.pair(
        "similarity",
        format!(
            "{:.0} % of the time of an iteration is in the same contexts as on average",
            found.similarity_percent
        ),
    );
    if found.guessed_percent > 0.0 {
        facts = facts.pair(
            "interpolated",
            format!(
                "{:.1} % of the iteration starts have no {}; interpolated from other iterations or \
                 locations",
                found.guessed_percent,
                if found.interval_s.is_some() { "sample" } else { "call" }
            ),
        );
    }
    if let Some(interval) = found.interval_s {
        facts = facts.pair(
            "samples",
            format!(
                "every {}: uncertainty of the time of one context in one iteration",
                seconds(interval)
            ),
        );
    }
    let others = group(answer, found).map(|group| group.others.as_slice()).unwrap_or_default();
    for other in others {
        facts = facts.pair(
            "other period",
            format!(
                "{}: {} times, every {}",
                other.marker,
                count(other.count),
                seconds(other.period_s)
            ),
        );
    }
    facts
}

fn group<'a>(
    answer: &'a IterationsReply,
    found: &IterationsFoundReply,
) -> Option<&'a IterationsGroupReply> {
    answer.groups.iter().find(|group| group.group == found.group)
}

fn best<'a>(
    answer: &'a IterationsReply,
    found: &IterationsFoundReply,
) -> Option<&'a RepetitionReply> {
    group(answer, found).and_then(|group| group.best.as_ref())
}

fn begin_with(answer: &IterationsReply, found: &IterationsFoundReply) -> String {
    match best(answer, found) {
        Some(best) => best.path.clone(),
        None => found.marker.clone(),
    }
}

fn locations(found: &IterationsFoundReply) -> String {
    let names = match found.locations.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first, .., last] => format!("{first} to {last}"),
    };
    let order = match (found.locations.len(), found.is_aligned) {
        (0 | 1, _) => "",
        (_, true) => "; iterations start together",
        (_, false) => "; iterations start at different times",
    };
    format!("{}: {names}{order}", counted(found.locations.len() as u64, &found.group))
}

fn because(best: &RepetitionReply, found: &IterationsFoundReply) -> String {
    let seen = match (best.is_pooled, found.locations.len()) {
        (true, _) if best.is_in_step => format!(
            "counted by the synchronisations that all locations pass together; one location \
             alone shows {:.0} % of the iterations",
            best.agreement_percent
        ),
        (true, _) => format!(
            "detected on all locations combined; one location alone shows {:.0} % of them",
            best.agreement_percent
        ),
        (false, 1) => "detected on the only location".into(),
        (false, _) => {
            format!("{:.0} % of the locations show the same number", best.agreement_percent)
        }
    };
    let what = match best.is_order {
        true => "iterations consist of the same contexts in the same order, regardless of duration",
        false => "intervals between iteration starts are within a factor of 1.5 of the median",
    };
    let chance = match best.chance {
        chance if chance < 1e-12 => "less than 1e-12".into(),
        chance => format!("{chance:.0e}"),
    };
    format!(
        "{:.0} % of the {what}; these cover {:.0} % of the active time of the locations; {seen}; \
         {} with {:.0} % of that time repeat as often; probability by chance: {chance}",
        best.regular_percent,
        best.coverage_percent,
        counted(best.contexts, "contexts"),
        best.explained_percent
    )
}

/// What balancing would save.
fn savings(found: &IterationsFoundReply, style: &Style) -> KeyValues {
    let facts = KeyValues::new();
    if found.locations.len() < 2 {
        return facts.section("Savings").pair("none", "only one location, so no comparison");
    }
    let whole = found.window_s;
    let saved = |value: f64| {
        format!(
            "{}, {:.2} % of {}",
            if value >= 1.0 { format!("{value:.2} s") } else { quantity(value, "s", style) },
            value / whole * 100.0,
            quantity(whole, "s", style)
        )
    };
    let iterations = count(found.whole);
    let mut facts = facts
        .section(format!(
            "Potential saving over {iterations} iterations, if computation were balanced"
        ))
        .pair(
            "each context",
            format!("{}: each context balanced separately", saved(found.saving_s)),
        )
        .pair(
            "each location",
            format!("{}: total computation of each location balanced", saved(found.joint_saving_s)),
        )
        .pair(
            "static",
            format!(
                "{}: static imbalance only (the same in all iterations)",
                saved(found.lasting_saving_s)
            ),
        )
        .pair(
            "wait time",
            format!(
                "{}: time without computation, mean of the locations; upper bound of any saving",
                saved(found.waited_s)
            ),
        );
    if found.unresolved > 0 {
        facts = facts.pair(
            "unresolved",
            format!(
                "{} whose imbalance may be sampling noise: not in the first line",
                counted(found.unresolved, "contexts")
            ),
        );
    }
    facts
}

/// Why there are none, and what to do next.
fn nothing(answer: &IterationsReply, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut facts = KeyValues::new().section("No regular iterations");
    for group in &answer.groups {
        if let Some(why) = &group.why_not {
            facts = facts.pair(counted(group.locations, &group.group), why.clone());
        }
    }
    if answer.groups.is_empty() {
        facts = facts.pair("trace", "no location has samples or calls in this window");
    }
    facts = facts.pair(
        "next",
        "name the first context of an iteration with --marker 'function(NAME)', or select a part \
         of the trace with --window",
    );
    facts.write(style, out)
}
