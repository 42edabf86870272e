//! The top-down tree with several metrics side by side, as one table: the answer of `tree_table`.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{ContextIdx, Control, FileIdx, FunctionIdx, ModuleIdx};
use parallax_engine::{CostColumns, TopDown, TreeView, row_costs};
use parallax_model::{ContextKind, ContextTree};

use crate::views::{definition, kind_name};
use crate::{Column, CostHeader, CostsChoice, Opened, PruneChoice, ServiceError, Table};

/// A top-down tree with several metrics.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TreeTableRequest {
    /// What counts as cost. The first metric orders the rows and decides what is low cost.
    pub costs: CostsChoice,
    /// What is left out.
    pub prune: PruneChoice,
}

/// A tree as a table.
#[derive(Debug, Clone)]
pub struct TreeTableAnswer {
    /// What the numbers of each metric count, in the order of the request.
    pub headers: Vec<CostHeader>,
    /// One row for each context that is kept and in which any of the metrics was measured, parents
    /// before their children and these from the most expensive by the first metric. With a single
    /// metric these are the rows of [`Opened::tree`] without a limit of depth.
    ///
    /// Columns: `depth`, `parent` (row of the parent, [`NO_PARENT`] at the top), `context_id`,
    /// `kind`, `name`, `place`, `definition_file`, `definition_line`, `file`, `line`, `module`,
    /// and `inclusive:K`, `exclusive:K` for metric number K from 0.
    pub table: Table,
}

/// The `parent` of rows at the top of a [`TreeTableAnswer`].
pub const NO_PARENT: u32 = u32::MAX;

impl Opened {
    /// The tree from the entries down, with several metrics side by side.
    ///
    /// # Errors
    /// When an expression is wrong, or the costs cannot be read.
    pub fn tree_table(
        &self,
        request: &TreeTableRequest,
        control: &Control,
    ) -> Result<TreeTableAnswer, ServiceError> {
        let session = self.session();
        let tree = session.tree();
        let chosen = request.costs.resolve(session, control)?;
        let headers = chosen.iter().map(|chosen| self.header(chosen)).collect();
        let mut measures = chosen.iter().map(|chosen| &chosen.measure);
        let Some(first) = measures.next() else {
            return Ok(TreeTableAnswer { headers, table: Table::new(Vec::new()) });
        };
        let view = request.prune.view(session, first)?;
        let others: Vec<CostColumns> =
            measures.map(|measure| row_costs(tree, &view, measure)).collect();
        let mut top_down = TopDown::new(tree, view, first);
        for other in &others {
            for (is_measured, other) in top_down.is_measured.iter_mut().zip(&other.is_measured) {
                *is_measured |= other;
            }
        }
        control.check().map_err(parallax_engine::EngineError::from)?;
        let order = Order::new(&top_down);
        let mut columns = order.columns(tree, &top_down.view);
        let first = (&top_down.inclusive, &top_down.exclusive);
        let costs = std::iter::once(first)
            .chain(others.iter().map(|other| (&other.inclusive, &other.exclusive)));
        for (number, ((inclusive, exclusive), chosen)) in costs.zip(&chosen).enumerate() {
            let unit = chosen.measure.unit.to_string();
            let mut add = |name: String, doc, costs: &[f64]| {
                columns.push(defined(name, &unit, doc, order.rows.iter().map(|&row| costs[row])));
            };
            add(format!("inclusive:{number}"), INCLUSIVE_DOC, inclusive);
            add(format!("exclusive:{number}"), EXCLUSIVE_DOC, exclusive);
        }
        Ok(TreeTableAnswer { headers, table: Table::new(columns) })
    }
}

const INCLUSIVE_DOC: &str = "Cost with everything below; null where a formula is undefined.";
const EXCLUSIVE_DOC: &str = "Cost of its own code; null where a formula is undefined.";

