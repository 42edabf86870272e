//! Threads of other processes that this thread stops, looks at and lets go on (`ptrace(2)`).
//!
//! All of this is for the thread that asked for it: what it traces goes on by itself when this thread
//! ends. Threads and processes that a traced thread makes are traced as well, and begin stopped.

use std::io;

use std::ptr::without_provenance_mut;

use libc::{c_int, c_long, c_void, pid_t};

#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;
#[cfg(target_env = "musl")]
type Request = c_int;

/// Errors by which a system call says that it was interrupted: to the program (`EINTR`), and within
/// the kernel, which makes the call again (`ERESTARTSYS` to `ERESTART_RESTARTBLOCK`).
const INTERRUPTED: [i64; 5] = [-4, -512, -513, -514, -516];

/// System calls that the kernel does not make again when it stopped a thread in them, although they
/// have done nothing yet.
#[cfg(target_arch = "x86_64")]
const NOT_AGAIN: [c_long; 20] = [
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_io_getevents,
    libc::SYS_io_uring_enter,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_accept,
    libc::SYS_accept4,
];

/// What became of a traced thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TracedChange {
    /// It is stopped because it was asked to, because it is new, or because its process goes on.
    Stopped,
    /// It is stopped before it gets this signal.
    Signal(i32),
    /// It is stopped with its process, until somebody has that go on.
    WithProcess,
    /// It is stopped after it made a thread or a process.
    Made,
    /// It is stopped after it became another program; it had this number before.
    Exec(i32),
    /// It ended, with this status if it is the first thread of its process.
    Exited(i32),
    /// It was ended by this signal.
    Killed(i32),
}

/// Begins to trace a process that has one thread, which is not stopped by that.
///
/// # Errors
/// When the system does not allow it, or the process has ended.
pub fn trace_program(process: i32) -> io::Result<()> {
    let options = libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEEXEC;
    request(libc::PTRACE_SEIZE, process, 0, number(options))
}

/// Has a thread stop as soon as it can.
///
/// # Errors
/// When it has ended.
pub fn interrupt_thread(thread: i32) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, thread, 0, number(0))
}

/// Lets a stopped thread go on, with a signal, or 0 for none.
///
/// # Errors
/// When it is not stopped any more.
pub fn resume_thread(thread: i32, signal: i32) -> io::Result<()> {
    request(libc::PTRACE_CONT, thread, 0, number(signal))
}

/// Lets a thread remain stopped with its process.
///
/// # Errors
/// When it is not stopped any more.
pub fn keep_stopped(thread: i32) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, thread, 0, number(0))
}

/// A traced thread to which something happened, which [`traced_change`] says; `None` when there is
/// none, and whether it has ended. What is known of a thread that has ended can be read until that was
/// asked.
#[must_use]
pub fn changed_thread() -> Option<(i32, bool)> {
    let flags = libc::WEXITED
        | libc::WSTOPPED
        | libc::WNOHANG
        | libc::WNOWAIT
        | libc::__WALL
        | libc::__WNOTHREAD;
    // SAFETY: The structure is plain data for which zeros are valid; the call fills it, and leaves the
    // number at 0 where nothing happened.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    let (thread, code) = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        match libc::waitid(libc::P_ALL, 0, &raw mut info, flags) {
            0 => (info.si_pid(), info.si_code),
            _ => (0, 0),
        }
    };
    let has_ended = [libc::CLD_EXITED, libc::CLD_KILLED, libc::CLD_DUMPED].contains(&code);
    (thread > 0).then_some((thread, has_ended))
}

/// What happened to a traced thread; `None` when nothing did. A thread that ended is forgotten.
#[must_use]
pub fn traced_change(thread: i32) -> Option<TracedChange> {
    let mut status = 0;
    let flags = libc::__WALL | libc::__WNOTHREAD | libc::WNOHANG;
    // SAFETY: The number is there while the call writes it.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    let found = unsafe { libc::waitpid(thread, &raw mut status, flags) };
    (found == thread).then(|| change(thread, status))
}

