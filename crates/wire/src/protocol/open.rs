//! What is an experiment?

use serde::{Deserialize, Serialize};

/// What is an experiment?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct InfoAsk {
    /// An experiment.
    pub item: String,
}
