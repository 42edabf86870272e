//! [`TrackBuilder`]: the events of one track become intervals, contexts and sums.
//!
//! A track knows nothing of other tracks, so many can be built at the same time. Its contexts have
//! numbers of its own until [`super::Conversion`] takes what is finished.

use std::collections::HashMap;

use parallax_base::{Issues, Place, Severity, Stage};
use parallax_formats::archive::{BATCH_INTERVALS, COARSER_BY, COARSER_FROM, COARSER_NODES, FANOUT};
use parallax_model::RecordCounts;

use super::bins::{BinCollector, Bins, exponent_for};
use super::transfers::FileOperation;

/// Most contexts that a track tells apart.
const MAX_CONTEXTS: usize = 1 << 22;

/// Edges after which a batch ends although few intervals did: deep stacks that only grow.
const BATCH_EDGES: usize = 4 * BATCH_INTERVALS;

/// A track as others speak of it, perhaps before it has been added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Peer(pub(super) u32);

/// One side of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Endpoint {
    /// When.
    pub nanos: u64,
    /// The other track, which may not be known yet; `None` when it cannot be in the trace.
    pub partner: Option<Peer>,
    /// Communicator.
    pub communicator: u32,
    /// Tag.
    pub tag: i64,
    /// Size.
    pub bytes: u64,
    /// Whether this side sends.
    pub is_send: bool,
}

/// A track's part in a collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collective {
    /// When the track came.
    pub start_nanos: u64,
    /// When it went on.
    pub end_nanos: u64,
    /// Operation, as OTF2 numbers them.
    pub operation: u8,
    /// Communicator.
    pub communicator: u32,
    /// Rank of the root.
    pub root: Option<u64>,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
}

/// A batch of intervals that is complete.
#[derive(Debug)]
pub(super) struct Batch {
    pub intervals: Vec<Closed>,
    pub open_context: u32,
    pub open_starts: Vec<u64>,
}

/// A node of the pyramid that is complete.
#[derive(Debug)]
pub(super) struct Node {
    pub level: u8,
    pub from_nanos: u64,
    pub to_nanos: u64,
    pub children: u32,
    pub bins: Bins,
    /// The batch, for level 0.
    pub batch: Option<Batch>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed {
    pub context: u32,
    pub start_nanos: u64,
    pub end_nanos: u64,
}

/// What a track spent in one of its contexts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    pub calls: u64,
    pub exclusive_nanos: u64,
    pub inclusive_nanos: u64,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    context: u32,
    function: u32,
    start_nanos: u64,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    nanos: u64,
    /// The context that is active from here on.
    context: u32,
    is_enter: bool,
}

/// A context of a track: what it is and what was found below it last.
#[derive(Debug, Clone, Copy)]
struct Known {
    parent: u32,
    function: u32,
    last_function: u32,
    last_child: u32,
}

const NONE: u32 = u32::MAX;

/// A level of the pyramid that still grows.
#[derive(Debug, Default)]
struct Level {
    from_nanos: u64,
    to_nanos: u64,
    children: usize,
    /// Nodes of this level that were finished before.
    finished: usize,
    bins: Bins,
}

/// Builds one track. Events must come in order of time; what does not is moved and reported.
#[derive(Debug)]
pub struct TrackBuilder {
    label: String,
    stack: Vec<Open>,
    contexts: Vec<Known>,
    children: HashMap<(u32, u32), u32>,
    intervals: Vec<Closed>,
    edges: Vec<Edge>,
    /// Start of the batch, and the context that was active then.
    from_nanos: Option<u64>,
    from_context: u32,
    now_nanos: u64,
    first_nanos: Option<u64>,
    /// First and last time of what is not between calls.
    outside: Option<(u64, u64)>,
    num_intervals: u64,
    levels: Vec<Level>,
    collector: BinCollector,
    collective: Option<u64>,
    /// Added to the times of all records.
    shift_nanos: i64,
    pub(super) counts: RecordCounts,
    pub(super) spent: Vec<Spent>,
    pub(super) nodes: Vec<Node>,
    /// Nodes over the one that is above all others, when the track is finished.
    pub(super) coarser: Vec<Node>,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) collectives: Vec<Collective>,
    pub(super) values: Vec<(u32, u64, f64)>,
    pub(super) markers: Vec<(u32, u64)>,
    pub(super) files: Vec<FileOperation>,
    pub(super) issues: Issues,
    /// Contexts in all that were taken over by the conversion.
    pub(super) taken: usize,
}

