//! Work, span and parallelism.
//!
//! - **Work**: the time that all of it takes one after the other: own times, summed over an
//!   activation and everything below it, threads started there included. Waiting for a thread to
//!   end is no work.
//! - **Span**: the longest chain of parts that have to come one after the other: what is left with
//!   any number of workers.
//! - **Parallelism**: work divided by span, the most that workers can be of use.
//!
//! (Y. He, C. Leiserson, W. Leiserson, *The Cilkview Scalability Analyzer*, SPAA 2010; T. Schardl,
//! B. Kuszmaul, I.-T. Lee, W. Leiserson, C. Leiserson, *The Cilkprof Scalability Profiler*, SPAA
//! 2015, which has them by call site as ParaSite does.) Those tools measure programs that say what
//! may run in parallel. Here it is what the run shows could have:
//!
//! - Iterations of a loop that [`super::loops()`] finds independent, at once or after changes, run
//!   in parallel: own time of the execution plus the longest iteration. Others run one after the
//!   other.
//! - Sibling calls and loops run as soon as all that they depend on are over; the own time of the
//!   activation around comes on top. Below [`LEAST_SHARE`] of the whole work, they run one after
//!   the other.
//! - A thread begins when what starts it is over, and what joins it begins after its end; both are
//!   placed where the path from the start and the path to the join meet.
//!
//! A chain is never left out, and a part never counted at less than its own time, so the span is
//! rather too long than too short.

use std::collections::HashMap;

use parallax_base::paged::Numbers;
use parallax_base::{ActivationIdx, Cancelled, ContextIdx, Control, ThreadIdx};
use parallax_model::{ActivationKind, Activations, ContextTree, SyncKind};

use super::loops::LoopAdvice;
use super::reach::Reach;
use super::shared::SharedTouches;
use super::siblings::{Gathered, SiblingAdvice, conflicts, members};

/// Part of the work of the run below which sibling calls are not compared.
const LEAST_SHARE: f64 = 0.001;

/// Work and span of the activations of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextWork {
    /// The context.
    pub context: ContextIdx,
    /// Calls, or executions of a loop.
    pub kind: ActivationKind,
    /// How many.
    pub num_activations: u64,
    /// Nanoseconds of work, summed over all of them.
    pub work_nanos: u64,
    /// Nanoseconds of span, summed in the same way.
    pub span_nanos: u64,
}

impl ContextWork {
    /// Work divided by span; 1 where there is nothing.
    #[must_use]
    pub fn parallelism(&self) -> f64 {
        parallelism(self.work_nanos, self.span_nanos)
    }
}

/// Work and span of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    /// Nanoseconds of work, by activation.
    pub work_nanos: Numbers<u64>,
    /// Nanoseconds of span, by activation.
    pub span_nanos: Numbers<u64>,
    /// By context, in the order of the tree.
    pub contexts: Vec<ContextWork>,
    /// Work of the whole run.
    pub total_work_nanos: u64,
    /// Span of the whole run.
    pub total_span_nanos: u64,
    /// Nanoseconds in which threads did nothing but wait for others to end, and which are no work.
    pub waiting_nanos: u64,
    /// Sibling calls and loops.
    pub siblings: Vec<SiblingAdvice>,
}

