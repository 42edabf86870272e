//! [`Distribution`]: how one cost is spread over locations.

use crate::math::numeric::{count, sum};

/// Positions of the percentiles of a [`Distribution`], in per cent.
pub const PERCENTILES: [f64; 5] = [5.0, 25.0, 50.0, 75.0, 95.0];

/// How a cost is spread over its members (locations, or groups of them). In the unit of the metric
/// unless said otherwise. Does not depend on the order of the members.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Number n of members, those that spent nothing included.
    pub num_members: usize,
    /// Number of members that spent something.
    pub num_values: usize,
    /// Sum over all members.
    pub sum: f64,
    /// `sum / n`.
    pub mean: f64,
    /// The smallest share; 0 when a member spent nothing.
    pub min: f64,
    /// The largest share.
    pub max: f64,
    /// `mean / max`, in (0, 1]: 1 is perfect balance, 1/n means that one member does everything.
    /// The "balance ratio" of hpcanalysis. `None` when no member spent anything.
    pub balance_ratio: Option<f64>,
    /// `max / mean`, 1 and above: the classical imbalance factor. `None` when the mean is not
    /// positive.
    pub imbalance: Option<f64>,
    /// Sample variance (divisor n - 1, as hpcanalysis and pandas), in the squared unit. `None` for
    /// a single member.
    pub variance: Option<f64>,
    /// Square root of the variance.
    pub std_dev: Option<f64>,
    /// Coefficient of variation: `std_dev / mean`. `None` when the mean is not positive.
    pub variation: Option<f64>,
    /// At [`PERCENTILES`], by linear interpolation between the two nearest members (the default of
    /// numpy and of spreadsheets; type 7 of Hyndman and Fan, 1996).
    pub percentiles: [f64; 5],
    /// `max - mean`: what each member would save if the same work were spread evenly. The saving
    /// of hpcanalysis' iteration model.
    pub saving: f64,
    /// `n max - sum`: what all members together spend waiting when the slowest holds them up.
    pub wasted: f64,
    /// Number of members in equal bins from `min` to `max`; all in the first when these are equal.
    pub histogram: Vec<u32>,
}

impl Distribution {
    /// The distribution of `values`, one per member, into `num_bins` bins; `None` of nothing.
    #[must_use]
    pub fn new(values: &[f64], num_bins: usize) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let n = count(sorted.len());
        // The sum over sorted values is the same whatever the order of the members.
        let total = sum(&sorted);
        // Rounding must not put the mean outside of what it is the mean of.
        let mean = (total / n).clamp(min, max);
        let variance = (sorted.len() > 1).then(|| {
            let squares: Vec<f64> = sorted.iter().map(|x| (x - mean) * (x - mean)).collect();
            sum(&squares) / (n - 1.0)
        });
        let std_dev = variance.map(f64::sqrt);
        let positive_mean = Some(mean).filter(|mean| *mean > 0.0);
        Some(Self {
            num_members: sorted.len(),
            num_values: sorted.iter().filter(|x| **x != 0.0).count(),
            sum: total,
            mean,
            min,
            max,
            balance_ratio: positive_mean.map(|mean| mean / max),
            imbalance: positive_mean.map(|mean| max / mean),
            variance,
            std_dev,
            variation: positive_mean.zip(std_dev).map(|(mean, deviation)| deviation / mean),
            percentiles: PERCENTILES.map(|percent| percentile(&sorted, percent)),
            saving: max - mean,
            wasted: (n * max - total).max(0.0),
            histogram: histogram(&sorted, min, max, num_bins),
        })
    }
}

pub(super) fn percentile(sorted: &[f64], percent: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let position = percent / 100.0 * count(last);
    let below = (position.floor() as usize).min(last);
    let at = |i: usize| sorted.get(i.min(last)).copied().unwrap_or(0.0);
    let part = position - count(below);
    at(below) + part * (at(below + 1) - at(below))
}

fn histogram(values: &[f64], min: f64, max: f64, num_bins: usize) -> Vec<u32> {
    let mut bins = vec![0_u32; num_bins];
    let width = max - min;
    let Some(last) = num_bins.checked_sub(1) else { return bins };
    for value in values {
        let part = if width > 0.0 { (value - min) / width } else { 0.0 };
        bins[((part * count(num_bins)) as usize).min(last)] += 1;
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_members_by_hand() {
        let d = Distribution::new(&[4.0, 1.0, 0.0, 3.0], 4).unwrap();
        assert_eq!((d.num_members, d.num_values, d.sum, d.mean), (4, 3, 8.0, 2.0));
        assert_eq!((d.min, d.max, d.saving, d.wasted), (0.0, 4.0, 2.0, 8.0));
        assert_eq!((d.balance_ratio, d.imbalance), (Some(0.5), Some(2.0)));
        // Deviations 2, -1, -2, 1: squares 4 + 1 + 4 + 1 = 10, over 3.
        assert_eq!(d.variance, Some(10.0 / 3.0));
        assert_eq!(d.variation, Some((10.0_f64 / 3.0).sqrt() / 2.0));
        // Sorted 0 1 3 4; positions 0.15, 0.75, 1.5, 2.25, 2.85.
        let expected = [0.15, 0.75, 2.0, 3.25, 3.85];
        for (got, expected) in d.percentiles.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12, "{got} {expected}");
        }
        assert_eq!(d.histogram, [1, 1, 0, 2]);
    }

    #[test]
    fn one_member_is_balanced_and_nothing_is_nothing() {
        let one = Distribution::new(&[7.0], 3).unwrap();
        assert_eq!((one.balance_ratio, one.variance, one.saving), (Some(1.0), None, 0.0));
        assert_eq!(one.percentiles, [7.0; 5]);
        assert_eq!(one.histogram, [1, 0, 0]);
        let idle = Distribution::new(&[0.0, 0.0], 3).unwrap();
        assert_eq!((idle.balance_ratio, idle.imbalance, idle.variation), (None, None, None));
        assert_eq!(Distribution::new(&[], 3), None);
    }
}
