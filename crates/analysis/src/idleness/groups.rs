//! Which tracks of a trace belong to one rank or one GPU: streams, and threads that use them.

use std::collections::{BTreeMap, BTreeSet};

use parallax_base::{TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};
use parallax_model::{LinkKind, TraceStore};

use super::Group;
use crate::devices::{DeviceId, Devices};

/// The tracks of a rank that has GPUs, by their number in the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Members {
    pub(crate) streams: Vec<TrackIdx>,
    pub(crate) threads: Vec<TrackIdx>,
}

impl Members {
    pub(super) fn num_samples(&self, store: &dyn TraceStore) -> u64 {
        let all = self.streams.iter().chain(&self.threads);
        all.filter_map(|&track| store.track(track)).map(|track| track.num_samples).sum()
    }
}

/// The ranks with GPUs and their tracks; those without samples are left out.
///
/// PyTorch and others write GPUs as processes of their own: a stream belongs to the rank whose
/// threads start most of its work, as far as flows say so. Without flows, streams of a rank without
/// threads belong to the only rank that has threads.
pub(crate) fn with_gpus(
    session: &Session,
    store: &dyn TraceStore,
) -> Result<BTreeMap<Group, Members>, EngineError> {
    let x = session.experiment();
    let mut by_rank: BTreeMap<Group, Members> = BTreeMap::new();
    let starters = Starters::new(session, store)?;
    let tracks = store.track_ids().zip(store.tracks());
    for (track, described) in tracks.filter(|(_, described)| described.num_samples > 0) {
        let own = Group::of(&x.locations, described.location);
        if x.locations.is_gpu(described.location) {
            by_rank.entry(starters.of(track, own)).or_default().streams.push(track);
        } else {
            by_rank.entry(own).or_default().threads.push(track);
        }
    }
    let has_threads = |(group, of): &(&Group, &Members)| {
        matches!(group, Group::Rank(_)) && !of.threads.is_empty()
    };
    let mut hosts = by_rank.iter().filter(has_threads).map(|(group, _)| *group);
    if let (Some(host), None) = (hosts.next(), hosts.next()) {
        let orphans: Vec<TrackIdx> = by_rank
            .values_mut()
            .filter(|of| of.threads.is_empty())
            .flat_map(|of| std::mem::take(&mut of.streams))
            .collect();
        by_rank.entry(host).or_default().streams.extend(orphans);
    }
    by_rank.retain(|_, of| !of.streams.is_empty());
    Ok(by_rank)
}

/// The GPUs and their tracks: the streams of a GPU, and the threads of all ranks that use it. A rank
/// that has one GPU for itself stands for that GPU.
pub(super) fn by_gpu(
    session: &Session,
    store: &dyn TraceStore,
) -> Result<Vec<(Group, Members)>, EngineError> {
    let devices = Devices::new(&session.experiment().locations);
    let mut gpus: BTreeMap<DeviceId, (Members, BTreeSet<Group>)> = BTreeMap::new();
    for (rank, members) in with_gpus(session, store)? {
        for track in members.streams {
            let device = store.track(track).and_then(|track| devices.of(track.location));
            let Some(device) = device else { continue };
            let (of_gpu, ranks) = gpus.entry(device).or_default();
            of_gpu.streams.push(track);
            if ranks.insert(rank) {
                of_gpu.threads.extend(&members.threads);
            }
        }
    }
    let mut num_gpus: BTreeMap<Group, usize> = BTreeMap::new();
    for rank in gpus.values().flat_map(|(_, ranks)| ranks) {
        *num_gpus.entry(*rank).or_default() += 1;
    }
    let mut out: BTreeMap<Group, Members> = BTreeMap::new();
    for (device, (members, ranks)) in gpus {
        let mut ranks = ranks.into_iter();
        let only = ranks.next().filter(|_| ranks.next().is_none());
        let group = match only {
            Some(rank) if num_gpus.get(&rank) == Some(&1) => rank,
            _ => {
                let rank = match only {
                    Some(Group::Rank(rank)) => Some(rank),
                    _ => None,
                };
                let node = device.node().filter(|_| rank.is_none());
                let mut number = device.number();
                while out.contains_key(&Group::Gpu { rank, node, number }) {
                    number = number.saturating_add(1);
                }
                Group::Gpu { rank, node, number }
            }
        };
        out.insert(group, members);
    }
    Ok(out.into_iter().collect())
}

/// Where flows to streams come from.
#[derive(Default)]
struct Starters {
    /// Number of flows by stream and rank.
    of_track: BTreeMap<TrackIdx, BTreeMap<Group, u64>>,
    /// The same by the rank that the streams name: tracks for calls that overlap have no flows.
    of_group: BTreeMap<Group, BTreeMap<Group, u64>>,
}

impl Starters {
    fn new(session: &Session, store: &dyn TraceStore) -> Result<Self, EngineError> {
        let mut out = Self::default();
        let locations = &session.experiment().locations;
        let location = |track: TrackIdx| store.track(track).map(|track| track.location);
        let Some(events) = session.experiment().events.as_deref() else { return Ok(out) };
        if !store.tracks().iter().any(|track| locations.is_gpu(track.location)) {
            return Ok(out);
        }
        events.messages(TimeWindow::ALL, &mut |link| {
            let (LinkKind::Flow, Some(sender), Some(receiver)) =
                (link.kind, link.sender, link.receiver)
            else {
                return;
            };
            let (Some(from), Some(to)) = (location(sender), location(receiver)) else { return };
            if locations.is_gpu(to) && !locations.is_gpu(from) {
                let from = Group::of(locations, from);
                let of_track = out.of_track.entry(receiver).or_default();
                *of_track.entry(from).or_default() += 1;
                let of_group = out.of_group.entry(Group::of(locations, to)).or_default();
                *of_group.entry(from).or_default() += 1;
            }
        })?;
        Ok(out)
    }

    /// The rank of a stream that names the rank `own`.
    fn of(&self, track: TrackIdx, own: Group) -> Group {
        let counts = self.of_track.get(&track).or_else(|| self.of_group.get(&own));
        let most = counts.and_then(|counts| counts.iter().rev().max_by_key(|(_, count)| **count));
        most.map_or(own, |(group, _)| *group)
    }
}
