//! Profiles of Valgrind's Callgrind and Cachegrind: costs by source line, and calls with what they
//! cost (see `FORMAT.md`).
//!
//! A file has a call graph, not a call tree: of every call it says who called whom, from which line,
//! how often, and what that cost together with everything below.

mod names;
mod read;
mod records;

pub use read::{command, is_callgrind, read_callgrind};
pub use records::{CallRow, CallgrindProfile, CostRow, EventName, FunctionName, Part, Spot};
