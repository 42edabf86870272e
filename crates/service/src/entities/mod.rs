//! Single calls, executions of loops, iterations, and what they read and write, asked for by number:
//! the answers of `entities`, `related` and `shared`.
//!
//! These are the reads of Parceive's interface (entities, relations, many of them in one question),
//! over positions in the model instead of rows of SQLite.

mod catalogs;
mod nodes;
mod references;
mod relations;

use parallax_base::{ActivationIdx, Control, ReferenceIdx};
use parallax_engine::query::QueryError;
use parallax_engine::{Column, EngineError, Table};
use parallax_model::{Activations, ContextTree};

use crate::{Answer, Opened, ServiceError};

pub(crate) use nodes::{by_function, calls_of, function_of, labels};
pub(crate) use references::name;

use nodes::{Node, group_of};
use references::{Used, uses_of};

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntityKind {
    /// A call, an execution of a loop, or an iteration, by its position.
    Activation,
    /// All calls of one function by one call, in its loops or not, by the position of the first.
    Group,
    /// A variable or an allocation.
    Reference,
    /// A thread.
    Thread,
    /// A function.
    Function,
    /// A source file.
    File,
    /// A stretch of a thread with a name.
    Tag,
}

impl EntityKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Activation => "activation",
            Self::Group => "group",
            Self::Reference => "reference",
            Self::Thread => "thread",
            Self::Function => "function",
            Self::File => "file",
            Self::Tag => "tag",
        }
    }
}

/// What is asked for about entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The activation around it.
    Parent,
    /// The call around it.
    Caller,
    /// All activations around it, innermost first.
    Ancestors,
    /// Activations directly inside it.
    Children,
    /// Calls that it makes.
    Calls,
    /// Calls that it makes, by function.
    Groups,
    /// Loops directly in it.
    Executions,
    /// Iterations of an execution.
    Iterations,
    /// Everything below it.
    Within,
    /// What it reads and writes itself.
    References,
    /// What it and everything below it read and write.
    ReferencesWithin,
    /// Who reads and writes it.
    Touchers,
    /// Its thread, or the threads that it started.
    Threads,
    /// Its function, or the functions in it.
    Functions,
    /// What is marked in it.
    Tags,
}

impl Relation {
    /// The word for it, as the protocol has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parent => "parent",
            Self::Caller => "caller",
            Self::Ancestors => "ancestors",
            Self::Children => "children",
            Self::Calls => "calls",
            Self::Groups => "groups",
            Self::Executions => "executions",
            Self::Iterations => "iterations",
            Self::Within => "within",
            Self::References => "references",
            Self::ReferencesWithin => "references_within",
            Self::Touchers => "touchers",
            Self::Threads => "threads",
            Self::Functions => "functions",
            Self::Tags => "tags",
        }
    }
}

/// Entities by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntitiesRequest {
    /// What they are.
    pub kind: EntityKind,
    /// Which ones; `None` for all.
    pub ids: Option<Vec<u32>>,
    /// Rows at most.
    pub limit: usize,
}

/// What belongs to entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedRequest {
    /// What they are.
    pub kind: EntityKind,
    /// Which ones.
    pub ids: Vec<u32>,
    /// What is asked for about each of them.
    pub relation: Relation,
    /// Of calls, children and everything within: only what takes longer, in nanoseconds.
    pub longer_than_nanos: Option<u64>,
    /// Rows at most.
    pub limit: usize,
}

/// What several activations and groups read or write, all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SharedRequest {
    /// Activations.
    pub activations: Vec<u32>,
    /// Groups.
    pub groups: Vec<u32>,
    /// Whether what is below them counts, too.
    pub is_inclusive: bool,
}

/// Entities.
#[derive(Debug, Clone)]
pub struct EntitiesAnswer {
    /// One row for each; see `EntitiesReply` of the protocol for the columns by kind.
    pub table: Table,
    /// Rows that the limit left out.
    pub left_out: u64,
}

/// A run with the tables that its entities are numbered by.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) activations: &'a Activations,
    pub(crate) contexts: &'a ContextTree,
}

/// Rows of an answer, no more than the limit.
pub(super) struct Rows<T> {
    /// The entity that each row belongs to, where there is one.
    pub(super) of: Vec<u32>,
    pub(super) list: Vec<T>,
    limit: usize,
    pub(super) left_out: u64,
}

impl<T> Rows<T> {
    pub(super) const fn new(limit: usize) -> Self {
        Self { of: Vec::new(), list: Vec::new(), limit, left_out: 0 }
    }

    pub(super) fn push(&mut self, of: u32, row: T) {
        if self.list.len() < self.limit {
            self.of.push(of);
            self.list.push(row);
        } else {
            self.left_out += 1;
        }
    }

    /// The answer: `columns` of the rows, after the column `of` where rows belong to something.
    pub(super) fn answer(
        self,
        is_related: bool,
        columns: impl FnOnce(&[T]) -> Vec<Column>,
    ) -> EntitiesAnswer {
        let mut all = columns(&self.list);
        if is_related {
            let doc = "The entity of the question that the row belongs to.";
            all.insert(0, Column::u32s("of", doc, self.of));
        }
        EntitiesAnswer { table: Table::new(all), left_out: self.left_out }
    }
}

