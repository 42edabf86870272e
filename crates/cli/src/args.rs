//! What can be typed: the command line as data.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use parallax_protocol::{
    BalanceBy, BalanceRequest, CostChoice, FindRequest, FlatBy, IdlenessSource, MessagesBy,
    PruneChoice, StatsBy, TracePart,
};

use crate::choice::names;
use crate::commands::ConvertArgs;
use crate::output::Format;
use crate::text::ColourChoice;

/// Performance analysis of parallel programs.
///
/// Opens profiles and traces of measurement tools without loading them as a whole, and answers
/// questions about them: hot spots, load imbalance, wait states, scaling.
#[derive(Debug, Parser)]
#[command(name = "parallax", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = EXIT_CODES, after_long_help = formats_and_exit_codes())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

const EXIT_CODES: &str = "Exit codes: 0 success; 1 the data cannot be read or does not answer the question; \
                          2 the question is wrong (arguments, expressions, unknown names); \
                          3 a condition of `compare --fail-if` holds.";

/// What follows the list of commands in the long help.
fn formats_and_exit_codes() -> String {
    format!("Formats:\n{}\n{EXIT_CODES}", parallax_service::formats_summary())
}

/// How results are shown.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Output format.
    #[arg(long, value_enum, global = true, help_heading = "Output")]
    pub(crate) format: Option<Format>,
    /// The same as `--format json`.
    #[arg(long, global = true, conflicts_with = "format", help_heading = "Output")]
    pub(crate) json: bool,
    /// Write the result to this file; it appears complete or not at all.
    #[arg(long, short, global = true, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Show all rows, not only as many as fit.
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) all: bool,
    /// Show at most this many rows.
    #[arg(long, global = true, value_name = "N", conflicts_with = "all", help_heading = "Output")]
    pub(crate) rows: Option<usize>,
    /// Sort the rows of any result by one of its columns, in descending order: COLUMN, or
    /// COLUMN:asc; the names are those of --json.
    #[arg(long, global = true, value_name = "COLUMN", help_heading = "Output")]
    pub(crate) order_by: Option<String>,
    /// Keep at most this many rows, in every format.
    #[arg(long, global = true, value_name = "N", help_heading = "Output")]
    pub(crate) top: Option<usize>,
    /// When to use colours; NO_COLOR is respected.
    #[arg(long, value_enum, global = true, default_value = "auto", help_heading = "Output")]
    pub(crate) color: ColourChoice,
    /// Fit text to this many columns instead of the terminal's.
    #[arg(long, global = true, value_name = "COLUMNS", help_heading = "Output")]
    pub(crate) width: Option<usize>,
    /// Do not show progress.
    #[arg(long, short, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What a database holds: program, locations, metrics, traces, issues.
    Info {
        #[command(flatten)]
        database: Database,
    },
    /// Top-down view: the calling context tree, largest inclusive value first.
    Tree {
        #[command(flatten)]
        database: Database,
        /// Begin at the contexts of this expression, such as 'function(solve)'.
        #[arg(long, value_name = "CONTEXTS")]
        from: Option<String>,
        /// Deepest level to show.
        #[arg(long, short)]
        depth: Option<u32>,
        /// Hot path: least share of its parent's inclusive value that a child has, in per cent.
        #[arg(long, value_name = "PERCENT", default_value_t = 50.0)]
        hot: f64,
        #[command(flatten)]
        cost: CostArgs,
        #[command(flatten)]
        prune: PruneArgs,
    },
    /// Bottom-up view: functions by exclusive value, with their callers.
    Callers {
        #[command(flatten)]
        database: Database,
        /// Only the contexts of this expression, such as 'function(solve)', and what they call.
        #[arg(long, value_name = "CONTEXTS")]
        from: Option<String>,
        /// Only functions whose name matches this glob, such as 'MPI_*'.
        #[arg(long, value_name = "GLOB")]
        function: Option<String>,
        /// Maximum depth of a chain of callers.
        #[arg(long, short)]
        depth: Option<u32>,
        #[command(flatten)]
        cost: CostArgs,
        #[command(flatten)]
        prune: PruneArgs,
    },
    /// Flat view: functions, files, modules, loops or lines, regardless of the caller.
    Flat {
        #[command(flatten)]
        database: Database,
        /// Only the contexts of this expression, such as 'function(solve)', and what they call.
        #[arg(long, value_name = "CONTEXTS")]
        from: Option<String>,
        /// What to group by.
        #[arg(long, value_parser = names::<FlatBy>(), default_value_t)]
        by: FlatBy,
        #[command(flatten)]
        cost: CostArgs,
        #[command(flatten)]
        prune: PruneArgs,
    },
    /// Values by expressions: any profiles, contexts and metrics, as stored.
    #[command(after_help = QUERY_HELP)]
    Query {
        #[command(flatten)]
        database: Database,
        /// Which profiles, such as 'rank(0-9).thread(0)'. Ranges include their end.
        #[arg(long, short, value_name = "PROFILES")]
        profiles: Option<String>,
        /// Which contexts, such as 'function(main).function(MPI_*)'.
        #[arg(long, short, value_name = "CONTEXTS")]
        contexts: Option<String>,
        /// Which metrics, such as 'cputime:prop (i,e)'.
        #[arg(long, short, value_name = "METRICS")]
        metrics: Option<String>,
        /// Ids only, without readable names.
        #[arg(long)]
        raw: bool,
        /// Also values of contexts that the database stores but the tree lacks.
        #[arg(long)]
        with_elided: bool,
        #[command(flatten)]
        prune: PruneArgs,
    },
    /// Trace samples: which context was active when.
    Trace {
        #[command(flatten)]
        part: PartArgs,
        /// Ids only, without readable names.
        #[arg(long)]
        raw: bool,
    },
    /// Time and calls in a window of a trace, by function, group or call path.
    Stats {
        #[command(flatten)]
        part: PartArgs,
        /// Rows of the table.
        #[arg(long, value_parser = names::<StatsBy>(), default_value_t)]
        by: StatsBy,
    },
    /// Messages of a trace: number, bytes and transfer time by sender and receiver.
    #[command(mut_arg("profiles", |arg| arg.help(
        "Locations that send or receive, such as 'rank(0-9)'. Ranges include their end"
    )))]
    Messages {
        #[command(flatten)]
        part: PartArgs,
        /// Rows of the table.
        #[arg(long, value_parser = names::<MessagesBy>(), default_value_t)]
        by: MessagesBy,
        /// Flows instead of messages, such as from a kernel launch to the kernel.
        #[arg(long)]
        flows: bool,
    },
    /// Calls of a trace by name and duration: the longest ones, or the first.
    #[command(mut_arg("window", |arg| arg.help(
        "Time window in which they begin, such as '1.5s..2s' or '10%..20%'"
    )))]
    Find {
        #[command(flatten)]
        part: PartArgs,
        /// Function name: 'MPI_Recv', 'MPI_*' or '/regular expression/'; default: all.
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Minimum duration, such as 2ms or 1.5s.
        #[arg(long, value_name = "TIME", value_parser = nanoseconds)]
        longer_than: Option<u64>,
        /// Maximum duration, such as 2ms or 1.5s.
        #[arg(long, value_name = "TIME", value_parser = nanoseconds)]
        shorter_than: Option<u64>,
        /// Sort by start time instead of duration.
        #[arg(long)]
        first: bool,
        /// Histogram of durations instead of individual calls.
        #[arg(long, conflicts_with = "first")]
        histogram: bool,
        /// Maximum number of calls; a note says how many match.
        #[arg(long, value_name = "N", default_value_t = FindRequest::default().max_rows)]
        limit: u32,
    },
    /// Variables and allocations with their reads and writes; of several contexts, the shared ones.
    References(crate::commands::ReferencesArgs),
    /// Loops by call path: executions, iterations and time.
    Loops {
        #[command(flatten)]
        database: Database,
    },
    /// Potential parallelism: loops and concurrent calls, dependences, and possible saving.
    ///
    /// Needs every call, iteration and access: a recording of parallax.h, or a database of Parceive.
    Advise(crate::commands::AdviseArgs),
    /// Wait states of a trace: late sender, late receiver, collectives, late GPU launches.
    Waits(crate::commands::WaitsArgs),
    /// Critical path of a trace: the activities that determine the run time, excluding wait time.
    CriticalPath(crate::commands::CriticalPathArgs),
    /// Metrics of a trace over time: time profile, idle time, imbalance, lateness, overlap.
    OverTime(crate::commands::OverTimeArgs),
    /// Iterations of a trace: detection, load balance, and potential saving.
    Iterations(crate::commands::IterationsArgs),
    /// Convert traces into an archive, which opens at once and gives exact values for any window.
    ///
    /// Traces are converted automatically when opened, and kept in the cache; this writes
    /// an archive to a given place. The traces of coupled programs become one archive, on one
    /// clock.
    Convert(ConvertArgs),
    /// Top findings of all analyses, with location and potential saving.
    ///
    /// Findings on hot spots, load balance, iterations, clusters of ranks, GPUs, wait states and the
    /// critical path (of event traces), and on a comparison with --against, the most important
    /// first, each with the command for details. For several runs the report is their
    /// scaling.
    Report(crate::commands::ReportArgs),
    /// Clusters of ranks or nodes with similar behaviour, and what separates them.
    Cluster(crate::commands::ClusterArgs),
    /// Nodes in racks, chassis and switch groups, and whether slow nodes are concentrated.
    Topology(crate::commands::TopologyArgs),
    /// Load balance of contexts over locations, and the slowest locations.
    Balance(BalanceArgs),
    /// Distribution of one context over locations, ranks or nodes.
    Distribution(DistributionArgs),
    /// User events (TAU's atomic events), such as message sizes.
    UserEvents(crate::commands::UserEventsArgs),
    /// Source lines of a file with their metric values.
    Source {
        #[command(flatten)]
        database: Database,
        /// Path of the file, or the end of it, such as 'solver.c'.
        #[arg(value_name = "FILE")]
        file: String,
        #[command(flatten)]
        cost: CostArgs,
    },
    /// Idle time of GPUs and threads.
    Idleness {
        #[command(flatten)]
        database: Database,
        /// Source of the times of threads.
        #[arg(long, value_parser = names::<IdlenessSource>(), default_value_t)]
        source: IdlenessSource,
        /// The metric of time for results from profiles.
        #[arg(long, short, value_name = "METRIC")]
        metric: Option<String>,
        /// Blame shifting: what threads did while the GPUs of their rank were idle, from traces.
        #[arg(long, conflicts_with_all = ["source", "metric"])]
        blame: bool,
    },
    /// Scalability analysis: efficiency maps, parallel overhead and a verdict for every region.
    Scaling(crate::scaling::ScalingArgs),
    /// Performance models of time over the parameters, by the method of Extra-P.
    Model(crate::scaling::ModelArgs),
    /// Differences between versions of a program, by context, with significance tests.
    Compare(crate::scaling::CompareArgs),
    /// Correlations of metrics and functions over locations, and with rank, thread or node.
    Correlate(crate::commands::CorrelateArgs),
    /// Merge PaScal files into one; the result goes to stdout or to --output.
    Merge(crate::scaling::MergeArgs),
    /// Run a program over cores, inputs and repetitions, and show where it stops scaling.
    ///
    /// Each run is timed from start to exit. The file is written after every run, in the format of
    /// PaScal Analyzer, so a sweep that was interrupted goes on with --resume. Runs that fail are
    /// marked and not averaged.
    Measure(Box<crate::commands::MeasureArgs>),
    /// Open databases and measurements in the browser: serves them to this machine until Ctrl+C.
    Open(OpenArgs),
    /// Write one self-contained web page with the data inside.
    Export(ExportArgs),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// What `open` serves, and how.
