//! [`ScratchFile`]: a file for what does not fit into memory.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use parallax_base::paged::{Scratch, ScratchError};

use crate::streamed::read_exact_at;

/// A temporary file that nobody else sees and that is gone with the process, however that ends. It
/// is made when something is written for the first time.
#[derive(Debug)]
pub struct ScratchFile {
    folder: PathBuf,
    file: OnceLock<Result<File, ScratchError>>,
}

/// Distinguishes the files of one process.
static NEXT: AtomicU32 = AtomicU32::new(0);

impl ScratchFile {
    /// A file in `folder`.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), file: OnceLock::new() }
    }

    fn file(&self) -> Result<&File, ScratchError> {
        let made = self
            .file
            .get_or_init(|| nameless(&self.folder).map_err(|error| self.error("made", &error)));
        made.as_ref().map_err(Clone::clone)
    }

    fn error(&self, what: &str, error: &io::Error) -> ScratchError {
        ScratchError(format!(
            "a temporary file in {} for what does not fit into memory cannot be {what}: {error}; \
             make room there, or set {VARIABLE} to a folder on another disk",
            self.folder.display()
        ))
    }
}

impl Default for ScratchFile {
    /// A file in the system's folder for large temporary files.
    fn default() -> Self {
        Self::in_folder(&default_folder())
    }
}

impl Scratch for ScratchFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), ScratchError> {
        write_all_at(self.file()?, bytes, offset).map_err(|error| self.error("written", &error))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ScratchError> {
        read_exact_at(self.file()?, buffer, offset).map_err(|error| self.error("read", &error))
    }
}

/// The variable that says where temporary files go.
const VARIABLE: &str = if cfg!(windows) { "TMP" } else { "TMPDIR" };

/// What the user says, or else a folder that is on a disk: that for short-lived files is often in
/// memory.
fn default_folder() -> PathBuf {
    let on_disk = Path::new("/var/tmp");
    if cfg!(unix) && std::env::var_os(VARIABLE).is_none() && on_disk.is_dir() {
        return on_disk.to_owned();
    }
    std::env::temp_dir()
}

/// A new file without a name.
fn nameless(folder: &Path) -> io::Result<File> {
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".parallax-{}-{number}.tmp", std::process::id()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(windows)]
        {
            use std::os::windows::fs::OpenOptionsExt as _;
            // FILE_ATTRIBUTE_TEMPORARY and FILE_FLAG_DELETE_ON_CLOSE.
            options.attributes(0x100).custom_flags(0x0400_0000);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        match options.open(&path) {
            Ok(file) => {
                #[cfg(unix)]
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            // Of a process that ended between the two, or of another host.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(unix)]
fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    file.write_all_at(bytes, offset)
}

#[cfg(windows)]
fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt as _;
    while !bytes.is_empty() {
        match file.seek_write(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = bytes.get(written..).unwrap_or_default();
                offset += written as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
