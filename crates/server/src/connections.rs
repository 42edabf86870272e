//! [`Connections`]: how many there are at a time, and which one goes when another one comes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// A connection as the others see it.
pub(crate) struct Connection {
    number: u64,
    all: Arc<Connections>,
    /// Microseconds from the start of the server until bytes went either way for the last time.
    moved: AtomicU64,
    /// Questions of it that the engine works on, or that wait for it.
    num_working: AtomicUsize,
    /// Told to go.
    go: Notify,
}

/// All connections. When there are as many as may be, a new one takes the place of the one whose
/// client has let the server wait for longest, whether that sends nothing, sends slowly, or does not
/// read: clients that do nothing must not keep others out. Whoever waits for the engine stays.
pub(crate) struct Connections {
    most: usize,
    started: Instant,
    open: Mutex<Open>,
    /// Questions of all connections that are worked on or wait.
    num_questions: AtomicUsize,
    freed: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    by_number: BTreeMap<u64, Arc<Connection>>,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most: most.max(1),
            started: Instant::now(),
            open: Mutex::default(),
            num_questions: AtomicUsize::new(0),
            freed: Notify::new(),
        })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// A place for a new connection, when there is one.
    pub(crate) async fn enter(self: &Arc<Self>) -> Entered {
        loop {
            // Asked for before looking, so that a place that is freed in between is not missed.
            let freed = self.freed.notified();
            if let Some(entered) = self.try_enter() {
                return entered;
            }
            freed.await;
        }
    }

    fn try_enter(self: &Arc<Self>) -> Option<Entered> {
        let mut open = self.open();
        if open.by_number.len() >= self.most {
            let waiting = open.by_number.values().filter(|one| !one.is_working());
            let longest = waiting.min_by_key(|one| one.moved.load(Ordering::Relaxed))?.number;
            if let Some(one) = open.by_number.remove(&longest) {
                one.go.notify_one();
            }
        }
        let number = open.next;
        open.next += 1;
        let one = Arc::new(Connection {
            number,
            all: Arc::clone(self),
            moved: AtomicU64::new(self.now()),
            num_working: AtomicUsize::new(0),
            go: Notify::new(),
        });
        open.by_number.insert(number, Arc::clone(&one));
        Some(Entered(one))
    }
}

impl Connection {
    /// Bytes went either way.
    pub(crate) fn moved(&self) {
        self.moved.store(self.all.now(), Ordering::Relaxed);
    }

    fn is_working(&self) -> bool {
        self.num_working.load(Ordering::Relaxed) > 0
    }

    /// Ends when another connection takes this one's place.
    pub(crate) async fn told_to_go(&self) {
        self.go.notified().await;
    }

    /// The engine has something to do for it until what is returned is dropped; `None` when half of
    /// all connections wait for the engine: the others are for those who want a page.
    pub(crate) fn work(self: &Arc<Self>) -> Option<Working> {
        let before = self.all.num_questions.fetch_add(1, Ordering::Relaxed);
        self.num_working.fetch_add(1, Ordering::Relaxed);
        let working = Working(Arc::clone(self));
        (before < self.all.most.div_ceil(2)).then_some(working)
    }
}

/// A place among the connections, given back when it is dropped.
pub(crate) struct Entered(pub(crate) Arc<Connection>);

impl Drop for Entered {
    fn drop(&mut self) {
        let all = &self.0.all;
        all.open().by_number.remove(&self.0.number);
        all.freed.notify_one();
    }
}

/// A question that is worked on.
pub(crate) struct Working(Arc<Connection>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.all.num_questions.fetch_sub(1, Ordering::Relaxed);
        self.0.num_working.fetch_sub(1, Ordering::Relaxed);
        self.0.moved();
        // It may go now, if somebody waits for a place.
        self.0.all.freed.notify_one();
    }
}
