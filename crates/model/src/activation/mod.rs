//! [`Activations`]: every call, execution of a loop and iteration of a run, and which variables and
//! allocations each of them reads and writes.
//!
//! The word is from T. Ball and J. R. Larus, *Efficient Path Profiling* and the work around it: an
//! activation is one node of the dynamic call tree, where a context is the sum of all activations
//! with the same call path.

mod builder;
mod references;
#[cfg(test)]
mod tests;
mod touches;
mod tree;

use std::sync::Arc;

use parallax_base::{ActivationIdx, LocationIdx, ReferenceIdx, ThreadIdx};

use crate::StoreError;

pub use builder::{ActivationTreeBuilder, NewActivation, Ordered};
pub use references::References;
pub use touches::{Touch, Touches, TouchesBuilder};
pub use tree::{ActivationKind, ActivationTree};

/// Where a reference lies: a set of bits, since a source may name several (a global variable is
/// static, too).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct StorageClass(u8);

impl StorageClass {
    /// On the stack of a thread: a local variable or a parameter.
    pub const STACK: Self = Self(1);
    /// On the heap: an allocation.
    pub const HEAP: Self = Self(2);
    /// A variable that lives as long as the program.
    pub const STATIC: Self = Self(4);
    /// A variable that every function sees.
    pub const GLOBAL: Self = Self(8);

    const NAMES: [(Self, &'static str); 4] = [
        (Self::STACK, "stack"),
        (Self::HEAP, "heap"),
        (Self::STATIC, "static"),
        (Self::GLOBAL, "global"),
    ];

    /// The classes whose bits are set, numbered as the constants are; other bits are left out.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 15)
    }

    /// The set as bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all classes of `other` are among these.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The classes in words: `heap`, `static global`; `unknown` when there is none.
    #[must_use]
    pub fn name(self) -> String {
        let names = Self::NAMES.into_iter().filter(|(class, _)| self.contains(*class));
        let names: Vec<_> = names.map(|(_, name)| name).collect();
        if names.is_empty() { "unknown".to_owned() } else { names.join(" ") }
    }
}

impl std::ops::BitOr for StorageClass {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A place in the program that an activation is at, such as where it allocates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// The activation that does it.
    pub activation: ActivationIdx,
    /// The line in the file of its function; 0 when unknown.
    pub line: u32,
}

/// A variable or an allocation: what is read and written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reference {
    /// The variable's name; for an allocation what the source calls it, such as its address.
    pub name: Arc<str>,
    /// The member of a structure that it is, where the source distinguishes members.
    pub member: Option<Arc<str>>,
    /// Where it lies.
    pub storage: StorageClass,
    /// Size in bytes; `None` when unknown.
    pub size_bytes: Option<u64>,
    /// Where it was allocated; `None` for variables.
    pub allocated: Option<Site>,
    /// Where it was freed; `None` when it was not, or when that is not known.
    pub freed: Option<Site>,
    /// Number in the source.
    pub source_id: u64,
}

/// What makes an order between threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SyncKind {
    /// Another thread is started.
    Fork,
    /// Another thread is waited for.
    Join,
    /// A lock is taken.
    Acquire,
    /// A lock is given back.
    Release,
}

impl SyncKind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Join => "join",
            Self::Acquire => "acquire",
            Self::Release => "release",
        }
    }
}

/// One synchronisation: what separates the epochs of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncEvent {
    /// Who synchronises; its thread is [`ActivationTree::thread`].
    pub activation: ActivationIdx,
    /// What it does.
    pub kind: SyncKind,
    /// Its place among the accesses of the run: those numbered below it come before in the source,
    /// the access of this number and those above it come after.
    pub sequence: u32,
    /// The line in the file of its function; 0 when unknown.
    pub line: u32,
    /// The thread that is started or waited for.
    pub other_thread: Option<ThreadIdx>,
    /// The lock that is taken or given back; `None` when the source does not say.
    pub lock: Option<ReferenceIdx>,
}

/// How a thread came to life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Creator {
    /// The thread that started it.
    pub thread: ThreadIdx,
    /// Where it did.
    pub site: Site,
}

/// A thread of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// Its row in the catalog of locations.
    pub location: LocationIdx,
    /// Number in the source.
    pub source_id: u64,
    /// Who started it; `None` for the main thread and where it is not known.
    pub creator: Option<Creator>,
    /// Its first activation without a parent; `None` when it has no activation.
    pub entry: Option<ActivationIdx>,
    /// Nanoseconds from 1970 (UTC) to its start on the wall clock.
    pub wall_start_nanos: Option<i64>,
    /// Nanoseconds from 1970 (UTC) to its end on the wall clock.
    pub wall_end_nanos: Option<i64>,
    /// How long it lived, in cycles of the processor's time stamp counter.
    pub lifetime_cycles: Option<u64>,
}

/// An interval of a thread that is marked with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The name of the mark.
    pub name: Arc<str>,
    /// What it marks, in the source's words: `section`, `task`.
    pub kind: Arc<str>,
    /// The thread.
    pub thread: Option<ThreadIdx>,
    /// Start on the run's clock, in nanoseconds.
    pub start_nanos: u64,
    /// End on the run's clock, in nanoseconds.
    pub end_nanos: u64,
    /// Which one of this name it is, as the source counts.
    pub counter: u64,
    /// The activation that stands for it, of kind [`ActivationKind::Call`]: what is done in the
    /// interval is below it. `None` when it is an interval of time only.
    pub activation: Option<ActivationIdx>,
}

/// How times of the source became nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// Ticks of the source's clock in a second.
    pub ticks_per_second: f64,
    /// Whether the rate was assumed because the source does not give it.
    pub is_assumed: bool,
    /// The tick that is nanosecond 0.
    pub origin_ticks: u64,
    /// Nanoseconds from 1970 (UTC) to nanosecond 0, on the wall clock; `None` when unknown.
    pub wall_origin_nanos: Option<i64>,
}

/// The kind of the issue that says that a source has no loops, whatever the program did.
pub const LOOPS_NOT_RECORDED: &str = "loops-not-recorded";

/// The kind of the issue that says that a source has no accesses to local variables that the
/// compiler keeps in registers or on the stack: iterations may depend on each other through them.
pub const LOCALS_NOT_RECORDED: &str = "locals-not-recorded";

/// What a run did, activation by activation.
#[derive(Debug, Clone)]
pub struct Activations {
    /// The activations.
    pub tree: ActivationTree,
    /// The threads; each activation names one.
    pub threads: Vec<Thread>,
    /// The variables and allocations.
    pub references: References,
    /// Who reads and writes what.
    pub touches: Touches,
    /// Synchronisations, in the order of the source.
    pub syncs: Vec<SyncEvent>,
    /// Marked intervals, in the order of the source.
    pub tags: Vec<Tag>,
    /// How times became nanoseconds.
    pub clock: Clock,
}

impl Activations {
    /// A thread.
    #[must_use]
    pub fn thread(&self, thread: ThreadIdx) -> &Thread {
        &self.threads[thread.idx()]
    }

    /// A reference; one without a name where there is none.
    #[must_use]
    pub fn reference(&self, reference: ReferenceIdx) -> Reference {
        self.references.get(reference.idx()).unwrap_or_default()
    }

    /// Whether all that was asked for could be had.
    ///
    /// # Errors
    /// When the temporary file that has what does not fit into memory could not be read. Answers
    /// that were computed since then mean nothing.
    pub fn check(&self) -> Result<(), StoreError> {
        self.tree.paging().check().map_err(|error| StoreError::Read(error.to_string()))
    }
}
