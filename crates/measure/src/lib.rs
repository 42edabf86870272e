//! Records single calls, loops, iterations, accesses and threads of a program that marks them.
//!
//! For C and C++ there is one header, `include/parallax.h`, which needs no library. For Rust there
//! are the macros below, which write the same bytes. `docs/measure.md` says how to use either, and
//! `crates/formats/src/plxm/FORMAT.md` what the bytes mean.
//!
//! ```no_run
//! use parallax_measure::{function, iteration, loop_execution, read, update};
//!
//! fn sum(values: &[u64]) -> u64 {
//!     let _function = function!();
//!     let mut total = 0;
//!     let _loop = loop_execution!();
//!     for value in values {
//!         let _iteration = iteration!();
//!         read!(*value);
//!         update!(total);
//!         total += value;
//!     }
//!     total
//! }
//! # sum(&[]);
//! ```
//!
//! [`instrument`] marks a whole function, in place of the first line of its body:
//!
//! ```no_run
//! #[parallax_measure::instrument]
//! fn sum(values: &[u64]) -> u64 {
//!     values.iter().sum()
//! }
//! # sum(&[]);
//! ```
//!
//! The recording is `parallax-run.plxm`, or what `PARALLAX_OUT` names (`%p` is the process id;
//! empty: nothing is recorded). A thread writes what it recorded when it ends; the main thread, when
//! `main` returns or calls [`finish`]. There is no unsafe code, so the clock is that of the standard
//! library and a crash loses the last events, other than with the header.

mod mark;
pub mod pascal;
mod recorder;

pub use parallax_measure_macros::instrument;

pub use mark::{Scope, Site, SiteKind, ThreadMark};
pub use recorder::{finish, start};

/// A place in the source: `site!(kind, name)`. For the other macros.
#[doc(hidden)]
#[macro_export]
macro_rules! site {
    ($kind:ident, $name:expr) => {{
        fn here() {}
        static SITE: $crate::Site =
            $crate::Site::new($crate::SiteKind::$kind, $name, file!(), line!(), || {
                ::std::any::type_name_of_val(&here)
            });
        &SITE
    }};
}

/// The function around it is called; it returns when the guard is dropped.
#[macro_export]
macro_rules! function {
    () => {
        $crate::Scope::call($crate::site!(Function, ""))
    };
}

/// A part of a function with a name, until the guard is dropped.
#[macro_export]
macro_rules! region {
    ($name:literal) => {
        $crate::Scope::call($crate::site!(Region, $name))
    };
}

/// A loop is entered; it is left when the guard is dropped.
#[macro_export]
macro_rules! loop_execution {
    () => {
        $crate::Scope::loop_execution($crate::site!(Loop, ""))
    };
}

/// An iteration of the loop around it begins; it ends when the guard is dropped.
#[macro_export]
macro_rules! iteration {
    () => {
        $crate::Scope::iteration()
    };
}

/// A variable or element is read. Of a slice, all of it.
#[macro_export]
macro_rules! read {
    ($place:expr) => {
        $crate::site!(Other, stringify!($place)).read(&$place)
    };
}

/// A variable or element is written. Of a slice, all of it.
#[macro_export]
macro_rules! write {
    ($place:expr) => {
        $crate::site!(Other, stringify!($place)).write(&$place)
    };
}

/// A variable or element is read and then written, as `x += 1` does.
#[macro_export]
macro_rules! update {
    ($place:expr) => {
        $crate::site!(Other, stringify!($place)).update(&$place)
    };
}

/// The memory of a slice or value is an allocation from now on.
#[macro_export]
macro_rules! allocated {
    ($place:expr) => {
        $crate::site!(Other, stringify!($place)).allocated(&$place)
    };
}

/// The memory of a slice or value is about to be given back.
#[macro_export]
macro_rules! released {
    ($place:expr) => {
        $crate::site!(Other, stringify!($place)).released(&$place)
    };
}

/// A lock was taken.
#[macro_export]
macro_rules! lock_acquired {
    ($lock:expr) => {
        $crate::site!(Other, stringify!($lock)).lock_acquired(&$lock)
    };
}

/// A lock is about to be given back.
#[macro_export]
macro_rules! lock_releases {
    ($lock:expr) => {
        $crate::site!(Other, stringify!($lock)).lock_releases(&$lock)
    };
}

/// A thread was started: the one that says [`ThreadMark::begins`].
#[macro_export]
macro_rules! thread_started {
    ($mark:expr) => {
        $crate::site!(Other, stringify!($mark)).thread_started($mark)
    };
}

/// A thread was waited for, and is over.
#[macro_export]
macro_rules! thread_joined {
    ($mark:expr) => {
        $crate::site!(Other, stringify!($mark)).thread_joined($mark)
    };
}
