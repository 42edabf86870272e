//! The top-down tree with several metrics side by side, as one table: the answer of `tree_table`.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{ContextIdx, Control, FileIdx, FunctionIdx, ModuleIdx};
use parallax_engine::{CostColumns, TopDown, TreeView, row_costs};
use parallax_model::{ContextKind, ContextTree};
use parallax_protocol::{
    Answer, Column, ContextTable, CostsReply, Family, Repeated, TreeTableRequest, TreeTableTables,
};

use crate::options::{Prune as _, Resolve as _};
use crate::views::{definition, kind_name};
use crate::{Answers, OpenExperiment, ServiceError};

/// The `parent` of rows at the top of a tree.
pub const NO_PARENT: u32 = u32::MAX;

impl Answers<TreeTableRequest> for OpenExperiment {
    /// With a single metric the rows are those of [`OpenExperiment::tree`] without a limit of depth.
    fn answer(
        &self,
        request: &TreeTableRequest,
        control: &Control,
    ) -> Result<Answer<TreeTableRequest>, ServiceError> {
        let session = self.session();
        let tree = session.tree();
        let chosen = request.costs.resolve(self, control)?;
        let costs = chosen.iter().map(|chosen| self.header(chosen)).collect();
        let reply = CostsReply { costs };
        let mut measures = chosen.iter().map(|chosen| &chosen.measure);
        let Some(first) = measures.next() else {
            return Ok(Answer::new(reply, TreeTableTables { rows: ContextTable::default() }));
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
        let mut rows = order.columns(tree, &top_down.view);
        let first = (&top_down.inclusive, &top_down.exclusive);
        let costs = std::iter::once(first)
            .chain(others.iter().map(|other| (&other.inclusive, &other.exclusive)));
        for (number, ((inclusive, exclusive), chosen)) in costs.zip(&chosen).enumerate() {
            let unit = chosen.measure.unit.to_string();
            let mut add = |name: String, doc, costs: &[f64]| {
                let costs = order.rows.iter().map(|&row| costs[row]);
                rows.costs.columns.push(defined(name, &unit, doc, costs));
            };
            add(format!("inclusive:{number}"), INCLUSIVE_DOC, inclusive);
            add(format!("exclusive:{number}"), EXCLUSIVE_DOC, exclusive);
        }
        Ok(Answer::new(reply, TreeTableTables { rows }))
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

/// The rows of a view as the user reads them.
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
    fn columns(&self, tree: &ContextTree, view: &TreeView) -> ContextTable {
        let contexts: Vec<ContextIdx> = self.rows.iter().map(|&row| view.contexts()[row]).collect();
        let module_of = modules(tree, view);
        let places = places(tree);
        let place = |context: ContextIdx| places.get(context.idx()).copied().flatten();
        let numbers = |of: &dyn Fn(ContextIdx) -> u32| contexts.iter().map(|&c| of(c)).collect();
        ContextTable {
            depth: self.depth.clone(),
            parent: self.parent.clone(),
            context_id: numbers(&|c| tree.source_id(c)),
            kind: repeated(&contexts, |c| Some(tree.kind(c)), |c| kind_name(tree, c).to_owned()),
            name: repeated(&contexts, |c| Some(label_key(tree, c)), |c| tree.label(c)),
            place: repeated(&contexts, |c| Some(tree.function(c)), |c| definition(tree, c)),
            definition_file: repeated(
                &contexts,
                |c| definition_of(tree, c).map(|(file, _)| file),
                |c| definition_of(tree, c).map(|(file, _)| path(tree, file)).unwrap_or_default(),
            ),
            definition_line: numbers(&|c| definition_of(tree, c).map_or(0, |(_, line)| line)),
            file: repeated(
                &contexts,
                |c| place(c).map(|(file, _)| file),
                |c| place(c).map(|(file, _)| path(tree, file)).unwrap_or_default(),
            ),
            line: numbers(&|c| place(c).map_or(0, |(_, line)| line)),
            module: repeated(
                &contexts,
                |c| module_of.get(c.idx()).copied().filter(|&module| module != NO_MODULE),
                |c| {
                    let module = module_of.get(c.idx()).map_or(usize::MAX, |&m| m as usize);
                    tree.modules().get(module).map(|m| m.path.to_string()).unwrap_or_default()
                },
            ),
            costs: Family::default(),
        }
    }
}

/// Texts of contexts, of which those with the same key are written once; no key is null.
fn repeated<K: Eq + std::hash::Hash>(
    contexts: &[ContextIdx],
    key_of: impl Fn(ContextIdx) -> Option<K>,
    text_of: impl Fn(ContextIdx) -> String,
) -> Repeated {
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
    Repeated { rows, texts }
}

/// What distinguishes the labels of contexts.
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
