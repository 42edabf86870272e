//! [`DiskSink`]: a directory that files are written to.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use parallax_base::{ByteSource, FolderSink, ReadError, Source};

/// Bytes gathered before they are written: archives have many small batches.
const BUFFER_BYTES: usize = 1 << 18;

/// A directory that files are written to, under another name until [`DiskSink::publish`]: what is
/// not complete never bears the name that was asked for.
#[derive(Debug)]
pub struct DiskSink {
    target: PathBuf,
    partial: PathBuf,
}

impl DiskSink {
    /// A new directory that will be `target`.
    ///
    /// # Errors
    /// When there is something at `target` already, or the directory cannot be made.
    pub fn new(target: &Path) -> io::Result<Self> {
        if target.exists() {
            let what = format!("{} exists already", target.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let partial = target.with_file_name(format!(".{name}.partial-{}", std::process::id()));
        // Left by a process of the same number that was killed.
        if partial.exists() {
            std::fs::remove_dir_all(&partial)?;
        }
        std::fs::create_dir_all(&partial)?;
        Ok(Self { target: target.to_owned(), partial })
    }

    /// Gives the directory its name, when all files are written.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn publish(&self) -> io::Result<()> {
        std::fs::rename(&self.partial, &self.target)
    }
}

impl Drop for DiskSink {
    fn drop(&mut self) {
        // Nothing is there once it was published.
        let _ = std::fs::remove_dir_all(&self.partial);
    }
}

impl FolderSink for DiskSink {
    fn create(&self, path: &str) -> io::Result<Box<dyn Write + Send>> {
        let file = File::create(self.partial.join(path))?;
        Ok(Box::new(BufWriter::with_capacity(BUFFER_BYTES, file)))
    }

    fn reopen(&self, path: &str) -> io::Result<Option<Source>> {
        let file = File::open(self.partial.join(path))?;
        let len = file.metadata()?.len();
        Ok(Some(Arc::new(Scratch { len, file: Mutex::new(file) })))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        std::fs::remove_file(self.partial.join(path))
    }
}

/// A file of the sink that is read back. It is read in long parts and not mapped, so that it takes
/// no memory.
struct Scratch {
    len: u64,
    file: Mutex<File>,
}

impl ByteSource for Scratch {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let wanted = buffer.len() as u64;
        let end = offset.checked_add(wanted);
        if end.is_none_or(|end| end > self.len) {
            return Err(ReadError::OutOfBounds { offset, wanted, len: self.len });
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let read = file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(buffer));
        read.map_err(|cause| ReadError::Storage { offset, cause: cause.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_appears_complete_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("a.parallax");
        let sink = DiskSink::new(&target).unwrap();
        sink.create("x").unwrap().write_all(b"half").unwrap();
        assert!(!target.exists());
        drop(sink);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nothing is left");

        let sink = DiskSink::new(&target).unwrap();
        sink.create("x").unwrap().write_all(b"whole").unwrap();
        sink.publish().unwrap();
        drop(sink);
        assert_eq!(std::fs::read(target.join("x")).unwrap(), b"whole");
        assert!(DiskSink::new(&target).is_err(), "nothing is overwritten");
    }
}
