//! [`MappedFile`]: a file whose bytes the operating system brings in when they are touched.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memmap2::Mmap;
use parallax_base::paged::Scratch;
use parallax_base::{ByteSource, ReadError, end_inside};

use crate::lost::Watch;
use crate::scratch::ScratchFile;

/// A file mapped into memory for reading.
///
/// A file that becomes shorter while it is mapped gives zeros where it was; see
/// [`lost_file`](crate::lost_file).
pub struct MappedFile {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Watched>,
    path: PathBuf,
}

/// A mapping that is watched. Fields are dropped in this order: the watch ends first.
struct Watched {
    watch: Watch,
    bytes: Mmap,
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
        let path = path.to_owned();
        if metadata.len() == 0 {
            return Ok(Self { map: None, path });
        }
        // SAFETY: The map is only read. Its content must not change while it is borrowed, which
        // no program can promise for a file; databases are written once and then only read, and
        // every value read from here is checked as untrusted input anyway. What happens when
        // others shorten the file is in `lost` (ADR 0031).
        #[expect(unsafe_code, reason = "mapping a file is unsafe by nature; see above")]
        let bytes = unsafe { Mmap::map(&file)? };
        let watch = Watch::new(&bytes, &path, &metadata);
        Ok(Self { map: Some(Watched { watch, bytes }), path })
    }

    fn is_lost(&self) -> bool {
        self.map.as_ref().is_some_and(|map| map.watch.is_lost())
    }
}

impl ByteSource for MappedFile {
    fn len(&self) -> u64 {
        self.map.as_ref().map_or(0, |map| map.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let out = ReadError::OutOfBounds { offset, wanted: buffer.len() as u64, len: self.len() };
        end_inside(offset, buffer.len() as u64, self.len())?;
        let bytes = self.map.as_ref().map_or(&[][..], |map| &map.bytes);
        let start = usize::try_from(offset).map_err(|_| out.clone())?;
        let end = start.checked_add(buffer.len()).ok_or(out.clone())?;
        buffer.copy_from_slice(bytes.get(start..end).ok_or(out)?);
        if self.is_lost() {
            return Err(lost(&self.path, offset));
        }
        Ok(())
    }

    fn forget(&self) {
        #[cfg(unix)]
        if let Some(map) = &self.map {
            // SAFETY: The map is read-only and of a file, so that pages that are let go come back
            // from the file, or as zeros where it was lost, as before.
            #[expect(unsafe_code, reason = "advice that drops pages is unsafe for writable maps")]
            let advised = unsafe { map.bytes.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
            // It is advice: nothing is wrong where it is not taken.
            drop(advised);
        }
    }

    fn scratch(&self) -> Option<Arc<dyn Scratch>> {
        Some(Arc::new(ScratchFile::default()))
    }

    fn as_slice(&self) -> Option<&[u8]> {
        // Whoever cannot borrow reads, and is told why that fails.
        (!self.is_lost()).then(|| self.map.as_ref().map_or(&[][..], |map| &map.bytes))
    }
}

/// Why a file that was there cannot be read any more.
pub(crate) fn lost(path: &Path, offset: u64) -> ReadError {
    let cause = format!(
        "{} was truncated by another program while it was read, or its storage failed; wait until \
         it is complete and ask again",
        path.display()
    );
    ReadError::Storage { offset, cause }
}
