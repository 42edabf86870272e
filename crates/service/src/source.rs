//! Source files with the cost of their lines: the answers of `source_files` and `source`.

use parallax_base::{Control, Folder, ReadError, read_range};
use parallax_engine::query::{NameMatch, QueryError, near_names};
use parallax_engine::{EngineError, Groups, Measure, TreeView};
use parallax_model::{ContextKind, ContextTree, StoreError};
use parallax_protocol::{
    Answer, Family, LineContextTable, SourceFileReply, SourceFilesReply, SourceFilesRequest,
    SourceLineTable, SourceReply, SourceRequest, SourceTables,
};

use crate::options::Resolve as _;
use crate::tree_table::defined;
use crate::{Answers, OpenExperiment, ServiceError};

impl Answers<SourceFilesRequest> for OpenExperiment {
    fn answer(
        &self,
        _: &SourceFilesRequest,
        _: &Control,
    ) -> Result<Answer<SourceFilesRequest>, ServiceError> {
        let x = self.session().experiment();
        let Some(folder) = &x.sources else { return Ok(Answer::new(Default::default(), ())) };
        let mut files: Vec<SourceFileReply> = x
            .contexts
            .files()
            .iter()
            .filter_map(|file| {
                let (_, source) = open_text(&**folder, &file.path).ok().flatten()?;
                Some(SourceFileReply { path: file.path.to_string(), bytes: source.len() })
            })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup();
        Ok(Answer::new(SourceFilesReply { files }, ()))
    }
}

impl Answers<SourceRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &SourceRequest,
        control: &Control,
    ) -> Result<Answer<SourceRequest>, ServiceError> {
        let tree = self.session().tree();
        let path = find_file(tree, &request.path)?;
        let chosen = request.costs.resolve(self, control)?;
        let measures: Vec<&Measure> = chosen.iter().map(|chosen| &chosen.measure).collect();
        let mut notes = Vec::new();
        let (text_path, text) = self.text(path, &mut notes)?;
        let most = request.contexts_per_line as usize;
        let tables = line_tables(tree, path, &measures, most);
        let costs = chosen.iter().map(|chosen| self.header(chosen)).collect();
        let reply = SourceReply { path: path.to_owned(), text, text_path, costs, notes };
        Ok(Answer::new(reply, tables))
    }
}

impl OpenExperiment {
    fn text(
        &self,
        path: &str,
        notes: &mut Vec<String>,
    ) -> Result<(String, Option<String>), ServiceError> {
        let missing = stored_paths(path).into_iter().next().unwrap_or_default();
        let Some(folder) = &self.session().experiment().sources else { return Ok((missing, None)) };
        let read =
            |cause: ReadError| EngineError::from(StoreError::Read(format!("{path}: {cause}")));
        let found = match open_text(&**folder, path) {
            Err(cause @ ReadError::TooManyFiles { .. }) => {
                notes.push(format!("The text of {path} was not searched: {cause}."));
                None
            }
            found => found.map_err(read)?,
        };
        let Some((stored, source)) = found else { return Ok((missing, None)) };
        let limit = self.limits.answer("the text of a source file", source.len());
        limit.map_err(|error| EngineError::from(StoreError::from(error)))?;
        let bytes = read_range(&*source, 0, source.len()).map_err(read)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if std::str::from_utf8(&bytes).is_err() {
            notes.push("The file is not UTF-8; invalid bytes are shown as \u{fffd}.".into());
        }
        Ok((stored, Some(text)))
    }
}

/// Where a database may hold the text of the file at `path`, the likeliest first: HPCToolkit
/// copies files to `src/` and their absolute path, and names them by either.
fn stored_paths(path: &str) -> Vec<String> {
    match path.strip_prefix('/') {
        Some(below) => vec![format!("src/{below}")],
        None if path.starts_with("src/") => vec![path.to_owned(), format!("src/{path}")],
        None => vec![format!("src/{path}"), path.to_owned()],
    }
}

fn open_text(
    folder: &dyn Folder,
    path: &str,
) -> Result<Option<(String, parallax_base::Source)>, ReadError> {
    for stored in stored_paths(path) {
        if let Some(source) = folder.open(&stored)? {
            return Ok(Some((stored, source)));
        }
    }
    Ok(None)
}

