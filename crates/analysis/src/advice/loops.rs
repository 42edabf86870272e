//! Which loops could run their iterations in parallel.
//!
//! Two iterations depend on each other when one writes what the other reads or writes (A. J.
//! Bernstein, *Analysis of Programs for Parallel Processing*, 1966). Only a **true dependency** (one
//! iteration reads what an earlier one wrote) forbids an order; the others (an anti-dependency:
//! reads, then a later one writes; an output dependency: both write) go away when each iteration
//! has its own copy (R. Allen and K. Kennedy, *Optimizing Compilers for Modern Architectures*,
//! sections 2.2 and 5.3). Compared are all iterations of an execution, in every execution.

use std::collections::HashMap;
use std::ops::Range;

use parallax_base::{ActivationIdx, Cancelled, ContextIdx, Control, ReferenceIdx};
use parallax_model::{ActivationKind, Activations, ContextTree};

use super::FunctionLine;
use super::reach::Reach;
use super::segments::Segments;
use super::shared::{Entry, SharedTouches};

/// What a reference does to the iterations of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sharing {
    /// The loop's own counter: a value that only the line of the loop writes, once in an iteration,
    /// and that is read more often than that. Set aside, since a parallel loop counts for itself.
    Counter,
    /// Written in several iterations, or read before a later one writes it, but no iteration reads
    /// what another wrote: each may have its own copy.
    Private,
    /// One line, the only one that touches it, reads and then writes it, as `sum += x` does.
    Reduction,
    /// An iteration writes it before it reads it, but it is larger than one value, so that other
    /// parts of it may be read.
    Unclear,
    /// An iteration reads what an earlier one wrote.
    Dependency,
}

impl Sharing {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Private => "private copy",
            Self::Reduction => "reduction",
            Self::Unclear => "unclear",
            Self::Dependency => "dependency",
        }
    }
}

/// A reference that iterations share and write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedReference {
    /// What it does.
    pub sharing: Sharing,
    /// One of the references with this name, storage, and lines.
    pub reference: ReferenceIdx,
    /// How many there are: variables of functions that are called again are new each time.
    pub num_references: u64,
    /// Where it is written.
    pub write: Option<FunctionLine>,
    /// Where it is read.
    pub read: Option<FunctionLine>,
    /// Iterations that depend on an earlier one because of it.
    pub num_iterations: u64,
    /// Numbers of two iterations of one execution that show it: the earlier one, the later one.
    pub example: (u32, u32),
    /// Whether the whole reference counts because the source has no addresses, and it is larger
    /// than one value.
    pub is_whole: bool,
}

impl SharedReference {
    /// Adds what another execution of the loop does with it. A counter or a reduction must be one
    /// in all of them.
    fn add(&mut self, other: &Self) {
        let num_iterations = self.num_iterations + other.num_iterations;
        let kinds = (self.sharing, other.sharing);
        if kinds.0 != kinds.1 {
            let is_special = |sharing| matches!(sharing, Sharing::Counter | Sharing::Reduction);
            if kinds.1 > kinds.0 {
                *self = other.clone();
            }
            if is_special(kinds.0) || is_special(kinds.1) {
                self.sharing = Sharing::Dependency;
            }
        }
        self.num_iterations = num_iterations;
    }
}

/// What can be said of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No execution had two iterations, or nothing they touch was recorded.
    NoClaim,
    /// An iteration reads what an earlier one wrote.
    Dependent,
    /// Cannot be distinguished.
    Unclear,
    /// Independent once references get a copy for each iteration, or a reduction.
    AfterChanges,
    /// No iteration touches what another writes.
    Independent,
}

impl Verdict {
    /// The words for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoClaim => "unknown",
            Self::Dependent => "dependent",
            Self::Unclear => "unclear",
            Self::AfterChanges => "independent after changes",
            Self::Independent => "independent",
        }
    }

    /// Whether iterations may run in parallel as far as the run tells.
    #[must_use]
    pub const fn is_parallel(self) -> bool {
        matches!(self, Self::AfterChanges | Self::Independent)
    }
}

