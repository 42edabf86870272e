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
/// Opens what measurement tools wrote without loading it as a whole, and answers questions about it:
/// what is slow, where, on which ranks, and what waits for whom.
#[derive(Debug, Parser)]
#[command(name = "parallax", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = EXIT_CODES, after_long_help = formats_and_exit_codes())]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

const EXIT_CODES: &str = "Exit codes: 0 answered; 1 the data cannot be read or answer the question; \
                          2 the question is wrong (arguments, expressions, unknown names); \
                          3 a condition of `compare --fail-if` holds.";

/// What follows the list of commands in the long help.
fn formats_and_exit_codes() -> String {
    format!("Formats:\n{}\n{EXIT_CODES}", parallax_service::formats_summary())
}

/// How answers are shown.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// How to print the answer.
    #[arg(long, value_enum, global = true, help_heading = "Output")]
    pub(crate) format: Option<Format>,
    /// The same as `--format json`.
    #[arg(long, global = true, conflicts_with = "format", help_heading = "Output")]
    pub(crate) json: bool,
    /// Write the answer to this file; it appears complete or not at all.
    #[arg(long, short, global = true, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Show all rows, not only as many as fit.
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) all: bool,
    /// Show at most this many rows.
    #[arg(long, global = true, value_name = "N", conflicts_with = "all", help_heading = "Output")]
    pub(crate) rows: Option<usize>,
    /// Order the rows of any answer by one of its columns, the largest first: COLUMN, or
    /// COLUMN:asc; the names are those of --json.
    #[arg(long, global = true, value_name = "COLUMN", help_heading = "Output")]
    pub(crate) order_by: Option<String>,
    /// Give at most this many rows, in every format.
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
    /// Where cost arises: the calling context tree from the top, most expensive first.
    Tree {
        #[command(flatten)]
        database: Database,
        /// Begin at the contexts of this expression, such as 'function(solve)'.
        #[arg(long, value_name = "CONTEXTS")]
        from: Option<String>,
        /// Deepest level to show.
        #[arg(long, short)]
        depth: Option<u32>,
        /// Share of its parent's cost, in per cent, that a child on the hot path bears.
        #[arg(long, value_name = "PERCENT", default_value_t = 50.0)]
        hot: f64,
        #[command(flatten)]
        cost: CostArgs,
        #[command(flatten)]
        prune: PruneArgs,
    },
    /// Who calls what is expensive: functions by their own cost, with their callers.
    Callers {
        #[command(flatten)]
        database: Database,
        /// Only the contexts of this expression, such as 'function(solve)', and what they call.
        #[arg(long, value_name = "CONTEXTS")]
        from: Option<String>,
        /// Only functions whose name matches this glob, such as 'MPI_*'.
        #[arg(long, value_name = "GLOB")]
        function: Option<String>,
        /// Number of callers in a chain at most.
        #[arg(long, short)]
        depth: Option<u32>,
        #[command(flatten)]
        cost: CostArgs,
        #[command(flatten)]
        prune: PruneArgs,
    },
    /// What is expensive wherever it is called from: a flat profile.
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
        /// Ids only: leave out readable names.
        #[arg(long)]
        raw: bool,
        /// Also values of contexts that the database keeps but the tree lacks.
        #[arg(long)]
        with_elided: bool,
        #[command(flatten)]
        prune: PruneArgs,
    },
    /// Samples in time: which context was active when.
    Trace {
        #[command(flatten)]
        part: PartArgs,
        /// Ids only: leave out readable names.
        #[arg(long)]
        raw: bool,
    },
    /// Time and calls in a window of a trace, by function, group or call path.
    Stats {
        #[command(flatten)]
        part: PartArgs,
        /// What the rows are.
        #[arg(long, value_parser = names::<StatsBy>(), default_value_t)]
        by: StatsBy,
    },
    /// Messages of a trace: who sends how much to whom, and how long it takes.
    #[command(mut_arg("profiles", |arg| arg.help(
        "Locations that send or receive, such as 'rank(0-9)'. Ranges include their end"
    )))]
    Messages {
        #[command(flatten)]
        part: PartArgs,
        /// What the rows are.
        #[arg(long, value_parser = names::<MessagesBy>(), default_value_t)]
        by: MessagesBy,
        /// Flows (causes and effects, such as starting a kernel and the kernel) instead.
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
        /// Name of functions: 'MPI_Recv', 'MPI_*' or '/regular expression/'; all without it.
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// They take at least so long, such as 2ms or 1.5s.
        #[arg(long, value_name = "TIME", value_parser = nanoseconds)]
        longer_than: Option<u64>,
        /// They take at most so long, such as 2ms or 1.5s.
        #[arg(long, value_name = "TIME", value_parser = nanoseconds)]
        shorter_than: Option<u64>,
        /// In order of time, instead of the longest first.
        #[arg(long)]
        first: bool,
        /// How many take how long, instead of calls one by one.
        #[arg(long, conflicts_with = "first")]
        histogram: bool,
        /// Calls at most; a note says how many there are.
        #[arg(long, value_name = "N", default_value_t = FindRequest::default().max_rows)]
        limit: u32,
    },
    /// Who reads and writes which variable or allocation; of several contexts, what they share.
    References(crate::commands::ReferencesArgs),
    /// Loops by call path: how often they are entered, their iterations, and their time.
    Loops {
        #[command(flatten)]
        database: Database,
    },
    /// What could run in parallel: loops, calls side by side, what forbids it, and what it brings.
    ///
    /// Needs every call, iteration and access: a recording of parallax.h, or a database of Parceive.
    Advise(crate::commands::AdviseArgs),
    /// Who waits for whom in a trace: late senders and receivers, barriers, collectives, GPUs.
    Waits(crate::commands::WaitsArgs),
    /// What the run time consists of, if nobody's waiting is counted: the critical path.
    CriticalPath(crate::commands::CriticalPathArgs),
    /// How a trace changes over time: time by function, idle time, imbalance, lateness, overlap.
    OverTime(crate::commands::OverTimeArgs),
    /// Repeated phases of a trace, how evenly each is spread, and what balancing them saves.
    Iterations(crate::commands::IterationsArgs),
    /// Convert traces into an archive, which opens at once and answers any window exactly.
    ///
    /// Traces are converted by themselves when they are opened, and kept in the cache; this keeps
    /// an archive where you want it. The traces of coupled programs become one archive, on one
    /// clock.
    Convert(ConvertArgs),
    /// What is wrong first, where, and what it would bring: all analyses on one page.
    ///
    /// Findings of costs, balance, iterations, groups of ranks and their racks, GPUs, waits and the
    /// critical path (of traces of events), and of a comparison with --against, the most important
    /// first, each with the command that shows more. Of several runs together, the report is their
    /// scaling.
    Report(crate::commands::ReportArgs),
    /// Which locations cost alike: groups of ranks or nodes, and what separates them.
    Cluster(crate::commands::ClusterArgs),
    /// Where nodes stand: racks, chassis, switches, and whether slow ones stand together.
    Topology(crate::commands::TopologyArgs),
    /// How evenly contexts cost over locations, and which locations are slow.
    Balance(BalanceArgs),
    /// What one context costs at every location, rank or node.
    Distribution(DistributionArgs),
    /// What a program reported one value at a time, such as sizes of messages: TAU's user events.
    UserEvents(crate::commands::UserEventsArgs),
    /// The lines of a source file with what they cost.
    Source {
        #[command(flatten)]
        database: Database,
        /// Path of the file, or the end of it, such as 'solver.c'.
        #[arg(value_name = "FILE")]
        file: String,
        #[command(flatten)]
        cost: CostArgs,
    },
    /// Who does nothing: idle GPUs, idle threads, waiting.
    Idleness {
        #[command(flatten)]
        database: Database,
        /// Where the times of threads come from.
        #[arg(long, value_parser = names::<IdlenessSource>(), default_value_t)]
        source: IdlenessSource,
        /// The metric of time for answers from profiles.
        #[arg(long, short, value_name = "METRIC")]
        metric: Option<String>,
        /// What threads did while the GPUs of their rank had nothing to do, from traces.
        #[arg(long, conflicts_with_all = ["source", "metric"])]
        blame: bool,
    },
    /// Why a program stops scaling, and where: maps, losses and a verdict for every region.
    Scaling(crate::scaling::ScalingArgs),
    /// How time grows with the parameters: models found by the method of Extra-P.
    Model(crate::scaling::ModelArgs),
    /// What changed between versions of a program, where, and whether that is more than noise.
    Compare(crate::scaling::CompareArgs),
    /// Which costs rise and fall together over locations, and with rank, thread or node.
    Correlate(crate::commands::CorrelateArgs),
    /// Several PaScal files as one; the result goes to stdout or to --output.
    Merge(crate::scaling::MergeArgs),
    /// Show databases and measurements in the browser: serves them to this machine until Ctrl+C.
    Open(OpenArgs),
    /// One self-contained web page with the data inside, to be sent or kept.
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
    /// Profiles, traces, recordings, files of measurements, or folders of them. Several are also
    /// offered together, as the runs of an ensemble.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Port to listen on; without it any that is free.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Name or address to listen on; without it only this machine can reach the server.
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
    /// Databases, files of measurements, or folders of either. Several become an ensemble.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// The web page to write; it appears complete or not at all.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: PathBuf,
    /// What the page calls the data; without it the name of the path.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Leave traces out, which are most of many databases.
    #[arg(long)]
    pub(crate) no_trace: bool,
    /// Most data that the page may hold, such as 500MB or 1.5GB.
    #[arg(long, value_name = "SIZE", default_value = "200MB")]
    pub(crate) max_size: Size,
}

