//! [`ActivationTreeBuilder`]: activations in any order become a tree in depth-first order.
//!
//! A run may have more of them than memory has room for, so that everything that there is of each
//! one is [`Paged`], and all of it is gone through in orders in which neighbours stay neighbours.

use parallax_base::casts::low_u32;
use parallax_base::paged::{Numbers, Paged, Paging};
use parallax_base::{ActivationIdx, ThreadIdx};

use super::ActivationTree;
use super::tree::{ActivationKind, NONE, kind_of};

/// One activation, as builders add it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewActivation {
    /// What it is.
    pub kind: ActivationKind,
    /// What calls or contains it, as [`ActivationTreeBuilder::push`] numbers; `None` for the entry
    /// call of a thread.
    pub parent: Option<u32>,
    /// The thread that executes it.
    pub thread: ThreadIdx,
    /// Nanoseconds on the run's clock; `None` when the source does not say.
    pub start_nanos: Option<u64>,
    /// Nanoseconds on the run's clock; `None` when the source does not say, as when it had not
    /// ended when the recording did.
    pub end_nanos: Option<u64>,
    /// Number of an iteration in its execution; 0 for others.
    pub number: u32,
    /// Line of the call in the caller; 0 when unknown, and for others.
    pub line: u32,
    /// Number in the source, by kind.
    pub source_id: u64,
}

/// A finished tree, and where the activations that were pushed ended up.
#[derive(Debug, Clone)]
pub struct Ordered {
    /// The tree, with the root as the context of all activations.
    pub tree: ActivationTree,
    /// Positions by the numbers that [`ActivationTreeBuilder::push`] gave.
    pub position: Numbers<ActivationIdx>,
    /// How many activations lost their parent, because they were among their own ancestors or the
    /// parent does not exist.
    pub num_cut: u64,
}

/// Collects activations, parents before or after their children.
#[derive(Debug, Clone, Default)]
pub struct ActivationTreeBuilder {
    parents: Parents,
    /// By number; sources say of some only later which thread executes them.
    threads: Numbers<u32>,
    list: Pushed,
}

/// One more than the number of the parent by number, 0 for roots. Structure is looked at more often
/// than anything else.
type Parents = Numbers<u32>;

/// Everything else that was pushed, by number.
type Pushed = Paged<5>;

/// The kind, and which times are known.
const FLAGS: usize = 0;
const START: usize = 1;
/// The end; the length where only that is known.
const END: usize = 2;
/// The number of an iteration, the line of a call.
const DETAIL: usize = 3;
const SOURCE: usize = 4;

const HAS_START: u64 = 4;
const HAS_END: u64 = 8;
const HAS_LENGTH: u64 = 16;

/// Whether start or end are estimated.
const IS_ESTIMATED: u64 = 32;

impl ActivationTreeBuilder {
    /// No activations yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No activations yet; `paging` says where they are, and where those of the tree will be.
    #[must_use]
    pub fn paged(paging: &Paging) -> Self {
        let (parents, threads) = (Numbers::new(paging), Numbers::new(paging));
        Self { parents, threads, list: Paged::new(paging) }
    }

    /// Where they are.
    #[must_use]
    pub fn paging(&self) -> Paging {
        self.list.paging()
    }

    /// Number of activations so far.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none yet.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds an activation; its number is how many there were before.
    pub fn push(&mut self, activation: NewActivation) -> u32 {
        let number = u32::try_from(self.list.len()).unwrap_or(NONE);
        let NewActivation { kind, parent, thread, start_nanos, end_nanos, .. } = activation;
        let start = start_nanos.map_or(0, |_| HAS_START);
        let end = end_nanos.map_or(0, |_| HAS_END);
        let is_iteration = kind == ActivationKind::Iteration;
        let detail = if is_iteration { activation.number } else { activation.line };
        self.parents.push(parent.map_or(0, |parent| parent.saturating_add(1)));
        self.threads.push(thread.get());
        self.list.push([
            kind as u64 | start | end,
            start_nanos.unwrap_or(0),
            end_nanos.unwrap_or(0),
            detail.into(),
            activation.source_id,
        ]);
        number
    }

    /// An activation that was pushed, by its number.
    #[must_use]
    pub fn get(&self, activation: u32) -> Option<NewActivation> {
        let at = activation as usize;
        if at >= self.len() {
            return None;
        }
        let row = self.list.get(at);
        let (flags, detail) = (row[FLAGS], low_u32(row[DETAIL]));
        let kind = kind_of(flags);
        let is_iteration = kind == ActivationKind::Iteration;
        Some(NewActivation {
            kind,
            parent: self.parent(activation),
            thread: ThreadIdx::new(self.threads.get(at).unwrap_or(0)),
            start_nanos: (flags & HAS_START != 0).then_some(row[START]),
            end_nanos: (flags & HAS_END != 0).then_some(row[END]),
            number: if is_iteration { detail } else { 0 },
            line: if is_iteration { 0 } else { detail },
            source_id: row[SOURCE],
        })
    }

