//! Flat arrays of numbers and short strings, read at once.

use super::layout::Layout;
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
    /// Bit i: field i is a number.
    number_fields: u32,
    text: String,
    text_ends: Vec<usize>,
    /// Where the fields are in the bytes that were read last.
    spans: Vec<(usize, usize)>,
    layout: Layout,
}

impl Row {
    /// Most fields of one row; longer arrays are read event by event.
    pub const MOST: usize = 16;

    /// Most bytes of one row, from the comma before it to its end.
    pub const MOST_BYTES: usize = 4096;

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
        let wanted = u32::try_from(i).ok().and_then(|i| 1_u32.checked_shl(i))?;
        self.numbers(wanted)?.get(i).copied()
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

    /// The fields, where those of `wanted` (bit i: field i) are all there and numbers. What stands
    /// in the other places means nothing.
    #[must_use]
    #[inline]
    pub fn numbers(&self, wanted: u32) -> Option<&[f64; Self::MOST]> {
        (self.number_fields & wanted == wanted).then_some(&self.fields)
    }

    fn clear(&mut self) {
        self.len = 0;
        (self.text_fields, self.number_fields) = (0, 0);
        self.text.clear();
        self.text_ends.clear();
        self.spans.clear();
    }

    /// Reads the row at the front of `bytes`, after a comma if there must be one.
    fn read(&mut self, bytes: &[u8], after: bool) -> RowScan {
        self.clear();
        let mut at = 0;
        if after {
            match bytes.first() {
                Some(b',') => at = skip_space(bytes, 1),
                Some(_) => return RowScan::Other,
                None => return RowScan::Cut,
            }
        }
        match bytes.get(at) {
            Some(b'[') => at += 1,
            Some(_) => return RowScan::Other,
            None => return RowScan::Cut,
        }
        loop {
            at = skip_space(bytes, at);
            let Some(field) = self.fields.get_mut(self.len) else { return RowScan::Other };
            let rest = bytes.get(at..).unwrap_or_default();
            let len = if rest.first() == Some(&b'"') {
                let content = rest.get(1..).unwrap_or_default();
                let len = plain_len(content);
                match content.get(len) {
                    Some(b'"') => {}
                    Some(_) => return RowScan::Other,
                    None => return RowScan::Cut,
                }
                let content = content.get(..len).unwrap_or_default();
                let Ok(text) = std::str::from_utf8(content) else { return RowScan::Other };
                self.text.push_str(text);
                self.text_ends.push(self.text.len());
                self.text_fields |= 1 << self.len;
                len + 2
            } else {
                match number::scan(rest) {
                    Ok(scanned) => {
                        *field = scanned.number.as_f64();
                        self.number_fields |= 1 << self.len;
                        scanned.len
                    }
                    Err(place) if place >= rest.len() => return RowScan::Cut,
                    Err(_) => return RowScan::Other,
                }
            };
            self.spans.push((at, at + len));
            self.len += 1;
            at = skip_space(bytes, at + len);
            match bytes.get(at) {
                Some(b',') => at += 1,
                Some(b']') => return RowScan::Row(at + 1),
                Some(_) => return RowScan::Other,
                None => return RowScan::Cut,
            }
        }
    }
}

/// What stands at the front of some bytes.
enum RowScan {
    /// A row, which ends here.
    Row(usize),
    /// Something else.
    Other,
    /// The front of what may be a row.
    Cut,
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
    /// [`Row::MOST`] numbers and strings without escapes, in at most [`Row::MOST_BYTES`].
    ///
    /// False when it is anything else, or the array ends: the next event tells, and nothing but
    /// white space was consumed. This is several times faster than event by event, most of all
    /// where rows look like the rows before them.
    ///
    /// # Errors
    /// When the bytes cannot be read.
    pub fn next_row(&mut self, row: &mut Row) -> Result<bool, JsonError> {
        let Some(after) = self.row_state() else { return Ok(false) };
        if after && self.similar_rows(row, 1, &mut |_| {})? == 1 {
            return Ok(true);
        }
        self.next_row_with_care(row, after)
    }

    /// Reads elements of the open array for as long as [`JsonReader::next_row`] would, and gives
    /// each to `take`. `row` holds no row after that.
    ///
    /// # Errors
    /// When the bytes cannot be read.
    #[inline]
    pub fn rows(&mut self, row: &mut Row, mut take: impl FnMut(&Row)) -> Result<(), JsonError> {
        loop {
            let Some(after) = self.row_state() else { return Ok(()) };
            if after {
                self.similar_rows(row, u64::MAX, &mut take)?;
            }
            if !self.next_row_with_care(row, after)? {
                return Ok(());
            }
            take(row);
        }
    }

    /// Reads up to `most` elements that look like the one before them, which is in `row`, and says
    /// how many there were. When fewer, `row` holds no row.
    #[inline]
    fn similar_rows(
        &mut self,
        row: &mut Row,
        most: u64,
        take: &mut impl FnMut(&Row),
    ) -> Result<u64, JsonError> {
        let mut total = 0;
        while total < most && row.layout.is_ready() {
            if self.end - self.at < Layout::ENOUGH && self.at > 0 && !self.at_end {
                self.fill()?;
            }
            let mut bytes = self.window.get(self.at..self.end).unwrap_or_default();
            let (len, mut count) = (bytes.len(), 0);
            while total + count < most
                && let Some(rest) = row.layout.read(bytes, &mut row.fields)
            {
                bytes = rest;
                count += 1;
                take(row);
            }
            let is_done = bytes.len() >= Layout::ENOUGH || count == 0;
            row.layout.count(count);
            self.take_elements(len - bytes.len(), count);
            total += count;
            if is_done {
                break;
            }
        }
        Ok(total)
    }

    #[inline(never)]
    fn next_row_with_care(&mut self, row: &mut Row, after: bool) -> Result<bool, JsonError> {
        let most = Row::MOST_BYTES.min(self.limits().token_bytes);
        loop {
            let bytes = self.window.get(self.at..self.end).unwrap_or_default();
            let blank = skip_space(bytes, 0);
            let bytes = bytes.get(blank..).unwrap_or_default();
            let bytes = bytes.get(..most).unwrap_or(bytes);
            let (found, is_whole) = (row.read(bytes, after), bytes.len() == most);
            if let RowScan::Row(len) = found {
                if after {
                    row.layout.learn(
                        bytes.get(..len).unwrap_or_default(),
                        &row.spans,
                        row.text_fields,
                    );
                } else {
                    row.layout.forget();
                }
                self.take_elements(blank + len, u64::from(after));
                return Ok(true);
            }
            self.at += blank;
            if matches!(found, RowScan::Other) || is_whole || self.at_end {
                row.layout.invalidate();
                return Ok(false);
            }
            // Perhaps the window ends inside the row: look again at a full one.
            self.fill()?;
        }
    }
}
