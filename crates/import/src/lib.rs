//! The registry of formats and the adapters to the model: the only place that knows both.
//!
//! [`open`] looks at a folder and [`open_file`] at a file, find out what it is by content (names are
//! only hints) and return an experiment whose values are still where they were, where the format
//! allows that.

#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]

mod activations;
pub mod archive;
mod callgrind;
pub mod convert;
mod error;
pub mod events;
mod hpctoolkit;
mod measured;
mod memory_store;
mod parceive;
mod registry;
pub mod scaling;
mod tau;

pub use error::ImportError;
pub use parallax_formats::archive::MANIFEST as ARCHIVE_MANIFEST;
pub use registry::{holds_experiment, is_experiment_file, open, open_file, profile_folder};
