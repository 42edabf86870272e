//! Rows that look like the row before: most of a row is compared instead of read.
//!
//! Lists of measurements repeat everything but a few numbers:
//! `, [1758626047.79, 1758626047.91, 117, 137, 78, "a.c"]` differs from its neighbours in fields
//! 0, 1 and 4. From three rows of a list a [`Layout`] learns which fields differ; of further rows
//! those are read and all other bytes compared, eight at a time. A row that does not fit is read
//! in the general way, so what is accepted and what it means never depends on the layout.

use super::number::{self, Whole};
use super::row::Row;

/// Longest row, with the comma before it, that gets a layout.
const MOST_BYTES: usize = 512;

/// Bytes as in the row before, then perhaps a number.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// The bytes' words in `words`.
    first: usize,
    last: usize,
    /// How many bytes they are.
    len: usize,
    /// The field of the number that follows; `Row::MOST` after the last bytes.
    field: usize,
}

/// Eight bytes of a row, fewer where `mask` leaves some out.
#[derive(Debug, Clone, Copy)]
struct Word {
    bytes: u64,
    mask: u64,
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
    words: Vec<Word>,
    whole: Whole,
    /// Rows that fitted since the layout was learned.
    hits: u32,
    /// How often in a row a layout was hardly of use.
    strikes: u32,
}

impl Layout {
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
    /// the row before. `None` when it does not fit: `fields` then hold no row.
    #[inline]
    pub(super) fn read(&mut self, bytes: &[u8], fields: &mut [f64; Row::MOST]) -> Option<usize> {
        let mut at = 0;
        for step in &self.steps {
            let mut place = at;
            for word in self.words.get(step.first..step.last)? {
                if (number::load(bytes, place)? ^ word.bytes) & word.mask != 0 {
                    return None;
                }
                place += 8;
            }
            at += step.len;
            if let Some(field) = fields.get_mut(step.field) {
                (*field, at) = number::plain(bytes, at, &mut self.whole)?;
            }
        }
        self.hits = self.hits.saturating_add(1);
        Some(at)
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
        self.words.clear();
        let mut from = 0;
        for (i, &(start, end)) in spans.iter().enumerate() {
            if self.varying >> i & 1 == 1 {
                self.step(text.get(from..start).unwrap_or_default(), i);
                from = end;
            }
        }
        self.step(text.get(from..).unwrap_or_default(), Row::MOST);
        (self.ready, self.hits) = (!self.given_up, 0);
    }

    fn step(&mut self, text: &[u8], field: usize) {
        let first = self.words.len();
        for part in text.chunks(8) {
            let (mut bytes, mut mask) = ([0; 8], [0; 8]);
            for ((byte, used), &from) in bytes.iter_mut().zip(&mut mask).zip(part) {
                (*byte, *used) = (from, 0xff);
            }
            let (bytes, mask) = (u64::from_le_bytes(bytes), u64::from_le_bytes(mask));
            self.words.push(Word { bytes, mask });
        }
        self.steps.push(Step { first, last: self.words.len(), len: text.len(), field });
    }
}
