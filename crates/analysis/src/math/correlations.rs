//! Correlation of two columns, and how likely chance makes one like it.
//!
//! Sources: C. Spearman, "The proof and measurement of association between two things" (1904), with
//! the exact distribution over all orders (as `cor.test` of R has it below ten pairs); E. J. G.
//! Pitman, "Significance tests which may be applied to samples from any populations" (1937), for
//! tests over all arrangements.

use std::collections::HashMap;
use std::sync::Arc;

use super::significance::{is_constant, moments, t_two_sided};

/// A correlation of two columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// The coefficient, from -1 to 1.
    pub coefficient: f64,
    /// Number of pairs.
    pub count: usize,
    /// Probability of such a coefficient, or one further from 0, without a connection (two-sided).
    /// Of Spearman's coefficient exact up to [`MOST_EXACT`] pairs; else by Student's distribution,
    /// but never less than the probability of the arrangement that was seen: of three pairs one in
    /// three is in order, whatever the values.
    pub p: f64,
}

/// Pairs up to which the distribution of Spearman's coefficient is computed over all orders.
pub const MOST_EXACT: usize = 9;

/// A column with what is needed of it for every pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    values: Vec<f64>,
    moments: (f64, f64),
    ranks: Vec<f64>,
    rank_moments: (f64, f64),
    /// Logarithm of the number of orders of its values that are the same: `sum ln t!` over groups
    /// of `t` equal values.
    ln_same: f64,
}

impl Sample {
    /// The column of these values; `None` below three of them, where one is not finite, and where
    /// all are equal.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.len() < 3 {
            return None;
        }
        let own = moments(values)?;
        let ranks = ranks(values);
        let rank_moments = moments(&ranks)?;
        if is_constant(own.0, own.1) || is_constant(rank_moments.0, rank_moments.1) {
            return None;
        }
        let mut sorted = ranks.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let ln_same = sorted.chunk_by(|a, b| a == b).map(|group| ln_factorial(group.len())).sum();
        Some(Self { values: values.to_vec(), moments: own, ranks, rank_moments, ln_same })
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> usize {
        self.values.len()
    }
}

fn ln_factorial(n: usize) -> f64 {
    libm::lgamma(n as f64 + 1.0)
}

/// Counts of the sums of products of ranks over all orders, by sum.
type Orders = Vec<(u64, u64)>;

/// Tests of correlations; keeps the distributions that were computed.
#[derive(Debug, Default)]
pub struct CorrelationTests {
    /// By the ranks of both columns in ascending order, twice each, so that they are whole.
    known: HashMap<(Vec<u64>, Vec<u64>), Arc<Orders>>,
}

impl CorrelationTests {
    /// Pearson's and Spearman's correlation; `None` for columns of different lengths.
    pub fn both(&mut self, x: &Sample, y: &Sample) -> Option<(Correlation, Correlation)> {
        if x.count() != y.count() {
            return None;
        }
        let mut pearson = by_student(&x.values, x.moments, &y.values, y.moments);
        let mut spearman = by_student(&x.ranks, x.rank_moments, &y.ranks, y.rank_moments);
        let is_exact = x.count() <= MOST_EXACT;
        if is_exact {
            spearman.p = self.over_all_orders(&x.ranks, &y.ranks);
        }
        // Sorting pairs is not worth it where nothing depends on it.
        if pearson.p.min(spearman.p) < 0.5 {
            let least = of_one_arrangement(x, y);
            pearson.p = pearson.p.max(least);
            if !is_exact {
                spearman.p = spearman.p.max(least);
            }
        }
        Some((pearson, spearman))
    }

    /// The share of all orders in which the coefficient of these ranks is at least as far from 0.
    fn over_all_orders(&mut self, x: &[f64], y: &[f64]) -> f64 {
        let twice = |ranks: &[f64]| -> Vec<u64> { ranks.iter().map(|r| whole(2.0 * r)).collect() };
        let (x, y) = (twice(x), twice(y));
        let seen: u64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
        let n = x.len() as u64;
        // The mean of doubled ranks is n + 1, with ties and without.
        let mean = n * (n + 1) * (n + 1);
        let sorted = |mut ranks: Vec<u64>| {
            ranks.sort_unstable();
            ranks
        };
        let key = (sorted(x), sorted(y));
        let orders = self.known.entry(key).or_insert_with_key(|(x, y)| Arc::new(orders_of(x, y)));
        let far = seen.abs_diff(mean);
        let all: u64 = orders.iter().map(|(_, count)| count).sum();
        let as_far: u64 = orders
            .iter()
            .filter(|(sum, _)| sum.abs_diff(mean) >= far)
            .map(|(_, count)| count)
            .sum();
        as_far as f64 / all.max(1) as f64
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "twice a small rank")]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

