//! [`StreamedFile`]: a file that is read piece by piece.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use parallax_base::{ByteSource, ReadError};

/// A file that is read piece by piece. For what is read once from front to back, mapping would only
/// make its bytes count as memory of the program.
#[derive(Debug)]
pub struct StreamedFile {
    file: Mutex<File>,
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
        Ok(Self { file: Mutex::new(file), len: metadata.len() })
    }
}

impl ByteSource for StreamedFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        parallax_base::end_inside(offset, buffer.len() as u64, self.len)?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.read_exact(buffer))
            .map_err(|error| ReadError::Storage { offset, cause: error.to_string() })
    }
}
