//! [`ContextTree`]: the calling context tree in depth-first columns.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use parallax_base::{ContextIdx, FileIdx, FunctionIdx, ModuleIdx};

/// What a context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContextKind {
    /// The whole execution; the only context without a parent.
    Root,
    /// How a thread was started.
    Entry,
    /// An activation of a function.
    Function,
    /// A loop.
    Loop,
    /// A source line.
    Line,
    /// A machine instruction.
    Instruction,
    /// A kind that the source names by a number this program does not know.
    Other(u8),
}

impl ContextKind {
    /// The word for it, in queries and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Entry => "entry",
            Self::Function => "function",
            Self::Loop => "loop",
            Self::Line => "line",
            Self::Instruction => "instruction",
            Self::Other(_) => "other",
        }
    }
}

/// How a context hangs below its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// It is a part of the parent's code.
    Lexical,
    /// The parent calls it.
    Call,
    /// The parent calls it, and the compiler put it in place.
    Inlined,
    /// A relation this program does not know.
    Other(u8),
}

impl Relation {
    /// Whether control passes from one function to another.
    #[must_use]
    pub const fn is_call(self) -> bool {
        matches!(self, Self::Call | Self::Inlined)
    }
}

/// A function of the measured program or its libraries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Name as the source gives it; made up from module and offset where it gives none.
    pub name: Arc<str>,
    /// What it belongs to, such as `MPI`, where the source has groups.
    pub group: Option<Arc<str>>,
    /// Where its code is.
    pub module: Option<ModuleIdx>,
    /// Where it is defined.
    pub file: Option<FileIdx>,
    /// Line of the definition; 0 when unknown.
    pub line: u32,
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Path as the source gives it.
    pub path: Arc<str>,
    /// Whether the experiment claims to hold a copy under that path.
    pub is_copied: bool,
}

/// An executable or a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Path on the measured machine.
    pub path: Arc<str>,
}

/// The part of a path that people name a file by.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The calling context tree. Contexts are numbered in depth-first order: a parent comes before its
/// children and everything below a context is the contiguous range after it. Context 0 is the
/// root, the whole execution; it is always there.
///
/// All columns have the length [`ContextTree::len`].
#[derive(Debug, Clone)]
pub struct ContextTree {
    source_id: Vec<u32>,
    parent: Vec<u32>,
    /// One past the last context below.
    end: Vec<u32>,
    depth: Vec<u32>,
    kind: Vec<ContextKind>,
    relation: Vec<Relation>,
    function: Vec<u32>,
    file: Vec<u32>,
    line: Vec<u32>,
    module: Vec<u32>,
    offset: Vec<u64>,
    entry_names: Vec<(u32, Arc<str>)>,
    functions: Vec<Function>,
    files: Vec<SourceFile>,
    modules: Vec<Module>,
    /// Positions by source id; [`NONE`] where the id is not in the tree.
    by_source_id: Vec<u32>,
    /// Source ids that are too large for that, and their positions; ascending.
    beyond: Vec<(u32, u32)>,
    /// Functions that the measurement stopped timing.
    throttled: BTreeSet<FunctionIdx>,
}

const NONE: u32 = u32::MAX;

/// One context, as builders add it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Id in the source; distinct over the tree.
    pub source_id: u32,
    /// What it is.
    pub kind: ContextKind,
    /// How it hangs below its parent.
    pub relation: Relation,
    /// The function, for function contexts.
    pub function: Option<FunctionIdx>,
    /// The source file, for lines and loops.
    pub file: Option<FileIdx>,
    /// The line; 0 when unknown.
    pub line: u32,
    /// The module, for instructions.
    pub module: Option<ModuleIdx>,
    /// The offset in the module; 0 when unknown.
    pub offset: u64,
}

impl Node {
    /// A context of which nothing else is known yet.
    #[must_use]
    pub const fn new(kind: ContextKind, relation: Relation) -> Self {
        Self {
            source_id: 0,
            kind,
            relation,
            function: None,
            file: None,
            line: 0,
            module: None,
            offset: 0,
        }
    }
}

/// Builds a [`ContextTree`] from nodes in depth-first order.
#[derive(Debug)]
pub struct ContextTreeBuilder {
    tree: ContextTree,
}

