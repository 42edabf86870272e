//! Growth models of every region: how time grows with the parameters.

use parallax_analysis::growth::{
    Model, ModelOptions, ModelWarning, Modeler, Point, Style, falls_strictly, model,
    resource_consumption,
};
use parallax_analysis::scaling::Measure;
use parallax_base::Control;
use parallax_model::ensemble::{Ensemble, Region, metric_names};
use parallax_protocol::{
    self as protocol, CurveChoice, CurveRow, CurveTable, ModelRow, ModelSearch, ModelTable,
    ModelsReply, ModelsRequest, ModelsTables,
};
use regex::Regex;

use super::answer::display_name;
use super::error::listed;
use super::replies::measure;
use super::tables::count;
use super::{Remedy, ScalingError};
use crate::{Answer, Answers, ServiceError};

/// Which number in the labels of a parameter stands for its values: `input=-ns (\d+)`.
#[derive(Debug, Clone)]
struct NumberRule {
    parameter: String,
    /// The first group of this expression, or all it matches, is the number.
    pattern: Regex,
}

impl NumberRule {
    /// Reads a rule as people type it: `NAME=REGEX`.
    fn parse(text: &str) -> Result<Self, ScalingError> {
        let wrong = |what: String| ScalingError::Rule { text: text.to_owned(), what };
        let (name, pattern) =
            text.split_once('=').ok_or_else(|| wrong("write NAME=REGEX".to_owned()))?;
        let pattern = Regex::new(pattern)
            .map_err(|error| wrong(format!("the regular expression is wrong: {error}")))?;
        Ok(Self { parameter: name.trim().to_owned(), pattern })
    }
}

/// The model of one region, metric and group.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionModel {
    /// The region.
    pub region: Region,
    /// The metric.
    pub metric: String,
    /// Its unit; of resources that times the parameter.
    pub unit: String,
    /// Values of the parameters that distinguish models; empty when there are none.
    pub group: String,
    /// The model.
    pub model: Model,
    /// The model as text, such as `2.8 + 0.48 * p^(5/4) * log2(p)^(1)`.
    pub formula: String,
    /// Number of points it was made of.
    pub num_points: usize,
    /// Its value where it was requested.
    pub prediction: Option<f64>,
}

/// All models.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelAnswer {
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Where predictions are, one value for each parameter.
    pub predict_at: Vec<f64>,
    /// The models, in the order of the tree.
    pub models: Vec<RegionModel>,
}

/// Metrics that describe others and are not modelled unless named.
const AUXILIARY: [&str; 5] = [
    metric_names::LOCATION_MAX,
    metric_names::LOCATION_MEAN,
    metric_names::LOCATIONS,
    metric_names::IMBALANCE,
    metric_names::EFFICIENCY,
];

/// For each parameter of the ensemble the numbers of its values, where all are numbers.
fn numbers(
    ensemble: &Ensemble,
    request: &ModelsRequest,
) -> Result<Vec<Option<Vec<f64>>>, ScalingError> {
    let rules: Vec<NumberRule> =
        request.numbers.iter().map(|text| NumberRule::parse(text)).collect::<Result<_, _>>()?;
    let mut out = Vec::new();
    for parameter in ensemble.parameters() {
        let pattern = rules.iter().find(|rule| rule.parameter == parameter.name);
        let number = |label: &str, known: Option<f64>| match pattern {
            None => known.or_else(|| label.trim().parse().ok()),
            Some(rule) => {
                let found = rule.pattern.captures(label)?;
                found.get(1).or_else(|| found.get(0))?.as_str().parse().ok()
            }
        };
        let values: Option<Vec<f64>> =
            parameter.values.iter().map(|value| number(&value.label, value.number)).collect();
        if let (Some(rule), None) = (pattern, &values) {
            return Err(ScalingError::Rule {
                text: format!("{}={}", rule.parameter, rule.pattern),
                what: "it finds no number in some values of the parameter".to_owned(),
            });
        }
        out.push(values);
    }
    let is_unknown = |rule: &&NumberRule| ensemble.parameter(&rule.parameter).is_none();
    if let Some(rule) = rules.iter().find(is_unknown) {
        return Err(unknown_parameter(ensemble, &rule.parameter));
    }
    Ok(out)
}

