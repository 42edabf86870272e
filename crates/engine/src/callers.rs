//! [`Callers`]: the bottom-up view, from each function to its callers.
//!
//! Callers of callers are computed on demand: a node holds the activations that reached it, so that
//! memory is that of the contexts, not that of all chains. All chains together are as many as
//! contexts times their depth: a single path of 10,000 functions has 50 million nodes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use parallax_base::ContextIdx;
use parallax_model::{ContextKind, ContextTree};

use crate::derived::descending;
use crate::{Groups, Measure, Subtrees, TreeView};

/// One node of the bottom-up view: a function, called by the chain of functions above it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallerNode {
    /// The name of the function: of the called one at the first level, of a caller below.
    pub name: Arc<str>,
    /// A context where it stands, to link to.
    pub context: ContextIdx,
    /// 0 at the first level.
    pub depth: u32,
    /// What the called function itself cost when it was called along this chain.
    pub exclusive: f64,
    /// What the called function and all below it cost along this chain. Only its outermost
    /// activations are counted where it calls itself.
    pub inclusive: f64,
    /// Activations of the called function, with where their chains have arrived.
    reached: Vec<Reached>,
}

/// A row of a bottom-up view that has been cut to a number of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct CallerRow {
    /// The node, without what is needed to ask for its callers.
    pub node: CallerNode,
    /// Callers of it that are not among the rows.
    pub num_hidden: usize,
}

/// The most expensive rows of a bottom-up view.
#[derive(Debug, Clone, PartialEq)]
pub struct CallerRows {
    /// Nodes before their callers, and these from the most expensive.
    pub rows: Vec<CallerRow>,
    /// Whether there are more within the requested depth.
    pub is_cut: bool,
}

/// An activation, and a function above it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Reached {
    activation: u32,
    row: u32,
}

/// Who called what: for each function, the functions that called it, and so on up to the entry.
pub struct Callers<'a> {
    view: &'a TreeView,
    measure: Measure,
    names: FunctionNames,
    /// Name of the function of each row, and the row of the function that called it; [`NONE`] for
    /// rows that are no functions, and where there is no caller.
    name: Vec<u32>,
    caller: Vec<u32>,
    /// For each operand the own costs of all rows.
    own: Vec<Vec<f64>>,
    /// Whether no activation of the same function is above the row.
    groups: Groups,
    roots: Vec<CallerNode>,
}

const NONE: u32 = u32::MAX;

impl<'a> Callers<'a> {
    /// The bottom-up view of the functions that `is_wanted` accepts (by name), in the whole tree or
    /// in a part, at whose tops chains end. Functions are distinguished by name.
    #[must_use]
    pub fn new(
        tree: &ContextTree,
        view: &'a TreeView,
        measure: impl Into<Measure>,
        is_wanted: impl Fn(&str) -> bool,
        part: Option<&Subtrees<'_>>,
    ) -> Self {
        let measure = measure.into();
        let names = FunctionNames::new(tree);
        let is_function = |context| {
            tree.kind(context) == ContextKind::Function
                && part.is_none_or(|part| part.contains(context))
        };
        let (groups, keys) =
            Groups::new(view, |context| is_function(context).then(|| names.of(tree, context)));
        let mut name = vec![NONE; view.len()];
        let mut caller = vec![NONE; view.len()];
        for row in 0..view.len() {
            if let Some(group) = groups.of_row(row) {
                name[row] = keys[group];
            }
            if let Some(above) = view.parent(row) {
                let is_call = name[above] != NONE;
                caller[row] = if is_call { number(above) } else { caller[above] };
            }
        }
        let own = measure
            .operands()
            .iter()
            .map(|costs| view.function_costs(tree, &costs.exclusive))
            .collect();
        let mut out = Self { view, measure, names, name, caller, own, groups, roots: Vec::new() };
        let wanted: Vec<bool> = out.names.texts.iter().map(|name| is_wanted(name)).collect();
        let activations = (0..view.len()).filter(|&row| {
            wanted.get(out.name[row] as usize) == Some(&true) && out.is_measured(row)
        });
        let reached = activations.map(|row| Reached { activation: number(row), row: number(row) });
        out.roots = out.nodes(reached, 0);
        out
    }

    /// The called functions, from the one with the highest exclusive cost.
    #[must_use]
    pub fn roots(&self) -> &[CallerNode] {
        &self.roots
    }

    /// The callers of a node, from the most expensive.
    #[must_use]
    pub fn callers(&self, node: &CallerNode) -> Vec<CallerNode> {
        let above = node.reached.iter().filter_map(|reached| {
            let row = self.caller[reached.row as usize];
            (row != NONE).then_some(Reached { row, ..*reached })
        });
        self.nodes(above, node.depth + 1)
    }

