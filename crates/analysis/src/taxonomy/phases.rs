//! [`Phases`]: what a program numbers is one. `Step[3]` and `Step[4]` are the same part of it, executed
//! twice, and so is what lies below them: a reader who compares functions wants one row of
//! `Step[*]`, and no row for each number.

use std::collections::{BTreeSet, HashMap};

use parallax_base::{ContextIdx, FileIdx, FunctionIdx, ModuleIdx};
use parallax_engine::FlatRow;
use parallax_model::{ContextKind, ContextTree};

/// The number of a step of PyTorch's profiler stands behind this.
pub(crate) const PROFILER_STEP: &str = "ProfilerStep";
/// Steps of the profiler are what they say, however few.
pub(crate) const LEAST_STEPS: usize = 2;
/// So many different numbers behind other names are phases: fewer may be levels or variants, which
/// are to be distinguished.
const LEAST_PHASES: usize = 4;

/// A name with a number behind a sign that stands in no identifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Numbered<'a> {
    /// The name before the sign: `Step`.
    pub(crate) stem: &'a str,
    /// The number.
    pub(crate) number: u64,
    /// The name with a star instead of the number: `Step[*]`.
    pub(crate) common: String,
}

/// `ProfilerStep#12`, `Iteration 12`, `step [12]`, `timestep: 12`.
pub(crate) fn numbered(name: &str) -> Option<Numbered<'_>> {
    let name = name.trim_end();
    let bare = name.strip_suffix([']', ')']).unwrap_or(name).trim_end();
    let front = bare.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = bare.get(front.len()..)?.parse().ok()?;
    let is_signed = front.ends_with(['#', ' ', '[', '(', ':', '=']);
    let stem = front.trim_end_matches(['#', ' ', '[', '(', ':', '=']);
    // `operator new[8]`, `<gpu 3>` and addresses are no phases.
    let is_name = stem.chars().next().is_some_and(char::is_alphabetic)
        && stem.chars().all(|c| c.is_alphanumeric() || " _-./".contains(c));
    let common = || format!("{front}*{}", name.get(bare.len()..).unwrap_or_default());
    (is_signed && is_name).then(|| Numbered { stem, number, common: common() })
}

/// Which contexts are the same but for the numbers of phases, and how they are called together.
#[derive(Debug, Clone, Default)]
pub struct Phases {
    /// By position in the tree, the first of those that are the same; empty where nothing is
    /// numbered.
    first: Vec<ContextIdx>,
    /// Common names of functions that are numbered phases.
    names: HashMap<FunctionIdx, String>,
}

impl Phases {
    /// Of the contexts of a tree.
    #[must_use]
    pub fn new(tree: &ContextTree) -> Self {
        let mut names: HashMap<FunctionIdx, String> = HashMap::new();
        let mut numbers: HashMap<String, BTreeSet<u64>> = HashMap::new();
        let mut steps: BTreeSet<String> = BTreeSet::new();
        for (at, function) in tree.functions().iter().enumerate() {
            let Some(found) = numbered(&function.name) else { continue };
            numbers.entry(found.common.clone()).or_default().insert(found.number);
            if found.stem == PROFILER_STEP {
                steps.insert(found.common.clone());
            }
            names.insert(FunctionIdx::from_len(at), found.common);
        }
        names.retain(|_, common| {
            let least = if steps.contains(common) { LEAST_STEPS } else { LEAST_PHASES };
            numbers.get(common).is_some_and(|numbers| numbers.len() >= least)
        });
        let first = if names.is_empty() { Vec::new() } else { merged(tree, &names) };
        Self { first, names }
    }

    /// Whether the program numbers no phases.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether a context is a numbered phase, which is a frame around what it does: no function that
    /// can be made faster.
    #[must_use]
    pub fn is_phase(&self, tree: &ContextTree, context: ContextIdx) -> bool {
        let is_function = tree.kind(context) == ContextKind::Function;
        is_function && tree.function(context).is_some_and(|of| self.names.contains_key(&of))
    }

    /// The first of the contexts that are the same as this one but for the numbers of phases; itself
    /// where there is no other.
    #[must_use]
    pub fn first(&self, context: ContextIdx) -> ContextIdx {
        self.first.get(context.idx()).copied().unwrap_or(context)
    }

    /// All contexts that are the same as this one but for the numbers of phases, in the order of the
    /// tree; itself at least.
    #[must_use]
    pub fn all(&self, context: ContextIdx) -> Vec<ContextIdx> {
        let wanted = self.first(context);
        if self.first.is_empty() {
            return vec![context];
        }
        let same = self.first.iter().enumerate().filter(|(_, first)| **first == wanted);
        same.map(|(at, _)| ContextIdx::from_len(at)).collect()
    }

