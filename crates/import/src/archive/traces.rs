//! The intervals and sums of an archive as a [`TraceStore`].

use std::ops::Range;
use std::sync::Arc;

use parallax_base::{TimeWindow, TrackIdx};
use parallax_formats::FormatError;
use parallax_formats::archive::{Archive, NodeRow, keys};
use parallax_model::{
    BinTime, Call, ContextTime, Interval, StoreError, TraceKind, TraceStore, Track, for_each_bin,
    whole_bins,
};

use super::order::Order;

/// Columns of the table of intervals.
const CONTEXT: usize = 1;
const START: usize = 2;
const END: usize = 3;

/// Columns of the table of sums.
const BIN: usize = 0;
const SUM_CONTEXT: usize = 1;
const CALLS: usize = 2;
const NANOS: usize = 3;

/// Columns of the table of profiles.
const PROFILE_TRACK: usize = 0;
const PROFILE_CONTEXT: usize = 1;
const PROFILE_CALLS: usize = 2;
const PROFILE_NANOS: usize = 3;

pub(super) struct Traces {
    archive: Arc<Archive>,
    order: Arc<Order>,
    tracks: Vec<Track>,
    span: TimeWindow,
    /// For each track: its nodes of level 0, and the one node above all its others.
    nodes: Vec<(Range<usize>, Option<usize>)>,
}

fn failed(error: &FormatError) -> StoreError {
    StoreError::Read(error.to_string())
}

impl Traces {
    pub(super) fn new(archive: Arc<Archive>, order: Arc<Order>) -> Self {
        let tracks = (0..)
            .zip(order.ordered(&archive.tracks))
            .map(|(number, row)| Track {
                location: super::location(number),
                num_samples: row.intervals,
            })
            .collect();
        let mut nodes = vec![(0..0, None); archive.tracks.len()];
        for (at, node) in archive.nodes.iter().enumerate() {
            let Some((leaves, top)) = nodes.get_mut(order.track(node.track) as usize) else {
                continue;
            };
            if node.level == 0 {
                let start = if leaves.start == leaves.end { at } else { leaves.start };
                *leaves = start..at + 1;
            }
            // Levels ascend, so the last one is the highest.
            *top = Some(at);
        }
        let nanos = |key: &str| archive.fact(key).and_then(|text| text.parse().ok()).unwrap_or(0);
        let span = TimeWindow::new(nanos(keys::FIRST_NANOS), nanos(keys::LAST_NANOS));
        Self { archive, order, tracks, span, nodes }
    }

    fn node(&self, at: usize) -> Option<&NodeRow> {
        self.archive.nodes.get(at)
    }

    fn parent(&self, context: u32) -> u32 {
        self.archive.contexts.get(context as usize).map_or(0, |row| row.parent)
    }

    /// The nodes of level 0 of a track that reach into `window`.
    fn leaves(&self, track: TrackIdx, window: TimeWindow) -> Range<usize> {
        let Some((leaves, _)) = self.nodes.get(track.idx()) else { return 0..0 };
        let Some(nodes) = self.archive.nodes.get(leaves.clone()) else { return 0..0 };
        let from = nodes.partition_point(|node| node.to_nanos < window.start_nanos);
        let to = nodes.partition_point(|node| node.from_nanos < window.end_nanos);
        leaves.start + from..leaves.start + to.max(from)
    }

