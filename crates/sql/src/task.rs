//! [`SqlTask`]: a part of a statement that another process computes.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use datafusion::execution::memory_pool::MemoryReservation;
use serde_json::{Value, json};

use crate::SqlError;
use crate::filters::Wanted;
use crate::scan::Cut;

/// A part of a statement. Whoever computes it plans the statement again, over the same database and
/// in the same way, and finds the part in the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlTask {
    pub(crate) planned: Planned,
    /// Which node of the plan has the part: the number of the child at each step from the root.
    pub(crate) node: Vec<usize>,
    /// A number made of what the node and everything below it do.
    pub(crate) plan: u64,
    /// Which part of the node's rows.
    pub(crate) part: usize,
    /// What the rest of the statement wants of the table that the part reads.
    pub(crate) found: Wanted,
}

/// What a plan follows from, with the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) statement: String,
    /// What `now()` is.
    pub(crate) begun: SystemTime,
    /// Threads that it is planned for.
    pub(crate) threads: usize,
    pub(crate) cut: Cut,
}

/// Threads or parts that a plan is made for at most: each costs memory.
const MOST_PARTS: usize = 1 << 16;

impl SqlTask {
    /// As it is sent.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let begun = self.planned.begun.duration_since(UNIX_EPOCH).unwrap_or_default();
        json!({
            "statement": self.planned.statement,
            "begun_s": begun.as_secs(),
            "begun_ns": begun.subsec_nanos(),
            "threads": self.planned.threads,
            "parts": self.planned.cut.parts,
            "part_rows": self.planned.cut.rows,
            "node": self.node,
            "plan": self.plan,
            "part": self.part,
            "found": self.found.to_json(),
        })
    }

    /// What was sent; `None` when it is no task.
    #[must_use]
    pub fn from_json(sent: &Value) -> Option<Self> {
        let number = |name: &str| sent[name].as_u64();
        let count = |name: &str| usize::try_from(number(name)?).ok();
        let bounded = |name: &str| count(name).filter(|count| (1..=MOST_PARTS).contains(count));
        let nanoseconds =
            u32::try_from(number("begun_ns")?).ok().filter(|&ns| ns < 1_000_000_000)?;
        let begun = UNIX_EPOCH.checked_add(Duration::new(number("begun_s")?, nanoseconds))?;
        let node = sent["node"].as_array()?.iter();
        Some(Self {
            planned: Planned {
                statement: sent["statement"].as_str()?.to_owned(),
                begun,
                threads: bounded("threads")?,
                cut: Cut { parts: bounded("parts")?, rows: number("part_rows")? },
            },
            node: node.map(|at| usize::try_from(at.as_u64()?).ok()).collect::<Option<_>>()?,
            plan: number("plan")?,
            part: count("part")?,
            found: Wanted::from_json(&sent["found"])?,
        })
    }
}

/// Other processes that compute parts of statements over the same database.
pub trait SqlWorkers: Send + Sync {
    /// Parts that are computed at the same time.
    fn lanes(&self) -> usize;

    /// Has a part computed, and its bytes put into `room`: all of them, as
    /// [`SqlSession::part`](crate::SqlSession::part) gives them. Ends soon after `stop` becomes true.
    ///
    /// # Errors
    /// When the part cannot be computed, anywhere.
    fn compute(
        &self,
        task: &SqlTask,
        stop: &dyn Fn() -> bool,
        room: &mut SqlRoom,
    ) -> Result<(), SqlError>;
}

/// The rows of a part, as they arrive; they count as memory of the statement.
pub struct SqlRoom {
    reservation: MemoryReservation,
    pieces: Vec<Vec<u8>>,
}

impl SqlRoom {
    pub(crate) fn new(reservation: MemoryReservation) -> Self {
        Self { reservation, pieces: Vec::new() }
    }

    /// Takes bytes that follow the previous ones.
    ///
    /// # Errors
    /// When the statement may not have so much memory.
    pub fn push(&mut self, bytes: Vec<u8>) -> Result<(), SqlError> {
        self.reservation.try_grow(bytes.len()).map_err(SqlError::of)?;
        self.pieces.push(bytes);
        Ok(())
    }

    /// Drops what came so far, because the part is computed again.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.reservation.free();
    }

    /// All bytes, to be read once, and what counts them.
    pub(crate) fn into_parts(self) -> (Pieces, MemoryReservation) {
        (Pieces { pieces: self.pieces.into(), at: 0 }, self.reservation)
    }
}

/// Bytes that arrived in pieces, each of which is dropped when it has been read.
pub(crate) struct Pieces {
    pieces: VecDeque<Vec<u8>>,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(piece) = self.pieces.front() {
            let mut rest = piece.get(self.at..).unwrap_or_default();
            if rest.is_empty() {
                self.pieces.pop_front();
                self.at = 0;
                continue;
            }
            let read = rest.read(buffer)?;
            self.at += read;
            return Ok(read);
        }
        Ok(0)
    }
}
