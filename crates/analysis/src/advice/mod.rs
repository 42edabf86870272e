//! What of a run could have been executed in parallel.
//!
//! - [`loops()`]: whether the iterations of a loop depend on each other, and through which reference;
//! - [`work()`]: work, span and parallelism of calls and loops, and which sibling calls depend on
//!   each other;
//! - [`schedule()`]: tasks on workers, longest first;
//! - [`races()`]: accesses of threads that nothing orders.
//!
//! All of it holds for what one run did with one input: no proof for others. What the source does
//! not record (values in registers, input and output, code without debug information) is not seen.
//!
//! Where touches name addresses, their hulls are compared: from the lowest to the highest address
//! of what an activation does with a reference between two synchronisations. A hull is never less
//! than the truth, so iterations are never called independent because of it.

mod loops;
mod races;
mod reach;
mod schedule;
mod segments;
mod shared;
mod siblings;
mod work;

use parallax_base::ContextIdx;

pub use loops::{LoopAdvice, SharedReference, Sharing, Verdict, loops};
pub use races::{Access, RaceHint, Races, races};
pub use schedule::{Placed, Schedule, schedule};
pub use siblings::{DependenceKind, PairDependence, SiblingAdvice, Tasks, tasks};
pub use work::{ContextWork, Work, work};

/// A line of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionLine {
    /// The context of the function.
    pub function: ContextIdx,
    /// The line in the function's file; 0 when unknown.
    pub line: u32,
}
