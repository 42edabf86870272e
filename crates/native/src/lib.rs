//! What only an operating system has: mapped files, and folders on disk to read and to write.
//!
//! This crate holds the project's only `unsafe` code: mapping a file, staying alive when a mapped file
//! is shortened by somebody else, asking the system for its name and for free space, when a thread has
//! a processor, and telling drivers that there is no desktop. ADR 0031 says why the command line maps
//! files and the server reads them, ADR 0105 why a thread gives way.

mod abandoned;
mod desktop;
mod disk_folder;
mod disk_sink;
mod live;
mod lost;
mod mapped;
#[cfg(unix)]
mod processor;
mod scratch;
mod space;
mod streamed;
mod system;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod traced;
mod unfinished;

pub use abandoned::{Abandoned, Left, forget_abandoned, is_abandoned};
pub use desktop::{is_without_desktop, with_desktop, without_desktop};
pub use disk_folder::{DiskFolder, file_stamp, locate};
pub use disk_sink::DiskSink;
pub use live::{LiveFolder, LiveState, SnapshotPart, Snapshots};
pub use lost::lost_file;
pub use mapped::MappedFile;
#[cfg(unix)]
pub use processor::{Readiness, give_way, wait_for_any};
pub use scratch::ScratchFile;
pub use space::is_full;
pub use streamed::StreamedFile;
pub use system::free_bytes;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use traced::{
    ThreadRegisters, TracedChange, changed_thread, interrupt_thread, keep_stopped, resume_thread,
    trace_program, traced_change,
};
pub use unfinished::{Unfinished, discard, is_being_written, remove_abandoned};
