//! What can go wrong with a sweep.

use std::io;
use std::path::PathBuf;

/// Why a sweep cannot be planned, started or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A list of core counts that cannot be read.
    #[error("{text}: {why}; write core counts like 1,2,4 or 1:32 or 1:64:*2")]
    Cores {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A quote that is not closed, or nothing after a backslash.
    #[error("{text}: {why}")]
    Words {
        /// What was written.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Settings that contradict each other or are out of range.
    #[error("{0}")]
    Plan(String),
    /// The program, or the launcher, is not there or cannot be executed.
    #[error("cannot run {program}: {why}")]
    Program {
        /// As it was named.
        program: String,
        /// What is wrong with it.
        why: String,
    },
    /// There is a file already.
    #[error(
        "{} is there already: go on with it by --resume, or name another file by --output",
        path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file that is to be gone on with is of another sweep, or of no sweep at all.
    #[error("cannot go on with {}: {why}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What differs.
        why: String,
    },
    /// Another sweep writes the same file.
    #[error(
        "another sweep is writing {}, or its last program has not ended yet; wait for it or name \
         another file by --output",
        path.display()
    )]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be written. Nothing that was measured is lost: the file has all runs but the
    /// last one, and another file, where one could be written, has them all.
    #[error(
        "cannot write {}: {cause}{}",
        path.display(),
        kept.as_ref().map_or_else(String::new, |kept| format!(
            "; all runs are in {}: make room, move that there and go on by --resume",
            kept.display()
        ))
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// Where all runs are instead.
        kept: Option<PathBuf>,
        /// What the system said.
        cause: io::Error,
    },
    /// The times of regions cannot be kept or read.
    #[error("cannot take the times of regions: {0}")]
    Regions(io::Error),
    /// There is no C compiler, which automatic regions need.
    #[error(
        "automatic regions need a C compiler, and {compiler} cannot be run ({cause}); install gcc \
         (the package gcc of most systems), or name another compiler in the variable CC"
    )]
    NoCompiler {
        /// What was to be run.
        compiler: String,
        /// What the system said.
        cause: io::Error,
    },
    /// The library for automatic regions does not compile.
    #[error(
        "{compiler} does not compile the library for automatic regions; name another compiler in \
         the variable CC, or install the headers of the C library (libc6-dev, glibc-devel): {said}"
    )]
    Compiler {
        /// What was run.
        compiler: String,
        /// What it said.
        said: String,
    },
    /// A command of Slurm failed.
    #[error("Slurm did not do what it was asked for: {0}")]
    Slurm(String),
    /// Jobs ended without an outcome.
    #[error(
        "{}, because jobs were cancelled or ended early; --resume submits them again, and {} has what \
         they wrote",
        if *number == 1 { "1 run has no outcome".to_owned() } else { format!("{number} runs have no outcome") },
        folder.display()
    )]
    Lost {
        /// How many.
        number: usize,
        /// The folder of the jobs.
        folder: PathBuf,
    },
    /// Runs cannot be recorded as they are to be.
    #[error("{0}")]
    Recorder(String),
    /// The process between the tool and the program was ended from outside.
    #[error(
        "cannot measure: the process that watches the program was terminated (signal {signal}); \
         --resume continues with this run"
    )]
    Terminated {
        /// By which signal.
        signal: i32,
    },
    /// The process between the tool and the program failed.
    #[error("cannot measure: {0}")]
    Supervisor(String),
}

impl SweepError {
    /// Whether what was requested is at fault, and not the machine.
    #[must_use]
    pub const fn is_misuse(&self) -> bool {
        matches!(
            self,
            Self::Cores { .. } | Self::Words { .. } | Self::Plan(_) | Self::Exists { .. }
        )
    }
}