    /// What was active when inside a node of level 0 and `window`, and what was entered there,
    /// latest first.
    ///
    /// Intervals are ordered by end, so read backwards a context comes before what was called from
    /// it, and what is above an interval is on the stack when it comes. It leaves the stack where it
    /// starts, so starts come in order, too.
    fn sweep(
        &self,
        at: usize,
        node: &NodeRow,
        window: TimeWindow,
        visit: &mut dyn FnMut(Piece),
    ) -> Result<(), StoreError> {
        let rows = self.archive.intervals(node).map_err(|e| failed(&e))?;
        let from = node.from_nanos.max(window.start_nanos);
        let mut stack = self.open_at_end(at, node);
        stack.retain(|&(_, start)| start < window.end_nanos);
        let mut sweep = Sweep {
            from,
            cursor: node.to_nanos.min(window.end_nanos),
            node_from: node.from_nanos,
            at_start: Vec::new(),
            visit,
        };
        let all = rows.u32s(CONTEXT).zip(rows.u64s(START).zip(rows.u64s(END))).rev();
        for (context, (start, end)) in all {
            // What begins after the window is above nothing that is in it.
            if start >= window.end_nanos {
                continue;
            }
            if end < window.start_nanos {
                break;
            }
            let parent = self.parent(context);
            while let Some(&(top, top_start)) = stack.last()
                && top != parent
            {
                stack.pop();
                sweep.leave_stack(top, top_start, stack.len());
            }
            sweep.active(parent, end);
            stack.push((context, start));
        }
        while let Some((context, start)) = stack.pop() {
            sweep.leave_stack(context, start, stack.len());
        }
        sweep.active(0, 0);
        let at_start = std::mem::take(&mut sweep.at_start);
        if !at_start.is_empty() {
            self.entered_at_start(at, node, at_start, sweep.visit);
        }
        Ok(())
    }

