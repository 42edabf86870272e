//! Times of regions, for `parallax measure`: what `pascalops.h` is for C.
//!
//! ```no_run
//! use parallax_measure::pascal;
//!
//! let _assemble = pascal::region(1);
//! {
//!     // Region 1.2, until the end of the block.
//!     let _exchange = pascal::region(2);
//! }
//! ```
//!
//! The same name as an attribute marks a whole function:
//!
//! ```no_run
//! use parallax_measure::pascal::region;
//!
//! #[region(3)]
//! fn exchange() {}
//! # exchange();
//! ```
//!
//! Without `parallax measure` the marks do nothing. A thread writes its times when it ends, the main
//! thread when the process ends, and each when it has collected 64 KiB (every millisecond with
//! `--estimate-from`): a process that is killed loses what came after, other than with the header. `docs/sweep.md` says more.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::panic::Location;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub use parallax_measure_macros::region;

// The bytes are those of include/pascalops.h.
const PAGE: u64 = 65_536;
const BLOCK: u64 = 256 << 10;
const DEFINITION: u32 = 1;
const ENTRY: u32 = 2;
const LONGEST_FILE: usize = 255;
/// No record is longer, with the end behind it.
const ROOM: u64 = 24 + 256 + 8;
/// Bytes that a thread collects.
const COLLECTED: usize = 64 << 10;
/// How long a thread collects where somebody waits for what it writes.
const COLLECTED_NANOS: u64 = 1_000_000;

/// The file of this process, where its regions are recorded.
struct Run {
    file: File,
    begin: Instant,
    blocks: AtomicU64,
    threads: AtomicU64,
    most_blocks: u64,
    /// Whether what is written is read meanwhile: by `parallax measure --estimate-from`.
    is_live: bool,
}

static RUN: OnceLock<Option<Run>> = OnceLock::new();

fn run() -> Option<&'static Run> {
    RUN.get_or_init(|| {
        let folder = std::env::var_os("PARALLAX_REGIONS").filter(|folder| !folder.is_empty())?;
        Run::new(Path::new(&folder)).map_err(|error| told(&error)).ok()
    })
    .as_ref()
}

fn told(error: &io::Error) {
    // No other part can say it: the measured program does not ask.
    eprintln!("parallax: regions are not recorded: {error}");
}

