//! Folders that can be looked at while they are written.
//!
//! Next to its unfinished files ([`Unfinished`](crate::Unfinished)), a writer keeps a file `snapshot`:
//! for each file, how many bytes of what is written are part of the snapshot, and the bytes that follow
//! them. Files only grow, so that both together stay what they are while the writer goes on. A new
//! snapshot takes the place of the one before at once; who has that one open keeps it.
//!
//! A snapshot is made now and then, so that what is written is not lost with its writer
//! ([`Abandoned`](crate::Abandoned)), and when somebody asks for one, by making a file `wanted`, which
//! the writer takes away again. Whoever looks no more, however that ended, asks no more.
//!
//! ```text
//! .NAME.HOST-PID-N.partial/  lock  content/FILE...  snapshot  wanted
//! snapshot  magic (8 bytes), length of the index (8), index, bytes of all files
//! index     for each file a line: bytes of it in content, bytes of it here, its name
//! ```

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use parallax_base::{
    ByteSource, Folder, FolderEntry, ReadError, Source, StableHash, Survey, Writing, end_inside,
};

use crate::unfinished::{Begun, CONTENT, begun_for};
use crate::{DiskFolder, StreamedFile, file_stamp};

pub(crate) const SNAPSHOT: &str = "snapshot";
/// A snapshot that is not complete yet.
const NEXT: &str = "snapshot.new";
const WANTED: &str = "wanted";
const MAGIC: &[u8; 8] = b"PLXSNAP1";
/// Bytes of an index at most: it names the files of an archive.
const MOST_INDEX: u64 = 1 << 20;

/// A file of a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotPart<'p> {
    /// Its name.
    pub name: &'p str,
    /// How many bytes of the file that is written are its first ones.
    pub written: u64,
    /// The bytes that follow them.
    pub rest: &'p [u8],
}

/// Snapshots of a folder, from the side of the one who writes it.
#[derive(Debug, Clone)]
pub struct Snapshots {
    folder: PathBuf,
}

impl Snapshots {
    pub(crate) const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Whether somebody asked for a snapshot since this was asked last.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        fs::remove_file(self.folder.join(WANTED)).is_ok()
    }

    /// Puts a snapshot in the place of the one before. What the files have of it must be written.
    ///
    /// # Errors
    /// When it cannot be written; then the one before stays.
    pub fn publish(&self, parts: &[SnapshotPart<'_>]) -> io::Result<()> {
        let next = self.folder.join(NEXT);
        let written =
            write(&next, parts).and_then(|()| fs::rename(&next, self.folder.join(SNAPSHOT)));
        if written.is_err() {
            // It takes room that the files need.
            let _ = fs::remove_file(&next);
        }
        written
    }
}

fn write(path: &Path, parts: &[SnapshotPart<'_>]) -> io::Result<()> {
    let line =
        |part: &SnapshotPart<'_>| format!("{} {} {}\n", part.written, part.rest.len(), part.name);
    let index: String = parts.iter().map(line).collect();
    let mut file = io::BufWriter::with_capacity(1 << 18, File::create(path)?);
    file.write_all(MAGIC)?;
    file.write_all(&(index.len() as u64).to_le_bytes())?;
    file.write_all(index.as_bytes())?;
    for part in parts {
        file.write_all(part.rest)?;
    }
    file.flush()
}

/// What there is to see of something that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveState {
    /// Nothing: nobody writes it.
    Absent,
    /// It is written, and has no snapshot yet.
    Begun,
    /// It is written, and there is a snapshot.
    Growing,
    /// Its writer ended before it was complete. There is a last snapshot.
    Abandoned,
    /// It is complete.
    Complete,
}

/// A folder that may still be written: its newest snapshot, and the folder itself when it is complete.
///
/// What it shows changes when [`LiveFolder::look`] or [`Folder::fingerprint`] are asked and at no other
/// time.
pub struct LiveFolder {
    target: PathBuf,
    name: String,
    shown: Mutex<Shown>,
}

/// What a live folder shows.
#[derive(Clone, Default)]
struct Shown {
    folder: Option<Arc<dyn Folder>>,
    stamp: u64,
    writing: Writing,
    /// Keeps others from removing what its writer left.
    _lock: Option<Arc<File>>,
}

impl LiveFolder {
    /// What is or will be at `target`.
    #[must_use]
    pub fn new(target: &Path) -> Self {
        let name = target.display().to_string();
        Self { target: target.to_owned(), name, shown: Mutex::new(Shown::default()) }
    }

