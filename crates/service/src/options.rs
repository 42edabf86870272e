//! What several questions share: what counts as cost, where, and what is left out.

use parallax_base::{Control, LocationIdx, TimeWindow, Unit};
use parallax_engine::query::{
    MAX_LENGTH, NameMatch, QueryError, is_formula, parse_formula, parse_metrics, parse_profiles,
    parse_window,
};
use parallax_engine::resolve::{
    ResolvedFormula, resolve_formula, resolve_metric, resolve_profiles,
};
use parallax_engine::{
    EngineError, FilterMode, LocationChoice, Measure, PruneRules, Session, TreeView,
};

use parallax_model::{DerivedMetric, IdentityKind, LocationCatalog, MetricCatalog};
use parallax_protocol::{Column, CostChoice, CostsChoice, Family, PruneChoice, TracePart};

use crate::{OpenExperiment, ServiceError};

/// Costs, and what the user should know about how they were chosen.
pub(crate) struct Chosen {
    pub(crate) measure: Measure,
    pub(crate) locations: LocationChoice,
    /// What is excluded because it ran on helper threads, in words.
    pub(crate) helpers: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) notes: Vec<String>,
}

pub(crate) fn locations(
    session: &Session,
    expression: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<LocationChoice, ServiceError> {
    let Some(text) = expression else { return Ok(LocationChoice::All) };
    let catalog = &session.experiment().locations;
    let set = resolve_profiles(catalog, &parse_profiles(text)?);
    notes.extend(set.notes.iter().cloned());
    if set.rows.is_empty() {
        return Ok(LocationChoice::Some(Vec::new()));
    }
    Ok(set.locations(catalog))
}

/// The locations that an expression names, without helper threads unless they are `included`;
/// a note says how many these are.
pub(crate) fn program_locations(
    opened: &OpenExperiment,
    expression: Option<&str>,
    included: bool,
    notes: &mut Vec<String>,
    control: &Control,
) -> Result<LocationChoice, ServiceError> {
    let chosen = locations(opened.session(), expression, notes)?;
    if included {
        return Ok(chosen);
    }
    let roles = opened.roles(control)?;
    let Some(rest) = roles.without(opened.session(), &chosen) else { return Ok(chosen) };
    let all = match &chosen {
        LocationChoice::All => opened.session().experiment().locations.len(),
        LocationChoice::Some(list) => list.len(),
    };
    let excluded = all - rest.len();
    let locations = if excluded == 1 { "location" } else { "locations" };
    notes.push(format!("{NO_HELPERS}: {excluded} {locations} ({}).", roles.kinds()));
    Ok(LocationChoice::Some(rest))
}

/// What is computed from metrics: a formula, or a derived metric of the experiment by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Computed<'a> {
    /// The formula.
    text: &'a str,
    /// The derived metric that has it.
    metric: Option<&'a DerivedMetric>,
}

impl<'a> Computed<'a> {
    /// What a metric expression means, where it means something computed.
    pub(crate) fn of(catalog: &'a MetricCatalog, text: &'a str) -> Option<Self> {
        if is_formula(text) {
            return Some(Self { text, metric: None });
        }
        let metric = catalog.derived_named(text)?;
        Some(Self { text: &metric.formula, metric: Some(metric) })
    }

    /// The formula with the metrics that it names.
    pub(crate) fn resolve(&self, catalog: &MetricCatalog) -> Result<ResolvedFormula, QueryError> {
        resolve_formula(catalog, parse_formula(self.text)?, self.text)
    }

    /// Display name.
    pub(crate) fn name(&self, formula: &ResolvedFormula) -> String {
        self.metric.map_or_else(|| formula.formula.to_string(), |metric| metric.name.to_string())
    }

    /// The unit of the result.
    pub(crate) fn unit(&self, formula: &ResolvedFormula, catalog: &MetricCatalog) -> Unit {
        let own = self.metric.and_then(|metric| metric.unit.clone());
        own.unwrap_or_else(|| formula.unit(catalog))
    }

