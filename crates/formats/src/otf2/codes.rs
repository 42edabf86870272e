//! Numbers that stand for words, and sets of flags.
//!
//! Each is the number that the file stores, so that one of a later version is kept; the known ones
//! have constants and the names that `otf2-print` prints.

use std::fmt;

use super::fields::{Field, Fields};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident { $($value:literal $constant:ident,)* })*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u8);

        impl $name {
            $(
                #[doc = concat!("`", stringify!($constant), "`")]
                pub const $constant: Self = Self($value);
            )*

            /// The name, when it is a known one.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($constant)),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "INVALID <{}>", self.0),
                }
            }
        }

        impl Field for $name {
            fn read(fields: &mut Fields<'_>) -> Option<Self> {
                fields.u8().map(Self)
            }
        }
    )* };
}

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident { $($value:literal $constant:ident,)* })*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);

        impl $name {
            $(
                #[doc = concat!("`", stringify!($constant), "`")]
                pub const $constant: Self = Self($value);
            )*

            /// Whether all of `flags` are set.
            #[must_use]
            pub const fn has(self, flags: Self) -> bool {
                self.0 & flags.0 == flags.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_flags(f, self.0, &[$(($value, stringify!($constant)),)*])
            }
        }

        impl Field for $name {
            fn read(fields: &mut Fields<'_>) -> Option<Self> {
                fields.c32().map(Self)
            }
        }
    )* };
}

/// `NONE`, or the names in braces; what has no name as a number.
fn write_flags(f: &mut fmt::Formatter<'_>, set: u32, names: &[(u32, &str)]) -> fmt::Result {
    if set == 0 {
        return f.write_str("NONE");
    }
    let mut rest = set;
    let mut before = "{";
    for (flag, name) in names {
        if set & flag != 0 {
            write!(f, "{before}{name}")?;
            before = ", ";
            rest &= !flag;
        }
    }
    if rest != 0 {
        write!(f, "{before}{rest:#x}")?;
    }
    f.write_str("}")
}

