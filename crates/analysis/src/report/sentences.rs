//! Numbers, members and names as people write them.

use parallax_base::Unit;

use crate::balance::{Balance, Grouping};
use crate::math::numeric::count;

/// What a metric is called in a sentence.
pub(super) fn metric_words(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "cputime" => "CPU time".into(),
        "realtime" | "time" => "wall-clock time".into(),
        "cycles" | "perf::cycles" => "cycles".into(),
        "gpuop" => "the time of GPU operations".into(),
        _ => name.into(),
    }
}

/// Three significant digits with the unit; bytes with a decimal prefix, and short times in
/// milliseconds or microseconds.
pub(super) fn amount(value: f64, unit: &Unit) -> String {
    if *unit == Unit::Bytes {
        return bytes(value);
    }
    if *unit == Unit::Seconds {
        let (scaled, symbol) = match value.abs() {
            size if !(1e-9..0.09995).contains(&size) => (value, "s"),
            size if size >= 0.999_5e-4 => (value * 1e3, "ms"),
            _ => (value * 1e6, "µs"),
        };
        return format!("{} {symbol}", digits(scaled));
    }
    match unit.to_string() {
        unit if unit.is_empty() => digits(value),
        unit => format!("{} {unit}", digits(value)),
    }
}

/// Three significant digits.
fn digits(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value.abs() >= 1e6 || value.abs() < 1e-4 {
        format!("{value:.2e}")
    } else {
        let digits = 2 - value.abs().log10().floor() as i32;
        format!("{value:.*}", usize::try_from(digits).unwrap_or(0))
    }
}

/// `2.88 GB`, `512 B`.
fn bytes(value: f64) -> String {
    const PREFIXES: [&str; 6] = ["k", "M", "G", "T", "P", "E"];
    let mut scaled = value;
    let mut prefix = "";
    for next in PREFIXES {
        // 999.5 would be rounded to four digits.
        if scaled.abs() < 999.5 {
            break;
        }
        scaled /= 1000.0;
        prefix = next;
    }
    let places = match scaled.abs() {
        _ if prefix.is_empty() => 0,
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    format!("{scaled:.places$} {prefix}B")
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
    fn amounts_have_three_digits() {
        for (value, unit, text) in [
            (0.6213, Unit::Seconds, "0.621 s"),
            (0.0298, Unit::Seconds, "29.8 ms"),
            (0.0999, Unit::Seconds, "99.9 ms"),
            (0.000_043_3, Unit::Seconds, "43.3 µs"),
            (0.0, Unit::Seconds, "0 s"),
            (638.02, Unit::Seconds, "638 s"),
            (21.109, Unit::Seconds, "21.1 s"),
            (3.0e9, Unit::Cycles, "3.00e9 cycles"),
            (0.0, Unit::Count, "0"),
            (12_345.0, Unit::Count, "12345"),
            (2.88e9, Unit::Bytes, "2.88 GB"),
            (999_600.0, Unit::Bytes, "1.00 MB"),
            (512.0, Unit::Bytes, "512 B"),
        ] {
            assert_eq!(amount(value, &unit), text);
        }
    }

    #[test]
    fn opposite_rows_correlate_to_minus_one() {
        assert_eq!(correlation(&[1.0, 2.0, 3.0], &[6.0, 4.0, 2.0]), Some(-1.0));
        assert_eq!(correlation(&[1.0, 1.0], &[0.0, 2.0]), None);
    }
}
