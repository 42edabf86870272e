//! Numerics that several analyses share: sums in a fixed order, least squares, statistics of a sample,
//! correlation, tests of significance, pseudo-random numbers. Nothing in here knows what a context
//! or a location is.

mod correlations;
mod dispersion;
pub(crate) mod numeric;
mod random;
mod significance;

pub use correlations::{
    Correlation, CorrelationTests, MOST_EXACT, Sample, pearson, ranks, spearman,
};
pub use dispersion::{Dispersion, Measure, dispersion, outliers};
pub use random::Random;
pub use significance::{
    Basis, Test, adjust, benjamini_hochberg, paired, paired_ratio, separation_chance,
    t_quantile_95, t_two_sided, welch,
};
