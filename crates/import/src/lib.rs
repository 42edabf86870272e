//! The registry of formats and the adapters to the model: the only place that knows both.
//!
//! [`open`] looks at a folder, finds out what it is by content (names are only hints) and returns
//! an experiment whose values are still where they were.

pub mod archive;
pub mod convert;
mod error;
pub mod events;
mod hpctoolkit;
mod registry;
pub mod scaling;

pub use error::ImportError;
pub use registry::open;
