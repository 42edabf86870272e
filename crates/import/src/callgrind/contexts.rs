//! Nodes that cost something as contexts, and their values.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parallax_base::{ContextIdx, FileIdx, FunctionIdx, Issues, ModuleIdx, Place, Severity, Stage};
use parallax_model::{
    ContextKind, ContextTree, ContextTreeBuilder, Function, Module, Node, Relation, SourceFile,
};

use super::expand::{Expanded, What};
use super::graph::Graph;
use super::share::Own;
use super::table::{Named, Table};
use crate::memory_store::{Row, sorted};

/// Names of functions in the name of a cycle.
const SHOWN: usize = 3;

/// The tree, and the values of all locations with the summary first.
pub(super) struct Made {
    pub(super) contexts: ContextTree,
    pub(super) rows: Vec<Vec<Row>>,
}

/// Makes contexts of nodes; those that cost nothing and contain nothing that does are left out.
pub(super) fn make(table: &Table, graph: &Graph, expanded: &Expanded, issues: &mut Issues) -> Made {
    let own = Own::of(table, expanded);
    if table.is_saturated || own.is_saturated {
        issues.report(Severity::Error, Stage::Import, "cost-too-large", Place::Whole, || {
            format!(
                "the costs of a place in the code add up to more than a number of 64 bits holds; \
                 they stop at {}, and sums with them are too small",
                u64::MAX
            )
        });
    }
    let mut is_kept: Vec<bool> = (0..expanded.nodes.len())
        .map(|node| own.of_node(node).iter().any(|&cost| cost > 0))
        .collect();
    // Children come after their parents.
    for (at, node) in expanded.nodes.iter().enumerate().rev() {
        if is_kept.get(at).copied().unwrap_or(false)
            && let Some(above) = is_kept.get_mut(node.parent)
        {
            *above = true;
        }
    }
    let mut order: Vec<(usize, ContextIdx)> = Vec::new();
    let mut tables = Tables::of(table);
    let mut made = Vec::new();
    let mut open = vec![(0_usize, 0_usize)];
    while let Some((at, parent)) = open.pop() {
        let Some(node) = expanded.nodes.get(at) else { continue };
        if at > 0 && !is_kept.get(at).copied().unwrap_or(false) {
            continue;
        }
        let position = order.len();
        order.push((at, ContextIdx::from_len(parent)));
        made.push(tables.node(&node.what, graph));
        open.extend(node.children.iter().rev().map(|&child| (child, position)));
    }
    let Tables { functions, files, modules, .. } = tables;
    let mut builder = ContextTreeBuilder::new(0, functions, files, modules);
    for ((source_id, node), &(_, parent)) in (0..).zip(made).zip(&order).skip(1) {
        builder.push(parent, Node { source_id, ..node });
    }
    let contexts = builder.finish();
    let nodes: Vec<usize> = order.into_iter().map(|(node, _)| node).collect();
    let rows = rows(table, &contexts, &own, &nodes);
    Made { contexts, rows }
}

/// Values by location, the summary first: metric 2n is event n inclusive, 2n + 1 exclusive; after
/// the events come the calls, then what is computed from events.
fn rows(table: &Table, contexts: &ContextTree, own: &Own, nodes: &[usize]) -> Vec<Vec<Row>> {
    let width = table.width();
    let mut out = vec![Vec::new()];
    let mut summary = Vec::new();
    for place in 0..table.places.len() {
        let mut rows = Vec::new();
        for metric in 0..width + table.derived.len() {
            let point: Vec<u128> = nodes
                .iter()
                .map(|&node| {
                    let costs = own.of_node(node).get(place * width..(place + 1) * width);
                    let costs = costs.unwrap_or_default();
                    let cost = |at: usize| costs.get(at).copied().map_or(0, u128::from);
                    match metric.checked_sub(width).and_then(|at| table.derived.get(at)) {
                        Some(event) => {
                            let terms = event.terms.iter();
                            // The product of two numbers of 64 bits fits; only a file that is made
                            // for it has two such products.
                            terms.fold(0, |sum: u128, &(factor, at)| {
                                sum.saturating_add(u128::from(factor) * cost(at))
                            })
                        }
                        None => cost(metric),
                    }
                })
                .collect();
            push(&mut rows, contexts, &point, metric);
        }
        summary.extend(rows.iter().filter(|row| usize::from(row.metric / 2) != width - 1));
        out.push(sorted(rows));
    }
    if let Some(first) = out.first_mut() {
        *first = sorted(summary);
    }
    out
}

/// Rolls values of contexts up: everything below for inclusive, the function's own code for
/// exclusive.
///
/// Sums have 128 bits: the costs of a long run of many threads exceed 64.
fn push(rows: &mut Vec<Row>, contexts: &ContextTree, point: &[u128], metric: usize) {
    let mut inclusive = point.to_vec();
    let mut exclusive = point.to_vec();
    for context in contexts.iter().rev() {
        let Some(parent) = contexts.parent(context) else { continue };
        let add = |list: &mut Vec<u128>| {
            let value = list.get(context.idx()).copied().unwrap_or(0);
            if let Some(slot) = list.get_mut(parent.idx()) {
                *slot = slot.saturating_add(value);
            }
        };
        add(&mut inclusive);
        if !contexts.relation(context).is_call() {
            add(&mut exclusive);
        }
    }
    let Ok(id) = u16::try_from(metric * 2) else { return };
    for (list, metric) in [(inclusive, id), (exclusive, id + 1)] {
        rows.extend((0..).zip(list).filter(|(_, value)| *value > 0).map(|(context, value)| Row {
            context,
            metric,
            value: value as f64,
        }));
    }
}

