//! Conversions between numbers that lose something, each with what it loses in its name.
//!
//! The lint `cast_possible_truncation` is on in every crate that reads foreign numbers, because a
//! cast that cuts bits is silent in a release build. These are the places where cutting is meant.

#![expect(clippy::cast_possible_truncation, reason = "what is lost is said by the name")]

/// A float as a whole number: towards zero, the nearest bound where it does not fit, 0 for NaN.
#[inline]
#[must_use]
pub const fn saturated_u64(value: f64) -> u64 {
    value as u64
}

/// As [`saturated_u64`], with a sign.
#[inline]
#[must_use]
pub const fn saturated_i64(value: f64) -> i64 {
    value as i64
}

/// As [`saturated_u64`], with 32 bits.
#[inline]
#[must_use]
pub const fn saturated_u32(value: f64) -> u32 {
    value as u32
}

/// The lower half of 64 bits.
#[inline]
#[must_use]
pub const fn low_u32(bits: u64) -> u32 {
    bits as u32
}

/// The lower half of 128 bits.
#[inline]
#[must_use]
pub const fn low_u64(bits: u128) -> u64 {
    bits as u64
}

/// The lowest byte of 32 bits.
#[inline]
#[must_use]
pub const fn low_u8(bits: u32) -> u8 {
    bits as u8
}

/// The lower 16 of 32 bits.
#[inline]
#[must_use]
pub const fn low_u16(bits: u32) -> u16 {
    bits as u16
}

/// A position or count in memory as 32 bits; all-ones where it does not fit.
#[inline]
#[must_use]
pub fn position_u32(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A length of a file in memory; the largest one where it does not fit, which no memory has.
#[inline]
#[must_use]
pub fn saturated_usize(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_the_nearest_bound() {
        assert_eq!(saturated_u64(-1.0), 0);
        assert_eq!(saturated_u64(1e30), u64::MAX);
        assert_eq!(saturated_u64(f64::NAN), 0);
        assert_eq!(saturated_i64(-1e30), i64::MIN);
        assert_eq!(saturated_u32(2.9), 2);
        assert_eq!(position_u32(usize::MAX), u32::MAX);
        assert_eq!(saturated_usize(7), 7);
    }

    #[test]
    fn halves_are_the_lower_ones() {
        assert_eq!(low_u32(0x1_0000_0002), 2);
        assert_eq!(low_u64(u128::MAX - 1), u64::MAX - 1);
        assert_eq!((low_u8(0x1ff), low_u16(0x1_2345)), (0xff, 0x2345));
    }
}
