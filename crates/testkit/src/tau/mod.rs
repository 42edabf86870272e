//! Files of TAU, written from plain descriptions: profiles as text and packed, and traces.

mod arbitrary;
mod packed;
mod text;
mod trace;

pub use arbitrary::{profiles, trace};
pub use packed::{PackedVersion, to_packed};
pub use text::to_text;
pub use trace::{Definition, Layout, Record, message_parameter, to_definitions, to_trace};

/// Names and values.
pub type Facts = Vec<(String, String)>;

/// The profiles of an execution.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profiles {
    /// Names of metrics.
    pub metrics: Vec<String>,
    /// Names of groups.
    pub groups: Vec<String>,
    /// Timers: name and rows of `groups`.
    pub timers: Vec<(String, Vec<u32>)>,
    /// Names of user events.
    pub events: Vec<String>,
    /// What all threads have in common.
    pub metadata: Facts,
    /// The threads in ascending order of their ids.
    pub threads: Vec<Thread>,
}

/// The profile of one thread.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Thread {
    /// Node, context, thread.
    pub id: [u32; 3],
    /// What is known of this thread.
    pub metadata: Facts,
    /// Values by timer.
    pub timers: Vec<Timer>,
    /// Values by user event.
    pub events: Vec<Event>,
}

/// What a thread spent in a timer.
#[derive(Debug, Clone, PartialEq)]
pub struct Timer {
    /// Row of [`Profiles::timers`].
    pub timer: u32,
    /// Calls of it.
    pub calls: f64,
    /// Calls out of it.
    pub subroutines: f64,
    /// Exclusive and inclusive value for each metric.
    pub values: Vec<(f64, f64)>,
}

/// What a thread saw of a user event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Row of [`Profiles::events`].
    pub event: u32,
    /// How often.
    pub count: i32,
    /// Largest, smallest, mean, sum of squares.
    pub statistics: [f64; 4],
}
