//! Accesses of several threads that nothing orders: hints at races.
//!
//! Two accesses of different threads to the same bytes, one of them a write, race when neither
//! happens before the other (L. Lamport, *Time, Clocks, and the Ordering of Events in a Distributed
//! System*, 1978) and no lock is held at both. What happens before what follows from starting and
//! joining threads, and from releasing a lock before another thread takes it; it is known by vector
//! clocks (F. Mattern, 1989; E. Pozniansky, A. Schuster, *Efficient On-the-Fly Data Race Detection
//! in Multithreaded C++ Programs*, PPoPP 2003, which adds lock sets as S. Savage et al., *Eraser*,
//! 1997, has them).
//!
//! Atomic accesses, and what orders threads by other means (condition variables, files), look like
//! races. An order that locks made in this run may be another one in the next: then there is no
//! hint, though there may be a race.

use std::collections::HashMap;
use std::ops::Range;

use parallax_base::casts::low_u32;
use parallax_base::paged::{Numbers, Sorter};
use parallax_base::{ActivationIdx, Cancelled, ContextIdx, Control, ReferenceIdx, ThreadIdx};
use parallax_model::{Activations, SyncEvent, SyncKind};

use super::reach::Reach;
use super::segments::Segments;

/// One side of a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Who.
    pub thread: ThreadIdx,
    /// In which activation.
    pub activation: ActivationIdx,
    /// The context of the function whose code it is.
    pub function: Option<ContextIdx>,
    /// The line in the function's file; 0 when unknown.
    pub line: u32,
    /// Whether it writes.
    pub is_write: bool,
}

/// Two accesses that nothing orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaceHint {
    /// To what.
    pub reference: ReferenceIdx,
    /// The one that came first in this run.
    pub first: Access,
    /// The other one.
    pub second: Access,
    /// How many pairs of the same lines and variables there are.
    pub count: u64,
}

/// All hints, and what limits them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Races {
    /// The hints, most pairs first.
    pub hints: Vec<RaceHint>,
    /// References that several threads touch and one of them writes.
    pub num_shared: u64,
    /// Whether some locks are not named: they count as one and the same, so that hints may be
    /// missing.
    pub has_unknown_locks: bool,
    /// Whether there were too many threads and synchronisations to compare; there are no hints
    /// then.
    pub is_too_large: bool,
}

/// Numbers of vector clocks that are kept.
const MOST_NUMBERS: usize = 64 << 20;

/// Finds accesses that nothing orders.
///
/// # Errors
/// When the question is withdrawn.
pub fn races(run: &Activations, control: &Control) -> Result<Races, Cancelled> {
    let mut out = Races::default();
    if run.threads.len() < 2 {
        return Ok(out);
    }
    if run.threads.len().saturating_mul(run.syncs.len() + run.threads.len()) > MOST_NUMBERS {
        out.is_too_large = true;
        return Ok(out);
    }
    let reach = Reach::new(run);
    let order = Order::of(&reach);
    out.has_unknown_locks = order.has_unknown_locks;
    let mut seen: Vec<(u32, bool, bool)> = vec![(u32::MAX, false, false); run.references.len()];
    let paging = run.tree.paging();
    let mut thread_of = Numbers::<u32>::new(&paging);
    for activation in run.tree.iter() {
        let thread = run.tree.thread(activation).get();
        for touch in run.touches.of(activation) {
            thread_of.push(thread);
            let Some(slot) = seen.get_mut(touch.reference.idx()) else { continue };
            slot.1 |= slot.0 != u32::MAX && slot.0 != thread;
            slot.0 = thread;
            slot.2 |= touch.writes > 0;
        }
    }
    // Reference, number of the first access, position.
    let mut entries = Sorter::<3>::new(&paging);
    let mut count = 0;
    for (position, touch) in (0_u32..).zip(run.touches.all()) {
        if seen.get(touch.reference.idx()).is_some_and(|slot| slot.1 && slot.2) {
            entries.push([touch.reference.get(), touch.first, position].map(u64::from));
            count += 1;
        }
    }
    control.begin(count);
    let mut hints: HashMap<Key, RaceHint> = HashMap::new();
    let mut entries = entries.finish().peekable();
    while let Some(&[reference, ..]) = entries.peek() {
        out.num_shared += 1;
        let of_one = std::iter::from_fn(|| entries.next_if(|entry| entry[0] == reference));
        let positions = of_one.map(|[_, _, position]| low_u32(position));
        let compared = one_reference(&reach, &order, &thread_of, positions, &mut hints);
        control.advance(compared)?;
    }
    out.hints = hints.into_values().collect();
    // Where counts are equal, two writes come before a read and a write.
    out.hints.sort_by_key(|hint| {
        let side = |access: &Access| (!access.is_write, access.function, access.line);
        (u64::MAX - hint.count, hint.reference, side(&hint.first), side(&hint.second))
    });
    Ok(out)
}

