//! Named analyses as pure functions over the model and the engine.

pub mod balance;
pub mod growth;
pub mod idleness;
mod mpi;
pub mod report;
pub mod scaling;

pub use mpi::{MpiClass, mpi_routine};
