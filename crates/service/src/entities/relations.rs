//! What belongs to entities: from each kind to the others.

use std::collections::HashMap;

use parallax_base::{ActivationIdx, Control, FileIdx, ReferenceIdx, ThreadIdx};
use parallax_engine::query::QueryError;
use parallax_engine::{EngineError, Session};
use parallax_model::ActivationKind;
use parallax_protocol::{EntitiesReply, EntityKind, EntityTable, RelatedRequest, Relation};

use super::nodes::{Node, by_function, caller, calls_of, function_of, group_of};
use super::references::{Use, Used, uses_of};
use super::{Rows, Run, limit};
use crate::ServiceError;

/// Related entities, and how many are left out.
type RelatedResult = Result<(EntitiesReply, EntityTable), ServiceError>;

pub(super) fn related(
    run: Run<'_>,
    session: &Session,
    request: &RelatedRequest,
    control: &Control,
) -> RelatedResult {
    use EntityKind as Kind;
    let question = Question { run, request, control };
    match (request.kind, request.relation) {
        (Kind::Activation | Kind::Group, Relation::References) => question.references(false),
        (Kind::Activation | Kind::Group, Relation::ReferencesWithin) => question.references(true),
        (Kind::Activation, Relation::Threads) => {
            let thread = |id| vec![run.activations.tree.thread(ActivationIdx::new(id)).get()];
            question.catalog(Kind::Thread, session, thread)
        }
        (Kind::Thread, Relation::Threads) => {
            let started = |id: u32| {
                let is_started = |thread: &&parallax_model::Thread| {
                    thread.creator.is_some_and(|by| by.thread == ThreadIdx::new(id))
                };
                positions(&run.activations.threads, is_started)
            };
            question.catalog(Kind::Thread, session, started)
        }
        (Kind::Activation | Kind::Group, Relation::Functions) => {
            let function = |id| {
                function_of(run, ActivationIdx::new(id))
                    .map(parallax_base::FunctionIdx::get)
                    .into_iter()
                    .collect()
            };
            question.catalog(Kind::Function, session, function)
        }
        (Kind::File, Relation::Functions) => {
            let defined = |id: u32| {
                positions(run.contexts.functions(), |one| one.file == Some(FileIdx::new(id)))
            };
            question.catalog(Kind::Function, session, defined)
        }
        (Kind::Thread, Relation::Tags) => {
            let marked = |id: u32| {
                positions(&run.activations.tags, |tag| tag.thread == Some(ThreadIdx::new(id)))
            };
            question.catalog(Kind::Tag, session, marked)
        }
        (Kind::Reference, Relation::Touchers) => question.touchers(),
        (Kind::Thread | Kind::Function, Relation::Calls) => question.calls_in_run(),
        (Kind::Activation, Relation::Groups) => {
            question.nodes(|id, out| {
                let tree = &run.activations.tree;
                // Groups are made by calls: an iteration has only some of the calls of one.
                if tree.kind(id) == ActivationKind::Call {
                    by_function(run, [id]).into_iter().for_each(|group| out(Node::group(group)));
                }
            })
        }
        (Kind::Group, Relation::Groups) => question.nodes(|id, out| {
            for call in group_of(run, id) {
                by_function(run, [call]).into_iter().for_each(|group| out(Node::group(group)));
            }
        }),
        (Kind::Activation, relation) if is_of_activations(relation) => {
            question.activations(|id, out| question.inside(id, out))
        }
        (Kind::Group, Relation::Calls) => question.activations(|id, out| {
            group_of(run, id).into_iter().for_each(out);
        }),
        (Kind::Group, Relation::Executions) => question.activations(|id, out| {
            group_of(run, id).into_iter().for_each(|call| question.inside(call, out));
        }),
        (Kind::Group, Relation::Caller) => question.activations(|id, out| question.inside(id, out)),
        (kind, relation) => Err(unknown(kind, relation)),
    }
}

/// Whether [`Question::inside`] knows what a relation is of one activation.
const fn is_of_activations(relation: Relation) -> bool {
    matches!(
        relation,
        Relation::Parent
            | Relation::Caller
            | Relation::Ancestors
            | Relation::Children
            | Relation::Calls
            | Relation::Executions
            | Relation::Iterations
            | Relation::Within
    )
}

fn unknown(kind: EntityKind, relation: Relation) -> ServiceError {
    let relation = relation.to_string();
    let message = format!("a {kind} has no {relation}");
    let error = QueryError::unknown_name(&relation, &relation, message);
    EngineError::from(error.with_hint("the protocol lists the relations of each kind")).into()
}

/// Positions of what is wanted.
fn positions<T>(list: &[T], is_wanted: impl Fn(&&T) -> bool) -> Vec<u32> {
    (0_u32..).zip(list).filter(|(_, one)| is_wanted(one)).map(|(position, _)| position).collect()
}

/// Takes activations, one after the other.
type Take<'t> = &'t mut dyn FnMut(ActivationIdx);

#[derive(Clone, Copy)]
struct Question<'a> {
    run: Run<'a>,
    request: &'a RelatedRequest,
    control: &'a Control,
}