    /// Whether a context is below another one, or that one, in some phase.
    #[must_use]
    pub fn is_within(&self, tree: &ContextTree, below: ContextIdx, above: ContextIdx) -> bool {
        if self.first.is_empty() {
            return tree.is_within(below, above);
        }
        let above = self.first(above);
        let mut path = std::iter::once(below).chain(tree.ancestors(below));
        path.any(|at| self.first(at) == above)
    }

    /// Name of a context for all numbers: `Step[*]`; the usual one of other contexts.
    #[must_use]
    pub fn label(&self, tree: &ContextTree, context: ContextIdx) -> String {
        let is_function = tree.kind(context) == ContextKind::Function;
        let own = tree.function(context).filter(|_| is_function);
        let common = own.and_then(|function| self.names.get(&function));
        common.cloned().unwrap_or_else(|| tree.label(context))
    }
}

impl Phases {
    /// The rows of a flat view, numbered phases as one: from the highest exclusive cost.
    pub(crate) fn functions(&self, tree: &ContextTree, rows: &[FlatRow]) -> Vec<FlatRow> {
        if self.is_empty() {
            return rows.to_vec();
        }
        let mut out: Vec<FlatRow> = Vec::new();
        let mut places: HashMap<(String, &str), usize> = HashMap::new();
        for row in rows {
            let name = self.label(tree, row.context);
            let at = *places.entry((name.clone(), &row.place)).or_insert(out.len());
            match out.get_mut(at) {
                Some(known) => {
                    known.num_contexts = known.num_contexts.saturating_add(row.num_contexts);
                    known.inclusive += row.inclusive;
                    known.exclusive += row.exclusive;
                }
                None => out.push(FlatRow { name, ..row.clone() }),
            }
        }
        out.sort_by(|a, b| b.exclusive.total_cmp(&a.exclusive).then(a.name.cmp(&b.name)));
        out
    }
}

/// By position in the tree, the first context with the same path but for the numbers.
fn merged(tree: &ContextTree, names: &HashMap<FunctionIdx, String>) -> Vec<ContextIdx> {
    /// What contexts have in common that are the same: the one above, the common name, and all else
    /// that distinguishes siblings.
    type Key<'a> = (ContextIdx, Option<&'a str>, [u64; 6]);
    let mut known: HashMap<Key<'_>, ContextIdx> = HashMap::new();
    let mut first: Vec<ContextIdx> = Vec::with_capacity(tree.len());
    let mut is_inside: Vec<bool> = Vec::with_capacity(tree.len());
    for context in tree.iter() {
        let above = tree.parent(context);
        let function = tree.function(context);
        let common = function.and_then(|function| names.get(&function));
        let inside = common.is_some()
            || above.is_some_and(|above| is_inside.get(above.idx()) == Some(&true));
        is_inside.push(inside);
        let Some(above) = above.filter(|_| inside) else {
            first.push(context);
            continue;
        };
        let above = first.get(above.idx()).copied().unwrap_or(above);
        let number = |idx: Option<u32>| idx.map_or(0, |idx| u64::from(idx) + 1);
        let function = function.filter(|_| common.is_none());
        let key = (
            above,
            common.map(String::as_str),
            [
                number(function.map(FunctionIdx::get)),
                number(tree.file(context).map(FileIdx::get)),
                number(tree.module(context).map(ModuleIdx::get)),
                u64::from(tree.line(context)),
                tree.offset(context),
                kind(tree, context),
            ],
        );
        first.push(*known.entry(key).or_insert(context));
    }
    first
}

/// Kind of a context and how it is reached from above, as a number.
fn kind(tree: &ContextTree, context: ContextIdx) -> u64 {
    let kind = match tree.kind(context) {
        ContextKind::Root => 0,
        ContextKind::Entry => 1,
        ContextKind::Function => 2,
        ContextKind::Loop => 3,
        ContextKind::Line => 4,
        ContextKind::Instruction => 5,
        ContextKind::Other(code) => 6 + u64::from(code),
    };
    kind * 2 + u64::from(tree.relation(context).is_call())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_behind_signs_are_those_of_phases() {
        for (name, expected) in [
            ("ProfilerStep#12", Some(("ProfilerStep", 12, "ProfilerStep#*"))),
            ("Iteration 0", Some(("Iteration", 0, "Iteration *"))),
            ("step [7]", Some(("step", 7, "step [*]"))),
            ("time step: 3", Some(("time step", 3, "time step: *"))),
            ("kernel_3", None),
            ("solve3", None),
            ("std::array<int, 3>", None),
            ("PyTorch Profiler (0)", Some(("PyTorch Profiler", 0, "PyTorch Profiler (*)"))),
            ("operator new[]", None),
            ("#3", None),
            ("Iteration", None),
        ] {
            let found = numbered(name).map(|found| (found.stem, found.number, found.common));
            let expected = expected.map(|(stem, number, common)| (stem, number, common.to_owned()));
            assert_eq!(found, expected, "{name}");
        }
    }
}
