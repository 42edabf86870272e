//! Which parameters become the axes of the maps, and what is held fixed.

use std::sync::Arc;

use parallax_analysis::scaling::{Grid, GridBuilder, Measure};
use parallax_base::Limits;
use parallax_model::ensemble::{Ensemble, Parameter, ParameterValue, parameter_names};
use parallax_protocol::CoreOrder;

use super::parameters::{cores_parameter, is_resource};
use super::{Remedy, ScalingError};

/// Which parameters become the axes of the maps.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AxisChoice {
    /// The parameter that counts cores; `None` for one of the usual names.
    pub cores: Option<String>,
    /// Parameters that are held at one value: name and value. A frequency that is not chosen is
    /// held at its highest value; all other parameters make up the input.
    pub fixed: Vec<(String, String)>,
}

/// Which runs count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunChoice {
    /// All.
    #[default]
    All,
    /// Those that nothing speaks against: not the ones that were far too short.
    Trusted,
}

/// The axes of the maps and the place of every coordinate on them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axes {
    pub(super) inputs: Arc<[String]>,
    pub(super) cores: Arc<[u32]>,
    /// Positions in `cores`, in the order in which maps show them.
    pub(super) rows: Vec<usize>,
    /// For each coordinate of the ensemble its input and core count; `None` for those that are
    /// not shown.
    cells: Vec<Option<(usize, u32)>>,
}

/// The value of a parameter that the user means: by label, by number, or a frequency with or
/// without its unit.
fn chosen_value(parameter: &Parameter, text: &str) -> Option<u32> {
    let find = |is: &dyn Fn(&ParameterValue) -> bool| {
        u32::try_from(parameter.values.iter().position(is)?).ok()
    };
    if let Some(at) = find(&|value| value.label == text) {
        return Some(at);
    }
    let lower = text.trim().to_ascii_lowercase();
    let units = [("ghz", 1e9), ("mhz", 1e6), ("khz", 1e3), ("hz", 1.0)];
    let with_unit = units.iter().find_map(|(unit, scale)| {
        Some(lower.strip_suffix(unit)?.trim().parse::<f64>().ok()? * scale)
    });
    let near = |number: f64| {
        move |value: &ParameterValue| {
            value.number.is_some_and(|known| (known - number).abs() <= 1e-9 * known.abs())
        }
    };
    if let Some(hertz) = with_unit {
        return find(&near(hertz));
    }
    let number: f64 = lower.parse().ok()?;
    let scales: &[f64] =
        if parameter.name == parameter_names::FREQUENCY { &[1.0, 1e9, 1e6, 1e3] } else { &[1.0] };
    scales.iter().find_map(|scale| find(&near(number * scale)))
}

fn shown(parameter: &Parameter, value: &ParameterValue) -> String {
    match value.number {
        Some(hertz) if parameter.name == parameter_names::FREQUENCY => {
            format!("{} GHz", hertz / 1e9)
        }
        _ => value.label.clone(),
    }
}

