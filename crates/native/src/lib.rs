//! What only an operating system has: mapped files, and folders on disk to read and to write.
//!
//! This crate holds the project's only `unsafe` line: mapping a file.
//! A mapped file that another program truncates while it is open makes the next access to the lost
//! part fail with SIGBUS, which no Rust code can turn into an error; see ADR 0002.

mod disk_folder;
mod disk_sink;
mod mapped;
mod streamed;

pub use disk_folder::{DiskFolder, locate};
pub use disk_sink::DiskSink;
pub use mapped::MappedFile;
pub use streamed::StreamedFile;
