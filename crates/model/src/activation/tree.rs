//! [`ActivationTree`]: activations in depth-first columns.

use std::ops::Range;

use parallax_base::casts::low_u32;
use parallax_base::paged::{Numbers, Paged, Paging};
use parallax_base::{ActivationIdx, ContextIdx, ThreadIdx, TimeWindow};

/// What an activation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActivationKind {
    /// One call of a function.
    Call,
    /// One execution of a loop: from where it is entered until it is left.
    LoopExecution,
    /// One iteration of an execution of a loop.
    Iteration,
}

impl ActivationKind {
    /// The words for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::LoopExecution => "loop execution",
            Self::Iteration => "iteration",
        }
    }
}

/// All activations in depth-first order: a parent comes before its children, children are in order
/// of time, and everything below an activation is the contiguous range after it. The entry calls of
/// threads are roots, by thread.
///
/// A run may have more of them than memory has room for: they are in packed blocks, of which those
/// asked for last are at hand.
#[derive(Debug, Clone, Default)]
pub struct ActivationTree {
    rows: Paged<8>,
    context: Numbers<u32>,
    /// Activations by kind.
    counts: [u64; 3],
    span: Option<TimeWindow>,
}

/// The kind, and whether start or end are not the source's.
const FLAGS: usize = 0;
/// One more than the position of the parent; 0 for roots.
const PARENT: usize = 1;
/// How many are below it.
const BELOW: usize = 2;
const THREAD: usize = 3;
/// On the run's clock.
const START: usize = 4;
const NANOS: usize = 5;
/// Number of an iteration in its execution, as the source counts; line of a call in the caller, 0
/// when unknown.
const DETAIL: usize = 6;
const SOURCE: usize = 7;

const IS_ESTIMATED: u64 = 4;

/// "No activation".
pub(super) const NONE: u32 = u32::MAX;

/// The kind in the two lowest bits of flags.
pub(super) const fn kind_of(flags: u64) -> ActivationKind {
    match flags & 3 {
        0 => ActivationKind::Call,
        1 => ActivationKind::LoopExecution,
        _ => ActivationKind::Iteration,
    }
}

impl ActivationTree {
    pub(super) fn new(paging: &Paging) -> Self {
        Self { rows: Paged::new(paging), context: Numbers::new(paging), ..Self::default() }
    }

    /// Adds the next activation. `source` are its thread, detail and number in the source.
    pub(super) fn push(
        &mut self,
        kind: ActivationKind,
        parent: Option<usize>,
        source: (u32, u32, u64),
        (start, end, is_estimated): (u64, u64, bool),
    ) {
        let flags = kind as u64 | if is_estimated { IS_ESTIMATED } else { 0 };
        let parent = parent.map_or(0, |parent| parent as u64 + 1);
        let (thread, detail, source_id) = source;
        let nanos = end.saturating_sub(start);
        let row = [flags, parent, 0, thread.into(), start, nanos, detail.into(), source_id];
        self.rows.push(row);
        if let Some(count) = self.counts.get_mut(kind as usize) {
            *count += 1;
        }
        self.widen(start, start.saturating_add(nanos));
    }

    /// Everything below an activation was added.
    pub(super) fn close(&mut self, at: usize) {
        let below = (self.len() - at).saturating_sub(1) as u64;
        self.rows.update(at, |row| row[BELOW] = below);
    }

    fn widen(&mut self, start: u64, end: u64) {
        self.span = Some(self.span.map_or(TimeWindow::new(start, end), |span| {
            TimeWindow::new(span.start_nanos.min(start), span.end_nanos.max(end))
        }));
    }

    /// Number of activations.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Where its blocks are.
    #[must_use]
    pub fn paging(&self) -> Paging {
        self.rows.paging()
    }

    fn narrow(&self, activation: ActivationIdx, cell: usize) -> u32 {
        low_u32(self.rows.cell(activation.idx(), cell))
    }

    /// All activations in depth-first order.
    pub fn iter(
        &self,
    ) -> impl DoubleEndedIterator<Item = ActivationIdx> + ExactSizeIterator + use<> {
        (0..u32::try_from(self.len()).unwrap_or(NONE)).map(ActivationIdx::new)
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self, activation: ActivationIdx) -> ActivationKind {
        kind_of(self.rows.cell(activation.idx(), FLAGS))
    }

    /// The context whose activation it is; an iteration has the context of its loop.
    #[must_use]
    pub fn context(&self, activation: ActivationIdx) -> ContextIdx {
        ContextIdx::new(self.context.get(activation.idx()).unwrap_or(0))
    }

    /// What called or contains it; `None` for the entry call of a thread.
    #[must_use]
    pub fn parent(&self, activation: ActivationIdx) -> Option<ActivationIdx> {
        self.narrow(activation, PARENT).checked_sub(1).map(ActivationIdx::new)
    }

