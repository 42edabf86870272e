//! Idleness of GPUs.

use std::collections::BTreeMap;

use parallax_base::{Control, LocationIdx, MetricIdx, TimeWindow, Unit};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextTree, Scope, TraceStore};

use super::{GpuProfiled, GpuRow, GpuTraced, Group, IdlenessOptions, groups, time_metric};
use crate::balance::read::{SliceParts, visit_values};
use crate::taxonomy::gpu::idle_contexts;

pub(super) fn gpu_rows(
    session: &Session,
    options: &IdlenessOptions,
    notes: &mut Vec<String>,
    control: &Control,
) -> Result<Vec<GpuRow>, EngineError> {
    let mut rows: BTreeMap<Group, GpuRow> = BTreeMap::new();
    let empty = |group| GpuRow { group, traced: None, profiled: None };
    if let Some(store) = session.experiment().traces.as_deref() {
        for (group, traced) in traced(session, store, control)? {
            rows.entry(group).or_insert_with(|| empty(group)).traced = Some(traced);
        }
    }
    let has_traced = !rows.is_empty();
    let profiled = profiled(session, options, control)?;
    let has_profiled = profiled.as_ref().is_some_and(|list| !list.is_empty());
    for (group, profiled) in profiled.into_iter().flatten() {
        rows.entry(group).or_insert_with(|| empty(group)).profiled = Some(profiled);
    }
    if has_traced {
        notes.push(
            "GPU idle time from traces: time without an active stream of the GPU, as a share of \
             the span of samples."
                .into(),
        );
    }
    if has_profiled {
        notes.push(
            "GPU idle time from profiles: time of the threads that launch GPU operations minus the \
             time of these operations."
                .into(),
        );
    }
    Ok(rows.into_values().collect())
}

/// A time at which a stream becomes active or stops.
fn sweep(mut intervals: Vec<(u64, u64)>) -> (u64, u64) {
    intervals.sort_unstable();
    let (mut union, mut sum, mut end) = (0_u64, 0_u64, 0_u64);
    for (start, stop) in intervals {
        sum = sum.saturating_add(stop - start);
        union += stop.saturating_sub(start.max(end));
        end = end.max(stop);
    }
    (union, sum)
}

fn traced(
    session: &Session,
    store: &dyn TraceStore,
    control: &Control,
) -> Result<Vec<(Group, GpuTraced)>, EngineError> {
    let tree = session.tree();
    let is_idle = idle_contexts(tree);
    let mut out = Vec::new();
    for (group, members) in groups::by_gpu(session, store)? {
        let (mut first, mut last) = (u64::MAX, 0);
        let mut host: Option<(u64, u64)> = None;
        let mut active = Vec::new();
        let mut num_streams = 0;
        let streams = members.streams.into_iter().map(|track| (track, true));
        let threads = members.threads.into_iter().map(|track| (track, false));
        for (track, gpu) in streams.chain(threads) {
            control.check()?;
            let mut has_samples = false;
            store.visit(track, TimeWindow::ALL, &mut |interval| {
                has_samples = true;
                first = first.min(interval.start_nanos);
                last = last.max(interval.end_nanos);
                let is_active = interval.context != 0
                    && tree
                        .by_source_id(interval.context)
                        .is_none_or(|context| !is_idle[context.idx()]);
                if !gpu {
                    let (from, to) = host.unwrap_or((u64::MAX, 0));
                    host = Some((from.min(interval.start_nanos), to.max(interval.end_nanos)));
                }
                if gpu && is_active && interval.end_nanos > interval.start_nanos {
                    active.push((interval.start_nanos, interval.end_nanos));
                }
            })?;
            num_streams += usize::from(gpu && has_samples);
        }
        if num_streams > 0 {
            let (active_nanos, sum_nanos) = sweep(active);
            let span_nanos = last.saturating_sub(first);
            let host_nanos = host.map_or(0, |(from, to)| to.saturating_sub(from));
            let traced = GpuTraced { num_streams, span_nanos, host_nanos, active_nanos, sum_nanos };
            out.push((group, traced));
        }
    }
    Ok(out)
}

/// The values of the whole execution by location.
fn roots(
    session: &Session,
    metric: MetricIdx,
    locations: &[LocationIdx],
    control: &Control,
) -> Result<BTreeMap<u32, f64>, EngineError> {
    let mut out = BTreeMap::new();
    if let Some(id) = session.experiment().metrics.get(metric).id_in(&Scope::Inclusive) {
        let parts = SliceParts { locations, metric: id };
        visit_values(session, &parts, &[ContextTree::ROOT], control, |location, _, value| {
            if value.is_finite() {
                *out.entry(location).or_default() += value;
            }
        })?;
    }
    Ok(out)
}

fn profiled(
    session: &Session,
    options: &IdlenessOptions,
    control: &Control,
) -> Result<Option<Vec<(Group, GpuProfiled)>>, EngineError> {
    let x = session.experiment();
    let operations = x.metrics.iter().find(|(_, m)| m.name.eq_ignore_ascii_case("gpuop"));
    let (Some((operations, _)), true) = (operations, x.profiles.is_some()) else {
        return Ok(None);
    };
    let Some(time) = time_metric(session, options, control)? else { return Ok(None) };
    if x.metrics.get(time).unit != Unit::Seconds {
        return Ok(None);
    }
    let locations: Vec<LocationIdx> = x.locations.iter().collect();
    let operations = roots(session, operations, &locations, control)?;
    let time = roots(session, time, &locations, control)?;
    let mut groups: BTreeMap<Group, GpuProfiled> = BTreeMap::new();
    for (location, operation) in operations {
        let group = Group::of(&x.locations, LocationIdx::new(location));
        let empty = GpuProfiled { thread_seconds: 0.0, operation_seconds: 0.0 };
        let row = groups.entry(group).or_insert(empty);
        row.operation_seconds += operation;
        row.thread_seconds += time.get(&location).copied().unwrap_or(0.0);
    }
    Ok(Some(groups.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_streams_are_active_once() {
        let intervals = vec![(10, 20), (15, 30), (40, 50), (42, 44), (50, 55)];
        assert_eq!(sweep(intervals), (35, 42));
        assert_eq!(sweep(vec![]), (0, 0));
    }
}