impl Run {
    fn new(folder: &Path) -> io::Result<Self> {
        let path = folder.join(format!("{}.regions", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        let begin = Instant::now();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall = u64::try_from(since.as_nanos()).unwrap_or(0);
        // Ticks are nanoseconds since the beginning, and so is the monotonic clock.
        let mut head = b"PLXREGN1".to_vec();
        for number in [wall, 0, u64::from(std::process::id()), 0, 0, 0, 0] {
            head.extend(number.to_ne_bytes());
        }
        write_at(&file, &head, 0)?;
        file.set_len(PAGE)?;
        let limit = std::env::var("PARALLAX_LIMIT_MB").ok().and_then(|text| text.parse().ok());
        let most_blocks = (limit.unwrap_or(1024_u64) << 20).saturating_sub(PAGE) / BLOCK;
        let (blocks, threads) = (AtomicU64::new(0), AtomicU64::new(0));
        let is_live = std::env::var_os("PARALLAX_REGIONS_LIVE").is_some();
        Ok(Self { file, begin, blocks, threads, most_blocks, is_live })
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_at(_file: &File, _bytes: &[u8], _at: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What a thread has open, and what it has not written yet.
#[derive(Default)]
struct Thread {
    number: Option<u64>,
    /// Where the collected bytes go, and how much of the block is left behind them.
    at: u64,
    left: u64,
    collected: Vec<u8>,
    /// When it was written the last time.
    written_nanos: u64,
    nodes: HashMap<(u32, i64), u32>,
    open: Vec<u32>,
    is_off: bool,
}

thread_local! {
    static THREAD: RefCell<Thread> = RefCell::default();
}

impl Thread {
    /// Makes room for a record.
    fn room(&mut self, run: &Run) -> io::Result<()> {
        if self.left >= ROOM {
            return Ok(());
        }
        self.flush(run)?;
        let number =
            *self.number.get_or_insert_with(|| run.threads.fetch_add(1, Ordering::Relaxed));
        let block = run.blocks.fetch_add(1, Ordering::Relaxed);
        if block >= run.most_blocks {
            write_at(&run.file, &[1], 32)?;
            return Err(io::Error::other("they take as much as PARALLAX_LIMIT_MB allows"));
        }
        (self.at, self.left) = (PAGE + block * BLOCK, BLOCK);
        // Read as zeros up to its end.
        write_at(&run.file, &[0], self.at + BLOCK - 1)?;
        self.push(&number.to_ne_bytes());
        Ok(())
    }

    fn push(&mut self, bytes: &[u8]) {
        self.collected.extend_from_slice(bytes);
        self.left = self.left.saturating_sub(bytes.len() as u64);
    }

    fn flush(&mut self, run: &Run) -> io::Result<()> {
        write_at(&run.file, &self.collected, self.at)?;
        self.at += self.collected.len() as u64;
        self.collected.clear();
        Ok(())
    }

    fn enter(&mut self, run: &Run, id: i64, file: &str) -> io::Result<u32> {
        self.room(run)?;
        let around = self.open.last().copied().unwrap_or(0);
        let next = u32::try_from(self.nodes.len() + 1).map_err(io::Error::other)?;
        let node = *self.nodes.entry((around, id)).or_insert(next);
        if node == next {
            let name = file.as_bytes();
            let name = name.get(name.len().saturating_sub(LONGEST_FILE)..).unwrap_or_default();
            let len = u32::try_from(name.len()).unwrap_or(0);
            for word in [DEFINITION, node, around, len] {
                self.push(&word.to_ne_bytes());
            }
            self.push(&id.to_ne_bytes());
            self.push(name);
            self.push(&[0; 8][..name.len().next_multiple_of(8) - name.len()]);
        }
        self.open.push(node);
        Ok(node)
    }

    fn leave(&mut self, run: &Run, region: &Region, stop: u64) -> io::Result<()> {
        self.room(run)?;
        for word in [ENTRY, region.node, region.line, region.line] {
            self.push(&word.to_ne_bytes());
        }
        self.push(&region.start.to_ne_bytes());
        self.push(&stop.to_ne_bytes());
        let is_due = run.is_live && stop.saturating_sub(self.written_nanos) >= COLLECTED_NANOS;
        if is_due {
            self.written_nanos = stop;
        }
        if is_due || self.collected.len() >= COLLECTED { self.flush(run) } else { Ok(()) }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(Err(error)) = run().filter(|_| !self.is_off).map(|run| self.flush(run)) {
            told(&error);
        }
    }
}

/// A region that is open until this is dropped, in the thread that opened it.
#[derive(Debug)]
#[must_use = "the region ends when this is dropped"]
pub struct Region {
    node: u32,
    depth: usize,
    line: u32,
    start: u64,
    /// Only its own thread knows what is open.
    not_sent: std::marker::PhantomData<*const ()>,
}

/// Opens the region with this number.
#[track_caller]
pub fn region(id: i64) -> Region {
    let place = Location::caller();
    let mut region =
        Region { node: 0, depth: 0, line: place.line(), start: 0, not_sent: Default::default() };
    let Some(run) = run() else { return region };
    let _ = THREAD.try_with(|thread| {
        let mut thread = thread.borrow_mut();
        if thread.is_off {
            return;
        }
        match thread.enter(run, id, place.file()) {
            Ok(node) => (region.node, region.depth) = (node, thread.open.len()),
            Err(error) => {
                thread.is_off = true;
                told(&error);
            }
        }
    });
    region.start = run.nanos();
    region
}

impl Drop for Region {
    fn drop(&mut self) {
        let Some(run) = run().filter(|_| self.node != 0) else { return };
        let stop = run.nanos();
        let _ = THREAD.try_with(|thread| {
            let mut thread = thread.borrow_mut();
            // Guards that were dropped in another order end what is inside of them.
            thread.open.truncate(self.depth.saturating_sub(1));
            if thread.is_off {
                return;
            }
            if let Err(error) = thread.leave(run, self, stop) {
                thread.is_off = true;
                told(&error);
            }
        });
    }
}
