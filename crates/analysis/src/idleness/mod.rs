//! Idleness: when GPUs were idle, and when threads did not work.
//!
//! There is more than one definition, and every answer says which it used:
//!
//! - GPU, from traces ([`GpuTraced`]): a GPU is idle when none of its streams is active, whichever
//!   ranks they are of. Exact: the union of the intervals of all streams, not a count of pixels or samples.
//! - GPU, from profiles ([`GpuProfiled`]): the time of the threads that launched GPU operations
//!   minus the time of these operations (`gpu_idleness` of hpcanalysis). Operations that overlap
//!   are counted more than once, so it may be negative; it needs a metric of time in seconds.
//! - Who keeps a GPU idle ([`gpu_blame`]): what the threads of its rank did meanwhile.
//! - Threads, from traces ([`CpuSource::Trace`]): of the time from the first to the last sample of
//!   the whole execution, what a thread spent not running (no context, or before its first and
//!   after its last sample), idle in OpenMP, or waiting.
//! - Threads, from profiles ([`CpuSource::Profile`]): the same shares of the sampled time; time in
//!   which a thread did not run is not sampled and stays unknown.

mod blame;
mod cpu;
mod gpu;
pub(crate) mod groups;
mod work;

use parallax_base::{Control, LocationIdx, MetricIdx, Unit};
use parallax_engine::{EngineError, Session};
use parallax_model::{IdentityKind, LocationCatalog};

use crate::taxonomy::classes::Classes;

pub use blame::{ContextBlame, GpuBlame, NO_ACTIVE_THREAD, RankBlame, gpu_blame};
pub use work::{GpuWork, gpu_work};

/// Where the times of threads come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CpuSource {
    /// Samples in time.
    Trace,
    /// Sampled costs.
    Profile,
}

/// Which source to take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SourceChoice {
    /// Traces where there are any, else profiles.
    #[default]
    Best,
    /// Traces.
    Trace,
    /// Profiles.
    Profile,
}

/// What to look at.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct IdlenessOptions {
    /// The source of the times of threads.
    pub source: SourceChoice,
    /// The metric of time for answers from profiles; [`Session::default_metric`] when `None`.
    pub metric: Option<MetricIdx>,
}

/// A rank, a node where there are no ranks, or all of an execution that has neither; or a single GPU,
/// of a rank that has several, or that several ranks share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// A rank.
    Rank(u64),
    /// A node, by host id.
    Node(u64),
    /// Everything.
    All,
    /// A GPU.
    Gpu {
        /// The only rank that uses it.
        rank: Option<u64>,
        /// Where no single rank uses it, the node it is on, by host id.
        node: Option<u64>,
        /// Its number.
        number: u64,
    },
}

impl Group {
    /// The display name, in the words of an experiment.
    #[must_use]
    pub fn label(self, locations: &LocationCatalog) -> String {
        match self {
            Self::Rank(rank) => format!("{} {rank}", locations.word(IdentityKind::Rank)),
            Self::Node(node) => format!("node {node:#x}"),
            Self::All => "all".into(),
            Self::Gpu { rank: Some(rank), number, .. } => {
                format!("{} {rank} GPU {number}", locations.word(IdentityKind::Rank))
            }
            Self::Gpu { node: Some(node), number, .. } => format!("node {node:#x} GPU {number}"),
            Self::Gpu { number, .. } => format!("GPU {number}"),
        }
    }

    fn of(locations: &LocationCatalog, location: LocationIdx) -> Self {
        let id = |kind| locations.identity(location, kind);
        id(IdentityKind::Rank)
            .map(Self::Rank)
            .or_else(|| id(IdentityKind::Node).map(Self::Node))
            .unwrap_or(Self::All)
    }
}

/// GPU activity in traces, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuTraced {
    /// Number of streams with samples.
    pub num_streams: usize,
    /// From the first to the last sample of its streams and of the threads of ranks that use it.
    pub span_nanos: u64,
    /// From the first to the last sample of these threads; 0 where the trace has none of them.
    pub host_nanos: u64,
    /// Time in which at least one stream was active.
    pub active_nanos: u64,
    /// Sum of the times of all streams; more than [`GpuTraced::active_nanos`] where they overlap.
    pub sum_nanos: u64,
}

impl GpuTraced {
    /// `span - active`.
    #[must_use]
    pub const fn idle_nanos(self) -> u64 {
        self.span_nanos.saturating_sub(self.active_nanos)
    }

    /// Whether the trace shows what the host did for most of the time. Where it does not, nobody
    /// knows whether a GPU without work waits for the program, or for the measurement.
    #[must_use]
    pub const fn has_host(self) -> bool {
        2 * self.host_nanos >= self.span_nanos
    }
}

/// GPU activity of a rank in its profiles, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpuProfiled {
    /// Time of the threads that launched operations.
    pub thread_seconds: f64,
    /// Time of these operations (`GPUOP`).
    pub operation_seconds: f64,
}

