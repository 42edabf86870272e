//! [`ActivationTreeBuilder`]: activations in any order become a tree in depth-first order.

use std::collections::HashMap;

use parallax_base::{ActivationIdx, ThreadIdx};

use super::ActivationTree;
use super::tree::{ActivationKind, NONE};

/// One activation, as builders add it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewActivation {
    /// What it is.
    pub kind: ActivationKind,
    /// What calls or contains it, as [`ActivationTreeBuilder::push`] numbers; `None` for the entry
    /// call of a thread.
    pub parent: Option<u32>,
    /// The thread that executes it.
    pub thread: ThreadIdx,
    /// Nanoseconds on the run's clock; `None` when the source does not say.
    pub start_nanos: Option<u64>,
    /// Nanoseconds on the run's clock; `None` when the source does not say, as when it had not
    /// ended when the recording did.
    pub end_nanos: Option<u64>,
    /// Number of an iteration in its execution; 0 for others.
    pub number: u32,
    /// Line of the call in the caller; 0 when unknown, and for others.
    pub line: u32,
    /// Number in the source, by kind.
    pub source_id: u64,
}

/// A finished tree, and where the activations that were pushed ended up.
#[derive(Debug, Clone)]
pub struct Ordered {
    /// The tree, with the root as the context of all activations.
    pub tree: ActivationTree,
    /// Positions by the numbers that [`ActivationTreeBuilder::push`] gave.
    pub position: Vec<ActivationIdx>,
    /// How many activations lost their parent, because they were among their own ancestors or the
    /// parent does not exist.
    pub num_cut: u64,
}

/// Collects activations, parents before or after their children.
#[derive(Debug, Clone, Default)]
pub struct ActivationTreeBuilder {
    list: Vec<NewActivation>,
    /// Lengths of activations without a start, where they are known.
    lengths: HashMap<u32, u64>,
}

impl ActivationTreeBuilder {
    /// No activations yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of activations so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds an activation; its number is how many there were before.
    pub fn push(&mut self, activation: NewActivation) -> u32 {
        let number = u32::try_from(self.list.len()).unwrap_or(NONE);
        self.list.push(activation);
        number
    }

    /// An activation that was pushed, by its number.
    #[must_use]
    pub fn get(&self, activation: u32) -> Option<&NewActivation> {
        self.list.get(activation as usize)
    }

    /// Changes the parent of an activation that was pushed.
    pub fn set_parent(&mut self, activation: u32, parent: Option<u32>) {
        if let Some(found) = self.list.get_mut(activation as usize) {
            found.parent = parent;
        }
    }

    /// Changes the thread of an activation that was pushed.
    pub fn set_thread(&mut self, activation: u32, thread: ThreadIdx) {
        if let Some(found) = self.list.get_mut(activation as usize) {
            found.thread = thread;
        }
    }

    /// Changes the line of the call of an activation that was pushed.
    pub fn set_line(&mut self, activation: u32, line: u32) {
        if let Some(found) = self.list.get_mut(activation as usize) {
            found.line = line;
        }
    }

    /// Changes the number of an iteration that was pushed.
    pub fn set_number(&mut self, activation: u32, number: u32) {
        if let Some(found) = self.list.get_mut(activation as usize) {
            found.number = number;
        }
    }

    /// Says when an activation that was pushed ended, on the clock of its start.
    pub fn set_end(&mut self, activation: u32, end_nanos: u64) {
        if let Some(found) = self.list.get_mut(activation as usize) {
            found.end_nanos = Some(end_nanos);
        }
    }

    /// Says how long an activation took of which the source does not say when it began.
    pub fn set_length(&mut self, activation: u32, nanos: u64) {
        self.lengths.insert(activation, nanos);
    }

