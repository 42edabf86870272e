//! [`Unfinished`]: a file or folder that is being written, under another name than it will have.
//!
//! What is not complete lies in a folder `.NAME.HOST-PID-N.partial` next to the place where it will
//! be, in which a file `lock` is locked by the process that writes. Systems give the lock back when
//! the process ends, however it ends: whoever can take the lock knows that this will not be
//! finished, and may remove it. A process id alone would not tell: ids are used again, and
//! containers that share a folder count for themselves.
//!
//! Locks need not reach other hosts that share a file system, and some file systems have none. What
//! another host left, or where locks are not supported, is removed when nothing in it has changed
//! for a week.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::abandoned::is_kept;
use crate::system::host_name;

const SUFFIX: &str = ".partial";
pub(crate) const LOCK: &str = "lock";
pub(crate) const CONTENT: &str = "content";

/// After which time without a change a writer is believed to be gone where no lock tells.
const ABANDONED_AFTER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Most characters of a name that are repeated in that of what is unfinished.
const NAME_CHARS: usize = 80;

/// The last number in the name of the next one: this process uses none twice, see [`lock`].
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Something that is being written. It is gone when this is dropped, unless it was published.
#[derive(Debug)]
pub struct Unfinished {
    folder: PathBuf,
    /// Whether it stays as it is when this is dropped.
    is_abandoned: AtomicBool,
    /// Holds the lock.
    _lock: File,
}

impl Unfinished {
    /// A place for what will be at `target`, on the same file system. Removes what others left
    /// unfinished next to it.
    ///
    /// # Errors
    /// When nothing can be written next to `target`.
    pub fn new(target: &Path) -> io::Result<Self> {
        let name = target.file_name().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "the path does not end in a name")
        })?;
        let parent = folder_of(target);
        remove_abandoned(parent);
        let short = short_name(name);
        let own = format!(".{short}.{}-{}", host_name(), std::process::id());
        for _ in 0..1000 {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = parent.join(OsString::from(format!("{own}-{number}{SUFFIX}")));
            match fs::create_dir(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            match lock(&folder) {
                Ok(Some(lock)) => {
                    return Ok(Self { folder, is_abandoned: AtomicBool::new(false), _lock: lock });
                }
                // Somebody took it for abandoned before it was locked; the next one is ours.
                Ok(None) => {}
                Err(error) => {
                    let _ = fs::remove_dir_all(&folder);
                    return Err(error);
                }
            }
        }
        Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "too many unfinished files (.partial) next to it; remove them",
        ))
    }

    /// Where to write: nothing is there yet.
    #[must_use]
    pub fn content(&self) -> PathBuf {
        self.folder.join(CONTENT)
    }

    /// Where its lock is, and what else belongs to it.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Leaves it as it is when this is dropped, as if this process had been killed.
    pub(crate) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
    }

    /// Gives what was written the name that it is to have.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub fn publish(&self, target: &Path) -> io::Result<()> {
        fs::rename(self.content(), target)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !*self.is_abandoned.get_mut() {
            // It is only litter; the error that led here is the one to report.
            let _ = clear(&self.folder);
        }
    }
}

/// Takes what is at `path` away: all of it at once for those who look, whatever ends this process.
///
/// # Errors
/// When it cannot be moved aside.
pub fn discard(path: &Path) -> io::Result<()> {
    let aside = Unfinished::new(path)?;
    fs::rename(path, aside.content())
}

/// Removes what processes that have ended left unfinished in `folder`; returns how many there were.
/// What cannot be looked at or removed stays where it is, and so does what has a snapshot
/// ([`crate::Abandoned`]), for a week.
pub fn remove_abandoned(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let own = host_name();
    let abandoned = entries.filter_map(Result::ok).filter(|entry| {
        let name = entry.file_name();
        name.to_str().and_then(host_of).is_some_and(|host| {
            // Links are somebody else's.
            entry.file_type().is_ok_and(|kind| kind.is_dir())
                && remove_if_abandoned(&entry.path(), host == own)
        })
    });
    abandoned.count()
}

/// Something that was begun for a target and is not complete.
pub(crate) struct Begun {
    /// The folder that has it.
    pub(crate) folder: PathBuf,
    /// Its lock, shared, where its writer has ended: while it is held, nobody removes the folder.
    pub(crate) lock: Option<File>,
    /// The host of its writer, where that is another one.
    pub(crate) host: Option<String>,
}

