//! `scaling`, `model`, `compare` and `merge`: maps, losses and verdicts in the terminal, as SVG and
//! as one HTML file.

mod args;
mod colour;
mod growth;
mod heat;
mod html;
mod sources;
mod svg;
mod text;
mod versions;

use std::path::Path;

use parallax_protocol::{ScalingTableKind, TypedTable as _};
use parallax_service::scaling::{ScalingAnswer, ScalingOptions, energy_table, pop_table, scaling};
use parallax_service::{Answer, Control};

pub(crate) use args::{CompareArgs, CompareSort, EnsembleArgs, MergeArgs, ModelArgs, ScalingArgs};
pub(crate) use growth::run as model;
pub(crate) use sources::{ensemble, is_ensemble};
pub(crate) use text::bullet;
pub(crate) use versions::{compare, merge};

use crate::output::{Format, Output};
use crate::text::Style;

/// Answers `scaling`.
pub(crate) fn run(
    args: &ScalingArgs,
    output: &Output,
    stderr: &Style,
    control: &Control,
) -> anyhow::Result<()> {
    let opened = ensemble(&args.paths, &args.ensemble, control)?;
    // The metric of databases was chosen when they were opened; files keep all of theirs.
    let metric = args.ensemble.metric.clone().filter(|name| opened.value.metric(name).is_some());
    let options = ScalingOptions { order: args.order, ..args.maps.options(metric)? };
    // These need no times of their own, so that files without any have them too.
    let beside = match args.table {
        ScalingTableKind::Energy => {
            let Answer { value, notes } = energy_table(&opened.value, &options)?;
            Some((value.into_table(), notes))
        }
        ScalingTableKind::Pop => {
            let Answer { value, notes } = pop_table(&opened.value, &options)?;
            Some((value.into_table(), notes))
        }
        _ => None,
    };
    if let Some((table, mut notes)) = beside {
        if args.svg.is_some() || args.html.is_some() {
            draw(&scaling(&opened.value, &options)?, args, output)?;
        }
        let title = opened.value.metadata.title.as_str();
        output
            .emit_with(&table, |style, out| text::table(&table, title, args.table, style, out))?;
        notes.extend(opened.notes);
        text::remarks(&notes, &opened.value.issues, stderr);
        return Ok(());
    }
    let mut answer = scaling(&opened.value, &options)?;
    answer.notes.extend(opened.notes);
    draw(&answer, args, output)?;
    let unit = answer.unit.to_string();
    let table = match args.table {
        ScalingTableKind::Regions => answer.regions_table().into_table_in(&unit),
        ScalingTableKind::Losses => answer.losses_table().into_table_in(&unit),
        ScalingTableKind::Laws => answer.laws_table().into_table_in(&unit),
        ScalingTableKind::Dispersion => answer.dispersion_table().into_table_in(&unit),
        ScalingTableKind::Maps | ScalingTableKind::Energy | ScalingTableKind::Pop => {
            answer.maps_table().into_table_in(&unit)
        }
    };
    output.emit_with(&table, |style, out| text::write(&answer, &table, args, style, out))?;
    text::remarks(&answer.notes, &answer.issues, stderr);
    Ok(())
}

/// Draws the maps into the files that were requested.
fn draw(answer: &ScalingAnswer, args: &ScalingArgs, output: &Output) -> std::io::Result<()> {
    if let Some(path) = &args.svg {
        save(path, &svg::document(answer, args.mode, args.smooth), output)?;
    }
    if let Some(path) = &args.html {
        save(path, &html::page(answer, args.mode, args.smooth), output)?;
    }
    Ok(())
}

/// Writes a text to a file, which appears complete or not at all.
fn save(path: &Path, text: &str, output: &Output) -> std::io::Result<()> {
    let file = Output::new(Some(Format::Text), Some(path.to_owned()), output.style);
    file.emit_reply(&(), |_, out| out.write_all(text.as_bytes()))
}