    /// The same costs under the name and in the unit of the derived metric.
    pub(crate) fn named(&self, mut measure: Measure) -> Measure {
        if let Some(metric) = self.metric {
            measure.name = metric.name.to_string();
            measure.unit = metric.unit.clone().unwrap_or(measure.unit);
        }
        measure
    }
}

/// What is said where helper threads are excluded.
pub(crate) const NO_HELPERS: &str =
    "Helper threads of MPI, drivers or the measurement tool are excluded";

impl Chosen {
    /// The same without what ran on helper threads, and what that was.
    fn without_helpers(self, opened: &OpenExperiment) -> Self {
        let (tree, helpers) = (opened.session().tree(), opened.helpers());
        let Some(first) = self.measure.operands().iter().find(|costs| helpers.cost(costs) > 0.0)
        else {
            return self;
        };
        let share = helpers.cost(first) / first.total * 100.0;
        let names = helpers.names(tree, first, 2).join(" and ");
        let said = format!("{NO_HELPERS}: {share:.1} % of {}, below {names}.", first.name);
        let before = self.measure.total;
        let measure = self.measure.with_costs(|costs| helpers.excluded(tree, costs));
        let is_other = measure.total.to_bits() != before.to_bits();
        Self { measure, helpers: is_other.then_some(said), ..self }
    }
}

/// One column for each kind of identity that the catalog has, with those of `rows`.
pub(crate) fn identities(catalog: &LocationCatalog, rows: &[LocationIdx]) -> Family {
    let column = |kind: IdentityKind| {
        let ids = rows.iter().map(|&location| catalog.identity(location, kind));
        let doc = "Part of the identity of the location; null where it has none.";
        Column::optional_u64s(kind.name(), "", doc, ids)
    };
    catalog.kinds().map(column).collect()
}

/// The window in nanoseconds of the traces' clock.
pub(crate) fn window(
    session: &Session,
    expression: Option<&str>,
) -> Result<TimeWindow, ServiceError> {
    let Some(text) = expression else { return Ok(TimeWindow::ALL) };
    let span = session.traces()?.span();
    let (start, last) = parse_window(text)?.resolve(span.start_nanos, span.end_nanos);
    if last < start {
        let error = QueryError::unknown_name(text, text, "the window ends before it begins");
        return Err(error.into());
    }
    Ok(TimeWindow::new(start, last.saturating_add(1)))
}

/// The time range that a request is about: the window as typed and the limits in nanoseconds, where
/// both are given what they have in common.
pub(crate) fn stretch(session: &Session, part: &TracePart) -> Result<TimeWindow, ServiceError> {
    let typed = window(session, part.window.as_deref())?;
    if part.from_ns.is_none() && part.to_ns.is_none() {
        return Ok(typed);
    }
    if part.to_ns.is_some_and(|to| to <= part.from_ns.unwrap_or(0)) {
        let error = QueryError::unknown_name("", "", "the time window is empty");
        return Err(error.with_hint("choose a window that ends after it begins").into());
    }
    let span = session.traces()?.span();
    let at = |nanos: u64| span.start_nanos.saturating_add(nanos);
    let end = part.to_ns.map_or(span.end_nanos.saturating_add(1), at);
    Ok(typed.intersect(TimeWindow::new(at(part.from_ns.unwrap_or(0)), end)))
}

/// A choice of costs, read.
pub(crate) trait Resolve {
    type Chosen;

    fn resolve(
        &self,
        opened: &OpenExperiment,
        control: &Control,
    ) -> Result<Self::Chosen, ServiceError>;
}

impl Resolve for CostChoice {
    type Chosen = Chosen;

    fn resolve(&self, opened: &OpenExperiment, control: &Control) -> Result<Chosen, ServiceError> {
        let chosen = self.with_helpers(opened.session(), control)?;
        Ok(if self.helpers { chosen } else { chosen.without_helpers(opened) })
    }
}

/// What the choice of one cost is before helper threads are excluded.
trait WithHelpers {
    fn with_helpers(&self, session: &Session, control: &Control) -> Result<Chosen, ServiceError>;
}

