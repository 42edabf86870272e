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

commands! {
    /// What a database holds: program, locations, metrics, traces, issues.
    Info(info::InfoArgs, &) = info,
    /// Profiles with their identity: node, rank, thread, core, GPU, context and stream.
    Locations(locations::LocationsArgs) = locations,
    /// Top-down view: the calling context tree, largest inclusive value first.
    Tree(views::TreeArgs) = tree,
    /// Bottom-up view: functions by exclusive value, with their callers.
    Callers(views::CallersArgs) = callers,
    /// Flat view: functions, files, modules, loops or lines, regardless of the caller.
    Flat(views::FlatArgs) = flat,
    /// Values by expressions: any profiles, contexts and metrics, as stored.
    Query(query::QueryArgs) = query,
    /// Trace samples: which context was active when.
    ///
    /// With --by, how many samples there are of each context or location, and how long they last;
    /// on a GPU where that takes less time.
    Trace(query::TraceArgs) = trace,
    /// SQL over everything that a database holds, read as far as a statement needs it.
    Sql(sql::SqlArgs) = sql,
    /// Processes on several machines that compute parts of SQL statements.
    SqlCluster(sql_cluster::SqlClusterArgs) = sql_cluster,
    /// Time and calls in a window of a trace, by function, group or call path.
    Stats(timeline::StatsArgs) = stats,
    /// Messages of a trace: number, bytes and transfer time by sender and receiver.
    #[command(mut_arg("profiles", |arg| arg.help(
        "Locations that send or receive, such as 'rank(0-9)'. Ranges include their end"
    )))]
    Messages(timeline::MessagesArgs) = messages,
    /// Components of a workflow, and what goes between them: messages, files and streams of ADIOS.
    #[command(mut_arg("profiles", |arg| arg.help(
        "Locations, such as 'application(0-1)'. Ranges include their end"
    )))]
    Workflow(workflow::WorkflowArgs) = workflow,
    /// Calls of a trace by name and duration: the longest ones, or the first.
    #[command(mut_arg("window", |arg| arg.help(
        "Time window in which they begin, such as '1.5s..2s' or '10%..20%'"
    )))]
    Find(timeline::FindArgs) = find,
    /// Anomalies: calls that take much longer than others of their function on the same location.
    #[command(mut_arg("window", |arg| arg.help(
        "Time window in which they begin, such as '1.5s..2s' or '10%..20%'"
    )))]
    Anomalies(anomalies::AnomaliesArgs) = anomalies,
    /// Variables and allocations with their reads and writes; of several contexts, the shared ones.
    References(activations::ReferencesArgs) = references,
    /// Loops by call path: executions, iterations and time.
    Loops(activations::LoopsArgs, &) = loops,
    /// Potential parallelism: loops and concurrent calls, dependences, and possible saving.
    ///
    /// Needs every call, iteration and access: a recording of parallax.h, or a database of Parceive.
    Advise(advise::AdviseArgs) = advise,
    /// Wait states of a trace: late sender, late receiver, collectives, late GPU launches.
    Waits(events::WaitsArgs) = waits,
    /// Critical path of a trace: the activities that determine the run time, excluding wait time.
    CriticalPath(events::CriticalPathArgs) = critical_path,
    /// Metrics of a trace over time: time profile, idle time, imbalance, lateness, overlap.
    OverTime(events::OverTimeArgs) = over_time,
    /// Iterations of a trace: detection, load balance, and potential saving.
    Iterations(iterations::IterationsArgs) = iterations,
    /// Convert traces into an archive, which opens at once and gives exact values for any window.
    ///
    /// Traces are converted automatically when opened, and kept in the cache; this writes
    /// an archive to a given place. The traces of coupled programs become one archive, on one
    /// clock.
    Convert(convert::ConvertArgs, &) = convert,
    /// Top findings of all analyses, with location and potential saving.
    ///
    /// Findings on hot spots, load balance, iterations, clusters of ranks, GPUs, wait states and the
    /// critical path (of event traces), and on a comparison with --against, the most important
    /// first, each with the command for details. For several runs the report is their
    /// scaling.
    Report(report::ReportArgs) = report,
    /// Clusters of ranks or nodes with similar behaviour, and what separates them.
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
    /// Performance models of time over the parameters, by the method of Extra-P.
    Model(scaling::ModelArgs, &) = model,
    /// Differences between versions of a program, by context, with significance tests.
    Compare(compare::CompareArgs, &) = compare,
    /// Correlations of metrics and functions over locations, and with rank, thread or node.
    Correlate(correlate::CorrelateArgs) = correlate,
    /// Merge PaScal files into one; the result goes to stdout or to --output.
    Merge(scaling::MergeArgs, &) = merge,
    /// Run a program over cores, inputs and repetitions, and show where it stops scaling.
    ///
    /// Each run is timed from start to exit. The file is written after every run, in the format of
    /// PaScal Analyzer, so a sweep that was interrupted goes on with --resume. Runs that fail are
    /// marked and not averaged.
    Measure(measure::MeasureArgs) = measure,
    /// Record a program by sampling: its call paths over time, as an archive.
    ///
    /// The program is not changed and needs no special build. All its threads and child processes
    /// are recorded. The exit status is that of the program.
    Record(record::RecordArgs) = record,
    /// Compile a program so that it records its calls, loops and accesses, without marks.
    ///
    /// Stands before the compiler: `parallax instrument gcc -O1 prog.c -o prog`. The program then
    /// writes a recording, which `references` and `advise` read, at each run.
    Instrument(instrument::InstrumentArgs, &) = instrument,
    /// Put marks around the parallel regions of a source file in C or C++.
    ///
    /// Each statement of `#pragma omp parallel` becomes a region for `measure`, whatever compiles it.
    /// Regions that have marks keep them.
    Mark(mark::MarkArgs, &) = mark,
    /// Open databases and measurements in the browser: serves them to this machine until Ctrl+C.
    Open(serve::OpenArgs, &) = serve,
    /// Write one self-contained web page with the data inside.
    Export(export::ExportArgs, &) = export,
    /// The processor and the GPUs that --device can name.
    Devices(devices::DevicesArgs) = devices,
    /// Print a completion script for a shell.
    Completions(completions::CompletionsArgs, &) = completions,
}
