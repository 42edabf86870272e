//! Tests of differences, with exact distributions.
//!
//! Sources: B. L. Welch, "The generalization of Student's problem when several different
//! population variances are involved" (1947); Student's paired test; L. V. Hedges (1981) for the
//! effect size; Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate" (1995); the
//! incomplete beta function by the continued fraction DLMF 8.17.22.

/// What the difference of two samples stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Several executions of each version: Welch's test.
    Repetitions,
    /// The same locations in one execution of each: [`paired_ratio`]. It knows nothing of the noise
    /// between executions.
    PairedLocations,
    /// Different locations in one execution of each: Welch's test. It knows nothing of the noise
    /// between executions.
    Locations,
}

impl Basis {
    /// What a difference that is no more than chance is within.
    #[must_use]
    pub const fn chance(self) -> &'static str {
        match self {
            Self::Repetitions => "within noise",
            Self::PairedLocations | Self::Locations => "within the variation over locations",
        }
    }

    /// The word of tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repetitions => "repetitions",
            Self::PairedLocations => "paired locations",
            Self::Locations => "locations",
        }
    }
}

/// Whether a difference is more than what the values of one sample differ by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// What it stands on.
    pub basis: Basis,
    /// Number of values of the old and of the new sample; of pairs the same number twice.
    pub counts: (usize, usize),
    /// Probability of a difference as large as this one or larger, if the versions are equal
    /// (two-sided).
    pub p: f64,
    /// The same with many contexts tested at once (Benjamini and Hochberg); `p` until adjusted.
    pub adjusted_p: f64,
    /// 95 % interval of the difference of the means, in the unit of the values.
    pub interval: (f64, f64),
    /// Difference in standard deviations: Hedges' g, of pairs Cohen's d of the differences;
    /// `None` where nothing varies.
    pub effect: Option<f64>,
}

fn count(n: usize) -> f64 {
    n as f64
}

/// Mean and sample variance (divisor n - 1); sums in the order of size, so that the order of the
/// values changes no bit. `None` below two values, or when one is not finite.
pub(super) fn moments(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = sorted.iter().sum::<f64>() / count(sorted.len());
    let squares: f64 = sorted.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((mean, squares / (count(sorted.len()) - 1.0)))
}

/// Rounding of equal values: a standard deviation below this share of the mean is none.
const ROUNDING: f64 = 1e-13;

pub(super) fn is_constant(mean: f64, variance: f64) -> bool {
    variance.sqrt() <= mean.abs() * ROUNDING
}

/// Welch's test of two independent samples; `None` when one has fewer than two values.
///
/// Where neither sample varies, any difference is certain: p is 0, or 1 without a difference.
#[must_use]
pub fn welch(old: &[f64], new: &[f64], basis: Basis) -> Option<Test> {
    let ((mean_old, var_old), (mean_new, var_new)) = (moments(old)?, moments(new)?);
    let (n, m) = (count(old.len()), count(new.len()));
    let difference = mean_new - mean_old;
    let counts = (old.len(), new.len());
    if is_constant(mean_old, var_old) && is_constant(mean_new, var_new) {
        return Some(certain(basis, counts, difference, mean_old.abs().max(mean_new.abs())));
    }
    let (a, b) = (var_old / n, var_new / m);
    let error = (a + b).sqrt();
    let freedom = (a + b) * (a + b) / (a * a / (n - 1.0) + b * b / (m - 1.0));
    let pooled = (((n - 1.0) * var_old + (m - 1.0) * var_new) / (n + m - 2.0)).sqrt();
    let small = 1.0 - 3.0 / (4.0 * (n + m) - 9.0);
    let half = t_quantile_95(freedom) * error;
    let p = t_two_sided(difference / error, freedom);
    Some(Test {
        basis,
        counts,
        p,
        adjusted_p: p,
        interval: (difference - half, difference + half),
        effect: Some(difference / pooled * small),
    })
}

/// Student's test of the differences of pairs, `new - old`; `None` below two pairs.
#[must_use]
pub fn paired(old: &[f64], new: &[f64], basis: Basis) -> Option<Test> {
    if old.len() != new.len() {
        return None;
    }
    let differences: Vec<f64> = old.iter().zip(new).map(|(a, b)| b - a).collect();
    let (mean, variance) = moments(&differences)?;
    let counts = (old.len(), new.len());
    let size = old.iter().chain(new).map(|value| value.abs()).fold(0.0, f64::max);
    if variance.sqrt() <= size * ROUNDING {
        return Some(certain(basis, counts, mean, size));
    }
    let n = count(differences.len());
    let deviation = variance.sqrt();
    let error = deviation / n.sqrt();
    let half = t_quantile_95(n - 1.0) * error;
    let p = t_two_sided(mean / error, n - 1.0);
    Some(Test {
        basis,
        counts,
        p,
        adjusted_p: p,
        interval: (mean - half, mean + half),
        effect: Some(mean / deviation),
    })
}

