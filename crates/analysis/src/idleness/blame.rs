//! Who keeps GPUs idle: the time in which a GPU had no active work, shared among what the threads of
//! the ranks that use it did then.
//!
//! The rule is that of hpcviewer's blame of idle GPUs, on intervals instead of pixels: while no
//! stream of a GPU is active, each nanosecond is divided equally among the threads that are active
//! then. A thread is not active outside of its samples or calls, in placeholders such
//! as `<no activity>`, in `<omp idle>`, and when it only waits on behalf of MPI or the measurement.
//! Where no thread is active, no context is blamed.
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

use parallax_base::{ContextIdx, Control, FunctionIdx, TimeWindow, TrackIdx, threads};
use parallax_engine::{Column, EngineError, Session, Table};
use parallax_model::{ContextKind, ContextTree, LocationCatalog, TraceStore};

use super::groups::{self, Members};
use super::{Group, percent};
use crate::taxonomy::CostClass;
use crate::taxonomy::classes::Classes;
use crate::taxonomy::gpu::{idle_contexts, is_runtime};

#[cfg(test)]
mod tests;

/// Intervals that are sorted at once: a few MB.
const AT_ONCE: usize = 1 << 16;

/// What one GPU waited for, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankBlame {
    /// The GPU, or the rank, node or whole that it belongs to alone.
    pub group: Group,
    /// Its streams.
    pub num_streams: usize,
    /// Threads of the ranks that use it; without them nothing can be blamed.
    pub num_threads: usize,
    /// From the first to the last sample of all its tracks.
    pub span_nanos: u64,
    /// Time in which none of its streams was active.
    pub idle_nanos: u64,
    /// The part of [`RankBlame::idle_nanos`] in which none of its threads was active either.
    pub unattributed_nanos: u64,
    /// The one of [`GpuBlame::calls`] with the largest exclusive blame, and how much that is.
    pub first: Option<(ContextIdx, u64)>,
}

/// The blame of a context, in nanoseconds over all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextBlame {
    /// A function; another context only where no function is known.
    pub context: ContextIdx,
    /// While it was active itself: without what it calls.
    pub exclusive_nanos: u128,
    /// While it, or anything below it, was active.
    pub inclusive_nanos: u128,
}

/// Who keeps GPUs idle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GpuBlame {
    /// The GPUs, in the order of ranks.
    pub ranks: Vec<RankBlame>,
    /// Contexts with exclusive blame, the largest first.
    pub contexts: Vec<ContextBlame>,
    /// The same as people are told it: by the functions on the call path, whatever line they call
    /// from, and all below a call out of the program (of MPI, of a GPU runtime, of files or memory,
    /// of a system library) as the exclusive blame of that call. The first of several contexts.
    pub calls: Vec<ContextBlame>,
}

impl GpuBlame {
    /// Time in which no stream of a rank was active, over all ranks, in nanoseconds.
    #[must_use]
    pub fn idle_nanos(&self) -> u128 {
        self.ranks.iter().map(|rank| u128::from(rank.idle_nanos)).sum()
    }

    /// The part of it in which no thread of the rank was active either.
    #[must_use]
    pub fn unattributed_nanos(&self) -> u128 {
        self.ranks.iter().map(|rank| u128::from(rank.unattributed_nanos)).sum()
    }

