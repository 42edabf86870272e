//! Which sibling calls and loops of one activation depend on each other.
//!
//! Two of them depend on each other by Bernstein's conditions (see [`super::loops()`]): one writes
//! what the other reads or writes. What one leaves to the other through the code around them counts
//! as well: `x = f(); g(x)` where f's result is stored on the line of its call and read on the line
//! of g's, and what the code around reads after one of them wrote it and writes before the other
//! reads it.

use std::collections::HashMap;

use parallax_base::{ActivationIdx, ContextIdx, ReferenceIdx};
use parallax_model::{ActivationKind, Activations};

use super::FunctionLine;
use super::reach::Reach;
use super::segments::Segments;
use super::shared::{Entry, SharedTouches};

/// How a later call depends on an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependenceKind {
    /// It reads what the earlier one wrote: producer and consumer.
    Flow,
    /// The code around them hands on what the earlier one wrote.
    Through,
    /// It writes what the earlier one reads. Copies would remove it.
    Anti,
    /// Both write. Copies would remove it.
    Output,
}

impl DependenceKind {
    /// The words for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flow => "producer and consumer",
            Self::Through => "passed on by the caller",
            Self::Anti => "overwrites what is read",
            Self::Output => "both write",
        }
    }
}

/// One kind of call that depends on a sibling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairDependence {
    /// The earlier one.
    pub from: ContextIdx,
    /// The later one.
    pub to: ContextIdx,
    /// How.
    pub kind: DependenceKind,
    /// Through what.
    pub reference: ReferenceIdx,
    /// Where the earlier one writes it, or reads it where that is overwritten.
    pub from_place: Option<FunctionLine>,
    /// Where the later one reads or writes it.
    pub to_place: Option<FunctionLine>,
    /// How many pairs of calls.
    pub count: u64,
}

/// Calls and loops below activations of one context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiblingAdvice {
    /// The context whose activations were examined.
    pub parent: ContextIdx,
    /// Whether these are calls of it or iterations.
    pub parent_kind: ActivationKind,
    /// How many activations were examined.
    pub num_parents: u64,
    /// The one with most work, as an example.
    pub example: ActivationIdx,
    /// What is called or executed there, in order of the tree.
    pub members: Vec<ContextIdx>,
    /// Pairs of members that depend on each other, and through what; others do not.
    pub dependences: Vec<PairDependence>,
    /// Whether a bound on memory was met: then what was not compared counts as dependent.
    pub is_complete: bool,
}

impl SiblingAdvice {
    /// Whether no activation of one member depends on one of the other.
    #[must_use]
    pub fn is_independent(&self, a: ContextIdx, b: ContextIdx) -> bool {
        let is = |found: &PairDependence| {
            (found.from, found.to) == (a, b) || (found.from, found.to) == (b, a)
        };
        self.is_complete && !self.dependences.iter().any(is)
    }
}

/// The calls and loops below one activation, to be scheduled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Calls and executions of loops, in order of time.
    pub activations: Vec<ActivationIdx>,
    /// Pairs of an earlier and a later one that depend on each other.
    pub dependences: Vec<(u32, u32)>,
    /// Whether a bound on memory was met: then each one depends on the one before.
    pub is_complete: bool,
}

/// The tasks below an activation.
#[must_use]
pub fn tasks(run: &Activations, parent: ActivationIdx) -> Tasks {
    let reach = Reach::new(run);
    let activations = members(&reach, parent);
    let mut room = SharedTouches::new(&reach);
    let found = conflicts(&reach, parent, &activations, &mut room);
    Tasks {
        dependences: found.pairs(activations.len()),
        is_complete: found.is_complete,
        activations,
    }
}

/// Pairs that are kept for one activation.
const MOST_EDGES: usize = 1 << 21;

/// Calls and executions of loops directly below.
pub(super) fn members(reach: &Reach<'_>, parent: ActivationIdx) -> Vec<ActivationIdx> {
    let tree = &reach.run.tree;
    tree.children(parent).filter(|&child| tree.kind(child) != ActivationKind::Iteration).collect()
}

/// A pair of members that depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) kind: DependenceKind,
    pub(super) reference: u32,
    /// Positions of touches that show it.
    pub(super) from_touch: u32,
    pub(super) to_touch: u32,
}

#[derive(Debug, Default)]
pub(super) struct Conflicts {
    pub(super) edges: Vec<Edge>,
    pub(super) is_complete: bool,
}

impl Conflicts {
    /// Pairs for a schedule: all in a row where they are not known.
    pub(super) fn pairs(&self, count: usize) -> Vec<(u32, u32)> {
        if !self.is_complete {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            return (1..count).map(|at| (at - 1, at)).collect();
        }
        let mut pairs: Vec<_> = self.edges.iter().map(|edge| (edge.from, edge.to)).collect();
        pairs.dedup();
        pairs
    }
}

