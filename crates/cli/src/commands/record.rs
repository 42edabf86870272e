//! `record`: runs a program and records where it spends its time.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, ValueEnum};
use parallax_native::{Abandoned, Left};
use parallax_protocol::RegionDetail;
use parallax_record::{CountedEvent, Detail, Recording, Sampler, record as record_program};
use parallax_service::{OpenLimits, Severity, open};

use super::Context;
use super::live::LiveArgs;
use super::recorded::Viewer;
use crate::choice::names;
use crate::text::{Level, Notice, count};

const EXAMPLES: &str = "\
Examples:
  parallax record -- ./solver input.dat                 writes solver.parallax
  parallax record -o run.parallax --frequency 4999 -- ./solver
  parallax record --python -- python3 train.py
  parallax record --mpi -- mpirun -n 4 ./solver
  parallax record --counters instructions,cache-misses -- ./solver
  parallax record --open -- ./solver                    shows it in the browser while it runs
  parallax record --recover run.parallax                keeps what a killed recorder had recorded
  parallax flat run.parallax
  parallax open run.parallax

docs/record.md has the details.";

/// What is recorded, and how.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(override_usage = "parallax record [OPTIONS] -- <PROGRAM> [ARGUMENTS]...\n       \
                            parallax record --recover <PATH>")]
pub(crate) struct RecordArgs {
    /// Samples per second of CPU time, in each thread [default: 999, with ptrace 250].
    #[arg(
        long,
        short = 'F',
        value_name = "HERTZ",
        value_parser = clap::value_parser!(u32).range(1..=50_000)
    )]
    frequency: Option<u32>,
    /// How samples are taken: by the kernel (perf-event), or by stopping each thread for some
    /// microseconds (ptrace), which also works where containers and systems forbid perf_event_open.
    #[arg(long, value_enum, value_name = "SAMPLER", default_value_t = SamplerChoice::Auto)]
    sampler: SamplerChoice,
    /// Stack size of a sample in KiB, used to find its callers; increase it for deep recursion and
    /// large local arrays.
    #[arg(long, value_name = "KIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=63))]
    stack: u32,
    /// Count these events by call path, as additional metrics: comma-separated, named as in `perf`,
    /// such as instructions, cache-misses or page-faults. EVENT@N takes a sample every N events (default:
    /// about as many samples per second as --frequency).
    #[arg(long, value_name = "EVENTS", value_delimiter = ',')]
    counters: Vec<CountedEvent>,
    /// Contexts in the code of functions: lines take more space on disk, and functions least. Loops and
    /// lines need debug information (-g), loops also code for x86-64.
    #[arg(long, value_parser = names::<RegionDetail>(), default_value_t = RegionDetail::Lines)]
    detail: RegionDetail,
    /// Do not copy the source files with recorded lines and loops to the archive.
    #[arg(long)]
    no_sources: bool,
    /// Record functions of Python programs, with CPython 3.12 and later (PYTHONPERFSUPPORT); makes calls
    /// in Python slower.
    #[arg(long)]
    python: bool,
    /// Record MPI calls exactly, with messages and collective operations, through a library that is
    /// compiled with mpicc (or the compiler named by MPICC) and loaded into the program.
    #[arg(long)]
    mpi: bool,
    /// The library of --mpi where it was compiled before: `measure` compiles it once for all runs.
    #[arg(long, value_name = "FILE", requires = "mpi", hide = true)]
    mpi_library: Option<PathBuf>,
    /// Store a fact in the archive, such as input=large; `scaling` uses it as a parameter with
    /// --param input=meta:input. Can be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = fact)]
    fact: Vec<(String, String)>,
    #[command(flatten)]
    live: LiveArgs,
    /// Record nothing, but make an archive of what a recorder of PATH had recorded before it was killed:
    /// all but the last second or so. PATH is the name that the archive was to have, or the hidden folder
    /// next to it (.NAME.HOST-PID-N.partial).
    #[arg(long, value_name = "PATH", conflicts_with_all = ["frequency", "counters", "python", "mpi", "fact", "open", "program"])]
    recover: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, required_unless_present = "recover", value_name = "PROGRAM")]
    program: Vec<String>,
}

/// What takes the samples.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SamplerChoice {
    /// perf-event, or ptrace if perf-event is not allowed.
    Auto,
    PerfEvent,
    Ptrace,
}

impl From<SamplerChoice> for Sampler {
    fn from(choice: SamplerChoice) -> Self {
        match choice {
            SamplerChoice::Auto => Self::Automatic,
            SamplerChoice::PerfEvent => Self::PerfEvent,
            SamplerChoice::Ptrace => Self::Ptrace,
        }
    }
}

/// The issue of an archive that was made before its recording ended.
const NOT_COMPLETE: &str = "recording-not-complete";

/// What makes CPython name its functions.
const PYTHON: (&str, &str) = ("PYTHONPERFSUPPORT", "1");

/// A recorded program ended with a status other than 0, which becomes that of the tool.
#[derive(Debug)]
pub(crate) struct Ended(pub(crate) u8);

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the program ended with exit status {}", self.0)
    }
}

impl std::error::Error for Ended {}

