//! Disks that are full.

use std::io;

/// Whether there was no room for what was to be written: on the disk, or in what the user may take
/// of it.
#[must_use]
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
