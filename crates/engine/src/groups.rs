//! [`Groups`]: rows of a view aggregated, whatever they are called from.

use std::collections::HashMap;
use std::hash::Hash;

use parallax_base::ContextIdx;
use parallax_model::ContextTree;

use crate::{CostColumns, Measure, TreeView};

/// Which rows of a view belong together. Groups are numbered in the order in which the tree has
/// their first contexts.
#[derive(Debug, Clone)]
pub struct Groups {
    /// Group of each row; [`NONE`] for rows that are in none.
    of_row: Vec<u32>,
    /// Whether no other row of the same group is above the row.
    is_outermost: Vec<bool>,
    /// First context of each group.
    contexts: Vec<ContextIdx>,
    num_contexts: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Groups {
    /// Groups of the rows with equal keys; rows without a key are left out. The keys come back by
    /// group.
    #[must_use]
    pub fn new<K: Eq + Hash>(
        view: &TreeView,
        mut key_of: impl FnMut(ContextIdx) -> Option<K>,
    ) -> (Self, Vec<K>) {
        let mut out = Self {
            of_row: Vec::with_capacity(view.len()),
            is_outermost: Vec::with_capacity(view.len()),
            contexts: Vec::new(),
            num_contexts: Vec::new(),
        };
        let mut known: HashMap<K, u32> = HashMap::new();
        // How many rows of each group the path to the current row has.
        let mut open: Vec<u32> = Vec::new();
        let mut path: Vec<(usize, usize)> = Vec::new();
        for (row, &context) in view.contexts().iter().enumerate() {
            while let Some(&(end, group)) = path.last()
                && end <= row
            {
                open[group] -= 1;
                path.pop();
            }
            let Some(key) = key_of(context) else {
                out.of_row.push(NONE);
                out.is_outermost.push(false);
                continue;
            };
            let number = *known.entry(key).or_insert_with(|| {
                out.contexts.push(context);
                out.num_contexts.push(0);
                open.push(0);
                u32::try_from(out.contexts.len() - 1).unwrap_or(NONE)
            });
            let group = number as usize;
            out.of_row.push(number);
            out.is_outermost.push(open[group] == 0);
            out.num_contexts[group] += 1;
            open[group] += 1;
            path.push((view.subtree(row).end, group));
        }
        let mut keys: Vec<(u32, K)> = known.into_iter().map(|(key, group)| (group, key)).collect();
        keys.sort_unstable_by_key(|(group, _)| *group);
        (out, keys.into_iter().map(|(_, key)| key).collect())
    }

    /// Number of groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.contexts.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.contexts.is_empty()
    }

    /// The group of a row of the view.
    #[must_use]
    pub fn of_row(&self, row: usize) -> Option<usize> {
        self.of_row.get(row).filter(|&&group| group != NONE).map(|&group| group as usize)
    }

    /// Whether no other row of the same group is above `row`: the inclusive cost of others is in
    /// that of the row above already.
    #[must_use]
    pub fn is_outermost(&self, row: usize) -> bool {
        self.is_outermost.get(row) == Some(&true)
    }

    /// The first context of a group, to link to.
    #[must_use]
    pub fn context(&self, group: usize) -> ContextIdx {
        self.contexts[group]
    }

    /// Number of contexts in a group.
    #[must_use]
    pub fn num_contexts(&self, group: usize) -> u32 {
        self.num_contexts[group]
    }

    /// The costs of the groups: the sum of the exclusive costs of their rows, and the sum of the
    /// inclusive costs of those that are outermost, so that recursion is not counted twice
    /// (hpcviewer's rule).
    #[must_use]
    pub fn costs(&self, tree: &ContextTree, view: &TreeView, measure: &Measure) -> CostColumns {
        self.sums(view, measure, |costs| view.own_costs(tree, costs, costs))
    }

    /// The same for groups of functions: the cost of code without a name counts to its caller.
    #[must_use]
    pub fn costs_of_functions(
        &self,
        tree: &ContextTree,
        view: &TreeView,
        measure: &Measure,
    ) -> CostColumns {
        self.sums(view, measure, |costs| view.function_costs(tree, costs))
    }

    fn sums(
        &self,
        view: &TreeView,
        measure: &Measure,
        own_of: impl Fn(&[f64]) -> Vec<f64>,
    ) -> CostColumns {
        let columns = measure.operands().iter().map(|costs| {
            let own = own_of(&costs.exclusive);
            let (mut inclusive, mut exclusive) = (vec![0.0; self.len()], vec![0.0; self.len()]);
            for (row, &context) in view.contexts().iter().enumerate() {
                let Some(group) = self.of_row(row) else { continue };
                exclusive[group] += own[row];
                if self.is_outermost[row] {
                    inclusive[group] += costs.inclusive_of(context);
                }
            }
            let sums = inclusive.iter().zip(&exclusive);
            let is_measured = sums.map(|(i, e)| *i != 0.0 || *e != 0.0).collect();
            CostColumns { inclusive, exclusive, is_measured }
        });
        measure.combine(columns.collect())
    }
}
