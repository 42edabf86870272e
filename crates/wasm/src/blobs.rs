//! Files of the page as byte sources.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use js_sys::Uint8Array;
use parallax_base::{
    BlockCache, ByteSource, ListedFile, ListedFolder, ReadError, Source, end_inside,
};
use web_sys::{Blob, FileReaderSync};

use crate::watch::count_bytes;

/// Short reads are served from blocks of this many bytes.
const BLOCK_BYTES: u32 = 128 << 10;

/// Bytes of blocks kept for one file.
const CACHE_BYTES: u64 = 16 << 20;

/// Bytes that are fetched at once from a file that is read from front to back. Asking the browser
/// takes about a millisecond, however little is wanted.
const AHEAD_BYTES: u64 = 4 << 20;

/// Bytes at the front of a file that are kept.
const FRONT_BYTES: u64 = 256 << 10;

/// Bytes that were fetched ahead. They stay outside the engine's memory, which never shrinks.
struct Ahead {
    number: usize,
    start: u64,
    bytes: Uint8Array,
}

thread_local! {
    // Sources must be `Send` above and JavaScript objects are not: the worker's one thread keeps
    // them here, and a source knows the number of its own.
    static BLOBS: RefCell<Vec<Blob>> = const { RefCell::new(Vec::new()) };
    static READER: RefCell<Option<FileReaderSync>> = const { RefCell::new(None) };
    // One is enough: files are read from front to back one after the other.
    static AHEAD: RefCell<Option<Ahead>> = const { RefCell::new(None) };
    // What the worker fetched of the file that is read now, and where it begins.
    static PREFETCHED: RefCell<Option<(u64, Uint8Array)>> = const { RefCell::new(None) };
    // The first bytes of the file that was last read from there: every part looks at them.
    static FRONT: RefCell<Option<(usize, Uint8Array)>> = const { RefCell::new(None) };
    // Where the last read ended: file and offset.
    static LAST: Cell<(usize, u64)> = const { Cell::new((usize::MAX, 0)) };
}

/// Makes `bytes`, which begin at `start`, available to the one file that is read until
/// [`clear_prefetched`].
pub(crate) fn set_prefetched(start: u64, bytes: Uint8Array) {
    PREFETCHED.with_borrow_mut(|place| *place = Some((start, bytes)));
}

/// Ends what [`set_prefetched`] began.
pub(crate) fn clear_prefetched() {
    PREFETCHED.with_borrow_mut(|place| *place = None);
}

/// Fills `buffer` with the bytes at `offset` if all of them were prefetched.
fn prefetched(offset: u64, buffer: &mut [u8]) -> bool {
    let known = PREFETCHED.with_borrow(|prefetched| {
        let (start, bytes) = prefetched.as_ref()?;
        inside(*start, bytes, offset, buffer.len() as u64)
    });
    known.inspect(|bytes| bytes.copy_to(buffer)).is_some()
}

/// The bytes at `offset` of what begins at `start`, where all that is wanted is inside.
fn inside(start: u64, bytes: &Uint8Array, offset: u64, wanted: u64) -> Option<Uint8Array> {
    let from = offset.checked_sub(start)?;
    let to = from.checked_add(wanted)?;
    (to <= u64::from(bytes.length())).then(|| bytes.subarray(from as u32, to as u32))
}

/// A file of the page. Its bytes stay there until they are read.
struct BlobSource {
    /// Position in [`BLOBS`].
    number: usize,
    len: u64,
}

impl ByteSource for BlobSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let wanted = buffer.len() as u64;
        let end = end_inside(offset, wanted, self.len)?;
        count_bytes(wanted, offset)?;
        if end <= FRONT_BYTES {
            return self.read_front(offset, buffer);
        }
        let is_next = LAST.replace((self.number, end)) == (self.number, offset);
        if is_next && wanted < AHEAD_BYTES {
            return self.read_ahead(offset, buffer);
        }
        self.fetch(offset, end)?.copy_to(buffer);
        Ok(())
    }
}

