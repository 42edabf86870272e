//! Calls of MPI in the time line of a thread.
//!
//! Their times are exact, and so are their callers. What lies between them is known by samples, of
//! which there may be fewer than calls: a sample outside of MPI stands for the time around it without
//! that in MPI, however many calls there are.
//!
//! ```text
//!   s1      MPI     MPI        s2
//!  --|----|=====|--|====|--|---|--
//!   s1            s1      s2       (half of what is between s1 and s2 and not in MPI)
//! ```
//!
//! So calls wait until the next sample tells where the thread was between them.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_import::events::{Collective, Conversion, Endpoint, Peer, TrackBuilder};

use crate::mpi::{self, Call};
use crate::threads::{Thread, Threads};

/// Most calls and records that wait for the next sample.
const MOST_WAITING: usize = 1 << 14;

/// Number of communicators with one rank, in the program and in the archive.
const ALONE: (u64, u32) = (0, u32::MAX);

/// Something whose time is known.
#[derive(Debug, Clone)]
pub(crate) enum Exact {
    /// These functions are open, the last one of MPI.
    Enter(Arc<[u32]>),
    Leave,
    /// A record of the process.
    Record(Record),
}

/// What a process sent, received or took part in.
#[derive(Debug, Clone)]
pub(crate) enum Record {
    Message(Endpoint),
    PostSend(Endpoint, u64),
    Received(Endpoint, u64),
    Posted(u64),
    Sent(u64),
    Cancelled(u64),
    Collective(Collective),
}

/// Processes that are ranks of MPI programs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jobs {
    /// Job and rank of each process. Messages are of the thread that initialised MPI, because others
    /// send to the rank.
    processes: HashMap<u32, (u64, u64)>,
    peers: HashMap<(u64, u64), Peer>,
    communicators: HashMap<(u64, u64), u32>,
}

impl Jobs {
    fn peer(&mut self, job: u64, rank: u64, conversion: &mut Conversion) -> Peer {
        *self.peers.entry((job, rank)).or_insert_with(|| conversion.peer())
    }

    fn communicator(&mut self, job: u64, communicator: u64) -> u32 {
        if communicator == ALONE.0 {
            return ALONE.1;
        }
        let next = u32::try_from(self.communicators.len()).unwrap_or(u32::MAX - 1);
        *self.communicators.entry((job, communicator)).or_insert(next)
    }
}

impl Threads {
    /// Whether a process initialised MPI, so that its calls are known.
    pub(crate) fn has_ranks_of_mpi(&self) -> bool {
        !self.jobs.processes.is_empty()
    }

    /// A thread did something with MPI. `path` are the open functions, where it entered one.
    pub(crate) fn call(
        &mut self,
        nanos: u64,
        (pid, tid): (u32, u32),
        (call, path): (Call, Arc<[u32]>),
        conversion: &mut Conversion,
    ) {
        let (start, waiting) = (self.start_nanos, self.waiting);
        if !self.has_switches && matches!(call, Call::Enter { .. } | Call::Leave) {
            // It has a processor, whatever was inferred from its sums. It may have lost that between
            // looking at the clock and writing that down.
            let now = self.thread(pid, tid, conversion).now;
            self.on(nanos.max(now), (pid, tid), conversion);
        }
        let record = match call {
            Call::Enter { .. } => {
                return self.thread(pid, tid, conversion).enter(
                    nanos,
                    path,
                    (start, waiting),
                    conversion,
                );
            }
            Call::Leave => {
                return self.thread(pid, tid, conversion).leave(nanos, start, conversion);
            }
            Call::Rank { rank, job } => {
                let track = self.thread(pid, tid, conversion).track;
                self.rank(pid, rank);
                self.jobs.processes.insert(pid, (job, rank));
                let peer = self.jobs.peer(job, rank, conversion);
                conversion.set_peer(track, peer);
                return;
            }
            other => other,
        };
        let Some(&(job, rank)) = self.jobs.processes.get(&pid) else { return };
        let relative = |nanos: u64| nanos.saturating_sub(start);
        let record = match record {
            Call::Side { side, is_send, request } => {
                let mpi::Side { communicator, partner, tag, bytes } = side;
                let partner = partner.map(|rank| self.jobs.peer(job, rank, conversion));
                let communicator = self.jobs.communicator(job, communicator);
                let nanos = relative(nanos);
                let endpoint = Endpoint { nanos, partner, communicator, tag, bytes, is_send };
                match (request, is_send) {
                    (None, _) => Record::Message(endpoint),
                    (Some(request), true) => Record::PostSend(endpoint, request),
                    (Some(request), false) => Record::Received(endpoint, request),
                }
            }
            Call::Posted { request } => Record::Posted(request),
            Call::Sent { request } => Record::Sent(request),
            Call::Cancelled { request } => Record::Cancelled(request),
            Call::Collective(own) => Record::Collective(Collective {
                start_nanos: relative(own.start_nanos),
                end_nanos: relative(nanos),
                operation: own.operation,
                communicator: self.jobs.communicator(job, own.communicator),
                root: own.root,
                sent: own.sent,
                received: own.received,
            }),
            Call::Enter { .. } | Call::Leave | Call::Rank { .. } => return,
        };
        let peer = self.jobs.peer(job, rank, conversion);
        let thread = self.thread(pid, tid, conversion);
        if !std::mem::replace(&mut thread.is_peer, true) {
            conversion.set_peer(thread.track, peer);
        }
        thread.wait(nanos, Exact::Record(record), start, conversion);
    }
}

