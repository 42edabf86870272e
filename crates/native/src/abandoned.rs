//! What a writer that was killed left of a folder: its last snapshot, which can become the folder.
//!
//! A snapshot is the first bytes of files that only grow, and bytes that follow them
//! ([`LiveFolder`](crate::LiveFolder)). So nothing is copied: files are cut to the bytes that belong to
//! the snapshot, and the others are appended. Until the folder has its name, the snapshot stays what it
//! is; whatever ends this process, the same can be done once more.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parallax_base::{ByteSource as _, Folder};

use crate::live::{SNAPSHOT, Snapshot};
use crate::unfinished::{
    Begun, CONTENT, LOCK, begun_at, begun_for, clear, is_unchanged, target_of,
};

/// After which time without a change a writer of another host is believed to be gone: three times as
/// long as the longest time between two snapshots.
const QUIET: Duration = Duration::from_secs(15 * 60);

/// Bytes that are copied at once.
const PIECE: usize = 1 << 18;

/// What there is of a folder that somebody began to write.
#[derive(Debug)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// It is being written.
    Growing,
    /// Somebody on another host began it, and it has changed within a quarter of an hour: only there is
    /// known whether it is being written.
    OtherHost(String),
    /// Its writer ended before it was complete, and before there was a snapshot.
    WithoutSnapshot,
    /// Its writer ended before it was complete.
    Abandoned(Abandoned),
}

/// What a writer left that ended before its folder was complete. Nobody removes it while this is there.
#[derive(Debug)]
pub struct Abandoned {
    folder: PathBuf,
    target: PathBuf,
    snapshot: Arc<Snapshot>,
    _lock: File,
}

impl Abandoned {
    /// What there is of the folder that was to be at `path`, or in the hidden folder `path`, in which one
    /// was begun: what can become a folder first, the newest of several.
    ///
    /// # Errors
    /// When the snapshot cannot be read.
    pub fn find(path: &Path) -> io::Result<Left> {
        let begun = match target_of(path) {
            Some(_) => begun_at(path.to_owned()).into_iter().collect(),
            None => begun_for(path),
        };
        let mut left = Left::Nothing;
        for found in begun {
            let Some(lock) = lock_of_ended(&found) else {
                left = match found.host {
                    Some(host) => Left::OtherHost(host),
                    None => Left::Growing,
                };
                continue;
            };
            let folder = found.folder;
            if !is_kept(&folder) {
                if matches!(left, Left::Nothing) {
                    left = Left::WithoutSnapshot;
                }
                continue;
            }
            let target = target_of(path).unwrap_or_else(|| path.to_owned());
            let name = target.display().to_string();
            let snapshot = Arc::new(Snapshot::open(&name, &folder, &folder.join(SNAPSHOT))?);
            return Ok(Left::Abandoned(Self { folder, target, snapshot, _lock: lock }));
        }
        Ok(left)
    }

    /// Where the folder was to be.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The hidden folder in which it was begun.
    #[must_use]
    pub fn hidden(&self) -> &Path {
        &self.folder
    }

    /// Its files.
    #[must_use]
    pub fn snapshot(&self) -> Arc<dyn Folder> {
        Arc::clone(&self.snapshot) as _
    }

    /// Makes it the folder `output`, on the same file system.
    ///
    /// # Errors
    /// When there is something at `output` or somebody writes it, another process does the same, or it
    /// cannot be written. It then stays what it is.
    pub fn complete(self, output: &Path) -> io::Result<()> {
        let other = |what: &str| io::Error::other(what.to_owned());
        if fs::symlink_metadata(output).is_ok() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it exists already"));
        }
        let is_living = |found: &Begun| found.lock.is_none() && found.host.is_none();
        if begun_for(output).iter().any(is_living) {
            let what = "another process is writing it";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, what));
        }
        let own = OpenOptions::new().write(true).open(self.folder.join(SNAPSHOT))?;
        if matches!(own.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(other("another process is recovering it"));
        }
        let content = self.folder.join(CONTENT);
        for entry in fs::read_dir(&content)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_part = name.to_str().is_some_and(|name| self.snapshot.files.contains_key(name));
            match (is_part, entry.file_type()?) {
                (true, kind) if kind.is_file() => {}
                // Nothing is written through links.
                (true, _) => return Err(other("a part of it is no file")),
                (false, kind) if kind.is_dir() => fs::remove_dir_all(entry.path())?,
                (false, _) => fs::remove_file(entry.path())?,
            }
        }
        let mut piece = vec![0; PIECE];
        for (name, part) in &self.snapshot.files {
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).truncate(false);
            let mut file = options.open(content.join(name))?;
            file.set_len(part.start_len)?;
            file.seek(SeekFrom::Start(part.start_len))?;
            let mut at = part.start_len;
            while at < part.len() {
                let left = usize::try_from(part.len() - at).unwrap_or(PIECE).min(PIECE);
                let bytes = piece.get_mut(..left).unwrap_or_default();
                part.read_at(at, bytes).map_err(io::Error::other)?;
                file.write_all(bytes)?;
                at += left as u64;
            }
            file.sync_data()?;
        }
        fs::rename(&content, output)?;
        // What is left is only litter.
        let _ = clear(&self.folder);
        Ok(())
    }
}

