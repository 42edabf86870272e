//! What TAU measured as metrics.
//!
//! | TAU | metrics | scopes |
//! |---|---|---|
//! | a metric such as `TIME` | `TIME` | inclusive and exclusive as TAU stores them |
//! | calls, subroutines | `CALLS`, `SUBROUTINES` | exclusive; inclusive adds what is below |
//! | samples | `SAMPLES` | both, of the contexts that samples were taken in |
//! | a user event | five: `NAME count`, `max`, `min`, `mean`, `sumsqr` | exclusive at the contexts that it happened in; inclusive at the root what happened anywhere ([`UserEvent`]) |
//!
//! The summary adds up what was measured, and takes the extremes of user events; counts are added
//! up on demand, so that a table of totals does not mix seconds with millions of calls.
//!
//! What samples took of `TIME` is a part of what their timer took itself, and lies below it.

use std::collections::HashMap;
use std::sync::Arc;

use parallax_base::{Issues, MetricIdx, Place, Severity, Stage, Unit};
use parallax_model::{
    Combine, Formula, Metric, MetricCatalog, MetricInstance, Scope, Statistic, UserEvent,
};

use super::Group;
use super::tree::Tree;

/// A metric by its number: ids of its values are twice that for inclusive and one more for
/// exclusive, and the same in the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id(u16);

impl Id {
    pub(super) const fn inclusive(self) -> u16 {
        self.0 * 2
    }

    pub(super) const fn exclusive(self) -> u16 {
        self.0 * 2 + 1
    }

    /// Its place in the catalog.
    fn metric(self) -> MetricIdx {
        MetricIdx::new(u32::from(self.0))
    }
}

/// The five metrics of a user event.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventIds {
    pub(super) count: Id,
    pub(super) max: Id,
    pub(super) min: Id,
    pub(super) mean: Id,
    pub(super) sum_of_squares: Id,
}

/// A metric of the profiles.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) id: Id,
    /// What turns TAU's unit into ours.
    pub(super) scale: f64,
}

/// The metrics of an experiment, and which profile's metric is which.
pub(super) struct Catalog {
    pub(super) metrics: MetricCatalog,
    /// By group and metric of its profiles.
    pub(super) measured: Vec<Vec<Measured>>,
    pub(super) calls: Id,
    pub(super) subroutines: Id,
    pub(super) samples: Option<Id>,
    events: HashMap<Arc<str>, EventIds>,
    /// How values of locations become one in the summary, by id.
    pub(super) combine: Vec<Option<Combine>>,
}

/// Metrics at most: ids have 16 bits.
const MOST: usize = u16::MAX as usize / 2;

/// Metrics of timers at most: calls, samples and user events have the others.
const MOST_MEASURED: usize = MOST / 2 - 8;

impl Catalog {
    pub(super) fn of(groups: &[Group], tree: &Tree, issues: &mut Issues) -> Self {
        let mut list = List::default();
        let mut known: HashMap<&str, Measured> = HashMap::new();
        let mut measured = Vec::new();
        let mut unnumbered = 0_usize;
        for group in groups {
            let mut of_group = Vec::new();
            for name in &group.profiles.metrics {
                let (unit, scale) = unit(name);
                // Half of the numbers, so that those of user events have some, too. Metrics
                // that come first in a profile come first here: the others have no place in it.
                if list.metrics.len() >= MOST_MEASURED && !known.contains_key(&**name) {
                    unnumbered += 1;
                    break;
                }
                let found = *known.entry(name).or_insert_with(|| Measured {
                    id: list.add(name, unit, "", true, Some(Combine::Sum)),
                    scale,
                });
                of_group.push(found);
            }
            measured.push(of_group);
        }
        if unnumbered > 0 {
            let lost: usize = groups
                .iter()
                .zip(&measured)
                .map(|(group, measured)| group.profiles.metrics.len() - measured.len())
                .sum();
            issues.report(Severity::Error, Stage::Import, "metrics-lost", Place::Whole, || {
                format!("there are more than {MOST_MEASURED} metrics; {lost} are omitted")
            });
        }
        let count =
            |list: &mut List, name: &str, what: &str| list.add(name, Unit::Count, what, true, None);
        let calls = count(&mut list, "CALLS", "number of calls");
        let text = "number of timers started inside";
        let subroutines = count(&mut list, "SUBROUTINES", text);
        let samples = tree.has_samples.then(|| count(&mut list, "SAMPLES", "number of samples"));
        let mut events: HashMap<Arc<str>, EventIds> = HashMap::new();
        let (mut user_events, mut lost) = (Vec::new(), 0_usize);
        for (name, _) in tree.placements.iter().flat_map(|placement| &placement.events) {
            if events.contains_key(name) {
                continue;
            }
            if list.metrics.len() + 5 > MOST {
                lost += 1;
                continue;
            }
            let ids = list.add_event(name);
            user_events.push(UserEvent {
                name: Arc::clone(name),
                count: ids.count.metric(),
                max: ids.max.metric(),
                min: ids.min.metric(),
                mean: ids.mean.metric(),
                sum_of_squares: ids.sum_of_squares.metric(),
            });
            events.insert(Arc::clone(name), ids);
        }
        if lost > 0 {
            issues.report(Severity::Error, Stage::Import, "events-lost", Place::Whole, || {
                format!("there are too many user events; {lost} are omitted")
            });
        }
        let List { metrics, combine } = list;
        let metrics = MetricCatalog::new(metrics).with_user_events(user_events);
        Self { metrics, measured, calls, subroutines, samples, events, combine }
    }

