//! `compare` and `merge`.

use std::io::{self, Write};

use anyhow::Context as _;
use parallax_base::Source;
use parallax_protocol::{CompareRequest, TypedTable as _};
use parallax_service::Control;
use parallax_service::analysis::scaling::{ChangeKind, Comparison};
use parallax_service::scaling::{
    ComparisonAnswer, ScalingOptions, change_limits, compare_versions, merge_pascal,
};

use super::args::{CompareArgs, MergeArgs, Mode};
use super::heat::{HeatMap, Scale, lines};
use super::{sources, text};
use crate::output::{Format, Output};
use crate::text::{Level, Notice, Role, Style, printable};

/// Answers `compare`.
pub(crate) fn compare(
    args: &CompareArgs,
    output: &Output,
    stderr: &Style,
    control: &Control,
) -> anyhow::Result<()> {
    let open = |paths: &[std::path::PathBuf]| sources::ensemble(paths, &args.ensemble, control);
    let (old, new) = match (args.paths.as_slice(), args.vs.as_slice()) {
        ([old, new], []) => (std::slice::from_ref(old), std::slice::from_ref(new)),
        (old, new) if !new.is_empty() => (old, new),
        _ => {
            anyhow::bail!("measurements are compared in pairs: specify the old and the new version")
        }
    };
    let (old, new) = (open(old)?, open(new).context("after --vs")?);
    let metric = args.ensemble.metric.clone().filter(|name| old.value.metric(name).is_some());
    let request = CompareRequest {
        view: args.maps.view(metric)?,
        tolerance: args.tolerance,
        significance: args.significance,
    };
    let options = ScalingOptions::from(&request.view);
    let limits = change_limits(&request);
    let mut answer = compare_versions(&old.value, &new.value, &options, limits)?;
    if !args.maps.region.is_empty() {
        answer.regions.retain(|region| {
            args.maps.region.iter().any(|text| {
                *text == region.region.id
                    || *text == region.region.path
                    || *text == region.region.name
            })
        });
    }
    answer.notes.extend(old.notes);
    let table = answer.cells_table().into_table_in(&answer.unit.to_string());
    output.emit_with(&table, |style, out| write(&answer, args, style, out))?;
    text::remarks(&answer.notes, &answer.issues, stderr);
    Ok(())
}

fn write(
    answer: &ComparisonAnswer,
    args: &CompareArgs,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let [old, new] = &answer.titles;
    writeln!(out, "{}", style.paint(Role::Head, "Two versions"))?;
    writeln!(out, "{}", style.paint(Role::Secondary, &format!("old: {}", printable(old))))?;
    writeln!(out, "{}\n", style.paint(Role::Secondary, &format!("new: {}", printable(new))))?;
    for sentence in &answer.sentences {
        text::bullet(sentence, style, out)?;
    }
    for (which, list) in [("old", &answer.only_old), ("new", &answer.only_new)] {
        if !list.is_empty() {
            let count = list.len();
            text::bullet(&format!("{count} regions are in the {which} version only"), style, out)?;
        }
    }
    writeln!(out)?;
    let shown = if args.maps.region.is_empty() { 1 } else { answer.regions.len() };
    if let Some(first) = answer.regions.first() {
        for (at, input) in first.comparison.old.inputs.iter().enumerate() {
            let label = format!("{:>5}:", format!("i{}", at + 1));
            writeln!(out, "{} {}", style.paint(Role::Secondary, &label), printable(input))?;
        }
        writeln!(out)?;
    }
    for (at, region) in answer.regions.iter().take(shown).enumerate() {
        let head = format!("Region {} {}", region.region.id, printable(&region.name));
        writeln!(out, "{}\n", style.paint(Role::Head, head.trim_end()))?;
        let maps = heat_maps(&region.comparison, args.mode, answer.difference_range(at));
        for line in lines(&maps, style) {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
    }
    let legend = "+ faster, - slower, ? not tested: a version has a single run";
    writeln!(out, "{}", style.paint(Role::Secondary, legend))?;
    let evidence = format!("evidence: {}", answer.evidence);
    writeln!(out, "{}", style.paint(Role::Secondary, &evidence))
}

/// The ratio of times with marks where it is more than noise, and the maps of differences.
fn heat_maps(comparison: &Comparison, mode: Mode, range: f64) -> Vec<HeatMap> {
    let ratios = comparison.time_ratio.iter();
    let most = ratios.filter(|cell| cell.2 > 0.0).map(|cell| cell.2.ln().abs());
    let scale = Scale::Ratio { range: most.fold(0.0, f64::max) };
    let mut times = HeatMap::new("Time", scale, &comparison.time_ratio, &comparison.old);
    times.marks = comparison
        .changes
        .iter()
        .map(|change| match change.as_ref()?.kind {
            ChangeKind::Faster => Some('+'),
            ChangeKind::Slower => Some('-'),
            ChangeKind::NotJudged => Some('?'),
            ChangeKind::WithinNoise => None,
        })
        .collect();
    let named = match mode {
        Mode::Absolute => [
            ("Efficiency", &comparison.efficiency),
            ("Scalability", &comparison.scalability_abs),
            ("Strong scaling", &comparison.strong_abs),
            ("Weak scaling", &comparison.weak_abs),
        ],
        Mode::Relative => [
            ("Efficiency", &comparison.efficiency),
            ("Relative scalability", &comparison.scalability_rel),
            ("Relative strong scaling", &comparison.strong_rel),
            ("Relative weak scaling", &comparison.weak_rel),
        ],
    };
    let mut out = vec![times];
    for (title, map) in named {
        if !map.is_undefined() {
            out.push(HeatMap::new(title, Scale::Difference { range }, map, &comparison.old));
        }
    }
    out
}

/// Answers `merge`.
pub(crate) fn merge(args: &MergeArgs, output: &Output, stderr: &Style) -> anyhow::Result<()> {
    let mut files: Vec<(String, Source)> = Vec::new();
    for path in &args.files {
        files.push((path.display().to_string(), sources::file(path)?));
    }
    let mut merged = Ok(Default::default());
    let target = Output { format: Format::Text, ..output.clone() };
    let written = target.emit_reply(&(), |_, out| {
        merged = merge_pascal(&files, out);
        // The error itself is told below; here it only stops the file from appearing.
        merged.as_ref().map(|_| ()).map_err(|error| io::Error::other(error.to_string()))
    });
    let merged = merged?;
    written?;
    for note in &merged.notes {
        Notice::new(Level::Note, note.clone()).print(stderr);
    }
    let message = format!("{} runs of {} inputs merged", merged.runs, merged.inputs.len());
    Notice::new(Level::Note, message).print(stderr);
    Ok(())
}
