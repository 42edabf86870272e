//! What tracks do, and how evenly: in all, and in each bin of a window.
//!
//! Idle time is what Pipit's `idle_time` calls so: time in functions that wait, here together with
//! the time in no function at all, which Projections calls idle.
//!
//! Load imbalance is that of [`crate::balance`], bin by bin, over the time in which tracks compute:
//! a track that waits does so because another one has more to do.

use parallax_base::{Control, TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};

use super::Selection;
use super::activity::{Activities, Activity};
use super::bins::{Bins, add, in_parallel};
use crate::balance::Distribution;

/// How the time of one track divides, in nanoseconds. The parts add up to the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrackTimes {
    /// Of the trace's span, what the window or bin has.
    pub whole_nanos: u128,
    /// In functions that neither wait nor belong to MPI.
    pub computing_nanos: u128,
    /// In MPI, not waiting.
    pub communicating_nanos: u128,
    /// In functions that wait.
    pub waiting_nanos: u128,
}

impl TrackTimes {
    /// In no function: before the first call, between calls of the outermost functions, and after
    /// the last one.
    #[must_use]
    pub const fn outside_nanos(&self) -> u128 {
        let busy = self.computing_nanos + self.communicating_nanos + self.waiting_nanos;
        self.whole_nanos.saturating_sub(busy)
    }

    /// Waiting or in no function.
    #[must_use]
    pub const fn idle_nanos(&self) -> u128 {
        self.waiting_nanos + self.outside_nanos()
    }

    fn add(&mut self, activity: Activity, nanos: u128) {
        match activity {
            Activity::Computing => self.computing_nanos += nanos,
            Activity::Communicating => self.communicating_nanos += nanos,
            Activity::Waiting => self.waiting_nanos += nanos,
            // What no call has is known from the whole.
            Activity::Outside => {}
        }
    }

    /// Both together.
    #[must_use]
    pub const fn plus(&self, other: &Self) -> Self {
        Self {
            whole_nanos: self.whole_nanos + other.whole_nanos,
            computing_nanos: self.computing_nanos + other.computing_nanos,
            communicating_nanos: self.communicating_nanos + other.communicating_nanos,
            waiting_nanos: self.waiting_nanos + other.waiting_nanos,
        }
    }
}

/// The times of the selected tracks in the window, cut exactly at its edges; in the order of the
/// selection.
///
/// # Errors
/// When there are no traces, they cannot be read, or the question is withdrawn.
pub fn track_times(
    session: &Session,
    selection: &Selection,
    control: &Control,
) -> Result<Vec<TrackTimes>, EngineError> {
    let store = session.traces()?;
    let tree = session.tree();
    let activities = Activities::new(tree);
    let window = selection.window.intersect(store.span());
    // What lasts no time in the window is not asked for, so its last moment need not be inside.
    let parts = in_parallel(store, &selection.tracks, control, |track, out: &mut Vec<_>| {
        let mut times = TrackTimes { whole_nanos: window.nanos().into(), ..TrackTimes::default() };
        store.sums(track, window, &mut |time| {
            if let Some(context) = tree.by_source_id(time.context) {
                times.add(activities.of(context), time.nanos.into());
            }
        })?;
        out.push(times);
        Ok(())
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// The times of the selected tracks in each bin, one list for each track, in the order of the
/// selection. The selection's window does not matter, the bins do.
///
/// # Errors
/// When there are no traces, they cannot be read, or the question is withdrawn.
pub fn track_times_by_bin(
    session: &Session,
    selection: &Selection,
    bins: &Bins,
    control: &Control,
) -> Result<Vec<Vec<TrackTimes>>, EngineError> {
    let store = session.traces()?;
    let keys = Activities::new(session.tree()).keys();
    let all = [Activity::Computing, Activity::Communicating, Activity::Waiting];
    let parts = in_parallel(store, &selection.tracks, control, |track, out: &mut Vec<_>| {
        let mut sums = vec![0; Activity::COUNT * bins.len];
        add(session, store, track, bins, &keys, &mut sums)?;
        let of_bin = |nth: usize| {
            let whole_nanos = bins.inside(nth).nanos().into();
            let mut times = TrackTimes { whole_nanos, ..TrackTimes::default() };
            for activity in all {
                let at = activity.index() as usize * bins.len + nth;
                times.add(activity, sums.get(at).copied().unwrap_or(0));
            }
            times
        };
        out.push((0..bins.len).map(of_bin).collect());
        Ok(())
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// How evenly tracks compute in one bin.
#[derive(Debug, Clone, PartialEq)]
pub struct BinBalance {
    /// The bin.
    pub bin: TimeWindow,
    /// Seconds of computing, over the tracks; with no histogram.
    pub distribution: Distribution,
    /// The track that computes most, the first of several.
    pub slowest: TrackIdx,
}

/// How evenly the selected tracks compute in each bin; tracks without any call do not count. No
/// rows where there are no tracks.
///
/// # Errors
/// When there are no traces, they cannot be read, or the question is withdrawn.
pub fn imbalance_over_time(
    session: &Session,
    selection: &Selection,
    bins: &Bins,
    control: &Control,
) -> Result<Vec<BinBalance>, EngineError> {
    let store = session.traces()?;
    let has_calls = |track: &TrackIdx| store.track(*track).is_some_and(|t| t.num_samples > 0);
    let tracks: Vec<TrackIdx> = selection.tracks.iter().copied().filter(has_calls).collect();
    let selection = Selection { tracks, window: selection.window };
    let times = track_times_by_bin(session, &selection, bins, control)?;
    let balance = |nth: usize| {
        let nanos: Vec<u128> = times
            .iter()
            .map(|bins| bins.get(nth).map_or(0, |times| times.computing_nanos))
            .collect();
        let most = nanos.iter().copied().max()?;
        let slowest = nanos.iter().position(|&nanos| nanos == most)?;
        let seconds: Vec<f64> = nanos.iter().map(|&nanos| nanos as f64 / 1e9).collect();
        Some(BinBalance {
            bin: bins.bin(nth),
            distribution: Distribution::new(&seconds, 0)?,
            slowest: selection.tracks.get(slowest).copied()?,
        })
    };
    Ok((0..bins.len).filter_map(balance).collect())
}
