//! Waits at collective operations.
//!
//! **Which parts belong together** is told by records where the source writes them: see
//! [`super::operations`]. Where it does not (CODAR and Chrome JSON, TAU), operations are *inferred*
//! from calls: the n-th call of a routine on each track of a component is taken for one operation,
//! if all tracks that call the routine call it equally often
//! ([ADR 0016](../../../../docs/adr/0016-inferred-collectives.md)). That is wrong for programs that
//! split communicators and use the parts alike, and answers say that they were inferred.
//!
//! **What is left out**, recorded or inferred: an operation that somebody leaves before everybody
//! has come whom it has to wait for. Its clocks are wrong, or its parts do not belong together;
//! what it says about the others is then worth nothing either. It is counted.
//!
//! **Who waits** (Scalasca's "Wait at Barrier", "Wait at N x N", "Late Broadcast", "Early Reduce",
//! "Early Scan"): in barriers and all-to-all operations everybody, from the own enter to that of
//! the last one; in one-to-all operations everybody but the root, until the root comes; in
//! all-to-one operations the root, until the last of the others comes; in scans everybody, until
//! the last of those with a lower rank comes. A wait ends with its call at the latest.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextTree, IdentityKind, TraceKind};

use super::activity::{Activities, Pattern, Role};
use super::enclosing::{Moment, Side};
use super::operations::operations;
use super::waits::{Basis, Wait, WaitKind, Waits, look_up};
use super::{Selection, events};

/// What a track does in one operation.
#[derive(Debug, Clone, Copy)]
struct Participant {
    track: TrackIdx,
    context: ContextIdx,
    /// The call is entered, and ends.
    start_nanos: u64,
    end_nanos: u64,
}

/// Adds the waits at collective operations to `out`.
pub(super) fn waits(
    session: &Session,
    activities: &Activities,
    selection: &Selection,
    out: &mut Waits,
    control: &Control,
) -> Result<(), EngineError> {
    let mut has_records = false;
    // The order of parts is told by all of them, whatever the window.
    events(session)?.collectives(TimeWindow::ALL, &mut |_| has_records = true)?;
    if has_records {
        recorded(session, activities, selection, out, control)
    } else if session.traces()?.kind() == TraceKind::Samples {
        // Samples do not say how often a routine was called.
        Ok(())
    } else {
        inferred(session, activities, selection, out, control)
    }
}

