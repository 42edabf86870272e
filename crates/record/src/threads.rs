//! The time line of each thread.
//!
//! What is known about a thread: when it had a processor, and where it was at some moments of that
//! time. A sample stands for the time around it, halfway to the samples before and after, within the
//! time on the processor. Off the processor, a thread is where it gave that away, in one of two
//! functions of ours: it waits, or another thread was preferred.
//!
//! Where the kernel does not say where a thread began to wait, that is in what the samples before and
//! after have in common: a function that was active at both may have waited, the others may not.
//!
//! ```text
//!  on            off       on     off
//!  |----s1----s2----|......|--s3--|
//!  |   s1  |  s2    |wait  |  s3  |
//! ```

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parallax_import::events::{Conversion, ConversionError, TrackIdentity, TrackKind};
use parallax_model::{IdentityKind, LAUNCHER, PREEMPTED, WAITING};

use crate::calls::{Exact, Jobs};

#[derive(Debug, Clone, Default)]
pub(crate) struct Thread {
    pub(crate) track: u32,
    /// Functions that are open in the track.
    open: Vec<u32>,
    /// When it got the processor that it has.
    on_since: Option<u64>,
    /// The last sample since then, outside of MPI.
    pub(crate) last_sample: Option<u64>,
    /// Where it was last seen.
    pub(crate) path: Vec<u32>,
    /// Where it was when it gave its processor away, until that is known to have happened.
    switch_path: Option<Vec<u32>>,
    /// Where it was last seen on its processor, where it is also seen off it.
    ran: Vec<u32>,
    /// When it began to wait, and when it went on, since the last sample: with `true`, it waits from
    /// there on. Kept where the next sample is to tell where that was.
    guessed: Vec<(u64, bool)>,
    /// Whether it sends and receives as its rank.
    pub(crate) is_peer: bool,
    /// Until when its time line is there.
    pub(crate) now: u64,
    /// Whether the time line is there from when it got the processor.
    pub(crate) is_told: bool,
    /// Calls of MPI, and what is sent in them, that are not in the time line yet.
    pub(crate) exact: Vec<(u64, Exact)>,
    /// The open functions when it entered the one of MPI in which it is.
    pub(crate) call: Option<Arc<[u32]>>,
    /// Where it was seen before it entered that.
    pub(crate) outside: Vec<u32>,
    /// From when on it is outside of MPI, on a processor, and not told where.
    pub(crate) outside_since: Option<u64>,
    /// The last sample inside of the function of MPI, or when it was entered.
    pub(crate) last_inside: Option<u64>,
}

/// Names of programs that start ranks, and of shells, which may start those.
const LAUNCHERS: [&str; 18] = [
    "mpirun",
    "mpiexec",
    "mpiexec.hydra",
    "hydra_pmi_proxy",
    "hydra_bstrap_pr",
    "orterun",
    "orted",
    "prterun",
    "prun",
    "prte",
    "prted",
    "srun",
    "aprun",
    "sh",
    "bash",
    "dash",
    "env",
    "time",
];

/// Most changes that wait for the next sample.
const MOST_GUESSED: usize = 1 << 16;

/// All threads of a recording.
#[derive(Clone)]
pub(crate) struct Threads {
    running: HashMap<u32, Thread>,
    /// All that were ever seen, by track.
    seen: Vec<Seen>,
    /// Ranks of processes of MPI programs.
    ranks: HashMap<u32, u64>,
    /// Which process made which.
    parents: HashMap<u32, u32>,
    /// What all times are relative to.
    pub(crate) start_nanos: u64,
    pub(crate) waiting: u32,
    preempted: u32,
    pub(crate) jobs: Jobs,
    /// Whether samples are taken where threads give their processor away.
    pub(crate) has_switches: bool,
}

#[derive(Clone)]
struct Seen {
    pid: u32,
    tid: u32,
    name: String,
}