    /// A line per rank with GPUs.
    #[must_use]
    pub fn ranks_table(
        &self,
        locations: &LocationCatalog,
        path: impl Fn(ContextIdx) -> String,
    ) -> Table {
        let rows = &self.ranks;
        let seconds = |of: fn(&RankBlame) -> u64| -> Vec<f64> {
            rows.iter().map(|row| of(row) as f64 / 1e9).collect()
        };
        let percents = rows.iter().map(|row| percent(row.idle_nanos as f64, row.span_nanos as f64));
        let most = rows.iter().map(|row| row.first.map(|(context, _)| path(context)));
        Table::new(vec![
            Column::strings(
                "group",
                "Rank, node or GPU.",
                rows.iter().map(|row| row.group.label(locations)),
            ),
            Column::f64s("idle_percent", "%", "Share of the span.", percents.collect()),
            Column::f64s("idle", "s", "No stream is active.", seconds(|row| row.idle_nanos)),
            Column::f64s(
                "unattributed",
                "s",
                "No thread either.",
                seconds(|row| row.unattributed_nanos),
            ),
            Column::optional_strings("most_of_it", "The call path with most blame.", most),
        ])
    }
}

/// What stands for a call path where no thread is active.
pub const NO_ACTIVE_THREAD: &str = "<no thread active>";

/// Finds out what the threads of each rank did while its GPUs were idle. Empty for traces
/// without GPUs.
///
/// # Errors
/// When there are no traces, when they cannot be read, or when the question is withdrawn.
pub fn gpu_blame(session: &Session, control: &Control) -> Result<GpuBlame, EngineError> {
    let store = session.traces()?;
    let tree = session.tree();
    let classes = Classes::new(tree);
    let is_idle = idle_contexts(tree);
    let does_nothing = |context: ContextIdx| {
        let class = classes.of_context.get(context.idx());
        matches!(
            class,
            Some(CostClass::OpenMpIdle | CostClass::HelperThreads | CostClass::Preempted)
        )
    };
    let is_working: Vec<bool> =
        tree.iter().map(|context| !is_idle[context.idx()] && !does_nothing(context)).collect();
    let functions: Vec<ContextIdx> =
        tree.iter().map(|c| tree.enclosing_function(c).unwrap_or(c)).collect();
    let calls = Calls::new(tree, &classes);
    let question =
        Question { store, tree, is_idle: &is_idle, is_working: &is_working, at_once: AT_ONCE };
    let ranks: Vec<(Group, Members)> = groups::by_gpu(session, store)?;
    control.begin(ranks.len() as u64);
    let weight = |at: usize| ranks.get(at).map_or(0, |(_, of)| of.num_samples(store));
    let parts = threads::map(threads::ranges(ranks.len(), weight), |range| {
        let mut nanos = vec![0_u128; tree.len()];
        let mut rows = Vec::new();
        for (group, members) in ranks.get(range).unwrap_or_default() {
            let swept = question.sweep(members, control)?;
            control.advance(1)?;
            let mut by_call: BTreeMap<ContextIdx, u64> = BTreeMap::new();
            for (context, part) in swept.parts {
                nanos[context.idx()] += u128::from(part);
                *by_call.entry(calls.of_context[context.idx()]).or_default() += part;
            }
            let Some(span_nanos) = swept.span_nanos else { continue };
            rows.push(RankBlame {
                group: *group,
                num_streams: members.streams.len(),
                num_threads: members.threads.len(),
                span_nanos,
                idle_nanos: swept.idle_nanos,
                unattributed_nanos: swept.unattributed_nanos,
                first: by_call.into_iter().rev().max_by_key(|(_, part)| *part),
            });
        }
        Ok::<_, EngineError>((rows, nanos))
    });
    let mut exclusive = vec![0_u128; tree.len()];
    let mut rows = Vec::new();
    for part in parts {
        let (more, nanos) = part?;
        rows.extend(more);
        for (sum, nanos) in exclusive.iter_mut().zip(nanos) {
            *sum += nanos;
        }
    }
    Ok(GpuBlame {
        ranks: rows,
        contexts: ranked(tree, &moved(&exclusive, &functions), |context| {
            tree.parent(context).unwrap_or(ContextTree::ROOT)
        }),
        calls: ranked(tree, &moved(&exclusive, &calls.of_context), |context| {
            calls.around[context.idx()]
        }),
    })
}