    /// What encloses it, from its parent outwards.
    pub fn ancestors(&self, activation: ActivationIdx) -> impl Iterator<Item = ActivationIdx> + '_ {
        std::iter::successors(self.parent(activation), |&above| self.parent(above))
    }

    /// The call that executes it: itself if it is a call, else the one around it.
    #[must_use]
    pub fn call_of(&self, activation: ActivationIdx) -> Option<ActivationIdx> {
        std::iter::once(activation)
            .chain(self.ancestors(activation))
            .find(|&above| self.kind(above) == ActivationKind::Call)
    }

    /// The activation and everything below it, as positions.
    #[must_use]
    pub fn subtree(&self, activation: ActivationIdx) -> Range<usize> {
        activation.idx()..self.end(activation.idx())
    }

    /// Whether `below` is `above` or hangs somewhere below it.
    #[must_use]
    pub fn is_within(&self, below: ActivationIdx, above: ActivationIdx) -> bool {
        self.subtree(above).contains(&below.idx())
    }

    /// The direct children, in order of time.
    pub fn children(&self, activation: ActivationIdx) -> impl Iterator<Item = ActivationIdx> + '_ {
        let range = self.subtree(activation);
        self.siblings(range.start + 1, range.end)
    }

    /// The entry calls of threads, and whatever else has no parent.
    pub fn roots(&self) -> impl Iterator<Item = ActivationIdx> + '_ {
        self.siblings(0, self.len())
    }

    /// The thread that executes it.
    #[must_use]
    pub fn thread(&self, activation: ActivationIdx) -> ThreadIdx {
        ThreadIdx::new(self.narrow(activation, THREAD))
    }

    /// From its start to its end, on the run's clock.
    #[must_use]
    pub fn time(&self, activation: ActivationIdx) -> TimeWindow {
        let row = self.rows.get(activation.idx());
        TimeWindow::new(row[START], row[START].saturating_add(row[NANOS]))
    }

    /// How long it took, what it calls and contains included.
    #[must_use]
    pub fn nanos(&self, activation: ActivationIdx) -> u64 {
        self.rows.cell(activation.idx(), NANOS)
    }

    /// How long it took without the activations directly below it.
    #[must_use]
    pub fn own_nanos(&self, activation: ActivationIdx) -> u64 {
        let range = self.subtree(activation);
        let (mut below, mut next) = (0, range.start + 1);
        while next < range.end {
            let child = self.rows.get(next);
            below += child[NANOS];
            next = self.after(next, child[BELOW]);
        }
        self.nanos(activation).saturating_sub(below)
    }

    /// Whether its start or its end are not what the source says but what
    /// [`super::ActivationTreeBuilder::finish`] makes of what it does say. Times of iterations
    /// often are.
    #[must_use]
    pub fn is_estimated(&self, activation: ActivationIdx) -> bool {
        self.rows.cell(activation.idx(), FLAGS) & IS_ESTIMATED != 0
    }

    /// Which iteration of its execution it is, as the source counts; 0 for others.
    #[must_use]
    pub fn number(&self, activation: ActivationIdx) -> u32 {
        match self.kind(activation) {
            ActivationKind::Iteration => self.narrow(activation, DETAIL),
            _ => 0,
        }
    }

    /// Line of the call in the file of the calling function; 0 when unknown, and for others.
    #[must_use]
    pub fn line(&self, activation: ActivationIdx) -> u32 {
        match self.kind(activation) {
            ActivationKind::Call => self.narrow(activation, DETAIL),
            _ => 0,
        }
    }

    /// Number in the source, by kind.
    #[must_use]
    pub fn source_id(&self, activation: ActivationIdx) -> u64 {
        self.rows.cell(activation.idx(), SOURCE)
    }

    /// Number of activations of a kind.
    #[must_use]
    pub fn count(&self, kind: ActivationKind) -> u64 {
        self.counts.get(kind as usize).copied().unwrap_or(0)
    }

    /// From the first start to the last end of all activations.
    #[must_use]
    pub fn span(&self) -> TimeWindow {
        self.span.unwrap_or(TimeWindow::new(0, 0))
    }

    /// Sets whose activation each one is, by position.
    ///
    /// Contexts come after the order of activations, because a tree of contexts is made of call
    /// paths. Those of which none is said have the root.
    pub fn set_contexts(&mut self, contexts: impl IntoIterator<Item = u32>) {
        self.context = Numbers::new(&self.paging());
        for context in contexts.into_iter().take(self.len()) {
            self.context.push(context);
        }
    }

    /// Puts all times on another clock. `time` must keep their order.
    pub fn map_times(&mut self, time: impl Fn(u64) -> u64) {
        self.span = None;
        for at in 0..self.len() {
            let row = self.rows.at(at);
            let start = time(row[START]);
            let end = time(row[START].saturating_add(row[NANOS])).max(start);
            self.rows.update(at, |row| (row[START], row[NANOS]) = (start, end - start));
            self.widen(start, end);
        }
    }

    /// One past the last activation below; it is behind `at` whatever can be read.
    fn end(&self, at: usize) -> usize {
        self.after(at, self.rows.cell(at, BELOW))
    }

    fn after(&self, at: usize, below: u64) -> usize {
        let below = usize::try_from(below).unwrap_or(usize::MAX);
        (at + 1).saturating_add(below).min(self.len())
    }

    fn siblings(&self, first: usize, stop: usize) -> impl Iterator<Item = ActivationIdx> + '_ {
        let mut next = first;
        std::iter::from_fn(move || {
            if next >= stop {
                return None;
            }
            let sibling = ActivationIdx::from_len(next);
            next = self.end(next);
            Some(sibling)
        })
    }
}