    /// Of the calls that begin where the node does, those that were entered in it: some may have
    /// been entered before. Of several at one depth, these are the first.
    fn entered_at_start(
        &self,
        at: usize,
        node: &NodeRow,
        latest_first: Vec<(u32, usize)>,
        visit: &mut dyn FnMut(Piece),
    ) {
        let mut before = self.open_before(at, node);
        for (context, above) in latest_first.into_iter().rev() {
            let known = before
                .get_mut(above)
                .and_then(|known| known.take_if(|known| *known == node.from_nanos));
            if known.is_none() {
                visit(Piece::Entered { context, nanos: node.from_nanos });
            }
        }
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

    /// Sums of all of a track: its profile has them, in a hundredth of the bytes.
    fn whole_sums(
        &self,
        track: TrackIdx,
        top: usize,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        let row = self.order.row(track);
        let rows = self
            .archive
            .profile_of(row as usize)
            .ok()
            .filter(|rows| rows.rows() > 0 && rows.u32s(PROFILE_TRACK).all(|own| own == row));
        // Another writer may have another order.
        let Some(rows) = rows else { return self.walk_sums(top, TimeWindow::ALL, visit) };
        let sums = rows.u64s(PROFILE_CALLS).zip(rows.u64s(PROFILE_NANOS));
        for (context, (calls, nanos)) in rows.u32s(PROFILE_CONTEXT).zip(sums) {
            if calls > 0 || nanos > 0 {
                visit(ContextTime { context, calls, nanos });
            }
        }
        Ok(())
    }

    /// Sums of a node of which a part is outside the window: those of its bins that are inside, and
    /// what lies at the edges from further down.
    fn partial_sums(
        &self,
        at: usize,
        node: &NodeRow,
        window: TimeWindow,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        if !node.has_sums() {
            return self.sums_below(at, node, window, visit);
        }
        let TimeWindow { start_nanos, end_nanos } = window;
        let bin = 1_u64 << node.exponent;
        let first = if start_nanos <= node.from_nanos {
            node.from_nanos >> node.exponent
        } else {
            start_nanos.div_ceil(bin)
        };
        // What is entered at the very end of a node is in its last bin.
        let end = if node.to_nanos < end_nanos {
            (node.to_nanos >> node.exponent) + 1
        } else {
            end_nanos >> node.exponent
        };
        if first >= end {
            return self.sums_below(at, node, window, visit);
        }
        if start_nanos > node.from_nanos {
            let edge = TimeWindow::new(start_nanos, first << node.exponent);
            self.sums_below(at, node, edge, visit)?;
        }
        if node.to_nanos >= end_nanos {
            let edge = TimeWindow::new(end << node.exponent, end_nanos);
            self.sums_below(at, node, edge, visit)?;
        }
        self.own_sums(node, first..end, visit)
    }

    /// Sums of a window in a node, from what lies below it.
    fn sums_below(
        &self,
        at: usize,
        node: &NodeRow,
        window: TimeWindow,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        if window.is_empty() {
            return Ok(());
        }
        if node.level == 0 {
            return self.sweep(at, node, window, &mut |piece| visit(piece.time()));
        }
        for child in children(node) {
            self.walk_sums(child, window, visit)?;
        }
        Ok(())
    }

    /// Sums of bins of a node, each context once.
    fn own_sums(
        &self,
        node: &NodeRow,
        bins: Range<u64>,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        let rows = self.archive.sums(node).map_err(|e| failed(&e))?;
        let number = |bin: u64| bin.saturating_sub(node.first_bin);
        let (first, end) = (number(bins.start), number(bins.end));
        let bin_at = |row: usize| u64::from(rows.u16_at(BIN, row));
        let from = first_row(rows.rows(), |row| bin_at(row) >= first);
        let to = first_row(rows.rows(), |row| bin_at(row) >= end);
        let len = to.saturating_sub(from);
        let own = rows.u32s(CALLS).skip(from).zip(rows.u64s(NANOS).skip(from));
        let own = rows.u32s(SUM_CONTEXT).skip(from).zip(own).take(len);
        // Damaged rows may name any context.
        let own = own.filter(|(context, _)| (*context as usize) < self.archive.contexts.len());
        let most = own.clone().map(|(context, _)| context as usize + 1).max().unwrap_or(0);
        let mut give = |context: u32, calls: u64, nanos: u64| {
            if calls > 0 || nanos > 0 {
                visit(ContextTime { context, calls, nanos });
            }
        };
        // A track of a few contexts must not take as long as there are contexts in all.
        if most > 8 * len {
            let mut own: Vec<_> = own.collect();
            own.sort_unstable();
            for same in own.chunk_by(|a, b| a.0 == b.0) {
                let calls = same.iter().map(|(_, (calls, _))| u64::from(*calls)).sum();
                let nanos = same.iter().fold(0, |sum: u64, (_, (_, n))| sum.saturating_add(*n));
                if let Some(&(context, _)) = same.first() {
                    give(context, calls, nanos);
                }
            }
            return Ok(());
        }
        let mut totals: Vec<(u64, u64)> = vec![(0, 0); most];
        for (context, (calls, nanos)) in own {
            if let Some(total) = totals.get_mut(context as usize) {
                total.0 += u64::from(calls);
                total.1 = total.1.saturating_add(nanos);
            }
        }
        for (context, (calls, nanos)) in (0..).zip(totals) {
            give(context, calls, nanos);
        }
        Ok(())
    }

    /// When a call was left that is open, with `above` calls around it, at the end of node `at` of
    /// level 0. It is in the batch of the first node at whose end it is not open any more.
    fn end_of(
        &self,
        track: TrackIdx,
        at: usize,
        above: usize,
        context: u32,
        start: u64,
    ) -> Result<u64, StoreError> {
        let leaves = self.nodes.get(track.idx()).map_or(0..0, |(leaves, _)| leaves.clone());
        let mut low = at + 1;
        // Where time stands still, another call of the same start may follow at the same depth, so
        // that batches are looked at one by one.
        while self.node(low - 1).is_some_and(|before| before.to_nanos == start) && low < leaves.end
        {
            if let Some(end) = self.end_in(low, context, start)? {
                return Ok(end);
            }
            low += 1;
        }
        let mut high = leaves.end;
        while low < high {
            let middle = low + (high - low) / 2;
            if self.archive.open_starts(middle).get(above) == Some(&start) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if low >= leaves.end {
            return Ok(u64::MAX);
        }
        Ok(self.end_in(low, context, start)?.unwrap_or(u64::MAX))
    }

    /// When the first call of `context` and `start` in node `at` of level 0 was left.
    fn end_in(&self, at: usize, context: u32, start: u64) -> Result<Option<u64>, StoreError> {
        let Some(node) = self.node(at) else { return Ok(None) };
        let rows = self.archive.intervals(node).map_err(|e| failed(&e))?;
        let mut calls = rows.u32s(CONTEXT).zip(rows.u64s(START).zip(rows.u64s(END)));
        let own = calls.find(|&(c, (s, _))| c == context && s == start);
        Ok(own.map(|(_, (_, end))| end))
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
        if node.has_sums() && is_inside(node, window) {
            self.own_sums(node, 0..u64::MAX, visit)
        } else {
            self.partial_sums(at, node, window, visit)
        }
    }

    fn walk_bins(
        &self,
        at: usize,
        window: TimeWindow,
        exponent: u8,
        visit: &mut dyn FnMut(&[BinTime]),
    ) -> Result<(), StoreError> {
        let Some(node) = self.node(at) else { return Ok(()) };
        if node.to_nanos < window.start_nanos || node.from_nanos >= window.end_nanos {
            return Ok(());
        }
        if node.has_sums() && node.exponent <= exponent {
            let shift = exponent - node.exponent;
            let (first, last) =
                (window.start_nanos >> exponent, (window.end_nanos - 1) >> exponent);
            let rows = self.archive.sums(node).map_err(|e| failed(&e))?;
            let bin_of = |bin: u16| node.first_bin.saturating_add(u64::from(bin)) >> shift;
            let bin_at = |row: usize| bin_of(rows.u16_at(BIN, row));
            let from = first_row(rows.rows(), |row| bin_at(row) >= first);
            let to = first_row(rows.rows(), |row| bin_at(row) > last);
            let sums = rows.u32s(CALLS).skip(from).zip(rows.u64s(NANOS).skip(from));
            let sums = rows.u32s(SUM_CONTEXT).skip(from).zip(sums);
            let times = rows.u16s(BIN).skip(from).zip(sums).take(to.saturating_sub(from));
            let times = times.map(|(bin, (context, (calls, nanos)))| BinTime {
                bin: bin_of(bin),
                time: ContextTime { context, calls: u64::from(calls), nanos },
            });
            in_chunks(times, visit);
            return Ok(());
        }
        if node.level > 0 {
            for child in children(node) {
                self.walk_bins(child, window, exponent, visit)?;
            }
            return Ok(());
        }
        let mut latest_first = Vec::new();
        self.sweep(at, node, window, &mut |piece| match piece {
            Piece::Active { context, start_nanos, end_nanos } => {
                let active = TimeWindow::new(start_nanos, end_nanos);
                let from = latest_first.len();
                for_each_bin(active, exponent, |bin, nanos| {
                    let time = ContextTime { context, calls: 0, nanos };
                    latest_first.push(BinTime { bin, time });
                });
                if let Some(own) = latest_first.get_mut(from..) {
                    own.reverse();
                }
            }
            Piece::Entered { nanos, .. } => {
                latest_first.push(BinTime { bin: nanos >> exponent, time: piece.time() });
            }
        })?;
        latest_first.reverse();
        visit(&latest_first);
        Ok(())
    }
}

/// The first of `rows` rows from which on `is_past` holds; rows are ordered by it.
fn first_row(rows: usize, is_past: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, rows);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_past(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// Hands times over, many at once: a call for each would take longer than what it hands over.
fn in_chunks(times: impl Iterator<Item = BinTime>, visit: &mut dyn FnMut(&[BinTime])) {
    let none = BinTime { bin: 0, time: ContextTime { context: 0, calls: 0, nanos: 0 } };
    let mut chunk = [none; 64];
    let mut len = 0;
    for time in times {
        if let Some(place) = chunk.get_mut(len) {
            *place = time;
        }
        len += 1;
        if len == chunk.len() {
            visit(&chunk);
            len = 0;
        }
    }
    visit(chunk.get(..len).unwrap_or_default());
}

/// What a sweep comes across.
#[derive(Debug, Clone, Copy)]
enum Piece {
    /// A context was active for more than no time.
    Active { context: u32, start_nanos: u64, end_nanos: u64 },
    /// A context was entered.
    Entered { context: u32, nanos: u64 },
}

impl Piece {
    const fn time(self) -> ContextTime {
        match self {
            Self::Active { context, start_nanos, end_nanos } => {
                ContextTime { context, calls: 0, nanos: end_nanos - start_nanos }
            }
            Self::Entered { context, .. } => ContextTime { context, calls: 1, nanos: 0 },
        }
    }
}

/// Time that runs backwards through a node.
struct Sweep<'v> {
    /// Where it ends.
    from: u64,
    /// Where it is.
    cursor: u64,
    node_from: u64,
    /// Calls that begin where the node does: context and number of calls above.
    at_start: Vec<(u32, usize)>,
    visit: &'v mut dyn FnMut(Piece),
}

impl Sweep<'_> {
    /// `context` was active from `start`, or from the end of the sweep, until now.
    fn active(&mut self, context: u32, start: u64) {
        let start_nanos = start.max(self.from);
        if start_nanos < self.cursor {
            (self.visit)(Piece::Active { context, start_nanos, end_nanos: self.cursor });
            self.cursor = start_nanos;
        }
    }

    /// The call of `context` that began at `start` has no call before it on its own stack.
    fn leave_stack(&mut self, context: u32, start: u64, above: usize) {
        self.active(context, start);
        if start >= self.from {
            if start > self.node_from {
                (self.visit)(Piece::Entered { context, nanos: start });
            } else {
                self.at_start.push((context, above));
            }
        }
    }
}

/// Whether all of a node is in the window: what is entered at its very end belongs to it.
fn is_inside(node: &NodeRow, window: TimeWindow) -> bool {
    window.start_nanos <= node.from_nanos && node.to_nanos < window.end_nanos
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
        if self.archive.fact(keys::SAMPLED).is_some() {
            TraceKind::Samples
        } else {
            TraceKind::Calls
        }
    }

