//! [`RecordError`].

use std::io;
use std::path::PathBuf;

use parallax_import::events::ConversionError;

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// Not Linux.
    #[error("programs are recorded on Linux only")]
    OtherSystem,
    /// The kernel does not let this user take samples.
    #[error(
        "the kernel does not allow samples to be taken ({cause}; kernel.perf_event_paranoid is \
         {paranoid}): {remedy}"
    )]
    NotAllowed {
        /// What the kernel said.
        cause: io::Error,
        /// The setting that decides, as it is written.
        paranoid: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The kernel does not let this user trace the program.
    #[error(
        "{}the kernel does not allow the program to be traced ({cause}; kernel.yama.ptrace_scope is \
         {scope}): that must be at most 1, containers need `--cap-add SYS_PTRACE` or a seccomp profile \
         that has ptrace, and no debugger may trace the program already",
        and(perf_event)
    )]
    NotTraced {
        /// What the kernel said.
        cause: io::Error,
        /// The setting that decides, as it is written.
        scope: String,
        /// Why samples cannot be taken in the usual way, where that was tried.
        perf_event: Option<Box<RecordError>>,
    },
    /// Events are only counted by the kernel.
    #[error("events are counted by perf_event only: record them without `--sampler ptrace`")]
    CountersWithoutPerfEvent,
    /// The kernel has no room for what was recorded and not yet read.
    #[error("the kernel cannot take samples: {0}")]
    Kernel(io::Error),
    /// An event cannot be counted.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Counter(#[from] crate::CounterError),
    /// The program cannot be started.
    #[error("cannot run {program}: {cause}")]
    NotStarted {
        /// The program.
        program: String,
        /// Why.
        cause: io::Error,
    },
    /// The library that records calls of MPI cannot be compiled without its compiler.
    #[error(
        "cannot run {compiler}: {cause}; calls of MPI are recorded by a library that is compiled \
         with the mpicc of the MPI that the program uses: install it, or name it in MPICC"
    )]
    NoMpiCompiler {
        /// The compiler.
        compiler: String,
        /// Why.
        cause: io::Error,
    },
    /// The library that records calls of MPI cannot be compiled.
    #[error("{compiler} cannot compile the library that records calls of MPI:\n{said}")]
    MpiCompiler {
        /// The compiler.
        compiler: String,
        /// What it said.
        said: String,
    },
    /// What calls of MPI leave behind cannot be written or read.
    #[error("calls of MPI cannot be recorded: {0}")]
    Mpi(io::Error),
    /// There is something at the place of the archive, or it cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Output {
        /// The archive.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The archive cannot be written.
    #[error("cannot write {}: {cause}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// Why.
        cause: ConversionError,
    },
    /// The recording cannot be completed, and what it was shortly before can be kept.
    #[error(
        "{cause}; what was recorded before can be kept: `parallax record --recover {}`",
        path.display()
    )]
    Incomplete {
        /// The archive.
        path: PathBuf,
        /// Why.
        cause: Box<RecordError>,
    },
}

/// An error before another one.
fn and(before: &Option<Box<RecordError>>) -> String {
    before.as_ref().map(|error| format!("{error}; and ")).unwrap_or_default()
}

/// Where the kernel says who may trace programs.
#[cfg(target_os = "linux")]
const SCOPE: &str = "/proc/sys/kernel/yama/ptrace_scope";

impl RecordError {
    #[cfg(target_os = "linux")]
    pub(crate) fn not_traced(cause: io::Error, perf_event: Option<Self>) -> Self {
        let scope = std::fs::read_to_string(SCOPE).unwrap_or_else(|_| "not there".to_owned());
        let (scope, perf_event) = (scope.trim().to_owned(), perf_event.map(Box::new));
        Self::NotTraced { cause, scope, perf_event }
    }

    /// Exit status of a command whose program could not be started, as a shell has it.
    #[must_use]
    pub fn status(&self) -> Option<u8> {
        match self {
            Self::NotStarted { cause, .. } if cause.kind() == io::ErrorKind::NotFound => Some(127),
            Self::NotStarted { .. } => Some(126),
            _ => None,
        }
    }
}
