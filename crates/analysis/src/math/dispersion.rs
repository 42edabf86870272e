//! Statistics over the repetitions of one configuration.

use super::numeric::{count, mean, sum};
use super::significance::t_quantile_95;

/// Which statistic of the repetitions stands for a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Measure {
    /// Middle value; of an even number, the mean of the two middle ones. PaScal's choice.
    #[default]
    Median,
    /// Arithmetic mean. Extra-P's choice.
    Mean,
    /// Smallest value: the run that was disturbed least.
    Min,
    /// Largest value.
    Max,
}

impl Measure {
    /// The statistic of `values`; `None` of nothing.
    ///
    /// The order of the values does not matter: means are taken over the sorted values.
    #[must_use]
    pub fn of(self, values: &[f64]) -> Option<f64> {
        if values.is_empty() {
            return None;
        }
        let sorted = sorted(values);
        match self {
            Self::Median => median_of_sorted(&sorted),
            Self::Mean => mean(&sorted),
            Self::Min => sorted.first().copied(),
            Self::Max => sorted.last().copied(),
        }
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(middle.checked_sub(1)?)?;
    // Halving first cannot overflow; for times both forms give the same bits.
    Some(0.5 * lower + 0.5 * upper)
}

/// How far the repetitions of one configuration lie apart. Times in the unit of the values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dispersion {
    /// Number of repetitions.
    pub count: usize,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Median absolute deviation from the median, not scaled.
    pub median_abs_deviation: f64,
    /// Sample standard deviation (divisor n - 1); `None` below two repetitions.
    pub std_dev: Option<f64>,
    /// Coefficient of variation: `std_dev / mean`; `None` where the mean is 0.
    pub variation: Option<f64>,
    /// 95 % confidence interval of the mean by Student's t; `None` below two repetitions.
    pub mean_interval: Option<(f64, f64)>,
}

/// Dispersion of the repetitions; `None` of nothing or when a value is not finite.
///
/// Source: textbook sample statistics.
#[must_use]
pub fn dispersion(values: &[f64]) -> Option<Dispersion> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let sorted = sorted(values);
    let mean = mean(&sorted)?;
    let median = median_of_sorted(&sorted)?;
    let std_dev = (sorted.len() > 1).then(|| {
        let squares: Vec<f64> =
            sorted.iter().map(|value| (value - mean) * (value - mean)).collect();
        (sum(&squares) / count(sorted.len() - 1)).sqrt()
    });
    let half_width = std_dev.map(|deviation| {
        t_quantile_95(count(sorted.len() - 1)) * deviation / count(sorted.len()).sqrt()
    });
    Some(Dispersion {
        count: sorted.len(),
        min: *sorted.first()?,
        max: *sorted.last()?,
        mean,
        median,
        median_abs_deviation: median_abs_deviation(&sorted, median)?,
        std_dev,
        variation: std_dev.filter(|_| mean != 0.0).map(|deviation| deviation / mean),
        mean_interval: half_width.map(|half| (mean - half, mean + half)),
    })
}

fn median_abs_deviation(values: &[f64], median: f64) -> Option<f64> {
    let deviations: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    Measure::Median.of(&deviations)
}

/// Positions of the repetitions that do not belong to the others.
///
/// A value is an outlier when its modified z-score `0.6745 |x - median| / MAD` exceeds 3.5
/// (Iglewicz and Hoaglin, "How to detect and handle outliers", 1993). Where more than half of the
/// values are equal the MAD is 0 and the mean absolute deviation, scaled by 1.2533, takes its
/// place. Fewer than four repetitions cannot show an outlier.
#[must_use]
pub fn outliers(values: &[f64]) -> Vec<usize> {
    const LIMIT: f64 = 3.5;
    const NORMAL_QUARTILE: f64 = 0.674_489_750_196_081_7;
    const NORMAL_MEAN_DEVIATION: f64 = 1.253_314_137_315_500_3;
    if values.len() < 4 || values.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let Some(median) = Measure::Median.of(values) else { return Vec::new() };
    let deviations: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    let scale = match (Measure::Median.of(&deviations), Measure::Mean.of(&deviations)) {
        (Some(mad), _) if mad > 0.0 => mad / NORMAL_QUARTILE,
        (_, Some(deviation)) if deviation > 0.0 => deviation * NORMAL_MEAN_DEVIATION,
        _ => return Vec::new(),
    };
    deviations
        .iter()
        .enumerate()
        .filter(|&(_, &deviation)| deviation / scale > LIMIT)
        .map(|(at, _)| at)
        .collect()
}
