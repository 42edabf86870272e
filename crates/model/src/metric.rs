//! [`MetricCatalog`]: what was measured, in which scopes, with which statistics.

use std::sync::Arc;

use parallax_base::{MetricIdx, Unit};

/// To which context a measured value is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// At the context and everything below it ("execution").
    Inclusive,
    /// At the context and its own code below it, down to the next call ("function").
    Exclusive,
    /// At the context alone.
    Point,
    /// Like [`Scope::Exclusive`], with the cost of nested loops left to them ("lex_aware").
    LexicalAware,
    /// A scope this program does not know, by the source's name.
    Other(Arc<str>),
}

impl Scope {
    /// The source's name: `execution`, `function`, `point`, `lex_aware`.
    #[must_use]
    pub fn source_name(&self) -> &str {
        match self {
            Self::Inclusive => "execution",
            Self::Exclusive => "function",
            Self::Point => "point",
            Self::LexicalAware => "lex_aware",
            Self::Other(name) => name,
        }
    }

    /// The scope of a source's name.
    #[must_use]
    pub fn from_source_name(name: &str) -> Self {
        match name {
            "execution" => Self::Inclusive,
            "function" => Self::Exclusive,
            "point" => Self::Point,
            "lex_aware" => Self::LexicalAware,
            other => Self::Other(other.into()),
        }
    }

    /// The letter that query expressions use: `i`, `e`, `p`, `c`.
    #[must_use]
    pub const fn letter(&self) -> Option<char> {
        match self {
            Self::Inclusive => Some('i'),
            Self::Exclusive => Some('e'),
            Self::Point => Some('p'),
            Self::LexicalAware => Some('c'),
            Self::Other(_) => None,
        }
    }
}

/// A metric in one scope, as locations' profiles store it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricInstance {
    /// The scope.
    pub scope: Scope,
    /// Metric id of its values in profiles of locations.
    pub id: u16,
}

/// What a statistic takes from each location's value x.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Formula {
    /// x itself.
    Value,
    /// 1: locations that have a value are counted.
    One,
    /// x².
    Square,
    /// Something else, in the source's words.
    Other(Arc<str>),
}

/// How what a statistic takes from each location becomes one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Added.
    Sum,
    /// The smallest, over locations that have a value.
    Min,
    /// The largest.
    Max,
    /// A way this program does not know.
    Other(u8),
}

/// A statistic over all locations, as the summary profile stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statistic {
    /// The scope of the values it is over.
    pub scope: Scope,
    /// What is taken from each value.
    pub formula: Formula,
    /// How they are aggregated.
    pub combine: Combine,
    /// Metric id of its values in the summary profile. Another numbering than
    /// [`MetricInstance::id`]: the same number means different things in the two.
    pub id: u16,
}

impl Statistic {
    /// The name that query expressions use: `sum`, `min`, `max`, `count`, `sqr`.
    #[must_use]
    pub const fn name(&self) -> Option<&'static str> {
        match (&self.formula, self.combine) {
            (Formula::Value, Combine::Sum) => Some("sum"),
            (Formula::Value, Combine::Min) => Some("min"),
            (Formula::Value, Combine::Max) => Some("max"),
            (Formula::One, Combine::Sum) => Some("count"),
            (Formula::Square, Combine::Sum) => Some("sqr"),
            _ => None,
        }
    }
}

/// Something that was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Name without the unit, as the source spells it: `CPUTIME`, `GXCOPY:H2D`.
    pub name: Arc<str>,
    /// The source's name, unit included: `CPUTIME (sec)`.
    pub source_name: Arc<str>,
    /// The unit of its values.
    pub unit: Unit,
    /// What it means, in the source's words; empty when it gives none.
    pub description: Arc<str>,
    /// Whether the source wants it shown from the start.
    pub is_visible: bool,
    /// The scopes in which locations' profiles have it.
    pub instances: Vec<MetricInstance>,
    /// The statistics of it in the summary profile.
    pub statistics: Vec<Statistic>,
}

