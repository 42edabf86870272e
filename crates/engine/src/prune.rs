//! [`PruneRules`] and [`TreeView`]: leaving out what the user does not want to see, decided once.

use parallax_base::ContextIdx;
use parallax_model::{ContextKind, ContextTree};

use crate::Costs;
use crate::query::{NameMatch, normalised_name};

/// What a name filter hides (the three modes of hpcviewer's context filter).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FilterMode {
    /// The context alone; what it calls moves up to its parent, and so does its own cost.
    SelfOnly,
    /// Everything below the context; its cost stays with the context.
    DescendantsOnly,
    /// The context and everything below it; the cost moves to its parent.
    SelfAndDescendants,
}

/// Which contexts to leave out. The default leaves out nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PruneRules {
    /// Leave out what lies below calls of MPI (`MPI_*`, `PMPI_*`).
    pub mpi_internals: bool,
    /// Leave out functions of OpenMP runtimes (`__kmp*`, `GOMP_*`, ...); the application's code
    /// that they run moves up.
    pub openmp_internals: bool,
    /// Leave out loops, lines and instructions: only functions remain.
    pub lines_and_loops: bool,
    /// Leave out contexts whose inclusive cost is below this share of the total, in per cent,
    /// with everything below them.
    pub below_percent: Option<f64>,
    /// Leave out functions by name.
    pub names: Vec<(NameMatch, FilterMode)>,
}

/// A tree without the contexts that were left out. Rows are in depth-first order; row 0 is the
/// root, which is always kept.
#[derive(Debug, Clone)]
pub struct TreeView {
    contexts: Vec<ContextIdx>,
    parent: Vec<u32>,
    end: Vec<u32>,
    depth: Vec<u32>,
    /// Whether control passes to another function between the kept parent and the row.
    is_call: Vec<bool>,
    /// For each context of the tree the row that bears its cost: its own or the nearest kept one
    /// above.
    owner: Vec<u32>,
    /// Whether anything was left out.
    is_pruned: bool,
}

/// What happens to one context.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Keep,
    KeepAndCut,
    Hide,
    HideAndCut,
}

const OPENMP_PREFIXES: [&str; 6] = ["__kmp", "kmp_", "GOMP_", "gomp_", "__ompt", "omp_fulfill"];

impl PruneRules {
    /// Whether anything would be left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What happens to contexts of each function, by row of the function table.
    fn function_fates(&self, tree: &ContextTree) -> Vec<Fate> {
        tree.functions().iter().map(|function| self.name_fate(&function.name)).collect()
    }

    fn name_fate(&self, name: &str) -> Fate {
        for (pattern, mode) in &self.names {
            if pattern.matches_function(name) {
                return match mode {
                    FilterMode::SelfOnly => Fate::Hide,
                    FilterMode::DescendantsOnly => Fate::KeepAndCut,
                    FilterMode::SelfAndDescendants => Fate::HideAndCut,
                };
            }
        }
        if self.mpi_internals && normalised_name(name).starts_with("MPI_") {
            return Fate::KeepAndCut;
        }
        if self.openmp_internals && OPENMP_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            return Fate::Hide;
        }
        Fate::Keep
    }

    /// Applies the rules. `costs` decide what is low cost: the summary's, so that every location
    /// is pruned alike.
    #[must_use]
    pub fn apply(&self, tree: &ContextTree, costs: Option<&Costs>) -> TreeView {
        let fates = self.function_fates(tree);
        let least =
            self.below_percent.zip(costs).map(|(p, costs)| (costs, costs.total * p / 100.0));
        let mut view = TreeView::with_root(tree.len());
        // The row under which the next context comes, per context: the nearest kept one above.
        let mut cut_until = 0_usize;
        // Whether the nearest function above was hidden with its lines.
        let mut in_hidden = vec![false; tree.len()];
        // Whether control passes to another function between the kept context above a hidden one
        // and the hidden one.
        let mut is_called = vec![false; tree.len()];
        for context in tree.iter().skip(1) {
            let i = context.idx();
            let above = tree.parent(context).map_or(0, ContextIdx::idx);
            let owner = view.owner[above];
            view.owner.push(owner);
            if i < cut_until {
                view.is_pruned = true;
                continue;
            }
            let kind = tree.kind(context);
            let mut fate = match (kind, tree.function(context)) {
                (ContextKind::Function, Some(f)) => {
                    fates.get(f.idx()).copied().unwrap_or(Fate::Keep)
                }
                (ContextKind::Loop | ContextKind::Line | ContextKind::Instruction, _)
                    if self.lines_and_loops =>
                {
                    Fate::Hide
                }
                _ => Fate::Keep,
            };
            // Lines and loops of a hidden function go with it.
            let is_own_code = !tree.relation(context).is_call();
            if is_own_code && in_hidden[above] {
                fate = Fate::Hide;
            }
            in_hidden[i] = fate == Fate::Hide
                && (kind == ContextKind::Function || (is_own_code && in_hidden[above]));
            if let Some((costs, least)) = least
                && costs.inclusive_of(context) < least
            {
                fate = Fate::HideAndCut;
            }
            if matches!(fate, Fate::KeepAndCut | Fate::HideAndCut) {
                cut_until = tree.subtree(context).end;
            }
            let is_call = tree.relation(context).is_call() || is_called[above];
            if matches!(fate, Fate::Keep | Fate::KeepAndCut) {
                view.push(context, owner, is_call);
            } else {
                is_called[i] = is_call;
                view.is_pruned = true;
            }
        }
        view.close();
        view
    }
}