impl Thread {
    /// Whether a function of MPI is open.
    pub(crate) const fn is_in_call(&self) -> bool {
        self.call.is_some()
    }

    fn enter(
        &mut self,
        nanos: u64,
        path: Arc<[u32]>,
        (start, waiting): (u64, u32),
        conversion: &mut Conversion,
    ) {
        // Where it is now tells where it may have waited before.
        let same = self.path.iter().zip(path.iter()).take_while(|(a, b)| a == b).count();
        self.settle(same, waiting, start, conversion);
        self.wait(nanos, Exact::Enter(Arc::clone(&path)), start, conversion);
        if self.call.is_none() {
            self.outside = std::mem::take(&mut self.path);
        }
        self.path = path.to_vec();
        self.last_inside = Some(nanos);
        self.call = Some(path);
    }

    fn leave(&mut self, nanos: u64, start: u64, conversion: &mut Conversion) {
        if self.call.take().is_some() {
            self.wait(nanos, Exact::Leave, start, conversion);
            self.path = std::mem::take(&mut self.outside);
        }
    }

    fn wait(&mut self, nanos: u64, exact: Exact, start: u64, conversion: &mut Conversion) {
        // A thread may lose its processor between looking at the clock and writing that down.
        let nanos = nanos.max(self.exact.last().map_or(self.now, |(last, _)| self.now.max(*last)));
        self.exact.push((nanos, exact));
        if self.exact.len() > MOST_WAITING {
            self.flush(None, start, conversion);
        }
    }

    /// Where the thread was inside of a function of MPI, by a sample.
    pub(crate) fn sample_inside(
        &mut self,
        nanos: u64,
        path: &[u32],
        start: u64,
        conversion: &mut Conversion,
    ) {
        self.flush(None, start, conversion);
        self.path = self.inside(path);
        let from = self.last_inside.map_or(nanos, |last| last + nanos.saturating_sub(last) / 2);
        let from = from.max(self.now);
        self.last_inside = Some(nanos);
        let path = std::mem::take(&mut self.path);
        self.go(from, &path, start, conversion);
        self.path = path;
    }

    /// The path inside of the function of MPI that is open. Elsewhere the thread cannot be; where its
    /// callers were not found, at least that is known.
    pub(crate) fn inside(&self, path: &[u32]) -> Vec<u32> {
        let Some(call) = &self.call else { return path.to_vec() };
        let (called, own) = (call.last(), path.iter());
        let inner = own.skip_while(|function| Some(*function) != called).skip(1);
        call.iter().chain(inner).copied().collect()
    }

