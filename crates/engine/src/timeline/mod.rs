//! Time by context over time windows, pictures of it, and calls one by one.

mod calls;
mod find;
mod tile;

use std::ops::Range;

use parallax_base::{Control, TimeWindow, TrackIdx, threads};
use parallax_model::TraceStore;

use crate::{EngineError, LocationChoice, Session};

pub use calls::{CallList, CallRow, CallsQuestion};
pub use find::{DurationBin, FindQuestion, FindResult};
pub use tile::{Bins, MAX_TILE_CELLS, Tile, TileCell, TileQuestion};

/// Consecutive tracks.
pub type TrackRange = Range<TrackIdx>;

/// Depth of calls of each context: how many functions there are from the outermost down to it.
#[must_use]
pub fn call_depths(tree: &parallax_model::ContextTree) -> Vec<u32> {
    let mut depths = vec![0_u32; tree.len()];
    for context in tree.iter() {
        let above = tree.parent(context).and_then(|p| depths.get(p.idx())).copied().unwrap_or(0);
        if let Some(depth) = depths.get_mut(context.idx()) {
            *depth = above + u32::from(is_call(tree, context));
        }
    }
    depths
}

/// Whether a context stands for a call, not for a place inside one.
pub(crate) fn is_call(
    tree: &parallax_model::ContextTree,
    context: parallax_base::ContextIdx,
) -> bool {
    tree.kind(context) == parallax_model::ContextKind::Function
}

/// The tracks of `ranges` that there are, in order.
pub(crate) fn tracks_of(store: &dyn TraceStore, ranges: &[TrackRange]) -> Vec<TrackIdx> {
    let num = TrackIdx::from_len(store.tracks().len());
    let ids = |range: &TrackRange| range.start.get()..range.end.min(num).get();
    ranges.iter().flat_map(ids).map(TrackIdx::new).collect()
}

/// The store's span with its last moment inside.
pub(crate) fn store_window(store: &dyn TraceStore) -> TimeWindow {
    let span = store.span();
    TimeWindow::new(span.start_nanos, span.end_nanos.saturating_add(1))
}

/// What contexts take of a window, added up over tracks; by position in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextSums {
    /// How often each was entered; zeros for traces of samples.
    pub calls: Vec<u64>,
    /// Nanoseconds during which each was the active one. The root has the time in which nothing
    /// ran between the first and the last call of a track.
    /// Over 100,000 tracks of 51 hours this is more than 64 bits.
    pub nanos: Vec<u128>,
}

impl ContextSums {
    fn zeros(len: usize) -> Self {
        Self { calls: vec![0; len], nanos: vec![0; len] }
    }

    fn add(&mut self, other: &Self) {
        for (sum, more) in self.calls.iter_mut().zip(&other.calls) {
            *sum += more;
        }
        for (sum, more) in self.nanos.iter_mut().zip(&other.nanos) {
            *sum += more;
        }
    }
}

impl Session {
    /// What each context takes of `window`, cut exactly at its edges, added up over the chosen
    /// locations.
    ///
    /// # Errors
    /// When there are no traces, they cannot be read, or the question is withdrawn.
    pub fn context_sums(
        &self,
        locations: &LocationChoice,
        window: TimeWindow,
        control: &Control,
    ) -> Result<ContextSums, EngineError> {
        let tracks = self.chosen_tracks(self.traces()?, locations);
        self.context_sums_of(&tracks, window, control)
    }

    /// The same, added up over tracks.
    ///
    /// # Errors
    /// As [`Session::context_sums`].
    pub fn context_sums_of(
        &self,
        tracks: &[TrackIdx],
        window: TimeWindow,
        control: &Control,
    ) -> Result<ContextSums, EngineError> {
        let store = self.traces()?;
        let tree = self.tree();
        if let Some(times) = store.sums_of_tracks(tracks, window, control)? {
            let mut sums = ContextSums::zeros(tree.len());
            for time in times {
                let Some(context) = tree.by_source_id(time.context) else { continue };
                if let Some(nanos) = sums.nanos.get_mut(context.idx()) {
                    *nanos += time.nanos;
                }
                if let Some(calls) = sums.calls.get_mut(context.idx()) {
                    *calls += time.calls;
                }
            }
            return Ok(sums);
        }
        let weight =
            |i: usize| tracks.get(i).and_then(|&t| store.track(t)).map_or(0, |t| t.num_samples);
        let ranges = threads::ranges(tracks.len(), weight);
        control.begin(tracks.len() as u64);
        let parts = threads::map(ranges, |range| -> Result<ContextSums, EngineError> {
            let mut sums = ContextSums::zeros(tree.len());
            for &track in tracks.get(range).unwrap_or_default() {
                store.sums(track, window, &mut |time| {
                    let Some(context) = tree.by_source_id(time.context) else { return };
                    if let Some(nanos) = sums.nanos.get_mut(context.idx()) {
                        *nanos += u128::from(time.nanos);
                    }
                    if let Some(calls) = sums.calls.get_mut(context.idx()) {
                        *calls += time.calls;
                    }
                })?;
                control.advance(1)?;
            }
            Ok(sums)
        });
        let mut sum = ContextSums::zeros(tree.len());
        for part in parts {
            sum.add(&part?);
        }
        Ok(sum)
    }
}
