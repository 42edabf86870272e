//! What happened to threads, in order, until the names are known that it needs.
//!
//! A sample waits here as places in code, not as a stack: some bytes for each function instead of 16
//! KiB. What comes after it waits as well, so that the time lines of threads are made in order. Where
//! more waits than may, names are looked up at once.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parallax_import::events::{Conversion, ConversionError};

use crate::Detail;
use crate::images::Images;
use crate::mpi::Call;
use crate::processes::Place;
use crate::symbols::{Frame, Symbols};
use crate::threads::Threads;

/// Most steps and most functions in their call paths that wait: some tens of megabytes.
const MOST_STEPS: usize = 1 << 17;
const MOST_FRAMES: usize = 1 << 20;

/// Something that happened to a thread.
#[derive(Debug)]
pub(crate) enum Step {
    /// It was seen, with its functions, the outermost first.
    Sample {
        kind: Kind,
        is_kernel: bool,
        is_whole: bool,
        frames: Vec<Frame>,
    },
    /// It did something with MPI. Functions that it entered are known by their hash, or by frames.
    Call(Call, Option<Arc<[Frame]>>),
    Name(String),
    Begun {
        parent_pid: u32,
    },
    Rank(u64),
    Ended,
    On,
    Off {
        is_preempted: bool,
    },
}

/// What a sample stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The time around it.
    Time,
    /// The thread gives its processor away.
    Switch,
    /// So many events.
    Count { counter: u32, count: u64 },
}

/// When, in which process and thread, and what.
pub(crate) type Timed = (u64, (u32, u32), Step);

/// The time lines of threads, and what is not in them yet.
pub(crate) struct Steps {
    pub(crate) threads: Threads,
    pub(crate) conversion: Conversion,
    pub(crate) symbols: Symbols,
    waiting: VecDeque<Timed>,
    /// Frames of those that wait.
    frames: usize,
    kernel: u32,
    partial: u32,
    /// Open functions of calls of MPI by process and call path, when they are known and before.
    called: HashMap<(u32, u64), Arc<[u32]>>,
    asked: HashMap<(u32, u64), Arc<[Frame]>>,
}

impl Step {
    /// The frames of a step.
    fn frames(&self) -> &[Frame] {
        match self {
            Self::Sample { frames, .. } => frames,
            Self::Call(_, Some(frames)) => frames,
            _ => &[],
        }
    }

    /// How many frames are its own.
    fn weight(&self) -> usize {
        match self {
            Self::Sample { frames, .. } => frames.len(),
            _ => 0,
        }
    }
}

impl Steps {
    pub(crate) fn new(threads: Threads, mut conversion: Conversion, detail: Detail) -> Self {
        let kernel = conversion.function("<kernel>", "");
        let partial = conversion.function("<partial call paths>", "");
        Self {
            threads,
            conversion,
            symbols: Symbols::new(detail),
            waiting: VecDeque::new(),
            frames: 0,
            kernel,
            partial,
            called: HashMap::new(),
            asked: HashMap::new(),
        }
    }

    /// The functions at places, or what they will be known by.
    pub(crate) fn frames(
        &mut self,
        pid: u32,
        places: impl Iterator<Item = Place>,
        images: &Images,
    ) -> Vec<Frame> {
        let (symbols, conversion) = (&mut self.symbols, &mut self.conversion);
        places.map(|place| symbols.frame(pid, place, images, conversion)).collect()
    }

    /// A step of a call of MPI; `place` says what is at an address now.
    pub(crate) fn call(
        &mut self,
        pid: u32,
        call: Call,
        place: impl Fn(u64) -> Place,
        images: &Images,
    ) -> Step {
        let Call::Enter { hash, stack } = &call else { return Step::Call(call, None) };
        let key = (pid, *hash);
        if self.called.contains_key(&key) {
            return Step::Call(call, None);
        }
        if let Some(asked) = self.asked.get(&key) {
            let asked = Arc::clone(asked);
            return Step::Call(call, Some(asked));
        }
        // What it returns to is behind the call.
        let places = stack.iter().rev().map(|address| place(address.saturating_sub(1)));
        let frames: Arc<[Frame]> = self.frames(pid, places, images).into();
        self.asked.insert(key, Arc::clone(&frames));
        Step::Call(call, Some(frames))
    }

    /// Something happened after all that did before.
    pub(crate) fn take(&mut self, step: Timed, images: &Images) -> Result<(), ConversionError> {
        self.frames += step.2.weight();
        self.waiting.push_back(step);
        if self.waiting.len() > MOST_STEPS || self.frames > MOST_FRAMES {
            return self.pass(images, true);
        }
        Ok(())
    }

    /// Makes time lines as far as names are known.
    pub(crate) fn go_on(&mut self, images: &Images) -> Result<(), ConversionError> {
        self.symbols.collect(&mut self.conversion);
        self.pass(images, false)?;
        self.conversion.commit()
    }

    /// When the first of what waits happened: time lines are there until then.
    pub(crate) fn waits_since(&self) -> Option<u64> {
        self.waiting.front().map(|(nanos, ..)| *nanos)
    }

    /// Makes all that waits into time lines, which takes time from the program where names are missing.
    pub(crate) fn catch_up(&mut self, images: &Images) -> Result<(), ConversionError> {
        self.pass(images, true)?;
        self.conversion.commit()
    }

    /// Makes all that waits into time lines.
    pub(crate) fn go_to_end(&mut self, images: &Images) -> Result<(), ConversionError> {
        self.symbols.collect_last(&mut self.conversion);
        self.catch_up(images)
    }

