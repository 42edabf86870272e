//! Loops of a flow graph: of blocks of straight code, and which of them follow each other.
//!
//! A strongly connected part of the graph is a loop, and the blocks by which it is entered are its
//! headers; without the steps to the headers, the parts that are left are the loops in it. This is the
//! loop nesting forest of B. Steensgaard, *Sequentializing Program Dependence Graphs for Irreducible
//! Programs* (1993); where each loop has one header, it has the natural loops.
//!
//! A compiler lets nested loops begin with one block. Steps back to it come from different blocks
//! then, and what goes round by the one is a part of what goes round by the other:
//!
//! ```text
//! header <- a         the inner loop: header, a
//! header <- a <- b    the outer loop: header, a, b
//! ```
//!
//! Recordings of programs without marks have such graphs, and so has machine code.

use std::collections::BTreeSet;

/// Of a block that is in no loop, and of a loop that is in no other.
pub const NONE: u32 = u32::MAX;

/// A block of a loop.
#[derive(Debug, Clone, Copy)]
struct Step {
    to: u32,
    count: u64,
}

/// Which blocks followed each other, and how often.
#[derive(Debug, Default)]
pub struct FlowGraph {
    /// By block.
    steps: Vec<Vec<Step>>,
    /// By block: how often a call began with it.
    entries: Vec<u64>,
}

impl FlowGraph {
    /// Whether there is no block.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Counts a step from a block to another one; from [`NONE`] when a call begins.
    pub fn add(&mut self, from: u32, to: u32) {
        let at = to as usize;
        if self.steps.len() <= at {
            self.steps.resize_with(at + 1, Vec::new);
            self.entries.resize(at + 1, 0);
        }
        let Some(steps) = self.steps.get_mut(from as usize) else {
            if let Some(entries) = self.entries.get_mut(at) {
                *entries += 1;
            }
            return;
        };
        match steps.iter().position(|step| step.to == to) {
            Some(0) => {}
            // What comes often is found early.
            Some(found) => steps.swap(found, found - 1),
            None => steps.push(Step { to, count: 0 }),
        }
        if let Some(step) = steps.iter_mut().find(|step| step.to == to) {
            step.count += 1;
        }
    }

    /// The blocks that follow a block.
    pub fn followers(&self, block: u32) -> impl Iterator<Item = u32> {
        self.steps(block).iter().map(|step| step.to)
    }

    fn steps(&self, block: u32) -> &[Step] {
        self.steps.get(block as usize).map_or(&[], Vec::as_slice)
    }
}

/// How deep the code of a block is inlined, and on which line it begins.
pub type Line<'l> = dyn Fn(u32) -> Option<(u32, u32)> + 'l;

/// A loop of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowLoop {
    /// The loop around it.
    pub parent: u32,
    /// The place that stands for it: the block with its line.
    pub place: u32,
    /// Iterations begin with these.
    headers: Vec<u32>,
    /// Whether its header tests the condition before an iteration begins. When it goes from there
    /// out of the loop, there is no iteration any more.
    pub tests_first: bool,
}

/// The loops, and which of them the blocks are in.
#[derive(Debug, Default)]
pub struct FlowLoops {
    /// Loops by number; those around others come first.
    pub list: Vec<FlowLoop>,
    /// By block: the innermost loop around it.
    of: Vec<u32>,
    /// Executions and iterations of all loops, as activations; at most.
    pub num_activations: u64,
}

impl FlowLoops {
    /// The innermost loop around a block.
    #[must_use]
    pub fn of(&self, block: u32) -> u32 {
        self.of.get(block as usize).copied().unwrap_or(NONE)
    }

    /// Whether an iteration of a loop begins with a block.
    #[must_use]
    pub fn is_header(&self, block: u32, number: u32) -> bool {
        self.list.get(number as usize).is_some_and(|of| of.headers.contains(&block))
    }

    /// The loop around a loop.
    #[must_use]
    pub fn parent(&self, number: u32) -> u32 {
        self.list.get(number as usize).map_or(NONE, |of| of.parent)
    }

    /// See [`FlowLoop::tests_first`].
    #[must_use]
    pub fn tests_first(&self, number: u32) -> bool {
        self.list.get(number as usize).is_some_and(|of| of.tests_first)
    }

    /// Whether a loop is another one or around it.
    #[must_use]
    pub fn is_around(&self, outer: u32, mut inner: u32) -> bool {
        while inner != NONE && inner != outer {
            inner = self.parent(inner);
        }
        inner == outer
    }

