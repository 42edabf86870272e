//! The events of all threads in one order that could have been: by time, but a thread begins after
//! the event that starts it, and is waited for when it is over.
//!
//! ```text
//! thread 0    a  start 1 ........ b
//! thread 1       c  d                     its first event is older than "start 1"
//! merged      a  start 1  c  d    b
//! ```
//!
//! A program can say only after the fact that it started a thread, because there is no handle
//! before; the new thread may have done something by then.

use std::collections::{BTreeSet, HashMap};

use parallax_base::{Issues, ThreadIdx};
use parallax_formats::FormatError;
use parallax_formats::plxm::{Event, Recording, ThreadEvents, What};

use super::blocks::{FlowWalker, Functions};
use crate::flow::FlowGraph;

/// What is known of all threads before their events are merged.
#[derive(Default)]
pub(super) struct Overview {
    pub(super) threads: Vec<Life>,
    /// Calls, and what is marked as executions and iterations.
    pub(super) num_activations: u64,
    /// The way of all threads through the blocks of their functions.
    pub(super) graph: FlowGraph,
    /// Thread and number among its starts, of each start: who was started.
    pub(super) started: HashMap<(u32, u32), ThreadIdx>,
    /// The same of each wait for a thread.
    pub(super) joined: HashMap<(u32, u32), ThreadIdx>,
}

/// What is known of a thread.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Life {
    pub(super) first_ticks: u64,
    pub(super) last_ticks: u64,
    /// The start that made it: the thread, and the number among its starts.
    creator: Option<(u32, u32)>,
}

/// A start of a thread, or a wait for one.
struct Mention {
    ticks: u64,
    by: (u32, u32),
    handle: u64,
}

impl Overview {
    pub(super) fn read(
        recording: &Recording,
        functions: &Functions,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        let mut out = Self::default();
        let (mut starts, mut joins) = (Vec::new(), Vec::new());
        for (number, _) in (0_u32..).zip(&recording.threads) {
            let mut life = Life { first_ticks: u64::MAX, ..Life::default() };
            let mut events = recording.events(number as usize);
            let (mut num_starts, mut num_joins) = (0, 0);
            let mut walker = FlowWalker::default();
            while let Some(event) = events.next(issues)? {
                life.first_ticks = life.first_ticks.min(event.ticks);
                life.last_ticks = event.ticks;
                walker.take(&event.what, functions, &mut out.graph);
                match event.what {
                    What::Call { .. } | What::Loop { .. } | What::Iteration { .. } => {
                        out.num_activations += 1;
                    }
                    What::Started { handle, .. } => {
                        let by = (number, num_starts);
                        starts.push(Mention { ticks: event.ticks, by, handle });
                        num_starts += 1;
                    }
                    What::Joined { handle, .. } => {
                        joins.push(Mention { ticks: event.ticks, by: (number, num_joins), handle });
                        num_joins += 1;
                    }
                    _ => {}
                }
            }
            out.threads.push(life);
        }
        let mut of_handle: HashMap<u64, Vec<u32>> = HashMap::new();
        for (number, thread) in (0_u32..).zip(&recording.threads) {
            of_handle.entry(thread.handle).or_default().push(number);
        }
        for threads in of_handle.values_mut() {
            threads.sort_by_key(|&thread| out.first_ticks(thread));
        }
        out.match_starts(starts, &of_handle);
        for join in joins {
            let threads = of_handle.get(&join.handle).map_or(&[][..], Vec::as_slice);
            // Of threads with one handle, the last one that had begun.
            let begun = |&&thread: &&u32| out.first_ticks(thread) <= join.ticks;
            if let Some(&thread) = threads.iter().rfind(begun) {
                out.joined.insert(join.by, ThreadIdx::new(thread));
            }
        }
        Ok(out)
    }

    fn first_ticks(&self, thread: u32) -> u64 {
        self.threads.get(thread as usize).map_or(0, |life| life.first_ticks)
    }

    /// Finds the thread that each start makes. Handles are used again when a thread is over, so
    /// threads of one handle come in the order of their starts; one that begins after a later start
    /// is not of the earlier one.
    fn match_starts(&mut self, mut starts: Vec<Mention>, of_handle: &HashMap<u64, Vec<u32>>) {
        starts.sort_by_key(|start| (start.handle, start.ticks));
        for starts in starts.chunk_by(|a, b| a.handle == b.handle) {
            let Some(first) = starts.first() else { continue };
            let mut at = 0;
            for &thread in of_handle.get(&first.handle).into_iter().flatten() {
                let begin = self.first_ticks(thread);
                while starts.get(at + 1).is_some_and(|next| next.ticks < begin) {
                    at += 1;
                }
                let Some(start) = starts.get(at) else { break };
                at += 1;
                if start.by.0 == thread {
                    continue;
                }
                if let Some(life) = self.threads.get_mut(thread as usize) {
                    life.creator = Some(start.by);
                }
                self.started.insert(start.by, ThreadIdx::new(thread));
            }
        }
    }
}

