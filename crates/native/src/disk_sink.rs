//! [`DiskSink`]: a directory that files are written to.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use parallax_base::FolderSink;

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
