//! Who keeps GPUs idle: the time in which no GPU work of a rank was active, shared among what its
//! threads did then.
//!
//! The rule is that of hpcviewer's blame of idle GPUs, on intervals instead of pixels: while no
//! stream of a rank is active, each nanosecond is divided equally among the rank's threads that
//! are active then. A thread is not active outside of its samples or calls, in placeholders such
//! as `<no activity>`, in `<omp idle>`, and when it only waits on behalf of MPI or the measurement.
//! Where no thread is active, nobody is blamed.
//!
//! ```text
//! ns          0         10        20        30
//! stream 7    ·         ██████████·         ·     idle for 20 ns
//! thread 0    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa     a: 10 + 5
//! thread 1    ·         ·    bbbbbbbbbbbbbbbb     b: 5
//! ```
//!
//! Shares are exact but for less than a nanosecond in each context and rank, and add up to the
//! idle time to the last one: remainders go to the largest fractions (Hamilton's method).

use std::collections::{BTreeMap, HashMap};

use parallax_base::{ContextIdx, Control, TimeWindow, threads};
use parallax_engine::{Column, EngineError, Session, Table};
use parallax_model::{ContextTree, TraceStore};

use super::groups::{self, Members};
use super::{Group, percent};
use crate::report::CostClass;
use crate::report::classes::Classes;

#[cfg(test)]
mod tests;

/// Intervals that are sorted at once: a few MB.
const AT_ONCE: usize = 1 << 16;

/// What the GPUs of one rank waited for, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankBlame {
    /// The rank, node or whole.
    pub group: Group,
    /// Streams of its GPUs.
    pub num_streams: usize,
    /// Its threads; without them nobody can be blamed.
    pub num_threads: usize,
    /// From the first to the last sample of all its tracks.
    pub span_nanos: u64,
    /// Time in which none of its streams was active.
    pub idle_nanos: u64,
    /// The part of [`RankBlame::idle_nanos`] in which none of its threads was active either.
    pub nobody_nanos: u64,
    /// The function context with the largest exclusive blame, and how much that is.
    pub first: Option<(ContextIdx, u64)>,
}

/// The blame of a context, in nanoseconds over all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextBlame {
    /// A function; another context only where no function is known.
    pub context: ContextIdx,
    /// While it was active itself: without what it calls.
    pub exclusive_nanos: u64,
    /// While it, or anything below it, was active.
    pub inclusive_nanos: u64,
}

/// Who keeps GPUs idle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GpuBlame {
    /// The ranks with GPUs, in their order.
    pub ranks: Vec<RankBlame>,
    /// Contexts with exclusive blame, the largest first.
    pub contexts: Vec<ContextBlame>,
    /// The same by where the program calls what it does not contain: all below a call of MPI, of a
    /// GPU runtime, of files or memory, or of a system library, is the exclusive blame of that call.
    pub calls: Vec<ContextBlame>,
}

impl GpuBlame {
    /// Time in which no stream of a rank was active, over all ranks, in nanoseconds.
    #[must_use]
    pub fn idle_nanos(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.idle_nanos).sum()
    }

    /// The part of it in which no thread of the rank was active either.
    #[must_use]
    pub fn nobody_nanos(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.nobody_nanos).sum()
    }

    /// Contexts with exclusive blame, the largest first, and last the time of nobody, without a
    /// context. `path` gives the text of a call path.
    #[must_use]
    pub fn to_table(&self, path: impl Fn(ContextIdx) -> String) -> Table {
        self.table(&self.contexts, path)
    }

    /// As [`GpuBlame::to_table`], of [`GpuBlame::calls`].
    #[must_use]
    pub fn calls_table(&self, path: impl Fn(ContextIdx) -> String) -> Table {
        self.table(&self.calls, path)
    }

    fn table(&self, rows: &[ContextBlame], path: impl Fn(ContextIdx) -> String) -> Table {
        let (idle, nobody) = (self.idle_nanos(), self.nobody_nanos());
        let last = (nobody > 0).then_some(nobody);
        let exclusive =
            || rows.iter().map(|row| row.exclusive_nanos).chain(last).map(|nanos| nanos as f64);
        let inclusive =
            rows.iter().map(|row| row.inclusive_nanos).chain(last).map(|nanos| nanos as f64 / 1e9);
        let paths = rows.iter().map(|row| path(row.context));
        let contexts = rows.iter().map(|row| Some(u64::from(row.context.get())));
        Table::new(vec![
            Column::f64s(
                "idle_percent",
                "%",
                "Share of the time in which GPUs are idle.",
                exclusive().map(|nanos| percent(nanos, idle as f64)).collect(),
            ),
            Column::f64s(
                "idle",
                "s",
                "Time in which no GPU work of the rank was active and this was, shared among the \
                 threads that were active; without what is called from here.",
                exclusive().map(|nanos| nanos / 1e9).collect(),
            ),
            Column::f64s(
                "idle_with_calls",
                "s",
                "The same with what is called from here.",
                inclusive.collect(),
            ),
            Column::optional_u64s(
                "context_id",
                "",
                "The context; nothing where no thread was active.",
                contexts.chain(last.map(|_| None)),
            ),
            Column::strings(
                "call_path",
                "The call path, outermost first.",
                paths.chain(last.map(|_| NOBODY.to_owned())),
            ),
        ])
    }
}

