//! The plain description of a database: what a measurement would have recorded.

use std::collections::HashMap;

use super::scopes::{Fold, ScopeValues, Tree};

/// Numbers of the identifier kinds that every known writer of HPCToolkit uses.
pub mod kind {
    /// The summary over all threads; never part of a tuple.
    pub const SUMMARY: u8 = 0;
    /// A compute node; physical id = 32-bit POSIX host id.
    pub const NODE: u8 = 1;
    /// An MPI rank.
    pub const RANK: u8 = 2;
    /// A CPU thread.
    pub const THREAD: u8 = 3;
    /// A GPU device.
    pub const GPUDEVICE: u8 = 4;
    /// A GPU context.
    pub const GPUCONTEXT: u8 = 5;
    /// A GPU stream.
    pub const GPUSTREAM: u8 = 6;
    /// A CPU core; physical id = index of its first hardware thread.
    pub const CORE: u8 = 7;
    /// Names of the kinds, by number.
    pub const NAMES: [&str; 8] =
        ["SUMMARY", "NODE", "RANK", "THREAD", "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"];
}

/// One measured execution, as plain data.
///
/// Everything refers to everything else by position in these vectors, except context ids, which
/// are free (but dense in real databases) and appear in profiles and traces.
#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    /// Title of the database, usually the name of the executable.
    pub title: String,
    /// Names of the identifier kinds; the position is the number used in tuples.
    pub id_kinds: Vec<String>,
    /// Propagation scopes, in the order in which metric ids are numbered.
    pub scopes: Vec<Scope>,
    /// Measured metrics.
    pub metrics: Vec<Metric>,
    /// Metrics that metrics/default.yaml computes.
    pub derived: Vec<Derived>,
    /// Paths of the load modules.
    pub modules: Vec<String>,
    /// Source files.
    pub files: Vec<SourceFile>,
    /// Functions and placeholders.
    pub functions: Vec<Function>,
    /// The calling context tree; a parent stands before its children.
    pub contexts: Vec<Context>,
    /// Profiles other than the summary; the position plus one is the profile index in the files.
    pub profiles: Vec<Profile>,
}

impl Default for Database {
    fn default() -> Self {
        Self {
            title: "program".into(),
            id_kinds: kind::NAMES.iter().map(|&name| name.to_owned()).collect(),
            scopes: Scope::ALL.to_vec(),
            metrics: Vec::new(),
            derived: Vec::new(),
            modules: Vec::new(),
            files: Vec::new(),
            functions: Vec::new(),
            contexts: Vec::new(),
            profiles: Vec::new(),
        }
    }
}

/// A rule by which measured values spread over the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The measured value itself.
    Point,
    /// Exclusive: the value of a context and of its lexical descendants, calls not followed.
    Function,
    /// Exclusive as the top-down view shows it: loops count without the loops nested in them.
    LexAware,
    /// Inclusive: the value of a context and of all its descendants.
    Execution,
}

impl Scope {
    /// The four scopes in the order of writers since 2023-03.
    pub const ALL: [Self; 4] = [Self::Point, Self::Function, Self::LexAware, Self::Execution];

    /// The three scopes of writers before 2023-03.
    pub const WITHOUT_LEX_AWARE: [Self; 3] = [Self::Point, Self::Function, Self::Execution];

    /// The name in meta.db.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Function => "function",
            Self::LexAware => "lex_aware",
            Self::Execution => "execution",
        }
    }
}

/// A statistic over all threads, stored in the summary profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// Number of threads that have a value: formula `1`, combined by sum.
    Count,
    /// Formula `$$`, combined by sum; the only one by default.
    Sum,
    /// Formula `($$^2)`, combined by sum.
    SumOfSquares,
    /// Formula `$$`, combined by minimum over the threads that have a value.
    Min,
    /// Formula `$$`, combined by maximum.
    Max,
}

