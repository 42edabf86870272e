//! What a program says: [`Site`], [`Scope`], [`ThreadMark`].

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::recorder::{self, Tag};

/// What a place in the source is marked as; the numbers are those of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum SiteKind {
    /// A function, from its beginning.
    Function = 1,
    /// A part of a function with a name.
    Region = 2,
    /// A loop.
    Loop = 3,
    /// An access, an allocation, a lock, a thread.
    Other = 4,
}

/// A place in the source; the macros make one for each use.
#[derive(Debug)]
pub struct Site {
    pub(crate) kind: SiteKind,
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    function: fn() -> &'static str,
    /// 0 until it is in the recording.
    pub(crate) number: AtomicU32,
}

impl Site {
    /// A place. `function` gives the path of an item inside of the function around it.
    #[must_use]
    pub const fn new(
        kind: SiteKind,
        name: &'static str,
        file: &'static str,
        line: u32,
        function: fn() -> &'static str,
    ) -> Self {
        Self { kind, name, file, line, function, number: AtomicU32::new(0) }
    }

    /// The function around it, without the crate's path.
    pub(crate) fn function(&self) -> &'static str {
        let path = (self.function)();
        let path = path.strip_suffix("::here").unwrap_or(path);
        let path = path.trim_end_matches("::{{closure}}");
        path.rsplit("::").next().unwrap_or(path)
    }

    /// A value is read.
    pub fn read<T: ?Sized>(&'static self, value: &T) {
        recorder::access(Tag::Read, self, address(value), size_of_val(value));
    }

    /// A value is written.
    pub fn write<T: ?Sized>(&'static self, value: &T) {
        recorder::access(Tag::Write, self, address(value), size_of_val(value));
    }

    /// A value is read and then written.
    pub fn update<T: ?Sized>(&'static self, value: &T) {
        self.read(value);
        self.write(value);
    }

    /// A value's memory is an allocation from now on.
    pub fn allocated<T: ?Sized>(&'static self, value: &T) {
        recorder::allocated(self, address(value), size_of_val(value));
    }

    /// A value's memory is about to be given back.
    pub fn released<T: ?Sized>(&'static self, value: &T) {
        recorder::at(Tag::Released, self, address(value));
    }

    /// A lock was taken.
    pub fn lock_acquired<T: ?Sized>(&'static self, lock: &T) {
        recorder::at(Tag::Acquired, self, address(lock));
    }

    /// A lock is about to be given back.
    pub fn lock_releases<T: ?Sized>(&'static self, lock: &T) {
        recorder::at(Tag::Releases, self, address(lock));
    }

    /// A thread was started.
    pub fn thread_started(&'static self, mark: ThreadMark) {
        recorder::thread(Tag::Started, self, mark.0);
    }

    /// A thread was waited for.
    pub fn thread_joined(&'static self, mark: ThreadMark) {
        recorder::thread(Tag::Joined, self, mark.0);
    }
}

fn address<T: ?Sized>(value: &T) -> u64 {
    std::ptr::from_ref(value).cast::<u8>().addr() as u64
}

/// From entering a call, loop or iteration until it is dropped. It stays in its thread.
#[derive(Debug)]
#[must_use = "a scope ends when it is dropped: bind it to a name such as `_function`"]
pub struct Scope {
    depth: u32,
    in_thread: PhantomData<*const ()>,
}

impl Scope {
    /// A function or region.
    pub fn call(site: &'static Site) -> Self {
        Self::enter(Tag::Call, Some(site))
    }

    /// A loop.
    pub fn loop_execution(site: &'static Site) -> Self {
        Self::enter(Tag::Loop, Some(site))
    }

    /// An iteration.
    pub fn iteration() -> Self {
        Self::enter(Tag::Iteration, None)
    }

    fn enter(tag: Tag, site: Option<&'static Site>) -> Self {
        Self { depth: recorder::enter(tag, site), in_thread: PhantomData }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        recorder::leave(self.depth);
    }
}

/// What the program knows a thread by, before it is started.
///
/// ```no_run
/// use parallax_measure::{ThreadMark, function, thread_joined, thread_started};
///
/// fn main() {
///     let _function = function!();
///     let mark = ThreadMark::new();
///     let worker = std::thread::spawn(move || {
///         mark.begins();
///         let _function = function!();
///     });
///     thread_started!(mark);
///     worker.join().unwrap();
///     thread_joined!(mark);
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadMark(u64);

impl ThreadMark {
    /// A mark that no other thread has.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "two marks are never equal")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Says that this is the thread. Comes before anything else that is recorded in it.
    pub fn begins(self) {
        recorder::begins(self.0);
    }
}
