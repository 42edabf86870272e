//! Delays: what those who are waited for do meanwhile.
//!
//! Waiting is charged to what the track that is waited for computes while others wait for it: delay
//! costs as Böhme, Geimer, Wolf and Arnold define them ("Identifying the root causes of wait states
//! in large-scale parallel applications", 2010), of direct delays. What that track itself waits for
//! is charged to nobody.

use std::collections::BTreeMap;

use parallax_base::{ContextIdx, Control, TimeWindow, TrackIdx};
use parallax_engine::{EngineError, Session};

use super::activity::{Activities, Activity};
use super::waits::{Wait, WaitKind};

/// Waiting for a track that computes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delay {
    /// The track that is waited for.
    pub track: TrackIdx,
    /// Where it computes meanwhile.
    pub context: ContextIdx,
    /// How long others wait for that, in nanoseconds, added up.
    pub nanos: f64,
}

/// The direct causes of waits for other threads, by track and context.
///
/// # Errors
/// When there is no trace, it cannot be read, or the question is withdrawn.
pub fn delays(
    session: &Session,
    waits: &[Wait],
    control: &Control,
) -> Result<Vec<Delay>, EngineError> {
    let (store, tree) = (session.traces()?, session.tree());
    let activities = Activities::new(tree);
    let mut out: BTreeMap<(TrackIdx, ContextIdx), f64> = BTreeMap::new();
    let is_of_threads = |wait: &&Wait| {
        !matches!(wait.kind, WaitKind::LateLaunch | WaitKind::ForGpu) && wait.nanos() > 0
    };
    for wait in waits.iter().filter(is_of_threads) {
        control.check()?;
        let window = TimeWindow::new(wait.start_nanos, wait.end_nanos);
        store.sums(wait.delayed_by, window, &mut |time| {
            let context = tree.by_source_id(time.context);
            let computes = |context: &ContextIdx| activities.of(*context) == Activity::Computing;
            if let Some(context) = context.filter(computes) {
                *out.entry((wait.delayed_by, context)).or_default() += time.nanos as f64;
            }
        })?;
    }
    let delay = |((track, context), nanos)| Delay { track, context, nanos };
    Ok(out.into_iter().map(delay).collect())
}