/// What hints are distinguished by: names, and function, line and kind of both accesses.
type Side = (Option<ContextIdx>, u32, bool);
type Key = (std::sync::Arc<str>, Option<std::sync::Arc<str>>, Side, Side);

/// A thread while it holds some locks.
#[derive(Debug, Default)]
struct Holder {
    thread: u32,
    locks: usize,
    reads: Segments<u32>,
    writes: Segments<u32>,
}

/// Compares the touches of one reference; returns how many there are.
fn one_reference(
    reach: &Reach<'_>,
    order: &Order,
    thread_of: &Numbers<u32>,
    positions: impl Iterator<Item = u32>,
    hints: &mut HashMap<Key, RaceHint>,
) -> u64 {
    let mut compared = 0;
    let mut holders: Vec<Holder> = Vec::new();
    for position in positions {
        compared += 1;
        let Some(touch) = reach.touch(position as usize) else { continue };
        let Some(thread) = thread_of.get(position as usize) else { continue };
        let is_value = reach.is_value(touch.reference.idx());
        let bytes: Range<u64> = if is_value { 0..1 } else { reach.bytes(position as usize) };
        let locks = order.locks_at(thread, touch.epoch);
        for holder in holders.iter().filter(|holder| holder.thread != thread) {
            if order.has_common(holder.locks, locks) {
                continue;
            }
            let mut compare = |other: u32, is_other_write: bool, is_own_write: bool| {
                let Some(before) = reach.touch(other as usize) else { return };
                let is_ordered = order
                    .is_before((holder.thread, before.epoch), (thread, touch.epoch))
                    || order.is_before((thread, touch.epoch), (holder.thread, before.epoch));
                if is_ordered {
                    return;
                }
                let first = access(reach, other, holder.thread, is_other_write);
                let second = access(reach, position, thread, is_own_write);
                let named = reach.run.references.get(touch.reference.idx());
                let key = (
                    named.as_ref().map_or_else(|| "".into(), |named| named.name.clone()),
                    named.and_then(|named| named.member.clone()),
                    (first.function, first.line, first.is_write),
                    (second.function, second.line, second.is_write),
                );
                let reference = touch.reference;
                hints
                    .entry(key)
                    .or_insert(RaceHint { reference, first, second, count: 0 })
                    .count += 1;
            };
            for &other in holder.writes.overlapping(&bytes) {
                compare(other, true, touch.writes > 0);
            }
            if touch.writes > 0 {
                for &other in holder.reads.overlapping(&bytes) {
                    compare(other, false, true);
                }
            }
        }
        let known = holders.iter().position(|h| h.thread == thread && h.locks == locks);
        let at = known.unwrap_or_else(|| {
            holders.push(Holder { thread, locks, ..Holder::default() });
            holders.len() - 1
        });
        let Some(holder) = holders.get_mut(at) else { continue };
        if touch.writes > 0 {
            holder.writes.set(&bytes, position);
        }
        if touch.reads > 0 {
            holder.reads.set(&bytes, position);
        }
    }
    compared
}

fn access(reach: &Reach<'_>, position: u32, thread: u32, is_write: bool) -> Access {
    let at = position as usize;
    let touch = reach.touch(at);
    let line = touch.map_or(0, |touch| if is_write { touch.write_line } else { touch.read_line });
    Access {
        thread: ThreadIdx::new(thread),
        activation: reach.run.touches.activation(at),
        function: reach.function(at),
        line,
        is_write,
    }
}

/// What happens before what, and which locks are held when.
struct Order {
    /// By thread and epoch: how many epochs of each thread are over.
    clocks: Vec<Vec<Vec<u32>>>,
    /// By thread and epoch: the set of locks.
    locks: Vec<Vec<usize>>,
    /// Sets of locks, each ascending.
    sets: Vec<Vec<u32>>,
    has_unknown_locks: bool,
}

/// What stands for locks without a name.
const UNKNOWN_LOCK: u32 = u32::MAX;

