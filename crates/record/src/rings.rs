//! Counters of the kernel and the rings into which it writes, one for each processor: counters that
//! new threads inherit can only be read so.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, RawFd};
use std::time::Duration;

use nix::unistd::Pid;
use parallax_native::{Readiness, wait_for_any};
use perf_event::events::Software;
use perf_event::{Builder, Clock, ReadFormat, SampleFlag, Sampler};

use crate::counters::{self, EventCounters};
use crate::events::{self, Event, Source, Spare};
use crate::{RecordError, Recording, registers};

/// Lengths of a ring that are tried, in bytes. Users without privileges share about 512 KiB for each
/// processor.
const RING_BYTES: [usize; 5] = [1 << 22, 1 << 21, 1 << 20, 1 << 19, 1 << 18];

/// Rings that are shorter are read when they are half full, others when they are so to a quarter.
const SMALL_BYTES: usize = 1 << 20;

/// Samples for each second of processor time, where nothing is said.
pub(crate) const FREQUENCY: u32 = 999;

/// Where the kernel says what users may measure.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// All rings of a recording.
pub(crate) struct Rings {
    rings: Vec<Ring>,
    /// Whether the kernel's own work for the program is recorded.
    pub(crate) has_kernel: bool,
    /// Whether stacks are taken where threads give their processor away.
    pub(crate) has_switches: bool,
}

struct Ring {
    sampler: Sampler,
    source: Source,
    bytes: usize,
    /// Whether the kernel still says when there is much to be read.
    is_watched: bool,
}

impl Rings {
    /// Opens counters for a process that has not executed its program yet, which begins them.
    pub(crate) fn open(
        pid: Pid,
        recording: &Recording,
        frequency: u32,
    ) -> Result<Self, RecordError> {
        // Whether the machine has such events, and the user may count them.
        let names: Vec<String> =
            recording.counters.iter().map(|counter| counter.event.clone()).collect();
        drop(EventCounters::open(&names)?);
        let mut has_kernel = true;
        let what = (recording, frequency);
        let mut rings = sized(|bytes| sampled(pid, what, true, bytes));
        if rings.as_ref().is_err_and(is_forbidden) {
            has_kernel = false;
            rings = sized(|bytes| sampled(pid, what, false, bytes));
        }
        let mut rings = rings.map_err(refused)?;
        // Where a thread gives its processor away it is in the kernel, so this needs the same right.
        let switches = match has_kernel {
            true => sized(|bytes| switches(pid, recording, bytes)).ok(),
            false => None,
        };
        let has_switches = switches.is_some();
        rings.extend(switches.into_iter().flatten());
        Ok(Self { rings, has_kernel, has_switches })
    }

    /// Waits until a ring is full in part, there is something to be read from `other`, or the time is
    /// over.
    pub(crate) fn wait(&mut self, other: RawFd, longest: Duration) -> io::Result<()> {
        let watched = || self.rings.iter().filter(|ring| ring.is_watched);
        let files = watched().map(|ring| ring.sampler.as_raw_fd()).chain([other]);
        let files: Vec<RawFd> = files.collect();
        let found = wait_for_any(&files, longest)?;
        let watched = self.rings.iter_mut().filter(|ring| ring.is_watched);
        for (ring, found) in watched.zip(found) {
            // The first thread has ended, and others may go on: waiting would end at once.
            ring.is_watched = found != Readiness::Over;
        }
        Ok(())
    }

    /// How often each of `count` events happened so far, in all that was started; `None` where that
    /// cannot be read, or the processor had no counter left for it.
    pub(crate) fn totals(&mut self, count: usize) -> Vec<Option<u64>> {
        (0..count).map(|event| self.total(event)).collect()
    }

    fn total(&mut self, event: usize) -> Option<u64> {
        let (mut count, mut running, mut enabled) = (0_u64, Duration::ZERO, Duration::ZERO);
        for ring in &mut self.rings {
            if !matches!(ring.source, Source::Counter { at, .. } if at == event) {
                continue;
            }
            let found = ring.sampler.read_count_and_time().ok()?;
            count = count.saturating_add(found.count);
            // A ring counts while threads are on its processor, and is enabled on all of them.
            running += Duration::from_nanos(found.time_running);
            enabled = enabled.max(Duration::from_nanos(found.time_enabled));
        }
        counters::scaled(count, running, enabled)
    }

    /// Takes what is there.
    pub(crate) fn drain(&mut self, taken: &mut Vec<Event>, spare: &mut Spare) {
        for ring in &mut self.rings {
            let mut bytes = 0;
            // What comes while this reads is for the next time: no ring may keep the others waiting.
            while bytes < ring.bytes
                && let Some(record) = ring.sampler.next_record()
            {
                bytes += record.len() + 8;
                let content = record.to_contiguous();
                let (kind, misc) = (record.ty(), record.misc());
                taken.extend(events::read(kind, misc, &content, ring.source, spare));
            }
        }
    }
}

