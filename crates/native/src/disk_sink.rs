//! [`DiskSink`]: a directory that files are written to.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::{FolderSink, Source};

use crate::abandoned::is_kept;
use crate::{Snapshots, StreamedFile, Unfinished, lost_file};

/// Bytes gathered before they are written: archives have many small batches.
const BUFFER_BYTES: usize = 1 << 18;

/// A directory that files are written to, under another name until [`DiskSink::publish`]: what is
/// not complete never has the requested name.
#[derive(Debug)]
pub struct DiskSink {
    target: PathBuf,
    unfinished: Unfinished,
}

impl DiskSink {
    /// A new directory that will be `target`. What processes that have ended left unfinished next
    /// to it is removed.
    ///
    /// # Errors
    /// When there is something at `target` already, or the directory cannot be made.
    pub fn new(target: &Path) -> io::Result<Self> {
        if target.exists() {
            let what = format!("{} exists already", target.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let unfinished = Unfinished::new(target)?;
        std::fs::create_dir(unfinished.content())?;
        Ok(Self { target: target.to_owned(), unfinished })
    }

    /// Gives the directory its name, when all files are written.
    ///
    /// # Errors
    /// When it cannot be renamed, or a mapped file that it was made of was not there in full.
    pub fn publish(&self) -> io::Result<()> {
        if let Some(path) = lost_file() {
            return Err(io::Error::other(crate::mapped::lost(&path, 0)));
        }
        self.unfinished.publish(&self.target)
    }

    /// What others see of it until then.
    #[must_use]
    pub fn snapshots(&self) -> Snapshots {
        Snapshots::new(self.unfinished.folder().to_owned())
    }

    /// Keeps the last snapshot when this is dropped ([`crate::Abandoned`]). Whether there is one.
    pub fn keep_snapshot(&self) -> bool {
        let has_one = is_kept(self.unfinished.folder());
        if has_one {
            self.unfinished.abandon();
        }
        has_one
    }

    /// Length of what lies there, in bytes.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        let files = std::fs::read_dir(self.unfinished.content()).into_iter().flatten();
        files.filter_map(|file| file.ok()?.metadata().ok()).map(|file| file.len()).sum()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.unfinished.content().join(path)
    }
}

impl FolderSink for DiskSink {
    fn create(&self, path: &str) -> io::Result<Box<dyn Write + Send>> {
        let path = self.path(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = File::create(path)?;
        Ok(Box::new(BufWriter::with_capacity(BUFFER_BYTES, file)))
    }

    /// The file is read in parts and not mapped, so that it takes no memory.
    fn reopen(&self, path: &str) -> io::Result<Option<Source>> {
        Ok(Some(Arc::new(StreamedFile::open(&self.path(path))?)))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        std::fs::remove_file(self.path(path))
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
        sink.create("src/app/x.c").unwrap().write_all(b"text").unwrap();
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
