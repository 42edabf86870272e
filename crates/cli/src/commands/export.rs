//! `export`: the application and data as one file.

use std::io;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use parallax_server::{Report, Selection, ServerError, places};
use parallax_service::discover;

use super::Context;
use crate::args::Size;
use crate::output::{Format, Output};
use crate::room::size;

/// Files that are named when a report would be too large.
const NUM_NAMED: usize = 3;

/// What `export` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Databases, measurement files, or folders of them; several paths are combined into an
    /// ensemble.
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// HTML file to write, either completely or not at all.
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
    /// Title of the data in the page (default: name of the path).
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Exclude traces, which account for most of the size of many databases.
    #[arg(long)]
    no_trace: bool,
    /// Maximum size of the data in the page, such as 500MB or 1.5GB.
    #[arg(long, value_name = "SIZE", default_value = "200MB")]
    max_size: Size,
}

pub(super) fn export(context: &Context, arguments: &ExportArgs) -> anyhow::Result<()> {
    let places = places(&arguments.paths)?;
    // Several paths come together as one: the first place.
    let Some(place) = places.first() else { return Ok(()) };
    let selection = Selection::of(place, !arguments.no_trace)?;
    if selection.is_empty() {
        let found = discover(&place.folder).with_context(|| place.folder.name().to_owned())?;
        if found.data.is_empty() {
            return Err(found.nothing(place.folder.name()).into());
        }
        anyhow::bail!("{} holds only traces, which --no-trace excludes", place.name);
    }
    let most = arguments.max_size.0;
    if selection.bytes() > most {
        anyhow::bail!("{}", too_large(&selection, most));
    }
    let title = arguments.title.as_deref().unwrap_or(selection.name());
    let report = Report::new(title)?;
    let path = arguments.html.clone();
    let mut file = Output::new(Some(Format::Text), Some(path.clone()), context.output.style);
    file.most_bytes = Some(report.most_bytes(&selection));
    file.emit_reply(&(), |_, out| {
        report.write(&selection, out).map_err(|error| match error {
            ServerError::Write(error) => error,
            other => io::Error::other(other),
        })
    })?;
    let written = std::fs::metadata(&path).map(|there| there.len()).unwrap_or_default();
    context.note(format!(
        "{} is a single page of {} with {} of data; it opens in any browser, without a network \
         connection",
        path.display(),
        size(written),
        size(selection.bytes()),
    ));
    Ok(())
}

/// Why there is no report, and what to do.
fn too_large(selection: &Selection, most: u64) -> String {
    let named: Vec<String> = selection
        .longest(NUM_NAMED)
        .into_iter()
        .map(|(path, bytes)| format!("{path} {}", size(bytes)))
        .collect();
    let traces = selection.trace_bytes();
    let rest = selection.bytes() - traces;
    let mut ways = Vec::new();
    if traces > 0 && rest <= most {
        ways.push(format!("exclude traces with --no-trace ({} remain)", size(rest)));
    }
    ways.push("specify fewer paths".to_owned());
    ways.push("raise the limit with --max-size".to_owned());
    ways.push("or use `parallax open`, which has no limit".to_owned());
    format!(
        "the page would contain {} of data; pages with more than {} are slow to open in a browser \
         (largest: {}); {}",
        size(selection.bytes()),
        size(most),
        named.join(", "),
        ways.join(", ")
    )
}
