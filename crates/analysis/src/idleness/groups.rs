//! Which tracks of a trace belong to one rank: streams of its GPUs, and its threads.

use std::collections::BTreeMap;

use parallax_base::TimeWindow;
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextTree, LinkKind, TraceStore};

use super::{Group, is_gpu};

/// The tracks of a rank that has GPUs, by their number in the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Members {
    pub(super) streams: Vec<usize>,
    pub(super) threads: Vec<usize>,
}

impl Members {
    pub(super) fn num_samples(&self, store: &dyn TraceStore) -> u64 {
        let all = self.streams.iter().chain(&self.threads);
        all.filter_map(|&track| store.tracks().get(track)).map(|track| track.num_samples).sum()
    }
}

/// The ranks with GPUs and their tracks.
///
/// PyTorch and others write GPUs as processes of their own: a stream belongs to the rank whose
/// threads start most of its work, as far as flows say so. Without flows, streams of a rank without
/// threads belong to the only rank that has threads.
pub(super) fn with_gpus(
    session: &Session,
    store: &dyn TraceStore,
) -> Result<BTreeMap<Group, Members>, EngineError> {
    let x = session.experiment();
    let mut by_rank: BTreeMap<Group, Members> = BTreeMap::new();
    let starters = starters(session, store)?;
    for (track, described) in store.tracks().iter().enumerate() {
        let own = Group::of(&x.locations, described.location);
        if is_gpu(&x.locations, described.location) {
            let group = starters.get(&track).copied().unwrap_or(own);
            by_rank.entry(group).or_default().streams.push(track);
        } else {
            by_rank.entry(own).or_default().threads.push(track);
        }
    }
    let has_threads = |(group, of): &(&Group, &Members)| {
        matches!(group, Group::Rank(_)) && !of.threads.is_empty()
    };
    let mut hosts = by_rank.iter().filter(has_threads).map(|(group, _)| *group);
    if let (Some(host), None) = (hosts.next(), hosts.next()) {
        let orphans: Vec<usize> = by_rank
            .values_mut()
            .filter(|of| of.threads.is_empty())
            .flat_map(|of| std::mem::take(&mut of.streams))
            .collect();
        by_rank.entry(host).or_default().streams.extend(orphans);
    }
    by_rank.retain(|_, of| !of.streams.is_empty());
    Ok(by_rank)
}

/// By stream, the rank from which most flows come.
fn starters(
    session: &Session,
    store: &dyn TraceStore,
) -> Result<BTreeMap<usize, Group>, EngineError> {
    let x = session.experiment();
    let mut flows: BTreeMap<usize, BTreeMap<Group, u64>> = BTreeMap::new();
    let location = |track: u32| store.tracks().get(track as usize).map(|track| track.location);
    if let Some(events) = x.events.as_deref() {
        events.messages(TimeWindow::ALL, &mut |link| {
            if link.kind != LinkKind::Flow {
                return;
            }
            let (Some(sender), Some(receiver)) = (link.sender, link.receiver) else { return };
            let (Some(from), Some(to)) = (location(sender), location(receiver)) else { return };
            if is_gpu(&x.locations, to) && !is_gpu(&x.locations, from) {
                let counts = flows.entry(receiver as usize).or_default();
                *counts.entry(Group::of(&x.locations, from)).or_default() += 1;
            }
        })?;
    }
    let most = |counts: BTreeMap<Group, u64>| {
        counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(group, _)| group)
    };
    Ok(flows.into_iter().filter_map(|(track, counts)| Some((track, most(counts)?))).collect())
}

/// Placeholders in which a track does nothing.
const IDLE_NAMES: [&str; 3] = ["<gpu sync>", "<no activity>", "<no gpu activity>"];

/// By context, whether a track in it does nothing.
pub(super) fn idle_contexts(tree: &ContextTree) -> Vec<bool> {
    let is_idle = |context| {
        tree.enclosing_function(context)
            .and_then(|function| tree.function_name(function))
            .is_some_and(|name| IDLE_NAMES.contains(&name))
    };
    tree.iter().map(is_idle).collect()
}
