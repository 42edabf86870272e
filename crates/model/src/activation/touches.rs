//! [`Touches`]: which activation reads and writes which reference.

use std::collections::HashMap;
use std::ops::Range;

use parallax_base::casts::low_u32;
use parallax_base::paged::{Numbers, Paged, Paging, Sorter};
use parallax_base::{ActivationIdx, ReferenceIdx};

use super::ActivationTree;

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

/// What touches have in common with many others: a run has millions of touches, and few lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    reads: u32,
    writes: u32,
    is_read_first: bool,
    read_line: u32,
    write_line: u32,
}

impl Shape {
    const fn of(touch: &Touch) -> Self {
        let Touch { reads, writes, is_read_first, read_line, write_line, .. } = *touch;
        Self { reads, writes, is_read_first, read_line, write_line }
    }

    const fn touch(self, reference: ReferenceIdx, first: u32, epoch: u32) -> Touch {
        let Self { reads, writes, is_read_first, read_line, write_line } = self;
        Touch { reference, reads, writes, first, is_read_first, read_line, write_line, epoch }
    }

    /// With a later part of the same touch.
    const fn and(mut self, part: Self) -> Self {
        if self.reads == 0 {
            self.read_line = part.read_line;
        }
        if self.writes == 0 {
            self.write_line = part.write_line;
        }
        self.reads = self.reads.saturating_add(part.reads);
        self.writes = self.writes.saturating_add(part.writes);
        self
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

/// All touches by activation, in depth-first order, so that those of an activation with everything
/// below it are one range.
///
/// A run may have more of them than memory has room for: they are in packed blocks, of which those
/// asked for last are at hand. Each different combination of counts and lines is kept once.
#[derive(Debug, Clone, Default)]
pub struct Touches {
    /// Reference, number of the first access, shape, epoch.
    rows: Paged<4>,
    shapes: Vec<Shape>,
    /// Where those of each activation begin; one longer than the tree.
    starts: Numbers<u32>,
    /// The lowest address by touch, and the bytes from there to the end of the highest one, 0
    /// without addresses; empty when the source has none.
    bytes: Paged<2>,
}

impl Touches {
    /// All touches, by activation, then reference, then epoch.
    pub fn all(&self) -> impl ExactSizeIterator<Item = Touch> + '_ {
        self.part(0..self.len())
    }

    /// The touch at a position of [`Touches::all`].
    #[must_use]
    pub fn get(&self, position: usize) -> Option<Touch> {
        (position < self.len()).then(|| self.touch(position))
    }

    /// Number of touches.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether nothing was read or written.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the source has addresses.
    #[must_use]
    pub const fn has_addresses(&self) -> bool {
        !self.bytes.is_empty()
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

    /// Positions in [`Touches::all`] of what the activation itself touches.
    #[must_use]
    pub fn range_of(&self, activation: ActivationIdx) -> Range<usize> {
        self.range(activation.idx()..activation.idx() + 1)
    }

    /// Positions in [`Touches::all`] of what the activation and everything below it touch.
    #[must_use]
    pub fn range_within(&self, tree: &ActivationTree, activation: ActivationIdx) -> Range<usize> {
        self.range(tree.subtree(activation))
    }

    /// Who makes the touch at a position of [`Touches::all`].
    #[must_use]
    pub fn activation(&self, position: usize) -> ActivationIdx {
        let after = self.starts.partition_point(|start| start as usize <= position);
        ActivationIdx::from_len(after.saturating_sub(1))
    }

    /// The addresses, from the lowest to one past the highest, that the touch at a position of
    /// [`Touches::all`] goes to; `None` when the source has no addresses. They can be compared
    /// within one reference only: another one may have lain there before.
    #[must_use]
    pub fn bytes(&self, position: usize) -> Option<Range<u64>> {
        if self.bytes.is_empty() {
            return None;
        }
        let [from, len] = self.bytes.get(position);
        (len > 0).then(|| from..from.saturating_add(len))
    }

    fn touch(&self, position: usize) -> Touch {
        let [reference, first, shape, epoch] = self.rows.get(position);
        let shape =
            self.shapes.get(low_u32(shape) as usize).copied().unwrap_or(Shape::of(&NOTHING));
        shape.touch(ReferenceIdx::new(low_u32(reference)), low_u32(first), low_u32(epoch))
    }

    fn range(&self, activations: Range<usize>) -> Range<usize> {
        let start = |at: usize| self.starts.get(at).map_or(self.len(), |start| start as usize);
        let from = start(activations.start);
        from..start(activations.end).max(from)
    }

    fn part(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = Touch> + '_ {
        range.map(|position| self.touch(position))
    }
}

/// A touch that is none.
pub(super) const NOTHING: Touch = Touch {
    reference: ReferenceIdx::new(0),
    reads: 0,
    writes: 0,
    first: 0,
    is_read_first: false,
    read_line: 0,
    write_line: 0,
    epoch: 0,
};

/// Collects touches in any order.
#[derive(Debug, Clone, Default)]
pub struct TouchesBuilder {
    /// Activation, reference, number of the first access, epoch, shape, lowest address, bytes.
    rows: Paged<7>,
    shapes: Shapes,
    has_addresses: bool,
}

impl TouchesBuilder {
    /// No touches yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No touches yet; `paging` says where they are, and where the finished ones will be.
    #[must_use]
    pub fn paged(paging: &Paging) -> Self {
        Self { rows: Paged::new(paging), ..Self::default() }
    }

    /// Adds a touch of an activation, with its addresses where the source has them: (0, 0) where
    /// it has none for this one. What one activation does with one reference in one epoch may come
    /// in several parts; they are added up.
    pub fn push(&mut self, activation: u32, touch: Touch, bytes: Option<(u64, u64)>) {
        let (from, to) = bytes.filter(|(from, to)| from < to).unwrap_or_default();
        self.has_addresses |= from < to;
        let shape = self.shapes.number(Shape::of(&touch));
        let (reference, first, epoch) = (touch.reference.get(), touch.first, touch.epoch);
        let numbers = [activation, reference, first, epoch, shape].map(u64::from);
        let [activation, reference, first, epoch, shape] = numbers;
        self.rows.push([activation, reference, first, epoch, shape, from, to - from]);
    }

    /// Number of parts of touches so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The finished touches over a tree. `position` says where the activation of each number that
    /// was pushed stands in the tree; touches of numbers it does not know are dropped.
    #[must_use]
    pub fn finish(self, tree: &ActivationTree, position: &Numbers<ActivationIdx>) -> Touches {
        let Self { mut rows, shapes, has_addresses } = self;
        let paging = rows.paging();
        let mut sorter = Sorter::<5>::new(&paging);
        for at in 0..rows.len() {
            let [activation, reference, first, epoch, shape, from, len] = rows.at(at);
            let position = position.get(low_u32(activation) as usize);
            if let Some(position) = position.filter(|position| position.idx() < tree.len()) {
                let key = [u64::from(position.get()) << 32 | reference, epoch << 32 | first];
                sorter.push([key[0], key[1], shape, from, len]);
            }
        }
        drop(rows);
        let mut out = Finishing {
            touches: Touches {
                rows: Paged::new(&paging),
                shapes: Vec::new(),
                starts: Numbers::new(&paging),
                bytes: Paged::new(&paging),
            },
            shapes,
            has_addresses,
        };
        let mut last: Option<[u64; 5]> = None;
        for row in sorter.finish() {
            let is_part = |last: &[u64; 5]| last[0] == row[0] && last[1] >> 32 == row[1] >> 32;
            match &mut last {
                Some(sum) if is_part(sum) => out.add_part(sum, &row),
                _ => {
                    if let Some(done) = last.replace(row) {
                        out.push(done);
                    }
                }
            }
        }
        if let Some(done) = last {
            out.push(done);
        }
        out.touches.shapes = out.shapes.list;
        let len = u32::try_from(out.touches.len()).unwrap_or(u32::MAX);
        while out.touches.starts.len() <= tree.len() {
            out.touches.starts.push(len);
        }
        out.touches
    }
}

/// Touches while they come in order: activation and reference, epoch and number of the first
/// access, shape, lowest address, bytes.
struct Finishing {
    touches: Touches,
    shapes: Shapes,
    has_addresses: bool,
}

impl Finishing {
    /// Adds a later part to a touch.
    fn add_part(&mut self, sum: &mut [u64; 5], part: &[u64; 5]) {
        let shape = |row: &[u64; 5]| self.shapes.list.get(low_u32(row[2]) as usize).copied();
        if let (Some(own), Some(other)) = (shape(sum), shape(part)) {
            sum[2] = self.shapes.number(own.and(other)).into();
        }
        let ([_, _, _, from, len], [_, _, _, other, other_len]) = (&mut *sum, part);
        if *other_len > 0 {
            let to = other.saturating_add(*other_len);
            let hull = match *len {
                0 => *other..to,
                own => (*from).min(*other)..from.saturating_add(own).max(to),
            };
            (*from, *len) = (hull.start, hull.end - hull.start);
        }
    }

    fn push(&mut self, [key, order, shape, from, len]: [u64; 5]) {
        let touches = &mut self.touches;
        let (activation, at) = ((key >> 32) as usize, touches.len());
        while touches.starts.len() <= activation {
            touches.starts.push(u32::try_from(at).unwrap_or(u32::MAX));
        }
        let [reference, first, epoch] =
            [key, order, order >> 32].map(|number| low_u32(number).into());
        touches.rows.push([reference, first, shape, epoch]);
        if self.has_addresses {
            touches.bytes.push([from, len]);
        }
    }
}
