//! Rows of several experiments: contexts with the same call path, or functions of the same name.

use std::collections::HashMap;

use parallax_model::ensemble::RegionKind;

use super::{
    ComparedContext, ComparisonOptions, ContextDetail, Matching, PathTree, Version, common_name,
    function_name,
};

/// How the contexts of one execution become rows.
pub(crate) struct RowMap {
    pub(crate) tree: PathTree,
    /// For each node its row; `None` for nodes that are no function where functions are compared.
    pub(crate) row_of: Vec<Option<usize>>,
    /// For each node whether no node of the same row is around it, so that recursion counts once.
    pub(crate) is_outermost: Vec<bool>,
}

/// All rows, and for each version and execution how its contexts become rows.
pub(crate) struct Merged {
    pub(crate) contexts: Vec<ComparedContext>,
    pub(crate) executions: Vec<Vec<RowMap>>,
}

struct Row {
    label: String,
    kind: RegionKind,
    parent: Option<usize>,
    contexts: Vec<Option<u32>>,
    children: Vec<usize>,
}

/// Rows of all versions. What lies deeper than `max_depth` counts to the row around it.
pub(crate) fn merge(
    versions: &[Version<'_>],
    matching: Matching,
    options: &ComparisonOptions,
    max_depth: Option<u32>,
) -> Merged {
    let mut rows: Vec<Row> = Vec::new();
    let mut known: HashMap<(Option<usize>, String), usize> = HashMap::new();
    let mut executions = Vec::new();
    let detail = match matching {
        Matching::CallPath => options.detail,
        Matching::Function => ContextDetail::Functions,
    };
    for (at, version) in versions.iter().enumerate() {
        let mut maps = Vec::new();
        for (nth, execution) in version.executions.iter().enumerate() {
            let source = execution.session.tree();
            let name_of = match matching {
                Matching::CallPath => common_name,
                Matching::Function => function_name,
            };
            let tree = PathTree::named(source, detail, options.libraries, name_of);
            let mut row_of: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
            let mut is_outermost = Vec::with_capacity(tree.nodes.len());
            let mut depths: Vec<u32> = Vec::with_capacity(tree.nodes.len());
            for (node_at, node) in tree.nodes.iter().enumerate() {
                let parent = match (matching, node.parent) {
                    (_, None) => None,
                    (Matching::CallPath, Some(above)) => row_of.get(above).copied().flatten(),
                    (Matching::Function, Some(_)) => Some(0),
                };
                let above = node.parent.and_then(|above| depths.get(above));
                let depth = above.map_or(0, |above| above.saturating_add(1));
                depths.push(depth);
                if matching == Matching::CallPath && max_depth.is_some_and(|most| depth > most) {
                    row_of.push(parent);
                    is_outermost.push(false);
                    continue;
                }
                let is_row = matching == Matching::CallPath
                    || matches!(node.kind, RegionKind::Function | RegionKind::WholeProgram);
                if !is_row {
                    row_of.push(None);
                    is_outermost.push(false);
                    continue;
                }
                let next = rows.len();
                let row = *known.entry((parent, node.key.clone())).or_insert(next);
                if row == next {
                    rows.push(Row {
                        label: node.label.clone(),
                        kind: node.kind,
                        parent,
                        contexts: vec![None; versions.len()],
                        children: Vec::new(),
                    });
                    if let Some(above) = parent.and_then(|above| rows.get_mut(above)) {
                        above.children.push(row);
                    }
                }
                if nth == 0
                    && let Some(slot) = rows.get_mut(row).and_then(|row| row.contexts.get_mut(at))
                {
                    *slot = slot.or(Some(source.source_id(node.context)));
                }
                let is_inside = std::iter::successors(tree.nodes.get(node_at), |node| {
                    node.parent.and_then(|above| tree.nodes.get(above))
                })
                .skip(1)
                .any(|above| {
                    matching == Matching::Function
                        && above.key == node.key
                        && above.kind == node.kind
                });
                row_of.push(Some(row));
                is_outermost.push(!is_inside);
            }
            maps.push(RowMap { tree, row_of, is_outermost });
        }
        executions.push(maps);
    }
    depth_first(&rows, executions)
}

/// Rows in the order of the tree: children in the order in which they were met.
fn depth_first(rows: &[Row], mut executions: Vec<Vec<RowMap>>) -> Merged {
    let mut place = vec![0; rows.len()];
    let mut contexts: Vec<ComparedContext> = Vec::with_capacity(rows.len());
    let mut stack: Vec<usize> = if rows.is_empty() { Vec::new() } else { vec![0] };
    while let Some(at) = stack.pop() {
        let Some(row) = rows.get(at) else { continue };
        if let Some(slot) = place.get_mut(at) {
            *slot = contexts.len();
        }
        let parent = row.parent.and_then(|above| place.get(above).copied());
        let above = parent.and_then(|above| contexts.get(above));
        let mut path = above.map(|above: &ComparedContext| above.path.clone()).unwrap_or_default();
        let depth = above.map_or(0, |above| above.depth + 1);
        if parent.is_some() {
            path.push(row.label.clone());
        }
        contexts.push(ComparedContext {
            name: row.label.clone(),
            path,
            kind: row.kind,
            parent,
            depth,
            contexts: row.contexts.clone(),
        });
        stack.extend(row.children.iter().rev());
    }
    for map in executions.iter_mut().flatten() {
        for row in map.row_of.iter_mut().flatten() {
            *row = place.get(*row).copied().unwrap_or(0);
        }
    }
    Merged { contexts, executions }
}
