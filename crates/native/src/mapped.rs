//! [`MappedFile`]: a file whose bytes the operating system brings in when they are touched.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;
use parallax_base::{ByteSource, ReadError};

/// A file mapped into memory for reading.
pub struct MappedFile {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
}

impl MappedFile {
    /// Maps the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be opened or mapped, or is not a regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        if metadata.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: The map is only read. Its content must not change while it is borrowed, which
        // no program can promise for a file; databases are written once and then only read, and
        // every value read from here is checked as untrusted input anyway. A file truncated by
        // others while it is mapped stops the program with SIGBUS (ADR 0002).
        #[expect(unsafe_code, reason = "mapping a file is unsafe by nature; see above")]
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { map: Some(map) })
    }
}

impl ByteSource for MappedFile {
    fn len(&self) -> u64 {
        self.map.as_ref().map_or(0, |map| map.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let out = ReadError::OutOfBounds { offset, wanted: buffer.len() as u64, len: self.len() };
        let start = usize::try_from(offset).map_err(|_| out.clone())?;
        let end = start.checked_add(buffer.len()).ok_or(out.clone())?;
        let bytes = self.as_slice().and_then(|all| all.get(start..end)).ok_or(out)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn as_slice(&self) -> Option<&[u8]> {
        Some(self.map.as_deref().unwrap_or_default())
    }
}
