//! Numbers of JSON: eight digits at a time, exact.

use parallax_base::casts::saturated_u64;

use crate::digits::{EACH, apart, digits, eight, load};

/// A number as the file wrote it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Digits only, within the range of `i64`.
    Integer(i64),
    /// Anything else. `NaN` and `Infinity`, which Python writes, are accepted and not finite.
    Float(f64),
}

impl Number {
    /// The value; integers beyond 2^53 are rounded to the nearest float.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Integer(n) => n as f64,
            Self::Float(x) => x,
        }
    }

    /// The value as a count or an id, where it is a whole number from 0 on.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        match self {
            Self::Integer(n) => u64::try_from(n).ok(),
            Self::Float(x) if x >= 0.0 && x < 2f64.powi(53) && x.fract() == 0.0 => {
                Some(saturated_u64(x))
            }
            Self::Float(_) => None,
        }
    }
}

/// A number and how many bytes it took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scanned {
    pub(super) number: Number,
    pub(super) len: usize,
}

const POWERS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Powers of ten that a float holds exactly.
const EXACT: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The digits of a number before its point, where there are 8 to 14 of them: times of one
/// measurement begin alike.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fixed {
    /// The value of the first eight digits.
    front: u64,
    /// How many follow before the point, at most 6.
    more: usize,
}

impl Fixed {
    /// Those of `text`, a number of JSON, if it has a point and neither sign nor exponent.
    pub(super) fn of(text: &[u8]) -> Option<Self> {
        let point = text.iter().position(|&byte| byte == b'.')?;
        let (whole, fraction) = text.split_at_checked(point)?;
        let is_plain = whole.iter().chain(fraction.get(1..)?).all(u8::is_ascii_digit);
        let more = whole.len().checked_sub(8).filter(|&more| is_plain && more <= 6)?;
        Some(Self { front: eight(apart(load(whole, 0)?).1), more })
    }

    /// Bytes before the digits after the point.
    pub(super) fn len(&self) -> usize {
        9 + self.more
    }

    /// Digits before the point that may differ from number to number.
    pub(super) fn digits(&self) -> usize {
        self.more
    }
}

/// Bytes that [`plain`] wants to see.
pub(super) const PLAIN_NEAR: usize = 32;

/// Reads the digits after the point at byte `from` of `near`, at most 16; the bytes before them are
/// the digits that `whole` says, and a point. Returns the number, as [`scan`] would, and how many
/// digits were read. `None` for any other number; the caller makes sure that what follows cannot
/// belong to it.
#[inline(always)]
pub(super) fn fraction<const N: usize>(
    near: &[u8; N],
    from: usize,
    whole: &Fixed,
) -> Option<(f64, usize)> {
    let Fixed { front, more } = *whole;
    // `more` digits and the point stand before `from`.
    let low = load(near, from.wrapping_sub(more + 1))?;
    let after = load(near, from)?;
    let digits = (apart(after).0.trailing_zeros() / 8) as usize;
    let all = more + digits;
    if digits == 0 || digits == 8 {
        return None;
    }
    let low = low & !(u64::MAX << (8 * more % 64));
    if all <= 8 {
        // The digits on both sides of the point, adjacent at the upper end.
        let joined = (low | after << (8 * more % 64)) ^ (0x30 * EACH);
        let rest = eight(joined << ((64 - 8 * all) % 64));
        let mantissa = front * POWERS.get(all)? + rest;
        if mantissa <= 1 << 53 {
            // Both are exact, so one rounding gives the nearest float.
            return Some((mantissa as i64 as f64 / *EXACT.get(digits)?, digits));
        }
    }
    // Shifted twice, because a shift by 64 is none.
    let low = eight((low ^ (0x30 * EACH)) << (56 - 8 * more) << 8);
    let fraction = eight(apart(after).1 << (64 - 8 * digits));
    Some((decimal(front * POWERS.get(more)? + low, fraction, digits)?, digits))
}

/// Reads a number such as `78` or `1758626047.792708` at the front of `near`: no sign, no
/// exponent, at most 15 digits before the point and 7 after it. Returns it, as [`scan`] would, and
/// how many bytes it took. `None` for any other number; the caller makes sure that what follows
/// cannot belong to the number.
#[inline(always)]
pub(super) fn plain(near: &[u8; PLAIN_NEAR]) -> Option<(f64, usize)> {
    let front = load(near, 0)?;
    let (others, values) = apart(front);
    let (whole, point);
    if others != 0 {
        let count = (others.trailing_zeros() / 8) as usize;
        if count == 0 || values & 0xff == 0 && count > 1 {
            return None;
        }
        (whole, point) = (eight(values << (64 - 8 * count)), count);
        if front >> (8 * count) & 0xff != u64::from(b'.') {
            return Some((whole as i64 as f64, point));
        }
    } else {
        let back = load(near, 8)?;
        let (others, rest) = apart(back);
        let count = (others.trailing_zeros() / 8) as usize;
        if count == 8 || values & 0xff == 0 {
            return None;
        }
        // Shifted twice, because a shift by 64 is none.
        let rest = eight(rest << (56 - 8 * count) << 8);
        whole = eight(values).wrapping_mul(*POWERS.get(count)?).wrapping_add(rest);
        point = 8 + count;
        if back >> (8 * count) & 0xff != u64::from(b'.') {
            return Some((whole as i64 as f64, point));
        }
    }
    let (others, values) = apart(load(near, point + 1)?);
    let count = (others.trailing_zeros() / 8) as usize;
    if count == 0 || count == 8 {
        return None;
    }
    let fraction = eight(values << (64 - 8 * count));
    Some((decimal(whole, fraction, count)?, point + 1 + count))
}

