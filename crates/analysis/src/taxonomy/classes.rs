//! What the time of a context goes into, by the names of the functions on its call path.

use std::borrow::Cow;

use parallax_base::ContextIdx;
use parallax_engine::query::normalised_name;
use parallax_model::{ContextKind, ContextTree, Function};

use crate::taxonomy::threads::{Owner, ThreadName, helper_kind};
use crate::taxonomy::{MpiClass, gpu, mpi_routine};

/// Operations of GPUs, by the placeholders that stand for them in call paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GpuOperation {
    /// `<gpu kernel>`.
    Kernel,
    /// `<gpu copy>`, `<gpu copyin>`, `<gpu copyout>`.
    Copy,
    /// `<gpu alloc>`, `<gpu delete>`.
    Memory,
    /// `<gpu memset>`.
    Memset,
    /// `<gpu sync>`: the host waits.
    Sync,
    /// Any other.
    Other,
}

/// What a cost goes into. The classes are disjoint and cover everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CostClass {
    /// The program's own code, and all that has no class of its own.
    Application,
    /// Routines of MPI and everything below them.
    Mpi(MpiClass),
    /// `<omp idle>`: a thread outside of any parallel region.
    OpenMpIdle,
    /// `<omp barrier wait>`, `<omp task wait>`, `<omp mutex wait>` and their kin.
    OpenMpWait,
    /// `<omp overhead>`.
    OpenMpOverhead,
    /// `<omp work>`, tasks, and regions that could not be resolved.
    OpenMpWork,
    /// Code of an OpenMP runtime itself: waiting and scheduling, where no placeholder says which.
    OpenMpRuntime,
    /// Reading, writing and opening files with the C library or system calls.
    PosixIo,
    /// Libraries of file formats (HDF5, netCDF, ADIOS).
    LibraryIo,
    /// `malloc`, `free` and their kin.
    Memory,
    /// Locks, condition variables and barriers of threads.
    Locks,
    /// Sleeping and waiting for events.
    Sleeping,
    /// `<preempted>` of recordings: ready to run, but another thread has the core. Neither work nor
    /// waiting for another thread of the program.
    Preempted,
    /// Host code of GPU runtimes.
    GpuRuntime,
    /// Operations on GPUs.
    Gpu(GpuOperation),
    /// Threads that MPI, networks or the measurement started and that wait for events: none of the
    /// program's code runs on them.
    HelperThreads,
}

impl CostClass {
    /// The group that the class belongs to.
    #[must_use]
    pub const fn major(self) -> &'static str {
        match self {
            Self::Application => "Application",
            Self::Mpi(_) => "MPI",
            Self::OpenMpIdle
            | Self::OpenMpWait
            | Self::OpenMpOverhead
            | Self::OpenMpWork
            | Self::OpenMpRuntime => "OpenMP",
            Self::PosixIo | Self::LibraryIo => "I/O",
            Self::Memory => "Memory allocation",
            Self::Locks => "Locks and barriers",
            Self::Sleeping => "Sleeping and polling",
            Self::Preempted => "Waiting for a core",
            Self::GpuRuntime | Self::Gpu(_) => "GPU",
            Self::HelperThreads => "Helper threads",
        }
    }

    /// The display name of the class within its group; empty for the only one of its group.
    #[must_use]
    pub const fn minor(self) -> &'static str {
        match self {
            Self::Mpi(class) => class.name(),
            Self::OpenMpIdle => "Idle",
            Self::OpenMpWait => "Wait",
            Self::OpenMpOverhead => "Overhead",
            Self::OpenMpWork => "Work",
            Self::OpenMpRuntime => "Runtime",
            Self::PosixIo => "POSIX",
            Self::LibraryIo => "Libraries",
            Self::GpuRuntime => "Host runtime",
            Self::Gpu(GpuOperation::Kernel) => "Kernels",
            Self::Gpu(GpuOperation::Copy) => "Copies",
            Self::Gpu(GpuOperation::Memory) => "Memory",
            Self::Gpu(GpuOperation::Memset) => "Memset",
            Self::Gpu(GpuOperation::Sync) => "Synchronisation",
            Self::Gpu(GpuOperation::Other) => "Other",
            Self::Application
            | Self::Memory
            | Self::Locks
            | Self::Sleeping
            | Self::Preempted
            | Self::HelperThreads => "",
        }
    }

    /// Whether time in it is mostly spent waiting: in MPI, for threads, or for nothing.
    pub(crate) const fn is_waiting(self) -> bool {
        matches!(
            self,
            Self::Mpi(_) | Self::OpenMpIdle | Self::OpenMpWait | Self::Sleeping | Self::Locks
        )
    }

    /// Whether a function of class `inner` below one of this class counts to its own class.
    fn gives_way_to(self, inner: Self) -> bool {
        match self {
            Self::HelperThreads => false,
            // Whatever a thread was about to do, it does not do it.
            _ if inner == Self::Preempted => true,
            Self::Application | Self::OpenMpWork => true,
            Self::Mpi(_) => false,
            // What a library calls to do its work would hide what the program asked for.
            _ => matches!(inner, Self::Mpi(_) | Self::Gpu(_)),
        }
    }
}

