//! Lateness: how much later tracks come to the same thing than the first of them.
//!
//! Isaacs and others, "Combing the communication hairball: visualizing parallel execution traces
//! using logical time" (InfoVis 2014), put events into logical steps, and call the delay of an
//! event behind the earliest one of its step its lateness. Here a step is simpler, and needs no
//! messages: **the n-th call of the same call path on each track of a component**, for call paths
//! that all tracks that have them call equally often. Lateness is from the earliest enter of the
//! step to the own enter (the paper takes the ends of events).
//!
//! Of programs with MPI the routines of MPI count, as in the paper; of others all functions.

use std::collections::HashMap;

use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};
use parallax_model::{IdentityKind, TraceStore};

use super::Selection;
use super::activity::Activities;
use super::bins::{Bins, in_parallel};
use super::waits::is_in;

/// Lateness of some calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Late {
    /// How many calls.
    pub calls: u64,
    /// Their lateness added up, in nanoseconds.
    pub sum_nanos: u128,
    /// The largest.
    pub max_nanos: u64,
}

impl Late {
    fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.sum_nanos += other.sum_nanos;
        self.max_nanos = self.max_nanos.max(other.max_nanos);
    }
}

/// Lateness of the calls with one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatenessRow {
    /// As the question numbers contexts.
    pub key: u32,
    /// In the window.
    pub whole: Late,
    /// In each bin, by the enter of calls, as far as the window has it.
    pub bins: Vec<Late>,
    /// The track with the largest sum, the first of several.
    pub latest: TrackIdx,
}

/// Lateness by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Keys with calls, ascending.
    pub rows: Vec<LatenessRow>,
    /// Call paths that tracks call differently often; nothing is known about them.
    pub num_uneven: usize,
}

/// Which call of a call path is the same on all tracks of a component.
type Steps = HashMap<(Option<u64>, ContextIdx), Vec<u64>>;

/// Lateness of the calls of the selected tracks that are entered in the window, behind the
/// earliest of all tracks. `key_of` numbers contexts by their position in the tree; `None` leaves
/// out.
///
/// # Errors
/// When there is no trace of calls, it cannot be read, or the question is withdrawn.
pub fn lateness(
    session: &Session,
    selection: &Selection,
    bins: &Bins,
    key_of: &[Option<u32>],
    control: &Control,
) -> Result<Lateness, EngineError> {
    let store = session.traces()?;
    let activities = Activities::new(session.tree());
    let counts = |context: ContextIdx| {
        key_of.get(context.idx()).copied().flatten().is_some()
            && (!activities.has_mpi() || activities.routine(context).is_some())
    };
    let (mut steps, num_uneven) = alike(session, store, counts, control)?;
    if steps.is_empty() {
        return Ok(Lateness { rows: Vec::new(), num_uneven });
    }
    let all: Vec<TrackIdx> = store.track_ids().collect();
    let earliest = in_parallel(store, &all, control, |track, own: &mut Steps| {
        each_step(session, store, track, &steps, |place, nth, start| {
            let len = steps.get(&place).map_or(0, Vec::len);
            let list = own.entry(place).or_insert_with(|| vec![u64::MAX; len]);
            if let Some(slot) = list.get_mut(nth) {
                *slot = (*slot).min(start);
            }
        })
    })?;
    for part in earliest {
        for (place, list) in part {
            for (slot, start) in steps.entry(place).or_default().iter_mut().zip(list) {
                *slot = (*slot).min(start);
            }
        }
    }
    let window = selection.window;
    let parts = in_parallel(store, &selection.tracks, control, |track, out: &mut Vec<_>| {
        let mut own: HashMap<u32, (Late, Vec<Late>)> = HashMap::new();
        each_step(session, store, track, &steps, |place, nth, start| {
            let first = steps.get(&place).and_then(|list| list.get(nth));
            let key = key_of.get(place.1.idx()).copied().flatten();
            let (Some(&first), Some(key)) = (first, key) else { return };
            if !is_in(window, start) {
                return;
            }
            let nanos = start.saturating_sub(first);
            let late = Late { calls: 1, sum_nanos: nanos.into(), max_nanos: nanos };
            let (whole, cells) = own
                .entry(key)
                .or_insert_with(|| (Late::default(), vec![Late::default(); bins.len]));
            whole.add(late);
            bins.spread(TimeWindow::new(start, start.saturating_add(1)), |nth, _| {
                if let Some(cell) = cells.get_mut(nth) {
                    cell.add(late);
                }
            });
        })?;
        out.push((track, own));
        Ok(())
    })?;
    let mut rows: HashMap<u32, (LatenessRow, u128)> = HashMap::new();
    for (track, own) in parts.into_iter().flatten() {
        for (key, (whole, cells)) in own {
            let (row, most) = rows.entry(key).or_insert_with(|| {
                let bins = vec![Late::default(); bins.len];
                (LatenessRow { key, whole: Late::default(), bins, latest: track }, 0)
            });
            if whole.sum_nanos > *most {
                (*most, row.latest) = (whole.sum_nanos, track);
            }
            row.whole.add(whole);
            row.bins.iter_mut().zip(cells).for_each(|(cell, more)| cell.add(more));
        }
    }
    let mut rows: Vec<LatenessRow> = rows.into_values().map(|(row, _)| row).collect();
    rows.sort_by_key(|row| row.key);
    Ok(Lateness { rows, num_uneven })
}

