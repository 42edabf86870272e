//! [`ActivationTreeBuilder`]: activations in any order become a tree in depth-first order.

use std::collections::HashMap;

use parallax_base::{ActivationIdx, ThreadIdx};

use super::ActivationTree;
use super::columns::{Columns, reorder};
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
    list: Columns,
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
        self.list.push(&activation);
        number
    }

    /// An activation that was pushed, by its number.
    #[must_use]
    pub fn get(&self, activation: u32) -> Option<NewActivation> {
        self.list.get(activation)
    }

    /// What calls or contains an activation that was pushed.
    #[must_use]
    pub fn parent(&self, activation: u32) -> Option<u32> {
        self.list.get(activation).and_then(|found| found.parent)
    }

    /// Changes the parent of an activation that was pushed.
    pub fn set_parent(&mut self, activation: u32, parent: Option<u32>) {
        if let Some(slot) = self.list.parent.get_mut(activation as usize) {
            *slot = parent.unwrap_or(NONE);
        }
    }

    /// Changes the thread of an activation that was pushed.
    pub fn set_thread(&mut self, activation: u32, thread: ThreadIdx) {
        if let Some(slot) = self.list.thread.get_mut(activation as usize) {
            *slot = thread.get();
        }
    }

    /// Changes the line of the call of a call that was pushed.
    pub fn set_line(&mut self, activation: u32, line: u32) {
        self.list.set_detail(activation, ActivationKind::Call, line);
    }

    /// Changes the number of an iteration that was pushed.
    pub fn set_number(&mut self, activation: u32, number: u32) {
        self.list.set_detail(activation, ActivationKind::Iteration, number);
    }

    /// Says when an activation that was pushed ended, on the clock of its start.
    pub fn set_end(&mut self, activation: u32, end_nanos: u64) {
        self.list.set_end(activation, end_nanos);
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
        for parent in &mut list.parent {
            if *parent != NONE && *parent as usize >= count {
                *parent = NONE;
                num_cut += 1;
            }
        }
        num_cut += cut_cycles(&mut list.parent);
        let mut below = Below::new(&list);
        let mut times = Times::new(&mut list);
        times.complete(&list, &lengths, &mut below);
        // What the rest does not need goes before it allocates: a run has millions of activations.
        drop(lengths);
        times.hull = Vec::new();
        below.order = Vec::new();
        below.sort_by_time(&list, &times);
        let (tree, position) = emit(list, below, times);
        Ordered { tree, position, num_cut }
    }
}