/// What is known of a function by its name and module.
#[derive(Clone)]
pub(super) struct Known {
    class: Option<CostClass>,
    /// The display name.
    name: String,
    /// Whether its module is no part of the program but of the system, MPI or the measurement.
    pub(super) is_system: bool,
    pub(super) is_openmp_runtime: bool,
    pub(super) waits_for_events: bool,
    /// What a thread is that begins there, as far as the name says.
    pub(super) thread: ThreadName,
    /// Whose library it is.
    pub(super) owner: Option<Owner>,
}

/// A context where another class begins than around it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Boundary {
    pub(crate) context: ContextIdx,
    /// The class around it.
    pub(crate) outside: CostClass,
    /// The class from here down.
    pub(crate) inside: CostClass,
    /// The function that begins it.
    pub(crate) name: String,
}

/// The class of every context, and where classes begin.
pub(crate) struct Classes {
    pub(crate) of_context: Vec<CostClass>,
    pub(crate) boundaries: Vec<Boundary>,
    /// By function: whether it is no part of the program.
    is_system: Vec<bool>,
    /// Where helper threads begin, ascending, and what they are.
    helper_kinds: Vec<(ContextIdx, &'static str)>,
}

impl Classes {
    pub(crate) fn new(tree: &ContextTree) -> Self {
        let known: Vec<Known> = tree.functions().iter().map(|f| know(tree, f)).collect();
        let of = |context| tree.function(context).and_then(|f| known.get(f.idx()));
        let mut of_context = vec![CostClass::Application; tree.len()];
        let mut boundaries = Vec::new();
        let mut helper_kinds = Vec::new();
        for context in tree.iter().skip(1) {
            let outside = tree.parent(context).map_or(CostClass::Application, |above| {
                of_context.get(above.idx()).copied().unwrap_or(CostClass::Application)
            });
            let helper = match outside {
                CostClass::HelperThreads => None,
                _ => helper_kind(tree, context, &known),
            };
            helper_kinds.extend(helper.map(|kind| (context, kind)));
            let inside = match of(context) {
                _ if helper.is_some() => CostClass::HelperThreads,
                Some(known) => match known.class {
                    Some(class) if outside.gives_way_to(class) => class,
                    // The runtime calls back into the program.
                    None if outside == CostClass::OpenMpRuntime && !known.is_system => {
                        CostClass::Application
                    }
                    _ => outside,
                },
                None => outside,
            };
            of_context[context.idx()] = inside;
            if inside != outside {
                let name = of(context).map_or_else(|| tree.label(context), |k| k.name.clone());
                boundaries.push(Boundary { context, outside, inside, name });
            }
        }
        let is_system = known.iter().map(|known| known.is_system).collect();
        Self { of_context, boundaries, is_system, helper_kinds }
    }

