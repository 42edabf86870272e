//! Energy of regions from sampled power, and when not to trust it.

use super::intervals::{Interval, union};
use super::numeric::{mean, sum};
use super::stats::{Measure, dispersion};

/// One sample of a power meter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerSample {
    /// When, in seconds on the clock of the region's entries.
    pub time: f64,
    /// Power in watts.
    pub watts: f64,
}

/// Gates of the integration, in multiples of the median sampling period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyOptions {
    /// Longest accepted distance between two samples.
    pub max_gap_periods: f64,
    /// How far outside the samples the first and last power are held.
    pub max_hold_periods: f64,
}

impl Default for EnergyOptions {
    /// Three periods and one period, as the PaScal users' energy scripts have it.
    fn default() -> Self {
        Self { max_gap_periods: 3.0, max_hold_periods: 1.0 }
    }
}

/// Why samples give no energy.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnergyError {
    /// Fewer than two distinct sample times.
    #[error("{samples} power samples at distinct times: at least 2 are needed")]
    TooFewSamples {
        /// Distinct sample times found.
        samples: usize,
    },
    /// A sample's time or power is not finite.
    #[error("power sample {position} is not a finite number")]
    NotFinite {
        /// Position of the sample as given.
        position: usize,
    },
    /// Negative power.
    #[error("power sample {position} is negative ({watts} W)")]
    Negative {
        /// Position of the sample as given.
        position: usize,
        /// The power found.
        watts: f64,
    },
    /// Two neighbouring samples lie too far apart.
    #[error("no power sample for {seconds} s after {after} s, the usual period is {period} s")]
    Gap {
        /// Time of the sample before the gap.
        after: f64,
        /// Length of the gap.
        seconds: f64,
        /// Median distance of samples.
        period: f64,
    },
    /// The region reaches too far outside the samples.
    #[error(
        "the region runs {seconds} s outside the power samples, the usual period is {period} s"
    )]
    Outside {
        /// How far it reaches out.
        seconds: f64,
        /// Median distance of samples.
        period: f64,
    },
    /// The region was never entered.
    #[error("the region has no entries, so it has no energy")]
    NoEntries,
}

/// Energy in joules of a region: the integral of power over the union of its entries.
///
/// Samples are sorted by time and of equal times the last wins; power is linear between samples
/// (trapezoid rule, with interpolated values at the edges of entries) and held outside them.
///
/// Source: the energy scripts of PaScal's users and the viewer's energy branch, see
/// `docs/scaling-formulas.md`.
///
/// # Errors
/// When a gate rejects the samples: see [`EnergyError`] and [`EnergyOptions`].
pub fn region_energy(
    samples: &[PowerSample],
    entries: &[Interval],
    options: EnergyOptions,
) -> Result<f64, EnergyError> {
    for (position, sample) in samples.iter().enumerate() {
        if !sample.time.is_finite() || !sample.watts.is_finite() {
            return Err(EnergyError::NotFinite { position });
        }
        if sample.watts < 0.0 {
            return Err(EnergyError::Negative { position, watts: sample.watts });
        }
    }
    let mut ordered: Vec<PowerSample> = Vec::with_capacity(samples.len());
    let mut sorted = samples.to_vec();
    // Stable, so that of equal times the last given stays last.
    sorted.sort_by(|a, b| a.time.total_cmp(&b.time));
    for sample in sorted {
        match ordered.last_mut() {
            Some(last) if last.time >= sample.time => *last = sample,
            _ => ordered.push(sample),
        }
    }
    let (Some(&first), Some(&last)) = (ordered.first(), ordered.last()) else {
        return Err(EnergyError::TooFewSamples { samples: 0 });
    };
    let periods: Vec<f64> = ordered.windows(2).map(|pair| pair[1].time - pair[0].time).collect();
    let Some(period) = Measure::Median.of(&periods) else {
        return Err(EnergyError::TooFewSamples { samples: ordered.len() });
    };
    for (pair, &seconds) in ordered.windows(2).zip(&periods) {
        if seconds > options.max_gap_periods * period {
            return Err(EnergyError::Gap { after: pair[0].time, seconds, period });
        }
    }
    let entries = union(entries);
    let (Some(begin), Some(end)) = (entries.first(), entries.last()) else {
        return Err(EnergyError::NoEntries);
    };
    let seconds = (first.time - begin.start).max(end.stop - last.time);
    if seconds > options.max_hold_periods * period {
        return Err(EnergyError::Outside { seconds, period });
    }
    let parts: Vec<f64> = entries.iter().map(|&entry| integral(&ordered, entry)).collect();
    Ok(sum(&parts))
}

/// Integral of the piecewise linear power over one interval; `samples` ascend strictly.
fn integral(samples: &[PowerSample], span: Interval) -> f64 {
    let inside = samples.partition_point(|sample| sample.time <= span.start)
        ..samples.partition_point(|sample| sample.time < span.stop);
    let mut area = 0.0;
    let mut previous = PowerSample { time: span.start, watts: power_at(samples, span.start) };
    let end = PowerSample { time: span.stop, watts: power_at(samples, span.stop) };
    // An interval between two samples has no sample inside: its range may be empty or reversed.
    let inner = samples.get(inside).unwrap_or_default();
    for &sample in inner.iter().chain(std::iter::once(&end)) {
        area += (sample.time - previous.time) * (0.5 * previous.watts + 0.5 * sample.watts);
        previous = sample;
    }
    area
}

fn power_at(samples: &[PowerSample], time: f64) -> f64 {
    let after = samples.partition_point(|sample| sample.time <= time);
    let low = after.checked_sub(1).and_then(|at| samples.get(at));
    match (low, samples.get(after)) {
        (Some(low), Some(high)) => {
            let part = (time - low.time) / (high.time - low.time);
            low.watts + (high.watts - low.watts) * part
        }
        (Some(edge), None) | (None, Some(edge)) => edge.watts,
        (None, None) => 0.0,
    }
}

/// Mean power times the length of the run, in joules (`mean` of PascalData).
#[must_use]
pub fn energy_from_mean_power(samples: &[PowerSample], run_seconds: f64) -> Option<f64> {
    let watts: Vec<f64> = samples.iter().map(|sample| sample.watts).collect();
    mean(&watts).map(|power| power * run_seconds).filter(|joules| joules.is_finite())
}

/// Sum of `dt x power` in joules, for files whose sample times are distances to the sample before
/// (`timediff` of PascalData); [`PowerSample::time`] holds that distance then.
#[must_use]
pub fn energy_from_deltas(samples: &[PowerSample]) -> Option<f64> {
    let parts: Vec<f64> = samples.iter().map(|sample| sample.time * sample.watts).collect();
    Some(sum(&parts)).filter(|joules| !parts.is_empty() && joules.is_finite())
}

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
