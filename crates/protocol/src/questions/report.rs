//! What bounds a program: findings, and where its cost is.

use serde::{Deserialize, Serialize};

use crate::Experiment;
use crate::macros::{choice, question, table};

question! {
    /// What bounds the program: the findings of all analyses, and where the cost is.
    "report" of Experiment,
    request ReportRequest {
        /// A metric expression; null for the metric that says most about time.
        metric: Option<String>,
    }
    reply ReportReply,
    tables ReportTables {
        /// Cost by class.
        categories: ReportClassTable,
        /// The functions by which classes begin.
        routines: ReportRoutineTable,
        /// Functions by exclusive cost.
        functions: ReportFunctionTable,
        /// Metrics of GPUs.
        gpu: ReportGpuTable,
        /// The hot path.
        hot_path: ReportHotPathTable,
        /// Totals of all metrics that have values.
        metrics: ReportMetricTable,
    }
}

/// The reply to `report`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReportReply {
    /// Name of the measured program.
    pub title: String,
    /// The metric that stands for cost; null when nothing was measured.
    pub metric: Option<String>,
    /// Its unit symbol.
    pub unit: String,
    /// Why it was chosen.
    pub reason: String,
    /// Cost of everything that was measured.
    pub total: f64,
    /// The part of it on helper threads.
    pub helper_total: f64,
    /// The rest: what shares are of.
    pub program_total: f64,
    /// About how many samples the total stands on; null where that cannot be said.
    pub samples: Option<f64>,
    /// Number of ranks.
    pub ranks: u64,
    /// Number of locations.
    pub locations: u64,
    /// What bounds the program as a whole.
    pub verdict: VerdictReply,
    /// What bounds the program, the most important first.
    pub findings: Vec<FindingReply>,
    /// What was not examined, and why; remarks about the data.
    pub notes: Vec<String>,
}

/// What bounds a program as a whole, by what takes more than half of its time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct VerdictReply {
    /// What bounds it; null where nothing takes half of the time, or where the measurement does not
    /// say.
    pub bound: Option<BoundKind>,
    /// Its share in per cent: of the time of the program, or of that of its GPUs.
    pub percent: Option<f64>,
    /// Why, as a clause: `MPI takes 56.9 % of wall-clock time`.
    pub reason: String,
    /// Both in one line: `communication-bound (MPI takes 56.9 % of wall-clock time)`.
    pub line: String,
    /// The numbers behind it.
    pub evidence: Vec<EvidenceReply>,
}

choice! {
    /// What a program is bound by.
    pub enum BoundKind {
        /// The processor computes.
        Compute = "compute",
        /// The processor waits for memory.
        Memory = "memory",
        /// The program's own code, of which no counter says whether it computes or waits for
        /// memory.
        ComputeOrMemory = "compute_or_memory",
        /// Messages.
        Communication = "communication",
        /// Ranks wait for one that has more to do.
        Imbalance = "imbalance",
        /// Threads wait for each other.
        Synchronisation = "synchronisation",
        /// Files.
        Io = "io",
        /// Allocating memory.
        Allocation = "allocation",
        /// GPUs are busy nearly all the time.
        Gpu = "gpu",
        /// GPUs are idle until their next work is launched.
        Latency = "latency",
    }
}

choice! {
    /// What a finding is about.
    pub enum FindingKind {
        /// There are too few samples to say much.
        FewSamples = "FewSamples",
        /// Communication.
        Mpi = "Mpi",
        /// Work that is spread unevenly.
        Imbalance = "Imbalance",
        /// Threads that wait or are idle.
        OpenMp = "OpenMp",
        /// Files.
        Io = "Io",
        /// Memory allocation.
        Memory = "Memory",
        /// Locks.
        Locks = "Locks",
        /// Sleeping and polling.
        Sleeping = "Sleeping",
        /// What GPUs do beside computing: copies, and communication that nothing overlaps with.
        Gpu = "Gpu",
        /// Host code of the runtime of GPUs.
        GpuHost = "GpuHost",
        /// A function that costs much by itself.
        HotFunction = "HotFunction",
        /// Locations that wait for others, by a trace of calls.
        Waiting = "Waiting",
        /// What the run time consists of, by a trace of calls.
        CriticalPath = "CriticalPath",
        /// GPUs without work.
        IdleGpu = "IdleGpu",
        /// GPUs with work nearly all the time: they limit the run.
        BusyGpu = "BusyGpu",
        /// Kernels whose instructions stall.
        GpuStalls = "GpuStalls",
        /// Contexts that are spread unevenly in the iterations of a program, by a trace.
        Iterations = "Iterations",
        /// One iteration that takes far longer than all others.
        Stall = "Stall",
        /// Clusters of ranks or nodes of which one is slow.
        Groups = "Groups",
        /// What takes longer than in another execution.
        Slower = "Slower",
        /// More threads than cores, or a build without optimisation: all else is doubtful.
        Caution = "Caution",
        /// Memory that was allocated and not freed.
        Leak = "Leak",
        /// A metric whose values mean nothing.
        WrappedMetric = "WrappedMetric",
    }
}

