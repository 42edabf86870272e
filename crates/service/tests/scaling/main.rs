//! Scaling through the facade: maps, verdicts, models and merged files.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod answers;
mod evidence;
mod goldens;
mod models;
mod order;
mod support;
mod tables;
