//! `samples` and `trace_events`: what was active when, by track and time.

use std::sync::Arc;

use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use parallax_base::{Control, LocationIdx, TimeWindow, TrackIdx, threads};
use parallax_protocol::{StoredSampleTable, TraceCallTable, TypedTable as _};
use parallax_service::OpenExperiment;

use super::{by_location, failed, parts};
use crate::bridge;
use crate::filters::Wanted;
use crate::scan::{Batches, Rows};

/// Rows of traces that are read at a time: few enough to be in a processor's cache until the next step
/// of the plan has used them.
const CACHED_ROWS: usize = 1 << 16;

/// Bytes of a row in memory: two numbers of 32 bits and two of 64.
const ROW_BYTES: u64 = 24;

/// What begins and ends at these times reaches into this window.
pub(super) fn window(wanted: &Wanted, start: &str, end: &str) -> TimeWindow {
    let begins = wanted.of(start).span().map_or(0, |(_, last)| last);
    let ends = wanted.of(end).span().map_or(u64::MAX, |(first, _)| first);
    // A record without duration at the edge is looked at, too; one that goes on from before a time
    // until after a later one is in progress at the first of them.
    TimeWindow::new(ends.saturating_sub(1).min(begins), begins.saturating_add(1))
}

/// The tracks of the wanted locations, ascending by location.
fn tracks(opened: &OpenExperiment, wanted: &Wanted) -> Vec<(LocationIdx, TrackIdx, u64)> {
    let Ok(store) = opened.session().traces() else { return Vec::new() };
    let locations = wanted.of("profile_id");
    let all = store.track_ids().zip(store.tracks());
    let chosen = all.filter(|(_, track)| locations.contains(track.location.get().into()));
    let mut chosen: Vec<_> =
        chosen.map(|(id, track)| (track.location, id, track.num_samples)).collect();
    chosen.sort_unstable();
    chosen
}

fn rows_of(tracks: &[(LocationIdx, TrackIdx, u64)]) -> u64 {
    tracks.iter().map(|(_, _, rows)| rows).sum()
}

/// What is wanted in parts of about as many rows each.
fn cut(opened: &OpenExperiment, wanted: &Wanted, most: usize, rows: u64) -> Vec<Wanted> {
    let tracks = tracks(opened, wanted);
    let each: Vec<_> = tracks.into_iter().map(|(location, _, rows)| (location, rows)).collect();
    by_location(wanted, &each, most, rows)
}

/// Samples of traces.
pub(super) struct Samples(pub(super) Arc<OpenExperiment>);

impl Rows for Samples {
    fn name(&self) -> &'static str {
        "samples"
    }

    fn schema(&self) -> SchemaRef {
        bridge::schema(&StoredSampleTable::SCHEMA)
    }

    fn keys(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&["profile_id"], &["start_ns", "end_ns"])
    }

    fn order(&self) -> &'static [&'static str] {
        let tracks = tracks(&self.0, &Wanted::default());
        match tracks.windows(2).all(|pair| pair[0].0 != pair[1].0) {
            true => &["profile_id", "start_ns"],
            // Tracks of one location come one after the other.
            false => &["profile_id"],
        }
    }

    fn estimate(&self, wanted: &Wanted) -> Option<u64> {
        Some(rows_of(&tracks(&self.0, wanted)))
    }

    fn cut(&self, wanted: &Wanted, most: usize, rows: u64) -> Vec<Wanted> {
        cut(&self.0, wanted, most, rows)
    }

    fn whole_bytes(&self) -> Option<u64> {
        self.estimate(&Wanted::default()).map(|rows| rows.saturating_mul(ROW_BYTES))
    }

    fn whole(self: Arc<Self>, control: &Control) -> Result<Option<RecordBatch>> {
        let tracks = tracks(&self.0, &Wanted::default());
        let tracks: Vec<TrackIdx> = tracks.into_iter().map(|(_, track, _)| track).collect();
        let samples = self.0.sample_relation_of(&tracks, TimeWindow::ALL, control);
        let samples = samples.map_err(failed)?.into_table();
        bridge::batch_of(&samples, &self.schema()).map(Some)
    }

    fn read(self: Arc<Self>, wanted: &Wanted, most: usize, control: &Control) -> Result<Batches> {
        let tracks = tracks(&self.0, wanted);
        let rows = rows_of(&tracks);
        let tracks: Vec<TrackIdx> = tracks.into_iter().map(|(_, track, _)| track).collect();
        let window = window(wanted, "start_ns", "end_ns");
        let (schema, control) = (self.schema(), control.clone());
        let read = move |tracks: Arc<[TrackIdx]>| -> Result<RecordBatch> {
            let samples = self.0.sample_relation_of(&tracks, window, &control).map_err(failed)?;
            bridge::batch_of(&samples.into_table(), &schema)
        };
        Ok(Box::new(parts(&tracks, rows, most.min(CACHED_ROWS)).into_iter().map(read)))
    }
}

/// Calls of a trace of events.
pub(super) struct TraceEvents(pub(super) Arc<OpenExperiment>);

impl Rows for TraceEvents {
    fn name(&self) -> &'static str {
        "trace_events"
    }

    fn schema(&self) -> SchemaRef {
        bridge::schema(&TraceCallTable::SCHEMA)
    }

    fn keys(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&["profile_id"], &["start_ns", "end_ns"])
    }

    fn order(&self) -> &'static [&'static str] {
        &["profile_id"]
    }

    fn estimate(&self, wanted: &Wanted) -> Option<u64> {
        Some(rows_of(&tracks(&self.0, wanted)))
    }

    fn cut(&self, wanted: &Wanted, most: usize, rows: u64) -> Vec<Wanted> {
        cut(&self.0, wanted, most, rows)
    }

    fn whole_bytes(&self) -> Option<u64> {
        self.estimate(&Wanted::default()).map(|rows| rows.saturating_mul(ROW_BYTES))
    }

    fn whole(self: Arc<Self>, control: &Control) -> Result<Option<RecordBatch>> {
        let parts = self.cut(&Wanted::default(), threads::count(), 1);
        let (schema, rows) = (self.schema(), self);
        let read = |part: Wanted| -> Result<Vec<RecordBatch>> {
            Arc::clone(&rows).read(&part, CACHED_ROWS, control)?.collect()
        };
        let parts = threads::map(parts, read).into_iter().collect::<Result<Vec<_>>>()?;
        Ok(Some(concat_batches(&schema, parts.iter().flatten())?))
    }

    fn read(self: Arc<Self>, wanted: &Wanted, most: usize, control: &Control) -> Result<Batches> {
        let tracks = tracks(&self.0, wanted);
        let rows = rows_of(&tracks);
        let tracks: Vec<TrackIdx> = tracks.into_iter().map(|(_, track, _)| track).collect();
        let window = window(wanted, "start_ns", "end_ns");
        let (schema, control) = (self.schema(), control.clone());
        let read = move |tracks: Arc<[TrackIdx]>| -> Result<RecordBatch> {
            let calls = self.0.call_relation(&tracks, window, &control).map_err(failed)?;
            bridge::batch_of(&calls.into_table(), &schema)
        };
        Ok(Box::new(parts(&tracks, rows, most.min(CACHED_ROWS)).into_iter().map(read)))
    }
}