impl Work {
    /// Work divided by span of the whole run.
    #[must_use]
    pub fn parallelism(&self) -> f64 {
        parallelism(self.total_work_nanos, self.total_span_nanos)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio")]
fn parallelism(work: u64, span: u64) -> f64 {
    if span == 0 { 1.0 } else { work as f64 / span as f64 }
}

/// Computes work and span of everything, and compares sibling calls. `loops` are the answer of
/// [`super::loops()`].
///
/// # Errors
/// When the question is withdrawn.
pub fn work(
    run: &Activations,
    contexts: &ContextTree,
    loops: &[LoopAdvice],
    control: &Control,
) -> Result<Work, Cancelled> {
    let reach = Reach::new(run);
    let parallel_loops =
        loops.iter().filter(|advice| advice.verdict.is_parallel()).map(|advice| advice.context);
    let mut is_parallel = vec![false; contexts.len()];
    for context in parallel_loops {
        if let Some(slot) = is_parallel.get_mut(context.idx()) {
            *slot = true;
        }
    }
    let (paging, count) = (run.tree.paging(), run.tree.len());
    let mut spans = Spans {
        room: SharedTouches::new(&reach),
        own: Numbers::new(&paging),
        out: Work {
            work_nanos: Numbers::filled(&paging, count, 0),
            span_nanos: Numbers::filled(&paging, count, 0),
            ..Work::default()
        },
        strands: HashMap::new(),
        is_parallel,
        gathered: Gathered::default(),
        reach: &reach,
    };
    spans.own_times();
    let left = spans.place_threads();
    let whole: u64 = spans.own.iter().fold(0, u64::saturating_add);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a threshold"
    )]
    let least = (whole as f64 * LEAST_SHARE) as u64;
    control.begin(run.tree.len() as u64);
    for root in spans.roots_last_started_first() {
        for position in run.tree.subtree(root).rev() {
            control.advance(1)?;
            spans.activation(ActivationIdx::from_len(position), least);
        }
    }
    spans.totals(&left);
    spans.by_context(contexts);
    let mut out = spans.out;
    out.siblings = spans.gathered.finish();
    Ok(out)
}

/// A thread that runs in parallel with an activation.
#[derive(Debug, Clone, Copy)]
struct Strand {
    thread: ThreadIdx,
    /// The child in which it is started; `None` for the activation itself.
    started: Option<ActivationIdx>,
    /// The child in which it is waited for; `None` for the activation itself, or where none waits.
    joined: Option<ActivationIdx>,
}

struct Spans<'r, 'a> {
    reach: &'r Reach<'a>,
    room: SharedTouches,
    /// Own times without waiting, by activation.
    own: Numbers<u64>,
    out: Work,
    strands: HashMap<ActivationIdx, Vec<Strand>>,
    is_parallel: Vec<bool>,
    gathered: Gathered,
}

fn at(list: &Numbers<u64>, activation: ActivationIdx) -> u64 {
    list.get(activation.idx()).unwrap_or(0)
}

impl Spans<'_, '_> {
    fn own_times(&mut self) {
        let tree = &self.reach.run.tree;
        for activation in tree.iter() {
            self.own.push(tree.own_nanos(activation));
        }
        // Joins by activation, so that those in one gap between children count once.
        let mut joins: HashMap<ActivationIdx, Vec<(u64, u64)>> = HashMap::new();
        for sync in self.reach.run.syncs.iter().filter(|sync| sync.kind == SyncKind::Join) {
            let Some(thread) = sync.other_thread else { continue };
            let roots = self.reach.roots(thread);
            let start = roots.iter().map(|&root| tree.time(root).start_nanos).min();
            let end = roots.iter().map(|&root| tree.time(root).end_nanos).max();
            if let (Some(start), Some(end)) = (start, end)
                && sync.activation.idx() < tree.len()
            {
                joins.entry(sync.activation).or_default().push((start, end));
            }
        }
        for (activation, threads) in joins {
            let waiting = self.waiting(activation, threads);
            let own = at(&self.own, activation);
            self.own.set(activation.idx(), own.saturating_sub(waiting));
            self.out.waiting_nanos += waiting.min(own);
        }
    }

    /// The part of its own time that an activation waits: between two things that it calls, the
    /// time up to the end of a thread, as far as the thread runs in it. Sources do not say when
    /// waiting begins.
    fn waiting(&self, activation: ActivationIdx, mut threads: Vec<(u64, u64)>) -> u64 {
        let tree = &self.reach.run.tree;
        let window = tree.time(activation);
        let mut gaps = Vec::new();
        let mut from = window.start_nanos;
        for child in tree.children(activation) {
            let time = tree.time(child);
            gaps.push((from, time.start_nanos));
            from = from.max(time.end_nanos);
        }
        gaps.push((from, window.end_nanos));
        threads.sort_unstable();
        let mut waits: Vec<(u64, u64)> = threads
            .iter()
            .filter_map(|&(start, end)| {
                let &(low, _) = gaps.iter().find(|&&(low, high)| low < end && end <= high)?;
                Some((low.max(start), end))
            })
            .collect();
        waits.sort_unstable();
        let (mut sum, mut until) = (0, 0);
        for (start, end) in waits {
            sum += end.saturating_sub(start.max(until));
            until = until.max(end);
        }
        sum
    }