    pub(super) fn event(&self, name: &str) -> Option<EventIds> {
        self.events.get(name).copied()
    }
}

/// Our unit of a metric, and the factor from TAU's: times are in microseconds. ParaProf's rule:
/// what is called time is time, unless it is a ratio.
fn unit(name: &str) -> (Unit, f64) {
    let upper = name.to_ascii_uppercase();
    let is_ratio = upper.contains('/') || upper.contains('*');
    let is_time = upper.contains("TIME") || upper.starts_with("PAPI_VIRTUAL_USEC");
    if is_time && !is_ratio {
        return (Unit::Seconds, 1e-6);
    }
    let is_cycles = upper.contains("CYC") && !is_ratio;
    (if is_cycles { Unit::Cycles } else { Unit::Count }, 1.0)
}

#[derive(Default)]
struct List {
    metrics: Vec<Metric>,
    combine: Vec<Option<Combine>>,
}

impl List {
    fn add(
        &mut self,
        name: &str,
        unit: Unit,
        description: &str,
        is_visible: bool,
        combine: Option<Combine>,
    ) -> Id {
        // The caller keeps the number within 16 bits; files have a handful of metrics.
        let id = Id(u16::try_from(self.metrics.len().min(MOST - 1)).unwrap_or(0));
        let scopes = [(Scope::Inclusive, id.inclusive()), (Scope::Exclusive, id.exclusive())];
        let statistic = |(scope, id): &(Scope, u16), combine| Statistic {
            scope: scope.clone(),
            formula: Formula::Value,
            combine,
            id: *id,
        };
        self.metrics.push(Metric {
            name: name.into(),
            source_name: name.into(),
            unit,
            description: description.into(),
            is_visible,
            instances: scopes
                .iter()
                .map(|(scope, id)| MetricInstance { scope: scope.clone(), id: *id })
                .collect(),
            statistics: combine.map_or_else(Vec::new, |combine| {
                scopes.iter().map(|scope| statistic(scope, combine)).collect()
            }),
        });
        self.combine.extend([combine, combine]);
        id
    }

    fn add_event(&mut self, name: &str) -> EventIds {
        let lower = name.to_ascii_lowercase();
        let (_, stated) = Metric::split_name(name);
        let is_bytes = lower.contains("message size") || lower.contains("bytes");
        let unit = if is_bytes { Unit::Bytes } else { stated };
        let square = match &unit {
            Unit::Count => Unit::Count,
            other => Unit::Other(format!("{other}²")),
        };
        let mut one = |what: &str, unit: Unit, text: &str, combine| {
            self.add(&format!("{name} {what}"), unit, text, what == "count", combine)
        };
        EventIds {
            count: one("count", Unit::Count, "number of occurrences", None),
            max: one("max", unit.clone(), "largest value", Some(Combine::Max)),
            min: one("min", unit.clone(), "smallest value", Some(Combine::Min)),
            mean: one("mean", unit, "mean value of each location", None),
            sum_of_squares: one("sumsqr", square, "sum of the squares", None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_and_counters_are_not() {
        for (name, expected, scale) in [
            ("TIME", Unit::Seconds, 1e-6),
            ("LINUX_TIMERS", Unit::Seconds, 1e-6),
            ("P_WALL_CLOCK_TIME", Unit::Seconds, 1e-6),
            ("PAPI_TOT_CYC", Unit::Cycles, 1.0),
            ("PAPI_FP_OPS", Unit::Count, 1.0),
            ("(PAPI_FP_OPS / TIME)", Unit::Count, 1.0),
        ] {
            assert_eq!(unit(name), (expected, scale), "{name}");
        }
    }
}
