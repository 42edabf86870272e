//! The views of the tree: the answers of `tree`, `callers` and `flat`.

use std::collections::HashMap;

use parallax_base::{ContextIdx, Control};
use parallax_engine::query::{NameMatch, parse_contexts};
use parallax_engine::resolve::resolve_contexts;
use parallax_engine::{Callers, FlatRow, Session, Subtrees, TopDown, display_name, flat};
use parallax_model::{ContextKind, ContextTree};
use parallax_protocol::{
    Answer, CallersRequest, CallersTables, CostChoice, CostOnlyReply, CostReply, CostTreeTable,
    FlatBy, FlatRequest, FlatTable, FlatTableRow, FlatTables, PruneChoice, Repeated, Table,
    TypedTable as _,
};

use crate::options::{Chosen, Prune as _, Resolve as _};
use crate::tree_table::NO_PARENT;
use crate::{Answers, OpenExperiment, ServiceError};

/// A top-down tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TreeRequest {
    /// What counts as cost.
    pub cost: CostChoice,
    /// What is left out.
    pub prune: PruneChoice,
    /// A context expression: the tree begins at the contexts it names (the outermost of them).
    pub from: Option<String>,
    /// Deepest level shown, counted from where the tree begins; `None` for all.
    pub max_depth: Option<u32>,
    /// A child is on the hot path when it bears at least this share of its parent's cost.
    pub hot_percent: f64,
}

/// One row of a tree, in the order it is read: parents first, then children from the most
/// expensive.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeRow {
    /// Levels below the top.
    pub depth: u32,
    /// Context id in the database.
    pub context_id: u32,
    /// What the context is called.
    pub label: String,
    /// Where a function is defined, as `file:line`; empty when unknown, and for everything else.
    pub place: String,
    /// Path of the executable or library of the code; empty when unknown.
    pub module: String,
    /// Offset of an instruction in its module.
    pub offset: Option<u64>,
    /// What the context is: `function`, `loop`, `caller`, ...
    pub kind: &'static str,
    /// Cost with everything below.
    pub inclusive: f64,
    /// Cost of the context itself.
    pub exclusive: f64,
    /// Whether it is on the hot path.
    pub is_hot: bool,
    /// Children (of a bottom-up tree: callers) that are not shown because of the depth.
    pub num_hidden: usize,
}

/// A tree as rows.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeAnswer {
    /// What the numbers count.
    pub header: CostReply,
    /// The rows.
    pub rows: Vec<TreeRow>,
}

/// Rows of a bottom-up tree at most. There may be as many as contexts times their depth.
pub const MOST_CALLERS: usize = 200_000;

/// A flat view as rows.
#[derive(Debug, Clone, PartialEq)]
pub struct FlatAnswer {
    /// What the numbers count.
    pub header: CostReply,
    /// The groups, from the highest exclusive cost.
    pub rows: Vec<FlatRow>,
}

impl OpenExperiment {
    pub(crate) fn header(&self, chosen: &Chosen) -> CostReply {
        let locations = match &chosen.locations {
            parallax_engine::LocationChoice::All => self.session.experiment().locations.len(),
            parallax_engine::LocationChoice::Some(list) => list.len(),
        };
        CostReply {
            metric: chosen.measure.name.clone(),
            unit: chosen.measure.unit.to_string(),
            reason: chosen.reason.clone(),
            total: chosen.measure.total,
            locations: locations as u64,
            helpers: chosen.helpers.clone(),
            notes: chosen
                .notes
                .iter()
                .cloned()
                .chain(throttled_note(self.session.tree()))
                .collect(),
        }
    }

