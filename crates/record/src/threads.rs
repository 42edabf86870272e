//! The time line of each thread.
//!
//! What is known about a thread: when it had a processor, and where it was at some moments of that
//! time. A sample stands for the time around it, halfway to the samples before and after, within the
//! time on the processor. Off the processor, a thread is where it gave that away, in one of two
//! functions of ours: it waits, or another thread was preferred.
//!
//! ```text
//!  on            off       on     off
//!  |----s1----s2----|......|--s3--|
//!  |   s1  |  s2    |wait  |  s3  |
//! ```

use std::collections::HashMap;

use parallax_import::events::{Conversion, ConversionError, TrackIdentity, TrackKind};
use parallax_model::IdentityKind;

/// What a thread is in while it waits.
const WAITING: &str = "<waiting>";
/// What a thread is in while others have its processor.
const PREEMPTED: &str = "<preempted>";

#[derive(Debug, Default)]
struct Thread {
    track: u32,
    /// Functions that are open in the track.
    open: Vec<u32>,
    /// When it got the processor that it has.
    on_since: Option<u64>,
    /// The last sample since then.
    last_sample: Option<u64>,
    /// Where it was last seen.
    path: Vec<u32>,
    /// Where it was when it gave its processor away, until that is known to have happened.
    switch_path: Option<Vec<u32>>,
}

/// All threads of a recording.
pub(crate) struct Threads {
    running: HashMap<u32, Thread>,
    /// All that were ever seen, by track.
    seen: Vec<Seen>,
    /// Ranks of processes of MPI programs.
    ranks: HashMap<u32, u64>,
    /// Which process made which.
    parents: HashMap<u32, u32>,
    /// What all times are relative to.
    start_nanos: u64,
    waiting: u32,
    preempted: u32,
}

struct Seen {
    pid: u32,
    tid: u32,
    name: String,
}

impl Threads {
    pub(crate) fn new(start_nanos: u64, conversion: &mut Conversion) -> Self {
        let waiting = conversion.function(WAITING, "");
        let preempted = conversion.function(PREEMPTED, "");
        Self {
            running: HashMap::new(),
            seen: Vec::new(),
            ranks: HashMap::new(),
            parents: HashMap::new(),
            start_nanos,
            waiting,
            preempted,
        }
    }

