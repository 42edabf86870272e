//! [`Cluster`]: the client of a scheduler.

use std::io::{self, Read};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parallax_sql::{SqlError, SqlRoom, SqlTask, SqlWorkers};
use serde_json::{Value, json};

use crate::frames::{self, Kind};
use crate::secret::Secret;
use crate::{ClusterError, connect};

/// How often a part is computed anew at most, after executors were lost or stopped answering.
const ATTEMPTS: usize = 4;
/// How long a scheduler may be away, such as while it is started again.
const AWAY: Duration = Duration::from_secs(15);
/// How long a scheduler may say nothing; it says every second that it still works.
const SILENCE: Duration = Duration::from_secs(15);
/// How often is looked whether the statement was withdrawn.
const LOOK: Duration = Duration::from_millis(100);

/// A cluster that computes parts of the statements over one database.
#[derive(Debug)]
pub struct Cluster {
    address: String,
    secret: Secret,
    database: PathBuf,
    fingerprint: u64,
    lanes: usize,
}

/// An executor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutorStatus {
    /// Its name.
    pub name: String,
    /// From where it has connected.
    pub address: String,
    /// Parts that it computes at a time.
    pub lanes: u64,
    /// Of these, those that are being computed.
    pub busy: u64,
    /// Parts that it has computed since it connected first.
    pub done: u64,
}

impl Cluster {
    /// The executors of a scheduler.
    ///
    /// # Errors
    /// When there is no scheduler, or it does not accept the secret.
    pub fn status(address: &str, secret: &Secret) -> Result<Vec<ExecutorStatus>, ClusterError> {
        let mut stream = connect(address, secret, json!({ "role": "status" }))?;
        let status = frames::receive(&mut stream).and_then(|frame| frame.json());
        let status = status.map_err(|error| ClusterError::NoScheduler {
            address: address.to_owned(),
            why: error.to_string(),
        })?;
        let executors = status["executors"].as_array().cloned().unwrap_or_default();
        let one = |executor: &Value| {
            let text = |name: &str| executor[name].as_str().unwrap_or_default().to_owned();
            let number = |name: &str| executor[name].as_u64().unwrap_or_default();
            ExecutorStatus {
                name: text("name"),
                address: text("address"),
                lanes: number("lanes"),
                busy: number("busy"),
                done: number("done"),
            }
        };
        Ok(executors.iter().map(one).collect())
    }

    /// A cluster for statements over the database at a path, which executors see at the same path;
    /// they compare the fingerprint of its files.
    ///
    /// # Errors
    /// When there is no scheduler, when it does not accept the secret, or has no executors.
    pub fn new(
        address: &str,
        secret: Secret,
        database: PathBuf,
        fingerprint: u64,
    ) -> Result<Self, ClusterError> {
        let executors = Self::status(address, &secret)?;
        let lanes = executors.iter().map(|executor| executor.lanes).sum::<u64>();
        if lanes == 0 {
            return Err(ClusterError::NoExecutors { address: address.to_owned() });
        }
        let lanes = usize::try_from(lanes).unwrap_or(usize::MAX);
        Ok(Self { address: address.to_owned(), secret, database, fingerprint, lanes })
    }

