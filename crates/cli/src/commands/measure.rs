//! `measure`: runs a program over cores and inputs, and shows its maps.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use clap::{Args, Parser, ValueEnum};
use parallax_base::quantity::counted;
use parallax_service::{DataContent, OpenLimits, open_data};
use parallax_sweep::{
    Automatic, Binding, Choices, Controller, FirstIterations, IterationRegion, Job, Order, PRESETS,
    Plan, ProgramOutput, Repetitions, SAMPLE_PERIOD, Slurm, Stop, Summary, SweepError, TEMPORARY,
    Tool, core_counts, dry_run, frequencies, launch, line, quoted, split, sweep,
};

use super::Context;
use super::live::{Live, LiveArgs};
use super::measure_progress::{Progress, named};
use crate::output::Output;
use crate::scaling::ScalingArgs;
use crate::text::{Level, Notice, printable};

const EXAMPLES: &str = "\
Examples:
  parallax measure --cores 1,2,4 --input 1000 --input 2000 --reps 3 \\
      -o sweep.json -- ./solver
  parallax measure -c 1:64:*2 -i '-n 64 -t __nt__' --bind close -- ./solver
  parallax measure -c 1:32 --rel-ci 2 --timeout 10min -- ./solver input.dat
  parallax measure -c 1,2,4,8 --mpi 'mpirun -n {p}' -o sweep.json -- ./solver
  parallax measure --resume ... -o sweep.json -- ./solver

The file has the format of PaScal Analyzer. `parallax scaling FILE` shows its maps again, \
`parallax open FILE` shows them in the browser. See docs/sweep.md for details.";