/// What was begun for `target` and is not complete: what is still written first, the newest first.
/// Whether writers of other hosts have ended is not known.
pub(crate) fn begun_for(target: &Path) -> Vec<Begun> {
    let Some(wanted) = target.file_name().map(short_name) else { return Vec::new() };
    let entries = fs::read_dir(folder_of(target)).into_iter().flatten().filter_map(Result::ok);
    let mut all: Vec<_> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let (begun, _) = parts_of(name.to_str()?)?;
            let is_one = begun == wanted && entry.file_type().is_ok_and(|kind| kind.is_dir());
            let found = is_one.then(|| begun_at(target.with_file_name(name)))??;
            let lock = fs::metadata(found.folder.join(LOCK));
            let at = lock.and_then(|metadata| metadata.modified()).ok();
            Some((found.lock.is_some(), at, found))
        })
        .collect();
    all.sort_by_key(|(has_ended, at, _)| (!has_ended, *at));
    all.into_iter().rev().map(|(_, _, found)| found).collect()
}

/// What was begun in a hidden folder.
pub(crate) fn begun_at(folder: PathBuf) -> Option<Begun> {
    let (_, host) = parts_of(folder.file_name()?.to_str()?)?;
    let host = (host != host_name()).then(|| host.to_owned());
    let lock = File::open(folder.join(LOCK)).ok()?;
    let has_ended = host.is_none() && lock.try_lock_shared().is_ok();
    Some(Begun { folder, lock: has_ended.then_some(lock), host })
}

/// What a hidden folder was to become: all that its own name says of it.
pub(crate) fn target_of(folder: &Path) -> Option<PathBuf> {
    let (begun, _) = parts_of(folder.file_name()?.to_str()?)?;
    Some(folder.with_file_name(begun))
}

/// Whether a process writes what will be at `target`.
#[must_use]
pub fn is_being_written(target: &Path) -> bool {
    begun_for(target).iter().any(|found| found.lock.is_none())
}

/// What is repeated of a name in that of what is unfinished.
fn short_name(name: &OsStr) -> String {
    name.to_string_lossy().chars().take(NAME_CHARS).collect()
}

/// The host in `.NAME.HOST-PID-N.partial`.
fn host_of(name: &str) -> Option<&str> {
    parts_of(name).map(|(_, host)| host)
}

/// The name and the host in `.NAME.HOST-PID-N.partial`.
fn parts_of(name: &str) -> Option<(&str, &str)> {
    let inner = name.strip_prefix('.')?.strip_suffix(SUFFIX)?;
    let (begun, owner) = inner.rsplit_once('.')?;
    let mut parts = owner.rsplitn(3, '-');
    let numbers = [parts.next()?, parts.next()?];
    let are_numbers = numbers.iter().all(|part| part.parse::<u32>().is_ok());
    let host = parts.next().filter(|host| are_numbers && !host.is_empty())?;
    Some((begun, host))
}

fn remove_if_abandoned(folder: &Path, is_own_host: bool) -> bool {
    if !is_own_host {
        return is_old(folder) && clear(folder).is_ok();
    }
    let lock = match OpenOptions::new().write(true).open(folder.join(LOCK)) {
        Ok(lock) => lock,
        // Not locked yet, or all but gone: only what is empty can be removed this way.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return fs::remove_dir(folder).is_ok() || (is_old(folder) && clear(folder).is_ok());
        }
        Err(_) => return false,
    };
    match lock.try_lock() {
        Ok(()) => (!is_kept(folder) || is_old(folder)) && clear(folder).is_ok(),
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => is_old(folder) && clear(folder).is_ok(),
    }
}

/// Makes and takes the lock of a new folder; `None` when somebody was faster.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join(LOCK);
    let lock = match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match lock.try_lock() {
        // Without locks, its age will tell.
        Ok(()) | Err(TryLockError::Error(_)) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
    }
    // Somebody may have had the lock before, and removed the folder. The name is not used again
    // while this process lives, so a file that is there is this one.
    Ok(path.exists().then_some(lock))
}

/// Removes the content first: as long as some of it is there, its lock is, too.
pub(crate) fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() == LOCK {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir_all(folder)
}

/// Whether nothing in `folder` has changed for a long time.
fn is_old(folder: &Path) -> bool {
    is_unchanged(folder, ABANDONED_AFTER)
}

