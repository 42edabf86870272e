//! Statements over real and generated experiments and ensembles: the same numbers as the questions, no more bytes
//! than needed, and nothing that writes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

#[path = "sql/bytes_read.rs"]
mod bytes_read;
#[path = "sql/common.rs"]
mod common;
#[path = "sql/device.rs"]
mod device;
#[path = "sql/documents.rs"]
mod documents;
#[path = "sql/ensembles.rs"]
mod ensembles;
#[path = "sql/files.rs"]
mod files;
#[path = "sql/in_memory.rs"]
mod in_memory;
#[path = "sql/limits.rs"]
mod limits;
#[path = "sql/questions.rs"]
mod questions;
#[path = "sql/recordings.rs"]
mod recordings;