choice! {
    /// What to look at next. Each surface says it in its own terms: a view, or a command.
    pub enum NextAction {
        /// Metrics, issues and contents of the experiment.
        Info = "info",
        /// Load balance over locations.
        Balance = "balance",
        /// Callers of a function.
        Callers = "callers",
        /// When GPUs and threads are idle.
        Idleness = "idleness",
        /// Which calls keep GPUs idle.
        GpuBlame = "gpu_blame",
        /// Where kernels stall, and why.
        GpuStalls = "gpu_stalls",
        /// Repeated phases.
        Iterations = "iterations",
        /// One of them.
        Stall = "stall",
        /// Clusters of ranks.
        RankClusters = "rank_clusters",
        /// Clusters of nodes.
        NodeClusters = "node_clusters",
        /// Where the nodes of clusters of ranks are.
        RankRacks = "rank_racks",
        /// Where the nodes of clusters are.
        NodeRacks = "node_racks",
        /// Wait states.
        Waits = "waits",
        /// GPU streams that wait for late launches.
        LateLaunches = "late_launches",
        /// The critical path.
        CriticalPath = "critical_path",
        /// Differences from another execution.
        Differences = "differences",
    }
}

/// Something that bounds the program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FindingReply {
    /// What it is about.
    pub kind: FindingKind,
    /// What it is and where, in a few words.
    pub title: String,
    /// The cause, in a sentence or two.
    pub text: String,
    /// Impact: share of the program's cost, in per cent.
    pub percent: f64,
    /// What would be saved, at most; null where that cannot be said.
    pub potential: Option<PotentialReply>,
    /// Its evidence.
    pub evidence: Vec<EvidenceReply>,
    /// Id of the context that it is about, of several the one with the highest value; null where it
    /// is about the whole program.
    pub context_id: Option<u32>,
    /// What to look at next.
    pub action: NextAction,
    /// The contexts to look at there, by id, as a context expression; null for all.
    pub contexts: Option<String>,
    /// Of callers the called function, by its whole name.
    pub function: Option<String>,
    /// The number of the iteration that it is about.
    pub iteration: Option<u64>,
    /// The number of the finding that is seen there; null where it is seen in parts.
    pub value: Option<f64>,
    /// The same as a command that can be typed; only the command line says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub next: Option<String>,
}

/// What would be saved, at most.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PotentialReply {
    /// How much.
    pub amount: f64,
    /// Its unit symbol: `s`, or that of the metric where it is no time.
    pub unit: String,
    /// The same as a share of the run, in per cent: of the time of the trace, or of what a rank or
    /// location takes on average.
    pub percent: f64,
    /// On which condition, such as `if balanced`.
    pub condition: String,
}

/// A number that is evidence of a finding.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EvidenceReply {
    /// What it is.
    pub what: String,
    /// The number.
    pub value: f64,
    /// Its unit symbol; `%` for shares.
    pub unit: String,
}

table! {
    /// Classes, group after group, the most expensive first; helper threads last.
    pub struct ReportClassRow => ReportClassTable {
        /// Group of classes.
        group: &'static str,
        /// Class.
        class: &'static str,
        /// Cost of the class; classes add up to the total.
        cost: f64 [metric] => "Value",
        /// Share of the program's total, without helper threads.
        percent: Option<f64> ["%"] => "Share",
        /// Number of outermost contexts of the class.
        contexts: u64,
    }
}

table! {
    /// Functions by which classes begin, from the most expensive.
    pub struct ReportRoutineRow => ReportRoutineTable {
        /// Normalised name.
        routine: String,
        /// Group of classes.
        group: &'static str,
        /// Class.
        class: &'static str,
        /// Cost at outermost contexts.
        cost: f64 [metric] => "Value",
        /// Share of the program's cost.
        percent: Option<f64> ["%"] => "Share",
        /// Number of contexts where it is called.
        contexts: u64,
    }
}

table! {
    /// Functions with the highest exclusive cost.
    pub struct ReportFunctionRow => ReportFunctionTable {
        /// Name.
        function: String,
        /// Where its code is.
        module: String => "Load module",
        /// Cost of the function itself; of MPI routines with their internals.
        exclusive: f64 [metric],
        /// Exclusive share of the program's cost.
        percent: Option<f64> ["%"] => "Share",
        /// Cost with everything below, outermost activations only.
        inclusive: f64 [metric],
        /// Number of contexts of the function.
        contexts: u32,
    }
}

table! {
    /// Metrics of GPUs that have values.
    pub struct ReportGpuRow => ReportGpuTable {
        /// What is measured.
        what: &'static str,
        /// Name of the metric.
        metric: String,
        /// Sum over all locations, in the unit of the next column.
        value: f64 [of unit],
        /// Unit of the value.
        unit: String,
        /// Share of the time of all GPU operations.
        percent: Option<f64> ["%"] => "Share",
    }
}

table! {
    /// The hot path, without the internals of MPI, lines and loops.
    pub struct ReportHotPathRow => ReportHotPathTable {
        /// Id of the context in the database.
        context_id: u32,
        /// What it is called.
        context: String,
        /// Cost with everything below.
        inclusive: f64 [metric],
        /// Share of the program's cost.
        percent: Option<f64> ["%"] => "Share",
    }
}

table! {
    /// Totals of metrics.
    pub struct ReportMetricRow => ReportMetricTable {
        /// Name.
        metric: String,
        /// Sum over all locations, in the unit of the next column; undefined when a counter wrapped.
        total: Option<f64> [of unit],
        /// Unit.
        unit: String,
    }
}
