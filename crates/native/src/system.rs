//! What the system says of itself.

/// The name of this machine, of letters, digits, `-` and `_`, at most 40 of them.
pub(crate) fn host_name() -> String {
    let name = raw_host_name();
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' });
    let plain: String = plain.take(40).collect();
    if plain.is_empty() { "host".to_owned() } else { plain }
}

#[cfg(unix)]
fn raw_host_name() -> String {
    let mut buffer = [0_u8; 256];
    // SAFETY: The buffer is as long as it is said to be; the last byte stays a zero.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    let failed = unsafe { libc::gethostname(buffer.as_mut_ptr().cast(), buffer.len() - 1) } != 0;
    if failed {
        return String::new();
    }
    let name = buffer.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(not(unix))]
fn raw_host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// Bytes that somebody who is not the super-user may still write in the folder at `path`; `None` when
/// the system does not say.
#[cfg(unix)]
#[must_use]
pub fn free_bytes(path: &std::path::Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).ok()?;
    // SAFETY: The structure is plain data for which zeros are valid, and the path ends in a zero.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    let (failed, found) = unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &raw mut found) != 0, found)
    };
    // The types of the fields differ between systems.
    #[allow(clippy::unnecessary_cast, clippy::cast_lossless, reason = "see above")]
    (!failed).then(|| (found.f_bavail as u64).saturating_mul(found.f_frsize as u64))
}

/// The system does not say.
#[cfg(not(unix))]
#[must_use]
pub fn free_bytes(_: &std::path::Path) -> Option<u64> {
    None
}

/// Length of a page of memory.
#[cfg(unix)]
pub(crate) fn page_bytes() -> usize {
    // SAFETY: The call has no conditions.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()).unwrap_or(4096)
}

#[cfg(not(unix))]
pub(crate) fn page_bytes() -> usize {
    4096
}

/// The number of the last error of this thread.
#[cfg(unix)]
pub(crate) fn errno() -> i32 {
    // SAFETY: The place belongs to this thread.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    unsafe {
        *errno_place()
    }
}

/// Puts the number of the last error of this thread back.
#[cfg(unix)]
pub(crate) fn set_errno(number: i32) {
    // SAFETY: The place belongs to this thread.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    unsafe {
        *errno_place() = number;
    }
}

#[cfg(unix)]
fn errno_place() -> *mut libc::c_int {
    // SAFETY: The calls have no conditions.
    #[expect(unsafe_code, reason = "the system's interface is unsafe")]
    unsafe {
        #[cfg(target_os = "linux")]
        return libc::__errno_location();
        #[cfg(not(target_os = "linux"))]
        return libc::__error();
    }
}
