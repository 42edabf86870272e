//! [`Touches`]: which activation reads and writes which reference.

use std::collections::HashMap;
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

/// What touches have in common with many others: a run has millions of touches, and few lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    reads: u32,
    writes: u32,
    is_read_first: bool,
    read_line: u32,
    write_line: u32,
    epoch: u32,
    /// Bytes from the lowest address to the end of the highest one; 0 without addresses.
    len_bytes: u64,
}

impl Shape {
    const fn of(touch: &Touch, len_bytes: u64) -> Self {
        let Touch { reads, writes, is_read_first, read_line, write_line, epoch, .. } = *touch;
        Self { reads, writes, is_read_first, read_line, write_line, epoch, len_bytes }
    }

    const fn touch(self, reference: ReferenceIdx, first: u32) -> Touch {
        let Self { reads, writes, is_read_first, read_line, write_line, epoch, .. } = self;
        Touch { reference, reads, writes, first, is_read_first, read_line, write_line, epoch }
    }
}

/// All shapes that occur, each once.
#[derive(Debug, Clone, Default)]
struct Shapes {
    list: Vec<Shape>,
    known: HashMap<Shape, u32>,
}

impl Shapes {
    fn number(&mut self, shape: Shape) -> u32 {
        *self.known.entry(shape).or_insert_with(|| {
            self.list.push(shape);
            u32::try_from(self.list.len() - 1).unwrap_or(u32::MAX)
        })
    }
}

/// All touches: by activation, in depth-first order, so that those of an activation with everything
/// below it are one range; and summed by context in the same way.
///
/// A touch takes 12 bytes, 20 with addresses, and each different combination of counts, lines and
/// epoch 40 more.
#[derive(Debug, Clone, Default)]
pub struct Touches {
    reference: Vec<u32>,
    first: Vec<u32>,
    shape: Vec<u32>,
    shapes: Vec<Shape>,
    /// Where those of each activation begin; one longer than the tree.
    starts: Vec<u32>,
    /// The lowest address by touch; empty when the source has none.
    address: Vec<u64>,
    context_list: Vec<ContextTouch>,
    /// Where those of each context begin; one longer than the tree of contexts.
    context_starts: Vec<u32>,
}

impl Touches {
    /// All touches, by activation, then reference, then epoch.
    pub fn all(&self) -> impl ExactSizeIterator<Item = Touch> + '_ {
        self.part(0..self.len())
    }

    /// The touch at a position of [`Touches::all`].
    #[must_use]
    pub fn get(&self, position: usize) -> Option<Touch> {
        let shape = *self.shapes.get(*self.shape.get(position)? as usize)?;
        let reference = ReferenceIdx::new(*self.reference.get(position)?);
        Some(shape.touch(reference, *self.first.get(position)?))
    }

    /// Number of touches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.reference.len()
    }

    /// Whether nothing was read or written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reference.is_empty()
    }

    /// Whether the source has addresses.
    #[must_use]
    pub fn has_addresses(&self) -> bool {
        self.shapes.iter().any(|shape| shape.len_bytes > 0)
    }

    /// What the activation itself touches, by reference, then epoch.
    pub fn of(&self, activation: ActivationIdx) -> impl ExactSizeIterator<Item = Touch> + '_ {
        self.part(self.range(activation.idx()..activation.idx() + 1))
    }

    /// What the activation and everything below it touch.
    pub fn within(
        &self,
        tree: &ActivationTree,
        activation: ActivationIdx,
    ) -> impl ExactSizeIterator<Item = Touch> + '_ {
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
        let from = *self.address.get(position)?;
        let shape = self.shapes.get(*self.shape.get(position)? as usize)?;
        (shape.len_bytes > 0).then(|| from..from.saturating_add(shape.len_bytes))
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
        let start = |at: usize| self.starts.get(at).map_or(self.len(), |&s| s as usize);
        start(activations.start)..start(activations.end)
    }

    fn part(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = Touch> + '_ {
        let rows = |column: &'_ [u32]| -> Range<usize> {
            let end = range.end.min(column.len());
            range.start.min(end)..end
        };
        let reference = &self.reference[rows(&self.reference)];
        let first = &self.first[rows(&self.first)];
        let shape = &self.shape[rows(&self.shape)];
        reference.iter().zip(first).zip(shape).map(|((&reference, &first), &shape)| {
            self.shapes[shape as usize].touch(ReferenceIdx::new(reference), first)
        })
    }

    fn context_part(&self, contexts: Range<usize>) -> &[ContextTouch] {
        let start = |at: usize| {
            self.context_starts.get(at).map_or(self.context_list.len(), |&s| s as usize)
        };
        self.context_list.get(start(contexts.start)..start(contexts.end)).unwrap_or_default()
    }
}

/// A touch while all are collected.
#[derive(Debug, Clone, Copy)]
struct Row {
    activation: u32,
    reference: u32,
    first: u32,
    shape: u32,
}

/// Collects touches in any order.
#[derive(Debug, Clone, Default)]
pub struct TouchesBuilder {
    rows: Vec<Row>,
    /// As long as `rows`, or shorter where the last ones have none.
    address: Vec<u64>,
    shapes: Shapes,
}

