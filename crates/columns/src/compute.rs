//! Where operations run: on the processor, or wherever an implementation has its reasons to.

use crate::{Events, Groups, Keys, summarise};

/// Does operations somewhere. Results are the same wherever that is.
pub trait Compute: Send + Sync {
    /// [`summarise`], and where it was done.
    fn summarise(&self, events: &Events<'_>, keys: Keys, shortest: u64) -> Computed<Groups>;
}

/// A result, and where it comes from.
#[derive(Debug, Clone)]
pub struct Computed<T> {
    /// The result; the same wherever it comes from.
    pub value: T,
    /// The name of the device; `cpu` for the processor.
    pub device: String,
    /// Why there.
    pub reason: String,
}

/// The processor.
#[derive(Debug, Clone)]
pub struct Processor {
    /// Why not elsewhere.
    pub reason: String,
}

impl Default for Processor {
    fn default() -> Self {
        Self { reason: "no other device was asked for".to_owned() }
    }
}

impl Compute for Processor {
    fn summarise(&self, events: &Events<'_>, keys: Keys, shortest: u64) -> Computed<Groups> {
        Computed {
            value: summarise(events, keys, shortest),
            device: "cpu".to_owned(),
            reason: self.reason.clone(),
        }
    }
}