    /// The `max_rows` most expensive nodes, down to `max_depth` callers in a chain. A node is not
    /// more expensive than the one that it calls, so those come too.
    ///
    /// The work is bounded as well: chains of a function that calls itself are as long as they are
    /// many, and end when `MOST_STEPS` activations have been followed.
    #[must_use]
    pub fn rows(&self, max_depth: u32, max_rows: usize) -> CallerRows {
        let mut found: Vec<SearchNode> = Vec::new();
        let mut waiting: BinaryHeap<(Rank, Reverse<usize>)> = BinaryHeap::new();
        let add = |found: &mut Vec<SearchNode>, waiting: &mut BinaryHeap<_>, node: CallerNode| {
            waiting.push((Rank::of(&node), Reverse(found.len())));
            found.push(SearchNode { node, below: 0..0, num_deeper: 0, is_row: false });
        };
        self.roots.iter().for_each(|node| add(&mut found, &mut waiting, node.clone()));
        let (mut num_rows, mut steps) = (0, 0_u64);
        while num_rows < max_rows && steps < MOST_STEPS {
            let Some((_, Reverse(at))) = waiting.pop() else { break };
            let Some(next) = found.get_mut(at) else { break };
            num_rows += 1;
            next.is_row = true;
            steps += next.node.reached.len() as u64;
            let callers = self.callers(&next.node);
            // Followed to its callers, which is all that it is for.
            next.node.reached = Vec::new();
            if next.node.depth >= max_depth {
                next.num_deeper = callers.len();
                continue;
            }
            let first = found.len();
            if let Some(found) = found.get_mut(at) {
                found.below = first..first + callers.len();
            }
            callers.into_iter().for_each(|node| add(&mut found, &mut waiting, node));
        }
        let is_cut = !waiting.is_empty();
        let is_row = |at: &usize| found.get(*at).is_some_and(|found| found.is_row);
        let mut rows = Vec::with_capacity(num_rows);
        let mut stack: Vec<usize> = (0..self.roots.len()).rev().filter(is_row).collect();
        while let Some(own) = stack.pop().and_then(|at| found.get(at)) {
            let before = stack.len();
            stack.extend(own.below.clone().rev().filter(is_row));
            let num_hidden = own.num_deeper + own.below.len() - (stack.len() - before);
            rows.push(CallerRow { node: own.node.clone(), num_hidden });
        }
        CallerRows { rows, is_cut }
    }

    fn is_measured(&self, row: usize) -> bool {
        let context = self.view.contexts()[row];
        let mut operands = self.measure.operands().iter().zip(&self.own);
        operands.any(|(costs, own)| own[row] != 0.0 || costs.inclusive_of(context) != 0.0)
    }

    /// One node for each name of the functions that chains have arrived at.
    fn nodes(&self, reached: impl Iterator<Item = Reached>, depth: u32) -> Vec<CallerNode> {
        let mut by_name: HashMap<u32, usize> = HashMap::new();
        let mut lists: Vec<(u32, Vec<Reached>)> = Vec::new();
        for reached in reached {
            let name = self.name[reached.row as usize];
            let at = *by_name.entry(name).or_insert_with(|| {
                lists.push((name, Vec::new()));
                lists.len() - 1
            });
            lists[at].1.push(reached);
        }
        let mut stack = Vec::new();
        let mut nodes: Vec<CallerNode> = lists
            .into_iter()
            .map(|(name, reached)| {
                let operands = 0..self.own.len();
                let sums: Vec<_> = operands.map(|operand| self.sums(operand, &reached)).collect();
                let (inclusive, exclusive) = self.measure.evaluate(&mut stack, |i| sums[i]);
                let row = reached.first().map_or(0, |first| first.row as usize);
                CallerNode {
                    name: Arc::clone(&self.names.texts[name as usize]),
                    context: self.view.contexts()[row],
                    depth,
                    exclusive,
                    inclusive,
                    reached,
                }
            })
            .collect();
        nodes.sort_by(|a, b| {
            descending(a.exclusive, b.exclusive)
                .then(descending(a.inclusive, b.inclusive))
                .then(a.name.cmp(&b.name))
        });
        nodes
    }

    /// Inclusive and exclusive cost of activations by one operand.
    fn sums(&self, operand: usize, reached: &[Reached]) -> (f64, f64) {
        let (costs, own) = (&self.measure.operands()[operand], &self.own[operand]);
        let (mut inclusive, mut exclusive) = (0.0, 0.0);
        for reached in reached {
            let row = reached.activation as usize;
            exclusive += own[row];
            if self.groups.is_outermost(row) {
                inclusive += costs.inclusive_of(self.view.contexts()[row]);
            }
        }
        (inclusive, exclusive)
    }
}

fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(NONE)
}

/// Activations that are followed to a caller before rows end.
const MOST_STEPS: u64 = 100_000_000;

/// A node while rows are looked for.
struct SearchNode {
    node: CallerNode,
    /// Its callers among all that were found.
    below: Range<usize>,
    /// Number of callers that are deeper than requested.
    num_deeper: usize,
    is_row: bool,
}

