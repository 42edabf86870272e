//! The views of the tree: the answers of `tree`, `callers` and `flat`.

use std::collections::HashMap;

use parallax_base::{ContextIdx, Control, Unit};
use parallax_engine::query::{NameMatch, parse_contexts};
use parallax_engine::resolve::resolve_contexts;
use parallax_engine::{Callers, FlatBy, FlatRow, Part, Session, TopDown, flat};
use parallax_model::ContextTree;

use crate::options::Chosen;
use crate::{Column, CostChoice, Opened, PruneChoice, ServiceError, Table};

/// What the numbers of a view count.
#[derive(Debug, Clone, PartialEq)]
pub struct CostHeader {
    /// Name of the metric, its formula, or `trace time`.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Why this metric, where nobody named one.
    pub reason: Option<String>,
    /// Cost of the whole execution over the chosen locations; NaN where a formula is undefined.
    pub total: f64,
    /// Number of locations that the numbers are sums over.
    pub locations: usize,
    /// What a person should know.
    pub notes: Vec<String>,
}

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
    pub header: CostHeader,
    /// The rows.
    pub rows: Vec<TreeRow>,
}

/// A bottom-up tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallersRequest {
    /// What counts as cost.
    pub cost: CostChoice,
    /// What is left out.
    pub prune: PruneChoice,
    /// A context expression: only the contexts that it names and what lies below them.
    pub from: Option<String>,
    /// Glob of the functions to start from; `None` for all.
    pub function: Option<String>,
    /// `function` is the whole name of one function, in which no character is special.
    pub is_exact: bool,
    /// Number of callers in a chain at most.
    pub max_depth: Option<u32>,
    /// Number of rows at most: the most expensive ones, with a note when there are more. There are
    /// never more than [`MOST_CALLERS`].
    pub max_rows: Option<usize>,
}

/// Rows of a bottom-up tree at most. There may be as many as contexts times their depth.
pub const MOST_CALLERS: usize = 200_000;

/// A flat view.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlatRequest {
    /// What counts as cost.
    pub cost: CostChoice,
    /// What is left out.
    pub prune: PruneChoice,
    /// A context expression: only the contexts that it names and what lies below them.
    pub from: Option<String>,
    /// What to group by.
    pub by: FlatBy,
}

/// A flat view as rows.
#[derive(Debug, Clone, PartialEq)]
pub struct FlatAnswer {
    /// What the numbers count.
    pub header: CostHeader,
    /// The groups, from the highest exclusive cost.
    pub rows: Vec<FlatRow>,
}