fn change(thread: i32, status: c_int) -> TracedChange {
    if libc::WIFEXITED(status) {
        return TracedChange::Exited(libc::WEXITSTATUS(status));
    }
    if libc::WIFSIGNALED(status) {
        return TracedChange::Killed(libc::WTERMSIG(status));
    }
    let signal = libc::WSTOPSIG(status);
    match status >> 16 {
        0 => TracedChange::Signal(signal),
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => TracedChange::WithProcess,
        libc::PTRACE_EVENT_EXEC => TracedChange::Exec(
            message(thread).ok().and_then(|n| n.try_into().ok()).unwrap_or(thread),
        ),
        libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => {
            TracedChange::Made
        }
        _ => TracedChange::Stopped,
    }
}

fn message(thread: i32) -> io::Result<libc::c_ulong> {
    let mut message: libc::c_ulong = 0;
    request(libc::PTRACE_GETEVENTMSG, thread, 0, (&raw mut message).cast())?;
    Ok(message)
}

/// Registers of a stopped thread.
#[derive(Debug, Clone, Copy)]
pub struct ThreadRegisters {
    all: libc::user_regs_struct,
    /// The system call in which it is, or a negative number.
    call: i64,
}

impl ThreadRegisters {
    /// Those of a thread that is stopped.
    ///
    /// # Errors
    /// When it is not stopped any more, or has registers of another kind.
    pub fn of(thread: i32) -> io::Result<Self> {
        // SAFETY: The structure is plain data for which zeros are valid.
        #[expect(unsafe_code, reason = "the system's interface is unsafe")]
        let mut all: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        let len = size_of_val(&all);
        let filled =
            set_of(libc::PTRACE_GETREGSET, thread, libc::NT_PRSTATUS, (&raw mut all).cast(), len)?;
        if filled != len {
            return Err(io::ErrorKind::Unsupported.into());
        }
        #[cfg(target_arch = "x86_64")]
        let call = all.orig_rax.cast_signed();
        #[cfg(target_arch = "aarch64")]
        let call = {
            /// `NT_ARM_SYSTEM_CALL` of `elf.h`.
            const SYSTEM_CALL: c_int = 0x404;
            let mut call: c_int = -1;
            let own = (&raw mut call).cast();
            set_of(libc::PTRACE_GETREGSET, thread, SYSTEM_CALL, own, size_of::<c_int>())?;
            i64::from(call)
        };
        Ok(Self { all, call })
    }

    /// Where the thread is.
    #[must_use]
    pub const fn instruction(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        return self.all.rip;
        #[cfg(target_arch = "aarch64")]
        return self.all.pc;
    }

    /// Where its stack ends.
    #[must_use]
    pub const fn stack(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        return self.all.rsp;
        #[cfg(target_arch = "aarch64")]
        return self.all.sp;
    }

    /// The frame pointer, where the code keeps one.
    #[must_use]
    pub const fn frame(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        return self.all.rbp;
        #[cfg(target_arch = "aarch64")]
        {
            let [.., frame, _] = self.all.regs;
            return frame;
        }
    }

    /// Where the function returns to, if it has not called another one.
    #[cfg(target_arch = "aarch64")]
    #[must_use]
    pub const fn link(&self) -> u64 {
        let [.., link] = self.all.regs;
        link
    }

    /// Whether it is in a system call.
    #[must_use]
    pub const fn is_in_call(&self) -> bool {
        self.call >= 0
    }

