//! `samples` and `trace_events`: what was active when, by track and time.

use std::sync::{Arc, OnceLock};

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

/// A track: its location, and how many samples or calls it has.
type Track = (LocationIdx, TrackIdx, u64);

/// The tracks of an experiment. Planning a statement asks about them many times, and there may be
/// very many of them.
pub(super) struct Tracks {
    opened: Arc<OpenExperiment>,
    /// Ascending by location.
    all: OnceLock<Vec<Track>>,
}

impl Tracks {
    pub(super) fn of(opened: Arc<OpenExperiment>) -> Self {
        Self { opened, all: OnceLock::new() }
    }

    fn all(&self) -> &[Track] {
        self.all.get_or_init(|| {
            let Ok(store) = self.opened.session().traces() else { return Vec::new() };
            let all = store.track_ids().zip(store.tracks());
            let all = all.map(|(id, track)| (track.location, id, track.num_samples));
            let mut all: Vec<Track> = all.collect();
            all.sort_unstable();
            all
        })
    }

    /// Those of the wanted locations.
    fn wanted(&self, wanted: &Wanted) -> impl Iterator<Item = Track> {
        let locations = wanted.of("profile_id");
        let is_all = locations.is_all();
        let all = self.all().iter().copied();
        all.filter(move |(location, ..)| is_all || locations.contains(location.get().into()))
    }

    fn rows(&self, wanted: &Wanted) -> u64 {
        self.wanted(wanted).map(|(_, _, rows)| rows).sum()
    }

    /// What is wanted in parts of about as many rows each.
    fn cut(&self, wanted: &Wanted, most: usize, rows: u64) -> Vec<Wanted> {
        let each: Vec<_> =
            self.wanted(wanted).map(|(location, _, rows)| (location, rows)).collect();
        by_location(wanted, &each, most, rows)
    }

    /// Those of the wanted locations in parts that are read one after the other, each with about
    /// `most` rows.
    fn parts(&self, wanted: &Wanted, most: usize) -> Vec<Arc<[TrackIdx]>> {
        let tracks: Vec<TrackIdx> = self.wanted(wanted).map(|(_, track, _)| track).collect();
        parts(&tracks, self.rows(wanted), most.min(CACHED_ROWS))
    }

    fn whole_bytes(&self) -> u64 {
        self.rows(&Wanted::default()).saturating_mul(ROW_BYTES)
    }
}

/// Samples of traces.
pub(super) struct Samples(pub(super) Tracks);

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
        match self.0.all().windows(2).all(|pair| pair[0].0 != pair[1].0) {
            true => &["profile_id", "start_ns"],
            // Tracks of one location come one after the other.
            false => &["profile_id"],
        }
    }

    fn estimate(&self, wanted: &Wanted) -> Option<u64> {
        Some(self.0.rows(wanted))
    }

    fn cut(&self, wanted: &Wanted, most: usize, rows: u64) -> Vec<Wanted> {
        self.0.cut(wanted, most, rows)
    }

    fn whole_bytes(&self) -> Option<u64> {
        Some(self.0.whole_bytes())
    }

    fn whole(self: Arc<Self>, control: &Control) -> Result<Option<RecordBatch>> {
        let tracks: Vec<TrackIdx> = self.0.all().iter().map(|&(_, track, _)| track).collect();
        let samples = self.0.opened.sample_relation_of(&tracks, TimeWindow::ALL, control);
        let samples = samples.map_err(failed)?.into_table();
        bridge::batch_of(&samples, &self.schema()).map(Some)
    }

    fn read(self: Arc<Self>, wanted: &Wanted, most: usize, control: &Control) -> Result<Batches> {
        let parts = self.0.parts(wanted, most);
        let window = window(wanted, "start_ns", "end_ns");
        let (schema, control) = (self.schema(), control.clone());
        let read = move |tracks: Arc<[TrackIdx]>| -> Result<RecordBatch> {
            let samples =
                self.0.opened.sample_relation_of(&tracks, window, &control).map_err(failed)?;
            bridge::batch_of(&samples.into_table(), &schema)
        };
        Ok(Box::new(parts.into_iter().map(read)))
    }
}

/// Calls of a trace of events.
pub(super) struct TraceEvents(pub(super) Tracks);

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
        Some(self.0.rows(wanted))
    }

    fn cut(&self, wanted: &Wanted, most: usize, rows: u64) -> Vec<Wanted> {
        self.0.cut(wanted, most, rows)
    }

    fn whole_bytes(&self) -> Option<u64> {
        Some(self.0.whole_bytes())
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
        let parts = self.0.parts(wanted, most);
        let window = window(wanted, "start_ns", "end_ns");
        let (schema, control) = (self.schema(), control.clone());
        let read = move |tracks: Arc<[TrackIdx]>| -> Result<RecordBatch> {
            let calls = self.0.opened.call_relation(&tracks, window, &control).map_err(failed)?;
            bridge::batch_of(&calls.into_table(), &schema)
        };
        Ok(Box::new(parts.into_iter().map(read)))
    }
}
