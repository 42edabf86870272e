//! What a file says, as tables.

use std::sync::Arc;

/// One file: tables of names, and parts with costs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallgrindProfile {
    /// What wrote it, such as `callgrind-3.19.0`; empty when it does not say.
    pub creator: String,
    /// The command line of the program; empty when the file does not say.
    pub command: String,
    /// Events that have numbers in the file, in the order of their first `events:` line.
    pub events: Vec<EventName>,
    /// Events that are computed from others.
    pub derived: Vec<EventName>,
    /// Names of binaries and libraries.
    pub objects: Vec<Arc<str>>,
    /// Paths of source files.
    pub files: Vec<Arc<str>>,
    /// Names of functions.
    pub names: Vec<Arc<str>>,
    /// Functions, distinct by object, file and name.
    pub functions: Vec<FunctionName>,
    /// Threads and parts of the run, in the order of the file.
    pub parts: Vec<Part>,
}

/// The name of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventName {
    /// The abbreviation, such as `Ir`.
    pub name: Arc<str>,
    /// What it means, where the file says it; empty otherwise.
    pub long_name: Arc<str>,
    /// What a derived event is the sum of: factors, and positions in [`CallgrindProfile::events`].
    pub terms: Vec<(u64, usize)>,
}

/// A function, as the file tells it from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionName {
    /// Position in [`CallgrindProfile::objects`]; `None` when not given or `???`.
    pub object: Option<u32>,
    /// Position in [`CallgrindProfile::files`]; `None` when not given or `???`.
    pub file: Option<u32>,
    /// Position in [`CallgrindProfile::names`].
    pub name: u32,
}

/// A place in the code of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot {
    /// Position in [`CallgrindProfile::functions`].
    pub function: u32,
    /// The source file of the line, another one than the function's where code was inlined.
    pub file: Option<u32>,
    /// The source line; 0 when unknown.
    pub line: u32,
    /// The address of the instruction, where the file gives no lines; 0 otherwise.
    pub address: u64,
}

/// Costs of a place itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostRow {
    /// Where.
    pub spot: Spot,
    /// One number for each of [`CallgrindProfile::events`]; missing ones at the end are 0.
    pub costs: Vec<u64>,
}

/// Calls from one place to one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRow {
    /// The place of the calls.
    pub from: Spot,
    /// The function called, in [`CallgrindProfile::functions`].
    pub callee: u32,
    /// How often.
    pub count: u64,
    /// What the calls cost with everything below, as [`CostRow::costs`].
    pub costs: Vec<u64>,
}

/// A part of a file: one thread, or an interval of the run, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Process id, where given.
    pub process: Option<u64>,
    /// Number of the thread, where given; Callgrind counts from 1.
    pub thread: Option<u64>,
    /// Number of the part, where given.
    pub number: Option<u64>,
    /// Descriptions: kind and text.
    pub descriptions: Vec<(String, String)>,
    /// Costs by place, each place once.
    pub costs: Vec<CostRow>,
    /// Calls by place and callee, each pair once.
    pub calls: Vec<CallRow>,
    /// Cost of the whole part as its head says it.
    pub summary: Option<Vec<u64>>,
    /// Sum of all costs as its end says it.
    pub totals: Option<Vec<u64>>,
}

impl Part {
    /// Whether more than a head was read so far.
    pub(super) fn has_body(&self) -> bool {
        !self.costs.is_empty() || !self.calls.is_empty()
    }
}