impl TrackBuilder {
    /// A track without events; `label` is what messages call it.
    #[must_use]
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            stack: Vec::new(),
            contexts: vec![Known {
                parent: NONE,
                function: NONE,
                last_function: NONE,
                last_child: 0,
            }],
            children: HashMap::new(),
            intervals: Vec::new(),
            edges: Vec::new(),
            from_nanos: None,
            from_context: 0,
            now_nanos: 0,
            first_nanos: None,
            outside: None,
            num_intervals: 0,
            levels: Vec::new(),
            collector: BinCollector::default(),
            collective: None,
            shift_nanos: 0,
            counts: RecordCounts::default(),
            spent: vec![Spent::default()],
            nodes: Vec::new(),
            coarser: Vec::new(),
            endpoints: Vec::new(),
            collectives: Vec::new(),
            values: Vec::new(),
            markers: Vec::new(),
            files: Vec::new(),
            issues: Issues::new(),
            taken: 1,
        }
    }

    /// As [`TrackBuilder::new`], for a track whose clock has another zero than the archive's:
    /// `nanos` are added to all its times.
    #[must_use]
    pub(super) fn shifted(label: impl Into<String>, nanos: i64) -> Self {
        Self { shift_nanos: nanos, ..Self::new(label) }
    }

    /// The track entered `function`.
    pub fn enter(&mut self, nanos: u64, function: u32) {
        self.counts.enters += 1;
        self.open(nanos, function);
    }

    /// The track left `function`, or whatever it was in where the source does not say.
    ///
    /// A record that names something else than what was entered last closes what lies above the
    /// named function, or is dropped when that was not entered; both are reported.
    pub fn leave(&mut self, nanos: u64, function: Option<u32>) {
        self.counts.leaves += 1;
        self.close(nanos, function);
    }

    /// The track was in `function` from here until [`TrackBuilder::end_complete`]: both come from
    /// one record, or from records that were counted with [`TrackBuilder::counts_mut`].
    pub fn begin_complete(&mut self, nanos: u64, function: u32) {
        self.open(nanos, function);
    }

    /// See [`TrackBuilder::begin_complete`].
    pub fn end_complete(&mut self, nanos: u64) {
        self.close(nanos, None);
    }

    /// How many records the track has; methods that are named after a record count it.
    pub fn counts_mut(&mut self) -> &mut RecordCounts {
        &mut self.counts
    }

    /// A message was sent or received.
    pub fn message(&mut self, endpoint: Endpoint) {
        if endpoint.is_send {
            self.counts.sends += 1;
        } else {
            self.counts.receives += 1;
        }
        let nanos = self.advance(endpoint.nanos);
        self.endpoints.push(Endpoint { nanos, ..endpoint });
    }

    /// The track came to a collective operation.
    pub fn begin_collective(&mut self, nanos: u64) {
        self.counts.others += 1;
        self.collective = Some(self.advance(nanos));
    }

    /// The track went on after a collective operation; its start is what
    /// [`TrackBuilder::begin_collective`] said last, or its own.
    pub fn end_collective(&mut self, collective: Collective) {
        self.counts.others += 1;
        let end_nanos = self.advance(collective.end_nanos);
        let own = collective.start_nanos.saturating_add_signed(self.shift_nanos);
        let begun = self.collective.take().unwrap_or(own);
        let start_nanos = begun.min(end_nanos);
        self.collectives.push(Collective { start_nanos, end_nanos, ..collective });
    }

    /// A counter has a new value. Several values may come from one record, which is counted with
    /// [`TrackBuilder::counts_mut`].
    pub fn value(&mut self, nanos: u64, counter: u32, value: f64) {
        let nanos = self.advance(nanos);
        self.values.push((counter, nanos, value));
    }

    /// As [`TrackBuilder::value`], for values that come before or after all calls instead of between
    /// them; they are in order of time among themselves.
    pub fn value_at(&mut self, nanos: u64, counter: u32, value: f64) {
        let nanos = self.widen(nanos);
        self.values.push((counter, nanos, value));
    }

    /// As [`TrackBuilder::marker`], for markers that do not come between calls.
    pub fn marker_at(&mut self, nanos: u64, name: u32) {
        let nanos = self.widen(nanos);
        self.markers.push((name, nanos));
    }

    /// Something happened at one moment; `name` is a function row.
    pub fn marker(&mut self, nanos: u64, name: u32) {
        let nanos = self.advance(nanos);
        self.markers.push((name, nanos));
    }

    /// Data was written to a file, or read from it. Its records are counted otherwise.
    pub fn file(&mut self, operation: FileOperation) {
        let nanos = self.advance(operation.nanos);
        self.files.push(FileOperation { nanos, ..operation });
    }

    /// A record that is counted but holds nothing that is kept.
    pub fn other(&mut self, nanos: u64) {
        self.counts.others += 1;
        self.advance(nanos);
    }

    /// From the first to the last event; `None` where there are none.
    #[must_use]
    pub fn span(&self) -> Option<(u64, u64)> {
        let calls = self.first_nanos.map(|first| (first, self.now_nanos));
        match (calls, self.outside) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, other) => one.or(other),
        }
    }

    /// Number of contexts that are entered and not yet left.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Intervals so far.
    #[must_use]
    pub const fn num_intervals(&self) -> u64 {
        self.num_intervals
    }

    /// Bytes that wait for their batch to be complete.
    #[must_use]
    pub(super) fn waiting_bytes(&self) -> usize {
        self.intervals.len() * size_of::<Closed>() + self.edges.len() * size_of::<Edge>()
    }

    /// Contexts that the conversion has not taken over yet: parent and function.
    pub(super) fn new_contexts(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.contexts.iter().skip(self.taken).map(|known| (known.parent, known.function))
    }

    pub(super) fn num_contexts(&self) -> usize {
        self.contexts.len()
    }

    /// Ends the track: closes what is open and completes all nodes.
    pub(super) fn finish(&mut self) {
        if !self.stack.is_empty() {
            let (depth, at) = (self.stack.len(), self.now_nanos);
            self.report(Severity::Warning, "open-at-end", at, |label| {
                format!("{depth} functions of {label} are never left; they end with its last event")
            });
            while !self.stack.is_empty() {
                self.pop(self.now_nanos);
            }
        }
        if self.from_nanos.is_some() && (!self.edges.is_empty() || !self.intervals.is_empty()) {
            self.cut();
        }
        // Each level hands what it has up, until one node is above all others.
        let mut level = 0;
        while level < self.levels.len() {
            let is_top = level + 1 == self.levels.len();
            let Some(open) = self.levels.get(level) else { break };
            let is_only = open.finished == 0;
            // One node alone needs nothing above it.
            let is_needed = open.children > 1 || !is_only;
            if open.children > 0 && (is_needed || !is_top) {
                self.complete(level);
            }
            level += 1;
        }
        self.put_coarser_above();
    }

    /// Puts coarser nodes over the one that is above all others. A picture of all tracks at once
    /// has few bins at first, and would read all sums of the highest nodes for them.
    fn put_coarser_above(&mut self) {
        let first = self.levels.len();
        let Some(top) = self.levels.last_mut() else { return };
        let mut bins = std::mem::take(&mut top.bins);
        let (from_nanos, to_nanos) = (top.from_nanos, top.to_nanos);
        for level in first..first + usize::from(COARSER_NODES) {
            let exponent = bins.exponent + COARSER_BY;
            if bins.sums.len() < COARSER_FROM || exponent > 63 {
                break;
            }
            bins.coarsen(exponent);
            self.coarser.push(Node {
                level: u8::try_from(level).unwrap_or(u8::MAX),
                from_nanos,
                to_nanos,
                children: 1,
                bins: bins.clone(),
                batch: None,
            });
        }
    }

    fn report(
        &mut self,
        severity: Severity,
        kind: &'static str,
        nanos: u64,
        message: impl FnOnce(&str) -> String,
    ) {
        let label = &self.label;
        let place = Place::Time { nanos };
        self.issues.report(severity, Stage::Import, kind, place, || message(label));
    }

    /// The track has something at this time, which does not move the time of calls. Returns it on
    /// the archive's clock.
    fn widen(&mut self, nanos: u64) -> u64 {
        let nanos = nanos.saturating_add_signed(self.shift_nanos);
        let (first, last) = self.outside.unwrap_or((nanos, nanos));
        self.outside = Some((first.min(nanos), last.max(nanos)));
        nanos
    }

    /// The time of an event on the archive's clock, not before the one seen last.
    fn advance(&mut self, nanos: u64) -> u64 {
        let nanos = nanos.saturating_add_signed(self.shift_nanos);
        if self.first_nanos.is_none() {
            self.first_nanos = Some(nanos);
            self.now_nanos = nanos;
        }
        if nanos < self.now_nanos {
            let by = self.now_nanos - nanos;
            self.report(Severity::Warning, "time-goes-back", nanos, |label| {
                format!(
                    "an event of {label} is {by} ns before the one before it; it is moved there"
                )
            });
            return self.now_nanos;
        }
        self.now_nanos = nanos;
        nanos
    }

    fn open(&mut self, nanos: u64, function: u32) {
        let nanos = self.advance(nanos);
        let parent = self.stack.last().map_or(0, |open| open.context);
        let context = self.child(parent, function);
        self.from_nanos.get_or_insert(nanos);
        self.stack.push(Open { context, function, start_nanos: nanos });
        self.edges.push(Edge { nanos, context, is_enter: true });
        if self.edges.len() >= BATCH_EDGES {
            self.cut();
        }
    }

    fn close(&mut self, nanos: u64, function: Option<u32>) {
        let nanos = self.advance(nanos);
        let Some(top) = self.stack.last() else {
            self.report(Severity::Warning, "leave-without-enter", nanos, |label| {
                format!("{label} leaves a function that it did not enter; the record is dropped")
            });
            return;
        };
        if function.is_none_or(|function| function == top.function) {
            self.pop(nanos);
            return;
        }
        let below = self.stack.iter().rposition(|open| Some(open.function) == function);
        let Some(below) = below else {
            self.report(Severity::Warning, "leave-without-enter", nanos, |label| {
                format!("{label} leaves a function that it did not enter; the record is dropped")
            });
            return;
        };
        let above = self.stack.len() - below - 1;
        self.report(Severity::Warning, "enter-without-leave", nanos, |label| {
            format!(
                "{label} leaves a function while {above} that it called are not left; they end too"
            )
        });
        while self.stack.len() > below {
            self.pop(nanos);
        }
    }

    fn pop(&mut self, nanos: u64) {
        let Some(open) = self.stack.pop() else { return };
        let context = self.stack.last().map_or(0, |open| open.context);
        self.edges.push(Edge { nanos, context, is_enter: false });
        let closed =
            Closed { context: open.context, start_nanos: open.start_nanos, end_nanos: nanos };
        self.intervals.push(closed);
        self.num_intervals += 1;
        if let Some(spent) = self.spent.get_mut(open.context as usize) {
            spent.calls += 1;
            spent.inclusive_nanos += nanos - open.start_nanos;
        }
        if self.intervals.len() >= BATCH_INTERVALS || self.edges.len() >= BATCH_EDGES {
            self.cut();
        }
    }

    /// The context of `function` under `parent`.
    fn child(&mut self, parent: u32, function: u32) -> u32 {
        if let Some(known) = self.contexts.get(parent as usize)
            && known.last_function == function
        {
            return known.last_child;
        }
        let next = self.contexts.len();
        let child = match self.children.get(&(parent, function)) {
            Some(&child) => child,
            None if next >= MAX_CONTEXTS => {
                let at = self.now_nanos;
                self.report(Severity::Warning, "contexts-folded", at, |label| {
                    format!(
                        "{label} has more than {MAX_CONTEXTS} call paths; further ones count to \
                         the one above"
                    )
                });
                return parent;
            }
            None => {
                let child = u32::try_from(next).unwrap_or(0);
                self.children.insert((parent, function), child);
                self.contexts.push(Known { parent, function, last_function: NONE, last_child: 0 });
                self.spent.push(Spent::default());
                child
            }
        };
        if let Some(known) = self.contexts.get_mut(parent as usize) {
            (known.last_function, known.last_child) = (function, child);
        }
        child
    }

    /// Completes the batch: what is open goes on in the next one.
    pub(super) fn cut(&mut self) {
        let Some(from_nanos) = self.from_nanos else { return };
        let to_nanos = self.now_nanos;
        self.collector.begin(from_nanos, to_nanos, self.contexts.len());
        let (mut at, mut context) = (from_nanos, self.from_context);
        for edge in &self.edges {
            self.collector.active(at, edge.nanos, context);
            if edge.is_enter {
                self.collector.enter(edge.nanos, edge.context);
            }
            (at, context) = (edge.nanos, edge.context);
        }
        self.collector.active(at, to_nanos, context);
        let bins = self.collector.finish();
        for sum in &bins.sums {
            if let Some(spent) = self.spent.get_mut(sum.context as usize) {
                spent.exclusive_nanos += sum.nanos;
            }
        }
        self.edges.clear();
        let batch = Batch {
            intervals: std::mem::take(&mut self.intervals),
            open_context: context,
            open_starts: self.stack.iter().map(|open| open.start_nanos).collect(),
        };
        (self.from_nanos, self.from_context) = (Some(to_nanos), context);
        self.grow(0, from_nanos, to_nanos, &bins);
        let node = Node { level: 0, from_nanos, to_nanos, children: 1, bins, batch: Some(batch) };
        self.nodes.push(node);
        self.complete_full_levels();
    }

    /// Adds a finished node to the level above the one it is of: `level` counts levels above 0.
    fn grow(&mut self, level: usize, from_nanos: u64, to_nanos: u64, bins: &Bins) {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Level::default);
        }
        let Some(above) = self.levels.get_mut(level) else { return };
        if above.children == 0 {
            above.from_nanos = from_nanos;
            above.bins = Bins { exponent: bins.exponent, sums: Vec::new() };
        }
        above.to_nanos = to_nanos;
        above.children += 1;
        above.bins.append(bins.clone(), exponent_for(above.from_nanos, to_nanos));
    }

    fn complete_full_levels(&mut self) {
        let mut level = 0;
        while self.levels.get(level).is_some_and(|open| open.children >= FANOUT) {
            self.complete(level);
            level += 1;
        }
    }

    fn complete(&mut self, level: usize) {
        let Some(open) = self.levels.get_mut(level) else { return };
        let done = std::mem::take(open);
        open.finished = done.finished + 1;
        self.grow(level + 1, done.from_nanos, done.to_nanos, &done.bins);
        self.nodes.push(Node {
            level: u8::try_from(level + 1).unwrap_or(u8::MAX),
            from_nanos: done.from_nanos,
            to_nanos: done.to_nanos,
            children: u32::try_from(done.children).unwrap_or(u32::MAX),
            bins: done.bins,
            batch: None,
        });
    }
}
