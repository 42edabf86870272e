//! Databases of Parceive whose instructions are read on demand say the same as those whose
//! instructions are kept.

#![allow(clippy::unwrap_used, reason = "tests may stop")]

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use parallax_base::paged::{Scratch, ScratchError};
use parallax_base::{ByteSource, Limits, MemorySource, ReadError, Source};
use parallax_import::{ImportError, open_file};
use parallax_model::Experiment;
use parallax_testkit::parceive::{Program, Schema};
use parallax_testkit::parceive_tags::Tagged;
use parallax_testkit::sqlite;

/// A file that cannot be borrowed, as in a browser, and that is lost after some reads.
struct Copying {
    file: Source,
    reads_left: AtomicU32,
}

impl Copying {
    fn shared(file: Source, reads: u32) -> Source {
        Arc::new(Self { file, reads_left: AtomicU32::new(reads) })
    }
}

impl ByteSource for Copying {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let left = self.reads_left.load(Ordering::Relaxed);
        if left == 0 {
            return Err(ReadError::Storage { offset, cause: "it was removed".into() });
        }
        self.reads_left.store(left - 1, Ordering::Relaxed);
        self.file.read_at(offset, buffer)
    }
}

fn open(bytes: &[u8], kept_rows: u64, is_copying: bool) -> Experiment {
    let file = MemorySource::shared(bytes.to_vec());
    let source = if is_copying { Copying::shared(file, u32::MAX) } else { file };
    let limits = Limits { kept_rows, ..Limits::default() };
    open_file(&source, "test.db", &limits).unwrap()
}

/// Everything that is said of a run.
fn described(experiment: &Experiment) -> Vec<String> {
    let a = experiment.activations.as_ref().unwrap();
    let tree = &a.tree;
    let mut lines: Vec<String> = Vec::new();
    for at in tree.iter() {
        let context = experiment.contexts.label(tree.context(at));
        let (parent, line, number) = (tree.parent(at), tree.line(at), tree.number(at));
        let (time, thread, id) = (tree.time(at), tree.thread(at), tree.source_id(at));
        lines.push(format!("{context} {parent:?} {line} {number} {time:?} {thread:?} {id}"));
        lines.extend(a.touches.of(at).map(|touch| format!("  {touch:?}")));
    }
    lines.extend((0..a.touches.len()).map(|at| format!("{:?}", a.touches.bytes(at))));
    lines.extend(a.references.iter().map(|reference| format!("{reference:?}")));
    lines.extend(a.syncs.iter().map(|sync| format!("{sync:?}")));
    lines.extend(a.threads.iter().map(|thread| format!("{thread:?}")));
    lines.extend(a.tags.iter().map(|tag| format!("{tag:?}")));
    let issues = experiment.issues.list().iter();
    lines.extend(issues.map(|issue| format!("{} {}", issue.kind, issue.count)));
    lines
}

/// Programs with threads, locks and damage, in both schemas.
fn databases() -> Vec<Vec<u8>> {
    let changed = |schema, sql: &str| {
        let program = Program { schema, ..Program::default() };
        sqlite::bytes(|connection| {
            program.write(connection)?;
            connection.execute_batch(sql)
        })
    };
    let locks = "ALTER TABLE Access ADD COLUMN Address INTEGER;
                 ALTER TABLE Access ADD COLUMN Size INTEGER;
                 UPDATE Access SET Address = 4096 + Id * 8, Size = 8;
                 UPDATE Instruction SET Type = 6 WHERE Id % 97 = 5;
                 UPDATE Instruction SET Type = 7 WHERE Id % 97 = 9;";
    vec![
        changed(Schema::Y2016, ""),
        changed(Schema::Y2015, ""),
        changed(Schema::Y2016, locks),
        // Gaps between ids, and accesses in another order than instructions.
        changed(
            Schema::Y2016,
            "DELETE FROM Instruction WHERE Id % 7 = 3;
             UPDATE Access SET Instruction = 700 - Instruction WHERE Id % 2 = 0",
        ),
        // Ids that do not ascend: the table has to be kept after all.
        changed(
            Schema::Y2015,
            "CREATE TABLE Moved AS SELECT * FROM Instruction WHERE Id % 5 = 1;
             DELETE FROM Instruction WHERE Id % 5 = 1;
             INSERT INTO Instruction SELECT * FROM Moved ORDER BY Id DESC",
        ),
        Tagged::Dependent.bytes(),
        Tagged::Straddling.bytes(),
    ]
}

