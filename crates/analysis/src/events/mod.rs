//! Analyses of traces of events: who waits for whom, what bounds the run time, and how that changes
//! over time.
//!
//! Each has one definition, in its file, with its source. All times are nanoseconds on the trace's
//! clock, added up exactly.

mod activity;
mod bins;
mod collectives;
mod critical_path;
mod delays;
mod enclosing;
mod gpu;
mod idle_devices;
mod lateness;
mod launches;
mod messages;
mod operations;
mod over_time;
mod overlap;
mod waits;

use parallax_base::{TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};
use parallax_model::EventStore;

pub use activity::{Activities, Activity, Pattern};
pub use bins::{Bins, time_profile};
pub use critical_path::{CriticalPath, OnPath, Segment, critical_path};
pub use delays::{Delay, delays};
pub use idle_devices::{IdleDevice, idle_devices};
pub use lateness::{Late, Lateness, LatenessRow, lateness};
pub use over_time::{BinBalance, TrackTimes, imbalance_over_time, track_times, track_times_by_bin};
pub use overlap::{Overlap, TrackOverlap, UnderWay, overlap};
pub use waits::{Basis, Wait, WaitChoice, WaitCounts, WaitKind, Waits, waits};

/// Which tracks, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The tracks, ascending and distinct.
    pub tracks: Vec<TrackIdx>,
    /// The window; may reach beyond the trace.
    pub window: TimeWindow,
}

impl Selection {
    /// All tracks of the session's trace, over all of it.
    ///
    /// # Errors
    /// When there is no trace.
    pub fn all(session: &Session) -> Result<Self, EngineError> {
        let tracks = session.traces()?.track_ids().collect();
        Ok(Self { tracks, window: TimeWindow::ALL })
    }

    /// Whether a track is among them.
    #[must_use]
    pub fn has(&self, track: TrackIdx) -> bool {
        self.tracks.binary_search(&track).is_ok()
    }
}

/// The messages and collective operations of the session.
fn events(session: &Session) -> Result<&dyn EventStore, EngineError> {
    session.experiment().events.as_deref().ok_or_else(|| EngineError::Missing {
        what: "this experiment has no messages or collective operations".into(),
        hint: "open an event trace, such as OTF2".into(),
    })
}
