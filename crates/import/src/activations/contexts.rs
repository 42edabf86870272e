//! Contexts of activations: one for each call path.
//!
//! ```text
//! activations             contexts
//! main                    main
//!   loop, 2 iterations      loop at a.c:61
//!     f                       f            (2 calls)
//!     f
//!   f                       f
//! ```
//!
//! A recursive function has a context at each depth.

use std::collections::hash_map::Entry;

use parallax_base::paged::Numbers;
use parallax_base::{ContextIdx, FileIdx, FunctionIdx, Limits, Severity};
use parallax_model::{
    ActivationKind, ActivationTree, ContextKind, ContextTree, ContextTreeBuilder, Function, Module,
    Node, Relation, SourceFile,
};

use super::Reporter;
use super::numbers::NumberMap;

/// A loop of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoopSite {
    /// `None` where the source does not say; then it is that of the function around it.
    pub(crate) file: Option<FileIdx>,
    /// 0 when unknown.
    pub(crate) line: u32,
}

/// Functions, files, binaries and loops of a program, by position.
#[derive(Default)]
pub(crate) struct Program {
    pub(crate) functions: Vec<Function>,
    pub(crate) files: Vec<SourceFile>,
    pub(crate) modules: Vec<Module>,
    pub(crate) loops: Vec<LoopSite>,
}

impl Program {
    fn file_of(&self, function: u32) -> Option<FileIdx> {
        self.functions.get(function as usize)?.file
    }
}

/// What distinguishes siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Function(u32),
    Loop(u32),
}

/// A context while the order of all is not known.
struct Draft {
    parent: u32,
    what: What,
    depth: u32,
    /// The function whose code it is.
    function: u32,
}

const ROOT: u32 = 0;

/// The contexts of all activations; also sets them in `tree`. `functions` and `loops` say what each
/// activation calls or executes, by position in the tables of the program; those that are unknown
/// have the number of rows.
pub(crate) fn build(
    program: &Program,
    tree: &mut ActivationTree,
    what: &mut Numbers<u32>,
    limits: &Limits,
    report: &mut Reporter<'_>,
) -> ContextTree {
    let mut num_too_deep = 0_u64;
    let mut drafts =
        vec![Draft { parent: ROOT, what: What::Function(u32::MAX), depth: 0, function: u32::MAX }];
    let mut known: NumberMap<(u32, u8, u32), u32> = NumberMap::default();
    let mut of = Numbers::filled(&tree.paging(), tree.len(), ROOT);
    for activation in tree.iter() {
        let above = tree.parent(activation).map_or(ROOT, |parent| of.at(parent.idx()));
        let own = what.at(activation.idx());
        let what = match tree.kind(activation) {
            ActivationKind::Call => What::Function(own),
            ActivationKind::LoopExecution => What::Loop(own),
            ActivationKind::Iteration => {
                of.set(activation.idx(), above);
                continue;
            }
        };
        let Some(parent) = drafts.get(above as usize) else { continue };
        let context = if parent.depth >= limits.max_depth {
            num_too_deep += 1;
            above
        } else {
            let (kind, number) = match what {
                What::Function(number) => (0, number),
                What::Loop(number) => (1, number),
            };
            match known.entry((above, kind, number)) {
                Entry::Occupied(found) => *found.get(),
                Entry::Vacant(free) => {
                    let function = match what {
                        What::Function(function) => function,
                        What::Loop(_) => parent.function,
                    };
                    let depth = parent.depth + 1;
                    drafts.push(Draft { parent: above, what, depth, function });
                    *free.insert(ContextIdx::from_len(drafts.len() - 1).get())
                }
            }
        };
        of.set(activation.idx(), context);
    }
    report.many(Severity::Warning, "depth-cut", num_too_deep, || {
        format!(
            "calls and loops nest deeper than {}; what is called below counts to the one above",
            limits.max_depth
        )
    });
    let (contexts, position) = ordered(program, &drafts);
    let placed = |context: u32| position.get(context as usize).copied().unwrap_or(ROOT);
    tree.set_contexts(of.iter().map(placed));
    contexts
}

/// The drafts in depth-first order, siblings in the order in which they were met, and where each
/// draft ended up.
fn ordered(program: &Program, drafts: &[Draft]) -> (ContextTree, Vec<u32>) {
    let mut first = vec![u32::MAX; drafts.len()];
    let mut next = vec![u32::MAX; drafts.len()];
    // From the last to the first, so that lists of children begin with the first.
    for (at, row) in drafts.iter().enumerate().skip(1).rev() {
        let draft = ContextIdx::from_len(at).get();
        if let (Some(head), Some(slot)) =
            (first.get_mut(row.parent as usize), next.get_mut(draft as usize))
        {
            *slot = std::mem::replace(head, draft);
        }
    }
    let known = program.functions.len();
    let is_unknown = |draft: &Draft| matches!(draft.what, What::Function(function) if function as usize >= known);
    let has_unknown = drafts.iter().skip(1).any(is_unknown);
    let mut functions = program.functions.clone();
    if has_unknown {
        // Calls of functions that the tool did not look into have this one.
        functions.push(Function {
            name: ContextTree::UNKNOWN_FUNCTION.into(),
            group: None,
            module: None,
            file: None,
            line: 0,
        });
    }
    let (files, modules) = (program.files.clone(), program.modules.clone());
    let unknown = functions.len().saturating_sub(1);
    let mut builder = ContextTreeBuilder::new(0, functions, files, modules);
    let mut position = vec![ROOT; drafts.len()];
    let mut at = first.first().copied().unwrap_or(u32::MAX);
    let mut path: Vec<u32> = Vec::new();
    let mut count = 1_u32;
    while let Some(draft) = drafts.get(at as usize) {
        let parent = position.get(draft.parent as usize).copied().unwrap_or(ROOT);
        builder.push(ContextIdx::new(parent), node(program, draft, count, unknown));
        if let Some(slot) = position.get_mut(at as usize) {
            *slot = count;
        }
        count += 1;
        let child = first.get(at as usize).copied().unwrap_or(u32::MAX);
        if child != u32::MAX {
            path.push(at);
            at = child;
            continue;
        }
        at = next.get(at as usize).copied().unwrap_or(u32::MAX);
        while at == u32::MAX {
            let Some(above) = path.pop() else { break };
            at = next.get(above as usize).copied().unwrap_or(u32::MAX);
        }
    }
    (builder.finish(), position)
}

fn node(program: &Program, draft: &Draft, source_id: u32, unknown: usize) -> Node {
    let row = |number: u32| (number as usize).min(unknown);
    match draft.what {
        What::Function(function) => Node {
            source_id,
            kind: ContextKind::Function,
            relation: Relation::Call,
            function: Some(FunctionIdx::from_len(row(function))),
            file: None,
            line: 0,
            module: None,
            offset: 0,
        },
        What::Loop(number) => {
            let found = program.loops.get(number as usize);
            let own = found.and_then(|found| found.file);
            Node {
                source_id,
                kind: ContextKind::Loop,
                relation: Relation::Lexical,
                function: None,
                file: own.or_else(|| program.file_of(draft.function)),
                line: found.map_or(0, |found| found.line),
                module: None,
                offset: 0,
            }
        }
    }
}