fn unknown_parameter(ensemble: &Ensemble, name: &str) -> ScalingError {
    let known = listed(ensemble.parameters().iter().map(|parameter| parameter.name.as_str()));
    ScalingError::Unknown { what: "parameter", name: name.to_owned(), known }
}

/// Finds a growth model for every region, metric and group.
///
/// # Errors
/// When a parameter or metric is unknown, no parameter has at least two values, or no region was
/// measured.
pub fn models(
    ensemble: &Ensemble,
    request: &ModelsRequest,
) -> Result<Answer<ModelAnswer>, ScalingError> {
    let options = model_options(request);
    let numbers = numbers(ensemble, request)?;
    let varied =
        |at: &usize| numbers.get(*at).and_then(Option::as_ref).is_some_and(|list| list.len() > 1);
    let at: Vec<usize> = match &request.parameters {
        Some(names) => names
            .iter()
            .map(|name| {
                let at =
                    ensemble.parameter(name).ok_or_else(|| unknown_parameter(ensemble, name))?;
                if varied(&at) {
                    return Ok(at);
                }
                Err(ScalingError::Missing {
                    what: format!("the parameter {name} does not have several numbers as values"),
                    hint: Remedy::Numbers.to_string(),
                })
            })
            .collect::<Result<_, _>>()?,
        None => (0..numbers.len()).filter(varied).collect(),
    };
    if at.is_empty() {
        return Err(ScalingError::Missing {
            what: "no parameter has several numbers as values".to_owned(),
            hint: format!(
                "if the runs differ, {}; if a parameter has text values, {}",
                Remedy::TellApart,
                Remedy::Numbers
            ),
        });
    }
    let names: Vec<&str> =
        at.iter().filter_map(|&at| Some(ensemble.parameters().get(at)?.name.as_str())).collect();
    let points = Coordinates::new(ensemble, &at, &numbers);
    let mut notes = Vec::new();
    let metrics = chosen_metrics(ensemble, request)?;
    let resources = match &request.resources {
        Some(name) => Some(
            names
                .iter()
                .position(|known| known == name)
                .ok_or_else(|| unknown_parameter(ensemble, name))?,
        ),
        None => None,
    };
    let predict_at: Vec<f64> = names
        .iter()
        .zip(&at)
        .map(|(name, &at)| {
            let asked = request.at.iter().find(|(known, _)| known == name);
            let measured = numbers.get(at).and_then(Option::as_ref).map(Vec::as_slice);
            let largest = || measured.unwrap_or_default().iter().copied().fold(0.0, f64::max);
            asked.map_or_else(largest, |(_, value)| *value)
        })
        .collect();

    let mut found = Vec::new();
    let mut falling = std::collections::BTreeSet::new();
    let mut few = 0;
    // The one outermost region stands for the whole program.
    let outermost = ensemble.regions().iter().filter(|region| region.parent.is_none()).count();
    let id = |region: &Region| {
        let is_whole = outermost == 1 && region.parent.is_none();
        if is_whole { "0".to_owned() } else { region.id.clone() }
    };
    let is_wanted = |region: &Region| {
        request.regions.is_empty()
            || request
                .regions
                .iter()
                .any(|text| *text == id(region) || *text == region.path || *text == region.name)
    };
    for (index, region) in (0..).zip(ensemble.regions()).filter(|(_, region)| is_wanted(region)) {
        for &metric in &metrics {
            let Some(described) = ensemble.metrics().get(usize::from(metric)) else { continue };
            for (group, points) in points.of(ensemble, metric, index, options.measure) {
                // One point makes no model.
                if points.len() < 2 {
                    few += 1;
                    continue;
                }
                let measure = options.measure;
                falling.extend(
                    names
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| index == 0 && falls_strictly(&points, *at, measure))
                        .map(|(_, name)| (*name).to_owned()),
                );
                let (points, unit) = match resources {
                    Some(at) => (
                        resource_consumption(&points, at),
                        format!("{} {}", names.get(at).copied().unwrap_or(""), described.unit),
                    ),
                    None => (points, described.unit.to_string()),
                };
                let model = model(&points, &options)
                    .map_err(|cause| ScalingError::Growth { region: region.path.clone(), cause })?;
                found.push(RegionModel {
                    region: Region { id: id(region), ..region.clone() },
                    metric: described.name.clone(),
                    unit,
                    group: group.clone(),
                    formula: model.function.format(&names, Style::Plain),
                    prediction: model.function.evaluate(&predict_at),
                    num_points: points.len(),
                    model,
                });
            }
        }
    }
    if found.is_empty() {
        return Err(ScalingError::Missing {
            what: "no region was measured at two points at least".to_owned(),
            hint: "choose other regions or parameters".to_owned(),
        });
    }
    if few > 0 {
        notes.push(format!("{few} series have only one point and no model."));
    }
    if resources.is_none() {
        for name in falling {
            notes.push(format!(
                "Time falls with {name} (strong scaling), which models of time describe badly; {}, \
                 which is {name} x time.",
                Remedy::Resources
            ));
        }
    }
    let has_few = found.iter().any(|found| {
        found.model.warnings.iter().any(|w| matches!(w, ModelWarning::FewPoints { .. }))
    });
    if has_few {
        notes.push(
            "Some models have fewer than the five values per parameter that the method recommends: \
             treat them as hints."
                .to_owned(),
        );
    }
    let parameters = names.iter().map(|&name| name.to_owned()).collect();
    Ok(Answer { value: ModelAnswer { parameters, predict_at, models: found }, notes })
}