/// A loop, over all of its executions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopAdvice {
    /// The loop.
    pub context: ContextIdx,
    /// What can be said.
    pub verdict: Verdict,
    /// How often it was entered.
    pub num_executions: u64,
    /// Iterations of all executions.
    pub num_iterations: u64,
    /// Most iterations of one execution.
    pub most_iterations: u64,
    /// What iterations share and write: what forbids most comes first.
    pub shared: Vec<SharedReference>,
}

/// Judges all loops; in the order of the tree of contexts.
///
/// # Errors
/// When the question is withdrawn.
pub fn loops(
    run: &Activations,
    contexts: &ContextTree,
    control: &Control,
) -> Result<Vec<LoopAdvice>, Cancelled> {
    let reach = Reach::new(run);
    judge(&reach, contexts, control)
}

pub(super) fn judge(
    reach: &Reach<'_>,
    contexts: &ContextTree,
    control: &Control,
) -> Result<Vec<LoopAdvice>, Cancelled> {
    let tree = &reach.run.tree;
    let mut found: HashMap<ContextIdx, OneLoop> = HashMap::new();
    let mut scan = Scan::new(reach);
    control.begin(tree.len() as u64);
    for activation in tree.iter() {
        control.advance(1)?;
        if tree.kind(activation) != ActivationKind::LoopExecution {
            continue;
        }
        let context = tree.context(activation);
        let one = found.entry(context).or_insert_with(|| OneLoop::new(contexts.line(context)));
        scan.execution(activation, context, one);
    }
    let mut list: Vec<LoopAdvice> =
        found.into_iter().map(|(context, one)| one.advice(reach.run, context)).collect();
    list.sort_unstable_by_key(|advice| advice.context);
    Ok(list)
}

/// What distinguishes shared references of a loop in an answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    name: std::sync::Arc<str>,
    member: Option<std::sync::Arc<str>>,
    sharing: Sharing,
    write: Option<FunctionLine>,
    read: Option<FunctionLine>,
}

struct OneLoop {
    line: u32,
    num_executions: u64,
    num_iterations: u64,
    most_iterations: u64,
    /// Whether an execution of two iterations and more touches anything.
    is_judged: bool,
    /// Whether anything is touched on other lines than the loop's: a loop written on one line
    /// hides what is counter and what is not.
    has_body: bool,
    shared: HashMap<ReferenceIdx, SharedReference>,
}

impl OneLoop {
    fn new(line: u32) -> Self {
        Self {
            line,
            num_executions: 0,
            num_iterations: 0,
            most_iterations: 0,
            is_judged: false,
            has_body: false,
            shared: HashMap::new(),
        }
    }

    fn advice(self, run: &Activations, context: ContextIdx) -> LoopAdvice {
        let mut references: Vec<SharedReference> = self.shared.into_values().collect();
        references.sort_unstable_by_key(|shared| shared.reference);
        let mut by_key: HashMap<Key, SharedReference> = HashMap::new();
        for mut own in references {
            if own.sharing == Sharing::Counter && !self.has_body {
                own.sharing = Sharing::Unclear;
            }
            let named = run.references.get(own.reference.idx());
            let key = Key {
                name: named.as_ref().map_or_else(|| "".into(), |named| named.name.clone()),
                member: named.and_then(|named| named.member.clone()),
                sharing: own.sharing,
                write: own.write,
                read: own.read,
            };
            by_key
                .entry(key)
                .and_modify(|known| {
                    known.num_references += 1;
                    known.num_iterations += own.num_iterations;
                })
                .or_insert(own);
        }
        let mut shared: Vec<SharedReference> = by_key.into_values().collect();
        shared.sort_by(|a, b| {
            b.sharing
                .cmp(&a.sharing)
                .then(b.num_iterations.cmp(&a.num_iterations))
                .then(a.reference.cmp(&b.reference))
                .then(a.write.cmp(&b.write))
        });
        let worst = shared.first().map(|shared| shared.sharing);
        let verdict = match worst {
            _ if !self.is_judged => Verdict::NoClaim,
            None | Some(Sharing::Counter) => Verdict::Independent,
            Some(Sharing::Private | Sharing::Reduction) => Verdict::AfterChanges,
            Some(Sharing::Unclear) => Verdict::Unclear,
            Some(Sharing::Dependency) => Verdict::Dependent,
        };
        LoopAdvice {
            context,
            verdict,
            num_executions: self.num_executions,
            num_iterations: self.num_iterations,
            most_iterations: self.most_iterations,
            shared,
        }
    }
}