impl BlobSource {
    /// Fills `buffer` from the first bytes of the file, which are kept.
    fn read_front(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let known = FRONT.with_borrow(|front| {
            front.as_ref().filter(|front| front.0 == self.number).map(|front| front.1.clone())
        });
        let front = match known {
            Some(front) => front,
            None => {
                let bytes = self.fetch(0, self.len.min(FRONT_BYTES))?;
                FRONT.with_borrow_mut(|front| *front = Some((self.number, bytes.clone())));
                bytes
            }
        };
        LAST.set((self.number, offset + buffer.len() as u64));
        match inside(0, &front, offset, buffer.len() as u64) {
            Some(bytes) => bytes.copy_to(buffer),
            None => self.fetch(offset, offset + buffer.len() as u64)?.copy_to(buffer),
        }
        Ok(())
    }

    /// Fills `buffer` from what was fetched ahead, or fetches ahead.
    fn read_ahead(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let wanted = buffer.len() as u64;
        let known = AHEAD.with_borrow(|ahead| {
            let ahead = ahead.as_ref().filter(|ahead| ahead.number == self.number)?;
            inside(ahead.start, &ahead.bytes, offset, wanted)
        });
        if let Some(known) = known {
            known.copy_to(buffer);
            return Ok(());
        }
        let bytes = self.fetch(offset, self.len.min(offset + AHEAD_BYTES))?;
        bytes.subarray(0, wanted as u32).copy_to(buffer);
        let ahead = Ahead { number: self.number, start: offset, bytes };
        AHEAD.with_borrow_mut(|place| *place = Some(ahead));
        Ok(())
    }

    /// The bytes from `start` to before `end`, from the browser.
    fn fetch(&self, start: u64, end: u64) -> Result<Uint8Array, ReadError> {
        let gone = |cause: &str| ReadError::Storage { offset: start, cause: cause.to_owned() };
        let blob = BLOBS.with_borrow(|blobs| blobs.get(self.number).cloned());
        let blob = blob.ok_or_else(|| gone("the file was closed"))?;
        let slice = blob
            .slice_with_f64_and_f64(start as f64, end as f64)
            .map_err(|_| gone("the browser refuses to read the file"))?;
        let reader = READER.with_borrow_mut(|reader| {
            if reader.is_none() {
                *reader = FileReaderSync::new().ok();
            }
            reader.clone()
        });
        let reader = reader.ok_or_else(|| gone("the browser has no synchronous reader here"))?;
        let bytes = reader
            .read_as_array_buffer(&slice)
            .map_err(|_| gone("the file was removed or changed since it was opened"))?;
        let bytes = Uint8Array::new(&bytes);
        if u64::from(bytes.length()) != end - start {
            return Err(gone("the file became shorter since it was opened"));
        }
        Ok(bytes)
    }
}

/// A file of which what is wanted may have been prefetched: that is taken as it is, because blocks of
/// a cache would reach beyond it.
struct PrefetchedSource(BlockCache<BlobSource>);

impl ByteSource for PrefetchedSource {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let wanted = buffer.len() as u64;
        if offset.checked_add(wanted).is_some_and(|end| end <= self.len())
            && prefetched(offset, buffer)
        {
            return count_bytes(wanted, offset);
        }
        self.0.read_at(offset, buffer)
    }
}

/// A file of the page that can be opened again and again, each time with a cache of its own.
pub(crate) struct BlobFile {
    number: usize,
    len: u64,
}

impl ListedFile for BlobFile {
    fn len_bytes(&self) -> u64 {
        self.len
    }

    fn open(&self) -> Source {
        let source = BlobSource { number: self.number, len: self.len };
        Arc::new(PrefetchedSource(BlockCache::new(source, BLOCK_BYTES, CACHE_BYTES)))
    }
}

/// What the user dropped or picked: files by path.
pub(crate) type BlobFolder = ListedFolder<BlobFile>;

impl From<Blob> for BlobFile {
    /// Keeps the file for as long as the worker lives.
    fn from(blob: Blob) -> Self {
        let len = blob.size() as u64;
        let number = BLOBS.with_borrow_mut(|blobs| {
            blobs.push(blob);
            blobs.len() - 1
        });
        Self { number, len }
    }
}
