//! Tables as Arrow IPC, and the record batches that Parquet takes too.

use std::io::Write;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions, cast::AsArray as _};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;
use parallax_protocol::Table;

use crate::{Cells, WireError};

/// Rows that are decoded at a time. Texts that repeat take their full length only for so long.
const BATCH_ROWS: usize = 1 << 16;

/// Writes the Arrow IPC *file* format (magic `ARROW1`, with a footer), uncompressed, in blocks of
/// 65,536 rows: pandas, Polars and DuckDB open it by name, and it can be mapped into memory.
///
/// Texts are plain UTF-8 columns, those that repeat included: as dictionaries they would become
/// categories in data frames, whose grouping has other rules. Fields carry the unit and a sentence
/// of meaning as metadata, under `unit` and `doc`, and the display name under `head`.
///
/// # Errors
///
/// [`WireError`] when `out` fails or the table has columns that answers do not carry.
pub fn write_arrow(table: &Table, out: impl Write) -> Result<(), WireError> {
    let batches = Batches::new(table)?;
    let mut writer = FileWriter::try_new_buffered(out, &batches.schema)?;
    for batch in batches.iter() {
        writer.write(&batch?)?;
    }
    writer.finish()?;
    Ok(())
}

/// Writes the Arrow IPC *stream* format, uncompressed, as a single batch. Texts that repeat stay
/// dictionaries: for readers that show a part of a large table, such as a page in a browser.
///
/// # Errors
///
/// [`WireError`] when `out` fails or the table has columns that answers do not carry.
pub fn write_arrow_packed(table: &Table, out: impl Write) -> Result<(), WireError> {
    Cells::of_table(table)?;
    let schema = schema(table, DataType::clone);
    let arrays = table.columns.iter().map(|column| Arc::clone(&column.values)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(table.num_rows()));
    let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)?;
    let mut writer = StreamWriter::try_new_buffered(out, &schema)?;
    writer.write(&batch)?;
    writer.finish()?;
    Ok(())
}

/// The fields of a table with unit, display name and meaning as metadata; `kind` says how values are carried.
fn schema(table: &Table, kind: impl Fn(&DataType) -> DataType) -> SchemaRef {
    let field = |column: &parallax_protocol::Column| {
        let is_nullable = column.values.logical_null_count() > 0;
        Field::new(&column.name, kind(column.values.data_type()), is_nullable)
            .with_metadata(column.metadata())
    };
    Arc::new(Schema::new(table.columns.iter().map(field).collect::<Vec<_>>()))
}

/// A table as record batches of plain columns.
pub(crate) struct Batches<'a> {
    table: &'a Table,
    pub(crate) schema: SchemaRef,
}

impl<'a> Batches<'a> {
    pub(crate) fn new(table: &'a Table) -> Result<Self, WireError> {
        Cells::of_table(table)?;
        let schema = schema(table, |kind| match kind {
            DataType::Dictionary(_, texts) => texts.as_ref().clone(),
            plain => plain.clone(),
        });
        Ok(Self { table, schema })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<RecordBatch, WireError>> + '_ {
        let rows = self.table.num_rows();
        let starts = (0..rows).step_by(BATCH_ROWS);
        starts.map(move |start| self.batch(start, BATCH_ROWS.min(rows - start)))
    }

    fn batch(&self, start: usize, rows: usize) -> Result<RecordBatch, WireError> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.table.columns.len());
        for column in &self.table.columns {
            let values = column.values.slice(start, rows);
            arrays.push(match values.as_dictionary_opt::<Int32Type>() {
                Some(repeated) => take(repeated.values(), repeated.keys(), None)?,
                None => values,
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)?)
    }
}
