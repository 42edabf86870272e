//! Numbers for people: thousands separated, few digits, prefixes of SI.
//!
//! This is the one definition of how sentences of answers, tables of the command line and headings
//! write an amount. Prefixes are decimal as SI has them: 1 kB is 1000 bytes, 1.20 G cycles are
//! 1,200,000,000.

use crate::Unit;

/// Digits of a number that stands alone.
const DIGITS_ALONE: usize = 3;
/// Digits of a number that is compared with another one, which may be near.
const DIGITS_COMPARED: usize = 4;
/// Digits of the largest number of a column.
const DIGITS_IN_COLUMN: usize = 4;
/// Counts that stand alone are exact below ten to the power of this,
const EXACT_ALONE: i32 = 6;
/// and in a column, where their digits stand one below the other, below this.
const EXACT_IN_COLUMN: i32 = 9;
/// Counts of more digits than this are written as powers of ten: no prefix brings them near one.
const LARGEST_PREFIXED: i32 = 32;
/// Units of what is measured and not counted: it is whole by chance.
const MEASURED: [&str; 7] = ["s", "ms", "us", "µs", "core-seconds", "J", "W"];
/// Zeros after the point that are still read at a glance.
const MAX_DECIMALS: i32 = 6;

/// `1234567` as `1,234,567`.
#[must_use]
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// The number of bytes that a person writes as `200MB`, `1.5 GB` or `4GiB`.
///
/// # Errors
/// A sentence about what to write instead.
pub fn bytes_of(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text} is not a size; write it as 200MB or 1.5GB");
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(unit_at);
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    let bytes = number * unit;
    if !(0.0..1e18).contains(&bytes) {
        return Err(wrong());
    }
    Ok(crate::casts::saturated_u64(bytes))
}

/// A count with its word: `1 location`, `1,234 locations`.
#[must_use]
pub fn counted(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(n), if n == 1 { "" } else { "s" })
}

/// A value with the symbol of its unit and three significant digits: `12.3 s`, `450 ms`,
/// `3.20 GB`, `1.20 G cycles`. Times of over 1000 s stay in seconds, because that is what rates and
/// ratios are made of.
#[must_use]
pub fn quantity(value: f64, unit: &str) -> String {
    with_digits(value, unit, DIGITS_ALONE)
}

/// A value in `unit` with three significant digits, as a sentence has it.
#[must_use]
pub fn amount(value: f64, unit: &Unit) -> String {
    quantity(value, &unit.to_string())
}

/// The same with four digits, where a sentence compares it with another value.
#[must_use]
pub fn compared(value: f64, unit: &Unit) -> String {
    with_digits(value, &unit.to_string(), DIGITS_COMPARED)
}

fn with_digits(value: f64, unit: &str, digits: usize) -> String {
    let scale = Scale::new(unit, digits, EXACT_ALONE, Extent::of([value]));
    let number = scale.number(value);
    let gap = if scale.unit.is_empty() || value.is_nan() { "" } else { " " };
    let unit = if value.is_nan() { "" } else { scale.unit.as_str() };
    format!("{number}{gap}{unit}")
}

/// What a scale is chosen by. Infinite and undefined values do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extent {
    /// The largest absolute value; 0 without values.
    pub max: f64,
    /// Whether all values are whole numbers.
    pub is_integral: bool,
}

impl Extent {
    /// Of some values.
    #[must_use]
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut extent = Self { max: 0.0, is_integral: true };
        for value in values.into_iter().filter(|value| value.is_finite()) {
            extent.max = extent.max.max(value.abs());
            extent.is_integral &= value.fract() == 0.0;
        }
        extent
    }

    /// Of the values of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { max: self.max.max(other.max), is_integral: self.is_integral && other.is_integral }
    }
}

/// What all numbers of a column are divided by and rounded to, so that they can be compared by eye.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// The unit that numbers are shown in, with its prefix.
    pub unit: String,
    /// Numbers are divided by ten to the power of this.
    exponent: i32,
    notation: Notation,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Notation {
    /// Digits after the point.
    Fixed(usize),
    /// Digits after the point of the mantissa, for numbers that no prefix brings near one.
    Scientific(usize),
}

impl Scale {
    /// For columns in `unit`, whose values have this `extent`: the largest gets four significant
    /// digits, and counts are exact up to a billion.
    #[must_use]
    pub fn for_column(unit: &str, extent: Extent) -> Self {
        Self::new(unit, DIGITS_IN_COLUMN, EXACT_IN_COLUMN, extent)
    }

    /// For shares in percent: one decimal, always.
    #[must_use]
    pub fn percent() -> Self {
        Self { unit: "%".to_owned(), exponent: 0, notation: Notation::Fixed(1) }
    }

    fn new(unit: &str, digits: usize, exact: i32, extent: Extent) -> Self {
        if unit == "%" {
            return Self::percent();
        }
        let Extent { max, is_integral } = extent;
        let Some(magnitude) = magnitude_of(max, digits) else {
            return Self { unit: unit.to_owned(), exponent: 0, notation: Notation::Fixed(0) };
        };
        // Of a whole column chance is unlikely.
        let is_counted = is_integral && (exact == EXACT_IN_COLUMN || !MEASURED.contains(&unit));
        let (step, unit) = step_of(unit, magnitude, exact);
        let above = magnitude - step;
        let decimals = i32::try_from(digits).unwrap_or(0) - 1 - above;
        let notation = if above > 14 || decimals > MAX_DECIMALS {
            Notation::Scientific(digits - 1)
        } else if is_counted && step == 0 {
            Notation::Fixed(0)
        } else {
            Notation::Fixed(usize::try_from(decimals).unwrap_or(0))
        };
        Self { unit, exponent: step, notation }
    }

