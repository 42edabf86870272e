//! When a thread has a processor: only while nothing else wants one, and until something happens.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// What is known of a file that was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Nothing happened.
    Silent,
    /// There is something to be read.
    Readable,
    /// Nothing will ever happen there: it is at its end, or is no file.
    Over,
}

/// Has this thread run only on processors that no other thread wants. Without privileges that cannot
/// be undone. Returns whether the system does that.
#[cfg(target_os = "linux")]
#[must_use]
pub fn give_way() -> bool {
    let parameters = libc::sched_param { sched_priority: 0 };
    // By number, because the C library may have no function for it; 0 is the calling thread.
    // SAFETY: The parameters are there while the call reads them.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    let failed = unsafe {
        libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_IDLE, &raw const parameters)
    } != 0;
    !failed
}

/// The system does not do that.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn give_way() -> bool {
    false
}

/// Waits until there is something to be read from one of the files, or the time is over, and says
/// what happened to each.
///
/// # Errors
/// When the system cannot wait for so many files.
pub fn wait_for_any(files: &[RawFd], longest: Duration) -> io::Result<Vec<Readiness>> {
    let asked = |fd: &RawFd| libc::pollfd { fd: *fd, events: libc::POLLIN, revents: 0 };
    let mut asked: Vec<libc::pollfd> = files.iter().map(asked).collect();
    if poll(&mut asked, longest) < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        return Ok(vec![Readiness::Silent; files.len()]);
    }
    let readiness = |asked: &libc::pollfd| match asked.revents {
        0 => Readiness::Silent,
        what if what & libc::POLLIN != 0 => Readiness::Readable,
        _ => Readiness::Over,
    };
    Ok(asked.iter().map(readiness).collect())
}

#[cfg(target_os = "linux")]
fn poll(asked: &mut [libc::pollfd], longest: Duration) -> libc::c_int {
    let count = libc::nfds_t::try_from(asked.len()).unwrap_or(libc::nfds_t::MAX);
    let longest = libc::timespec {
        tv_sec: libc::time_t::try_from(longest.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: longest.subsec_nanos().into(),
    };
    // SAFETY: The list is as long as it is said to be, and the time is there while the call reads it. A
    // number that is no file is answered so.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    unsafe {
        libc::ppoll(asked.as_mut_ptr(), count, &raw const longest, std::ptr::null())
    }
}

#[cfg(not(target_os = "linux"))]
fn poll(asked: &mut [libc::pollfd], longest: Duration) -> libc::c_int {
    let millis = libc::c_int::try_from(longest.as_millis()).unwrap_or(libc::c_int::MAX);
    let count = libc::nfds_t::try_from(asked.len()).unwrap_or(libc::nfds_t::MAX);
    // SAFETY: The list is as long as it is said to be. A number that is no file is answered so.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    unsafe {
        libc::poll(asked.as_mut_ptr(), count, millis)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_happened_to_each_file_is_said() {
        let (silent, _other) = UnixStream::pair().unwrap();
        let (readable, mut written) = UnixStream::pair().unwrap();
        written.write_all(b"x").unwrap();
        let files = [silent.as_raw_fd(), readable.as_raw_fd(), 1_000_000];
        let found = wait_for_any(&files, Duration::from_secs(60)).unwrap();
        assert_eq!(found, [Readiness::Silent, Readiness::Readable, Readiness::Over]);
        let begun = Instant::now();
        let found = wait_for_any(&files[..1], Duration::from_millis(20)).unwrap();
        assert_eq!(found, [Readiness::Silent]);
        assert!(begun.elapsed() >= Duration::from_millis(19));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_gives_way_is_idle_for_the_system_and_others_are_not() {
        let policy = |thread: &str| {
            let text = std::fs::read_to_string(format!("/proc/{thread}/stat")).unwrap();
            // The fields behind the name, which may have blanks; the policy is the 41st of all.
            let rest = text.rsplit_once(") ").unwrap().1.to_owned();
            rest.split(' ').nth(41 - 3).unwrap().to_owned()
        };
        let own = std::thread::spawn(move || (give_way(), policy("thread-self")));
        let (gives_way, found) = own.join().unwrap();
        assert!(gives_way);
        assert_eq!(found, libc::SCHED_IDLE.to_string());
        assert_eq!(policy("thread-self"), libc::SCHED_OTHER.to_string());
    }
}
