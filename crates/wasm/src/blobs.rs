//! Files of the page as byte sources.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use js_sys::Uint8Array;
use parallax_base::{BlockCache, ByteSource, Folder, FolderEntry, ReadError, Source};
use web_sys::{Blob, FileReaderSync};

use crate::watch::count_bytes;

/// Short reads are served from blocks of this many bytes.
const BLOCK_BYTES: u32 = 128 << 10;

/// Bytes of blocks kept for one file.
const CACHE_BYTES: u64 = 16 << 20;

thread_local! {
    // Sources must be `Send` above and JavaScript objects are not: the worker's one thread keeps
    // them here, and a source knows the number of its own.
    static BLOBS: RefCell<Vec<Blob>> = const { RefCell::new(Vec::new()) };
    static READER: RefCell<Option<FileReaderSync>> = const { RefCell::new(None) };
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
        let end = offset.checked_add(wanted).filter(|&end| end <= self.len);
        let Some(end) = end else {
            return Err(ReadError::OutOfBounds { offset, wanted, len: self.len });
        };
        count_bytes(wanted, offset)?;
        let gone = |cause: &str| ReadError::Storage { offset, cause: cause.to_owned() };
        let blob = BLOBS.with_borrow(|blobs| blobs.get(self.number).cloned());
        let blob = blob.ok_or_else(|| gone("the file was closed"))?;
        let slice = blob
            .slice_with_f64_and_f64(offset as f64, end as f64)
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
        if u64::from(bytes.length()) != wanted {
            return Err(gone("the file became shorter since it was opened"));
        }
        bytes.copy_to(buffer);
        Ok(())
    }
}

/// What a person dropped or picked: files by path.
pub(crate) struct BlobFolder {
    name: String,
    files: BTreeMap<String, (usize, u64)>,
}

impl BlobFolder {
    pub(crate) fn new(name: &str, files: impl IntoIterator<Item = (String, Blob)>) -> Self {
        let files = files.into_iter().map(|(path, blob)| {
            let len = blob.size() as u64;
            let number = BLOBS.with_borrow_mut(|blobs| {
                blobs.push(blob);
                blobs.len() - 1
            });
            (path, (number, len))
        });
        Self { name: name.to_owned(), files: files.collect() }
    }

    fn list(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<FolderEntry> {
        let wanted = self.files.iter().filter(|(path, _)| is_wanted(path));
        wanted.map(|(path, &(_, len))| FolderEntry { path: path.clone(), len }).collect()
    }
}

impl Folder for BlobFolder {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        Ok(self.list(|path| !path.contains('/')))
    }

    fn walk(&self) -> Result<Vec<FolderEntry>, ReadError> {
        Ok(self.list(|_| true))
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        let source = self.files.get(path).map(|&(number, len)| {
            let source = BlobSource { number, len };
            Arc::new(BlockCache::new(source, BLOCK_BYTES, CACHE_BYTES)) as Source
        });
        Ok(source)
    }
}
