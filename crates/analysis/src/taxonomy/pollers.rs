//! Threads that do nothing but ask a GPU runtime how far its work is.
//!
//! PyTorch starts one for each process group, which asks whether the collective kernels of NCCL have
//! ended (`cudaEventQuery`); Kineto writes it without a name, because it is not the profiler's. The
//! evidence is what it executes: calls of a GPU runtime, some of which ask whether work has ended, and
//! none that starts, copies or allocates anything or waits.

use parallax_base::{ContextIdx, Control, LocationIdx, TimeWindow};
use parallax_engine::{EngineError, Session};
use parallax_model::{ContextTree, TraceKind};

use super::gpu::RuntimeCall;
use super::is_gpu;

/// What such a thread is called.
pub(super) const POLLER: &str = "asks for the progress of a GPU";

/// The locations that do nothing else, by a trace of calls; ascending.
///
/// # Errors
/// When the trace cannot be read, or the question is withdrawn.
pub(super) fn pollers(
    session: &Session,
    control: &Control,
) -> Result<Vec<LocationIdx>, EngineError> {
    let (x, tree) = (session.experiment(), session.tree());
    let Some(traces) = x.traces.as_deref().filter(|traces| traces.kind() == TraceKind::Calls)
    else {
        return Ok(Vec::new());
    };
    let call = |context: ContextIdx| tree.function_name(context).and_then(RuntimeCall::of);
    let asks = |context: ContextIdx| call(context) == Some(RuntimeCall::Poll);
    if !tree.children(ContextTree::ROOT).any(asks) {
        return Ok(Vec::new());
    }
    let mut out = Vec::new();
    for (at, track) in traces.track_ids().zip(traces.tracks()) {
        control.check()?;
        if is_gpu(&x.locations, track.location) {
            continue;
        }
        let (mut has_asked, mut has_other) = (false, false);
        traces.sums(at, TimeWindow::ALL, &mut |time| {
            let context = tree.by_source_id(time.context);
            match context.filter(|&context| context != ContextTree::ROOT).map(call) {
                Some(Some(RuntimeCall::Poll)) => has_asked = true,
                Some(Some(RuntimeCall::Other)) | None => {}
                Some(_) => has_other = true,
            }
        })?;
        if has_asked && !has_other {
            out.push(track.location);
        }
    }
    out.sort_unstable();
    out.dedup();
    Ok(out)
}
