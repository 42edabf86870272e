//! The intervals and sums of an archive as a [`TraceStore`].

use std::ops::Range;
use std::sync::Arc;

use parallax_base::TimeWindow;
use parallax_formats::FormatError;
use parallax_formats::archive::{Archive, NodeRow, keys};
use parallax_model::{
    Call, ContextTime, Interval, StoreError, TraceKind, TraceStore, Track, for_each_bin, whole_bins,
};

/// Columns of the table of intervals.
const CONTEXT: usize = 1;
const START: usize = 2;
const END: usize = 3;

/// Columns of the table of sums.
const BIN: usize = 0;
const SUM_CONTEXT: usize = 1;
const CALLS: usize = 2;
const NANOS: usize = 3;

pub(super) struct Traces {
    archive: Arc<Archive>,
    tracks: Vec<Track>,
    span: TimeWindow,
    /// For each track: its nodes of level 0, and the one node above all its others.
    nodes: Vec<(Range<usize>, Option<usize>)>,
}

fn failed(error: &FormatError) -> StoreError {
    StoreError::Read(error.to_string())
}

impl Traces {
    pub(super) fn new(archive: Arc<Archive>) -> Self {
        let tracks = (0..)
            .zip(&archive.tracks)
            .map(|(number, row)| Track {
                location: super::location(number),
                num_samples: row.intervals,
            })
            .collect();
        let mut nodes = vec![(0..0, None); archive.tracks.len()];
        for (at, node) in archive.nodes.iter().enumerate() {
            let Some((leaves, top)) = nodes.get_mut(node.track as usize) else { continue };
            if node.level == 0 {
                let start = if leaves.start == leaves.end { at } else { leaves.start };
                *leaves = start..at + 1;
            }
            // Levels ascend, so the last one is the highest.
            *top = Some(at);
        }
        let nanos = |key: &str| archive.fact(key).and_then(|text| text.parse().ok()).unwrap_or(0);
        let span = TimeWindow::new(nanos(keys::FIRST_NANOS), nanos(keys::LAST_NANOS));
        Self { archive, tracks, span, nodes }
    }

    fn node(&self, at: usize) -> Option<&NodeRow> {
        self.archive.nodes.get(at)
    }

    fn parent(&self, context: u32) -> u32 {
        self.archive.contexts.get(context as usize).map_or(0, |row| row.parent)
    }

    /// Number of contexts above `context`, the root not counted.
    fn depth(&self, mut context: u32) -> usize {
        let mut depth = 0;
        while context != 0 && depth < self.archive.contexts.len() {
            context = self.parent(context);
            depth += 1;
        }
        depth
    }

    /// The nodes of level 0 of a track that reach into `window`.
    fn leaves(&self, track: usize, window: TimeWindow) -> Range<usize> {
        let Some((leaves, _)) = self.nodes.get(track) else { return 0..0 };
        let Some(nodes) = self.archive.nodes.get(leaves.clone()) else { return 0..0 };
        let from = nodes.partition_point(|node| node.to_nanos < window.start_nanos);
        let to = nodes.partition_point(|node| node.from_nanos < window.end_nanos);
        leaves.start + from..leaves.start + to.max(from)
    }

    /// What was active when inside a node of level 0, latest first.
    ///
    /// Intervals are ordered by end, so read backwards a context comes before what was called from
    /// it, and what is above an interval is on the stack when it comes.
    fn segments(
        &self,
        at: usize,
        node: &NodeRow,
        visit: &mut dyn FnMut(Interval),
    ) -> Result<(), StoreError> {
        let rows = self.archive.intervals(node).map_err(|e| failed(&e))?;
        let mut stack = self.open_at_end(at, node);
        let mut cursor = node.to_nanos;
        let mut emit = |context: u32, from: u64, cursor: &mut u64| {
            let start = from.max(node.from_nanos);
            if start < *cursor {
                visit(Interval { context, start_nanos: start, end_nanos: *cursor });
                *cursor = start;
            }
        };
        let all = rows.u32s(CONTEXT).zip(rows.u64s(START).zip(rows.u64s(END))).rev();
        for (context, (start, end)) in all {
            let parent = self.parent(context);
            while let Some(&(top, top_start)) = stack.last()
                && top != parent
            {
                emit(top, top_start, &mut cursor);
                stack.pop();
            }
            emit(parent, end, &mut cursor);
            stack.push((context, start));
        }
        while let Some((context, start)) = stack.pop() {
            emit(context, start, &mut cursor);
        }
        emit(0, 0, &mut cursor);
        Ok(())
    }