/// What is measured, and how.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(override_usage = "parallax measure [OPTIONS] --cores <LIST> -- <PROGRAM> [ARGUMENTS]...")]
pub(crate) struct MeasureArgs {
    /// Comma-separated list of core counts (1,2,4) and ranges that include both ends (1:8), with an
    /// optional step (1:64:*2, 4:32:+4). A run on p cores has p threads, or p ranks with --mpi.
    #[arg(long, short, value_name = "LIST", required = true, help_heading = "Sweep")]
    cores: String,
    /// TOML file with the options of a sweep: `reps = 3` stands for --reps 3, and `program` for the
    /// program. Options and the program on the command line take precedence.
    #[arg(long, value_name = "FILE", help_heading = "Sweep")]
    plan: Option<PathBuf>,
    /// One input: arguments to append to those of the program, with quotes as in a shell. Can be
    /// repeated; without inputs, the core count is the only parameter.
    #[arg(
        long,
        short,
        value_name = "ARGUMENTS",
        allow_hyphen_values = true,
        help_heading = "Sweep"
    )]
    input: Vec<String>,
    /// Comma-separated list of inputs, as in PaScal Analyzer.
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, help_heading = "Sweep")]
    inputs: Option<String>,
    /// File with one input per line; empty lines and lines that begin with # are ignored.
    #[arg(long, value_name = "FILE", help_heading = "Sweep")]
    inputs_file: Option<PathBuf>,
    /// Number of repetitions of each configuration.
    #[arg(
        long,
        short,
        value_name = "N",
        default_value_t = 1,
        conflicts_with = "rel_ci",
        help_heading = "Sweep"
    )]
    reps: u32,
    /// Repeat each configuration until the half-width of the 95 % confidence interval of its mean
    /// time is at most this percentage of the mean.
    #[arg(long, value_name = "PERCENT", help_heading = "Sweep")]
    rel_ci: Option<f64>,
    /// With --rel-ci: minimum number of repetitions.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        requires = "rel_ci",
        help_heading = "Sweep"
    )]
    min_reps: u32,
    /// With --rel-ci: maximum number of repetitions.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 30,
        requires = "rel_ci",
        help_heading = "Sweep"
    )]
    max_reps: u32,
    /// Order of the runs: interleave (all configurations once per repetition), ascending or
    /// descending (by core count, all repetitions of a configuration in a row), or random or
    /// random:SEED (as interleave, with each repetition shuffled).
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "interleave",
        value_parser = order,
        help_heading = "Sweep"
    )]
    order: ChosenOrder,
    /// Number of warm-up runs before the first run of each configuration; they are not stored.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Sweep")]
    warmup: u32,
    /// Print the runs without executing them.
    #[arg(long, help_heading = "Sweep")]
    dry_run: bool,

    /// Placeholder for the core count in arguments, inputs, --mpi and --env.
    #[arg(long, value_name = "TEXT", default_value = "__nt__", help_heading = "Execution")]
    nt_token: String,
    /// Environment variable of the program; can be repeated. OMP_NUM_THREADS and similar variables
    /// (RAYON, OPENBLAS, MKL, BLIS, NUMEXPR, JULIA, GOMAXPROCS) are set to the core count unless
    /// specified here.
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, help_heading = "Execution")]
    env: Vec<(String, String)>,
    /// Bind each run to as many processors as its core count.
    #[arg(long, value_enum, default_value = "none", help_heading = "Execution")]
    bind: Bind,
    /// Launcher of an MPI program, such as 'mpirun -n {p}'; {p} stands for the core count.
    /// OMP_NUM_THREADS and similar variables are set to 1.
    #[arg(long, value_name = "LAUNCHER", help_heading = "Execution")]
    mpi: Option<String>,
    /// Submit each run as a Slurm job, in one job array per core count. Results are added to the
    /// file as jobs end; jobs continue after Ctrl+C, and --resume collects their results.
    #[arg(
        long,
        conflicts_with_all = ["bind", "record", "auto_regions", "frequencies", "governor", "ipmi",
            "warmup", "rel_ci", "give_up", "stop_below", "idle", "show_output", "order"],
        help_heading = "Execution"
    )]
    slurm: bool,
    /// Options for sbatch, such as '--partition=short --time=10 --exclusive'.
    #[arg(
        long,
        value_name = "OPTIONS",
        requires = "slurm",
        allow_hyphen_values = true,
        help_heading = "Execution"
    )]
    sbatch: Option<String>,
    /// Timeout of a run, such as 90s, 10min or 2h; a run that exceeds it is terminated and counts
    /// as failed.
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Execution")]
    timeout: Option<Duration>,
    /// Terminate a run that uses no CPU time for this long; it counts as failed.
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Execution")]
    idle_timeout: Option<Duration>,
    /// Pause between runs.
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Execution")]
    idle: Option<Duration>,
    /// Measure the energy of the processors during each run (RAPL); requires root on most machines.
    #[arg(long, help_heading = "Execution")]
    energy: bool,
    /// Comma-separated list of clock frequencies in kHz, such as 1200000,2300000, as an additional
    /// parameter `frequency`. Requires root and a kernel that can set frequencies (cpufreq).
    #[arg(long, alias = "frqs", value_name = "LIST", help_heading = "Sweep")]
    frequencies: Option<String>,
    /// Frequency governor during each run, such as performance; restored afterwards.
    #[arg(long, alias = "govr", value_name = "GOVERNOR", help_heading = "Execution")]
    governor: Option<String>,
    /// Comma-separated list of events to count in each run, named as in perf: task-clock,
    /// page-faults, context-switches, cpu-migrations; if supported by the processor, also cycles,
    /// instructions, cache-misses, branch-misses and others.
    #[arg(
        long,
        alias = "fgpe",
        value_name = "LIST",
        value_delimiter = ',',
        conflicts_with = "record",
        help_heading = "Execution"
    )]
    counters: Vec<String>,
    #[command(flatten)]
    series: Box<SeriesArgs>,
    /// Record each run by sampling, as an archive in this folder; `scaling` computes maps of every
    /// function from them.
    #[arg(long, value_name = "FOLDER", help_heading = "Execution")]
    record: Option<PathBuf>,
    /// Record MPI calls in these archives, with messages and collective operations, as
    /// `parallax record --mpi` does; requires mpicc.
    #[arg(long, requires = "record", help_heading = "Execution")]
    record_mpi: bool,
    /// Record OpenMP parallel regions (gcc, clang) and threads as regions of the sweep, by file and
    /// line, without marks in the program; requires a C compiler.
    #[arg(long, help_heading = "Execution")]
    auto_regions: bool,
    /// Skip a configuration after this many failures without a success.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Execution")]
    give_up: Option<u32>,
    /// Skip higher core counts of an input once its parallel efficiency is below this percentage,
    /// relative to the smallest core count measured.
    #[arg(long, value_name = "PERCENT", help_heading = "Execution")]
    stop_below: Option<f64>,

    #[command(flatten)]
    tools: Box<ToolArgs>,
    #[command(flatten)]
    estimates: Box<EstimateArgs>,

    /// Save stdout and stderr of the program to this folder, in two files per run.
    #[arg(long, value_name = "FOLDER", help_heading = "Files and output")]
    keep_output: Option<PathBuf>,
    /// Show the output of the program on stderr.
    #[arg(long, conflicts_with = "keep_output", help_heading = "Files and output")]
    show_output: bool,
    /// Discard the output of the program (default: show the end of its stderr if it fails).
    #[arg(
        long,
        conflicts_with_all = ["keep_output", "show_output"],
        help_heading = "Files and output"
    )]
    discard_output: bool,
    /// Continue the sweep in the file of --output: execute the missing runs.
    #[arg(long, help_heading = "Files and output")]
    resume: bool,
    /// With --resume: repeat failed runs.
    #[arg(long, requires = "resume", help_heading = "Files and output")]
    retry_failed: bool,

    #[command(flatten)]
    live: LiveArgs,

    /// Program to run, with its arguments.
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<String>,
}