    /// Has a part computed once; `what` are the members of the message that say which.
    fn once(
        &self,
        what: &(&'static str, Value),
        stop: &dyn Fn() -> bool,
        room: &mut dyn Room,
    ) -> Result<(), NotNow> {
        let stream = connect(&self.address, &self.secret, json!({ "role": "part" }));
        let mut stream = stream.map_err(|error| match error {
            ClusterError::NoScheduler { .. } => NotNow::Away(error.to_string()),
            other => NotNow::Never(SqlError::Failed(other.to_string())),
        })?;
        let away = |error: &io::Error| {
            NotNow::Away(format!(
                "lost the connection to the scheduler at {}: {error}",
                self.address
            ))
        };
        let mut message = json!({
            "database": self.database.to_string_lossy(),
            "fingerprint": self.fingerprint,
        });
        message[what.0] = what.1.clone();
        frames::send_json(&mut stream, Kind::Message, &message).map_err(|error| away(&error))?;
        stream.set_read_timeout(Some(LOOK)).map_err(|error| away(&error))?;
        let mut patient = Patient { stream, stop };
        loop {
            let frame = frames::receive(&mut patient).map_err(|error| match stop() {
                true => NotNow::Never(SqlError::Cancelled),
                false => away(&error),
            })?;
            match frame.kind {
                Kind::Alive => {}
                Kind::Rows => room.push(frame.bytes).map_err(NotNow::Never)?,
                Kind::End => return Ok(()),
                Kind::Failed | Kind::Message => {
                    let why = frame.json().unwrap_or_default();
                    let text =
                        why["message"].as_str().unwrap_or("for an unknown reason").to_owned();
                    return Err(match why["again"].as_bool() {
                        Some(true) => NotNow::Lost(text),
                        _ => NotNow::Never(SqlError::Failed(text)),
                    });
                }
            }
        }
    }
}

/// Why a part has no rows.
enum NotNow {
    /// The scheduler is not there.
    Away(String),
    /// The executor was lost.
    Lost(String),
    /// Asking again would give the same.
    Never(SqlError),
}

/// Where the bytes of a part arrive.
pub(crate) trait Room {
    /// Takes bytes that follow the previous ones.
    fn push(&mut self, bytes: Vec<u8>) -> Result<(), SqlError>;

    /// Drops what came so far, because the part is computed again.
    fn clear(&mut self);
}

impl Room for SqlRoom {
    fn push(&mut self, bytes: Vec<u8>) -> Result<(), SqlError> {
        Self::push(self, bytes)
    }

    fn clear(&mut self) {
        Self::clear(self);
    }
}

impl Room for Vec<u8> {
    fn push(&mut self, bytes: Vec<u8>) -> Result<(), SqlError> {
        self.extend(bytes);
        Ok(())
    }

    fn clear(&mut self) {
        Self::clear(self);
    }
}

impl Cluster {
    /// Has a part computed, wherever that is possible; `what` is its name in the message, and what
    /// it is.
    pub(crate) fn part(
        &self,
        what: &(&'static str, Value),
        stop: &dyn Fn() -> bool,
        room: &mut dyn Room,
    ) -> Result<(), SqlError> {
        let (mut lost, mut away_since) = (0, None);
        loop {
            if stop() {
                return Err(SqlError::Cancelled);
            }
            room.clear();
            match self.once(what, stop, room) {
                Ok(()) => return Ok(()),
                Err(NotNow::Never(error)) => return Err(error),
                Err(NotNow::Lost(why)) => {
                    lost += 1;
                    away_since = None;
                    if lost == ATTEMPTS {
                        return Err(SqlError::Failed(format!(
                            "a part failed {ATTEMPTS} times; last failure: {why}"
                        )));
                    }
                }
                Err(NotNow::Away(why)) => {
                    let since = *away_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > AWAY {
                        return Err(SqlError::Failed(format!(
                            "{why}; gave up after {} s",
                            AWAY.as_secs()
                        )));
                    }
                    std::thread::sleep(LOOK * 5);
                }
            }
        }
    }
}

impl SqlWorkers for Cluster {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn compute(
        &self,
        task: &SqlTask,
        stop: &dyn Fn() -> bool,
        room: &mut SqlRoom,
    ) -> Result<(), SqlError> {
        self.part(&("task", task.to_json()), stop, room)
    }
}

/// A connection whose reading ends when the statement is withdrawn, or nothing comes for too long.
struct Patient<'s> {
    stream: TcpStream,
    stop: &'s dyn Fn() -> bool,
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let begun = Instant::now();
        loop {
            match self.stream.read(buffer) {
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) && begun.elapsed() < SILENCE
                        && !(self.stop)() => {}
                read => return read,
            }
        }
    }
}
