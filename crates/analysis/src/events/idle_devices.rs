//! How long GPUs do nothing because their next work is launched late, and how long they do nothing but
//! communicate.
//!
//! A stream that waits for its next launch costs nothing while another stream of its GPU works: a
//! program that uses several streams one after the other has waiting streams all the time, and a
//! busy GPU. So late launches count where the whole GPU is idle, which is outside of the union of
//! the work of all its streams, and only until the work is launched with which the GPU goes on: what
//! follows until it starts is launch latency, whatever other streams wait for.

use std::collections::BTreeMap;

use parallax_base::{ContextIdx, Control, LocationIdx, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};

use super::gpu::outermost;
use super::waits::{Wait, WaitKind};
use crate::devices::{DeviceId, Devices};
use crate::taxonomy::gpu::idle_contexts;
use crate::taxonomy::is_collective_kernel;

/// What late launches and communication cost one GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleDevice {
    /// What it is called.
    pub label: String,
    /// Its streams.
    pub streams: Vec<TrackIdx>,
    /// Time between its first and its last work in which none of them works.
    pub idle_nanos: u64,
    /// The part of it until the work is launched that comes next.
    pub late_nanos: u64,
    /// How many launches that part ends with.
    pub num_launches: u64,
    /// The same part by the thread that launches.
    pub by_thread: BTreeMap<TrackIdx, u64>,
    /// Time in which it executes kernels of collective operations and nothing else.
    pub communicating_nanos: u64,
    /// Sum of the times of kernels of collective operations, by the outermost context.
    pub collectives: BTreeMap<ContextIdx, u128>,
}

/// What the late launches among `waits`, and communication, cost each GPU, in the order of GPUs.
///
/// # Errors
/// When the trace cannot be read, or the question is withdrawn.
pub fn idle_devices(
    session: &Session,
    waits: &[Wait],
    control: &Control,
) -> Result<Vec<IdleDevice>, EngineError> {
    let (store, tree) = (session.traces()?, session.tree());
    let devices = Devices::new(&session.experiment().locations);
    let mut of: BTreeMap<DeviceId, Vec<(TrackIdx, LocationIdx)>> = BTreeMap::new();
    for (track, described) in store.track_ids().zip(store.tracks()) {
        if let Some(device) = devices.of(described.location) {
            of.entry(device).or_default().push((track, described.location));
        }
    }
    let mut late: BTreeMap<TrackIdx, Vec<&Wait>> = BTreeMap::new();
    for wait in waits.iter().filter(|wait| wait.kind == WaitKind::LateLaunch) {
        late.entry(wait.track).or_default().push(wait);
    }
    late.values_mut().for_each(|list| list.sort_by_key(|wait| wait.start_nanos));
    let is_work =
        outermost(tree, &idle_contexts(tree).iter().map(|idle| !idle).collect::<Vec<_>>());
    control.begin(of.len() as u64);
    let found = threads::map(of.into_values().collect(), |tracks: Vec<(TrackIdx, LocationIdx)>| {
        let mut work: Vec<Work> = Vec::new();
        let mut others: Vec<(u64, u64)> = Vec::new();
        let mut collectives: BTreeMap<ContextIdx, u128> = BTreeMap::new();
        for &(track, _) in &tracks {
            store.visit_calls(track, TimeWindow::ALL, &mut |call| {
                let context = tree.by_source_id(call.context);
                let Some(context) = context.filter(|at| is_work.get(at.idx()) == Some(&true))
                else {
                    return;
                };
                work.push((call.start_nanos, call.end_nanos, track));
                if is_collective_kernel(tree.function_name(context).unwrap_or("")) {
                    let nanos = call.end_nanos - call.start_nanos;
                    *collectives.entry(context).or_default() += u128::from(nanos);
                } else {
                    others.push((call.start_nanos, call.end_nanos));
                }
            })?;
        }
        control.advance(1)?;
        // A GPU without work is none that waits for any.
        if work.is_empty() {
            return Ok(None);
        }
        let busy_nanos = union(work.iter().map(|work| (work.0, work.1)).collect());
        let gaps = gaps(work);
        let mut locations: Vec<LocationIdx> = tracks.iter().map(|(_, at)| *at).collect();
        locations.dedup();
        let mut out = IdleDevice {
            label: devices.label(&locations),
            streams: tracks.iter().map(|(track, _)| *track).collect(),
            idle_nanos: gaps.iter().map(|gap| gap.end_nanos - gap.start_nanos).sum(),
            late_nanos: 0,
            num_launches: 0,
            by_thread: BTreeMap::new(),
            communicating_nanos: busy_nanos - union(others),
            collectives,
        };
        for gap in &gaps {
            out.add(gap, &late);
        }
        Ok::<_, EngineError>(Some(out))
    });
    found.into_iter().filter_map(Result::transpose).collect()
}

