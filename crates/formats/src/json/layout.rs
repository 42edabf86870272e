//! Rows that look like the row before: most of a row is compared instead of read.
//!
//! Lists of measurements repeat everything but a few numbers:
//! `, [1758626047.79, 1758626047.91, 117, 137, 78, "a.c"]` differs from its neighbours in fields
//! 0, 1 and 4. From three rows of a list a [`Layout`] learns which fields differ; of further rows
//! those are read and all other bytes compared, sixteen at a time. Of long numbers such as times
//! the first eight digits are compared as well. A row that does not fit is read in the general
//! way, so what is accepted and what it means never depends on the layout.

use parallax_base::casts::low_u64;

use super::number::{self, Fixed};
use super::row::Row;

/// Longest row, with the comma before it, that gets a layout.
const MOST_BYTES: usize = 512;

/// Bytes that are compared at once.
const BLOCK: usize = 16;

/// Bytes from the start of a block that are examined for it and the number after it.
const NEAR: usize = 48;

const _: () = assert!(BLOCK + number::PLAIN_NEAR <= NEAR);

/// Some bytes as in the row before, then perhaps a number.
#[derive(Debug, Clone, Copy)]
struct Step {
    block: Block,
    /// How many bytes the block compares, at most [`BLOCK`].
    len: usize,
    /// The field of the number that follows; `Row::MOST` where none does.
    field: usize,
    /// The digits of that number before its point, where they and the point are in the block.
    whole: Option<Fixed>,
}

/// What [`BLOCK`] bytes of a row must be: the same as before, any digit, or anything.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    /// The bytes; 0 in the place of a digit.
    text: [u64; 2],
    /// Of each byte 6 where a digit is wanted: what is more than 9 then reaches the upper half.
    room: [u64; 2],
    /// The bits of each byte that tell whether it is wrong.
    mask: [u64; 2],
}

impl Block {
    /// Whether `bytes` are what the block says.
    #[inline(always)]
    fn fits(&self, bytes: [u64; 2]) -> bool {
        let mut wrong = 0;
        for (((byte, text), room), mask) in
            bytes.iter().zip(&self.text).zip(&self.room).zip(&self.mask)
        {
            let apart = byte ^ text;
            // A carry leaves only a byte whose upper half is wrong itself.
            wrong |= (apart.wrapping_add(*room) | apart) & mask;
        }
        wrong == 0
    }

    /// Compares with `text`, except that the last bytes may be any `digits` digits and a point.
    fn new(text: &[u8], digits: usize) -> Self {
        let digits_end = text.len().saturating_sub(1);
        let is_digit = |at: usize| digits > 0 && at < digits_end && at + digits >= digits_end;
        let mut parts = [[0; BLOCK]; 3];
        for (at, &byte) in text.iter().enumerate().take(BLOCK) {
            let wanted = if is_digit(at) { [b'0', 6, 0xf0] } else { [byte, 0, 0xff] };
            for (part, byte) in parts.iter_mut().zip(wanted) {
                if let Some(place) = part.get_mut(at) {
                    *place = byte;
                }
            }
        }
        let [text, room, mask] = parts.map(words);
        Self { text, room, mask }
    }
}

/// Sixteen bytes as two words.
#[inline(always)]
fn words(bytes: [u8; BLOCK]) -> [u64; 2] {
    let all = u128::from_le_bytes(bytes);
    [low_u64(all), low_u64(all >> 64)]
}

/// What the rows of a list have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    ready: bool,
    /// Nothing in this list repeats: not worth another try.
    given_up: bool,
    /// Bit i: field i is read, not compared.
    varying: u32,
    /// The text of the row before, from the comma to the bracket, and where its fields are.
    text: Vec<u8>,
    spans: Vec<(usize, usize)>,
    text_fields: u32,
    steps: Vec<Step>,
    /// Rows that fitted since the layout was learned.
    hits: u64,
    /// How often in a row a layout was hardly of use.
    strikes: u32,
}

impl Layout {
    /// Bytes that are enough to read any row that has a layout: a number at the very end of it is
    /// examined in full width.
    pub(super) const ENOUGH: usize = MOST_BYTES + NEAR;