/// How contexts are told to people: calls of the program with the same functions above them are
/// one, and all below the outermost call out of the program belongs to that call.
struct Calls {
    /// By context, the first context of the call that it belongs to.
    of_context: Vec<ContextIdx>,
    /// By first context of a call, that of the call around it.
    around: Vec<ContextIdx>,
}

impl Calls {
    fn new(tree: &ContextTree, classes: &Classes) -> Self {
        let mut of_context = vec![ContextTree::ROOT; tree.len()];
        let mut around = of_context.clone();
        let mut is_outside = vec![false; tree.len()];
        let mut known: HashMap<(ContextIdx, FunctionIdx), ContextIdx> = HashMap::new();
        for context in tree.iter().skip(1) {
            let above = tree.parent(context).map_or(ContextTree::ROOT, |p| of_context[p.idx()]);
            let is_call = matches!(tree.kind(context), ContextKind::Function | ContextKind::Entry);
            let call = match tree.function(context) {
                _ if is_outside[above.idx()] || !is_call => above,
                Some(function) => *known.entry((above, function)).or_insert(context),
                None => context,
            };
            of_context[context.idx()] = call;
            if call == context {
                around[context.idx()] = above;
                is_outside[context.idx()] = tree.function_name(context).is_some_and(is_runtime)
                    || classes.of_context.get(context.idx()) != Some(&CostClass::Application)
                    || classes.is_library(tree, context);
            }
        }
        Self { of_context, around }
    }
}

/// Adds up what moves to the same context.
fn moved(nanos: &[u128], to: &[ContextIdx]) -> Vec<u128> {
    let mut out = vec![0_u128; nanos.len()];
    for (nanos, to) in nanos.iter().zip(to) {
        out[to.idx()] += *nanos;
    }
    out
}

/// Contexts with blame, the largest first. What is `around` a context comes before it.
fn ranked(
    tree: &ContextTree,
    exclusive: &[u128],
    around: impl Fn(ContextIdx) -> ContextIdx,
) -> Vec<ContextBlame> {
    let mut inclusive = exclusive.to_vec();
    for context in tree.iter().skip(1).rev() {
        let nanos = inclusive[context.idx()];
        inclusive[around(context).idx()] += nanos;
    }
    let mut rows: Vec<ContextBlame> = tree
        .iter()
        .filter(|context| exclusive[context.idx()] > 0)
        .map(|context| ContextBlame {
            context,
            exclusive_nanos: exclusive[context.idx()],
            inclusive_nanos: inclusive[context.idx()],
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
    unattributed_nanos: u64,
    /// By context, in their order; adds up to `idle_nanos - unattributed_nanos`.
    parts: Vec<(ContextIdx, u64)>,
}

impl Question<'_> {
    /// Goes through all changes of a rank's tracks in order of time. Memory: `at_once` intervals,
    /// and what is proportional to the number of tracks and of contexts with blame.
    fn sweep(&self, members: &Members, control: &Control) -> Result<Swept, EngineError> {
        let tracks: Vec<(TrackIdx, bool)> = members
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
        tracks: &[(TrackIdx, bool)],
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
                changes.push(Change { nanos: start_nanos, begins: true, place: at, context });
                changes.push(Change { nanos: end_nanos, begins: false, place: at, context });
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
    /// Place of the track among those of the rank.
    place: u32,
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
    unattributed_nanos: u64,
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
            unattributed_nanos: 0,
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
            let Some(since) = self.since.get_mut(change.place as usize) else { continue };
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
            _ => self.unattributed_nanos += passed,
        }
    }

    fn finish(self) -> Swept {
        let mut owed: Vec<(u32, u128)> = self.owed.into_iter().collect();
        owed.sort_unstable();
        Swept {
            span_nanos: self.now.map(|now| now - self.first),
            idle_nanos: self.idle_nanos,
            unattributed_nanos: self.unattributed_nanos,
            parts: whole_nanos(&owed, self.idle_nanos - self.unattributed_nanos),
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