    /// What calls or contains an activation that was pushed.
    #[must_use]
    pub fn parent(&self, activation: u32) -> Option<u32> {
        self.parents.get(activation as usize)?.checked_sub(1)
    }

    /// Changes the parent of an activation that was pushed.
    pub fn set_parent(&mut self, activation: u32, parent: Option<u32>) {
        let parent = parent.map_or(0, |parent| parent.saturating_add(1));
        self.parents.set(activation as usize, parent);
    }

    /// Changes the thread of an activation that was pushed.
    pub fn set_thread(&mut self, activation: u32, thread: ThreadIdx) {
        self.threads.set(activation as usize, thread.get());
    }

    /// Changes the line of the call of a call that was pushed.
    pub fn set_line(&mut self, activation: u32, line: u32) {
        self.set_detail(activation, ActivationKind::Call, line);
    }

    /// Changes the number of an iteration that was pushed.
    pub fn set_number(&mut self, activation: u32, number: u32) {
        self.set_detail(activation, ActivationKind::Iteration, number);
    }

    /// Says when an activation that was pushed ended, on the clock of its start.
    pub fn set_end(&mut self, activation: u32, end_nanos: u64) {
        self.list.update(activation as usize, |row| {
            row[FLAGS] = row[FLAGS] & !HAS_LENGTH | HAS_END;
            row[END] = end_nanos;
        });
    }

    /// Says how long an activation took of which the source says neither when it began nor when it
    /// ended.
    pub fn set_length(&mut self, activation: u32, nanos: u64) {
        self.list.update(activation as usize, |row| {
            if row[FLAGS] & (HAS_START | HAS_END) == 0 {
                row[FLAGS] |= HAS_LENGTH;
                row[END] = nanos;
            }
        });
    }

    /// Sets what is said of activations of one kind only.
    fn set_detail(&mut self, activation: u32, of: ActivationKind, detail: u32) {
        self.list.update(activation as usize, |row| {
            if kind_of(row[FLAGS]) == of {
                row[DETAIL] = detail.into();
            }
        });
    }

    /// The tree.
    ///
    /// Times that are missing are made up, and marked as estimated:
    /// - A start is the first start known below it, or else that of its parent.
    /// - Of several below one parent of which only the length is known, each begins where the one
    ///   before ends.
    /// - An end is that of its parent; of a root, the last time known of its thread.
    /// - Iterations without times share the time of their execution: what lies between the last
    ///   thing known of one and the first thing known of a later one is divided evenly between the
    ///   end of the one, those between them, and the beginning of the other. Example: an execution
    ///   from 0 to 100 of two iterations, where the second one makes a call from 60 to 90: 0 to 60
    ///   is divided between the first iteration and the second one's beginning, so the iterations
    ///   are 0 to 30 and 30 to 100.
    ///
    /// An activation that is its own ancestor becomes a root.
    #[must_use]
    pub fn finish(self) -> Ordered {
        let Self { mut parents, mut threads, mut list } = self;
        let paging = list.paging();
        let mut num_cut = 0;
        let count = list.len();
        for at in 0..count {
            if parents.at(at) as usize > count {
                parents.set(at, 0);
                num_cut += 1;
            }
        }
        num_cut += cut_cycles(&mut parents, &paging);
        let mut below = Below::new(&mut parents, &paging);
        drop(parents);
        let mut times = Times::new(&mut list, &mut threads, &paging);
        drop(threads);
        times.complete(&mut below);
        let (tree, position) = emit(list, below, times, &paging);
        Ordered { tree, position, num_cut }
    }
}

/// Makes one activation of each cycle a root; returns how many.
fn cut_cycles(parents: &mut Parents, paging: &Paging) -> u64 {
    const UNSEEN: u32 = 0;
    let mut seen_by = Numbers::<u32>::filled(paging, parents.len(), UNSEEN);
    let mut num_cut = 0;
    for first in 0..parents.len() {
        let mark = u32::try_from(first + 1).unwrap_or(NONE);
        let mut at = first;
        while seen_by.at(at) == UNSEEN {
            seen_by.set(at, mark);
            let Some(parent) = parents.at(at).checked_sub(1) else { break };
            if seen_by.at(parent as usize) == mark {
                parents.set(at, 0);
                num_cut += 1;
                break;
            }
            at = parent as usize;
        }
    }
    num_cut
}