    /// What the helper thread is that begins at a context.
    pub(super) fn helper_kind(&self, start: ContextIdx) -> &'static str {
        let at = self.helper_kinds.binary_search_by_key(&start, |(context, _)| *context).ok();
        at.and_then(|at| self.helper_kinds.get(at)).map_or("helper thread", |(_, kind)| kind)
    }

    /// Whether the function of a context, or the one around it, belongs to a system library.
    pub(crate) fn is_library(&self, tree: &ContextTree, context: ContextIdx) -> bool {
        tree.enclosing_function(context)
            .and_then(|function| tree.function(function))
            .and_then(|function| self.is_system.get(function.idx()).copied())
            .unwrap_or(false)
    }

    /// The nearest function of the program around a function of a library; `None` where the
    /// function is the program's own.
    pub(crate) fn program_caller(
        &self,
        tree: &ContextTree,
        context: ContextIdx,
    ) -> Option<ContextIdx> {
        let is_library = |context| self.is_library(tree, context);
        if !is_library(context) {
            return None;
        }
        tree.ancestors(context)
            .find(|&above| tree.kind(above) == ContextKind::Function && !is_library(above))
    }
}

/// What contexts are there for, by the names of their functions.
pub struct Purposes<'a> {
    tree: &'a ContextTree,
    classes: Classes,
}

impl<'a> Purposes<'a> {
    /// Of all contexts of a tree.
    #[must_use]
    pub fn new(tree: &'a ContextTree) -> Self {
        Self { tree, classes: Classes::new(tree) }
    }

    /// The tree.
    #[must_use]
    pub const fn tree(&self) -> &'a ContextTree {
        self.tree
    }

    /// Whether time in the context is mostly spent waiting: in MPI, for threads, or for nothing.
    #[must_use]
    pub fn is_waiting(&self, context: ContextIdx) -> bool {
        self.classes.of_context.get(context.idx()).is_some_and(|class| class.is_waiting())
    }

    /// The nearest function of the program around a function of a library; `None` where the
    /// function is the program's own.
    #[must_use]
    pub fn program_caller(&self, context: ContextIdx) -> Option<ContextIdx> {
        self.classes.program_caller(self.tree, context)
    }
}

const OPENMP_MODULES: [&str; 7] =
    ["libgomp", "libomp", "libiomp", "libkmp", "libcraymp", "libxlsmp", "libnvomp"];

/// Beginnings of names of libraries that are no part of a program.
const SYSTEM_MODULES: [&str; 48] = [
    "libc.so",
    "libc-",
    "libm.so",
    "libm-",
    "libpthread",
    "ld-linux",
    "ld-2",
    "librt",
    "libdl",
    "linux-vdso",
    "libevent",
    "libpmix",
    "libprrte",
    "libprte",
    "libopen-rte",
    "libopen-pal",
    "libmpi",
    "libpmpi",
    "mca_",
    "libhwloc",
    "libudev",
    "libhpcrun",
    "libmonitor",
    "libscorep",
    "libTAU",
    "libpapi",
    "libpmi",
    "libcxi",
    "libslurm",
    "libnccl",
    "librccl",
    "libuc",
    "libfabric",
    "libpsm",
    "libibverbs",
    "librdmacm",
    "libmlx",
    "libxpmem",
    "libcuda.so",
    "libcupti",
    "libnvidia",
    "librocprofiler",
    "libroctracer",
    "libhsa",
    "libze_",
    "libjemalloc",
    "libtcmalloc",
    "libmimalloc",
];

const EVENT_WAITS: [&str; 14] = [
    "poll",
    "ppoll",
    "epoll_wait",
    "epoll_pwait",
    "select",
    "pselect",
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "sleep",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "event_base_loop",
    "accept",
];

