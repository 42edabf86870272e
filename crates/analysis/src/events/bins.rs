//! Time profiles: time by function, group or anything else, in each bin of a window.
//!
//! The "time profile" of Projections and Pipit, with exact sums: a call that reaches over the edge
//! of a bin counts in both with its parts.

use parallax_base::{Control, TimeWindow, TrackIdx, threads};
use parallax_engine::{EngineError, Session};
use parallax_model::{BinTime, TraceStore, for_each_bin, whole_bins};

use super::Selection;

/// Bins of 2^k ns that cover a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bins {
    /// Each is 2^exponent nanoseconds long; bin b begins at b · 2^exponent.
    pub exponent: u8,
    /// Number of the first bin.
    pub first: u64,
    /// How many.
    pub len: usize,
    /// What the trace has; bins at its edges reach beyond it.
    span: TimeWindow,
}

impl Bins {
    /// The shortest bins of which at most `at_most` (and at least one) cover what `window` has of
    /// the trace; none when that is nothing.
    ///
    /// # Errors
    /// When there is no trace.
    pub fn covering(
        session: &Session,
        window: TimeWindow,
        at_most: usize,
    ) -> Result<Self, EngineError> {
        let span = session.traces()?.span();
        let inside = window.intersect(span);
        if inside.is_empty() {
            return Ok(Self { exponent: 0, first: 0, len: 0, span });
        }
        let last = inside.end_nanos - 1;
        let count = |exponent: u8| (last >> exponent) - (inside.start_nanos >> exponent);
        let limit = at_most.max(1) as u64;
        let exponent = (0..63).find(|&exponent| count(exponent) < limit).unwrap_or(63);
        let len = usize::try_from(count(exponent) + 1).unwrap_or(usize::MAX);
        Ok(Self { exponent, first: inside.start_nanos >> exponent, len, span })
    }

    /// All bins together: the window grown to whole bins.
    #[must_use]
    pub fn window(&self) -> TimeWindow {
        let last = self.first.saturating_add(self.len as u64).saturating_sub(1);
        match self.len {
            0 => TimeWindow::new(0, 0),
            _ => TimeWindow::new(self.bin(0).start_nanos, self.at(last).end_nanos),
        }
    }

    /// The `nth` bin.
    #[must_use]
    pub fn bin(&self, nth: usize) -> TimeWindow {
        self.at(self.first.saturating_add(nth as u64))
    }

    /// What the trace has of the `nth` bin.
    #[must_use]
    pub fn inside(&self, nth: usize) -> TimeWindow {
        self.bin(nth).intersect(self.span)
    }

    fn at(&self, number: u64) -> TimeWindow {
        let start = number << self.exponent;
        whole_bins(TimeWindow::new(start, start.saturating_add(1)), self.exponent)
    }
}

impl Bins {
    /// Calls `visit` with each bin's place that `part` reaches into, and how much of it.
    pub(super) fn spread(&self, part: TimeWindow, mut visit: impl FnMut(usize, u64)) {
        for_each_bin(part.intersect(self.window()), self.exponent, |number, nanos| {
            let nth = number.checked_sub(self.first).and_then(|nth| usize::try_from(nth).ok());
            if let Some(nth) = nth.filter(|nth| *nth < self.len) {
                visit(nth, nanos);
            }
        });
    }
}

/// Time of the selected tracks by key and bin, in nanoseconds: the bins of key k are at
/// `k * bins.len`. `key_of` gives each context, by position in the tree, the number of what it
/// counts to; the selection's window does not matter, the bins do.
///
/// # Errors
/// When there are no traces, they cannot be read, or the question is withdrawn.
pub fn time_profile(
    session: &Session,
    selection: &Selection,
    bins: &Bins,
    key_of: &[Option<u32>],
    control: &Control,
) -> Result<Vec<u128>, EngineError> {
    let store = session.traces()?;
    let len = num_keys(key_of) * bins.len;
    let parts = in_parallel(store, &selection.tracks, control, |track, sum: &mut Vec<u128>| {
        sum.resize(len, 0);
        add(session, store, track, bins, key_of, sum)
    })?;
    let mut sum = vec![0; len];
    for part in parts {
        sum.iter_mut().zip(part).for_each(|(sum, more)| *sum += more);
    }
    Ok(sum)
}

/// Works on each of `tracks`, several of them at the same time, and gives what each piece of the
/// work gathered, in order.
pub(super) fn in_parallel<T: Default + Send>(
    store: &dyn TraceStore,
    tracks: &[TrackIdx],
    control: &Control,
    work: impl Fn(TrackIdx, &mut T) -> Result<(), EngineError> + Send + Sync,
) -> Result<Vec<T>, EngineError> {
    let weight =
        |i: usize| tracks.get(i).and_then(|&t| store.track(t)).map_or(0, |track| track.num_samples);
    control.begin(tracks.len() as u64);
    let parts = threads::map(threads::ranges(tracks.len(), weight), |range| {
        let mut out = T::default();
        for &track in tracks.get(range).unwrap_or_default() {
            work(track, &mut out)?;
            control.advance(1)?;
        }
        Ok::<_, EngineError>(out)
    });
    parts.into_iter().collect()
}

pub(super) fn num_keys(key_of: &[Option<u32>]) -> usize {
    key_of.iter().flatten().max().map_or(0, |&key| key as usize + 1)
}

/// Adds the time of a track by key and bin.
pub(super) fn add(
    session: &Session,
    store: &dyn TraceStore,
    track: TrackIdx,
    bins: &Bins,
    key_of: &[Option<u32>],
    sum: &mut [u128],
) -> Result<(), EngineError> {
    let tree = session.tree();
    store.bins(track, bins.window(), bins.exponent, &mut |times| {
        for &BinTime { bin, time } in times {
            let nth = bin.checked_sub(bins.first).and_then(|nth| usize::try_from(nth).ok());
            let Some(nth) = nth.filter(|nth| *nth < bins.len) else { continue };
            let Some(context) = tree.by_source_id(time.context) else { continue };
            let Some(Some(key)) = key_of.get(context.idx()) else { continue };
            if let Some(sum) = sum.get_mut(*key as usize * bins.len + nth) {
                *sum += u128::from(time.nanos);
            }
        }
    })?;
    Ok(())
}
