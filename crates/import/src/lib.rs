//! The registry of formats and the adapters to the model: the only place that knows both.
//!
//! [`FORMATS`] has a row for each format. [`find`] looks through a folder, [`open`] opens the one
//! experiment in a folder and [`open_file`] that in a file: what a file is, its bytes say (names are
//! only hints). Values stay where they are, where the format allows that.

#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]

mod activations;
pub mod archive;
mod caliper;
mod callgrind;
pub mod convert;
mod error;
pub mod events;
pub mod flow;
mod hpctoolkit;
mod memory_store;
mod parceive;
mod plxm;
mod registry;
pub mod scaling;
mod tau;

pub use caliper::RANKS_IN_MEAN;
pub use error::ImportError;
pub use registry::{
    DataContent, DataSet, Extent, FORMATS, FileReader, FolderReader, Format, FoundData, Kind,
    NotUsed, Probe, Reader, Reason, experiment_at, families, find, is_experiment_file, markdown,
    open, open_file, recognise_file, summary, traces_markdown, typescript,
};