impl WithHelpers for CostChoice {
    fn with_helpers(&self, session: &Session, control: &Control) -> Result<Chosen, ServiceError> {
        let mut notes = Vec::new();
        let helpers = None;
        let locations = locations(session, self.profiles.as_deref(), &mut notes)?;
        if self.is_trace || self.window.is_some() {
            let window = window(session, self.window.as_deref())?;
            let measure = session.trace_costs(&locations, window, control)?.into();
            return Ok(Chosen { measure, locations, helpers, reason: None, notes });
        }
        let catalog = &session.experiment().metrics;
        if let Some(found) = self.metric.as_deref().and_then(|text| Computed::of(catalog, text)) {
            let formula = found.resolve(catalog)?;
            let measure = found.named(session.derived(formula, &locations, control)?);
            return Ok(Chosen { measure, locations, helpers, reason: None, notes });
        }
        let (metric, reason) = match &self.metric {
            Some(text) => {
                (resolve_metric(&session.experiment().metrics, &parse_metrics(text)?)?, None)
            }
            None => match session.default_metric(control) {
                Ok(default) => (default.metric, default.reason),
                // An execution that was traced but not sampled by metrics still took time.
                Err(EngineError::Missing { .. }) if session.experiment().traces.is_some() => {
                    let costs = session.trace_costs(&locations, TimeWindow::ALL, control)?;
                    let reason = Some("No metric has values; time in the traces is used.".into());
                    return Ok(Chosen { measure: costs.into(), locations, helpers, reason, notes });
                }
                Err(error) => return Err(error.into()),
            },
        };
        let measure = session.costs(metric, &locations, control)?.into();
        Ok(Chosen { measure, locations, helpers, reason, notes })
    }
}

impl Resolve for CostsChoice {
    /// The costs of each metric, or the one time of the traces.
    type Chosen = Vec<Chosen>;

    fn resolve(
        &self,
        opened: &OpenExperiment,
        control: &Control,
    ) -> Result<Vec<Chosen>, ServiceError> {
        let cost = |metric| CostChoice {
            metric,
            profiles: self.profiles.clone(),
            is_trace: self.is_trace,
            window: self.window.clone(),
            helpers: self.helpers,
        };
        if self.metrics.is_empty() || self.is_trace || self.window.is_some() {
            return Ok(vec![cost(None).resolve(opened, control)?]);
        }
        let each = self.metrics.iter().map(|metric| cost(Some(metric.clone())));
        each.map(|cost| cost.resolve(opened, control)).collect()
    }
}

/// What is left out, read.
pub(crate) trait Prune {
    fn rules(&self) -> Result<PruneRules, ServiceError>;

    /// The tree without what is left out. What is low cost is decided on `measure`; of a formula,
    /// on the first metric that it names, because shares of a ratio mean nothing.
    fn view(&self, session: &Session, measure: &Measure) -> Result<TreeView, ServiceError>;
}

impl Prune for PruneChoice {
    fn rules(&self) -> Result<PruneRules, ServiceError> {
        let mut names = Vec::new();
        let lists = [
            (&self.hide, FilterMode::SelfOnly),
            (&self.fold, FilterMode::DescendantsOnly),
            (&self.cut, FilterMode::SelfAndDescendants),
        ];
        for (list, mode) in lists {
            for glob in list {
                if glob.len() > MAX_LENGTH {
                    let message = "the name pattern is too long";
                    return Err(QueryError::unknown_name(glob, glob, message).into());
                }
                names.push((NameMatch::from_bare(glob), mode));
            }
        }
        Ok(PruneRules {
            mpi_internals: self.mpi,
            openmp_internals: self.openmp,
            lines_and_loops: self.lines,
            below_percent: self.below_percent,
            names,
        })
    }

    fn view(&self, session: &Session, measure: &Measure) -> Result<TreeView, ServiceError> {
        Ok(self.rules()?.apply(session.tree(), measure.operands().first()))
    }
}