impl Statistic {
    /// What `hpcprof -M stats` writes, in its order.
    pub const STATS: [Self; 5] = [Self::Count, Self::Sum, Self::SumOfSquares, Self::Min, Self::Max];

    /// The formula as written in meta.db.
    #[must_use]
    pub fn formula(self) -> &'static str {
        match self {
            Self::Count => "1",
            Self::SumOfSquares => "($$^2)",
            Self::Sum | Self::Min | Self::Max => "$$",
        }
    }

    /// The number of the combination: 0 sum, 1 minimum, 2 maximum.
    #[must_use]
    pub fn combine(self) -> u8 {
        match self {
            Self::Count | Self::Sum | Self::SumOfSquares => 0,
            Self::Min => 1,
            Self::Max => 2,
        }
    }
}

/// A measured metric; it is stored for every scope of the database.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Name with the unit in parentheses, as in `CPUTIME (sec)`.
    pub name: String,
    /// Statistics in the summary profile, per scope.
    pub statistics: Vec<Statistic>,
}

impl Metric {
    /// A metric with the default summary: the sum over threads.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), statistics: vec![Statistic::Sum] }
    }
}

/// A metric that metrics/default.yaml computes from the sums of two others: factor times their
/// quotient.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Name, with the unit in parentheses.
    pub name: String,
    /// What it is.
    pub description: String,
    /// A `printf` format.
    pub format: String,
    /// What the quotient is multiplied by.
    pub factor: f64,
    /// Position of the metric above the line.
    pub numerator: usize,
    /// Position of the metric below the line.
    pub denominator: usize,
}

/// A source file.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceFile {
    /// Absolute path, or relative to the database when it was copied into it.
    pub path: String,
    /// Whether the file lies inside the database.
    pub copied: bool,
}

/// A function; a placeholder such as `<omp idle>` has a name only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// Name, or none for an anonymous function.
    pub name: Option<String>,
    /// Position of the load module, with the offset of the entry in it.
    pub module: Option<(usize, u64)>,
    /// Position of the source file, with the line of the definition.
    pub source: Option<(usize, u32)>,
}

impl Function {
    /// A function known by its name only.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }
}

/// How a context is related to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Part of the text of the parent.
    Lexical = 0,
    /// Called by the parent.
    Call = 1,
    /// Called by the parent and inlined into it.
    Inlined = 2,
}

/// What a context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LexicalType {
    /// A function.
    Function = 0,
    /// A loop.
    Loop = 1,
    /// A source line.
    Line = 2,
    /// A machine instruction.
    Instruction = 3,
}

/// A context of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// Context id, at least 1 and unique; id 0 is the whole thread and not part of the tree.
    pub id: u32,
    /// Position of the parent in [`Database::contexts`]; none exactly for entries.
    pub parent: Option<usize>,
    /// What the context is.
    pub kind: ContextKind,
}

/// What a context is, with the fields that go with it.
#[derive(Clone, Debug, PartialEq)]
pub enum ContextKind {
    /// An entry point of the program: a root of the tree.
    Entry {
        /// 0 unknown entry, 1 main thread, 2 application thread.
        entry_point: u16,
        /// Display name, such as `main thread`.
        name: String,
    },
    /// An ordinary context.
    Node {
        /// Relation to the parent.
        relation: Relation,
        /// Function, loop, line or instruction.
        lexical: LexicalType,
        /// Position of the function.
        function: Option<usize>,
        /// Position of the source file, and the line.
        source: Option<(usize, u32)>,
        /// Position of the load module, and the offset of the instruction.
        point: Option<(usize, u64)>,
    },
}

impl ContextKind {
    /// Whether writers before 2025 drop this context from meta.db, keeping its id and its values:
    /// an instruction that is lexically part of its parent.
    #[must_use]
    pub fn is_elided_by_writers(&self) -> bool {
        matches!(
            self,
            Self::Node { relation: Relation::Lexical, lexical: LexicalType::Instruction, .. }
        )
    }
}

