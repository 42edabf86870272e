//! Answers that are not tables.

use std::io::Write;

use serde::Serialize;

use crate::WireError;

/// Writes a reply as indented JSON that ends in a line feed.
///
/// # Errors
///
/// [`WireError::Io`] when `out` fails.
pub fn write_reply<T: Serialize>(reply: &T, mut out: impl Write) -> Result<(), WireError> {
    serde_json::to_writer_pretty(&mut out, reply)
        .map_err(|error| WireError::Io { source: error.into() })?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
