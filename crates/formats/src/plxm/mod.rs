//! Recordings of `crates/measure`: every call, loop, iteration, access and synchronisation that a
//! program's own marks name (see `FORMAT.md`).
//!
//! [`Recording::open`] reads the header, the places in the source and where the chunks of each
//! thread are; [`ThreadEvents`] reads the events of one thread, chunk by chunk.

mod chunks;
mod events;
mod names;

pub use chunks::{PlaceKind, Recording, SourceLocation, ThreadStream};
pub use events::{Event, ThreadEvents, What};
pub use names::{CodeAddress, Module, Named, Variable, names_chunk};

use parallax_base::{ByteSource, read_range};

/// What every recording starts with. Line ends of both kinds, so that a copy in text mode shows.
pub const MAGIC: [u8; 8] = *b"PLXM\r\n\x1a\n";

/// Whether a file is a recording. Looks at its first bytes.
#[must_use]
pub fn is_recording(source: &dyn ByteSource) -> bool {
    let len = source.len().min(MAGIC.len() as u64);
    read_range(source, 0, len).is_ok_and(|bytes| *bytes == MAGIC)
}