#[test]
fn instructions_that_are_read_on_demand_are_those_that_are_kept() {
    for (number, bytes) in databases().iter().enumerate() {
        let kept = described(&open(bytes, 1 << 20, false));
        assert!(kept.len() > 10);
        for (kept_rows, is_copying) in [(0, false), (0, true), (100, true), (1 << 20, true)] {
            let other = described(&open(bytes, kept_rows, is_copying));
            assert!(other == kept, "database {number}, {kept_rows} rows, copying: {is_copying}");
        }
    }
}

/// A file with room outside of memory, which may be full.
struct WithRoom {
    file: Source,
    room: Arc<Room>,
}

#[derive(Default)]
struct Room {
    bytes: Mutex<Vec<u8>>,
    most: Option<usize>,
    is_lost: AtomicBool,
}

impl Scratch for Room {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), ScratchError> {
        let (mut own, from) = (self.bytes.lock().unwrap(), usize::try_from(offset).unwrap());
        let len = own.len().max(from + bytes.len());
        if self.most.is_some_and(|most| len > most) {
            return Err(ScratchError("no space left".to_owned()));
        }
        own.resize(len, 0);
        own[from..from + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ScratchError> {
        if self.is_lost.load(Ordering::Relaxed) {
            return Err(ScratchError("it was cut".to_owned()));
        }
        let from = usize::try_from(offset).unwrap();
        buffer.copy_from_slice(&self.bytes.lock().unwrap()[from..from + buffer.len()]);
        Ok(())
    }
}

impl ByteSource for WithRoom {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.file.read_at(offset, buffer)
    }

    fn scratch(&self) -> Option<Arc<dyn Scratch>> {
        Some(Arc::clone(&self.room) as Arc<dyn Scratch>)
    }
}

/// More calls, iterations and variables than are at hand at once.
fn large() -> Source {
    let program = Program { rounds: 300, depth: 30, inner: 9, accesses: 2, ..Program::default() };
    MemorySource::shared(program.bytes())
}

#[test]
fn what_leaves_memory_says_the_same() {
    let (file, room) = (large(), Arc::new(Room::default()));
    let kept = described(&open_file(&file, "large.db", &Limits::default()).unwrap());
    let source: Source = Arc::new(WithRoom { file, room: Arc::clone(&room) });
    let limits = Limits { paged_bytes: 0, ..Limits::default() };
    let experiment = open_file(&source, "large.db", &limits).unwrap();
    assert!(room.bytes.lock().unwrap().len() > 1 << 20);
    assert!(described(&experiment) == kept);

    // The file is lost later: answers are errors.
    let a = experiment.activations.unwrap();
    a.check().unwrap();
    room.is_lost.store(true, Ordering::Relaxed);
    let visited = a.touches.all().count();
    assert_eq!(visited, a.touches.len());
    assert!(a.check().unwrap_err().to_string().contains("it was cut"));
}

#[test]
fn room_that_is_full_is_an_error_that_says_so() {
    let room = Arc::new(Room { most: Some(1 << 19), ..Room::default() });
    let source: Source = Arc::new(WithRoom { file: large(), room });
    let limits = Limits { paged_bytes: 0, ..Limits::default() };
    let error = open_file(&source, "large.db", &limits).err().unwrap();
    assert_eq!(error.to_string(), "cannot open large.db: large.db: no space left");
}

#[test]
fn a_file_that_is_lost_at_any_moment_is_an_error() {
    let file = MemorySource::shared(Program::default().bytes());
    let limits = Limits { kept_rows: 0, ..Limits::default() };
    let mut reads = 1;
    // The first bytes alone do not say that it is a database.
    loop {
        let source = Copying::shared(Source::clone(&file), reads);
        let Err(error) = open_file(&source, "lost.db", &limits) else { break };
        let text = format!("{error:?}");
        let is_said =
            text.contains("it was removed") || matches!(error, ImportError::NotRecognised { .. });
        assert!(is_said, "after {reads} reads: {text}");
        reads += 1;
    }
    // Tables of calls, instructions, segments and accesses are read, and pages of instructions.
    assert!(reads > 20, "{reads}");
}
