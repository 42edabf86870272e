//! Stalls of GPU instructions.

use serde::Serialize;

use crate::Experiment;
use crate::macros::{choice, question, table};

choice! {
    /// What the rows of stalls are.
    pub enum GpuStallsBy {
        /// Kernels, with all that they call on the device.
        Kernel = "kernel",
        /// Functions on the device, each without what it calls.
        Function = "function",
        /// Source lines.
        Line = "line",
        /// Machine instructions.
        Instruction = "instruction",
    }
}

question! {
    /// Where instructions of GPUs stall and why, by instruction sampling; see
    /// [gpu-stalls.md](gpu-stalls.md).
    "gpu_stalls" of Experiment,
    request GpuStallsRequest {
        /// What the rows are.
        by: GpuStallsBy,
        /// Only the kernel of this name, or those that match this glob; null for all.
        kernel: Option<String>,
        /// Which locations; null for all.
        profiles: Option<String>,
    }
    reply GpuStallsReply,
    tables GpuStallsTables {
        /// Kernels, functions, lines or instructions.
        rows: GpuStallTable,
        /// The reasons of the stalls of these rows together.
        reasons: GpuStallReasonTable,
        /// Exposed stalls of each row by reason.
        stalls: GpuStallPartTable,
    }
}

/// The reply to `gpu_stalls`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct GpuStallsReply {
    /// GPU cycles of the rows, as sampling estimates them.
    pub cycles: f64,
    /// Share of these in which an instruction was issued, in per cent; null where that was not
    /// recorded.
    pub issue_percent: Option<f64>,
    /// Share in which an instruction stalled while another one was issued; null where these count
    /// as issued.
    pub hidden_percent: Option<f64>,
    /// Share in which no instruction was issued; null where that was not recorded.
    pub exposed_percent: Option<f64>,
    /// About how many samples the rows stand on; null where that is not known.
    pub samples: Option<f64>,
    /// Time of all kernels, in seconds; null where it was not measured.
    pub kernel_s: Option<f64>,
    /// Remarks.
    pub notes: Vec<String>,
}

table! {
    /// Where kernels stall, most cycles first.
    pub struct GpuStallRow => GpuStallTable {
        /// The kernel.
        kernel: String,
        /// The function on the device; empty where it is not known, and for kernels.
        function: String,
        /// The source file; empty where it is not known.
        file: String,
        /// The line in it; null where it is not known.
        line: Option<u32>,
        /// Load module and offset; empty but for instructions.
        instruction: String,
        /// Estimated GPU cycles.
        cycles: f64 ["cycles"],
        /// Share of the cycles of all rows.
        cycles_percent: f64 ["%"] => "Share",
        /// Share of these cycles in which an instruction was issued.
        issue_percent: Option<f64> ["%"] => "Issue rate",
        /// Share of these cycles in which the instruction stalled while another one was issued.
        hidden_percent: Option<f64> ["%"] => "Hidden stalls",
        /// Share of these cycles in which no instruction was issued.
        exposed_percent: Option<f64> ["%"] => "Exposed stalls",
        /// The most frequent reason of exposed stalls.
        reason: Option<&'static str>,
        /// Share of these cycles that are exposed for that reason.
        reason_percent: Option<f64> ["%"] => "For that reason",
        /// About how many samples the row stands on; null where that is not known.
        samples: Option<f64>,
        /// Time of the kernel; null for other rows and where it was not measured.
        kernel_s: Option<f64> ["s"] => "Kernel time",
        /// Id in the database of the context with most cycles.
        context_id: u32,
    }
}

table! {
    /// Reasons of exposed stalls, the most frequent first.
    pub struct GpuStallReasonRow => GpuStallReasonTable {
        /// Name of the reason.
        reason: &'static str,
        /// How names of metrics end.
        code: &'static str,
        /// What it has in common with others: memory, dependency, compute, synchronisation,
        /// instruction fetch or other.
        group: &'static str,
        /// Estimated GPU cycles.
        cycles: f64 ["cycles"],
        /// Share of all cycles.
        cycles_percent: f64 ["%"] => "Share",
        /// Share of all exposed stalls.
        stalls_percent: f64 ["%"] => "Share of stalls",
        /// What it means.
        meaning: &'static str,
        /// What one usually does about it; empty where nothing can be done.
        remedy: &'static str,
    }
}

table! {
    /// Exposed stalls of a row for one reason; row after row, in each the most frequent first.
    pub struct GpuStallPartRow => GpuStallPartTable {
        /// Number of the row among `rows`, from 0.
        row: u32,
        /// Name of the reason.
        reason: &'static str,
        /// What it has in common with others.
        group: &'static str,
        /// Estimated GPU cycles.
        cycles: f64 ["cycles"],
        /// Share of the cycles of the row.
        cycles_percent: f64 ["%"] => "Share",
    }
}
