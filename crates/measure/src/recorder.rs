//! Where the bytes go: a chunk in memory for each thread, and one file.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::Site;

/// Tags of records; the numbers are those of the format.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(crate) enum Tag {
    Call = 1,
    Loop = 2,
    Iteration = 3,
    Leave = 4,
    Read = 5,
    Write = 6,
    Allocated = 7,
    Released = 8,
    Started = 9,
    Joined = 10,
    Acquired = 11,
    Releases = 12,
}

const HEADER_BYTES: usize = 2048;
const CHUNK_HEADER: usize = 64;
/// A chunk is written when it has so many bytes.
const CHUNK_BYTES: usize = 64 << 10;
const LONGEST_NAME: usize = 1000;
const PLACES: u32 = 1;
const EVENTS: u32 = 2;
const HEAP: u64 = 2;

/// The recording of this process.
struct Run {
    begin: Instant,
    /// `None` when nothing is recorded, or not any more.
    output: Mutex<Option<Output>>,
}

struct Output {
    file: File,
    num_sites: u32,
    num_threads: u64,
}

static RUN: OnceLock<Run> = OnceLock::new();

/// Begins a recording in a file; it replaces an older one there. Without this the first event
/// begins one where `PARALLAX_OUT` says.
///
/// # Errors
/// When the file cannot be made, or a recording has begun already.
pub fn start(path: impl AsRef<Path>) -> io::Result<()> {
    let run = Run::at(path.as_ref())?;
    RUN.set(run).map_err(|_| io::Error::other("a recording has begun already"))
}

/// Writes what this thread recorded so far. Other threads do when they end.
pub fn finish() {
    let _ = THREAD.try_with(|thread| thread.borrow_mut().flush());
}

fn run() -> &'static Run {
    RUN.get_or_init(|| {
        let path = std::env::var("PARALLAX_OUT").unwrap_or_else(|_| "parallax-run.plxm".into());
        if path.is_empty() {
            return Run { begin: Instant::now(), output: Mutex::new(None) };
        }
        let path = path.replace("%p", &std::process::id().to_string());
        Run::at(Path::new(&path)).unwrap_or_else(|error| {
            // No other part can say it: the measured program does not ask.
            eprintln!("parallax: nothing is recorded: {path}: {error}");
            Run { begin: Instant::now(), output: Mutex::new(None) }
        })
    })
}

impl Run {
    fn at(path: &Path) -> io::Result<Self> {
        // A file of an earlier run, or of another process, is replaced and not written over.
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let begin = Instant::now();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut header = b"PLXM\r\n\x1a\n".to_vec();
        header.extend(1_u32.to_le_bytes());
        header.extend(u32::try_from(HEADER_BYTES).unwrap_or(0).to_le_bytes());
        let wall = u64::try_from(since.as_nanos()).unwrap_or(0);
        for field in [1_000_000_000, 0, wall, u64::from(std::process::id())] {
            header.extend(field.to_le_bytes());
        }
        text(&mut header, &std::env::args().next().unwrap_or_default());
        header.resize(HEADER_BYTES, 0);
        file.write_all(&header)?;
        let output = Output { file, num_sites: 0, num_threads: 0 };
        Ok(Self { begin, output: Mutex::new(Some(output)) })
    }

