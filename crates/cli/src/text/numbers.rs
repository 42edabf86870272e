//! Numbers for display, as [`parallax_base::quantity`] defines them, in the characters of a style.

use parallax_base::quantity as written;
pub(crate) use written::{Extent, Scale, count};

use super::Style;

/// Seconds with the prefix that leaves one to three digits before the point: `12.3 s`, `450 ms`.
pub(crate) fn duration(seconds: f64, style: &Style) -> String {
    quantity(seconds, "s", style)
}

/// Bytes with a decimal prefix: `3.20 GB`.
pub(crate) fn bytes(bytes: u64, style: &Style) -> String {
    quantity(bytes as f64, "B", style)
}

/// A value of any unit, with three significant digits.
pub(crate) fn quantity(value: f64, unit: &str, style: &Style) -> String {
    in_style(written::quantity(value, unit), style)
}

/// A number or a unit in ASCII where a style has nothing else.
pub(crate) fn in_style(text: String, style: &Style) -> String {
    if style.is_unicode || text.is_ascii() {
        return text;
    }
    text.replace('µ', "u").replace('∞', "inf").replace('–', style.nothing())
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF: Style = Style { width: 80, rows: None, is_colour: false, is_unicode: true };
    const ASCII: Style = Style { is_unicode: false, ..UTF };

    #[test]
    fn a_style_without_unicode_writes_ascii() {
        for (value, ascii, unicode) in [
            (2.5e-6, "2.50 us", "2.50 µs"),
            (f64::NAN, "-", "–"),
            (f64::NEG_INFINITY, "-inf s", "-∞ s"),
        ] {
            assert_eq!(duration(value, &ASCII), ascii);
            assert_eq!(duration(value, &UTF), unicode);
        }
        assert_eq!(bytes(3_200_000_000, &UTF), "3.20 GB");
    }
}
