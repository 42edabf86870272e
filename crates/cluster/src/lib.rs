//! Statements and questions distributed to several machines.
//!
//! [Executors](Executor) connect to a [scheduler](Scheduler) and wait for work. The client
//! ([`Cluster`]) plans a statement and submits its parts to the scheduler, which passes each part to
//! an executor and returns the rows. An executor plans the same statement over the same files and
//! computes its part (`parallax_sql::SqlTask`): no plan, no code and no file name other than that of
//! the database goes over a connection.
//!
//! Questions that are not SQL are answered by the client; [`Readers`] has executors read what they
//! need, in parts by location, context or track.
//!
//! Invariants: only the scheduler listens; nothing is exchanged before both sides have proved that
//! they know the [`Secret`]; the rows of a part are used only when they are complete, so a part can
//! be computed again elsewhere; every wait has a time limit.

mod ask;
mod executor;
mod frames;
mod reading;
mod scheduler;
mod secret;
mod stores;

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

pub use ask::{Cluster, ExecutorStatus};
pub use executor::{Databases, Executor};
pub use scheduler::{Scheduler, SchedulerOptions};
pub use secret::Secret;
pub use stores::Readers;

use frames::Kind;
use secret::{PATIENCE, Shown};

/// Why a member of a cluster cannot do its part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The file with the token cannot be used.
    #[error("the token in {}: {why}", file.display())]
    Secret {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is no scheduler at an address.
    #[error("no scheduler at {address}: {why}")]
    NoScheduler {
        /// The address.
        address: String,
        /// What happened instead.
        why: String,
    },
    /// No executors are connected to a scheduler.
    #[error("the scheduler at {address} has no executors; start some and retry")]
    NoExecutors {
        /// The address.
        address: String,
    },
    /// The two sides of a connection have different tokens.
    #[error("the scheduler at {address} has a different token than {}; use the file that it was started with", file.display())]
    Refused {
        /// The address.
        address: String,
        /// The token of this side.
        file: PathBuf,
    },
    /// The scheduler is of another version.
    #[error(
        "the scheduler at {address} runs Parallax {theirs}, and this is {}; use the same version",
        version()
    )]
    OtherVersion {
        /// The address.
        address: String,
        /// Its version.
        theirs: String,
    },
    /// No connections can be accepted at an address.
    #[error("cannot listen at {address}: {why}")]
    Listen {
        /// The address.
        address: String,
        /// Why.
        why: String,
    },
}

/// The version that all members must have.
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// How often members say that they still work.
const BEAT: Duration = Duration::from_secs(1);
/// How long the other side may take to accept what is sent to it.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// Connects to a scheduler and tells it who this is.
fn connect(address: &str, secret: &Secret, hello: Value) -> Result<TcpStream, ClusterError> {
    let missing = |why: String| ClusterError::NoScheduler { address: address.to_owned(), why };
    let places: Vec<SocketAddr> =
        address.to_socket_addrs().map_err(|error| missing(error.to_string()))?.collect();
    let mut why = "the name has no address".to_owned();
    for place in places {
        match TcpStream::connect_timeout(&place, PATIENCE) {
            Ok(stream) => return greet(stream, address, secret, hello),
            Err(error) => why = error.to_string(),
        }
    }
    Err(missing(why))
}

fn greet(
    mut stream: TcpStream,
    address: &str,
    secret: &Secret,
    hello: Value,
) -> Result<TcpStream, ClusterError> {
    let missing = |error: io::Error| {
        let why = match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                format!("no answer for {} s from what listens there", PATIENCE.as_secs())
            }
            io::ErrorKind::UnexpectedEof => "what listens there closed the connection".to_owned(),
            _ => error.to_string(),
        };
        ClusterError::NoScheduler { address: address.to_owned(), why }
    };
    match secret.show(&stream).map_err(missing)? {
        Shown::Accepted => {}
        Shown::Refused => {
            let file = secret.file().to_owned();
            return Err(ClusterError::Refused { address: address.to_owned(), file });
        }
        Shown::Other => return Err(missing(io::Error::other("something else listens there"))),
        Shown::OtherVersion => {
            let theirs = "with a different protocol".to_owned();
            return Err(ClusterError::OtherVersion { address: address.to_owned(), theirs });
        }
    }
    prepare(&stream).map_err(missing)?;
    let mut hello = hello;
    hello["version"] = json!(version());
    frames::send_json(&mut stream, Kind::Message, &hello).map_err(missing)?;
    let answer = frames::receive(&mut stream).map_err(missing)?.json().map_err(missing)?;
    match answer["version"].as_str() {
        Some(theirs) if theirs == version() => Ok(stream),
        theirs => Err(ClusterError::OtherVersion {
            address: address.to_owned(),
            theirs: theirs.unwrap_or("of an unknown version").to_owned(),
        }),
    }
}

/// Sets what a new connection may take.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(WRITE_PATIENCE))
}