impl TouchesBuilder {
    /// No touches yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a touch of an activation, with its addresses where the source has them: (0, 0) where
    /// it has none for this one. What one activation does with one reference in one epoch may come
    /// in several parts; they are added up.
    pub fn push(&mut self, activation: u32, touch: Touch, bytes: Option<(u64, u64)>) {
        let (from, to) = bytes.unwrap_or_default();
        if from < to {
            self.address.resize(self.rows.len(), 0);
            self.address.push(from);
        }
        let shape = self.shapes.number(Shape::of(&touch, to.saturating_sub(from)));
        let (reference, first) = (touch.reference.get(), touch.first);
        self.rows.push(Row { activation, reference, first, shape });
    }

    /// Number of parts of touches so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
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
        let Self { mut rows, address, mut shapes } = self;
        for row in &mut rows {
            let known = position.get(row.activation as usize).filter(|at| at.idx() < tree.len());
            row.activation = known.map_or(u32::MAX, |at| at.get());
        }
        let mut order: Vec<u32> = Vec::with_capacity(rows.len());
        order.extend(
            (0..u32::try_from(rows.len()).unwrap_or(u32::MAX))
                .filter(|&i| rows[i as usize].activation != u32::MAX),
        );
        let epoch = |row: &Row| shapes.list[row.shape as usize].epoch;
        order.sort_unstable_by_key(|&i| {
            let row = &rows[i as usize];
            (row.activation, row.reference, epoch(row), row.first)
        });
        let mut out = Touches {
            reference: Vec::with_capacity(order.len()),
            first: Vec::with_capacity(order.len()),
            shape: Vec::with_capacity(order.len()),
            starts: vec![0; tree.len() + 1],
            ..Touches::default()
        };
        let has_addresses = !address.is_empty();
        let mut last: Option<Row> = None;
        for &i in &order {
            let row = rows[i as usize];
            let from = address.get(i as usize).copied().unwrap_or(0);
            let is_part = last.is_some_and(|last| {
                (last.activation, last.reference) == (row.activation, row.reference)
                    && epoch_of(&shapes, last.shape) == epoch_of(&shapes, row.shape)
            });
            if is_part {
                out.add_part(&mut shapes, row.shape, from);
            } else {
                out.starts[row.activation as usize + 1] += 1;
                out.reference.push(row.reference);
                out.first.push(row.first);
                out.shape.push(row.shape);
                if has_addresses {
                    out.address.push(from);
                }
            }
            last = Some(row);
        }
        drop((rows, order, address));
        for at in 1..out.starts.len() {
            out.starts[at] += out.starts[at - 1];
        }
        out.shapes = shapes.list;
        (out.context_list, out.context_starts) = by_context(tree, num_contexts, &out);
        out
    }
}

fn epoch_of(shapes: &Shapes, shape: u32) -> u32 {
    shapes.list[shape as usize].epoch
}

impl Touches {
    /// Adds a later part to the last touch.
    fn add_part(&mut self, shapes: &mut Shapes, part: u32, from: u64) {
        let Some(slot) = self.shape.last_mut() else { return };
        let (mut sum, part) = (shapes.list[*slot as usize], shapes.list[part as usize]);
        if sum.reads == 0 {
            sum.read_line = part.read_line;
        }
        if sum.writes == 0 {
            sum.write_line = part.write_line;
        }
        sum.reads = sum.reads.saturating_add(part.reads);
        sum.writes = sum.writes.saturating_add(part.writes);
        if let Some(address) = self.address.last_mut()
            && part.len_bytes > 0
        {
            let to = from.saturating_add(part.len_bytes);
            let hull = match sum.len_bytes {
                0 => from..to,
                len => (*address).min(from)..address.saturating_add(len).max(to),
            };
            (*address, sum.len_bytes) = (hull.start, hull.end - hull.start);
        }
        *slot = shapes.number(sum);
    }
}

/// The sums by context and reference, and where those of each context begin.
fn by_context(
    tree: &ActivationTree,
    num_contexts: usize,
    touches: &Touches,
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
    // By reference: its place among the sums of the context at hand.
    let num_references = touches.reference.iter().max().map_or(0, |&last| last as usize + 1);
    let mut slots = vec![u32::MAX; num_references];
    for context in 0..num_contexts {
        let from = sums.len();
        sum_starts.push(u32::try_from(from).unwrap_or(u32::MAX));
        for &activation in &activations[first[context] as usize..first[context + 1] as usize] {
            for touch in touches.of(ActivationIdx::new(activation)) {
                let slot = &mut slots[touch.reference.idx()];
                if *slot == u32::MAX {
                    *slot = u32::try_from(sums.len() - from).unwrap_or(u32::MAX);
                    sums.push(ContextTouch { reference: touch.reference, reads: 0, writes: 0 });
                }
                let sum = &mut sums[from + *slot as usize];
                sum.reads += u64::from(touch.reads);
                sum.writes += u64::from(touch.writes);
            }
        }
        for sum in &sums[from..] {
            slots[sum.reference.idx()] = u32::MAX;
        }
        sums[from..].sort_unstable_by_key(|sum| sum.reference);
    }
    sum_starts.push(u32::try_from(sums.len()).unwrap_or(u32::MAX));
    (sums, sum_starts)
}