    /// Looks what there is now, and asks for a snapshot that is newer.
    ///
    /// # Errors
    /// When what is there cannot be read, or nobody can be asked.
    pub fn look(&self) -> io::Result<LiveState> {
        // It may become complete between two steps; there is nothing else then.
        for _ in 0..3 {
            if self.target.is_dir() {
                let folder = DiskFolder::streamed(&self.target);
                let stamp = folder.fingerprint().map_err(io::Error::other)?;
                let writing = Writing::Complete;
                self.show(Shown { folder: Some(Arc::new(folder)), stamp, writing, _lock: None });
                return Ok(LiveState::Complete);
            }
            let Some(found) = begun_for(&self.target).into_iter().next() else { continue };
            match self.look_at(found) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => return other,
            }
        }
        // Its writer gave up, and what was seen of it stays.
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.writing == Writing::Growing {
            shown.writing = Writing::Abandoned;
        }
        Ok(LiveState::Absent)
    }

    /// What there is now, without asking for anything.
    #[must_use]
    pub fn state(&self) -> LiveState {
        if self.target.is_dir() {
            return LiveState::Complete;
        }
        let found = begun_for(&self.target).into_iter().next();
        let Some(Begun { folder, lock, .. }) = found else {
            // It may have become complete since.
            return if self.target.is_dir() { LiveState::Complete } else { LiveState::Absent };
        };
        match (folder.join(SNAPSHOT).exists(), lock.is_none()) {
            (true, true) => LiveState::Growing,
            (false, true) => LiveState::Begun,
            (true, false) => LiveState::Abandoned,
            (false, false) => LiveState::Absent,
        }
    }

    fn look_at(&self, found: Begun) -> io::Result<LiveState> {
        let Begun { folder, lock, .. } = found;
        let is_written = lock.is_none();
        if is_written {
            File::create(folder.join(WANTED))?;
        }
        let path = folder.join(SNAPSHOT);
        let stamp = match file_stamp(&path) {
            Ok(stamp) => stamp,
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_written => {
                // What was there before is of another writer.
                return Ok(LiveState::Begun);
            }
            // Who ended without a snapshot leaves nothing to see.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LiveState::Absent),
            Err(error) => return Err(error),
        };
        let before = self.shown();
        let own = if before.folder.is_some() && before.stamp == stamp {
            before.folder
        } else {
            let snapshot = Snapshot::open(&self.name, &folder, &path)?;
            Some(Arc::new(snapshot) as Arc<dyn Folder>)
        };
        let writing = if is_written { Writing::Growing } else { Writing::Abandoned };
        self.show(Shown { folder: own, stamp, writing, _lock: lock.map(Arc::new) });
        Ok(if is_written { LiveState::Growing } else { LiveState::Abandoned })
    }

    fn show(&self, shown: Shown) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = shown;
    }

    fn shown(&self) -> Shown {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Folder for LiveFolder {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        self.shown().folder.map_or_else(|| Ok(Vec::new()), |folder| folder.entries())
    }

    fn survey(&self) -> Result<Survey, ReadError> {
        self.shown().folder.map_or_else(|| Ok(Survey::default()), |folder| folder.survey())
    }

    fn fingerprint(&self) -> Result<u64, ReadError> {
        let cause = |error: io::Error| ReadError::Storage { offset: 0, cause: error.to_string() };
        self.look().map_err(cause)?;
        Ok(StableHash::of(&self.shown().stamp.to_le_bytes()).bits())
    }

    fn writing(&self) -> Writing {
        self.shown().writing
    }

    fn frozen(&self) -> Option<Arc<dyn Folder>> {
        self.shown().folder
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        self.shown().folder.map_or(Ok(None), |folder| folder.open(path))
    }
}

/// A snapshot that is open, and stays what it is.
#[derive(Debug)]
pub(crate) struct Snapshot {
    name: String,
    pub(crate) files: BTreeMap<String, Joined>,
}

/// The start of a file that is still written, and what follows in a snapshot.
#[derive(Debug, Clone)]
pub(crate) struct Joined {
    start: Option<Arc<StreamedFile>>,
    pub(crate) start_len: u64,
    rest: Arc<StreamedFile>,
    rest_at: u64,
    rest_len: u64,
}

impl Snapshot {
    pub(crate) fn open(name: &str, folder: &Path, path: &Path) -> io::Result<Self> {
        let rest = Arc::new(StreamedFile::open(path)?);
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a snapshot that is damaged");
        let mut head = [0; 16];
        rest.read_at(0, &mut head).map_err(io::Error::other)?;
        let (magic, size) = head.split_first_chunk::<8>().ok_or_else(damaged)?;
        let size = size.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if magic != MAGIC || size > MOST_INDEX {
            return Err(damaged());
        }
        let mut index = vec![0; usize::try_from(size).map_err(io::Error::other)?];
        rest.read_at(16, &mut index).map_err(io::Error::other)?;
        let index = String::from_utf8(index).map_err(io::Error::other)?;
        let mut files = BTreeMap::new();
        let mut at = 16 + size;
        for line in index.lines() {
            let mut words = line.splitn(3, ' ');
            let mut number = || words.next()?.parse::<u64>().ok();
            let (Some(start_len), Some(rest_len)) = (number(), number()) else {
                return Err(damaged());
            };
            let file = words.next().filter(|file| !file.contains('/')).ok_or_else(damaged)?;
            end_inside(at, rest_len, rest.len()).map_err(io::Error::other)?;
            let start = if start_len == 0 {
                None
            } else {
                // It stays open when the folder is complete and has another name.
                let start = StreamedFile::open(&folder.join(CONTENT).join(file))?;
                end_inside(0, start_len, start.len()).map_err(io::Error::other)?;
                Some(Arc::new(start))
            };
            let joined =
                Joined { start, start_len, rest: Arc::clone(&rest), rest_at: at, rest_len };
            files.insert(file.to_owned(), joined);
            at += rest_len;
        }
        Ok(Self { name: name.to_owned(), files })
    }
}