/// A column of numbers in which NaN is null.
pub(crate) fn defined(
    name: impl Into<String>,
    unit: &str,
    doc: &'static str,
    values: impl Iterator<Item = f64>,
) -> Column {
    let values: Vec<f64> = values.collect();
    if values.iter().any(|value| value.is_nan()) {
        let values = values.into_iter().map(|value| (!value.is_nan()).then_some(value)).collect();
        return Column::optional_f64s(name, unit, doc, values);
    }
    Column::f64s(name, unit, doc, values)
}

/// The rows of a view as a person reads them.
struct Order {
    rows: Vec<usize>,
    depth: Vec<u32>,
    parent: Vec<u32>,
}

impl Order {
    fn new(top_down: &TopDown) -> Self {
        let mut out = Self { rows: Vec::new(), depth: Vec::new(), parent: Vec::new() };
        let top = top_down.children_by_cost(0);
        // Depth-first by an explicit stack: trees may be deep.
        let mut stack: Vec<(usize, u32, u32)> =
            top.into_iter().rev().map(|row| (row, 0, NO_PARENT)).collect();
        while let Some((row, depth, parent)) = stack.pop() {
            let at = u32::try_from(out.rows.len()).unwrap_or(NO_PARENT);
            out.rows.push(row);
            out.depth.push(depth);
            out.parent.push(parent);
            let children = top_down.children_by_cost(row);
            stack.extend(children.into_iter().rev().map(|child| (child, depth + 1, at)));
        }
        out
    }

    /// What the rows are, without their costs.
    fn columns(&self, tree: &ContextTree, view: &TreeView) -> Vec<Column> {
        let contexts: Vec<ContextIdx> = self.rows.iter().map(|&row| view.contexts()[row]).collect();
        let module_of = modules(tree, view);
        let places = places(tree);
        let place = |context: ContextIdx| places.get(context.idx()).copied().flatten();
        vec![
            Column::u32s("depth", "Levels below the top.", self.depth.clone()),
            Column::u32s(
                "parent",
                "Row of the parent; 4294967295 at the top.",
                self.parent.clone(),
            ),
            Column::u32s(
                "context_id",
                "Context id in the database.",
                contexts.iter().map(|&context| tree.source_id(context)).collect(),
            ),
            repeated(
                "kind",
                "What the row is.",
                &contexts,
                |c| Some(tree.kind(c)),
                |c| kind_name(tree, c).to_owned(),
            ),
            repeated(
                "name",
                "What it is called.",
                &contexts,
                |c| Some(label_key(tree, c)),
                |c| tree.label(c),
            ),
            repeated(
                "place",
                "Where a function is defined, as file:line; empty for everything else.",
                &contexts,
                |c| Some(tree.function(c)),
                |c| definition(tree, c),
            ),
            repeated(
                "definition_file",
                "Path of the file in which a function is defined.",
                &contexts,
                |c| definition_of(tree, c).map(|(file, _)| file),
                |c| definition_of(tree, c).map(|(file, _)| path(tree, file)).unwrap_or_default(),
            ),
            Column::u32s(
                "definition_line",
                "Line in which a function is defined; 0 when unknown.",
                contexts.iter().map(|&c| definition_of(tree, c).map_or(0, |(_, l)| l)).collect(),
            ),
            repeated(
                "file",
                "Path of the file in which a line or loop lies, or from which a function is called.",
                &contexts,
                |c| place(c).map(|(file, _)| file),
                |c| place(c).map(|(file, _)| path(tree, file)).unwrap_or_default(),
            ),
            Column::u32s(
                "line",
                "Line in `file`; 0 when unknown.",
                contexts.iter().map(|&c| place(c).map_or(0, |(_, line)| line)).collect(),
            ),
            repeated(
                "module",
                "Path of the executable or library.",
                &contexts,
                |c| module_of.get(c.idx()).copied().filter(|&module| module != NO_MODULE),
                |c| {
                    let module = module_of.get(c.idx()).map_or(usize::MAX, |&m| m as usize);
                    tree.modules().get(module).map(|m| m.path.to_string()).unwrap_or_default()
                },
            ),
        ]
    }
}

