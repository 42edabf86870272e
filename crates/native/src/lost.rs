//! Mapped files that become shorter while they are mapped, or whose storage fails.
//!
//! Touching a page behind the new end of a file delivers `SIGBUS`, which stops a program that does
//! not expect it. [`Watch`] makes a mapping known to a handler of that signal. The handler puts zeros
//! where the file was, so that the reader goes on, and marks the mapping; what was read since then
//! means nothing, and whoever asked for it gets an error instead: [`lost_file`] tells a program that
//! answers one question, and [`Watch::is_lost`] tells the mapping itself.
//!
//! Bytes between the new end and the end of its page read as zeros without a signal. That is why the
//! length is looked at again, too: when a mapping goes, and when somebody asks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A mapping as a signal handler can look at it. Entries are never freed, only used again, so that
/// the handler may walk the list at any moment.
struct Entry {
    /// Address of the first byte; 0 while the entry is free.
    start: AtomicUsize,
    /// Bytes, whole pages.
    len: AtomicUsize,
    is_lost: AtomicBool,
    next: AtomicPtr<Entry>,
}

static ENTRIES: AtomicPtr<Entry> = AtomicPtr::new(std::ptr::null_mut());

/// What is known of mappings besides their addresses.
struct Known {
    free: Vec<&'static Entry>,
    /// By the address of the first byte.
    watched: BTreeMap<usize, (Identity, &'static Entry)>,
    lost: Option<PathBuf>,
}

static KNOWN: Mutex<Known> =
    Mutex::new(Known { free: Vec::new(), watched: BTreeMap::new(), lost: None });

/// Which file a path led to when it was mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    path: PathBuf,
    file: (u64, u64),
    len: u64,
}

impl Identity {
    /// Whether the file is shorter now. A file that was replaced by another one is still there in
    /// full for those who have it mapped.
    fn is_shorter(&self) -> bool {
        std::fs::metadata(&self.path)
            .is_ok_and(|now| identity(&now) == self.file && now.len() < self.len)
    }
}

#[cfg(unix)]
fn identity(metadata: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

/// Systems without `SIGBUS` refuse to shorten a mapped file.
#[cfg(not(unix))]
fn identity(_: &std::fs::Metadata) -> (u64, u64) {
    (0, 0)
}

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first file that was found to be shorter than when it was mapped, or that could not be read
/// any more. Answers that were computed from mapped files mean nothing then.
#[must_use]
pub fn lost_file() -> Option<PathBuf> {
    let mut known = known();
    if known.lost.is_none() {
        let gone = known.watched.values().find(|(identity, entry)| {
            entry.is_lost.load(Ordering::Acquire) || identity.is_shorter()
        });
        known.lost = gone.map(|(identity, _)| identity.path.clone());
    }
    known.lost.clone()
}

fn entries() -> impl Iterator<Item = &'static Entry> {
    let mut next = ENTRIES.load(Ordering::Acquire);
    std::iter::from_fn(move || {
        // SAFETY: Entries are made by leaking boxes and never freed.
        #[expect(unsafe_code, reason = "a list that a signal handler walks cannot have a lock")]
        let entry = unsafe { next.as_ref() }?;
        next = entry.next.load(Ordering::Acquire);
        Some(entry)
    })
}

/// A mapping that is watched as long as this lives. It has to be dropped before the mapping.
pub(crate) struct Watch {
    entry: &'static Entry,
    start: usize,
}

impl Watch {
    /// Watches `bytes`, the mapping of the file at `path`.
    pub(crate) fn new(bytes: &[u8], path: &Path, metadata: &std::fs::Metadata) -> Self {
        handler::install();
        let start = bytes.as_ptr().addr();
        let identity =
            Identity { path: path.to_owned(), file: identity(metadata), len: metadata.len() };
        let mut known = known();
        let entry = known.free.pop().unwrap_or_else(new_entry);
        entry.is_lost.store(false, Ordering::Release);
        entry.len.store(bytes.len().next_multiple_of(page_bytes()), Ordering::Release);
        entry.start.store(start, Ordering::Release);
        known.watched.insert(start, (identity, entry));
        Self { entry, start }
    }

    /// Whether bytes of the file could not be had since it was mapped.
    pub(crate) fn is_lost(&self) -> bool {
        self.entry.is_lost.load(Ordering::Acquire)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let is_lost = self.is_lost();
        self.entry.start.store(0, Ordering::Release);
        let mut known = known();
        known.free.push(self.entry);
        if let Some((identity, _)) = known.watched.remove(&self.start)
            && known.lost.is_none()
            && (is_lost || identity.is_shorter())
        {
            known.lost = Some(identity.path);
        }
    }
}

