//! The list of commands: a command is an entry here, a line in `mod.rs`, and its file, which has its
//! options and what it does.

use clap::Subcommand;

use super::Context;

/// Makes [`Command`] of entries `Name(module::Arguments) = function`: the text above an entry is its
/// help, and the function takes the arguments, or with `&` a reference to them.
macro_rules! commands {
    ($($(#[$about:meta])* $name:ident($module:ident :: $arguments:ident $(, $by:tt)?) = $run:ident,)*) => {
        // The order is that of the help. No doc comment: clap would make it the description of
        // Parallax, which is that of `Frame`.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$about])* $name(super::$module::$arguments),)*
        }

        impl Command {
            /// `frame` with the one command that `name` is; `None` when it is no command.
            pub(crate) fn alone(frame: clap::Command, name: &str) -> Option<clap::Command> {
                $({
                    // A list of one command, with the name and the help that it has in all of them.
                    #[derive(Debug, Subcommand)]
                    enum Alone {
                        $(#[$about])* $name(super::$module::$arguments),
                    }
                    if Alone::has_subcommand(name) {
                        return Some(Alone::augment_subcommands(frame));
                    }
                })*
                None
            }

            /// Does what was typed.
            pub(super) fn run(self, context: &Context) -> anyhow::Result<()> {
                match self {
                    $(Self::$name(given) => {
                        super::$module::$run(context, commands!(@pass given $($by)?))
                    })*
                }
            }
        }
    };
    (@pass $given:ident) => { $given };
    (@pass $given:ident &) => { &$given };
}

impl Command {
    /// Whether what was typed has work for the device of `--device`.
    pub(crate) fn uses_device(&self) -> bool {
        match self {
            Self::Trace(arguments) => arguments.uses_device(),
            Self::Sql(_) | Self::Open(_) | Self::Devices(_) => true,
            _ => false,
        }
    }
}

commands! {
    /// Contents of a database: program, locations, metrics, traces, issues.
    Info(info::InfoArgs, &) = info,
    /// Profiles with their identity: node, rank, thread, core, GPU, context and stream.
    Locations(locations::LocationsArgs) = locations,
    /// Top-down view: the calling context tree, largest inclusive value first.
    Tree(views::TreeArgs) = tree,
    /// Bottom-up view: functions by exclusive value, with their callers.
    Callers(views::CallersArgs) = callers,
    /// Flat view: functions, files, modules, loops or lines, regardless of the caller.
    Flat(views::FlatArgs) = flat,
    /// Values as stored, selected by expressions for profiles, contexts and metrics.
    Query(query::QueryArgs) = query,
    /// Trace samples: active contexts over time.
    ///
    /// With --by: number and durations of the samples of each context or location, computed on a
    /// GPU if that is faster.
    Trace(query::TraceArgs) = trace,
    /// SQL statements on all data of a database, reading only what each statement needs.
    Sql(sql::SqlArgs) = sql,
    /// Scheduler and executors for running SQL statements on several machines.
    SqlCluster(sql_cluster::SqlClusterArgs) = sql_cluster,
    /// Time and calls in a window of a trace, by function, group or call path.
    Stats(timeline::StatsArgs) = stats,
    /// Messages of a trace: number, bytes and transfer time by sender and receiver.
    #[command(mut_arg("profiles", |arg| arg.help(
        "Locations that send or receive, such as 'rank(0-9)'; ranges include their end"
    )))]
    Messages(timeline::MessagesArgs) = messages,
    /// Components of a workflow and their exchanges: messages, files and ADIOS streams.
    #[command(mut_arg("profiles", |arg| arg.help(
        "Locations to include, such as 'application(0-1)'; ranges include their end"
    )))]
    Workflow(workflow::WorkflowArgs) = workflow,
    /// Calls of a trace by name and duration, longest or earliest first.
    #[command(mut_arg("window", |arg| arg.help(
        "Time window in which the calls begin, such as '1.5s..2s' or '10%..20%'"
    )))]
    Find(timeline::FindArgs) = find,
    /// Anomalies: calls that take much longer than other calls of their function on the same
    /// location.
    #[command(mut_arg("window", |arg| arg.help(
        "Time window in which the calls begin, such as '1.5s..2s' or '10%..20%'"
    )))]
    Anomalies(anomalies::AnomaliesArgs) = anomalies,
    /// Variables and allocations with their reads and writes, or those shared by several contexts.
    References(activations::ReferencesArgs) = references,
    /// Loops by call path: executions, iterations and time.
    Loops(activations::LoopsArgs, &) = loops,
    /// Potential parallelism: loops and concurrent calls, dependences, and potential saving.
    ///
    /// Requires all calls, iterations and accesses: a recording made with parallax.h or `parallax
    /// instrument`, or a Parceive database.
    Advise(advise::AdviseArgs) = advise,
    /// Wait states of a trace: late sender, late receiver, collectives, late GPU launches.
    Waits(events::WaitsArgs) = waits,
    /// Critical path of a trace: the activities that determine the run time, excluding wait time.
    CriticalPath(events::CriticalPathArgs) = critical_path,
    /// Metrics of a trace over time: time profile, idle time, imbalance, lateness, overlap.
    OverTime(events::OverTimeArgs) = over_time,
    /// Iterations of a trace: detection, load balance, and potential saving.
    Iterations(iterations::IterationsArgs) = iterations,
    /// Convert traces into an archive, which opens instantly and has exact values for any time
    /// window.
    ///
    /// Traces are converted automatically when opened, and cached; this command writes an archive
    /// to a given path. Traces of coupled programs are combined into one archive with a common
    /// clock.
    Convert(convert::ConvertArgs, &) = convert,
    /// Top findings of all analyses, with location and potential saving.
    ///
    /// Findings cover hot spots, load balance, iterations, clusters of ranks, GPUs, wait states and
    /// the critical path (of event traces), and, with --against, differences from another run. The
    /// most important findings come first, each with the command for details. For several runs, the
    /// report analyses their scaling.
    Report(report::ReportArgs) = report,
    /// Clusters of ranks or nodes with similar behaviour, and the features that separate them.
    Cluster(clusters::ClusterArgs, &) = cluster,
    /// Nodes in racks, chassis and switch groups, and whether slow nodes are concentrated.
    Topology(clusters::TopologyArgs, &) = topology,
    /// Load balance of contexts over locations, and the slowest locations.
    Balance(analyses::BalanceArgs) = balance,
    /// Distribution of one context over locations, ranks or nodes.
    Distribution(distribution::DistributionArgs) = distribution,
    /// User events (TAU's atomic events), such as message sizes.
    UserEvents(user_events::UserEventsArgs) = user_events,
    /// Source lines of a file with their metric values.
    Source(source::SourceArgs) = source,
    /// Idle time of GPUs and threads.
    Idleness(analyses::IdlenessArgs, &) = idleness,
    /// Stalls of GPU kernels: issue rate, exposed stalls and their reasons, by instruction sampling.
    GpuStalls(gpu_stalls::GpuStallsArgs) = gpu_stalls,
    /// Scalability analysis: efficiency maps, parallel overhead and a verdict for every region.
    Scaling(scaling::ScalingArgs, &) = scaling,
    /// Performance models of time as a function of parameters, with the method of Extra-P.
    Model(scaling::ModelArgs, &) = model,
    /// Differences between versions of a program, by context, with significance tests.
    Compare(compare::CompareArgs, &) = compare,
    /// Correlations of metrics and functions over locations, and with rank, thread or node.
    Correlate(correlate::CorrelateArgs) = correlate,
    /// Merge PaScal files into one, written to stdout or --output.
    Merge(scaling::MergeArgs, &) = merge,
    /// Run a program over core counts, inputs and repetitions, and show where it stops scaling.
    ///
    /// Each run is timed from start to exit. The file is written after every run, in the format of
    /// PaScal Analyzer, so that an interrupted sweep can be continued with --resume. Failed runs
    /// are marked and excluded from averages.
    Measure(measure::MeasureArgs) = measure,
    /// Record the call paths of a program over time by sampling, as an archive.
    ///
    /// The program is not modified and needs no special build. All its threads and child processes
    /// are recorded. The exit status is that of the program.
    Record(record::RecordArgs) = record,
    /// Compile a program so that it records its calls, loops and memory accesses, without marks in
    /// its source.
    ///
    /// Prefix the compiler command with it: `parallax instrument gcc -O1 prog.c -o prog`. Each run
    /// of the program then writes a recording for `references` and `advise`.
    Instrument(instrument::InstrumentArgs, &) = instrument,
    /// Add marks around the parallel regions of a C or C++ source file.
    ///
    /// Each `#pragma omp parallel` statement becomes a region for `measure`, with any compiler.
    /// Existing marks are kept.
    Mark(mark::MarkArgs, &) = mark,
    /// Open databases and measurements in the browser, from a local server that runs until Ctrl+C.
    Open(serve::OpenArgs, &) = serve,
    /// Write a self-contained web page that contains the data.
    Export(export::ExportArgs, &) = export,
    /// Processor and GPUs available for --device.
    Devices(devices::DevicesArgs) = devices,
    /// Print a completion script for a shell.
    Completions(completions::CompletionsArgs, &) = completions,
}
