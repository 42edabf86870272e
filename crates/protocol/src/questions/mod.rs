//! The questions, one file for each subject; `list.rs` is the list of all of them.

mod accesses;
pub use accesses::*;
mod activations;
pub use activations::*;
mod advise;
pub use advise::*;
mod anomalies;
pub use anomalies::*;
mod balance;
pub use balance::*;
mod calls;
pub use calls::*;
mod clusters;
pub use clusters::*;
mod compare;
pub use compare::*;
mod correlations;
pub use correlations::*;
mod differences;
pub use differences::*;
mod events;
pub use events::*;
mod gpu_stalls;
pub use gpu_stalls::*;
mod idleness;
pub use idleness::*;
mod info;
pub use info::*;
mod issues;
pub use issues::*;
mod iterations;
pub use iterations::*;
mod list;
mod locations;
pub use locations::*;
mod models;
pub use models::*;
mod open;
pub use open::*;
mod part;
pub use part::*;
mod query;
pub use query::*;
mod report;
pub use report::*;
mod scaling;
pub use scaling::*;
mod scaling_tables;
pub use scaling_tables::*;
mod sql;
pub use sql::*;
mod timeline;
pub use timeline::*;
mod topology;
pub use topology::*;
mod user_events;
pub use user_events::*;
mod views;
pub use views::*;
mod workflow;
pub use workflow::*;

use serde::Serialize;

/// The reply of a question whose answer is its tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct NotesReply {
    /// Remarks, such as that nothing matched and why.
    pub notes: Vec<String>,
}
