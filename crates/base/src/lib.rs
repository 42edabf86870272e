//! What every other crate of Parallax stands on: byte sources and folders, the [`Issues`] sink,
//! [`Limits`], cancellation and progress, the one seam for threads, typed ids, strings and units.
//!
//! Invariants: nothing here opens a file, reads a clock or knows a format or the model, and
//! everything compiles for `wasm32-unknown-unknown`.

#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]

mod bytes;
pub mod casts;
mod chosen;
mod control;
mod counted;
mod folder;
mod hash;
mod ids;
mod issues;
mod limits;
mod markup;
pub mod paged;
pub mod quantity;
mod remedy;
pub mod scaling_data;
mod sink;
mod strings;
pub mod threads;
mod units;
mod window;

pub use bytes::{BlockCache, ByteSource, MemorySource, ReadError, Source, end_inside, read_range};
pub use chosen::ChosenFiles;
pub use control::{Cancelled, Control, ProgressSink};
pub use counted::{BytesRead, CountedFile, CountedFolder};
pub use folder::{
    Folder, FolderEntry, ListedFile, ListedFolder, MemoryFolder, NotListed, SubFolder, Survey,
    Writing,
};
pub use hash::StableHash;
pub use ids::{
    ActivationIdx, ContextIdx, FileIdx, FunctionIdx, LocationIdx, MetricIdx, ModuleIdx,
    ReferenceIdx, ThreadIdx, TrackIdx,
};
pub use issues::{Issue, Issues, KindTotal, Place, Severity, Stage, interned_kind};
pub use limits::{LimitExceeded, Limits};
pub use markup::escaped_markup;
pub use remedy::Remedy;
pub use sink::{FolderSink, MemorySink};
pub use strings::{StringId, StringTable, capitalised};
pub use units::Unit;
pub use window::TimeWindow;