    /// Whether anything was seen of the program.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    fn thread(&mut self, pid: u32, tid: u32, conversion: &mut Conversion) -> &mut Thread {
        let seen = &mut self.seen;
        self.running.entry(tid).or_insert_with(|| {
            let number = seen.len() as u64;
            seen.push(Seen { pid, tid, name: String::new() });
            let track = conversion.track(TrackIdentity {
                name: String::new(),
                kind: TrackKind::Thread,
                identity: vec![(IdentityKind::Thread, number)],
                declared: None,
            });
            Thread { track, ..Thread::default() }
        })
    }

    /// A process is a rank of an MPI program.
    pub(crate) fn rank(&mut self, pid: u32, rank: u64) {
        self.ranks.insert(pid, rank);
    }

    /// A process was made.
    pub(crate) fn process(&mut self, parent: u32, pid: u32) {
        self.parents.insert(pid, parent);
    }

    /// The rank of a process: its own, or that of the one which made it.
    fn rank_of(&self, pid: u32) -> Option<u64> {
        let mut pid = pid;
        // Numbers of processes are used again, so that this might go round.
        for _ in 0..=self.parents.len() {
            if let Some(&rank) = self.ranks.get(&pid) {
                return Some(rank);
            }
            pid = *self.parents.get(&pid)?;
        }
        None
    }

    /// A thread has a name.
    pub(crate) fn name(&mut self, pid: u32, tid: u32, name: String, conversion: &mut Conversion) {
        let track = self.thread(pid, tid, conversion).track;
        if let Some(seen) = self.seen.get_mut(track as usize) {
            seen.name = name;
        }
    }

    /// A thread was made.
    pub(crate) fn begun(&mut self, pid: u32, tid: u32, conversion: &mut Conversion) {
        self.thread(pid, tid, conversion);
    }

    /// A thread was seen on its processor.
    pub(crate) fn sample(
        &mut self,
        nanos: u64,
        ids: (u32, u32),
        path: Vec<u32>,
        conversion: &mut Conversion,
    ) {
        let start = self.start_nanos;
        let thread = self.thread(ids.0, ids.1, conversion);
        let on_since = *thread.on_since.get_or_insert(nanos);
        let from = match thread.last_sample {
            Some(last) => last + nanos.saturating_sub(last) / 2,
            None => on_since,
        };
        thread.last_sample = Some(nanos);
        thread.go(from.saturating_sub(start), &path, conversion);
        thread.path = path;
    }

    /// A thread is about to give its processor away.
    pub(crate) fn at_switch(
        &mut self,
        ids: (u32, u32),
        path: Vec<u32>,
        conversion: &mut Conversion,
    ) {
        self.thread(ids.0, ids.1, conversion).switch_path = Some(path);
    }

    /// A thread got a processor.
    pub(crate) fn on(&mut self, nanos: u64, ids: (u32, u32), conversion: &mut Conversion) {
        let thread = self.thread(ids.0, ids.1, conversion);
        thread.on_since.get_or_insert(nanos);
    }

    /// A thread has no processor any more.
    pub(crate) fn off(
        &mut self,
        nanos: u64,
        ids: (u32, u32),
        is_preempted: bool,
        conversion: &mut Conversion,
    ) {
        let (start, why) =
            (self.start_nanos, if is_preempted { self.preempted } else { self.waiting });
        let thread = self.thread(ids.0, ids.1, conversion);
        thread.close_slice(start, conversion);
        let mut path = thread.path.clone();
        path.push(why);
        thread.go(nanos.saturating_sub(start), &path, conversion);
    }

    /// A thread ended.
    pub(crate) fn ended(
        &mut self,
        nanos: u64,
        tid: u32,
        conversion: &mut Conversion,
    ) -> Result<(), ConversionError> {
        let Some(mut thread) = self.running.remove(&tid) else { return Ok(()) };
        thread.close_slice(self.start_nanos, conversion);
        thread.go(nanos.saturating_sub(self.start_nanos), &[], conversion);
        conversion.commit()?;
        conversion.end_track(thread.track)
    }

    /// The recording ended, and says who the threads are.
    pub(crate) fn finish(
        &mut self,
        nanos: u64,
        conversion: &mut Conversion,
    ) -> Result<(), ConversionError> {
        let mut left: Vec<u32> = self.running.keys().copied().collect();
        left.sort_unstable();
        for tid in left {
            self.ended(nanos, tid, conversion)?;
        }
        self.say_who(conversion);
        Ok(())
    }

    /// Names and numbers, which are known at the end: threads of a rank count from 0, and where there
    /// are several processes that are no ranks, their names tell them apart.
    fn say_who(&self, conversion: &mut Conversion) {
        let Some(first) = self.seen.first() else { return };
        let is_one = self.seen.iter().all(|seen| seen.pid == first.pid);
        let mut in_rank: HashMap<u64, u64> = HashMap::new();
        for (track, seen) in (0..).zip(&self.seen) {
            let process = self.seen.iter().find(|main| main.tid == seen.pid);
            let process = process.map_or("", |main| main.name.as_str());
            let own = if seen.name.is_empty() { process } else { seen.name.as_str() };
            // Threads that have a name of their own are called by it.
            let is_named = !own.is_empty() && own != process;
            let rank = self.rank_of(seen.pid);
            let name = match rank {
                _ if is_one || rank.is_some() => if is_named { own } else { "" }.to_owned(),
                _ if seen.tid == seen.pid => format!("{own} (process {})", seen.pid),
                _ => format!("{own} (process {}, thread {track})", seen.pid),
            };
            let Some(identity) = conversion.identity_mut(track) else { continue };
            identity.name = name;
            if let Some(rank) = rank {
                let number = in_rank.entry(rank).or_default();
                identity.identity =
                    vec![(IdentityKind::Rank, rank), (IdentityKind::Thread, *number)];
                *number += 1;
            }
        }
    }
}

impl Thread {
    /// The end of a time on a processor: where it was is known, or guessed from what was seen last.
    fn close_slice(&mut self, start_nanos: u64, conversion: &mut Conversion) {
        let switch_path = self.switch_path.take();
        let on_since = self.on_since.take();
        let has_sample = self.last_sample.take().is_some();
        if let Some(path) = switch_path {
            self.path = path;
        }
        if let Some(on_since) = on_since
            && !has_sample
        {
            let path = std::mem::take(&mut self.path);
            self.go(on_since.saturating_sub(start_nanos), &path, conversion);
            self.path = path;
        }
    }

    /// From here on, these functions are open.
    fn go(&mut self, nanos: u64, path: &[u32], conversion: &mut Conversion) {
        let Some(builder) = conversion.builder(self.track) else { return };
        let common = self.open.iter().zip(path).take_while(|(a, b)| a == b).count();
        while self.open.len() > common {
            let function = self.open.pop();
            builder.leave(nanos, function);
        }
        for &function in path.get(common..).unwrap_or_default() {
            builder.enter(nanos, function);
            self.open.push(function);
        }
    }
}
