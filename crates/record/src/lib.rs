//! Records a running program by sampling, into an archive that everything else reads.
//!
//! [`record`] starts the program, lets the kernel interrupt each of its threads at a regular
//! interval of processor time, and writes who called whom at these moments. It works on Linux, with
//! what the kernel offers to every user (`perf_event_open`, or else `ptrace`), and changes nothing in the
//! program.
//!
//! The parts in the order of the data: `launch` starts the program and holds it until everything is
//! ready; `sampling` chooses what takes samples: `rings` takes records from the kernel, one ring for each
//! processor, and `events` reads them; where the kernel does not allow that, `stops` stops threads to
//! look at them, `mapped` sees what code they have, and `usage` when they had a processor;
//! `processes` knows what is mapped where and finds the callers; `symbols` gives addresses names,
//! which `background` looks up when a processor is free, and `packed` takes from debug information that
//! is packed; `loops` finds the loops of functions; `steps` waits for names;
//! `threads` makes the time line of each thread, and `calls` puts calls of MPI into it, which `mpi`
//! reads; `sources` copies the source files; `session` has them work together, and `live` says when
//! somebody wants to see the recording while it runs.
//!
//! [`compile`] makes programs that record every call and access, without marks, and [`add_names`] gives
//! names to their addresses.
//!
//! [`EventCounters`] counts events of the kernel and the processor in programs that run as they are.
//!
//! [`Outlined`] knows the parallel regions that a compiler put into functions of their own, for sweeps
//! in which they are measured without marks.

#[cfg(target_os = "linux")]
mod background;
#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod counters;
mod error;
#[cfg(target_os = "linux")]
mod events;
#[cfg(target_os = "linux")]
mod generated;
#[cfg(target_os = "linux")]
mod images;
#[cfg(target_os = "linux")]
mod instrument;
#[cfg(target_os = "linux")]
mod launch;
mod lines;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod loops;
#[cfg(target_os = "linux")]
mod mapped;
#[cfg(target_os = "linux")]
mod mpi;
#[cfg(target_os = "linux")]
mod packed;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod ranks;
#[cfg(target_os = "linux")]
mod registers;
#[cfg(target_os = "linux")]
mod rings;
#[cfg(target_os = "linux")]
mod sampling;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod sources;
#[cfg(target_os = "linux")]
mod steps;
#[cfg(target_os = "linux")]
mod stops;
#[cfg(target_os = "linux")]
mod symbols;
#[cfg(target_os = "linux")]
mod threads;
#[cfg(target_os = "linux")]
mod usage;

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use parallax_base::Issues;

#[cfg(target_os = "linux")]
pub use counters::{CounterError, EventCounters};
pub use error::RecordError;
#[cfg(target_os = "linux")]
pub use instrument::{InstrumentError, add_names, compile};
pub use lines::{CodeLine, Outlined};
#[cfg(target_os = "linux")]
pub use mpi::MpiLibrary;

/// With this as its first argument, the tool is a starter: it calls [`start`].
pub const STARTER: &str = "start-recorded-program";

/// Which parts of the code are contexts of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Functions.
    Functions,
    /// Functions, and loops around what they call and around where they were seen.
    Loops,
    /// Functions, loops, and lines in which functions were seen.
    Lines,
}

/// What is recorded, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The archive to make.
    pub output: PathBuf,
    /// What takes the samples.
    pub sampler: Sampler,
    /// Samples for each second of processor time of each thread; `None` for what the sampler does
    /// without much effect on the program.
    pub frequency: Option<u32>,
    /// Bytes of the stack that a sample has.
    pub stack_bytes: u32,
    /// Events that are counted by call path.
    pub counters: Vec<CountedEvent>,
    /// Which parts of the code are contexts, where debug information has them.
    pub detail: Detail,
    /// Whether the archive has copies of the source files whose lines are in it.
    pub sources: bool,
    /// What else the archive is to say about the execution: name and value.
    pub facts: Vec<(String, String)>,
    /// Variables of the environment that the program has in addition.
    pub environment: Vec<(&'static str, &'static str)>,
    /// Whether calls of MPI are recorded, with messages and collective operations.
    pub mpi: bool,
    /// The library that records these calls, where it was compiled before: see [`MpiLibrary`].
    pub mpi_library: Option<PathBuf>,
}

/// What takes the samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sampler {
    /// The kernel's counters, or stops where the user may not have those.
    #[default]
    Automatic,
    /// The kernel's counters (`perf_event_open`).
    PerfEvent,
    /// This process, which stops each thread for a moment (`ptrace`).
    Ptrace,
}

impl Sampler {
    /// As it is chosen on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Automatic => "auto",
            Self::PerfEvent => "perf-event",
            Self::Ptrace => "ptrace",
        }
    }
}

/// An event that is counted by call path: samples are taken where it happens, and each stands for as
/// many of them as there were since the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedEvent {
    /// The event, by the name that `perf` has for it: see [`EventCounters`].
    pub event: String,
    /// How many of them a sample stands for; `None` has the kernel choose, so that there are about as
    /// many samples as of the clock.
    pub period: Option<NonZeroU64>,
}

impl FromStr for CountedEvent {
    type Err = String;

    /// `EVENT`, or `EVENT@PERIOD`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (event, period) = match text.split_once('@') {
            Some((event, period)) => match period.parse() {
                Ok(period) => (event, Some(period)),
                Err(_) => return Err("write EVENT, or EVENT@N for a sample every N events".into()),
            },
            None => (text, None),
        };
        Ok(Self { event: event.to_owned(), period })
    }
}

/// How a recording went.
#[derive(Debug)]
pub struct Recorded {
    /// Exit status of the program, as a shell has it: 128 and the number of the signal that ended it.
    pub status: u8,
    /// Samples that are in the archive.
    pub samples: u64,
    /// That the program was not sampled in the usual way, and why, where the kernel did not allow that.
    pub fallback: Option<String>,
    /// What is missing or was guessed.
    pub issues: Issues,
}

/// Runs a program, records it, and writes the archive, which appears complete or not at all.
///
/// # Errors
/// When the program cannot be started, nothing can be recorded or the archive cannot be written.
pub fn record(recording: &Recording) -> Result<Recorded, RecordError> {
    #[cfg(target_os = "linux")]
    return session::record(recording);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = recording;
        Err(RecordError::OtherSystem)
    }
}

/// Is a starter: waits until it is continued, and becomes the program that its arguments name. Or it
/// looks names up for a recording, where that program has no name.
#[must_use]
pub fn start() -> ExitCode {
    #[cfg(target_os = "linux")]
    return launch::start();
    #[cfg(not(target_os = "linux"))]
    ExitCode::FAILURE
}
