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
use parallax_engine::EngineError;
use parallax_engine::query::QueryError;
use parallax_model::{Activations, ContextTree};
use parallax_protocol::{
    Answer, EntitiesReply, EntitiesRequest, EntitiesTables, EntityKind, EntityTable,
    RelatedRequest, RelatedTables, SharedRequest, SharedTables,
};

use crate::{Answers, OpenExperiment, ServiceError};

pub(crate) use nodes::{by_function, calls_of, function_of, labels};
pub(crate) use references::name;

use nodes::{Node, group_of};
use references::{Used, uses_of};

/// Rows of one answer at most, whatever a request asks for.
const MOST_ROWS: u32 = 1 << 20;

fn limit(asked: Option<u32>) -> usize {
    asked.unwrap_or(MOST_ROWS).min(MOST_ROWS) as usize
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

    /// The entities of the request, where rows belong to them.
    pub(super) fn of(&self, is_related: bool) -> Option<Vec<u32>> {
        is_related.then(|| self.of.clone())
    }

    pub(super) fn reply(&self) -> EntitiesReply {
        EntitiesReply { left_out: self.left_out, notes: Vec::new() }
    }
}

impl OpenExperiment {
    fn run(&self) -> Result<Run<'_>, ServiceError> {
        Ok(Run { activations: self.activations()?, contexts: self.session().tree() })
    }
}

impl Answers<EntitiesRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &EntitiesRequest,
        _: &Control,
    ) -> Result<Answer<EntitiesRequest>, ServiceError> {
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
        let limit = limit(request.limit);
        let (reply, rows) = match request.kind {
            EntityKind::Activation => {
                let rows = rows(&ids, limit, |id| Node::one(ActivationIdx::new(id)));
                (rows.reply(), EntityTable::Activations(run.node_table(&rows, false)))
            }
            EntityKind::Group => {
                let node = |id| Node::group(group_of(run, ActivationIdx::new(id)));
                let rows = rows(&ids, limit, node);
                (rows.reply(), EntityTable::Activations(run.node_table(&rows, false)))
            }
            EntityKind::Reference => {
                let totals = run.reference_totals();
                let used = |id| Used {
                    reference: ReferenceIdx::new(id),
                    used: totals.get(id as usize).copied().unwrap_or_default(),
                };
                let rows = rows(&ids, limit, used);
                (rows.reply(), EntityTable::References(run.reference_table(&rows, false)))
            }
            kind => {
                let rows = rows(&ids, limit, |id| id);
                (rows.reply(), run.catalog(kind, &rows, self.session(), false))
            }
        };
        self.activations()?;
        Ok(Answer::new(reply, EntitiesTables { rows }))
    }
}

impl Answers<RelatedRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &RelatedRequest,
        control: &Control,
    ) -> Result<Answer<RelatedRequest>, ServiceError> {
        let run = self.run()?;
        run.check(request.kind, &request.ids)?;
        let (reply, rows) = relations::related(run, self.session(), request, control)?;
        self.activations()?;
        Ok(Answer::new(reply, RelatedTables { rows }))
    }
}

impl Answers<SharedRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &SharedRequest,
        _: &Control,
    ) -> Result<Answer<SharedRequest>, ServiceError> {
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
            let hint = if request.is_inclusive { "" } else { "; their callees may" };
            notes.push(format!("They share no variable or allocation{hint}."));
        }
        let mut rows = Rows::new(usize::MAX);
        list.into_iter().for_each(|row| rows.push(0, row));
        let reply = EntitiesReply { notes, ..rows.reply() };
        let rows = run.reference_table(&rows, false);
        self.activations()?;
        Ok(Answer::new(reply, SharedTables { rows }))
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
        let text = format!("{kind} {wrong}");
        let error = QueryError::unknown_name(&text, &text, format!("there is no {text}"));
        Err(EngineError::from(error.with_hint(known)).into())
    }
}
