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

use parallax_service::Control;
use parallax_service::scaling::{ScalingAnswer, energy_table, pop_table, scaling};

pub(crate) use args::{CompareArgs, CompareBy, CompareSort, MergeArgs, ModelArgs, ScalingArgs};
pub(crate) use growth::run as model;
pub(crate) use sources::is_ensemble;
pub(crate) use text::bullet;
pub(crate) use versions::{compare, merge};

use crate::output::{Format, Output};
use crate::text::Style;
use args::TableChoice;

/// Answers `scaling`.
pub(crate) fn run(
    args: &ScalingArgs,
    output: &Output,
    stderr: &Style,
    control: &Control,
) -> anyhow::Result<()> {
    let opened = sources::ensemble(&args.paths, &args.ensemble, control)?;
    // The metric of databases was chosen when they were opened; files keep all of theirs.
    let metric = args.ensemble.metric.clone().filter(|name| opened.value.metric(name).is_some());
    let request = args.maps.request(metric)?;
    // These need no times of their own, so that files without any have them too.
    let beside = match args.table {
        TableChoice::Energy => Some(energy_table(&opened.value, &request)?),
        TableChoice::Pop => Some(pop_table(&opened.value, &request)?),
        _ => None,
    };
    if let Some(mut beside) = beside {
        if args.svg.is_some() || args.html.is_some() {
            draw(&scaling(&opened.value, &request)?, args, output)?;
        }
        let title = opened.value.metadata.title.as_str();
        output.emit_with(&beside.value, |style, out| {
            text::table(&beside.value, title, args.table, style, out)
        })?;
        beside.notes.extend(opened.notes);
        text::remarks(&beside.notes, &opened.value.issues, stderr);
        return Ok(());
    }
    let mut answer = scaling(&opened.value, &request)?;
    answer.notes.extend(opened.notes);
    draw(&answer, args, output)?;
    let table = match args.table {
        TableChoice::Regions => answer.regions_table(),
        TableChoice::Losses => answer.losses_table(false),
        TableChoice::Laws => answer.laws_table(),
        TableChoice::Dispersion => answer.dispersion_table(),
        TableChoice::Maps | TableChoice::Energy | TableChoice::Pop => answer.table(),
    };
    output.emit_with(&table, |style, out| text::write(&answer, &table, args, style, out))?;
    text::remarks(&answer.notes, &answer.issues, stderr);
    Ok(())
}

/// Draws the maps into the files that were asked for.
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
