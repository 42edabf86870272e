//! `convert`: traces into archives, several of them as one workflow, and databases into tables.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use parallax_places::{Located, Reading, canonical, locate};
use parallax_service::{
    Alignment, Answer, Issues, OpenLimits, ProfileInput, Severity, WorkflowRequest,
};

use super::Context;
use super::convert_tables::{self, PartSize};
use super::sql_cluster::ClusterArgs;
use crate::output::{Format, Output};
use crate::text::{Level, Notice, count};
use crate::traces::{self, NamedPath};

/// What is converted, and how several traces belong together.
#[derive(Debug, Args)]
#[command(override_usage = "parallax convert [OPTIONS] <TRACE>... <ARCHIVE>\n       \
                      parallax convert --component <NAME=TRACE>... <ARCHIVE>\n       \
                      parallax convert --to parquet <DATABASE> <FOLDER>")]
pub(crate) struct ConvertArgs {
    /// Trace to convert: an OTF2 anchor file (.otf2), tau.trc, or a JSON file, optionally
    /// compressed. Several traces are the components of a workflow. The last path is the archive to
    /// write, such as run.parallax; it is written completely or not at all. If its name ends in
    /// .json, TAU profiles are combined into one workflow profile.
    #[arg(value_name = "TRACE", required = true)]
    paths: Vec<PathBuf>,
    /// What to write: an archive of traces, or a folder with the SQL tables as Parquet files, for
    /// DuckDB, Polars and Spark.
    #[arg(long, value_enum, default_value = "archive", help_heading = "Tables")]
    to: Target,
    /// Parquet: maximum number of rows per part; a location is never split.
    #[arg(long, value_name = "ROWS", default_value_t = 4_000_000, help_heading = "Tables")]
    part_rows: u64,
    /// Parquet: maximum number of locations per part (default: limited only by --part-rows).
    #[arg(long, value_name = "LOCATIONS", help_heading = "Tables")]
    part_locations: Option<NonZeroUsize>,
    /// Trace and the name of its component (default: name of the file or its folder).
    #[arg(long, value_name = "NAME=TRACE", help_heading = "Workflow")]
    component: Vec<String>,
    /// Component that consists of these ranks of a single trace, for traces merged by CODAR's
    /// tools.
    #[arg(long, value_name = "NAME=FIRST-LAST", help_heading = "Workflow")]
    ranks: Vec<String>,
    /// Components from which a component receives data.
    #[arg(long, value_name = "NAME=OTHER,...", help_heading = "Workflow")]
    depends: Vec<String>,
    /// Clock synchronisation of the traces.
    #[arg(long, value_enum, default_value = "auto", help_heading = "Workflow")]
    align: Align,
    /// Additional time offset of a component, in seconds.
    #[arg(
        long,
        value_name = "NAME=SECONDS",
        allow_hyphen_values = true,
        help_heading = "Workflow"
    )]
    offset: Vec<String>,
    /// Workflow description with its name and Dependency Graph, such as TAU's workflow_in.json.
    #[arg(long, value_name = "FILE", help_heading = "Workflow")]
    workflow: Option<PathBuf>,
    /// Memory for buffering events, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    memory: usize,
    #[command(flatten)]
    members: ClusterArgs,
}

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// An archive, or a workflow profile if its name ends in .json.
    Archive,
    /// The SQL tables: one file each for contexts, locations and metrics; a folder of parts by
    /// location for values, samples or trace_events.
    Parquet,
}

/// How clocks are brought together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Align {
    /// By wall-clock time if all traces contain it, otherwise by their starts.
    Auto,
    /// By wall-clock time.
    TimeOfDay,
    /// All traces start at the same time.
    Starts,
    /// By messages: equal mean transfer times in both directions between components.
    Messages,
    /// No synchronisation: times are not changed.
    None,
}

impl From<Align> for Alignment {
    fn from(align: Align) -> Self {
        match align {
            Align::Auto => Self::Auto,
            Align::TimeOfDay => Self::TimeOfDay,
            Align::Starts => Self::Starts,
            Align::Messages => Self::Messages,
            Align::None => Self::None,
        }
    }
}