impl GpuProfiled {
    /// `threads - operations`; negative when operations overlap more than threads wait.
    #[must_use]
    pub fn idle_seconds(self) -> f64 {
        self.thread_seconds - self.operation_seconds
    }
}

/// Idleness of one GPU; from profiles, of all GPUs of a rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpuRow {
    /// The GPU, or the rank, node or whole that it belongs to alone.
    pub group: Group,
    /// From traces; `None` when no stream has samples.
    pub traced: Option<GpuTraced>,
    /// From profiles; `None` without a metric of time in seconds, or without GPU operations.
    pub profiled: Option<GpuProfiled>,
}

/// What one thread did. Costs are in [`CpuIdleness::unit`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuTimes {
    /// What the shares are of: the span of the execution, or the sampled time of the thread.
    pub whole: f64,
    /// Not running; 0 from profiles, where it is unknown.
    pub not_running: f64,
    /// `<omp idle>`.
    pub openmp_idle: f64,
    /// `<omp … wait>`, overhead, and code of OpenMP runtimes.
    pub openmp_wait: f64,
    /// Routines of MPI, waiting or not.
    pub mpi: f64,
    /// Locks, sleeping, polling, and waiting for GPUs.
    pub other_wait: f64,
    /// Ready to run, while another thread had the core; only recordings of our own know it.
    pub without_core: f64,
}

impl CpuTimes {
    /// Not running or idle in OpenMP.
    #[must_use]
    pub fn idle(&self) -> f64 {
        self.not_running + self.openmp_idle
    }

    /// Everything else than idling, waiting, waiting for a core, and MPI.
    #[must_use]
    pub fn working(&self) -> f64 {
        let waiting = self.openmp_wait + self.mpi + self.other_wait + self.without_core;
        (self.whole - self.idle() - waiting).max(0.0)
    }

    /// A part of the whole in per cent; 0 of nothing.
    #[must_use]
    pub fn percent(&self, part: f64) -> f64 {
        percent(part, self.whole)
    }

    fn add(&mut self, other: &Self) {
        self.whole += other.whole;
        self.not_running += other.not_running;
        self.openmp_idle += other.openmp_idle;
        self.openmp_wait += other.openmp_wait;
        self.mpi += other.mpi;
        self.other_wait += other.other_wait;
        self.without_core += other.without_core;
    }
}

/// What one thread did.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuRow {
    /// The thread.
    pub location: LocationIdx,
    /// The display name.
    pub label: String,
    /// Its times.
    pub times: CpuTimes,
    /// Whether it only waits for events on behalf of MPI or the measurement; such threads are not
    /// in [`CpuIdleness::total`].
    pub is_helper: bool,
}

/// What threads did.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuIdleness {
    /// Where the times come from.
    pub source: CpuSource,
    /// What is counted: `trace time`, or the name of the metric.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Threads with samples, in the order of lists for users.
    pub rows: Vec<CpuRow>,
    /// Sum over all threads that are no helpers.
    pub total: CpuTimes,
}

/// When GPUs were idle, and when threads did not work.
#[derive(Debug, Clone, PartialEq)]
pub struct Idleness {
    /// By GPU, in the order of ranks; empty for executions without GPUs.
    pub gpu: Vec<GpuRow>,
    /// By thread; `None` when neither traces nor times are there.
    pub cpu: Option<CpuIdleness>,
    /// What was used, and what was missing, in sentences for users.
    pub notes: Vec<String>,
}

/// Finds out how long GPUs and threads were idle.
///
/// # Errors
/// When traces are asked for and there are none, when samples or values cannot be read, or when
/// the question is withdrawn.
pub fn idleness(
    session: &Session,
    options: &IdlenessOptions,
    control: &Control,
) -> Result<Idleness, EngineError> {
    let classes = Classes::new(session.tree());
    let mut notes = Vec::new();
    let gpu = gpu::gpu_rows(session, options, &mut notes, control)?;
    let cpu = cpu::cpu_rows(session, options, &classes, &mut notes, control)?;
    Ok(Idleness { gpu, cpu, notes })
}

/// A part of a whole in per cent; 0 of nothing.
fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole * 100.0 } else { 0.0 }
}

/// The metric of time that answers from profiles use; `None` when none measures threads.
fn time_metric(
    session: &Session,
    options: &IdlenessOptions,
    control: &Control,
) -> Result<Option<MetricIdx>, EngineError> {
    if let Some(metric) = options.metric {
        return Ok(Some(metric));
    }
    let metric = match session.default_metric(control) {
        Ok(chosen) => chosen.metric,
        Err(EngineError::Missing { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let described = session.experiment().metrics.get(metric);
    let is_time = described.unit.is_time() || described.unit == Unit::Cycles;
    // Metrics of GPUs are counted to the threads that launched the operations.
    let is_gpu = ["GPUOP", "GKER", "GMEM", "GMSET", "GXCOPY", "GICOPY", "GSYNC"]
        .iter()
        .any(|family| described.name.starts_with(family));
    Ok(Some(metric).filter(|_| is_time && !is_gpu))
}