/// Texts of contexts, of which those with the same key are written once; no key is null.
fn repeated<K: Eq + std::hash::Hash>(
    name: &str,
    doc: &'static str,
    contexts: &[ContextIdx],
    key_of: impl Fn(ContextIdx) -> Option<K>,
    text_of: impl Fn(ContextIdx) -> String,
) -> Column {
    let mut known: HashMap<K, i32> = HashMap::new();
    let mut texts: Vec<String> = Vec::new();
    let rows = contexts.iter().map(|&context| {
        let Some(key) = key_of(context) else { return -1 };
        *known.entry(key).or_insert_with(|| {
            texts.push(text_of(context));
            i32::try_from(texts.len() - 1).unwrap_or(-1)
        })
    });
    let rows = rows.collect();
    Column::repeated_strings(name, doc, rows, &texts)
}

/// What tells the labels of contexts apart.
#[derive(PartialEq, Eq, Hash)]
enum LabelKey {
    Function(Option<u32>),
    Source(ContextKind, FileIdx, u32),
    /// No other context needs to have the same.
    Context(ContextIdx),
}

fn label_key(tree: &ContextTree, context: ContextIdx) -> LabelKey {
    let kind = tree.kind(context);
    match (kind, tree.file(context)) {
        (ContextKind::Function, _) => {
            LabelKey::Function(tree.function(context).map(FunctionIdx::get))
        }
        (ContextKind::Loop | ContextKind::Line, Some(file)) => {
            LabelKey::Source(kind, file, tree.line(context))
        }
        _ => LabelKey::Context(context),
    }
}

fn path(tree: &ContextTree, file: FileIdx) -> String {
    tree.files().get(file.idx()).map(|file| Arc::clone(&file.path)).as_deref().unwrap_or("").into()
}

/// File and line in which the function of a function context is defined.
fn definition_of(tree: &ContextTree, context: ContextIdx) -> Option<(FileIdx, u32)> {
    let function = tree.functions().get(tree.function(context)?.idx())?;
    Some((function.file?, function.line))
}

/// Files and lines of all contexts: their own, or of the nearest code around them in the same
/// function; of a function, of the code that calls it.
fn places(tree: &ContextTree) -> Vec<Option<(FileIdx, u32)>> {
    let mut out: Vec<Option<(FileIdx, u32)>> = Vec::with_capacity(tree.len());
    for context in tree.iter() {
        let own = tree.file(context).map(|file| (file, tree.line(context)));
        let around = || {
            let above = tree.parent(context)?;
            let is_end = matches!(tree.kind(above), ContextKind::Function | ContextKind::Entry);
            out.get(above.idx()).copied().flatten().filter(|_| !is_end)
        };
        let place = own.or_else(around);
        out.push(place);
    }
    out
}

const NO_MODULE: u32 = u32::MAX;

/// The module of each context's code: of an instruction its own, otherwise that of the function
/// around it.
fn modules(tree: &ContextTree, view: &TreeView) -> Vec<u32> {
    let mut out = vec![NO_MODULE; tree.len()];
    // Contexts that are left out are between those that are kept, so all are walked.
    if view.is_empty() {
        return out;
    }
    for context in tree.iter().skip(1) {
        let function = tree.function(context).and_then(|row| tree.functions().get(row.idx()));
        let own = match tree.kind(context) {
            ContextKind::Function => function.and_then(|function| function.module),
            _ => tree.module(context),
        };
        let around = match tree.kind(context) {
            ContextKind::Function | ContextKind::Entry => NO_MODULE,
            _ => tree.parent(context).map_or(NO_MODULE, |above| out[above.idx()]),
        };
        out[context.idx()] = own.map_or(around, ModuleIdx::get);
    }
    out
}
