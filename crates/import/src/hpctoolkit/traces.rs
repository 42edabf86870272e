//! `trace.db` as a [`TraceStore`].

use parallax_base::{LocationIdx, TimeWindow, TrackIdx};
use parallax_formats::hpctoolkit::TraceDb;
use parallax_model::{Interval, StoreError, TraceStore, Track};

pub(super) struct Traces {
    db: TraceDb,
    tracks: Vec<Track>,
}

impl Traces {
    /// Tracks in file order; each belongs to the profile its record names.
    pub(super) fn new(db: TraceDb) -> Self {
        let tracks = db
            .infos()
            .iter()
            .map(|info| Track {
                location: LocationIdx::new(info.profile),
                num_samples: info.num_samples,
            })
            .collect();
        Self { db, tracks }
    }
}

impl TraceStore for Traces {
    fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    fn span(&self) -> TimeWindow {
        TimeWindow::new(self.db.min_nanos, self.db.max_nanos)
    }

    fn visit(
        &self,
        track: TrackIdx,
        window: TimeWindow,
        visit: &mut dyn FnMut(Interval),
    ) -> Result<(), StoreError> {
        let Some(info) = self.db.infos().get(track.idx()) else { return Ok(()) };
        let all = self.db.samples(info).map_err(|e| StoreError::Read(e.to_string()))?;
        let raw = TraceDb::narrow(&all, window.start_nanos, window.end_nanos);
        // The sample behind the narrowed part ends its last interval.
        let behind = TraceDb::narrow(&all, window.end_nanos, u64::MAX);
        let after = TraceDb::decode(behind).find(|s| s.nanos >= window.end_nanos);
        let mut samples = TraceDb::decode(raw).peekable();
        while let Some(sample) = samples.next() {
            let next = samples.peek().copied().or(after);
            let end = next.map_or(sample.nanos, |next| next.nanos.max(sample.nanos));
            let is_last = next.is_none();
            if end > window.start_nanos || (is_last && sample.nanos >= window.start_nanos) {
                visit(Interval {
                    context: sample.context,
                    start_nanos: sample.nanos,
                    end_nanos: end,
                });
            }
        }
        Ok(())
    }
}