    /// Does something with the file; a failure ends the recording.
    fn with<R>(&self, write: impl FnOnce(&mut Output) -> io::Result<R>) -> Option<R> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        match write(output.as_mut()?) {
            Ok(done) => Some(done),
            Err(error) => {
                eprintln!("parallax: recording ends: {error}");
                *output = None;
                None
            }
        }
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// What one thread recorded and did not write yet.
struct Recorder {
    chunk: Vec<u8>,
    /// The number of the thread, when it has one.
    number: Option<u64>,
    handle: u64,
    part: u32,
    depth: u32,
    nanos: u64,
    address: u64,
    is_off: bool,
}

thread_local! {
    static THREAD: RefCell<Recorder> = const { RefCell::new(Recorder {
        chunk: Vec::new(),
        number: None,
        handle: 0,
        part: 0,
        depth: 0,
        nanos: 0,
        address: 0,
        is_off: false,
    }) };
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Recorder {
    /// Begins a chunk where there is none. False when nothing is recorded.
    fn is_ready(&mut self) -> bool {
        if self.chunk.len() >= CHUNK_BYTES {
            self.flush();
        }
        if self.chunk.is_empty() && !self.is_off {
            let run = run();
            if self.number.is_none() {
                self.number = run.with(|output| {
                    output.num_threads += 1;
                    Ok(output.num_threads - 1)
                });
                self.is_off = self.number.is_none();
            }
            (self.nanos, self.address) = (run.nanos(), 0);
            self.chunk.reserve(CHUNK_BYTES + CHUNK_HEADER);
            let (number, handle) = (self.number.unwrap_or(0), self.handle);
            chunk_header(&mut self.chunk, EVENTS, self.part, [number, handle, self.nanos]);
        }
        !self.is_off
    }

    fn flush(&mut self) {
        if self.chunk.is_empty() {
            return;
        }
        close_chunk(&mut self.chunk);
        self.is_off |= run().with(|output| output.file.write_all(&self.chunk)).is_none();
        self.chunk.clear();
        self.part += 1;
    }

    fn number(&mut self, value: u64) {
        number(&mut self.chunk, value);
    }

    fn time(&mut self) {
        let now = run().nanos();
        let passed = now.saturating_sub(self.nanos);
        self.nanos += passed;
        self.number(passed);
    }

    /// The distance to the last address: steps forward even, steps back odd.
    fn place(&mut self, address: u64) {
        let step = address.wrapping_sub(self.address).cast_signed();
        self.address = address;
        self.number(((step << 1) ^ (step >> 63)).cast_unsigned());
    }
}

/// Records something when anything is recorded, and the thread is not ending.
fn record(write: impl FnOnce(&mut Recorder)) {
    let _ = THREAD.try_with(|thread| {
        let mut thread = thread.borrow_mut();
        if thread.is_ready() {
            write(&mut thread);
        }
    });
}

/// Enters a scope; returns how many are open around it.
pub(crate) fn enter(tag: Tag, site: Option<&'static Site>) -> u32 {
    let mut depth = 0;
    let _ = THREAD.try_with(|thread| {
        let mut thread = thread.borrow_mut();
        depth = thread.depth;
        thread.depth += 1;
        if thread.is_ready() {
            thread.chunk.push(tag as u8);
            thread.number(depth.into());
            if let Some(site) = site {
                thread.number(number_of(site));
            }
            thread.time();
        }
    });
    depth
}

/// Leaves the scope that was entered at a depth.
pub(crate) fn leave(depth: u32) {
    let _ = THREAD.try_with(|thread| {
        let mut thread = thread.borrow_mut();
        thread.depth = depth;
        if thread.is_ready() {
            thread.chunk.push(Tag::Leave as u8);
            thread.number(depth.into());
            thread.time();
        }
    });
}

pub(crate) fn access(tag: Tag, site: &'static Site, address: u64, bytes: usize) {
    record(|thread| {
        thread.chunk.push(tag as u8);
        thread.number(number_of(site));
        thread.place(address);
        thread.number(bytes as u64);
    });
}

pub(crate) fn allocated(site: &'static Site, address: u64, bytes: usize) {
    record(|thread| {
        thread.chunk.push(Tag::Allocated as u8);
        thread.number(number_of(site));
        thread.place(address);
        thread.number(bytes as u64);
        thread.number(HEAP);
        thread.time();
    });
}

/// What has a place and a time: memory given back, a lock.
pub(crate) fn at(tag: Tag, site: &'static Site, address: u64) {
    record(|thread| {
        thread.chunk.push(tag as u8);
        thread.number(number_of(site));
        thread.place(address);
        thread.time();
    });
}

pub(crate) fn thread(tag: Tag, site: &'static Site, handle: u64) {
    record(|thread| {
        thread.chunk.push(tag as u8);
        thread.number(number_of(site));
        thread.number(handle);
        thread.time();
    });
}

/// Says what this thread is known by.
pub(crate) fn begins(handle: u64) {
    let _ = THREAD.try_with(|thread| thread.borrow_mut().handle = handle);
}

/// The number of a site; writes down what it is before its first use.
fn number_of(site: &'static Site) -> u64 {
    let known = site.number.load(Ordering::Acquire);
    if known > 0 {
        return known.into();
    }
    let new = run().with(|output| {
        // Another thread may have been here first.
        let known = site.number.load(Ordering::Acquire);
        if known > 0 {
            return Ok(known);
        }
        output.num_sites += 1;
        let mut chunk = Vec::new();
        chunk_header(&mut chunk, PLACES, output.num_sites - 1, [0; 3]);
        chunk.push(1);
        number(&mut chunk, output.num_sites.into());
        number(&mut chunk, site.kind as u64);
        number(&mut chunk, site.line.into());
        for part in [site.name, site.file, site.function()] {
            text(&mut chunk, part);
        }
        close_chunk(&mut chunk);
        output.file.write_all(&chunk)?;
        site.number.store(output.num_sites, Ordering::Release);
        Ok(output.num_sites)
    });
    new.unwrap_or(0).into()
}

/// A header whose length is not known yet.
fn chunk_header(out: &mut Vec<u8>, kind: u32, part: u32, [thread, handle, nanos]: [u64; 3]) {
    out.extend(b"PLXCHUNK");
    out.extend(0_u64.to_le_bytes());
    out.extend(kind.to_le_bytes());
    out.extend(part.to_le_bytes());
    for field in [thread, handle, nanos] {
        out.extend(field.to_le_bytes());
    }
    out.resize(CHUNK_HEADER, 0);
}

/// Fills a chunk up to a whole number of headers, and says its length in its own.
fn close_chunk(chunk: &mut Vec<u8>) {
    chunk.resize(chunk.len().next_multiple_of(CHUNK_HEADER), 0);
    let length = (chunk.len() as u64).to_le_bytes();
    if let Some(field) = chunk.get_mut(8..16) {
        field.copy_from_slice(&length);
    }
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}

fn text(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes().get(..LONGEST_NAME).unwrap_or(text.as_bytes());
    number(out, bytes.len() as u64);
    out.extend(bytes);
}
