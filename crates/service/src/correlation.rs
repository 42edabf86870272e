//! Correlations over locations: the answer of `correlate`.

use parallax_analysis::comparison::{
    Execution, MOST_LOCATION_CELLS, Matching, Version, location_costs,
};
use parallax_analysis::correlation::{
    ColumnKind, CorrelatedPair, CorrelationOrder as Order, Correlations, LocationColumn, correlate,
};
use parallax_base::{Control, LocationIdx};
use parallax_engine::query::{NameMatch, QueryError, near_names, parse_metrics};
use parallax_engine::resolve::resolve_metrics;
use parallax_model::Scope;
use parallax_protocol::{
    Answer, CorrelatedPairRow, CorrelationBy, CorrelationOrder, CorrelationPointRow,
    CorrelationPointsReply, CorrelationPointsRequest, CorrelationPointsTables, CorrelationsReply,
    CorrelationsRequest, CorrelationsTables,
};

use crate::options::{Computed, program_locations};
use crate::{Answer as Noted, Answers, OpenExperiment, ServiceError};

/// What is correlated: columns over the same locations.
struct Gathered {
    columns: Vec<LocationColumn>,
    /// Unit symbol of each column.
    units: Vec<String>,
    /// Location of each number of a column.
    ids: Vec<u32>,
    notes: Vec<String>,
}

/// Contexts of a metric at most: pairs grow with their square.
const MAX_CONTEXTS: usize = 200;

impl OpenExperiment {
    /// The strongest pairs, of at most `most_cells` numbers, two for each context and location;
    /// `None` for [`MOST_LOCATION_CELLS`].
    ///
    /// # Errors
    /// When an expression is wrong, a name of `with` is no column, or values cannot be read.
    pub fn correlate(
        &self,
        request: &CorrelationsRequest,
        most_cells: Option<usize>,
        control: &Control,
    ) -> Result<Noted<Correlations>, ServiceError> {
        let Gathered { columns, mut notes, .. } =
            self.location_columns(request, most_cells, control)?;
        let is_wanted = wanted(&request.with, &columns)?;
        let order = match request.order {
            CorrelationOrder::Significance => Order::Significance,
            CorrelationOrder::Pearson => Order::Pearson,
            CorrelationOrder::Spearman => Order::Spearman,
        };
        let found = correlate(columns, is_wanted, order, request.top as usize, control)?;
        if found.num_tested > 0 {
            notes.push(format!(
                "{} pairs tested; p values are adjusted for all of them.",
                found.num_tested
            ));
        }
        Ok(Noted { value: found, notes })
    }
}

impl Answers<CorrelationsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &CorrelationsRequest,
        control: &Control,
    ) -> Result<Answer<CorrelationsRequest>, ServiceError> {
        let Noted { value: found, notes } = self.correlate(request, None, control)?;
        let name = |at: usize| found.columns.get(at).map(LocationColumn::name).unwrap_or_default();
        let row = |pair: &CorrelatedPair| CorrelatedPairRow {
            first: name(pair.a),
            second: name(pair.b),
            locations: pair.pearson.count as u64,
            pearson: pair.pearson.coefficient,
            pearson_p: pair.pearson_adjusted,
            spearman: pair.spearman.coefficient,
            spearman_p: pair.spearman_adjusted,
        };
        let pairs = found.pairs.iter().map(row).collect();
        let reply = CorrelationsReply { tested: found.num_tested as u64, notes };
        Ok(Answer::new(reply, CorrelationsTables { pairs }))
    }
}