impl Axes {
    pub(super) fn of(
        ensemble: &Ensemble,
        choice: &AxisChoice,
        order: CoreOrder,
        notes: &mut Vec<String>,
    ) -> Result<Self, ScalingError> {
        let parameters = ensemble.parameters();
        let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
        let cores_at = cores_parameter(&names, choice.cores.as_deref())?;
        let fixed = fixed_values(parameters, cores_at, choice, notes)?;
        let input_at: Vec<usize> = (0..parameters.len())
            .filter(|at| *at != cores_at && !fixed.iter().any(|(fixed, _)| fixed == at))
            .filter(|at| !follows(ensemble, cores_at, *at))
            .collect();
        let part = |coordinate: &[u32], at: usize| coordinate.get(at).copied().unwrap_or(0);
        let mut inputs: Vec<Vec<u32>> = Vec::new();
        let mut found: Vec<Option<(Vec<u32>, u32)>> = Vec::new();
        let mut strange = 0;
        for (index, coordinate) in ensemble.coordinates().iter().enumerate() {
            if fixed.iter().any(|&(at, value)| part(coordinate, at) != value) {
                found.push(None);
                continue;
            }
            let cores = ensemble.value_at(index, cores_at).and_then(core_count);
            let Some(cores) = cores else {
                strange += 1;
                found.push(None);
                continue;
            };
            let input: Vec<u32> = input_at.iter().map(|&at| part(coordinate, at)).collect();
            inputs.push(input.clone());
            found.push(Some((input, cores)));
        }
        if strange > 0 {
            notes.push(format!(
                "{strange} configurations are omitted: their {} is not a whole number of 1 or more.",
                names.get(cores_at).copied().unwrap_or("core count")
            ));
        }
        inputs.sort_unstable();
        inputs.dedup();
        let cells: Vec<Option<(usize, u32)>> = found
            .into_iter()
            .map(|cell| {
                let (input, cores) = cell?;
                Some((inputs.binary_search(&input).ok()?, cores))
            })
            .collect();
        let mut cores: Vec<u32> = cells.iter().flatten().map(|&(_, cores)| cores).collect();
        cores.sort_unstable();
        cores.dedup();
        if cores.is_empty() {
            return Err(ScalingError::Missing {
                what: "no run has the chosen parameters".to_owned(),
                hint: "choose other values".to_owned(),
            });
        }
        let label = |input: &Vec<u32>| {
            let parts = input_at.iter().zip(input).filter_map(|(&at, &value)| {
                let parameter = parameters.get(at)?;
                let value = shown(parameter, parameter.values.get(value as usize)?);
                let is_input = parameter.name == parameter_names::INPUT;
                Some(if is_input { value } else { format!("{}={value}", parameter.name) })
            });
            parts.collect::<Vec<_>>().join(" ")
        };
        let rows = match order {
            CoreOrder::Ascending => (0..cores.len()).collect(),
            CoreOrder::File => {
                parameters.get(cores_at).map(|p| rows_of(p, &cores)).unwrap_or_default()
            }
        };
        let inputs = inputs.iter().map(label).collect();
        Ok(Self { inputs, cores: cores.into(), rows, cells })
    }

    /// The repetition times of one region by these axes.
    pub(super) fn grid(
        &self,
        ensemble: &Ensemble,
        metric: u16,
        region: u32,
        runs: RunChoice,
        measure: Measure,
    ) -> Result<Grid, ScalingError> {
        let mut builder = GridBuilder::new(Arc::clone(&self.inputs));
        let samples = ensemble.samples_of(metric, region);
        for sample in samples {
            let Some(run) = ensemble.runs().get(sample.run as usize) else { continue };
            if runs == RunChoice::Trusted && !run.is_trusted {
                continue;
            }
            if let Some((input, cores)) = self.cell(run.coordinate) {
                // A negative time was reported by the reader; it cannot stand in a map.
                let _ = builder.push(input, cores, sample.value);
            }
        }
        if samples.is_empty() {
            for statistic in ensemble.statistics_of(metric, region) {
                let value = match measure {
                    Measure::Median => statistic.median,
                    Measure::Mean => statistic.mean,
                    Measure::Min => statistic.minimum,
                    Measure::Max => statistic.maximum,
                };
                if let Some((input, cores)) = self.cell(statistic.coordinate) {
                    let _ = builder.push(input, cores, value);
                }
            }
        }
        Ok(builder.finish_with(Arc::clone(&self.cores))?)
    }

    /// The grid of the sum over several regions in each run.
    pub(super) fn grid_of_sum(
        &self,
        ensemble: &Ensemble,
        metric: u16,
        regions: &[u32],
        runs: RunChoice,
    ) -> Result<Grid, ScalingError> {
        let mut sums: std::collections::BTreeMap<u32, f64> = std::collections::BTreeMap::new();
        for &region in regions {
            for sample in ensemble.samples_of(metric, region) {
                *sums.entry(sample.run).or_insert(0.0) += sample.value;
            }
        }
        let mut builder = GridBuilder::new(Arc::clone(&self.inputs));
        for (run, value) in sums {
            let Some(run) = ensemble.runs().get(run as usize) else { continue };
            if runs == RunChoice::Trusted && !run.is_trusted {
                continue;
            }
            if let Some((input, cores)) = self.cell(run.coordinate) {
                let _ = builder.push(input, cores, value);
            }
        }
        Ok(builder.finish_with(Arc::clone(&self.cores))?)
    }

    /// Checks that maps of this many regions, with the gaps between what was measured, are not too
    /// large.
    pub(super) fn check_cells(&self, regions: usize, limits: &Limits) -> Result<(), ScalingError> {
        let (inputs, cores, limit) = (self.inputs.len(), self.cores.len(), limits.max_cells);
        let cells = regions.saturating_mul(inputs).saturating_mul(cores) as u64;
        if cells > limit {
            return Err(ScalingError::TooManyCells { regions, inputs, cores, limit });
        }
        Ok(())
    }

