//! What of a run could have been executed in parallel: the answer of `advise`.

mod tables;
#[cfg(test)]
mod tests;
mod words;

use std::sync::{Arc, Mutex, PoisonError};

use parallax_analysis::advice::{
    LoopAdvice, Races, Schedule, SiblingAdvice, Tasks, Work, loops, races, schedule, tasks, work,
};
use parallax_base::{ActivationIdx, ContextIdx, Control};
use parallax_engine::query::parse_contexts;
use parallax_engine::resolve::resolve_contexts;
use parallax_engine::{EngineError, Part, Table};
use parallax_model::Activations;

use crate::{Answer, Opened, ServiceError};

/// What the rows of advice are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AdviseBy {
    /// Loops, and whether their iterations could run side by side.
    #[default]
    Loop,
    /// What iterations of a loop share and write.
    Reference,
    /// Pairs of calls side by side that depend on each other.
    Pair,
    /// Work, span and parallelism of calls and loops.
    Context,
    /// Calls side by side on workers.
    Task,
    /// Accesses of threads that nothing orders.
    Race,
}

/// What to advise on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdviseRequest {
    /// Only these contexts and what is below them; `None` for all. Tasks are those of the first.
    pub contexts: Option<String>,
    /// How many workers tasks are put on; at least 1.
    pub workers: u32,
    /// What the rows are.
    pub by: AdviseBy,
}

impl AdviseRequest {
    /// Workers unless a request says otherwise, as Parceive has it.
    pub const WORKERS: u32 = 4;
}

impl Default for AdviseRequest {
    fn default() -> Self {
        Self { contexts: None, workers: Self::WORKERS, by: AdviseBy::default() }
    }
}

/// Tasks on workers.
#[derive(Debug, Clone, PartialEq)]
pub struct TasksAnswer {
    /// Where the tasks are: a call path, and which activation of it.
    pub parent: String,
    /// Seconds that the tasks take one after the other.
    pub serial_seconds: f64,
    /// Seconds that they take on the workers.
    pub parallel_seconds: f64,
    /// What no schedule on so many workers can beat, in seconds.
    pub bound_seconds: f64,
    /// How many times faster; 1 is as fast as one after the other.
    pub speedup: f64,
    /// How many workers.
    pub workers: u32,
}

/// Advice.
#[derive(Debug, Clone)]
pub struct AdviseAnswer {
    /// Rows as the request says; see [`Opened::advise`].
    pub table: Table,
    /// Seconds of work of the run.
    pub work_seconds: f64,
    /// Seconds of its span.
    pub span_seconds: f64,
    /// Work divided by span.
    pub parallelism: f64,
    /// Of tasks: where they are, and what workers bring.
    pub tasks: Option<TasksAnswer>,
}

/// What was found of an experiment, so that the next question about it costs nothing.
pub(crate) struct Advice {
    loops: Vec<LoopAdvice>,
    work: Work,
    races: Mutex<Option<Arc<Races>>>,
}

/// Advice once somebody asked for it.
pub(crate) type Last = Option<Arc<Advice>>;

