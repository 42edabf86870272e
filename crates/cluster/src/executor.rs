//! [`Executor`]: who computes parts of statements.

use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use parallax_base::{Control, LocationIdx};
use parallax_service::OpenExperiment;
use parallax_sql::{SqlError, SqlSession, SqlSource, SqlTask};
use serde_json::{Value, json};

use crate::frames::{self, Kind, ROW_BYTES, garbled};
use crate::reading::Reading;
use crate::secret::Secret;
use crate::{BEAT, ClusterError, connect};

/// How long a scheduler may say nothing to one who waits; it does every few seconds.
const SILENCE: Duration = Duration::from_secs(30);
/// How long to wait before a scheduler that is not there is looked for again.
const PAUSE: Duration = Duration::from_millis(500);

/// The databases that an executor reads.
pub trait Databases: Send + Sync {
    /// The database at a path, whose files have a fingerprint.
    ///
    /// # Errors
    /// A sentence that names the file: it may not be read, cannot be opened, or is another one.
    fn session(&self, path: &Path, fingerprint: u64) -> Result<Arc<SqlSession>, String>;

    /// A file with the rows of a table of that name that some locations have.
    ///
    /// # Errors
    /// When there is no such table, it cannot be read, or `control` was cancelled.
    fn table(
        &self,
        opened: &OpenExperiment,
        name: &str,
        locations: &[LocationIdx],
        control: &Control,
    ) -> Result<Vec<u8>, String>;
}

/// Who computes parts of statements.
pub struct Executor {
    /// The address of its scheduler.
    pub scheduler: String,
    /// How messages call it.
    pub name: String,
    /// Parts that it computes at a time.
    pub lanes: usize,
    /// What its scheduler knows as well.
    pub secret: Secret,
    /// What it reads.
    pub databases: Arc<dyn Databases>,
}

impl Executor {
    /// Works until the process ends. A scheduler that is not there yet, or no longer, is waited for;
    /// `told` hears of that.
    ///
    /// # Errors
    /// When the scheduler does not accept this executor.
    pub fn run(&self, told: &(dyn Fn(&str) + Sync)) -> Result<(), ClusterError> {
        let mut bytes = [0; 16];
        // Two executors with the same number would only be counted as one.
        let _ = getrandom::fill(&mut bytes);
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let (send, ended) = mpsc::channel();
        std::thread::scope(|scope| {
            for lane in 0..self.lanes.max(1) {
                let (send, id) = (send.clone(), &id);
                // The first one speaks for all.
                let quiet = |_: &str| ();
                scope.spawn(move || {
                    let error = match lane {
                        0 => self.lane(id, told),
                        _ => self.lane(id, &quiet),
                    };
                    let _ = send.send(error);
                });
            }
            // All lanes end for the same reason.
            ended.recv().map_or(Ok(()), Err)
        })
    }

    /// Computes one part after the other, of one scheduler after the other.
    fn lane(&self, id: &str, told: &dyn Fn(&str)) -> ClusterError {
        let mut is_told = false;
        loop {
            let hello = json!({ "role": "executor", "id": id, "name": self.name });
            match connect(&self.scheduler, &self.secret, hello) {
                Ok(stream) => {
                    told(&format!("connected to the scheduler at {}", self.scheduler));
                    let why = self.serve(stream).err();
                    // Where it ended, the connection is closed between two frames.
                    let why = why.filter(|error| error.kind() != io::ErrorKind::UnexpectedEof);
                    let why = why.map_or_else(String::new, |error| format!(": {error}"));
                    told(&format!(
                        "lost the connection to the scheduler at {}{why}",
                        self.scheduler
                    ));
                    is_told = false;
                }
                Err(error @ ClusterError::NoScheduler { .. }) => {
                    if !is_told {
                        told(&format!("{error}; waiting"));
                        is_told = true;
                    }
                }
                Err(error) => return error,
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(SILENCE))?;
        loop {
            let frame = frames::receive(&mut stream)?;
            match frame.kind {
                Kind::Alive => {}
                Kind::Message => self.part(&stream, &frame.json()?)?,
                Kind::Rows | Kind::End | Kind::Failed => return Err(garbled("no part")),
            }
        }
    }

    /// Computes a part, and says meanwhile that this still works.
    fn part(&self, stream: &TcpStream, message: &Value) -> io::Result<()> {
        let control = Control::new();
        let to = Mutex::new(stream.try_clone()?);
        let computed = std::thread::scope(|scope| {
            let (done, is_done) = mpsc::channel::<()>();
            let (to, control) = (&to, &control);
            scope.spawn(move || {
                while is_done.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                    if frames::send(&mut *locked(to), Kind::Alive, &[]).is_err() {
                        // Nobody waits for the rows.
                        control.cancel();
                        return;
                    }
                }
            });
            let computed = self.rows(message, control, to);
            drop(done);
            computed
        });
        let mut to = locked(&to);
        match computed {
            Ok(rows) => frames::send_json(&mut *to, Kind::End, &json!({ "rows": rows })),
            Err(error) => {
                let text = format!("the executor {}: {error}", self.name);
                frames::send_json(&mut *to, Kind::Failed, &json!({ "message": text }))
            }
        }
    }

    /// Sends the rows of a part, and gives their number.
    fn rows(
        &self,
        message: &Value,
        control: &Control,
        to: &Mutex<TcpStream>,
    ) -> Result<u64, SqlError> {
        let unclear = || SqlError::Failed("received an invalid description of a part".to_owned());
        let database = message["database"].as_str().ok_or_else(unclear)?;
        let fingerprint = message["fingerprint"].as_u64().ok_or_else(unclear)?;
        let session = || {
            let session = self.databases.session(Path::new(database), fingerprint);
            session.map_err(SqlError::Failed)
        };
        let mut send = |bytes: Vec<u8>| {
            let mut to = locked(to);
            for piece in bytes.chunks(ROW_BYTES) {
                frames::send(&mut *to, Kind::Rows, piece)
                    .map_err(|error| SqlError::Failed(error.to_string()))?;
            }
            Ok(())
        };
        if let Some(reading) = message.get("reading") {
            let opened = session()?;
            let SqlSource::Experiment(opened) = opened.source() else { return Err(unclear()) };
            let reading = Reading::from_json(reading, opened).ok_or_else(unclear)?;
            let bytes = reading.read(opened, &*self.databases, control);
            control.check().map_err(|_| SqlError::Cancelled)?;
            // Files that were cut meanwhile read as zeros.
            session()?;
            return send(bytes).map(|()| 1);
        }
        let task = SqlTask::from_json(&message["task"]).ok_or_else(unclear)?;
        session()?.part(&task, control, &mut send)
    }
}

fn locked(to: &Mutex<TcpStream>) -> MutexGuard<'_, TcpStream> {
    to.lock().unwrap_or_else(PoisonError::into_inner)
}