    /// Contexts and starts of what is open at the end of a node of level 0, from the outermost; the
    /// root is not among them.
    fn open_at_end(&self, at: usize, node: &NodeRow) -> Vec<(u32, u64)> {
        let starts = self.archive.open_starts(at);
        let mut context = node.open_context;
        let mut open = Vec::with_capacity(starts.len());
        for &start in starts.iter().rev() {
            open.push((context, start));
            context = self.parent(context);
            if context as usize >= self.archive.contexts.len() {
                break;
            }
        }
        open.reverse();
        open
    }

    /// Starts of the calls that are open when node `at` of level 0 begins, from the outermost.
    fn open_before(&self, at: usize, node: &NodeRow) -> Vec<Option<u64>> {
        let before = at.checked_sub(1).filter(|&before| {
            self.node(before).is_some_and(|b| b.track == node.track && b.level == 0)
        });
        let open = before.map(|before| self.archive.open_starts(before)).unwrap_or_default();
        open.iter().copied().map(Some).collect()
    }

    /// Sums of a node of level 0 of which a part is outside the window.
    fn partial_sums(
        &self,
        at: usize,
        node: &NodeRow,
        window: TimeWindow,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        self.segments(at, node, &mut |segment| {
            let active = TimeWindow::new(segment.start_nanos, segment.end_nanos);
            let nanos = active.intersect(window).nanos();
            if nanos > 0 {
                visit(ContextTime { context: segment.context, calls: 0, nanos });
            }
        })?;
        self.entered(at, node, &mut |context, start| {
            if window.start_nanos <= start && start < window.end_nanos {
                visit(ContextTime { context, calls: 1, nanos: 0 });
            }
        })
    }

    /// Calls `visit` with context and time of each call that was entered in a node of level 0.
    fn entered(
        &self,
        at: usize,
        node: &NodeRow,
        visit: &mut dyn FnMut(u32, u64),
    ) -> Result<(), StoreError> {
        let rows = self.archive.intervals(node).map_err(|e| failed(&e))?;
        // A call that begins where the node does may have been entered before it. Of several at one
        // depth, it is the first.
        let mut before = self.open_before(at, node);
        let mut is_before = |depth: usize, start: u64| {
            let known = depth.checked_sub(1).and_then(|above| before.get_mut(above));
            known.is_some_and(|known| known.take_if(|known| *known == start).is_some())
        };
        for (context, start) in rows.u32s(CONTEXT).zip(rows.u64s(START)) {
            let is_inside = start > node.from_nanos
                || (start == node.from_nanos && !is_before(self.depth(context), start));
            if is_inside {
                visit(context, start);
            }
        }
        for (above, (context, start)) in self.open_at_end(at, node).into_iter().enumerate() {
            let is_inside = start > node.from_nanos
                || (start == node.from_nanos && !is_before(above + 1, start));
            if is_inside {
                visit(context, start);
            }
        }
        Ok(())
    }

    fn walk_sums(
        &self,
        at: usize,
        window: TimeWindow,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        let Some(node) = self.node(at) else { return Ok(()) };
        if node.to_nanos < window.start_nanos || node.from_nanos >= window.end_nanos {
            return Ok(());
        }
        // What is entered at the very end of a node belongs to it, so the end must be inside.
        let is_inside = window.start_nanos <= node.from_nanos && node.to_nanos < window.end_nanos;
        if is_inside {
            let rows = self.archive.sums(node).map_err(|e| failed(&e))?;
            let sums = rows.u32s(SUM_CONTEXT).zip(rows.u32s(CALLS).zip(rows.u64s(NANOS)));
            for (context, (calls, nanos)) in sums {
                visit(ContextTime { context, calls: u64::from(calls), nanos });
            }
            return Ok(());
        }
        if node.level == 0 {
            return self.partial_sums(at, node, window, visit);
        }
        for child in children(node) {
            self.walk_sums(child, window, visit)?;
        }
        Ok(())
    }