/// The path of the one file that `wanted` names.
pub(crate) fn find_file<'t>(tree: &'t ContextTree, wanted: &str) -> Result<&'t str, ServiceError> {
    let paths = || tree.files().iter().map(|file| &*file.path);
    if let Some(path) = paths().find(|path| *path == wanted) {
        return Ok(path);
    }
    let end = NameMatch::Exact(wanted.to_owned());
    let mut found: Vec<&str> = paths().filter(|path| end.matches_path(path)).collect();
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [path] => Ok(path),
        [] => {
            let base = |path: &'t str| path.rsplit('/').next().unwrap_or(path);
            let near = near_names(wanted, paths().map(base), 3);
            let message = format!("no context is in a file {wanted}");
            let error = QueryError::unknown_name(wanted, wanted, message);
            Err(if near.is_empty() {
                error.with_hint("the flat view by file lists the files")
            } else {
                error.with_hint(format!("did you mean {}?", near.join(" or ")))
            }
            .into())
        }
        several => {
            let message = format!("{} files end in {wanted}", several.len());
            let shown: Vec<&str> = several.iter().copied().take(3).collect();
            let hint = format!("write more of the path: {}", shown.join(" or "));
            Err(QueryError::unknown_name(wanted, wanted, message).with_hint(hint).into())
        }
    }
}

/// The costs of the lines of a file, and their contexts.
fn line_tables(
    tree: &ContextTree,
    path: &str,
    measures: &[&Measure],
    contexts_per_line: usize,
) -> SourceTables {
    // One path may stand in the table of files more than once.
    let is_selected: Vec<bool> = tree.files().iter().map(|file| &*file.path == path).collect();
    let view = TreeView::whole(tree);
    let (groups, numbers) = Groups::new(&view, |context| {
        let file = tree.file(context).filter(|_| tree.kind(context) == ContextKind::Line)?;
        (is_selected.get(file.idx()) == Some(&true)).then(|| tree.line(context))
    });
    let costs: Vec<_> = measures.iter().map(|measure| groups.costs(tree, &view, measure)).collect();
    let mut order: Vec<usize> = (0..groups.len())
        .filter(|&group| costs.iter().any(|costs| costs.is_measured[group]))
        .collect();
    order.sort_unstable_by_key(|&group| numbers[group]);
    let mut lines = SourceLineTable {
        line: order.iter().map(|&group| numbers[group]).collect(),
        contexts: order.iter().map(|&group| groups.num_contexts(group)).collect(),
        costs: Family::default(),
    };
    for (number, (costs, measure)) in costs.iter().zip(measures).enumerate() {
        let unit = measure.unit.to_string();
        let mut add = |name: String, doc, costs: &[f64]| {
            let costs = order.iter().map(|&group| costs[group]);
            lines.costs.columns.push(defined(name, &unit, doc, costs));
        };
        add(format!("inclusive:{number}"), INCLUSIVE_DOC, &costs.inclusive);
        add(format!("exclusive:{number}"), EXCLUSIVE_DOC, &costs.exclusive);
    }
    let contexts = contexts_table(tree, &view, &groups, &order, measures, contexts_per_line);
    SourceTables { lines, contexts }
}

const INCLUSIVE_DOC: &str = "Cost of the line with the calls made there, of nested activations \
                             only the outermost; null where a formula is undefined.";
const EXCLUSIVE_DOC: &str = "Cost of the line's own code; null where a formula is undefined.";

fn contexts_table(
    tree: &ContextTree,
    view: &TreeView,
    groups: &Groups,
    order: &[usize],
    measures: &[&Measure],
    most: usize,
) -> LineContextTable {
    let mut lists = vec![Vec::new(); groups.len()];
    for (row, &context) in view.contexts().iter().enumerate() {
        let operands = || measures.iter().flat_map(|measure| measure.operands());
        if let Some(group) = groups.of_row(row)
            && operands().any(|costs| costs.inclusive_of(context) != 0.0)
        {
            lists[group].push(context);
        }
    }
    let cost = |context| {
        let first = measures.first().and_then(|measure| measure.operands().first());
        first.map_or(0.0, |costs| costs.inclusive_of(context))
    };
    let mut table = LineContextTable::default();
    for &group in order {
        let list = &mut lists[group];
        list.sort_by(|&a, &b| cost(b).total_cmp(&cost(a)));
        for &context in list.iter().take(most) {
            table.line.push(tree.line(context));
            table.context_id.push(tree.source_id(context));
        }
    }
    table
}
