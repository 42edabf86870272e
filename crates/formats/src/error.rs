//! [`FormatError`]: why a file cannot be read at all.

use parallax_base::paged::ScratchError;
use parallax_base::{LimitExceeded, ReadError};

/// Why a file cannot be read at all. Sorted by blame: storage, wrong file, broken file, limits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The storage failed or ended early.
    #[error("{file}: {cause}")]
    Read {
        /// Which file.
        file: String,
        /// What happened.
        cause: ReadError,
    },
    /// The bytes are of another format.
    #[error("{file} is not {expected}: it starts with {found}")]
    NotThisFormat {
        /// Which file.
        file: String,
        /// The format that was expected.
        expected: &'static str,
        /// The first bytes, printable.
        found: String,
    },
    /// The format is known but this version of it is not read.
    #[error("{file} is {what}, which is not supported; {hint}")]
    Unsupported {
        /// Which file.
        file: String,
        /// The format and version found.
        what: String,
        /// What to do.
        hint: &'static str,
    },
    /// A required part is missing or broken beyond use.
    #[error("{file} is damaged at byte {offset}: {what}")]
    Malformed {
        /// Which file.
        file: String,
        /// Where, in bytes from the start.
        offset: u64,
        /// What was expected and what was found.
        what: String,
    },
    /// Another file, without which this one cannot be read, is not there.
    #[error("{file} needs {missing}, which is missing; open the whole folder that they belong to")]
    Incomplete {
        /// Which file.
        file: String,
        /// The file that is missing.
        missing: String,
    },
    /// The file would need more memory than allowed.
    #[error("{file}: {cause}")]
    Limit {
        /// Which file.
        file: String,
        /// What would not fit.
        cause: LimitExceeded,
    },
    /// What does not fit into memory could not be put anywhere else.
    #[error("{file}: {cause}")]
    Scratch {
        /// Which file.
        file: String,
        /// What failed.
        cause: ScratchError,
    },
}

impl FormatError {
    /// A [`FormatError::Read`] of `file`.
    #[must_use]
    pub fn read(file: &str, cause: ReadError) -> Self {
        Self::Read { file: file.to_owned(), cause }
    }

    /// A [`FormatError::Incomplete`] of `file`.
    #[must_use]
    pub fn missing(file: &str, missing: &str) -> Self {
        Self::Incomplete { file: file.to_owned(), missing: missing.to_owned() }
    }

    /// A [`FormatError::Malformed`] of `file`.
    #[must_use]
    pub fn malformed(file: &str, offset: u64, what: impl Into<String>) -> Self {
        Self::Malformed { file: file.to_owned(), offset, what: what.into() }
    }
}