    /// The loops of a graph. Of blocks whose `line` is known, how deep their code is inlined and on
    /// which line they begin, that of the lowest stands for a loop.
    #[must_use]
    pub fn find(graph: &FlowGraph, line: &Line<'_>) -> Self {
        let mut before: Vec<Vec<Step>> = vec![Vec::new(); graph.steps.len()];
        for (from, steps) in (0..).zip(&graph.steps) {
            for step in steps {
                if let Some(before) = before.get_mut(step.to as usize) {
                    before.push(Step { to: from, ..*step });
                }
            }
        }
        let mut out = Self { of: vec![NONE; graph.steps.len()], ..Self::default() };
        let all = (0..u32::try_from(graph.steps.len()).unwrap_or(NONE)).collect();
        // Parts of the graph, each with the loop that it is in.
        let mut parts: Vec<(Vec<u32>, u32)> = vec![(all, NONE)];
        let mut components = Components::new(graph.steps.len());
        while let Some((blocks, mut parent)) = parts.pop() {
            for blocks in components.find(graph, &blocks, &out, parent) {
                let outside = parent;
                let headers = out.headers(graph, &before, &blocks);
                // The outermost loop comes first.
                let mut levels = nested(graph, &before, &blocks, &headers);
                while let Some(level) = levels.pop() {
                    let inner = levels.last().map_or(&[][..], Vec::as_slice);
                    let own = level.iter().filter(|block| inner.binary_search(block).is_err());
                    let own: Vec<u32> = own.copied().collect();
                    let number = u32::try_from(out.list.len()).unwrap_or(NONE);
                    out.add(graph, &level, (&own, &headers), (parent, line));
                    parts.push((own, number));
                    parent = number;
                }
                parent = outside;
            }
        }
        out
    }

    /// The blocks by which others are entered.
    fn headers(&self, graph: &FlowGraph, before: &[Vec<Step>], blocks: &[u32]) -> Vec<u32> {
        let is_entered = |block: &&u32| {
            let at = **block as usize;
            let mut from = before.get(at).into_iter().flatten();
            graph.entries.get(at).is_some_and(|&count| count > 0)
                || from.any(|step| blocks.binary_search(&step.to).is_err())
        };
        let mut headers: Vec<u32> = blocks.iter().filter(is_entered).copied().collect();
        if headers.is_empty() {
            // Of a thread whose first events are lost.
            headers.extend(blocks.first());
        }
        headers
    }

