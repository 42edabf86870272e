//! What profiles hold, whichever file they were read from.

use std::collections::HashMap;
use std::sync::Arc;

/// Names and values, in the order of the file.
pub type Facts = Vec<(String, String)>;

/// The value of a fact; of repeated names the first.
#[must_use]
pub fn fact<'f>(facts: &'f Facts, name: &str) -> Option<&'f str> {
    facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Which thread a profile is of: the `N.C.T` of its file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId {
    /// The rank of the process, in TAU's words the node.
    pub node: u32,
    /// The address space inside the node; 0 nearly always.
    pub context: u32,
    /// The thread inside the process, or what stands for a stream of a GPU.
    pub thread: u32,
}

/// Something with a start and an end that was timed: a function, a call path, a phase, a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    /// The name without blanks at its ends.
    pub name: Arc<str>,
    /// Rows of [`Profiles::groups`].
    pub groups: Vec<u32>,
}

/// What a thread spent in a timer; its times are in [`Thread::values`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimerRow {
    /// Row of [`Profiles::timers`].
    pub timer: u32,
    /// How often it was started.
    pub calls: f64,
    /// How often other timers were started inside.
    pub subroutines: f64,
}

/// What a thread saw of a user event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventRow {
    /// Row of [`Profiles::events`].
    pub event: u32,
    /// How often it happened.
    pub count: f64,
    /// Largest value.
    pub max: f64,
    /// Smallest value.
    pub min: f64,
    /// Mean of the values.
    pub mean: f64,
    /// Sum of the squares of the values.
    pub sum_of_squares: f64,
}

/// The profile of one thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Thread {
    /// Which thread.
    pub id: ThreadId,
    /// What is known of this thread besides numbers.
    pub metadata: Facts,
    /// Its timers, in the order of the file.
    pub timers: Vec<TimerRow>,
    /// For each row of `timers` and each metric the exclusive and the inclusive value, in the
    /// metric's own unit: microseconds for times.
    pub values: Vec<f64>,
    /// Its user events, in the order of the file.
    pub events: Vec<EventRow>,
}

impl Thread {
    /// A thread without values.
    #[must_use]
    pub fn new(id: ThreadId) -> Self {
        Self {
            id,
            metadata: Vec::new(),
            timers: Vec::new(),
            values: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Exclusive and inclusive value of `metric` in a row of [`Thread::timers`], where there are
    /// `metrics` metrics; zeros outside.
    #[must_use]
    pub fn value(&self, row: usize, metric: usize, metrics: usize) -> (f64, f64) {
        let at = (row * metrics + metric) * 2;
        match self.values.get(at..at + 2) {
            Some(&[exclusive, inclusive]) => (exclusive, inclusive),
            _ => (0.0, 0.0),
        }
    }
}

/// The profiles of all threads of an execution.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profiles {
    /// What was measured: `TIME`, `PAPI_TOT_CYC`.
    pub metrics: Vec<Arc<str>>,
    /// Names of groups: `MPI`, `TAU_CALLPATH`.
    pub groups: Vec<Arc<str>>,
    /// Everything that was timed by any thread.
    pub timers: Vec<Timer>,
    /// Names of user events, without blanks at their ends.
    pub events: Vec<Arc<str>>,
    /// What all threads have in common.
    pub metadata: Facts,
    /// The threads, by node, context and thread.
    pub threads: Vec<Thread>,
}

impl Profiles {
    /// Whether a timer belongs to a group.
    #[must_use]
    pub fn is_in_group(&self, timer: &Timer, group: &str) -> bool {
        timer.groups.iter().any(|&g| self.groups.get(g as usize).is_some_and(|n| &**n == group))
    }
}

/// Rows of a table of names, each name once.
#[derive(Debug, Default)]
pub(super) struct Names {
    rows: HashMap<Arc<str>, u32>,
}

impl Names {
    /// The row of `name` in `table`, which is added if it is new.
    pub(super) fn row(&mut self, table: &mut Vec<Arc<str>>, name: &str) -> u32 {
        if let Some(&row) = self.rows.get(name) {
            return row;
        }
        let row = u32::try_from(table.len()).unwrap_or(u32::MAX);
        let name: Arc<str> = name.into();
        table.push(Arc::clone(&name));
        self.rows.insert(name, row);
        row
    }
}