const POSIX_IO: [&str; 60] = [
    "read",
    "write",
    "pread",
    "pwrite",
    "pread64",
    "pwrite64",
    "readv",
    "writev",
    "preadv",
    "pwritev",
    "open",
    "open64",
    "openat",
    "openat64",
    "creat",
    "close",
    "lseek",
    "lseek64",
    "fsync",
    "fdatasync",
    "sync",
    "ftruncate",
    "ftruncate64",
    "fallocate",
    "posix_fallocate",
    "fopen",
    "fopen64",
    "fdopen",
    "freopen",
    "fclose",
    "fread",
    "fwrite",
    "fflush",
    "fseek",
    "fseeko",
    "fputs",
    "fputc",
    "fgets",
    "fgetc",
    "getc",
    "putc",
    "getline",
    "fprintf",
    "vfprintf",
    "printf",
    "vprintf",
    "puts",
    "fscanf",
    "vfscanf",
    "scanf",
    "mkdir",
    "unlink",
    "rename",
    "remove",
    "stat",
    "fstat",
    "sendfile",
    "aio_read",
    "aio_write",
    "msync",
];

const MEMORY: [&str; 26] = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "free",
    "cfree",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "int_malloc",
    "int_free",
    "int_realloc",
    "int_memalign",
    "malloc_consolidate",
    "sysmalloc",
    "systrim",
    "unlink_chunk",
    "mmap",
    "munmap",
    "mremap",
    "madvise",
    "brk",
    "sbrk",
    "malloc_trim",
];

const LOCKS: [&str; 26] = [
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_unlock",
    "pthread_mutex_trylock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_spin_lock",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_barrier_wait",
    "pthread_join",
    "sem_wait",
    "sem_timedwait",
    "lll_lock_wait",
    "lll_lock_wait_private",
    "lll_lock_wake",
    "lll_unlock_wake",
    "futex",
    "futex_wait",
    "futex_abstimed_wait",
    "futex_abstimed_wait_common",
    "sem_post",
    "flock",
];

const SLEEPING: [&str; 14] = [
    parallax_model::WAITING,
    "poll",
    "ppoll",
    "epoll_wait",
    "epoll_pwait",
    "select",
    "pselect",
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "sleep",
    "sched_yield",
    "event_base_loop",
    "sigwait",
];

fn know(tree: &ContextTree, function: &Function) -> Known {
    let path = function.module.and_then(|m| tree.modules().get(m.idx())).map(|m| &*m.path);
    // Names of functions without symbols, and those of some writers, carry the module themselves.
    let in_name = || function.name.rsplit_once(" [")?.1.strip_suffix(']');
    let module = path.or_else(in_name).unwrap_or_default();
    let module = module.rsplit('/').next().unwrap_or(module);
    let is_openmp_runtime = OPENMP_MODULES.iter().any(|name| module.starts_with(name));
    let is_system =
        module.ends_with(".vdso") || SYSTEM_MODULES.iter().any(|name| module.starts_with(name));
    let short = normalised_name(&function.name);
    let plain = without_decoration(&short);
    let (class, name) = if let Some((routine, class)) = mpi_routine(&function.name) {
        (Some(CostClass::Mpi(class)), routine.into_owned())
    } else {
        // A function with source in the program is the program's own, whatever its name.
        let is_own = !is_system && function.file.is_some();
        let library = || if is_own { None } else { library_class(plain, &function.name) };
        let work = || gpu::operation_of(function).map(CostClass::Gpu);
        let class = work().or_else(|| placeholder_class(&function.name)).or_else(library);
        let runtime = is_openmp_runtime.then_some(CostClass::OpenMpRuntime);
        (class.or(runtime), shown_name(&short, &function.name).into_owned())
    };
    Known {
        class,
        name,
        is_system: is_system || is_openmp_runtime,
        is_openmp_runtime,
        waits_for_events: EVENT_WAITS.contains(&plain),
        thread: ThreadName::of(function),
        owner: Owner::of(module),
    }
}

/// Normalised, unless that leaves nothing to recognise.
fn shown_name<'a>(short: &'a str, full: &'a str) -> Cow<'a, str> {
    if short.starts_with("<unknown") || short == "operator" {
        Cow::Borrowed(full)
    } else {
        Cow::Borrowed(short)
    }
}

/// Internal names of the C library (`__GI___poll`, `__libc_malloc`) as the public ones.
fn without_decoration(name: &str) -> &str {
    let mut name = name;
    loop {
        let next = name.strip_prefix("GI_").or_else(|| name.strip_prefix("libc_"));
        let next = next.or_else(|| name.strip_prefix('_').filter(|rest| !rest.is_empty()));
        match next {
            Some(next) => name = next,
            None => return name.strip_suffix("_nocancel").unwrap_or(name).trim_end_matches('_'),
        }
    }
}