/// A number of bytes, as a person writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

impl std::str::FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is no size; write it like 200MB or 1.5GB");
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

/// What `balance` compares.
#[derive(Debug, Args)]
pub(crate) struct BalanceArgs {
    #[command(flatten)]
    pub(crate) database: Database,
    /// Which contexts; without it functions that cost at least 1 % are compared.
    #[arg(long, short, value_name = "CONTEXTS")]
    pub(crate) contexts: Option<String>,
    /// Count the cost of contexts without what they call.
    #[arg(long, short)]
    pub(crate) exclusive: bool,
    /// Compare sums over the locations of one rank or node instead of single profiles.
    #[arg(long, value_parser = names::<BalanceBy>(), default_value_t)]
    pub(crate) per: BalanceBy,
    /// Compare single contexts instead of functions.
    #[arg(long)]
    pub(crate) by_context: bool,
    /// Number of slowest locations to name.
    #[arg(long, default_value_t = BalanceRequest::default().slowest)]
    pub(crate) slowest: u32,
    /// Only locations with a stored value count, not those that spent no time there.
    #[arg(long)]
    pub(crate) stored_only: bool,
    #[command(flatten)]
    pub(crate) cost: MetricArgs,
}

/// What `distribution` shows.
#[derive(Debug, Args)]
pub(crate) struct DistributionArgs {
    #[command(flatten)]
    pub(crate) database: Database,
    /// Id of the context in the database, or an expression such as 'function(solve)'; of several
    /// contexts the most expensive one is shown.
    #[arg(long, short, value_name = "CONTEXT")]
    pub(crate) context: String,
    /// Count the cost of the context without what it calls.
    #[arg(long, short)]
    pub(crate) exclusive: bool,
    /// Compare sums over the locations of one rank or node instead of single profiles.
    #[arg(long, value_parser = names::<BalanceBy>(), default_value_t)]
    pub(crate) per: BalanceBy,
    #[command(flatten)]
    pub(crate) cost: MetricArgs,
}

