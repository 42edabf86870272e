//! `trace.db` as a [`TraceStore`].

use std::sync::OnceLock;

use parallax_base::{LocationIdx, TimeWindow, TrackIdx};
use parallax_formats::hpctoolkit::{TraceDb, TraceInfo};
use parallax_model::{Interval, LocationCatalog, StoreError, TraceStore, Track};

pub(super) struct Traces {
    db: TraceDb,
    locations: LocationCatalog,
    ordered: OnceLock<Ordered>,
}

/// Tracks in the order of lists for users.
struct Ordered {
    /// Where the samples of each track lie.
    infos: Vec<TraceInfo>,
    tracks: Vec<Track>,
}

impl Traces {
    /// The traces of `db`. Its tracks are put in order when somebody first asks for them: most
    /// questions about profiles never do, and of 100,000 ranks it takes longer than opening them.
    pub(super) fn new(db: TraceDb, locations: &LocationCatalog) -> Self {
        Self { db, locations: locations.clone(), ordered: OnceLock::new() }
    }

    fn ordered(&self) -> &Ordered {
        self.ordered.get_or_init(|| Ordered::of(self.db.infos(), &self.locations))
    }
}

impl Ordered {
    /// Files have tracks as threads ended. Each belongs to the profile that its record names.
    fn of(infos: &[TraceInfo], locations: &LocationCatalog) -> Self {
        let location = |info: &TraceInfo| LocationIdx::new(info.profile);
        let order = locations.order();
        let mut infos = infos.to_vec();
        infos.sort_by_cached_key(|info| order.of(location(info)));
        let track = |info| Track { location: location(info), num_samples: info.num_samples };
        let tracks = infos.iter().map(track).collect();
        Self { infos, tracks }
    }
}

impl TraceStore for Traces {
    fn tracks(&self) -> &[Track] {
        &self.ordered().tracks
    }

    fn track_sizes(&self) -> Vec<u64> {
        self.db.infos().iter().map(|info| info.num_samples).collect()
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
        let Some(info) = self.ordered().infos.get(track.idx()) else { return Ok(()) };
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
