//! What was repaired, dropped or guessed while an item was read.

use serde::{Deserialize, Serialize};

use crate::Item;
use crate::macros::{choice, question};

question! {
    /// What was repaired, dropped or guessed.
    "issues" of Item,
    request IssuesRequest {}
    reply IssuesReply,
}

/// The reply to `issues`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IssuesReply {
    /// One for each kind and place.
    pub issues: Vec<IssueReply>,
}

choice! {
    /// How much an issue matters.
    pub enum IssueSeverity {
        /// Worth knowing; no number is affected.
        Note = "note",
        /// Something was repaired or guessed; numbers are probably right.
        Warning = "warning",
        /// Something was lost; numbers may be incomplete.
        Error = "error",
    }
}

choice! {
    /// When an issue was met.
    pub enum IssueStage {
        /// Reading bytes into raw records.
        Read = "read",
        /// Mapping raw records to the model.
        Import = "import",
        /// Computing an answer.
        Analysis = "analysis",
    }
}

/// Something that was repaired, dropped or guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct IssueReply {
    /// A short stable name, such as `child-outside-section`.
    pub kind: String,
    /// How much it matters.
    pub severity: IssueSeverity,
    /// When it was met.
    pub stage: IssueStage,
    /// Where it was seen first, for users.
    pub place: String,
    /// The file it was seen in, when it is about a file.
    pub file: Option<String>,
    /// Bytes from the start of the file, when it is about a byte.
    pub offset: Option<u64>,
    /// What is wrong and what was kept.
    pub message: String,
    /// How many of the kind there are.
    pub count: u64,
}