/// What members did with some bytes since they were written last.
#[derive(Debug, Clone, Default)]
struct State {
    writer: Option<(u32, u32)>,
    readers: Vec<(u32, u32)>,
}

/// Finds which of `members`, in order of time, depend on which.
pub(super) fn conflicts(
    reach: &Reach<'_>,
    parent: ActivationIdx,
    members: &[ActivationIdx],
    room: &mut SharedTouches,
) -> Conflicts {
    let mut out = Conflicts { edges: Vec::new(), is_complete: true };
    let around = Around::new(reach, parent);
    let mut feeders: Vec<(u32, u32)> = Vec::new();
    let mut fed: Vec<(u32, u32)> = Vec::new();
    let mut part = 0;
    let entries = room.collect(reach, members, |member, position, touch| {
        while members.get(part as usize).is_some_and(|&at| at != member) {
            part += 1;
        }
        let Ok(position) = u32::try_from(position) else { return };
        let use_of = around.uses.get(&touch.reference.get()).copied().unwrap_or_default();
        if touch.writes > 0 && use_of.is_read && feeders.last().is_none_or(|last| last.0 != part) {
            feeders.push((part, position));
        }
        if touch.reads > 0 && use_of.is_written && fed.last().is_none_or(|last| last.0 != part) {
            fed.push((part, position));
        }
    });
    for of_one in entries.chunk_by(|a, b| a.reference == b.reference) {
        one_reference(reach, of_one, &mut out);
    }
    if around.reads_and_writes() {
        hand_on(&feeders, &fed, reach, &mut out);
    }
    around.results(reach, members, &mut out);
    out.edges.sort_unstable();
    out.edges.dedup_by_key(|edge| (edge.from, edge.to, edge.kind, edge.reference));
    out
}

fn one_reference(reach: &Reach<'_>, entries: &[Entry], out: &mut Conflicts) {
    let Some(first) = entries.first() else { return };
    let is_value = reach.is_value(first.reference as usize);
    let mut states: Segments<State> = Segments::new();
    for of_part in entries.chunk_by(|a, b| a.part == b.part) {
        for entry in of_part {
            let Some(touch) = reach.touch(entry.position as usize) else { continue };
            let bytes = if is_value { 0..1 } else { reach.bytes(entry.position as usize) };
            let edge = |from: (u32, u32), kind| Edge {
                from: from.0,
                to: entry.part,
                kind,
                reference: entry.reference,
                from_touch: from.1,
                to_touch: entry.position,
            };
            // A value that the call writes before it reads it is its own.
            let is_exposed = touch.reads > 0 && (touch.is_read_first || !is_value);
            for state in states.overlapping(&bytes) {
                if let Some(writer) = state.writer.filter(|writer| writer.0 != entry.part) {
                    let kind =
                        if is_exposed { DependenceKind::Flow } else { DependenceKind::Output };
                    out.edges.push(edge(writer, kind));
                }
                if touch.writes > 0 {
                    let others = state.readers.iter().filter(|reader| reader.0 != entry.part);
                    out.edges.extend(others.map(|&reader| edge(reader, DependenceKind::Anti)));
                }
            }
            if out.edges.len() > MOST_EDGES {
                out.is_complete = false;
                out.edges.truncate(MOST_EDGES);
                return;
            }
        }
        for entry in of_part {
            let Some(touch) = reach.touch(entry.position as usize) else { continue };
            let bytes = if is_value { 0..1 } else { reach.bytes(entry.position as usize) };
            let own = (entry.part, entry.position);
            states.update(&bytes, |state| {
                if touch.writes > 0 {
                    // Its own readings before do not matter to later ones: they wait for the write.
                    *state = State { writer: Some(own), readers: Vec::new() };
                } else if state.readers.last().is_none_or(|last| last.0 != entry.part) {
                    state.readers.push(own);
                }
            });
        }
    }
}