/// The float nearest to `whole + fraction / 10^digits`; `None` where that takes more care.
#[inline]
fn decimal(whole: u64, fraction: u64, digits: usize) -> Option<f64> {
    let power = *POWERS.get(digits)?;
    let mantissa = whole.checked_mul(power)?.checked_add(fraction)?;
    if mantissa <= 1 << 53 {
        // Both are exact, so one rounding gives the nearest float.
        return Some(mantissa as i64 as f64 / *EXACT.get(digits)?);
    }
    nearest(whole, fraction, power)
}

/// As [`decimal`], for more digits than a float holds: Python writes times with seventeen.
fn nearest(whole: u64, fraction: u64, power: u64) -> Option<f64> {
    let places = whole.leading_zeros().checked_sub(11)?;
    // The fraction in units of the last place of a float as large as `whole`.
    if places > 36 || fraction >= power {
        return None;
    }
    let scaled = fraction << places;
    let (units, rest) = (scaled / power, scaled % power);
    let mantissa = (whole << places) + units;
    let up = 2 * rest > power || 2 * rest == power && mantissa & 1 == 1;
    let mantissa = mantissa + u64::from(up);
    // At most 2^53, and a power of two: both steps are exact.
    Some(mantissa as i64 as f64 / (1_u64 << places) as f64)
}

/// Reads the number at the front of `bytes`. The error is the place of the byte that does not
/// fit; when that is the end of `bytes`, more bytes may make it fit.
#[inline]
pub(super) fn scan(bytes: &[u8]) -> Result<Scanned, usize> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    let mut mantissa = 0;
    let mut at = digits(bytes, start, &mut mantissa);
    let whole = at - start;
    let whole_value = mantissa;
    if whole == 0 {
        return named(bytes, start, negative);
    }
    if whole > 1 && bytes.get(start) == Some(&b'0') {
        return Err(start + 1);
    }
    let mut fraction = 0;
    let mut plain = true;
    if bytes.get(at) == Some(&b'.') {
        let first = at + 1;
        at = digits(bytes, first, &mut mantissa);
        fraction = at - first;
        if fraction == 0 {
            return Err(at);
        }
        plain = false;
    }
    let mut exponent = 0_i64;
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = bytes.get(at + 1).copied();
        let first = at + 1 + usize::from(matches!(sign, Some(b'+' | b'-')));
        let mut value = 0;
        at = digits(bytes, first, &mut value);
        if at == first {
            return Err(at);
        }
        let value = if at - first > 5 { 100_000 } else { i64::try_from(value).unwrap_or(100_000) };
        exponent = if sign == Some(b'-') { -value } else { value };
        plain = false;
    }
    let fits = whole + fraction <= 19;
    if plain
        && fits
        && !(negative && mantissa == 0)
        && let Ok(value) = i64::try_from(mantissa)
    {
        let number = Number::Integer(if negative { -value } else { value });
        return Ok(Scanned { number, len: at });
    }
    let scale = exponent.saturating_sub(i64::try_from(fraction).unwrap_or(i64::MAX));
    let exact = EXACT.get(usize::try_from(scale.unsigned_abs()).unwrap_or(usize::MAX));
    let value = match exact {
        // Both factors are exact, so one rounding gives the nearest float.
        Some(&power) if fits && mantissa <= 1 << 53 => {
            let value = if scale < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
            if negative { -value } else { value }
        }
        _ => long(whole, whole_value, fraction, mantissa, exponent, negative)
            .unwrap_or_else(|| slow(bytes.get(..at).unwrap_or_default())),
    };
    Ok(Scanned { number: Number::Float(value), len: at })
}

/// A number whose digits are too many for one rounding, if [`nearest`] can do it.
fn long(
    whole: usize,
    whole_value: u64,
    fraction: usize,
    mantissa: u64,
    exponent: i64,
    negative: bool,
) -> Option<f64> {
    if exponent != 0 || whole > 15 || whole + fraction > 19 {
        return None;
    }
    let power = *POWERS.get(fraction)?;
    let value = nearest(whole_value, mantissa - whole_value * power, power)?;
    Some(if negative { -value } else { value })
}

