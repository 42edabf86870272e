//! [`Costs`]: what the contexts of a tree cost, by a metric or by the time of a trace.

use std::sync::Arc;

use parallax_base::{ContextIdx, Control, MetricIdx, TimeWindow, TrackIdx, Unit};
use parallax_model::{Metric, Scope, TraceStore};

use crate::session::{LocationChoice, Session};
use crate::{EngineError, scopes};

/// What contexts cost. Columns are by position in the tree; sums over the chosen locations.
#[derive(Debug, Clone)]
pub struct Costs {
    /// What is counted: the metric's name, or `trace time`.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Cost of each context with everything below it.
    pub inclusive: Arc<Vec<f64>>,
    /// Cost of each context down to the next call.
    pub exclusive: Arc<Vec<f64>>,
    /// Like exclusive, with nested loops left out of loops.
    pub lexical_aware: Arc<Vec<f64>>,
    /// Cost of the whole execution.
    pub total: f64,
}

/// The metric that is used where none was requested, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultMetric {
    /// The metric.
    pub metric: MetricIdx,
    /// One sentence for users; `None` where the metric is a time of the program, which needs no
    /// reason.
    pub reason: Option<String>,
}

/// Metrics that say how long code ran, from the best.
const TIME_NAMES: [&str; 10] = [
    "cputime",
    "realtime",
    "time",
    // Of TAU, where it is measured alone.
    "cpu_time",
    "linux_timers",
    "cycles",
    "perf::cycles",
    "perf::task-clock",
    "perf::cpu-clock",
    "task-clock",
];

impl Session {
    /// The metric that stands for cost where none is named: CPU time, else real time, else cycles
    /// or a clock of perf; without any of these the time of GPU operations, then the largest time
    /// of any kind, then the first metric that has values at all.
    ///
    /// # Errors
    /// When no metric has values, or they cannot be read.
    pub fn default_metric(&self, control: &Control) -> Result<DefaultMetric, EngineError> {
        let catalog = &self.experiment().metrics;
        let find = |name: &str| catalog.iter().find(|(_, m)| m.name.eq_ignore_ascii_case(name));
        for name in TIME_NAMES {
            if let Some((metric, found)) = find(name)
                && self.total(metric, control)? > 0.0
            {
                let reason = (!found.unit.is_time())
                    .then(|| format!("No time was measured; {} is shown.", found.name));
                return Ok(DefaultMetric { metric, reason });
            }
        }
        if let Some((metric, found)) = find("gpuop")
            && self.total(metric, control)? > 0.0
        {
            let reason = format!("No CPU time was measured; {} is the time on GPUs.", found.name);
            return Ok(DefaultMetric { metric, reason: Some(reason) });
        }
        let mut best: Option<(f64, MetricIdx, &Metric)> = None;
        let mut first: Option<(MetricIdx, &Metric)> = None;
        for (metric, described) in catalog.iter() {
            let total = self.total(metric, control)?;
            if total == 0.0 || !total.is_finite() {
                continue;
            }
            first = first.or(Some((metric, described)));
            if described.unit.is_time() && best.is_none_or(|(most, ..)| total > most) {
                best = Some((total, metric, described));
            }
        }
        let (metric, reason) = match (best, first) {
            (Some((_, metric, m)), _) => {
                (metric, format!("No CPU time was measured; {} is the largest time.", m.name))
            }
            (None, Some((metric, m))) => (
                metric,
                format!("No time was measured; {} is the first metric with values.", m.name),
            ),
            (None, None) => {
                return Err(EngineError::Missing {
                    what: "no metric of this experiment has a value".into(),
                    hint: "the measured program may have ended before the first sample".into(),
                });
            }
        };
        Ok(DefaultMetric { metric, reason: Some(reason) })
    }

    /// What contexts cost by a metric.
    ///
    /// # Errors
    /// When the values cannot be read, or the question is withdrawn.
    pub fn costs(
        &self,
        metric: MetricIdx,
        locations: &LocationChoice,
        control: &Control,
    ) -> Result<Costs, EngineError> {
        let described = self.experiment().metrics.get(metric);
        let inclusive = self.column(metric, &Scope::Inclusive, locations, control)?;
        let exclusive = self.column(metric, &Scope::Exclusive, locations, control)?;
        let lexical_aware = self.column(metric, &Scope::LexicalAware, locations, control)?;
        let total = scopes::total(self.tree(), &inclusive);
        Ok(Costs {
            name: described.name.to_string(),
            unit: described.unit.clone(),
            inclusive,
            exclusive,
            lexical_aware,
            total,
        })
    }

    /// What contexts cost in the traces: for each the time, in seconds, during which it was the
    /// active one, cut exactly at `window` and added up over the chosen locations.
    /// Time when a thread did not run is not counted, nor is time after its last sample.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn trace_costs(
        &self,
        locations: &LocationChoice,
        window: TimeWindow,
        control: &Control,
    ) -> Result<Costs, EngineError> {
        let tree = self.tree();
        let mut nanos = self.context_sums(locations, window, control)?.nanos;
        // At the root nothing ran.
        if let Some(idle) = nanos.first_mut() {
            *idle = 0;
        }
        let point: Vec<f64> = nanos.iter().map(|&n| n as f64 / 1e9).collect();
        let inclusive = scopes::inclusive(tree, &point);
        let exclusive = scopes::exclusive(tree, &point);
        let lexical_aware = scopes::lexical_aware(tree, &exclusive);
        let total = inclusive.first().copied().unwrap_or(0.0);
        Ok(Costs {
            name: "trace time".into(),
            unit: Unit::Seconds,
            inclusive: Arc::new(inclusive),
            exclusive: Arc::new(exclusive),
            lexical_aware: Arc::new(lexical_aware),
            total,
        })
    }

    /// The samples of the experiment.
    ///
    /// # Errors
    /// When it has none.
    pub fn traces(&self) -> Result<&dyn TraceStore, EngineError> {
        self.experiment().traces.as_deref().ok_or_else(|| EngineError::Missing {
            what: "this experiment has no traces".into(),
            hint: "measure with traces (hpcrun -t) to see time".into(),
        })
    }

    /// The tracks of the chosen locations, in the order of the store.
    #[must_use]
    pub fn chosen_tracks(
        &self,
        store: &dyn TraceStore,
        locations: &LocationChoice,
    ) -> Vec<TrackIdx> {
        let tracks = store.track_ids().zip(store.tracks());
        match locations {
            LocationChoice::All => store.track_ids().collect(),
            LocationChoice::Some(list) => tracks
                .filter(|(_, track)| list.binary_search(&track.location).is_ok())
                .map(|(track, _)| track)
                .collect(),
        }
    }
}

impl Costs {
    /// Share of the whole execution that a cost is, in per cent; 0 where nothing was measured.
    #[must_use]
    pub fn percent(&self, cost: f64) -> f64 {
        if self.total == 0.0 { 0.0 } else { cost / self.total * 100.0 }
    }

    /// The inclusive cost of a context.
    #[must_use]
    pub fn inclusive_of(&self, context: ContextIdx) -> f64 {
        self.inclusive[context.idx()]
    }
}
