//! [`StoreFile`]: an object as bytes.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use object_store::path::Path;
use parallax_base::paged::Scratch;
use parallax_base::{ByteSource, ReadError, end_inside};
use parallax_native::ScratchFile;

use crate::StoreError;
use crate::blocks::{BLOCK_BYTES, MOST_AHEAD};
use crate::client::{Bucket, Version};

/// A read of so much goes past the cache, which it would only empty.
const LARGE_BYTES: u64 = MOST_AHEAD * BLOCK_BYTES;
/// Places of a file that are read from front to back at the same time, as by several threads.
const MOST_STREAMS: usize = 32;

/// An object, as it was when it was opened.
pub(crate) struct StoreFile {
    bucket: Arc<Bucket>,
    path: Path,
    version: Version,
    /// Its number among the blocks.
    number: u64,
    streams: Mutex<Vec<Stream>>,
}

/// A place up to which a file was read.
#[derive(Clone, Copy)]
struct Stream {
    /// The block that comes next.
    next: u64,
    /// Blocks that the last request read.
    len: u64,
}

impl StoreFile {
    pub(crate) fn new(bucket: Arc<Bucket>, path: Path, version: Version) -> Self {
        let name = format!("{}/{path} {} {}", bucket.place.bucket, version.len, version.tag);
        let number = bucket.blocks.file(name);
        Self { bucket, path, version, number, streams: Mutex::default() }
    }

    /// Up to which block it is worth reading from `block` on: twice as far as before, where it
    /// follows what was read last.
    fn ahead(&self, block: u64, wanted: u64) -> u64 {
        let num_blocks = self.version.len.div_ceil(BLOCK_BYTES);
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let known = streams.iter().position(|stream| stream.next == block);
        let len = known.map_or(1, |known| (streams.remove(known).len * 2).min(MOST_AHEAD));
        let end = (block + len).max(wanted).min(num_blocks);
        if streams.len() >= MOST_STREAMS {
            streams.remove(0);
        }
        streams.push(Stream { next: end, len: end.saturating_sub(block) });
        end
    }

    fn read_blocks(&self, blocks: Range<u64>) -> Result<Vec<Bytes>, StoreError> {
        let start = blocks.start * BLOCK_BYTES;
        let range = start..(blocks.end * BLOCK_BYTES).min(self.version.len);
        let read = self.bucket.ranges(&self.path, &self.version, vec![range])?;
        let all = read.into_iter().next().unwrap_or_default();
        // Each in memory of its own, so that one does not keep the others.
        let size = usize::try_from(BLOCK_BYTES).unwrap_or(usize::MAX);
        Ok(all.chunks(size).map(Bytes::copy_from_slice).collect())
    }

    fn read_large(&self, range: Range<u64>, buffer: &mut [u8]) -> Result<(), StoreError> {
        let starts =
            (range.start..range.end).step_by(usize::try_from(LARGE_BYTES).unwrap_or(usize::MAX));
        let parts = starts.map(|start| start..(start + LARGE_BYTES).min(range.end));
        // No more in memory at a time than a few requests bring.
        let parts: Vec<Range<u64>> = parts.collect();
        let mut rest = buffer;
        for several in parts.chunks(8) {
            for bytes in self.bucket.ranges(&self.path, &self.version, several.to_vec())? {
                let (part, after) = rest.split_at_mut(bytes.len().min(rest.len()));
                part.copy_from_slice(bytes.get(..part.len()).unwrap_or_default());
                rest = after;
            }
        }
        Ok(())
    }

    fn read_small(&self, range: Range<u64>, buffer: &mut [u8]) -> Result<(), StoreError> {
        let end_block = range.end.div_ceil(BLOCK_BYTES);
        let (mut at, mut rest) = (range.start, buffer);
        while !rest.is_empty() {
            let block = at / BLOCK_BYTES;
            let ahead = || self.ahead(block, end_block);
            let read = |blocks| self.read_blocks(blocks);
            let bytes = self.bucket.blocks.get(self.number, block, ahead, read)?;
            let skip = usize::try_from(at - block * BLOCK_BYTES).unwrap_or(usize::MAX);
            let found = bytes.get(skip..).unwrap_or_default();
            let len = found.len().min(rest.len());
            let (part, after) = rest.split_at_mut(len);
            part.copy_from_slice(found.get(..len).unwrap_or_default());
            if len == 0 {
                let address = format!("{}/{}", self.bucket.place.bucket, self.path);
                return Err(StoreError::Changed { address });
            }
            (at, rest) = (at + len as u64, after);
        }
        Ok(())
    }
}

