//! [`StreamedFile`]: a file that is read piece by piece.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::paged::Scratch;
use parallax_base::{ByteSource, ReadError, end_inside};

use crate::mapped::lost;
use crate::scratch::ScratchFile;

/// A file that is read piece by piece. For what is read once from front to back, mapping would only
/// make its bytes count as memory of the program; and where files may change while they are open,
/// reading says so at once (ADR 0031).
#[derive(Debug)]
pub struct StreamedFile {
    file: File,
    path: PathBuf,
    len: u64,
}

impl StreamedFile {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be opened, or is not a regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Self { file, path: path.to_owned(), len: metadata.len() })
    }
}

impl ByteSource for StreamedFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        end_inside(offset, buffer.len() as u64, self.len)?;
        read_exact_at(&self.file, buffer, offset).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => lost(&self.path, offset),
            _ => ReadError::Storage { offset, cause: error.to_string() },
        })
    }

    fn scratch(&self) -> Option<Arc<dyn Scratch>> {
        Some(Arc::new(ScratchFile::default()))
    }
}

#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    file.read_exact_at(buffer, offset)
}

#[cfg(windows)]
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt as _;
    while !buffer.is_empty() {
        match file.seek_read(buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                buffer = buffer.get_mut(read..).unwrap_or_default();
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
