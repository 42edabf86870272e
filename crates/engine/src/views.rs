//! Views of a tree: top-down and flat. The third, bottom-up, is in `callers`.

use parallax_base::ContextIdx;
use parallax_model::{ContextKind, ContextTree};
use parallax_protocol::FlatBy;

use crate::derived::descending;
use crate::{CostColumns, Groups, Measure, Subtrees, TreeView};

/// The tree from the entries down, with the cost of every row.
#[derive(Debug, Clone)]
pub struct TopDown {
    /// The rows.
    pub view: TreeView,
    /// Cost of each row with everything below it.
    pub inclusive: Vec<f64>,
    /// Cost of each row itself: lexical-aware, so that a loop does not repeat its inner loops.
    pub exclusive: Vec<f64>,
    /// Whether anything was measured in the row or below it.
    pub is_measured: Vec<bool>,
}

/// The costs of the rows of a top-down view: with everything below, and of the row itself, which
/// is lexical-aware, so that a loop does not repeat its inner loops.
#[must_use]
pub fn row_costs(tree: &ContextTree, view: &TreeView, measure: &Measure) -> CostColumns {
    let columns = measure.operands().iter().map(|costs| {
        let mut inclusive: Vec<f64> =
            view.contexts().iter().map(|context| costs.inclusive[context.idx()]).collect();
        if let Some(root) = inclusive.first_mut() {
            *root = costs.total;
        }
        let exclusive = view.own_costs(tree, &costs.lexical_aware, &costs.exclusive);
        let is_measured = inclusive.iter().map(|cost| *cost != 0.0).collect();
        CostColumns { inclusive, exclusive, is_measured }
    });
    measure.combine(columns.collect())
}

impl TopDown {
    /// Costs of the rows of `view`.
    #[must_use]
    pub fn new(tree: &ContextTree, view: TreeView, measure: impl Into<Measure>) -> Self {
        let CostColumns { inclusive, exclusive, is_measured } =
            row_costs(tree, &view, &measure.into());
        Self { view, inclusive, exclusive, is_measured }
    }

    /// The rows directly below `row` in which anything was measured, from the most expensive.
    /// Equal costs stay in the order of the tree; undefined ones come last.
    #[must_use]
    pub fn children_by_cost(&self, row: usize) -> Vec<usize> {
        let mut rows: Vec<usize> =
            self.view.children(row).filter(|&child| self.is_measured[child]).collect();
        rows.sort_by(|&a, &b| descending(self.inclusive[a], self.inclusive[b]));
        rows
    }

    /// From the root down along the child that bears at least `percent` of its parent's cost, as
    /// long as there is one (hpcviewer's hot path). Does not contain the root.
    #[must_use]
    pub fn hot_path(&self, percent: f64) -> Vec<usize> {
        let mut path = Vec::new();
        let mut row = 0;
        while let Some(&child) = self.children_by_cost(row).first() {
            if self.inclusive[child].is_nan()
                || self.inclusive[child] < self.inclusive[row] * percent / 100.0
            {
                break;
            }
            path.push(child);
            row = child;
        }
        path
    }
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

/// The flat view: contexts grouped wherever they are called from, of the whole tree or of a part.
/// From the highest exclusive cost.
#[must_use]
pub fn flat(
    tree: &ContextTree,
    view: &TreeView,
    measure: impl Into<Measure>,
    by: FlatBy,
    part: Option<&Subtrees<'_>>,
) -> Vec<FlatRow> {
    let is_inside = |context| part.is_none_or(|part| part.contains(context));
    let (groups, keys) =
        Groups::new(view, |context| is_inside(context).then(|| group_of(tree, context, by))?);
    let costs = match by {
        FlatBy::Loop | FlatBy::Line => groups.costs(tree, view, &measure.into()),
        _ => groups.costs_of_functions(tree, view, &measure.into()),
    };
    let mut rows: Vec<FlatRow> = Vec::new();
    for (group, (name, place)) in keys.into_iter().enumerate() {
        if costs.is_measured[group] {
            rows.push(FlatRow {
                name,
                place,
                context: groups.context(group),
                num_contexts: groups.num_contexts(group),
                inclusive: costs.inclusive[group],
                exclusive: costs.exclusive[group],
            });
        }
    }
    rows.sort_by(|a, b| {
        descending(a.exclusive, b.exclusive)
            .then(descending(a.inclusive, b.inclusive))
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
