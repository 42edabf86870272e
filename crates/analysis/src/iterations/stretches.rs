//! When a track was in a context: the stretches from which iterations are found.

use std::collections::BTreeMap;

use parallax_base::{ContextIdx, TimeWindow};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextTree, Interval, TraceKind};

use crate::gpu::IDLE_NAMES;

/// From `start` until `end`, in nanoseconds on the trace's clock, a track was in a context or in
/// something that it called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Stretch {
    pub(super) const fn nanos(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// Stretches by context, each in order of time and without overlap.
pub(super) type ByContext = BTreeMap<ContextIdx, Vec<Stretch>>;

/// By position in the tree: whether a stream in that context does nothing.
pub(crate) fn idle_contexts(tree: &ContextTree) -> Vec<bool> {
    let is_idle = |context| {
        tree.enclosing_function(context)
            .and_then(|function| tree.function_name(function))
            .is_some_and(|name| IDLE_NAMES.contains(&name))
    };
    tree.iter().map(|context| context == ContextTree::ROOT || is_idle(context)).collect()
}

/// Collects the stretches of one track in the contexts that `is_wanted`, by position in the tree. A
/// context of which there are more than `most` is left out.
///
/// Of samples, a stretch goes from the first sample below a context to the first one elsewhere. Of
/// calls, each call is a stretch.
pub(super) fn collect(
    session: &Session,
    track: usize,
    window: TimeWindow,
    is_wanted: &[bool],
    most: usize,
) -> Result<ByContext, EngineError> {
    let store = session.traces()?;
    let tree = session.tree();
    let mut found = ByContext::new();
    let mut too_many: Vec<ContextIdx> = Vec::new();
    let mut add = |context: ContextIdx, stretch: Stretch| {
        if stretch.end <= stretch.start || is_wanted.get(context.idx()) != Some(&true) {
            return;
        }
        let list = found.entry(context).or_default();
        if list.len() < most {
            list.push(stretch);
        } else if too_many.last() != Some(&context) {
            too_many.push(context);
        }
    };
    let span = window.intersect(super::whole(store));
    match store.kind() {
        TraceKind::Calls => store.visit_calls(track, span, &mut |call| {
            if let Some(context) = tree.by_source_id(call.context) {
                let inside = TimeWindow::new(call.start_nanos, call.end_nanos).intersect(span);
                add(context, Stretch { start: inside.start_nanos, end: inside.end_nanos });
            }
        })?,
        TraceKind::Samples => {
            let mut open = Open::default();
            store.visit(track, span, &mut |interval| {
                open.advance(tree, interval, span, &mut add);
            })?;
            open.close(0, span, &mut add);
        }
    }
    for context in too_many {
        found.remove(&context);
    }
    for list in found.values_mut() {
        list.sort_unstable_by_key(|stretch| (stretch.start, stretch.end));
    }
    Ok(found)
}

/// The contexts that a track is in at a moment of a walk through its samples.
#[derive(Default)]
struct Open {
    /// From the outermost inwards, with the time from which on it is in each.
    path: Vec<(ContextIdx, u64)>,
    leaf: Option<ContextIdx>,
    end: u64,
}

impl Open {
    fn advance(
        &mut self,
        tree: &ContextTree,
        interval: Interval,
        span: TimeWindow,
        add: &mut impl FnMut(ContextIdx, Stretch),
    ) {
        let leaf = match interval.context {
            0 => None,
            id => tree.by_source_id(id).filter(|&context| context != ContextTree::ROOT),
        };
        if interval.start_nanos > self.end {
            self.close(0, span, add);
            self.leaf = None;
        }
        if leaf != self.leaf {
            let path = leaf.map(|leaf| tree.path(leaf)).unwrap_or_default();
            let path = path.into_iter().filter(|&context| context != ContextTree::ROOT);
            let path: Vec<ContextIdx> = path.collect();
            let same = self.path.iter().zip(&path).take_while(|(open, new)| open.0 == **new);
            let same = same.count();
            self.end = interval.start_nanos;
            self.close(same, span, add);
            let new = path.get(same..).unwrap_or_default();
            self.path.extend(new.iter().map(|&context| (context, interval.start_nanos)));
            self.leaf = leaf;
        }
        self.end = interval.end_nanos;
    }

    /// Ends what is deeper than `depth`.
    fn close(&mut self, depth: usize, span: TimeWindow, add: &mut impl FnMut(ContextIdx, Stretch)) {
        for (context, start) in self.path.drain(depth.min(self.path.len())..) {
            let inside = TimeWindow::new(start, self.end).intersect(span);
            add(context, Stretch { start: inside.start_nanos, end: inside.end_nanos });
        }
    }
}
