//! Rows of the tables, with whatever columns the export at hand has for them.
//!
//! Times are nanoseconds since the start of the collection. Numbers of names are of `StringIds`.

use super::{Cells, Record};

/// A call of a function of a programming interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRow {
    /// When it began.
    pub start: Option<i64>,
    /// When it ended.
    pub end: Option<i64>,
    /// `globalTid` of its thread.
    pub thread: Option<i64>,
    /// Number of its name.
    pub name: Option<i64>,
    /// What wrote the row: [`CallRow::CUDA_DRIVER`], [`CallRow::CUDA_BACKTRACE`] and others.
    pub class: Option<i64>,
    /// What it has in common with the work on a GPU that it started.
    pub correlation: Option<i64>,
    /// What it returned.
    pub returned: Option<i64>,
    /// Of MPI: rank of the other side, in the communicator.
    pub partner: Option<i64>,
    /// Of MPI: tag.
    pub tag: Option<i64>,
    /// Of MPI: bytes of the message, or sent in a collective operation.
    pub bytes: Option<u64>,
    /// Of MPI: bytes received in a collective operation.
    pub received: Option<u64>,
    /// Of MPI: rank of the root, in the communicator.
    pub root: Option<i64>,
    /// Of MPI: the communicator, by a number that the process has for it.
    pub communicator: Option<i64>,
}

impl CallRow {
    /// Calls of the CUDA driver; those of the runtime are 0.
    pub const CUDA_DRIVER: i64 = 1;
    /// Rows that repeat a call because its call stack was taken.
    pub const CUDA_BACKTRACE: i64 = 67;
}

impl Record for CallRow {
    const COLUMNS: &'static [&'static str] = &[
        "start",
        "end",
        "globalTid",
        "nameId",
        "textId",
        "eventClass",
        "correlationId",
        "returnValue",
        "remoteRank",
        "tag",
        "size",
        "recvSize",
        "rootRank",
        "commHandle",
    ];

    fn read(cells: &Cells<'_>) -> Self {
        Self {
            start: cells.integer(0),
            end: cells.integer(1),
            thread: cells.integer(2),
            name: cells.integer(3).or_else(|| cells.integer(4)),
            class: cells.integer(5),
            correlation: cells.integer(6),
            returned: cells.integer(7),
            partner: cells.integer(8),
            tag: cells.integer(9),
            bytes: cells.unsigned(10),
            received: cells.unsigned(11),
            root: cells.integer(12),
            communicator: cells.integer(13),
        }
    }
}

/// A mark or range of NVTX, or what names something there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NvtxRow {
    /// When it began.
    pub start: Option<i64>,
    /// When it ended; `None` where it never did, and for marks.
    pub end: Option<i64>,
    /// What it is.
    pub kind: Option<i64>,
    /// `globalTid` of the thread where it began.
    pub thread: Option<i64>,
    /// Number of its text.
    pub text_id: Option<i64>,
    /// Its text, where that has no number.
    pub text: Option<String>,
    /// The domain, as the process numbers it.
    pub domain: Option<i64>,
}

impl NvtxRow {
    /// Marks, written by the program and by the text format of NVTX.
    pub const MARKS: [i64; 2] = [34, 65];
    /// The name of a thread.
    pub const THREAD_NAME: i64 = 39;
    /// Ranges that a thread pushes and pops.
    pub const PUSH_POP: [i64; 2] = [59, 70];
    /// Ranges that start and end anywhere in a process.
    pub const START_END: [i64; 2] = [60, 71];
    /// The name of a domain.
    pub const DOMAIN: i64 = 75;
}

impl Record for NvtxRow {
    const COLUMNS: &'static [&'static str] =
        &["start", "end", "eventType", "globalTid", "textId", "text", "domainId"];

    fn read(cells: &Cells<'_>) -> Self {
        let text_id = cells.integer(4);
        Self {
            start: cells.integer(0),
            end: cells.integer(1),
            kind: cells.integer(2),
            thread: cells.integer(3),
            text_id,
            text: if text_id.is_none() { cells.text(5) } else { None },
            domain: cells.integer(6),
        }
    }
}