impl Opened {
    pub(crate) fn header(&self, chosen: &Chosen) -> CostHeader {
        let locations = match &chosen.locations {
            parallax_engine::LocationChoice::All => self.session.experiment().locations.len(),
            parallax_engine::LocationChoice::Some(list) => list.len(),
        };
        CostHeader {
            metric: chosen.measure.name.clone(),
            unit: chosen.measure.unit.clone(),
            reason: chosen.reason.clone(),
            total: chosen.measure.total,
            locations,
            notes: chosen.notes.clone(),
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
        let mut chosen = request.cost.resolve(session, control)?;
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
        let mut chosen = request.cost.resolve(session, control)?;
        let view = request.prune.view(session, &chosen.measure)?;
        let part = part(session, request.from.as_deref(), &mut chosen.notes, control)?;
        let wanted = request.function.as_deref().map(|text| {
            if request.is_exact {
                NameMatch::Exact(text.to_owned())
            } else {
                NameMatch::from_bare(text)
            }
        });
        let is_wanted = |name: &str| match &wanted {
            None => true,
            // An exact name is a name as a row shows it, not its normal form.
            Some(wanted) if request.is_exact => wanted.matches(name),
            Some(wanted) => wanted.matches_function(name),
        };
        let callers = Callers::new(tree, &view, &chosen.measure, is_wanted, part.as_ref());
        if let (Some(function), []) = (&request.function, callers.roots()) {
            chosen.notes.push(format!("no function with a cost matches {function}"));
        }
        let max_rows = request.max_rows.unwrap_or(MOST_CALLERS).min(MOST_CALLERS);
        let found = callers.rows(request.max_depth.unwrap_or(u32::MAX), max_rows);
        if found.is_cut {
            chosen.notes.push(format!(
                "only the {} most expensive rows are shown; choose a function or fewer callers in \
                 a chain to see others",
                found.rows.len()
            ));
        }
        let rows = found.rows.iter().map(|row| TreeRow {
            depth: row.node.depth,
            context_id: tree.source_id(row.node.context),
            label: row.node.name.to_string(),
            place: definition(tree, row.node.context),
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
        let mut chosen = request.cost.resolve(session, control)?;
        let view = request.prune.view(session, &chosen.measure)?;
        let part = part(session, request.from.as_deref(), &mut chosen.notes, control)?;
        let rows = flat(session.tree(), &view, &chosen.measure, request.by, part.as_ref());
        Ok(FlatAnswer { header: self.header(&chosen), rows })
    }
}

/// The part of the tree below the contexts of an expression; `None` when there is no expression.
fn part<'a>(
    session: &'a Session,
    from: Option<&str>,
    notes: &mut Vec<String>,
    control: &Control,
) -> Result<Option<Part<'a>>, ServiceError> {
    let Some(text) = from else { return Ok(None) };
    let (contexts, more) = resolve_contexts(session, &parse_contexts(text)?, control)?;
    notes.extend(more);
    Ok(Some(Part::new(session.tree(), &contexts)))
}

/// Where the function of a function context is defined.
pub(crate) fn definition(tree: &ContextTree, context: ContextIdx) -> String {
    let function = tree.function(context).and_then(|row| tree.functions().get(row.idx()));
    let file = function
        .and_then(|function| function.file)
        .and_then(|file| tree.files().get(file.idx()))
        .map(|file| file.path.rsplit('/').next().unwrap_or(&file.path));
    match (file, function.map_or(0, |function| function.line)) {
        // Code without line information has its module in brackets for a file.
        (Some(file), _) if file.starts_with('[') => String::new(),
        (Some(file), 0) => file.to_owned(),
        (Some(file), line) => format!("{file}:{line}"),
        (None, _) => String::new(),
    }
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
fn texts<'r>(name: &str, doc: &'static str, rows: impl Iterator<Item = &'r str>) -> Column {
    let mut known: HashMap<&str, i32> = HashMap::new();
    let mut all: Vec<String> = Vec::new();
    let rows = rows.map(|text| {
        *known.entry(text).or_insert_with(|| {
            all.push(text.to_owned());
            i32::try_from(all.len() - 1).unwrap_or(-1)
        })
    });
    let rows = rows.collect();
    Column::repeated_strings(name, doc, rows, &all)
}

fn percent(total: f64, cost: f64) -> f64 {
    if total == 0.0 { 0.0 } else { cost / total * 100.0 }
}

const INCLUSIVE_DOC: &str = "Cost with everything below, summed over the chosen locations.";
const EXCLUSIVE_DOC: &str = "Cost of its own code, summed over the chosen locations.";
const EXCLUSIVE_PERCENT_DOC: &str = "Exclusive cost as a share of the whole execution.";
const PERCENT_DOC: &str = "Inclusive cost as a share of the whole execution.";

impl TreeAnswer {
    /// The rows as a table; `depth` and the order carry the shape.
    #[must_use]
    pub fn table(&self) -> Table {
        let rows = &self.rows;
        let unit = self.header.unit.to_string();
        let share = |row: &TreeRow| percent(self.header.total, row.inclusive);
        Table::new(vec![
            Column::u32s("depth", "Levels below the top.", rows.iter().map(|r| r.depth).collect()),
            Column::u32s(
                "context_id",
                "Context id in the database.",
                rows.iter().map(|r| r.context_id).collect(),
            ),
            texts("kind", "What the row is.", rows.iter().map(|r| r.kind)),
            texts("name", "What it is called.", rows.iter().map(|r| r.label.as_str())),
            texts("place", "Where a function is defined.", rows.iter().map(|r| r.place.as_str())),
            Column::f64s(
                "inclusive",
                &unit,
                INCLUSIVE_DOC,
                rows.iter().map(|r| r.inclusive).collect(),
            ),
            Column::f64s(
                "exclusive",
                &unit,
                EXCLUSIVE_DOC,
                rows.iter().map(|r| r.exclusive).collect(),
            ),
            Column::f64s("inclusive_percent", "%", PERCENT_DOC, rows.iter().map(share).collect()),
            Column::f64s(
                "exclusive_percent",
                "%",
                EXCLUSIVE_PERCENT_DOC,
                rows.iter().map(|r| percent(self.header.total, r.exclusive)).collect(),
            ),
        ])
    }
}

impl FlatAnswer {
    /// The groups as a table.
    #[must_use]
    pub fn table(&self) -> Table {
        let rows = &self.rows;
        let unit = self.header.unit.to_string();
        let total = self.header.total;
        Table::new(vec![
            Column::strings("name", "What the group is called.", rows.iter().map(|r| &r.name)),
            Column::strings("place", "Where it is.", rows.iter().map(|r| &r.place)),
            Column::f64s(
                "exclusive",
                &unit,
                EXCLUSIVE_DOC,
                rows.iter().map(|r| r.exclusive).collect(),
            ),
            Column::f64s(
                "inclusive",
                &unit,
                "Cost with everything below; of nested contexts of a group only the outermost.",
                rows.iter().map(|r| r.inclusive).collect(),
            ),
            Column::f64s(
                "exclusive_percent",
                "%",
                EXCLUSIVE_PERCENT_DOC,
                rows.iter().map(|r| percent(total, r.exclusive)).collect(),
            ),
            Column::f64s(
                "inclusive_percent",
                "%",
                PERCENT_DOC,
                rows.iter().map(|r| percent(total, r.inclusive)).collect(),
            ),
            Column::u32s(
                "contexts",
                "Number of contexts in the group.",
                rows.iter().map(|r| r.num_contexts).collect(),
            ),
        ])
    }
}

/// Costs of a view, for callers that want both.
impl CostHeader {
    /// Share of the whole execution that a cost is, in per cent.
    #[must_use]
    pub fn percent(&self, cost: f64) -> f64 {
        percent(self.total, cost)
    }
}