impl Threads {
    pub(crate) fn new(start_nanos: u64, has_switches: bool, conversion: &mut Conversion) -> Self {
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
            jobs: Jobs::default(),
            has_switches,
        }
    }

    /// Whether anything was seen of the program.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    pub(crate) fn thread(
        &mut self,
        pid: u32,
        tid: u32,
        conversion: &mut Conversion,
    ) -> &mut Thread {
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
        let (start, waiting, has_switches) = (self.start_nanos, self.waiting, self.has_switches);
        let thread = self.thread(ids.0, ids.1, conversion);
        if thread.is_in_call() {
            thread.on_since.get_or_insert(nanos);
            return thread.sample_inside(nanos, &path, start, conversion);
        }
        let same = thread.path.iter().zip(&path).take_while(|(a, b)| a == b).count();
        thread.settle(same, waiting, start, conversion);
        let on_since = *thread.on_since.get_or_insert(nanos);
        if thread.exact.is_empty() {
            let from = match (thread.outside_since, thread.last_sample) {
                (Some(since), Some(_)) => since + nanos.saturating_sub(since) / 2,
                (Some(since), None) => since,
                (None, _) => on_since,
            };
            thread.go(from, &path, start, conversion);
        } else {
            thread.flush(Some((nanos, &path)), start, conversion);
        }
        thread.outside_since = Some(nanos);
        thread.last_sample = Some(nanos);
        if !has_switches {
            thread.ran.clone_from(&path);
        }
        thread.path = path;
    }

    /// Events happened in a thread.
    pub(crate) fn count(
        &mut self,
        ids: (u32, u32),
        path: &[u32],
        (counter, count): (u32, u64),
        conversion: &mut Conversion,
    ) {
        let track = self.thread(ids.0, ids.1, conversion).track;
        if let Some(builder) = conversion.builder(track) {
            builder.count(path, counter, count);
        }
    }

    /// A thread is about to give its processor away.
    pub(crate) fn at_switch(
        &mut self,
        ids: (u32, u32),
        path: Vec<u32>,
        conversion: &mut Conversion,
    ) {
        let (start, waiting, has_switches) = (self.start_nanos, self.waiting, self.has_switches);
        let thread = self.thread(ids.0, ids.1, conversion);
        if !has_switches {
            // Where it waits now tells where it may have waited before.
            let same = thread.path.iter().zip(&path).take_while(|(a, b)| a == b).count();
            thread.settle(same, waiting, start, conversion);
        }
        thread.switch_path = Some(path);
    }

    /// A thread got a processor.
    pub(crate) fn on(&mut self, nanos: u64, ids: (u32, u32), conversion: &mut Conversion) {
        let start = self.start_nanos;
        let thread = self.thread(ids.0, ids.1, conversion);
        if thread.on_since.is_none() {
            thread.on_since = Some(nanos);
            thread.is_told = thread.is_in_call();
            if thread.is_in_call() {
                let path = std::mem::take(&mut thread.path);
                thread.go(nanos, &path, start, conversion);
                thread.path = path;
                thread.last_inside = Some(nanos);
            } else {
                thread.outside_since = Some(nanos);
            }
            if !thread.guessed.is_empty() {
                thread.guessed.push((nanos, false));
            }
        }
    }

    /// A thread has no processor any more.
    pub(crate) fn off(
        &mut self,
        nanos: u64,
        ids: (u32, u32),
        is_preempted: bool,
        conversion: &mut Conversion,
    ) {
        let (start, waiting) = (self.start_nanos, self.waiting);
        let why = if is_preempted { self.preempted } else { waiting };
        let has_switches = self.has_switches;
        let thread = self.thread(ids.0, ids.1, conversion);
        thread.flush(None, start, conversion);
        let is_guess =
            !has_switches && !is_preempted && !thread.is_in_call() && thread.switch_path.is_none();
        if !is_guess || thread.guessed.len() > MOST_GUESSED {
            thread.settle(thread.path.len(), waiting, start, conversion);
        }
        thread.close_slice(has_switches, start, conversion);
        if is_guess {
            thread.guessed.push((nanos, true));
            return;
        }
        let mut path = thread.path.clone();
        path.push(why);
        thread.go(nanos, &path, start, conversion);
    }

    /// A thread ended.
    pub(crate) fn ended(
        &mut self,
        nanos: u64,
        tid: u32,
        conversion: &mut Conversion,
    ) -> Result<(), ConversionError> {
        let Some(mut thread) = self.running.remove(&tid) else { return Ok(()) };
        thread.flush(None, self.start_nanos, conversion);
        thread.settle(0, self.waiting, self.start_nanos, conversion);
        thread.close_slice(self.has_switches, self.start_nanos, conversion);
        thread.go(nanos, &[], self.start_nanos, conversion);
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
        // The first thread of each process.
        let mut processes: HashMap<u32, &str> = HashMap::new();
        for main in self.seen.iter().filter(|seen| seen.tid == seen.pid) {
            processes.entry(main.pid).or_insert(&main.name);
        }
        let launchers = self.launchers(&processes);
        for (track, seen) in (0..).zip(&self.seen) {
            let process = processes.get(&seen.pid).copied().unwrap_or_default();
            let own = if seen.name.is_empty() { process } else { seen.name.as_str() };
            // Threads that have a name of their own are called by it.
            let is_named = !own.is_empty() && own != process;
            let rank = self.rank_of(seen.pid);
            let name = match rank {
                _ if is_one || rank.is_some() => if is_named { own } else { "" }.to_owned(),
                _ if seen.tid == seen.pid => format!("{own} (process {})", seen.pid),
                _ => format!("{own} (process {}, thread {track})", seen.pid),
            };
            if launchers.contains(&seen.pid) {
                conversion.track_fact(track, LAUNCHER.0, LAUNCHER.1);
            } else if !launchers.is_empty() {
                let role = if rank.is_some() { "rank" } else { "process" };
                conversion.track_fact(track, LAUNCHER.0, role);
            }
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

impl Threads {
    /// Processes that are known to do nothing but start ranks, directly or not.
    fn launchers(&self, names: &HashMap<u32, &str>) -> HashSet<u32> {
        let mut found = HashSet::new();
        for &rank in self.ranks.keys() {
            let mut pid = rank;
            while let Some(&parent) = self.parents.get(&pid) {
                let is_one = names.get(&parent).is_some_and(|name| LAUNCHERS.contains(name));
                // What started something else may be a program that computes.
                if !is_one || self.rank_of(parent).is_some() || !found.insert(parent) {
                    break;
                }
                pid = parent;
            }
        }
        found
    }
}

impl Thread {
    /// The end of a time on a processor: where it was is known, or guessed from what was seen last.
    fn close_slice(&mut self, has_switches: bool, start_nanos: u64, conversion: &mut Conversion) {
        let switch_path = self.switch_path.take().map(|path| self.inside(&path));
        let on_since = self.on_since.take();
        let has_sample = self.last_sample.take().is_some();
        self.outside_since = None;
        if let Some(on_since) = on_since
            && !has_sample
            && !self.is_told
            && self.guessed.is_empty()
        {
            // Where it waits says little about where it ran before, unless every switch is seen.
            let path = match &switch_path {
                _ if !has_switches && !self.ran.is_empty() => self.ran.clone(),
                Some(path) => path.clone(),
                None => self.path.clone(),
            };
            self.go(on_since, &path, start_nanos, conversion);
        }
        if let Some(path) = switch_path {
            self.path = path;
        }
    }

    /// It was in the first `depth` functions of its path while nothing was known.
    pub(crate) fn settle(
        &mut self,
        depth: usize,
        waiting: u32,
        start_nanos: u64,
        conversion: &mut Conversion,
    ) {
        if self.guessed.is_empty() {
            return;
        }
        let mut path = self.path.get(..depth).unwrap_or_default().to_vec();
        path.push(waiting);
        for (nanos, waits) in std::mem::take(&mut self.guessed) {
            let len = if waits { path.len() } else { path.len() - 1 };
            self.go(nanos, path.get(..len).unwrap_or_default(), start_nanos, conversion);
        }
    }

    /// From here on, these functions are open.
    pub(crate) fn go(
        &mut self,
        nanos: u64,
        path: &[u32],
        start_nanos: u64,
        conversion: &mut Conversion,
    ) {
        self.now = self.now.max(nanos);
        self.is_told = true;
        let nanos = nanos.saturating_sub(start_nanos);
        let Some(builder) = conversion.builder(self.track) else { return };
        let common = self.open.iter().zip(path).take_while(|(a, b)| a == b).count();
        while self.open.len() > common {
            self.open.pop();
            builder.end_complete(nanos);
        }
        for &function in path.get(common..).unwrap_or_default() {
            builder.begin_complete(nanos, function);
            self.open.push(function);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parallax_base::{Folder, Limits, MemorySink, TimeWindow, TrackIdx};

    use super::*;

    const IDS: (u32, u32) = (7, 7);

    /// The time line of a thread that has functions `main`, `a` and `b`; times count from 1000.
    fn line(has_switches: bool, live: impl Fn(&mut Threads, &mut Conversion, [u32; 3])) -> String {
        let sink = MemorySink::new();
        let mut conversion = Conversion::new(Arc::new(sink.clone()), 1 << 20).unwrap();
        let mut threads = Threads::new(1000, has_switches, &mut conversion);
        let functions = ["main", "a", "b"].map(|name| conversion.function(name, ""));
        live(&mut threads, &mut conversion, functions);
        threads.finish(2000, &mut conversion).unwrap();
        conversion.fact(parallax_formats::archive::keys::SAMPLED, "999");
        conversion.finish().unwrap();
        let folder: Arc<dyn Folder> = Arc::new(sink.into_folder("x"));
        let experiment = parallax_import::archive::open(&folder, &Limits::default()).unwrap();
        let (traces, tree) = (experiment.traces.unwrap(), &experiment.contexts);
        let mut parts = Vec::new();
        let visit = &mut |part: parallax_model::Interval| {
            let mut names = Vec::new();
            let mut at = tree.by_source_id(part.context);
            while let Some(own) = at {
                names.extend(tree.function_name(own));
                at = tree.parent(own);
            }
            names.reverse();
            parts.push(format!("{}-{} {}", part.start_nanos, part.end_nanos, names.join(">")));
        };
        traces.visit(TrackIdx::new(0), TimeWindow::ALL, visit).unwrap();
        parts.join(", ")
    }

    #[test]
    fn a_sample_stands_for_the_time_halfway_to_its_neighbours() {
        let line = line(true, |threads, out, [main, a, b]| {
            threads.on(1000, IDS, out);
            threads.sample(1100, IDS, vec![main, a], out);
            threads.sample(1200, IDS, vec![main, b], out);
        });
        assert_eq!(line, "0-150 main>a, 150-1000 main>b");
    }

    #[test]
    fn a_thread_waits_where_it_gave_its_processor_away() {
        let line = line(true, |threads, out, [main, a, b]| {
            threads.on(1000, IDS, out);
            threads.sample(1100, IDS, vec![main, a], out);
            threads.at_switch(IDS, vec![main, b], out);
            threads.off(1200, IDS, false, out);
            threads.on(1500, IDS, out);
            threads.at_switch(IDS, vec![main, a], out);
            threads.off(1600, IDS, true, out);
        });
        let wanted = "0-200 main>a, 200-500 main>b><waiting>, 500-600 main>a, \
                      600-1000 main>a><preempted>";
        assert_eq!(line, wanted);
    }

    #[test]
    fn without_switches_a_thread_waits_in_what_the_samples_around_have_in_common() {
        let line = line(false, |threads, out, [main, a, b]| {
            threads.on(1000, IDS, out);
            threads.sample(1100, IDS, vec![main, a], out);
            threads.off(1200, IDS, false, out);
            threads.on(1500, IDS, out);
            threads.off(1550, IDS, false, out);
            threads.on(1600, IDS, out);
            threads.sample(1700, IDS, vec![main, b], out);
        });
        let wanted = "0-200 main>a, 200-500 main><waiting>, 500-550 main, 550-600 main><waiting>, \
                      600-1000 main>b";
        assert_eq!(line, wanted);
    }

    #[test]
    fn without_switches_a_thread_that_is_seen_to_wait_ran_where_it_was_last_seen_to_run() {
        let line = line(false, |threads, out, [main, a, b]| {
            threads.on(1000, IDS, out);
            threads.sample(1100, IDS, vec![main, a], out);
            threads.at_switch(IDS, vec![main, b], out);
            threads.off(1200, IDS, false, out);
            threads.on(1500, IDS, out);
            threads.at_switch(IDS, vec![main, b], out);
            threads.off(1600, IDS, false, out);
            threads.on(1700, IDS, out);
            threads.off(1750, IDS, false, out);
            threads.on(1800, IDS, out);
            threads.at_switch(IDS, vec![main, a], out);
            threads.off(1900, IDS, false, out);
        });
        let wanted = "0-200 main>a, 200-500 main>b><waiting>, 500-600 main>a, \
                      600-700 main>b><waiting>, 700-750 main>a, 750-800 main><waiting>, \
                      800-900 main, 900-1000 main>a><waiting>";
        assert_eq!(line, wanted);
    }
}
