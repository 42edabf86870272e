//! When a track was in a context: the visits from which iterations are found.

use std::collections::BTreeMap;

use parallax_base::{ContextIdx, TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextTree, Interval, TraceKind};

/// From `start` until `end`, in nanoseconds on the trace's clock, a track was in a context or in
/// something that it called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Visit {
    pub(super) start: u64,
    pub(super) end: u64,
    /// When its last sample was taken; of calls its end.
    pub(super) last: u64,
}

impl Visit {
    pub(super) const fn nanos(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Puts a later visit together with this one.
    pub(super) fn extend(&mut self, later: &Self) {
        self.end = self.end.max(later.end);
        self.last = self.last.max(later.last);
    }
}

/// Visits by context, each in order of time and without overlap.
pub(super) type ByContext = BTreeMap<ContextIdx, Vec<Visit>>;

/// By position in the tree: whether a location in that context does nothing.
pub(super) fn idle_contexts(tree: &ContextTree) -> Vec<bool> {
    let mut out = crate::taxonomy::gpu::idle_contexts(tree);
    out.iter_mut().take(1).for_each(|root| *root = true);
    out
}

/// The contexts whose visits are wanted, and for each other one which of them it lies in.
pub(super) struct Wanted {
    /// By position in the tree: itself where it is wanted, or else the nearest one above.
    nearest: Vec<Option<ContextIdx>>,
}

impl Wanted {
    /// `is_wanted` is by position in the tree.
    pub(super) fn new(tree: &ContextTree, is_wanted: &[bool]) -> Self {
        let mut nearest: Vec<Option<ContextIdx>> = vec![None; tree.len()];
        for context in tree.iter().skip(1) {
            let above = tree.parent(context).and_then(|above| *nearest.get(above.idx())?);
            let is_own = is_wanted.get(context.idx()) == Some(&true);
            if let Some(slot) = nearest.get_mut(context.idx()) {
                *slot = if is_own { Some(context) } else { above };
            }
        }
        Self { nearest }
    }

    /// The wanted context that a context lies in, itself included.
    fn of(&self, context: ContextIdx) -> Option<ContextIdx> {
        self.nearest.get(context.idx()).copied().flatten()
    }
}

/// The visits of one location.
pub(super) struct Collected {
    pub(super) by_context: ByContext,
    /// There are more visits than were requested: those that begin later are not all here.
    pub(super) full_until: Option<u64>,
}

/// Collects the visits of the tracks of one location in the contexts that are `wanted`, `most` of
/// them.
///
/// Of samples, a visit goes from the first sample below a context to the first one elsewhere. Of
/// calls, each call is a visit. A GPU is in a context while any of its streams is.
pub(super) fn collect(
    session: &Session,
    tracks: &[TrackIdx],
    window: TimeWindow,
    wanted: &Wanted,
    most: usize,
) -> Result<Collected, EngineError> {
    let mut out = Collected { by_context: ByContext::new(), full_until: None };
    let each = (most / tracks.len().max(1)).max(1);
    for &track in tracks {
        let own = of_track(session, track, window, wanted, each)?;
        let until = [out.full_until, own.full_until].into_iter().flatten().min();
        out.full_until = until;
        for (context, mut list) in own.by_context {
            out.by_context.entry(context).or_default().append(&mut list);
        }
    }
    if tracks.len() > 1 {
        for list in out.by_context.values_mut() {
            list.sort_unstable_by_key(|visit| (visit.start, visit.end));
            *list = overlapping_joined(list);
        }
    }
    Ok(out)
}

/// Puts visits together that overlap; those that only touch stay apart.
fn overlapping_joined(visits: &[Visit]) -> Vec<Visit> {
    let mut out: Vec<Visit> = Vec::with_capacity(visits.len());
    for visit in visits {
        match out.last_mut() {
            Some(last) if visit.start < last.end => last.extend(visit),
            _ => out.push(*visit),
        }
    }
    out
}

fn of_track(
    session: &Session,
    track: TrackIdx,
    window: TimeWindow,
    wanted: &Wanted,
    most: usize,
) -> Result<Collected, EngineError> {
    let store = session.traces()?;
    let tree = session.tree();
    let mut found = ByContext::new();
    let (mut num, mut full_until) = (0_usize, None);
    let mut add = |context: ContextIdx, visit: Visit| {
        if visit.end <= visit.start {
            return;
        }
        num += 1;
        if num <= most {
            found.entry(context).or_default().push(visit);
        } else {
            full_until = Some(full_until.unwrap_or(u64::MAX).min(visit.start));
        }
    };
    let span = window.intersect(super::whole(store));
    match store.kind() {
        TraceKind::Calls => store.visit_calls(track, span, &mut |call| {
            let context = tree.by_source_id(call.context);
            if let Some(context) = context.filter(|&c| wanted.of(c) == Some(c)) {
                let inside = TimeWindow::new(call.start_nanos, call.end_nanos).intersect(span);
                let (start, end) = (inside.start_nanos, inside.end_nanos);
                add(context, Visit { start, end, last: end });
            }
        })?,
        TraceKind::Samples => {
            let mut open =
                Open { tree, wanted, span, path: Vec::new(), leaf: None, end: 0, last: 0 };
            store.visit(track, span, &mut |interval| open.advance(interval, &mut add))?;
            open.close(None, &mut add);
        }
    }
    for list in found.values_mut() {
        list.sort_unstable_by_key(|visit| (visit.start, visit.end));
    }
    Ok(Collected { by_context: found, full_until })
}

/// The wanted contexts that a track is in at a moment of a walk through its samples.
struct Open<'a> {
    tree: &'a ContextTree,
    wanted: &'a Wanted,
    span: TimeWindow,
    /// From the outermost inwards, with the time from which on it is in each.
    path: Vec<(ContextIdx, u64)>,
    leaf: Option<ContextIdx>,
    end: u64,
    /// When the last sample was taken.
    last: u64,
}

impl Open<'_> {
    fn advance(&mut self, interval: Interval, add: &mut impl FnMut(ContextIdx, Visit)) {
        let leaf = match interval.context {
            0 => None,
            id => self.tree.by_source_id(id).and_then(|context| self.wanted.of(context)),
        };
        if interval.start_nanos > self.end {
            self.close(None, add);
            self.leaf = None;
        }
        if leaf != self.leaf {
            self.end = interval.start_nanos;
            self.close(leaf, add);
            let above = self.path.last().map(|(context, _)| *context);
            let from = self.path.len();
            let mut next = leaf;
            while let Some(context) = next.filter(|_| next != above) {
                self.path.push((context, interval.start_nanos));
                next = self.tree.parent(context).and_then(|parent| self.wanted.of(parent));
            }
            if let Some(new) = self.path.get_mut(from..) {
                new.reverse();
            }
            self.leaf = leaf;
        }
        self.end = interval.end_nanos;
        self.last = interval.start_nanos;
    }

    /// Ends the contexts that `leaf` does not lie in.
    fn close(&mut self, leaf: Option<ContextIdx>, add: &mut impl FnMut(ContextIdx, Visit)) {
        let is_in = |above| leaf.is_some_and(|leaf| self.tree.is_within(leaf, above));
        while let Some((context, start)) = self.path.pop_if(|(context, _)| !is_in(*context)) {
            let inside = TimeWindow::new(start, self.end).intersect(self.span);
            let (start, end) = (inside.start_nanos, inside.end_nanos);
            add(context, Visit { start, end, last: self.last.clamp(start, end.max(start)) });
        }
    }
}
