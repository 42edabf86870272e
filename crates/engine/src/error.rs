//! [`EngineError`]: why a question has no answer.

use parallax_model::StoreError;

use crate::query::QueryError;

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The expression cannot be understood, or names something the experiment lacks.
    #[error("{0}")]
    Query(#[from] QueryError),
    /// The values or samples could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The question is about something that this experiment does not have.
    #[error("{what}; {hint}")]
    Missing {
        /// What is missing.
        what: String,
        /// What to do instead.
        hint: String,
    },
}

impl From<parallax_base::Cancelled> for EngineError {
    fn from(cancelled: parallax_base::Cancelled) -> Self {
        Self::Store(cancelled.into())
    }
}