/// One member of an identity tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    /// Position in [`Database::id_kinds`].
    pub kind: u8,
    /// Dense number given by the writer.
    pub logical: u32,
    /// The identity itself when [`Self::is_physical`]; equal to the logical number otherwise.
    pub physical: u64,
    /// Whether the physical id is the identity.
    pub is_physical: bool,
}

impl Id {
    /// A purely logical id, such as a rank or a thread.
    #[must_use]
    pub fn logical(kind: u8, number: u32) -> Self {
        Self { kind, logical: number, physical: u64::from(number), is_physical: false }
    }

    /// A node by its host id; writers up to 2024 give every node the logical number 0.
    #[must_use]
    pub fn node(host_id: u32) -> Self {
        Self { kind: kind::NODE, logical: 0, physical: u64::from(host_id), is_physical: true }
    }

    /// A core by the index of its first hardware thread.
    #[must_use]
    pub fn core(index: u32) -> Self {
        Self { kind: kind::CORE, logical: index, physical: u64::from(index), is_physical: true }
    }
}

/// A measured value of one context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Id of the context.
    pub context: u32,
    /// Position of the metric.
    pub metric: usize,
    /// Measured value in the unit of the metric; several points of one context add up.
    pub value: f64,
}

/// A trace sample: the context in force from its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Nanoseconds since the Unix epoch.
    pub nanos: u64,
    /// Id of the context; 0 when the thread does not run.
    pub context: u32,
}

/// What one thread or GPU stream measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Identity; tuples need not be unique.
    pub tuple: Vec<Id>,
    /// Measured values; an empty vector is a thread without samples.
    pub points: Vec<Point>,
    /// Trace in order of time; empty when the thread was not traced.
    pub trace: Vec<Sample>,
}

/// Numbers of metrics in the two id spaces, which overlap.
pub(crate) struct Numbering {
    bases: Vec<u16>,
    num_scopes: u16,
}

impl Numbering {
    pub(crate) fn new(metrics: &[Metric], num_scopes: usize) -> Self {
        let mut next = 0;
        let num_scopes = u16_of(num_scopes);
        let mut bases = Vec::new();
        for metric in metrics {
            bases.push(next);
            next += num_scopes * u16_of(metric.statistics.len().max(1));
        }
        Self { bases, num_scopes }
    }

    /// The id in cct.db and in every profile other than the summary.
    pub(crate) fn value_id(&self, metric: usize, scope: usize) -> u16 {
        self.bases[metric] + u16_of(scope)
    }

    /// The id in the summary profile.
    pub(crate) fn summary_id(&self, metric: usize, statistic: usize, scope: usize) -> u16 {
        self.bases[metric] + u16_of(statistic) * self.num_scopes + u16_of(scope)
    }
}

/// The number as 16 bits; stops when the description is too large for the format.
pub(crate) fn u16_of(number: usize) -> u16 {
    assert!(number <= usize::from(u16::MAX), "{number} does not fit the 16 bits of the format");
    number as u16
}

/// The number as 32 bits; stops when the description is too large for the format.
pub(crate) fn u32_of(number: usize) -> u32 {
    assert!(number <= u32::MAX as usize, "{number} does not fit the 32 bits of the format");
    number as u32
}

impl Database {
    /// The number of context ids, the implicit id 0 included.
    #[must_use]
    pub fn num_context_ids(&self) -> usize {
        self.contexts.iter().map(|context| context.id as usize + 1).max().unwrap_or(1)
    }

    /// Adds a context below a parent (none for an entry) with the next free id; returns its
    /// position.
    pub fn add_context(&mut self, parent: Option<usize>, kind: ContextKind) -> usize {
        let id = u32_of(self.num_context_ids());
        self.contexts.push(Context { id, parent, kind });
        self.contexts.len() - 1
    }

    /// The position of the named function, added when it is new.
    pub fn function(&mut self, name: &str) -> usize {
        let found = self.functions.iter().position(|f| f.name.as_deref() == Some(name));
        found.unwrap_or_else(|| {
            self.functions.push(Function::named(name));
            self.functions.len() - 1
        })
    }

