//! From the call graph to contexts: the largest first, until there are enough.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use parallax_base::{Issues, Limits, Place, Severity, Stage};

use super::graph::{Graph, as_f64};
use super::table::{At, Table};

/// Contexts at most; what is smaller is kept by function, not by call path.
const MOST_CONTEXTS: usize = 200_000;

/// Numbers at most, over all contexts.
const MOST_NUMBERS: usize = 40_000_000;

/// Share of the events of a whole run below which an issue is not worth it.
const TOLD: f64 = 1e-4;

/// What a node stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum What {
    Root,
    /// A function, by its row.
    Function(usize),
    /// Functions that call each other, by their group.
    Cycle(usize),
    /// A place in the function above.
    Spot(At),
    /// What is too small to be distinguished by call path.
    Smaller,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) what: What,
    pub(super) parent: usize,
    pub(super) children: Vec<usize>,
    depth: u32,
}

/// Who has a share of some costs: the node that gets it, and the instance that says how large.
pub(super) type Sharers = Vec<(usize, usize)>;

/// The contexts, and who has which share of what.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    pub(super) nodes: Vec<Node>,
    known: HashMap<(usize, What), usize>,
    /// By instance of a group, its share of the group: by column, of 1.
    pub(super) shares: Vec<Vec<f64>>,
    /// By function, and by place in the order of [`Table::own`].
    pub(super) spots: Vec<Vec<Sharers>>,
    /// By arc: the called functions.
    pub(super) calls: Vec<Sharers>,
}

/// A group that is called, and not a node yet.
#[derive(Debug)]
struct Waiting {
    /// Its largest share of what all cost.
    size: f64,
    /// Whether any of its numbers would be more than nothing.
    has_any: bool,
    order: usize,
    /// What calls it.
    parent: usize,
    /// The outermost function above, once there is one.
    top: Option<usize>,
    group: usize,
    share: Vec<f64>,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.size.total_cmp(&other.size).then(other.order.cmp(&self.order))
    }
}

/// Makes contexts of the graph.
pub(super) fn expand(
    table: &Table,
    graph: &Graph,
    limits: &Limits,
    issues: &mut Issues,
) -> Expanded {
    let mut totals = vec![0.0; table.columns()];
    for uncalled in &graph.uncalled {
        totals.iter_mut().zip(uncalled).for_each(|(sum, cost)| *sum += cost);
    }
    let mut making = Making {
        table,
        graph,
        totals,
        out: Expanded {
            spots: table.own.iter().map(|own| vec![Vec::new(); own.len()]).collect(),
            calls: vec![Vec::new(); table.arcs.len()],
            ..Expanded::default()
        },
        queue: BinaryHeap::new(),
        order: 0,
    };
    let root = Node { what: What::Root, parent: 0, children: Vec::new(), depth: 0 };
    making.out.nodes.push(root);
    let most = MOST_CONTEXTS.min(MOST_NUMBERS / table.columns().max(1));
    making.roots();
    let mut small: BTreeMap<usize, BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
    let (mut cut, mut num_too_deep) = (0.0, 0);
    while let Some(next) = making.queue.pop() {
        // A call has a line, a cycle and a function below the one before it.
        let is_deep = making.depth(next.parent).saturating_add(3) > limits.max_depth;
        num_too_deep += u64::from(is_deep && next.has_any);
        let is_worth_it = next.has_any && !is_deep && making.out.nodes.len() < most;
        if is_worth_it || next.top.is_none() {
            making.instance(&next);
            continue;
        }
        cut += next.size;
        let Some(top) = next.top else { continue };
        let columns = table.columns();
        let sum = small.entry(top).or_default().entry(next.group);
        let sum = sum.or_insert_with(|| vec![0.0; columns]);
        sum.iter_mut().zip(&next.share).for_each(|(sum, share)| *sum += share);
    }
    report_depth(num_too_deep, limits, issues);
    for (top, pending) in small {
        making.smaller(top, pending);
    }
    if cut > TOLD {
        issues.report(Severity::Note, Stage::Import, "call-paths-cut", Place::Whole, || {
            format!(
                "the call graph has more call paths than are shown; the smallest ones, {:.2} % of \
                 the cost, are summed by function below <smaller calls>",
                cut.min(1.0) * 100.0
            )
        });
    }
    making.out
}

