//! Source files with the cost of their lines: the answers of `source_files` and `source`.

use parallax_base::{Control, Folder, ReadError, read_range};
use parallax_engine::query::{NameMatch, QueryError, near_names};
use parallax_engine::{EngineError, Groups, Measure, TreeView};
use parallax_model::{ContextKind, ContextTree, StoreError};

use crate::tree_table::defined;
use crate::{Answer, Column, CostHeader, CostsChoice, Opened, ServiceError, Table};

/// Contexts of a line that are listed unless asked otherwise.
const CONTEXTS_PER_LINE: usize = 100;

/// A source file whose text is in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFileInfo {
    /// Path as the contexts of the tree name it.
    pub path: String,
    /// Size in bytes.
    pub len_bytes: u64,
}

/// A source file with costs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceRequest {
    /// Path as the contexts of the tree name it, or the end of one that no other file has, such as
    /// `solver.c`.
    pub file: String,
    /// What counts as cost.
    pub costs: CostsChoice,
    /// How many contexts of each line to list at most; `None` for 100.
    pub contexts_per_line: Option<usize>,
}

/// A source file with the cost of its lines.
#[derive(Debug, Clone)]
pub struct SourceAnswer {
    /// Path as the contexts of the tree name it.
    pub path: String,
    /// The text; `None` where the database does not hold it.
    pub text: Option<String>,
    /// Where in the folder of the database the text lies, or is missing.
    pub text_path: String,
    /// What the numbers of each metric count, in the order of the request.
    pub headers: Vec<CostHeader>,
    /// One row for each line with a cost, ascending. Columns: `line` (from 1; 0 where only the
    /// file is known), `contexts` (how many contexts lie there), and `inclusive:K`, `exclusive:K`
    /// for metric number K from 0. Exclusive is the cost of the line's own code; inclusive also
    /// that of the calls made there, of nested activations only the outermost.
    pub lines: Table,
    /// The contexts of each line, from the most expensive by the first metric, as many as the
    /// request allows. Columns: `line`, `context_id`.
    pub contexts: Table,
}

impl Opened {
    /// The source files whose text is in the database, sorted by path.
    #[must_use]
    pub fn source_files(&self) -> Vec<SourceFileInfo> {
        let x = self.session().experiment();
        let Some(folder) = &x.sources else { return Vec::new() };
        let mut out: Vec<SourceFileInfo> = x
            .contexts
            .files()
            .iter()
            .filter_map(|file| {
                let (_, source) = open_text(&**folder, &file.path).ok().flatten()?;
                Some(SourceFileInfo { path: file.path.to_string(), len_bytes: source.len() })
            })
            .collect();
        out.sort_by(|a, b| a.path.cmp(&b.path));
        out.dedup();
        out
    }

    /// The text of a source file, where the database holds it, with the cost of its lines.
    ///
    /// # Errors
    /// When no context lies in such a file, an expression is wrong, the costs or the text cannot
    /// be read, or the text is larger than the limits.
    pub fn source(
        &self,
        request: &SourceRequest,
        control: &Control,
    ) -> Result<Answer<SourceAnswer>, ServiceError> {
        let tree = self.session().tree();
        let path = find_file(tree, &request.file)?;
        let chosen = request.costs.resolve(self.session(), control)?;
        let headers = chosen.iter().map(|chosen| self.header(chosen)).collect();
        let measures: Vec<&Measure> = chosen.iter().map(|chosen| &chosen.measure).collect();
        let mut notes = Vec::new();
        let (text_path, text) = self.text(path, &mut notes)?;
        let most = request.contexts_per_line.unwrap_or(CONTEXTS_PER_LINE);
        let (lines, contexts) = line_tables(tree, path, &measures, most);
        let path = path.to_owned();
        let value = SourceAnswer { path, text, text_path, headers, lines, contexts };
        Ok(Answer { value, notes })
    }

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
                notes.push(format!("the text of {path} was not looked for: {cause}"));
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
            notes.push("the file is not UTF-8; bytes that are not are shown as \u{fffd}".into());
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
            let message = format!("no context lies in a file {wanted}");
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
) -> (Table, Table) {
    // One path may stand in the table of files more than once.
    let is_meant: Vec<bool> = tree.files().iter().map(|file| &*file.path == path).collect();
    let view = TreeView::whole(tree);
    let (groups, numbers) = Groups::new(&view, |context| {
        let file = tree.file(context).filter(|_| tree.kind(context) == ContextKind::Line)?;
        (is_meant.get(file.idx()) == Some(&true)).then(|| tree.line(context))
    });
    let costs: Vec<_> = measures.iter().map(|measure| groups.costs(tree, &view, measure)).collect();
    let mut order: Vec<usize> = (0..groups.len())
        .filter(|&group| costs.iter().any(|costs| costs.is_measured[group]))
        .collect();
    order.sort_unstable_by_key(|&group| numbers[group]);
    let mut columns = vec![
        Column::u32s(
            "line",
            "Line in the file; 0 where only the file is known.",
            order.iter().map(|&group| numbers[group]).collect(),
        ),
        Column::u32s(
            "contexts",
            "Number of contexts in the line.",
            order.iter().map(|&group| groups.num_contexts(group)).collect(),
        ),
    ];
    for (number, (costs, measure)) in costs.iter().zip(measures).enumerate() {
        let unit = measure.unit.to_string();
        let mut add = |name: String, doc, costs: &[f64]| {
            columns.push(defined(name, &unit, doc, order.iter().map(|&group| costs[group])));
        };
        add(format!("inclusive:{number}"), INCLUSIVE_DOC, &costs.inclusive);
        add(format!("exclusive:{number}"), EXCLUSIVE_DOC, &costs.exclusive);
    }
    (Table::new(columns), contexts_table(tree, &view, &groups, &order, measures, contexts_per_line))
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
) -> Table {
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
    let (mut lines, mut ids) = (Vec::new(), Vec::new());
    for &group in order {
        let list = &mut lists[group];
        list.sort_by(|&a, &b| cost(b).total_cmp(&cost(a)));
        for &context in list.iter().take(most) {
            lines.push(tree.line(context));
            ids.push(tree.source_id(context));
        }
    }
    Table::new(vec![
        Column::u32s("line", "Line in the file.", lines),
        Column::u32s("context_id", "Context id in the database.", ids),
    ])
}