/// What is read within runs.
#[derive(Debug, Args)]
struct SeriesArgs {
    /// Sample the values of --counters, --energy and --ipmi at this interval within each run, such
    /// as 100ms; `scaling` then also shows them by region.
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Execution")]
    sample: Option<Duration>,
    /// Measure the power of the machine during each run with ipmitool, from its management
    /// controller: local, SERVER or USER@SERVER; the password of a server is read from
    /// IPMI_PASSWORD.
    #[arg(long, value_name = "CONTROLLER", help_heading = "Execution")]
    ipmi: Option<String>,
    /// `--counters LIST --sample 100ms`, as PaScal Analyzer writes it.
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide = true, conflicts_with_all = ["counters", "record"])]
    fgps: Vec<String>,
    /// `--energy`, as PaScal Analyzer writes it.
    #[arg(long, value_name = "BACKEND", value_parser = ["sysfs"], hide = true)]
    rple: Option<String>,
    /// `--energy --sample 100ms`, as PaScal Analyzer writes it.
    #[arg(long, value_name = "BACKEND", value_parser = ["sysfs"], hide = true)]
    rpls: Option<String>,
}

/// Runs under a measurement tool.
#[derive(Debug, Args)]
struct ToolArgs {
    /// Run the program under this measurement tool and keep a database of each run. Programs must be
    /// built with Score-P or Caliper to be measured by them.
    #[arg(
        long,
        value_name = "TOOL",
        value_parser = clap::builder::PossibleValuesParser::new(PRESETS.iter().map(|one| one.name)),
        conflicts_with = "record",
        help_heading = "Measurement tools"
    )]
    tool: Option<String>,
    /// Folder for the databases: one folder per run, and runs.csv with their parameters. Default: named
    /// after the output, such as sweep-hpctoolkit.
    #[arg(long, value_name = "FOLDER", help_heading = "Measurement tools")]
    tool_folder: Option<PathBuf>,
    /// Launcher of the tool before the program, such as 'hpcrun -e CYCLES -o {run}/measurements'
    /// (default: that of --tool). {run} stands for the folder of the run, {database} for
    /// --tool-database, here as well as in --tool-then and --env.
    #[arg(
        long,
        value_name = "COMMAND",
        allow_hyphen_values = true,
        conflicts_with = "record",
        help_heading = "Measurement tools"
    )]
    tool_command: Option<String>,
    /// Command to execute after each run, to create its database; can be repeated (default: those of
    /// --tool). Its time is not measured.
    #[arg(
        long,
        value_name = "COMMAND",
        conflicts_with = "record",
        help_heading = "Measurement tools"
    )]
    tool_then: Vec<String>,
    /// The database that each run creates, such as '{run}/database' (default: that of --tool).
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with = "record",
        help_heading = "Measurement tools"
    )]
    tool_database: Option<String>,
}

