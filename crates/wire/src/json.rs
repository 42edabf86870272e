//! Tables as JSON: one document, or one object per row.

use std::io::Write;

use parallax_protocol::Table;

use crate::chunks::{Chunks, push_float, push_integer};
use crate::{Cell, Cells, WireError};

/// Writes `{"columns":[{"name","type","unit"}],"rows":[[...]]}`, one row per line.
///
/// Types are `bool`, `u16`, `u32`, `u64`, `i64`, `f64` and `string`; the unit of a plain number or
/// a text is empty. Doubles have the fewest digits that read back to the same value; JSON knows no
/// infinities, so these and NaN are `null` like undefined values.
///
/// # Errors
///
/// [`WireError`] when `out` fails or the table has columns that answers do not carry.
pub fn write_json(table: &Table, out: impl Write) -> Result<(), WireError> {
    let columns = Cells::of_table(table)?;
    let mut chunks = Chunks::new(out);
    let bytes = &mut chunks.bytes;
    bytes.extend_from_slice(b"{\"columns\":[");
    for (idx, (column, cells)) in table.columns.iter().zip(&columns).enumerate() {
        if idx > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(b"{\"name\":");
        push_string(bytes, &column.name);
        bytes.extend_from_slice(b",\"type\":");
        push_string(bytes, cells.column_type().name());
        bytes.extend_from_slice(b",\"unit\":");
        push_string(bytes, &column.unit);
        bytes.push(b'}');
    }
    bytes.extend_from_slice(b"],\"rows\":[");
    for row in 0..table.num_rows() {
        let bytes = &mut chunks.bytes;
        bytes.extend_from_slice(if row == 0 { b"\n[" } else { b",\n[" });
        for (idx, cells) in columns.iter().enumerate() {
            if idx > 0 {
                bytes.push(b',');
            }
            push_cell(bytes, cells.get(row));
        }
        bytes.push(b']');
        chunks.end_row()?;
    }
    chunks.bytes.extend_from_slice(b"]}\n");
    Ok(chunks.finish()?)
}

/// Writes one JSON object per line, with a member per column; values as [`write_json`] has them.
///
/// # Errors
///
/// [`WireError`] when `out` fails or the table has columns that answers do not carry.
pub fn write_jsonl(table: &Table, out: impl Write) -> Result<(), WireError> {
    let columns = Cells::of_table(table)?;
    let mut keys = Vec::with_capacity(columns.len());
    for (idx, column) in table.columns.iter().enumerate() {
        let mut key = vec![if idx == 0 { b'{' } else { b',' }];
        push_string(&mut key, &column.name);
        key.push(b':');
        keys.push(key);
    }
    let mut chunks = Chunks::new(out);
    for row in 0..table.num_rows() {
        let bytes = &mut chunks.bytes;
        for (key, cells) in keys.iter().zip(&columns) {
            bytes.extend_from_slice(key);
            push_cell(bytes, cells.get(row));
        }
        bytes.extend_from_slice(b"}\n");
        chunks.end_row()?;
    }
    Ok(chunks.finish()?)
}

fn push_cell(bytes: &mut Vec<u8>, cell: Cell<'_>) {
    match cell {
        Cell::Unsigned(value) => push_integer(bytes, value),
        Cell::Signed(value) => push_integer(bytes, value),
        Cell::Float(value) if value.is_finite() => push_float(bytes, value),
        Cell::Text(text) => push_string(bytes, text),
        Cell::Bool(true) => bytes.extend_from_slice(b"true"),
        Cell::Bool(false) => bytes.extend_from_slice(b"false"),
        Cell::Null | Cell::Float(_) => bytes.extend_from_slice(b"null"),
    }
}

/// Appends `text` in quotes. Only what RFC 8259 demands is escaped: quotes, backslashes and control
/// characters.
fn push_string(bytes: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    bytes.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\') {
        let (plain, special) = rest.split_at(at);
        bytes.extend_from_slice(plain);
        let Some((&byte, after)) = special.split_first() else { break };
        match byte {
            b'"' => bytes.extend_from_slice(b"\\\""),
            b'\\' => bytes.extend_from_slice(b"\\\\"),
            b'\n' => bytes.extend_from_slice(b"\\n"),
            b'\r' => bytes.extend_from_slice(b"\\r"),
            b'\t' => bytes.extend_from_slice(b"\\t"),
            byte => {
                bytes.extend_from_slice(b"\\u00");
                bytes.extend([HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
        }
        rest = after;
    }
    bytes.extend_from_slice(rest);
    bytes.push(b'"');
}