#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// Profiles, traces, recordings, measurement files, or folders of them. Several are also
    /// offered together, as one ensemble of runs.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Port to listen on; default: any free one.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Name or address to listen on; default: reachable from this machine only.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", hide_default_value = true)]
    pub(crate) bind: String,
    /// Print the address only.
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Take the token from this file, or put a new one there, so that the address stays the same.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Print every request.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// What `export` writes.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Databases, measurement files, or folders of either. Several become an ensemble.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The web page to write; it appears complete or not at all.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: PathBuf,
    /// Title of the data in the page; default: the name of the path.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Exclude traces, which are most of the size of many databases.
    #[arg(long)]
    pub(crate) no_trace: bool,
    /// Maximum size of the data in the page, such as 500MB or 1.5GB.
    #[arg(long, value_name = "SIZE", default_value = "200MB")]
    pub(crate) max_size: Size,
}

/// A number of bytes, as a person writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl std::str::FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is not a size; write it as 200MB or 1.5GB");
        let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
        let (number, unit) = text.split_at(unit_at);
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        let unit = match unit.trim().to_ascii_lowercase().as_str() {
            "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "kib" => 1024.0,
            "mib" => 1024.0 * 1024.0,
            "gib" => 1024.0 * 1024.0 * 1024.0,
            _ => return Err(wrong()),
        };
        let bytes = number * unit;
        if !(0.0..1e18).contains(&bytes) {
            return Err(wrong());
        }
        Ok(Self(bytes as u64))
    }
}