    /// Makes blocks a loop; `own` are those that no loop with the same header has.
    fn add(
        &mut self,
        graph: &FlowGraph,
        blocks: &[u32],
        (own, headers): (&[u32], &[u32]),
        (parent, line): (u32, &Line<'_>),
    ) {
        let number = u32::try_from(self.list.len()).unwrap_or(NONE);
        for &block in blocks {
            if let Some(of) = self.of.get_mut(block as usize) {
                *of = number;
            }
        }
        let is_in = |block: u32| blocks.binary_search(&block).is_ok();
        let steps = |from: u32| graph.steps(from).iter();
        let back = blocks.iter().flat_map(|&from| steps(from));
        let back = back.filter(|step| headers.contains(&step.to)).map(|step| step.count);
        // An execution has a step into the loop; there are as many as steps out of it.
        let out = blocks.iter().flat_map(|&from| steps(from)).filter(|step| !is_in(step.to));
        let executions = out.map(|step| step.count).sum::<u64>().max(1);
        let key =
            |block: u32| (line(block).is_none(), line(block), !headers.contains(&block), block);
        let named = own.iter().copied().min_by_key(|&block| key(block));
        let named = named.filter(|&block| line(block).is_some());
        let place = named.or_else(|| blocks.iter().copied().min_by_key(|&block| key(block)));
        let place = place.unwrap_or(NONE);
        let tests_first = match *headers {
            [header] if blocks.len() > 1 => {
                line(header).is_some()
                    && line(header) == line(place)
                    && steps(header).any(|step| !is_in(step.to))
            }
            _ => false,
        };
        let iterations = executions.saturating_add(back.sum());
        self.num_activations =
            self.num_activations.saturating_add(executions).saturating_add(iterations);
        self.list.push(FlowLoop { parent, place, headers: headers.to_vec(), tests_first });
    }
}

/// The loops that begin with one header, each ascending: the innermost one first, all blocks last.
///
/// Where the header itself may leave them all, it is the test of one loop; what goes round by fewer
/// blocks is an `if` at its end.
fn nested(
    graph: &FlowGraph,
    before: &[Vec<Step>],
    blocks: &[u32],
    headers: &[u32],
) -> Vec<Vec<u32>> {
    /// More steps back are not of nested loops.
    const MOST: usize = 32;
    let is_in = |block: u32| blocks.binary_search(&block).is_ok();
    let header = match *headers {
        [header] if graph.steps(header).iter().all(|step| is_in(step.to)) => header,
        _ => return vec![blocks.to_vec()],
    };
    let to_header = before.get(header as usize).into_iter().flatten();
    let to_header = to_header.map(|step| step.to).filter(|&from| is_in(from));
    let latches: Vec<u32> = to_header.collect();
    if latches.len() > MOST {
        return vec![blocks.to_vec()];
    }
    // What goes round by each of them: the blocks that come to it without the header.
    let round = |latch: u32| {
        let (mut found, mut next) = (BTreeSet::from([header]), vec![latch]);
        while let Some(block) = next.pop() {
            if found.insert(block) {
                let from = before.get(block as usize).into_iter().flatten().map(|step| step.to);
                next.extend(from.filter(|&from| is_in(from)));
            }
        }
        found
    };
    let mut rounds: Vec<BTreeSet<u32>> = latches.into_iter().map(round).collect();
    rounds.sort_by_key(BTreeSet::len);
    let mut levels: Vec<BTreeSet<u32>> = Vec::new();
    for round in rounds {
        match levels.last_mut() {
            Some(last) if !(last.len() < round.len() && last.is_subset(&round)) => {
                last.extend(round);
            }
            _ => levels.push(round),
        }
    }
    match levels.last_mut() {
        Some(last) => last.extend(blocks),
        None => levels.push(blocks.iter().copied().collect()),
    }
    levels.into_iter().map(|level| level.into_iter().collect()).collect()
}

/// Strongly connected parts (R. Tarjan, *Depth-First Search and Linear Graph Algorithms*, 1972),
/// without recursion: functions may have any number of blocks.
struct Components {
    /// By block: when it was reached, from 1; 0 before.
    reached: Vec<u32>,
    low: Vec<u32>,
    is_on_stack: Vec<bool>,
}

impl Components {
    fn new(len: usize) -> Self {
        Self { reached: vec![0; len], low: vec![0; len], is_on_stack: vec![false; len] }
    }

    /// The parts of `blocks` that are loops, each ascending. `blocks` are those of the loop
    /// `parent`; steps to its headers do not count.
    fn find(
        &mut self,
        graph: &FlowGraph,
        blocks: &[u32],
        loops: &FlowLoops,
        parent: u32,
    ) -> Vec<Vec<u32>> {
        let counts = |to: u32| loops.of(to) == parent && !loops.is_header(to, parent);
        for &block in blocks {
            self.reached[block as usize] = 0;
        }
        let (mut found, mut stack, mut next) = (Vec::new(), Vec::new(), 1);
        for &root in blocks {
            if self.reached[root as usize] != 0 {
                continue;
            }
            let mut path: Vec<(u32, usize)> = vec![(root, 0)];
            while let Some(&mut (block, ref mut at)) = path.last_mut() {
                let own = block as usize;
                if *at == 0 {
                    (self.reached[own], self.low[own]) = (next, next);
                    self.is_on_stack[own] = true;
                    stack.push(block);
                    next += 1;
                }
                let step = graph.steps(block).get(*at);
                *at += 1;
                if let Some(step) = step {
                    let to = step.to as usize;
                    if !counts(step.to) {
                        continue;
                    }
                    if self.reached[to] == 0 {
                        path.push((step.to, 0));
                    } else if self.is_on_stack[to] {
                        self.low[own] = self.low[own].min(self.reached[to]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(around, _)) = path.last() {
                    let around = around as usize;
                    self.low[around] = self.low[around].min(self.low[own]);
                }
                if self.low[own] == self.reached[own] {
                    let from = stack.iter().rposition(|&on| on == block).unwrap_or(0);
                    let mut part = stack.split_off(from);
                    for &block in &part {
                        self.is_on_stack[block as usize] = false;
                    }
                    let is_self = |&block: &u32| {
                        counts(block) && graph.steps(block).iter().any(|step| step.to == block)
                    };
                    if part.len() > 1 || part.first().is_some_and(is_self) {
                        part.sort_unstable();
                        found.push(part);
                    }
                }
            }
        }
        found
    }
}
