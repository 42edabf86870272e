//! `compare`: what changed between versions of a program.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use parallax_base::quantity::compared as amount;
use parallax_protocol::{DifferencesBy, OverLocations};
use parallax_service::analysis::comparison::{
    Basis, ComparisonOptions, Delta, Matching, Over, VersionPair,
};
use parallax_service::scaling::ContextOptions;
use parallax_service::{
    Answer, Column, ComparedVersion, ComparisonOrder, ComparisonOutcome, ComparisonRequest, Gate,
    OpenExperiment, ServiceError, Table, compare_experiments,
};

use super::Context;
use crate::open;
use crate::output::{Format, Output};
pub(super) use crate::scaling::CompareArgs;
use crate::scaling::{self, CompareSort};
use crate::text::{KeyValues, Level, Notice, Role, Show, Style, TextTable, printable};

/// What `--fail-if` says must not happen did.
#[derive(Debug)]
pub(crate) struct ConditionsHold(usize);

impl fmt::Display for ConditionsHold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("a condition of --fail-if holds"),
            n => write!(f, "{n} conditions of --fail-if hold"),
        }
    }
}

impl std::error::Error for ConditionsHold {}

pub(super) fn compare(context: &Context, args: &CompareArgs) -> anyhow::Result<()> {
    let gates = args
        .fail_if
        .iter()
        .map(|text| Gate::parse(text).map_err(ServiceError::from))
        .collect::<Result<Vec<_>, _>>()?;
    if args.paths.len() + args.vs.len() < 2 {
        anyhow::bail!("at least two versions are required; the first is the reference");
    }
    if args.paths.iter().chain(&args.vs).any(|path| scaling::is_ensemble(path)) {
        if !gates.is_empty() || args.folded.is_some() {
            anyhow::bail!("--fail-if and --folded require databases, profiles or traces");
        }
        return scaling::compare(args, &context.output, &context.stderr, &context.control);
    }
    let opened = versions(context, args)?;
    let versions: Vec<ComparedVersion<'_>> = opened
        .iter()
        .map(|(name, experiments)| ComparedVersion {
            name: name.clone(),
            experiments: experiments.iter().collect(),
        })
        .collect();
    let contexts = ContextOptions::from(&args.ensemble.choice());
    let request = ComparisonRequest {
        metric: args.ensemble.metric.clone(),
        profiles: args.ensemble.profiles.clone(),
        options: ComparisonOptions {
            matching: args.by.map(|by| match by {
                DifferencesBy::Context => Matching::CallPath,
                DifferencesBy::Function => Matching::Function,
            }),
            detail: contexts.detail,
            libraries: contexts.libraries,
            over: args.ensemble.over.map(|over| match over {
                OverLocations::Max => Over::Max,
                OverLocations::Mean => Over::Mean,
                OverLocations::Sum => Over::Sum,
            }),
            level: args.significance,
            ..ComparisonOptions::default()
        },
        gates,
    };
    let Answer { value, notes } = compare_experiments(&versions, &request, &context.control)?;
    let order = order(args);
    let table = value.table(order);
    context.output.emit_with(&table, |style, out| text(&value, order, style, out))?;
    if let Some(path) = &args.folded {
        let file = Output::new(Some(Format::Text), Some(path.clone()), context.output.style);
        file.emit_reply(&(), |_, out| out.write_all(value.folded(0).as_bytes()))?;
    }
    for note in &notes {
        context.note(note);
    }
    for experiment in opened.iter().flat_map(|(_, experiments)| experiments) {
        context.finish(experiment, &[]);
    }
    for gate in &value.gates {
        let (level, word) =
            if gate.is_failed { (Level::Error, "holds") } else { (Level::Note, "does not hold") };
        let version =
            if versions.len() > 2 { format!("{}: ", gate.version) } else { String::new() };
        let text = format!("{version}{} {word}: {}", gate.gate, gate.text);
        Notice::new(level, text).print(&context.stderr);
    }
    match value.gates.iter().filter(|gate| gate.is_failed).count() {
        0 => Ok(()),
        failed => Err(ConditionsHold(failed).into()),
    }
}

