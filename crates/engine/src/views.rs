//! The three views of a tree: top-down, bottom-up (callers) and flat.

use std::collections::HashMap;

use parallax_base::ContextIdx;
use parallax_model::{ContextKind, ContextTree};

use crate::{Costs, TreeView};

/// The tree from the entries down, with the cost of every row.
#[derive(Debug, Clone)]
pub struct TopDown {
    /// The rows.
    pub view: TreeView,
    /// Cost of each row with everything below it.
    pub inclusive: Vec<f64>,
    /// Cost of each row itself: lexical-aware, so that a loop does not repeat its inner loops.
    pub exclusive: Vec<f64>,
}

impl TopDown {
    /// Costs of the rows of `view`.
    #[must_use]
    pub fn new(tree: &ContextTree, view: TreeView, costs: &Costs) -> Self {
        let mut inclusive: Vec<f64> =
            view.contexts().iter().map(|context| costs.inclusive[context.idx()]).collect();
        if let Some(root) = inclusive.first_mut() {
            *root = costs.total;
        }
        let exclusive = view.own_costs(tree, &costs.lexical_aware, &costs.exclusive);
        Self { view, inclusive, exclusive }
    }

    /// The rows directly below `row` that cost anything, from the most expensive. Equal costs stay
    /// in the order of the tree.
    #[must_use]
    pub fn children_by_cost(&self, row: usize) -> Vec<usize> {
        let mut rows: Vec<usize> =
            self.view.children(row).filter(|&child| self.inclusive[child] != 0.0).collect();
        rows.sort_by(|&a, &b| self.inclusive[b].total_cmp(&self.inclusive[a]));
        rows
    }

    /// From the root down along the child that bears at least `percent` of its parent's cost, as
    /// long as there is one (hpcviewer's hot path). Does not contain the root.
    #[must_use]
    pub fn hot_path(&self, percent: f64) -> Vec<usize> {
        let mut path = Vec::new();
        let mut row = 0;
        while let Some(&child) = self.children_by_cost(row).first() {
            if self.inclusive[child] < self.inclusive[row] * percent / 100.0 {
                break;
            }
            path.push(child);
            row = child;
        }
        path
    }
}

/// One node of the bottom-up view: a function, called by the chain of functions above it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallerNode {
    /// The name of the function: of the called one at the first level, of a caller below.
    pub name: String,
    /// A context where it stands, to link to.
    pub context: ContextIdx,
    /// The node of the function that this one calls; `None` at the first level.
    pub callee: Option<usize>,
    /// 0 at the first level.
    pub depth: u32,
    /// What the called function itself cost when it was called along this chain.
    pub exclusive: f64,
    /// What the called function and all below it cost along this chain. Only its outermost
    /// activations are counted where it calls itself.
    pub inclusive: f64,
}

/// Who called what: for each function, the functions that called it, and so on up to the entry.
#[derive(Debug, Clone, Default)]
pub struct Callers {
    nodes: Vec<CallerNode>,
    children: Vec<Vec<usize>>,
    roots: Vec<usize>,
}