#[cold]
fn slow(bytes: &[u8]) -> f64 {
    std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// The words that Python's writer uses for numbers that JSON lacks.
#[cold]
fn named(bytes: &[u8], start: usize, negative: bool) -> Result<Scanned, usize> {
    let rest = bytes.get(start..).unwrap_or_default();
    let words: [(&[u8], f64); 2] = [(b"NaN", f64::NAN), (b"Infinity", f64::INFINITY)];
    for (word, value) in words {
        if rest.starts_with(word) {
            let value = if negative { -value } else { value };
            return Ok(Scanned { number: Number::Float(value), len: start + word.len() });
        }
        if !rest.is_empty() && word.starts_with(rest) {
            return Err(bytes.len());
        }
    }
    Err(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(text: &str) -> f64 {
        let scanned = scan(text.as_bytes()).unwrap();
        assert_eq!(scanned.len, text.len(), "{text}");
        scanned.number.as_f64()
    }

    #[test]
    fn floats_are_the_nearest_ones() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 11
        };
        for i in 0..20_000_u32 {
            let (a, b) = (next(), next());
            let text = match i % 6 {
                0 => format!("{}.{:06}", a % 10_000_000_000, b % 1_000_000),
                1 => format!("{}", f64::from_bits(a << 1 & !(1 << 62))),
                2 => format!("-{}.{}", a % 1000, b),
                3 => format!("{}e{}", a % 100_000, (b % 700) as i64 - 350),
                4 => format!("{:e}", f64::from_bits(a | b << 40).abs().min(1e300)),
                _ => format!("{a}"),
            };
            let (ours, std) = (float(&text), text.parse::<f64>().unwrap());
            assert_eq!(ours.to_bits(), std.to_bits(), "{text}");
            let padded = format!("{text}, 1234567");
            assert_eq!(scan(padded.as_bytes()).unwrap().len, text.len(), "{text}");
        }
    }

    #[test]
    fn numbers_read_at_once_are_those_read_with_care() {
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 20) % below
        };
        let mut read = 0;
        for i in 0..200_000_u64 {
            let whole = match i % 4 {
                0 => 1_758_626_047 + next(3),
                1 => next(10_u64.pow(1 + (i / 4 % 15) as u32)),
                2 => (1 << (16 + i / 4 % 33)) - next(2),
                _ => next(100),
            };
            let digits = i / 7 % 9;
            // Halves and their neighbours are what rounding is about.
            let decimals = match i % 3 {
                0 => next(100_000_000),
                1 => 50_000_000,
                _ => (100_000_000 * (2 * next(1 << 12) + 1)) >> 13,
            };
            let decimals = format!("{decimals:08}");
            let zero = if i % 50 == 0 { "0" } else { "" };
            let end = match i / 11 % 4 {
                0 => ", 1234567",
                1 => "]}}}}}}}}",
                2 => "e5, 12345678",
                _ => "x1234567",
            };
            let decimals = decimals.get(..digits as usize).unwrap();
            let mut text = format!("{zero}{whole}.{decimals}");
            if i % 5 == 0 {
                text = format!("{zero}{whole}");
            }
            let padded = format!("{text}{end}12345678901234567890123456789012");
            let near = padded.as_bytes().first_chunk::<PLAIN_NEAR>().unwrap();
            let by_fraction = Fixed::of(text.as_bytes())
                .and_then(|whole| Some((fraction(near, whole.len(), &whole)?, whole.len())))
                .map(|((value, len), before)| (value, before + len));
            for (value, len) in plain(near).into_iter().chain(by_fraction) {
                read += 1;
                assert_eq!(len, text.len(), "{padded}");
                let scanned = scan(text.as_bytes()).unwrap();
                assert_eq!(scanned.number.as_f64().to_bits(), value.to_bits(), "{text}");
                assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            }
        }
        assert!(read > 150_000, "{read}");
    }

    #[test]
    fn integers_keep_every_digit_up_to_their_range() {
        for n in [0, 1, -1, 9_007_199_254_740_993, i64::MAX, -i64::MAX] {
            assert_eq!(scan(n.to_string().as_bytes()).unwrap().number, Number::Integer(n));
        }
        assert_eq!(float("18446744073709551616"), 18_446_744_073_709_551_616.0);
        assert!(float("-0").is_sign_negative());
        assert!(float("1e999").is_infinite());
        assert!(float("NaN").is_nan());
        assert_eq!(float("-Infinity"), f64::NEG_INFINITY);
    }

    #[test]
    fn what_json_forbids_is_refused_where_it_stands() {
        for (text, at) in [
            ("01", 1),
            ("1.", 2),
            ("1.x", 2),
            ("-", 1),
            ("+1", 0),
            (".5", 0),
            ("1e", 2),
            ("1e+", 3),
            ("Nope", 0),
            ("Na", 2),
        ] {
            assert_eq!(scan(text.as_bytes()), Err(at), "{text}");
        }
    }
}
