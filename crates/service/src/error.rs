//! [`ServiceError`]: why there is no answer, by error category.

use parallax_engine::EngineError;
use parallax_engine::query::QueryError;
use parallax_formats::hosts::HostError;
use parallax_import::ImportError;
use parallax_model::StoreError;

use crate::scaling::ScalingError;

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// Nothing could be opened.
    #[error(transparent)]
    Open(#[from] ImportError),
    /// The question cannot be answered.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A host table or the description of a system cannot be read.
    #[error(transparent)]
    Hosts(#[from] HostError),
    /// A question to an ensemble cannot be answered.
    #[error(transparent)]
    Scaling(Box<ScalingError>),
}

impl From<ScalingError> for ServiceError {
    fn from(error: ScalingError) -> Self {
        match error {
            ScalingError::Service(error) => error,
            error => Self::Scaling(Box::new(error)),
        }
    }
}

impl From<QueryError> for ServiceError {
    fn from(error: QueryError) -> Self {
        Self::Engine(error.into())
    }
}

impl ServiceError {
    /// Whether the person who asked can put it right by asking otherwise.
    #[must_use]
    pub fn is_misuse(&self) -> bool {
        match self {
            Self::Scaling(error) => error.is_misuse(),
            Self::Engine(error) => matches!(error, EngineError::Query(_)),
            Self::Hosts(_) => true,
            Self::Open(_) => false,
        }
    }

    /// Whether the question was withdrawn.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Scaling(error) => error.is_cancelled(),
            error => matches!(error, Self::Engine(EngineError::Store(StoreError::Cancelled(_)))),
        }
    }
}