fn recorded(
    session: &Session,
    activities: &Activities,
    selection: &Selection,
    out: &mut Waits,
    control: &Control,
) -> Result<(), EngineError> {
    let mut parts = Vec::new();
    // The order of parts is told by all of them, whatever the window.
    events(session)?.collectives(TimeWindow::ALL, &mut |part| parts.push(part))?;
    let mut moments: Vec<Vec<Moment>> = vec![Vec::new(); session.traces()?.tracks().len()];
    for (number, part) in (0..).zip(&parts) {
        if let Some(list) = moments.get_mut(part.track.idx()) {
            list.push(Moment { nanos: part.start_nanos, side: Side::Begin, number });
        }
    }
    let is_mpi = |context| activities.is_mpi(context);
    let calls = look_up(session, &is_mpi, parts.len(), moments, control)?;
    let operations = operations(session, &parts, control)?;
    out.counts.collectives += operations.num_incomplete;
    out.counts.incomplete_collectives += operations.num_incomplete;
    let mut rest = operations.parts.as_slice();
    let mut of_operation = Vec::new();
    for len in operations.lens {
        control.check().map_err(EngineError::from)?;
        let (same, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        rest = after;
        of_operation.clear();
        let (mut operation, mut root) = (None, None);
        for &at in same {
            let Some(part) = parts.get(at) else { continue };
            operation = Some(part.operation);
            root = root.or(part.root);
            let call = calls.get(at).copied().flatten();
            let is_whole = call.filter(|call| call.end_nanos >= part.end_nanos);
            of_operation.push(Participant {
                track: part.track,
                context: is_whole.map_or(ContextTree::ROOT, |call| call.context),
                start_nanos: is_whole.map_or(part.start_nanos, |call| call.start_nanos),
                end_nanos: is_whole.map_or(part.end_nanos, |call| call.end_nanos),
            });
        }
        let by_code = operation.and_then(Pattern::of_operation);
        let by_call = || {
            let context = of_operation.first().map_or(ContextTree::ROOT, |part| part.context);
            match activities.routine(context)?.role {
                Role::Collective(pattern) => Some(pattern),
                _ => None,
            }
        };
        let Some(pattern) = by_code.or_else(by_call) else { continue };
        out.counts.collectives += 1;
        sort_by_rank(session, &mut of_operation);
        let root = root.and_then(|root| usize::try_from(root).ok());
        match judge(pattern, &of_operation, root) {
            Some(found) => keep(found, selection, out),
            None => out.counts.without_root += 1,
        }
    }
    Ok(())
}

fn sort_by_rank(session: &Session, parts: &mut [Participant]) {
    let locations = &session.experiment().locations;
    let tracks = session.experiment().traces.as_deref();
    parts.sort_by_key(|part| {
        let track = tracks.and_then(|tracks| tracks.track(part.track));
        let rank = track.and_then(|t| locations.identity(t.location, IdentityKind::Rank));
        (rank, part.track)
    });
}

/// How data moves in a routine, and the calls of it that each track makes.
type CallsOfTracks = (Pattern, Vec<Vec<Participant>>);

/// Operations inferred from calls.
fn inferred(
    session: &Session,
    activities: &Activities,
    selection: &Selection,
    out: &mut Waits,
    control: &Control,
) -> Result<(), EngineError> {
    out.counts.is_inferred = true;
    let store = session.traces()?;
    let tree = session.tree();
    let locations = &session.experiment().locations;
    let tracks: Vec<TrackIdx> = store.track_ids().collect();
    control.begin(tracks.len() as u64);
    // For each track the calls of each routine, in order.
    let lists = threads::map(tracks, |track| {
        let mut calls: BTreeMap<u32, (Pattern, Vec<Participant>)> = BTreeMap::new();
        store.visit_calls(track, TimeWindow::ALL, &mut |call| {
            let Some(context) = tree.by_source_id(call.context) else { return };
            let Some(routine) = activities.routine(context) else { return };
            let Role::Collective(pattern) = routine.role else { return };
            let (_, list) = calls.entry(routine.number).or_insert((pattern, Vec::new()));
            list.push(Participant {
                track,
                context,
                start_nanos: call.start_nanos,
                end_nanos: call.end_nanos,
            });
        })?;
        control.advance(1)?;
        Ok::<_, EngineError>(calls)
    });
    // By component and routine, the calls of each track.
    let mut together: BTreeMap<(Option<u64>, u32), CallsOfTracks> = BTreeMap::new();
    for (track, calls) in store.tracks().iter().zip(lists) {
        let component = locations.identity(track.location, IdentityKind::Application);
        for (routine, (pattern, list)) in calls? {
            match together.entry((component, routine)) {
                Entry::Vacant(slot) => drop(slot.insert((pattern, vec![list]))),
                Entry::Occupied(mut slot) => slot.get_mut().1.push(list),
            }
        }
    }
    for ((component, routine), (pattern, mut lists)) in together {
        if lists.len() < 2 {
            continue;
        }
        let len = lists.first().map_or(0, Vec::len);
        let is_alike = lists.iter().all(|list| list.len() == len);
        // Calls do not say who the root is.
        let has_root = matches!(pattern, Pattern::OneToAll | Pattern::AllToOne);
        if !is_alike || has_root {
            let name = activities.name(routine);
            out.counts.not_inferred.push(match component {
                Some(component) => format!("{name} (application {component})"),
                None => name.to_owned(),
            });
            continue;
        }
        lists.sort_by_key(|list| list.first().map(|part| part.track));
        for number in 0..len {
            let mut parts: Vec<Participant> =
                lists.iter().filter_map(|list| list.get(number).copied()).collect();
            sort_by_rank(session, &mut parts);
            out.counts.collectives += 1;
            let Some(found) = judge(pattern, &parts, None) else { continue };
            keep(found, selection, out);
        }
    }
    Ok(())
}

/// What one operation makes its tracks wait.
struct Judged {
    waits: Vec<Wait>,
    /// Whether a track leaves before all have come that it has to wait for.
    is_left_early: bool,
}

/// Who waits for whom in an operation of `parts`, ordered by rank. `None` where a root is needed
/// and not there.
fn judge(pattern: Pattern, parts: &[Participant], root: Option<usize>) -> Option<Judged> {
    let mut found = Judged { waits: Vec::new(), is_left_early: false };
    let mut wait = |kind, part: &Participant, for_whom: &Participant| {
        found.is_left_early |= part.end_nanos < for_whom.start_nanos;
        let end_nanos = for_whom.start_nanos.min(part.end_nanos);
        if end_nanos > part.start_nanos {
            found.waits.push(Wait {
                kind,
                track: part.track,
                delayed_by: for_whom.track,
                context: part.context,
                start_nanos: part.start_nanos,
                end_nanos,
                call_start_nanos: part.start_nanos,
                call_end_nanos: part.end_nanos,
                basis: Basis::Recorded,
            });
        }
    };
    // Of those that come at the same time, the first in order of rank.
    let last_of = |parts: &mut dyn Iterator<Item = Participant>| {
        parts.reduce(|last, part| if part.start_nanos > last.start_nanos { part } else { last })
    };
    match pattern {
        Pattern::Barrier | Pattern::AllToAll => {
            let is_barrier = pattern == Pattern::Barrier;
            let kind = if is_barrier { WaitKind::Barrier } else { WaitKind::AllToAll };
            let last = last_of(&mut parts.iter().copied())?;
            parts.iter().for_each(|part| wait(kind, part, &last));
        }
        Pattern::OneToAll => {
            let root = parts.get(root?)?;
            let others = parts.iter().filter(|part| part.track != root.track);
            others.for_each(|part| wait(WaitKind::LateBroadcast, part, root));
        }
        Pattern::AllToOne => {
            let root = parts.get(root?)?;
            let mut others = parts.iter().copied().filter(|part| part.track != root.track);
            let last = last_of(&mut others)?;
            wait(WaitKind::EarlyReduce, root, &last);
        }
        Pattern::Prefix => {
            let mut last: Option<Participant> = None;
            for part in parts {
                if let Some(last) = &last {
                    wait(WaitKind::EarlyScan, part, last);
                }
                if last.is_none_or(|last| part.start_nanos > last.start_nanos) {
                    last = Some(*part);
                }
            }
        }
    }
    Some(found)
}

/// Takes the waits of the chosen tracks, unless the operation cannot be as it looks.
fn keep(found: Judged, selection: &Selection, out: &mut Waits) {
    if found.is_left_early {
        out.counts.left_early += 1;
        return;
    }
    out.list.extend(found.waits.into_iter().filter(|wait| selection.has(wait.track)));
}
