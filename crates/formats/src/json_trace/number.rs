//! Numbers of traces: integers, and decimals kept exactly.

use crate::digits;

const POWERS: [u64; 19] = [
    1,
    10,
    100,
    1_000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
    10_000_000_000,
    100_000_000_000,
    1_000_000_000_000,
    10_000_000_000_000,
    100_000_000_000_000,
    1_000_000_000_000_000,
    10_000_000_000_000_000,
    100_000_000_000_000_000,
    1_000_000_000_000_000_000,
];

/// The digits at the front of `text` and how many there are; wraps beyond 19.
#[inline]
fn digits(text: &[u8]) -> (u64, usize) {
    let mut value = 0;
    let count = digits::digits(text, 0, &mut value);
    (value, count)
}

/// A whole number: digits with a sign, perhaps `.0` behind them as floats are written.
#[inline]
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    let (negative, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (value, count) = digits(text);
    if count == text.len() && (1..=18).contains(&count) {
        let value = value as i64;
        return Some(if negative { -value } else { value });
    }
    let exact = scaled(text, 0)?;
    exact.exact.then_some(if negative { -exact.units } else { exact.units })
}

/// A decimal times a power of ten, as a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scaled {
    pub(super) units: i64,
    /// Whether nothing was rounded.
    pub(super) exact: bool,
}

/// The decimal `text` times 10 to the `power`, rounded to the nearest whole number, halves away
/// from zero. `None` when it is no number or too large.
#[inline]
pub(super) fn scaled(text: &[u8], power: i32) -> Option<Scaled> {
    let (negative, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (whole, count) = digits(text);
    let rest = text.get(count..).unwrap_or_default();
    let scale = usize::try_from(power).ok().and_then(|power| POWERS.get(power));
    if let Some(scale) = scale.filter(|_| (1..=18).contains(&count)) {
        let fraction = match rest {
            [] => Some(0),
            [b'.', decimals @ ..] => {
                let (value, len) = digits(decimals);
                let places = usize::try_from(power).unwrap_or_default();
                if len == 0 || len > 18 || len != decimals.len() {
                    None
                } else if let Some(missing) = places.checked_sub(len) {
                    POWERS.get(missing).map(|up| value * up)
                } else {
                    // Nothing but zeros beyond the unit, as C++ writes six decimals of anything.
                    let unit = POWERS.get(len - places).copied().unwrap_or(1);
                    (value == 0 || value % unit == 0).then(|| value / unit)
                }
            }
            _ => None,
        };
        let units = fraction.and_then(|f| whole.checked_mul(*scale)?.checked_add(f));
        if let Some(units) = units.and_then(|units| i64::try_from(units).ok()) {
            return Some(Scaled { units: if negative { -units } else { units }, exact: true });
        }
    }
    careful(text, power, negative)
}

/// As [`scaled`] for exponents, many digits, and digits beyond the unit.
#[cold]
fn careful(text: &[u8], power: i32, negative: bool) -> Option<Scaled> {
    let mut mantissa = 0_u128;
    let mut exponent = i64::from(power);
    let (mut at, mut some, mut fraction) = (0, false, false);
    let mut exact = true;
    loop {
        match text.get(at) {
            Some(b @ b'0'..=b'9') => {
                some = true;
                if mantissa < u128::MAX / 100 {
                    mantissa = mantissa * 10 + u128::from(b - b'0');
                    exponent -= i64::from(fraction);
                } else {
                    exact &= *b == b'0';
                    exponent += i64::from(!fraction);
                }
            }
            Some(b'.') if some && !fraction => fraction = true,
            Some(b'e' | b'E') if some => {
                let rest = text.get(at + 1..)?;
                let (sign, rest) = match rest {
                    [b'-', rest @ ..] => (-1, rest),
                    [b'+', rest @ ..] => (1, rest),
                    rest => (1, rest),
                };
                let (value, len) = digits(rest);
                if len == 0 || len != rest.len() {
                    return None;
                }
                let value = if len > 6 { 1_000_000 } else { i64::try_from(value).ok()? };
                exponent += sign * value;
                break;
            }
            Some(_) => return None,
            None if !some => return None,
            None => break,
        }
        at += 1;
    }
    while exponent > 0 && mantissa != 0 {
        mantissa = mantissa.checked_mul(10)?;
        exponent -= 1;
    }
    let drop = u32::try_from(-exponent).unwrap_or(if exponent < 0 { u32::MAX } else { 0 });
    // A mantissa has at most 38 digits: of less than a tenth of a unit nothing is left.
    let (quotient, half) = match 10_u128.checked_pow(drop) {
        Some(unit) => {
            let rest = mantissa % unit;
            exact &= rest == 0;
            (mantissa / unit, rest >= unit - rest && rest > 0)
        }
        None => {
            exact &= mantissa == 0;
            (0, false)
        }
    };
    let units = i64::try_from(quotient + u128::from(half)).ok()?;
    Some(Scaled { units: if negative { -units } else { units }, exact })
}

/// The number in `text` as a float; `NaN` and the infinities by their names.
pub(super) fn float(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.bytes().any(|b| b.is_ascii_digit());
    (digits || matches!(text, "NaN" | "nan" | "Infinity" | "-Infinity" | "inf" | "-inf"))
        .then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nanos(text: &str) -> Option<(i64, bool)> {
        scaled(text.as_bytes(), 3).map(|s| (s.units, s.exact))
    }

    #[test]
    fn microseconds_become_nanoseconds_digit_by_digit() {
        assert_eq!(nanos("1711964646000123.457"), Some((1_711_964_646_000_123_457, true)));
        assert_eq!(nanos("-1.5"), Some((-1_500, true)));
        assert_eq!(nanos("68.0"), Some((68_000, true)));
        assert_eq!(nanos("123456.000000"), Some((123_456_000, true)));
        assert_eq!(nanos("1.52954e+15"), Some((1_529_540_000_000_000_000, true)));
        assert_eq!(nanos("0.0004"), Some((0, false)));
        assert_eq!(nanos("0.0005"), Some((1, false)));
        assert_eq!(nanos("2.0014999"), Some((2_001, false)));
        assert_eq!(nanos("1e-400000000"), Some((0, false)));
        for bad in ["", "-", ".5", "1.2.3", "1e", "x", "1x", "9223372036854775807", "1e30", "--1"] {
            assert_eq!(nanos(bad), None, "{bad}");
        }
    }

    #[test]
    fn whole_floats_are_integers() {
        assert_eq!(integer(b"1543620482683156.0"), Some(1_543_620_482_683_156));
        assert_eq!(integer(b"-42"), Some(-42));
        assert_eq!(integer(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!(integer(b"1e3"), Some(1000));
        for bad in ["1.5", "", "-", "0x1f", "9223372036854775808"] {
            assert_eq!(integer(bad.as_bytes()), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn every_nanosecond_comes_back(n in any::<i64>().prop_filter("range", |n| *n != i64::MIN)) {
            let (sign, size) = (if n < 0 { "-" } else { "" }, n.unsigned_abs());
            let text = format!("{sign}{}.{:03}", size / 1000, size % 1000);
            prop_assert_eq!(nanos(&text), Some((n, true)));
            prop_assert_eq!(nanos(&format!("{text}000")), Some((n, true)));
            prop_assert_eq!(nanos(&format!("{text}e0")), Some((n, true)));
            prop_assert_eq!(integer(n.to_string().as_bytes()), Some(n));
        }
    }
}
