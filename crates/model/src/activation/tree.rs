//! [`ActivationTree`]: activations in depth-first columns.

use std::ops::Range;

use parallax_base::{ActivationIdx, ContextIdx, ThreadIdx, TimeWindow};

use super::columns::SourceIds;

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
/// All columns have the length [`ActivationTree::len`].
#[derive(Debug, Clone, Default)]
pub struct ActivationTree {
    pub(super) kind: Vec<ActivationKind>,
    pub(super) context: Vec<u32>,
    /// [`NONE`] for roots.
    pub(super) parent: Vec<u32>,
    /// One past the last activation below.
    pub(super) end: Vec<u32>,
    pub(super) thread: Vec<u32>,
    /// Nanoseconds on the run's clock.
    pub(super) start_nanos: Vec<u64>,
    pub(super) end_nanos: Vec<u64>,
    /// Whether start or end are not the source's.
    pub(super) is_estimated: Vec<bool>,
    /// Number of an iteration in its execution, as the source counts; line of a call in the caller,
    /// 0 when unknown.
    pub(super) detail: Vec<u32>,
    pub(super) source_id: SourceIds,
}

/// "No parent".
pub(super) const NONE: u32 = u32::MAX;

impl ActivationTree {
    /// Number of activations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
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
        self.kind[activation.idx()]
    }

    /// The context whose activation it is; an iteration has the context of its loop.
    #[must_use]
    pub fn context(&self, activation: ActivationIdx) -> ContextIdx {
        ContextIdx::new(self.context[activation.idx()])
    }

    /// Contexts by position.
    #[must_use]
    pub fn contexts(&self) -> &[u32] {
        &self.context
    }

    /// What called or contains it; `None` for the entry call of a thread.
    #[must_use]
    pub fn parent(&self, activation: ActivationIdx) -> Option<ActivationIdx> {
        let parent = self.parent[activation.idx()];
        (parent != NONE).then(|| ActivationIdx::new(parent))
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
        activation.idx()..self.end[activation.idx()] as usize
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
        ThreadIdx::new(self.thread[activation.idx()])
    }

    /// From its start to its end, on the run's clock.
    #[must_use]
    pub fn time(&self, activation: ActivationIdx) -> TimeWindow {
        let at = activation.idx();
        TimeWindow::new(self.start_nanos[at], self.end_nanos[at])
    }

    /// How long it took, what it calls and contains included.
    #[must_use]
    pub fn nanos(&self, activation: ActivationIdx) -> u64 {
        let at = activation.idx();
        self.end_nanos[at].saturating_sub(self.start_nanos[at])
    }

    /// How long it took without the activations directly below it.
    #[must_use]
    pub fn own_nanos(&self, activation: ActivationIdx) -> u64 {
        let below: u64 = self.children(activation).map(|child| self.nanos(child)).sum();
        self.nanos(activation).saturating_sub(below)
    }

    /// Whether its start or its end are not what the source says but what
    /// [`super::ActivationTreeBuilder::finish`] makes of what it does say. Times of iterations
    /// often are.
    #[must_use]
    pub fn is_estimated(&self, activation: ActivationIdx) -> bool {
        self.is_estimated[activation.idx()]
    }

    /// Which iteration of its execution it is, as the source counts; 0 for others.
    #[must_use]
    pub fn number(&self, activation: ActivationIdx) -> u32 {
        match self.kind(activation) {
            ActivationKind::Iteration => self.detail[activation.idx()],
            _ => 0,
        }
    }

    /// Line of the call in the file of the calling function; 0 when unknown, and for others.
    #[must_use]
    pub fn line(&self, activation: ActivationIdx) -> u32 {
        match self.kind(activation) {
            ActivationKind::Call => self.detail[activation.idx()],
            _ => 0,
        }
    }

    /// Number in the source, by kind.
    #[must_use]
    pub fn source_id(&self, activation: ActivationIdx) -> u64 {
        self.source_id.get(activation.idx())
    }

    /// Number of activations of a kind.
    #[must_use]
    pub fn count(&self, kind: ActivationKind) -> u64 {
        self.kind.iter().map(|&own| u64::from(own == kind)).sum()
    }

    /// From the first start to the last end of all activations.
    #[must_use]
    pub fn span(&self) -> TimeWindow {
        let start = self.start_nanos.iter().copied().min().unwrap_or(0);
        let end = self.end_nanos.iter().copied().max().unwrap_or(0);
        TimeWindow::new(start, end.max(start))
    }

    /// Sets whose activation each one is, by position.
    ///
    /// Contexts come after the order of activations, because a tree of contexts is made of call
    /// paths. A column of another length is cut, or filled up with the root.
    pub fn set_contexts(&mut self, mut contexts: Vec<u32>) {
        contexts.resize(self.len(), 0);
        self.context = contexts;
    }

    /// Puts all times on another clock. `time` must keep their order.
    pub fn map_times(&mut self, time: impl Fn(u64) -> u64) {
        for nanos in self.start_nanos.iter_mut().chain(&mut self.end_nanos) {
            *nanos = time(*nanos);
        }
    }

    fn siblings(&self, first: usize, stop: usize) -> impl Iterator<Item = ActivationIdx> + '_ {
        let mut next = first;
        std::iter::from_fn(move || {
            if next >= stop {
                return None;
            }
            let sibling = ActivationIdx::from_len(next);
            next = self.end[next] as usize;
            Some(sibling)
        })
    }
}
