//! Finding the ends of JSON values in a window of bytes, many bytes at a time.
//!
//! These functions find where a value ends and check no more than that takes: what a value means,
//! and whether it means anything, is decided by whoever uses it. All of them look at bytes only,
//! so the result does not depend on where the window ends.

use crate::digits::{EACH, apart, load};

/// Why a value has no end yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The bytes end inside the value.
    Cut,
    /// A byte that cannot stand here.
    Bad {
        /// Its place.
        at: usize,
        /// What could stand here.
        what: &'static str,
    },
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Kind {
    /// A string without escapes.
    #[default]
    Text,
    /// A string with escapes.
    Escaped,
    /// Digits, point, sign, exponent; perhaps not a number after all.
    Number,
    /// `true`, `false`, `null`, or a word for a number that JSON lacks.
    Word,
    /// An object or array.
    Nested,
}

/// A value: what it is, where its content lies (without quotes), and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) stop: usize,
    pub(super) end: usize,
}

/// Most containers open at once inside one value.
pub(super) const MOST_DEPTH: usize = 512;

const HIGH: u64 = 0x8080_8080_8080_8080;

/// Marks the zero bytes of `x`, exactly up to the first.
#[inline]
fn zeros(x: u64) -> u64 {
    x.wrapping_sub(EACH) & !x & HIGH
}

/// Marks the bytes of `x` equal to `byte`, exactly up to the first.
#[inline]
fn equal(x: u64, byte: u8) -> u64 {
    zeros(x ^ (u64::from(byte) * EACH))
}

/// The place of the first byte from `at` on that is not white space.
#[inline]
pub(super) fn space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
        while load(bytes, at) == Some(u64::from(b' ') * EACH) {
            at += 8;
        }
    }
    at
}

/// The place of the quote that closes the string whose content begins at `at`, and whether the
/// content has escapes.
#[inline]
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> Option<(usize, bool)> {
    while let Some(chunk) = load(bytes, at) {
        let care = equal(chunk, b'"') | equal(chunk, b'\\');
        if care != 0 {
            at += (care.trailing_zeros() / 8) as usize;
            return if bytes.get(at) == Some(&b'"') {
                Some((at, false))
            } else {
                escaped_end(bytes, at).map(|end| (end, true))
            };
        }
        at += 8;
    }
    loop {
        match bytes.get(at)? {
            b'"' => return Some((at, false)),
            b'\\' => return escaped_end(bytes, at).map(|end| (end, true)),
            _ => at += 1,
        }
    }
}

/// As [`string_end`] from the first backslash on.
#[cold]
fn escaped_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The end of the number or word at `at`: the place of the first byte that separates values.
/// `None` where the bytes end before.
#[inline]
pub(super) fn scalar_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        // Mostly digits: eight at a time.
        while let Some(chunk) = load(bytes, at) {
            let (others, _) = apart(chunk);
            at += (others.trailing_zeros() / 8) as usize;
            if others != 0 {
                break;
            }
        }
        match bytes.get(at)? {
            0..=b' ' | b',' | b'"' | b':' | b']' | b'}' => return Some(at),
            _ => at += 1,
        }
    }
}

/// Whether `word` may stand for a value without quotes.
#[cold]
fn is_word(word: &[u8]) -> bool {
    let words: [&[u8]; 8] =
        [b"true", b"false", b"null", b"NaN", b"nan", b"Infinity", b"inf", b"None"];
    words.contains(&word)
}

/// The number or word at `at`.
#[inline]
pub(super) fn scalar(bytes: &[u8], at: usize) -> Result<Value, Stop> {
    let stop = scalar_end(bytes, at).ok_or(Stop::Cut)?;
    let kind = match bytes.get(at) {
        Some(b'0'..=b'9' | b'-') => Kind::Number,
        _ if is_word(bytes.get(at..stop).unwrap_or_default()) => Kind::Word,
        _ => return Err(Stop::Bad { at, what: "a value" }),
    };
    Ok(Value { kind, start: at, stop, end: stop })
}

/// The value at `at`, which is not white space.
#[inline]
pub(super) fn value(bytes: &[u8], at: usize) -> Result<Value, Stop> {
    match bytes.get(at) {
        None => Err(Stop::Cut),
        Some(b'"') => {
            let (stop, escaped) = string_end(bytes, at + 1).ok_or(Stop::Cut)?;
            let kind = if escaped { Kind::Escaped } else { Kind::Text };
            Ok(Value { kind, start: at + 1, stop, end: stop + 1 })
        }
        Some(b'{' | b'[') => {
            let end = nested_end(bytes, at)?;
            Ok(Value { kind: Kind::Nested, start: at, stop: end, end })
        }
        Some(_) => scalar(bytes, at),
    }
}

/// Where in 64 bytes the bytes of structure are, one bit each.
struct Marks {
    quotes: u64,
    open: u64,
    close: u64,
    /// Whether there is any backslash.
    escapes: bool,
}

