//! What of a run could have been executed in parallel: the answer of `advise`.

mod sentences;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use parallax_analysis::advice::{
    LoopAdvice, Races, Schedule, SiblingAdvice, Tasks, Work, loops, races, schedule, tasks, work,
};
use parallax_base::{ActivationIdx, ContextIdx, Control};
use parallax_engine::query::parse_contexts;
use parallax_engine::resolve::resolve_contexts;
use parallax_engine::{EngineError, Subtrees};
use parallax_model::Activations;
use parallax_protocol::{
    AdviseBy, AdviseReply, AdviseRequest, AdviseTable, AdviseTables, Answer, TasksReply,
};

use crate::{Answers, OpenExperiment, ServiceError};

/// What was found of an experiment, so that the next question about it costs nothing.
pub(crate) struct Advice {
    loops: Vec<LoopAdvice>,
    work: Work,
    races: Mutex<Option<Arc<Races>>>,
}

/// Advice once somebody asked for it.
pub(crate) type Last = Option<Arc<Advice>>;

impl OpenExperiment {
    fn recorded(&self) -> Result<&Arc<Activations>, ServiceError> {
        let missing = || EngineError::Missing {
            what: "this experiment has no call instances and iterations with memory accesses"
                .into(),
            hint: "open a recording of parallax.h (.plxm) or a database of Parceive".into(),
        };
        Ok(self.session.experiment().activations.as_ref().ok_or_else(missing)?)
    }

    fn advice(&self, run: &Activations, control: &Control) -> Result<Arc<Advice>, ServiceError> {
        let mut last = self.advice.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*last {
            return Ok(Arc::clone(known));
        }
        let tree = self.session.tree();
        let loops = loops(run, tree, control).map_err(EngineError::from)?;
        let work = work(run, tree, &loops, control).map_err(EngineError::from)?;
        run.check().map_err(EngineError::from)?;
        let advice = Arc::new(Advice { loops, work, races: Mutex::new(None) });
        *last = Some(Arc::clone(&advice));
        Ok(advice)
    }
}

/// Definitions are those of [`mod@parallax_analysis::advice`].
impl Answers<AdviseRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &AdviseRequest,
        control: &Control,
    ) -> Result<Answer<AdviseRequest>, ServiceError> {
        let run = Arc::clone(self.recorded()?);
        let mut notes = Vec::new();
        let chosen = match &request.contexts {
            None => None,
            Some(text) => {
                let (list, more) =
                    resolve_contexts(&self.session, &parse_contexts(text)?, control)?;
                notes.extend(more);
                Some(Subtrees::new(self.session.tree(), &list))
            }
        };
        let advice = self.advice(&run, control)?;
        let scope = Scope { opened: self, run: &run, chosen };
        let mut tasks = None;
        let rows = match request.by {
            AdviseBy::Loop => AdviseTable::Loops(scope.loops(&advice.loops, &advice.work)),
            AdviseBy::Reference => AdviseTable::References(scope.references(&advice.loops)),
            AdviseBy::Pair => AdviseTable::Pairs(scope.pairs(&advice.work.siblings)),
            AdviseBy::Context => AdviseTable::Contexts(scope.contexts(&advice.work)),
            AdviseBy::Task => {
                let best = scope.best(&advice.work.siblings, &advice.work, request.workers);
                if best.is_none() {
                    notes.push(
                        "No call path has several calls or loops that could run \
                                concurrently."
                            .into(),
                    );
                }
                tasks = best.as_ref().map(|best| scope.tasks_answer(best, request.workers));
                AdviseTable::Tasks(scope.tasks(best.as_ref()))
            }
            AdviseBy::Race => {
                let mut last = advice.races.lock().unwrap_or_else(PoisonError::into_inner);
                let found = match &*last {
                    Some(found) => Arc::clone(found),
                    None => Arc::new(races(&run, control).map_err(EngineError::from)?),
                };
                run.check().map_err(EngineError::from)?;
                *last = Some(Arc::clone(&found));
                notes.extend(sentences::race_notes(&found, run.threads.len()));
                AdviseTable::Races(scope.races(&found))
            }
        };
        if matches!(request.by, AdviseBy::Loop) && advice.loops.is_empty() {
            notes.extend(self.without_loops());
        }
        notes.extend(sentences::notes(&run, &advice.loops, &advice.work, request.by));
        let work = &advice.work;
        let reply = AdviseReply {
            work_s: seconds(work.total_work_nanos),
            span_s: seconds(work.total_span_nanos),
            parallelism: work.parallelism(),
            tasks,
            notes,
        };
        run.check().map_err(EngineError::from)?;
        Ok(Answer::new(reply, AdviseTables { rows }))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a time")]
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// Tasks that were chosen, and how they are placed.
struct Best {
    parent: ActivationIdx,
    tasks: Tasks,
    nanos: Vec<u64>,
    schedule: Schedule,
}

/// What is asked about.
struct Scope<'o> {
    opened: &'o OpenExperiment,
    run: &'o Activations,
    chosen: Option<Subtrees<'o>>,
}

impl Scope<'_> {
    /// Whether a context is chosen, or lies below one that is.
    fn has(&self, context: ContextIdx) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen.contains(context))
    }

    /// The sibling calls whose schedule saves most time.
    fn best(&self, siblings: &[SiblingAdvice], work: &Work, workers: u32) -> Option<Best> {
        let placed = siblings.iter().filter(|one| self.has(one.parent)).map(|one| {
            let tasks = tasks(self.run, one.example);
            let nanos: Vec<u64> = tasks
                .activations
                .iter()
                .map(|task| work.work_nanos.get(task.idx()).unwrap_or(0))
                .collect();
            let schedule = schedule(&nanos, &tasks.dependences, workers);
            Best { parent: one.example, tasks, nanos, schedule }
        });
        let saving = |best: &Best| {
            let all = best.nanos.iter().fold(0_u64, |sum, &own| sum.saturating_add(own));
            all.saturating_sub(best.schedule.length_nanos)
        };
        // Of equal ones, the first in the tree, which encloses the others.
        placed.reduce(|best, next| if saving(&next) > saving(&best) { next } else { best })
    }

    fn tasks_answer(&self, best: &Best, workers: u32) -> TasksReply {
        let all = best.nanos.iter().fold(0_u64, |sum, &own| sum.saturating_add(own));
        TasksReply {
            parent: self.named(best.parent),
            serial_s: seconds(all),
            parallel_s: seconds(best.schedule.length_nanos),
            bound_s: seconds(best.schedule.bound_nanos),
            speedup: best.schedule.speedup(),
            workers: workers.max(1),
        }
    }
}