fn new_entry() -> &'static Entry {
    let entry: &'static Entry = Box::leak(Box::new(Entry {
        start: AtomicUsize::new(0),
        len: AtomicUsize::new(0),
        is_lost: AtomicBool::new(false),
        next: AtomicPtr::default(),
    }));
    let own = std::ptr::from_ref(entry).cast_mut();
    let mut first = ENTRIES.load(Ordering::Acquire);
    loop {
        entry.next.store(first, Ordering::Release);
        match ENTRIES.compare_exchange(first, own, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return entry,
            Err(now) => first = now,
        }
    }
}

fn page_bytes() -> usize {
    static PAGE_BYTES: OnceLock<usize> = OnceLock::new();
    *PAGE_BYTES.get_or_init(crate::system::page_bytes)
}

#[cfg(not(unix))]
mod handler {
    pub(super) fn install() {}
}

#[cfg(unix)]
mod handler {
    use std::mem::MaybeUninit;
    use std::sync::Once;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::entries;

    /// What was there before, for faults that are not ours; written once, before it is used.
    static mut BEFORE: MaybeUninit<libc::sigaction> = MaybeUninit::uninit();

    /// Known beforehand, because a handler may not ask for it.
    static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);

    /// Installs the handler, once.
    pub(super) fn install() {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            PAGE_BYTES.store(super::page_bytes(), Ordering::Release);
            // SAFETY: The structure is plain data for which zeros are valid; the handler does only
            // what is safe at any moment (see there), and BEFORE is written before the handler can
            // run, and never again.
            #[expect(unsafe_code, reason = "the system's interface for signals is unsafe")]
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_bus_error as *const () as usize;
                // Rust gives its threads a stack for signals.
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&raw mut action.sa_mask);
                let before = &raw mut BEFORE;
                if libc::sigaction(libc::SIGBUS, std::ptr::null(), (*before).as_mut_ptr()) == 0 {
                    libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
                }
            }
        });
    }

    /// Puts zeros from the page of the fault to the end of its mapping, and marks the mapping. Faults
    /// elsewhere go to whoever was there before.
    ///
    /// It reads atomics and calls `mmap`, which on the systems that we know is one call into the
    /// kernel and takes no lock; it allocates nothing and keeps `errno`.
    extern "C" fn on_bus_error(
        _signal: libc::c_int,
        info: *mut libc::siginfo_t,
        _context: *mut libc::c_void,
    ) {
        // SAFETY: The system passes a valid structure, and this signal has an address.
        #[expect(unsafe_code, reason = "the system's interface for signals is unsafe")]
        let address = unsafe { (*info).si_addr() }.addr();
        let page = address & !(PAGE_BYTES.load(Ordering::Acquire) - 1);
        let mine = entries().find_map(|entry| {
            let start = entry.start.load(Ordering::Acquire);
            let end = start.checked_add(entry.len.load(Ordering::Acquire))?;
            (start != 0 && start <= page && page < end).then_some((entry, end))
        });
        if let Some((entry, end)) = mine {
            // Marked first: whoever sees the zeros sees the mark.
            entry.is_lost.store(true, Ordering::Release);
            if replace(page, end - page) {
                return;
            }
        }
        // SAFETY: BEFORE was written before this handler was installed. When this one returns, the
        // access is tried again and the former handler is asked.
        #[expect(unsafe_code, reason = "the system's interface for signals is unsafe")]
        unsafe {
            let before = &raw const BEFORE;
            libc::sigaction(libc::SIGBUS, (*before).as_ptr(), std::ptr::null_mut());
        }
    }

    /// Maps zeros, which take no memory, over pages of a mapping that belongs to us.
    fn replace(page: usize, len: usize) -> bool {
        let errno = crate::system::errno();
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let at = std::ptr::with_exposed_provenance_mut(page);
        // SAFETY: The range lies in a mapping for reading that is borrowed by whoever caused the
        // fault, so it is there, nothing writes to it, and it stays a mapping for reading.
        #[expect(unsafe_code, reason = "mapping memory is unsafe by nature")]
        let mapped = unsafe { libc::mmap(at, len, libc::PROT_READ, flags, -1, 0) };
        crate::system::set_errno(errno);
        mapped != libc::MAP_FAILED
    }
}
