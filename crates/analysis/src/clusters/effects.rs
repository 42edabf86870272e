//! Which feature separates the groups, and by how much.

use super::Features;
use crate::math::numeric::{count, sum};

/// One feature in one group. In the unit of the feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupStats {
    /// Number of members.
    pub members: u64,
    /// Mean over them.
    pub mean: f64,
    /// Smallest and largest.
    pub range: (f64, f64),
    /// Sample standard deviation (divisor n - 1); 0 for one member.
    pub std_dev: f64,
}

/// How far a feature distinguishes the groups. Members in no group are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Position in [`Features::columns`].
    pub feature: usize,
    /// By group, from the first.
    pub groups: Vec<GroupStats>,
    /// Eta squared: the part of the variance that lies between the groups, 0 to 1 (Fisher, 1925).
    /// `None` where the feature is the same everywhere or there are fewer than two groups.
    pub eta_squared: Option<f64>,
    /// The two groups whose means are farthest apart, the one with the smaller mean first.
    pub pair: Option<(usize, usize)>,
    /// Their difference in pooled standard deviations (Cohen's d, 1988). `None` without a pair, and
    /// where both have no spread.
    pub cohens_d: Option<f64>,
    /// How likely a member of the group with the larger mean has more than one of the other; equal
    /// ones count half. 1: all do. (The area under the ROC curve; Mann and Whitney, 1947.)
    pub auc: Option<f64>,
    /// Whether no value of one group lies in the range of another.
    pub is_disjoint: bool,
}

/// The effects of all features; the one that separates best first.
pub(super) fn effects(features: &Features, of: &[Option<u32>]) -> Vec<Effect> {
    let num_groups = of.iter().flatten().max().map_or(0, |most| *most as usize + 1);
    let mut out: Vec<Effect> =
        (0..features.columns.len()).map(|f| effect(features, f, of, num_groups)).collect();
    // Rounding must not order features that separate equally well.
    let key = |effect: &Effect| (effect.eta_squared.unwrap_or(-1.0) * 1e9).round();
    let d = |effect: &Effect| effect.cohens_d.map_or(-1.0, f64::abs);
    out.sort_by(|a, b| {
        key(b).total_cmp(&key(a)).then(d(b).total_cmp(&d(a))).then(a.feature.cmp(&b.feature))
    });
    out
}

fn effect(features: &Features, feature: usize, of: &[Option<u32>], num_groups: usize) -> Effect {
    let values = features.columns.get(feature).map_or(&[][..], |column| &column.values);
    let mut by_group: Vec<Vec<f64>> = vec![Vec::new(); num_groups];
    for (&value, group) in values.iter().zip(of) {
        if let Some(list) = group.and_then(|group| by_group.get_mut(group as usize)) {
            list.push(value);
        }
    }
    by_group.iter_mut().for_each(|list| list.sort_unstable_by(f64::total_cmp));
    let squares = |list: &[f64], mean: f64| {
        sum(&list.iter().map(|value| (value - mean) * (value - mean)).collect::<Vec<_>>())
    };
    let groups: Vec<GroupStats> = by_group
        .iter()
        .map(|list| {
            let n = count(list.len());
            let mean = sum(list) / n.max(1.0);
            GroupStats {
                members: list.len() as u64,
                mean,
                range: (list.first().copied().unwrap_or(0.0), list.last().copied().unwrap_or(0.0)),
                std_dev: (squares(list, mean) / (n - 1.0).max(1.0)).sqrt(),
            }
        })
        .collect();
    let all: f64 = count(by_group.iter().map(Vec::len).sum());
    let whole = by_group.iter().map(|list| sum(list)).sum::<f64>() / all.max(1.0);
    let within: f64 =
        by_group.iter().zip(&groups).map(|(list, group)| squares(list, group.mean)).sum();
    let total: f64 = by_group.iter().map(|list| squares(list, whole)).sum();
    let is_constant = total <= all * (1e-12 * whole).powi(2);
    let pair = (num_groups > 1 && !is_constant).then(|| farthest(&groups)).flatten();
    let two = pair.and_then(|(a, b)| Some((by_group.get(a)?, by_group.get(b)?)));
    let cohens_d = pair.and_then(|(a, b)| pooled_difference(groups.get(a)?, groups.get(b)?));
    Effect {
        feature,
        eta_squared: pair.map(|_| ((total - within) / total).clamp(0.0, 1.0)),
        pair,
        cohens_d,
        auc: two.map(|(low, high)| auc(low, high)),
        is_disjoint: pair.is_some() && are_disjoint(&groups),
        groups,
    }
}

fn farthest(groups: &[GroupStats]) -> Option<(usize, usize)> {
    let means = || groups.iter().map(|group| group.mean).enumerate();
    let low = means().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    // Of equal ones the first.
    let high = means().rev().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
    (low != high).then_some((low, high))
}

fn pooled_difference(low: &GroupStats, high: &GroupStats) -> Option<f64> {
    let (n, m) = (low.members as f64, high.members as f64);
    let squares = (n - 1.0) * low.std_dev.powi(2) + (m - 1.0) * high.std_dev.powi(2);
    let pooled = (squares / (n + m - 2.0).max(1.0)).sqrt();
    (pooled > 1e-12 * high.mean.abs()).then(|| (high.mean - low.mean) / pooled)
}

/// How likely one of `high` is above one of `low`, both sorted.
fn auc(low: &[f64], high: &[f64]) -> f64 {
    let above: f64 = high
        .iter()
        .map(|value| {
            let below = low.partition_point(|other| other < value);
            let equal = low.partition_point(|other| other <= value) - below;
            count(below) + 0.5 * count(equal)
        })
        .sum();
    above / (count(low.len()) * count(high.len())).max(1.0)
}

fn are_disjoint(groups: &[GroupStats]) -> bool {
    let mut ranges: Vec<(f64, f64)> = groups.iter().map(|group| group.range).collect();
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranges.windows(2).all(|pair| matches!(pair, [a, b] if a.1 < b.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_groups_by_hand() {
        let features = Features::of_columns(&[("a", &[1.0, 2.0, 3.0, 7.0, 9.0]), ("b", &[1.0; 5])]);
        let of = [Some(0), Some(0), Some(0), Some(1), Some(1)];
        let found = effects(&features, &of);
        // Means 2 and 8, of all 4.4: between 3 * 2.4^2 + 2 * 3.6^2 = 43.2, within 2 + 2 = 4.
        assert!((found[0].eta_squared.unwrap() - 43.2 / 47.2).abs() < 1e-12);
        // Pooled variance 4 / 3.
        assert!((found[0].cohens_d.unwrap() - 6.0 / (4.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!((found[0].auc, found[0].is_disjoint), (Some(1.0), true));
        assert_eq!((found[0].pair, found[0].feature), (Some((0, 1)), 0));
        assert_eq!((found[1].eta_squared, found[1].pair), (None, None));
        let mixed = [Some(0), Some(1), Some(0), None, Some(1)];
        let found = effects(&features, &mixed);
        // 2 of {2, 9} is above 1 and below 3; 9 is above both.
        assert_eq!((found[0].auc, found[0].is_disjoint), (Some(0.75), false));
    }
}
