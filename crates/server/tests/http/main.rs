//! The server over real connections.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;
mod cut_files;
mod hostile;
mod pages;
mod questions;
