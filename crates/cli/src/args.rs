//! What can be typed: the command line as data.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand as _};
use parallax_protocol::{CostChoice, PruneChoice, TracePart};

use crate::commands::{Command, measure_plan};
use crate::device::DeviceChoice;
use crate::output::Format;
use crate::text::ColourChoice;

/// Parallax analyses the performance of parallel programs.
///
/// It reads profiles, traces and scaling measurements of many tools without loading them entirely
/// into memory, and shows hot spots, load imbalance, wait states, idle GPUs and limits of scaling.
/// It can also run, record and instrument programs.
#[derive(Debug, Parser)]
#[command(name = "parallax", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = EXIT_CODES, after_long_help = formats_and_exit_codes())]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct Frame {
    #[command(flatten)]
    common: Common,
}

/// What was typed.
#[derive(Debug)]
pub(crate) struct Cli {
    pub(crate) command: Command,
    pub(crate) common: Common,
    /// Whether the device was typed, and does not come from the environment.
    pub(crate) is_device_typed: bool,
}

impl Cli {
    /// The command line of this process. What is wrong with it is printed, and ends the process
    /// with 2, or with 0 for help.
    pub(crate) fn typed() -> Self {
        Self::of(std::env::args_os()).unwrap_or_else(|error| error.exit())
    }

    /// What `words` say, the name of the program first.
    ///
    /// Only the options of the command that was typed are set up: those of all commands take longer
    /// than many an answer. Whatever does not begin with the name of a command (help, options, a
    /// slip) has all of them.
    ///
    /// # Errors
    /// What is wrong with them, or the help that they ask for.
    pub(crate) fn of(words: impl IntoIterator<Item = OsString>) -> clap::error::Result<Self> {
        let words: Vec<OsString> = words.into_iter().collect();
        let name = words.get(1).and_then(|word| word.to_str());
        let alone = name.and_then(|name| Command::alone(Frame::command(), name));
        let mut set_up = alone.unwrap_or_else(Self::command);
        let words = match (name, set_up.find_subcommand("measure")) {
            (Some("measure"), Some(measure)) => match measure_plan::expanded(words, measure) {
                Ok(words) => words,
                Err(why) => return Err(set_up.error(ErrorKind::ValueValidation, why)),
            },
            _ => words,
        };
        let matches = set_up.try_get_matches_from_mut(words)?;
        let read = || {
            let command = Command::from_arg_matches(&matches)?;
            let common = Common::from_arg_matches(&matches)?;
            let is_device_typed = matches.value_source("device") == Some(ValueSource::CommandLine);
            Ok(Self { command, common, is_device_typed })
        };
        read().map_err(|error: clap::Error| error.format(&mut set_up))
    }

    /// All commands with all options.
    pub(crate) fn command() -> clap::Command {
        Command::augment_subcommands(Frame::command())
    }
}

const EXIT_CODES: &str = "Exit status: 0 success; 1 the data cannot be read or does not contain the answer; \
                          2 invalid arguments, expressions or names; \
                          3 a condition of `compare --fail-if` holds.";

/// What follows the list of commands in the long help.
fn formats_and_exit_codes() -> String {
    format!("Formats:\n{}\n{EXIT_CODES}", parallax_service::formats_summary())
}

/// How results are shown.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Output format (default: by the file extension of --output, otherwise text).
    #[arg(long, value_enum, global = true, help_heading = "Output")]
    pub(crate) format: Option<Format>,
    /// Same as --format json.
    #[arg(long, global = true, conflicts_with = "format", help_heading = "Output")]
    pub(crate) json: bool,
    /// Write the result to this file, either completely or not at all.
    #[arg(long, short, global = true, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Show all rows in text output, instead of as many as fit.
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) all: bool,
    /// Maximum number of rows to show in text output.
    #[arg(long, global = true, value_name = "N", conflicts_with = "all", help_heading = "Output")]
    pub(crate) rows: Option<usize>,
    /// Sort rows by this column, in descending order, or in ascending order with COLUMN:asc;
    /// columns are named as in --json output.
    #[arg(long, global = true, value_name = "COLUMN", help_heading = "Output")]
    pub(crate) order_by: Option<String>,
    /// Maximum number of rows to output, in any format.
    #[arg(long, global = true, value_name = "N", help_heading = "Output")]
    pub(crate) top: Option<usize>,
    /// When to use colours.
    #[arg(long, value_enum, global = true, default_value = "auto", help_heading = "Output")]
    pub(crate) color: ColourChoice,
    /// Width of text output, in columns (default: the width of the terminal).
    #[arg(long, global = true, value_name = "COLUMNS", help_heading = "Output")]
    pub(crate) width: Option<usize>,
    /// Do not show progress.
    #[arg(long, short, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Device for `trace --by`, `sql` and statements of `open`: auto, cpu, gpu or gpu:N (see
    /// `parallax devices`); results do not depend on it.
    #[arg(long, global = true, value_name = "DEVICE", default_value = "auto")]
    #[arg(env = "PARALLAX_DEVICE", help_heading = "Device")]
    pub(crate) device: DeviceChoice,
}

/// A number of bytes, as a person writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl std::str::FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parallax_base::quantity::bytes_of(text).map(Self)
    }
}