/// The children of each activation.
struct Below {
    starts: Numbers<u32>,
    children: Numbers<u32>,
    roots: Vec<u32>,
}

impl Below {
    fn new(parents: &mut Parents, paging: &Paging) -> Self {
        let count = parents.len();
        let mut next = Numbers::<u32>::filled(paging, count, 0);
        let mut roots = Vec::new();
        for at in 0..count {
            match parents.at(at).checked_sub(1) {
                Some(parent) => {
                    let number = next.at(parent as usize);
                    next.set(parent as usize, number + 1);
                }
                None => roots.push(u32::try_from(at).unwrap_or(NONE)),
            }
        }
        let mut starts = Numbers::new(paging);
        let mut sum = 0;
        for at in 0..count {
            starts.push(sum);
            let own = next.at(at);
            next.set(at, sum);
            sum += own;
        }
        starts.push(sum);
        let mut children = Numbers::filled(paging, sum as usize, 0);
        for at in 0..count {
            let Some(parent) = parents.at(at).checked_sub(1) else { continue };
            let slot = next.at(parent as usize);
            children.set(slot as usize, u32::try_from(at).unwrap_or(NONE));
            next.set(parent as usize, slot + 1);
        }
        Self { starts, children, roots }
    }

    fn range(&mut self, number: u32) -> std::ops::Range<usize> {
        let at = number as usize;
        self.starts.at(at) as usize..self.starts.at(at + 1) as usize
    }

    /// Puts a range of children into the order of a key, which has the child at its end.
    fn sort<K: Ord>(
        &mut self,
        range: std::ops::Range<usize>,
        mut key: impl FnMut(u32) -> (K, u32),
    ) {
        let mut last = None;
        let is_sorted = range.clone().all(|at| {
            let own = key(self.children.at(at));
            let is_after = last.as_ref().is_none_or(|last| *last <= own);
            last = Some(own);
            is_after
        });
        if is_sorted {
            return;
        }
        let mut keys: Vec<(K, u32)> = range.clone().map(|at| key(self.children.at(at))).collect();
        keys.sort_unstable();
        for (at, (_, child)) in range.zip(keys) {
            self.children.set(at, child);
        }
    }

    /// Puts the children of an activation in order of time.
    fn sort_by_time(&mut self, number: u32, times: &mut Times) {
        let range = self.range(number);
        if range.len() > 1 {
            self.sort(range, |child| {
                let time = times.get(child);
                ((time.start, time.number), child)
            });
        }
    }
}

/// Goes through activations in depth-first order, children as they are in order.
struct Walk {
    roots: std::vec::IntoIter<u32>,
    /// What is open, and which of its children are left.
    open: Vec<(u32, std::ops::Range<usize>)>,
}

enum Step {
    /// An activation; everything below it comes next.
    Enter(u32),
    /// All below the activation that was entered last and not left yet has come.
    Leave(u32),
}

impl Walk {
    fn new(roots: Vec<u32>) -> Self {
        Self { roots: roots.into_iter(), open: Vec::new() }
    }

    fn next(&mut self, below: &mut Below) -> Option<Step> {
        match self.open.last_mut() {
            Some((_, left)) => match left.next() {
                Some(child) => Some(Step::Enter(below.children.at(child))),
                None => self.open.pop().map(|(number, _)| Step::Leave(number)),
            },
            None => self.roots.next().map(Step::Enter),
        }
    }

    /// Goes on below an activation that was entered.
    fn descend(&mut self, number: u32, below: &mut Below) {
        self.open.push((number, below.range(number)));
    }
}

/// Times, as far as they are known, by number.
struct Times {
    rows: Paged<7>,
    /// Whether of some only the length is known.
    has_lengths: bool,
    /// The last time known of each thread.
    thread_end: Vec<u64>,
}

/// A hull in which no time is known.
const EMPTY: (u64, u64) = (u64::MAX, 0);

/// The times of one activation, and what they follow from.
#[derive(Clone, Copy)]
struct Time {
    start: u64,
    /// The length where only that is known, as long as it has no place.
    end: u64,
    /// The first start and the last end known of the activation or below it.
    hull: (u64, u64),
    flags: u64,
    thread: u64,
    /// The number of an iteration; 0 of others.
    number: u64,
}

impl Time {
    const fn has(&self, flags: u64) -> bool {
        self.flags & flags == flags
    }
}

