//! [`Paged`]: rows of whole numbers, of which there may be more than memory has room for.
//!
//! Rows are cut into blocks of [`ROWS`]. The blocks that were used last are at hand as they are;
//! the others are packed (a few bits a number where numbers follow each other), and beyond a budget
//! they leave memory, where there is another place for them: see [`Scratch`].
//!
//! ```text
//! Paged        blocks at hand   <-- decode --   packed blocks   <-- read --   Scratch
//!                               -- encode -->   in memory       -- write -->  (a file)
//! ```
//!
//! Whoever goes through rows in order, or in several orders at a time, decodes each block about
//! once. Whoever jumps between more blocks than are at hand decodes one for each jump; when that
//! happens again and again, more are kept at hand, up to a thousand.

mod codec;
mod numbers;
mod rows;
mod sorter;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub use numbers::{Number, Numbers};
pub use rows::Paged;
pub use sorter::{Sorted, Sorter};

/// Rows of a block.
pub const ROWS: usize = 4096;

/// Blocks that are at hand of one table.
const SLOTS: usize = 16;

/// The same of one whose rows are asked for in no order.
const MOST_SLOTS: usize = 1024;

/// Room outside of memory, such as a file that has no name. What is written is read again only by
/// the one who wrote it.
pub trait Scratch: Send + Sync {
    /// Writes bytes at an offset, all of them.
    ///
    /// # Errors
    /// When there is no room, or the storage fails.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), ScratchError>;

    /// Reads what was written at an offset.
    ///
    /// # Errors
    /// When the storage fails.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ScratchError>;
}

/// Why room outside of memory could not be used: what failed, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScratchError(pub String);

/// What tables of one run have in common: how many packed bytes may be in memory, and where the
/// others go.
#[derive(Clone, Default)]
pub struct Paging {
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Paging {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Paging").field("kept_bytes", &self.kept_bytes()).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Shared {
    scratch: Option<Arc<dyn Scratch>>,
    most_bytes: u64,
    /// Packed bytes in memory.
    kept: AtomicU64,
    /// Where the next block goes that leaves memory.
    end: AtomicU64,
    failure: Mutex<Option<ScratchError>>,
}

impl Paging {
    /// Everything stays in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// What is packed leaves memory beyond so many bytes, where there is `scratch`.
    #[must_use]
    pub fn new(most_bytes: u64, scratch: Option<Arc<dyn Scratch>>) -> Self {
        Self { shared: Arc::new(Shared { scratch, most_bytes, ..Shared::default() }) }
    }

    /// Packed bytes that are in memory.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        self.shared.kept.load(Ordering::Relaxed)
    }

    /// Bytes that went out of memory.
    #[must_use]
    pub fn scratch_bytes(&self) -> u64 {
        self.shared.end.load(Ordering::Relaxed)
    }

    /// Whether all that was asked for could be had.
    ///
    /// # Errors
    /// The first failure of the room outside of memory. What was read since then means nothing.
    pub fn check(&self) -> Result<(), ScratchError> {
        let failure = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.clone().map_or(Ok(()), Err)
    }

    fn fail(&self, error: ScratchError) {
        let mut failure = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
    }

    /// Puts a packed block away, in the place of `before`.
    fn put(&self, bytes: &[u8], before: Stored) -> Stored {
        let shared = &*self.shared;
        let len = bytes.len() as u64;
        let place = match before {
            Stored::Out { offset, room, .. } if u64::from(room) >= len => Some((offset, room)),
            other => {
                self.release(&other);
                None
            }
        };
        let is_full = shared.kept.load(Ordering::Relaxed).saturating_add(len) > shared.most_bytes;
        let out_len = u32::try_from(len).ok().filter(|_| is_full || place.is_some());
        if let (Some(scratch), Some(len)) = (&shared.scratch, out_len) {
            let (offset, room) =
                place.unwrap_or_else(|| (shared.end.fetch_add(len.into(), Ordering::Relaxed), len));
            match scratch.write_at(offset, bytes) {
                Ok(()) => return Stored::Out { offset, len, room },
                // It stays in memory; whoever asks is told.
                Err(error) => self.fail(error),
            }
        }
        shared.kept.fetch_add(len, Ordering::Relaxed);
        Stored::Kept(bytes.into())
    }

    /// A packed block is not needed any more.
    fn release(&self, stored: &Stored) {
        if let Stored::Kept(bytes) = stored {
            self.shared.kept.fetch_sub(bytes.len() as u64, Ordering::Relaxed);
        }
    }

    /// Reads a packed block of rows of `width` numbers; `room` is used again from call to call.
    fn read(&self, stored: &Stored, room: &mut Vec<u8>, width: usize, rows: &mut [u64]) {
        let found = match stored {
            Stored::Nothing => None,
            Stored::Kept(bytes) => codec::decode(bytes, width, rows),
            Stored::Out { offset, len, .. } => {
                room.clear();
                room.resize(*len as usize, 0);
                let Some(scratch) = &self.shared.scratch else { return };
                match scratch.read_at(*offset, room) {
                    Ok(()) => codec::decode(room, width, rows),
                    Err(error) => return self.fail(error),
                }
            }
        };
        if found.is_none() {
            let text = "what was written to the temporary file is not what it has now";
            self.fail(ScratchError(text.to_owned()));
        }
    }
}

/// Where a packed block is.
#[derive(Debug, Default)]
enum Stored {
    /// Nowhere: it was never put away.
    #[default]
    Nothing,
    Kept(Box<[u8]>),
    /// Outside of memory, with room for so many bytes.
    Out {
        offset: u64,
        len: u32,
        room: u32,
    },
}
