//! Tables that are the answer of a question with its defaults.

use std::sync::{Arc, PoisonError};

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::{Result, exec_err};
use parallax_base::Control;
use parallax_protocol::TableSchema;
use parallax_service::OpenExperiment;
use serde_json::Map;

use crate::SqlSource;
use crate::bridge;
use crate::filters::Wanted;
use crate::questions::{self, Notes};
use crate::scan::{Batches, Rows};

/// A table of the answer of a question.
pub(super) struct Derived {
    pub(super) opened: Arc<OpenExperiment>,
    /// Name of the table in SQL.
    pub(super) name: &'static str,
    /// Name of the question.
    pub(super) question: &'static str,
    /// Name of the table of its answer.
    pub(super) table: &'static str,
    /// Its columns.
    pub(super) definition: TableSchema,
    /// Where remarks of the answer go.
    pub(super) notes: Notes,
}

impl Rows for Derived {
    fn name(&self) -> &'static str {
        self.name
    }

    fn schema(&self) -> SchemaRef {
        bridge::schema(&self.definition)
    }

    fn keys(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&[], &[])
    }

    fn estimate(&self, _: &Wanted) -> Option<u64> {
        None
    }

    fn read(self: Arc<Self>, _: &Wanted, _: usize, control: &Control) -> Result<Batches> {
        let control = control.clone();
        let read = move |()| -> Result<RecordBatch> {
            let answer = questions::ask(
                &SqlSource::from(Arc::clone(&self.opened)),
                self.question,
                Map::new(),
                &control,
            )?;
            self.notes.lock().unwrap_or_else(PoisonError::into_inner).extend(answer.notes);
            match answer.tables.into_iter().find(|(name, _)| *name == self.table) {
                Some((_, table)) => bridge::batch_of(&table, &self.schema()),
                None => exec_err!("{} has no table {}", self.question, self.table),
            }
        };
        Ok(Box::new(std::iter::once(()).map(read)))
    }
}