impl Folder for Snapshot {
    fn name(&self) -> &str {
        &self.name
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        let entry = |(path, file): (&String, &Joined)| FolderEntry {
            path: path.clone(),
            len: ByteSource::len(file),
        };
        Ok(self.files.iter().map(entry).collect())
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        Ok(self.files.get(path).map(|file| Arc::new(file.clone()) as Source))
    }
}

impl ByteSource for Joined {
    fn len(&self) -> u64 {
        self.start_len + self.rest_len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        end_inside(offset, buffer.len() as u64, ByteSource::len(self))?;
        let before = self.start_len.saturating_sub(offset);
        let before = usize::try_from(before).unwrap_or(usize::MAX).min(buffer.len());
        let (first, second) = buffer.split_at_mut(before);
        if let (Some(start), false) = (&self.start, first.is_empty()) {
            start.read_at(offset, first)?;
        }
        if second.is_empty() {
            return Ok(());
        }
        self.rest.read_at(self.rest_at + offset.saturating_sub(self.start_len), second)
    }

    fn scratch(&self) -> Option<Arc<dyn parallax_base::paged::Scratch>> {
        self.rest.scratch()
    }
}

#[cfg(test)]
mod tests {
    use parallax_base::{FolderSink as _, read_range};

    use super::*;
    use crate::DiskSink;

    fn text(folder: &dyn Folder, path: &str) -> String {
        let source = folder.open(path).unwrap().unwrap();
        let whole = read_range(&*source, 0, source.len()).unwrap().into_owned();
        for at in 0..source.len() {
            let part = read_range(&*source, at, source.len() - at).unwrap();
            assert_eq!(*part, whole[usize::try_from(at).unwrap()..]);
        }
        String::from_utf8(whole).unwrap()
    }

    #[test]
    fn what_is_written_is_seen_when_somebody_asks_and_stays_as_it_was_seen() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("run.parallax");
        let live = LiveFolder::new(&target);
        assert_eq!(live.look().unwrap(), LiveState::Absent);
        let sink = DiskSink::new(&target).unwrap();
        let snapshots = sink.snapshots();
        assert!(!snapshots.is_wanted(), "nobody looked");
        assert_eq!(live.look().unwrap(), LiveState::Begun);
        assert!(snapshots.is_wanted() && !snapshots.is_wanted(), "asked once");
        let mut file = sink.create("a").unwrap();
        let mut publish = |more: &str, written, rest: &str| {
            file.write_all(more.as_bytes()).unwrap();
            file.flush().unwrap();
            let of_a = SnapshotPart { name: "a", written, rest: rest.as_bytes() };
            let of_b = SnapshotPart { name: "b", written: 0, rest: b"only here" };
            snapshots.publish(&[of_a, of_b]).unwrap();
        };
        publish("one, ", 5, "and so on");
        assert_eq!(live.look().unwrap(), LiveState::Growing);
        let (first, stamp) = (live.frozen().unwrap(), live.fingerprint().unwrap());
        assert_eq!(stamp, live.fingerprint().unwrap());
        assert_eq!(text(&*first, "a"), "one, and so on");
        assert_eq!(text(&*first, "b"), "only here");
        assert!(first.open("c").unwrap().is_none());
        publish("two, ", 10, "three");
        assert_eq!(text(&live, "a"), "one, and so on", "nobody looked");
        assert_ne!(stamp, live.fingerprint().unwrap());
        assert_eq!(text(&live, "a"), "one, two, three");
        assert_eq!(text(&*first, "a"), "one, and so on", "what was seen stays");
        let second = live.frozen().unwrap();
        publish("end", 0, "");
        drop(file);
        sink.publish().unwrap();
        drop(sink);
        assert_eq!(text(&*second, "a"), "one, two, three", "although it is complete");
        assert_eq!(live.look().unwrap(), LiveState::Complete);
        assert_eq!(text(&live, "a"), "one, two, end");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1, "nothing else is left");
    }
}
