//! Calls and executions of loops as a [`TraceStore`]: one track for each thread.

use std::ops::Range;
use std::sync::Arc;

use parallax_base::{ActivationIdx, TimeWindow, TrackIdx};
use parallax_model::{
    ActivationKind, Activations, Call, ContextTime, ContextTree, Interval, StoreError, TraceKind,
    TraceStore, Track,
};

pub(crate) struct Traces {
    activations: Arc<Activations>,
    /// Source ids of contexts.
    contexts: Vec<u32>,
    tracks: Vec<Track>,
    /// The activations of each track, as positions.
    ranges: Vec<Range<usize>>,
    span: TimeWindow,
}

impl Traces {
    pub(crate) fn new(activations: &Arc<Activations>, contexts: &ContextTree) -> Self {
        let tree = &activations.tree;
        let mut ranges = vec![0..0; activations.threads.len()];
        let mut counts = vec![0_u64; activations.threads.len()];
        for activation in tree.iter() {
            let thread = tree.thread(activation).idx();
            let (Some(range), Some(count)) = (ranges.get_mut(thread), counts.get_mut(thread))
            else {
                continue;
            };
            // Depth-first order goes thread by thread.
            let start = if range.start == range.end { activation.idx() } else { range.start };
            *range = start..activation.idx() + 1;
            *count += u64::from(tree.kind(activation) != ActivationKind::Iteration);
        }
        let tracks = activations.threads.iter().zip(counts);
        let tracks = tracks
            .map(|(thread, num_samples)| Track { location: thread.location, num_samples })
            .collect();
        Self {
            activations: Arc::clone(activations),
            contexts: contexts.source_ids().to_vec(),
            tracks,
            ranges,
            span: tree.span(),
        }
    }

    /// Walks over the calls and executions of a track that reach into `window`, in order of time:
    /// `visit` gets each one when it is entered and when it is left.
    fn walk(&self, track: TrackIdx, window: TimeWindow, visit: &mut dyn FnMut(Step)) {
        let tree = &self.activations.tree;
        let Some(range) = self.ranges.get(track.idx()) else { return };
        let mut open: Vec<(ActivationIdx, usize)> = Vec::new();
        let mut at = range.start;
        loop {
            while let Some(&(activation, end)) = open.last()
                && at >= end
            {
                open.pop();
                visit(Step::Leave { activation });
            }
            if at >= range.end {
                return;
            }
            let activation = ActivationIdx::from_len(at);
            let time = tree.time(activation);
            let below = tree.subtree(activation);
            // Iterations are a part of their loop's time.
            if tree.kind(activation) == ActivationKind::Iteration {
                at += 1;
                continue;
            }
            let above = open.last().map(|&(above, _)| above);
            let is_before =
                time.end_nanos <= window.start_nanos && time.start_nanos < window.start_nanos;
            if is_before || time.start_nanos >= window.end_nanos {
                visit(Step::Skip { activation, above });
                at = below.end;
                continue;
            }
            visit(Step::Enter { activation, above });
            open.push((activation, below.end));
            at += 1;
        }
    }

    fn context(&self, activation: Option<ActivationIdx>) -> u32 {
        let context = activation.map(|activation| self.activations.tree.context(activation));
        context.and_then(|context| self.contexts.get(context.idx())).copied().unwrap_or(0)
    }
}

enum Step {
    Enter {
        activation: ActivationIdx,
        above: Option<ActivationIdx>,
    },
    Leave {
        activation: ActivationIdx,
    },
    /// It is entered and left outside of the window.
    Skip {
        activation: ActivationIdx,
        above: Option<ActivationIdx>,
    },
}

impl TraceStore for Traces {
    fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    fn span(&self) -> TimeWindow {
        self.span
    }

    fn kind(&self) -> TraceKind {
        TraceKind::Calls
    }

    fn visit(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(Interval),
    ) -> Result<(), StoreError> {
        let tree = &self.activations.tree;
        let mut from: Option<u64> = None;
        let mut until = |context: u32, nanos: u64, is_active: bool| {
            // Times of damaged files may go back; those of a track never do here.
            let start = from.unwrap_or(nanos);
            let end = nanos.max(start);
            let reaches = start < window.end_nanos && end > window.start_nanos;
            if is_active && end > start && reaches {
                visit(Interval { context, start_nanos: start, end_nanos: end });
            }
            from = Some(end);
        };
        self.walk(track, window, &mut |step| match step {
            Step::Enter { activation, above } => {
                until(self.context(above), tree.time(activation).start_nanos, above.is_some());
            }
            Step::Leave { activation } => {
                until(self.context(Some(activation)), tree.time(activation).end_nanos, true);
            }
            Step::Skip { activation, above } => {
                let time = tree.time(activation);
                until(self.context(above), time.start_nanos, above.is_some());
                until(0, time.end_nanos, false);
            }
        });
        self.activations.check()
    }

    fn visit_calls(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(Call),
    ) -> Result<(), StoreError> {
        let tree = &self.activations.tree;
        self.walk(track, window, &mut |step| {
            if let Step::Leave { activation } = step {
                let time = tree.time(activation);
                visit(Call {
                    context: self.context(Some(activation)),
                    start_nanos: time.start_nanos,
                    end_nanos: time.end_nanos,
                });
            }
        });
        self.activations.check()
    }

    fn sums(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        let tree = &self.activations.tree;
        self.visit(track, window, &mut |interval| {
            let active = TimeWindow::new(interval.start_nanos, interval.end_nanos);
            let nanos = active.intersect(window).nanos();
            if nanos > 0 {
                visit(ContextTime { context: interval.context, calls: 0, nanos });
            }
        })?;
        self.walk(track, window, &mut |step| {
            if let Step::Enter { activation, .. } = step
                && tree.time(activation).start_nanos >= window.start_nanos
                // An execution of a loop is no call of its function.
                && tree.kind(activation) == ActivationKind::Call
            {
                visit(ContextTime { context: self.context(Some(activation)), calls: 1, nanos: 0 });
            }
        });
        self.activations.check()
    }
}
