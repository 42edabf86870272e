//! Decimal digits, eight at a time: what readers of numbers in text begin with, whether they make
//! floats of them ([`crate::json`]) or exact units ([`crate::json_trace`]).

/// A one in each byte of a word.
pub(crate) const EACH: u64 = 0x0101_0101_0101_0101;

/// The value of 10 to the number of digits that a word of eight bytes holds.
const POWERS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Eight bytes at `at`, the first in the lowest place.
#[inline]
pub(crate) fn load(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|chunk| u64::from_le_bytes(*chunk))
}

/// The value of eight digits, each in one byte as 0 to 9.
#[inline]
pub(crate) fn eight(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(2561) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(6_553_601) >> 16;
    (fours & 0x0000_ffff_0000_ffff).wrapping_mul(42_949_672_960_001) >> 32
}

/// Marks every byte that is not a digit, exactly up to the first; and the digits' values.
#[inline]
pub(crate) fn apart(chunk: u64) -> (u64, u64) {
    let values = chunk ^ (0x30 * EACH);
    ((values.wrapping_add(0x76 * EACH) | values) & (0x80 * EACH), values)
}

/// Appends the digits at `at` to `mantissa` (wrapping); returns the first place without one.
#[inline]
pub(crate) fn digits(bytes: &[u8], mut at: usize, mantissa: &mut u64) -> usize {
    while let Some(chunk) = load(bytes, at) {
        let (others, values) = apart(chunk);
        let count = (others.trailing_zeros() / 8) as usize;
        let Some(&power) = POWERS.get(count) else { return at };
        if count == 0 {
            return at;
        }
        let aligned = values << (64 - 8 * count);
        *mantissa = mantissa.wrapping_mul(power).wrapping_add(eight(aligned));
        at += count;
        if count < 8 {
            return at;
        }
    }
    while let Some(digit) = bytes.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_any_number_are_read_wherever_they_begin_and_end() {
        for len in 0..=40 {
            for before in 0..9 {
                for after in ["", "x", ".25", "/:;", " 1234567"] {
                    let number: String = (0..len)
                        .filter_map(|i: u32| char::from_digit((i * 7 + 3) % 10, 10))
                        .collect();
                    let text = format!("{}{number}{after}", "-".repeat(before));
                    let expected = number.bytes().fold(0_u64, |sum, digit| {
                        sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))
                    });
                    let mut found = 0;
                    let end = digits(text.as_bytes(), before, &mut found);
                    assert_eq!((end, found), (before + number.len(), expected), "{text}");
                }
            }
        }
    }
}
