//! Cancellation and progress of long questions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The question was withdrawn by the person who asked it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

/// Receives progress: parts done of parts in all. May be called from any thread.
pub type ProgressSink = dyn Fn(u64, u64) + Send + Sync;

/// Handed down with every question that may take long.
///
/// A clone shares the same question: cancelling one cancels all.
#[derive(Clone, Default)]
pub struct Control {
    cancelled: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    total: Arc<AtomicU64>,
    sink: Option<Arc<ProgressSink>>,
}

impl Control {
    /// A control without listeners.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A control that reports progress to `sink`.
    #[must_use]
    pub fn with_progress(sink: impl Fn(u64, u64) + Send + Sync + 'static) -> Self {
        Self { sink: Some(Arc::new(sink)), ..Self::default() }
    }

    /// Withdraws the question. Workers notice at their next [`Control::check`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// # Errors
    /// [`Cancelled`] once [`Control::cancel`] was called.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }

    /// Starts counting towards `total` parts.
    pub fn begin(&self, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Counts `parts` more as done and tells the listener.
    ///
    /// # Errors
    /// [`Cancelled`] once the question was withdrawn.
    pub fn advance(&self, parts: u64) -> Result<(), Cancelled> {
        let done = self.done.fetch_add(parts, Ordering::Relaxed) + parts;
        if let Some(sink) = &self.sink {
            sink(done, self.total.load(Ordering::Relaxed));
        }
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancelling_a_clone_cancels_the_question() {
        let control = Control::new();
        control.begin(2);
        assert_eq!(control.advance(1), Ok(()));
        control.clone().cancel();
        assert_eq!(control.advance(1), Err(Cancelled));
    }
}
