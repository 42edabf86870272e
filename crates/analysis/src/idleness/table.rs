//! The answers as tables.

use parallax_engine::{Column, Table};

use super::{CpuIdleness, CpuTimes, GpuProfiled, GpuRow, GpuTraced, Idleness};

impl Idleness {
    /// GPU idleness, a line per rank.
    #[must_use]
    pub fn gpu_table(&self) -> Table {
        let rows = &self.gpu;
        let traced = |of: fn(GpuTraced) -> f64| -> Vec<Option<f64>> {
            rows.iter().map(|row: &GpuRow| row.traced.map(of)).collect()
        };
        let profiled = |of: fn(GpuProfiled) -> f64| -> Vec<Option<f64>> {
            rows.iter().map(|row: &GpuRow| row.profiled.map(of)).collect()
        };
        Table::new(vec![
            Column::strings("group", "Rank or node.", rows.iter().map(|row| row.group.label())),
            Column::u64s(
                "streams",
                "",
                "Number of GPU streams with samples.",
                rows.iter().map(|row| row.traced.map_or(0, |t| t.num_streams as u64)).collect(),
            ),
            Column::optional_f64s(
                "trace_span",
                "s",
                "From the first to the last sample of the rank.",
                traced(|t| t.span_nanos as f64 / 1e9),
            ),
            Column::optional_f64s(
                "trace_active",
                "s",
                "Time in which at least one stream was active.",
                traced(|t| t.active_nanos as f64 / 1e9),
            ),
            Column::optional_f64s(
                "trace_idle",
                "s",
                "trace_span - trace_active.",
                traced(|t| t.idle_nanos() as f64 / 1e9),
            ),
            Column::optional_f64s(
                "trace_idle_percent",
                "%",
                "Share of trace_span that is idle.",
                rows.iter()
                    .map(|row| row.traced.filter(|t| t.span_nanos > 0))
                    .map(|t| t.map(|t| t.idle_nanos() as f64 / t.span_nanos as f64 * 100.0))
                    .collect(),
            ),
            Column::optional_f64s(
                "thread_time",
                "s",
                "Time of the threads that launched GPU operations, from profiles.",
                profiled(|p| p.thread_seconds),
            ),
            Column::optional_f64s(
                "operation_time",
                "s",
                "Time of GPU operations, from profiles.",
                profiled(|p| p.operation_seconds),
            ),
            Column::optional_f64s(
                "profile_idle",
                "s",
                "thread_time - operation_time.",
                profiled(GpuProfiled::idle_seconds),
            ),
        ])
    }
}

impl CpuIdleness {
    /// A line per thread, helper threads included.
    #[must_use]
    pub fn to_table(&self) -> Table {
        let rows = &self.rows;
        let unit = self.unit.to_string();
        let cost = |name: &str, doc: &'static str, of: fn(&CpuTimes) -> f64| {
            Column::f64s(name, &unit, doc, rows.iter().map(|row| of(&row.times)).collect())
        };
        Table::new(vec![
            Column::u32s(
                "profile_id",
                "Number of the profile.",
                rows.iter().map(|row| row.location.get()).collect(),
            ),
            Column::strings("location", "Thread.", rows.iter().map(|row| &*row.label)),
            cost("whole", "What the shares are of: span of the traces, or sampled time.", |t| {
                t.whole
            }),
            cost("working", "Neither idle nor waiting nor in MPI.", CpuTimes::working),
            cost("idle", "Not running, or idle in OpenMP.", CpuTimes::idle),
            Column::f64s(
                "idle_percent",
                "%",
                "Share of the whole that is idle.",
                rows.iter().map(|row| row.times.percent(row.times.idle())).collect(),
            ),
            cost("not_running", "No sample; 0 from profiles, where it is unknown.", |t| {
                t.not_running
            }),
            cost("openmp_idle", "In <omp idle>.", |t| t.openmp_idle),
            cost("openmp_wait", "Waiting, overhead and runtime code of OpenMP.", |t| t.openmp_wait),
            cost("mpi", "In routines of MPI, waiting or not.", |t| t.mpi),
            cost("other_wait", "Locks, sleeping, polling, waiting for GPUs.", |t| t.other_wait),
            Column::strings(
                "kind",
                "`thread`, or `helper` for threads that only wait for events.",
                rows.iter().map(|row| if row.is_helper { "helper" } else { "thread" }),
            ),
        ])
    }
}
