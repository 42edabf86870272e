//! [`Callers`]: the bottom-up view, from each function to its callers.
//!
//! Callers of callers are worked out when somebody asks for them: a node holds the activations
//! that reached it, so that memory is that of the contexts, not that of all chains.

use std::collections::HashMap;

use parallax_base::ContextIdx;
use parallax_model::{ContextKind, ContextTree};

use crate::derived::descending;
use crate::{Groups, Measure, Part, TreeView};

/// One node of the bottom-up view: a function, called by the chain of functions above it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallerNode {
    /// The name of the function: of the called one at the first level, of a caller below.
    pub name: String,
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
    /// in a part, at whose tops chains end. Functions are told apart by name.
    #[must_use]
    pub fn new(
        tree: &ContextTree,
        view: &'a TreeView,
        measure: impl Into<Measure>,
        is_wanted: impl Fn(&str) -> bool,
        part: Option<&Part<'_>>,
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
            .map(|costs| view.own_costs(tree, &costs.exclusive, &costs.exclusive))
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

    /// Calls `visit` with all nodes, parents before their callers and these from the most
    /// expensive, down to `max_depth` callers in a chain; ends when it returns false. At the last
    /// level `visit` also gets the number of callers that are left out.
    pub fn visit(&self, max_depth: u32, mut visit: impl FnMut(&CallerNode, usize) -> bool) {
        let mut stack: Vec<CallerNode> = self.roots.iter().rev().cloned().collect();
        while let Some(node) = stack.pop() {
            let callers = self.callers(&node);
            let is_cut = node.depth >= max_depth;
            if !visit(&node, if is_cut { callers.len() } else { 0 }) {
                return;
            }
            if !is_cut {
                stack.extend(callers.into_iter().rev());
            }
        }
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
                    name: self.names.texts[name as usize].clone(),
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

/// Numbers for the distinct names of functions.
struct FunctionNames {
    texts: Vec<String>,
    /// By row of the function table.
    ids: Vec<u32>,
    /// Of contexts whose function is unknown.
    unknown: u32,
}

impl FunctionNames {
    fn new(tree: &ContextTree) -> Self {
        let mut texts: Vec<String> = Vec::new();
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut id_of = |name| {
            *known.entry(name).or_insert_with(|| {
                texts.push(name.to_owned());
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