impl ToolArgs {
    /// The tool that they name, if they name one.
    fn tool(self, output: &Path, has_ranks: bool) -> anyhow::Result<Option<Tool>> {
        let preset = PRESETS.iter().find(|one| Some(one.name) == self.tool.as_deref());
        let Some(name) = preset.map(|preset| preset.name).or_else(|| {
            let is_own = self.tool_command.is_some() || self.tool_database.is_some();
            (is_own || !self.tool_then.is_empty()).then_some("databases")
        }) else {
            return match self.tool_folder {
                Some(_) => Err(SweepError::Plan(
                    "--tool-folder is the folder of what --tool or --tool-command collects; name \
                     one of these"
                        .to_owned(),
                )
                .into()),
                None => Ok(None),
            };
        };
        let folder = self.tool_folder.unwrap_or_else(|| {
            let stem = output.file_stem().unwrap_or_default().to_string_lossy();
            output.with_file_name(format!("{stem}-{name}"))
        });
        let mut tool = match preset {
            Some(preset) => Tool::preset(preset, folder, has_ranks),
            None => Tool::other(name, folder),
        };
        if let Some(command) = &self.tool_command {
            tool.launcher = split(command)?;
        }
        if !self.tool_then.is_empty() {
            let commands = self.tool_then.iter().map(|command| split(command));
            tool.then = commands.collect::<Result<_, _>>()?;
        }
        if let Some(database) = self.tool_database {
            tool.database = database;
        }
        Ok(Some(tool))
    }
}

/// Why what a run left is no database that can be opened. A trace is not converted yet.
pub(crate) fn opens_database(path: &Path) -> Result<(), String> {
    let opened = crate::open::data_at(path).and_then(|data| match data.content {
        DataContent::Trace(_) => Ok(()),
        _ => Ok(open_data(&data, &OpenLimits::default()).map(drop)?),
    });
    opened.map_err(|error| format!("{error:#}"))
}

/// Runs that are ended early.
#[derive(Debug, Args)]
struct EstimateArgs {
    /// End each run after this many iterations and estimate its time from them. Iterations are a
    /// region that the program marks (--iteration-region). Estimates are marked as such and are not
    /// combined with complete runs of the same configuration.
    #[arg(
        long,
        value_name = "N",
        conflicts_with_all = ["energy", "counters", "sample", "ipmi", "record", "fgps", "rple", "rpls",
            "tool", "tool_command"],
        help_heading = "Estimates"
    )]
    estimate_from: Option<u64>,
    /// Number of iterations of a complete run, or a comma-separated list with one number per input.
    /// Default: the first run of each input is complete, and its iterations are counted.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        requires = "estimate_from",
        help_heading = "Estimates"
    )]
    iterations: Vec<u64>,
    /// Region that is an iteration: the number of its mark (2, or 1.2 for mark 2 inside mark 1), or
    /// with --auto-regions its place (solver.c:27).
    #[arg(
        long,
        value_name = "REGION",
        default_value = "1",
        requires = "estimate_from",
        help_heading = "Estimates"
    )]
    iteration_region: IterationRegion,
}

/// To which processors a run is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bind {
    /// No binding: the system and the runtime of the program decide.
    None,
    /// Adjacent cores, one socket after the other, cores before hardware threads.
    Close,
    /// Cores as far apart as possible, cores before hardware threads.
    Spread,
}

/// An order as it was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ChosenOrder(Option<Order>);