    /// Whether it waited in a system call when it was stopped.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.is_in_call() && INTERRUPTED.contains(&self.result())
    }

    /// What the system call returns.
    const fn result(&self) -> i64 {
        #[cfg(target_arch = "x86_64")]
        return self.all.rax.cast_signed();
        #[cfg(target_arch = "aarch64")]
        {
            let [result, ..] = self.all.regs;
            return result.cast_signed();
        }
    }

    /// Has the thread make its system call again where that would say to the program that it was
    /// interrupted, and it was by this thread. `None` where nothing is to be done.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn again(&self) -> Option<Self> {
        /// Bytes of the instruction `syscall`.
        const INSTRUCTION: u64 = 2;
        let is_one = self.result() == -i64::from(libc::EINTR) && NOT_AGAIN.contains(&self.call);
        is_one.then(|| {
            let mut again = *self;
            again.all.rip = again.all.rip.wrapping_sub(INSTRUCTION);
            again.all.rax = again.all.orig_rax;
            again
        })
    }

    /// The kernel does not say what the first argument of the call was.
    #[cfg(target_arch = "aarch64")]
    #[must_use]
    pub const fn again(&self) -> Option<Self> {
        None
    }

    /// Gives a stopped thread these registers.
    ///
    /// # Errors
    /// When it is not stopped any more.
    pub fn give(&self, thread: i32) -> io::Result<()> {
        let mut all = self.all;
        let len = size_of_val(&all);
        set_of(libc::PTRACE_SETREGSET, thread, libc::NT_PRSTATUS, (&raw mut all).cast(), len)?;
        Ok(())
    }
}

/// Reads or writes a set of registers; gives how many bytes of it there are.
fn set_of(
    what: Request,
    thread: i32,
    set: c_int,
    bytes: *mut c_void,
    len: usize,
) -> io::Result<usize> {
    let mut part = libc::iovec { iov_base: bytes, iov_len: len };
    let set = usize::try_from(set).unwrap_or(0);
    request(what, thread, set, (&raw mut part).cast())?;
    Ok(part.iov_len)
}

fn request(what: Request, thread: i32, address: usize, data: *mut c_void) -> io::Result<()> {
    let thread: pid_t = thread;
    let address: *mut c_void = without_provenance_mut(address);
    // SAFETY: Callers give the address of a structure that is there while the call uses it to requests
    // that take one, and numbers to the others.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    let failed = unsafe { libc::ptrace(what, thread, address, data) } == -1;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A number that a request takes in the place of an address.
fn number(number: c_int) -> *mut c_void {
    without_provenance_mut(usize::try_from(number).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::*;

    /// What happens to a thread next.
    fn next_change(thread: i32) -> (bool, TracedChange) {
        for _ in 0..6000 {
            if let Some((found, has_ended)) = changed_thread() {
                assert_eq!(found, thread);
                return (has_ended, traced_change(thread).unwrap());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("nothing happens");
    }

    #[test]
    fn a_program_is_stopped_looked_at_and_told_of_its_signals() {
        let mut child = Command::new("sleep").arg("20").spawn().unwrap();
        let process = child.id().cast_signed();
        if trace_program(process).is_err() {
            // Not allowed here.
            child.kill().unwrap();
            child.wait().unwrap();
            return;
        }
        interrupt_thread(process).unwrap();
        let mut change = next_change(process);
        if matches!(change, (false, TracedChange::Exec(_))) {
            // It had not quite become its program. Any stop makes up for the one that was asked for.
            resume_thread(process, 0).unwrap();
            interrupt_thread(process).unwrap();
            change = next_change(process);
        }
        assert_eq!(change, (false, TracedChange::Stopped));
        assert!(changed_thread().is_none());
        let registers = ThreadRegisters::of(process).unwrap();
        assert!(registers.instruction() > 0 && registers.stack() > registers.stack() % 4096);
        registers.give(process).unwrap();
        resume_thread(process, 0).unwrap();
        let sent = Command::new("sh").args(["-c", &format!("kill -TERM {process}")]).status();
        assert!(sent.unwrap().success());
        assert_eq!(next_change(process), (false, TracedChange::Signal(libc::SIGTERM)));
        resume_thread(process, libc::SIGTERM).unwrap();
        assert_eq!(next_change(process), (true, TracedChange::Killed(libc::SIGTERM)));
        assert!(interrupt_thread(process).is_err() && ThreadRegisters::of(process).is_err());
        assert!(traced_change(process).is_none());
        // It has been waited for.
        assert!(child.wait().is_err());
    }
}
