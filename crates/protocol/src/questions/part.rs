//! What several questions share: which part of an experiment they are about.

use serde::{Deserialize, Serialize};

use crate::macros::{choice, fields, question};

fields! {
    /// Which part of a trace.
    pub struct TracePart {
        /// A profile expression, such as `rank(0-9)`; null for all locations. Who waits, the
        /// critical path, changes over time and iterations then exclude helper threads, which an
        /// expression includes where it names them.
        profiles: Option<String>,
        /// A time window, such as `1.5s..2s` after the start or `10%..20%`; null for everything.
        window: Option<String>,
        /// Start of the time range, in nanoseconds since the first record of the trace; null for
        /// the beginning.
        from_ns: Option<u64>,
        /// Its end, in nanoseconds since the first record; null for the end of the trace.
        to_ns: Option<u64>,
    }
}

choice! {
    /// How the values of many locations become one.
    pub enum OverLocations {
        /// Their sum.
        Sum = "sum",
        /// Their mean over the locations that have any value.
        Mean = "mean",
        /// The largest: the slowest location decides.
        Max = "max",
    }
}

/// Tracks that follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TrackSpan {
    /// The first.
    pub from: u32,
    /// One past the last.
    pub to: u32,
}
