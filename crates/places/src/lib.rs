//! From paths to what can be opened.
//!
//! [`places`] turns paths into roots of the protocol: folders that show what the user named, and
//! nothing else. [`archive_of`] converts a trace into an archive, once: in memory where it is
//! small, else in the user's cache. [`locate`] says what a path leads to, on disk or in an object store. What a full disk needs is said in the same words everywhere
//! ([`room`]).

mod archive;
mod folders;
mod location;
mod place;
pub mod room;

pub use archive::{ArchiveError, archive_at, archive_of, cache_folder, streamed, title};
pub use location::{
    Located, StoreTraffic, around, canonical, check_output, fingerprint, is_in_store, locate,
    store_traffic,
};
pub use place::{DataRoot, PathError, Reading, live_place, places};
