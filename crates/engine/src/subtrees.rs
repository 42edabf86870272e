//! [`Subtrees`]: some subtrees of a tree.

use parallax_base::ContextIdx;
use parallax_model::ContextTree;

/// Contexts with everything below them, as if there were nothing else in the tree.
#[derive(Debug, Clone)]
pub struct Subtrees<'a> {
    tree: &'a ContextTree,
    /// In the order of the tree; none lies below another.
    tops: Vec<ContextIdx>,
}

impl<'a> Subtrees<'a> {
    /// The subtrees of `contexts`, which come in the order of the tree. Those that lie below
    /// another of them add nothing.
    #[must_use]
    pub fn new(tree: &'a ContextTree, contexts: &[ContextIdx]) -> Self {
        let mut tops: Vec<ContextIdx> = Vec::new();
        for &context in contexts {
            if tops.last().is_none_or(|&last| !tree.is_within(context, last)) {
                tops.push(context);
            }
        }
        Self { tree, tops }
    }

    /// The contexts that no other context of the part is above.
    #[must_use]
    pub fn tops(&self) -> &[ContextIdx] {
        &self.tops
    }

    /// Whether `context` is a top or lies below one.
    #[must_use]
    pub fn contains(&self, context: ContextIdx) -> bool {
        let at = self.tops.partition_point(|&top| top <= context);
        let top = at.checked_sub(1).and_then(|at| self.tops.get(at));
        top.is_some_and(|&top| self.tree.is_within(context, top))
    }
}