    /// Puts what waits into the time line. `sample` is where the thread was seen after all that,
    /// outside of MPI; its time begins halfway to the sample before.
    pub(crate) fn flush(
        &mut self,
        sample: Option<(u64, &[u32])>,
        start: u64,
        conversion: &mut Conversion,
    ) {
        if self.exact.is_empty() {
            return;
        }
        let exact = std::mem::take(&mut self.exact);
        let before = if self.is_in_call() { self.outside.clone() } else { self.path.clone() };
        let first = exact.iter().find(|(_, exact)| !matches!(exact, Exact::Record(_)));
        let begins_inside = match first {
            Some((_, exact)) => matches!(exact, Exact::Leave),
            None => self.is_in_call(),
        };
        // From when on it is outside and not yet told where.
        let mut since = match begins_inside {
            true => None,
            false => {
                let first = exact.first().filter(|_| !self.is_told);
                self.outside_since.or_else(|| first.map(|(nanos, _)| *nanos))
            }
        };
        let outside = Outside { before: &before, sample };
        let mut left = match (sample, self.last_sample) {
            (None, _) => u64::MAX,
            (Some(_), None) => 0,
            (Some((nanos, _)), Some(_)) => time_outside(since, &exact, nanos) / 2,
        };
        if let Some(since) = since
            && !self.is_told
        {
            self.go(since, outside.path(left, &exact), start, conversion);
        }
        for (at, (nanos, what)) in exact.iter().enumerate() {
            match what {
                Exact::Enter(path) => {
                    let end = Some(*nanos);
                    left = self.pass(since.take(), end, left, &outside, start, conversion);
                    self.go(*nanos, path, start, conversion);
                }
                Exact::Leave => {
                    since = Some(*nanos);
                    let rest = exact.get(at..).unwrap_or_default();
                    self.go(*nanos, outside.path(left, rest), start, conversion);
                }
                Exact::Record(record) => {
                    if let Some(builder) = conversion.builder(self.track) {
                        record.put(nanos.saturating_sub(start), builder);
                    }
                }
            }
        }
        if let (Some(_), Some((nanos, _))) = (since, sample) {
            self.pass(since, Some(nanos), left, &outside, start, conversion);
        }
        self.outside_since = since;
    }

    /// A time outside of MPI, in which the path changes when no time is left of that of the sample
    /// before. What is left then.
    fn pass(
        &mut self,
        since: Option<u64>,
        end: Option<u64>,
        left: u64,
        outside: &Outside<'_>,
        start: u64,
        conversion: &mut Conversion,
    ) -> u64 {
        let (Some(since), Some(end)) = (since, end) else { return left };
        let length = end.saturating_sub(since);
        if left > 0
            && left < length
            && let Some((_, path)) = outside.sample
        {
            self.go(since + left, path, start, conversion);
        }
        left.saturating_sub(length)
    }
}

/// Where a thread is outside of MPI: at first where it was seen before.
struct Outside<'a> {
    before: &'a [u32],
    sample: Option<(u64, &'a [u32])>,
}

impl<'a> Outside<'a> {
    /// The path while `left` of the time of the sample before is left. Where nothing was seen
    /// before, the next call tells what was open.
    fn path<'b>(&self, left: u64, next: &'b [(u64, Exact)]) -> &'b [u32]
    where
        'a: 'b,
    {
        match self.sample {
            Some((_, path)) if left == 0 => path,
            _ if self.before.is_empty() => {
                let called = next.iter().find_map(|(_, exact)| match exact {
                    Exact::Enter(path) => path.split_last().map(|(_, callers)| callers),
                    _ => None,
                });
                called.unwrap_or_default()
            }
            _ => self.before,
        }
    }
}

/// How long the thread is outside of MPI from `since` until `end`.
fn time_outside(since: Option<u64>, exact: &[(u64, Exact)], end: u64) -> u64 {
    let (mut since, mut all) = (since, 0);
    for (nanos, exact) in exact {
        match exact {
            Exact::Enter(_) => {
                all += since.take().map_or(0, |since| nanos.saturating_sub(since));
            }
            Exact::Leave => since = Some(*nanos),
            Exact::Record(_) => {}
        }
    }
    all + since.map_or(0, |since| end.saturating_sub(since))
}

impl Record {
    fn put(&self, nanos: u64, builder: &mut TrackBuilder) {
        match *self {
            Self::Message(endpoint) => builder.message(endpoint),
            Self::PostSend(endpoint, request) => builder.post_send(endpoint, request),
            Self::Received(endpoint, request) => builder.complete_receive(endpoint, request),
            Self::Posted(request) => builder.post_receive(nanos, request),
            Self::Sent(request) => builder.complete_send(nanos, request),
            Self::Cancelled(request) => builder.cancel_request(nanos, request),
            Self::Collective(collective) => {
                builder.end_collective(Collective { end_nanos: nanos, ..collective });
            }
        }
    }
}
