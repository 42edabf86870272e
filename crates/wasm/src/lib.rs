//! The engine in a browser's worker.
//!
//! Files that the user dropped or picked stay where they are: a `Blob` is read synchronously, slice
//! by slice, when a question needs it. Files behind an address are read in ranges. Everything else
//! is [`parallax_dispatch`].
//!
//! Invariant: JavaScript objects never leave this crate; above it there are only byte sources.
#![cfg(target_family = "wasm")]

mod blobs;
mod engine;
mod http;
mod watch;

pub use engine::Engine;