const QUERY_HELP: &str = "\
Examples:
  parallax query DB -p summary -m 'time:sum (i)'              totals over all ranks
  parallax query DB -p 'rank(0-9)' -c 'function(MPI_*)'       MPI calls of ten ranks
  parallax query DB -c 'function(*)[time (i) > 5%]'           what costs more than 5 %
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
    /// What counts as cost, such as 'realtime'; without it the metric that says most about time.
    /// For `tree`, `callers`, `flat`, `distribution` and `source` also a formula, such as
    /// '=$cycles / $instructions'.
    #[arg(long, short, value_name = "METRIC", help_heading = "Cost")]
    pub(crate) metric: Option<String>,
    /// Over which locations, such as 'rank(0-9)'; ranges include their end.
    #[arg(long, short, value_name = "PROFILES", help_heading = "Cost")]
    pub(crate) profiles: Option<String>,
}

/// What counts as cost.
#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    #[command(flatten)]
    pub(crate) metric: MetricArgs,
    /// Count time in the traces instead of a metric.
    #[arg(long, conflicts_with = "metric", help_heading = "Cost")]
    pub(crate) trace: bool,
    /// Count time in this window of the traces, such as '10%..20%' or '1.5s..2s'.
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

/// What is left out.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Leave out, as a list: mpi (below MPI calls), openmp (runtime functions), lines (loops,
    /// lines, instructions), or a number with % (what costs less).
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help_heading = "Pruning")]
    pub(crate) prune: Vec<Prune>,
    /// Hide functions that match; what they call moves up.
    #[arg(long, value_name = "GLOB", help_heading = "Pruning")]
    pub(crate) hide: Vec<String>,
    /// Hide everything below functions that match.
    #[arg(long, value_name = "GLOB", help_heading = "Pruning")]
    pub(crate) fold: Vec<String>,
    /// Hide functions that match with everything below.
    #[arg(long, value_name = "GLOB", help_heading = "Pruning")]
    pub(crate) cut: Vec<String>,
}

/// One thing to leave out.
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
                    format!("{other} is none of mpi, openmp, lines, or a share like 1%")
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