/// How many of all orders of `y` against `x` have which sum of products, computed value by value:
/// what matters of the orders so far is how many of each group of equal values they used.
fn orders_of(x: &[u64], y: &[u64]) -> Orders {
    let groups: Vec<(u64, usize)> =
        y.chunk_by(|a, b| a == b).filter_map(|g| Some((*g.first()?, g.len()))).collect();
    // A state is a number whose digits say how many of each group were used.
    let mut strides = Vec::new();
    let mut num_states = 1;
    for &(_, len) in &groups {
        strides.push(num_states);
        num_states *= len + 1;
    }
    // Both ascend, so no order has a larger sum.
    let most: u64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
    let num_sums = usize::try_from(most).unwrap_or(0) + 1;
    // Counts by sum, of each state that was reached.
    let mut states: Vec<Vec<u64>> = vec![Vec::new(); num_states];
    if let Some(first) = states.first_mut() {
        *first = vec![0; num_sums];
        first.iter_mut().take(1).for_each(|count| *count = 1);
    }
    for state in 0..num_states {
        let counts = states.get_mut(state).map(std::mem::take).unwrap_or_default();
        let used = |at: usize, len: usize| state / strides.get(at).unwrap_or(&1) % (len + 1);
        let number: usize = groups.iter().enumerate().map(|(at, &(_, len))| used(at, len)).sum();
        let Some(&value) = x.get(number) else {
            return (0..).zip(counts).filter(|(_, count)| *count > 0).collect();
        };
        for (at, &(rank, len)) in groups.iter().enumerate() {
            let left = (len - used(at, len)) as u64;
            let next = states.get_mut(state + strides.get(at).copied().unwrap_or(0));
            let Some(next) = next.filter(|_| left > 0) else { continue };
            next.resize(num_sums, 0);
            let step = usize::try_from(value * rank).unwrap_or(usize::MAX);
            for (slot, count) in next.iter_mut().skip(step).zip(&counts) {
                *slot += count * left;
            }
        }
    }
    Vec::new()
}

/// The probability of the arrangement of values that was seen among all of them, which no test over
/// arrangements can go below: `prod a! prod b! / (n! prod c!)` with `a` equal values of one column,
/// `b` of the other and `c` equal pairs (Fisher, 1935). Where no values are equal the reverse order
/// is as far from 0, so it is two of them.
fn of_one_arrangement(x: &Sample, y: &Sample) -> f64 {
    let mut ln = x.ln_same + y.ln_same - ln_factorial(x.count());
    if x.ln_same > 0.0 && y.ln_same > 0.0 {
        let mut pairs: Vec<(f64, f64)> =
            x.ranks.iter().copied().zip(y.ranks.iter().copied()).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let groups = pairs.chunk_by(|a, b| a == b);
        ln -= groups.map(|group| ln_factorial(group.len())).sum::<f64>();
    }
    let is_mirrored = x.ln_same == 0.0 && y.ln_same == 0.0;
    let number = if is_mirrored { 2.0 } else { 1.0 };
    (number * libm::exp(ln)).min(1.0)
}

fn by_student(
    x: &[f64],
    (mean_x, var_x): (f64, f64),
    y: &[f64],
    (mean_y, var_y): (f64, f64),
) -> Correlation {
    let mut products: Vec<f64> =
        x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).collect();
    products.sort_by(f64::total_cmp);
    let n = x.len() as f64;
    let covariance = products.iter().sum::<f64>() / (n - 1.0);
    let r = (covariance / (var_x.sqrt() * var_y.sqrt())).clamp(-1.0, 1.0);
    let rest = (1.0 - r) * (1.0 + r);
    let p = if rest <= 0.0 { 0.0 } else { t_two_sided(r * ((n - 2.0) / rest).sqrt(), n - 2.0) };
    Correlation { coefficient: r, count: x.len(), p }
}

/// Pearson's correlation; `None` below three pairs, or where a column is constant.
#[must_use]
pub fn pearson(x: &[f64], y: &[f64]) -> Option<Correlation> {
    let (x, y) = (Sample::of(x)?, Sample::of(y)?);
    CorrelationTests::default().both(&x, &y).map(|both| both.0)
}

/// Spearman's correlation: Pearson's of the ranks, where equal values share the mean of their
/// ranks.
#[must_use]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<Correlation> {
    let (x, y) = (Sample::of(x)?, Sample::of(y)?);
    CorrelationTests::default().both(&x, &y).map(|both| both.1)
}

/// The rank of each value from 1; equal values have the mean of their ranks.
#[must_use]
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let of = |at: usize| values.get(at).copied().unwrap_or(f64::NAN);
    order.sort_by(|&a, &b| of(a).total_cmp(&of(b)));
    let mut out = vec![0.0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|&a, &b| of(a) == of(b)) {
        // Ranks start + 1 to start + len have this mean.
        let mean = (2 * start + group.len() + 1) as f64 / 2.0;
        for &at in group {
            if let Some(slot) = out.get_mut(at) {
                *slot = mean;
            }
        }
        start += group.len();
    }
    out
}