impl Callers {
    /// The bottom-up view of the functions that `is_wanted` accepts (by name). Functions are told
    /// apart by name; chains are cut at `max_depth` callers.
    #[must_use]
    pub fn new(
        tree: &ContextTree,
        view: &TreeView,
        costs: &Costs,
        max_depth: u32,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Self {
        let own = view.own_costs(tree, &costs.exclusive, &costs.exclusive);
        let names = FunctionNames::new(tree);
        let wanted: Vec<bool> = names.texts.iter().map(|name| is_wanted(name)).collect();
        let mut out = Self::default();
        // Nodes by the node they call (0 for none, else one more than its number) and their name.
        let mut by_key: HashMap<(usize, u32), usize> = HashMap::new();
        for (row, &context) in view.contexts().iter().enumerate() {
            if tree.kind(context) != ContextKind::Function {
                continue;
            }
            let (exclusive, mut inclusive) = (own[row], costs.inclusive_of(context));
            let name = names.of(tree, context);
            if (exclusive == 0.0 && inclusive == 0.0) || !wanted[name as usize] {
                continue;
            }
            let chain = || {
                std::iter::successors(view.parent(row), |&above| view.parent(above))
                    .map(|above| view.contexts()[above])
                    .filter(|&above| tree.kind(above) == ContextKind::Function)
            };
            if chain().any(|above| names.of(tree, above) == name) {
                inclusive = 0.0;
            }
            let own = std::iter::once(context);
            let mut callee = 0;
            for caller in own.chain(chain().take(max_depth as usize)) {
                let name = names.of(tree, caller);
                let at = *by_key.entry((callee, name)).or_insert_with(|| {
                    out.add(callee.checked_sub(1), &names.texts[name as usize], caller)
                });
                out.nodes[at].exclusive += exclusive;
                out.nodes[at].inclusive += inclusive;
                callee = at + 1;
            }
        }
        let order = |nodes: &[CallerNode], list: &mut Vec<usize>| {
            list.sort_by(|&a, &b| {
                let key = |i: usize| (nodes[i].exclusive, nodes[i].inclusive);
                let ((ae, ai), (be, bi)) = (key(a), key(b));
                be.total_cmp(&ae).then(bi.total_cmp(&ai)).then(nodes[a].name.cmp(&nodes[b].name))
            });
        };
        order(&out.nodes, &mut out.roots);
        for list in &mut out.children {
            order(&out.nodes, list);
        }
        out
    }

    /// A new node without cost.
    fn add(&mut self, callee: Option<usize>, name: &str, context: ContextIdx) -> usize {
        let at = self.nodes.len();
        let depth = callee.map_or(0, |callee| self.nodes[callee].depth + 1);
        let name = name.to_owned();
        let node = CallerNode { name, context, callee, depth, exclusive: 0.0, inclusive: 0.0 };
        self.nodes.push(node);
        self.children.push(Vec::new());
        match callee {
            Some(callee) => self.children[callee].push(at),
            None => self.roots.push(at),
        }
        at
    }

    /// A node.
    #[must_use]
    pub fn node(&self, node: usize) -> &CallerNode {
        &self.nodes[node]
    }

    /// The called functions, from the one with the highest exclusive cost.
    #[must_use]
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The callers of a node, from the most expensive.
    #[must_use]
    pub fn callers(&self, node: usize) -> &[usize] {
        &self.children[node]
    }
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

/// What a flat view groups by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FlatBy {
    /// Functions, by name.
    Function,
    /// Source files that functions are defined in.
    File,
    /// Executables and libraries that functions are in.
    Module,
    /// Loops, by file and line.
    Loop,
    /// Source lines.
    Line,
}

/// One group of a flat view.
#[derive(Debug, Clone, PartialEq)]
pub struct FlatRow {
    /// What the group is called.
    pub name: String,
    /// Where it is: the module's base name for functions, the path for files and lines.
    pub place: String,
    /// A context of the group, to link to.
    pub context: ContextIdx,
    /// Number of contexts in the group.
    pub num_contexts: u32,
    /// Cost with everything below. Only the outermost context of the group on each path is
    /// counted, so that recursion is not counted twice (hpcviewer's rule).
    pub inclusive: f64,
    /// Cost of the group itself.
    pub exclusive: f64,
}

/// The flat view: contexts grouped wherever they are called from. From the highest exclusive cost.
#[must_use]
pub fn flat(tree: &ContextTree, view: &TreeView, costs: &Costs, by: FlatBy) -> Vec<FlatRow> {
    let own = view.own_costs(tree, &costs.exclusive, &costs.exclusive);
    let mut groups: HashMap<(String, String), usize> = HashMap::new();
    let mut rows: Vec<FlatRow> = Vec::new();
    // How many contexts of each group the path to the current row has.
    let mut open: Vec<u32> = Vec::new();
    let mut path: Vec<(usize, usize)> = Vec::new();
    for (row, &context) in view.contexts().iter().enumerate() {
        while let Some(&(end, group)) = path.last()
            && end <= row
        {
            open[group] -= 1;
            path.pop();
        }
        let Some(key) = group_of(tree, context, by) else { continue };
        let group = *groups.entry(key).or_insert_with_key(|(name, place)| {
            rows.push(FlatRow {
                name: name.clone(),
                place: place.clone(),
                context,
                num_contexts: 0,
                inclusive: 0.0,
                exclusive: 0.0,
            });
            open.push(0);
            rows.len() - 1
        });
        rows[group].num_contexts += 1;
        rows[group].exclusive += own[row];
        if open[group] == 0 {
            rows[group].inclusive += costs.inclusive_of(context);
        }
        open[group] += 1;
        path.push((view.subtree(row).end, group));
    }
    rows.retain(|row| row.inclusive != 0.0 || row.exclusive != 0.0);
    rows.sort_by(|a, b| {
        b.exclusive
            .total_cmp(&a.exclusive)
            .then(b.inclusive.total_cmp(&a.inclusive))
            .then(a.name.cmp(&b.name))
            .then(a.place.cmp(&b.place))
    });
    rows
}

/// Name and place of the group of a context; `None` when it is not in any.
fn group_of(tree: &ContextTree, context: ContextIdx, by: FlatBy) -> Option<(String, String)> {
    let kind = tree.kind(context);
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let is_function = kind == ContextKind::Function;
    let function = || tree.function(context).and_then(|f| tree.functions().get(f.idx()));
    let module = || function()?.module.and_then(|m| tree.modules().get(m.idx())).map(|m| &*m.path);
    let file = || function()?.file.and_then(|f| tree.files().get(f.idx())).map(|f| &*f.path);
    match by {
        FlatBy::Function if is_function => {
            Some((tree.label(context), module().map(base).unwrap_or_default()))
        }
        FlatBy::File if is_function => {
            let path = file().unwrap_or("<unknown file>");
            Some((base(path), path.to_owned()))
        }
        FlatBy::Module if is_function => {
            let path = module().unwrap_or("<unknown module>");
            Some((base(path), path.to_owned()))
        }
        FlatBy::Loop if kind == ContextKind::Loop => {
            Some((tree.label(context), tree.file_path(context).unwrap_or_default().to_owned()))
        }
        FlatBy::Line if kind == ContextKind::Line => {
            Some((tree.label(context), tree.file_path(context).unwrap_or_default().to_owned()))
        }
        _ => None,
    }
}