/// What stands for a call path where no thread is active.
pub const NOBODY: &str = "<no thread active>";

/// Finds out what the threads of each rank did while its GPUs had nothing to do. Empty for traces
/// without GPUs.
///
/// # Errors
/// When there are no traces, when they cannot be read, or when the question is withdrawn.
pub fn gpu_blame(session: &Session, control: &Control) -> Result<GpuBlame, EngineError> {
    let store = session.traces()?;
    let tree = session.tree();
    let classes = Classes::new(tree);
    let is_idle = groups::idle_contexts(tree);
    let does_nothing = |context: ContextIdx| {
        let class = classes.of_context.get(context.idx());
        matches!(class, Some(CostClass::OpenMpIdle | CostClass::HelperThreads))
    };
    let is_working: Vec<bool> =
        tree.iter().map(|context| !is_idle[context.idx()] && !does_nothing(context)).collect();
    let of_function: Vec<ContextIdx> =
        tree.iter().map(|c| tree.enclosing_function(c).unwrap_or(c)).collect();
    let question =
        Question { store, tree, is_idle: &is_idle, is_working: &is_working, at_once: AT_ONCE };
    let ranks: Vec<(Group, Members)> = groups::with_gpus(session, store)?.into_iter().collect();
    control.begin(ranks.len() as u64);
    let weight = |at: usize| ranks.get(at).map_or(0, |(_, of)| of.num_samples(store));
    let parts = threads::map(threads::ranges(ranks.len(), weight), |range| {
        let mut nanos = vec![0_u64; tree.len()];
        let mut rows = Vec::new();
        for (group, members) in ranks.get(range).unwrap_or_default() {
            let swept = question.sweep(members, control)?;
            control.advance(1)?;
            let mut by_function: BTreeMap<ContextIdx, u64> = BTreeMap::new();
            for (context, part) in swept.parts {
                *by_function.entry(of_function[context.idx()]).or_default() += part;
            }
            for (context, part) in &by_function {
                nanos[context.idx()] += part;
            }
            let first = by_function.into_iter().rev().max_by_key(|(_, part)| *part);
            if swept.span_nanos.is_some() {
                rows.push(RankBlame {
                    group: *group,
                    num_streams: members.streams.len(),
                    num_threads: members.threads.len(),
                    span_nanos: swept.span_nanos.unwrap_or(0),
                    idle_nanos: swept.idle_nanos,
                    nobody_nanos: swept.nobody_nanos,
                    first,
                });
            }
        }
        Ok::<_, EngineError>((rows, nanos))
    });
    let mut exclusive = vec![0_u64; tree.len()];
    let mut rows = Vec::new();
    for part in parts {
        let (more, nanos) = part?;
        rows.extend(more);
        for (sum, nanos) in exclusive.iter_mut().zip(nanos) {
            *sum += nanos;
        }
    }
    let calls = called_from_program(tree, &classes, &exclusive);
    Ok(GpuBlame { ranks: rows, contexts: ranked(tree, &exclusive), calls: ranked(tree, &calls) })
}

/// Moves what lies below a call out of the program to that call.
fn called_from_program(tree: &ContextTree, classes: &Classes, nanos: &[u64]) -> Vec<u64> {
    let mut calls = vec![0_u64; tree.len()];
    // The outermost call out of the program on the path of each context.
    let mut outermost: Vec<Option<ContextIdx>> = vec![None; tree.len()];
    for context in tree.iter().skip(1) {
        let above = tree.parent(context).and_then(|above| outermost[above.idx()]);
        let leaves = tree.function(context).is_some()
            && (classes.of_context.get(context.idx()) != Some(&CostClass::Application)
                || classes.is_library(tree, context));
        outermost[context.idx()] = above.or_else(|| leaves.then_some(context));
    }
    for context in tree.iter() {
        let to = outermost[context.idx()].unwrap_or(context);
        calls[to.idx()] += nanos[context.idx()];
    }
    calls
}

