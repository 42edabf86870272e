//! Traces of events become archives: [`Conversion`] takes what the readers of all formats say and
//! writes the tables of an archive, with memory that does not depend on the length of the trace.

mod arguments;
mod bins;
mod components;
mod conversion;
mod messages;
mod pending;
mod recorded;
mod requests;
mod rows;
mod sorter;
mod spool;
mod track;
mod transfers;

pub(crate) use arguments::{cut as arguments_cut, left_out as arguments_left_out};
pub use components::{ComponentPlan, InputPlan, InputSurvey, Latency, Survey};
pub use conversion::{Conversion, ConversionError, TrackIdentity, TrackKind};
pub use messages::{BACKWARDS, NO_RECEIVE, NO_SEND, OTHER_SIZE};
pub use parallax_formats::archive::MessageRow;
pub(crate) use sorter::{Packer, SCRATCH, Sorted, Sorter, Unpacker};
pub(crate) use spool::Spool;
pub use track::{Collective, Endpoint, Peer, TrackBuilder};
pub use transfers::{FileOperation, file_of_counter};