/// Tables of functions, files and modules, each entry once.
struct Tables<'t> {
    table: &'t Table,
    /// Names without callers.
    plain: HashSet<&'t str>,
    functions: Vec<Function>,
    files: Vec<SourceFile>,
    modules: Vec<Module>,
    by_function: HashMap<Named, FunctionIdx>,
    by_file: HashMap<Arc<str>, FileIdx>,
    by_module: HashMap<Arc<str>, ModuleIdx>,
}

impl<'t> Tables<'t> {
    fn of(table: &'t Table) -> Self {
        let first = |named: &'t Named| named.full.split('\'').next().unwrap_or_default();
        Self {
            table,
            plain: table.functions.iter().map(first).collect(),
            functions: Vec::new(),
            files: Vec::new(),
            modules: Vec::new(),
            by_function: HashMap::new(),
            by_file: HashMap::new(),
            by_module: HashMap::new(),
        }
    }

    fn node(&mut self, what: &What, graph: &Graph) -> Node {
        let blank = Node::new(ContextKind::Function, Relation::Call);
        match what {
            What::Root => blank,
            What::Function(row) => {
                let function = self.table.functions.get(*row).map(|named| self.function(named));
                Node { function, ..blank }
            }
            What::Cycle(group) => {
                let members = graph.members.get(*group).map_or(&[][..], Vec::as_slice);
                let names: Vec<&str> = members
                    .iter()
                    .take(SHOWN)
                    .filter_map(|&row| self.table.functions.get(row))
                    .map(|named| plain_name(&named.full, &self.plain))
                    .collect();
                let more = match members.len().saturating_sub(SHOWN) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let name = format!("<cycle of {}{more}>", names.join(", "));
                Node { function: Some(self.named(&name)), ..blank }
            }
            What::Smaller => Node { function: Some(self.named("<smaller calls>")), ..blank },
            What::Spot(at) if at.line == 0 => Node {
                kind: ContextKind::Instruction,
                relation: Relation::Lexical,
                offset: at.address,
                ..blank
            },
            What::Spot(at) => Node {
                kind: ContextKind::Line,
                relation: Relation::Lexical,
                file: at.file.as_ref().map(|path| self.file(path)),
                line: at.line,
                ..blank
            },
        }
    }

    fn named(&mut self, name: &str) -> FunctionIdx {
        self.function(&Named { full: name.into(), file: None, object: None })
    }

    fn function(&mut self, named: &Named) -> FunctionIdx {
        let name = match plain_name(&named.full, &self.plain) {
            "???" => match &named.object {
                Some(path) => format!("<unknown in {}>", path.rsplit('/').next().unwrap_or(path)),
                None => ContextTree::UNKNOWN_FUNCTION.to_owned(),
            },
            name => name.to_owned(),
        };
        let key = Named { full: name.as_str().into(), ..named.clone() };
        if let Some(&known) = self.by_function.get(&key) {
            return known;
        }
        let function = Function {
            name: Arc::clone(&key.full),
            group: None,
            module: key.object.as_ref().map(|path| self.module(path)),
            file: key.file.as_ref().map(|path| self.file(path)),
            line: 0,
        };
        let row = FunctionIdx::from_len(self.functions.len());
        self.functions.push(function);
        self.by_function.insert(key, row);
        row
    }

    fn file(&mut self, path: &Arc<str>) -> FileIdx {
        let next = FileIdx::from_len(self.files.len());
        let row = *self.by_file.entry(Arc::clone(path)).or_insert(next);
        if row == next {
            self.files.push(SourceFile { path: Arc::clone(path), is_copied: false });
        }
        row
    }

    fn module(&mut self, path: &Arc<str>) -> ModuleIdx {
        let next = ModuleIdx::from_len(self.modules.len());
        let row = *self.by_module.entry(Arc::clone(path)).or_insert(next);
        if row == next {
            self.modules.push(Module { path: Arc::clone(path) });
        }
        row
    }
}

/// A name without the callers (`f'main`) or the depth of recursion (`f'2`) that Callgrind adds where
/// it keeps them apart: what follows `'` must be a number or a function, because names of C++ may
/// have `'` as well.
fn plain_name<'n>(full: &'n str, known: &HashSet<&str>) -> &'n str {
    let mut parts = full.split('\'');
    let first = parts.next().unwrap_or(full);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_added = parts.all(|part| is_number(part) || known.contains(part));
    if first.is_empty() || !is_added { full } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_cut_from_names_and_quotes_are_not() {
        let known = HashSet::from(["f", "main", "go::"]);
        for (full, plain) in [
            ("f", "f"),
            ("f'2", "f"),
            ("f'main", "f"),
            ("f'main'2", "f"),
            ("go::'lambda'(int)::operator()", "go::'lambda'(int)::operator()"),
            ("'x", "'x"),
        ] {
            assert_eq!(plain_name(full, &known), plain);
        }
    }
}
