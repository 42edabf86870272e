//! [`Table`]: the columns of an answer, as Arrow.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array as _, DictionaryArray, RecordBatchIterator, RecordBatchReader, StringArray,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use parallax_wire::{Cell, Cells};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

/// Name, type, unit, display name and meaning of a column.
type FieldText = (String, &'static str, String, String, String);

/// A table of an answer. Readers of Arrow get its values where they are, without a copy.
#[pyclass(frozen, module = "parallax._native")]
pub(crate) struct Table {
    table: parallax_protocol::Table,
}

impl Table {
    pub(crate) fn new(table: parallax_protocol::Table) -> Self {
        Self { table }
    }

    pub(crate) fn table(&self) -> &parallax_protocol::Table {
        &self.table
    }
}

/// Makes texts that repeat unique, as readers expect of dictionaries: the engine stores the name of
/// each context, and contexts share names. Columns whose texts are unique stay where they are.
pub(crate) fn make_texts_unique(table: &mut parallax_protocol::Table) {
    for column in &mut table.columns {
        let Some(repeated) = column.values.as_dictionary_opt::<Int32Type>() else { continue };
        let Some(texts) = repeated.values().as_string_opt::<i32>() else { continue };
        let mut numbers = HashMap::with_capacity(texts.len());
        let mut unique = Vec::new();
        let new: Vec<i32> = texts
            .iter()
            .map(|text| {
                let text = text.unwrap_or_default();
                *numbers.entry(text).or_insert_with(|| {
                    unique.push(text);
                    i32::try_from(unique.len() - 1).unwrap_or(i32::MAX)
                })
            })
            .collect();
        if unique.len() == texts.len() {
            continue;
        }
        let keys = repeated.keys();
        let moved = keys.unary(|key| {
            // Keys of absent values may be anything.
            usize::try_from(key).ok().and_then(|key| new.get(key).copied()).unwrap_or(0)
        });
        let texts = StringArray::from_iter_values(unique);
        if let Ok(array) = DictionaryArray::<Int32Type>::try_new(moved, Arc::new(texts)) {
            column.values = Arc::new(array);
        }
    }
}

#[pymethods]
impl Table {
    /// The table as a stream of one record batch; each call gives a new one. Other types than its
    /// own are for the reader to make.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batch = self.table.to_record_batch();
        let schema = batch.schema();
        stream_capsule(py, RecordBatchIterator::new([Ok(batch)], schema))
    }

    /// Names, types and metadata of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = self.table.to_record_batch().schema();
        let schema = FFI_ArrowSchema::try_from(schema.as_ref())
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.table.num_rows()
    }

    /// Name, type, unit, display name and meaning of each column.
    fn fields(&self) -> PyResult<Vec<FieldText>> {
        let batch = self.table.to_record_batch();
        let schema = batch.schema();
        let columns = self.table.columns.iter().zip(schema.fields());
        columns
            .map(|(column, field)| {
                let text = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
                let kind = cells(column)?.column_type().name();
                Ok((column.name.clone(), kind, text("unit"), text("head"), text("doc")))
            })
            .collect()
    }

    /// The values of a column in the rows from `start` up to `end`.
    #[pyo3(signature = (name, start=0, end=usize::MAX))]
    fn column<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        start: usize,
        end: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let column = self.table.column(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        let cells = cells(column)?;
        let end = end.min(cells.len());
        let values = (start.min(end)..end).map(|row| value(py, cells.get(row)));
        PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
    }
}

/// What Python hands to readers of Arrow: a stream of record batches.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

fn cells(column: &parallax_protocol::Column) -> PyResult<Cells<'_>> {
    Cells::of(column).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

fn value<'py>(py: Python<'py>, cell: Cell<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match cell {
        Cell::Null => py.None().into_bound(py),
        Cell::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Cell::Unsigned(value) => value.into_pyobject(py)?.into_any(),
        Cell::Signed(value) => value.into_pyobject(py)?.into_any(),
        Cell::Float(value) => value.into_pyobject(py)?.into_any(),
        Cell::Text(value) => value.into_pyobject(py)?.into_any(),
    })
}
