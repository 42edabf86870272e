//! Named analyses as pure functions over the model and the engine.

pub mod advice;
pub mod balance;
pub mod clusters;
pub mod comparison;
pub mod correlation;
pub mod devices;
pub mod events;
mod gpu;
pub mod growth;
pub mod idleness;
pub mod iterations;
pub mod math;
mod mpi;
pub mod report;
pub mod scaling;
pub mod topology;
pub mod user_events;

pub use mpi::{MpiClass, mpi_routine};
