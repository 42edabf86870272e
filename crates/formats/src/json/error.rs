//! Why a JSON text could not be read, and where.

use parallax_base::ReadError;

/// A fault in a JSON text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}, {path}")]
pub struct JsonError {
    /// Offset of the byte that does not fit, in the (decompressed) text.
    pub offset: u64,
    /// Where in the document, as a JSONPath: `$.data["4;0;1"].regions["1.2"][3]`.
    pub path: String,
    /// What is wrong.
    pub kind: JsonErrorKind,
}

/// What is wrong with a JSON text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// The text ends inside a value: the file was cut or is still being written.
    #[error("the text ends where {expected} should follow")]
    Truncated {
        /// What should follow.
        expected: &'static str,
    },
    /// A byte that cannot stand here.
    #[error("{expected} expected, found {found:?}")]
    Unexpected {
        /// What could stand here.
        expected: &'static str,
        /// The byte, as a character.
        found: char,
    },
    /// A value of another type than the format has here.
    #[error("{expected} expected, found {found}")]
    WrongType {
        /// The type the format has here.
        expected: &'static str,
        /// The type of the value.
        found: &'static str,
    },
    /// Malformed number.
    #[error("this is not a number")]
    Number,
    /// Malformed string: a bad escape, a control character, or bytes that are not UTF-8.
    #[error("{cause} in a string")]
    Text {
        /// What is wrong with it.
        cause: &'static str,
    },
    /// Nested deeper than allowed.
    #[error("nested deeper than {limit} levels")]
    TooDeep {
        /// Most levels allowed.
        limit: usize,
    },
    /// One string or number is longer than allowed, or a small part (a configuration, one line)
    /// holds too many values.
    #[error("{what} larger than {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Most that is allowed.
        limit: usize,
    },
    /// The bytes could not be read.
    #[error("{0}")]
    Read(ReadError),
}
