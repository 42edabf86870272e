//! The reasons for which instructions of GPUs stall: what they mean, and what one usually does.
//!
//! Names and meanings are those of HPCToolkit ("Measurement and Analysis of GPU-accelerated
//! Applications" in its manual), which maps the reasons of NVIDIA (CUPTI), AMD (rocprofiler-sdk) and
//! Intel (Level Zero metrics) to one list. What is usually done follows the optimisers of GPA: Zhou,
//! Meng, Sai and Mellor-Crummey, "GPA: A GPU performance advisor based on instruction sampling"
//! (CGO 2021), and the analysis of dependences that came after it.

/// What stalls of a reason have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StallGroup {
    /// Waiting for memory, or for room in its queues.
    Memory,
    /// Waiting for results of other instructions.
    Dependency,
    /// Waiting for a unit that computes.
    Compute,
    /// Waiting for other threads.
    Synchronisation,
    /// Waiting for instructions.
    Fetch,
    /// Any other.
    Other,
}

impl StallGroup {
    /// The display name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Dependency => "dependency",
            Self::Compute => "compute",
            Self::Synchronisation => "synchronisation",
            Self::Fetch => "instruction fetch",
            Self::Other => "other",
        }
    }
}

/// Why an instruction stalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// How metrics end: `GMEM` in `GINS:STL_GMEM` and `GCYCLES:STL:GMEM`.
    pub code: &'static str,
    /// The display name.
    pub name: &'static str,
    /// What it has in common with others.
    pub group: StallGroup,
    /// What it means, as a sentence.
    pub meaning: &'static str,
    /// What one usually does about it, as a sentence; empty where nothing can be done.
    pub remedy: &'static str,
}

const ACCESS: &str = "Let neighbouring threads access neighbouring addresses; keep values that are \
    used again in registers or shared memory; start loads earlier (unroll, prefetch, reorder); \
    avoid spilled registers; raise occupancy to hide the latency.";

/// All reasons that metrics name, in the order in which they are told where they are equal.
pub const REASONS: [Reason; 14] = [
    Reason {
        code: "GMEM",
        name: "global memory",
        group: StallGroup::Memory,
        meaning: "An access to global or local memory has not completed.",
        remedy: ACCESS,
    },
    Reason {
        code: "MEM",
        name: "memory",
        group: StallGroup::Memory,
        meaning: "An access to memory has not completed: device memory or, on AMD devices, also the \
                  local data share.",
        remedy: ACCESS,
    },
    Reason {
        code: "MTHR",
        name: "memory queue full",
        group: StallGroup::Memory,
        meaning: "The queue of requests to global memory is full.",
        remedy: "Make fewer and wider accesses: vector loads and stores, coalesced addresses, fewer \
                 atomic operations.",
    },
    Reason {
        code: "TMEM",
        name: "texture queue full",
        group: StallGroup::Memory,
        meaning: "The queue of requests to texture memory is full.",
        remedy: "Make fewer texture accesses, or load through global memory.",
    },
    Reason {
        code: "CMEM",
        name: "constant memory",
        group: StallGroup::Memory,
        meaning: "A constant or an immediate operand is not in its cache.",
        remedy: "Read the same constant in all threads of a warp; keep constants in registers; load \
                 data that threads index differently from global memory.",
    },
    Reason {
        code: "IDEP",
        name: "execution dependency",
        group: StallGroup::Dependency,
        meaning: "An operand is the result of an instruction that has not finished.",
        remedy: "Give threads more independent instructions (unroll, reorder); use cheaper \
                 operations (fewer divisions, conversions and special functions, lower precision \
                 where that is enough); raise occupancy.",
    },
    Reason {
        code: "PIPE",
        name: "pipeline busy",
        group: StallGroup::Compute,
        meaning: "The unit that executes the instruction is busy.",
        remedy: "The unit is used to capacity: use cheaper operations or lower precision where that \
                 is enough, or matrix units; move work to other units.",
    },
    Reason {
        code: "SYNC",
        name: "synchronisation",
        group: StallGroup::Synchronisation,
        meaning: "Threads wait at a barrier or for a memory fence.",
        remedy: "Spread the work of a block evenly over its warps; use fewer barriers, smaller \
                 blocks, or operations of single warps.",
    },
    Reason {
        code: "IFET",
        name: "instruction fetch",
        group: StallGroup::Fetch,
        meaning: "The next instruction is not there: it is not in the cache, or a branch delays it.",
        remedy: "Make hot code smaller: less unrolling and inlining, large kernels split; fewer \
                 branches.",
    },
    Reason {
        code: "SLP",
        name: "sleep",
        group: StallGroup::Other,
        meaning: "The threads sleep, as they were told to.",
        remedy: "Sleep for shorter times where threads wait for each other in loops.",
    },
    Reason {
        code: "OTHR",
        name: "other",
        group: StallGroup::Other,
        meaning: "A reason that the device does not name.",
        remedy: "",
    },
    Reason {
        code: "INV",
        name: "invalid",
        group: StallGroup::Other,
        meaning: "The device gave no valid reason.",
        remedy: "",
    },
    Reason {
        code: "NONE",
        name: "no stall",
        group: StallGroup::Other,
        meaning: "No stall.",
        remedy: "",
    },
    Reason {
        code: "NSEL",
        name: "not selected",
        group: StallGroup::Other,
        meaning: "The instruction was ready, and another one was issued instead.",
        remedy: "",
    },
];

impl Reason {
    /// The reason that a metric counts, by the last part of its name.
    #[must_use]
    pub fn of(code: &str) -> Option<&'static Self> {
        REASONS.iter().find(|reason| reason.code.eq_ignore_ascii_case(code))
    }

    /// Whether cycles of it are exposed: nothing was issued. What was ready and not selected made
    /// room for another instruction.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        !matches!(self.code, "NONE" | "NSEL")
    }
}
