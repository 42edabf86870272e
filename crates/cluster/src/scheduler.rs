//! [`Scheduler`]: who knows the executors, and passes parts to them.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::frames::{self, Kind, garbled};
use crate::secret::Secret;
use crate::{BEAT, ClusterError, prepare, version};

/// Connections at most, so that who does not know the secret cannot take all threads for long.
const MOST_CONNECTIONS: usize = 8192;
/// How often those who wait are told that the scheduler still works.
const IDLE_BEAT: Duration = Duration::from_secs(5);

/// How long an executor may take to stop and connect again when its part was withdrawn.
const LONGEST_STOP: Duration = Duration::from_secs(15);

/// How a scheduler works.
#[derive(Debug, Clone)]
pub struct SchedulerOptions {
    /// Where it listens.
    pub bind: String,
    /// How long an executor may say nothing while it computes; executors say every second that they
    /// still work.
    pub stall: Duration,
    /// How long a part waits for an executor where there is none.
    pub grace: Duration,
}

/// Who knows the executors, and passes parts of statements to them.
pub struct Scheduler {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// A process that computes parts, with one connection for each part that it computes at a time.
struct Member {
    id: String,
    name: String,
    address: String,
    busy: AtomicUsize,
    /// Parts that it has computed.
    done: AtomicU64,
}

/// A connection to an executor that can compute a part.
struct Lane {
    stream: TcpStream,
    member: Arc<Member>,
}

#[derive(Default)]
struct State {
    idle: VecDeque<Lane>,
    /// Those with at least one lane, idle or not.
    members: Vec<Weak<Member>>,
    /// Lanes whose part was withdrawn: their executors notice, stop and connect again, until then
    /// at the latest. They are not lost meanwhile.
    stopping: Vec<(Instant, Arc<Member>)>,
}

impl State {
    fn members(&mut self) -> Vec<Arc<Member>> {
        let now = Instant::now();
        while let Some(at) = self.stopping.iter().position(|(until, _)| *until <= now) {
            self.stopped(at);
        }
        self.members.retain(|member| member.strong_count() > 0);
        self.members.iter().filter_map(Weak::upgrade).collect()
    }