impl Times {
    /// Takes the times of `list`.
    fn new(list: &mut Pushed, threads: &mut Numbers<u32>, paging: &Paging) -> Self {
        let mut out = Self { rows: Paged::new(paging), has_lengths: false, thread_end: Vec::new() };
        for at in 0..list.len() {
            let row = list.at(at);
            let (has_start, has_end) = (row[FLAGS] & HAS_START != 0, row[FLAGS] & HAS_END != 0);
            let (start, end) = (row[START], row[END]);
            let (low, high) = match (has_start, has_end) {
                (true, true) => (start, end.max(start)),
                (true, false) => (start, start),
                (false, true) => (end, end),
                (false, false) => EMPTY,
            };
            out.has_lengths |= row[FLAGS] & HAS_LENGTH != 0;
            let is_iteration = kind_of(row[FLAGS]) == ActivationKind::Iteration;
            let number = if is_iteration { row[DETAIL] } else { 0 };
            out.rows.push([start, end, low, high, row[FLAGS], threads.at(at).into(), number]);
        }
        out
    }

    fn get(&mut self, number: u32) -> Time {
        let [start, end, low, high, flags, thread, number] = self.rows.at(number as usize);
        Time { start, end, hull: (low, high), flags, thread, number }
    }

    fn set(&mut self, at: u32, time: Time) {
        let Time { start, end, hull: (low, high), flags, thread, number } = time;
        self.rows.set(at as usize, [start, end, low, high, flags, thread, number]);
    }

    fn complete(&mut self, below: &mut Below) {
        self.find_hulls(below);
        let mut walk = Walk::new(below.roots.clone());
        while let Some(step) = walk.next(below) {
            let Step::Enter(number) = step else { continue };
            let parent = walk.open.last().map(|(parent, _)| *parent);
            let time = self.fill(number, parent);
            let range = below.range(number);
            if kind_of(time.flags) == ActivationKind::LoopExecution {
                self.divide(time, below, range.clone());
            }
            if self.has_lengths {
                let mut from = time.start;
                for at in range {
                    let child = below.children.at(at);
                    if self.get(child).has(HAS_LENGTH) {
                        from = self.place(child, (time.start, time.end), from);
                    }
                }
            }
            walk.descend(number, below);
        }
    }

    /// Finds the first start and the last end known below each activation, and of each thread.
    fn find_hulls(&mut self, below: &mut Below) {
        let most_threads = self.rows.len();
        let mut walk = Walk::new(below.roots.clone());
        // The hulls of what is open.
        let mut hulls: Vec<(u64, u64)> = Vec::new();
        while let Some(step) = walk.next(below) {
            let (time, hull) = match step {
                Step::Enter(number) => {
                    let time = self.get(number);
                    if !below.range(number).is_empty() {
                        hulls.push(time.hull);
                        walk.descend(number, below);
                        continue;
                    }
                    (time, time.hull)
                }
                Step::Leave(number) => {
                    let (mut time, hull) = (self.get(number), hulls.pop().unwrap_or(EMPTY));
                    if time.hull != hull {
                        time.hull = hull;
                        self.set(number, time);
                    }
                    (time, hull)
                }
            };
            if let Some(outer) = hulls.last_mut() {
                *outer = (outer.0.min(hull.0), outer.1.max(hull.1));
            }
            let thread = low_u32(time.thread) as usize;
            if thread < most_threads && self.thread_end.len() <= thread {
                self.thread_end.resize(thread + 1, 0);
            }
            if let Some(end) = self.thread_end.get_mut(thread) {
                *end = (*end).max(hull.1);
            }
        }
    }

    /// Gives a place to an activation of which only the length is known; returns its end.
    fn place(&mut self, number: u32, outer: (u64, u64), from: u64) -> u64 {
        let time = self.get(number);
        let Time { hull: (low, high), end: length, flags, .. } = time;
        let start = if low <= high { low } else { from.clamp(outer.0, outer.1.max(outer.0)) };
        let end = start.saturating_add(length).min(outer.1.max(start)).max(high);
        self.set(number, Time { start, end, flags: flags | IS_ESTIMATED, ..time });
        end
    }