/// Order of nodes: what costs more is greater; undefined costs are least.
#[derive(PartialEq)]
struct Rank {
    exclusive: f64,
    inclusive: f64,
}

impl Rank {
    fn of(node: &CallerNode) -> Self {
        Self { exclusive: node.exclusive, inclusive: node.inclusive }
    }
}

impl Eq for Rank {}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        descending(other.exclusive, self.exclusive)
            .then(descending(other.inclusive, self.inclusive))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Numbers for the distinct names of functions.
struct FunctionNames {
    texts: Vec<Arc<str>>,
    /// By row of the function table.
    ids: Vec<u32>,
    /// Of contexts whose function is unknown.
    unknown: u32,
}

impl FunctionNames {
    fn new(tree: &ContextTree) -> Self {
        let mut texts: Vec<Arc<str>> = Vec::new();
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut id_of = |name| {
            *known.entry(name).or_insert_with(|| {
                texts.push(Arc::from(name));
                u32::try_from(texts.len() - 1).unwrap_or(u32::MAX)
            })
        };
        let ids = tree.functions().iter().map(|function| id_of(&function.name)).collect();
        let unknown = id_of(ContextTree::UNKNOWN_FUNCTION);
        Self { texts, ids, unknown }
    }

    fn of(&self, tree: &ContextTree, context: ContextIdx) -> u32 {
        let row = tree.function(context);
        row.and_then(|row| self.ids.get(row.idx())).copied().unwrap_or(self.unknown)
    }
}

#[cfg(test)]
mod tests {
    use parallax_base::Unit;
    use parallax_model::{ContextTreeBuilder, Function, Node, Relation};

    use super::*;
    use crate::Costs;

    /// A chain of functions, each of which costs as much as its depth.
    fn chain(depth: u32) -> (ContextTree, Costs) {
        let functions = (0..depth).map(|at| Function {
            name: format!("f{at}").into(),
            group: None,
            module: None,
            file: None,
            line: 0,
        });
        let mut builder = ContextTreeBuilder::new(0, functions.collect(), Vec::new(), Vec::new());
        let mut above = ContextTree::ROOT;
        for at in 0..depth {
            let function = Some(parallax_base::FunctionIdx::new(at));
            let node = Node { source_id: at + 1, function, ..call() };
            above = builder.push(above, node);
        }
        let own = |at: u32| f64::from(at);
        let exclusive: Vec<f64> = (0..=depth).map(own).collect();
        let mut inclusive = exclusive.clone();
        for at in (0..depth as usize).rev() {
            inclusive[at] += inclusive[at + 1];
        }
        let total = inclusive[0];
        let exclusive = Arc::new(exclusive);
        let costs = Costs {
            name: "time".into(),
            unit: Unit::Seconds,
            inclusive: Arc::new(inclusive),
            lexical_aware: Arc::clone(&exclusive),
            exclusive,
            total,
        };
        (builder.finish(), costs)
    }

    fn call() -> Node {
        Node::new(ContextKind::Function, Relation::Call)
    }

    #[test]
    fn the_most_expensive_rows_come_with_what_they_are_callers_of() {
        let (tree, costs) = chain(60);
        let view = TreeView::whole(&tree);
        let callers = Callers::new(&tree, &view, &costs, |_| true, None);
        let all = callers.rows(u32::MAX, usize::MAX);
        assert!(!all.is_cut);
        assert_eq!(all.rows.len(), 60 * 61 / 2, "one chain for each function");
        let few = callers.rows(u32::MAX, 100);
        assert!(few.is_cut);
        let sorted = |rows: &[CallerRow], most: usize| {
            let mut costs: Vec<f64> = rows.iter().map(|row| row.node.exclusive).collect();
            costs.sort_by(|a, b| b.total_cmp(a));
            costs.truncate(most);
            costs
        };
        assert_eq!(sorted(&few.rows, 100), sorted(&all.rows, 100));
        let mut depth = 0;
        for row in &few.rows {
            assert!(row.node.depth <= depth, "nothing hangs in the air");
            depth = row.node.depth + 1;
        }
        // What is left out is counted where it would be.
        let hidden: usize = few.rows.iter().map(|row| row.num_hidden).sum();
        assert!(hidden > 0 && all.rows.iter().all(|row| row.num_hidden == 0));
    }

    #[test]
    fn a_path_of_thousands_of_functions_has_as_many_rows_as_are_asked_for() {
        let (tree, costs) = chain(9_999);
        let view = TreeView::whole(&tree);
        let callers = Callers::new(&tree, &view, &costs, |_| true, None);
        let found = callers.rows(u32::MAX, 1_000);
        assert_eq!((found.rows.len(), found.is_cut), (1_000, true));
        assert_eq!(&*found.rows[0].node.name, "f9998");
        let list = callers.rows(0, usize::MAX);
        assert_eq!((list.rows.len(), list.is_cut), (9_999, false));
        assert_eq!(list.rows[0].num_hidden, 1);
    }
}
