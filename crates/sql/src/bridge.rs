//! Between the Arrow of this workspace and that of DataFusion, which is another version.
//!
//! Both versions lay values out in the same way, so a buffer of one becomes a buffer of the other
//! that shares its bytes: owned by `bytes::Bytes`, which both accept (ADR 0092). Only numbers of
//! rows and texts are checked again.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array as ours;
use arrow_array::Array as _;
use arrow_array::cast::AsArray as _;
use arrow_schema::DataType as OurType;
use bytes::Bytes;
use datafusion::arrow::array as theirs;
use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _};
use datafusion::arrow::buffer as their_buffers;
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::arrow::datatypes::{self, DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::common::{DataFusionError, Result, exec_err};
use parallax_protocol::{Column, ColumnSchema, ColumnType, Table, TableSchema, UnitOf};

/// Bytes that an Arrow buffer owns.
struct Owned<B>(B);

impl AsRef<[u8]> for Owned<arrow_buffer::Buffer> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Owned<their_buffers::Buffer> {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The same bytes as a buffer of DataFusion.
fn shared(buffer: &arrow_buffer::Buffer) -> their_buffers::Buffer {
    if buffer.is_empty() {
        // The place of no bytes need not be aligned as values are.
        return their_buffers::MutableBuffer::new(0).into();
    }
    Bytes::from_owner(Owned(buffer.clone())).into()
}

/// The same bytes as a buffer of this workspace.
fn shared_back(buffer: &their_buffers::Buffer) -> arrow_buffer::Buffer {
    if buffer.is_empty() {
        return arrow_buffer::MutableBuffer::new(0).into();
    }
    Bytes::from_owner(Owned(buffer.clone())).into()
}

fn nulls(nulls: Option<&arrow_buffer::NullBuffer>) -> Option<their_buffers::NullBuffer> {
    let bits = nulls?.inner();
    let (at, len) = (bits.offset(), bits.len());
    let bits = their_buffers::BooleanBuffer::new(shared(bits.inner()), at, len);
    Some(their_buffers::NullBuffer::new(bits))
}

fn nulls_back(nulls: Option<&their_buffers::NullBuffer>) -> Option<arrow_buffer::NullBuffer> {
    let bits = nulls?.inner();
    let (at, len) = (bits.offset(), bits.len());
    let bits = arrow_buffer::BooleanBuffer::new(shared_back(bits.inner()), at, len);
    Some(arrow_buffer::NullBuffer::new(bits))
}

/// An array of an answer as DataFusion has it. Whole numbers of 64 bits become signed, because SQL
/// computes with these; the few that are larger are null.
fn array(array: &ours::ArrayRef) -> Result<ArrayRef> {
    Ok(match array.data_type() {
        OurType::Boolean => {
            let array = array.as_boolean();
            let bits = array.values();
            let values =
                their_buffers::BooleanBuffer::new(shared(bits.inner()), bits.offset(), bits.len());
            Arc::new(theirs::BooleanArray::new(values, nulls(array.nulls())))
        }
        OurType::UInt16 => {
            number_array::<arrow_array::types::UInt16Type, datatypes::UInt16Type>(array)?
        }
        OurType::UInt32 => {
            number_array::<arrow_array::types::UInt32Type, datatypes::UInt32Type>(array)?
        }
        OurType::Int64 => {
            number_array::<arrow_array::types::Int64Type, datatypes::Int64Type>(array)?
        }
        OurType::Float64 => {
            number_array::<arrow_array::types::Float64Type, datatypes::Float64Type>(array)?
        }
        OurType::UInt64 => {
            let unsigned = array.as_primitive::<arrow_array::types::UInt64Type>();
            let bits = unsigned.values().iter().fold(0, |so_far, value| so_far | value);
            if bits <= i64::MAX.unsigned_abs() {
                number_array::<arrow_array::types::UInt64Type, datatypes::Int64Type>(array)?
            } else {
                let signed = unsigned.iter().map(|value| i64::try_from(value?).ok());
                Arc::new(signed.collect::<theirs::Int64Array>())
            }
        }
        OurType::Utf8 => {
            let array = array.as_string::<i32>();
            let offsets = shared(array.offsets().inner().inner());
            let offsets = their_buffers::ScalarBuffer::new(offsets, 0, array.len() + 1);
            let offsets = their_buffers::OffsetBuffer::new(offsets);
            let values = shared(array.values());
            Arc::new(theirs::StringArray::try_new(offsets, values, nulls(array.nulls()))?)
        }
        OurType::Dictionary(_, _) => {
            let dictionary = array.as_dictionary::<arrow_array::types::Int32Type>();
            let keys: ours::ArrayRef = Arc::new(dictionary.keys().clone());
            let keys = number_array::<arrow_array::types::Int32Type, datatypes::Int32Type>(&keys)?;
            let keys = keys.as_primitive::<datatypes::Int32Type>().clone();
            let texts = self::array(dictionary.values())?;
            Arc::new(theirs::DictionaryArray::try_new(keys, texts)?)
        }
        other => return exec_err!("answers do not carry the type {other}"),
    })
}

/// Numbers of this workspace as numbers of DataFusion of the same width.
fn number_array<From, To>(array: &ours::ArrayRef) -> Result<ArrayRef>
where
    From: arrow_array::types::ArrowPrimitiveType,
    To: datatypes::ArrowPrimitiveType,
{
    let array = array.as_primitive::<From>();
    let values = shared(array.values().inner());
    let values = their_buffers::ScalarBuffer::new(values, 0, array.len());
    Ok(Arc::new(theirs::PrimitiveArray::<To>::try_new(values, nulls(array.nulls()))?))
}

/// Numbers of DataFusion as numbers of this workspace.
fn number_array_back<From, To>(array: &ArrayRef) -> Result<ours::ArrayRef>
where
    From: datatypes::ArrowPrimitiveType,
    To: arrow_array::types::ArrowPrimitiveType,
{
    let array = array.as_primitive::<From>();
    let values = shared_back(array.values().inner());
    let values = arrow_buffer::ScalarBuffer::new(values, 0, array.len());
    let array = ours::PrimitiveArray::<To>::try_new(values, nulls_back(array.nulls()));
    Ok(Arc::new(array.map_err(foreign)?))
}

/// An error of the other Arrow.
fn foreign(error: arrow_schema::ArrowError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// An array of a result as answers have it.
fn array_back(array: &ArrayRef) -> Result<ours::ArrayRef> {
    Ok(match array.data_type() {
        DataType::Boolean => {
            let array = array.as_boolean();
            let bits = array.values();
            let (at, len) = (bits.offset(), bits.len());
            let values = arrow_buffer::BooleanBuffer::new(shared_back(bits.inner()), at, len);
            Arc::new(ours::BooleanArray::new(values, nulls_back(array.nulls())))
        }
        DataType::UInt16 => {
            number_array_back::<datatypes::UInt16Type, arrow_array::types::UInt16Type>(array)?
        }
        DataType::UInt32 => {
            number_array_back::<datatypes::UInt32Type, arrow_array::types::UInt32Type>(array)?
        }
        DataType::UInt64 => {
            number_array_back::<datatypes::UInt64Type, arrow_array::types::UInt64Type>(array)?
        }
        DataType::Int64 => {
            number_array_back::<datatypes::Int64Type, arrow_array::types::Int64Type>(array)?
        }
        DataType::Float64 => {
            number_array_back::<datatypes::Float64Type, arrow_array::types::Float64Type>(array)?
        }
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            let offsets = shared_back(array.offsets().inner().inner());
            let offsets = arrow_buffer::ScalarBuffer::new(offsets, 0, array.len() + 1);
            let offsets = arrow_buffer::OffsetBuffer::new(offsets);
            let values = shared_back(array.values());
            let nulls = nulls_back(array.nulls());
            Arc::new(ours::StringArray::try_new(offsets, values, nulls).map_err(foreign)?)
        }
        // Numbers of other widths, and what answers have no type for, as text.
        DataType::UInt8 => array_back(&cast(array, &DataType::UInt16)?)?,
        DataType::Int8 | DataType::Int16 | DataType::Int32 => {
            array_back(&cast(array, &DataType::Int64)?)?
        }
        DataType::Float16
        | DataType::Float32
        | DataType::Decimal32(_, _)
        | DataType::Decimal64(_, _)
        | DataType::Decimal128(_, _)
        | DataType::Decimal256(_, _) => array_back(&cast(array, &DataType::Float64)?)?,
        _ => array_back(&cast(array, &DataType::Utf8)?)?,
    })
}

/// The field of a column, with its unit and meaning.
fn field(column: &Column, values: &ArrayRef) -> Field {
    let metadata = described(&column.unit, column.doc);
    let is_nullable = column.values.null_count() > 0 || values.null_count() > 0;
    Field::new(&column.name, values.data_type().clone(), is_nullable).with_metadata(metadata)
}

fn described(unit: &str, doc: &str) -> HashMap<String, String> {
    let both = [("unit", unit), ("doc", doc.trim())];
    let known = both.into_iter().filter(|(_, text)| !text.is_empty());
    known.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// A table as DataFusion has it; values are shared where both have the same.
///
/// # Errors
/// When a column is of a type that answers do not carry.
pub(crate) fn batch(table: &Table) -> Result<RecordBatch> {
    let arrays = table.columns.iter().map(|column| array(&column.values));
    let arrays: Vec<ArrayRef> = arrays.collect::<Result<_>>()?;
    let fields = table.columns.iter().zip(&arrays).map(|(column, array)| field(column, array));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = RecordBatchOptions::new().with_row_count(Some(table.num_rows()));
    Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
}

/// The columns of a table before it has rows: those of its definition, without families, of which
/// only an answer says which columns they are.
pub(crate) fn schema(definition: &TableSchema) -> SchemaRef {
    let columns = definition.columns.iter().filter(|column| !column.is_family);
    let field = |column: &ColumnSchema| {
        let (values, is_wide) = match column.values {
            ColumnType::Bool => (DataType::Boolean, false),
            ColumnType::U16 => (DataType::UInt16, false),
            ColumnType::U32 => (DataType::UInt32, false),
            ColumnType::U64 => (DataType::Int64, true),
            ColumnType::I64 => (DataType::Int64, false),
            ColumnType::F64 => (DataType::Float64, false),
            ColumnType::String => (DataType::Utf8, false),
        };
        let unit = match column.unit {
            UnitOf::Fixed(symbol) => symbol,
            _ => "",
        };
        let is_nullable = column.is_nullable || column.is_optional || is_wide;
        Field::new(column.name, values, is_nullable).with_metadata(described(unit, column.doc))
    };
    Arc::new(Schema::new(columns.map(field).collect::<Vec<_>>()))
}

/// `table` with exactly the columns of `schema`: those it lacks are null.
///
/// # Errors
/// When a column is of another type.
pub(crate) fn batch_of(table: &Table, schema: &SchemaRef) -> Result<RecordBatch> {
    let rows = table.num_rows();
    let column = |field: &Arc<Field>| match table.column(field.name()) {
        Some(column) => {
            let values = array(&column.values)?;
            match values.data_type() == field.data_type() {
                true => Ok(values),
                false => Ok(cast(&values, field.data_type())?),
            }
        }
        None => Ok(theirs::new_null_array(field.data_type(), rows)),
    };
    let arrays = schema.fields().iter().map(column).collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)?)
}

/// A result as an answer. Columns keep the unit that they have in their table, where the query only
/// passes them on.
///
/// # Errors
/// When the result has a type that cannot be shown.
pub(crate) fn table(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Table> {
    let whole = concat_batches(schema, batches)?;
    let columns = schema.fields().iter().zip(whole.columns()).map(|(field, values)| {
        let unit = field.metadata().get("unit").map_or("", String::as_str);
        Ok(Column::new(field.name(), unit, "", array_back(values)?))
    });
    Ok(Table::new(columns.collect::<Result<_>>()?))
}