/// Where and when something ran on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// When it began.
    pub start: Option<i64>,
    /// When it ended.
    pub end: Option<i64>,
    /// The GPU.
    pub device: Option<u64>,
    /// The context of CUDA.
    pub context: Option<u64>,
    /// The stream.
    pub stream: Option<u64>,
    /// `globalPid` of the process that started it.
    pub process: Option<i64>,
    /// What it has in common with the call that started it.
    pub correlation: Option<i64>,
}

impl Work {
    fn read(cells: &Cells<'_>) -> Self {
        Self {
            start: cells.integer(0),
            end: cells.integer(1),
            device: cells.unsigned(2),
            context: cells.unsigned(3),
            stream: cells.unsigned(4),
            process: cells.integer(5),
            correlation: cells.integer(6),
        }
    }
}

/// A kernel that ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelRow {
    /// Where and when.
    pub work: Work,
    /// Number of its name with its parameters.
    pub demangled: Option<i64>,
    /// Number of its bare name.
    pub short: Option<i64>,
    /// Number of its name as linkers have it.
    pub mangled: Option<i64>,
    /// Blocks of the grid.
    pub grid: [Option<i64>; 3],
    /// Threads of a block.
    pub block: [Option<i64>; 3],
    /// Registers of a thread.
    pub registers: Option<i64>,
    /// Shared memory that the kernel declares, in bytes for each block.
    pub static_bytes: Option<i64>,
    /// Shared memory that the launch asks for, in bytes for each block.
    pub dynamic_bytes: Option<i64>,
}

impl Record for KernelRow {
    const COLUMNS: &'static [&'static str] = &[
        "start",
        "end",
        "deviceId",
        "contextId",
        "streamId",
        "globalPid",
        "correlationId",
        "demangledName",
        "shortName",
        "mangledName",
        "gridX",
        "gridY",
        "gridZ",
        "blockX",
        "blockY",
        "blockZ",
        "registersPerThread",
        "staticSharedMemory",
        "dynamicSharedMemory",
    ];

    fn read(cells: &Cells<'_>) -> Self {
        Self {
            work: Work::read(cells),
            demangled: cells.integer(7),
            short: cells.integer(8),
            mangled: cells.integer(9),
            grid: [10, 11, 12].map(|at| cells.integer(at)),
            block: [13, 14, 15].map(|at| cells.integer(at)),
            registers: cells.integer(16),
            static_bytes: cells.integer(17),
            dynamic_bytes: cells.integer(18),
        }
    }
}

/// A copy between memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyRow {
    /// Where and when.
    pub work: Work,
    /// How much.
    pub bytes: Option<u64>,
    /// From where to where, as CUPTI numbers it.
    pub kind: Option<i64>,
    /// Kind of the memory that was read: [`memory_kind`].
    pub from: Option<i64>,
    /// Kind of the memory that was written.
    pub to: Option<i64>,
}

impl CopyRow {
    /// From where to where, as CUPTI abbreviates it, and whether unified memory migrated.
    #[must_use]
    pub const fn direction(&self) -> Option<(&'static str, bool)> {
        Some(match self.kind {
            Some(1) => ("HtoD", false),
            Some(2) => ("DtoH", false),
            Some(3) => ("HtoA", false),
            Some(4) => ("AtoH", false),
            Some(5) => ("AtoA", false),
            Some(6) => ("AtoD", false),
            Some(7) => ("DtoA", false),
            Some(8) => ("DtoD", false),
            Some(9) => ("HtoH", false),
            Some(10) => ("PtoP", false),
            Some(11) => ("HtoD", true),
            Some(12) => ("DtoH", true),
            Some(13) => ("DtoD", true),
            _ => return None,
        })
    }
}

impl Record for CopyRow {
    const COLUMNS: &'static [&'static str] = &[
        "start",
        "end",
        "deviceId",
        "contextId",
        "streamId",
        "globalPid",
        "correlationId",
        "bytes",
        "copyKind",
        "srcKind",
        "dstKind",
    ];

    fn read(cells: &Cells<'_>) -> Self {
        Self {
            work: Work::read(cells),
            bytes: cells.unsigned(7),
            kind: cells.integer(8),
            from: cells.integer(9),
            to: cells.integer(10),
        }
    }
}

