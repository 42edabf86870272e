//! [`Touches`]: which activation reads and writes which reference.

use std::ops::Range;

use parallax_base::{ActivationIdx, ContextIdx, ReferenceIdx};

use super::ActivationTree;
use crate::ContextTree;

/// What one activation itself, without what it calls or contains, does with one reference between
/// two synchronisations of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// What is read or written.
    pub reference: ReferenceIdx,
    /// How often it is read.
    pub reads: u32,
    /// How often it is written.
    pub writes: u32,
    /// Number of the first of these accesses among all of the run, counted from 0 in the order of
    /// the source. Accesses of one thread are in order of time.
    pub first: u32,
    /// Number of the last of these accesses.
    pub last: u32,
    /// Whether the first of these accesses is a read: the value comes from outside.
    pub is_read_first: bool,
    /// Line of the first read, in the file of the function; 0 when unknown or not read.
    pub read_line: u32,
    /// Line of the first write, in the file of the function; 0 when unknown or not written.
    pub write_line: u32,
    /// How many synchronisations the thread had passed.
    pub epoch: u32,
}

/// What all activations of a context do with one reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextTouch {
    /// What is read or written.
    pub reference: ReferenceIdx,
    /// How often it is read.
    pub reads: u64,
    /// How often it is written.
    pub writes: u64,
}

/// All touches: by activation, in depth-first order, so that those of an activation with everything
/// below it are one slice; and summed by context in the same way.
#[derive(Debug, Clone, Default)]
pub struct Touches {
    list: Vec<Touch>,
    /// Where those of each activation begin; one longer than the tree.
    starts: Vec<u32>,
    /// Addresses by touch; empty when the source has none.
    bytes: Vec<(u64, u64)>,
    context_list: Vec<ContextTouch>,
    /// Where those of each context begin; one longer than the tree of contexts.
    context_starts: Vec<u32>,
}

impl Touches {
    /// All touches, by activation, then reference, then epoch.
    #[must_use]
    pub fn all(&self) -> &[Touch] {
        &self.list
    }

    /// Number of touches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing was read or written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What the activation itself touches, by reference, then epoch.
    #[must_use]
    pub fn of(&self, activation: ActivationIdx) -> &[Touch] {
        self.part(self.range(activation.idx()..activation.idx() + 1))
    }

    /// What the activation and everything below it touch.
    #[must_use]
    pub fn within(&self, tree: &ActivationTree, activation: ActivationIdx) -> &[Touch] {
        self.part(self.range_within(tree, activation))
    }

    /// Positions in [`Touches::all`] of what the activation and everything below it touch.
    #[must_use]
    pub fn range_within(&self, tree: &ActivationTree, activation: ActivationIdx) -> Range<usize> {
        self.range(tree.subtree(activation))
    }

    /// Who makes the touch at a position of [`Touches::all`].
    #[must_use]
    pub fn activation(&self, position: usize) -> ActivationIdx {
        let after = self.starts.partition_point(|&start| start as usize <= position);
        ActivationIdx::from_len(after.saturating_sub(1))
    }

    /// The addresses, from the lowest to one past the highest, that the touch at a position of
    /// [`Touches::all`] goes to; `None` when the source has no addresses. They can be compared
    /// within one reference only: another one may have lain there before.
    #[must_use]
    pub fn bytes(&self, position: usize) -> Option<Range<u64>> {
        let &(from, to) = self.bytes.get(position)?;
        (from < to).then_some(from..to)
    }

    /// What all activations of the context itself touch, by reference.
    #[must_use]
    pub fn of_context(&self, context: ContextIdx) -> &[ContextTouch] {
        self.context_part(context.idx()..context.idx() + 1)
    }

    /// What the context and everything below it touch; a reference comes once for each context.
    #[must_use]
    pub fn within_context(&self, contexts: &ContextTree, context: ContextIdx) -> &[ContextTouch] {
        self.context_part(contexts.subtree(context))
    }

    fn range(&self, activations: Range<usize>) -> Range<usize> {
        let start = |at: usize| self.starts.get(at).map_or(self.list.len(), |&s| s as usize);
        start(activations.start)..start(activations.end)
    }

    fn part(&self, range: Range<usize>) -> &[Touch] {
        self.list.get(range).unwrap_or_default()
    }

    fn context_part(&self, contexts: Range<usize>) -> &[ContextTouch] {
        let start = |at: usize| {
            self.context_starts.get(at).map_or(self.context_list.len(), |&s| s as usize)
        };
        self.context_list.get(start(contexts.start)..start(contexts.end)).unwrap_or_default()
    }
}

