//! Small charts of a distribution, such as the cost of a context over ranks.

use super::Style;
use super::fit::{pad, width_of};
use super::numbers::{Extent, Scale, count};
use super::style::Role;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const SIGNS: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];
/// Columns that the longest bar of a histogram takes.
const BAR_WIDTH: usize = 30;

/// One line of at most `width` columns, as high as the values from 0 to the largest: `▁▂▅█▂`.
///
/// When there are more values than columns, each column shows the largest of its values, so that
/// one slow rank of thousands is seen. Values that are undefined or negative are spaces.
pub(crate) fn sparkline(values: &[f64], width: usize, style: &Style) -> String {
    let columns = width.min(values.len());
    let max = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let signs = if style.is_unicode { BLOCKS } else { SIGNS };
    (0..columns)
        .map(|column| {
            let from = column * values.len() / columns;
            let to = (column + 1) * values.len() / columns;
            let among = values.get(from..to).unwrap_or_default();
            let value = among.iter().copied().fold(f64::NAN, f64::max);
            if value.is_nan() || value < 0.0 {
                return ' ';
            }
            let level = if max > 0.0 { (value / max * 8.0).ceil().clamp(1.0, 8.0) } else { 1.0 };
            signs.get(level as usize - 1).copied().unwrap_or(' ')
        })
        .collect()
}

/// One line per class of equal width: its bounds, a bar, and how many values are in it.
/// The upper bound belongs to the last class only. Values that are not finite are left out; without
/// any value there are no lines.
pub(crate) fn histogram(values: &[f64], unit: &str, classes: usize, style: &Style) -> String {
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let min = finite.iter().copied().fold(f64::INFINITY, f64::min);
    let max = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if finite.is_empty() || classes == 0 {
        return String::new();
    }
    let classes = if min == max { 1 } else { classes };
    // Halves, because the difference of two large doubles may be infinite.
    let step = (max / 2.0 - min / 2.0) / classes as f64 * 2.0;
    let mut counts = vec![0u64; classes];
    for value in &finite {
        let class = if step > 0.0 { ((value - min) / step) as usize } else { 0 };
        if let Some(number) = counts.get_mut(class.min(classes - 1)) {
            *number += 1;
        }
    }
    let bound = |class: usize| if class == classes { max } else { min + step * class as f64 };
    let scale = Scale::for_column(unit, Extent::of((0..=classes).map(bound)), style);
    let bounds: Vec<String> =
        (0..=classes).map(|class| scale.number(bound(class), style)).collect();
    let bound_width = bounds.iter().map(|text| width_of(text)).max().unwrap_or_default();
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let mut text = String::new();
    for (number, ends) in counts.iter().zip(bounds.windows(2)) {
        let [from, to] = ends else { continue };
        text.push_str("  ");
        pad(&mut text, bound_width.saturating_sub(width_of(from)));
        text.push_str(from);
        text.push_str(if style.is_unicode { " – " } else { " - " });
        pad(&mut text, bound_width.saturating_sub(width_of(to)));
        text.push_str(to);
        if !scale.unit.is_empty() {
            text.push(' ');
            text.push_str(&style.paint(Role::Secondary, &scale.unit));
        }
        let share = *number as f64 / most as f64;
        // One value among millions is still seen.
        let length = ((share * BAR_WIDTH as f64).round() as usize).max(usize::from(*number > 0));
        let bar = if style.is_unicode { "█" } else { "#" }.repeat(length);
        text.push_str("  ");
        text.push_str(&style.paint(Role::Bar, &bar));
        if length > 0 {
            text.push(' ');
        }
        text.push_str(&count(*number));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF: Style = Style { width: 80, rows: None, is_colour: false, is_unicode: true };
    const ASCII: Style = Style { is_unicode: false, ..UTF };

    #[test]
    fn one_slow_rank_of_thousands_is_seen() {
        let mut values = vec![1.0; 10_000];
        values[6_789] = 8.0;
        assert_eq!(sparkline(&values, 10, &UTF), "▁▁▁▁▁▁█▁▁▁");
        assert_eq!(sparkline(&values, 10, &ASCII), "______#___");
    }

    #[test]
    fn lines_are_as_high_as_their_values() {
        assert_eq!(sparkline(&[0.0, 1.0, 2.0, 4.0, 8.0], 40, &UTF), "▁▁▂▄█");
        assert_eq!(sparkline(&[f64::NAN, -1.0, 0.0], 40, &UTF), "  ▁");
        assert_eq!(sparkline(&[f64::INFINITY, 1.0], 40, &UTF), "██");
        assert_eq!(sparkline(&[], 40, &UTF), "");
        assert_eq!(sparkline(&[1.0], 0, &UTF), "");
    }

    #[test]
    fn a_histogram_counts_every_value_once() {
        let values = [1.0, 1.1, 1.2, 2.0, 5.0, f64::NAN];
        assert_eq!(
            histogram(&values, "s", 4, &UTF),
            "  1 – 2 s  ██████████████████████████████ 3\n  \
               2 – 3 s  ██████████ 1\n  \
               3 – 4 s  0\n  \
               4 – 5 s  ██████████ 1\n"
        );
        assert_eq!(
            histogram(&[2.0, 2.0], "", 4, &ASCII),
            "  2 - 2  ############################## 2\n"
        );
        assert_eq!(histogram(&[], "s", 4, &UTF), "");
        assert_eq!(histogram(&[f64::MIN, f64::MAX], "s", 2, &UTF).lines().count(), 2);
    }
}