/// The lock of what was begun, where its writer has ended. Of a writer on another host, or in a container
/// that is gone, nobody knows; it made a snapshot now and then as long as it lived.
fn lock_of_ended(found: &Begun) -> Option<File> {
    let lock = File::open(found.folder.join(LOCK)).ok()?;
    let has_ended = match &found.host {
        Some(_) => is_unchanged(&found.folder, QUIET),
        None => found.lock.is_some(),
    };
    (has_ended && lock.try_lock_shared().is_ok()).then_some(lock)
}

/// Whether what lies in a hidden folder can become what it was to be.
pub(crate) fn is_kept(folder: &Path) -> bool {
    folder.join(SNAPSHOT).is_file() && folder.join(CONTENT).is_dir()
}

/// Whether a writer of what was to be at `target` ended too early and left a snapshot.
#[must_use]
pub fn is_abandoned(target: &Path) -> bool {
    begun_for(target).iter().any(|found| is_kept(&found.folder) && lock_of_ended(found).is_some())
}

/// Removes what writers of `target` left that ended too early.
pub fn forget_abandoned(target: &Path) {
    for found in begun_for(target).iter().filter(|found| found.lock.is_some()) {
        // What cannot be removed stays where it is.
        let _ = clear(&found.folder);
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
mod tests {
    use std::io::Write as _;

    use parallax_base::FolderSink as _;

    use super::*;
    use crate::{DiskSink, SnapshotPart, Unfinished, remove_abandoned};

    /// A folder of which a writer left a snapshot, and more that it wrote since.
    fn left(place: &Path) -> PathBuf {
        let target = place.join("run.parallax");
        let sink = DiskSink::new(&target).unwrap();
        let mut file = sink.create("a").unwrap();
        file.write_all(b"one, ").unwrap();
        file.flush().unwrap();
        let of_a = SnapshotPart { name: "a", written: 5, rest: b"and so on" };
        let of_b = SnapshotPart { name: "b", written: 0, rest: b"only here" };
        sink.snapshots().publish(&[of_a, of_b]).unwrap();
        file.write_all(b"two, and much more than was in the snapshot").unwrap();
        file.flush().unwrap();
        sink.create("src/x.c").unwrap().write_all(b"late").unwrap();
        sink.create("spool").unwrap().write_all(b"late").unwrap();
        // As if the process had been killed.
        drop(file);
        assert!(sink.keep_snapshot());
        drop(sink);
        target
    }

    fn found(path: &Path) -> Abandoned {
        match Abandoned::find(path).unwrap() {
            Left::Abandoned(found) => found,
            other => panic!("{other:?}"),
        }
    }

    fn text(path: PathBuf) -> String {
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn what_was_left_becomes_the_folder_that_its_last_snapshot_was() {
        let place = tempfile::tempdir().unwrap();
        let target = left(place.path());
        assert!(is_abandoned(&target));
        assert_eq!(remove_abandoned(place.path()), 0, "it may still be wanted");
        // By the name that it has, too.
        let hidden = found(&target).hidden().to_owned();
        assert_eq!(found(&hidden).target(), target);
        let output = place.path().join("other.parallax");
        fs::create_dir(&output).unwrap();
        let error = found(&target).complete(&output).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        found(&target).complete(&target).unwrap();
        assert_eq!(text(target.join("a")), "one, and so on");
        assert_eq!(text(target.join("b")), "only here");
        assert_eq!(fs::read_dir(&target).unwrap().count(), 2);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "nothing else is left");
        assert!(matches!(Abandoned::find(&target).unwrap(), Left::Nothing));
    }

    #[test]
    fn it_may_be_begun_several_times() {
        let place = tempfile::tempdir().unwrap();
        let target = left(place.path());
        // There is no such folder.
        let output = place.path().join("no/run.parallax");
        assert!(found(&target).complete(&output).is_err());
        let own = File::open(found(&target).hidden().join(SNAPSHOT)).unwrap();
        own.try_lock().unwrap();
        let error = found(&target).complete(&target).unwrap_err().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(own);
        found(&target).complete(&target).unwrap();
        assert_eq!(text(target.join("a")), "one, and so on");
    }

    #[test]
    fn what_is_written_or_has_no_snapshot_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("run.parallax");
        let unfinished = Unfinished::new(&target).unwrap();
        fs::create_dir(unfinished.content()).unwrap();
        assert!(matches!(Abandoned::find(&target).unwrap(), Left::Growing));
        let error = found(&left(&place.path().join("below"))).complete(&target).unwrap_err();
        assert!(error.to_string().contains("is writing it"), "{error}");
        unfinished.abandon();
        drop(unfinished);
        assert!(matches!(Abandoned::find(&target).unwrap(), Left::WithoutSnapshot));
        assert!(!is_abandoned(&target));
        assert_eq!(remove_abandoned(place.path()), 1);
        let folder = place.path().join(".run.parallax.other-1-0.partial");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("lock"), "").unwrap();
        assert!(
            matches!(Abandoned::find(&target).unwrap(), Left::OtherHost(host) if host == "other")
        );
        // The one of this host counts.
        let target = left(place.path());
        found(&target).complete(&target).unwrap();
    }

    #[test]
    fn what_another_host_began_is_left_alone_until_it_is_quiet() {
        let place = tempfile::tempdir().unwrap();
        let target = left(place.path());
        let hidden = place.path().join(".run.parallax.other-1-0.partial");
        fs::rename(found(&target).hidden(), &hidden).unwrap();
        assert!(matches!(Abandoned::find(&target).unwrap(), Left::OtherHost(_)));
        assert!(matches!(Abandoned::find(&hidden).unwrap(), Left::OtherHost(_)));
        assert!(!is_abandoned(&target));
        let quiet = |path: &Path| {
            let at = std::time::SystemTime::now() - QUIET * 2;
            File::open(path).unwrap().set_modified(at).unwrap();
        };
        let parts =
            ["content/src", "content/a", "content/spool", "content", "snapshot", "lock", ""];
        for part in parts {
            quiet(&hidden.join(part));
        }
        // One that has the lock lives.
        let lock = File::open(hidden.join(LOCK)).unwrap();
        lock.try_lock().unwrap();
        assert!(matches!(Abandoned::find(&target).unwrap(), Left::OtherHost(_)));
        drop(lock);
        assert!(is_abandoned(&target));
        found(&target).complete(&target).unwrap();
        assert_eq!(text(target.join("a")), "one, and so on");
    }

    #[test]
    fn damage_is_an_error_and_changes_nothing() {
        let place = tempfile::tempdir().unwrap();
        let target = left(place.path());
        let hidden = found(&target).hidden().to_owned();
        let (snapshot, content) = (hidden.join(SNAPSHOT), hidden.join(CONTENT).join("a"));
        let whole = [fs::read(&snapshot).unwrap(), fs::read(&content).unwrap()];
        for (path, whole, least) in
            [(&snapshot, &whole[0], whole[0].len()), (&content, &whole[1], "one, ".len())]
        {
            for len in 0..least {
                fs::write(path, whole.get(..len).unwrap()).unwrap();
                assert!(Abandoned::find(&target).is_err(), "{} of {}", len, path.display());
            }
            fs::write(path, whole).unwrap();
        }
        fs::remove_file(&content).unwrap();
        std::os::unix::fs::symlink(place.path().join("mine"), &content).unwrap();
        fs::write(place.path().join("mine"), "one, and mine").unwrap();
        let error = found(&target).complete(&target).unwrap_err().to_string();
        assert!(error.contains("is no file"), "{error}");
        assert_eq!(text(place.path().join("mine")), "one, and mine");
        forget_abandoned(&target);
        assert!(matches!(Abandoned::find(&target).unwrap(), Left::Nothing));
    }
}
