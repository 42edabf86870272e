//! Traces of events become archives: [`Conversion`] takes what the readers of all formats say and
//! writes the tables of an archive, with memory that does not depend on the length of the trace.

mod bins;
mod conversion;
mod messages;
mod track;

pub use conversion::{Conversion, ConversionError, TrackIdentity, TrackKind};
pub use messages::{BACKWARDS, NO_RECEIVE, NO_SEND, OTHER_SIZE};
pub use track::{Collective, Endpoint, Peer, TrackBuilder};