    fn sample_interval_nanos(&self) -> Option<u64> {
        let hertz: u64 = self.archive.fact(keys::SAMPLED)?.parse().ok()?;
        1_000_000_000_u64.checked_div(hertz)
    }

    fn has_mpi_calls(&self) -> bool {
        self.kind() == TraceKind::Calls || super::has_mpi_calls(&self.archive)
    }

    fn visit(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(Interval),
    ) -> Result<(), StoreError> {
        let mut latest_first = Vec::new();
        for at in self.leaves(track, window) {
            let Some(node) = self.node(at) else { continue };
            self.sweep(at, node, TimeWindow::ALL, &mut |piece| {
                if let Piece::Active { context, start_nanos, end_nanos } = piece {
                    latest_first.push(Interval { context, start_nanos, end_nanos });
                }
            })?;
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
        track: TrackIdx,
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
                let is_inside = end_nanos >= window.start_nanos && start_nanos < window.end_nanos;
                if is_inside && !self.archive.is_lexical(context) {
                    visit(Call { context, start_nanos, end_nanos });
                }
            }
        }
        let Some(last) = last else { return Ok(()) };
        let Some(node) = self.node(last) else { return Ok(()) };
        let open = self.open_at_end(last, node);
        for (above, (context, start_nanos)) in open.into_iter().enumerate().rev() {
            if start_nanos < window.end_nanos && !self.archive.is_lexical(context) {
                let end_nanos = self.end_of(track, last, above, context, start_nanos)?;
                visit(Call { context, start_nanos, end_nanos });
            }
        }
        Ok(())
    }

    fn sums(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(ContextTime),
    ) -> Result<(), StoreError> {
        match self.nodes.get(track.idx()) {
            Some((_, Some(top))) if self.node(*top).is_some_and(|top| is_inside(top, window)) => {
                self.whole_sums(track, *top, visit)
            }
            Some((_, Some(top))) if !window.is_empty() => self.walk_sums(*top, window, visit),
            _ => Ok(()),
        }
    }

    fn bins(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        exponent: u8,
        visit: &mut dyn FnMut(&[BinTime]),
    ) -> Result<(), StoreError> {
        let window = whole_bins(window, exponent);
        match self.nodes.get(track.idx()) {
            Some((_, Some(top))) if !window.is_empty() => {
                self.walk_bins(*top, window, exponent, visit)
            }
            _ => Ok(()),
        }
    }
}