    /// A lane whose part was withdrawn is another one now, or is lost.
    fn stopped(&mut self, at: usize) {
        let (_, member) = self.stopping.swap_remove(at);
        member.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Shared {
    secret: Secret,
    options: SchedulerOptions,
    state: Mutex<State>,
    /// That a lane has become idle.
    more: Condvar,
    connections: AtomicUsize,
}

/// Counts an open connection.
struct Counted(Arc<Shared>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Scheduler {
    /// A scheduler that listens; whoever connects waits until [`Scheduler::run`].
    ///
    /// # Errors
    /// When it cannot listen there.
    pub fn bind(options: SchedulerOptions, secret: Secret) -> Result<Self, ClusterError> {
        let failed = |error: io::Error| ClusterError::Listen {
            address: options.bind.clone(),
            why: error.to_string(),
        };
        let listener = TcpListener::bind(&options.bind).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Shared {
            secret,
            options,
            state: Mutex::default(),
            more: Condvar::new(),
            connections: AtomicUsize::new(0),
        };
        Ok(Self { listener, address, shared: Arc::new(shared) })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Works until the process ends.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn run(self) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        std::thread::Builder::new().name("beat".to_owned()).spawn(move || shared.beat())?;
        for stream in self.listener.incoming() {
            let Ok(stream) = stream else {
                // Such as too many open files: others may close theirs.
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            let shared = Arc::clone(&self.shared);
            let open = shared.connections.fetch_add(1, Ordering::Relaxed);
            let counted = Counted(Arc::clone(&shared));
            if open >= MOST_CONNECTIONS {
                continue;
            }
            let thread = std::thread::Builder::new().name("connection".to_owned());
            // Without a thread the connection is closed, and whoever has opened it tries again.
            let _ = thread.spawn(move || {
                let _counted = counted;
                // What went wrong on a connection is the matter of who has opened it.
                let _ = shared.serve(stream);
            });
        }
        Ok(())
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells idle executors that this still works, and forgets those that are gone.
    fn beat(&self) {
        loop {
            std::thread::sleep(IDLE_BEAT);
            let mut state = self.state();
            state.idle.retain(Lane::is_there);
            for lane in &mut state.idle {
                // One that takes not even this is found by `is_there` or when it gets a part.
                let _ = frames::send(&mut lane.stream, Kind::Alive, &[]);
            }
        }
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        if !self.secret.ask(&stream)? {
            return Ok(());
        }
        prepare(&stream)?;
        let hello = frames::receive(&mut stream)?.json()?;
        frames::send_json(&mut stream, Kind::Message, &json!({ "version": version() }))?;
        if hello["version"].as_str() != Some(version()) {
            return Ok(());
        }
        match hello["role"].as_str() {
            Some("executor") => self.join(stream, &hello),
            Some("status") => frames::send_json(&mut stream, Kind::Message, &self.status()),
            Some("part") => self.part(stream),
            _ => Err(garbled("a member of no known kind")),
        }
    }

    /// Takes a lane of an executor.
    fn join(&self, stream: TcpStream, hello: &Value) -> io::Result<()> {
        let text = |name: &str| hello[name].as_str().map(str::to_owned);
        let (Some(id), Some(name)) = (text("id"), text("name")) else {
            return Err(garbled("an executor without a name"));
        };
        let address = stream.peer_addr()?.to_string();
        // Sending a beat must not wait for one that takes nothing.
        stream.set_write_timeout(Some(BEAT))?;
        let mut state = self.state();
        let member = state.members().into_iter().find(|member| member.id == id);
        let member = member.unwrap_or_else(|| {
            let (busy, done) = (AtomicUsize::new(0), AtomicU64::new(0));
            let new = Arc::new(Member { id, name, address, busy, done });
            state.members.push(Arc::downgrade(&new));
            new
        });
        if let Some(at) = state.stopping.iter().position(|(_, other)| Arc::ptr_eq(other, &member)) {
            state.stopped(at);
        }
        state.idle.push_back(Lane { stream, member });
        drop(state);
        self.more.notify_all();
        Ok(())
    }

    fn status(&self) -> Value {
        let mut state = self.state();
        state.idle.retain(Lane::is_there);
        let members = state.members();
        let one = |member: &Arc<Member>| {
            // One of those who hold it is `members`.
            let lanes = Arc::strong_count(member).saturating_sub(1);
            json!({
                "name": member.name,
                "address": member.address,
                "lanes": lanes,
                "busy": member.busy.load(Ordering::Relaxed).min(lanes),
                "done": member.done.load(Ordering::Relaxed),
            })
        };
        json!({ "executors": members.iter().map(one).collect::<Vec<_>>() })
    }

    /// Passes a part to an executor and its rows back.
    fn part(&self, mut from: TcpStream) -> io::Result<()> {
        let task = frames::receive(&mut from)?;
        if task.kind != Kind::Message {
            return Err(garbled("no part"));
        }
        let Some(mut lane) = self.lane(&mut from)? else {
            let why =
                format!("no executor has been connected for {} s", self.options.grace.as_secs());
            return fail(&mut from, &why, false);
        };
        lane.member.busy.fetch_add(1, Ordering::Relaxed);
        let passed = self.pass(&task.bytes, &mut lane, &mut from);
        if !matches!(passed, Ok(Passed::Withdrawn)) {
            lane.member.busy.fetch_sub(1, Ordering::Relaxed);
        }
        match passed {
            Ok(Passed::Whole(end)) => {
                if end.kind == Kind::End {
                    lane.member.done.fetch_add(1, Ordering::Relaxed);
                }
                self.state().idle.push_back(lane);
                self.more.notify_all();
                frames::send(&mut from, end.kind, &end.bytes)
            }
            Ok(Passed::Withdrawn) => {
                // Its executor stops when the connection is closed.
                let until = Instant::now() + LONGEST_STOP;
                self.state().stopping.push((until, Arc::clone(&lane.member)));
                Ok(())
            }
            Err(error) => {
                let member = Arc::clone(&lane.member);
                drop(lane);
                let is_stalled =
                    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
                let what = if is_stalled {
                    // Its other connections are of the same process.
                    self.state().idle.retain(|lane| !Arc::ptr_eq(&lane.member, &member));
                    format!("did not answer for {} s", self.options.stall.as_secs())
                } else {
                    "closed its connection".to_owned()
                };
                let why = format!("the executor {} ({}) {what}", member.name, member.address);
                fail(&mut from, &why, true)
            }
        }
    }

    /// An executor that is idle; waits for one. `None` where there is none at all for too long.
    fn lane(&self, from: &mut TcpStream) -> io::Result<Option<Lane>> {
        let mut none_since = None;
        let mut told = Instant::now();
        loop {
            let mut state = self.state();
            while let Some(lane) = state.idle.pop_front() {
                if lane.is_there() {
                    return Ok(Some(lane));
                }
            }
            if state.members().is_empty() {
                let since = *none_since.get_or_insert_with(Instant::now);
                if since.elapsed() > self.options.grace {
                    return Ok(None);
                }
            } else {
                none_since = None;
            }
            let waited = self.more.wait_timeout(state, BEAT);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            if told.elapsed() >= BEAT {
                told = Instant::now();
                frames::send(from, Kind::Alive, &[])?;
            }
        }
    }

    /// Has a lane compute a part. An error is that of the executor.
    fn pass(&self, task: &[u8], lane: &mut Lane, from: &mut TcpStream) -> io::Result<Passed> {
        lane.stream.set_read_timeout(Some(self.options.stall))?;
        lane.stream.set_write_timeout(Some(self.options.stall))?;
        frames::send(&mut lane.stream, Kind::Message, task)?;
        loop {
            let frame = frames::receive(&mut lane.stream)?;
            match frame.kind {
                Kind::End | Kind::Failed => {
                    lane.stream.set_write_timeout(Some(BEAT))?;
                    return Ok(Passed::Whole(frame));
                }
                Kind::Rows | Kind::Alive => {
                    if frames::send(from, frame.kind, &frame.bytes).is_err() {
                        return Ok(Passed::Withdrawn);
                    }
                }
                Kind::Message => return Err(garbled("a message in place of rows")),
            }
        }
    }
}

/// How passing a part ended.
enum Passed {
    /// With this frame.
    Whole(frames::Frame),
    /// The client is gone.
    Withdrawn,
}

/// Tells the client that there are no rows, and whether to retry.
fn fail(from: &mut TcpStream, why: &str, again: bool) -> io::Result<()> {
    frames::send_json(from, Kind::Failed, &json!({ "message": why, "again": again }))
}

impl Lane {
    /// Whether the other side still has this connection; an idle executor says nothing.
    fn is_there(&self) -> bool {
        let mut byte = [0];
        let looked = self.stream.set_nonblocking(true).and_then(|()| self.stream.peek(&mut byte));
        let is_there = matches!(&looked, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        self.stream.set_nonblocking(false).is_ok() && is_there
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // Whoever computes for it notices at once.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