    /// Makes up what is missing of one activation whose parent is complete; returns its times.
    fn fill(&mut self, number: u32, parent: Option<u32>) -> Time {
        let mut time = self.get(number);
        if time.has(IS_ESTIMATED) {
            // An iteration that has its share already, or what has a place.
            return time;
        }
        let (low, high) = time.hull;
        if time.has(HAS_START | HAS_END) && time.end >= time.start {
            return time;
        }
        let parent = parent.map(|parent| self.get(parent));
        if !time.has(HAS_START) {
            let outer = parent.map_or(0, |parent| parent.start);
            time.start = if low == u64::MAX { outer } else { low };
        }
        if !time.has(HAS_END) {
            let last = self.thread_end.get(low_u32(time.thread) as usize).copied().unwrap_or(0);
            let outer = parent.map_or(last, |parent| parent.end);
            time.end = outer.max(high);
        }
        time.end = time.end.max(time.start);
        time.flags |= IS_ESTIMATED;
        self.set(number, time);
        time
    }

    /// Divides the time of an execution among its iterations without times.
    fn divide(&mut self, execution: Time, below: &mut Below, range: std::ops::Range<usize>) {
        let is_iteration = |time: Time| kind_of(time.flags) == ActivationKind::Iteration;
        let has_no_time = |time: Time| is_iteration(time) && !time.has(HAS_START | HAS_END);
        if !range.clone().any(|at| has_no_time(self.get(below.children.at(at)))) {
            return;
        }
        below.sort(range.clone(), |child| (self.get(child).number, child));
        let mut iterations: Vec<u32> = Vec::with_capacity(range.len());
        for at in range {
            let child = below.children.at(at);
            if is_iteration(self.get(child)) {
                iterations.push(child);
            }
        }
        let Time { start, end, .. } = execution;
        // Where the last thing known ends, and how many iterations nothing is known of came since.
        let (mut known, mut first) = (start, 0);
        for (i, &iteration) in iterations.iter().enumerate() {
            let (low, high) = self.get(iteration).hull;
            if low > high {
                continue;
            }
            let low = low.clamp(known, end.max(known));
            self.share(&iterations[first..=i], known, low, usize::from(first > 0));
            known = high.clamp(low, end.max(low));
            // The end of this one takes part in what follows.
            first = i + 1;
        }
        let Some(&last) = iterations.last() else { return };
        let rest = &iterations[first..];
        if rest.is_empty() {
            let time = self.get(last);
            self.set(last, Time { end: end.max(known), ..time });
        } else {
            let before = usize::from(first > 0);
            self.share(rest, known, end.max(known), before);
        }
        for (i, &iteration) in iterations.iter().enumerate() {
            let mut time = self.get(iteration);
            if let Some(&next) = iterations.get(i + 1) {
                time.end = self.get(next).start;
            }
            time.flags |= IS_ESTIMATED;
            self.set(iteration, time);
        }
    }

    /// Divides `from..to` evenly: `before` parts go to what came before, one to each of
    /// `iterations`.
    fn share(&mut self, iterations: &[u32], from: u64, to: u64, before: usize) {
        let parts = (iterations.len() + before).max(1) as u128;
        let length = u128::from(to.saturating_sub(from));
        for (i, &iteration) in iterations.iter().enumerate() {
            let share = length * (i + before) as u128 / parts;
            let time = self.get(iteration);
            let start = from + u64::try_from(share).unwrap_or(0);
            self.set(iteration, Time { start, ..time });
        }
        if let Some(&last) = iterations.last() {
            let time = self.get(last);
            self.set(last, Time { end: to, ..time });
        }
    }
}

/// Puts everything into depth-first order.
fn emit(
    mut list: Pushed,
    mut below: Below,
    mut times: Times,
    paging: &Paging,
) -> (ActivationTree, Numbers<ActivationIdx>) {
    let mut tree = ActivationTree::new(paging);
    let mut position = Numbers::filled(paging, list.len(), ActivationIdx::new(NONE));
    let mut roots = std::mem::take(&mut below.roots);
    roots.sort_by_cached_key(|&root| {
        let time = times.get(root);
        (time.thread, time.start, time.number, root)
    });
    let mut walk = Walk::new(roots);
    // Places of what is open.
    let mut places: Vec<usize> = Vec::new();
    while let Some(step) = walk.next(&mut below) {
        let Step::Enter(number) = step else {
            places.pop().into_iter().for_each(|at| tree.close(at));
            continue;
        };
        let at = tree.len();
        position.set(number as usize, ActivationIdx::from_len(at));
        let (row, time) = (list.at(number as usize), times.get(number));
        tree.push(
            kind_of(row[FLAGS]),
            places.last().copied(),
            (low_u32(time.thread), low_u32(row[DETAIL]), row[SOURCE]),
            (time.start, time.end, time.has(IS_ESTIMATED)),
        );
        if !below.range(number).is_empty() {
            below.sort_by_time(number, &mut times);
            places.push(at);
            walk.descend(number, &mut below);
        }
    }
    (tree, position)
}
