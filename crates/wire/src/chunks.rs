//! [`Chunks`]: rows of text, handed on in large pieces.

use std::io::{self, Write};

/// Rows are gathered until there is this much.
const CHUNK_BYTES: usize = 1 << 16;

/// A writer of rows of text.
pub(crate) struct Chunks<W> {
    out: W,
    /// What was written since the last piece was handed on.
    pub(crate) bytes: Vec<u8>,
}

impl<W: Write> Chunks<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, bytes: Vec::with_capacity(CHUNK_BYTES * 2) }
    }

    /// To be called after each row.
    pub(crate) fn end_row(&mut self) -> io::Result<()> {
        if self.bytes.len() >= CHUNK_BYTES {
            self.out.write_all(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    /// Hands on what is left.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.out.write_all(&self.bytes)?;
        self.out.flush()
    }
}

/// Appends the decimal digits of `value`.
pub(crate) fn push_integer(bytes: &mut Vec<u8>, value: impl itoa::Integer) {
    bytes.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends the shortest decimal number that reads back as `value`, which must be finite.
pub(crate) fn push_float(bytes: &mut Vec<u8>, value: f64) {
    bytes.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
}
