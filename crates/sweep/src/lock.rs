//! One sweep at a time writes a file, and none goes on while a program of the last one still runs.
//!
//! The lock is a file next to the sweep's. Who starts takes it alone; then the tool and the
//! supervisor of each program share it. So it is free when all of them are gone, however they went.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::SweepError;

/// How long a sweep waits for what is left of the one before.
const PATIENCE: Duration = Duration::from_secs(10);

/// The lock; it is given back and its file removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: File,
}

impl Lock {
    /// Takes the lock of the sweep that writes `target`.
    pub(crate) fn new(target: &Path) -> Result<Self, SweepError> {
        let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = target.with_file_name(format!(".{name}.lock"));
        let write = |cause| SweepError::Write { path: target.to_owned(), kept: None, cause };
        let begun = Instant::now();
        loop {
            let mut options = OpenOptions::new();
            options.create(true).truncate(false).read(true).write(true);
            let file = options.open(&path).map_err(write)?;
            match file.try_lock() {
                // Without locks on this file system, people have to take care.
                Err(TryLockError::Error(_)) => return Ok(Self { path, file }),
                // Somebody may have removed the file that was just opened.
                Ok(()) if path.exists() && is_shared(&file).map_err(write)? => {
                    return Ok(Self { path, file });
                }
                Ok(()) | Err(TryLockError::WouldBlock) => {}
            }
            if begun.elapsed() > PATIENCE {
                return Err(SweepError::Busy { path: target.to_owned() });
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // It is removed while it is held: who opened it before sees that it is gone.
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

/// Makes the lock, which this process has alone, one that others may share; false when somebody else
/// had it meanwhile, for the system gives it back in between. Who had it last left its mark.
fn is_shared(file: &File) -> io::Result<bool> {
    let own = format!("{} {:?}", std::process::id(), SystemTime::now());
    let write = |text: &str| {
        let mut file = file;
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(text.as_bytes())
    };
    // A full disk must not keep a sweep from being looked at; its own file will tell.
    if let Err(error) = write(&own)
        && !parallax_native::is_full(&error)
    {
        return Err(error);
    }
    file.lock_shared()?;
    let mut found = String::new();
    let mut reader = file;
    reader.seek(SeekFrom::Start(0))?;
    reader.read_to_string(&mut found)?;
    Ok(found == own || own.starts_with(&found))
}

/// Shares the lock at `path` with the tool that started this process; `None` when that is gone and
/// somebody else has it.
#[cfg(target_os = "linux")]
pub(crate) fn share(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    match file.try_lock_shared() {
        Ok(()) | Err(TryLockError::Error(_)) => Some(file),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_lock_is_shared_below_and_gone_afterwards() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("sweep.json");
        let lock = Lock::new(&target).unwrap();
        let shared = share(lock.path()).unwrap();
        let other = File::open(lock.path()).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(shared);
        drop(lock);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        drop(Lock::new(&target).unwrap());
    }
}
