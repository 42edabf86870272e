//! What the tests of the OTF2 reader share: where traces are, and sources that cannot lend.

#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod print;
pub(crate) mod print_definitions;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_base::{
    ByteSource, Folder, FolderEntry, Issues, Limits, MemoryFolder, ReadError, Source,
};
use parallax_formats::FormatError;
use parallax_formats::otf2::{Archive, EventCounts, LocationId};
use parallax_testkit::needs::{self, Without};

/// The anchor of every trace in these tests.
pub(crate) const ANCHOR: &str = "traces.otf2";

/// The workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The trace with every record, written by the Python bindings of OTF2.
pub(crate) fn all_records() -> PathBuf {
    root().join("fixtures/otf2/all-records")
}

/// The traces of the corpus by their names; none where it is absent.
pub(crate) fn corpus(without: Without) -> Vec<(&'static str, PathBuf)> {
    let names =
        ["otf2/ping-pong-otf2", "otf2/ping-pong-otf2-papi", "otf2/tau-minife-4", "reactor/otf2-p4"];
    let Some(path) = needs::corpus_of(without) else { return Vec::new() };
    names.map(|name| (name, path.join("data").join(name))).to_vec()
}

/// The files of a trace, by their paths in its folder.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// Reads the files of the trace in `folder`.
pub(crate) fn files(folder: &Path) -> Files {
    let read = |path: &Path| std::fs::read(path).unwrap();
    let mut files = vec![
        (ANCHOR.to_owned(), read(&folder.join(ANCHOR))),
        ("traces.def".to_owned(), read(&folder.join("traces.def"))),
    ];
    for entry in std::fs::read_dir(folder.join("traces")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        files.push((format!("traces/{name}"), read(&path)));
    }
    files.sort();
    files
}

/// Files that lie in memory and are lent.
pub(crate) fn lending(files: &Files) -> Arc<dyn Folder> {
    Arc::new(MemoryFolder::new("a trace", files.iter().cloned()))
}

/// Files that cannot be lent, as in a browser.
pub(crate) fn copying(files: &Files) -> Arc<dyn Folder> {
    Arc::new(Copying(MemoryFolder::new("a trace", files.iter().cloned())))
}

struct Copying(MemoryFolder);

impl Folder for Copying {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        self.0.entries()
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        let found = self.0.open(path)?;
        Ok(found.map(|source| Arc::new(CopyingSource(source)) as Source))
    }
}

struct CopyingSource(Source);

impl ByteSource for CopyingSource {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.0.read_at(offset, buffer)
    }
}

/// Opens the trace in `folder`.
pub(crate) fn open(folder: &Arc<dyn Folder>, issues: &mut Issues) -> Result<Archive, FormatError> {
    Archive::open(folder, ANCHOR, Limits::default(), issues)
}

/// Opens the trace of `files`, which must be without a fault.
pub(crate) fn open_sound(files: &Files) -> Archive {
    let mut issues = Issues::new();
    let archive = open(&lending(files), &mut issues).unwrap();
    assert_eq!(issues, Issues::new());
    archive
}

/// All locations.
pub(crate) fn locations(archive: &Archive) -> Vec<LocationId> {
    archive.definitions().locations.iter().map(|(id, _)| id).collect()
}

/// Everything a trace says, as text, and how many events of each sort there are; an error as text
/// where it cannot be opened.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Everything {
    pub(crate) definitions: String,
    pub(crate) events: Vec<(u64, Vec<String>)>,
    pub(crate) counts: Vec<(u64, EventCounts)>,
}

/// Reads everything; what cannot be read is in `issues` or in the text.
pub(crate) fn everything(folder: &Arc<dyn Folder>, issues: &mut Issues) -> Everything {
    let mut found = Everything::default();
    let archive = match open(folder, issues) {
        Ok(archive) => archive,
        Err(error) => {
            found.definitions = error.to_string();
            return found;
        }
    };
    found.definitions = format!("{:?}{:?}", archive.anchor(), archive.definitions());
    for location in locations(&archive) {
        let Some(file) = archive.events(location, issues).unwrap() else { continue };
        let mut events = Vec::new();
        let mut counts = EventCounts::default();
        match file.reader() {
            Ok(mut reader) => {
                while let Some(record) = reader.next(issues).unwrap() {
                    events.push(format!("{record:?}"));
                    counts.add(&record);
                }
                assert_eq!(reader.seen(), counts.total());
            }
            Err(error) => events.push(error.to_string()),
        }
        found.events.push((location.0, events));
        found.counts.push((location.0, counts));
    }
    found
}