pub(super) fn convert(context: &Context, arguments: &ConvertArgs) -> anyhow::Result<()> {
    let Some((output, plain)) = arguments.paths.split_last() else { return Ok(()) };
    if arguments.to == Target::Parquet {
        return to_parquet(context, arguments, plain, output);
    }
    if arguments.members.cluster.is_some() {
        anyhow::bail!("--cluster requires --to parquet; archives cannot be written by a cluster");
    }
    let mut inputs = Vec::new();
    for text in &arguments.component {
        let (name, path) = text
            .split_once('=')
            .with_context(|| format!("{text}: expected NAME=TRACE, such as md=md/traces.otf2"))?;
        inputs.push(NamedPath { name: Some(name.to_owned()), path: PathBuf::from(path) });
    }
    inputs.extend(plain.iter().map(|path| NamedPath { name: None, path: path.clone() }));
    if inputs.is_empty() {
        anyhow::bail!(
            "only one path given: specify the trace, then the archive to write, such as {} \
             run.parallax",
            output.display()
        );
    }
    let request = WorkflowRequest {
        offsets: arguments.offset.clone(),
        depends: arguments.depends.clone(),
        ranks: arguments.ranks.clone(),
        description: arguments.workflow.as_deref().map(read).transpose()?,
    };
    if output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return profile(context, arguments, &inputs, &request, output);
    }
    let issues = traces::convert(
        &inputs,
        &request,
        arguments.align.into(),
        output,
        arguments.memory.saturating_mul(1 << 20),
        &context.control,
    )?;
    tell(context, &issues, inputs.len() > 1);
    Ok(())
}

/// The tables of one database.
fn to_parquet(
    context: &Context,
    arguments: &ConvertArgs,
    inputs: &[PathBuf],
    output: &Path,
) -> anyhow::Result<()> {
    let [input] = inputs else {
        anyhow::bail!(
            "--to parquet takes one database and the folder to write, such as {} tables",
            inputs.first().map_or(output, PathBuf::as_path).display()
        );
    };
    let is_workflow = arguments.align != Align::Auto
        || arguments.workflow.is_some()
        || [&arguments.component, &arguments.ranks, &arguments.depends, &arguments.offset]
            .iter()
            .any(|given| !given.is_empty());
    if is_workflow {
        anyhow::bail!(
            "workflow options apply to archives only: convert the traces into an archive first, \
             then the archive with --to parquet"
        );
    }
    let locations = arguments.part_locations.map_or(usize::MAX, NonZeroUsize::get);
    let size = PartSize { rows: arguments.part_rows, locations };
    convert_tables::tables(context, input, output, size, &arguments.members)
}

/// The profiles of several applications as the profile of one workflow.
fn profile(
    context: &Context,
    arguments: &ConvertArgs,
    inputs: &[NamedPath],
    request: &WorkflowRequest,
    output: &Path,
) -> anyhow::Result<()> {
    if !arguments.offset.is_empty() || !arguments.ranks.is_empty() || arguments.align != Align::Auto
    {
        anyhow::bail!(
            "{} is a workflow profile, which has no clocks and no ranges of ranks: omit --align, \
             --offset and --ranks, or use the extension .parallax for an archive of traces",
            output.display()
        );
    }
    let parts = profiles(inputs)?;
    let title = output.file_stem().unwrap_or_default().to_string_lossy();
    let limits = OpenLimits::default();
    let Answer { value: (workflow, issues), notes } =
        request.profile(&parts, &title, &limits, &context.control)?;
    let file = Output::new(Some(Format::Text), Some(output.to_owned()), context.output.style);
    file.emit_reply(&(), |_, out| workflow.write(out))?;
    for note in &notes {
        context.note(note);
    }
    tell(context, &issues, false);
    Ok(())
}

/// The profiles that the user named.
fn profiles(inputs: &[NamedPath]) -> anyhow::Result<Vec<(String, ProfileInput)>> {
    let named = inputs.iter().map(|input| {
        let shown = input.path.display().to_string();
        let failed = || format!("cannot open {shown}");
        let place = canonical(&input.path).with_context(failed)?;
        let (own, part) = match locate(&place, Reading::Mapped).with_context(failed)? {
            Located::Folder(folder) => (place.file_name(), ProfileInput::Folder(folder)),
            Located::File(folder, name) => {
                let file = folder.open(&name).with_context(failed)?;
                let file = file.ok_or_else(|| anyhow::anyhow!("{shown} no longer exists"))?;
                (place.file_stem(), ProfileInput::File(file, shown))
            }
        };
        let own = own.unwrap_or_default().to_string_lossy().into_owned();
        Ok((input.name.clone().unwrap_or(own), part))
    });
    named.collect()
}

/// What was repaired or guessed, on the error stream.
fn tell(context: &Context, issues: &Issues, is_workflow: bool) {
    for issue in issues.list() {
        let level = match issue.severity {
            // How clocks came together is worth a line each.
            Severity::Note if is_workflow && issue.kind == "clocks" => Level::Note,
            Severity::Note => continue,
            Severity::Warning | Severity::Error => Level::Warning,
        };
        let times = if issue.count > 1 {
            format!(" ({} times)", count(issue.count))
        } else {
            String::new()
        };
        Notice::new(level, format!("{}: {}{times}", issue.place, issue.message))
            .print(&context.stderr);
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
