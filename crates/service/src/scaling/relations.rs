//! What an ensemble holds, row by row: the tables that queries over all of it combine.

use std::collections::BTreeSet;

use parallax_base::Control;
use parallax_engine::EngineError;
use parallax_model::ensemble::{Ensemble, Parameter, Region, RunEvidence};
use parallax_protocol::{
    Column, EnsembleMetricRow, EnsembleMetricTable, Family, IssueTable, ParameterValueRow,
    ParameterValueTable, StoredRegionRow, StoredRegionTable, StoredRunStatisticTable,
    StoredRunTable,
};

use crate::relations::issue_table;

/// The regions, outer ones before those inside.
#[must_use]
pub fn region_relation(ensemble: &Ensemble) -> StoredRegionTable {
    let regions = ensemble.regions();
    let mut depths = vec![0_u32; regions.len()];
    let mut last: Vec<u32> = (0..).take(regions.len()).collect();
    let above = |region: &Region| region.parent.map(|above| above as usize);
    for (at, region) in regions.iter().enumerate() {
        let depth = above(region).and_then(|above| depths.get(above)).map_or(0, |depth| depth + 1);
        depths.get_mut(at).into_iter().for_each(|slot| *slot = depth);
    }
    // Regions inside come after those around them: from the back each is complete when it is seen.
    for (at, region) in regions.iter().enumerate().rev() {
        let inside = last.get(at).copied().unwrap_or_default();
        if let Some(slot) = above(region).and_then(|above| last.get_mut(above)) {
            *slot = inside.max(*slot);
        }
    }
    let places = (0..).zip(regions).zip(depths.into_iter().zip(last));
    places
        .map(|((at, region), (depth, last))| StoredRegionRow {
            region_id: at,
            region: region.id.clone(),
            parent_id: region.parent,
            last_region_id: last,
            depth,
            kind: region.kind.name(),
            name: region.name.clone(),
            path: region.path.clone(),
            file: region.file.clone(),
            first_line: region.lines.map(|(first, _)| first),
            last_line: region.lines.map(|(_, last)| last),
        })
        .collect()
}

/// What was measured of each run in each region, by region and run.
///
/// # Errors
/// When the question is withdrawn.
pub fn run_relation(ensemble: &Ensemble, control: &Control) -> Result<StoredRunTable, EngineError> {
    let metrics = ensemble.metrics();
    let mut table = StoredRunTable::default();
    let is_estimate = |(_, evidence): &&(u32, RunEvidence)| evidence.estimate.is_some();
    let estimated: BTreeSet<u32> =
        ensemble.evidence().iter().filter(is_estimate).map(|(run_id, _)| *run_id).collect();
    let mut coordinates = Vec::new();
    let mut values: Vec<Vec<Option<f64>>> = vec![Vec::new(); metrics.len()];
    for region in (0..).take(ensemble.regions().len()) {
        control.check()?;
        let of = |metric| ensemble.samples_of(metric, region);
        let samples: Vec<_> = (0..).take(metrics.len()).map(of).collect();
        let runs: BTreeSet<u32> = samples.iter().copied().flatten().map(|s| s.run).collect();
        let mut samples: Vec<_> = samples.into_iter().map(|of| of.iter().peekable()).collect();
        for run_id in runs {
            let Some(run) = ensemble.runs().get(run_id as usize) else { continue };
            table.run_id.push(run_id);
            table.region_id.push(region);
            table.repetition.push(run.repetition);
            table.is_trusted.push(run.is_trusted);
            table.is_estimated.push(estimated.contains(&run_id));
            coordinates.push(run.coordinate);
            for (of, values) in samples.iter_mut().zip(&mut values) {
                values.push(of.next_if(|s| s.run == run_id).map(|s| s.value));
            }
        }
    }
    let mut names = Names::of(["run_id", "region_id", "repetition", "is_trusted", "is_estimated"]);
    table.parameters = parameter_columns(ensemble, &coordinates, &mut names);
    let columns = metrics.iter().zip(values).map(|(metric, values)| {
        let (name, unit) = (names.free(&metric.name), metric.unit.to_string());
        Column::optional_f64s(name, &unit, "What was measured.", values)
    });
    table.metrics = columns.collect();
    Ok(table)
}

