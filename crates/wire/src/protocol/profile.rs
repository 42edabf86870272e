//! Questions to one experiment.

use serde::{Deserialize, Serialize};

use crate::MetricReply;

/// The metrics of an experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MetricsAsk {
    /// An experiment.
    pub item: String,
}

/// The metrics of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MetricsReply {
    /// The metrics, in the order of the source.
    pub metrics: Vec<MetricReply>,
    /// The metric that is shown when nobody names one; null when nothing has values.
    pub default: Option<String>,
    /// Why that one.
    pub reason: Option<String>,
    /// Whether there are traces, so that time in them can count as cost.
    pub has_traces: bool,
}

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