/// The database.
#[derive(Debug, Args)]
pub(crate) struct Database {
    /// Profile, trace or recording: a file or folder (`parallax --help` lists the formats).
    #[arg(value_name = "DATABASE")]
    pub(crate) path: PathBuf,
}

/// Which part of a trace.
#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    #[command(flatten)]
    pub(crate) database: Database,
    /// Locations to include, such as 'rank(0-9).thread(0)'; ranges include their end.
    #[arg(long, short, value_name = "PROFILES")]
    pub(crate) profiles: Option<String>,
    /// Time window, such as '1.5s..2s' after the start, '10%..20%', or two timestamps in ns.
    #[arg(long, short, value_name = "WINDOW")]
    pub(crate) window: Option<String>,
}

impl PartArgs {
    /// The database, and the part as requests have it.
    pub(crate) fn parted(self) -> (Database, TracePart) {
        let Self { database, profiles, window } = self;
        (database, TracePart { profiles, window, ..TracePart::default() })
    }
}

/// Which metric, over which locations.
#[derive(Debug, Args)]
pub(crate) struct MetricArgs {
    /// Metric, such as 'realtime' (default: the most suitable time metric of the database). `tree`,
    /// `callers`, `flat`, `distribution` and `source` also accept a formula, such as '=$cycles /
    /// $instructions'.
    #[arg(long, short, value_name = "METRIC", help_heading = "Values")]
    pub(crate) metric: Option<String>,
    /// Locations to include, such as 'rank(0-9)'; ranges include their end.
    #[arg(long, short, value_name = "PROFILES", help_heading = "Values")]
    pub(crate) profiles: Option<String>,
}

/// Metric and source of the values.
#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    #[command(flatten)]
    pub(crate) metric: MetricArgs,
    /// Use time from the traces instead of a metric.
    #[arg(long, conflicts_with = "metric", help_heading = "Values")]
    pub(crate) trace: bool,
    /// Use time from this window of the traces, such as '10%..20%' or '1.5s..2s'.
    #[arg(long, value_name = "WINDOW", conflicts_with = "metric", help_heading = "Values")]
    pub(crate) window: Option<String>,
    /// Include helper threads, which MPI, network libraries or the measurement tool start for their
    /// own use.
    #[arg(long, help_heading = "Values")]
    pub(crate) helpers: bool,
}

impl CostArgs {
    pub(crate) fn choice(self) -> CostChoice {
        CostChoice {
            metric: self.metric.metric,
            profiles: self.metric.profiles,
            is_trace: self.trace,
            window: self.window,
            helpers: self.helpers,
        }
    }
}

/// Contexts to exclude.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Comma-separated list of contexts to exclude: mpi (everything below MPI calls), openmp
    /// (runtime functions), lines (loops, lines and instructions), or a percentage (contexts below
    /// this share of the total).
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help_heading = "Pruning")]
    pub(crate) prune: Vec<Prune>,
    /// Hide matching functions; their callees are attached to their callers.
    #[arg(long, value_name = "GLOB", help_heading = "Pruning")]
    pub(crate) hide: Vec<String>,
    /// Hide everything below matching functions.
    #[arg(long, value_name = "GLOB", help_heading = "Pruning")]
    pub(crate) fold: Vec<String>,
    /// Hide matching functions and everything below them.
    #[arg(long, value_name = "GLOB", help_heading = "Pruning")]
    pub(crate) cut: Vec<String>,
}

/// One thing to exclude.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Prune {
    Mpi,
    Openmp,
    Lines,
    BelowPercent(f64),
}

impl std::str::FromStr for Prune {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "mpi" => Ok(Self::Mpi),
            "openmp" => Ok(Self::Openmp),
            "lines" => Ok(Self::Lines),
            other => other
                .strip_suffix('%')
                .and_then(|number| number.trim().parse().ok())
                .filter(|percent| (0.0..=100.0).contains(percent))
                .map(Self::BelowPercent)
                .ok_or_else(|| {
                    format!("{other} is not mpi, openmp, lines, or a percentage such as 1%")
                }),
        }
    }
}

impl PruneArgs {
    pub(crate) fn choice(self) -> PruneChoice {
        let has = |what: Prune| self.prune.contains(&what);
        PruneChoice {
            mpi: has(Prune::Mpi),
            openmp: has(Prune::Openmp),
            lines: has(Prune::Lines),
            below_percent: self.prune.iter().find_map(|what| match what {
                Prune::BelowPercent(percent) => Some(*percent),
                _ => None,
            }),
            hide: self.hide,
            fold: self.fold,
            cut: self.cut,
        }
    }
}

/// A duration with its unit, in nanoseconds.
pub(crate) fn nanoseconds(text: &str) -> Result<u64, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let scale = match unit.trim() {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err("expected a number with a unit (ns, us, ms or s), such as 2ms".into()),
    };
    match number.trim().parse::<f64>() {
        // A cast of a float saturates.
        Ok(number) if number >= 0.0 => Ok((number * scale).round() as u64),
        _ => Err("expected a non-negative number, such as 2ms".into()),
    }
}

/// A time on the command line, in seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds, such as 30".to_owned()),
    }
}