#[inline]
fn marks(block: &[u8; 64]) -> Marks {
    /// Marks the zero bytes exactly, one bit each.
    #[inline]
    fn bits(x: u64) -> u64 {
        let low = x & !HIGH;
        let marked = !((low + !HIGH) | x | !HIGH);
        (marked >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }
    let mut found = Marks { quotes: 0, open: 0, close: 0, escapes: false };
    let mut escapes = 0;
    for (i, word) in block.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let bracket = word | (0x20 * EACH);
        found.quotes |= bits(word ^ (u64::from(b'"') * EACH)) << (8 * i);
        found.open |= bits(bracket ^ (u64::from(b'{') * EACH)) << (8 * i);
        found.close |= bits(bracket ^ (u64::from(b'}') * EACH)) << (8 * i);
        escapes |= zeros(word ^ (u64::from(b'\\') * EACH));
    }
    found.escapes = escapes != 0;
    found
}

/// Bit i of the result is the parity of the bits up to i: inside the quotes.
#[inline]
fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// A walk over bytes that keeps count of open brackets outside strings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nest {
    pub(super) depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Nest {
    /// Stands behind the opening bracket.
    pub(super) fn opened() -> Self {
        Self { depth: 1, in_string: false, escaped: false }
    }

    /// Goes over `bytes` one at a time; the place behind the bracket that closes the first one.
    pub(super) fn walk(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                self.in_string = byte != b'"';
                self.escaped = byte == b'\\';
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => {
                        self.depth -= 1;
                        if self.depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
            }
        }
        None
    }

    /// As [`Nest::walk`] over 64 bytes.
    #[inline]
    fn block(&mut self, block: &[u8; 64]) -> Option<usize> {
        let marks = marks(block);
        if marks.escapes || self.escaped {
            return self.walk(block);
        }
        let carry = if self.in_string { u64::MAX } else { 0 };
        let strings = parity(marks.quotes) ^ carry;
        self.in_string = strings >> 63 == 1;
        let (open, close) = (marks.open & !strings, marks.close & !strings);
        let closed = close.count_ones() as usize;
        if closed < self.depth {
            self.depth = self.depth + open.count_ones() as usize - closed;
            return None;
        }
        let mut both = open | close;
        while both != 0 {
            let at = both.trailing_zeros();
            both &= both - 1;
            if open >> at & 1 == 1 {
                self.depth += 1;
            } else {
                self.depth -= 1;
                if self.depth == 0 {
                    return Some(at as usize + 1);
                }
            }
        }
        None
    }
}

/// The place behind the bracket that closes the one at `at`. Which kind of bracket closes which
/// is left to whoever reads the inside.
pub(super) fn nested_end(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    let mut nest = Nest::opened();
    let mut place = at + 1;
    let (blocks, tail) = bytes.get(place..).unwrap_or_default().as_chunks::<64>();
    for block in blocks {
        if let Some(end) = nest.block(block) {
            return Ok(place + end);
        }
        // Looked at after whole blocks only: the end of the window must not change the result.
        if nest.depth > MOST_DEPTH {
            return Err(Stop::Bad { at: place, what: "less deeply nested values" });
        }
        place += 64;
    }
    nest.walk(tail).map(|end| place + end).ok_or(Stop::Cut)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slow_nested(bytes: &[u8], at: usize) -> Option<usize> {
        Nest::opened().walk(bytes.get(at + 1..).unwrap_or_default()).map(|end| at + 1 + end)
    }

    proptest! {
        #[test]
        fn blocks_find_the_end_that_single_bytes_find(
            text in prop::collection::vec(prop::sample::select(b"{}[]\"\\a, \xff".to_vec()), 1..400)
        ) {
            let mut text = text;
            text.insert(0, b'{');
            match nested_end(&text, 0) {
                Ok(end) => prop_assert_eq!(Some(end), slow_nested(&text, 0)),
                Err(Stop::Cut) => prop_assert_eq!(None, slow_nested(&text, 0)),
                Err(Stop::Bad { .. }) => prop_assert!(false),
            }
        }

        #[test]
        fn words_find_the_end_that_single_bytes_find(
            text in prop::collection::vec(any::<u8>(), 0..60), at in 0..60_usize
        ) {
            let care = |&b: &u8| matches!(b, 0..=b' ' | b',' | b'"' | b':' | b']' | b'}');
            let rest = text.get(at..).unwrap_or_default();
            prop_assert_eq!(scalar_end(&text, at), rest.iter().position(care).map(|n| at + n));
            let mut padded = text.clone();
            padded.extend_from_slice(b"\"12345678");
            prop_assert_eq!(
                string_end(&text, at).or_else(|| string_end(&padded, at)),
                string_end(&padded, at)
            );
        }
    }

    #[test]
    fn nesting_without_end_is_refused_soon() {
        let deep = b"[".repeat(1 << 20);
        assert!(matches!(nested_end(&deep, 0), Err(Stop::Bad { at: ..1000, .. })));
    }
}