    /// The tree from the entries down.
    ///
    /// # Errors
    /// When an expression is wrong, or the costs cannot be read.
    pub fn tree(
        &self,
        request: &TreeRequest,
        control: &Control,
    ) -> Result<TreeAnswer, ServiceError> {
        let session = &self.session;
        let tree = session.tree();
        let mut chosen = request.cost.resolve(self, control)?;
        let view = request.prune.view(session, &chosen.measure)?;
        let part = part(session, request.from.as_deref(), &mut chosen.notes, control)?;
        let tops: Option<Vec<usize>> =
            part.map(|part| part.tops().iter().map(|&context| view.owner(context)).collect());
        let top_down = TopDown::new(tree, view, &chosen.measure);
        let mut is_hot = vec![false; top_down.view.len()];
        for row in top_down.hot_path(request.hot_percent) {
            is_hot[row] = true;
        }
        let tops = tops.unwrap_or_else(|| top_down.children_by_cost(0));
        let mut rows = Vec::new();
        // Depth-first by an explicit stack: trees may be deep.
        let mut stack: Vec<(usize, u32)> = tops.iter().rev().map(|&row| (row, 0)).collect();
        while let Some((row, depth)) = stack.pop() {
            let context = top_down.view.contexts()[row];
            let children = top_down.children_by_cost(row);
            let is_cut = request.max_depth.is_some_and(|max| depth >= max);
            rows.push(TreeRow {
                depth,
                context_id: tree.source_id(context),
                label: tree.label(context),
                place: definition(tree, context),
                module: module(tree, context),
                offset: offset(tree, context),
                kind: kind_name(tree, context),
                inclusive: top_down.inclusive[row],
                exclusive: top_down.exclusive[row],
                is_hot: is_hot[row],
                num_hidden: if is_cut { children.len() } else { 0 },
            });
            if !is_cut {
                stack.extend(children.iter().rev().map(|&child| (child, depth + 1)));
            }
        }
        Ok(TreeAnswer { header: self.header(&chosen), rows })
    }

    /// The functions and who called them.
    ///
    /// # Errors
    /// When an expression is wrong, or the costs cannot be read.
    pub fn callers(
        &self,
        request: &CallersRequest,
        control: &Control,
    ) -> Result<TreeAnswer, ServiceError> {
        let session = &self.session;
        let tree = session.tree();
        let mut chosen = request.cost.resolve(self, control)?;
        let view = request.prune.view(session, &chosen.measure)?;
        let part = part(session, request.from.as_deref(), &mut chosen.notes, control)?;
        let glob = request.matching.as_deref().map(NameMatch::from_bare);
        // An exact name is a name as a row shows it, not its normal form.
        let is_wanted = |name: &str| {
            request.function.as_deref().is_none_or(|exact| exact == name)
                && glob.as_ref().is_none_or(|glob| glob.matches_function(name))
        };
        let callers = Callers::new(tree, &view, &chosen.measure, is_wanted, part.as_ref());
        let named = request.function.as_ref().or(request.matching.as_ref());
        if let (Some(function), []) = (named, callers.roots()) {
            chosen.notes.push(format!("No function with a value matches {function}."));
        }
        let max_rows = request.max_rows.map_or(MOST_CALLERS, |rows| rows as usize);
        let max_rows = max_rows.min(MOST_CALLERS);
        let found = callers.rows(request.max_depth.unwrap_or(u32::MAX), max_rows);
        if found.is_cut {
            chosen.notes.push(format!(
                "Only the {} rows with the largest values are shown; choose a function or a \
                 smaller depth for others.",
                found.rows.len()
            ));
        }
        let rows = found.rows.iter().map(|row| TreeRow {
            depth: row.node.depth,
            context_id: tree.source_id(row.node.context),
            label: row.node.name.to_string(),
            place: definition(tree, row.node.context),
            module: module(tree, row.node.context),
            offset: None,
            kind: if row.node.depth > 0 { "caller" } else { "function" },
            inclusive: row.node.inclusive,
            exclusive: row.node.exclusive,
            is_hot: false,
            num_hidden: row.num_hidden,
        });
        let rows = rows.collect();
        Ok(TreeAnswer { header: self.header(&chosen), rows })
    }