/// Collects touches in any order.
#[derive(Debug, Clone, Default)]
pub struct TouchesBuilder {
    activations: Vec<u32>,
    list: Vec<Touch>,
    bytes: Vec<(u64, u64)>,
}

impl TouchesBuilder {
    /// No touches yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a touch of an activation, with its addresses where the source has them: (0, 0) where
    /// it has none for this one. Either all touches come with addresses or none does.
    pub fn push(&mut self, activation: u32, touch: Touch, bytes: Option<(u64, u64)>) {
        self.activations.push(activation);
        self.list.push(touch);
        if let Some(bytes) = bytes {
            // Positions must match, whatever came before.
            self.bytes.resize(self.list.len() - 1, (0, 0));
            self.bytes.push(bytes);
        }
    }

    /// Changes the touch of a number, counted in the order of pushing, and its addresses where it
    /// has some.
    pub fn change(
        &mut self,
        number: u32,
        change: impl FnOnce(&mut Touch, Option<&mut (u64, u64)>),
    ) {
        if let Some(touch) = self.list.get_mut(number as usize) {
            change(touch, self.bytes.get_mut(number as usize));
        }
    }

    /// Number of touches so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The finished touches over a tree whose contexts are set. `position` says where the
    /// activation of each number that was pushed stands in the tree; touches of numbers it does not
    /// know are dropped.
    #[must_use]
    pub fn finish(
        self,
        tree: &ActivationTree,
        num_contexts: usize,
        position: &[ActivationIdx],
    ) -> Touches {
        let Self { mut activations, list, mut bytes } = self;
        for activation in &mut activations {
            let known = position.get(*activation as usize).filter(|at| at.idx() < tree.len());
            *activation = known.map_or(u32::MAX, |at| at.get());
        }
        let mut order: Vec<u32> = (0..u32::try_from(list.len()).unwrap_or(u32::MAX))
            .filter(|&i| activations[i as usize] != u32::MAX)
            .collect();
        order.sort_unstable_by_key(|&i| {
            let touch = &list[i as usize];
            (activations[i as usize], touch.reference, touch.epoch, touch.first)
        });
        let mut starts = vec![0_u32; tree.len() + 1];
        for &i in &order {
            starts[activations[i as usize] as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        if !bytes.is_empty() {
            bytes.resize(list.len(), (0, 0));
            bytes = order.iter().map(|&i| bytes[i as usize]).collect();
        }
        let list: Vec<Touch> = order.iter().map(|&i| list[i as usize]).collect();
        let (context_list, context_starts) = by_context(tree, num_contexts, &list, &starts);
        Touches { list, starts, bytes, context_list, context_starts }
    }
}

/// The sums by context and reference, and where those of each context begin.
fn by_context(
    tree: &ActivationTree,
    num_contexts: usize,
    list: &[Touch],
    starts: &[u32],
) -> (Vec<ContextTouch>, Vec<u32>) {
    // Activations by context, so that only one context's touches are at hand at a time.
    let mut first = vec![0_u32; num_contexts + 1];
    for &context in tree.contexts() {
        if let Some(count) = first.get_mut(context as usize + 1) {
            *count += 1;
        }
    }
    for at in 1..first.len() {
        first[at] += first[at - 1];
    }
    let mut next = first.clone();
    let mut activations = vec![0_u32; first.last().copied().unwrap_or(0) as usize];
    for (activation, &context) in (0_u32..).zip(tree.contexts()) {
        if (context as usize) < num_contexts {
            let slot = &mut next[context as usize];
            activations[*slot as usize] = activation;
            *slot += 1;
        }
    }
    let mut sums: Vec<ContextTouch> = Vec::new();
    let mut sum_starts = Vec::with_capacity(num_contexts + 1);
    let mut own: Vec<ContextTouch> = Vec::new();
    for context in 0..num_contexts {
        sum_starts.push(u32::try_from(sums.len()).unwrap_or(u32::MAX));
        own.clear();
        for &activation in &activations[first[context] as usize..first[context + 1] as usize] {
            let at = activation as usize;
            own.extend(list[starts[at] as usize..starts[at + 1] as usize].iter().map(|touch| {
                ContextTouch {
                    reference: touch.reference,
                    reads: touch.reads.into(),
                    writes: touch.writes.into(),
                }
            }));
        }
        own.sort_unstable_by_key(|touch| touch.reference);
        let from = sums.len();
        for touch in &own {
            match sums[from..].last_mut() {
                Some(last) if last.reference == touch.reference => {
                    last.reads += touch.reads;
                    last.writes += touch.writes;
                }
                _ => sums.push(*touch),
            }
        }
    }
    sum_starts.push(u32::try_from(sums.len()).unwrap_or(u32::MAX));
    (sums, sum_starts)
}