fn order(args: &CompareArgs) -> ComparisonOrder {
    match args.sort {
        _ if args.relative => ComparisonOrder::Relative,
        CompareSort::Difference => ComparisonOrder::Difference,
        CompareSort::Relative => ComparisonOrder::Relative,
        CompareSort::New => ComparisonOrder::New,
        CompareSort::Old => ComparisonOrder::Old,
        CompareSort::Significance => ComparisonOrder::Significance,
        CompareSort::Tree => ComparisonOrder::Tree,
    }
}

/// Each version with its name: what tells its path from the others'.
fn versions(
    context: &Context,
    args: &CompareArgs,
) -> anyhow::Result<Vec<(String, Vec<OpenExperiment>)>> {
    let open_all = |paths: &[PathBuf]| -> anyhow::Result<Vec<OpenExperiment>> {
        paths.iter().map(|path| open::database(path, &context.control)).collect()
    };
    if args.vs.is_empty() {
        let names = short_names(&args.paths);
        return names
            .into_iter()
            .zip(&args.paths)
            .map(|(name, path)| Ok((name, open_all(std::slice::from_ref(path))?)))
            .collect();
    }
    let name = |paths: &[PathBuf]| {
        let first = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        match paths.len() {
            0 | 1 => first,
            n => format!("{first} and {} more", n - 1),
        }
    };
    Ok(vec![
        (name(&args.paths), open_all(&args.paths)?),
        (name(&args.vs), open_all(&args.vs).context("after --vs")?),
    ])
}

/// Paths without the folders that all of them begin with and the names that all end with.
fn short_names(paths: &[PathBuf]) -> Vec<String> {
    let parts: Vec<Vec<String>> = paths
        .iter()
        .map(|path: &PathBuf| {
            Path::new(path).components().map(|c| c.as_os_str().to_string_lossy().into()).collect()
        })
        .collect();
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(0);
    let is_common = |at: &dyn Fn(&Vec<String>) -> Option<String>| {
        let mut values = parts.iter().map(at);
        let first = values.next().flatten();
        first.is_some() && values.all(|value| value == first)
    };
    let mut front = 0;
    while front + 1 < shortest && is_common(&|list: &Vec<String>| list.get(front).cloned()) {
        front += 1;
    }
    let mut back = 0;
    while front + back + 1 < shortest
        && is_common(&|list: &Vec<String>| list.iter().rev().nth(back).cloned())
    {
        back += 1;
    }
    parts
        .iter()
        .map(|list| list.get(front..list.len() - back).unwrap_or_default().join("/"))
        .collect()
}

fn text(
    outcome: &ComparisonOutcome,
    order: ComparisonOrder,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let comparison = &outcome.comparison;
    let Some(old) = comparison.versions.first() else { return Ok(()) };
    let kind = match comparison.over {
        Over::Sum => "sum over locations",
        Over::Mean => "mean over locations",
        Over::Max => "slowest location",
    };
    for (at, pair) in comparison.pairs.iter().enumerate() {
        let Some(new) = comparison.versions.get(pair.new) else { continue };
        if at > 0 {
            writeln!(out)?;
        }
        let title = format!("{} versus {}", printable(&new.name), printable(&old.name));
        let describe = |version: &parallax_service::analysis::comparison::VersionFacts| {
            let runs = match version.executions {
                1 => String::new(),
                n => format!("{n} executions, "),
            };
            let plural = if version.locations == 1 { "" } else { "s" };
            format!("{} ({runs}{} location{plural})", version.name, version.locations)
        };
        KeyValues::new()
            .section(title)
            .pair("old", describe(old))
            .pair("new", describe(new))
            .pair("metric", format!("{}, {kind}", comparison.metric))
            .pair("evidence", comparison.evidence(pair))
            .write(style, out)?;
        writeln!(out)?;
        for sentence in comparison.sentences(pair) {
            scaling::bullet(&printable(&sentence), style, out)?;
        }
        writeln!(out)?;
        let shown = shown(outcome, pair, order, style);
        let title = match comparison.matching {
            Matching::CallPath => "Contexts by exclusive value",
            Matching::Function => "Functions by exclusive value",
        };
        TextTable::new(&shown)
            .title(title)
            .show("change", Show::Text)
            .show("chance", Show::Text)
            .write(style, out)?;
    }
    let legend = match comparison.pairs.first().and_then(|pair| pair.basis) {
        None => "",
        Some(Basis::Repetitions) => {
            "p: p value over executions, adjusted for multiple tests (Benjamini-Hochberg)"
        }
        Some(_) => "p: p value over locations, adjusted for multiple tests (Benjamini-Hochberg)",
    };
    if !legend.is_empty() {
        writeln!(out, "{}", style.paint(Role::Secondary, legend))?;
    }
    Ok(())
}

