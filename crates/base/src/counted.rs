//! [`BytesRead`]: how many bytes of some files are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{ByteSource, Folder, FolderEntry, ReadError, Source, Survey, read_range};

/// A number of bytes that files share, which grows as they are read.
#[derive(Debug, Clone, Default)]
pub struct BytesRead(Arc<AtomicU64>);

impl BytesRead {
    /// Nothing was read so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes that were read so far; what was read twice counts twice.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// A file whose reads are counted. It does not lend its bytes, so that each of them is read.
pub struct CountedFile {
    file: Source,
    read: BytesRead,
}

impl CountedFile {
    /// Counts what is read of `file` in `read`.
    #[must_use]
    pub fn new(file: Source, read: BytesRead) -> Self {
        Self { file, read }
    }
}

impl ByteSource for CountedFile {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.read.add(buffer.len());
        match self.file.as_slice() {
            Some(_) => {
                buffer.copy_from_slice(&read_range(&*self.file, offset, buffer.len() as u64)?);
                Ok(())
            }
            None => self.file.read_at(offset, buffer),
        }
    }

    fn forget(&self) {
        self.file.forget();
    }
}

/// A folder whose files are counted.
pub struct CountedFolder {
    folder: Arc<dyn Folder>,
    read: BytesRead,
}

impl CountedFolder {
    /// Counts what is read of the files of `folder` in `read`.
    #[must_use]
    pub fn new(folder: Arc<dyn Folder>, read: BytesRead) -> Self {
        Self { folder, read }
    }
}

impl Folder for CountedFolder {
    fn name(&self) -> &str {
        self.folder.name()
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        self.folder.entries()
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        self.folder.survey()
    }

    fn fingerprint(&self) -> Result<u64, ReadError> {
        self.folder.fingerprint()
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        let file = self.folder.open(path)?;
        let counted = |file| -> Source { Arc::new(CountedFile::new(file, self.read.clone())) };
        Ok(file.map(counted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryFolder, MemorySource};

    #[test]
    fn each_byte_that_is_read_counts() {
        let files = [("a".to_owned(), MemorySource::new(vec![1, 2, 3, 4]))];
        let read = BytesRead::new();
        let folder = CountedFolder::new(Arc::new(MemoryFolder::new("f", files)), read.clone());
        let file = folder.open("a").unwrap().unwrap();
        assert_eq!((read.bytes(), file.len()), (0, 4));
        assert_eq!(&*read_range(&*file, 1, 2).unwrap(), [2, 3]);
        assert_eq!(&*read_range(&*file, 0, 4).unwrap(), [1, 2, 3, 4]);
        assert_eq!(read.bytes(), 6);
        assert!(read_range(&*file, 3, 2).is_err());
        assert_eq!(read.bytes(), 6);
        assert!(folder.open("b").unwrap().is_none());
    }
}
