//! Costs by thread and context.
//!
//! | metric | scopes | what is added up |
//! |---|---|---|
//! | `TIME` | inclusive, exclusive | cycles over the rate of the counter |
//! | `CYCLES` | inclusive, exclusive | cycles as the database has them |
//! | `READS`, `WRITES` | inclusive, exclusive | accesses to memory |
//! | `CALLS` | exclusive | calls |
//! | `LOOP_EXECUTIONS`, `ITERATIONS` | exclusive | executions of loops and their iterations |
//!
//! Exclusive cost of a function has its loops, but not what they call, as everywhere.

use parallax_base::{ContextIdx, Limits, Unit};
use parallax_model::{
    ActivationKind, ActivationTree, ContextTree, Metric, MetricCatalog, Scope, Touches,
};

use crate::memory_store::{MemoryStore, Row, sorted};

/// What is added up at each context.
const KINDS: usize = 6;
const CYCLES: usize = 0;
const READS: usize = 1;
const WRITES: usize = 2;
const CALLS: usize = 3;
const EXECUTIONS: usize = 4;
const ITERATIONS: usize = 5;

/// Ids of values: inclusive even, exclusive odd.
const TIME_ID: u16 = 0;
const CYCLES_ID: u16 = 2;
const READS_ID: u16 = 4;
const WRITES_ID: u16 = 6;
const CALLS_ID: u16 = 9;
const EXECUTIONS_ID: u16 = 11;
const ITERATIONS_ID: u16 = 13;

pub(crate) fn metrics() -> MetricCatalog {
    let metric = |name: &str, unit, description: &str, id: u16| {
        let both = [(Scope::Inclusive, id), (Scope::Exclusive, id + 1)];
        let scopes = if id.is_multiple_of(2) { &both[..] } else { &[(Scope::Exclusive, id)] };
        Metric::summed(name, unit, description, scopes)
    };
    let text = "time from entering to leaving: cycles over the rate of the counter";
    MetricCatalog::new(vec![
        metric("TIME", Unit::Seconds, text, TIME_ID),
        metric("CALLS", Unit::Count, "number of calls", CALLS_ID),
        metric("LOOP_EXECUTIONS", Unit::Count, "number of loop executions", EXECUTIONS_ID),
        metric("ITERATIONS", Unit::Count, "passes of the bodies of loops", ITERATIONS_ID),
        metric("READS", Unit::Count, "number of reads of variables and allocations", READS_ID),
        metric("WRITES", Unit::Count, "number of writes of variables and allocations", WRITES_ID),
        metric("CYCLES", Unit::Cycles, "cycles of the time stamp counter", CYCLES_ID),
    ])
}

/// Adds everything up. Times of `tree` are cycles. Location 0 is the summary, thread t is location
/// t + 1. Also the number of values of each location.
pub(crate) fn build(
    tree: &ActivationTree,
    contexts: &ContextTree,
    touches: &Touches,
    num_threads: usize,
    cycles_per_second: f64,
    limits: Limits,
) -> (MemoryStore, Vec<u64>) {
    let mut rows: Vec<Vec<Row>> = vec![Vec::new(); num_threads + 1];
    let mut sums = Sums::new(contexts);
    let mut all: Vec<Row> = Vec::new();
    let mut activations = tree.iter().peekable();
    // Depth-first order goes thread by thread.
    while let Some(&first) = activations.peek() {
        let thread = tree.thread(first);
        while let Some(activation) = activations.next_if(|&next| tree.thread(next) == thread) {
            sums.add(contexts, tree.context(activation), |values| {
                values[CYCLES] += tree.own_nanos(activation) as f64;
                let kind = match tree.kind(activation) {
                    ActivationKind::Call => CALLS,
                    ActivationKind::LoopExecution => EXECUTIONS,
                    ActivationKind::Iteration => ITERATIONS,
                };
                values[kind] += 1.0;
                for touch in touches.of(activation) {
                    values[READS] += f64::from(touch.reads);
                    values[WRITES] += f64::from(touch.writes);
                }
            });
        }
        let own = sums.take(contexts, cycles_per_second);
        all.extend_from_slice(&own);
        if let Some(rows) = rows.get_mut(thread.idx() + 1) {
            rows.extend(own);
        }
        // Sums of many threads must not wait for the last of them.
        if all.len() > 1 << 20 {
            all = sorted(all);
        }
    }
    let mut rows: Vec<_> = rows.into_iter().map(sorted).collect();
    if let Some(summary) = rows.first_mut() {
        *summary = sorted(all);
    }
    let num_values = rows.iter().map(|rows| rows.len() as u64).collect();
    (MemoryStore::new(rows, limits), num_values)
}