/// Options of `balance`.
#[derive(Debug, Args)]
pub(crate) struct BalanceArgs {
    #[command(flatten)]
    pub(crate) database: Database,
    /// Contexts to compare; default: functions with at least 1 % of the total.
    #[arg(long, short, value_name = "CONTEXTS")]
    pub(crate) contexts: Option<String>,
    /// Exclusive values of contexts instead of inclusive ones.
    #[arg(long, short)]
    pub(crate) exclusive: bool,
    /// Compare sums over the locations of each rank or node instead of individual locations.
    #[arg(long, value_parser = names::<BalanceBy>(), default_value_t)]
    pub(crate) per: BalanceBy,
    /// Compare single contexts instead of functions.
    #[arg(long)]
    pub(crate) by_context: bool,
    /// Number of slowest locations to name.
    #[arg(long, default_value_t = BalanceRequest::default().slowest)]
    pub(crate) slowest: u32,
    /// Include only locations with a stored value, not those without time there.
    #[arg(long)]
    pub(crate) stored_only: bool,
    #[command(flatten)]
    pub(crate) cost: MetricArgs,
}

/// Options of `distribution`.
#[derive(Debug, Args)]
pub(crate) struct DistributionArgs {
    #[command(flatten)]
    pub(crate) database: Database,
    /// Id of the context in the database, or an expression such as 'function(solve)'; of several
    /// contexts the one with the largest value is shown.
    #[arg(long, short, value_name = "CONTEXT")]
    pub(crate) context: String,
    /// Exclusive value of the context instead of the inclusive one.
    #[arg(long, short)]
    pub(crate) exclusive: bool,
    /// Compare sums over the locations of each rank or node instead of individual locations.
    #[arg(long, value_parser = names::<BalanceBy>(), default_value_t)]
    pub(crate) per: BalanceBy,
    #[command(flatten)]
    pub(crate) cost: MetricArgs,
}

