//! Flat arrays of numbers and short strings, read at once.

use super::number;
use super::reader::plain_len;
use super::{JsonError, JsonReader};

/// A flat array such as `[1758626047.79, 1758626047.91, 117, 137, 78, "a.c"]`.
///
/// Reused from row to row, so that reading a row allocates nothing.
#[derive(Debug, Clone, Default)]
pub struct Row {
    fields: [f64; Row::MOST],
    len: usize,
    /// Bit i: field i is text, and its number is the index of its end in `text_ends`.
    text_fields: u32,
    text: String,
    text_ends: Vec<usize>,
}

impl Row {
    /// Most fields of one row; longer arrays are read event by event.
    pub const MOST: usize = 16;

    /// Number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the array has no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number in field `i`; `None` for text and past the end.
    #[must_use]
    #[inline]
    pub fn number(&self, i: usize) -> Option<f64> {
        if i >= self.len || self.text_fields >> i & 1 == 1 {
            return None;
        }
        self.fields.get(i).copied()
    }

    /// The text in field `i`; `None` for numbers and past the end.
    #[must_use]
    pub fn text(&self, i: usize) -> Option<&str> {
        if i >= self.len || self.text_fields >> i & 1 == 0 {
            return None;
        }
        let nth = (self.text_fields & ((1 << i) - 1)).count_ones() as usize;
        let start = nth.checked_sub(1).and_then(|p| self.text_ends.get(p)).copied().unwrap_or(0);
        self.text.get(start..*self.text_ends.get(nth)?)
    }

    fn clear(&mut self) {
        self.len = 0;
        self.text_fields = 0;
        self.text.clear();
        self.text_ends.clear();
    }

    /// Reads the array at the front of `bytes`; returns its length, or `None` when it is not flat,
    /// is too long, has escapes, or does not end within `bytes`.
    #[inline]
    fn read(&mut self, bytes: &[u8]) -> Option<usize> {
        self.clear();
        if bytes.first() != Some(&b'[') {
            return None;
        }
        let mut at = 1;
        loop {
            at = skip_space(bytes, at);
            let field = self.fields.get_mut(self.len)?;
            if bytes.get(at) == Some(&b'"') {
                let rest = bytes.get(at + 1..)?;
                let len = plain_len(rest);
                if rest.get(len) != Some(&b'"') {
                    return None;
                }
                self.text.push_str(std::str::from_utf8(rest.get(..len)?).ok()?);
                self.text_ends.push(self.text.len());
                self.text_fields |= 1 << self.len;
                at += len + 2;
            } else {
                let rest = bytes.get(at..)?;
                let scanned = number::scan(rest).ok()?;
                *field = scanned.number.as_f64();
                at += scanned.len;
            }
            self.len += 1;
            at = skip_space(bytes, at);
            match bytes.get(at)? {
                b',' => at += 1,
                b']' => return Some(at + 1),
                _ => return None,
            }
        }
    }
}

#[inline]
fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

impl JsonReader<'_> {
    /// Reads the next element of the open array into `row` if it is a flat array of at most
    /// [`Row::MOST`] numbers and strings without escapes.
    ///
    /// False when it is anything else, or the array ends: the next event tells, and nothing was
    /// consumed. This is several times faster than event by event.
    ///
    /// # Errors
    /// When the bytes cannot be read.
    #[inline]
    pub fn next_row(&mut self, row: &mut Row) -> Result<bool, JsonError> {
        let Some(after) = self.row_state() else { return Ok(false) };
        for attempt in 0..2 {
            let bytes = self.window.get(self.at..self.end).unwrap_or_default();
            let mut start = skip_space(bytes, 0);
            let comma = bytes.get(start) == Some(&b',');
            if after && comma {
                start = skip_space(bytes, start + 1);
            }
            if after && !comma && start < bytes.len() {
                return Ok(false);
            }
            if let Some(len) = row.read(bytes.get(start..).unwrap_or_default()) {
                self.take_element(start + len, after);
                return Ok(true);
            }
            // Perhaps the window ends inside the row: look again at a full one.
            let is_row = matches!(bytes.get(start), Some(b'[') | None);
            if !is_row || attempt > 0 || self.at_end || self.at == 0 && self.end > 0 {
                break;
            }
            if bytes.len() > 4096 {
                break;
            }
            self.fill()?;
        }
        Ok(false)
    }
}
