//! What a thread is, by the call path with which it begins.
//!
//! | thread | evidence | excluded |
//! |---|---|---|
//! | of the program | some function below its beginning is the program's, or of a library that is not known | no |
//! | of OpenMP that waits | nothing but code of an OpenMP runtime and of the system | no: it is the program's to use |
//! | progress of MPI, networks, drivers, the measurement | nothing but code of the system and of their libraries, and some function waits for events | yes |
//! | `[PTHREAD]` of TAU | a thread whose start routine lies in no binary that TAU knows, of which nothing else is recorded, or samples in the system's libraries only | yes |
//! | of the GPU driver, of Nsight Systems | the tool names it so, which its group says | yes |
//! | spans of the PyTorch profiler | of category `Trace`, on a process that is none | yes |
//!
//! A library that is in no table makes a thread one of the program.

use parallax_base::ContextIdx;
use parallax_model::{ContextKind, ContextTree, Function};

use super::classes::Known;

/// Entries of threads other than the main one, by the names that writers give them.
const THREAD_ENTRY: &str = "<application thread>";
/// What TAU calls everything that a thread does.
const TAU_THREAD: &str = ".TAU application";

/// What a thread is that begins with a function, as far as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThreadName {
    /// The name says nothing.
    Any,
    /// `[PTHREAD] <?+0x9d0>` of TAU: the start routine of a thread, in no binary that is known.
    TauLibrary,
    /// A span that the PyTorch profiler writes about itself.
    ProfilerSpan,
    /// A thread that is of something else than the program by its own name.
    Owned(Owner),
}

/// Groups of functions that stand for all that a thread does which is of something else than the
/// program: what Nsight Systems knows by names of threads.
const THREAD_GROUPS: [(&str, Owner); 2] =
    [("GPU driver thread", Owner::Driver), ("measurement thread", Owner::Measurement)];

impl ThreadName {
    pub(super) fn of(function: &Function) -> Self {
        let name = &*function.name;
        if name.starts_with("[PTHREAD] <?+") {
            return Self::TauLibrary;
        }
        let group = function.group.as_deref();
        if let Some((_, owner)) = THREAD_GROUPS.iter().find(|(own, _)| group == Some(*own)) {
            return Self::Owned(*owner);
        }
        let is_span = group == Some("Trace") && name.contains("Profiler");
        if is_span { Self::ProfilerSpan } else { Self::Any }
    }
}

/// Whose libraries are on the call path of a helper thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    /// Drivers of GPUs and their libraries of communication.
    Driver,
    /// MPI and what it is started by.
    Mpi,
    /// Libraries of networks.
    Network,
    /// The measurement.
    Measurement,
}

/// Beginnings of names of libraries by owner.
const OWNERS: [(Owner, &[&str]); 4] = [
    (
        Owner::Driver,
        &[
            "libcuda",
            "libcupti",
            "libnvidia",
            "libhsa",
            "librocprofiler",
            "libroctracer",
            "libze_",
            "libnccl",
            "librccl",
        ],
    ),
    (
        Owner::Mpi,
        &[
            "libmpi",
            "libpmpi",
            "libopen-pal",
            "libopen-rte",
            "libpmix",
            "libprrte",
            "libprte",
            "libpmi",
            "libevent",
            "mca_",
            "libslurm",
        ],
    ),
    (
        Owner::Network,
        &["libuc", "libfabric", "libpsm", "libibverbs", "librdmacm", "libmlx", "libcxi"],
    ),
    (Owner::Measurement, &["libhpcrun", "libmonitor", "libscorep", "libTAU", "libpapi"]),
];

impl Owner {
    pub(super) fn of(module: &str) -> Option<Self> {
        let is_of = |names: &[&str]| names.iter().any(|name| module.starts_with(name));
        OWNERS.iter().find(|(_, names)| is_of(names)).map(|(owner, _)| *owner)
    }

    const fn thread(self) -> &'static str {
        match self {
            Self::Driver => "GPU driver",
            Self::Mpi => "progress of MPI",
            Self::Network => "network",
            Self::Measurement => "measurement",
        }
    }
}

/// Whether a context is a frame that the measurement puts around all that threads do.
pub(super) fn is_frame(tree: &ContextTree, context: ContextIdx) -> bool {
    tree.function_name(context) == Some(TAU_THREAD)
        && tree.parent(context) == Some(ContextTree::ROOT)
}

/// The outermost contexts of what threads do, ascending: below the root, and below frames.
pub(super) fn tops(tree: &ContextTree) -> Vec<ContextIdx> {
    let below = |top| {
        let inside: Vec<ContextIdx> = match is_frame(tree, top) {
            true => tree.children(top).collect(),
            false => vec![top],
        };
        inside
    };
    tree.children(ContextTree::ROOT).flat_map(below).collect()
}

/// What the helper thread is that begins at `context`; `None` where no thread begins, or a thread
/// of the program does.
pub(super) fn helper_kind(
    tree: &ContextTree,
    context: ContextIdx,
    known: &[Known],
) -> Option<&'static str> {
    let above = tree.parent(context)?;
    let of = |context| tree.function(context).and_then(|f| known.get(f.idx()));
    let own = of(context).map_or(ThreadName::Any, |own| own.thread);
    let is_top = above == ContextTree::ROOT
        || tree.kind(above) == ContextKind::Entry
        || is_frame(tree, above);
    match own {
        ThreadName::ProfilerSpan if is_top => return Some("span of the profiler"),
        ThreadName::Owned(owner) if is_top => return Some(owner.thread()),
        ThreadName::TauLibrary if is_top => {}
        _ if tree.kind(above) == ContextKind::Entry && tree.label(above) == THREAD_ENTRY => {}
        _ => return None,
    }
    let functions = || {
        let below = std::iter::once(context).chain(tree.descendants(context));
        below.filter_map(of).filter(|known| known.thread != ThreadName::TauLibrary)
    };
    if !functions().all(|known| known.is_system && !known.is_openmp_runtime) {
        return None;
    }
    // TAU does not resolve samples in the C library; that there is nothing else must suffice. A
    // trace has no samples: all that it says of such a thread is how long it was there.
    if own == ThreadName::TauLibrary && functions().next().is_none() {
        return Some("start routine in no known binary, nothing else recorded");
    }
    let waits = own == ThreadName::TauLibrary || functions().any(|known| known.waits_for_events);
    let owner = functions().filter_map(|known| known.owner).min();
    waits.then(|| owner.map_or("waits for events", Owner::thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_found_by_the_beginning_of_the_name() {
        assert_eq!(Owner::of("libopen-pal.so.40.30.2"), Some(Owner::Mpi));
        assert_eq!(Owner::of("libcuda.so.1"), Some(Owner::Driver));
        assert_eq!(Owner::of("libucs.so.0"), Some(Owner::Network));
        assert_eq!(Owner::of("libhpcrun.so"), Some(Owner::Measurement));
        assert_eq!(Owner::of("libsolver.so"), None);
    }
}