/// What the code around does with what one member wrote may be what another one reads.
fn hand_on(feeders: &[(u32, u32)], fed: &[(u32, u32)], reach: &Reach<'_>, out: &mut Conflicts) {
    for &(to, to_touch) in fed {
        let before = feeders.partition_point(|feeder| feeder.0 < to);
        for &(from, from_touch) in feeders.get(..before).unwrap_or_default() {
            let touch = reach.touch(from_touch as usize);
            let reference = touch.map_or(0, |touch| touch.reference.get());
            let kind = DependenceKind::Through;
            out.edges.push(Edge { from, to, kind, reference, from_touch, to_touch });
        }
        if out.edges.len() > MOST_EDGES {
            out.is_complete = false;
            out.edges.truncate(MOST_EDGES);
            return;
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Use {
    is_read: bool,
    is_written: bool,
}

/// What the activation around does itself.
struct Around {
    uses: HashMap<u32, Use>,
    /// Lines on which values are written, and read, with the touch.
    written: HashMap<u32, Vec<(u32, u32)>>,
    read: HashMap<u32, Vec<(u32, u32)>>,
}

impl Around {
    fn new(reach: &Reach<'_>, parent: ActivationIdx) -> Self {
        let mut out = Self { uses: HashMap::new(), written: HashMap::new(), read: HashMap::new() };
        for position in reach.own(parent) {
            let (Some(touch), Ok(at)) = (reach.touch(position), u32::try_from(position)) else {
                continue;
            };
            let reference = touch.reference.get();
            let slot = out.uses.entry(reference).or_default();
            slot.is_read |= touch.reads > 0;
            slot.is_written |= touch.writes > 0;
            if touch.writes > 0 && touch.write_line > 0 {
                out.written.entry(touch.write_line).or_default().push((reference, at));
            }
            if touch.reads > 0 && touch.read_line > 0 {
                out.read.entry(touch.read_line).or_default().push((reference, at));
            }
        }
        out
    }

    fn reads_and_writes(&self) -> bool {
        self.uses.values().any(|u| u.is_read) && self.uses.values().any(|u| u.is_written)
    }

    /// Results that are stored on the line of a call and read on the line of a later one.
    fn results(&self, reach: &Reach<'_>, members: &[ActivationIdx], out: &mut Conflicts) {
        let mut stored: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        for (part, &member) in (0_u32..).zip(members) {
            let line = reach.run.tree.line(member);
            if reach.run.tree.kind(member) != ActivationKind::Call || line == 0 {
                continue;
            }
            for &(reference, to_touch) in self.read.get(&line).map_or(&[][..], Vec::as_slice) {
                let kind = DependenceKind::Through;
                let edges =
                    stored.get(&reference).into_iter().flatten().map(|&(from, from_touch)| Edge {
                        from,
                        to: part,
                        kind,
                        reference,
                        from_touch,
                        to_touch,
                    });
                out.edges.extend(edges);
            }
            if out.edges.len() > MOST_EDGES {
                out.is_complete = false;
                out.edges.truncate(MOST_EDGES);
                return;
            }
            for &(reference, at) in self.written.get(&line).map_or(&[][..], Vec::as_slice) {
                stored.entry(reference).or_default().push((part, at));
            }
        }
    }
}

/// Puts what was found of single activations together by context.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    found: HashMap<(ContextIdx, ActivationKind), (SiblingAdvice, u64)>,
}

impl Gathered {
    pub(super) fn add(
        &mut self,
        reach: &Reach<'_>,
        parent: ActivationIdx,
        work_nanos: u64,
        members: &[ActivationIdx],
        conflicts: &Conflicts,
    ) {
        let tree = &reach.run.tree;
        let key = (tree.context(parent), tree.kind(parent));
        let (advice, most) = self.found.entry(key).or_insert_with(|| {
            let advice = SiblingAdvice {
                parent: key.0,
                parent_kind: key.1,
                num_parents: 0,
                example: parent,
                members: Vec::new(),
                dependences: Vec::new(),
                is_complete: true,
            };
            (advice, 0)
        });
        advice.num_parents += 1;
        advice.is_complete &= conflicts.is_complete;
        if work_nanos > *most {
            *most = work_nanos;
            advice.example = parent;
        }
        let context = |part: u32| members.get(part as usize).map(|&member| tree.context(member));
        for &member in members {
            let own = tree.context(member);
            if let Err(at) = advice.members.binary_search(&own) {
                advice.members.insert(at, own);
            }
        }
        for edge in &conflicts.edges {
            let (Some(from), Some(to)) = (context(edge.from), context(edge.to)) else { continue };
            let reference = ReferenceIdx::new(edge.reference);
            let references = &reach.run.references;
            let known = advice.dependences.iter_mut().find(|known| {
                (known.from, known.to, known.kind) == (from, to, edge.kind)
                    && (known.reference == reference
                        || references.are_namesakes(known.reference.idx(), reference.idx()))
            });
            if let Some(known) = known {
                known.count += 1;
                continue;
            }
            let place = |at: u32, is_write: bool| {
                let touch = reach.touch(at as usize)?;
                let line = if is_write { touch.write_line } else { touch.read_line };
                Some(FunctionLine { function: reach.function(at as usize)?, line })
            };
            let kind = edge.kind;
            advice.dependences.push(PairDependence {
                from,
                to,
                kind,
                reference,
                from_place: place(edge.from_touch, kind != DependenceKind::Anti),
                to_place: place(
                    edge.to_touch,
                    matches!(kind, DependenceKind::Anti | DependenceKind::Output),
                ),
                count: 1,
            });
        }
    }

    /// In the order of the tree of contexts.
    pub(super) fn finish(self) -> Vec<SiblingAdvice> {
        let mut list: Vec<SiblingAdvice> =
            self.found.into_values().map(|(advice, _)| advice).collect();
        for advice in &mut list {
            advice.dependences.sort_unstable_by_key(|d| (d.kind, d.from, d.to, d.reference));
        }
        list.sort_unstable_by_key(|advice| (advice.parent, advice.parent_kind));
        list
    }
}
