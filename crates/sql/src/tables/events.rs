//! `messages`, `collectives`, `counters` and `markers`: what a trace of events has besides calls.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use parallax_base::{Control, TimeWindow, TrackIdx};
use parallax_protocol::{
    CollectiveTable, MomentTable, StoredCounterTable, StoredLinkTable, Table, TableSchema,
    TypedTable,
};
use parallax_service::{OpenExperiment, ServiceError};

use super::failed;
use super::samples::window;
use crate::bridge;
use crate::filters::Wanted;
use crate::scan::{Batches, Rows};

/// Which records of a trace a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Records {
    Messages,
    Collectives,
    Counters,
    Markers,
}

/// Records of a trace of events.
pub(super) struct EventRows {
    pub(super) opened: Arc<OpenExperiment>,
    pub(super) records: Records,
}

impl EventRows {
    /// The table with the records of a window; of counters those of one track.
    fn table(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        control: &Control,
    ) -> Result<Table, ServiceError> {
        let opened = &self.opened;
        Ok(match self.records {
            Records::Messages => opened.link_relation(window, control)?.into_table(),
            Records::Collectives => opened.collective_relation(window, control)?.into_table(),
            Records::Counters => opened.counter_relation(track, window, control)?.into_table(),
            Records::Markers => opened.marker_relation(window, control)?.into_table(),
        })
    }

    fn definition(&self) -> TableSchema {
        match self.records {
            Records::Messages => StoredLinkTable::SCHEMA,
            Records::Collectives => CollectiveTable::SCHEMA,
            Records::Counters => StoredCounterTable::SCHEMA,
            Records::Markers => MomentTable::SCHEMA,
        }
    }

    /// Columns with the beginning and the end of a record; none where either may be unknown.
    const fn times(&self) -> (&'static str, &'static str) {
        match self.records {
            Records::Messages => ("", ""),
            Records::Collectives => ("start_ns", "end_ns"),
            Records::Counters | Records::Markers => ("time_ns", "time_ns"),
        }
    }

    /// The tracks to ask one by one.
    fn tracks(&self, wanted: &Wanted) -> Vec<TrackIdx> {
        match (self.records, self.opened.session().traces()) {
            (Records::Counters, Ok(store)) => {
                let locations = wanted.of("profile_id");
                let tracks = store.track_ids().zip(store.tracks());
                tracks
                    .filter(|(_, track)| locations.contains(track.location.get().into()))
                    .map(|(id, _)| id)
                    .collect()
            }
            // All tracks at once.
            _ => vec![TrackIdx::new(0)],
        }
    }
}

impl Rows for EventRows {
    fn name(&self) -> &'static str {
        match self.records {
            Records::Messages => "messages",
            Records::Collectives => "collectives",
            Records::Counters => "counters",
            Records::Markers => "markers",
        }
    }

    fn schema(&self) -> SchemaRef {
        bridge::schema(&self.definition())
    }

    fn keys(&self) -> (&'static [&'static str], &'static [&'static str]) {
        match self.records {
            Records::Messages => (&[], &[]),
            Records::Collectives => (&[], &["start_ns", "end_ns"]),
            Records::Counters => (&["profile_id"], &["time_ns"]),
            Records::Markers => (&[], &["time_ns"]),
        }
    }

    fn estimate(&self, _: &Wanted) -> Option<u64> {
        let records = self.opened.session().experiment().events.as_deref()?.records().iter();
        match self.records {
            Records::Messages => Some(records.map(|of| of.sends.max(of.receives)).sum()),
            Records::Counters => Some(records.map(|of| of.metrics).sum()),
            Records::Collectives | Records::Markers => None,
        }
    }

    fn read(self: Arc<Self>, wanted: &Wanted, _: usize, control: &Control) -> Result<Batches> {
        let (start, end) = self.times();
        let window = window(wanted, start, end);
        let (schema, control) = (self.schema(), control.clone());
        let tracks = self.tracks(wanted);
        let read = move |track| -> Result<RecordBatch> {
            let table = self.table(track, window, &control).map_err(failed)?;
            bridge::batch_of(&table, &schema)
        };
        Ok(Box::new(tracks.into_iter().map(read)))
    }
}