impl Opened {
    fn recorded(&self) -> Result<&Arc<Activations>, ServiceError> {
        let missing = || EngineError::Missing {
            what: "this experiment has no single calls and iterations with what they access".into(),
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
        let advice = Arc::new(Advice { loops, work, races: Mutex::new(None) });
        *last = Some(Arc::clone(&advice));
        Ok(advice)
    }

    /// What of the run could have been executed in parallel. Definitions are those of
    /// [`mod@parallax_analysis::advice`]. Columns by what the request says:
    ///
    /// - loops, most work first: `verdict`, `loop` with `context_id`, `because`, `work_s`,
    ///   `share_percent`, `saving_s`, `executions`, `iterations`, `most_iterations`;
    /// - references: `loop`, `context_id`, `reference`, `storage`, `effect`, `written_at`,
    ///   `read_at`, `iterations`, `earlier`, `later`, `references`, `compared`;
    /// - pairs: `below` with `context_id`, `earlier`, `later`, `dependence`, `reference`,
    ///   `earlier_at`, `later_at`, `pairs`;
    /// - contexts: `context`, `context_id`, `kind`, `times`, `work_s`, `span_s`, `parallelism`,
    ///   `share_percent`;
    /// - tasks in order of their start: `worker`, `number`, `task`, `context_id`, `start_s`,
    ///   `end_s`, `takes_s`, `waits_for`;
    /// - races: `reference`, `storage`, `first_at`, `first_access`, `first_thread`, `second_at`,
    ///   `second_access`, `second_thread`, `pairs`.
    ///
    /// # Errors
    /// When the experiment has no activations, an expression is wrong, or the question is withdrawn.
    pub fn advise(
        &self,
        request: &AdviseRequest,
        control: &Control,
    ) -> Result<Answer<AdviseAnswer>, ServiceError> {
        let run = Arc::clone(self.recorded()?);
        let mut notes = Vec::new();
        let chosen = match &request.contexts {
            None => None,
            Some(text) => {
                let (list, more) =
                    resolve_contexts(&self.session, &parse_contexts(text)?, control)?;
                notes.extend(more);
                Some(Part::new(self.session.tree(), &list))
            }
        };
        let advice = self.advice(&run, control)?;
        let scope = Scope { opened: self, run: &run, chosen };
        let mut tasks = None;
        let table = match request.by {
            AdviseBy::Loop => scope.loops(&advice.loops, &advice.work),
            AdviseBy::Reference => scope.references(&advice.loops),
            AdviseBy::Pair => scope.pairs(&advice.work.siblings),
            AdviseBy::Context => scope.contexts(&advice.work),
            AdviseBy::Task => {
                let best = scope.best(&advice.work.siblings, &advice.work, request.workers);
                if best.is_none() {
                    notes.push("nowhere are there several calls or loops side by side".into());
                }
                tasks = best.as_ref().map(|best| scope.tasks_answer(best, request.workers));
                scope.tasks(best.as_ref())
            }
            AdviseBy::Race => {
                let mut last = advice.races.lock().unwrap_or_else(PoisonError::into_inner);
                let found = match &*last {
                    Some(found) => Arc::clone(found),
                    None => Arc::new(races(&run, control).map_err(EngineError::from)?),
                };
                *last = Some(Arc::clone(&found));
                notes.extend(words::race_notes(&found, run.threads.len()));
                scope.races(&found)
            }
        };
        notes.extend(words::notes(&run, &advice.loops, &advice.work, request.by));
        let work = &advice.work;
        let answer = AdviseAnswer {
            table,
            work_seconds: seconds(work.total_work_nanos),
            span_seconds: seconds(work.total_span_nanos),
            parallelism: work.parallelism(),
            tasks,
        };
        Ok(Answer { value: answer, notes })
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
    opened: &'o Opened,
    run: &'o Activations,
    chosen: Option<Part<'o>>,
}

impl Scope<'_> {
    /// Whether a context is chosen, or lies below one that is.
    fn has(&self, context: ContextIdx) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| chosen.contains(context))
    }

    /// The calls side by side whose schedule saves most time.
    fn best(&self, siblings: &[SiblingAdvice], work: &Work, workers: u32) -> Option<Best> {
        let placed = siblings.iter().filter(|one| self.has(one.parent)).map(|one| {
            let tasks = tasks(self.run, one.example);
            let nanos: Vec<u64> = tasks
                .activations
                .iter()
                .map(|task| work.work_nanos.get(task.idx()).copied().unwrap_or(0))
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

    fn tasks_answer(&self, best: &Best, workers: u32) -> TasksAnswer {
        let all = best.nanos.iter().fold(0_u64, |sum, &own| sum.saturating_add(own));
        TasksAnswer {
            parent: self.named(best.parent),
            serial_seconds: seconds(all),
            parallel_seconds: seconds(best.schedule.length_nanos),
            bound_seconds: seconds(best.schedule.bound_nanos),
            speedup: best.schedule.speedup(),
            workers: workers.max(1),
        }
    }
}
