//! [`SqlSource`]: what statements are asked of.

use std::fmt;
use std::sync::Arc;

use parallax_service::OpenExperiment;
use parallax_service::scaling::Ensemble;

/// What statements are asked of.
#[derive(Clone)]
pub enum SqlSource {
    /// One execution.
    Experiment(Arc<OpenExperiment>),
    /// Several executions with the parameters in which they differ.
    Ensemble(Arc<Ensemble>),
}

impl From<Arc<OpenExperiment>> for SqlSource {
    fn from(opened: Arc<OpenExperiment>) -> Self {
        Self::Experiment(opened)
    }
}

impl From<Arc<Ensemble>> for SqlSource {
    fn from(ensemble: Arc<Ensemble>) -> Self {
        Self::Ensemble(ensemble)
    }
}

impl fmt::Debug for SqlSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Experiment(_) => "Experiment",
            Self::Ensemble(_) => "Ensemble",
        })
    }
}
