//! How fast the events of OTF2 traces are read, compared with the tools of OTF2 on the same trace.
//!
//! `cargo run --release -p parallax-formats --example otf2_throughput -- [EVENTS] [PYTHON]`
//! writes a trace of about that many events (10 million otherwise) on one location, reads it three
//! ways and prints events per second. Where `otf2-print` is installed it reads the trace, too; with
//! the path of a Python that has the package `otf2`, that reads it, and writes one of a tenth of
//! the events, which is read as well.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use parallax_base::{
    ByteSource, Folder, FolderEntry, Issues, Limits, MemoryFolder, ReadError, Source,
};
use parallax_formats::FormatError;
use parallax_formats::otf2::{Archive, Event, EventFile, LocationId};
use parallax_testkit::otf2::{Shape, generate};

/// Writes a trace with the package of OTF2: arguments are a folder and a number of calls.
const WRITE: &str = "
import sys, otf2
folder, calls = sys.argv[1], int(sys.argv[2])
with otf2.writer.open(folder, timer_resolution=10**9) as trace:
    d = trace.definitions
    root = d.system_tree_node('machine')
    group = d.location_group('rank 0', system_tree_parent=root)
    region = d.region('step')
    writer = trace.event_writer('thread 0', group=group)
    for i in range(calls):
        writer.enter(10**12 + 200 * i, region)
        writer.leave(10**12 + 200 * i + 100, region)
";

/// Reads all events with the package of OTF2: the argument is the anchor.
const READ: &str = "
import sys, time, otf2
start = time.time()
with otf2.reader.open(sys.argv[1]) as trace:
    count = sum(1 for _ in trace.events)
print(count, time.time() - start)
";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let events: u64 = arguments.next().map_or(Ok(10_000_000), |n| n.parse())?;
    let python = arguments.next();
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("kit");
    write_generated(&path, events / 2)?;
    println!("a trace of {events} events, written by the kit of the tests");
    measure(&path)?;
    peers(&path, python.as_deref());
    if let Some(python) = &python {
        let path = folder.path().join("wheel");
        let calls = (events / 20).to_string();
        let status = Command::new(python).args(["-c", WRITE]).arg(&path).arg(&calls).status()?;
        println!("a trace of {} events, written by the Python package: {status}", events / 10);
        measure(&path)?;
        peers(&path, Some(python));
    }
    Ok(())
}

fn write_generated(path: &Path, calls: u64) -> std::io::Result<()> {
    fs::create_dir_all(path.join("traces"))?;
    let shape = Shape { locations: 1, calls, message_every: 0, ..Shape::default() };
    for (name, bytes) in generate(&shape).0 {
        fs::write(path.join(name), bytes)?;
    }
    Ok(())
}

fn report(what: &str, events: u64, seconds: f64) {
    println!(
        "{what:32} {events:10} events {seconds:8.3} s {:8.2} M/s",
        events as f64 / seconds / 1e6
    );
}

/// Reads the trace from memory, once for the counts and once for times and regions, and from disk.
fn measure(path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let names = ["traces.otf2", "traces.def", "traces/0.def", "traces/0.evt"];
    let mut files = Vec::new();
    for name in names {
        files.push((name.to_owned(), fs::read(path.join(name))?));
    }
    let memory: Arc<dyn Folder> = Arc::new(MemoryFolder::new("memory", files));
    let disk: Arc<dyn Folder> = Arc::new(Disk(path.to_owned()));
    for (what, folder) in [("lent, counted", &memory), ("copied by chunks, counted", &disk)] {
        let start = Instant::now();
        let counts = open(folder)?.count(&mut Issues::new())?;
        report(what, counts.total(), start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    let file = open(&memory)?;
    let (mut reader, mut issues) = (file.reader()?, Issues::new());
    let mut sum = 0_u64;
    while let Some(record) = reader.next(&mut issues)? {
        if let Event::Enter { region } | Event::Leave { region } = record.event {
            sum = sum.wrapping_mul(31).wrapping_add(record.ticks ^ u64::from(region.0));
        }
    }
    report("lent, times and regions", reader.seen(), start.elapsed().as_secs_f64());
    println!("(sum {sum:x}, {} issues)", issues.len());
    Ok(())
}

fn open(folder: &Arc<dyn Folder>) -> Result<EventFile, FormatError> {
    let mut issues = Issues::new();
    let archive = Archive::open(folder, "traces.otf2", Limits::default(), &mut issues)?;
    let file = archive.events(LocationId(0), &mut issues)?;
    file.ok_or_else(|| FormatError::malformed("traces.otf2", 0, "there are no events"))
}

/// The tools of OTF2 on the same trace.
fn peers(path: &Path, python: Option<&str>) {
    let anchor = path.join("traces.otf2");
    for (what, argument) in
        [("otf2-print --silent", "--silent"), ("otf2-print", "--timestamps=plain")]
    {
        let start = Instant::now();
        let mut command = Command::new("otf2-print");
        let status = command.arg(argument).arg(&anchor).stdout(Stdio::null()).status();
        match status {
            Ok(status) => println!("{what:32} {status} {:8.3} s", start.elapsed().as_secs_f64()),
            Err(_) => println!("{what:32} is not installed"),
        }
    }
    let Some(python) = python else { return };
    if let Ok(output) = Command::new(python).args(["-c", READ]).arg(&anchor).output() {
        println!(
            "{:32} events, seconds: {}",
            "the Python package",
            String::from_utf8_lossy(&output.stdout).trim()
        );
    }
}

/// Files that are read piece by piece.
struct Disk(std::path::PathBuf);

impl Folder for Disk {
    fn name(&self) -> &str {
        "disk"
    }

    fn entries(&self) -> Result<Vec<FolderEntry>, ReadError> {
        Ok(Vec::new())
    }

    fn open(&self, path: &str) -> Result<Option<Source>, ReadError> {
        let Ok(file) = fs::File::open(self.0.join(path)) else { return Ok(None) };
        let len = file.metadata().map_err(|error| storage(0, &error))?.len();
        Ok(Some(Arc::new(DiskFile { file, len })))
    }
}

struct DiskFile {
    file: fs::File,
    len: u64,
}

impl ByteSource for DiskFile {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.file.read_exact_at(buffer, offset).map_err(|error| storage(offset, &error))
    }
}

fn storage(offset: u64, error: &std::io::Error) -> ReadError {
    ReadError::Storage { offset, cause: error.to_string() }
}