/// Room for one execution after the other.
struct Scan<'r, 'a> {
    reach: &'r Reach<'a>,
    shared: SharedTouches,
}

impl<'r, 'a> Scan<'r, 'a> {
    fn new(reach: &'r Reach<'a>) -> Self {
        Self { reach, shared: SharedTouches::new(reach) }
    }

    fn execution(&mut self, execution: ActivationIdx, context: ContextIdx, one: &mut OneLoop) {
        let tree = &self.reach.run.tree;
        let children = tree.children(execution);
        let iterations: Vec<ActivationIdx> =
            children.filter(|&child| tree.kind(child) == ActivationKind::Iteration).collect();
        one.num_executions += 1;
        one.num_iterations += iterations.len() as u64;
        one.most_iterations = one.most_iterations.max(iterations.len() as u64);
        if iterations.len() < 2 {
            return;
        }
        let reach = self.reach;
        let mut shared = std::mem::take(&mut self.shared);
        let entries = shared.collect(reach, &iterations, |iteration, position, touch| {
            one.is_judged = true;
            let own = reach.own(iteration);
            let lines = [touch.read_line, touch.write_line];
            one.has_body |=
                !own.contains(&position) || lines.iter().any(|&line| line > 0 && line != one.line);
        });
        for of_one in entries.chunk_by(|a, b| a.reference == b.reference) {
            self.reference(of_one, &iterations, context, one);
        }
        self.shared = shared;
    }

    fn reference(
        &self,
        entries: &[Entry],
        iterations: &[ActivationIdx],
        context: ContextIdx,
        one: &mut OneLoop,
    ) {
        let Some(first) = entries.first() else { return };
        let reference = ReferenceIdx::new(first.reference);
        let is_value = self.reach.is_value(reference.idx());
        let facts = self.facts(entries, is_value);
        let worst =
            [&facts.exposed, &facts.covered, &facts.renamed].into_iter().find(|f| f.num > 0);
        let Some(shown) = worst else { return };
        let is_counter = is_value && self.is_counter(entries, context, one.line);
        let is_reduction = is_value && facts.exposed.num > 0 && self.is_reduction(entries);
        let sharing = match (facts.exposed.num > 0, facts.covered.num > 0) {
            _ if is_counter => Sharing::Counter,
            (true, _) if is_reduction => Sharing::Reduction,
            (true, _) => Sharing::Dependency,
            (false, true) => Sharing::Unclear,
            (false, false) => Sharing::Private,
        };
        let Some((write, read)) = shown.example else { return };
        let place = |entry: Entry, is_write: bool| {
            let touch = self.reach.touch(entry.position as usize)?;
            let line = if is_write { touch.write_line } else { touch.read_line };
            Some(FunctionLine { function: self.reach.function(entry.position as usize)?, line })
        };
        let number = |entry: Entry| {
            iterations.get(entry.part as usize).map_or(0, |&it| self.reach.run.tree.number(it))
        };
        let (earlier, later) = if write.part <= read.part { (write, read) } else { (read, write) };
        let has_read = entries.iter().any(|entry| {
            self.reach.touch(entry.position as usize).is_some_and(|touch| touch.reads > 0)
        });
        let write_place = place(write, true);
        let read_place = if has_read { place(read, false) } else { None };
        let found = SharedReference {
            sharing,
            reference,
            num_references: 1,
            write: write_place,
            read: read_place,
            num_iterations: shown.num,
            example: (number(earlier), number(later)),
            is_whole: !is_value && !self.reach.has_addresses(),
        };
        one.shared.entry(reference).and_modify(|known| known.add(&found)).or_insert(found);
    }

