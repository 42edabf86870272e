//! [`PathTree`]: a tree in which contexts of different experiments can be found again, by call
//! path.

use std::collections::HashMap;

use parallax_base::ContextIdx;
use parallax_model::ensemble::RegionKind;
use parallax_model::{ContextKind, ContextTree};

/// Which contexts stand for themselves; others count for what is around them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ContextDetail {
    /// Calls of functions only.
    Functions,
    /// Functions and loops.
    #[default]
    Loops,
    /// Functions, loops and source lines.
    Lines,
}

/// What becomes of functions that system and MPI libraries call inside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LibraryFrames {
    /// Only the call into the library stands for itself; time inside counts for it.
    #[default]
    Folded,
    /// They are contexts like any other.
    Kept,
}

/// A node of the simplified tree: what contexts with the same path of kept ancestors become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathNode {
    /// What tells it from its siblings, the same in all experiments.
    pub key: String,
    /// What it is called.
    pub label: String,
    /// Position of the node around it; `None` for the whole program.
    pub parent: Option<usize>,
    /// What it is.
    pub kind: RegionKind,
    /// The first context of it.
    pub context: ContextIdx,
}

/// The contexts of one experiment as nodes that other experiments may have, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathTree {
    /// Parents before children; the first is the whole program.
    pub nodes: Vec<PathNode>,
    /// For each context the node that its inclusive value is added to, if it is kept itself.
    pub own: Vec<Option<usize>>,
}

impl PathTree {
    /// The nodes of `tree`. Siblings of one name become one node.
    #[must_use]
    pub fn of(tree: &ContextTree, detail: ContextDetail, libraries: LibraryFrames) -> Self {
        Self::named(tree, detail, libraries, |label| normal_name(label).to_owned())
    }

    /// The nodes of `tree` with names as `name_of` makes them from labels.
    #[must_use]
    pub fn named(
        tree: &ContextTree,
        detail: ContextDetail,
        libraries: LibraryFrames,
        name_of: impl Fn(&str) -> String,
    ) -> Self {
        let root = PathNode {
            key: String::new(),
            label: "whole program".to_owned(),
            parent: None,
            kind: RegionKind::WholeProgram,
            context: ContextTree::ROOT,
        };
        let mut nodes = vec![root];
        let mut own = vec![None; tree.len()];
        // The node around each context, and whether its code belongs to a library.
        let mut around = vec![(0_usize, Origin::Program); tree.len()];
        let mut known: HashMap<(usize, String), usize> = HashMap::new();
        if let Some(slot) = own.first_mut() {
            *slot = Some(0);
        }
        for context in tree.iter().skip(1) {
            let parent = tree.parent(context).map_or(0, ContextIdx::idx);
            let (above, origin) = around.get(parent).copied().unwrap_or((0, Origin::Program));
            let here = match tree.kind(context) {
                ContextKind::Function => Origin::of(tree, context, origin),
                _ => origin,
            };
            let kind = match tree.kind(context) {
                ContextKind::Entry => Some(RegionKind::Entry),
                ContextKind::Function => Some(RegionKind::Function),
                ContextKind::Loop if detail != ContextDetail::Functions => Some(RegionKind::Loop),
                ContextKind::Line if detail == ContextDetail::Lines => Some(RegionKind::Line),
                _ => None,
            };
            let is_inside = libraries == LibraryFrames::Folded
                && origin != Origin::Program
                && here != Origin::Program;
            let node = match kind.filter(|_| !is_inside) {
                None => above,
                Some(kind) => {
                    let label = tree.label(context);
                    let key = name_of(&label);
                    let next = nodes.len();
                    let at = *known.entry((above, key.clone())).or_insert(next);
                    if at == next {
                        let parent = Some(above);
                        nodes.push(PathNode { label: key.clone(), key, parent, kind, context });
                    }
                    if let Some(slot) = own.get_mut(context.idx()) {
                        *slot = Some(at);
                    }
                    at
                }
            };
            if let Some(slot) = around.get_mut(context.idx()) {
                *slot = (node, here);
            }
        }
        Self { nodes, own }
    }
}

/// Whose code a context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Program,
    /// A library of the system.
    System,
    /// Below a call of MPI, whatever it calls.
    Mpi,
}

impl Origin {
    fn of(tree: &ContextTree, function: ContextIdx, above: Self) -> Self {
        let name = tree.function_name(function).unwrap_or("");
        if above == Self::Mpi || name.starts_with("MPI_") || name.starts_with("PMPI_") {
            return Self::Mpi;
        }
        let module = tree
            .function(function)
            .and_then(|row| tree.functions().get(row.idx()))
            .and_then(|function| tree.modules().get(function.module?.idx()));
        match module {
            Some(module) if is_system(&module.path) => Self::System,
            Some(_) => Self::Program,
            // Code without a module goes with what called it.
            None => above,
        }
    }
}

