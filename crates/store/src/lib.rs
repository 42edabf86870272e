//! Databases in object stores: what lies below `s3://bucket/prefix` as folders and files.
//!
//! [`StoreFolder`] lists objects and opens them, [`look`] says what is at an address. Objects are read
//! by ranges, in blocks that all files share in a bounded cache ([ADR 0100]). Requests run on two
//! threads of their own, so that every thread may read, whatever it is otherwise waiting for.
//!
//! [ADR 0100]: ../../../docs/adr/0100-objects-are-read-in-blocks.md

mod address;
mod blocks;
mod client;
mod error;
mod file;
mod folder;

pub use address::Address;
pub use client::{Traffic, traffic};
pub use error::StoreError;
pub use folder::{Content, StoreFolder, look};