fn order(text: &str) -> Result<ChosenOrder, String> {
    let chosen = match text {
        "interleave" => Order::Interleaved,
        "ascending" | "asc" => Order::Ascending,
        "descending" | "desc" => Order::Descending,
        // The seed is drawn when the sweep begins.
        "random" => return Ok(ChosenOrder(None)),
        other => {
            let seed = other.strip_prefix("random:").and_then(|seed| seed.parse().ok());
            let seed =
                seed.ok_or("expected interleave, ascending, descending, random or random:SEED")?;
            Order::Random { seed }
        }
    };
    Ok(ChosenOrder(Some(chosen)))
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let scale = match unit.trim() {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 500ms, 90s, 10min or 2h".to_owned()),
    };
    let number: Option<f64> = number.trim().parse().ok().filter(|number| *number > 0.0);
    number
        .and_then(|number| Duration::try_from_secs_f64(number * scale).ok())
        .ok_or_else(|| "expected a time above 0, such as 90s".to_owned())
}

pub(super) fn measure(context: &Context, arguments: MeasureArgs) -> anyhow::Result<()> {
    let is_dry = arguments.dry_run;
    let mut live = Live::new(context, arguments.live.clone());
    let (plan, choices) = plan(context, arguments)?;
    if is_dry {
        return show(context, &plan, &choices);
    }
    let mut progress = Progress::new(context, &plan);
    let mut launch = |job: &Job| launch(job, &opens_database);
    let summary = sweep(&plan, &choices, &mut launch, &mut |event| {
        progress.tell(event);
        if live.is_due(event) {
            progress.clear();
            live.show(&choices.output);
        }
    });
    progress.clear();
    let summary = summary?;
    if let Some(folder) = &plan.archives
        && summary.succeeded > 0
        && !context.is_quiet
    {
        let input = if plan.inputs.is_empty() { "" } else { " --param input=meta:input" };
        context.note(format!(
            "maps of every function: parallax scaling {}/*.parallax --param cores=meta:cores{input}",
            quoted(&folder.to_string_lossy())
        ));
    }
    if let Some(tool) = &plan.tool
        && summary.succeeded > 0
        && !context.is_quiet
    {
        let (databases, table) = tool.databases();
        context.note(format!(
            "maps of every function: parallax scaling {databases} --params {}",
            quoted(&table.to_string_lossy())
        ));
    }
    let finished = finish(context, &plan, &choices.output, &summary);
    live.until_interrupted()?;
    finished
}

/// The plan that the arguments make, and where it goes.
fn plan(context: &Context, arguments: MeasureArgs) -> anyhow::Result<(Plan, Choices)> {
    let mut words = arguments.program.into_iter();
    let program = words.next().unwrap_or_default();
    let mut inputs = arguments.input;
    if let Some(list) = &arguments.inputs {
        inputs.extend(list.split(',').map(|input| input.trim().to_owned()));
    }
    if let Some(path) = &arguments.inputs_file {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        inputs.extend(lines.map(str::to_owned));
    }
    let share = |percent: f64| percent / 100.0;
    let repetitions = match arguments.rel_ci {
        Some(percent) => Repetitions::UntilInterval {
            relative: share(percent),
            least: arguments.min_reps,
            most: arguments.max_reps,
        },
        None => Repetitions::Fixed(arguments.reps),
    };
    let order = arguments.order.0.unwrap_or_else(|| Order::Random { seed: drawn_seed() });
    let binding = match arguments.bind {
        Bind::None => Binding::None,
        Bind::Close => Binding::Close,
        Bind::Spread => Binding::Spread,
    };
    let output = match arguments.keep_output {
        Some(folder) => ProgramOutput::Kept(folder),
        None if arguments.show_output => ProgramOutput::Shown,
        None if arguments.discard_output => ProgramOutput::Discarded,
        None => ProgramOutput::OnFailure,
    };
    let series = arguments.series;
    let is_sampled = !series.fgps.is_empty() || series.rpls.is_some();
    let stop = Stop { failures: arguments.give_up, efficiency: arguments.stop_below.map(share) };
    let slurm = match arguments.slurm {
        true => Some(Slurm { options: split(arguments.sbatch.as_deref().unwrap_or_default())? }),
        false => None,
    };
    let output_path = context.output.path.clone().unwrap_or_else(|| default_output(&program));
    let tool = arguments.tools.tool(&output_path, arguments.mpi.is_some())?;
    let plan = Plan {
        inputs,
        repetitions,
        order,
        warmups: arguments.warmup,
        token: arguments.nt_token,
        environment: arguments.env,
        binding,
        launcher: arguments.mpi.as_deref().map(split).transpose()?,
        timeout: arguments.timeout,
        idle_timeout: arguments.idle_timeout,
        pause: arguments.idle.unwrap_or_default(),
        has_energy: arguments.energy || series.rple.is_some() || series.rpls.is_some(),
        frequencies: arguments
            .frequencies
            .as_deref()
            .map(frequencies)
            .transpose()?
            .unwrap_or_default(),
        governor: arguments.governor,
        sample: series.sample.or_else(|| is_sampled.then_some(SAMPLE_PERIOD)),
        controller: series.ipmi.as_deref().map(Controller::parse).transpose()?,
        counters: [arguments.counters, series.fgps].concat(),
        has_automatic_regions: arguments.auto_regions,
        output,
        archives: arguments.record,
        has_mpi_calls: arguments.record_mpi,
        tool,
        stop,
        estimate: arguments.estimates.estimate_from.map(|from| FirstIterations {
            region: arguments.estimates.iteration_region,
            from,
            of: arguments.estimates.iterations,
        }),
        slurm,
        ..Plan::new(&program, words.collect(), core_counts(&arguments.cores)?)
    };
    let choices = Choices {
        output: output_path,
        resume: arguments.resume,
        retry_failed: arguments.retry_failed,
        command_line: line(&std::env::args().collect::<Vec<_>>()),
    };
    Ok((plan, choices))
}