    /// Assigns each thread to the activation in which its start and its join meet. Returns threads
    /// without a known start.
    fn place_threads(&mut self) -> Vec<ThreadIdx> {
        let run = self.reach.run;
        let tree = &run.tree;
        let mut joins: HashMap<ThreadIdx, ActivationIdx> = HashMap::new();
        for sync in run.syncs.iter().filter(|sync| sync.kind == SyncKind::Join) {
            if let Some(thread) = sync.other_thread
                && sync.activation.idx() < tree.len()
            {
                joins.entry(thread).or_insert(sync.activation);
            }
        }
        let mut left = Vec::new();
        for thread in (0..run.threads.len()).map(ThreadIdx::from_len) {
            let Some(starter) = self.reach.starter(thread) else {
                left.push(thread);
                continue;
            };
            let join = joins.get(&thread).copied();
            let join = join.filter(|&join| tree.thread(join) == tree.thread(starter));
            let mut place = starter;
            let mut started = None;
            while let Some(parent) = tree.parent(place) {
                if join.is_some_and(|join| tree.is_within(join, place)) {
                    break;
                }
                started = Some(place);
                place = parent;
            }
            let joined = join.and_then(|join| {
                let mut below = None;
                let mut at = join;
                while at != place {
                    below = Some(at);
                    at = tree.parent(at)?;
                }
                below
            });
            self.strands.entry(place).or_default().push(Strand { thread, started, joined });
        }
        left
    }

    /// Roots so that what a thread starts comes before what starts it.
    fn roots_last_started_first(&self) -> Vec<ActivationIdx> {
        let tree = &self.reach.run.tree;
        let depth = |root: ActivationIdx| {
            let mut depth = 0_usize;
            let mut thread = tree.thread(root);
            while let Some(starter) = self.reach.starter(thread) {
                thread = tree.thread(starter);
                depth += 1;
                if depth > self.reach.run.threads.len() {
                    break;
                }
            }
            depth
        };
        let mut roots: Vec<_> = tree.roots().map(|root| (depth(root), root)).collect();
        roots.sort_by_key(|&(depth, root)| (std::cmp::Reverse(depth), root));
        roots.into_iter().map(|(_, root)| root).collect()
    }

    fn thread_sum(&self, thread: ThreadIdx, list: &Numbers<u64>) -> u64 {
        self.reach
            .roots(thread)
            .iter()
            .fold(0, |sum: u64, &root| sum.saturating_add(at(list, root)))
    }

    fn activation(&mut self, activation: ActivationIdx, least: u64) {
        let tree = &self.reach.run.tree;
        let children: Vec<ActivationIdx> = tree.children(activation).collect();
        let strands = self.strands.remove(&activation).unwrap_or_default();
        let own = at(&self.own, activation);
        let below = children.iter().map(|&child| at(&self.out.work_nanos, child));
        let threads = strands.iter().map(|s| self.thread_sum(s.thread, &self.out.work_nanos));
        let work = below.chain(threads).fold(own, u64::saturating_add);
        self.out.work_nanos.set(activation.idx(), work);
        if children.is_empty() && strands.is_empty() {
            self.out.span_nanos.set(activation.idx(), own);
            return;
        }
        let is_loop = tree.kind(activation) == ActivationKind::LoopExecution;
        let context = tree.context(activation);
        let order = if is_loop && self.is_parallel.get(context.idx()) == Some(&true) {
            Order::Free
        } else if is_loop || children.len() < 2 || work < least.max(1) {
            Order::Serial
        } else {
            let members = members(self.reach, activation);
            if members.len() == children.len() {
                let found = conflicts(self.reach, activation, &members, &mut self.room);
                self.gathered.add(self.reach, activation, work, &members, &found);
                Order::After(found.pairs(members.len()))
            } else {
                Order::Serial
            }
        };
        let longest = self.longest(&children, &order, &strands);
        self.out.span_nanos.set(activation.idx(), own.saturating_add(longest));
    }

