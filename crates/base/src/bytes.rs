//! Where bytes come from: [`ByteSource`] and the sources that need no operating system.
//!
//! Everything above is synchronous and sees only this trait.
//! A mapped file hands out slices without copying; a browser `Blob` or an HTTP range cannot, and
//! goes through a [`BlockCache`] whose size is bounded.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use crate::paged::Scratch;

/// Random access to an immutable sequence of bytes.
pub trait ByteSource: Send + Sync {
    /// Number of bytes.
    fn len(&self) -> u64;

    /// Whether there are no bytes at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buffer` from `offset`, completely.
    ///
    /// # Errors
    /// When the range is not inside the source, or the bytes cannot be had.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError>;

    /// Says that what was read so far is not needed soon, so that a source that holds it in memory
    /// only because it was read may let it go. What is read again afterwards is the same.
    fn forget(&self) {}

    /// Room outside of memory for what is made of these bytes; `None` where there is none, as in a
    /// browser.
    fn scratch(&self) -> Option<Arc<dyn Scratch>> {
        None
    }

    /// The whole content, where it lies in memory anyway (mapped or owned).
    fn as_slice(&self) -> Option<&[u8]> {
        None
    }
}

/// A shared source: readers keep one and read from it when asked.
pub type Source = Arc<dyn ByteSource>;

/// Why bytes could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The range reaches past the end of the source.
    #[error("{wanted} bytes wanted at offset {offset}, but the file ends at {len}")]
    OutOfBounds {
        /// First byte asked for.
        offset: u64,
        /// How many bytes were requested.
        wanted: u64,
        /// How many bytes the source has.
        len: u64,
    },
    /// The storage below failed: a disk, a network, a file removed while open.
    #[error("cannot read at offset {offset}: {cause}")]
    Storage {
        /// First byte asked for.
        offset: u64,
        /// What the storage said.
        cause: String,
    },
    /// A folder holds more files than are looked through. Some of them would be no answer: which
    /// ones depends on the disk.
    #[error("more than {most} files lie in and below {folder}: name a folder inside it")]
    TooManyFiles {
        /// The folder.
        folder: String,
        /// Files that are looked through at most.
        most: usize,
    },
}

/// Reads `len` bytes at `offset`: borrowed where the source lies in memory, copied otherwise.
///
/// # Errors
/// When the range is not inside the source (checked before anything is allocated), or the source
/// fails.
pub fn read_range(
    source: &dyn ByteSource,
    offset: u64,
    len: u64,
) -> Result<Cow<'_, [u8]>, ReadError> {
    let end = end_inside(offset, len, source.len())?;
    let (Ok(start), Ok(stop), Ok(size)) =
        (usize::try_from(offset), usize::try_from(end), usize::try_from(len))
    else {
        return read_copied(source, offset, len);
    };
    if let Some(all) = source.as_slice() {
        let out = ReadError::OutOfBounds { offset, wanted: len, len: source.len() };
        return all.get(start..stop).map(Cow::Borrowed).ok_or(out);
    }
    let mut buffer = vec![0; size];
    source.read_at(offset, &mut buffer)?;
    Ok(Cow::Owned(buffer))
}

/// On 32-bit targets an offset may not fit a pointer although the length does.
fn read_copied(source: &dyn ByteSource, offset: u64, len: u64) -> Result<Cow<'_, [u8]>, ReadError> {
    let out = ReadError::OutOfBounds { offset, wanted: len, len: source.len() };
    let size = usize::try_from(len).map_err(|_| out)?;
    let mut buffer = vec![0; size];
    source.read_at(offset, &mut buffer)?;
    Ok(Cow::Owned(buffer))
}

/// Where `wanted` bytes from `offset` end in a source of `len` bytes.
///
/// # Errors
/// When they are not inside.
pub fn end_inside(offset: u64, wanted: u64, len: u64) -> Result<u64, ReadError> {
    let end = offset.checked_add(wanted).filter(|&end| end <= len);
    end.ok_or(ReadError::OutOfBounds { offset, wanted, len })
}

/// Bytes that lie in memory.
#[derive(Debug, Clone)]
pub struct MemorySource {
    bytes: Arc<[u8]>,
}

impl MemorySource {
    /// Takes ownership of `bytes`.
    #[must_use]
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { bytes: bytes.into() }
    }

    /// The same as a shared [`Source`].
    #[must_use]
    pub fn shared(bytes: impl Into<Arc<[u8]>>) -> Source {
        Arc::new(Self::new(bytes))
    }
}

impl From<Vec<u8>> for MemorySource {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl ByteSource for MemorySource {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let out = ReadError::OutOfBounds { offset, wanted: buffer.len() as u64, len: self.len() };
        let start = usize::try_from(offset).map_err(|_| out.clone())?;
        let stop = start.checked_add(buffer.len()).ok_or(out.clone())?;
        buffer.copy_from_slice(self.bytes.get(start..stop).ok_or(out)?);
        Ok(())
    }