    /// Whether [`Layout::read`] may be tried.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        self.ready
    }

    /// A new list begins.
    pub(super) fn forget(&mut self) {
        (self.ready, self.given_up) = (false, false);
        (self.varying, self.hits, self.strikes) = (0, 0, 0);
        self.spans.clear();
    }

    /// The row no longer holds what the layout compares with.
    pub(super) fn invalidate(&mut self) {
        self.ready = false;
        self.spans.clear();
    }

    /// Reads the row at the front of `bytes`, with the comma before it, into `fields`, which hold
    /// the row before; gives the bytes after it. `None` when it does not fit: `fields` then hold no
    /// row.
    #[inline(always)]
    pub(super) fn read<'b>(
        &self,
        mut bytes: &'b [u8],
        fields: &mut [f64; Row::MOST],
    ) -> Option<&'b [u8]> {
        for step in &self.steps {
            let near = bytes.first_chunk::<NEAR>()?;
            let (block, _) = near.split_first_chunk::<BLOCK>()?;
            if !step.block.fits(words(*block)) {
                return None;
            }
            // A block has at most 16 bytes, so the remainder is the length itself.
            let len = step.len % (BLOCK + 1);
            let (value, digits) = match step.field {
                Row::MOST.. => (0.0, 0),
                _ => match &step.whole {
                    Some(whole) => number::fraction(near, len, whole)?,
                    None => number::plain(near.get(len..)?.first_chunk()?)?,
                },
            };
            if let Some(field) = fields.get_mut(step.field) {
                *field = value;
            }
            bytes = bytes.get(len + digits..)?;
        }
        Some(bytes)
    }

    /// Notes that `rows` were read by [`Layout::read`].
    pub(super) fn count(&mut self, rows: u64) {
        self.hits = self.hits.saturating_add(rows);
    }

    /// Learns from a row that was read in the general way: its bytes from the comma on, the places
    /// of its fields there, and which of them are text.
    pub(super) fn learn(&mut self, text: &[u8], spans: &[(usize, usize)], text_fields: u32) {
        if self.given_up || text.len() > MOST_BYTES {
            self.ready = false;
            return;
        }
        if self.ready {
            self.strikes = if self.hits < 4 { self.strikes + 1 } else { 0 };
            self.given_up = self.strikes > 8;
        }
        self.ready = false;
        let alike = self.spans.len() == spans.len() && self.text_fields == text_fields;
        if alike {
            for (i, (before, now)) in self.spans.iter().zip(spans).enumerate() {
                let is_number = text_fields >> i & 1 == 0;
                if is_number && self.text.get(before.0..before.1) != text.get(now.0..now.1) {
                    self.varying |= 1 << i;
                }
            }
            self.arrange(text, spans);
        } else {
            self.varying = 0;
        }
        self.text.clear();
        self.text.extend_from_slice(text);
        self.spans.clear();
        self.spans.extend_from_slice(spans);
        self.text_fields = text_fields;
    }

    fn arrange(&mut self, text: &[u8], spans: &[(usize, usize)]) {
        self.steps.clear();
        let mut from = 0;
        for (field, &(start, end)) in spans.iter().enumerate() {
            if self.varying >> field & 1 == 0 {
                continue;
            }
            let number = text.get(start..end).unwrap_or_default();
            let whole = Fixed::of(number);
            let to = start + whole.map_or(0, |whole| whole.len());
            self.steps(text.get(from..to).unwrap_or_default(), field, whole);
            from = end;
        }
        self.steps(text.get(from..).unwrap_or_default(), Row::MOST, None);
        (self.ready, self.hits) = (!self.given_up, 0);
    }

    /// Steps for the bytes `text`, the last of which are `whole` and a point, if that is there.
    /// The first step takes what is too much, so that the last has the whole number.
    fn steps(&mut self, text: &[u8], field: usize, whole: Option<Fixed>) {
        let (first, rest) = text.split_at_checked(text.len() % BLOCK).unwrap_or((text, &[]));
        let mut parts = std::iter::once(first).chain(rest.chunks(BLOCK)).peekable();
        while let Some(part) = parts.next() {
            let is_last = parts.peek().is_none();
            if part.is_empty() && !is_last {
                continue;
            }
            let (field, whole) = if is_last { (field, whole) } else { (Row::MOST, None) };
            let block = Block::new(part, whole.map_or(0, |whole| whole.digits()));
            self.steps.push(Step { block, len: part.len(), field, whole });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of the fields of a row without texts that hold commas.
    fn spans(row: &str) -> Vec<(usize, usize)> {
        let mut at = row.find('[').unwrap() + 1;
        row[at..row.len() - 1]
            .split(',')
            .map(|field| {
                let from = at + field.len() - field.trim_start().len();
                at += field.len() + 1;
                (from, from + field.trim().len())
            })
            .collect()
    }

    #[test]
    fn rows_of_measurements_fit_the_rows_before_them() {
        let row = |at: u32, thread: u32| {
            let start = 1_758_626_047.25 + f64::from(at) * 0.07;
            format!(", [{start:.6}, {:.7}, 100, 117, {thread}, \"solver.c\"]", start + 0.5)
        };
        let mut layout = Layout::default();
        for text in [row(0, 7), row(1, 14)] {
            layout.learn(text.as_bytes(), &spans(&text), 1 << 5);
        }
        assert!(layout.is_ready());
        let mut fields = [0.0; Row::MOST];
        for at in 2..700 {
            let text = row(at, at % 128);
            let padded = format!("{text}{}", " ".repeat(NEAR));
            let rest = layout.read(padded.as_bytes(), &mut fields).unwrap();
            assert_eq!(rest.len(), NEAR, "{text}");
            let expected = spans(&text);
            for field in [0, 1, 4] {
                let text = expected.get(field).and_then(|&(from, to)| text.get(from..to)).unwrap();
                assert_eq!(fields.get(field).copied(), text.parse().ok(), "{text}");
            }
        }
        // Other lines, another file, another first part of a time: read in the general way.
        for (from, to) in [("100", "101"), ("solver", "salver"), ("17586260", "17586360")] {
            let padded = format!("{}{}", row(3, 3).replace(from, to), " ".repeat(NEAR));
            assert!(layout.read(padded.as_bytes(), &mut fields).is_none(), "{to}");
        }
    }
}