    /// `value` without its unit. Zero is `0`, so that it differs from what only rounds to it.
    #[must_use]
    pub fn number(&self, value: f64) -> String {
        if value.is_nan() {
            return "–".to_owned();
        }
        if value.is_infinite() {
            let sign = if value < 0.0 { "-" } else { "" };
            return format!("{sign}∞");
        }
        if value == 0.0 {
            return "0".to_owned();
        }
        // Powers of ten up to 22 are exact, so this is rounded once.
        let power = 10f64.powi(self.exponent.abs());
        let scaled = if self.exponent < 0 { value * power } else { value / power };
        match self.notation {
            // Other values of the column may still be far out.
            Notation::Fixed(decimals) if scaled.abs() < 1e15 => {
                let digits = format!("{scaled:.decimals$}");
                // What rounds to zero has no sign that says anything.
                let is_zero = digits.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
                grouped(digits.trim_start_matches(if is_zero { "-" } else { "" }))
            }
            Notation::Fixed(_) => format!("{scaled:.3e}"),
            Notation::Scientific(decimals) => format!("{scaled:.decimals$e}"),
        }
    }
}

/// The power of ten of the first digit, after rounding to `digits`; `None` for zero.
fn magnitude_of(value: f64, digits: usize) -> Option<i32> {
    if value == 0.0 {
        return None;
    }
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    text.split_once('e')?.1.parse().ok()
}

/// The power of ten to divide by, relative to `unit`, and the unit that this gives. Counts are
/// exact below ten to the power of `exact`.
fn step_of(unit: &str, magnitude: i32, exact: i32) -> (i32, String) {
    let times = ["n", "µ", "m", ""].as_slice();
    let large = ["", "k", "M", "G", "T", "P", "E"].as_slice();
    let both = ["n", "µ", "m", "", "k", "M", "G", "T", "P", "E"].as_slice();
    let (names, base, own): (_, _, i32) = match unit {
        "s" => (times, "s", 3),
        "ms" => (times, "s", 2),
        "us" | "µs" => (times, "s", 1),
        "ns" => (times, "s", 0),
        "J" => (both, "J", 3),
        "B" | "B/s" | "W" | "Hz" => (large, unit, 0),
        // Counts, and units of others, which are words that stand behind the prefix.
        _ if (-4..exact).contains(&magnitude) || magnitude > LARGEST_PREFIXED => {
            return (0, unit.to_owned());
        }
        _ => (large, unit, 0),
    };
    let last = i32::try_from(names.len()).unwrap_or(1) - 1;
    let chosen = (magnitude.div_euclid(3) + own).clamp(0, last);
    let name = usize::try_from(chosen).ok().and_then(|idx| names.get(idx)).copied();
    let name = name.unwrap_or_default();
    // `G cycles`, but `GB`: a word is no symbol.
    let is_word = !matches!(base, "s" | "B" | "B/s" | "W" | "Hz" | "J" | "");
    let gap = if is_word && !name.is_empty() { " " } else { "" };
    ((chosen - own) * 3, format!("{name}{gap}{base}"))
}

/// Separates thousands in the digits before the point.
fn grouped(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = rest.find('.').map_or((rest, ""), |at| rest.split_at(at));
    let mut text = String::with_capacity(number.len() + whole.len() / 3);
    text.push_str(sign);
    for (idx, digit) in whole.chars().enumerate() {
        if idx > 0 && (whole.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Value, unit, how it stands there, and text; the page writes the same.
    const QUANTITIES: &str = include_str!("../tests/quantities.tsv");

    #[test]
    fn quantities_take_the_prefix_that_reads_best() {
        for line in QUANTITIES.lines() {
            let [value, unit, stands, text] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line:?} has no four columns");
            };
            let value: f64 = value.parse().unwrap();
            let written = match stands {
                "alone" => quantity(value, unit),
                "compared" => with_digits(value, unit, DIGITS_COMPARED),
                _ => {
                    let scale = Scale::for_column(unit, Extent::of([value]));
                    format!("{} {}", scale.number(value), scale.unit).trim_end().to_owned()
                }
            };
            assert_eq!(written, text, "{line}");
        }
    }

    #[test]
    fn counts_of_things_are_exact() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn a_column_has_one_unit_and_one_number_of_decimals() {
        let values = [12.345, 0.004_56, 0.0, -1.0];
        let scale = Scale::for_column("s", Extent::of(values));
        assert_eq!(scale.unit, "s");
        let numbers = values.map(|value| scale.number(value));
        assert_eq!(numbers, ["12.35", "0.00", "0", "-1.00"]);
        assert_eq!(scale.number(-0.001), "0.00");

        let whole = Scale::for_column("", Extent::of([1_234_567.0, 2.0]));
        assert_eq!(whole.number(1_234_567.0), "1,234,567");
        assert_eq!(whole.number(2.0), "2");

        let large = Scale::for_column("cycles", Extent::of([12.53e9, 1.0]));
        assert_eq!((large.unit.as_str(), &*large.number(4.29e9)), ("G cycles", "4.29"));

        let odd = Scale::for_column("s", Extent::of([f64::NAN, f64::INFINITY]));
        assert_eq!(odd.number(f64::INFINITY), "∞");
    }
}
