//! Tables as comma-separated values.

use std::io::Write;

use parallax_protocol::Table;

use crate::chunks::{Chunks, push_float, push_integer};
use crate::{Cell, Cells, WireError};

/// Writes RFC 4180 text with a header of column names.
///
/// Lines end in a line feed alone: every reader of the format takes it, and tools that work line by
/// line would see the carriage return of the letter of the RFC as part of the last field.
/// Undefined values are empty fields and empty texts are `""`, so that they stay apart; in a table of
/// one column both are `""`, because readers skip empty lines. Doubles have the fewest digits that
/// read back to the same value, or are `NaN`, `inf`, `-inf`.
///
/// # Errors
///
/// [`WireError`] when `out` fails or the table has columns that answers do not carry.
pub fn write_csv(table: &Table, out: impl Write) -> Result<(), WireError> {
    let columns = Cells::of_table(table)?;
    let null: &[u8] = if columns.len() == 1 { b"\"\"" } else { b"" };
    let mut chunks = Chunks::new(out);
    for (idx, column) in table.columns.iter().enumerate() {
        if idx > 0 {
            chunks.bytes.push(b',');
        }
        push_text(&mut chunks.bytes, &column.name);
    }
    chunks.bytes.push(b'\n');
    for row in 0..table.num_rows() {
        let bytes = &mut chunks.bytes;
        for (idx, cells) in columns.iter().enumerate() {
            if idx > 0 {
                bytes.push(b',');
            }
            match cells.get(row) {
                Cell::Null => bytes.extend_from_slice(null),
                Cell::Bool(true) => bytes.extend_from_slice(b"true"),
                Cell::Bool(false) => bytes.extend_from_slice(b"false"),
                Cell::Unsigned(value) => push_integer(bytes, value),
                Cell::Signed(value) => push_integer(bytes, value),
                Cell::Float(value) if value.is_finite() => push_float(bytes, value),
                Cell::Float(value) if value.is_nan() => bytes.extend_from_slice(b"NaN"),
                Cell::Float(value) if value > 0.0 => bytes.extend_from_slice(b"inf"),
                Cell::Float(_) => bytes.extend_from_slice(b"-inf"),
                Cell::Text(text) => push_text(bytes, text),
            }
        }
        bytes.push(b'\n');
        chunks.end_row()?;
    }
    Ok(chunks.finish()?)
}

/// Appends `text`, in quotes where a reader would misunderstand it without.
fn push_text(bytes: &mut Vec<u8>, text: &str) {
    let needs_quotes = |&b: &u8| matches!(b, b',' | b'"' | b'\n' | b'\r');
    if !text.is_empty() && !text.as_bytes().iter().any(needs_quotes) {
        bytes.extend_from_slice(text.as_bytes());
        return;
    }
    bytes.push(b'"');
    for (idx, part) in text.split('"').enumerate() {
        if idx > 0 {
            bytes.extend_from_slice(b"\"\"");
        }
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes.push(b'"');
}
