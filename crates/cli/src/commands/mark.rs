//! `mark`: puts marks around the parallel regions of a source file.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use parallax_sweep::mark_parallel_regions;

use super::Context;
use crate::output::{Format, Output};

const EXAMPLES: &str = "\
Examples:
  parallax mark solver.c           print the file with marks
  parallax mark solver.c --write   modify the file in place
  parallax mark solver.c -o marked/solver.c --first 100

Compile the file with -I and the folder of pascalops.h; `parallax measure` then shows maps of \
each region.";

/// What is marked, and where the result goes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MarkArgs {
    /// C or C++ source file with OpenMP directives.
    file: PathBuf,
    /// Modify the file in place.
    #[arg(long, conflicts_with = "output")]
    write: bool,
    /// Number of the first region; region numbers must be unique across the files of a program.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    first: u32,
}

pub(super) fn mark(context: &Context, arguments: &MarkArgs) -> anyhow::Result<()> {
    let name = arguments.file.display();
    let text =
        fs::read_to_string(&arguments.file).with_context(|| format!("cannot read {name}"))?;
    let marked = mark_parallel_regions(&text, arguments.first).with_context(|| name.to_string())?;
    let path = match arguments.write {
        true if marked.regions.is_empty() => None,
        true => Some(arguments.file.clone()),
        false => context.output.path.clone(),
    };
    if !(arguments.write && path.is_none()) {
        let target = Output { format: Format::Text, path, ..context.output.clone() };
        target.emit_reply(&(), |_, out| out.write_all(marked.text.as_bytes()))?;
    }
    if !context.is_quiet {
        let regions = marked.regions.iter();
        let regions = regions.map(|region| format!("{} (line {})", region.number, region.line));
        let regions: Vec<_> = regions.collect();
        context.note(match &*regions {
            [] => format!("{name} has no parallel directives without marks"),
            [one] => format!("marked in {name}: region {one}"),
            several => format!("marked in {name}: regions {}", several.join(", ")),
        });
    }
    Ok(())
}