impl Metric {
    /// A metric that is called the same in its source and is shown from the start, with one id for
    /// each of `scopes` in the profiles of locations and in the summary, which holds their sums.
    #[must_use]
    pub fn summed(name: &str, unit: Unit, description: &str, scopes: &[(Scope, u16)]) -> Self {
        let instance =
            |(scope, id): &(Scope, u16)| MetricInstance { scope: scope.clone(), id: *id };
        let sum = |(scope, id): &(Scope, u16)| Statistic {
            scope: scope.clone(),
            formula: Formula::Value,
            combine: Combine::Sum,
            id: *id,
        };
        Self {
            name: name.into(),
            source_name: name.into(),
            unit,
            description: description.into(),
            is_visible: true,
            instances: scopes.iter().map(instance).collect(),
            statistics: scopes.iter().map(sum).collect(),
        }
    }

    /// Cuts a source's name such as `CPUTIME (sec)` into name and unit. A name without a unit in
    /// parentheses counts; names of cycles count cycles, and
    /// clocks of perf nanoseconds.
    #[must_use]
    pub fn split_name(source_name: &str) -> (&str, Unit) {
        let cut = source_name
            .strip_suffix(')')
            .and_then(|inner| inner.rsplit_once('('))
            .map(|(name, unit)| (name.trim_end(), unit));
        match cut {
            Some((name, unit)) if !name.is_empty() => (name, Unit::from_source(unit)),
            // Clocks of perf are events that count nanoseconds on a core.
            _ if ["task-clock", "cpu-clock"].iter().any(|clock| source_name.ends_with(clock)) => {
                (source_name, Unit::Nanos)
            }
            _ if source_name.to_ascii_lowercase().contains("cycles") => (source_name, Unit::Cycles),
            _ => (source_name, Unit::Count),
        }
    }

    /// The id of its values in `scope`.
    #[must_use]
    pub fn id_in(&self, scope: &Scope) -> Option<u16> {
        self.instances.iter().find(|i| i.scope == *scope).map(|i| i.id)
    }

    /// The id of its plain sum over all locations in `scope`.
    #[must_use]
    pub fn sum_id_in(&self, scope: &Scope) -> Option<u16> {
        let is_sum = |s: &&Statistic| s.scope == *scope && s.name() == Some("sum");
        self.statistics.iter().find(is_sum).map(|s| s.id)
    }
}

/// A user event: values that a program reports one at a time, such as sizes of messages.
///
/// Of the values at each location a source keeps how many there were, the extremes, the mean and
/// the sum of the squares, each as a metric. What happened anywhere is the inclusive value of the
/// root, and nothing else may be taken for it: means and extremes do not add up. What happened in
/// a known context is the exclusive value of that context. The root and the entries have, as
/// exclusive number and squares, what happened in no known context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserEvent {
    /// Name, as the source spells it, without a context.
    pub name: Arc<str>,
    /// How often it happened.
    pub count: MetricIdx,
    /// The largest value.
    pub max: MetricIdx,
    /// The smallest value.
    pub min: MetricIdx,
    /// The mean of the values.
    pub mean: MetricIdx,
    /// The sum of the squares of the values.
    pub sum_of_squares: MetricIdx,
}

impl UserEvent {
    /// The five metrics: number, largest, smallest, mean, sum of squares.
    #[must_use]
    pub const fn metrics(&self) -> [MetricIdx; 5] {
        [self.count, self.max, self.min, self.mean, self.sum_of_squares]
    }
}

/// A metric that the source computes from others for whom it shows them, such as an occupancy.
///
/// Its values are stored nowhere: they are computed from sums of the metrics that its formula names.
#[derive(Debug, Clone, PartialEq)]
pub struct DerivedMetric {
    /// Name without the unit, as the source spells it: `GKER:OCC_THR`.
    pub name: Arc<str>,
    /// The unit of its values; `None` where the formula tells it.
    pub unit: Option<Unit>,
    /// What it means, in the source's words; empty when it gives none.
    pub description: Arc<str>,
    /// The formula as query expressions write it, with the `=` before it.
    pub formula: Arc<str>,
}