    /// The tree.
    ///
    /// Times that are missing are made up, and marked as estimated:
    /// - A start is the first start known below it, or else that of its parent.
    /// - Of several below one parent of which only the length is known, each begins where the one
    ///   before ends.
    /// - An end is that of its parent; of a root, the last time known of its thread.
    /// - Iterations without times share the time of their execution: what lies between the last
    ///   thing known of one and the first thing known of a later one is divided evenly between the
    ///   end of the one, those between them, and the beginning of the other. Example: an execution
    ///   from 0 to 100 of two iterations, where the second one makes a call from 60 to 90: 0 to 60
    ///   is divided between the first iteration and the second one's beginning, so the iterations
    ///   are 0 to 30 and 30 to 100.
    ///
    /// An activation that is its own ancestor becomes a root.
    #[must_use]
    pub fn finish(self) -> Ordered {
        let Self { mut list, lengths } = self;
        let mut num_cut = 0;
        let count = list.len();
        for activation in &mut list {
            if activation.parent.is_some_and(|parent| parent as usize >= count) {
                activation.parent = None;
                num_cut += 1;
            }
        }
        num_cut += cut_cycles(&mut list);
        let mut below = Below::new(&list);
        let mut times = Times::new(&list);
        times.complete(&list, &lengths, &mut below);
        below.sort_by_time(&list, &times);
        let (tree, position) = emit(&list, &below, &times);
        Ordered { tree, position, num_cut }
    }
}

/// Makes one activation of each cycle a root; returns how many.
fn cut_cycles(list: &mut [NewActivation]) -> u64 {
    const UNSEEN: u32 = 0;
    let mut seen_by = vec![UNSEEN; list.len()];
    let mut num_cut = 0;
    for first in 0..list.len() {
        let mark = u32::try_from(first + 1).unwrap_or(NONE);
        let mut at = first;
        while seen_by[at] == UNSEEN {
            seen_by[at] = mark;
            let Some(parent) = list[at].parent else { break };
            let parent = parent as usize;
            if seen_by[parent] == mark {
                list[at].parent = None;
                num_cut += 1;
                break;
            }
            at = parent;
        }
    }
    num_cut
}

/// The children of each activation, and all activations with parents before children.
struct Below {
    starts: Vec<u32>,
    children: Vec<u32>,
    /// Roots first, then what is below them, level by level.
    order: Vec<u32>,
    roots: Vec<u32>,
}