    /// What the iterations do to one reference, in their order.
    fn facts(&self, entries: &[Entry], is_value: bool) -> Facts {
        let mut facts = Facts::default();
        let mut written: Segments<Entry> = Segments::new();
        let mut touched: Segments<Entry> = Segments::new();
        for of_iteration in entries.chunk_by(|a, b| a.part == b.part) {
            let mut dependent = [None; 3];
            // The bytes that this iteration has written so far lie within these.
            let mut own: Option<Range<u64>> = None;
            for &entry in of_iteration {
                let Some(touch) = self.reach.touch(entry.position as usize) else { continue };
                let bytes = self.bytes(entry, is_value);
                let is_after_write = own.as_ref().is_some_and(|own| overlap(own, &bytes));
                if touch.reads > 0
                    && let Some(&writer) = written.overlapping(&bytes).next()
                {
                    if touch.is_read_first && !is_after_write {
                        dependent[0].get_or_insert((writer, entry));
                    } else if !is_value {
                        dependent[1].get_or_insert((writer, entry));
                    }
                }
                if touch.writes > 0 {
                    if let Some(&before) = touched.overlapping(&bytes).next() {
                        dependent[2].get_or_insert((entry, before));
                    }
                    own = Some(own.map_or(bytes.clone(), |own| {
                        own.start.min(bytes.start)..own.end.max(bytes.end)
                    }));
                }
            }
            let lists = [&mut facts.exposed, &mut facts.covered, &mut facts.renamed];
            for (list, found) in lists.into_iter().zip(dependent) {
                if found.is_some() {
                    list.num += 1;
                    list.example = list.example.or(found);
                }
            }
            for &entry in of_iteration {
                let Some(touch) = self.reach.touch(entry.position as usize) else { continue };
                let bytes = self.bytes(entry, is_value);
                if touch.writes > 0 {
                    written.set(&bytes, entry);
                }
                touched.set(&bytes, entry);
            }
        }
        facts
    }

    fn bytes(&self, entry: Entry, is_value: bool) -> Range<u64> {
        // One value is one segment, whatever part of it accesses name.
        if is_value { 0..1 } else { self.reach.bytes(entry.position as usize) }
    }

    /// Whether only the line of the loop writes it, once in each iteration, and it is read more
    /// often than that: to compare, to count on, and in the body.
    fn is_counter(&self, entries: &[Entry], context: ContextIdx, line: u32) -> bool {
        let run = self.reach.run;
        let (mut reads, mut writes) = (0_u64, 0_u64);
        let mut last = None;
        for entry in entries {
            let Some(touch) = self.reach.touch(entry.position as usize) else { return false };
            reads += u64::from(touch.reads);
            writes += u64::from(touch.writes);
            if touch.writes == 0 {
                continue;
            }
            let by = run.touches.activation(entry.position as usize);
            let is_header = run.tree.kind(by) == ActivationKind::Iteration
                && run.tree.context(by) == context
                && touch.writes == 1
                && touch.write_line == line;
            if line == 0 || !is_header || last == Some(entry.part) {
                return false;
            }
            last = Some(entry.part);
        }
        reads > writes
    }

    /// Whether all touches read and then write it, once, on one line of one function. More often
    /// than once may be on other lines, of which a touch names the first only.
    fn is_reduction(&self, entries: &[Entry]) -> bool {
        let mut place = None;
        entries.iter().all(|entry| {
            let position = entry.position as usize;
            let (Some(touch), Some(function)) =
                (self.reach.touch(position), self.reach.function(position))
            else {
                return false;
            };
            let own = (function, touch.read_line);
            touch.is_read_first
                && touch.reads == 1
                && touch.writes == 1
                && touch.read_line == touch.write_line
                && touch.read_line > 0
                && *place.get_or_insert(own) == own
        })
    }
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Iterations that something was found of, and two touches that show it: a write, and the other.
#[derive(Debug, Default)]
struct Occurrences {
    num: u64,
    example: Option<(Entry, Entry)>,
}

/// What iterations do to a reference that another one wrote, or touched.
#[derive(Debug, Default)]
struct Facts {
    /// They read it before they write it.
    exposed: Occurrences,
    /// They read it after they wrote something of it.
    covered: Occurrences,
    /// They write it.
    renamed: Occurrences,
}
