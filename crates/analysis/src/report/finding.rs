//! [`Finding`]: something that bounds a program, with its evidence and what to look at next.

use parallax_base::{ContextIdx, Unit};

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
    /// What GPUs do beside computing: copies, and communication that nothing overlaps with.
    Gpu,
    /// Host code of the runtime of GPUs.
    GpuHost,
    /// A function that costs much by itself.
    HotFunction,
    /// Locations that wait for others, by a trace of calls.
    Waiting,
    /// What the run time consists of, by a trace of calls.
    CriticalPath,
    /// GPUs without work.
    IdleGpu,
    /// GPUs with work nearly all the time.
    BusyGpu,
    /// Kernels whose instructions stall.
    GpuStalls,
    /// Contexts that are spread unevenly in the iterations of a program, by a trace.
    Iterations,
    /// One iteration that takes far longer than all others.
    Stall,
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

/// What tuning the code that takes most time saves, as part of that time: it is unknown before it
/// is done, so it counts as if it became a third faster.
const TUNED: f64 = 0.25;

/// What a finding promises, in per cent of the run: lost time can be saved as a whole, useful work
/// only in part.
fn promise(finding: &Finding) -> f64 {
    match finding.kind {
        FindingKind::HotFunction | FindingKind::CriticalPath | FindingKind::BusyGpu => {
            finding.percent * TUNED
        }
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
    /// One of them.
    Stall,
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
    /// GPU streams that wait for late launches.
    LateLaunches,
    /// The critical path.
    CriticalPath,
    /// Differences from another execution.
    Differences,
}

/// What to look at next, and what is seen there.
#[derive(Debug, Clone, PartialEq)]
pub struct NextStep {
    /// What to look at.
    pub action: NextAction,
    /// Exactly the contexts to ask it about; none for all. A name would choose others, too.
    pub contexts: Vec<ContextIdx>,
    /// Of callers the called function, by its whole name.
    pub function: Option<String>,
    /// The number of the iteration that it is about.
    pub iteration: Option<u64>,
    /// The number of the finding that is shown for these; `None` where it is shown in parts.
    pub value: Option<f64>,
}

impl NextStep {
    /// About the whole experiment.
    #[must_use]
    pub const fn new(action: NextAction) -> Self {
        Self { action, contexts: Vec::new(), function: None, iteration: None, value: None }
    }

    /// The load balance of one context, where `value` is that of its slowest member.
    #[must_use]
    pub fn balance(context: ContextIdx, value: f64) -> Self {
        Self { contexts: vec![context], value: Some(value), ..Self::new(NextAction::Balance) }
    }

    /// The same with the number that is shown.
    #[must_use]
    pub fn showing(self, value: f64) -> Self {
        Self { value: Some(value), ..self }
    }
}

/// What would be saved, at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Potential {
    /// How much, in `unit`.
    pub amount: f64,
    /// Its unit: seconds, or that of the metric where it is no time.
    pub unit: Unit,
    /// The same as a share of the run, in per cent: of the time of the trace, or of what a member
    /// takes on average.
    pub percent: f64,
    /// On which condition: `if balanced`.
    pub condition: &'static str,
}

/// Something that bounds the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// What it is and where, in a few words.
    pub title: String,
    /// The cause, in a sentence or two.
    pub text: String,
    /// Share of the program's cost that is at stake, in per cent; where a saving shortens the run,
    /// or what the slowest take, share of that. Findings are in its order.
    pub percent: f64,
    /// What would be saved; `None` where that cannot be said.
    pub potential: Option<Potential>,
    /// The numbers that it rests on.
    pub evidence: Vec<Evidence>,
    /// The context that it is about; of several the one with the highest value.
    pub context: Option<ContextIdx>,
    /// What to ask next.
    pub next: NextStep,
}
