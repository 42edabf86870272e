//! [`TrackBuilder`]: the events of one track become intervals, contexts and sums.
//!
//! A track knows nothing of other tracks, so many can be built at the same time. Its contexts have
//! numbers of its own until [`super::Conversion`] takes what is finished.

use std::collections::{BTreeMap, HashMap};

use parallax_base::casts::saturated_usize;
use parallax_base::{Issues, Limits, Place, Severity, Stage};
use parallax_formats::archive::{
    BATCH_INTERVALS, BINS, COARSER_BY, COARSER_FROM, COARSER_NODES, FANOUT, SMALL_INTERVALS,
};
use parallax_model::RecordCounts;

use super::arguments::Described;
use super::bins::{BinCollector, Bins, exponent_for};
use super::requests::{Requests, Side};
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
    /// Communicator; all-ones for one that has this rank only.
    pub communicator: u32,
    /// Rank of the root.
    pub root: Option<u64>,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
}

/// A batch of intervals that is complete.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    pub intervals: Vec<Closed>,
    pub open_context: u32,
    pub open_starts: Vec<u64>,
}

impl Batch {
    /// Whether it has few calls: then it needs no sums, and no batch of its own.
    pub(super) const fn is_small(&self) -> bool {
        self.intervals.len() < SMALL_INTERVALS && self.open_starts.len() < SMALL_INTERVALS
    }
}

/// A node of the pyramid that is complete.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub level: u8,
    pub from_nanos: u64,
    pub to_nanos: u64,
    pub children: u32,
    /// Empty for a small node of level 0.
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
#[derive(Debug, Clone, Default)]
struct Level {
    from_nanos: u64,
    to_nanos: u64,
    children: usize,
    /// Nodes of this level that were finished before.
    finished: usize,
    /// Enters and leaves in all of them.
    edges: usize,
    bins: Bins,
}

