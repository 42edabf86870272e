//! Times of GPUs from times of their streams.
//!
//! A GPU is busy when any of its streams is. Profiles have a value for each stream, and their sum
//! counts the same moment several times where streams overlap. Where there is a trace, values of
//! times are multiplied by the part of the streams' time that is the GPU's: the union of the
//! intervals of all streams in a row's contexts, over their sum. Values that are no times are sums.

use std::collections::HashMap;

use parallax_base::{ContextIdx, Control, LocationIdx, TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextTree, Scope};

use super::{BalanceRequest, RowPlan};
use crate::devices::{Devices, visit_in_order};
use crate::taxonomy::gpu::idle_contexts;

/// GPUs of which several streams are compared.
pub(super) struct Streams {
    /// The tracks of the streams of each; empty where any of them has none.
    tracks: Vec<Vec<TrackIdx>>,
    /// The GPU of each location that is one of several streams.
    of_location: HashMap<u32, usize>,
    /// How many GPUs have values of their streams added up, because nothing says when they overlap.
    pub(super) num_added: usize,
}

impl Streams {
    /// Of the locations that are compared.
    pub(super) fn new(
        session: &Session,
        request: &BalanceRequest,
        locations: &[LocationIdx],
    ) -> Self {
        let x = session.experiment();
        let mut out = Self { tracks: Vec::new(), of_location: HashMap::new(), num_added: 0 };
        let devices = Devices::new(&x.locations);
        let mut streams: HashMap<_, Vec<LocationIdx>> = HashMap::new();
        for &location in locations.iter().filter(|&&own| x.locations.num_values(own) > 0) {
            if let Some(device) = devices.of(location) {
                streams.entry(device).or_default().push(location);
            }
        }
        let is_time = x.metrics.get(request.metric).unit.is_time();
        if !is_time || streams.values().all(|of| of.len() < 2) {
            return out;
        }
        let mut tracks: HashMap<LocationIdx, Vec<TrackIdx>> = HashMap::new();
        // A track without samples does not say when its stream was busy.
        let all = x.traces.iter().flat_map(|store| store.track_ids().zip(store.tracks()));
        for (track, described) in all.filter(|(_, t)| t.num_samples > 0) {
            tracks.entry(described.location).or_default().push(track);
        }
        for of in streams.into_values().filter(|of| of.len() > 1) {
            let own = |location: &LocationIdx| tracks.get(location).cloned();
            let found: Option<Vec<Vec<TrackIdx>>> = of.iter().map(own).collect();
            out.num_added += usize::from(found.is_none());
            let device = out.tracks.len();
            out.tracks.push(found.unwrap_or_default().concat());
            out.of_location.extend(of.into_iter().map(|location| (location.get(), device)));
        }
        out
    }

    /// By GPU and row, what values of its streams are multiplied by.
    pub(super) fn factors(
        &self,
        session: &Session,
        scope: &Scope,
        plans: &[RowPlan],
        control: &Control,
    ) -> Result<Factors<'_>, EngineError> {
        let mut out = Factors { streams: self, by_device: Vec::new() };
        if self.tracks.is_empty() {
            return Ok(out);
        }
        let tree = session.tree();
        let idle = idle_contexts(tree);
        let mut rows: HashMap<ContextIdx, Vec<usize>> = HashMap::new();
        for (row, plan) in plans.iter().enumerate() {
            for &(context, _) in plan.terms.iter().filter(|(_, weight)| *weight > 0.0) {
                rows.entry(context).or_default().push(row);
            }
        }
        let mut known: HashMap<ContextIdx, Vec<usize>> = HashMap::new();
        for tracks in &self.tracks {
            control.check()?;
            // Sum, union, and until when the union was counted.
            let mut times = vec![(0_u64, 0_u64, 0_u64); plans.len()];
            if let Some(store) = session.experiment().traces.as_deref() {
                visit_in_order(store, tracks, TimeWindow::ALL, &mut |interval| {
                    let context = tree.by_source_id(interval.context);
                    let is_busy = |context: &ContextIdx| idle.get(context.idx()) == Some(&false);
                    let Some(context) = context.filter(is_busy) else { return };
                    let of = known.entry(context).or_insert_with(|| {
                        let mut all: Vec<usize> = (within(tree, scope, context))
                            .filter_map(|above| rows.get(&above))
                            .flatten()
                            .copied()
                            .collect();
                        all.sort_unstable();
                        all.dedup();
                        all
                    });
                    let (start, end) = (interval.start_nanos, interval.end_nanos);
                    for &row in of.iter() {
                        let Some((sum, union, until)) = times.get_mut(row) else { continue };
                        *sum += end.saturating_sub(start);
                        *union += end.saturating_sub(start.max(*until));
                        *until = end.max(*until);
                    }
                })
                .map_err(EngineError::from)?;
            }
            let factor = |&(sum, union, _): &(u64, u64, u64)| {
                if union < sum { union as f64 / sum as f64 } else { 1.0 }
            };
            out.by_device.push(times.iter().map(factor).collect());
        }
        Ok(out)
    }
}

/// What values of streams are multiplied by.
pub(super) struct Factors<'a> {
    streams: &'a Streams,
    by_device: Vec<Vec<f64>>,
}

impl Factors<'_> {
    /// Of one location, in one row.
    pub(super) fn of(&self, location: u32, row: usize) -> f64 {
        if self.by_device.is_empty() {
            return 1.0;
        }
        let device = self.streams.of_location.get(&location);
        let of = device.and_then(|&device| self.by_device.get(device)?.get(row));
        of.copied().unwrap_or(1.0)
    }
}

/// The contexts to whose values in a scope the time of `context` belongs.
fn within<'a>(
    tree: &'a ContextTree,
    scope: &Scope,
    context: ContextIdx,
) -> impl Iterator<Item = ContextIdx> + use<'a> {
    let (is_inclusive, is_point) = (*scope == Scope::Inclusive, *scope == Scope::Point);
    std::iter::successors(Some(context), move |&own| {
        let goes_on = is_inclusive || (!is_point && !tree.relation(own).is_call());
        tree.parent(own).filter(|_| goes_on)
    })
}
