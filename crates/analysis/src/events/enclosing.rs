//! Which call a record lies in.
//!
//! Messages, collective operations and launches are records with a time; who waits is told by the
//! call around them: one of MPI, or of a GPU runtime. All records of a track are looked up in one
//! pass over its calls.

use parallax_base::{ContextIdx, TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};

/// Where in its call a record is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Right after entering: sends, and the begin of collectives.
    Begin,
    /// Before leaving: receives.
    End,
}

/// A record to look up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) nanos: u64,
    pub(super) side: Side,
    /// What the caller knows it by.
    pub(super) number: u32,
}

/// A call of a routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) context: ContextIdx,
    pub(super) start_nanos: u64,
    pub(super) end_nanos: u64,
}

/// The innermost call that `is_wanted` around each of `moments`, which this sorts by time; `None`
/// where there is none.
///
/// Clocks are coarse: where one call ends at the very time at which the next begins, a record of
/// [`Side::Begin`] belongs to the later one, and one of [`Side::End`] to the earlier.
pub(super) fn calls_around(
    session: &Session,
    is_wanted: &dyn Fn(ContextIdx) -> bool,
    track: TrackIdx,
    moments: &mut [Moment],
) -> Result<Vec<Option<Around>>, EngineError> {
    moments.sort_by_key(|moment| moment.nanos);
    let mut found: Vec<Option<Around>> = vec![None; moments.len()];
    let (Some(first), Some(last)) = (moments.first(), moments.last()) else { return Ok(found) };
    let (first, last) = (first.nanos, last.nanos);
    let store = session.traces()?;
    let tree = session.tree();
    let window = TimeWindow::new(first, last.saturating_add(1));
    let mut is_open = false;
    // A call comes after those made from it, so the first one around a moment is the innermost.
    store.visit_calls(track, window, &mut |call| {
        let Some(context) = tree.by_source_id(call.context) else { return };
        if !is_wanted(context) {
            return;
        }
        let here = Around { context, start_nanos: call.start_nanos, end_nanos: call.end_nanos };
        let from = moments.partition_point(|moment| moment.nanos < call.start_nanos);
        let to = moments.partition_point(|moment| moment.nanos <= call.end_nanos);
        let inside = moments.get(from..to).unwrap_or_default();
        for (moment, slot) in inside.iter().zip(found.iter_mut().skip(from)) {
            let is_better = slot.is_none_or(|known| {
                moment.side == Side::Begin
                    && known.end_nanos == moment.nanos
                    && call.start_nanos == moment.nanos
                    && call.end_nanos > moment.nanos
            });
            if is_better {
                *slot = Some(here);
                is_open |= call.end_nanos == u64::MAX;
            }
        }
    })?;
    if is_open {
        // The end of what was still open when the pass ended lies somewhere behind.
        let rest = TimeWindow::new(last, u64::MAX);
        store.visit_calls(track, rest, &mut |call| {
            let is_same = |known: &&mut Around| {
                known.end_nanos == u64::MAX
                    && known.start_nanos == call.start_nanos
                    && tree.by_source_id(call.context) == Some(known.context)
            };
            if call.start_nanos <= last {
                for known in found.iter_mut().flatten().filter(is_same) {
                    known.end_nanos = call.end_nanos;
                }
            }
        })?;
    }
    Ok(found)
}
