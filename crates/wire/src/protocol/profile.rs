//! Questions to one experiment.

use serde::{Deserialize, Serialize};

/// What bounds the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReportAsk {
    /// An experiment.
    pub item: String,
    /// A metric expression; null for the default.
    #[serde(default)]
    pub metric: Option<String>,
}
