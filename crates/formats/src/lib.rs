//! One module per on-disk format: bytes in, raw records out.
//!
//! Invariants: no operating system, no model. A format is read through
//! [`parallax_base::ByteSource`] only; every offset and count of a file is checked before it is
//! used; faults that leave something readable go to [`parallax_base::Issues`].

#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]
#![warn(clippy::indexing_slicing)]

pub mod archive;
pub mod caliper;
pub mod callgrind;
pub mod compressed;
mod csv;
mod csv_table;
mod digits;
mod error;
pub mod extrap;
pub mod foreign;
pub mod hosts;
pub mod hpctoolkit;
pub mod json;
pub mod json_trace;
pub mod nsight;
pub mod otf2;
pub mod parceive;
pub mod pascal;
pub mod plxm;
mod pop;
pub mod scaling_data;
mod sperf;
pub mod sqlite;
pub mod stream;
mod talp;
pub mod tau;

pub use error::FormatError;