fn chosen_metrics(ensemble: &Ensemble, request: &ModelsRequest) -> Result<Vec<u16>, ScalingError> {
    if request.metric.is_some() {
        return Ok(vec![super::answer::chosen_metric(ensemble, request.metric.as_deref())?]);
    }
    Ok((0..)
        .zip(ensemble.metrics())
        .filter(|(_, metric)| {
            !AUXILIARY.contains(&metric.name.as_str()) && !metric.name.starts_with("time:")
        })
        .map(|(at, _)| at)
        .collect())
}

/// The points of all coordinates, by group.
struct Coordinates {
    groups: Vec<String>,
    /// Group and numbers of each coordinate of the ensemble.
    of: Vec<(usize, Vec<f64>)>,
}

impl Coordinates {
    fn new(ensemble: &Ensemble, at: &[usize], numbers: &[Option<Vec<f64>>]) -> Self {
        let mut groups: Vec<String> = Vec::new();
        let mut of = Vec::new();
        for (index, coordinate) in ensemble.coordinates().iter().enumerate() {
            let group: Vec<String> = ensemble
                .parameters()
                .iter()
                .enumerate()
                .filter(|(p, parameter)| !at.contains(p) && parameter.values.len() > 1)
                .filter_map(|(p, parameter)| {
                    let value = ensemble.value_at(index, p)?;
                    Some(format!("{}={}", parameter.name, value.label))
                })
                .collect();
            let group = group.join(" ");
            let group = groups.iter().position(|known| *known == group).unwrap_or_else(|| {
                groups.push(group);
                groups.len() - 1
            });
            let point = at
                .iter()
                .filter_map(|&p| {
                    let value = *coordinate.get(p)? as usize;
                    numbers.get(p)?.as_ref()?.get(value).copied()
                })
                .collect();
            of.push((group, point));
        }
        Self { groups, of }
    }