    /// The position of the source file, added when it is new.
    pub fn file(&mut self, path: &str) -> usize {
        let found = self.files.iter().position(|f| f.path == path);
        found.unwrap_or_else(|| {
            self.files.push(SourceFile { path: path.to_owned(), copied: false });
            self.files.len() - 1
        })
    }

    /// The position of the load module, added when it is new.
    pub fn module(&mut self, path: &str) -> usize {
        let found = self.modules.iter().position(|m| m == path);
        found.unwrap_or_else(|| {
            self.modules.push(path.to_owned());
            self.modules.len() - 1
        })
    }

    /// The id of the nearest context that meta.db keeps: the context itself, or its nearest
    /// ancestor that is not an instruction within its parent.
    #[must_use]
    pub fn kept_id(&self, position: usize) -> u32 {
        let mut at = position;
        while self.contexts[at].kind.is_elided_by_writers() {
            let Some(parent) = self.contexts[at].parent else { return 0 };
            at = parent;
        }
        self.contexts[at].id
    }

    /// The values of all scopes in one profile, by (context id, position of the metric).
    ///
    /// This is the answer that a reader of the database must give; zeros are left out only when
    /// all four scopes are zero.
    #[must_use]
    pub fn scope_values(&self, profile: &Profile) -> HashMap<(u32, usize), ScopeValues> {
        let tree = self.tree();
        let positions = self.positions();
        let mut fold = Fold::new(&tree, self.metrics.len());
        self.fold_into(&mut fold, &tree, &positions, profile)
    }

    pub(crate) fn fold_into(
        &self,
        fold: &mut Fold,
        tree: &Tree,
        positions: &HashMap<u32, u32>,
        profile: &Profile,
    ) -> HashMap<(u32, usize), ScopeValues> {
        for point in &profile.points {
            let node = positions.get(&point.context);
            assert!(
                node.is_some(),
                "a point names context {}, which is not in the tree",
                point.context
            );
            assert!(point.metric < self.metrics.len(), "a point names metric {}", point.metric);
            fold.add(tree, node.copied().unwrap_or(0), point.metric, point.value);
        }
        let mut values = HashMap::new();
        fold.finish(tree, |node, metric, scopes| {
            if scopes != ScopeValues::default() {
                values.insert((self.id_of_node(node), metric), scopes);
            }
        });
        values
    }

    /// The id of a node of [`Self::tree`], whose node 0 is the implicit root.
    pub(crate) fn id_of_node(&self, node: u32) -> u32 {
        match node {
            0 => 0,
            node => self.contexts[node as usize - 1].id,
        }
    }

    /// Nodes of [`Self::tree`] by context id.
    pub(crate) fn positions(&self) -> HashMap<u32, u32> {
        let mut positions = HashMap::from([(0, 0)]);
        for (position, context) in self.contexts.iter().enumerate() {
            let before = positions.insert(context.id, u32_of(position + 1));
            assert!(before.is_none(), "context id {} is 0 or given twice", context.id);
        }
        positions
    }

    /// The tree as the fold needs it.
    pub(crate) fn tree(&self) -> Tree {
        let mut tree = Tree::default();
        for (position, context) in self.contexts.iter().enumerate() {
            let (relation, lexical) = match context.kind {
                ContextKind::Entry { .. } => {
                    assert!(context.parent.is_none(), "an entry has no parent");
                    (Relation::Call, LexicalType::Function)
                }
                ContextKind::Node { relation, lexical, .. } => {
                    assert!(
                        context.parent.is_some_and(|parent| parent < position),
                        "the parent of context {} stands before it",
                        context.id
                    );
                    (relation, lexical)
                }
            };
            tree.push(context.parent.map_or(0, |parent| u32_of(parent + 1)), relation, lexical);
        }
        tree
    }
}