/// Contexts with blame, the largest first.
fn ranked(tree: &ContextTree, exclusive: &[u64]) -> Vec<ContextBlame> {
    // A subtree is a range of contexts, so that sums below are differences of sums up to.
    let mut up_to = Vec::with_capacity(exclusive.len() + 1);
    let mut sum = 0_u64;
    up_to.push(sum);
    for nanos in exclusive {
        sum += nanos;
        up_to.push(sum);
    }
    let mut rows: Vec<ContextBlame> = tree
        .iter()
        .filter(|context| exclusive[context.idx()] > 0)
        .map(|context| {
            let below = tree.subtree(context);
            ContextBlame {
                context,
                exclusive_nanos: exclusive[context.idx()],
                inclusive_nanos: up_to[below.end] - up_to[below.start],
            }
        })
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.exclusive_nanos), row.context));
    rows
}

/// What is asked of every rank.
struct Question<'a> {
    store: &'a dyn TraceStore,
    tree: &'a ContextTree,
    /// By context: whether a stream in it does nothing.
    is_idle: &'a [bool],
    /// By context: whether a thread in it is active.
    is_working: &'a [bool],
    /// Intervals that are sorted at once; a window with more of them is cut in half.
    at_once: usize,
}

/// The answer for one rank.
#[derive(Debug, PartialEq)]
struct Swept {
    /// From the first to the last time; `None` when nothing was recorded.
    span_nanos: Option<u64>,
    idle_nanos: u64,
    nobody_nanos: u64,
    /// By context, in their order; adds up to `idle_nanos - nobody_nanos`.
    parts: Vec<(ContextIdx, u64)>,
}

impl Question<'_> {
    /// Goes through all changes of a rank's tracks in order of time. Memory: `at_once` intervals,
    /// and what is proportional to the number of tracks and of contexts with blame.
    fn sweep(&self, members: &Members, control: &Control) -> Result<Swept, EngineError> {
        let tracks: Vec<(usize, bool)> = members
            .streams
            .iter()
            .map(|&track| (track, true))
            .chain(members.threads.iter().map(|&track| (track, false)))
            .collect();
        let mut state = Sweep::new(tracks.len());
        let span = self.store.span();
        // The last sample of a trace lies at its end.
        let end_nanos = span.end_nanos.saturating_add(1);
        let mut windows = vec![TimeWindow::new(span.start_nanos, end_nanos)];
        let pieces = members.num_samples(self.store) / (self.at_once as u64 / 2).max(1);
        for _ in 0..u64::BITS - pieces.leading_zeros() {
            windows = windows.into_iter().flat_map(halves).collect();
        }
        windows.reverse();
        let mut changes = Vec::new();
        while let Some(window) = windows.pop() {
            control.check()?;
            changes.clear();
            let Some((first, last)) = self.read(&tracks, window, &mut changes)? else {
                windows.extend(halves(window).into_iter().rev());
                continue;
            };
            if first <= last {
                changes.sort_unstable();
                state.run(first, last, &changes);
            }
        }
        Ok(state.finish())
    }

    /// Gathers the changes inside a window, and says the first and the last time in it (the first
    /// is behind the last where there is none). `None` when there are too many for one window.
    fn read(
        &self,
        tracks: &[(usize, bool)],
        window: TimeWindow,
        changes: &mut Vec<Change>,
    ) -> Result<Option<(u64, u64)>, EngineError> {
        // A nanosecond cannot be cut; each track has one interval in it at most.
        let limit = if window.nanos() > 1 { self.at_once * 2 } else { usize::MAX };
        let (mut first, mut last) = (u64::MAX, 0);
        for (at, &(track, is_stream)) in (0..).zip(tracks) {
            let mut free_from = window.start_nanos;
            self.store.visit(track, window, &mut |interval| {
                let start_nanos = interval.start_nanos.max(free_from);
                let end_nanos = interval.end_nanos.min(window.end_nanos);
                first = first.min(start_nanos);
                last = last.max(end_nanos.max(start_nanos));
                if start_nanos >= end_nanos || changes.len() >= limit {
                    return;
                }
                free_from = end_nanos;
                let known = self.tree.by_source_id(interval.context);
                let context = match (interval.context, known, is_stream) {
                    (0, _, _) => return,
                    (_, None, true) => GPU_WORK,
                    (_, Some(context), true) if !self.is_idle[context.idx()] => GPU_WORK,
                    // Contexts that are not in the tree are somewhere in the execution.
                    (_, None, false) => ContextTree::ROOT.get(),
                    (_, Some(context), false) if self.is_working[context.idx()] => context.get(),
                    _ => return,
                };
                changes.push(Change { nanos: start_nanos, begins: true, track: at, context });
                changes.push(Change { nanos: end_nanos, begins: false, track: at, context });
            })?;
            if changes.len() >= limit {
                return Ok(None);
            }
        }
        Ok(Some((first, last)))
    }
}