/// Where a sweep of a program goes when nothing is said: `solver-sweep.json` in this folder.
fn default_output(program: &str) -> PathBuf {
    let name = Path::new(program).file_stem().unwrap_or_default().to_string_lossy();
    PathBuf::from(format!("{name}-sweep.json"))
}

fn drawn_seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    // Short enough to be typed again.
    since.as_micros() as u64 % 1_000_000_000
}

/// What would be run, one command line after the other.
fn show(context: &Context, plan: &Plan, choices: &Choices) -> anyhow::Result<()> {
    let jobs = dry_run(plan, choices)?;
    let output = Output { path: None, ..context.output.clone() };
    let mut text = String::new();
    for (key, job) in &jobs {
        let mut words: Vec<String> = job
            .variables()
            .iter()
            .map(|(name, value)| format!("{name}={}", quoted(value)))
            .collect();
        if let Some(processors) = job.processors() {
            let list: Vec<String> = processors.iter().map(ToString::to_string).collect();
            words.push(format!("taskset -c {}", list.join(",")));
        }
        let command = job.command().iter().map(|word| match word.as_str() {
            // What is recorded runs under this tool, which calls itself so.
            "/proc/self/exe" => "parallax".to_owned(),
            word => quoted(word).into_owned(),
        });
        words.extend(command);
        for then in job.then() {
            words.push("&&".to_owned());
            words.extend(then.iter().map(|word| quoted(word).into_owned()));
        }
        let ended = job.iterations().map_or_else(String::new, |(from, of)| {
            format!(", ended after {from} of {of} iterations")
        });
        text.push_str(&format!("{}  # {}{ended}\n", words.join(" "), named(*key, plan)));
    }
    let output = Output { format: crate::output::Format::Text, ..output };
    output.emit_reply(&(), |_, out| out.write_all(text.as_bytes()))?;
    let most = match plan.repetitions {
        Repetitions::Fixed(_) => "",
        Repetitions::UntilInterval { .. } => " at most",
    };
    let folder = match text.contains(TEMPORARY) {
        true => format!("; {TEMPORARY} stands for a temporary folder"),
        false => String::new(),
    };
    let number = counted(jobs.len() as u64, "run");
    context.note(format!("{number}{most}; nothing was executed{folder}"));
    Ok(())
}