impl ContextTreeBuilder {
    /// A tree of a root with `root_source_id`, over the given tables.
    #[must_use]
    pub fn new(
        root_source_id: u32,
        functions: Vec<Function>,
        files: Vec<SourceFile>,
        modules: Vec<Module>,
    ) -> Self {
        let tree = ContextTree {
            source_id: vec![root_source_id],
            parent: vec![NONE],
            end: vec![1],
            depth: vec![0],
            kind: vec![ContextKind::Root],
            relation: vec![Relation::Lexical],
            function: vec![NONE],
            file: vec![NONE],
            line: vec![0],
            module: vec![NONE],
            offset: vec![0],
            entry_names: Vec::new(),
            functions,
            files,
            modules,
            by_source_id: Vec::new(),
            beyond: Vec::new(),
            throttled: BTreeSet::new(),
        };
        Self { tree }
    }

    /// Adds `node` below `parent`, which must be the context added last or one of its ancestors.
    /// Depth-first order is what makes ranges of descendants contiguous.
    pub fn push(&mut self, parent: ContextIdx, node: Node) -> ContextIdx {
        let tree = &mut self.tree;
        debug_assert!(
            tree.len() == 1
                || parent.idx() == tree.len() - 1
                || tree.ancestors(ContextIdx::from_len(tree.len() - 1)).any(|a| a == parent),
            "contexts must be added in depth-first order"
        );
        let position = ContextIdx::from_len(tree.len());
        let depth = tree.depth(parent) + 1;
        tree.source_id.push(node.source_id);
        tree.parent.push(parent.get());
        tree.end.push(position.get() + 1);
        tree.depth.push(depth);
        tree.kind.push(node.kind);
        tree.relation.push(node.relation);
        tree.function.push(node.function.map_or(NONE, FunctionIdx::get));
        tree.file.push(node.file.map_or(NONE, FileIdx::get));
        tree.line.push(node.line);
        tree.module.push(node.module.map_or(NONE, ModuleIdx::get));
        tree.offset.push(node.offset);
        position
    }

    /// Adds an entry with a name below the root.
    pub fn push_entry(&mut self, source_id: u32, name: Arc<str>) -> ContextIdx {
        let node = Node {
            source_id,
            kind: ContextKind::Entry,
            relation: Relation::Call,
            function: None,
            file: None,
            line: 0,
            module: None,
            offset: 0,
        };
        let position = self.push(ContextIdx::new(0), node);
        self.tree.entry_names.push((position.get(), name));
        position
    }

    /// The finished tree.
    #[must_use]
    pub fn finish(self) -> ContextTree {
        let mut tree = self.tree;
        // A parent is always before its children, so one backward pass closes all ranges.
        for i in (1..tree.len()).rev() {
            let (parent, end) = (tree.parent[i] as usize, tree.end[i]);
            tree.end[parent] = tree.end[parent].max(end);
        }
        let highest = tree.source_id.iter().copied().max().unwrap_or(0) as usize;
        // Ids of damaged files may be huge: the lookup column is bounded by the tree's own size.
        let column = highest.min(tree.len().saturating_mul(64).max(1 << 16)) + 1;
        tree.by_source_id = vec![NONE; column];
        for (position, &id) in tree.source_id.iter().enumerate() {
            let position = u32::try_from(position).unwrap_or(NONE);
            match tree.by_source_id.get_mut(id as usize) {
                Some(slot) => *slot = position,
                None => tree.beyond.push((id, position)),
            }
        }
        tree.beyond.sort_unstable();
        tree
    }
}

#[cfg(debug_assertions)]
static STEPS_UP: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// How often this process asked any tree for a parent. Tests of deep trees compare it for two
/// depths, because what walks up from every context is quadratic in the depth. Builds without debug
/// assertions do not count; `None` there.
#[must_use]
pub fn steps_up() -> Option<u64> {
    #[cfg(debug_assertions)]
    return Some(STEPS_UP.load(std::sync::atomic::Ordering::Relaxed));
    #[cfg(not(debug_assertions))]
    None
}

impl ContextTree {
    /// The root: the whole execution.
    pub const ROOT: ContextIdx = ContextIdx::new(0);

    /// What a function is called that the source does not name.
    pub const UNKNOWN_FUNCTION: &str = "<unknown function>";