    fn pass(&mut self, images: &Images, is_at_once: bool) -> Result<(), ConversionError> {
        while let Some((nanos, ids, step)) = self.waiting.pop_front() {
            let is_known = |frame: &Frame| self.symbols.is_known(frame);
            if !is_at_once && !step.frames().iter().all(is_known) {
                self.waiting.push_front((nanos, ids, step));
                return Ok(());
            }
            self.frames = self.frames.saturating_sub(step.weight());
            self.apply(nanos, ids, step, images)?;
        }
        Ok(())
    }

    fn apply(
        &mut self,
        nanos: u64,
        ids: (u32, u32),
        step: Step,
        images: &Images,
    ) -> Result<(), ConversionError> {
        let (pid, tid) = ids;
        match step {
            Step::Sample { kind, is_kernel, is_whole, frames } => {
                let mut path = Vec::with_capacity(frames.len() + 4);
                if !is_whole {
                    path.push(self.partial);
                }
                let line = self.functions(&frames, images, &mut path);
                path.extend(line);
                if self.threads.has_ranks_of_mpi() {
                    self.symbols.keep_one_of_mpi(&mut path);
                }
                if kind != Kind::Switch {
                    path.extend(is_kernel.then_some(self.kernel));
                }
                let conversion = &mut self.conversion;
                match kind {
                    Kind::Time => self.threads.sample(nanos, ids, path, conversion),
                    Kind::Switch => self.threads.at_switch(ids, path, conversion),
                    Kind::Count { counter, count } => {
                        self.threads.count(ids, &path, (counter, count), conversion);
                    }
                }
            }
            Step::Call(call, frames) => {
                let path = match &call {
                    Call::Enter { hash, .. } => {
                        self.path((pid, *hash), frames.as_deref().unwrap_or_default(), images)
                    }
                    _ => Arc::default(),
                };
                self.threads.call(nanos, ids, (call, path), &mut self.conversion);
            }
            Step::Name(name) => self.threads.name(pid, tid, name, &mut self.conversion),
            Step::Begun { parent_pid } => {
                if parent_pid != pid {
                    self.threads.process(parent_pid, pid);
                }
                self.threads.begun(pid, tid, &mut self.conversion);
            }
            Step::Rank(rank) => self.threads.rank(pid, rank),
            Step::Ended => return self.threads.ended(nanos, tid, &mut self.conversion),
            Step::On => self.threads.on(nanos, ids, &mut self.conversion),
            Step::Off { is_preempted } => {
                self.threads.off(nanos, ids, is_preempted, &mut self.conversion);
            }
        }
        Ok(())
    }

    /// The open functions of a call of MPI.
    fn path(&mut self, key: (u32, u64), frames: &[Frame], images: &Images) -> Arc<[u32]> {
        if let Some(path) = self.called.get(&key) {
            return Arc::clone(path);
        }
        let mut path = Vec::new();
        self.functions(frames, images, &mut path);
        let path: Arc<[u32]> = path.into();
        self.called.insert(key, Arc::clone(&path));
        self.asked.remove(&key);
        path
    }

    /// Adds functions and loops of frames to a path. Gives the line of the last one; those of calls do
    /// not split what is called into several contexts.
    fn functions(&mut self, frames: &[Frame], images: &Images, into: &mut Vec<u32>) -> Option<u32> {
        let mut line = None;
        for frame in frames {
            let active = self.symbols.of_now(frame, images, &mut self.conversion);
            into.extend(active.path.iter());
            line = active.line;
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use parallax_base::MemorySink;

    use super::*;

    const IDS: (u32, u32) = (7, 7);

    fn steps() -> Steps {
        let sink = Arc::new(MemorySink::new());
        let mut conversion = Conversion::new(sink, 1 << 20).unwrap();
        let threads = Threads::new(0, true, &mut conversion);
        Steps::new(threads, conversion, Detail::Lines)
    }

    /// A sample whose functions nobody looks up: there is no such file.
    fn sample(nanos: u64, depth: usize) -> Timed {
        let frame = Frame::Asked(Place { image: Some(9), address: nanos });
        let frames = vec![frame; depth];
        let (kind, is_kernel, is_whole) = (Kind::Time, false, true);
        (nanos, IDS, Step::Sample { kind, is_kernel, is_whole, frames })
    }

    #[test]
    fn what_follows_a_place_without_a_name_waits_and_is_there_at_the_end() {
        let (mut steps, images) = (steps(), Images::default());
        steps.take((1, IDS, Step::On), &images).unwrap();
        steps.take(sample(2, 3), &images).unwrap();
        steps.take((3, IDS, Step::Ended), &images).unwrap();
        steps.go_on(&images).unwrap();
        assert_eq!((steps.waiting.len(), steps.frames), (2, 3));
        steps.go_to_end(&images).unwrap();
        assert_eq!((steps.waiting.len(), steps.frames), (0, 0));
        assert!(!steps.threads.is_empty());
    }

    #[test]
    fn no_more_waits_than_may() {
        let (mut steps, images) = (steps(), Images::default());
        for nanos in 0..2 * MOST_STEPS as u64 {
            steps.take(sample(nanos, 1), &images).unwrap();
            assert!(steps.waiting.len() <= MOST_STEPS);
        }
        assert!(!steps.threads.is_empty());
        steps.go_to_end(&images).unwrap();
        for nanos in 0..11 {
            steps.take(sample(nanos, MOST_FRAMES / 10), &images).unwrap();
            assert!(steps.frames <= MOST_FRAMES);
        }
    }
}