impl Answers<CorrelationPointsRequest> for OpenExperiment {
    fn answer(
        &self,
        request: &CorrelationPointsRequest,
        control: &Control,
    ) -> Result<Answer<CorrelationPointsRequest>, ServiceError> {
        let gathered = self.location_columns(&request.of, None, control)?;
        let column = |name: &str| {
            let columns = gathered.columns.iter().zip(&gathered.units);
            columns.clone().find(|(column, _)| column.name() == name).ok_or_else(|| {
                let known: Vec<String> =
                    gathered.columns.iter().map(LocationColumn::name).collect();
                let near = near_names(name, known.iter().map(String::as_str), 3).join(" or ");
                QueryError::unknown_name(name, name, format!("no column is called {name}"))
                    .with_hint(format!("did you mean {near}?"))
            })
        };
        let ((x, first_unit), (y, second_unit)) =
            (column(&request.first)?, column(&request.second)?);
        let catalog = &self.session.experiment().locations;
        let both = gathered.ids.iter().zip(x.values.iter().zip(&y.values));
        let points = both
            .filter(|(_, (x, y))| x.is_finite() && y.is_finite())
            .map(|(&id, (&first, &second))| CorrelationPointRow {
                location: id,
                label: catalog.label(LocationIdx::new(id)),
                first,
                second,
            })
            .collect();
        let reply = CorrelationPointsReply {
            first_unit: first_unit.clone(),
            second_unit: second_unit.clone(),
        };
        Ok(Answer::new(reply, CorrelationPointsTables { points }))
    }
}

impl OpenExperiment {
    /// The columns that `request` is about.
    fn location_columns(
        &self,
        request: &CorrelationsRequest,
        most_cells: Option<usize>,
        control: &Control,
    ) -> Result<Gathered, ServiceError> {
        self.needs_whole_trace()?;
        let session = &self.session;
        let catalog = &session.experiment().metrics;
        let mut notes = Vec::new();
        let (profiles, helpers) = (request.profiles.as_deref(), request.helpers);
        let places = program_locations(self, profiles, helpers, &mut notes, control)?;
        let mut measures = Vec::new();
        for text in &request.metrics {
            if let Some(computed) = Computed::of(catalog, text) {
                let formula = computed.resolve(catalog)?;
                let metrics = formula.metrics.clone();
                let measure = session.derived(formula, &places, control)?;
                measures.push((computed.named(measure), metrics));
                continue;
            }
            let found = resolve_metrics(catalog, &parse_metrics(text)?)?;
            notes.extend(found.notes);
            for metric in found.metrics {
                // What is stored for functions only in sum has no value at a location.
                if catalog.get(metric).id_in(&Scope::Inclusive).is_some() {
                    measures.push((session.costs(metric, &places, control)?.into(), vec![metric]));
                }
            }
        }
        if request.metrics.is_empty() {
            let default = session.default_metric(control)?;
            notes.extend(default.reason);
            let costs = session.costs(default.metric, &places, control)?;
            measures.push((costs.into(), vec![default.metric]));
        }
        let matching = match request.by {
            CorrelationBy::Context => Matching::CallPath,
            CorrelationBy::Function => Matching::Function,
        };
        let mut all: Vec<(Vec<u32>, ColumnKind, String, Vec<f64>)> = Vec::new();
        for (measure, metrics) in measures {
            let metric = measure.name.clone();
            let unit = measure.unit.to_string();
            let execution = Execution {
                session,
                measure,
                metrics,
                locations: places.clone(),
                scale: 1.0,
                watched: Vec::new(),
            };
            let version = Version { name: String::new(), executions: vec![execution] };
            let most = most_cells.unwrap_or(MOST_LOCATION_CELLS);
            let costs = location_costs(&version, matching, request.min_percent, most, control)?;
            let ids: Vec<u32> = costs.member_ids.iter().map(|id| id.get()).collect();
            let whole = ColumnKind::Whole { metric: metric.clone() };
            all.push((ids.clone(), whole, unit.clone(), costs.whole));
            let kept = costs.rows.len().min(MAX_CONTEXTS);
            let more = costs.rows.len() - kept + costs.left_out;
            if more > 0 {
                let (what, why) = match (request.by == CorrelationBy::Context, costs.left_out) {
                    (true, 0) => ("contexts", "the number of pairs grows with the square"),
                    (false, 0) => ("functions", "the number of pairs grows with the square"),
                    (true, _) => ("contexts", "more would not fit in memory"),
                    (false, _) => ("functions", "more would not fit in memory"),
                };
                notes.push(format!(
                    "{metric}: of {} {what} with {} % or more, the {kept} largest are tested and \
                     {more} are omitted; {why}.",
                    kept + more,
                    request.min_percent
                ));
            }
            for (context, values) in costs.rows.into_iter().take(MAX_CONTEXTS) {
                let kind = ColumnKind::Cost { metric: metric.clone(), context };
                all.push((ids.clone(), kind, unit.clone(), values));
            }
        }
        let mut gathered = self.aligned(all);
        let num_members = gathered.ids.len();
        if num_members < 3 {
            notes.push(format!("{num_members} locations; a correlation needs three or more."));
        }
        gathered.notes = notes;
        Ok(gathered)
    }