const QUERY_HELP: &str = "\
Examples:
  parallax query DB -p summary -m 'time:sum (i)'              totals over all ranks
  parallax query DB -p 'rank(0-9)' -c 'function(MPI_*)'       MPI calls of ten ranks
  parallax query DB -c 'function(*)[time (i) > 5%]'           contexts above 5 %
  parallax query DB -c 'function(main) > function(*)' --raw --format csv

Ranges include their end: rank(0-9) is ten ranks. The language: docs/query-language.md.";

/// The database.
#[derive(Debug, Args)]
pub(crate) struct Database {
    /// A profile, trace or recording: a file, or the folder of one (`parallax --help` lists the formats).
    #[arg(value_name = "DATABASE")]
    pub(crate) path: PathBuf,
}

/// Which part of a trace.
#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    #[command(flatten)]
    pub(crate) database: Database,
    /// Which locations, such as 'rank(0-9).thread(0)'. Ranges include their end.
    #[arg(long, short, value_name = "PROFILES")]
    pub(crate) profiles: Option<String>,
    /// Time window, such as '1.5s..2s' after the start, '10%..20%' or two time stamps in ns.
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
    /// Metric, such as 'realtime'; default: the metric that says most about time.
    /// For `tree`, `callers`, `flat`, `distribution` and `source` also a formula, such as
    /// '=$cycles / $instructions'.
    #[arg(long, short, value_name = "METRIC", help_heading = "Cost")]
    pub(crate) metric: Option<String>,
    /// Over which locations, such as 'rank(0-9)'; ranges include their end.
    #[arg(long, short, value_name = "PROFILES", help_heading = "Cost")]
    pub(crate) profiles: Option<String>,
}

/// Metric and source of the values.
#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    #[command(flatten)]
    pub(crate) metric: MetricArgs,
    /// Time in the traces instead of a metric.
    #[arg(long, conflicts_with = "metric", help_heading = "Cost")]
    pub(crate) trace: bool,
    /// Time in this window of the traces, such as '10%..20%' or '1.5s..2s'.
    #[arg(long, value_name = "WINDOW", conflicts_with = "metric", help_heading = "Cost")]
    pub(crate) window: Option<String>,
}

impl CostArgs {
    pub(crate) fn choice(self) -> CostChoice {
        CostChoice {
            metric: self.metric.metric,
            profiles: self.metric.profiles,
            is_trace: self.trace,
            window: self.window,
        }
    }
}

/// Contexts to exclude.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Exclude, as a list: mpi (below MPI calls), openmp (runtime functions), lines (loops,
    /// lines, instructions), or a percentage (contexts below it).
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help_heading = "Pruning")]
    pub(crate) prune: Vec<Prune>,
    /// Hide functions that match; their callees move up.
    #[arg(long, value_name = "GLOB", help_heading = "Pruning")]
    pub(crate) hide: Vec<String>,
    /// Hide everything below functions that match.
    #[arg(long, value_name = "GLOB", help_heading = "Pruning")]
    pub(crate) fold: Vec<String>,
    /// Hide functions that match with everything below.
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
                    format!("{other} is none of mpi, openmp, lines, or a percentage such as 1%")
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
fn nanoseconds(text: &str) -> Result<u64, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let scale = match unit.trim() {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err("write a number with its unit: ns, us, ms or s, such as 2ms".into()),
    };
    match number.trim().parse::<f64>() {
        // A cast of a float saturates.
        Ok(number) if number >= 0.0 => Ok((number * scale).round() as u64),
        _ => Err("write a number that is not negative, such as 2ms".into()),
    }
}