impl Question<'_> {
    /// A row for everything that `find` finds of each entity.
    fn rows<T>(
        &self,
        mut find: impl FnMut(ActivationIdx, &mut dyn FnMut(T)),
    ) -> Result<Rows<T>, ServiceError> {
        let mut rows = Rows::new(limit(self.request.limit));
        self.control.begin(self.request.ids.len() as u64);
        for &id in &self.request.ids {
            self.control.advance(1).map_err(EngineError::from)?;
            find(ActivationIdx::new(id), &mut |row| rows.push(id, row));
        }
        Ok(rows)
    }

    fn nodes(&self, find: impl FnMut(ActivationIdx, &mut dyn FnMut(Node))) -> RelatedResult {
        let rows = self.rows(find)?;
        let table = self.run.node_table(&rows, true);
        Ok((rows.reply(), EntityTable::Activations(table)))
    }

    fn activations(&self, find: impl Fn(ActivationIdx, Take<'_>)) -> RelatedResult {
        self.nodes(|id, out| find(id, &mut |activation| out(Node::one(activation))))
    }

    /// What the relation is of one activation.
    fn inside(&self, of: ActivationIdx, out: Take<'_>) {
        let tree = &self.run.activations.tree;
        let is_long = |one: ActivationIdx| {
            self.request.longer_than_ns.is_none_or(|limit| tree.nanos(one) > limit)
        };
        let is = |kind| move |&one: &ActivationIdx| tree.kind(one) == kind;
        match self.request.relation {
            Relation::Parent => tree.parent(of).into_iter().for_each(out),
            Relation::Caller => caller(tree, of).into_iter().for_each(out),
            Relation::Ancestors => tree.ancestors(of).for_each(out),
            Relation::Children => {
                tree.children(of).filter(|&child| is_long(child)).for_each(out);
            }
            Relation::Calls => calls_of(tree, of, |call| {
                if is_long(call) {
                    out(call);
                }
            }),
            Relation::Executions => {
                tree.children(of).filter(is(ActivationKind::LoopExecution)).for_each(out);
            }
            Relation::Iterations => {
                tree.children(of).filter(is(ActivationKind::Iteration)).for_each(out);
            }
            _ => {
                let below = tree.subtree(of).skip(1).map(ActivationIdx::from_len);
                below.filter(|&one| is_long(one)).for_each(out);
            }
        }
    }

    fn references(&self, is_inclusive: bool) -> RelatedResult {
        let rows = self.rows(|id, out| {
            let members = match self.request.kind {
                EntityKind::Group => group_of(self.run, id),
                _ => vec![id],
            };
            let uses = uses_of(self.run, &members, is_inclusive);
            uses.into_iter().for_each(|(reference, used)| out(Used { reference, used }));
        })?;
        let table = self.run.reference_table(&rows, true);
        Ok((rows.reply(), EntityTable::References(table)))
    }

    fn catalog(
        &self,
        kind: EntityKind,
        session: &Session,
        find: impl Fn(u32) -> Vec<u32>,
    ) -> RelatedResult {
        let rows = self.rows(|id, out| find(id.get()).into_iter().for_each(out))?;
        Ok((rows.reply(), self.run.catalog(kind, &rows, session, true)))
    }

    /// Who reads and writes references: one pass over all that is recorded, however many are asked
    /// about.
    fn touchers(&self) -> RelatedResult {
        let activations = self.run.activations;
        let mut found: HashMap<ReferenceIdx, Vec<(ActivationIdx, Use)>> =
            self.request.ids.iter().map(|&id| (ReferenceIdx::new(id), Vec::new())).collect();
        self.control.begin(activations.tree.len() as u64);
        for activation in activations.tree.iter() {
            self.control.advance(1).map_err(EngineError::from)?;
            for touch in activations.touches.of(activation) {
                let Some(list) = found.get_mut(&touch.reference) else { continue };
                // Several segments between synchronisations of one activation are one use.
                match list.last_mut().filter(|(last, _)| *last == activation) {
                    Some((_, used)) => used.add(&touch.into()),
                    None => list.push((activation, touch.into())),
                }
            }
        }
        let rows = self.rows(|id, out| {
            let list = found.get(&ReferenceIdx::new(id.get())).into_iter().flatten();
            for &(activation, used) in list {
                out(Node::user(activation, used));
            }
        })?;
        let table = self.run.node_table(&rows, true);
        Ok((rows.reply(), EntityTable::Activations(table)))
    }

    /// Entry calls of threads, or all calls of functions.
    fn calls_in_run(&self) -> RelatedResult {
        let tree = &self.run.activations.tree;
        let mut found: HashMap<u32, Vec<ActivationIdx>> =
            self.request.ids.iter().map(|&id| (id, Vec::new())).collect();
        let mut add = |key: Option<u32>, call: ActivationIdx| {
            if let Some(list) = key.and_then(|key| found.get_mut(&key)) {
                list.push(call);
            }
        };
        if self.request.kind == EntityKind::Thread {
            tree.roots().for_each(|root| add(Some(tree.thread(root).get()), root));
        } else {
            let calls = tree.iter().filter(|&one| tree.kind(one) == ActivationKind::Call);
            calls.for_each(|call| {
                add(function_of(self.run, call).map(parallax_base::FunctionIdx::get), call);
            });
        }
        let limit = self.request.longer_than_ns;
        self.activations(|id, out| {
            let list = found.get(&id.get()).into_iter().flatten().copied();
            list.filter(|&call| limit.is_none_or(|limit| tree.nanos(call) > limit)).for_each(out);
        })
    }
}