    /// Columns over the same locations, with those of identity that vary.
    fn aligned(&self, all: Vec<(Vec<u32>, ColumnKind, String, Vec<f64>)>) -> Gathered {
        let catalog = &self.session.experiment().locations;
        let mut ids: Vec<u32> = all.iter().flat_map(|(ids, ..)| ids.iter().copied()).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut columns: Vec<LocationColumn> = Vec::new();
        let mut units: Vec<String> = Vec::new();
        for kind in catalog.kinds() {
            let values: Vec<f64> = ids
                .iter()
                .map(|&id| {
                    let number = catalog.identity(LocationIdx::new(id), kind);
                    number.map_or(f64::NAN, |number| number as f64)
                })
                .collect();
            let first = values.iter().find(|value| value.is_finite());
            if values.iter().any(|value| value.is_finite() && Some(value) != first) {
                let field = kind.name().to_owned();
                columns.push(LocationColumn { kind: ColumnKind::Identity { field }, values });
                units.push(String::new());
            }
        }
        for (own, kind, unit, values) in all {
            let aligned = ids
                .iter()
                .map(|id| {
                    let at = own.binary_search(id).ok();
                    at.and_then(|at| values.get(at)).copied().unwrap_or(f64::NAN)
                })
                .collect();
            columns.push(LocationColumn { kind, values: aligned });
            units.push(unit);
        }
        Gathered { columns, units, ids, notes: Vec::new() }
    }
}

/// Which columns people named.
fn wanted(
    names: &[String],
    columns: &[LocationColumn],
) -> Result<impl Fn(&LocationColumn) -> bool + use<>, ServiceError> {
    let patterns: Vec<NameMatch> = names.iter().map(|name| NameMatch::from_bare(name)).collect();
    let matches = |pattern: &NameMatch, column: &LocationColumn| match &column.kind {
        ColumnKind::Whole { metric } => pattern.matches(metric),
        ColumnKind::Identity { field } => pattern.matches(field),
        ColumnKind::Cost { context, .. } => {
            let last = context.rsplit(" > ").next().unwrap_or(context);
            pattern.matches(context) || pattern.matches(last)
        }
    };
    for (name, pattern) in names.iter().zip(&patterns) {
        if !columns.iter().any(|column| matches(pattern, column)) {
            let known = columns.iter().map(|column| match &column.kind {
                ColumnKind::Whole { metric } => metric.as_str(),
                ColumnKind::Identity { field } => field.as_str(),
                ColumnKind::Cost { context, .. } => context.as_str(),
            });
            let known: Vec<&str> = known.collect();
            let near = near_names(name, known.iter().copied(), 3);
            let hint = if near.is_empty() {
                "name a metric, a kind of identity such as rank, or a function".to_owned()
            } else {
                format!("did you mean {}?", near.join(" or "))
            };
            let message = format!("no column is called {name}");
            return Err(QueryError::unknown_name(name, name, message).with_hint(hint).into());
        }
    }
    let patterns = patterns.clone();
    Ok(move |column: &LocationColumn| {
        patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, column))
    })
}