pub(super) fn record(context: &Context, arguments: RecordArgs) -> anyhow::Result<()> {
    if let Some(path) = &arguments.recover {
        return recover(context, path);
    }
    let output = context.output.path.clone().unwrap_or_else(|| default_output(&arguments.program));
    tell_of_earlier(context, &output);
    let recording = Recording {
        command: arguments.program,
        output,
        sampler: arguments.sampler.into(),
        frequency: arguments.frequency,
        stack_bytes: arguments.stack << 10,
        counters: arguments.counters,
        detail: match arguments.detail {
            RegionDetail::Functions => Detail::Functions,
            RegionDetail::Loops => Detail::Loops,
            RegionDetail::Lines => Detail::Lines,
        },
        sources: !arguments.no_sources,
        facts: arguments.fact,
        mpi: arguments.mpi,
        mpi_library: arguments.mpi_library,
        environment: arguments.python.then_some(PYTHON).into_iter().collect(),
    };
    // Where something is there already, nothing is recorded.
    let is_new = !recording.output.exists();
    let viewer = match arguments.live.open && is_new {
        true => Viewer::start(context, &recording.output, &arguments.live),
        false => None,
    };
    let recorded = record_program(&recording)?;
    for issue in recorded.issues.list().iter().filter(|issue| issue.severity > Severity::Note) {
        Notice::new(Level::Warning, &*issue.message).print(&context.stderr);
    }
    let path = recording.output.display();
    if !context.is_quiet {
        if let Some(fallback) = recorded.fallback {
            context.note(fallback);
        }
        context.note(format!(
            "{} samples in {path}; `parallax flat {path}` shows where the time went, `parallax open \
             {path}` in the browser",
            count(recorded.samples)
        ));
    }
    if let Some(viewer) = viewer {
        viewer.until_interrupted(context)?;
    }
    match recorded.status {
        0 => Ok(()),
        status => Err(Ended(status).into()),
    }
}

/// Says that an earlier recording of the same name was not completed, whose place this one takes.
fn tell_of_earlier(context: &Context, output: &Path) {
    if let Ok(Left::Abandoned(left)) = Abandoned::find(output) {
        let (path, hidden) = (output.display(), left.hidden().display());
        let text = format!(
            "an earlier recorder of {path} ended early; `parallax record --recover {hidden} -o \
             OTHER.parallax` keeps what it had recorded; remove {hidden} if you do not need it"
        );
        Notice::new(Level::Warning, text).print(&context.stderr);
    }
}

/// Makes an archive of what a recorder left that ended early.
fn recover(context: &Context, path: &Path) -> anyhow::Result<()> {
    let shown = path.display();
    let left = match Abandoned::find(path) {
        Ok(Left::Abandoned(left)) => left,
        Ok(Left::Nothing) if path.exists() => {
            bail!("{shown} is complete: there is nothing to recover")
        }
        Ok(Left::Nothing) => {
            bail!("there is nothing to recover: no recording {shown} was begun")
        }
        Ok(Left::WithoutSnapshot) => bail!(
            "the recorder of {shown} ended before it had written anything: there is nothing to recover"
        ),
        Ok(Left::Growing) => bail!(
            "{shown} is being recorded; `parallax open --live {shown}` shows what has been recorded so \
             far"
        ),
        Ok(Left::OtherHost(host)) => bail!(
            "{shown} was recorded on {host}, and whether its recorder has ended is only known there: \
             run this command on {host}, or when nothing has been written for 15 minutes"
        ),
        Err(cause) => return Err(anyhow::Error::new(cause).context(damaged(path))),
    };
    let snapshot = left.snapshot();
    let opened = open(&snapshot, &OpenLimits::default()).with_context(|| damaged(path))?;
    let issues = opened.issues();
    drop(opened);
    let output = context.output.path.clone().unwrap_or_else(|| left.target().to_owned());
    let archive = output.display();
    left.complete(&output).map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists | ErrorKind::ResourceBusy => {
            anyhow!("cannot write {archive}: {cause}; name another archive by --output")
        }
        ErrorKind::CrossesDevices => anyhow!(
            "cannot write {archive}: what was recorded is on another disk; write to the folder of \
             {shown}, and move the archive from there"
        ),
        _ => anyhow!("cannot write {archive}: {cause}"),
    })?;
    for issue in issues.list().iter().filter(|issue| issue.kind == NOT_COMPLETE) {
        Notice::new(Level::Warning, &*issue.message).print(&context.stderr);
    }
    context.note(format!(
        "{archive} has what its recorder had written before it ended early; `parallax flat {archive}` \
         shows where the time went, `parallax open {archive}` in the browser"
    ));
    Ok(())
}

/// What was left cannot be read.
fn damaged(path: &Path) -> String {
    format!("what the recorder of {} left is damaged and cannot be recovered", path.display())
}

fn fact(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// Where a recording goes when nothing is said: `solver.parallax` in this folder.
fn default_output(program: &[String]) -> PathBuf {
    let name = program.first().map(Path::new).and_then(Path::file_stem).unwrap_or_default();
    PathBuf::from(format!("{}.parallax", name.to_string_lossy()))
}