    fn walk_bins(
        &self,
        at: usize,
        window: TimeWindow,
        exponent: u8,
        visit: &mut dyn FnMut(u64, ContextTime),
    ) -> Result<(), StoreError> {
        let Some(node) = self.node(at) else { return Ok(()) };
        if node.to_nanos < window.start_nanos || node.from_nanos >= window.end_nanos {
            return Ok(());
        }
        if node.exponent <= exponent {
            let shift = exponent - node.exponent;
            let (first, last) =
                (window.start_nanos >> exponent, (window.end_nanos - 1) >> exponent);
            let rows = self.archive.sums(node).map_err(|e| failed(&e))?;
            let sums = rows.u32s(SUM_CONTEXT).zip(rows.u32s(CALLS).zip(rows.u64s(NANOS)));
            for (bin, (context, (calls, nanos))) in rows.u16s(BIN).zip(sums) {
                let bin = node.first_bin.saturating_add(u64::from(bin)) >> shift;
                if bin < first {
                    continue;
                }
                if bin > last {
                    break;
                }
                visit(bin, ContextTime { context, calls: u64::from(calls), nanos });
            }
            return Ok(());
        }
        if node.level > 0 {
            for child in children(node) {
                self.walk_bins(child, window, exponent, visit)?;
            }
            return Ok(());
        }
        let mut all = Vec::new();
        self.segments(at, node, &mut |segment| {
            let active = TimeWindow::new(segment.start_nanos, segment.end_nanos);
            for_each_bin(active.intersect(window), exponent, |bin, nanos| {
                all.push((bin, ContextTime { context: segment.context, calls: 0, nanos }));
            });
        })?;
        self.entered(at, node, &mut |context, start| {
            if window.start_nanos <= start && start < window.end_nanos {
                all.push((start >> exponent, ContextTime { context, calls: 1, nanos: 0 }));
            }
        })?;
        all.sort_by_key(|(bin, time)| (*bin, time.context));
        for (bin, time) in all {
            visit(bin, time);
        }
        Ok(())
    }
}

fn children(node: &NodeRow) -> Range<usize> {
    let first = node.first_child as usize;
    first..first + node.children as usize
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
        track: usize,
        window: TimeWindow,
        visit: &mut dyn FnMut(Interval),
    ) -> Result<(), StoreError> {
        let mut latest_first = Vec::new();
        for at in self.leaves(track, window) {
            let Some(node) = self.node(at) else { continue };
            self.segments(at, node, &mut |segment| latest_first.push(segment))?;
            for segment in latest_first.drain(..).rev() {
                if segment.end_nanos > window.start_nanos && segment.start_nanos < window.end_nanos
                {
                    visit(segment);
                }
            }
        }
        Ok(())
    }

    fn visit_calls(
        &self,
        track: usize,
        window: TimeWindow,
        visit: &mut dyn FnMut(Call),
    ) -> Result<(), StoreError> {
        let leaves = self.leaves(track, window);
        let last = leaves.end.checked_sub(1).filter(|last| leaves.contains(last));
        for at in leaves {
            let Some(node) = self.node(at) else { continue };
            let rows = self.archive.intervals(node).map_err(|e| failed(&e))?;
            let times = rows.u64s(START).zip(rows.u64s(END));
            for (context, (start_nanos, end_nanos)) in rows.u32s(CONTEXT).zip(times) {
                if end_nanos >= window.start_nanos && start_nanos < window.end_nanos {
                    visit(Call { context, start_nanos, end_nanos });
                }
            }
        }
        let open = last.and_then(|at| Some(self.open_at_end(at, self.node(at)?)));
        for (context, start_nanos) in open.unwrap_or_default().into_iter().rev() {
            if start_nanos < window.end_nanos {
                visit(Call { context, start_nanos, end_nanos: u64::MAX });
            }
        }
        Ok(())
    }

    fn sums(
        &self,
        track: usize,
        window: TimeWindow,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        match self.nodes.get(track) {
            Some((_, Some(top))) if !window.is_empty() => self.walk_sums(*top, window, visit),
            _ => Ok(()),
        }
    }

    fn bins(
        &self,
        track: usize,
        window: TimeWindow,
        exponent: u8,
        visit: &mut dyn FnMut(u64, ContextTime),
    ) -> Result<(), StoreError> {
        let window = whole_bins(window, exponent);
        match self.nodes.get(track) {
            Some((_, Some(top))) if !window.is_empty() => {
                self.walk_bins(*top, window, exponent, visit)
            }
            _ => Ok(()),
        }
    }
}
