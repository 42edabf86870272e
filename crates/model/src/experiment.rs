//! [`Experiment`]: one execution.

use std::sync::Arc;

use parallax_base::{Folder, Issues, LocationIdx};

use crate::{
    Activations, Component, ContextTree, EventStore, LocationCatalog, MetricCatalog, ProfileStore,
    TraceStore,
};

/// What is known about an execution besides numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Name of the measured program.
    pub title: String,
    /// The format it was read from, for users: `HPCToolkit 4.0`.
    pub format: String,
    /// Where it was read from, for users.
    pub origin: String,
    /// Further facts by name.
    pub facts: Vec<(String, String)>,
    /// The coupled applications of a workflow, by number; empty where there is one.
    pub components: Vec<Component>,
    /// How many samples its values stand on, where whoever sampled counted them.
    pub samples: Option<u64>,
    /// Who chose the calls of the trace, where these need not be all of the program.
    pub chosen: Option<ChosenCalls>,
    /// Who named anomalies among the calls of the trace, where all of them are there.
    pub named: Option<NamedAnomalies>,
    /// What the source says about single locations, in their order; of locations that are not
    /// listed it says nothing of their own.
    pub recorded: Vec<RecordedFacts>,
}

/// What a source says about one location: its host, its process number and the like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedFacts {
    /// The location.
    pub location: LocationIdx,
    /// Names and values, in the order of the source.
    pub facts: Vec<(Arc<str>, Arc<str>)>,
}

/// Calls that a detector of anomalies kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenCalls {
    /// Display name of the detector.
    pub by: String,
    /// How many calls it kept.
    pub calls: u64,
    /// How many of them it takes for anomalies.
    pub anomalies: u64,
}

/// Anomalies that a detector named in a trace with all calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAnomalies {
    /// Display name of the detector, or of its file.
    pub by: String,
    /// How many calls it named.
    pub calls: u64,
}

impl NamedAnomalies {
    /// Name of the argument of a call that says what a detector takes it for.
    pub const SCORE: &str = "anomaly_score";
    /// The score of anomalies.
    pub const ANOMALY: &str = "-1";
}

impl ChosenCalls {
    /// What there is, as a clause.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { by, calls, anomalies } = self;
        format!(
            "these are the calls that {by} kept ({calls}, of which it takes {anomalies} for \
             anomalies), which need not be all calls of the program"
        )
    }
}

/// One execution of a program.
#[derive(Clone)]
pub struct Experiment {
    /// What is known besides numbers.
    pub metadata: Metadata,
    /// The calling context tree.
    pub contexts: ContextTree,
    /// What was measured.
    pub metrics: MetricCatalog,
    /// Where code ran.
    pub locations: LocationCatalog,
    /// Values; `None` for experiments that have only a trace.
    pub profiles: Option<Arc<dyn ProfileStore>>,
    /// Samples or calls in time, where they were recorded.
    pub traces: Option<Arc<dyn TraceStore>>,
    /// What happened besides calls, where it was recorded.
    pub events: Option<Arc<dyn EventStore>>,
    /// Single calls, executions of loops and iterations with what they read and write, where they
    /// were recorded.
    pub activations: Option<Arc<Activations>>,
    /// Where copies of source files may be found, by their path.
    pub sources: Option<Arc<dyn Folder>>,
    /// What was repaired, dropped or guessed while opening.
    pub issues: Issues,
}

impl Experiment {
    /// All issues: those met while opening and those met since, while values were read.
    #[must_use]
    pub fn all_issues(&self) -> Issues {
        let mut issues = self.issues.clone();
        if let Some(profiles) = &self.profiles {
            issues.extend(profiles.late_issues());
        }
        issues
    }
}