/// Builds one track. Events must come in order of time; what does not is moved and reported.
#[derive(Debug, Clone)]
pub struct TrackBuilder {
    label: String,
    stack: Vec<Open>,
    /// Most calls that may be open.
    max_depth: usize,
    /// Functions of calls that are open beyond that: nothing of them is kept.
    hidden: Vec<u32>,
    /// How often each function is open, from the first record on that names another function than
    /// the one entered last.
    open_counts: Option<HashMap<u32, u32>>,
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
    requests: Requests,
    pub(super) endpoints: Vec<Side>,
    pub(super) collectives: Vec<Collective>,
    pub(super) values: Vec<(u32, u64, f64)>,
    /// How often events happened, by context and counter.
    pub(super) counted: BTreeMap<(u32, u32), u64>,
    pub(super) markers: Vec<(u32, u64)>,
    pub(super) files: Vec<FileOperation>,
    pub(super) described: Described,
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
            max_depth: Limits::default().max_depth as usize,
            hidden: Vec::new(),
            open_counts: None,
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
            requests: Requests::default(),
            endpoints: Vec::new(),
            collectives: Vec::new(),
            values: Vec::new(),
            counted: BTreeMap::new(),
            markers: Vec::new(),
            files: Vec::new(),
            described: Described::default(),
            issues: Issues::new(),
            taken: 1,
        }
    }

    /// As [`TrackBuilder::new`], for a track whose clock has another zero than the archive's:
    /// `nanos` are added to all its times. Calls that nest deeper than `max_depth` are left out.
    #[must_use]
    pub(super) fn shifted(label: impl Into<String>, nanos: i64, max_depth: u32) -> Self {
        Self { shift_nanos: nanos, max_depth: max_depth as usize, ..Self::new(label) }
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

    /// What the source recorded with the call that was entered last, as
    /// [`ArgumentText`](parallax_formats::archive::ArgumentText) has names and values.
    pub fn describe(&mut self, names: &str, values: &str) {
        if self.hidden.is_empty() && !self.stack.is_empty() && !names.is_empty() {
            self.described.describe(self.stack.len(), names, values);
        }
    }

    /// How many records the track has; methods that are named after a record count it.
    pub fn counts_mut(&mut self) -> &mut RecordCounts {
        &mut self.counts
    }

    /// A message was sent or received, by a call that blocks or of whose request nothing is known.
    pub fn message(&mut self, endpoint: Endpoint) {
        let endpoint = self.take_side(endpoint);
        self.requests.blocking(endpoint, &mut self.endpoints);
    }

    /// A receive was posted that does not block. Numbers of requests are those of the track.
    pub fn post_receive(&mut self, nanos: u64, request: u64) {
        self.counts.others += 1;
        let nanos = self.advance(nanos);
        self.requests.post_receive(nanos, request, &mut self.endpoints);
    }

    /// A message was received for which [`TrackBuilder::post_receive`] had asked.
    pub fn complete_receive(&mut self, endpoint: Endpoint, request: u64) {
        let endpoint = self.take_side(endpoint);
        self.requests.complete_receive(endpoint, request, &mut self.endpoints);
    }

    /// A message was sent by a call that does not block.
    pub fn post_send(&mut self, endpoint: Endpoint, request: u64) {
        let endpoint = self.take_side(endpoint);
        self.requests.post_send(endpoint, request, &mut self.endpoints);
    }

    /// The request of [`TrackBuilder::post_send`] was complete.
    pub fn complete_send(&mut self, nanos: u64, request: u64) {
        self.counts.others += 1;
        let nanos = self.advance(nanos);
        self.requests.complete_send(nanos, request, &mut self.endpoints);
    }

    /// A request was cancelled: there is no message.
    pub fn cancel_request(&mut self, nanos: u64, request: u64) {
        self.counts.others += 1;
        self.advance(nanos);
        self.requests.cancel(request, &mut self.endpoints);
    }

    /// Counts a side; gives it on the archive's clock.
    fn take_side(&mut self, endpoint: Endpoint) -> Endpoint {
        if endpoint.is_send {
            self.counts.sends += 1;
        } else {
            self.counts.receives += 1;
        }
        Endpoint { nanos: self.advance(endpoint.nanos), ..endpoint }
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

    /// An event happened so often in the last of these functions, each of which called the next one,
    /// at any time; they need not be open. `counter` names the event.
    pub fn count(&mut self, path: &[u32], counter: u32, count: u64) {
        let mut context = 0;
        for &function in path.iter().take(self.max_depth) {
            let Some(child) = self.child(context, function) else { break };
            context = child;
        }
        let known = self.counted.entry((context, counter)).or_default();
        *known = known.saturating_add(count);
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
        self.stack.len() + self.hidden.len()
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
        self.requests.finish(&mut self.endpoints);
        if !self.stack.is_empty() {
            let (depth, at) = (self.stack.len() + self.hidden.len(), self.now_nanos);
            self.report(Severity::Warning, "open-at-end", at, |label| {
                format!("{depth} functions of {label} are never left; they end with its last event")
            });
            while self.pop(self.now_nanos).is_some() {}
        }
        if self.from_nanos.is_some() && (!self.edges.is_empty() || !self.intervals.is_empty()) {
            self.complete_batch(self.levels.is_empty());
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

    /// Gives up what only a track needs that goes on. What it spent, its counts, its times and its
    /// issues stay.
    pub(super) fn release(&mut self) {
        let rest = Self::shifted("", self.shift_nanos, 0);
        let ended = std::mem::replace(self, rest);
        self.now_nanos = ended.now_nanos;
        self.first_nanos = ended.first_nanos;
        self.outside = ended.outside;
        self.num_intervals = ended.num_intervals;
        self.counts = ended.counts;
        self.issues = ended.issues;
        self.contexts = Vec::new();
        self.spent = Vec::new();
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
        if let Some(counts) = &mut self.open_counts {
            *counts.entry(function).or_insert(0) += 1;
        }
        if !self.hidden.is_empty() {
            self.hidden.push(function);
            return;
        }
        if self.stack.len() >= self.max_depth {
            let most = self.max_depth;
            self.report(Severity::Warning, "depth-cut", nanos, |label| {
                format!(
                    "calls of {label} nest deeper than {most}; what is called below counts to the \
                     call above"
                )
            });
            self.hidden.push(function);
            return;
        }
        let parent = self.stack.last().map_or(0, |open| open.context);
        let Some(context) = self.child(parent, function) else {
            self.hidden.push(function);
            return;
        };
        self.from_nanos.get_or_insert(nanos);
        self.stack.push(Open { context, function, start_nanos: nanos });
        self.edges.push(Edge { nanos, context, is_enter: true });
        self.cut_if_full();
    }

    fn close(&mut self, nanos: u64, function: Option<u32>) {
        let nanos = self.advance(nanos);
        let top = self.hidden.last().copied().or_else(|| self.stack.last().map(|o| o.function));
        if top.is_some() && function.is_none_or(|function| Some(function) == top) {
            self.pop(nanos);
            return;
        }
        if !function.is_some_and(|function| self.is_open(function)) {
            self.report(Severity::Warning, "leave-without-enter", nanos, |label| {
                format!("{label} leaves a function that it did not enter; the record is dropped")
            });
            return;
        }
        let mut above = 0_u64;
        while let Some(top) = self.pop(nanos)
            && Some(top) != function
        {
            above += 1;
        }
        self.report(Severity::Warning, "enter-without-leave", nanos, |label| {
            format!(
                "{label} leaves a function while {above} that it called are not left; they end too"
            )
        });
    }

    /// Whether a function is open that is not the one entered last. To look through the stack each
    /// time would take quadratic time where many records do not fit.
    fn is_open(&mut self, function: u32) -> bool {
        let (stack, hidden) = (&self.stack, &self.hidden);
        let counts = self.open_counts.get_or_insert_with(|| {
            let mut counts = HashMap::new();
            for function in stack.iter().map(|open| &open.function).chain(hidden) {
                *counts.entry(*function).or_insert(0) += 1;
            }
            counts
        });
        counts.get(&function).is_some_and(|&count| count > 0)
    }

    /// Closes what was opened last; returns its function.
    fn pop(&mut self, nanos: u64) -> Option<u32> {
        let function = match self.hidden.pop() {
            Some(function) => function,
            None => self.pop_kept(nanos)?,
        };
        if let Some(counts) = &mut self.open_counts
            && let Some(count) = counts.get_mut(&function)
        {
            *count -= 1;
        }
        Some(function)
    }

    fn pop_kept(&mut self, nanos: u64) -> Option<u32> {
        let depth = self.stack.len();
        let open = self.stack.pop()?;
        self.described.close(depth, open.context, open.start_nanos, nanos);
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
        self.cut_if_full();
        Some(open.function)
    }

    /// Completes the batch when it is full. A batch says when all was entered that is still open,
    /// so it is as long as the stack is deep: else these starts would be most of the archive.
    fn cut_if_full(&mut self) {
        let depth = self.stack.len();
        if self.intervals.len() >= BATCH_INTERVALS.max(depth)
            || self.edges.len() >= BATCH_EDGES.max(4 * depth)
        {
            self.cut();
        }
    }

    /// The context of `function` under `parent`; `None` where it is new and there are too many.
    fn child(&mut self, parent: u32, function: u32) -> Option<u32> {
        if let Some(known) = self.contexts.get(parent as usize)
            && known.last_function == function
        {
            return Some(known.last_child);
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
                return None;
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
        Some(child)
    }

    /// Completes the batch: what is open goes on in the next one.
    pub(super) fn cut(&mut self) {
        self.complete_batch(false);
    }

    /// As [`TrackBuilder::cut`]; `is_only` for a track that has this batch and no other.
    fn complete_batch(&mut self, is_only: bool) {
        let Some(from_nanos) = self.from_nanos else { return };
        let to_nanos = self.now_nanos;
        let edges = self.edges.len();
        let batch = Batch {
            intervals: std::mem::take(&mut self.intervals),
            open_context: self.edges.last().map_or(self.from_context, |edge| edge.context),
            open_starts: self.stack.iter().map(|open| open.start_nanos).collect(),
        };
        // A node above may have more bins than this one has edges.
        let most = if is_only { edges } else { saturated_usize(BINS) };
        let exponent = exponent_for(from_nanos, to_nanos, most);
        self.collector.begin(from_nanos, exponent, self.contexts.len());
        let (mut at, mut context) = (from_nanos, self.from_context);
        for edge in &self.edges {
            self.collector.active(at, edge.nanos, context);
            if edge.is_enter {
                self.collector.enter(edge.nanos, edge.context);
            }
            (at, context) = (edge.nanos, edge.context);
        }
        self.collector.active(at, to_nanos, context);
        let mut bins = self.collector.finish();
        for sum in &bins.sums {
            if let Some(spent) = self.spent.get_mut(sum.context as usize) {
                spent.exclusive_nanos += sum.nanos;
            }
        }
        self.edges.clear();
        (self.from_nanos, self.from_context) = (Some(to_nanos), context);
        self.grow(0, (from_nanos, to_nanos), edges, &bins);
        if batch.is_small() {
            bins.sums = Vec::new();
        } else {
            bins.coarsen(exponent_for(from_nanos, to_nanos, edges));
        }
        let node = Node { level: 0, from_nanos, to_nanos, children: 1, bins, batch: Some(batch) };
        self.nodes.push(node);
        self.complete_full_levels();
    }

    /// Adds a finished node to the level above the one it is of: `level` counts levels above 0.
    fn grow(
        &mut self,
        level: usize,
        (from_nanos, to_nanos): (u64, u64),
        edges: usize,
        bins: &Bins,
    ) {
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
        above.edges += edges;
        let exponent = exponent_for(above.from_nanos, to_nanos, above.edges);
        above.bins.append(bins.clone(), exponent);
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
        self.grow(level + 1, (done.from_nanos, done.to_nanos), done.edges, &done.bins);
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