    /// Contexts grouped by what they are, wherever they are called from.
    ///
    /// # Errors
    /// When an expression is wrong, or the costs cannot be read.
    pub fn flat(
        &self,
        request: &FlatRequest,
        control: &Control,
    ) -> Result<FlatAnswer, ServiceError> {
        let session = &self.session;
        let mut chosen = request.cost.resolve(self, control)?;
        let view = request.prune.view(session, &chosen.measure)?;
        let part = part(session, request.from.as_deref(), &mut chosen.notes, control)?;
        let tree = session.tree();
        let mut rows = flat(tree, &view, &chosen.measure, request.by, part.as_ref());
        for row in rows.iter_mut().filter(|_| request.by == FlatBy::Function) {
            row.place = marked(tree, row.context, std::mem::take(&mut row.place));
        }
        Ok(FlatAnswer { header: self.header(&chosen), rows })
    }
}

/// The part of the tree below the contexts of an expression; `None` when there is no expression.
fn part<'a>(
    session: &'a Session,
    from: Option<&str>,
    notes: &mut Vec<String>,
    control: &Control,
) -> Result<Option<Subtrees<'a>>, ServiceError> {
    let Some(text) = from else { return Ok(None) };
    let (contexts, more) = resolve_contexts(session, &parse_contexts(text)?, control)?;
    notes.extend(more);
    Ok(Some(Subtrees::new(session.tree(), &contexts)))
}

/// A place behind which it says that the function was no longer timed at some point.
fn marked(tree: &ContextTree, context: ContextIdx, place: String) -> String {
    match (tree.is_throttled(context), place.as_str()) {
        (false, _) => place,
        (true, "") => "throttled".to_owned(),
        (true, place) => format!("{place}, throttled"),
    }
}

/// Where the function of a function context is defined, and whether it was throttled.
pub(crate) fn definition(tree: &ContextTree, context: ContextIdx) -> String {
    let function = tree.function(context).and_then(|row| tree.functions().get(row.idx()));
    let file = function
        .and_then(|function| function.file)
        .and_then(|file| tree.files().get(file.idx()))
        .map(|file| file.path.rsplit('/').next().unwrap_or(&file.path));
    let place = match (file, function.map_or(0, |function| function.line)) {
        // Code without line information has its module in brackets for a file.
        (Some(file), _) if file.starts_with('[') => String::new(),
        (Some(file), 0) => file.to_owned(),
        (Some(file), line) => format!("{file}:{line}"),
        (None, _) => String::new(),
    };
    marked(tree, context, place)
}

/// What to know of numbers where functions were throttled; `None` where none were.
fn throttled_note(tree: &ContextTree) -> Option<String> {
    let functions = tree.throttled();
    let first = tree.functions().get(functions.first()?.idx())?;
    let (others, values) = match functions.len() {
        1 => (String::new(), "its values are lower bounds"),
        n => (format!(" and {} more functions", n - 1), "their values are lower bounds"),
    };
    Some(format!(
        "The measurement stopped timing {}{others} (throttled): {values}, what came afterwards \
         counts to the callers.",
        display_name(&first.name)
    ))
}

pub(crate) fn kind_name(tree: &ContextTree, context: ContextIdx) -> &'static str {
    use parallax_model::ContextKind as Kind;
    match tree.kind(context) {
        Kind::Root => "root",
        Kind::Entry => "entry",
        Kind::Function => "function",
        Kind::Loop => "loop",
        Kind::Line => "line",
        Kind::Instruction => "instruction",
        Kind::Other(_) => "other",
    }
}

/// Texts of which each is kept once: a deep tree has few functions and many rows.
fn texts<'r>(rows: impl Iterator<Item = &'r str>) -> Repeated {
    let mut known: HashMap<&str, i32> = HashMap::new();
    let mut texts: Vec<String> = Vec::new();
    let rows = rows.map(|text| {
        *known.entry(text).or_insert_with(|| {
            texts.push(text.to_owned());
            i32::try_from(texts.len() - 1).unwrap_or(-1)
        })
    });
    let rows = rows.collect();
    Repeated { rows, texts }
}

/// For each row the one that it lies below: the last before it with a level less.
fn parents(rows: &[TreeRow]) -> Vec<u32> {
    let mut open: Vec<u32> = Vec::new();
    let of = |(at, row): (u32, &TreeRow)| {
        open.truncate(row.depth as usize);
        let parent = open.last().copied().unwrap_or(NO_PARENT);
        open.push(at);
        parent
    };
    (0..).zip(rows).map(of).collect()
}

