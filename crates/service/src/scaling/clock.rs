//! What an ensemble of databases takes as time: how long runs took, wherever that is known.
//!
//! Scaling is about elapsed time. Time on processors says nothing about it, because whoever waits
//! asleep uses none: runs that get slower and slower on more cores would scale perfectly. The rule
//! for each database, the first that applies:
//!
//! 1. the metric that was requested;
//! 2. a metric of wall-clock time (REALTIME of HPCToolkit, TIME of TAU) with values;
//! 3. time in the trace: from one sample or call to the next, whatever the thread did meanwhile;
//! 4. what says most about cost otherwise; elapsed time is unknown then, and no verdict is given.

use parallax_base::{Control, Unit};
use parallax_engine::Session;
use parallax_engine::query::parse_metrics;
use parallax_engine::resolve::resolve_metric;
use parallax_model::ensemble::metric_names;
use parallax_model::{Experiment, Metric};

use super::ScalingError;
use super::contexts::ContextOptions;

/// What an ensemble is made of, by name so that it is found in every database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChosenMetric {
    pub(super) clock: Clock,
    /// The metric; for [`Clock::Trace`] what the trace was sampled by.
    pub(super) name: String,
    /// Why it was chosen, where that is not plain.
    pub(super) reason: Option<String>,
}

/// Where times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// Values of a metric.
    Metric,
    /// Times of traces.
    Trace,
}

/// What HPCToolkit and TAU call wall-clock time.
const WALL_TIME: [&str; 2] = ["realtime", "time"];

/// Beginnings of names of what counts only while a processor works for the program.
const ON_PROCESSORS: [&str; 10] = [
    "cputime",
    "cpu_time",
    "cpu-time",
    "cpu time",
    "cycles",
    "perf::cycles",
    "task-clock",
    "perf::task-clock",
    "cpu-clock",
    "perf::cpu-clock",
];

/// Whether a metric counts only while a processor works for the program: no time of waiting asleep.
pub(super) fn is_on_processors(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ON_PROCESSORS.iter().any(|start| lower.starts_with(start))
}

impl ChosenMetric {
    /// The metric asked for, or elapsed time, or what says most about cost.
    pub(super) fn of(
        session: &Session,
        options: &ContextOptions,
        control: &Control,
    ) -> Result<Self, ScalingError> {
        let catalog = &session.experiment().metrics;
        let named = |name: &str, reason| {
            let name = name.to_owned();
            Self { clock: Clock::Metric, name, reason }
        };
        if let Some(text) = &options.metric {
            let metric = resolve_metric(catalog, &parse_metrics(text)?)?;
            return Ok(named(&catalog.get(metric).name, None));
        }
        let wall = catalog.iter().find(|(_, m)| {
            WALL_TIME.iter().any(|name| m.name.eq_ignore_ascii_case(name)) && m.unit.is_time()
        });
        if let Some((metric, described)) = wall
            && session.total(metric, control)? > 0.0
        {
            return Ok(named(&described.name, None));
        }
        let found = session.default_metric(control);
        let name = found.as_ref().map(|found| catalog.get(found.metric).name.to_string());
        // A trace of GPUs or of anything else than time spent by threads is no clock of theirs.
        let is_of_threads = name.as_ref().is_ok_and(|name| is_on_processors(name));
        if has_trace(session.experiment()) && (is_of_threads || name.is_err()) {
            let name = name.unwrap_or_default();
            return Ok(Self { clock: Clock::Trace, name, reason: None });
        }
        let found = found?;
        Ok(named(&catalog.get(found.metric).name, found.reason))
    }

    /// Whether a database has it.
    pub(super) fn is_in(&self, experiment: &Experiment) -> bool {
        let has_metric = || experiment.metrics.iter().any(|(_, known)| *known.name == *self.name);
        match self.clock {
            Clock::Metric => has_metric(),
            Clock::Trace => has_trace(experiment) && (self.name.is_empty() || has_metric()),
        }
    }

    /// Whether both are one, whatever the reasons.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (self.clock, &self.name) == (other.clock, &other.name)
    }

    /// Its name in a sentence.
    pub(super) fn label(&self) -> &str {
        match self.clock {
            Clock::Metric => &self.name,
            Clock::Trace => "elapsed time in a trace",
        }
    }

    /// The same after "it has" or "it has no".
    pub(super) fn with_kind(&self) -> String {
        match self.clock {
            Clock::Metric => format!("metric {}", self.name),
            Clock::Trace => self.label().to_owned(),
        }
    }

    /// What the times are, as a sentence.
    pub(super) fn sentence(&self) -> String {
        match self.clock {
            Clock::Metric => format!("Times are values of metric {}.", self.name),
            Clock::Trace if self.name.is_empty() => {
                "Times are elapsed time in the traces.".to_owned()
            }
            Clock::Trace => format!(
                "Times are elapsed time in the traces, because {} excludes waiting asleep; such \
                 waiting is attributed to the context that was sampled before it.",
                self.name
            ),
        }
    }

    /// Name, unit and scale of the metric of the ensemble that has the values.
    pub(super) fn values(&self, described: Option<&Metric>) -> (String, Unit, f64) {
        let is_elapsed = !is_on_processors(&self.name);
        let name = if is_elapsed { metric_names::TIME } else { metric_names::CPU_TIME };
        match (self.clock, described.map(|metric| &metric.unit)) {
            (Clock::Trace, _) | (_, None) => (metric_names::TIME.to_owned(), Unit::Seconds, 1e-9),
            (_, Some(Unit::Seconds)) => (name.to_owned(), Unit::Seconds, 1.0),
            (_, Some(Unit::Nanos)) => (name.to_owned(), Unit::Seconds, 1e-9),
            (_, Some(other)) => (self.name.to_lowercase(), other.clone(), 1.0),
        }
    }
}

/// Whether there is a trace that says how long threads took: one of them has two samples, or a
/// call.
fn has_trace(experiment: &Experiment) -> bool {
    experiment.traces.as_ref().is_some_and(|traces| {
        traces.span().nanos() > 0 && traces.track_sizes().iter().any(|&size| size > 1)
    })
}