/// Whether nothing in `folder` has changed for so long.
pub(crate) fn is_unchanged(folder: &Path, time: Duration) -> bool {
    let content = folder.join(CONTENT);
    let inside = [folder, &content].into_iter().filter_map(|place| fs::read_dir(place).ok());
    let inside = inside.flatten().filter_map(Result::ok).map(|entry| entry.path());
    let mut all = inside.chain([folder.to_owned()]);
    all.all(|path| {
        let changed = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
        changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > time))
    })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// What a process leaves that ended before it had finished, and of which `host` it was.
    fn litter(place: &Path, host: &str, number: u32) -> PathBuf {
        let folder = place.join(format!(".a.parallax.{host}-4194304-{number}.partial"));
        fs::create_dir_all(folder.join(CONTENT)).unwrap();
        fs::write(folder.join(LOCK), b"").unwrap();
        fs::write(folder.join(CONTENT).join("table"), b"half").unwrap();
        folder
    }

    fn make_old(folder: &Path) {
        let long_ago = SystemTime::now() - ABANDONED_AFTER * 2;
        for path in [&folder.join(CONTENT).join("table"), &folder.join(LOCK), &folder.join(CONTENT)]
        {
            File::open(path).unwrap().set_modified(long_ago).unwrap();
        }
        File::open(folder).unwrap().set_modified(long_ago).unwrap();
    }

    #[test]
    fn what_dead_processes_left_is_removed_and_what_living_ones_write_is_not() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("a.parallax");
        let living = Unfinished::new(&target).unwrap();
        fs::write(living.content(), b"more to come").unwrap();
        litter(place.path(), &host_name(), 0);
        // Between the creation of the folder and that of its lock.
        let empty = format!(".b.{}-4194304-0.partial", host_name());
        fs::create_dir(place.path().join(empty)).unwrap();
        assert_eq!(names_in(place.path()).len(), 3);
        assert_eq!(remove_abandoned(place.path()), 2);
        assert_eq!(fs::read(living.content()).unwrap(), b"more to come");
        living.publish(&target).unwrap();
        drop(living);
        assert_eq!(names_in(place.path()), ["a.parallax"]);
    }

    #[test]
    fn what_other_hosts_write_is_left_alone_unless_it_is_old() {
        let place = tempfile::tempdir().unwrap();
        let (new, old) = (litter(place.path(), "other", 0), litter(place.path(), "other", 1));
        make_old(&old);
        assert_eq!(remove_abandoned(place.path()), 1);
        assert!(new.exists() && !old.exists());
        // One file that changes is enough.
        make_old(&new);
        fs::write(new.join(CONTENT).join("table"), b"half and more").unwrap();
        assert_eq!(remove_abandoned(place.path()), 0);
    }

    #[test]
    fn files_of_others_are_not_taken_for_unfinished_ones() {
        let place = tempfile::tempdir().unwrap();
        let own = host_name();
        for name in [
            format!("a.{own}-1-0.partial"),
            format!(".a.{own}-1.partial"),
            format!(".a.{own}-one-0.partial"),
            format!(".a.{own}-1-0.part"),
            ".partial".to_owned(),
        ] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        // A file, and a link.
        fs::write(place.path().join(format!(".a.{own}-1-0.partial")), b"mine").unwrap();
        assert_eq!(remove_abandoned(place.path()), 0);
        assert_eq!(names_in(place.path()).len(), 6);
    }

    #[test]
    fn many_may_write_and_clean_in_one_folder_at_once() {
        let place = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let target = place.path().join(format!("{thread}"));
                scope.spawn(move || {
                    for round in 0..50 {
                        let own = Unfinished::new(&target).unwrap();
                        fs::write(own.content(), format!("{round}")).unwrap();
                        own.publish(&target).unwrap();
                    }
                });
            }
        });
        assert_eq!(names_in(place.path()), ["0", "1", "2", "3"]);
        assert_eq!(fs::read(place.path().join("3")).unwrap(), b"49");
    }

    #[test]
    fn what_is_discarded_is_gone_with_all_that_is_in_it() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("a.parallax");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("table"), b"x").unwrap();
        discard(&target).unwrap();
        assert_eq!(names_in(place.path()), Vec::<String>::new());
        assert!(discard(&target).is_err());
        assert_eq!(names_in(place.path()), Vec::<String>::new());
    }

    #[test]
    fn long_names_have_room() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("x".repeat(250));
        let own = Unfinished::new(&target).unwrap();
        fs::write(own.content(), b"x").unwrap();
        own.publish(&target).unwrap();
        assert!(target.exists());
    }
}