/// One thread while events are merged.
struct Cursor<'r> {
    events: ThreadEvents<'r>,
    next: Option<Event>,
    /// How many threads it started so far.
    num_starts: u32,
    num_joins: u32,
    has_begun: bool,
}

/// The events of all threads, one after the other.
pub(super) struct Merge<'r> {
    overview: &'r Overview,
    cursors: Vec<Cursor<'r>>,
    /// Times of the next events, of the threads that have one.
    waiting: BTreeSet<(u64, u32)>,
    /// The thread whose next event has no time of its own.
    current: Option<u32>,
    /// What reading says a second time.
    ignored: Issues,
}

impl<'r> Merge<'r> {
    pub(super) fn new(
        recording: &'r Recording,
        overview: &'r Overview,
    ) -> Result<Self, FormatError> {
        let mut out = Self {
            overview,
            cursors: Vec::new(),
            waiting: BTreeSet::new(),
            current: None,
            ignored: Issues::new(),
        };
        for (number, _) in (0_u32..).zip(&recording.threads) {
            let mut events = recording.events(number as usize);
            let next = events.next(&mut out.ignored)?;
            if let Some(event) = next {
                out.waiting.insert((event.ticks, number));
            }
            let (num_starts, num_joins, has_begun) = (0, 0, false);
            out.cursors.push(Cursor { events, next, num_starts, num_joins, has_begun });
        }
        Ok(out)
    }

    /// The next event, and the thread that it is of.
    pub(super) fn next(&mut self) -> Result<Option<(ThreadIdx, Event)>, FormatError> {
        let number = match self.current.take() {
            Some(number) => number,
            None => {
                let Some(number) = self.choose() else { return Ok(None) };
                number
            }
        };
        let Some(cursor) = self.cursors.get_mut(number as usize) else { return Ok(None) };
        let Some(event) = cursor.next else { return Ok(None) };
        cursor.has_begun = true;
        match event.what {
            What::Started { .. } => cursor.num_starts += 1,
            What::Joined { .. } => cursor.num_joins += 1,
            _ => {}
        }
        cursor.next = cursor.events.next(&mut self.ignored)?;
        match cursor.next {
            Some(next) if next.has_time() => {
                self.waiting.insert((next.ticks, number));
            }
            Some(_) => self.current = Some(number),
            None => {}
        }
        Ok(Some((ThreadIdx::new(number), event)))
    }

    /// How many threads a thread had started, and waited for, before the event that came last.
    pub(super) fn counts(&self, thread: ThreadIdx) -> (u32, u32) {
        self.cursors.get(thread.idx()).map_or((0, 0), |c| (c.num_starts, c.num_joins))
    }

    /// Takes the thread that comes next out of those that wait: the one with the oldest event, or
    /// what that one waits for.
    fn choose(&mut self) -> Option<u32> {
        let &(ticks, oldest) = self.waiting.first()?;
        let mut number = oldest;
        // Damaged files may say that threads wait for each other.
        for _ in 0..self.cursors.len() {
            match self.waits_for(number) {
                Some(other) => number = other,
                None => {
                    let next = self.cursors.get(number as usize).and_then(|cursor| cursor.next);
                    let key = (next.map_or(0, |event| event.ticks), number);
                    if self.waiting.remove(&key) {
                        return Some(number);
                    }
                    break;
                }
            }
        }
        self.waiting.remove(&(ticks, oldest));
        Some(oldest)
    }

    /// The thread whose next event must come before that of a thread.
    fn waits_for(&self, number: u32) -> Option<u32> {
        let cursor = self.cursors.get(number as usize)?;
        let has_more =
            |other: u32| self.cursors.get(other as usize).is_some_and(|other| other.next.is_some());
        if !cursor.has_begun {
            let (creator, start) = self.overview.threads.get(number as usize)?.creator?;
            let is_over = self.cursors.get(creator as usize).is_none_or(|c| c.num_starts > start);
            return (!is_over && has_more(creator)).then_some(creator);
        }
        if let Some(Event { what: What::Joined { .. }, .. }) = cursor.next {
            let other = self.overview.joined.get(&(number, cursor.num_joins))?.get();
            return (other != number && has_more(other)).then_some(other);
        }
        None
    }
}