/// All metrics of an experiment.
#[derive(Debug, Clone, Default)]
pub struct MetricCatalog {
    metrics: Vec<Metric>,
    derived: Vec<DerivedMetric>,
    user_events: Vec<UserEvent>,
    /// (id, metric, position among its instances), by id.
    by_id: Vec<(u16, u32, u32)>,
    by_statistic_id: Vec<(u16, u32, u32)>,
}

impl MetricCatalog {
    /// A catalog of `metrics`, in their order.
    #[must_use]
    pub fn new(metrics: Vec<Metric>) -> Self {
        fn index<T>(
            metrics: &[Metric],
            list: impl Fn(&Metric) -> &[T],
            id: impl Fn(&T) -> u16,
        ) -> Vec<(u16, u32, u32)> {
            let mut out: Vec<_> = (0..)
                .zip(metrics)
                .flat_map(|(m, metric)| (0..).zip(list(metric)).map(move |(i, t)| (m, i, t)))
                .map(|(m, i, t)| (id(t), m, i))
                .collect();
            out.sort_unstable();
            out
        }
        let by_id = index(&metrics, |m| &m.instances, |i| i.id);
        let by_statistic_id = index(&metrics, |m| &m.statistics, |s| s.id);
        let (derived, user_events) = (Vec::new(), Vec::new());
        Self { metrics, derived, user_events, by_id, by_statistic_id }
    }

    /// The same catalog, in which some metrics belong to user events.
    #[must_use]
    pub fn with_user_events(mut self, user_events: Vec<UserEvent>) -> Self {
        self.user_events = user_events;
        self
    }

    /// The same catalog with metrics that are computed from others.
    #[must_use]
    pub fn with_derived(mut self, derived: Vec<DerivedMetric>) -> Self {
        self.derived = derived;
        self
    }

    /// The metrics that are computed from others, in the order of the source.
    #[must_use]
    pub fn derived(&self) -> &[DerivedMetric] {
        &self.derived
    }

    /// The metric of this name that is computed from others; case does not count, and neither does
    /// blank space around. A metric that was measured wins over one that is computed.
    #[must_use]
    pub fn derived_named(&self, name: &str) -> Option<&DerivedMetric> {
        let name = name.trim();
        let is_measured = self.metrics.iter().any(|metric| metric.name.eq_ignore_ascii_case(name));
        let mut derived = self.derived.iter().filter(|_| !is_measured);
        derived.find(|metric| metric.name.eq_ignore_ascii_case(name))
    }

    /// The user events, in the order of the source.
    #[must_use]
    pub fn user_events(&self) -> &[UserEvent] {
        &self.user_events
    }

    /// Number of metrics.
    #[must_use]
    pub fn len(&self) -> usize {
        self.metrics.len()
    }

    /// Whether nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.metrics.is_empty()
    }

    /// All metrics with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (MetricIdx, &Metric)> {
        (0..).map(MetricIdx::new).zip(&self.metrics)
    }

    /// A metric.
    #[must_use]
    pub fn get(&self, metric: MetricIdx) -> &Metric {
        &self.metrics[metric.idx()]
    }

    /// The metric and scope of a metric id in the profile of a location.
    #[must_use]
    pub fn by_id(&self, id: u16) -> Option<(MetricIdx, &Metric, &MetricInstance)> {
        let at = self.by_id.binary_search_by_key(&id, |entry| entry.0).ok()?;
        let (_, metric, i) = self.by_id[at];
        let found = &self.metrics[metric as usize];
        Some((MetricIdx::new(metric), found, &found.instances[i as usize]))
    }

    /// The metric and statistic of a metric id in the summary profile.
    #[must_use]
    pub fn by_statistic_id(&self, id: u16) -> Option<(MetricIdx, &Metric, &Statistic)> {
        let at = self.by_statistic_id.binary_search_by_key(&id, |entry| entry.0).ok()?;
        let (_, metric, i) = self.by_statistic_id[at];
        let found = &self.metrics[metric as usize];
        Some((MetricIdx::new(metric), found, &found.statistics[i as usize]))
    }
}