/// The class of a placeholder such as `<omp idle>`.
fn placeholder_class(name: &str) -> Option<CostClass> {
    if name == parallax_model::PREEMPTED {
        return Some(CostClass::Preempted);
    }
    let inner = name.strip_prefix('<')?.strip_suffix('>')?;
    let omp = inner.strip_prefix("omp ")?;
    Some(match omp {
        "idle" => CostClass::OpenMpIdle,
        "overhead" => CostClass::OpenMpOverhead,
        _ if omp.contains("wait") => CostClass::OpenMpWait,
        _ => CostClass::OpenMpWork,
    })
}

/// The class of a function of the C library, of an I/O library or of a GPU runtime.
fn library_class(plain: &str, full: &str) -> Option<CostClass> {
    let second = |prefix: &str| {
        full.strip_prefix(prefix).and_then(|rest| rest.chars().next()).unwrap_or(' ')
    };
    if MEMORY.contains(&plain)
        || full.starts_with("operator new")
        || full.starts_with("operator delete")
    {
        return Some(CostClass::Memory);
    }
    if LOCKS.contains(&plain) {
        return Some(CostClass::Locks);
    }
    if SLEEPING.contains(&plain) {
        return Some(CostClass::Sleeping);
    }
    if POSIX_IO.contains(&plain)
        || full.starts_with("_IO_")
        || full.starts_with("_gfortran_st_write")
        || full.starts_with("_gfortran_st_read")
    {
        return Some(CostClass::PosixIo);
    }
    // H5Dwrite, H5FD_read, nc_put_vara, ncmpi_put_vara, adios2_put, and TAU's `ADIOS read`.
    let is_hdf5 = second("H5").is_ascii_uppercase();
    let io = ["nc_put_", "nc_get_", "nc_open", "nc_close", "nc_create", "nc_enddef", "ncmpi_"];
    let is_adios = full.starts_with("adios") || full.starts_with("ADIOS ");
    if is_hdf5 || io.iter().any(|name| full.starts_with(name)) || is_adios {
        return Some(CostClass::LibraryIo);
    }
    gpu::is_runtime(full).then_some(CostClass::GpuRuntime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_classes_that_people_expect() {
        let class = |name: &str| {
            let plain = normalised_name(name);
            placeholder_class(name).or_else(|| library_class(without_decoration(&plain), name))
        };
        for (name, expected) in [
            ("<omp idle>", CostClass::OpenMpIdle),
            ("<omp barrier wait>", CostClass::OpenMpWait),
            ("<preempted>", CostClass::Preempted),
            ("<omp region unresolved>", CostClass::OpenMpWork),
            ("__GI___poll [libc.so.6]", CostClass::Sleeping),
            ("__sched_yield", CostClass::Sleeping),
            ("pthread_cond_wait@@GLIBC_2.3.2 [libc.so.6]", CostClass::Locks),
            ("__libc_malloc", CostClass::Memory),
            ("_int_free [libc.so.6]", CostClass::Memory),
            ("operator new(unsigned long)", CostClass::Memory),
            ("__GI___libc_write", CostClass::PosixIo),
            ("fprintf", CostClass::PosixIo),
            ("_IO_new_file_xsputn", CostClass::PosixIo),
            ("H5Dwrite", CostClass::LibraryIo),
            ("H5FD_mpio_write", CostClass::LibraryIo),
            ("cudaMemcpyAsync", CostClass::GpuRuntime),
            ("hipLaunchKernel", CostClass::GpuRuntime),
            ("hipEventSynchronize", CostClass::GpuRuntime),
        ] {
            assert_eq!(class(name), Some(expected), "{name}");
        }
        for name in
            ["main", "hipster", "custom_read", "current_time", "H5helper", "zero", "free_list"]
        {
            assert_eq!(class(name), None, "{name}");
        }
    }
}