/// Whether a library comes with the system, by where it is and what it is called.
fn is_system(path: &str) -> bool {
    const FOLDERS: [&str; 4] = ["/lib/", "/lib64/", "/usr/", "["];
    const NAMES: [&str; 12] = [
        "libc.so",
        "libc-",
        "libm.so",
        "libm-",
        "libpthread",
        "libstdc++",
        "libgcc",
        "libgomp",
        "libmpi",
        "libopen-pal",
        "libdl",
        "ld-linux",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    FOLDERS.iter().any(|folder| path.starts_with(folder))
        || NAMES.iter().any(|start| name.starts_with(start))
}

/// A name without what compilers and addresses add, so that it is the same in every run:
/// `solve.constprop.0` and `solve [clone .isra.2]` are `solve`.
#[must_use]
pub fn normal_name(label: &str) -> &str {
    let mut name = label.split(" [clone").next().unwrap_or(label).trim();
    const ADDED: [&str; 6] = [".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm."];
    let cut = |name: &str| {
        ADDED
            .iter()
            .filter_map(|added| {
                let at = name.rfind(added).filter(|at| *at > 0)?;
                let number = name.get(at + added.len()..)?;
                number.chars().all(|c| c.is_ascii_digit() || c == '.').then_some(at)
            })
            .min()
    };
    while let Some(front) = cut(name).and_then(|at| name.get(..at)) {
        name = front;
    }
    name
}

/// A name as different tools and versions of libraries have it: [`normal_name`] without the
/// library after it, `PMPI_` as `MPI_`, and without empty parentheses.
#[must_use]
pub fn common_name(label: &str) -> String {
    let name = normal_name(label);
    let name = match name.split_once(" [") {
        // A name that says nothing is distinguished by its library.
        Some((front, _)) if !front.starts_with('<') => front,
        _ => name,
    };
    let name = name.strip_suffix("()").unwrap_or(name).trim();
    match name.strip_prefix("PMPI_") {
        Some(rest) => format!("MPI_{rest}"),
        None => name.to_owned(),
    }
}

/// The function that code belongs to: [`common_name`] without what compilers add to the names of
/// parallel regions, so that `react._omp_fn.0` is a part of `react`.
#[must_use]
pub fn function_name(label: &str) -> String {
    let name = common_name(label);
    match name.split_once("._omp_fn.").or_else(|| name.split_once(".omp_outlined")) {
        Some((front, _)) if !front.is_empty() => front.to_owned(),
        _ => name,
    }
}

/// Whether functions stand next to each other because call paths were not measured. What they take
/// with what they call is then counted again where that stands, so only exclusive values add up.
#[must_use]
pub fn is_flat(tree: &ContextTree) -> bool {
    let is_function = |context| tree.kind(context) == ContextKind::Function;
    // Lines and loops may stand between a function and its caller.
    let is_called = |context| tree.ancestors(context).any(is_function);
    let mut functions = tree.iter().filter(|&context| is_function(context));
    tree.len() > 2 && !functions.any(is_called)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_compilers_add() {
        for (label, name) in [
            ("solve", "solve"),
            ("solve.constprop.0", "solve"),
            ("solve.isra.0.part.12", "solve"),
            ("solve.cold", "solve"),
            ("solve [clone .isra.2]", "solve"),
            ("solve.colder", "solve.colder"),
            ("react._omp_fn.0", "react._omp_fn.0"),
        ] {
            assert_eq!(normal_name(label), name, "{label}");
        }
    }

    #[test]
    fn names_of_different_tools_are_the_same() {
        for (label, common, function) in [
            ("PMPI_Allreduce [libmpi.so.40.30.4]", "MPI_Allreduce", "MPI_Allreduce"),
            ("MPI_Allreduce()", "MPI_Allreduce", "MPI_Allreduce"),
            ("react._omp_fn.0", "react._omp_fn.0", "react"),
            (
                "<unknown procedure> [libx.so]",
                "<unknown procedure> [libx.so]",
                "<unknown procedure> [libx.so]",
            ),
            ("solve(int, double)", "solve(int, double)", "solve(int, double)"),
        ] {
            assert_eq!(
                (common_name(label).as_str(), function_name(label).as_str()),
                (common, function)
            );
        }
    }

    #[test]
    fn libraries_of_the_system_are_known_by_folder_or_name() {
        for path in ["/usr/lib/libfoo.so", "[vdso]", "/opt/mpi/lib/libmpi.so.40", "/x/libc.so.6"] {
            assert!(is_system(path), "{path}");
        }
        for path in ["/home/a/reactor", "/opt/hypre/lib/libHYPRE.so", "/x/libcgsolver.so"] {
            assert!(!is_system(path), "{path}");
        }
    }
}