fn component(session: &Session, store: &dyn TraceStore, track: TrackIdx) -> Option<u64> {
    let location = store.track(track)?.location;
    session.experiment().locations.identity(location, IdentityKind::Application)
}

/// The call paths that at least two tracks of a component have, all of them equally often, with a
/// slot for each of these calls; and how many call paths are called differently often.
fn alike(
    session: &Session,
    store: &dyn TraceStore,
    counts: impl Fn(ContextIdx) -> bool + Send + Sync,
    control: &Control,
) -> Result<(Steps, usize), EngineError> {
    let tree = session.tree();
    let all: Vec<TrackIdx> = store.track_ids().collect();
    let parts = in_parallel(store, &all, control, |track, out: &mut Vec<_>| {
        let mut calls: HashMap<ContextIdx, u64> = HashMap::new();
        store.sums(track, TimeWindow::ALL, &mut |time| {
            let context = tree.by_source_id(time.context).filter(|&context| counts(context));
            if let Some(context) = context.filter(|_| time.calls > 0) {
                *calls.entry(context).or_default() += time.calls;
            }
        })?;
        out.push((component(session, store, track), calls));
        Ok(())
    })?;
    // How often each is called, by how many tracks, and whether all do alike.
    let mut known: HashMap<(Option<u64>, ContextIdx), (u64, usize, bool)> = HashMap::new();
    for (component, calls) in parts.into_iter().flatten() {
        for (context, calls) in calls {
            let (often, tracks, is_alike) =
                known.entry((component, context)).or_insert((calls, 0, true));
            *tracks += 1;
            *is_alike &= *often == calls;
        }
    }
    let num_uneven = known.values().filter(|known| !known.2).count();
    let steps = known
        .into_iter()
        .filter(|(_, (_, tracks, is_alike))| *tracks > 1 && *is_alike)
        .map(|(place, (often, ..))| {
            (place, vec![u64::MAX; usize::try_from(often).unwrap_or(usize::MAX)])
        })
        .collect();
    Ok((steps, num_uneven))
}

/// Calls `visit` with each call of a track that is part of a step: its call path, which of its
/// calls it is, and when it is entered.
fn each_step(
    session: &Session,
    store: &dyn TraceStore,
    track: TrackIdx,
    steps: &Steps,
    mut visit: impl FnMut((Option<u64>, ContextIdx), usize, u64),
) -> Result<(), EngineError> {
    let tree = session.tree();
    let component = component(session, store, track);
    let mut done: HashMap<ContextIdx, usize> = HashMap::new();
    // Calls of one call path do not overlap, so they come in order of their start.
    store.visit_calls(track, TimeWindow::ALL, &mut |call| {
        let Some(context) = tree.by_source_id(call.context) else { return };
        if !steps.contains_key(&(component, context)) {
            return;
        }
        let nth = done.entry(context).or_default();
        visit((component, context), *nth, call.start_nanos);
        *nth += 1;
    })?;
    Ok(())
}
