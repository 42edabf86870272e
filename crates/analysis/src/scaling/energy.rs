//! When the energy of a region can be trusted, and what is derived from it.

use crate::math::{Measure, dispersion};

/// Energy-delay product `E t`, in joule seconds.
///
/// Source: Horowitz, Indermaur, Gonzalez, "Low-power digital design", 1994.
#[must_use]
pub fn energy_delay_product(joules: f64, seconds: f64) -> f64 {
    joules * seconds
}

/// Gates on the repetitions of an energy measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyGates {
    /// Fewest valid runs.
    pub min_runs: usize,
    /// Largest coefficient of variation.
    pub max_variation: f64,
    /// Largest relative error against the independent total.
    pub max_error: f64,
}

impl Default for EnergyGates {
    /// Five runs, 10 %, 5 %: what PaScal's users ask for.
    fn default() -> Self {
        Self { min_runs: 5, max_variation: 0.10, max_error: 0.05 }
    }
}

/// Whether an energy may be reported, gate by gate. A gate that cannot be judged is `None`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyValidity {
    /// Number of valid runs.
    pub runs: usize,
    /// Coefficient of variation over runs.
    pub variation: Option<f64>,
    /// Largest relative error of a run against its independent total.
    pub error: Option<f64>,
    /// There are enough runs.
    pub enough_runs: bool,
    /// The runs agree with each other.
    pub stable: Option<bool>,
    /// The runs agree with the independent totals.
    pub agrees: Option<bool>,
}

impl EnergyValidity {
    /// All gates could be judged and passed.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.enough_runs && self.stable == Some(true) && self.agrees == Some(true)
    }
}

/// Judges the energies of the repetitions of one configuration.
///
/// Each run is a pair: the energy integrated from samples, and the independent total of the same
/// run (RAPL's counter over the whole program) where known, both in joules. Runs whose energy is
/// not a positive finite number do not count.
#[must_use]
pub fn energy_validity(runs: &[(f64, Option<f64>)], gates: EnergyGates) -> EnergyValidity {
    let valid = || runs.iter().filter(|(joules, _)| joules.is_finite() && *joules > 0.0);
    let energies: Vec<f64> = valid().map(|&(joules, _)| joules).collect();
    let errors: Vec<f64> = valid()
        .filter_map(|&(joules, total)| {
            total
                .filter(|total| total.is_finite() && *total > 0.0)
                .map(|total| ((joules - total) / total).abs())
        })
        .collect();
    let variation = dispersion(&energies).and_then(|dispersion| dispersion.variation);
    let error = Measure::Max.of(&errors);
    EnergyValidity {
        runs: energies.len(),
        variation,
        error,
        enough_runs: energies.len() >= gates.min_runs,
        stable: variation.map(|variation| variation <= gates.max_variation),
        agrees: error.map(|error| error <= gates.max_error),
    }
}
