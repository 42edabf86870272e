//! What is compared: threads with threads, and GPUs with GPUs.

use std::collections::{BTreeMap, HashMap};

use parallax_base::{ContextIdx, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::ContextTree;

use super::LocationGroup;
use super::cube::Units;
use super::visits::idle_contexts;
use crate::devices::Devices;
use crate::taxonomy::CostClass;
use crate::taxonomy::classes::Classes;
use crate::taxonomy::gpu::copying_contexts;

/// A location takes part when it is active for at least this part of the busiest one of its kind.
const LEAST_ACTIVE: f64 = 0.02;
/// GPUs are examined first when they are active for this part of the time of threads.
const GPU_FIRST: f64 = 0.2;

/// One of those that are compared: a thread, or a GPU.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Location {
    /// Its tracks in the store: of a GPU, one for each stream.
    pub(super) tracks: Vec<TrackIdx>,
    /// Time in which they do something, streams added up.
    pub(super) active_nanos: u64,
    /// The part of it that copies or sets memory of a GPU.
    copying_nanos: u64,
}

/// Locations of one kind, without those that do hardly anything.
pub(super) struct Group {
    pub(super) kind: LocationGroup,
    pub(super) locations: Vec<Location>,
    /// Whether any of them is a GPU with several streams.
    pub(super) is_merged: bool,
    /// How many were left out because they only copy, while others compute.
    pub(super) num_copying: usize,
}

/// All of them, the kind to look at first at the beginning.
pub(super) struct Groups {
    pub(super) list: Vec<Group>,
    /// How many units have any time.
    pub(super) num_units: usize,
}

/// What some tracks do.
struct Seen {
    /// Track, time in which it is active, and the part of it that copies.
    tracks: Vec<(TrackIdx, u64, u64)>,
    /// By position in the tree, whether a context has time.
    contexts: Vec<bool>,
}

impl Groups {
    pub(super) fn new(
        session: &Session,
        tracks: &[TrackIdx],
        window: TimeWindow,
        units: &Units,
    ) -> Result<Self, EngineError> {
        let locations = &session.experiment().locations;
        let store = session.traces()?;
        let parts = activity(session, tracks, window)?;
        let mut seen = vec![false; session.tree().len()];
        let devices = Devices::new(locations);
        let mut of_device = HashMap::new();
        let mut found: BTreeMap<LocationGroup, Vec<Location>> = BTreeMap::new();
        for part in parts {
            for context in session.tree().iter() {
                let unit = units.of(context).filter(|_| part.contexts[context.idx()]);
                if let Some(slot) = unit.and_then(|unit| seen.get_mut(unit.idx())) {
                    *slot = true;
                }
            }
            for (track, active_nanos, copying_nanos) in part.tracks {
                let Some(described) = store.track(track) else { continue };
                let kind = LocationGroup::of(locations, described.location);
                let list = found.entry(kind).or_default();
                let own = Location { tracks: vec![track], active_nanos, copying_nanos };
                let Some(device) = devices.of(described.location) else {
                    list.push(own);
                    continue;
                };
                let at = *of_device.entry(device).or_insert(list.len());
                match list.get_mut(at) {
                    Some(known) => {
                        known.tracks.push(track);
                        known.active_nanos += active_nanos;
                        known.copying_nanos += copying_nanos;
                    }
                    None => list.push(own),
                }
            }
        }
        let num_units = seen.into_iter().filter(|is_seen| *is_seen).count();
        let mut out: Vec<(Group, f64)> = Vec::new();
        for (kind, mut list) in found {
            let computes = |location: &Location| location.active_nanos > location.copying_nanos;
            let all = list.len();
            if kind == LocationGroup::GpuStreams && list.iter().any(computes) {
                list.retain(|location| computes(location) || location.active_nanos == 0);
            }
            let num_copying = all - list.len();
            let most = list.iter().map(|location| location.active_nanos).max().unwrap_or(0);
            let least = LEAST_ACTIVE * most as f64;
            list.retain(|own| own.active_nanos > 0 && own.active_nanos as f64 >= least);
            let active = |own: &Location| own.active_nanos.min(window.nanos()) as f64;
            let mean = list.iter().map(active).sum::<f64>() / list.len().max(1) as f64;
            if !list.is_empty() {
                let is_merged = list.iter().any(|location| location.tracks.len() > 1);
                out.push((Group { kind, locations: list, is_merged, num_copying }, mean));
            }
        }
        let threads = out.iter().find(|(group, _)| group.kind == LocationGroup::FirstThreads);
        let least = threads.map_or(0.0, |(_, mean)| mean * GPU_FIRST);
        out.sort_by_key(|(group, mean)| {
            (group.kind == LocationGroup::GpuStreams && *mean < least, group.kind)
        });
        Ok(Self { list: out.into_iter().map(|(group, _)| group).collect(), num_units })
    }
}

/// How long each track is active, and in which contexts, in parts.
fn activity(
    session: &Session,
    tracks: &[TrackIdx],
    window: TimeWindow,
) -> Result<Vec<Seen>, EngineError> {
    let store = session.traces()?;
    let tree = session.tree();
    let idle = idle_contexts(tree);
    let copies = copying_contexts(tree);
    let classes = Classes::new(tree);
    let is_helper: Vec<bool> =
        classes.of_context.iter().map(|class| *class == CostClass::HelperThreads).collect();
    let is = |list: &[bool], context: ContextIdx| list.get(context.idx()) == Some(&true);
    let records = |at: usize| {
        tracks.get(at).and_then(|&track| store.track(track)).map_or(0, |t| t.num_samples)
    };
    let parts = threads::map(threads::ranges(tracks.len(), records), |range| {
        let mut seen = Seen { tracks: Vec::new(), contexts: vec![false; tree.len()] };
        for &track in tracks.get(range).unwrap_or_default() {
            if store.track(track).is_none_or(|described| described.num_samples < 2) {
                continue;
            }
            let (mut active, mut copying) = (0, 0);
            store.sums(track, window, &mut |time| {
                let context = tree.by_source_id(time.context).unwrap_or(ContextTree::ROOT);
                if let Some(slot) = seen.contexts.get_mut(context.idx()) {
                    *slot |= time.nanos > 0;
                }
                if !is(&idle, context) && !is(&is_helper, context) {
                    active += time.nanos;
                    copying += if is(&copies, context) { time.nanos } else { 0 };
                }
            })?;
            seen.tracks.push((track, active, copying));
        }
        Ok::<_, EngineError>(seen)
    });
    parts.into_iter().collect()
}
