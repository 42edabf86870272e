//! [`HelperThreads`]: what runs on threads that MPI, networks or the measurement start for
//! themselves, and costs without it.

use std::sync::Arc;

use parallax_base::ContextIdx;
use parallax_engine::Costs;
use parallax_model::{ContextKind, ContextTree};

use super::{Classes, CostClass};

/// Inclusive costs below this part of the total are what rounding leaves where one cost is
/// subtracted from another.
const ROUNDING: f64 = 1e-9;

/// The contexts of helper threads: threads on which nothing of the program runs, only code of MPI,
/// of networks or of the measurement that waits for events.
///
/// Every thread of a program is sampled, so that one helper thread per rank would be half of all
/// time. Its time is not the program's: it passes while the program runs, whatever the program
/// does.
#[derive(Debug, Clone, Default)]
pub struct HelperThreads {
    /// Where helper threads begin, ascending; none is below another.
    starts: Vec<ContextIdx>,
    /// What each of them is.
    kinds: Vec<&'static str>,
    is_helper: Vec<bool>,
}

impl HelperThreads {
    /// Of all contexts of a tree.
    #[must_use]
    pub fn of(tree: &ContextTree) -> Self {
        Self::new(&Classes::new(tree))
    }

    pub(crate) fn new(classes: &Classes) -> Self {
        let begins = classes.boundaries.iter().filter(|b| b.inside == CostClass::HelperThreads);
        let starts: Vec<ContextIdx> = begins.map(|boundary| boundary.context).collect();
        if starts.is_empty() {
            return Self::default();
        }
        let kinds = starts.iter().map(|start| classes.helper_kind(*start)).collect();
        let is_helper = classes.of_context.iter().map(|c| *c == CostClass::HelperThreads);
        Self { starts, kinds, is_helper: is_helper.collect() }
    }

    /// What the helper thread is that begins at a context: `progress of MPI`, `GPU driver`.
    #[must_use]
    pub fn kind_at(&self, start: ContextIdx) -> &'static str {
        let at = self.starts.binary_search(&start).ok();
        at.and_then(|at| self.kinds.get(at)).copied().unwrap_or("helper thread")
    }

    /// Where the helper thread begins to which a context belongs.
    #[must_use]
    pub fn start_of(&self, tree: &ContextTree, context: ContextIdx) -> Option<ContextIdx> {
        let at = self.starts.partition_point(|start| *start <= context).checked_sub(1)?;
        self.starts.get(at).copied().filter(|&start| tree.is_within(context, start))
    }

    /// Whether a context is code of helper threads.
    #[must_use]
    pub fn has(&self, context: ContextIdx) -> bool {
        self.is_helper.get(context.idx()).copied().unwrap_or(false)
    }

    /// Where helper threads begin.
    #[must_use]
    pub fn starts(&self) -> &[ContextIdx] {
        &self.starts
    }

    /// The functions by which helper threads begin, the most expensive first, as many as `most`.
    #[must_use]
    pub fn names(&self, tree: &ContextTree, costs: &Costs, most: usize) -> Vec<String> {
        let mut starts = self.starts.clone();
        starts.sort_by(|&a, &b| {
            costs.inclusive_of(b).total_cmp(&costs.inclusive_of(a)).then(a.cmp(&b))
        });
        let mut names: Vec<String> = Vec::new();
        for start in starts {
            let mut below = std::iter::once(start).chain(tree.descendants(start));
            let name = below.find(|&c| tree.kind(c) == ContextKind::Function);
            let name = tree.label(name.unwrap_or(start));
            if costs.inclusive_of(start) > 0.0 && !names.contains(&name) {
                names.push(name);
            }
            if names.len() >= most {
                break;
            }
        }
        names
    }

    /// What helper threads cost.
    #[must_use]
    pub fn cost(&self, costs: &Costs) -> f64 {
        self.starts.iter().map(|&start| costs.inclusive_of(start)).sum()
    }

    /// The costs without those of helper threads; `None` where these cost nothing, and where
    /// nothing else costs anything.
    #[must_use]
    pub fn excluded(&self, tree: &ContextTree, costs: &Costs) -> Option<Costs> {
        let removed = self.cost(costs);
        let rest = costs.total - removed;
        let least = costs.total.abs() * ROUNDING;
        if removed <= least || rest <= least {
            return None;
        }
        let mut inclusive = costs.inclusive.to_vec();
        let mut exclusive = costs.exclusive.to_vec();
        let mut lexical_aware = costs.lexical_aware.to_vec();
        for &start in &self.starts {
            let cost = costs.inclusive_of(start);
            for above in tree.ancestors(start) {
                if let Some(sum) = inclusive.get_mut(above.idx()) {
                    *sum -= cost;
                }
            }
            for column in [&mut inclusive, &mut exclusive, &mut lexical_aware] {
                column.get_mut(tree.subtree(start)).into_iter().flatten().for_each(|c| *c = 0.0);
            }
        }
        for cost in &mut inclusive {
            if cost.abs() < least {
                *cost = 0.0;
            }
        }
        Some(Costs {
            inclusive: Arc::new(inclusive),
            exclusive: Arc::new(exclusive),
            lexical_aware: Arc::new(lexical_aware),
            total: rest,
            ..costs.clone()
        })
    }
}
