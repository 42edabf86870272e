//! Where bytes go to: [`FolderSink`], the counterpart of [`Folder`](crate::Folder).

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{MemoryFolder, Source};

/// Makes files below one place: a directory on disk, or memory.
pub trait FolderSink: Send + Sync {
    /// Makes the file at `path` (relative, `/` between parts), replacing one that is there.
    ///
    /// # Errors
    /// When the file cannot be made.
    fn create(&self, path: &str) -> io::Result<Box<dyn Write + Send>>;

    /// Reads a file back that was made and is not written any more; `None` where that is not
    /// possible, or saves nothing because files are in memory.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn reopen(&self, _path: &str) -> io::Result<Option<Source>> {
        Ok(None)
    }

    /// Removes a file that was made.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove(&self, path: &str) -> io::Result<()>;
}

type Files = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// Files in memory, which can be read as a [`MemoryFolder`] when all are written.
#[derive(Debug, Clone, Default)]
pub struct MemorySink {
    files: Files,
}

impl MemorySink {
    /// No files yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was written, as a folder; the sink is empty afterwards.
    #[must_use]
    pub fn into_folder(self, name: impl Into<String>) -> MemoryFolder {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        MemoryFolder::new(name, std::mem::take(&mut *files))
    }
}

impl FolderSink for MemorySink {
    fn create(&self, path: &str) -> io::Result<Box<dyn Write + Send>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.to_owned(), Vec::new());
        Ok(Box::new(MemoryFile { files: Arc::clone(&self.files), path: path.to_owned() }))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.remove(path);
        Ok(())
    }
}

struct MemoryFile {
    files: Files,
    path: String,
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        // Created again, or taken away, since: what this one writes will not be read.
        let Some(file) = files.get_mut(&self.path) else { return Ok(bytes.len()) };
        file.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Folder, read_range};

    #[test]
    fn what_is_written_can_be_read() {
        let sink = MemorySink::new();
        let mut file = sink.create("a/b.bin").unwrap();
        file.write_all(b"one ").unwrap();
        file.write_all(b"two").unwrap();
        drop(file);
        let folder = sink.into_folder("memory");
        let source = folder.open("a/b.bin").unwrap().unwrap();
        assert_eq!(&*read_range(&*source, 0, 7).unwrap(), b"one two");
    }
}