/// Path of the module of a context's code: its own, or that of the function around it.
fn module(tree: &ContextTree, context: ContextIdx) -> String {
    let mut at = Some(context);
    while let Some(context) = at {
        let function = tree.function(context).and_then(|row| tree.functions().get(row.idx()));
        let own = match tree.kind(context) {
            ContextKind::Function => function.and_then(|function| function.module),
            _ => tree.module(context),
        };
        if let Some(module) = own.and_then(|module| tree.modules().get(module.idx())) {
            return module.path.to_string();
        }
        let is_end = matches!(tree.kind(context), ContextKind::Function | ContextKind::Entry);
        at = tree.parent(context).filter(|_| !is_end);
    }
    String::new()
}

/// The offset of an instruction in its module.
fn offset(tree: &ContextTree, context: ContextIdx) -> Option<u64> {
    (tree.kind(context) == ContextKind::Instruction).then(|| tree.offset(context))
}

fn percent(total: f64, cost: f64) -> f64 {
    if total == 0.0 { 0.0 } else { cost / total * 100.0 }
}

impl TreeAnswer {
    /// The rows as a table; `depth` and the order carry the shape.
    #[must_use]
    pub fn rows_table(&self) -> CostTreeTable {
        let rows = &self.rows;
        let share = |cost: f64| percent(self.header.total, cost);
        CostTreeTable {
            depth: rows.iter().map(|row| row.depth).collect(),
            parent: parents(rows),
            context_id: rows.iter().map(|row| row.context_id).collect(),
            kind: texts(rows.iter().map(|row| row.kind)),
            name: texts(rows.iter().map(|row| row.label.as_str())),
            place: texts(rows.iter().map(|row| row.place.as_str())),
            module: texts(rows.iter().map(|row| row.module.as_str())),
            offset: rows.iter().map(|row| row.offset).collect(),
            inclusive: rows.iter().map(|row| row.inclusive).collect(),
            exclusive: rows.iter().map(|row| row.exclusive).collect(),
            inclusive_percent: rows.iter().map(|row| share(row.inclusive)).collect(),
            exclusive_percent: rows.iter().map(|row| share(row.exclusive)).collect(),
        }
    }

    /// The same with units.
    #[must_use]
    pub fn table(&self) -> Table {
        self.rows_table().into_table_in(&self.header.unit)
    }
}

impl FlatAnswer {
    /// The groups as a table.
    #[must_use]
    pub fn rows_table(&self) -> FlatTable {
        let total = self.header.total;
        let row = |row: &FlatRow| FlatTableRow {
            name: row.name.clone(),
            place: row.place.clone(),
            exclusive: row.exclusive,
            inclusive: row.inclusive,
            exclusive_percent: percent(total, row.exclusive),
            inclusive_percent: percent(total, row.inclusive),
            contexts: row.num_contexts,
        };
        self.rows.iter().map(row).collect()
    }

    /// The same with units.
    #[must_use]
    pub fn table(&self) -> Table {
        self.rows_table().into_table_in(&self.header.unit)
    }
}

impl Answers<CallersRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &CallersRequest,
        control: &Control,
    ) -> Result<Answer<CallersRequest>, ServiceError> {
        let found = self.callers(request, control)?;
        let (rows, unit) = (found.rows_table(), found.header.unit.clone());
        let answer = Answer::new(CostOnlyReply { cost: found.header }, CallersTables { rows });
        Ok(Answer { unit, ..answer })
    }
}

impl Answers<FlatRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &FlatRequest,
        control: &Control,
    ) -> Result<Answer<FlatRequest>, ServiceError> {
        let found = self.flat(request, control)?;
        let (rows, unit) = (found.rows_table(), found.header.unit.clone());
        let answer = Answer::new(CostOnlyReply { cost: found.header }, FlatTables { rows });
        Ok(Answer { unit, ..answer })
    }
}