    /// Checks that the axes of this many regions are not too large. Only what was measured takes
    /// memory besides.
    pub(super) fn check_axes(&self, regions: usize, limits: &Limits) -> Result<(), ScalingError> {
        /// Of an input or a core count in all maps, verdicts and tables of a region.
        const BYTES: u64 = 128;
        let axes = self.inputs.len().saturating_add(self.cores.len());
        let bytes = (regions.saturating_mul(axes) as u64).saturating_mul(BYTES);
        Ok(limits.metadata("the axes of the maps of all regions", bytes)?)
    }

    pub(super) fn cell(&self, coordinate: u32) -> Option<(usize, u32)> {
        self.cells.get(coordinate as usize).copied().flatten()
    }
}

/// The positions of core counts in the order of their source.
fn rows_of(parameter: &Parameter, cores: &[u32]) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::with_capacity(cores.len());
    let mut is_there = vec![false; cores.len()];
    let values = parameter.order.iter().filter_map(|&at| parameter.values.get(at as usize));
    let known = values.filter_map(|value| cores.binary_search(&core_count(value)?).ok());
    for at in known.chain(0..cores.len()) {
        // Two values may be one count, such as 4 and 4.0.
        if let Some(is_there) = is_there.get_mut(at).filter(|is_there| !**is_there) {
            *is_there = true;
            rows.push(at);
        }
    }
    rows
}

fn core_count(value: &ParameterValue) -> Option<u32> {
    let number = value.number.or_else(|| value.label.trim().parse().ok())?;
    // The cast is exact: the number is whole and in range.
    (number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number))
        .then_some(number as u32)
}

/// Whether a parameter counts a part of the machine that comes with the cores: as many nodes for
/// as many cores, always. Then it is not an input.
fn follows(ensemble: &Ensemble, cores_at: usize, at: usize) -> bool {
    if !ensemble.parameters().get(at).is_some_and(|p| is_resource(&p.name)) {
        return false;
    }
    let mut of_cores: std::collections::BTreeMap<u32, u32> = std::collections::BTreeMap::new();
    ensemble.coordinates().iter().all(|coordinate| {
        let part = |at: usize| coordinate.get(at).copied().unwrap_or(0);
        *of_cores.entry(part(cores_at)).or_insert_with(|| part(at)) == part(at)
    })
}

/// Index and value of every parameter that is held fixed.
fn fixed_values(
    parameters: &[Parameter],
    cores_at: usize,
    choice: &AxisChoice,
    notes: &mut Vec<String>,
) -> Result<Vec<(usize, u32)>, ScalingError> {
    let mut fixed = Vec::new();
    for (name, text) in &choice.fixed {
        let at = parameters.iter().position(|p| p.name == *name).filter(|at| *at != cores_at);
        let (at, parameter) =
            at.and_then(|at| Some((at, parameters.get(at)?))).ok_or_else(|| {
                let others = parameters.iter().enumerate().filter(|(at, _)| *at != cores_at);
                let known: Vec<&str> = others.map(|(_, p)| p.name.as_str()).collect();
                ScalingError::Unknown {
                    what: "parameter to hold fixed called",
                    name: name.clone(),
                    known: if known.is_empty() { "none".to_owned() } else { known.join(", ") },
                }
            })?;
        let value = chosen_value(parameter, text).ok_or_else(|| {
            let known: Vec<String> =
                parameter.values.iter().map(|value| shown(parameter, value)).collect();
            ScalingError::Unknown {
                what: "value of this parameter like",
                name: text.clone(),
                known: format!("{}: {}", parameter.name, known.join(", ")),
            }
        })?;
        fixed.push((at, value));
    }
    let frequency = parameters.iter().position(|p| p.name == parameter_names::FREQUENCY);
    if let Some(at) = frequency.filter(|at| !fixed.iter().any(|(fixed, _)| fixed == at))
        && let Some(parameter) = parameters.get(at)
    {
        let numbers = parameter.values.iter().map(|value| value.number.unwrap_or(f64::MIN));
        let highest = (0..).zip(numbers).max_by(|a: &(u32, f64), b| a.1.total_cmp(&b.1));
        if let Some((value, _)) = highest {
            fixed.push((at, value));
            if parameter.values.len() > 1 {
                let all: Vec<String> =
                    parameter.values.iter().map(|value| shown(parameter, value)).collect();
                notes.push(format!(
                    "Measured at {} frequencies ({}); the highest is shown; {}.",
                    all.len(),
                    all.join(", "),
                    Remedy::Frequency
                ));
            }
        }
    }
    Ok(fixed)
}
