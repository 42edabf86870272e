//! Tables as Parquet.

use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use parallax_protocol::Table;

use crate::WireError;
use crate::columnar::Batches;

/// Writes Parquet with Snappy compression. Units and meanings are in the embedded Arrow schema, as
/// [`write_arrow`](crate::write_arrow) has them.
///
/// # Errors
///
/// [`WireError`] when `out` fails or the table has columns that answers do not carry.
pub fn write_parquet(table: &Table, out: impl Write + Send) -> Result<(), WireError> {
    let batches = Batches::new(table)?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = ArrowWriter::try_new(out, Arc::clone(&batches.schema), Some(properties))?;
    for batch in batches.iter() {
        writer.write(&batch?)?;
    }
    // Errors of the output survive here; in `into_inner` they would become texts.
    writer.finish()?;
    Ok(writer.inner_mut().flush()?)
}