/// Time in any of several intervals.
fn union(mut intervals: Vec<(u64, u64)>) -> u64 {
    intervals.sort_unstable();
    let (mut sum, mut end) = (0, 0);
    for (start, stop) in intervals {
        sum += stop.saturating_sub(start.max(end));
        end = end.max(stop);
    }
    sum
}

/// Start, end and track of some work.
type Work = (u64, u64, TrackIdx);

/// A time in which no stream of a GPU works.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Gap {
    start_nanos: u64,
    end_nanos: u64,
    /// The streams that work then.
    ended_by: Vec<TrackIdx>,
}

impl IdleDevice {
    /// Adds a time in which nothing works. `late` has the waits of each stream in order of time.
    fn add(&mut self, gap: &Gap, late: &BTreeMap<TrackIdx, Vec<&Wait>>) {
        // The wait of a stream for the work that ends the gap; none where it was launched in time.
        let of = |track: &TrackIdx| {
            let list = late.get(track)?;
            let next = list.partition_point(|wait| wait.start_nanos < gap.end_nanos);
            let wait = list.get(next.checked_sub(1)?)?;
            (wait.end_nanos > gap.start_nanos).then_some(*wait)
        };
        let waits: Option<Vec<&Wait>> = gap.ended_by.iter().map(of).collect();
        let first = waits.into_iter().flatten().min_by_key(|wait| (wait.end_nanos, wait.track));
        let Some(wait) = first else { return };
        let from = gap.start_nanos.max(wait.start_nanos);
        let nanos = wait.end_nanos.min(gap.end_nanos).saturating_sub(from);
        if nanos > 0 {
            self.late_nanos += nanos;
            self.num_launches += 1;
            *self.by_thread.entry(wait.delayed_by).or_default() += nanos;
        }
    }
}

/// What lies between pieces of work. What lies before the first one is the start of the program, or
/// of the recording.
fn gaps(mut work: Vec<Work>) -> Vec<Gap> {
    work.sort_unstable();
    let mut out: Vec<Gap> = Vec::new();
    let mut end = work.first().map_or(0, |work| work.0);
    for (start_nanos, stop, track) in work {
        match out.last_mut() {
            Some(gap) if gap.end_nanos == start_nanos => gap.ended_by.push(track),
            _ if start_nanos > end => {
                out.push(Gap { start_nanos: end, end_nanos: start_nanos, ended_by: vec![track] });
            }
            _ => {}
        }
        end = end.max(stop);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::waits::Basis;
    use super::*;

    fn late(track: u32, start_nanos: u64, end_nanos: u64) -> Wait {
        Wait {
            kind: WaitKind::LateLaunch,
            track: TrackIdx::new(track),
            delayed_by: TrackIdx::new(9),
            context: ContextIdx::new(1),
            start_nanos,
            end_nanos,
            call_start_nanos: start_nanos,
            call_end_nanos: end_nanos,
            basis: Basis::Recorded,
        }
    }

    #[test]
    fn a_stream_that_waits_while_another_one_works_costs_nothing() {
        let (a, b) = (TrackIdx::new(1), TrackIdx::new(2));
        // Two streams take turns: nothing works from 40 to 50.
        let work = vec![(0, 20, a), (20, 40, b), (50, 90, a), (60, 70, b)];
        let gaps = gaps(work);
        let times: Vec<_> = gaps.iter().map(|gap| (gap.start_nanos, gap.end_nanos)).collect();
        assert_eq!(times, [(40, 50)]);
        assert_eq!(gaps[0].ended_by, [a]);
        // The first waits from 20 to 48, the second until 18 and from 40 to 59: 65 in all.
        let waits = [late(1, 20, 48), late(2, 0, 18), late(2, 40, 59)];
        let mut by_track: BTreeMap<TrackIdx, Vec<&Wait>> = BTreeMap::new();
        waits.iter().for_each(|wait| by_track.entry(wait.track).or_default().push(wait));
        let mut device = IdleDevice {
            label: String::new(),
            streams: Vec::new(),
            idle_nanos: 10,
            late_nanos: 0,
            num_launches: 0,
            by_thread: BTreeMap::new(),
            communicating_nanos: 0,
            collectives: BTreeMap::new(),
        };
        gaps.iter().for_each(|gap| device.add(gap, &by_track));
        // The GPU goes on with work that is launched at 48; the rest is launch latency.
        assert_eq!((device.late_nanos, device.num_launches), (8, 1));
        assert_eq!(device.by_thread, BTreeMap::from([(TrackIdx::new(9), 8)]));
    }
}
