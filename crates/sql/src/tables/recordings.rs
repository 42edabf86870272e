//! `activations` and `accesses`: what a recording has, by places in depth-first order.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use parallax_base::Control;
use parallax_protocol::{StoredAccessTable, StoredActivationTable, TypedTable as _};
use parallax_service::OpenExperiment;

use super::failed;
use crate::bridge;
use crate::filters::Wanted;
use crate::scan::{Batches, Rows};

/// Which records of a recording a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    Activations,
    Accesses,
}

/// Records of a recording.
pub(super) struct RecordingRows {
    pub(super) opened: Arc<OpenExperiment>,
    pub(super) records: Recorded,
}

impl RecordingRows {
    /// The places that are wanted: from the first to the last of them.
    fn places(&self, wanted: &Wanted) -> Range<usize> {
        let all = self.opened.num_activations();
        let place = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        match wanted.of("activation_id").span() {
            Some((first, last)) => {
                let end = place(last).saturating_add(1).min(all);
                place(first).min(end)..end
            }
            None => 0..0,
        }
    }
}

impl Rows for RecordingRows {
    fn name(&self) -> &'static str {
        match self.records {
            Recorded::Activations => "activations",
            Recorded::Accesses => "accesses",
        }
    }

    fn schema(&self) -> SchemaRef {
        bridge::schema(&match self.records {
            Recorded::Activations => StoredActivationTable::SCHEMA,
            Recorded::Accesses => StoredAccessTable::SCHEMA,
        })
    }

    fn keys(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&[], &["activation_id"])
    }

    fn order(&self) -> &'static [&'static str] {
        &["activation_id"]
    }

    fn estimate(&self, wanted: &Wanted) -> Option<u64> {
        let (all, wanted) = (self.opened.num_activations(), self.places(wanted).len());
        Some(match self.records {
            Recorded::Activations => wanted as u64,
            Recorded::Accesses => {
                let accesses = self.opened.num_accesses() as u64;
                accesses.saturating_mul(wanted as u64).div_ceil(all.max(1) as u64)
            }
        })
    }

    fn read(self: Arc<Self>, wanted: &Wanted, most: usize, control: &Control) -> Result<Batches> {
        let places = self.places(wanted);
        let at_once = most.max(1);
        let (schema, control) = (self.schema(), control.clone());
        let read = move |first: usize| -> Result<RecordBatch> {
            control.check().map_err(|error| failed(parallax_engine::EngineError::from(error)))?;
            let part = first..first.saturating_add(at_once).min(places.end);
            let table = match self.records {
                Recorded::Activations => {
                    self.opened.activation_relation(part).map_err(failed)?.into_table()
                }
                Recorded::Accesses => {
                    self.opened.access_relation(part).map_err(failed)?.into_table()
                }
            };
            bridge::batch_of(&table, &schema)
        };
        Ok(Box::new(places.clone().step_by(at_once).map(read)))
    }
}