impl Below {
    fn new(list: &[NewActivation]) -> Self {
        let mut starts = vec![0_u32; list.len() + 1];
        for parent in list.iter().filter_map(|activation| activation.parent) {
            starts[parent as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![0_u32; starts.last().copied().unwrap_or(0) as usize];
        let mut roots = Vec::new();
        for (number, activation) in (0_u32..).zip(list) {
            match activation.parent {
                Some(parent) => {
                    let slot = &mut next[parent as usize];
                    children[*slot as usize] = number;
                    *slot += 1;
                }
                None => roots.push(number),
            }
        }
        let mut below = Self { starts, children, order: Vec::with_capacity(list.len()), roots };
        below.order.extend_from_slice(&below.roots);
        let mut at = 0;
        while let Some(&number) = below.order.get(at) {
            let range = below.range(number);
            below.order.extend_from_slice(&below.children[range]);
            at += 1;
        }
        below
    }

    fn range(&self, number: u32) -> std::ops::Range<usize> {
        let at = number as usize;
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    fn of(&self, number: u32) -> &[u32] {
        &self.children[self.range(number)]
    }

    /// Siblings in order of time, iterations that take no time in order of their numbers; roots by
    /// thread.
    fn sort_by_time(&mut self, list: &[NewActivation], times: &Times) {
        let key = |&child: &u32| {
            let at = child as usize;
            (times.start[at], list[at].number, child)
        };
        for at in 0..list.len() {
            let range = self.starts[at] as usize..self.starts[at + 1] as usize;
            self.children[range].sort_unstable_by_key(key);
        }
        self.roots.sort_unstable_by_key(|root| (list[*root as usize].thread, key(root)));
    }
}

/// Times, as far as they are known, by number.
struct Times {
    start: Vec<u64>,
    end: Vec<u64>,
    is_estimated: Vec<bool>,
    /// The first start and the last end known of each activation or below it.
    hull: Vec<(u64, u64)>,
    /// The last time known of each thread.
    thread_end: Vec<u64>,
}

/// A hull in which no time is known.
const EMPTY: (u64, u64) = (u64::MAX, 0);

impl Times {
    fn new(list: &[NewActivation]) -> Self {
        let known = |activation: &NewActivation| {
            let (start, end) = (activation.start_nanos, activation.end_nanos);
            match (start, end) {
                (Some(start), Some(end)) => (start, end.max(start)),
                (Some(time), None) | (None, Some(time)) => (time, time),
                (None, None) => EMPTY,
            }
        };
        Self {
            start: list.iter().map(|activation| activation.start_nanos.unwrap_or(0)).collect(),
            end: list.iter().map(|activation| activation.end_nanos.unwrap_or(0)).collect(),
            is_estimated: vec![false; list.len()],
            hull: list.iter().map(known).collect(),
            thread_end: Vec::new(),
        }
    }

    fn complete(&mut self, list: &[NewActivation], lengths: &HashMap<u32, u64>, below: &mut Below) {
        for &number in below.order.iter().rev() {
            let (low, high) = self.hull[number as usize];
            let activation = &list[number as usize];
            if let Some(parent) = activation.parent {
                let hull = &mut self.hull[parent as usize];
                *hull = (hull.0.min(low), hull.1.max(high));
            }
            let thread = activation.thread.idx();
            if thread < list.len() && self.thread_end.len() <= thread {
                self.thread_end.resize(thread + 1, 0);
            }
            if let Some(end) = self.thread_end.get_mut(thread) {
                *end = (*end).max(high);
            }
        }
        // Where the next one of which only the length is known begins, by parent.
        let mut cursors: HashMap<u32, u64> = HashMap::new();
        for i in 0..below.order.len() {
            let number = below.order[i];
            let activation = &list[number as usize];
            match (activation.start_nanos, activation.parent, lengths.get(&number)) {
                (None, Some(parent), Some(&length)) => {
                    let outer = (self.start[parent as usize], self.end[parent as usize]);
                    let cursor = cursors.entry(parent).or_insert(outer.0);
                    self.place(number, length, outer, cursor);
                }
                _ => self.fill(number, activation),
            }
            if list[number as usize].kind == ActivationKind::LoopExecution {
                let range = below.range(number);
                self.divide(number, list, &mut below.children[range]);
            }
        }
    }

    /// Gives a place to an activation of which only the length is known.
    fn place(&mut self, number: u32, length: u64, outer: (u64, u64), cursor: &mut u64) {
        let at = number as usize;
        let (low, high) = self.hull[at];
        let start = if low <= high { low } else { (*cursor).clamp(outer.0, outer.1.max(outer.0)) };
        let end = start.saturating_add(length).min(outer.1.max(start));
        (self.start[at], self.end[at]) = (start, end.max(high));
        self.is_estimated[at] = true;
        *cursor = self.end[at];
    }

    /// Makes up what is missing of one activation whose parent is complete.
    fn fill(&mut self, number: u32, activation: &NewActivation) {
        let at = number as usize;
        if self.is_estimated[at] {
            // An iteration that has its share already.
            return;
        }
        let (low, high) = self.hull[at];
        let parent = activation.parent.map(|parent| parent as usize);
        if activation.start_nanos.is_none() {
            let outer = parent.map_or(0, |parent| self.start[parent]);
            self.start[at] = if low == u64::MAX { outer } else { low };
            self.is_estimated[at] = true;
        }
        if activation.end_nanos.is_none() {
            let last = self.thread_end.get(activation.thread.idx()).copied().unwrap_or(0);
            let outer = parent.map_or(last, |parent| self.end[parent]);
            self.end[at] = outer.max(high);
            self.is_estimated[at] = true;
        }
        if self.end[at] < self.start[at] {
            self.end[at] = self.start[at];
            self.is_estimated[at] = true;
        }
    }

    /// Divides the time of an execution among its iterations without times.
    fn divide(&mut self, execution: u32, list: &[NewActivation], children: &mut [u32]) {
        let has_no_time = |child: &u32| {
            let child = &list[*child as usize];
            child.kind == ActivationKind::Iteration
                && (child.start_nanos.is_none() || child.end_nanos.is_none())
        };
        if !children.iter().any(has_no_time) {
            return;
        }
        children.sort_unstable_by_key(|&child| (list[child as usize].number, child));
        let iterations: Vec<u32> = children
            .iter()
            .copied()
            .filter(|&child| list[child as usize].kind == ActivationKind::Iteration)
            .collect();
        let (start, end) = (self.start[execution as usize], self.end[execution as usize]);
        // Where the last thing known ends, and how many iterations nothing is known of came since.
        let (mut known, mut first) = (start, 0);
        for (i, &iteration) in iterations.iter().enumerate() {
            let (low, high) = self.hull[iteration as usize];
            if low > high {
                continue;
            }
            let low = low.clamp(known, end.max(known));
            self.share(&iterations[first..=i], known, low, usize::from(first > 0));
            known = high.clamp(low, end.max(low));
            // The end of this one takes part in what follows.
            first = i + 1;
        }
        let Some(&last) = iterations.last() else { return };
        let rest = &iterations[first..];
        if rest.is_empty() {
            self.end[last as usize] = end.max(known);
        } else {
            let before = usize::from(first > 0);
            self.share(rest, known, end.max(known), before);
        }
        for i in 0..iterations.len() {
            let at = iterations[i] as usize;
            if let Some(&next) = iterations.get(i + 1) {
                self.end[at] = self.start[next as usize];
            }
            self.is_estimated[at] = true;
        }
    }

    /// Divides `from..to` evenly: `before` parts go to what came before, one to each of
    /// `iterations`.
    fn share(&mut self, iterations: &[u32], from: u64, to: u64, before: usize) {
        let parts = (iterations.len() + before).max(1) as u128;
        let length = u128::from(to.saturating_sub(from));
        for (i, &iteration) in iterations.iter().enumerate() {
            let share = length * (i + before) as u128 / parts;
            self.start[iteration as usize] = from + u64::try_from(share).unwrap_or(0);
        }
        if let Some(&last) = iterations.last() {
            self.end[last as usize] = to;
        }
    }
}

/// Puts everything into depth-first order.
fn emit(
    list: &[NewActivation],
    below: &Below,
    times: &Times,
) -> (ActivationTree, Vec<ActivationIdx>) {
    let count = list.len();
    let mut tree = ActivationTree::default();
    let mut position = vec![ActivationIdx::new(NONE); count];
    reserve(&mut tree, count);
    let mut stack: Vec<u32> = below.roots.iter().rev().copied().collect();
    while let Some(number) = stack.pop() {
        let activation = &list[number as usize];
        let at = ActivationIdx::from_len(tree.len());
        position[number as usize] = at;
        tree.kind.push(activation.kind);
        tree.parent.push(activation.parent.map_or(NONE, |parent| position[parent as usize].get()));
        tree.end.push(at.get() + 1);
        tree.thread.push(activation.thread.get());
        tree.start_nanos.push(times.start[number as usize]);
        tree.end_nanos.push(times.end[number as usize]);
        tree.is_estimated.push(times.is_estimated[number as usize]);
        tree.number.push(activation.number);
        tree.line.push(activation.line);
        tree.source_id.push(activation.source_id);
        stack.extend(below.of(number).iter().rev());
    }
    tree.context = vec![0; tree.len()];
    // A parent is always before its children, so one backward pass closes all ranges.
    for at in (0..tree.len()).rev() {
        let (parent, end) = (tree.parent[at], tree.end[at]);
        if parent != NONE {
            let parent = &mut tree.end[parent as usize];
            *parent = (*parent).max(end);
        }
    }
    (tree, position)
}

fn reserve(tree: &mut ActivationTree, count: usize) {
    tree.kind.reserve_exact(count);
    tree.parent.reserve_exact(count);
    tree.end.reserve_exact(count);
    tree.thread.reserve_exact(count);
    tree.start_nanos.reserve_exact(count);
    tree.end_nanos.reserve_exact(count);
    tree.is_estimated.reserve_exact(count);
    tree.number.reserve_exact(count);
    tree.line.reserve_exact(count);
    tree.source_id.reserve_exact(count);
}
