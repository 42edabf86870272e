//! [`Histogram`]: how many values are how large.

use crate::math::numeric::count;

/// Bins at most, whatever rule or wish.
pub const MAX_BINS: usize = 1024;

/// How many bins a histogram has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Bins {
    /// By the rule of Freedman and Diaconis (1981): bins of the width 2 IQR / n^(1/3), where IQR
    /// is the distance between the quartiles. Where that is 0, by the rule of Sturges (1926):
    /// log2(n) + 1 bins. At least one.
    #[default]
    Natural,
    /// So many; at least one.
    Count(usize),
}

/// Numbers of values in bins of equal width.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// The smallest value, where the first bin begins.
    pub start: f64,
    /// Width of a bin, in the unit of the values; 0 when all values are equal.
    pub width: f64,
    /// Number of values in each bin. A bin holds its lower edge; the last one holds both.
    pub counts: Vec<u64>,
}

/// The histogram of the finite ones of `values`; `None` when there are none.
#[must_use]
pub fn histogram(values: &[f64], bins: Bins) -> Option<Histogram> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (start, end) = (*sorted.first()?, *sorted.last()?);
    let span = end - start;
    let number = match bins {
        Bins::Count(number) => number,
        Bins::Natural => natural(&sorted, span),
    };
    let number = if span > 0.0 { number.clamp(1, MAX_BINS) } else { 1 };
    let mut counts = vec![0_u64; number];
    for value in &sorted {
        let part = if span > 0.0 { (value - start) / span } else { 0.0 };
        let bin = ((part * count(number)) as usize).min(number - 1);
        if let Some(bin) = counts.get_mut(bin) {
            *bin += 1;
        }
    }
    Some(Histogram { start, width: span / count(number), counts })
}

fn natural(sorted: &[f64], span: f64) -> usize {
    let n = count(sorted.len());
    let quartiles = super::distribution::percentile(sorted, 75.0)
        - super::distribution::percentile(sorted, 25.0);
    let width = 2.0 * quartiles / n.cbrt();
    let number = if width > 0.0 { span / width } else { n.log2() + 1.0 };
    number.ceil().min(count(MAX_BINS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_once_and_edges_belong_to_the_upper_bin() {
        let found = histogram(&[0.0, 1.0, 2.0, 3.0, 4.0, f64::NAN], Bins::Count(4)).unwrap();
        assert_eq!((found.start, found.width), (0.0, 1.0));
        assert_eq!(found.counts, [1, 1, 1, 2]);
        let one = histogram(&[7.0; 3], Bins::Natural).unwrap();
        assert_eq!((one.start, one.width, one.counts), (7.0, 0.0, vec![3]));
        assert_eq!(histogram(&[], Bins::Natural), None);
    }

    #[test]
    fn natural_bins_follow_freedman_and_diaconis() {
        // 0..=999: quartiles 249.75 and 749.25, width 2 * 499.5 / 10 = 99.9, ten bins of the span.
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let found = histogram(&values, Bins::Natural).unwrap();
        assert_eq!(found.counts, [100; 10]);
        // Most values equal: Sturges, log2(8) + 1 = 4 bins.
        let spike = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0];
        assert_eq!(histogram(&spike, Bins::Natural).unwrap().counts, [7, 0, 0, 1]);
        // One far away must not ask for millions of bins.
        let mut far: Vec<f64> = (0..100).map(f64::from).collect();
        far.push(1e12);
        assert_eq!(histogram(&far, Bins::Natural).unwrap().counts.len(), MAX_BINS);
    }
}
