//! Small charts of a distribution, such as the cost of a context over ranks.

use super::Style;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const SIGNS: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

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
}
