//! Rows: a header of types, then the values.

use parallax_base::casts::saturated_i64;

use super::Encoding;

/// One value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'r> {
    /// None, or a column that was added after the row.
    Null,
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text in the encoding of the database.
    Text(&'r [u8]),
    /// Bytes.
    Blob(&'r [u8]),
}

/// A number of 1 to 9 bytes, seven bits in each of the first eight, and how many bytes it takes.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    // Most are one byte.
    let &first = bytes.first()?;
    if first < 0x80 {
        return Some((first.into(), 1));
    }
    let mut value = u64::from(first & 0x7f);
    for (i, &byte) in bytes.iter().enumerate().take(9).skip(1) {
        if i == 8 {
            return Some((value << 8 | u64::from(byte), 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some((value, i + 1));
        }
    }
    None
}

/// Where a value lies in a row, and of which type it is.
#[derive(Debug, Clone, Copy)]
struct Slot {
    serial_type: u64,
    start: usize,
}

/// One row of a table.
#[derive(Debug)]
pub struct Row<'r> {
    page: u32,
    rowid: i64,
    payload: &'r [u8],
    encoding: Encoding,
    slots: &'r Slots,
}

/// Where the values of a row are; kept between rows, because a table has millions of them.
#[derive(Debug, Default)]
pub(super) struct Slots {
    list: Vec<Slot>,
}

/// Bytes of a value of a type.
fn len_of(serial_type: u64) -> u64 {
    match serial_type {
        0 | 8..=11 => 0,
        1..=4 => serial_type,
        5 => 6,
        6 | 7 => 8,
        _ => (serial_type - 12) / 2,
    }
}

impl Slots {
    /// Reads the header of a row; `None` when it does not fit the row.
    pub(super) fn read(&mut self, payload: &[u8]) -> Option<()> {
        self.list.clear();
        let (header_len, mut at) = varint(payload)?;
        let header_len = usize::try_from(header_len).ok().filter(|&len| len <= payload.len())?;
        let mut start = header_len;
        while at < header_len {
            let (serial_type, len) = varint(payload.get(at..header_len)?)?;
            at += len;
            self.list.push(Slot { serial_type, start });
            let len = usize::try_from(len_of(serial_type)).ok()?;
            start = start.checked_add(len).filter(|&end| end <= payload.len())?;
        }
        Some(())
    }
}

impl<'r> Row<'r> {
    pub(super) fn new(
        (page, rowid): (u32, i64),
        payload: &'r [u8],
        encoding: Encoding,
        slots: &'r Slots,
    ) -> Self {
        Self { page, rowid, payload, encoding, slots }
    }

    /// The page of the file that it is in, counted from 1: where [`super::Leaves`] finds it again.
    #[must_use]
    pub const fn page(&self) -> u32 {
        self.page
    }

    /// The number of the row in its table.
    #[must_use]
    pub const fn rowid(&self) -> i64 {
        self.rowid
    }

    /// How many values are stored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.list.len()
    }

    /// Number of bytes of the row.
    #[must_use]
    pub const fn len_bytes(&self) -> u64 {
        self.payload.len() as u64
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.list.is_empty()
    }

    /// The value that is stored at a position; null behind the last one. A column that is the row
    /// number is stored as null: [`Row::get`] knows.
    #[must_use]
    pub fn stored(&self, position: usize) -> Value<'r> {
        let Some(slot) = self.slots.list.get(position) else { return Value::Null };
        let len = usize::try_from(len_of(slot.serial_type)).unwrap_or(0);
        let Some(bytes) = self.payload.get(slot.start..slot.start + len) else {
            return Value::Null;
        };
        match slot.serial_type {
            1..=6 => Value::Integer(integer(bytes)),
            7 => bytes.try_into().map_or(Value::Null, |b| Value::Real(f64::from_be_bytes(b))),
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            0 | 10 | 11 => Value::Null,
            odd if odd % 2 == 1 => Value::Text(bytes),
            _ => Value::Blob(bytes),
        }
    }

    /// The value of a column.
    #[must_use]
    pub fn get(&self, column: super::Column) -> Value<'r> {
        match column {
            super::Column::Rowid => Value::Integer(self.rowid),
            super::Column::Stored(position) => self.stored(position),
            super::Column::Absent => Value::Null,
        }
    }

    /// The value of a column as a whole number: also of text that is one, as columns of a text type
    /// store numbers.
    #[must_use]
    pub fn integer(&self, column: super::Column) -> Option<i64> {
        match self.get(column) {
            Value::Integer(value) => Some(value),
            // Whole numbers above 2^63 come as this.
            Value::Real(value) if value.fract() == 0.0 => Some(saturated_i64(value)),
            Value::Text(text) => self.encoding.decode(text).trim().parse().ok(),
            Value::Null | Value::Real(_) | Value::Blob(_) => None,
        }
    }

    /// The value of a column as text, numbers included; `None` for null.
    #[must_use]
    pub fn text(&self, column: super::Column) -> Option<String> {
        match self.get(column) {
            Value::Null => None,
            Value::Integer(value) => Some(value.to_string()),
            Value::Real(value) => Some(value.to_string()),
            Value::Text(text) => Some(self.encoding.decode(text)),
            Value::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        }
    }
}

/// A number in two's complement, the highest byte first.
fn integer(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let start = if negative { -1_i64 } else { 0 };
    bytes.iter().fold(start, |value, &byte| value << 8 | i64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_read() {
        for (bytes, expected) in [
            (&[0x00][..], (0, 1)),
            (&[0x7f, 0xff][..], (127, 1)),
            (&[0x81, 0x00][..], (128, 2)),
            (&[0xff, 0x7f][..], (16383, 2)),
            (&[0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00][..], (1 << 57, 9)),
            (&[0xff; 9][..], (u64::MAX, 9)),
        ] {
            assert_eq!(varint(bytes), Some(expected), "{bytes:?}");
        }
        assert_eq!(varint(&[]), None);
        assert_eq!(varint(&[0x80; 8]), None);
    }

    #[test]
    fn a_header_that_claims_more_than_the_row_has_is_refused() {
        let mut slots = Slots::default();
        // Three bytes of header; one integer of 8 bytes, of which only 2 are there.
        assert_eq!(slots.read(&[2, 6, 0, 0]), None);
        assert_eq!(slots.read(&[200, 1]), None);
        assert_eq!(slots.read(&[2, 1, 5]), Some(()));
    }
}