/// Sums of one thread, by context.
struct Sums {
    /// At the context alone.
    point: Vec<[f64; KINDS]>,
    is_used: Vec<bool>,
    used: Vec<u32>,
}

impl Sums {
    fn new(contexts: &ContextTree) -> Self {
        Self {
            point: vec![[0.0; KINDS]; contexts.len()],
            is_used: vec![false; contexts.len()],
            used: Vec::new(),
        }
    }

    fn add(
        &mut self,
        contexts: &ContextTree,
        context: ContextIdx,
        add: impl FnOnce(&mut [f64; KINDS]),
    ) {
        if let Some(values) = self.point.get_mut(context.idx()) {
            add(values);
        }
        let mut at = Some(context);
        while let Some(context) = at {
            match self.is_used.get_mut(context.idx()) {
                Some(is_used) if !*is_used => *is_used = true,
                _ => break,
            }
            self.used.push(context.get());
            at = contexts.parent(context);
        }
    }

    /// The rows of the thread; empties the sums.
    fn take(&mut self, contexts: &ContextTree, cycles_per_second: f64) -> Vec<Row> {
        let mut used = std::mem::take(&mut self.used);
        used.sort_unstable();
        let slot: std::collections::HashMap<u32, usize> =
            used.iter().enumerate().map(|(slot, &context)| (context, slot)).collect();
        let point = |context: u32| self.point.get(context as usize).copied();
        let own: Vec<_> = used.iter().map(|&c| point(c).unwrap_or_default()).collect();
        let (mut inclusive, mut exclusive) = (own.clone(), own.clone());
        // Children come after their parents.
        for (i, &context) in used.iter().enumerate().rev() {
            let context = ContextIdx::new(context);
            let above = contexts.parent(context).and_then(|parent| slot.get(&parent.get()));
            let Some(&above) = above else { continue };
            let is_call = contexts.relation(context).is_call();
            for kind in 0..KINDS {
                inclusive[above][kind] += inclusive[i][kind];
                if !is_call {
                    exclusive[above][kind] += exclusive[i][kind];
                }
            }
        }
        let mut rows = Vec::new();
        for (i, &context) in used.iter().enumerate() {
            let mut push = |metric, value: f64| {
                if value != 0.0 {
                    rows.push(Row { context, metric, value });
                }
            };
            let (all, lexical) = (&inclusive[i], &exclusive[i]);
            push(TIME_ID, all[CYCLES] / cycles_per_second);
            push(TIME_ID + 1, lexical[CYCLES] / cycles_per_second);
            for (kind, id) in [(CYCLES, CYCLES_ID), (READS, READS_ID), (WRITES, WRITES_ID)] {
                push(id, all[kind]);
                push(id + 1, lexical[kind]);
            }
            let of = [(CALLS, CALLS_ID), (EXECUTIONS, EXECUTIONS_ID), (ITERATIONS, ITERATIONS_ID)];
            for (kind, id) in of {
                push(id, own[i][kind]);
            }
        }
        for &context in &used {
            let at = context as usize;
            if let (Some(values), Some(is_used)) =
                (self.point.get_mut(at), self.is_used.get_mut(at))
            {
                (*values, *is_used) = ([0.0; KINDS], false);
            }
        }
        rows
    }
}