    /// The points of one metric in one region, for each group that has any.
    fn of(
        &self,
        ensemble: &Ensemble,
        metric: u16,
        region: u32,
        measure: Measure,
    ) -> Vec<(String, Vec<Point>)> {
        let mut values: Vec<Vec<f64>> = vec![Vec::new(); self.of.len()];
        let samples = ensemble.samples_of(metric, region);
        for sample in samples {
            let run = ensemble.runs().get(sample.run as usize);
            if let Some(list) = run.and_then(|run| values.get_mut(run.coordinate as usize)) {
                list.push(sample.value);
            }
        }
        if samples.is_empty() {
            for statistic in ensemble.statistics_of(metric, region) {
                if let Some(list) = values.get_mut(statistic.coordinate as usize) {
                    list.push(match measure {
                        Measure::Median => statistic.median,
                        Measure::Mean => statistic.mean,
                        Measure::Min => statistic.minimum,
                        Measure::Max => statistic.maximum,
                    });
                }
            }
        }
        let mut out: Vec<(String, Vec<Point>)> =
            self.groups.iter().map(|group| (group.clone(), Vec::new())).collect();
        for ((group, coordinate), values) in self.of.iter().zip(values) {
            if let Some((_, points)) = out.get_mut(*group).filter(|_| !values.is_empty()) {
                points.push(Point { coordinate: coordinate.clone(), values });
            }
        }
        out.retain(|(_, points)| !points.is_empty());
        out
    }
}

impl ModelAnswer {
    /// The models as a table.
    #[must_use]
    pub fn table(&self) -> ModelTable {
        let row = |found: &RegionModel| ModelRow {
            region: found.region.id.clone(),
            name: match display_name(&found.region) {
                name if name.is_empty() => found.region.path.clone(),
                name => name,
            },
            path: found.region.path.clone(),
            metric: found.metric.clone(),
            unit: found.unit.clone(),
            group: found.group.clone(),
            model: found.formula.clone(),
            smape: found.model.quality.smape,
            rss: found.model.quality.rss,
            rrss: found.model.quality.relative_rss,
            re: found.model.quality.relative_error,
            ar2: found.model.quality.adjusted_r2,
            points: count(found.num_points),
            prediction: found.prediction,
        };
        self.models.iter().map(row).collect()
    }

    /// Values of all models along a parameter.
    fn curves(&self, curve: &CurveChoice) -> Result<CurveTable, ScalingError> {
        let known = || listed(self.parameters.iter().map(String::as_str));
        let at = self.parameters.iter().position(|name| *name == curve.parameter);
        let at = at.ok_or_else(|| ScalingError::Unknown {
            what: "parameter",
            name: curve.parameter.clone(),
            known: known(),
        })?;
        let mut table = CurveTable::default();
        for (model, found) in (0..).zip(&self.models) {
            table.extend(curve.values.iter().map(|&x| {
                let mut point = self.predict_at.clone();
                if let Some(slot) = point.get_mut(at) {
                    *slot = x;
                }
                let y = found.model.function.evaluate(&point).filter(|y| y.is_finite());
                CurveRow { model, x, y }
            }));
        }
        Ok(table)
    }
}

fn model_options(request: &ModelsRequest) -> ModelOptions {
    ModelOptions {
        measure: measure(request.statistic),
        modeler: match request.search {
            ModelSearch::Basic => Modeler::Basic,
            ModelSearch::Refining => Modeler::Refining,
            ModelSearch::Segmented => Modeler::Segmented,
        },
        negative_exponents: request.negative,
        ..ModelOptions::default()
    }
}

impl Answers<ModelsRequest> for Ensemble {
    fn answer(
        &self,
        request: &ModelsRequest,
        _: &Control,
    ) -> Result<protocol::Answer<ModelsRequest>, ServiceError> {
        let Answer { value, notes } = models(self, request)?;
        let curves = request.curve.as_ref().map(|curve| value.curves(curve)).transpose()?;
        let tables = ModelsTables { rows: value.table(), curves: curves.unwrap_or_default() };
        Ok(protocol::Answer::new(ModelsReply { parameters: value.parameters, notes }, tables))
    }
}
