//! [`ErrorReply`]: why there is no answer.

use serde::{Deserialize, Serialize};

/// Why there is no answer, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ErrorReply {
    /// A stable name: `cancelled`, `misuse` (ask otherwise), `open`, `read`, `protocol`, `unknown_item`.
    pub kind: String,
    /// What is wrong and where.
    pub message: String,
    /// What to do, where that is known.
    pub hint: Option<String>,
}

impl ErrorReply {
    /// An error without a hint.
    #[must_use]
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), message: message.into(), hint: None }
    }

    /// The same error with what to do.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}
