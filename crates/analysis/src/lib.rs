//! Named analyses as pure functions over the model and the engine.

pub mod advice;
pub mod anomalies;
pub mod balance;
pub mod cautions;
pub mod clusters;
pub mod comparison;
pub mod correlation;
pub mod devices;
pub mod events;
pub mod exchanges;
pub mod gpu_stalls;
pub mod growth;
pub mod idleness;
pub mod iterations;
pub mod math;
pub mod report;
pub mod scaling;
pub mod taxonomy;
pub mod topology;
pub mod user_events;

pub use taxonomy::{MpiClass, mpi_routine};
