//! [`Finding`]: something that bounds a program, with its evidence and what to look at next.

use parallax_base::ContextIdx;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FindingKind {
    /// There are too few samples to say much.
    FewSamples,
    /// Communication.
    Mpi,
    /// Work that is spread unevenly.
    Imbalance,
    /// Threads that wait or are idle.
    OpenMp,
    /// Files.
    Io,
    /// Memory allocation.
    Memory,
    /// Locks.
    Locks,
    /// Sleeping and polling.
    Sleeping,
    /// GPUs, and the host code around them.
    Gpu,
    /// A function that costs much by itself.
    HotFunction,
    /// Locations that wait for others, by a trace of calls.
    Waiting,
    /// What the run time consists of, by a trace of calls.
    CriticalPath,
    /// GPUs without work.
    IdleGpu,
    /// Kernels whose instructions stall.
    GpuStalls,
    /// Contexts that are spread unevenly in the iterations of a program, by a trace.
    Iterations,
    /// Groups of ranks or nodes of which one is slow.
    Groups,
    /// What takes longer than in another execution.
    Slower,
    /// The measurement itself makes everything else doubtful: more threads than cores, a build
    /// without optimisation.
    Caution,
    /// Memory that was allocated and not freed.
    Leak,
    /// A metric whose values mean nothing.
    WrappedMetric,
}

/// A number that a finding rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What it is.
    pub what: String,
    /// The number.
    pub value: f64,
    /// Its unit symbol; `%` for shares.
    pub unit: String,
}

/// What tuning the code that takes most time saves, as part of that time: nobody knows before it is
/// done, so it counts as if it became a third faster.
const TUNED: f64 = 0.25;

/// What a finding promises, in per cent of the run: lost time can be saved as a whole, useful work
/// only in part.
fn promise(finding: &Finding) -> f64 {
    match finding.kind {
        FindingKind::HotFunction | FindingKind::CriticalPath => finding.percent * TUNED,
        _ => finding.percent,
    }
}

/// Puts findings in order: what makes all others doubtful first, then what they promise, memory
/// that is not freed and metrics that mean nothing last.
pub fn rank_findings(findings: &mut [Finding]) {
    let rank = |finding: &Finding| match finding.kind {
        FindingKind::FewSamples | FindingKind::Caution => 0,
        FindingKind::Leak => 2,
        FindingKind::WrappedMetric => 3,
        _ => 1,
    };
    findings.sort_by(|a, b| {
        (rank(a).cmp(&rank(b)))
            .then(promise(b).total_cmp(&promise(a)))
            .then(a.kind.cmp(&b.kind))
            .then(a.text.cmp(&b.text))
    });
}

/// What to look at next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextAction {
    /// Metrics, issues and contents of the experiment.
    Info,
    /// Load balance over locations.
    Balance,
    /// Callers of a function.
    Callers,
    /// When GPUs and threads are idle.
    Idleness,
    /// Which calls keep GPUs idle.
    GpuBlame,
    /// Where kernels stall, and why.
    GpuStalls,
    /// Repeated phases.
    Iterations,
    /// Clusters of ranks.
    RankClusters,
    /// Clusters of nodes.
    NodeClusters,
    /// Where the nodes of clusters of ranks are.
    RankRacks,
    /// Where the nodes of clusters are.
    NodeRacks,
    /// Wait states.
    Waits,
    /// The critical path.
    CriticalPath,
    /// Differences from another execution.
    Differences,
}

/// What to look at next, and at which contexts there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    /// What to look at.
    pub action: NextAction,
    /// The contexts to ask it about, as a context expression.
    pub contexts: Option<String>,
}

/// Something that bounds the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// One or two sentences.
    pub text: String,
    /// Share of the program's cost that is at stake, in per cent; where a saving shortens the run,
    /// or what the slowest take, share of that. Findings are in its order.
    pub percent: f64,
    /// The numbers that it rests on.
    pub evidence: Vec<Evidence>,
    /// A context to look at.
    pub context: Option<ContextIdx>,
    /// What to ask next.
    pub next: NextStep,
}
