//! What an experiment holds, so that no view is offered of what it lacks.

use parallax_model::{ChosenCalls, EventStore, IdentityKind, TraceKind};

use crate::OpenExperiment;

/// What there is in an experiment; read from its metadata, whatever its size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Holds {
    /// A trace.
    pub has_trace: bool,
    /// Calls in its trace, as opposed to samples.
    pub has_calls: bool,
    /// All calls of MPI in its trace and records of what they communicate, so that there may be
    /// waits.
    pub has_waits: bool,
    /// Only the calls that a detector of anomalies chose.
    pub has_chosen_calls: bool,
    /// Number of components of a workflow; 0 where there is one application.
    pub components: u64,
    /// Every single call.
    pub has_activations: bool,
    /// Values that the program reported one at a time.
    pub has_user_events: bool,
    /// Samples of instructions of GPUs.
    pub has_gpu_stalls: bool,
    /// Messages, flows or transfers between tracks.
    pub has_links: bool,
    /// Metrics whose values change over time.
    pub has_counters: bool,
    /// Locations that are GPUs or streams of GPUs.
    pub has_gpus: bool,
    /// Number of locations.
    pub locations: u64,
    /// Number of nodes; 0 where locations do not say theirs.
    pub nodes: u64,
}

impl OpenExperiment {
    /// What the experiment holds.
    #[must_use]
    pub fn holds(&self) -> Holds {
        let experiment = self.session().experiment();
        let events = experiment.events.as_deref();
        let locations = &experiment.locations;
        Holds {
            has_trace: experiment.traces.is_some(),
            has_calls: self.has_calls(),
            has_waits: self.has_waits(),
            has_chosen_calls: self.chosen_calls().is_some(),
            components: experiment.metadata.components.len() as u64,
            has_activations: experiment.activations.is_some(),
            has_user_events: self.has_user_events(),
            has_gpu_stalls: self.has_gpu_stalls(),
            has_links: events.is_some_and(EventStore::has_links),
            has_counters: events.is_some_and(|events| !events.counters().is_empty()),
            has_gpus: locations.iter().any(|location| locations.is_gpu(location)),
            locations: locations.len() as u64,
            nodes: locations.count_distinct(IdentityKind::Node) as u64,
        }
    }

    /// Whether there is a trace and it has calls, as opposed to samples.
    pub(crate) fn has_calls(&self) -> bool {
        let traces = self.session().experiment().traces.as_ref();
        traces.is_some_and(|traces| traces.kind() == TraceKind::Calls)
    }

    /// Whether there are calls of MPI as they were, and records of messages, collective operations
    /// or transfers, which tell who waits for whom.
    pub(crate) fn has_waits(&self) -> bool {
        let traces = self.session().experiment().traces.as_ref();
        traces.is_some_and(|traces| traces.has_mpi_calls())
            && self.session().experiment().events.is_some()
            && self.chosen_calls().is_none()
    }

    /// Who chose the calls of the trace, where these need not be all of the program.
    #[must_use]
    pub fn chosen_calls(&self) -> Option<&ChosenCalls> {
        self.session().experiment().metadata.chosen.as_ref()
    }
}