    fn as_slice(&self) -> Option<&[u8]> {
        Some(&self.bytes)
    }
}

/// A bounded cache of blocks before a source that cannot hand out slices.
///
/// Reads of at least one block go straight through: they are long and rarely repeated.
/// Shorter ones (tables walked entry by entry, binary searches) are served from blocks; the least
/// recently used block leaves when the cache is full.
pub struct BlockCache<S> {
    inner: S,
    block: u64,
    capacity: usize,
    blocks: Mutex<Blocks>,
}

#[derive(Default)]
struct Blocks {
    /// (block number, last use, bytes), unordered: the capacity is a few hundred at most.
    entries: Vec<(u64, u64, Arc<[u8]>)>,
    uses: u64,
}

impl<S: ByteSource> BlockCache<S> {
    /// Caches blocks of `block_len` bytes, at most `budget` bytes of them (at least one block).
    pub fn new(inner: S, block_len: u32, budget: u64) -> Self {
        let block = u64::from(block_len.max(1));
        let capacity = usize::try_from((budget / block).max(1)).unwrap_or(usize::MAX);
        Self { inner, block, capacity, blocks: Mutex::default() }
    }

    fn block(&self, number: u64) -> Result<Arc<[u8]>, ReadError> {
        {
            let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
            blocks.uses += 1;
            let now = blocks.uses;
            if let Some(entry) = blocks.entries.iter_mut().find(|entry| entry.0 == number) {
                entry.1 = now;
                return Ok(Arc::clone(&entry.2));
            }
        }
        let start = number * self.block;
        let len = self.block.min(self.inner.len().saturating_sub(start));
        let bytes: Arc<[u8]> = read_range(&self.inner, start, len)?.into_owned().into();
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if blocks.entries.len() >= self.capacity
            && let Some(oldest) =
                (0..blocks.entries.len()).min_by_key(|&i| blocks.entries.get(i).map(|e| e.1))
        {
            blocks.entries.swap_remove(oldest);
        }
        let now = blocks.uses;
        blocks.entries.push((number, now, Arc::clone(&bytes)));
        Ok(bytes)
    }
}

impl<S: ByteSource> ByteSource for BlockCache<S> {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let wanted = buffer.len() as u64;
        let len = self.len();
        end_inside(offset, wanted, len)?;
        if wanted >= self.block {
            return self.inner.read_at(offset, buffer);
        }
        let mut done = 0_usize;
        while done < buffer.len() {
            let at = offset + done as u64;
            let block = self.block(at / self.block)?;
            let within = crate::casts::saturated_usize(at % self.block);
            let here = block.get(within..).unwrap_or_default();
            let Some(rest) = buffer.get_mut(done..) else { break };
            let take = here.len().min(rest.len());
            if take == 0 {
                return Err(ReadError::Storage { offset: at, cause: "the file shrank".into() });
            }
            for (to, from) in rest.iter_mut().zip(here) {
                *to = *from;
            }
            done += take;
        }
        Ok(())
    }

    fn scratch(&self) -> Option<Arc<dyn Scratch>> {
        self.inner.scratch()
    }

    fn as_slice(&self) -> Option<&[u8]> {
        self.inner.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that cannot lend its bytes and counts how often it is asked.
    struct Copying(MemorySource, std::sync::atomic::AtomicUsize);

    impl ByteSource for Copying {
        fn len(&self) -> u64 {
            self.0.len()
        }
        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
            self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.0.read_at(offset, buffer)
        }
    }

    fn copying(len: usize) -> Copying {
        let bytes: Vec<u8> = (0..len).map(|i| (i * 7 % 251) as u8).collect();
        Copying(MemorySource::new(bytes), 0.into())
    }

    #[test]
    fn cached_reads_equal_plain_reads_for_every_range() {
        let plain = copying(97);
        let cached = BlockCache::new(copying(97), 10, 30);
        for start in 0..=97_u64 {
            for end in start..=97 {
                let mut a = vec![0; (end - start) as usize];
                let mut b = a.clone();
                plain.read_at(start, &mut a).unwrap();
                cached.read_at(start, &mut b).unwrap();
                assert_eq!(a, b, "{start}..{end}");
            }
        }
        assert!(cached.blocks.lock().unwrap().entries.len() <= 3);
    }

    #[test]
    fn repeated_short_reads_ask_the_source_once() {
        let cached = BlockCache::new(copying(1000), 100, 1000);
        for _ in 0..50 {
            cached.read_at(120, &mut [0; 8]).unwrap();
        }
        assert_eq!(cached.inner.1.load(std::sync::atomic::Ordering::Relaxed), 1);
    }

    #[test]
    fn ranges_past_the_end_are_refused_before_anything_is_allocated() {
        let source = copying(10);
        for (offset, len) in [(0, u64::MAX), (u64::MAX, 1), (5, 6), (11, 0)] {
            let error = read_range(&source, offset, len).unwrap_err();
            assert_eq!(error, ReadError::OutOfBounds { offset, wanted: len, len: 10 });
        }
    }
}
