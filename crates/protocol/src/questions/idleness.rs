//! Idle time of threads and GPUs.

use super::NotesReply;
use crate::Experiment;
use crate::macros::{choice, one_of, question, table};

choice! {
    /// Where the times of threads come from.
    pub enum IdlenessSource {
        /// Traces where there are any, else profiles.
        Best = "best",
        /// Traces: exact times, not running included.
        Trace = "trace",
        /// Profiles: sampled times.
        Profile = "profile",
    }
}

question! {
    /// Idle time of threads and GPUs, and what threads did while GPUs were idle.
    "idleness" of Experiment,
    request IdlenessRequest {
        /// A metric expression for times from profiles; null for the metric that says most about
        /// time.
        metric: Option<String>,
        /// Where the times of threads come from.
        source: IdlenessSource,
        /// Instead, what threads did while the GPUs that they use were idle, from traces.
        blame: bool,
    }
    reply NotesReply,
    tables IdlenessTables {
        /// Threads; GPUs where no time of threads was measured; or calls.
        rows: IdlenessTable,
    }
}

one_of! {
    /// Idleness; the form depends on what was asked and measured.
    pub enum IdlenessTable {
        "threads" => Threads(ThreadIdlenessTable),
        "GPUs" => Gpus(GpuIdlenessTable),
        "blame" => Blame(GpuBlameTable),
    }
}

table! {
    /// Threads, helper threads included.
    pub struct ThreadIdlenessRow => ThreadIdlenessTable {
        /// Number of the profile.
        profile_id: u32,
        /// Thread.
        location: String,
        /// What the shares are of: span of the traces, or sampled time.
        whole: f64 [metric],
        /// Neither idle nor waiting, also not for a core, nor in MPI.
        working: f64 [metric],
        /// Not running, or idle in OpenMP.
        idle: f64 [metric],
        /// Share of the whole that is idle.
        idle_percent: f64 ["%"],
        /// No sample; 0 from profiles, where it is unknown.
        not_running: f64 [metric],
        /// In `<omp idle>`.
        openmp_idle: f64 [metric],
        /// Waiting, overhead and runtime code of OpenMP.
        openmp_wait: f64 [metric],
        /// In routines of MPI, waiting or not.
        mpi: f64 [metric],
        /// Locks, sleeping, polling, waiting for GPUs.
        other_wait: f64 [metric],
        /// Ready to run, while another thread had the core; only recordings of our own know it.
        without_core: f64 [metric],
        /// `thread`, or `helper` for threads that only wait for events.
        kind: &'static str,
    }
}

table! {
    /// GPUs, by rank or node where each has one of its own.
    pub struct GpuIdlenessRow => GpuIdlenessTable {
        /// Rank, node or GPU.
        group: String => "GPUs of",
        /// Number of GPU streams with samples.
        streams: u64,
        /// From the first to the last sample of its streams and of the threads that use it.
        trace_span: Option<f64> ["s"] => "Span",
        /// Time in which at least one stream was active.
        trace_active: Option<f64> ["s"] => "Active",
        /// trace_span - trace_active.
        trace_idle: Option<f64> ["s"] => "Idle",
        /// Share of trace_span that is idle.
        trace_idle_percent: Option<f64> ["%"] => "Idle",
        /// Time of the threads that launched GPU operations, from profiles.
        thread_time: Option<f64> ["s"],
        /// Time of GPU operations, from profiles.
        operation_time: Option<f64> ["s"],
        /// thread_time - operation_time.
        profile_idle: Option<f64> ["s"],
    }
}

table! {
    /// What threads did while GPUs were idle, the largest first.
    pub struct GpuBlameRow => GpuBlameTable {
        /// Share of the GPU idle time.
        idle_percent: f64 ["%"] => "Share",
        /// Blame (exclusive): idle time of a GPU, shared among the active threads of its ranks.
        idle: f64 ["s"],
        /// Blame (inclusive): the same including callees.
        idle_with_calls: f64 ["s"] => "Inclusive",
        /// Id of it in the database; nothing where no thread was active.
        context_id: Option<u64>,
        /// Call path of active threads, outermost first.
        call_path: String,
    }
}
