//! `scaling`: maps, losses and verdicts in the terminal, as SVG and as one HTML file.

mod args;
mod colour;
mod heat;
mod html;
mod sources;
mod svg;
mod text;

use parallax_service::Control;
use parallax_service::scaling::scaling;

pub(crate) use args::ScalingArgs;

use crate::output::Output;
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
    let mut answer = scaling(&opened.value, &args.maps.request(metric)?)?;
    answer.notes.extend(opened.notes);
    if let Some(path) = &args.svg {
        let drawing = svg::document(&answer, args.mode, args.smooth);
        output.write_file(path, drawing.as_bytes())?;
    }
    if let Some(path) = &args.html {
        let page = html::page(&answer, args.mode, args.smooth);
        output.write_file(path, page.as_bytes())?;
    }
    let table = match args.table {
        TableChoice::Maps => answer.table(),
        TableChoice::Regions => answer.regions_table(),
        TableChoice::Losses => answer.losses_table(false),
    };
    output.emit_with(&table, |style, out| text::write(&answer, args, style, out))?;
    text::remarks(&answer.notes, &answer.issues, stderr);
    Ok(())
}
