//! [`ServerError`]: why there is no server and no report.

use std::io;

use parallax_base::ReadError;
use parallax_places::PathError;

/// Why there is no server and no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// A path does not exist, or may not be read.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The address is not one of this machine, or somebody listens there.
    #[error("cannot listen on {address}: {cause}; choose another with --port or --bind")]
    Listen {
        /// Address and port.
        address: String,
        /// What the system said.
        cause: io::Error,
    },
    /// The system has no random numbers or no threads to give.
    #[error("cannot start the server: {cause}")]
    Start {
        /// What the system said.
        cause: io::Error,
    },
    /// A token that cannot be sent.
    #[error("a token has {least} to {most} letters and digits; this one has not")]
    Token {
        /// Fewest characters.
        least: usize,
        /// Most characters.
        most: usize,
    },
    /// This build has no page for reports.
    #[error(
        "this build of Parallax has no page to put data into; run `cargo xtask web`, then build again"
    )]
    NoPage,
    /// A file that a report should have cannot be read.
    #[error("{file}: {cause}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        cause: ReadError,
    },
    /// The report cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}
