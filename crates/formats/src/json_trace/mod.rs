//! Traces as JSON: Chrome trace events (with Kineto's), CODAR events, Chimbuko's rows and executions.
//!
//! Four readers with one manner: [`ChromeReader`], [`CodarReader`], [`ChimbukoReader`] and
//! [`ExecutionsReader`] give one event at a time, in the order of the file, as the file has it.
//! Nothing is matched, sorted or nested here. Memory is bounded whatever the file's size: a window
//! that holds the longest event, the names (each once), and what the file has besides the events, all
//! within [`TraceLimits`].
//!
//! Events of one writer repeat their layout; of an event that is laid out like one before, only
//! the values are looked for. Any other is read name by name, with the same result.
//!
//! A damaged file gives the events that can be read and issues that say what cannot: reading goes
//! on behind a damaged event where another begins. `FORMAT.md` next to this file has the fields.

use parallax_base::ByteSource;

use crate::stream::ByteStream;
use crate::{FormatError, compressed};

mod args;
mod chimbuko;
mod chimbuko_codes;
mod chrome;
mod codar;
mod document;
mod executions;
mod names;
mod number;
mod object;
mod scan;
mod sniff;
mod window;

pub use args::{ArgValue, Args, Entries};
pub use chimbuko::{ChimbukoReader, ChimbukoRow, function_names, row_numbers};
pub use chimbuko_codes::{Balance, CodeGuess, EventCodes, MessageEvidence, RowKind};
pub use chrome::{ChromeEvent, ChromeReader, EventId, Phase, TrackId};
pub use codar::{CodarEvent, CodarKind, CodarMessage, CodarReader, CodarState};
pub use document::Metadata;
pub use executions::{Execution, ExecutionsReader};
pub(crate) use names::unescape;
pub use names::{NameId, NameTable};
use object::ObjectReader;
pub use sniff::{JsonTraceFormat, SNIFF_BYTES, sniff};

/// Bounds on what a reader keeps in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceLimits {
    /// Most bytes of one event; a longer one is passed over and reported.
    pub event_bytes: usize,
    /// Most bytes of names; further ones share one name and are reported.
    pub name_bytes: u64,
    /// Most bytes of what the file has besides the events; larger parts are left out and reported.
    pub metadata_bytes: usize,
}

impl Default for TraceLimits {
    fn default() -> Self {
        Self { event_bytes: 64 << 20, name_bytes: 256 << 20, metadata_bytes: 32 << 20 }
    }
}

/// What a reader of JSON traces is told.
#[derive(Debug, Clone, Copy)]
pub struct TraceOptions<'a> {
    /// The file's name, for messages only.
    pub file: &'a str,
    /// Bounds on memory.
    pub limits: TraceLimits,
    /// Whether events may be read by the layout of those before. Only tests and benchmarks have
    /// a reason to say no: the result is the same.
    pub by_layout: bool,
}

impl<'a> TraceOptions<'a> {
    /// Default bounds for the file called `file`.
    #[must_use]
    pub fn new(file: &'a str) -> Self {
        Self { file, limits: TraceLimits::default(), by_layout: true }
    }

    /// The bytes of the file, compressed or not.
    fn stream<'s>(
        &self,
        source: &'s dyn ByteSource,
    ) -> Result<Box<dyn ByteStream + 's>, FormatError> {
        compressed::open(source).map_err(|cause| FormatError::read(self.file, cause))
    }

    /// What reads its events, whose fields have these numbers.
    fn objects<const N: usize>(&self, number_of: fn(&[u8]) -> Option<usize>) -> ObjectReader<N> {
        let objects = ObjectReader::new(number_of);
        if self.by_layout { objects } else { objects.without_shapes() }
    }
}