codes! {
    /// The type of a value.
    Type {
        0 NONE,
        1 UINT8,
        2 UINT16,
        3 UINT32,
        4 UINT64,
        5 INT8,
        6 INT16,
        7 INT32,
        8 INT64,
        9 FLOAT,
        10 DOUBLE,
        11 STRING,
        12 ATTRIBUTE,
        13 LOCATION,
        14 REGION,
        15 GROUP,
        16 METRIC,
        17 COMM,
        18 PARAMETER,
        19 RMA_WIN,
        20 SOURCE_CODE_LOCATION,
        21 CALLING_CONTEXT,
        22 INTERRUPT_GENERATOR,
        23 IO_FILE,
        24 IO_HANDLE,
        25 LOCATION_GROUP,
    }

    /// The programming model that something belongs to.
    Paradigm {
        0 UNKNOWN,
        1 USER,
        2 COMPILER,
        3 OPENMP,
        4 MPI,
        5 CUDA,
        6 MEASUREMENT_SYSTEM,
        7 PTHREAD,
        8 HMPP,
        9 OMPSS,
        10 HARDWARE,
        11 GASPI,
        12 UPC,
        13 SHMEM,
        14 WINTHREAD,
        15 QTTHREAD,
        16 ACETHREAD,
        17 TBBTHREAD,
        18 OPENACC,
        19 OPENCL,
        20 MTAPI,
        21 SAMPLING,
        22 NONE,
        23 HIP,
        24 KOKKOS,
        25 OPENMP_TARGET,
    }

    /// What kind of parallelism a paradigm is.
    ParadigmClass {
        0 PROCESS,
        1 THREAD_FORK_JOIN,
        2 THREAD_CREATE_WAIT,
        3 ACCELERATOR,
    }

    /// What a property of a paradigm says.
    ParadigmProperty {
        0 COMM_NAME_TEMPLATE,
        1 RMA_WIN_NAME_TEMPLATE,
        2 RMA_ONLY,
    }

    /// What a node of the system tree is shared by.
    SystemTreeDomain {
        0 MACHINE,
        1 SHARED_MEMORY,
        2 NUMA,
        3 SOCKET,
        4 CACHE,
        5 CORE,
        6 PU,
        7 ACCELERATOR_DEVICE,
        8 NETWORKING_DEVICE,
    }

    /// What a location group is.
    LocationGroupType {
        0 UNKNOWN,
        1 PROCESS,
        2 ACCELERATOR,
    }

    /// What a location is.
    LocationType {
        0 UNKNOWN,
        1 CPU_THREAD,
        2 ACCELERATOR_STREAM,
        3 METRIC,
    }

    /// What a region does.
    RegionRole {
        0 UNKNOWN,
        1 FUNCTION,
        2 WRAPPER,
        3 LOOP,
        4 CODE,
        5 PARALLEL,
        6 SECTIONS,
        7 SECTION,
        8 WORKSHARE,
        9 SINGLE,
        10 SINGLE_SBLOCK,
        11 MASTER,
        12 CRITICAL,
        13 CRITICAL_SBLOCK,
        14 ATOMIC,
        15 BARRIER,
        16 IMPLICIT_BARRIER,
        17 FLUSH,
        18 ORDERED,
        19 ORDERED_SBLOCK,
        20 TASK,
        21 TASK_CREATE,
        22 TASK_WAIT,
        23 COLL_ONE2ALL,
        24 COLL_ALL2ONE,
        25 COLL_ALL2ALL,
        26 COLL_OTHER,
        27 FILE_IO,
        28 POINT2POINT,
        29 RMA,
        30 DATA_TRANSFER,
        31 ARTIFICIAL,
        32 THREAD_CREATE,
        33 THREAD_WAIT,
        34 TASK_UNTIED,
        35 ALLOCATE,
        36 DEALLOCATE,
        37 REALLOCATE,
        38 FILE_IO_METADATA,
        39 CANCEL,
        40 KERNEL,
    }

    /// What the members of a group are.
    GroupType {
        0 UNKNOWN,
        1 LOCATIONS,
        2 REGIONS,
        3 METRIC,
        4 COMM_LOCATIONS,
        5 COMM_GROUP,
        6 COMM_SELF,
        7 COMM_LOCATION_GROUPS,
    }

    /// The base of a scale: 2 or 10.
    Base {
        0 BINARY,
        1 DECIMAL,
    }

    /// When values of a metric class are recorded.
    MetricOccurrence {
        0 SYNCHRONOUS_STRICT,
        1 SYNCHRONOUS,
        2 ASYNCHRONOUS,
    }

    /// Where a metric comes from.
    MetricType {
        0 OTHER,
        1 PAPI,
        2 RUSAGE,
        3 USER,
    }

    /// What span of time a metric value stands for: bits 0 to 3 say accumulated, absolute or relative, bits 4 to 7 since the start, at the point, since the last or until the next value.
    MetricMode {
        0 ACCUMULATED_START,
        16 ACCUMULATED_POINT,
        32 ACCUMULATED_LAST,
        48 ACCUMULATED_NEXT,
        17 ABSOLUTE_POINT,
        33 ABSOLUTE_LAST,
        49 ABSOLUTE_NEXT,
        18 RELATIVE_POINT,
        34 RELATIVE_LAST,
        50 RELATIVE_NEXT,
    }

    /// What a metric instance was measured for.
    MetricScope {
        0 LOCATION,
        1 LOCATION_GROUP,
        2 SYSTEM_TREE_NODE,
        3 GROUP,
    }

    /// What kind of location records a metric class.
    RecorderKind {
        0 UNKNOWN,
        1 ABSTRACT,
        2 CPU,
    }

    /// The type of a parameter's values.
    ParameterType {
        0 STRING,
        1 INT64,
        2 UINT64,
    }

    /// Whether a dimension of a topology is a ring.
    CartPeriodicity {
        0 FALSE,
        1 TRUE,
    }

    /// What an interrupt generator counts.
    InterruptGeneratorMode {
        0 TIME,
        1 COUNT,
    }

    /// Whether an I/O paradigm is parallel.
    IoParadigmClass {
        0 SERIAL,
        1 PARALLEL,
    }

    /// What a property of an I/O paradigm says.
    IoParadigmProperty {
        0 VERSION,
    }

    /// What a handle may do.
    IoAccessMode {
        0 READ_ONLY,
        1 WRITE_ONLY,
        2 READ_WRITE,
        3 EXECUTE_ONLY,
        4 SEARCH_ONLY,
    }

    /// Whether the measurement runs.
    MeasurementMode {
        1 ON,
        2 OFF,
    }

    /// A collective operation.
    CollectiveOp {
        0 BARRIER,
        1 BCAST,
        2 GATHER,
        3 GATHERV,
        4 SCATTER,
        5 SCATTERV,
        6 ALLGATHER,
        7 ALLGATHERV,
        8 ALLTOALL,
        9 ALLTOALLV,
        10 ALLTOALLW,
        11 ALLREDUCE,
        12 REDUCE,
        13 REDUCE_SCATTER,
        14 SCAN,
        15 EXSCAN,
        16 REDUCE_SCATTER_BLOCK,
        17 CREATE_HANDLE,
        18 DESTROY_HANDLE,
        19 ALLOCATE,
        20 DEALLOCATE,
        21 CREATE_HANDLE_AND_ALLOCATE,
        22 DESTROY_HANDLE_AND_DEALLOCATE,
    }

    /// A kind of synchronisation.
    RmaSyncType {
        0 MEMORY,
        1 NOTIFY_IN,
        2 NOTIFY_OUT,
    }

    /// A kind of lock.
    LockType {
        0 EXCLUSIVE,
        1 SHARED,
    }

    /// An atomic operation on remote memory.
    RmaAtomicType {
        0 ACCUMULATE,
        1 INCREMENT,
        2 TEST_AND_SET,
        3 COMPARE_AND_SWAP,
        4 SWAP,
        5 FETCH_AND_ADD,
        6 FETCH_AND_INCREMENT,
        7 FETCH_AND_ACCUMULATE,
    }

    /// What an offset in a file counts from.
    IoSeekOption {
        0 FROM_START,
        1 FROM_CURRENT,
        2 FROM_END,
        3 DATA,
        4 HOLE,
    }

    /// What an I/O operation does.
    IoOperationMode {
        0 READ,
        1 WRITE,
        2 FLUSH,
    }

}

