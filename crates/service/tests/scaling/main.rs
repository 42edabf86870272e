//! Scaling through the facade: maps, verdicts, models and merged files.

mod answers;
mod goldens;
mod models;
mod support;