impl Order {
    fn of(reach: &Reach<'_>) -> Self {
        let run = reach.run;
        let count = run.threads.len();
        let mut out = Self {
            clocks: Vec::new(),
            locks: vec![vec![0]; count],
            sets: vec![Vec::new()],
            has_unknown_locks: false,
        };
        let mut now: Vec<Vec<u32>> = (0..count)
            .map(|thread| (0..count).map(|other| u32::from(other == thread)).collect())
            .collect();
        let mut held: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut known_sets: HashMap<Vec<u32>, usize> = HashMap::from([(Vec::new(), 0)]);
        let mut of_lock: HashMap<u32, Vec<u32>> = HashMap::new();
        // A start that is no synchronisation of the source still comes after what its thread did
        // before its first one.
        for thread in (0..count).map(ThreadIdx::from_len) {
            let is_told = |sync: &&SyncEvent| {
                sync.kind == SyncKind::Fork && sync.other_thread == Some(thread)
            };
            let starter = reach.starter(thread).map(|by| run.tree.thread(by).idx());
            if let Some(starter) = starter.filter(|_| !run.syncs.iter().any(|s| is_told(&s)))
                && let Some(slot) = now.get_mut(thread.idx()).and_then(|own| own.get_mut(starter))
            {
                *slot = 1;
            }
        }
        let mut clocks: Vec<Vec<Vec<u32>>> = now.iter().map(|clock| vec![clock.clone()]).collect();
        let mut syncs: Vec<_> = run.syncs.iter().collect();
        syncs.sort_by_key(|sync| sync.sequence);
        for sync in syncs {
            if sync.activation.idx() >= run.tree.len() {
                continue;
            }
            let thread = run.tree.thread(sync.activation).idx();
            let Some(mut clock) = now.get(thread).cloned() else { continue };
            let other = sync.other_thread.map(ThreadIdx::idx).filter(|&other| other != thread);
            let lock = sync.lock.map_or(UNKNOWN_LOCK, ReferenceIdx::get);
            let is_lock = matches!(sync.kind, SyncKind::Acquire | SyncKind::Release);
            out.has_unknown_locks |= is_lock && sync.lock.is_none();
            match sync.kind {
                SyncKind::Fork => {
                    if let Some(started) = other.and_then(|other| now.get_mut(other)) {
                        merge(started, &clock);
                        // It has done nothing yet, so what it knows it knows from its beginning.
                        let first = other.and_then(|other| clocks.get_mut(other)?.last_mut());
                        first.into_iter().for_each(|first| first.clone_from(started));
                    }
                }
                SyncKind::Join => {
                    if let Some(ended) = other.and_then(|other| now.get(other)) {
                        merge(&mut clock, ended);
                    }
                }
                SyncKind::Acquire => {
                    if let Some(released) = of_lock.get(&lock) {
                        merge(&mut clock, released);
                    }
                    if let Some(held) = held.get_mut(thread)
                        && let Err(at) = held.binary_search(&lock)
                    {
                        held.insert(at, lock);
                    }
                }
                SyncKind::Release => {
                    // A lock that was not taken is a signal: whoever takes it comes after all who
                    // gave it.
                    let released = of_lock.entry(lock).or_default();
                    released.resize(count, 0);
                    merge(released, &clock);
                    if let Some(held) = held.get_mut(thread) {
                        held.retain(|&own| own != lock);
                    }
                }
            }
            if let Some(own) = clock.get_mut(thread) {
                *own = own.saturating_add(1);
            }
            if let Some(slot) = now.get_mut(thread) {
                slot.clone_from(&clock);
            }
            if let Some(list) = clocks.get_mut(thread) {
                list.push(clock);
            }
            if let (Some(held), Some(list)) = (held.get(thread), out.locks.get_mut(thread)) {
                let next = out.sets.len();
                let at = *known_sets.entry(held.clone()).or_insert(next);
                if at == next {
                    out.sets.push(held.clone());
                }
                list.push(at);
            }
        }
        out.clocks = clocks;
        out
    }

    fn locks_at(&self, thread: u32, epoch: u32) -> usize {
        let list = self.locks.get(thread as usize).map_or(&[][..], Vec::as_slice);
        list.get(epoch as usize).or_else(|| list.last()).copied().unwrap_or(0)
    }

    fn has_common(&self, a: usize, b: usize) -> bool {
        let (Some(a), Some(b)) = (self.sets.get(a), self.sets.get(b)) else { return false };
        a.iter().any(|lock| b.binary_search(lock).is_ok())
    }

    /// Whether all of an epoch of one thread comes before an epoch of another one.
    fn is_before(&self, earlier: (u32, u32), later: (u32, u32)) -> bool {
        let list = self.clocks.get(later.0 as usize).map_or(&[][..], Vec::as_slice);
        let clock = list.get(later.1 as usize).or_else(|| list.last());
        let over = clock.and_then(|clock| clock.get(earlier.0 as usize)).copied().unwrap_or(0);
        over > earlier.1
    }
}

fn merge(into: &mut [u32], from: &[u32]) {
    for (into, &from) in into.iter_mut().zip(from) {
        *into = (*into).max(from);
    }
}
