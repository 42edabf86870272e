//! `scaling` for a terminal: the verdict first, then what loses, then the maps.

use std::io::{self, Write};

use parallax_protocol::{ScalingTableKind, TypedTable as _};
use parallax_service::scaling::ScalingAnswer;
use parallax_service::{Issues, Severity, Table};

use super::args::ScalingArgs;
use super::heat::{heat_maps, lines};
use crate::text::{Level, Notice, Role, Show, Style, TextTable, printable};

/// Regions whose maps are shown unless others were requested.
const RANKED: usize = 12;
/// Warnings above the verdict; all are on the error stream.
const MOST_WARNINGS: usize = 3;

/// Writes the answer; `chosen` is the table that was requested.
pub(super) fn write(
    answer: &ScalingAnswer,
    chosen: &Table,
    args: &ScalingArgs,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match args.table {
        ScalingTableKind::Regions => return regions(answer, style, out),
        ScalingTableKind::Losses => return losses(answer, None, style, out),
        ScalingTableKind::Maps => {}
        other => return table(chosen, &answer.title, other, style, out),
    }
    let title = format!("Scaling of {}", printable(&answer.title));
    writeln!(out, "{}", style.paint(Role::Head, &title))?;
    writeln!(out, "{}\n", style.paint(Role::Secondary, &printable(&answer.source)))?;
    let is_asked = !args.maps.region.is_empty();
    if !is_asked {
        warnings(answer, style, out)?;
        for sentence in answer.verdict() {
            bullet(sentence, style, out)?;
        }
        writeln!(out)?;
        if answer.ranked().len() > 1 {
            losses(answer, Some(RANKED), style, out)?;
            writeln!(out)?;
        }
    }
    legend(answer, style, out)?;
    let shown: Vec<usize> = if is_asked { answer.shown().collect() } else { vec![0] };
    let limit = style.rows.unwrap_or(usize::MAX).min(shown.len());
    for &region in shown.iter().take(limit) {
        let (Some(maps), Some(place)) = (answer.maps(region), answer.regions.get(region)) else {
            continue;
        };
        let name = answer.display_name(region);
        let head = format!("Region {} {}", place.region.id, printable(&name));
        writeln!(out, "{}", style.paint(Role::Head, head.trim_end()))?;
        if place.region.path != name && !place.region.path.is_empty() {
            writeln!(out, "{}", style.paint(Role::Secondary, &printable(&place.region.path)))?;
        }
        writeln!(out)?;
        if is_asked {
            for sentence in &place.verdict.sentences {
                bullet(sentence, style, out)?;
            }
            writeln!(out)?;
        }
        for line in lines(&heat_maps(maps, args.mode, &answer.rows), style) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    let rest = shown.len() - limit;
    if rest > 0 {
        let more = format!("{} {rest} more regions; --all shows them", style.ellipsis());
        writeln!(out, "{}", style.paint(Role::Secondary, &more))?;
    }
    if !is_asked && answer.regions.len() > 1 {
        let hint = match answer.regions.len() - 1 {
            1 => {
                "1 more region has maps: --region ID or --region NAME shows them, --table regions \
                  lists it"
                    .to_owned()
            }
            more => format!(
                "{more} more regions have maps: --region ID or --region NAME shows them, --table \
                 regions lists them"
            ),
        };
        writeln!(out, "{}", style.paint(Role::Secondary, &hint))?;
    }
    Ok(())
}

/// What makes the data doubtful, above the verdict that rests on it.
fn warnings(answer: &ScalingAnswer, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let warnings = answer.warnings();
    for warning in warnings.iter().take(MOST_WARNINGS) {
        write!(out, "{}", Notice::new(Level::Warning, warning.clone()).render(style))?;
    }
    let rest = warnings.len().saturating_sub(MOST_WARNINGS);
    if rest > 0 {
        let more = format!("{} {rest} more on stderr", style.ellipsis());
        writeln!(out, "{}", style.paint(Role::Secondary, &more))?;
    }
    if warnings.is_empty() { Ok(()) } else { writeln!(out) }
}

/// A sentence as an item of a list, broken at the width.
pub(crate) fn bullet(sentence: &str, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mark = if style.is_unicode { "•" } else { "*" };
    let mut line = format!("{mark} ");
    let mut used = 2;
    for (idx, word) in printable(sentence).split(' ').enumerate() {
        let width = word.chars().count();
        if idx > 0 && used + 1 + width > style.width {
            writeln!(out, "{line}")?;
            line = "  ".to_owned();
            used = 2;
        } else if idx > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += width;
    }
    writeln!(out, "{line}")
}

fn legend(answer: &ScalingAnswer, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    if let [only] = answer.inputs.as_slice() {
        if !only.is_empty() {
            writeln!(out, "{} {}\n", style.paint(Role::Secondary, "input:"), printable(only))?;
        }
        return Ok(());
    }
    for (at, input) in answer.inputs.iter().enumerate() {
        let label = format!("{:>5}:", format!("i{}", at + 1));
        writeln!(out, "{} {}", style.paint(Role::Secondary, &label), printable(input))?;
    }
    writeln!(out)
}

fn losses(
    answer: &ScalingAnswer,
    most: Option<usize>,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let table = answer.losses_table().into_table_in(&answer.unit.to_string());
    let place = answer.worst.and_then(|(input, core_idx)| {
        let cores = answer.cores.get(core_idx)?;
        Some(if answer.inputs.len() > 1 {
            format!("input i{} on {cores} cores", input + 1)
        } else {
            format!("on {cores} cores")
        })
    });
    let title = format!("Parallel overhead by region, {}", place.as_deref().unwrap_or("nowhere"));
    let rows = match (most, style.rows) {
        (Some(most), Some(rows)) => Some(most.min(rows)),
        (_, rows) => rows,
    };
    TextTable::new(&table)
        .title(title)
        .columns(&["region", "name", "own_loss", "share", "loss", "cause"])
        .head("own_loss", "excl.")
        .head("loss", "incl.")
        .write(&Style { rows, ..*style }, out)
}

fn regions(answer: &ScalingAnswer, style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let table = answer.regions_table().into_table_in(&answer.unit.to_string());
    TextTable::new(&table)
        .title(format!("Regions of {}", printable(&answer.title)))
        .columns(&["region", "kind", "name", "share_min", "share_max", "imbalance_max", "verdict"])
        .sentences_below("verdict")
        .write(style, out)
}

/// The columns of a table that the user reads first.
pub(super) fn table(
    table: &Table,
    title: &str,
    choice: ScalingTableKind,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (head, columns): (&str, &[&str]) = match choice {
        ScalingTableKind::Laws => (
            "Scaling laws",
            &[
                "region",
                "name",
                "input",
                "amdahl_serial",
                "amdahl_max_speedup",
                "amdahl_error",
                "usl_contention",
                "usl_coherency",
                "usl_peak_cores",
                "usl_error",
                "karp_flatt_first",
                "karp_flatt_last",
                "gustafson_serial",
            ],
        ),
        ScalingTableKind::Dispersion => (
            "Repetitions",
            &[
                "region",
                "input",
                "cores",
                "repetitions",
                "mean",
                "median",
                "min",
                "max",
                "std_dev",
                "variation",
                "outliers",
            ],
        ),
        ScalingTableKind::Energy => (
            "Energy",
            &[
                "region",
                "input",
                "cores",
                "meter",
                "repetitions",
                "energy",
                "power",
                "edp",
                "variation",
                "valid",
                "note",
            ],
        ),
        _ => (
            "POP efficiencies",
            &[
                "region",
                "name",
                "input",
                "cores",
                "parallel",
                "load_balance",
                "communication",
                "computation",
                "global",
                "origin",
            ],
        ),
    };
    let shown = TextTable::new(table)
        .title(format!("{head} of {}", printable(title)))
        .columns(columns)
        .show("region", Show::Text);
    // Long names would leave no room for the inputs.
    const SHORT: [(&str, &str); 10] = [
        ("amdahl_serial", "Amdahl f"),
        ("amdahl_max_speedup", "limit"),
        ("amdahl_error", "error"),
        ("usl_contention", "USL sigma"),
        ("usl_coherency", "kappa"),
        ("usl_peak_cores", "peak"),
        ("usl_error", "error"),
        ("karp_flatt_first", "K-F first"),
        ("karp_flatt_last", "last"),
        ("gustafson_serial", "Gustafson"),
    ];
    SHORT.iter().fold(shown, |shown, (name, short)| shown.head(name, *short)).write(style, out)
}

/// Notes and issues, on the error stream.
pub(super) fn remarks(notes: &[String], issues: &Issues, stderr: &Style) {
    for note in notes {
        Notice::new(Level::Note, note.clone()).print(stderr);
    }
    for issue in issues.list() {
        let level = match issue.severity {
            Severity::Note => Level::Note,
            Severity::Warning | Severity::Error => Level::Warning,
        };
        let times =
            if issue.count > 1 { format!(" ({} times)", issue.count) } else { String::new() };
        let message = format!("{}: {}{times}", issue.place, issue.message);
        Notice::new(level, message).print(stderr);
    }
}