/// The ratio of the sums of pairs, by what pairs differ from that ratio: a change that all pairs
/// share in proportion is distinguished from one that only some have. The interval is that of the
/// difference of the means. Where all old values are 0, the test of [`paired`].
///
/// Source: the ratio estimator `R = sum b / sum a` with the variance
/// `n / (n - 1) sum (b - R a)² / (sum a)²` (W. G. Cochran, "Sampling Techniques", 1977, chapter 6),
/// and Student's distribution with `n - 1` degrees of freedom for `(R - 1) / error`.
#[must_use]
pub fn paired_ratio(old: &[f64], new: &[f64], basis: Basis) -> Option<Test> {
    let plain = paired(old, new, basis)?;
    let ordered = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.iter().sum::<f64>()
    };
    let (before, after) = (ordered(old), ordered(new));
    if old.iter().chain(new).any(|value| *value < 0.0) || before <= 0.0 {
        return Some(plain);
    }
    let n = count(old.len());
    let ratio = after / before;
    let squares: Vec<f64> =
        old.iter().zip(new).map(|(old, new)| (new - ratio * old) * (new - ratio * old)).collect();
    let error = (n / (n - 1.0) * ordered(&squares)).sqrt() / before;
    let difference = (after - before) / n;
    let size = old.iter().chain(new).copied().fold(0.0, f64::max);
    if error * before / n <= size * ROUNDING {
        return Some(Test {
            effect: plain.effect,
            ..certain(basis, plain.counts, difference, size)
        });
    }
    let half = t_quantile_95(n - 1.0) * error * before / n;
    let p = t_two_sided((ratio - 1.0) / error, n - 1.0);
    Some(Test { p, adjusted_p: p, interval: (difference - half, difference + half), ..plain })
}

impl Test {
    /// The test of times that were rounded when they were written: where no repetition differs from
    /// another, `certain` would call a difference of one rounding step certain. What is left is the
    /// probability that equal versions separate like that.
    #[must_use]
    pub fn of_rounded(self) -> Self {
        if self.basis != Basis::Repetitions || self.has_spread() || self.p > 0.0 {
            return self;
        }
        let p = separation_chance(self.counts.0, self.counts.1);
        Self { p, adjusted_p: p, ..self }
    }

    /// Whether the values of a sample differ from each other at all.
    #[must_use]
    pub fn has_spread(&self) -> bool {
        self.effect.is_some()
    }
}

/// Probability that two samples of equal versions do not overlap: `2 n! m! / (n + m)!`, two of the
/// equally likely arrangements (H. B. Mann and D. R. Whitney, 1947, for U = 0, two-sided).
#[must_use]
pub fn separation_chance(n: usize, m: usize) -> f64 {
    let arrangements =
        (1..=n.min(m)).fold(1.0, |product, k| product * count(n.max(m) + k) / count(k));
    (2.0 / arrangements).min(1.0)
}

fn certain(basis: Basis, counts: (usize, usize), difference: f64, size: f64) -> Test {
    let is_equal = difference.abs() <= size * ROUNDING;
    let p = if is_equal { 1.0 } else { 0.0 };
    Test { basis, counts, p, adjusted_p: p, interval: (difference, difference), effect: None }
}

/// Probability that a variable with Student's distribution lies at least as far from 0 as `t`:
/// `I_x(f/2, 1/2)` with `x = f / (f + t²)`.
#[must_use]
pub fn t_two_sided(t: f64, freedom: f64) -> f64 {
    if !t.is_finite() {
        return if t.is_nan() { 1.0 } else { 0.0 };
    }
    let square = t * t;
    let x = freedom / (freedom + square);
    // Near x = 1 the complement keeps its digits.
    let rest = square / (freedom + square);
    if rest < 0.5 {
        (1.0 - incomplete_beta(0.5, freedom / 2.0, rest)).clamp(0.0, 1.0)
    } else {
        incomplete_beta(freedom / 2.0, 0.5, x).clamp(0.0, 1.0)
    }
}

/// The value that a variable with Student's distribution exceeds, by amount, in 5 of 100 cases.
#[must_use]
pub fn t_quantile_95(freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 2.0);
    while t_two_sided(high, freedom) > 0.05 && high < 1e12 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if t_two_sided(middle, freedom) > 0.05 {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The regularised incomplete beta function `I_x(a, b)`.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let front = libm::exp(
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b)
            + a * libm::log(x)
            + b * libm::log1p(-x),
    ) / a;
    front * beta_fraction(a, b, x)
}

/// The continued fraction of the incomplete beta function by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..100_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        let change = d * c;
        value *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// Adjusts the probabilities of all tests that were made for one answer, whatever they are of, by
/// [`benjamini_hochberg`]; gives their number.
pub fn adjust<'t>(tests: impl Iterator<Item = &'t mut Test>) -> usize {
    let mut tests: Vec<&mut Test> = tests.collect();
    let mut p: Vec<f64> = tests.iter().map(|test| test.p).collect();
    benjamini_hochberg(&mut p);
    tests.iter_mut().zip(&p).for_each(|(test, p)| test.adjusted_p = *p);
    tests.len()
}

/// Adjusts probabilities of many tests, in place: the smallest share of false alarms at which each
/// would be reported.
pub fn benjamini_hochberg(p: &mut [f64]) {
    let mut order: Vec<usize> = (0..p.len()).collect();
    let of = |p: &[f64], at: usize| p.get(at).copied().unwrap_or(1.0);
    order.sort_by(|&a, &b| of(p, a).total_cmp(&of(p, b)).then(a.cmp(&b)));
    let mut least = 1.0_f64;
    for (rank, &at) in order.iter().enumerate().rev() {
        least = least.min(of(p, at) * count(order.len()) / count(rank + 1));
        if let Some(slot) = p.get_mut(at) {
            *slot = least;
        }
    }
}