/// The first length that the kernel grants.
fn sized(open: impl Fn(usize) -> io::Result<Vec<Ring>>) -> io::Result<Vec<Ring>> {
    let mut last = io::Error::from(io::ErrorKind::OutOfMemory);
    for bytes in RING_BYTES {
        match open(bytes) {
            Ok(rings) => return Ok(rings),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Rings of the clock and of all events that are counted: they share what memory a user may have.
fn sampled(
    pid: Pid,
    (recording, frequency): (&Recording, u32),
    kernel: bool,
    bytes: usize,
) -> io::Result<Vec<Ring>> {
    let mut rings = clocks(pid, (recording, frequency), kernel, bytes)?;
    for (at, counter) in recording.counters.iter().enumerate() {
        let Some(mut builder) = counters::builder(&counter.event) else { continue };
        match counter.period {
            Some(period) => builder.sample_period(period.get()),
            None => builder.sample_frequency(u64::from(frequency)),
        };
        builder.sample_stack_user(recording.stack_bytes).exclude_kernel(!kernel);
        let source = Source::Counter { at, period: counter.period };
        rings.extend(on_all_processors(&mut builder, pid, bytes, source)?);
    }
    Ok(rings)
}

/// Samples at a regular interval of processor time, with all that is said about threads.
fn clocks(
    pid: Pid,
    (recording, frequency): (&Recording, u32),
    kernel: bool,
    bytes: usize,
) -> io::Result<Vec<Ring>> {
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder
        .sample_period(1_000_000_000 / u64::from(frequency.max(1)))
        .sample_stack_user(recording.stack_bytes)
        .exclude_kernel(!kernel)
        .mmap(true)
        .mmap2(true)
        .comm(true)
        .comm_exec(true)
        .task(true)
        .context_switch(true);
    on_all_processors(&mut builder, pid, bytes, Source::Clock)
}

/// A sample whenever a thread gives its processor away.
fn switches(pid: Pid, recording: &Recording, bytes: usize) -> io::Result<Vec<Ring>> {
    let mut builder = Builder::new(Software::CONTEXT_SWITCHES);
    builder.sample_period(1).sample_stack_user(recording.stack_bytes).exclude_kernel(false);
    on_all_processors(&mut builder, pid, bytes, Source::Switch)
}

fn on_all_processors(
    builder: &mut Builder<'_>,
    pid: Pid,
    bytes: usize,
    source: Source,
) -> io::Result<Vec<Ring>> {
    // A small ring holds a few samples, so that most of it has to be used.
    let part = if bytes < SMALL_BYTES { bytes / 2 } else { bytes / 4 };
    builder
        .wakeup_watermark(part)
        .observe_pid(pid.as_raw())
        .inherit(true)
        .enabled(false)
        .enable_on_exec(true)
        .read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING)
        .sample_id_all(true)
        .clockid(Clock::MONOTONIC)
        .sample(SampleFlag::IP)
        .sample(SampleFlag::TID)
        .sample(SampleFlag::TIME)
        .sample(SampleFlag::CPU)
        .sample(SampleFlag::REGS_USER)
        .sample(SampleFlag::STACK_USER)
        .sample_regs_user(registers::MASK);
    if !matches!(source, Source::Counter { period: Some(_), .. }) {
        builder.sample(SampleFlag::PERIOD);
    }
    let mut rings = Vec::new();
    for processor in processors()? {
        match builder.one_cpu(processor).build() {
            Ok(counter) => {
                let sampler = counter.sampled(bytes)?;
                rings.push(Ring { sampler, source, bytes, is_watched: true });
            }
            // Taken away since the list was made.
            Err(error) if error.raw_os_error() == Some(nix::libc::ENODEV) => {}
            Err(error) => return Err(error),
        }
    }
    if rings.is_empty() {
        return Err(io::Error::other("there is no processor to be watched"));
    }
    Ok(rings)
}

/// Numbers of the processors that work: `0-3,8`.
fn processors() -> io::Result<Vec<usize>> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online")?;
    Ok(numbers(&text))
}

fn numbers(text: &str) -> Vec<usize> {
    let ranges = text.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

fn is_forbidden(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// What the user can do about it.
fn refused(cause: io::Error) -> RecordError {
    let code = cause.raw_os_error();
    if !is_forbidden(&cause) && code != Some(nix::libc::ENOSYS) {
        return RecordError::Kernel(cause);
    }
    let paranoid = fs::read_to_string(PARANOID).unwrap_or_else(|_| "not there".to_owned());
    let paranoid = paranoid.trim().to_owned();
    let is_strict = paranoid.parse::<i64>().is_ok_and(|level| level > 2);
    let remedy = if is_strict {
        "an administrator can allow it with `sysctl kernel.perf_event_paranoid=2`"
    } else {
        "in a container, start that with `--cap-add PERFMON` or with a seccomp profile that has \
         perf_event_open; else `sysctl kernel.perf_event_paranoid=1` may help"
    };
    RecordError::NotAllowed { cause, paranoid, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_have_ranges() {
        assert_eq!(numbers("0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(numbers("0\n"), [0]);
        assert_eq!(numbers(""), [0; 0]);
    }
}
