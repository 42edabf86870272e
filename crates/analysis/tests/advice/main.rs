//! Advice on planted programs, and on random ones against an oracle that sees every access.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may stop"
)]

mod planted;
mod program;
mod random;
mod threads;