    /// Number of contexts, the root included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.source_id.len()
    }

    /// Whether there is nothing but the root.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// All contexts in depth-first order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = ContextIdx> + ExactSizeIterator + use<> {
        (0..u32::try_from(self.len()).unwrap_or(NONE)).map(ContextIdx::new)
    }

    /// Id in the source, as its values and samples name it.
    #[must_use]
    pub fn source_id(&self, context: ContextIdx) -> u32 {
        self.source_id[context.idx()]
    }

    /// Source ids of all contexts, by position.
    #[must_use]
    pub fn source_ids(&self) -> &[u32] {
        &self.source_id
    }

    /// The context with this id in the source; `None` for ids that are not in the tree.
    #[must_use]
    pub fn by_source_id(&self, id: u32) -> Option<ContextIdx> {
        match self.by_source_id.get(id as usize) {
            Some(&NONE) => None,
            Some(&position) => Some(ContextIdx::new(position)),
            None => {
                let at = self.beyond.partition_point(|&(other, _)| other < id);
                let found = self.beyond.get(at).filter(|(other, _)| *other == id);
                found.map(|&(_, position)| ContextIdx::new(position))
            }
        }
    }

    /// The parent; `None` for the root.
    #[must_use]
    pub fn parent(&self, context: ContextIdx) -> Option<ContextIdx> {
        #[cfg(debug_assertions)]
        STEPS_UP.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let parent = self.parent[context.idx()];
        (parent != NONE).then(|| ContextIdx::new(parent))
    }

    /// 0 for the root, 1 for entries.
    #[must_use]
    pub fn depth(&self, context: ContextIdx) -> u32 {
        self.depth[context.idx()]
    }

    /// What the context is.
    #[must_use]
    pub fn kind(&self, context: ContextIdx) -> ContextKind {
        self.kind[context.idx()]
    }

    /// How the context hangs below its parent.
    #[must_use]
    pub fn relation(&self, context: ContextIdx) -> Relation {
        self.relation[context.idx()]
    }

    /// The context and everything below it.
    #[must_use]
    pub fn subtree(&self, context: ContextIdx) -> Range<usize> {
        context.idx()..self.end[context.idx()] as usize
    }

    /// Everything below the context.
    pub fn descendants(
        &self,
        context: ContextIdx,
    ) -> impl DoubleEndedIterator<Item = ContextIdx> + use<> {
        (context.get() + 1..self.end[context.idx()]).map(ContextIdx::new)
    }

    /// Whether `below` is `above` or hangs somewhere below it.
    #[must_use]
    pub fn is_within(&self, below: ContextIdx, above: ContextIdx) -> bool {
        self.subtree(above).contains(&below.idx())
    }

    /// The direct children, in depth-first order.
    pub fn children(&self, context: ContextIdx) -> impl Iterator<Item = ContextIdx> + '_ {
        let range = self.subtree(context);
        let mut next = range.start + 1;
        std::iter::from_fn(move || {
            let child = (next < range.end).then(|| ContextIdx::from_len(next))?;
            next = self.end[child.idx()] as usize;
            Some(child)
        })
    }

    /// The parent, its parent, and so on up to the root.
    pub fn ancestors(&self, context: ContextIdx) -> impl Iterator<Item = ContextIdx> + '_ {
        std::iter::successors(self.parent(context), |&above| self.parent(above))
    }

    /// The contexts from the entry down to `context`, without the root.
    #[must_use]
    pub fn path(&self, context: ContextIdx) -> Vec<ContextIdx> {
        let mut path: Vec<_> = std::iter::once(context)
            .chain(self.ancestors(context))
            .filter(|&above| above != Self::ROOT)
            .collect();
        path.reverse();
        path
    }

    /// The function of a function context.
    #[must_use]
    pub fn function(&self, context: ContextIdx) -> Option<FunctionIdx> {
        let row = self.function[context.idx()];
        (row != NONE).then(|| FunctionIdx::new(row))
    }

    /// The source file of a line or loop.
    #[must_use]
    pub fn file(&self, context: ContextIdx) -> Option<FileIdx> {
        let row = self.file[context.idx()];
        (row != NONE).then(|| FileIdx::new(row))
    }

    /// The source line; 0 when unknown.
    #[must_use]
    pub fn line(&self, context: ContextIdx) -> u32 {
        self.line[context.idx()]
    }

    /// The module of an instruction.
    #[must_use]
    pub fn module(&self, context: ContextIdx) -> Option<ModuleIdx> {
        let row = self.module[context.idx()];
        (row != NONE).then(|| ModuleIdx::new(row))
    }

    /// The offset of an instruction in its module; 0 when unknown.
    #[must_use]
    pub fn offset(&self, context: ContextIdx) -> u64 {
        self.offset[context.idx()]
    }

    /// All functions.
    #[must_use]
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// All source files.
    #[must_use]
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// All modules.
    #[must_use]
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// Path of the source file of a line or loop.
    #[must_use]
    pub fn file_path(&self, context: ContextIdx) -> Option<&str> {
        self.file(context).and_then(|file| self.files.get(file.idx())).map(|file| &*file.path)
    }

    /// Path of the module of an instruction.
    #[must_use]
    pub fn module_path(&self, context: ContextIdx) -> Option<&str> {
        self.module(context).and_then(|m| self.modules.get(m.idx())).map(|module| &*module.path)
    }

    /// Name of the function of a function context.
    #[must_use]
    pub fn function_name(&self, context: ContextIdx) -> Option<&str> {
        self.function(context).and_then(|f| self.functions.get(f.idx())).map(|f| &*f.name)
    }

    /// The tree, with functions that the measurement stopped timing because their calls are many
    /// and short.
    #[must_use]
    pub fn with_throttled(mut self, functions: BTreeSet<FunctionIdx>) -> Self {
        self.throttled = functions;
        self
    }

    /// The functions that the measurement stopped timing: what they took afterwards counts to their
    /// callers, so that their own values are lower bounds.
    #[must_use]
    pub const fn throttled(&self) -> &BTreeSet<FunctionIdx> {
        &self.throttled
    }

    /// Whether the function of a context was no longer timed at some point.
    #[must_use]
    pub fn is_throttled(&self, context: ContextIdx) -> bool {
        self.function(context).is_some_and(|function| self.throttled.contains(&function))
    }

    /// The function in whose code the context lies: its own, or the nearest one above.
    #[must_use]
    pub fn enclosing_function(&self, context: ContextIdx) -> Option<ContextIdx> {
        std::iter::once(context)
            .chain(self.ancestors(context))
            .find(|&above| self.kind(above) == ContextKind::Function)
    }

    /// The function that the own cost of a context without a function counts to: of code that is
    /// called and has no name, such as `libm.so+0x1176`, the function that calls it. `None` for
    /// functions, and for lines and loops, whose cost is in that of their function.
    #[must_use]
    pub fn caller_of_unnamed(&self, context: ContextIdx) -> Option<ContextIdx> {
        let is_code = matches!(self.kind(context), ContextKind::Line | ContextKind::Instruction);
        if !is_code || self.relation(context) == Relation::Lexical {
            return None;
        }
        self.parent(context).and_then(|above| self.enclosing_function(above))
    }

    /// Display name of the context: the function's name, `loop at f.c:12`, `f.c:12`,
    /// `libm.so+0x1176`, the name of the entry, or `<whole execution>`.
    #[must_use]
    pub fn label(&self, context: ContextIdx) -> String {
        let place = || {
            let path = self.file_path(context)?;
            Some(match self.line(context) {
                0 => base_name(path).to_owned(),
                line => format!("{}:{line}", base_name(path)),
            })
        };
        let instruction = || {
            let path = self.module_path(context)?;
            Some(format!("{}+{:#x}", base_name(path), self.offset(context)))
        };
        let unknown = |what: &str| format!("<unknown {what}>");
        match self.kind(context) {
            ContextKind::Root => "<whole execution>".into(),
            ContextKind::Entry => {
                // Entries were added in the order of the tree.
                let entry = self.entry_names.binary_search_by_key(&context.get(), |(at, _)| *at);
                let entry = entry.ok().and_then(|at| self.entry_names.get(at));
                entry.map_or_else(|| unknown("entry"), |(_, name)| format!("<{name}>"))
            }
            ContextKind::Function => {
                self.function_name(context).unwrap_or(Self::UNKNOWN_FUNCTION).to_owned()
            }
            ContextKind::Loop => match place().or_else(instruction) {
                Some(place) => format!("loop at {place}"),
                None => "<unknown loop>".into(),
            },
            ContextKind::Line => place().unwrap_or_else(|| unknown("line")),
            ContextKind::Instruction => instruction().unwrap_or_else(|| unknown("instruction")),
            ContextKind::Other(code) => format!("<context of unknown type {code}>"),
        }
    }

    /// Checks the invariants of the columns; a sentence about the first that does not hold.
    ///
    /// # Errors
    /// When the tree is not what its documentation says.
    pub fn check(&self) -> Result<(), String> {
        for i in 1..self.len() {
            let parent = self.parent[i] as usize;
            if parent >= i || self.depth[i] != self.depth[parent] + 1 {
                return Err(format!("context {i} does not follow its parent {parent}"));
            }
            if (self.end[i] as usize) < i + 1 || self.end[i] > self.end[parent] {
                return Err(format!("the range of context {i} leaves its parent's"));
            }
        }
        let mut ids: Vec<_> = self.source_id.clone();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("a source id is used twice".into());
        }
        Ok(())
    }
}