flags! {
    /// Marks of a region.
    RegionFlags {
        0x1 DYNAMIC,
        0x2 PHASE,
    }

    /// Marks of a group.
    GroupFlags {
        0x1 GLOBAL_MEMBERS,
    }

    /// Marks of an I/O paradigm.
    IoParadigmFlags {
        0x1 OS,
    }

    /// Marks of an I/O handle.
    IoHandleFlags {
        0x1 PRE_CREATED,
        0x2 ALL_PROXY,
    }

    /// The state of an I/O handle.
    IoStatusFlags {
        0x1 CLOSE_ON_EXEC,
        0x2 APPEND,
        0x4 NON_BLOCKING,
        0x8 ASYNC,
        0x10 SYNC,
        0x20 DATA_SYNC,
        0x40 AVOID_CACHING,
        0x80 NO_ACCESS_TIME,
        0x100 DELETE_ON_CLOSE,
    }

    /// Marks of a communicator.
    CommFlags {
        0x1 CREATE_DESTROY_EVENTS,
    }

    /// Marks of a window of remote memory access.
    RmaWinFlags {
        0x1 CREATE_DESTROY_EVENTS,
    }

    /// What a synchronisation of remote memory access covers.
    RmaSyncLevels {
        0x1 PROCESS,
        0x2 MEMORY,
    }

    /// How a handle was made.
    IoCreationFlags {
        0x1 CREATE,
        0x2 TRUNCATE,
        0x4 DIRECTORY,
        0x8 EXCLUSIVE,
        0x10 NO_CONTROLLING_TERMINAL,
        0x20 NO_FOLLOW,
        0x40 PATH,
        0x80 TEMPORARY_FILE,
        0x100 LARGEFILE,
        0x200 NO_SEEK,
        0x400 UNIQUE,
    }

    /// Marks of an I/O operation.
    IoOperationFlags {
        0x1 NON_BLOCKING,
        0x2 COLLECTIVE,
    }

}