impl TreeView {
    /// The whole tree.
    #[must_use]
    pub fn whole(tree: &ContextTree) -> Self {
        PruneRules::default().apply(tree, None)
    }

    fn with_root(capacity: usize) -> Self {
        let mut owner = Vec::with_capacity(capacity);
        owner.push(0);
        Self {
            contexts: vec![ContextTree::ROOT],
            parent: vec![0],
            end: vec![1],
            depth: vec![0],
            is_call: vec![false],
            owner,
            is_pruned: false,
        }
    }

    fn push(&mut self, context: ContextIdx, parent: u32, is_call: bool) {
        let row = u32::try_from(self.contexts.len()).unwrap_or(u32::MAX);
        self.contexts.push(context);
        self.parent.push(parent);
        self.end.push(row + 1);
        self.depth.push(self.depth[parent as usize] + 1);
        self.is_call.push(is_call);
        self.owner[context.idx()] = row;
    }

    fn close(&mut self) {
        for row in (1..self.contexts.len()).rev() {
            let parent = self.parent[row] as usize;
            self.end[parent] = self.end[parent].max(self.end[row]);
        }
    }

    /// Number of rows, the root included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.contexts.len()
    }

    /// Whether only the root is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// The contexts of all rows.
    #[must_use]
    pub fn contexts(&self) -> &[ContextIdx] {
        &self.contexts
    }

    /// Distance of a row from the root, in kept rows.
    #[must_use]
    pub fn depth(&self, row: usize) -> u32 {
        self.depth[row]
    }

    /// The row above.
    #[must_use]
    pub fn parent(&self, row: usize) -> Option<usize> {
        (row != 0).then(|| self.parent[row] as usize)
    }

    /// The row and all below it.
    #[must_use]
    pub fn subtree(&self, row: usize) -> std::ops::Range<usize> {
        row..self.end[row] as usize
    }

    /// The rows directly below.
    pub fn children(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let range = self.subtree(row);
        let mut next = range.start + 1;
        std::iter::from_fn(move || {
            let child = (next < range.end).then_some(next)?;
            next = self.end[child] as usize;
            Some(child)
        })
    }

    /// The row that bears the cost of a context.
    #[must_use]
    pub fn owner(&self, context: ContextIdx) -> usize {
        self.owner[context.idx()] as usize
    }

    /// Whether the context has a row of its own.
    #[must_use]
    pub fn keeps(&self, context: ContextIdx) -> bool {
        self.contexts[self.owner(context)] == context
    }

    /// Own costs of rows where functions are asked about: the cost of code without a name counts to
    /// the function that calls it ([`ContextTree::caller_of_unnamed`]), and not to itself.
    #[must_use]
    pub fn function_costs(&self, tree: &ContextTree, exclusive: &[f64]) -> Vec<f64> {
        let mut out = self.own_costs(tree, exclusive, exclusive);
        // Rows come after those that they are in.
        for row in (0..self.len()).rev() {
            let context = self.contexts[row];
            if tree.caller_of_unnamed(context).is_none() {
                continue;
            }
            let above = std::iter::successors(self.parent(row), |&above| self.parent(above));
            let is_function = |row: &usize| tree.kind(self.contexts[*row]) == ContextKind::Function;
            if let Some(caller) = { above }.find(is_function) {
                out[caller] += std::mem::take(&mut out[row]);
            }
        }
        out
    }

    /// The cost of each row without that of other functions: `column` (an exclusive or
    /// lexical-aware one, by context) plus what calls that were left out cost themselves, which
    /// moves to the nearest kept row above and the code around it. Sums over all rows that are
    /// functions stay what they were.
    #[must_use]
    pub fn own_costs(&self, tree: &ContextTree, column: &[f64], exclusive: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = self.contexts.iter().map(|context| column[context.idx()]).collect();
        if !self.is_pruned {
            return out;
        }
        let mut moved = vec![0.0; self.len()];
        for context in tree.iter().skip(1) {
            let cost = exclusive[context.idx()];
            if cost != 0.0 && !self.keeps(context) && tree.relation(context).is_call() {
                moved[self.owner(context)] += cost;
            }
        }
        // Rows come after those that they are in.
        for row in (0..self.len()).rev() {
            let cost = moved[row];
            if cost == 0.0 {
                continue;
            }
            out[row] += cost;
            if !self.is_call[row]
                && let Some(above) = self.parent(row)
                && above != 0
            {
                moved[above] += cost;
            }
        }
        out
    }
}
