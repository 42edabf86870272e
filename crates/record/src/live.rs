//! Snapshots of a recording: for those who look at it while it runs, and for the case that the recorder
//! is killed.
//!
//! A snapshot takes some milliseconds of the thread that understands records, which competes with the
//! program; so the more a snapshot takes, the fewer there are. Where nobody looks, they take a tenth of
//! what they may take where somebody does.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use parallax_base::{Folder as _, FolderSink, MemorySink, read_range};
use parallax_import::events::ConversionError;
use parallax_native::{SnapshotPart, Snapshots};

/// Between two looks whether somebody wants a snapshot.
const LOOK: Duration = Duration::from_millis(500);

/// Snapshots may take one of so many parts of a processor, and of the time: writing may take long where
/// disks are slow, and nothing is understood meanwhile.
const PARTS_OF_PROCESSOR: u32 = 50;
const PARTS_OF_TIME: u32 = 5;

/// The same of snapshots that nobody asked for, and the shortest time between two of them.
const PARTS_OF_PROCESSOR_UNASKED: u32 = 500;
const PARTS_OF_TIME_UNASKED: u32 = 50;
const UNASKED: Duration = Duration::from_secs(1);

/// The longest time between two: by these, other hosts see that the recorder lives.
const LONGEST: Duration = Duration::from_secs(300);

/// When it is tried again where a snapshot cannot be made: a full disk stays full for a while.
const AGAIN: Duration = Duration::from_secs(10);

/// When snapshots are made, and where they go.
pub(crate) struct Live {
    snapshots: Snapshots,
    /// When it is looked whether somebody wants one.
    next: Instant,
    /// When one is made although nobody wants it.
    unasked: Instant,
}

/// Why a snapshot is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Somebody looks.
    Shown,
    /// The recorder may be killed.
    Kept,
}

impl Live {
    pub(crate) fn new(snapshots: Snapshots) -> Self {
        let now = Instant::now();
        Self { snapshots, next: now, unasked: now + UNASKED }
    }

    /// Whether a snapshot is to be made now, and why.
    pub(crate) fn due(&mut self) -> Option<Purpose> {
        let now = Instant::now();
        if now < self.next {
            return None;
        }
        self.next = now + LOOK;
        if self.snapshots.is_wanted() {
            return Some(Purpose::Shown);
        }
        (now >= self.unasked).then_some(Purpose::Kept)
    }

    /// Makes a snapshot: `write` writes what follows the files that are written, and says how much of
    /// them belongs to it. The recording goes on where that fails.
    pub(crate) fn make(
        &mut self,
        write: impl FnOnce(&Arc<dyn FolderSink>) -> Result<Vec<(&'static str, u64)>, ConversionError>,
    ) {
        let (begun, worked) = (Instant::now(), processor_time());
        let sink = MemorySink::new();
        let shared: Arc<dyn FolderSink> = Arc::new(sink.clone());
        let made = match write(&shared) {
            Ok(lengths) if lengths.is_empty() => Ok(()),
            Ok(lengths) => self.publish(sink, &lengths),
            Err(error) => Err(io::Error::other(error)),
        };
        let worked = processor_time().saturating_sub(worked);
        let passed = begun.elapsed();
        let pause = |of_processor, of_time, least: Duration| match made {
            Ok(()) => (worked * of_processor).max(passed * of_time).clamp(least, LONGEST),
            Err(_) => AGAIN,
        };
        let now = Instant::now();
        self.next = now + pause(PARTS_OF_PROCESSOR, PARTS_OF_TIME, LOOK);
        self.unasked = now + pause(PARTS_OF_PROCESSOR_UNASKED, PARTS_OF_TIME_UNASKED, UNASKED);
    }

    fn publish(&self, sink: MemorySink, lengths: &[(&str, u64)]) -> io::Result<()> {
        let folder = sink.into_folder("snapshot");
        let files = folder.walk().map_err(io::Error::other)?;
        let mut sources = Vec::new();
        for file in &files {
            sources.extend(folder.open(&file.path).map_err(io::Error::other)?);
        }
        let mut parts = Vec::new();
        for (file, source) in files.iter().zip(&sources) {
            let written = lengths.iter().find(|(name, _)| *name == file.path);
            let rest = read_range(&**source, 0, source.len()).map_err(io::Error::other)?;
            parts.push((file.path.as_str(), written.map_or(0, |(_, len)| *len), rest));
        }
        let parts: Vec<SnapshotPart<'_>> = parts
            .iter()
            .map(|(name, written, rest)| SnapshotPart { name, written: *written, rest })
            .collect();
        self.snapshots.publish(&parts)
    }
}

/// What this thread has worked.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
