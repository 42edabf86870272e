//! Numbers, members and names as people write them.

use crate::balance::{Balance, Grouping};
use crate::math::numeric::count;

/// What a metric is called in a sentence.
pub(super) fn metric_words(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "cputime" | "cpu_time" | "perf::task-clock" | "perf::cpu-clock" => "CPU time".into(),
        "realtime" | "time" | "linux_timers" => "wall-clock time".into(),
        "cycles" | "perf::cycles" => "cycles".into(),
        "gpuop" => "the time of GPU operations".into(),
        _ => name.into(),
    }
}

/// What the largest part of something is called by its share, from 0 to 1.
#[must_use]
pub fn part_words(share: f64) -> &'static str {
    match share {
        // What rounds to all of it.
        share if share >= 0.995 => "all of it",
        share if share >= 0.5 => "most of it",
        _ => "the largest part",
    }
}

/// `37.1 %`.
pub(super) fn percents(value: f64) -> String {
    format!("{value:.1} %")
}

/// The members at `positions` (ascending) in a few words: `the other 3 ranks`, `ranks 0 to 5`,
/// `rank 2`, `12 of 64 ranks`. `slow` is a member that is known already.
pub(super) fn members_words(balance: &Balance, positions: &[usize], slow: usize) -> String {
    let what = match balance.grouping {
        Grouping::Location => "location",
        Grouping::Identity(kind) => kind.name(),
    };
    let label = |at: usize| balance.members.get(at).map_or_else(String::new, |m| m.label.clone());
    let others = balance.members.len().saturating_sub(1);
    let id = |at: usize| balance.members.get(at).and_then(|member| member.id);
    match positions {
        [one] => label(*one),
        [first, .., last] => {
            if positions.len() == others && !positions.contains(&slow) {
                return format!("the other {others} {what}s");
            }
            let is_run = positions.windows(2).all(|pair| match (id(pair[0]), id(pair[1])) {
                (Some(a), Some(b)) => a.checked_add(1) == Some(b),
                _ => false,
            });
            match (id(*first), id(*last)) {
                (Some(first), Some(last)) if is_run => format!("{what}s {first} to {last}"),
                _ => format!("{} of {} {what}s", positions.len(), balance.members.len()),
            }
        }
        [] => format!("no {what}"),
    }
}

/// Pearson's correlation of two rows of equal length; `None` where one does not vary.
pub(super) fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let n = count(a.len().min(b.len()));
    let mean = |x: &[f64]| x.iter().sum::<f64>() / n;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x - mean_a, y - mean_b);
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    let scale = (aa * bb).sqrt();
    (scale > 0.0).then(|| (ab / scale).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_half_is_not_most() {
        assert_eq!(part_words(1.0), "all of it");
        assert_eq!(part_words(0.5), "most of it");
        assert_eq!(part_words(0.46), "the largest part");
    }

    #[test]
    fn opposite_rows_correlate_to_minus_one() {
        assert_eq!(correlation(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0]), Some(-1.0));
        assert_eq!(correlation(&[1.0, 1.0], &[0.0, 2.0]), None);
    }
}