/// Shows the maps of a file that is complete, and says what failed.
fn finish(context: &Context, plan: &Plan, path: &Path, summary: &Summary) -> anyhow::Result<()> {
    if summary.succeeded > 0
        && let Err(error) = maps(context, path)
    {
        Notice::new(Level::Warning, format!("cannot show maps: {error:#}")).print(&context.stderr);
    }
    let shown = path.display();
    if !context.is_quiet {
        context.note(format!(
            "{shown} has {}; show the maps again with `parallax scaling {shown}`, or in the browser \
             with `parallax open {shown}`",
            counted((summary.succeeded + summary.failed) as u64, "run")
        ));
    }
    if let Some(first) = plan.estimate.as_ref().filter(|_| summary.estimated == 0) {
        let text = format!(
            "no run was ended early: region {} did not end {} times before, or no complete run had \
             more; `parallax scaling {shown} --table regions` lists the regions",
            first.region, first.from
        );
        Notice::new(Level::Warning, text).print(&context.stderr);
    } else if summary.estimated > 0 && !context.is_quiet {
        context.note(format!(
            "{} of {} times are estimates, marked as such; the time after the last iteration is not \
             included",
            summary.estimated, summary.succeeded
        ));
    }
    if summary.lacking_regions > 0 {
        let text = format!(
            "{} of {} runs ran out of memory for the times of their regions, which are incomplete; \
             raise PARALLAX_LIMIT_MB or use fewer marks",
            summary.lacking_regions,
            summary.succeeded + summary.failed
        );
        Notice::new(Level::Warning, text).print(&context.stderr);
    }
    if let Some(automatic) = &summary.automatic {
        say_of_regions(context, automatic);
    }
    if summary.failed > 0 {
        anyhow::bail!(
            "{} of {} runs failed: they are marked in {shown} and excluded from all results; \
             --resume --retry-failed repeats them",
            summary.failed,
            summary.succeeded + summary.failed
        );
    }
    Ok(())
}

/// What is missing of the regions that `--auto-regions` records.
fn say_of_regions(context: &Context, automatic: &Automatic) {
    if !automatic.has_regions {
        let text = "no parallel regions found: --auto-regions detects OpenMP regions compiled with \
                    gcc or clang (-fopenmp) and a shared OpenMP runtime, and threads of \
                    pthread_create";
        Notice::new(Level::Warning, text.to_owned()).print(&context.stderr);
    }
    for object in &automatic.without_lines {
        context.note(format!(
            "{} has no debug information: its parallel regions and threads are named after \
             functions or addresses instead of lines, and their numbers have no meaning; compile \
             with -g to get lines",
            printable(object)
        ));
    }
}

/// What `scaling` says of a file, on standard output.
fn maps(context: &Context, path: &Path) -> anyhow::Result<()> {
    #[derive(Parser)]
    struct Maps {
        #[command(flatten)]
        arguments: ScalingArgs,
    }
    let words = [std::ffi::OsStr::new("scaling"), std::ffi::OsStr::new("--"), path.as_os_str()];
    let maps = Maps::try_parse_from(words)?;
    // The file of --output is that of the sweep; its name says nothing about the maps.
    let format = context.typed_format.unwrap_or_default();
    let output = Output { path: None, format, ..context.output.clone() };
    crate::scaling::run(&maps.arguments, &output, &context.stderr, &context.control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_orders_are_read_as_people_write_them() {
        let time = |text| seconds(text).map(|time| time.as_secs_f64());
        assert_eq!(time("90"), Ok(90.0));
        assert_eq!(time("500ms"), Ok(0.5));
        assert_eq!(time("1.5 min"), Ok(90.0));
        assert_eq!(time("2h"), Ok(7200.0));
        for text in ["", "0", "-1", "5 days", "s", "1e400"] {
            assert!(time(text).is_err(), "{text}");
        }
        assert_eq!(order("random:7"), Ok(ChosenOrder(Some(Order::Random { seed: 7 }))));
        assert_eq!(order("random"), Ok(ChosenOrder(None)));
        assert!(order("random:x").is_err() && order("sideways").is_err());
    }
}
