//! The four propagation scopes, computed from measured points.
//!
//! For one thread and metric, with `point(c)` measured at context `c`:
//!
//! - `execution(c) = point(c) + sum of execution over the children`;
//! - `function(c) = point(c) + sum of function over the children that are lexically part of c`;
//! - `no_loops(c)` is the same sum without the children that are loops;
//! - `lex_aware(c) = no_loops(c)` for a loop, `function(c)` otherwise.

use super::database::{LexicalType, Relation, Scope};

/// The values of one context, metric and profile in every scope.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScopeValues {
    /// The measured value.
    pub point: f64,
    /// Exclusive to the function.
    pub function: f64,
    /// Exclusive as the top-down view shows it.
    pub lex_aware: f64,
    /// Inclusive.
    pub execution: f64,
}

impl ScopeValues {
    /// The value in one scope.
    #[must_use]
    pub fn get(&self, scope: Scope) -> f64 {
        match scope {
            Scope::Point => self.point,
            Scope::Function => self.function,
            Scope::LexAware => self.lex_aware,
            Scope::Execution => self.execution,
        }
    }
}

/// Parents and relations of a context tree; node 0 is the implicit root of the whole thread.
pub(crate) struct Tree {
    /// By node: the parent, which is smaller than the node; the root is its own parent.
    parents: Vec<u32>,
    /// By node: whether its exclusive value belongs to the parent too.
    is_lexical: Vec<bool>,
    /// By node: whether it is a loop.
    is_loop: Vec<bool>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { parents: vec![0], is_lexical: vec![false], is_loop: vec![false] }
    }
}

impl Tree {
    /// Adds the next node.
    pub(crate) fn push(&mut self, parent: u32, relation: Relation, lexical: LexicalType) {
        assert!((parent as usize) < self.parents.len(), "a parent stands before its children");
        self.parents.push(parent);
        self.is_lexical.push(relation == Relation::Lexical);
        self.is_loop.push(lexical == LexicalType::Loop);
    }

    /// The parent of a node.
    pub(crate) fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    /// The number of nodes, the root included.
    pub(crate) fn len(&self) -> usize {
        self.parents.len()
    }
}

/// Scratch space that turns the points of one profile into the values of all scopes.
///
/// It costs time in proportion to the contexts touched, not to the size of the tree.
pub(crate) struct Fold {
    num_metrics: usize,
    /// By node and metric; `lex_aware` holds the value without loops until the node is emitted.
    cells: Vec<ScopeValues>,
    is_touched: Vec<bool>,
    touched: Vec<u32>,
}

impl Fold {
    pub(crate) fn new(tree: &Tree, num_metrics: usize) -> Self {
        Self {
            num_metrics,
            cells: vec![ScopeValues::default(); tree.len() * num_metrics],
            is_touched: vec![false; tree.len()],
            touched: Vec::new(),
        }
    }

    /// Adds a measured value to a node.
    pub(crate) fn add(&mut self, tree: &Tree, node: u32, metric: usize, value: f64) {
        let cell = &mut self.cells[node as usize * self.num_metrics + metric];
        cell.point += value;
        let mut at = node;
        while !self.is_touched[at as usize] {
            self.is_touched[at as usize] = true;
            self.touched.push(at);
            at = tree.parent(at);
        }
    }

    /// Hands out the values of every touched node and metric, children before their parents, and
    /// clears the scratch space.
    pub(crate) fn finish(&mut self, tree: &Tree, mut emit: impl FnMut(u32, usize, ScopeValues)) {
        // A parent is smaller than its children, so the descending order visits children first.
        self.touched.sort_unstable_by(|a, b| b.cmp(a));
        for &node in &self.touched {
            let at = node as usize;
            let parent = tree.parents[at] as usize;
            for metric in 0..self.num_metrics {
                let cell = &mut self.cells[at * self.num_metrics + metric];
                let mut values = std::mem::take(cell);
                values.execution += values.point;
                values.function += values.point;
                values.lex_aware += values.point;
                let no_loops = values.lex_aware;
                if node != 0 {
                    let above = &mut self.cells[parent * self.num_metrics + metric];
                    above.execution += values.execution;
                    if tree.is_lexical[at] {
                        above.function += values.function;
                        if !tree.is_loop[at] {
                            above.lex_aware += no_loops;
                        }
                    }
                }
                if !tree.is_loop[at] {
                    values.lex_aware = values.function;
                }
                emit(node, metric, values);
            }
            self.is_touched[at] = false;
        }
        self.touched.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function with a loop nest and an inlined call, computed by hand.
    #[test]
    fn scopes_follow_their_formulas() {
        let mut tree = Tree::default();
        tree.push(0, Relation::Call, LexicalType::Function); // 1: f
        tree.push(1, Relation::Lexical, LexicalType::Loop); // 2: outer loop
        tree.push(2, Relation::Lexical, LexicalType::Line); // 3
        tree.push(2, Relation::Lexical, LexicalType::Loop); // 4: inner loop
        tree.push(4, Relation::Lexical, LexicalType::Line); // 5
        tree.push(5, Relation::Inlined, LexicalType::Function); // 6: g, inlined
        let mut fold = Fold::new(&tree, 1);
        for (node, value) in [(1, 1.0), (3, 2.0), (5, 4.0), (6, 8.0)] {
            fold.add(&tree, node, 0, value);
        }
        let mut values = [ScopeValues::default(); 7];
        fold.finish(&tree, |node, _, v| values[node as usize] = v);
        let rows = values.map(|v| [v.point, v.function, v.lex_aware, v.execution]);
        assert_eq!(rows[0], [0.0, 0.0, 0.0, 15.0]);
        assert_eq!(rows[1], [1.0, 7.0, 7.0, 15.0]);
        assert_eq!(rows[2], [0.0, 6.0, 2.0, 14.0]);
        assert_eq!(rows[4], [0.0, 4.0, 4.0, 12.0]);
        assert_eq!(rows[5], [4.0, 4.0, 4.0, 12.0]);
        assert_eq!(rows[6], [8.0, 8.0, 8.0, 8.0]);
        // The scratch space is clean again.
        fold.add(&tree, 3, 0, 1.0);
        let mut touched = 0;
        fold.finish(&tree, |_, _, v| {
            touched += 1;
            assert_eq!(v.execution, 1.0);
        });
        assert_eq!(touched, 4);
    }
}
