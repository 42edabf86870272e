//! Named analyses as pure functions over the model and the engine.

pub mod balance;
pub mod growth;
pub mod scaling;