/// Makes one activation of each cycle a root; returns how many.
fn cut_cycles(parents: &mut [u32]) -> u64 {
    const UNSEEN: u32 = 0;
    let mut seen_by = vec![UNSEEN; parents.len()];
    let mut num_cut = 0;
    for first in 0..parents.len() {
        let mark = u32::try_from(first + 1).unwrap_or(NONE);
        let mut at = first;
        while seen_by[at] == UNSEEN {
            seen_by[at] = mark;
            let parent = parents[at];
            if parent == NONE {
                break;
            }
            if seen_by[parent as usize] == mark {
                parents[at] = NONE;
                num_cut += 1;
                break;
            }
            at = parent as usize;
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
    fn new(list: &Columns) -> Self {
        let mut starts = vec![0_u32; list.len() + 1];
        for &parent in list.parent.iter().filter(|&&parent| parent != NONE) {
            starts[parent as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![0_u32; starts.last().copied().unwrap_or(0) as usize];
        let mut roots = Vec::new();
        for (number, &parent) in (0_u32..).zip(&list.parent) {
            if parent == NONE {
                roots.push(number);
                continue;
            }
            let slot = &mut next[parent as usize];
            children[*slot as usize] = number;
            *slot += 1;
        }
        drop(next);
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
    fn sort_by_time(&mut self, list: &Columns, times: &Times) {
        let key = |&child: &u32| {
            let at = child as usize;
            (times.start[at], list.number(child), child)
        };
        for at in 0..list.len() {
            let range = self.starts[at] as usize..self.starts[at + 1] as usize;
            self.children[range].sort_unstable_by_key(key);
        }
        self.roots.sort_unstable_by_key(|root| (list.thread[*root as usize], key(root)));
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
    /// Takes the times of `list`.
    fn new(list: &mut Columns) -> Self {
        let (start, end) = (std::mem::take(&mut list.start), std::mem::take(&mut list.end));
        let known = |number: u32| {
            let (start, end) = (start[number as usize], end[number as usize]);
            match (list.has_start(number), list.has_end(number)) {
                (true, true) => (start, end.max(start)),
                (true, false) => (start, start),
                (false, true) => (end, end),
                (false, false) => EMPTY,
            }
        };
        let hull = (0..u32::try_from(list.len()).unwrap_or(NONE)).map(known).collect();
        Self { is_estimated: vec![false; start.len()], hull, start, end, thread_end: Vec::new() }
    }

    fn complete(&mut self, list: &Columns, lengths: &HashMap<u32, u64>, below: &mut Below) {
        for &number in below.order.iter().rev() {
            let (low, high) = self.hull[number as usize];
            let parent = list.parent[number as usize];
            if parent != NONE {
                let hull = &mut self.hull[parent as usize];
                *hull = (hull.0.min(low), hull.1.max(high));
            }
            let thread = list.thread[number as usize] as usize;
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
            let parent = list.parent[number as usize];
            match lengths.get(&number) {
                Some(&length) if parent != NONE && !list.has_start(number) => {
                    let outer = (self.start[parent as usize], self.end[parent as usize]);
                    let cursor = cursors.entry(parent).or_insert(outer.0);
                    self.place(number, length, outer, cursor);
                }
                _ => self.fill(number, list),
            }
            if list.kind(number) == ActivationKind::LoopExecution {
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
    fn fill(&mut self, number: u32, list: &Columns) {
        let at = number as usize;
        if self.is_estimated[at] {
            // An iteration that has its share already.
            return;
        }
        let (low, high) = self.hull[at];
        let parent = Some(list.parent[at]).filter(|&parent| parent != NONE);
        let parent = parent.map(|parent| parent as usize);
        if !list.has_start(number) {
            let outer = parent.map_or(0, |parent| self.start[parent]);
            self.start[at] = if low == u64::MAX { outer } else { low };
            self.is_estimated[at] = true;
        }
        if !list.has_end(number) {
            let last = self.thread_end.get(list.thread[at] as usize).copied().unwrap_or(0);
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
    fn divide(&mut self, execution: u32, list: &Columns, children: &mut [u32]) {
        let has_no_time = |&child: &u32| {
            list.kind(child) == ActivationKind::Iteration
                && !(list.has_start(child) && list.has_end(child))
        };
        if !children.iter().any(has_no_time) {
            return;
        }
        children.sort_unstable_by_key(|&child| (list.number(child), child));
        let iterations: Vec<u32> = children
            .iter()
            .copied()
            .filter(|&child| list.kind(child) == ActivationKind::Iteration)
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

/// Puts everything into depth-first order, column by column.
fn emit(list: Columns, below: Below, times: Times) -> (ActivationTree, Vec<ActivationIdx>) {
    let mut order: Vec<u32> = Vec::with_capacity(list.len());
    let mut stack: Vec<u32> = below.roots.iter().rev().copied().collect();
    while let Some(number) = stack.pop() {
        order.push(number);
        stack.extend(below.of(number).iter().rev());
    }
    drop((stack, below));
    let mut position = vec![ActivationIdx::new(NONE); list.len()];
    for (at, &number) in order.iter().enumerate() {
        position[number as usize] = ActivationIdx::from_len(at);
    }
    let Columns { kind, mut parent, mut thread, mut detail, mut source_id, .. } = list;
    let Times { mut start, mut end, mut is_estimated, .. } = times;
    let count = order.len();
    let kind = order.iter().map(|&number| Columns::kind_of(kind[number as usize])).collect();
    reorder(&mut parent, &order);
    for parent in parent.iter_mut().filter(|parent| **parent != NONE) {
        *parent = position[*parent as usize].get();
    }
    reorder(&mut thread, &order);
    reorder(&mut start, &order);
    reorder(&mut end, &order);
    reorder(&mut is_estimated, &order);
    reorder(&mut detail, &order);
    source_id.reorder(&order);
    drop(order);
    let mut tree = ActivationTree {
        kind,
        context: vec![0; count],
        end: (1..).take(count).collect(),
        parent,
        thread,
        start_nanos: start,
        end_nanos: end,
        is_estimated,
        detail,
        source_id,
    };
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