fn report_depth(count: u64, limits: &Limits, issues: &mut Issues) {
    if count > 0 {
        let message = || {
            format!(
                "calls nest deeper than {} contexts; what is called below is summed by function \
                 below <smaller calls>",
                limits.max_depth
            )
        };
        let (severity, stage) = (Severity::Warning, Stage::Import);
        issues.report_many(severity, stage, "depth-cut", Place::Whole, count, message);
    }
}

struct Making<'t> {
    table: &'t Table,
    graph: &'t Graph,
    /// By column, what the whole run cost.
    totals: Vec<f64>,
    out: Expanded,
    queue: BinaryHeap<Waiting>,
    order: usize,
}

impl Making<'_> {
    fn node(&mut self, parent: usize, what: What) -> usize {
        let next = self.out.nodes.len();
        let at = *self.out.known.entry((parent, what.clone())).or_insert(next);
        if at == next {
            let depth = self.depth(parent).saturating_add(1);
            self.out.nodes.push(Node { what, parent, children: Vec::new(), depth });
            if let Some(above) = self.out.nodes.get_mut(parent) {
                above.children.push(next);
            }
        }
        at
    }

    fn depth(&self, node: usize) -> u32 {
        self.out.nodes.get(node).map_or(0, |node| node.depth)
    }

    fn wait(&mut self, parent: usize, top: Option<usize>, group: usize, share: Vec<f64>) {
        let whole = self.graph.whole.get(group).map_or(&[][..], Vec::as_slice);
        let width = self.table.width();
        let (mut size, mut has_any) = (0.0_f64, false);
        for (column, ((share, whole), total)) in
            share.iter().zip(whole).zip(&self.totals).enumerate()
        {
            let cost = share * whole;
            has_any |= cost >= 0.5;
            if column % width != self.table.calls_column() && *total > 0.0 {
                size = size.max(cost / total);
            }
        }
        self.order += 1;
        self.queue.push(Waiting { size, has_any, order: self.order, parent, top, group, share });
    }

    /// What has no caller, or callers for a part of it only.
    fn roots(&mut self) {
        for group in 0..self.graph.members.len() {
            let (Some(whole), Some(uncalled)) =
                (self.graph.whole.get(group), self.graph.uncalled.get(group))
            else {
                continue;
            };
            let pairs = uncalled.iter().zip(whole);
            let share: Vec<f64> = pairs.map(|(part, whole)| ratio(*part, *whole)).collect();
            if share.iter().any(|&share| share > 0.0) {
                self.wait(0, None, group, share);
            }
        }
    }

    /// Makes the nodes of one call of a group, and queues what it calls.
    fn instance(&mut self, waiting: &Waiting) {
        let members = self.graph.members.get(waiting.group).map_or(&[][..], Vec::as_slice);
        let instance = self.out.shares.len();
        self.out.shares.push(waiting.share.clone());
        let base = match members {
            [one] => self.node(waiting.parent, What::Function(*one)),
            _ => self.node(waiting.parent, What::Cycle(waiting.group)),
        };
        let top = waiting.top.unwrap_or(base);
        let mut nodes: HashMap<usize, usize> = HashMap::new();
        for &function in members {
            let node =
                if members.len() == 1 { base } else { self.node(base, What::Function(function)) };
            nodes.insert(function, node);
            self.own(function, node, instance);
        }
        for &arc in self.graph.inside.get(waiting.group).map_or(&[][..], Vec::as_slice) {
            let callee = self.table.arcs.get(arc).and_then(|arc| nodes.get(&arc.callee));
            if let (Some(&node), Some(sharers)) = (callee, self.out.calls.get_mut(arc)) {
                sharers.push((node, instance));
            }
        }
        // Calls to several functions of one cycle from one place are one call of the cycle.
        let mut called: Vec<(usize, usize, Vec<f64>)> = Vec::new();
        let mut known: HashMap<(usize, usize), usize> = HashMap::new();
        for &at in self.graph.out.get(waiting.group).map_or(&[][..], Vec::as_slice) {
            let Some(arc) = self.table.arcs.get(at) else { continue };
            let Some(&caller) = nodes.get(&arc.caller) else { continue };
            let from = self.spot(caller, &arc.at);
            let group = self.graph.group_of.get(arc.callee).copied().unwrap_or(0);
            let share = self.share_of(&waiting.share, at, group);
            let next = called.len();
            let slot = *known.entry((from, group)).or_insert(next);
            match called.get_mut(slot) {
                Some((_, _, sum)) => sum.iter_mut().zip(&share).for_each(|(sum, s)| *sum += s),
                None => called.push((from, group, share)),
            }
            let node = self.called(from, group, arc.callee);
            if let Some(sharers) = self.out.calls.get_mut(at) {
                sharers.push((node, instance));
            }
        }
        for (from, group, share) in called {
            self.wait(from, Some(top), group, share);
        }
    }

    /// What calls of `arc` have of the called group, for a caller that has `share` of its own.
    fn share_of(&self, share: &[f64], arc: usize, group: usize) -> Vec<f64> {
        let costs = self.table.arcs.get(arc).map_or(&[][..], |arc| arc.costs.as_slice());
        let whole = self.graph.whole.get(group).map_or(&[][..], Vec::as_slice);
        let parts = share.iter().zip(costs).zip(whole);
        parts.map(|((share, &cost), whole)| share * ratio(as_f64(cost), *whole)).collect()
    }

    /// The node of a called function, which gets the number of calls.
    fn called(&mut self, from: usize, group: usize, callee: usize) -> usize {
        let is_cycle = self.graph.members.get(group).is_some_and(|members| members.len() > 1);
        let above = if is_cycle { self.node(from, What::Cycle(group)) } else { from };
        self.node(above, What::Function(callee))
    }

    fn spot(&mut self, function: usize, at: &At) -> usize {
        if at.line == 0 && at.address == 0 {
            return function;
        }
        self.node(function, What::Spot(at.clone()))
    }

    fn own(&mut self, function: usize, node: usize, instance: usize) {
        let table = self.table;
        let Some(own) = table.own.get(function) else { return };
        for (i, at) in own.keys().enumerate() {
            let spot = self.spot(node, at);
            let sharers = self.out.spots.get_mut(function).and_then(|spots| spots.get_mut(i));
            sharers.into_iter().for_each(|sharers| sharers.push((spot, instance)));
        }
    }

    /// Sums by function what is below a top function and too small for call paths.
    fn smaller(&mut self, top: usize, mut pending: BTreeMap<usize, Vec<f64>>) {
        let base = self.node(top, What::Smaller);
        // Callers come before callees in the order of groups.
        while let Some((group, share)) = pending.pop_first() {
            let instance = self.out.shares.len();
            self.out.shares.push(share.clone());
            for function in self.graph.members.get(group).cloned().unwrap_or_default() {
                let node = self.node(base, What::Function(function));
                self.own(function, node, instance);
            }
            let inside = self.graph.inside.get(group).cloned().unwrap_or_default();
            let outside = self.graph.out.get(group).cloned().unwrap_or_default();
            for &at in inside.iter().chain(&outside) {
                let Some(callee) = self.table.arcs.get(at).map(|arc| arc.callee) else { continue };
                let node = self.node(base, What::Function(callee));
                if let Some(sharers) = self.out.calls.get_mut(at) {
                    sharers.push((node, instance));
                }
            }
            for at in outside {
                let Some(arc) = self.table.arcs.get(at) else { continue };
                let called = self.graph.group_of.get(arc.callee).copied().unwrap_or(0);
                let part = self.share_of(&share, at, called);
                let sum = pending.entry(called).or_insert_with(|| vec![0.0; part.len()]);
                sum.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
            }
        }
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
