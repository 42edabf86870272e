//! Energy from a power series, with the gates that make it trustworthy.

/// Energy of one region in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// Energy in joules.
    pub joules: f64,
    /// Time inside the region in seconds.
    pub seconds: f64,
}

/// Why a power series gives no energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnergyFault {
    /// One sample says nothing about a period.
    #[error("fewer than two power samples")]
    TooFewSamples,
    /// A broken sensor.
    #[error("a power sample is negative or not a number")]
    BadSample,
    /// The sensor paused.
    #[error("a gap between power samples is longer than three times their usual period")]
    Gap,
    /// The region reaches too far beyond the samples.
    #[error("the region reaches beyond the power samples by more than one period")]
    Outside,
}

/// Integrates power over the union of intervals.
///
/// `samples` are (time in seconds, power in watts) in any order; of equal times the last counts.
/// `intervals` are disjoint and ascending. Power is linear between samples, and held for at most
/// one median period before the first and after the last.
///
/// # Errors
/// When one of the gates says that the result would not be trustworthy.
pub fn energy_of_intervals(
    samples: &mut Vec<(f64, f64)>,
    intervals: &[(f64, f64)],
) -> Result<Energy, EnergyFault> {
    let period = prepare(samples)?;
    integrate(samples, period, intervals)
}

/// Sorts the samples and returns their median period.
pub(super) fn prepare(samples: &mut Vec<(f64, f64)>) -> Result<f64, EnergyFault> {
    if samples.iter().any(|&(time, watts)| !time.is_finite() || !watts.is_finite() || watts < 0.0) {
        return Err(EnergyFault::BadSample);
    }
    samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    samples.dedup_by(|next, kept| {
        let equal = next.0 == kept.0;
        if equal {
            kept.1 = next.1;
        }
        equal
    });
    let mut periods: Vec<f64> =
        samples.iter().zip(samples.iter().skip(1)).map(|(a, b)| b.0 - a.0).collect();
    periods.sort_by(f64::total_cmp);
    let n = periods.len();
    let (Some(&high), Some(&longest)) = (periods.get(n / 2), periods.last()) else {
        return Err(EnergyFault::TooFewSamples);
    };
    let low =
        if n.is_multiple_of(2) { periods.get(n / 2 - 1).copied().unwrap_or(high) } else { high };
    let median = f64::midpoint(low, high);
    if longest > 3.0 * median { Err(EnergyFault::Gap) } else { Ok(median) }
}

/// As [`energy_of_intervals`], for samples that [`prepare`] sorted.
pub(super) fn integrate(
    samples: &[(f64, f64)],
    period: f64,
    intervals: &[(f64, f64)],
) -> Result<Energy, EnergyFault> {
    let (Some(&first), Some(&last)) = (samples.first(), samples.last()) else {
        return Err(EnergyFault::TooFewSamples);
    };
    let mut total = Energy { joules: 0.0, seconds: 0.0 };
    for &(start, stop) in intervals {
        if start < first.0 - period || stop > last.0 + period {
            return Err(EnergyFault::Outside);
        }
        total.seconds += stop - start;
        total.joules += (stop.min(first.0) - start).max(0.0) * first.1;
        total.joules += (stop - start.max(last.0)).max(0.0) * last.1;
        let from = samples.partition_point(|s| s.0 <= start).saturating_sub(1);
        let inside = samples.get(from..).unwrap_or_default();
        for (a, b) in inside.iter().zip(inside.iter().skip(1)) {
            if a.0 >= stop {
                break;
            }
            let (low, high) = (a.0.max(start), b.0.min(stop));
            if high <= low {
                continue;
            }
            let slope = (b.1 - a.1) / (b.0 - a.0);
            let (power_low, power_high) = (a.1 + slope * (low - a.0), a.1 + slope * (high - a.0));
            total.joules += (high - low) * f64::midpoint(power_low, power_high);
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_integrates_exactly_between_and_beyond_its_samples() {
        let mut samples = vec![(2.0, 20.0), (0.0, 0.0), (1.0, 99.0), (1.0, 10.0), (3.0, 30.0)];
        let energy = energy_of_intervals(&mut samples, &[(0.5, 1.5), (2.0, 2.5)]).unwrap();
        assert!((energy.joules - (10.0 + 11.25)).abs() < 1e-12, "{energy:?}");
        assert_eq!(energy.seconds, 1.5);
        let held = energy_of_intervals(&mut samples, &[(2.5, 4.0)]).unwrap();
        assert!((held.joules - (13.75 + 30.0)).abs() < 1e-12);
    }

    #[test]
    fn gates_reject_what_cannot_be_trusted() {
        let run = |mut s: Vec<(f64, f64)>, i: (f64, f64)| energy_of_intervals(&mut s, &[i]);
        assert_eq!(run(vec![(0.0, 5.0)], (0.0, 1.0)), Err(EnergyFault::TooFewSamples));
        assert_eq!(run(vec![(0.0, 5.0), (1.0, f64::NAN)], (0.0, 1.0)), Err(EnergyFault::BadSample));
        assert_eq!(run(vec![(0.0, 5.0), (1.0, -1.0)], (0.0, 1.0)), Err(EnergyFault::BadSample));
        let gap = vec![(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (6.0, 1.0)];
        assert_eq!(run(gap, (0.0, 1.0)), Err(EnergyFault::Gap));
        let good = vec![(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)];
        assert_eq!(run(good.clone(), (0.0, 3.5)), Err(EnergyFault::Outside));
        assert_eq!(run(good, (-1.0, 3.0)).unwrap().joules, 4.0);
    }
}
