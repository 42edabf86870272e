//! [`ImportError`]: why nothing could be opened.

use parallax_base::ReadError;
use parallax_formats::FormatError;

/// Why nothing could be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Nothing in the folder is of a known format.
    #[error("nothing to open in {origin}: {found}; {hint}")]
    NotRecognised {
        /// What was opened.
        origin: String,
        /// What is there instead.
        found: String,
        /// What to do.
        hint: String,
    },
    /// There are several experiments where one is requested.
    #[error("{origin} holds {count} experiments; name one of them: {names}")]
    Several {
        /// What was opened.
        origin: String,
        /// How many there are.
        count: usize,
        /// The first of them by name.
        names: String,
    },
    /// What is there must be opened in another way.
    #[error("cannot open {origin} as a profile: {what}")]
    OtherKind {
        /// What was opened.
        origin: String,
        /// What it is, and how it is opened.
        what: &'static str,
    },
    /// A required file is broken or of an unsupported version.
    #[error("cannot open {origin}: {cause}")]
    Format {
        /// What was opened.
        origin: String,
        /// Which file and why.
        cause: FormatError,
    },
    /// The folder cannot be listed.
    #[error("cannot look into {origin}: {cause}")]
    Folder {
        /// What was opened.
        origin: String,
        /// Why.
        cause: ReadError,
    },
}