    /// The end of the last child or thread, if each begins as soon as it may.
    fn longest(&self, children: &[ActivationIdx], order: &Order, strands: &[Strand]) -> u64 {
        let mut ends: Vec<u64> = Vec::with_capacity(children.len());
        let mut begun: HashMap<ActivationIdx, u64> = HashMap::new();
        let mut pending: Vec<(Strand, u64)> = Vec::new();
        let mut last = 0;
        let span = |strand: &Strand| self.thread_sum(strand.thread, &self.out.span_nanos);
        let mut waits = match order {
            Order::After(pairs) => pairs.iter().map(|&(from, to)| (to, from)).collect(),
            Order::Free | Order::Serial => Vec::new(),
        };
        waits.sort_unstable();
        let mut waits = waits.into_iter().peekable();
        for (number, &child) in (0_u32..).zip(children) {
            let mut start = match order {
                Order::Serial => last,
                Order::Free | Order::After(_) => 0,
            };
            while let Some((_, from)) = waits.next_if(|&(to, _)| to <= number) {
                start = start.max(ends.get(from as usize).copied().unwrap_or(0));
            }
            for (strand, end) in &pending {
                if strand.joined == Some(child) {
                    start = start.max(*end);
                }
            }
            for strand in strands.iter().filter(|s| s.started.is_none() && s.joined == Some(child))
            {
                start = start.max(self.started_here(strand, children, &ends));
            }
            let end = start.saturating_add(at(&self.out.span_nanos, child));
            ends.push(end);
            begun.insert(child, end);
            last = last.max(end);
            for strand in strands.iter().filter(|strand| strand.started == Some(child)) {
                pending.push((*strand, end.saturating_add(span(strand))));
            }
        }
        for strand in strands {
            let end = match strand.started {
                Some(child) => begun.get(&child).copied().unwrap_or(0).saturating_add(span(strand)),
                None => self.started_here(strand, children, &ends),
            };
            last = last.max(end);
        }
        last
    }

    /// The end of a thread that the activation starts itself: it begins after those of the children
    /// that had ended before it did.
    fn started_here(&self, strand: &Strand, children: &[ActivationIdx], ends: &[u64]) -> u64 {
        let tree = &self.reach.run.tree;
        let first = self.reach.roots(strand.thread).first();
        let start = first.map_or(0, |&root| tree.time(root).start_nanos);
        let before = children.iter().zip(ends);
        let before = before.filter(|(child, _)| tree.time(**child).end_nanos <= start);
        let begin = before.map(|(_, &end)| end).max().unwrap_or(0);
        begin.saturating_add(self.thread_sum(strand.thread, &self.out.span_nanos))
    }

    /// Sums of the run: of roots that no thread runs in parallel with.
    fn totals(&mut self, left: &[ThreadIdx]) {
        for &thread in left {
            let work = self.thread_sum(thread, &self.out.work_nanos);
            let span = self.thread_sum(thread, &self.out.span_nanos);
            self.out.total_work_nanos = self.out.total_work_nanos.saturating_add(work);
            // Threads whose start is unknown run in parallel.
            self.out.total_span_nanos = self.out.total_span_nanos.max(span);
        }
    }

    fn by_context(&mut self, contexts: &ContextTree) {
        let tree = &self.reach.run.tree;
        let mut sums: Vec<Option<ContextWork>> = vec![None; contexts.len()];
        for activation in tree.iter() {
            let kind = tree.kind(activation);
            let context = tree.context(activation);
            if kind == ActivationKind::Iteration {
                continue;
            }
            let Some(slot) = sums.get_mut(context.idx()) else { continue };
            let sum = slot.get_or_insert(ContextWork {
                context,
                kind,
                num_activations: 0,
                work_nanos: 0,
                span_nanos: 0,
            });
            sum.num_activations += 1;
            sum.work_nanos = sum.work_nanos.saturating_add(at(&self.out.work_nanos, activation));
            sum.span_nanos = sum.span_nanos.saturating_add(at(&self.out.span_nanos, activation));
        }
        self.out.contexts = sums.into_iter().flatten().collect();
    }
}

/// In which order children may run.
enum Order {
    /// One after the other.
    Serial,
    /// All at once.
    Free,
    /// Each after those that it depends on: pairs of earlier and later.
    After(Vec<(u32, u32)>),
}
