//! Energy of regions and whether it can be relied on, as a table.

use std::collections::BTreeMap;

use parallax_analysis::scaling::{
    EnergyGates, EnergyValidity, Measure, energy_delay_product, energy_validity,
};
use parallax_base::Unit;
use parallax_model::ensemble::Ensemble;
use parallax_protocol::{EnergyRow, EnergyTable};

use super::ScalingError;
use super::answer::{ScalingOptions, chosen_metric};
use super::cells::Cells;
use super::tables::count;
use crate::Answer;

/// Start of the names of metrics that were integrated from samples of power.
const INTEGRATED: &str = "energy:";

/// Energies of repetitions in joules, each with the independent total of its run.
type Runs = Vec<(f64, Option<f64>)>;

/// The energy of each region at each configuration where it was measured, one row for each meter:
/// joules, mean power, energy-delay product, and whether the repetitions pass the gates that
/// PaScal's users ask for (five runs, 10 % variation, 5 % from the independent total).
///
/// Regions have no independent total; they are judged by that of the whole program.
///
/// # Errors
/// When a parameter or region is unknown, or no energy was measured.
pub fn energy_table(
    ensemble: &Ensemble,
    options: &ScalingOptions,
) -> Result<Answer<EnergyTable>, ScalingError> {
    let mut notes = Vec::new();
    let cells = Cells::of(ensemble, options, &mut notes)?;
    let metrics = ensemble.metrics();
    let meters: Vec<(u16, &str)> = (0..)
        .zip(metrics)
        .filter(|(_, metric)| metric.unit == Unit::Joules)
        .map(|(at, metric)| (at, metric.name.as_str()))
        .collect();
    // A counter over the whole run is independent of what is integrated from samples.
    let counter = cells.metric(|name, unit| *unit == Unit::Joules && !name.starts_with(INTEGRATED));
    let time = chosen_metric(ensemble, options.metric.as_deref()).ok();
    let whole = (0..).zip(ensemble.regions()).find(|(_, region)| region.parent.is_none());
    let whole = whole.map_or(0, |(at, _)| at);
    let totals: BTreeMap<u32, f64> = counter
        .map(|metric| cells.runs(metric, whole).map(|run| (run.run, run.value)).collect())
        .unwrap_or_default();
    let mut rows: Vec<EnergyRow> = Vec::new();
    for region in &cells.regions {
        let times = time.map(|metric| cells.grid(metric, region.at)).transpose()?;
        for &(metric, name) in &meters {
            let is_integrated = name.starts_with(INTEGRATED);
            let totals = |run: u32| totals.get(&run).copied().filter(|_| is_integrated);
            let mut program: BTreeMap<(usize, u32), Runs> = BTreeMap::new();
            for run in cells.runs(metric, whole) {
                let list = program.entry((run.input, run.cores)).or_default();
                list.push((run.value, totals(run.run)));
            }
            let mut found: BTreeMap<(usize, u32), Runs> = BTreeMap::new();
            for run in cells.runs(metric, region.at) {
                let list = found.entry((run.input, run.cores)).or_default();
                list.push((run.value, None));
            }
            for ((input, cores), runs) in found {
                let gates = EnergyGates::default();
                let of_program =
                    program.get(&(input, cores)).map(|runs| energy_validity(runs, gates));
                let validity = EnergyValidity {
                    error: of_program.and_then(|whole| whole.error),
                    agrees: of_program.and_then(|whole| whole.agrees),
                    ..energy_validity(&runs, gates)
                };
                let core_idx = cells.axes.cores.binary_search(&cores).ok();
                let values: Vec<f64> = runs.iter().map(|run| run.0).collect();
                let joules = options.maps.measure.of(&values);
                let seconds = times
                    .as_ref()
                    .zip(core_idx)
                    .and_then(|(times, core_idx)| cells.value(times, input, core_idx));
                let both = joules.zip(seconds);
                rows.push(EnergyRow {
                    region: region.id.to_owned(),
                    input: cells.axes.inputs.get(input).cloned().unwrap_or_default(),
                    cores,
                    meter: name.strip_prefix(INTEGRATED).unwrap_or(name).to_owned(),
                    repetitions: count(runs.len()),
                    energy: joules,
                    energy_min: Measure::Min.of(&values),
                    energy_max: Measure::Max.of(&values),
                    power: both
                        .filter(|(_, seconds)| *seconds > 0.0)
                        .map(|(joules, seconds)| joules / seconds),
                    edp: both.map(|(joules, seconds)| energy_delay_product(joules, seconds)),
                    variation: validity.variation.map(|variation| 100.0 * variation),
                    error: validity.error.map(|error| 100.0 * error),
                    valid: verdict(&validity),
                    note: note(&validity),
                });
            }
        }
    }
    if rows.is_empty() {
        return Err(ScalingError::Missing {
            what: if meters.is_empty() {
                "no energy was measured".to_owned()
            } else {
                "no energy was measured in these regions and configurations".to_owned()
            },
            hint:
                "parallax measure and PaScal Analyzer can measure it; rejected sensors are among \
                   the issues"
                    .to_owned(),
        });
    }
    Ok(Answer { value: rows.into_iter().collect(), notes })
}

/// Whether all gates were passed; `unknown` where one cannot be judged and none failed.
fn verdict(validity: &EnergyValidity) -> &'static str {
    if validity.is_valid() {
        "yes"
    } else if !validity.enough_runs
        || validity.stable == Some(false)
        || validity.agrees == Some(false)
    {
        "no"
    } else {
        "unknown"
    }
}

/// Which gates were not passed, and by how much.
fn note(validity: &EnergyValidity) -> String {
    let gates = EnergyGates::default();
    let percent = |value: Option<f64>| value.map_or(f64::NAN, |value| 100.0 * value);
    let mut parts = Vec::new();
    if !validity.enough_runs {
        parts.push(format!("{} of {} runs", validity.runs, gates.min_runs));
    }
    match validity.stable {
        Some(false) => parts.push(format!("varies by {:.1} %", percent(validity.variation))),
        None => parts.push("variation unknown".to_owned()),
        Some(true) => {}
    }
    match validity.agrees {
        Some(false) => {
            parts.push(format!("{:.1} % off the independent total", percent(validity.error)));
        }
        None => parts.push("no independent total".to_owned()),
        Some(true) => {}
    }
    parts.join(", ")
}
