//! What is said where a disk is full, and numbers of bytes for display.

use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use parallax_native::{free_bytes, is_full};
use parallax_service::ConversionError;

/// How far the question has come that this program answers: parts done, and parts in all.
static PROGRESS: (AtomicU64, AtomicU64) = (AtomicU64::new(0), AtomicU64::new(0));

/// Keeps how far the question has come.
pub fn keep_progress(done: u64, total: u64) {
    PROGRESS.0.store(done, Ordering::Relaxed);
    PROGRESS.1.store(total, Ordering::Relaxed);
}

/// How much room something takes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    /// It was foreseen.
    About(u64),
    /// It can be no more.
    AtMost(u64),
    /// So much had been written when there was no room any more.
    MoreThan(u64),
}

impl Needed {
    /// What will be needed in all when `written` bytes were so far.
    #[must_use]
    pub fn foreseen(written: u64) -> Self {
        let (done, total) = &PROGRESS;
        Self::of_part(written, (done.load(Ordering::Relaxed), total.load(Ordering::Relaxed)))
    }

    /// What will be needed in all when `written` bytes were so when `done` of `total` parts were
    /// read. A small part says nothing about the whole.
    fn of_part(written: u64, (done, total): (u64, u64)) -> Self {
        const LEAST_SHARE: u64 = 20;
        if done == 0 || done >= total || total / done > LEAST_SHARE {
            return Self::MoreThan(written);
        }
        Self::About((written as f64 * total as f64 / done as f64) as u64)
    }
}

/// Whether `error` comes from a disk that is full.
#[must_use]
pub fn comes_from_full(error: &(dyn Error + 'static)) -> bool {
    let is_it =
        |cause: &(dyn Error + 'static)| cause.downcast_ref::<io::Error>().is_some_and(is_full);
    std::iter::successors(Some(error), |&error| error.source()).any(|cause| {
        // Tables say in their own message what the storage said, and do not name it as a source.
        let table = match cause.downcast_ref() {
            Some(ConversionError::Write(table)) => table.cause.source(),
            _ => None,
        };
        is_it(cause) || table.is_some_and(is_it)
    })
}

/// Why something could not be written to `target`, whose unfinished part is gone by now, and what to
/// do.
#[must_use]
pub fn explain(target: &Path, needed: Needed, remedy: &str) -> String {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    let free = free_bytes(parent.unwrap_or(Path::new(".")));
    let needed = match needed {
        Needed::About(bytes) => format!("about {} are needed", size(bytes)),
        Needed::AtMost(bytes) => format!("at most {} are needed", size(bytes)),
        Needed::MoreThan(bytes) => format!("more than {} are needed", size(bytes)),
    };
    let free = free.map_or_else(String::new, |bytes| format!(" and {} are free", size(bytes)));
    format!("no space is left on its disk, where {needed}{free}; {remedy}")
}

/// A number of bytes for users, in decimal units as storage is sold.
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let bytes = bytes as f64;
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(|| format!("{bytes} B"), |(unit, name)| format!("{:.1} {name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_foreseen_from_a_part_that_is_large_enough() {
        assert_eq!(Needed::of_part(100, (50, 200)), Needed::About(400));
        assert_eq!(Needed::of_part(100, (1, 200)), Needed::MoreThan(100));
        assert_eq!(Needed::of_part(100, (0, 0)), Needed::MoreThan(100));
        assert_eq!(Needed::of_part(100, (200, 200)), Needed::MoreThan(100));
    }
}