impl Opened {
    fn run(&self) -> Result<Run<'_>, ServiceError> {
        Ok(Run { activations: self.activations()?, contexts: self.session().tree() })
    }

    /// Entities by number, in the order of the numbers.
    ///
    /// # Errors
    /// When single calls were not recorded, or there is no entity of a number.
    pub fn entities(&self, request: &EntitiesRequest) -> Result<EntitiesAnswer, ServiceError> {
        let run = self.run()?;
        let count = run.count(request.kind);
        let ids = match &request.ids {
            Some(ids) => {
                run.check(request.kind, ids)?;
                ids.clone()
            }
            // Groups have no numbers of their own: all of them are those of all calls.
            None if request.kind == EntityKind::Group => run.all_groups(),
            None => (0..u32::try_from(count).unwrap_or(u32::MAX)).collect(),
        };
        let limit = request.limit;
        Ok(match request.kind {
            EntityKind::Activation => {
                let node = |id| Node::one(ActivationIdx::new(id));
                run.nodes_answer(rows(&ids, limit, node), false)
            }
            EntityKind::Group => {
                let node = |id| Node::group(group_of(run, ActivationIdx::new(id)));
                run.nodes_answer(rows(&ids, limit, node), false)
            }
            EntityKind::Reference => {
                let totals = run.reference_totals();
                let used = |id| Used {
                    reference: ReferenceIdx::new(id),
                    used: totals.get(id as usize).copied().unwrap_or_default(),
                };
                run.references_answer(rows(&ids, limit, used), false)
            }
            kind => run.catalog(kind, &rows(&ids, limit, |id| id), self.session(), false),
        })
    }

    /// What belongs to entities, in the order of the question.
    ///
    /// # Errors
    /// When single calls were not recorded, there is no entity of a number, entities of the kind do
    /// not have the relation, or the question is withdrawn.
    pub fn related(
        &self,
        request: &RelatedRequest,
        control: &Control,
    ) -> Result<EntitiesAnswer, ServiceError> {
        let run = self.run()?;
        run.check(request.kind, &request.ids)?;
        relations::related(run, self.session(), request, control)
    }

    /// The variables and allocations that all of some activations and groups read or write, most
    /// accesses by them first.
    ///
    /// # Errors
    /// When single calls were not recorded, or there is no entity of a number.
    pub fn shared(&self, request: &SharedRequest) -> Result<Answer<EntitiesAnswer>, ServiceError> {
        let run = self.run()?;
        run.check(EntityKind::Activation, &request.activations)?;
        run.check(EntityKind::Group, &request.groups)?;
        let one = |&id: &u32| vec![ActivationIdx::new(id)];
        let group = |&id: &u32| group_of(run, ActivationIdx::new(id));
        let members = (request.activations.iter().map(one)).chain(request.groups.iter().map(group));
        let all = members.map(|members| uses_of(run, &members, request.is_inclusive));
        let shared = all.reduce(|mut shared, more| {
            shared.retain(|reference, used| match more.get(reference) {
                Some(also) => {
                    used.add(also);
                    true
                }
                None => false,
            });
            shared
        });
        let mut list: Vec<Used> = (shared.unwrap_or_default().into_iter())
            .map(|(reference, used)| Used { reference, used })
            .collect();
        list.sort_by_key(|row| (u64::MAX - row.used.accesses(), row.reference));
        let mut notes = Vec::new();
        if list.is_empty() {
            let hint = if request.is_inclusive { "" } else { "; what they call may" };
            notes.push(format!("they share no variable or allocation{hint}"));
        }
        let mut rows = Rows::new(usize::MAX);
        list.into_iter().for_each(|row| rows.push(0, row));
        Ok(Answer { value: run.references_answer(rows, false), notes })
    }
}

/// A row for each number.
fn rows<T>(ids: &[u32], limit: usize, row: impl Fn(u32) -> T) -> Rows<T> {
    let mut rows = Rows::new(limit);
    for &id in ids.iter().take(limit) {
        rows.push(id, row(id));
    }
    rows.left_out = ids.len().saturating_sub(limit) as u64;
    rows
}

impl Run<'_> {
    /// How many numbers entities of a kind have.
    fn count(self, kind: EntityKind) -> usize {
        match kind {
            EntityKind::Activation | EntityKind::Group => self.activations.tree.len(),
            EntityKind::Reference => self.activations.references.len(),
            EntityKind::Thread => self.activations.threads.len(),
            EntityKind::Function => self.contexts.functions().len(),
            EntityKind::File => self.contexts.files().len(),
            EntityKind::Tag => self.activations.tags.len(),
        }
    }

    /// Whether there are entities of these numbers.
    fn check(self, kind: EntityKind, ids: &[u32]) -> Result<(), ServiceError> {
        let count = self.count(kind);
        let Some(wrong) = ids.iter().find(|id| **id as usize >= count) else { return Ok(()) };
        let known = match count {
            0 => "there is none".to_owned(),
            count => format!("they go from 0 to {}", count - 1),
        };
        let text = format!("{} {wrong}", kind.name());
        let error = QueryError::unknown_name(&text, &text, format!("there is no {text}"));
        Err(EngineError::from(error.with_hint(known)).into())
    }
}
