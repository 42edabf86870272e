//! Scaling through the facade: maps, verdicts, models and merged files.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]
#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod answers;
mod goldens;
mod models;
mod support;