/// Columns from which on a line has room for inclusive costs and intervals.
const WIDE: usize = 140;

fn shown(
    outcome: &ComparisonOutcome,
    pair: &VersionPair,
    order: ComparisonOrder,
    style: &Style,
) -> Table {
    let comparison = &outcome.comparison;
    let unit = comparison.unit.to_string();
    let costs =
        |at: &usize| pair.rows.get(*at).is_some_and(|row| row.own.old != 0.0 || row.own.new != 0.0);
    let rows: Vec<usize> = outcome.ordered(pair, order).into_iter().filter(costs).collect();
    let own = |at: &usize| pair.rows.get(*at).map(|row| row.own);
    let numbers = |of: fn(&Delta) -> f64| -> Vec<f64> {
        rows.iter().map(|at| own(at).as_ref().map_or(0.0, of)).collect()
    };
    let change = |at: &usize| {
        let Some(row) = pair.rows.get(*at) else { return String::new() };
        match row.own.percent() {
            Some(percent) if percent.abs() >= 1000.0 => {
                format!("x{:.1}", row.own.ratio().unwrap_or(0.0))
            }
            Some(percent) => format!("{percent:+.1} %"),
            None if row.own.new != 0.0 => "new".to_owned(),
            None => String::new(),
        }
    };
    let noise = |at: &usize| match own(at).and_then(|delta| delta.test) {
        None => String::new(),
        Some(test) if test.adjusted_p >= comparison.level => {
            format!("p {:.2}, not significant", test.adjusted_p)
        }
        Some(test) if test.adjusted_p < 0.001 => "p < 0.001".to_owned(),
        Some(test) => format!("p {:.3}", test.adjusted_p),
    };
    let name = |at: &usize| {
        let Some(context) = comparison.contexts.get(*at) else { return String::new() };
        match context.path.as_slice() {
            [] => "(outside all functions)".to_owned(),
            path => {
                let from = path.len().saturating_sub(if style.width >= WIDE { 4 } else { 2 });
                let mut names = path.get(from..).unwrap_or_default().join(" > ");
                if from > 0 && style.width >= WIDE {
                    names.insert_str(0, "… > ");
                }
                names
            }
        }
    };
    let mut columns = vec![
        Column::f64s("old", &unit, "", numbers(|delta| delta.old)),
        Column::f64s("new", &unit, "", numbers(|delta| delta.new)),
        Column::f64s("new - old", &unit, "", numbers(Delta::difference)),
        Column::strings("change", "", rows.iter().map(change)),
    ];
    if rows.iter().any(|at| own(at).is_some_and(|delta| delta.test.is_some())) {
        columns.push(Column::strings("significance", "", rows.iter().map(noise)));
        if style.width >= WIDE {
            let interval = rows.iter().map(|at| {
                own(at).and_then(|delta| delta.test).map_or_else(String::new, |test| {
                    let (low, high) = test.interval;
                    format!(
                        "{} to {}",
                        amount(low, &comparison.unit),
                        amount(high, &comparison.unit)
                    )
                })
            });
            columns.push(Column::strings("95 % interval", "", interval));
        }
    }
    if comparison.is_additive && style.width >= WIDE {
        let share = rows.iter().map(|at| own(at).and_then(|delta| delta.share)).collect();
        columns.push(Column::optional_f64s("share", "%", "", share));
    }
    let head = match comparison.matching {
        Matching::CallPath => "context",
        Matching::Function => "function",
    };
    columns.push(Column::strings(head, "", rows.iter().map(name)));
    Table::new(columns)
}
