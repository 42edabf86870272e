//! Starting the program so that it does nothing before it is watched.
//!
//! Counters are opened for a process that exists, and they begin when it executes the program. So a
//! starter, which is the tool itself, stops itself first; it is continued when the counters are open
//! and then becomes the program, in the same process, with the same standard streams.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitCode};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, kill, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::{RecordError, STARTER, background};

/// Exit statuses that shells give.
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// The process that will be the program.
#[derive(Debug)]
pub(crate) struct Program {
    /// Kept for its streams; the process is waited for by its number.
    _child: Child,
    pid: Pid,
    is_waited_for: bool,
}

impl Program {
    /// A starter that has stopped itself.
    pub(crate) fn stopped(
        command: &[String],
        environment: &[(String, String)],
    ) -> Result<Self, RecordError> {
        let name = command.first().cloned().unwrap_or_default();
        let failed = |cause| RecordError::NotStarted { program: name.clone(), cause };
        if name.is_empty() {
            return Err(failed(io::ErrorKind::NotFound.into()));
        }
        // The file of this process, also when it was replaced meanwhile.
        let mut starter = Command::new("/proc/self/exe");
        starter.arg(STARTER).args(command).envs(environment.iter().cloned());
        let child = starter.spawn().map_err(failed)?;
        let pid = Pid::from_raw(child.id().cast_signed());
        let mut program = Self { _child: child, pid, is_waited_for: false };
        match wait(pid, WaitPidFlag::WUNTRACED).map_err(|error| failed(error.into()))? {
            WaitStatus::Stopped(..) => Ok(program),
            _ => {
                program.is_waited_for = true;
                Err(failed(io::Error::other("the process that starts it ended")))
            }
        }
    }

    /// Its number.
    pub(crate) const fn pid(&self) -> Pid {
        self.pid
    }

    /// Lets it run.
    pub(crate) fn go_on(&self) -> io::Result<()> {
        Ok(kill(self.pid, Signal::SIGCONT)?)
    }

    /// Hands a signal on.
    pub(crate) fn signal(&self, signal: Signal) {
        // It may have ended meanwhile.
        let _ = kill(self.pid, signal);
    }

    /// How it ended, as a shell says it; `None` while it runs.
    pub(crate) fn ended(&mut self) -> io::Result<Option<u8>> {
        let status = match wait(self.pid, WaitPidFlag::WNOHANG) {
            Ok(WaitStatus::Exited(_, status)) => status,
            Ok(WaitStatus::Signaled(_, signal, _)) => 128 + signal as i32,
            Ok(_) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        self.is_waited_for = true;
        Ok(Some(u8::try_from(status & 0xff).unwrap_or(u8::MAX)))
    }
}

impl Program {
    /// How it ended, where whoever traces it was told that.
    pub(crate) const fn has_ended(&mut self, status: Option<u8>) -> Option<u8> {
        self.is_waited_for |= status.is_some();
        status
    }
}

impl Drop for Program {
    /// A program that is not watched is not left behind, stopped or running.
    fn drop(&mut self) {
        if !self.is_waited_for {
            let _ = kill(self.pid, Signal::SIGKILL);
            let _ = wait(self.pid, WaitPidFlag::empty());
        }
    }
}

fn wait(pid: Pid, flags: WaitPidFlag) -> nix::Result<WaitStatus> {
    loop {
        match waitpid(pid, Some(flags)) {
            Err(Errno::EINTR) => {}
            other => return other,
        }
    }
}

/// Signals that the tool keeps from itself while the program runs, and that which says that it ended.
pub(crate) fn kept_signals() -> SigSet {
    let signals =
        [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGCHLD];
    signals.into_iter().collect()
}

/// See [`crate::start`].
pub(crate) fn start() -> ExitCode {
    let mut words = std::env::args_os().skip(2);
    let Some(program) = words.next() else { return ExitCode::from(NOT_FOUND) };
    // No program has an empty name.
    if program.is_empty() {
        return background::serve();
    }
    // The program is to get them.
    if kept_signals().thread_unblock().and_then(|()| raise(Signal::SIGSTOP)).is_err() {
        return ExitCode::FAILURE;
    }
    let error = Command::new(&program).args(words).exec();
    let name = program.to_string_lossy();
    let _ = writeln!(io::stderr(), "error: cannot run {name}: {error}");
    let is_absent = error.kind() == io::ErrorKind::NotFound;
    ExitCode::from(if is_absent { NOT_FOUND } else { NOT_EXECUTABLE })
}
