//! PaScal Analyzer JSON (`config` and `data`) and the region list of the 2018 viewer.
//!
//! Read as a stream: the entries of a region are folded into one time per run as they pass, power
//! samples into energy at the end of each run, so memory follows regions x configurations x
//! repetitions and never the size of the file. `FORMAT.md` next to this file has the fields.
//!
//! What is lost: single entries of a region, single power samples, thread ids. What cannot be
//! read is reported, and a file that ends early gives the runs that are complete.

mod arguments;
mod config;
mod counts;
mod energy;
mod fold;
mod intervals;
mod keys;
mod part_bytes;
mod parts;
mod reader;
mod run;
mod siblings;
mod viewer_2018;

pub use energy::{Energy, EnergyFault, energy_of_intervals};
pub use intervals::Intervals;

pub(crate) use keys::hertz;
pub(crate) use parts::{PartRead, assemble, part_end, read_part, split};
pub(crate) use reader::{SUSPICIOUSLY_SHORT, file_error, read};
pub(crate) use viewer_2018::{read as read_viewer_2018, region_by_lines};
