//! Iterations that a loop of the program shows to exist, and that samples do not show well enough.

use parallax_base::ContextIdx;
use parallax_model::{ContextKind, ContextTree};

use super::detect::{LEAST_COVERAGE, LEAST_EXPLAINED, LEAST_ITERATIONS, Method, Repetition};

/// Share of the distances that are regular, where only the number of iterations is given.
const HALF_REGULAR: f64 = 0.5;

/// Iterations of a loop of the program that are not shown well enough to be compared. That there
/// are any is known from the loop: the tool that measured found it in the machine code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsure {
    /// The loop.
    pub around: ContextIdx,
    /// The context in it with which iterations begin.
    pub marker: ContextIdx,
    /// How many there are, as far as samples show.
    pub count: usize,
    /// Whether samples may miss any number of them.
    pub is_least: bool,
    /// Why this is not certain, human-readable.
    pub because: String,
}

/// A repetition that is not regular enough, as the iterations of a loop of the program: where all
/// locations pass as many moments together, and another phase of the loop gives the same number.
pub(super) fn unsure(
    tree: &ContextTree,
    inclusive: &[u128],
    best: &Repetition,
    why: &str,
) -> Option<Unsure> {
    let is_counted = best.method == Method::InStep
        && !best.is_estimate
        && best.count >= LEAST_ITERATIONS
        && best.regular_share >= HALF_REGULAR
        && best.explained >= LEAST_EXPLAINED;
    let around = loop_around(tree, inclusive, best.marker).filter(|_| is_counted)?;
    let (marker, count) = (best.marker, best.count);
    Some(Unsure { around, marker, count, is_least: false, because: why.to_owned() })
}

/// The nearest loop around a context that takes as much of the time as iterations do at least.
pub(super) fn loop_around(
    tree: &ContextTree,
    inclusive: &[u128],
    context: ContextIdx,
) -> Option<ContextIdx> {
    let time = |context: ContextIdx| inclusive.get(context.idx()).copied().unwrap_or(0) as f64;
    let mut at = tree.parent(context);
    while let Some(around) = at {
        if tree.kind(around) == ContextKind::Loop
            && time(around) >= LEAST_COVERAGE * time(ContextTree::ROOT)
        {
            return Some(around);
        }
        at = tree.parent(around);
    }
    None
}

/// Part of the time from which on a loop is what the program does.
const MAIN_LOOP: f64 = 0.5;

/// The outermost loop that takes most of the time.
pub(super) fn longest_loop(tree: &ContextTree, inclusive: &[u128]) -> Option<ContextIdx> {
    let time = |context: ContextIdx| inclusive.get(context.idx()).copied().unwrap_or(0) as f64;
    let least = MAIN_LOOP * time(ContextTree::ROOT).max(1.0);
    tree.iter().find(|&context| tree.kind(context) == ContextKind::Loop && time(context) >= least)
}