/// Memory that was set to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FillRow {
    /// Where and when.
    pub work: Work,
    /// How much.
    pub bytes: Option<u64>,
    /// The value.
    pub value: Option<i64>,
    /// Kind of the memory.
    pub memory: Option<i64>,
}

impl Record for FillRow {
    const COLUMNS: &'static [&'static str] = &[
        "start",
        "end",
        "deviceId",
        "contextId",
        "streamId",
        "globalPid",
        "correlationId",
        "bytes",
        "value",
        "memKind",
    ];

    fn read(cells: &Cells<'_>) -> Self {
        Self {
            work: Work::read(cells),
            bytes: cells.unsigned(7),
            value: cells.integer(8),
            memory: cells.integer(9),
        }
    }
}

/// A graph that ran as a whole, where its parts were not traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphRow {
    /// Where and when.
    pub work: Work,
    /// Number of the graph.
    pub graph: Option<i64>,
}

impl Record for GraphRow {
    const COLUMNS: &'static [&'static str] = &[
        "start",
        "end",
        "deviceId",
        "contextId",
        "streamId",
        "globalPid",
        "correlationId",
        "graphId",
    ];

    fn read(cells: &Cells<'_>) -> Self {
        Self { work: Work::read(cells), graph: cells.integer(7) }
    }
}

/// The name of a kind of memory.
#[must_use]
pub const fn memory_kind(kind: i64) -> Option<&'static str> {
    Some(match kind {
        0 => "Pageable",
        1 => "Pinned",
        2 => "Device",
        3 => "Array",
        4 => "Managed",
        5 => "Device Static",
        6 => "Managed Static",
        _ => return None,
    })
}

/// The name of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadRow {
    /// `globalTid`.
    pub thread: Option<i64>,
    /// Number of its name.
    pub name: Option<i64>,
}

impl Record for ThreadRow {
    const COLUMNS: &'static [&'static str] = &["globalTid", "nameId"];

    fn read(cells: &Cells<'_>) -> Self {
        Self { thread: cells.integer(0), name: cells.integer(1) }
    }
}

/// The name of a process. There is a row for each process of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessRow {
    /// `globalPid`.
    pub process: Option<i64>,
    /// Its name.
    pub name: Option<String>,
}

impl Record for ProcessRow {
    const COLUMNS: &'static [&'static str] = &["globalPid", "name"];

    fn read(cells: &Cells<'_>) -> Self {
        Self { process: cells.integer(0), name: cells.text(1) }
    }
}

/// The rank of a process of an MPI program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankRow {
    /// `globalTid` of a thread of it, or `globalPid`.
    pub id: Option<i64>,
    /// Its rank.
    pub rank: Option<u64>,
}

impl Record for RankRow {
    const COLUMNS: &'static [&'static str] = &["globalTid", "globalPid", "rank"];

    fn read(cells: &Cells<'_>) -> Self {
        Self { id: cells.integer(0).or_else(|| cells.integer(1)), rank: cells.unsigned(2) }
    }
}

/// A name that the program gives to a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamName {
    /// The number that the system has for the process.
    pub pid: Option<u64>,
    /// The GPU.
    pub device: Option<u64>,
    /// The context of CUDA.
    pub context: Option<u64>,
    /// The stream.
    pub stream: Option<u64>,
    /// Its name.
    pub name: Option<String>,
}

impl Record for StreamName {
    const COLUMNS: &'static [&'static str] =
        &["processId", "deviceId", "contextId", "streamId", "name"];

    fn read(cells: &Cells<'_>) -> Self {
        Self {
            pid: cells.unsigned(0),
            device: cells.unsigned(1),
            context: cells.unsigned(2),
            stream: cells.unsigned(3),
            name: cells.text(4),
        }
    }
}

/// The default stream of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextStream {
    /// The number that the system has for the process.
    pub pid: Option<u64>,
    /// The GPU.
    pub device: Option<u64>,
    /// The context of CUDA.
    pub context: Option<u64>,
    /// The default stream.
    pub stream: Option<u64>,
}