/// Statistics over repetitions, where the source has these.
#[must_use]
pub fn run_statistic_relation(ensemble: &Ensemble) -> StoredRunStatisticTable {
    let mut table = StoredRunStatisticTable::default();
    let mut coordinates = Vec::new();
    for (at, metric) in (0..).zip(ensemble.metrics()) {
        for region in (0..).take(ensemble.regions().len()) {
            for one in ensemble.statistics_of(at, region) {
                table.region_id.push(region);
                table.metric.push(metric.name.clone());
                table.unit.push(metric.unit.to_string());
                table.repetitions.push(one.repetitions);
                table.mean.push(one.mean);
                table.median.push(one.median);
                table.min.push(one.minimum);
                table.max.push(one.maximum);
                table.deviation.push(one.deviation);
                coordinates.push(one.coordinate);
            }
        }
    }
    let own = ["region_id", "metric", "unit", "repetitions", "mean", "median", "min", "max"];
    let mut names = Names::of(own);
    names.free("deviation");
    table.parameters = parameter_columns(ensemble, &coordinates, &mut names);
    table
}

/// The values of all parameters.
#[must_use]
pub fn parameter_relation(ensemble: &Ensemble) -> ParameterValueTable {
    let of = |parameter: &Parameter| {
        let name = parameter.name.clone();
        let values: Vec<_> = parameter.values.clone();
        (0..).zip(values).map(move |(place, value)| ParameterValueRow {
            parameter: name.clone(),
            place,
            value: value.label,
            number: value.number,
        })
    };
    ensemble.parameters().iter().flat_map(of).collect()
}

/// What was measured.
#[must_use]
pub fn ensemble_metric_relation(ensemble: &Ensemble) -> EnsembleMetricTable {
    let rows = (0..).zip(ensemble.metrics()).map(|(at, metric)| {
        let regions = (0..).take(ensemble.regions().len());
        EnsembleMetricRow {
            metric: metric.name.clone(),
            unit: metric.unit.to_string(),
            values: regions.map(|region| ensemble.samples_of(at, region).len() as u64).sum(),
        }
    });
    rows.collect()
}

/// What was repaired, dropped or guessed.
#[must_use]
pub fn ensemble_issue_relation(ensemble: &Ensemble) -> IssueTable {
    issue_table(&ensemble.issues)
}

/// Names of the columns of a table, each once.
struct Names(BTreeSet<String>);

impl Names {
    fn of<const N: usize>(own: [&str; N]) -> Self {
        Self(own.into_iter().map(ToOwned::to_owned).collect())
    }

    /// `name`, or with a number behind it where there is one of that name.
    fn free(&mut self, name: &str) -> String {
        let further = (2_u32..).map(|number| format!("{name}_{number}"));
        let mut all = std::iter::once(name.to_owned()).chain(further);
        let free = all.find(|name| !self.0.contains(name)).unwrap_or_default();
        self.0.insert(free.clone());
        free
    }
}

/// A column for each parameter, with its value at each of some coordinates.
fn parameter_columns(ensemble: &Ensemble, coordinates: &[u32], names: &mut Names) -> Family {
    let parameters = ensemble.parameters().iter().enumerate();
    let column = |(at, parameter): (usize, &Parameter)| {
        let values =
            coordinates.iter().map(|&coordinate| ensemble.value_at(coordinate as usize, at));
        let name = names.free(&parameter.name);
        let doc = "Value of the parameter.";
        if !parameter.values.iter().all(|value| value.number.is_some()) {
            let texts = values.map(|value| value.map_or("", |value| value.label.as_str()));
            return Column::strings(name, doc, texts);
        }
        let numbers: Vec<f64> =
            values.map(|value| value.and_then(|value| value.number).unwrap_or(f64::NAN)).collect();
        // Cores and sizes are whole numbers, and people write `WHERE cores = 4`.
        let is_whole = |number: &f64| number.fract() == 0.0 && (0.0..9e15).contains(number);
        match numbers.iter().all(is_whole) {
            true => {
                let whole = numbers.into_iter().map(parallax_base::casts::saturated_u64);
                Column::u64s(name, "", doc, whole.collect())
            }
            false => Column::f64s(name, "", doc, numbers),
        }
    };
    parameters.map(column).collect()
}
