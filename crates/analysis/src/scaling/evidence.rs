//! What the times of one region rest on: how often they were measured, whether they are long enough
//! for clocks, and which of them do not belong to the others.

use super::grid::Grid;
use crate::math::{Measure, dispersion, outliers};

/// Times below this are decided by start-up and the grain of clocks, in seconds.
pub const SHORT: f64 = 0.01;
/// An outlier among repetitions that is told is off their median by this part of it at least.
const LEAST_DEVIATION: f64 = 0.2;
/// Two or three repetitions that differ by this factor do not say which of them is right.
const LEAST_SPREAD: f64 = 1.5;
/// A configuration is out of line when its time is this many times all of its neighbours'.
const LEAST_SPIKE: f64 = 3.0;

/// A configuration, and by which factor it differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stray {
    /// Position of the input.
    pub input: usize,
    /// Position of the core count.
    pub core_idx: usize,
    /// Of repetitions: the outlier over the median, or the largest over the smallest of two or
    /// three. Of configurations: the time over the largest of the neighbours'.
    pub factor: f64,
}

/// What the times of a region rest on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GridEvidence {
    /// Number of measured configurations.
    pub num_measured: usize,
    /// The largest number of repetitions of one configuration.
    pub most_repetitions: usize,
    /// Configurations whose time is below [`SHORT`].
    pub short: Vec<(usize, usize)>,
    /// Configurations with a repetition that does not belong to the others.
    pub outliers: Vec<Stray>,
    /// Configurations that do not belong to their neighbours, among both inputs and core counts.
    pub spikes: Vec<Stray>,
}

/// What times rest on.
///
/// A configuration is out of line when its neighbours on both sides, along the inputs, or along
/// the core counts where there are no three inputs, took less than a third of its time: work that
/// grows or shrinks steadily never does. Both directions must agree where both are known.
#[must_use]
pub fn grid_evidence(grid: &Grid, measure: Measure) -> GridEvidence {
    let mut out = GridEvidence::default();
    let time = |input: usize, core_idx: usize| {
        measure.of(grid.repetitions(input, core_idx)).filter(|time| *time > 0.0)
    };
    for (input, core_idx, times) in grid.measured() {
        out.num_measured += 1;
        out.most_repetitions = out.most_repetitions.max(times.len());
        let Some(own) = measure.of(times) else { continue };
        if own < SHORT {
            out.short.push((input, core_idx));
        }
        if let Some(factor) = outlier(times) {
            out.outliers.push(Stray { input, core_idx, factor });
        }
        let around = |lower: Option<f64>, upper: Option<f64>| {
            lower.zip(upper).map(|(lower, upper)| own / lower.max(upper))
        };
        let before = |at: usize| at.checked_sub(1);
        let inputs = around(
            before(input).and_then(|input| time(input, core_idx)),
            time(input + 1, core_idx),
        );
        let cores = around(
            before(core_idx).and_then(|core_idx| time(input, core_idx)),
            time(input, core_idx + 1),
        );
        let factor = match (inputs, cores) {
            (Some(inputs), Some(cores)) => Some(inputs.min(cores)),
            (one, other) => one.or(other),
        };
        if let Some(factor) = factor.filter(|factor| *factor >= LEAST_SPIKE) {
            out.spikes.push(Stray { input, core_idx, factor });
        }
    }
    out
}

/// By which factor a repetition is off the others, where one is.
fn outlier(times: &[f64]) -> Option<f64> {
    let spread = dispersion(times)?;
    if (2..4).contains(&times.len()) {
        let factor = spread.max / spread.min;
        return (factor.is_finite() && factor >= LEAST_SPREAD).then_some(factor);
    }
    let far = outliers(times);
    let off = |at: usize| times.get(at).map(|time| time / spread.median);
    let most = far.into_iter().filter_map(off).filter(|factor| factor.is_finite());
    let most = most.max_by(|a, b| (a - 1.0).abs().total_cmp(&(b - 1.0).abs()))?;
    ((most - 1.0).abs() >= LEAST_DEVIATION).then_some(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(inputs: usize, cores: &[u32], times: impl Fn(usize, u32) -> Vec<f64>) -> Grid {
        let names = (0..inputs).map(|at| at.to_string()).collect();
        let row = |input: usize| cores.iter().map(|&cores| times(input, cores)).collect();
        Grid::new(names, cores.to_vec(), (0..inputs).map(row).collect()).unwrap()
    }

    fn ask(grid: &Grid) -> GridEvidence {
        grid_evidence(grid, Measure::Median)
    }

    #[test]
    fn steady_times_with_repetitions_have_nothing_to_say() {
        let steady = |input: usize, cores: u32| {
            let time = 4.0 * f64::from(1 << input) / f64::from(cores);
            vec![time, 1.01 * time, 0.99 * time, 1.02 * time]
        };
        let found = ask(&grid(4, &[1, 2, 4, 8], steady));
        let expected =
            GridEvidence { num_measured: 16, most_repetitions: 4, ..GridEvidence::default() };
        assert_eq!(found, expected);
        // More cores that make it slower and slower are no outlier.
        let found = ask(&grid(1, &[1, 2, 4], |_, cores| vec![f64::from(cores).powi(3)]));
        assert_eq!(found.spikes, []);
    }

    #[test]
    fn one_repetition_that_is_far_off_is_found_and_small_differences_are_not() {
        let planted = |_: usize, cores: u32| match cores {
            2 => vec![5.0, 5.01, 4.99, 5.02, 9.0],
            _ => vec![10.0 / f64::from(cores), 10.3 / f64::from(cores), 9.9 / f64::from(cores)],
        };
        let found = ask(&grid(1, &[1, 2, 4], planted));
        assert_eq!(found.outliers.len(), 1);
        assert_eq!((found.outliers[0].input, found.outliers[0].core_idx), (0, 1));
        assert!((found.outliers[0].factor - 9.0 / 5.01).abs() < 1e-9);
        let found = ask(&grid(1, &[1, 2], |_, _| vec![5.0, 5.001, 5.002, 5.1]));
        assert_eq!(found.outliers, []);
        let found = ask(&grid(1, &[1, 2], |_, cores| match cores {
            1 => vec![5.0, 5.0],
            _ => vec![2.0, 4.0],
        }));
        assert_eq!(found.outliers, [Stray { input: 0, core_idx: 1, factor: 2.0 }]);
    }

    #[test]
    fn one_input_that_is_out_of_line_is_found() {
        let planted = |input: usize, cores: u32| {
            let time = 4.0 * f64::from(1 << input) / f64::from(cores);
            vec![if (input, cores) == (2, 4) { 20.0 * time } else { time }]
        };
        let found = ask(&grid(5, &[1, 2, 4, 8], planted));
        assert_eq!(found.spikes, [Stray { input: 2, core_idx: 2, factor: 10.0 }]);
    }

    #[test]
    fn short_times_are_counted() {
        let found = ask(&grid(2, &[1, 2], |input, _| vec![if input == 0 { 0.004 } else { 0.4 }]));
        assert_eq!((found.short, found.num_measured), (vec![(0, 0), (0, 1)], 4));
        assert_eq!(found.most_repetitions, 1);
    }
}