/// Both halves of a window, in order.
fn halves(window: TimeWindow) -> [TimeWindow; 2] {
    let middle = window.start_nanos + window.nanos() / 2;
    [TimeWindow::new(window.start_nanos, middle), TimeWindow::new(middle, window.end_nanos)]
}

/// Stands for the context of a stream that is active.
const GPU_WORK: u32 = u32::MAX;

/// A track begins or ends to be active. In the order of time, ends before beginnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    nanos: u64,
    begins: bool,
    track: u32,
    context: u32,
}

/// Fractions of a nanosecond are counted in 2^-40.
const FRACTION_BITS: u32 = 40;

/// The state of a rank while time goes on.
///
/// Every active thread is owed the same share of a nanosecond, so that one clock is enough for all
/// of them, however many there are: it goes on by `1/k` for each idle nanosecond with `k` active
/// threads, and a thread's share is what the clock went on while it was active.
struct Sweep {
    now: Option<u64>,
    first: u64,
    num_streams: usize,
    num_threads: usize,
    idle_nanos: u64,
    nobody_nanos: u64,
    /// The clock, in 2^-40 ns.
    clock: u128,
    /// Idle nanoseconds by the number of active threads. The clock is the sum of each divided by
    /// its number, so that it does not depend on how time was cut.
    shared: Vec<u64>,
    /// By track: what the clock said when its thread became active.
    since: Vec<u128>,
    /// By context, in 2^-40 ns.
    owed: HashMap<u32, u128>,
}

impl Sweep {
    fn new(num_tracks: usize) -> Self {
        Self {
            now: None,
            first: 0,
            num_streams: 0,
            num_threads: 0,
            idle_nanos: 0,
            nobody_nanos: 0,
            clock: 0,
            shared: vec![0; num_tracks + 1],
            since: vec![0; num_tracks],
            owed: HashMap::new(),
        }
    }

    fn run(&mut self, first: u64, last: u64, changes: &[Change]) {
        if self.now.is_none() {
            (self.now, self.first) = (Some(first), first);
        }
        for change in changes {
            self.go_on(change.nanos);
            let is_stream = change.context == GPU_WORK;
            let active = if is_stream { &mut self.num_streams } else { &mut self.num_threads };
            *active = if change.begins { *active + 1 } else { active.saturating_sub(1) };
            let Some(since) = self.since.get_mut(change.track as usize) else { continue };
            if change.begins {
                *since = self.clock;
            } else if !is_stream && self.clock > *since {
                *self.owed.entry(change.context).or_default() += self.clock - *since;
            }
        }
        self.go_on(last);
    }

    /// Time goes on to `nanos`, with the tracks as they are.
    fn go_on(&mut self, nanos: u64) {
        let passed = nanos.saturating_sub(self.now.unwrap_or(nanos));
        self.now = self.now.max(Some(nanos));
        if self.num_streams > 0 || passed == 0 {
            return;
        }
        self.idle_nanos += passed;
        match self.shared.get_mut(self.num_threads) {
            Some(sum) if self.num_threads > 0 => {
                let each = |sum: u64| (u128::from(sum) << FRACTION_BITS) / self.num_threads as u128;
                let before = each(*sum);
                *sum += passed;
                self.clock += each(*sum) - before;
            }
            _ => self.nobody_nanos += passed,
        }
    }

    fn finish(self) -> Swept {
        let mut owed: Vec<(u32, u128)> = self.owed.into_iter().collect();
        owed.sort_unstable();
        Swept {
            span_nanos: self.now.map(|now| now - self.first),
            idle_nanos: self.idle_nanos,
            nobody_nanos: self.nobody_nanos,
            parts: whole_nanos(&owed, self.idle_nanos - self.nobody_nanos),
        }
    }
}

/// Whole nanoseconds that add up to `sum`: the remainders go to the largest fractions, and of equal
/// ones to the first.
fn whole_nanos(owed: &[(u32, u128)], sum: u64) -> Vec<(ContextIdx, u64)> {
    let whole = |owed: u128| u64::try_from(owed >> FRACTION_BITS).unwrap_or(u64::MAX);
    let fraction = |owed: u128| owed & ((1 << FRACTION_BITS) - 1);
    let mut parts: Vec<(ContextIdx, u64)> =
        owed.iter().map(|&(context, owed)| (ContextIdx::new(context), whole(owed))).collect();
    let given: u64 = parts.iter().map(|(_, nanos)| nanos).sum();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(owed.get(at).map_or(0, |(_, owed)| fraction(*owed))));
    let rest = usize::try_from(sum.saturating_sub(given)).unwrap_or(usize::MAX);
    for at in order.into_iter().take(rest) {
        if let Some((_, nanos)) = parts.get_mut(at) {
            *nanos += 1;
        }
    }
    parts
}
