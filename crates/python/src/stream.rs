//! [`Stream`]: a table that is larger than memory, one part after the other.

use std::io;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use parallax_base::Control;
use parallax_dispatch::AnswerTables;
use parallax_protocol::ErrorReply;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::engine::Open;
use crate::table::stream_capsule;
use crate::wait::{answered, failure};

/// A table that several requests give together, each asked when a reader comes to it.
#[pyclass(frozen, module = "parallax._native")]
pub(crate) struct Stream {
    parts: Arc<Parts>,
}

struct Parts {
    open: Arc<Open>,
    requests: Vec<String>,
    table: String,
}

impl Stream {
    pub(crate) fn new(open: Arc<Open>, requests: Vec<String>, table: String) -> Self {
        Self { parts: Arc::new(Parts { open, requests, table }) }
    }
}

#[pymethods]
impl Stream {
    /// The table as a stream of a record batch for each request; each call begins anew. The first
    /// request is asked now, because it says what the columns are.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let parts = Arc::clone(&self.parts);
        let answer = answered(py, None, move |control| parts.ask(0, control))?;
        let first = self.parts.batch(answer).map_err(|error| failure(py, &error))?;
        let schema = nullable(&first);
        let parts = Arc::clone(&self.parts);
        stream_capsule(py, Reader { parts, schema, first: Some(first), next: 1 })
    }

    /// Number of requests.
    fn __len__(&self) -> usize {
        self.parts.requests.len()
    }
}

impl Parts {
    fn ask(&self, at: usize, control: &Control) -> Result<AnswerTables, ErrorReply> {
        let request = self.requests.get(at);
        let request = request.ok_or_else(|| ErrorReply::new("misuse", "there is no such part"))?;
        self.open.ask(request, control)
    }

    fn batch(&self, answer: AnswerTables) -> Result<RecordBatch, ErrorReply> {
        let mut tables = answer.tables.into_iter();
        let found = tables.find(|(name, _)| *name == self.table);
        let none = || ErrorReply::new("misuse", format!("there is no table `{}`", self.table));
        found.map(|(_, table)| table.to_record_batch()).ok_or_else(none)
    }
}

/// Columns without nulls in one part may have some in the next.
fn nullable(batch: &RecordBatch) -> SchemaRef {
    let schema = batch.schema();
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The error for readers of Arrow, who have codes of the system instead of exceptions.
fn arrow_error(error: ErrorReply) -> ArrowError {
    if error.kind == "misuse" {
        return ArrowError::InvalidArgumentError(error.message);
    }
    ArrowError::IoError(error.message.clone(), io::Error::other(error.message))
}

struct Reader {
    parts: Arc<Parts>,
    schema: SchemaRef,
    first: Option<RecordBatch>,
    next: usize,
}

impl Reader {
    fn part(&self, at: usize) -> Result<RecordBatch, ErrorReply> {
        let answer = self.parts.ask(at, &Control::new())?;
        self.parts.batch(answer)
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.first.take() {
            Some(first) => first,
            None if self.next < self.parts.requests.len() => {
                self.next += 1;
                match self.part(self.next - 1) {
                    Ok(batch) => batch,
                    Err(error) => {
                        return Some(Err(arrow_error(error)));
                    }
                }
            }
            None => return None,
        };
        Some(RecordBatch::try_new(Arc::clone(&self.schema), batch.columns().to_vec()))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