impl ContextStream {
    /// The tables that have such rows, by version.
    pub const TABLES: [&'static str; 2] =
        ["TARGET_INFO_CUDA_CONTEXT_INFO", "TARGET_INFO_CUDA_NULL_STREAM"];
}

impl Record for ContextStream {
    const COLUMNS: &'static [&'static str] =
        &["processId", "deviceId", "contextId", "nullStreamId", "streamId"];

    fn read(cells: &Cells<'_>) -> Self {
        Self {
            pid: cells.unsigned(0),
            device: cells.unsigned(1),
            context: cells.unsigned(2),
            stream: cells.unsigned(3).or_else(|| cells.unsigned(4)),
        }
    }
}

/// Something that is known about the machine, the collection or the export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactRow {
    /// What.
    pub name: Option<String>,
    /// Its value.
    pub value: Option<String>,
}

impl Record for FactRow {
    const COLUMNS: &'static [&'static str] = &["name", "value"];

    fn read(cells: &Cells<'_>) -> Self {
        Self { name: cells.text(0), value: cells.text(1) }
    }
}

/// When the collection started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartRow {
    /// Nanoseconds since the start of 1970.
    pub epoch_nanos: Option<i64>,
}

impl Record for StartRow {
    const COLUMNS: &'static [&'static str] = &["utcEpochNs"];

    fn read(cells: &Cells<'_>) -> Self {
        Self { epoch_nanos: cells.integer(0) }
    }
}

/// A GPU of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuRow {
    /// The number that CUDA has for it, else that of the tool.
    pub device: Option<u64>,
    /// Its model.
    pub name: Option<String>,
    /// Bytes of its memory.
    pub memory_bytes: Option<u64>,
    /// Its multiprocessors.
    pub multiprocessors: Option<u64>,
}

impl Record for GpuRow {
    const COLUMNS: &'static [&'static str] = &["cuDevice", "id", "name", "totalMemory", "smCount"];

    fn read(cells: &Cells<'_>) -> Self {
        Self {
            device: cells.unsigned(0).or_else(|| cells.unsigned(1)),
            name: cells.text(2),
            memory_bytes: cells.unsigned(3),
            multiprocessors: cells.unsigned(4),
        }
    }
}

/// A sample of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleRow {
    /// Its number.
    pub id: Option<i64>,
    /// `globalTid` of its thread.
    pub thread: Option<i64>,
}

impl Record for SampleRow {
    const COLUMNS: &'static [&'static str] = &["id", "globalTid"];

    fn read(cells: &Cells<'_>) -> Self {
        Self { id: cells.integer(0), thread: cells.integer(1) }
    }
}

/// A function of the call stack of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRow {
    /// Number of the sample.
    pub sample: Option<i64>,
    /// How many functions are above it on the stack: 0 is where the thread was.
    pub depth: Option<u32>,
    /// Number of its name.
    pub symbol: Option<i64>,
    /// Number of the path of its load module.
    pub module: Option<i64>,
    /// Whether its name is only an address.
    pub is_unresolved: bool,
}

impl Record for FrameRow {
    const COLUMNS: &'static [&'static str] =
        &["id", "stackDepth", "symbol", "module", "unresolved"];

    fn read(cells: &Cells<'_>) -> Self {
        Self {
            sample: cells.integer(0),
            depth: cells.integer(1).and_then(|depth| u32::try_from(depth).ok()),
            symbol: cells.integer(2),
            module: cells.integer(3),
            is_unresolved: cells.integer(4).is_some_and(|value| value != 0),
        }
    }
}

/// What the tool said about its collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageRow {
    /// 2 for warnings, 3 for errors; others only inform.
    pub severity: Option<i64>,
    /// The message.
    pub text: Option<String>,
}

impl MessageRow {
    /// The severity of warnings.
    pub const WARNING: i64 = 2;
    /// The severity of errors.
    pub const ERROR: i64 = 3;
}

impl Record for MessageRow {
    const COLUMNS: &'static [&'static str] = &["severity", "text"];

    fn read(cells: &Cells<'_>) -> Self {
        Self { severity: cells.integer(0), text: cells.text(1) }
    }
}
