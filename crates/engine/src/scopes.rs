//! The arithmetic of scopes: one column over the tree from another.
//!
//! Formulas (HPCToolkit, `accumulators.cpp`; checked against 34 real databases), for the value
//! point(c) measured at context c itself:
//!
//! - inclusive(c) = point(c) + Σ over children k of inclusive(k)
//! - exclusive(c) = point(c) + Σ over children k that are not calls of exclusive(k)
//! - noloops(c) = point(c) + Σ over children k that are neither calls nor loops of noloops(k)
//! - lexical_aware(c) = noloops(c) for loops, exclusive(c) otherwise

use parallax_base::ContextIdx;
use parallax_model::{ContextKind, ContextTree};

/// Inclusive values from point values; the root's comes out as the total.
#[must_use]
pub fn inclusive(tree: &ContextTree, point: &[f64]) -> Vec<f64> {
    let mut out = point.to_vec();
    for context in tree.iter().rev() {
        if let Some(parent) = tree.parent(context) {
            out[parent.idx()] += out[context.idx()];
        }
    }
    out
}

/// Exclusive values from point values.
#[must_use]
pub fn exclusive(tree: &ContextTree, point: &[f64]) -> Vec<f64> {
    let mut out = point.to_vec();
    for context in tree.iter().rev() {
        if let Some(parent) = tree.parent(context)
            && !tree.relation(context).is_call()
        {
            out[parent.idx()] += out[context.idx()];
        }
    }
    out
}

/// Lexical-aware values from exclusive ones: loops lose the exclusive cost of the loops directly
/// within them. Point values are not needed, which matters because they mostly live on elided
/// contexts.
#[must_use]
pub fn lexical_aware(tree: &ContextTree, exclusive: &[f64]) -> Vec<f64> {
    let mut out = exclusive.to_vec();
    // The nearest loop around each context that is reached without a call.
    let mut around: Vec<Option<ContextIdx>> = vec![None; tree.len()];
    for context in tree.iter() {
        let Some(parent) = tree.parent(context) else { continue };
        if tree.relation(context).is_call() {
            continue;
        }
        let is_loop = |c: ContextIdx| tree.kind(c) == ContextKind::Loop;
        let nearest = if is_loop(parent) { Some(parent) } else { around[parent.idx()] };
        around[context.idx()] = nearest;
        if is_loop(context)
            && let Some(outer) = nearest
        {
            out[outer.idx()] -= exclusive[context.idx()];
        }
    }
    // A difference of equal sums may be off by their last digits.
    for (value, whole) in out.iter_mut().zip(exclusive) {
        if value.abs() <= whole.abs() * 1e-12 {
            *value = 0.0;
        }
    }
    out
}

/// The value of the whole execution: the root's, or, where the source stores none for it, the sum
/// of the outermost contexts'.
#[must_use]
pub fn total(tree: &ContextTree, inclusive: &[f64]) -> f64 {
    match inclusive.first() {
        Some(&root) if root != 0.0 => root,
        _ => tree.children(ContextTree::ROOT).map(|child| inclusive[child.idx()]).sum(),
    }
}