impl ByteSource for StoreFile {
    fn len(&self) -> u64 {
        self.version.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let len = buffer.len() as u64;
        let range = offset..end_inside(offset, len, self.version.len)?;
        let read = if len > LARGE_BYTES {
            self.read_large(range, buffer)
        } else {
            self.read_small(range, buffer)
        };
        read.map_err(|error| ReadError::Storage { offset, cause: error.to_string() })
    }

    // `forget` does nothing: blocks are bounded anyway, and those that were read ahead are needed.

    fn scratch(&self) -> Option<Arc<dyn Scratch>> {
        Some(Arc::new(ScratchFile::default()))
    }
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;
    use object_store::{ObjectStore, ObjectStoreExt as _};
    use parallax_base::read_range;

    use super::*;
    use crate::blocks::Blocks;
    use crate::traffic;

    fn put(objects: &Arc<dyn ObjectStore>, path: &str, content: Vec<u8>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(objects.put(&Path::parse(path).unwrap(), content.into())).unwrap();
    }

    fn content(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    fn file(content: Vec<u8>, blocks: usize) -> (Arc<dyn ObjectStore>, StoreFile) {
        let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        put(&objects, "a", content);
        let bucket = Arc::new(Bucket::in_memory(Arc::clone(&objects), Blocks::new(blocks)));
        let path = Path::parse("a").unwrap();
        let meta = bucket.head(&path).unwrap().unwrap();
        (objects, StoreFile::new(bucket, path, Version::of(&meta)))
    }

    #[test]
    fn threads_read_what_the_object_holds() {
        let bytes = content(12 << 20 | 12_345);
        // Fewer blocks than the threads want: they are read again.
        let (_, file) = file(bytes.clone(), 3);
        std::thread::scope(|scope| {
            for thread in 0..4_usize {
                let (file, bytes) = (&file, &bytes);
                scope.spawn(move || {
                    let mut seed = thread * 7919 + 1;
                    for round in 0..60 {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        let longest = if round % 20 == 0 { bytes.len() } else { 700_000 };
                        let start = (seed >> 20) % bytes.len();
                        let end = (start + (seed >> 7) % longest).min(bytes.len());
                        let read = read_range(file, start as u64, (end - start) as u64).unwrap();
                        assert!(*read == bytes[start..end], "{start}..{end}");
                    }
                });
            }
        });
        assert!(read_range(&file, bytes.len() as u64 - 1, 2).is_err());
    }

    #[test]
    fn an_object_that_changes_gives_no_bytes_of_the_other_one() {
        let (objects, file) = file(vec![1; 1 << 20], 8);
        assert_eq!(read_range(&file, 0, 4).unwrap()[..], [1; 4]);
        put(&objects, "a", vec![2; 1 << 20]);
        let error = read_range(&file, 1 << 19, 4).unwrap_err().to_string();
        assert!(error.contains("s3://test/a was changed"), "{error}");
        put(&objects, "a", vec![2; 16]);
        let error = read_range(&file, 1 << 19, 4).unwrap_err().to_string();
        assert!(error.contains("s3://test/a was changed"), "{error}");
    }

    #[test]
    fn reading_from_front_to_back_takes_few_requests() {
        let bytes = content(32 << 20);
        let (_, file) = file(bytes.clone(), 64);
        let before = traffic();
        let mut read = vec![0; 1000];
        for start in (0..bytes.len() - 1000).step_by(1000) {
            file.read_at(start as u64, &mut read).unwrap();
            assert!(read == bytes[start..start + 1000]);
        }
        // Other tests of this process read as well.
        assert!(traffic().requests - before.requests < 400, "{:?}", traffic());
    }
}
