//! The table of names of GPU programming: what calls of runtimes and drivers do, and what tools
//! call work and idling on devices.
//!
//! The only place that knows such names, for every format: CUDA, HIP, Level Zero, SYCL, OpenCL,
//! HSA, OpenACC and target regions of OpenMP. A name that is in no row is none of these.
//!
//! What a call does to its thread is what the manuals say: "API synchronization behavior" and
//! "Synchronization behaviour" of memory copies in the CUDA runtime API, which HIP follows; the
//! specifications of oneAPI Level Zero, SYCL 2020, OpenCL 3 and OpenACC 3; LLVM's `libomptarget`
//! and GCC's `libgomp`, whose target regions wait for themselves unless they say `nowait`.

use super::GpuOperation;

/// What a call of a GPU runtime or driver does to the thread that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuntimeCall {
    /// Waits until work of the GPU has ended.
    Synchronise,
    /// Starts kernels, and does not wait for them.
    Launch,
    /// Starts a kernel, and waits for it.
    LaunchAndWait,
    /// Copies between host and GPU, and waits for it.
    Copy,
    /// Starts a copy. Waits for it only where host memory is not pinned.
    CopyLater,
    /// Starts a copy inside of a GPU, or from one to another, for which the host does not wait.
    CopyOnDevice,
    /// Sets memory of the GPU, and does not wait for it.
    Fill,
    /// Allocates or frees memory of the GPU.
    Memory,
    /// Asks whether work has ended, and does not wait.
    Poll,
    /// Any other.
    Other,
}

use RuntimeCall::{
    Copy as CopyNow, CopyLater, CopyOnDevice, Fill, Launch, LaunchAndWait, Memory, Other, Poll,
    Synchronise,
};

impl RuntimeCall {
    /// What a function is; `None` for what is in no runtime or driver.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let name = name.strip_prefix("void ").unwrap_or(name);
        INTERFACES.iter().find_map(|interface| {
            let rest = (interface.rest)(name)?;
            let row = interface.calls.iter().find(|(pattern, _)| pattern.fits(rest));
            row.map_or(interface.others, |(_, call)| Some(*call))
        })
    }

    /// The work on a GPU that it starts.
    pub(crate) const fn starts(self) -> Option<GpuOperation> {
        match self {
            Launch | LaunchAndWait => Some(GpuOperation::Kernel),
            CopyNow | CopyLater | CopyOnDevice => Some(GpuOperation::Copy),
            Fill => Some(GpuOperation::Memset),
            Synchronise | Memory | Poll | Other => None,
        }
    }

    /// Whether it may wait for work of the GPU.
    pub(crate) const fn may_wait(self) -> bool {
        matches!(self, Synchronise | LaunchAndWait | CopyNow | CopyLater)
    }
}

/// A programming interface.
struct Interface {
    /// What follows the prefix of a function of it; `None` for other functions.
    rest: fn(&str) -> Option<&str>,
    /// By what follows; the first that fits.
    calls: &'static [(Pattern, RuntimeCall)],
    /// What all others are; `None` where the prefix alone says too little.
    others: Option<RuntimeCall>,
}

enum Pattern {
    Is(&'static str),
    Begins(&'static str),
    Has(&'static str),
    /// Begins with the first and has the second.
    Both(&'static str, &'static str),
}

use Pattern::{Begins, Both, Has, Is};

impl Pattern {
    fn fits(&self, rest: &str) -> bool {
        match self {
            Self::Is(all) => rest == *all,
            Self::Begins(start) => rest.starts_with(start),
            Self::Has(part) => rest.contains(part),
            Self::Both(start, part) => rest.starts_with(start) && rest.contains(part),
        }
    }
}

const INTERFACES: &[Interface] = &[
    // Runtime and driver of CUDA, and HIP: `cuMemcpyDtoH_v2`, `cudaMemcpy_ptds`, `hipMemcpy()`.
    Interface {
        rest: |name| {
            // Internals of the CUDA runtime that is linked into programs: `__cudart1046`.
            if name.starts_with("__cudart") {
                return Some("");
            }
            // What compilers call around a launch: `__hipPushCallConfiguration`.
            let name = name.strip_prefix("__").unwrap_or(name);
            let bare = name.split(['_', '(', ' ', '@']).next().unwrap_or(name);
            ["cuda", "cu", "hip"].iter().find_map(|prefix| capital_after(bare, prefix))
        },
        calls: &[
            (Is("DeviceSynchronize"), Synchronise),
            (Is("StreamSynchronize"), Synchronise),
            (Is("EventSynchronize"), Synchronise),
            (Is("CtxSynchronize"), Synchronise),
            (Is("ThreadSynchronize"), Synchronise),
            (Is("EventQuery"), Poll),
            (Is("StreamQuery"), Poll),
            (Both("Memcpy", "Async"), CopyLater),
            (Both("Memcpy", "Peer"), CopyOnDevice),
            (Both("Memcpy", "DtoD"), CopyOnDevice),
            (Both("Memcpy", "DtoA"), CopyOnDevice),
            (Both("Memcpy", "AtoD"), CopyOnDevice),
            (Both("Memcpy", "AtoA"), CopyOnDevice),
            (Both("Memcpy", "ArrayToArray"), CopyOnDevice),
            (Both("Memcpy", "Batch"), CopyOnDevice),
            (Begins("Memcpy"), CopyNow),
            (Begins("Memset"), Fill),
            (Has("Launch"), Launch),
            (Begins("Malloc"), Memory),
            (Begins("Free"), Memory),
            (Begins("MemAlloc"), Memory),
            (Begins("MemFree"), Memory),
            (Begins("HostMalloc"), Memory),
            (Begins("HostAlloc"), Memory),
            (Begins("HostFree"), Memory),
        ],
        others: Some(Other),
    },
    // Level Zero, with its tools (`zet`) and system management (`zes`).
    Interface {
        rest: |name| {
            let bare = name.split(['_', '(', ' ', '@']).next().unwrap_or(name);
            ["ze", "zet", "zes"].iter().find_map(|prefix| capital_after(bare, prefix))
        },
        calls: &[
            (Has("HostSynchronize"), Synchronise),
            (Is("CommandQueueSynchronize"), Synchronise),
            (Has("QueryStatus"), Poll),
            (Begins("CommandListAppendLaunch"), Launch),
            (Begins("CommandQueueExecuteCommandLists"), Launch),
            (Begins("CommandListImmediateAppendCommandLists"), Launch),
            (Begins("CommandListAppendMemoryCopy"), CopyLater),
            (Begins("CommandListAppendImageCopy"), CopyLater),
            (Begins("CommandListAppendMemoryFill"), Fill),
            (Begins("MemAlloc"), Memory),
            (Begins("MemFree"), Memory),
        ],
        others: Some(Other),
    },
    // SYCL, by the member function: `sycl::_V1::queue::wait_and_throw(…)`.
    Interface {
        rest: |name| {
            let rest = name.strip_prefix("cl::").unwrap_or(name).strip_prefix("sycl::")?;
            let rest = rest.split(['<', '(']).next().unwrap_or(rest);
            // Kernels are named by wrappers in the same namespace.
            let is_kernel = rest.contains("Kernel") && !rest.contains("kernel_bundle");
            (!is_kernel).then(|| rest.rsplit("::").next().unwrap_or(rest))
        },
        calls: &[
            (Is("wait"), Synchronise),
            (Is("wait_and_throw"), Synchronise),
            (Begins("submit"), Launch),
            (Begins("parallel_for"), Launch),
            (Begins("single_task"), Launch),
            (Begins("memcpy"), CopyLater),
            (Begins("copy"), CopyLater),
            (Begins("update_host"), CopyLater),
            (Begins("memset"), Fill),
            (Begins("fill"), Fill),
            (Begins("malloc"), Memory),
            (Begins("aligned_alloc"), Memory),
            (Is("free"), Memory),
        ],
        others: Some(Other),
    },
    // What SYCL of oneAPI calls below: its plugins (`pi`), and the unified runtime (`ur`).
    Interface {
        rest: |name| ["pi", "ur"].iter().find_map(|prefix| capital_after(name, prefix)),
        calls: &[
            (Is("QueueFinish"), Synchronise),
            (Begins("EventsWait"), Synchronise),
            (Begins("EventWait"), Synchronise),
            (Begins("EnqueueKernelLaunch"), Launch),
            (Begins("EnqueueCooperativeKernelLaunch"), Launch),
            (Both("Enqueue", "Fill"), Fill),
            (Both("Enqueue", "Memset"), Fill),
            (Both("Enqueue", "emcpy"), CopyLater),
            (Both("Enqueue", "Copy"), CopyLater),
            (Both("Enqueue", "Read"), CopyLater),
            (Both("Enqueue", "Write"), CopyLater),
            (Begins("Enqueue"), Other),
            (Begins("USM"), Memory),
            (Begins("ProgramBuild"), Other),
            (Begins("QueueFlush"), Other),
        ],
        others: None,
    },
    // OpenCL.
    Interface {
        rest: |name| capital_after(name, "cl"),
        calls: &[
            (Begins("Finish"), Synchronise),
            (Begins("WaitForEvents"), Synchronise),
            (Begins("GetEventInfo"), Poll),
            (Begins("EnqueueNDRangeKernel"), Launch),
            (Begins("EnqueueTask"), Launch),
            (Begins("EnqueueFill"), Fill),
            (Begins("EnqueueSVMMemFill"), Fill),
            (Begins("EnqueueRead"), CopyLater),
            (Begins("EnqueueWrite"), CopyLater),
            (Begins("EnqueueCopy"), CopyOnDevice),
            (Begins("EnqueueSVMMemcpy"), CopyLater),
            (Begins("Enqueue"), Other),
            (Begins("CreateBuffer"), Memory),
            (Begins("SVMAlloc"), Memory),
            (Begins("SVMFree"), Memory),
            (Begins("BuildProgram"), Other),
            (Begins("Wait"), Other),
            (Begins("Flush"), Other),
            (Begins("CreateContext"), Other),
            (Begins("CreateKernel"), Other),
            (Begins("SetKernelArg"), Other),
            (Begins("ReleaseMemObject"), Memory),
        ],
        others: None,
    },
    // HSA, on which HIP and OpenMP on AMD devices stand.
    Interface {
        rest: |name| name.strip_prefix("hsa_"),
        calls: &[
            (Begins("signal_wait"), Synchronise),
            (Begins("amd_signal_wait"), Synchronise),
            (Begins("memory_copy"), CopyNow),
            (Begins("amd_memory_async_copy"), CopyLater),
            (Begins("amd_memory_fill"), Fill),
            (Has("allocate"), Memory),
            (Has("memory_pool_free"), Memory),
            (Begins("memory_free"), Memory),
        ],
        others: Some(Other),
    },
    // OpenACC: its library, what Score-P calls its regions, and the runtimes of GCC and NVIDIA.
    Interface {
        rest: |name| {
            let rest = name.strip_prefix("acc_").or_else(|| name.strip_prefix("cray_acc_"))?;
            Some(rest.split(['@', '(', ' ']).next().unwrap_or(rest))
        },
        calls: &[
            (Begins("wait"), Synchronise),
            (Begins("async_wait"), Synchronise),
            (Begins("async_test"), Poll),
            (Begins("launch_kernel"), Launch),
            (Begins("enqueue_kernel_launch"), Launch),
            (Begins("compute_construct"), LaunchAndWait),
            (Is("compute"), LaunchAndWait),
            (Is("kernels"), LaunchAndWait),
            (Is("parallel"), LaunchAndWait),
            (Is("serial"), LaunchAndWait),
            (Begins("enqueue_upload"), CopyLater),
            (Begins("enqueue_download"), CopyLater),
            (Both("memcpy_", "async"), CopyLater),
            (Begins("memcpy_"), CopyNow),
            (Both("update_", "async"), CopyLater),
            (Begins("update_"), CopyNow),
            (Is("update"), CopyNow),
            (Begins("copyin"), CopyNow),
            (Begins("copyout"), CopyNow),
            (Begins("enter_data"), CopyNow),
            (Begins("exit_data"), CopyNow),
            (Begins("data"), CopyNow),
            (Is("malloc"), Memory),
            (Is("free"), Memory),
            (Is("alloc"), Memory),
            (Begins("create"), Memory),
            (Begins("delete"), Memory),
            (Begins("init"), Other),
            (Begins("device_init"), Other),
            (Begins("device_shutdown"), Other),
            (Begins("shutdown"), Other),
            (Begins("get_"), Other),
            (Begins("set_"), Other),
            (Begins("map_data"), Other),
            (Begins("unmap_data"), Other),
        ],
        others: None,
    },
    Interface {
        rest: |name| name.strip_prefix("GOACC_").or_else(|| name.strip_prefix("__pgi_uacc_")),
        calls: &[
            (Has("wait"), Synchronise),
            (Begins("parallel"), LaunchAndWait),
            (Has("launch"), Launch),
            (Begins("update"), CopyNow),
            (Begins("data"), CopyNow),
            (Begins("enter"), CopyNow),
            (Begins("exit"), CopyNow),
            (Has("upload"), CopyLater),
            (Has("download"), CopyLater),
            (Has("alloc"), Memory),
            (Has("free"), Memory),
        ],
        others: Some(Other),
    },
    // Target regions of OpenMP: LLVM's runtime and those of vendors that are made of it, GCC's, the
    // library, and Score-P's regions (`!$omp target update @jacobi.f90:12`).
    Interface {
        rest: |name| name.strip_prefix("__tgt_"),
        calls: &[
            (Has("synchronize"), Synchronise),
            (Both("target_data", "nowait"), CopyLater),
            (Begins("target_data"), CopyNow),
            (Both("target", "nowait"), Launch),
            (Begins("target"), LaunchAndWait),
            (Begins("rtl_run"), Launch),
            (Begins("rtl_launch"), Launch),
            (Begins("rtl_data_alloc"), Memory),
            (Begins("rtl_data_delete"), Memory),
            (Both("rtl_data", "async"), CopyLater),
            (Begins("rtl_data"), CopyNow),
        ],
        others: Some(Other),
    },
    Interface {
        rest: |name| name.strip_prefix("GOMP_target"),
        calls: &[
            (Begins("_data"), CopyNow),
            (Begins("_update"), CopyNow),
            (Begins("_enter_exit"), CopyNow),
            (Is(""), LaunchAndWait),
            (Begins("_ext"), LaunchAndWait),
        ],
        others: None,
    },
    Interface {
        rest: |name| name.strip_prefix("omp_target_"),
        calls: &[
            (Both("memcpy", "async"), CopyLater),
            (Begins("memcpy"), CopyNow),
            (Begins("memset"), Fill),
            (Begins("alloc"), Memory),
            (Begins("free"), Memory),
            (Begins("associate"), Other),
            (Begins("disassociate"), Other),
            (Begins("is_"), Other),
        ],
        others: None,
    },
    Interface {
        rest: |name| name.strip_prefix("!$omp target"),
        calls: &[
            (Begins(" data"), CopyNow),
            (Begins(" update"), CopyNow),
            (Begins(" enter data"), CopyNow),
            (Begins(" exit data"), CopyNow),
            (Begins(" submit"), LaunchAndWait),
        ],
        others: Some(LaunchAndWait),
    },
];

/// What follows a prefix, where that begins with a capital letter as names of functions do.
fn capital_after<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    let rest = name.strip_prefix(prefix)?;
    rest.starts_with(|first: char| first.is_ascii_uppercase()).then_some(rest)
}

/// Groups of functions, as formats write them, that say what runs on a device: Kineto, and
/// NVIDIA's and AMD's exports to Chrome's format.
const GROUPS: &[(&str, GpuOperation)] = &[
    ("kernel", GpuOperation::Kernel),
    ("gpu_kernel", GpuOperation::Kernel),
    ("gpu_memcpy", GpuOperation::Copy),
    ("gpu_memset", GpuOperation::Memset),
];

/// Groups of what is of a programming interface: paradigms of OTF2. Of these, what is no call of
/// the host is a kernel.
const PARADIGMS: &[&str] = &["CUDA", "HIP", "OpenCL", "OPENCL"];

/// Beginnings of what tools call copies and fills on devices: HPCToolkit's placeholders, CUPTI,
/// nvprof, ROCm's activities and the kernels with which it copies, and Nsight Systems.
const OPERATIONS: &[(&str, GpuOperation)] = &[
    ("Memcpy ", GpuOperation::Copy),
    ("Memset ", GpuOperation::Memset),
    ("[CUDA memcpy", GpuOperation::Copy),
    ("[CUDA memset", GpuOperation::Memset),
    ("[CUDA Unified Memory memcpy", GpuOperation::Copy),
    ("CopyDeviceTo", GpuOperation::Copy),
    ("CopyHostTo", GpuOperation::Copy),
    ("MEMORY_COPY_", GpuOperation::Copy),
    ("FillBuffer", GpuOperation::Memset),
    ("__amd_rocclr_copy", GpuOperation::Copy),
    ("__amd_rocclr_fill", GpuOperation::Memset),
];

/// The operation of a GPU that a function stands for, by its name and its group; `None` for
/// functions of the host, and for kernels that only the track on which they run tells.
pub(crate) fn operation(name: &str, group: &str) -> Option<GpuOperation> {
    placeholder(name)
        .or_else(|| OPERATIONS.iter().find(|(start, _)| name.starts_with(start)).map(|row| row.1))
        .or_else(|| GROUPS.iter().find(|(known, _)| *known == group).map(|row| row.1))
        .or_else(|| {
            let is_kernel = PARADIGMS.contains(&group)
                && RuntimeCall::of(name).is_none()
                && !is_idle(name, group)
                && !name.starts_with('<');
            is_kernel.then_some(GpuOperation::Kernel)
        })
}

/// What a placeholder of HPCToolkit stands for: `<gpu copyin>`, `<omp tgt kernel>`.
fn placeholder(name: &str) -> Option<GpuOperation> {
    let inner = name.strip_prefix('<')?.strip_suffix('>')?;
    let what = inner.strip_prefix("gpu ").or_else(|| inner.strip_prefix("omp tgt "))?;
    Some(match what {
        "kernel" => GpuOperation::Kernel,
        "alloc" | "delete" | "free" => GpuOperation::Memory,
        "memset" => GpuOperation::Memset,
        "sync" => GpuOperation::Sync,
        _ if what.starts_with("copy") => GpuOperation::Copy,
        _ => GpuOperation::Other,
    })
}

/// What tools write on streams where these do nothing: HPCToolkit and Score-P.
const IDLE: &[&str] =
    &["<gpu sync>", "<no activity>", "<no gpu activity>", "GPU IDLE", "COMPUTE IDLE"];

/// Groups of Kineto whose records on a stream are no work: the time of a mark of the host, and
/// that a thread waits for the stream.
const NO_WORK_GROUPS: &[&str] = &["gpu_user_annotation", "cuda_sync"];

/// Whether a stream does nothing in a function.
pub(crate) fn is_idle(name: &str, group: &str) -> bool {
    IDLE.contains(&name) || NO_WORK_GROUPS.contains(&group)
}

/// Whether work on a stream is a copy into host memory that is not pinned, as CUPTI names it. The
/// call that starts it returns when it has ended.
pub(crate) fn is_copy_to_pageable(name: &str) -> bool {
    name.contains("DtoH") && name.contains("-> Pageable")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_every_interface_are_told_by_name() {
        for (name, call) in [
            ("cudaDeviceSynchronize", Synchronise),
            ("hipEventSynchronize", Synchronise),
            ("hipStreamSynchronize", Synchronise),
            ("cuCtxSynchronize_v2", Synchronise),
            ("cudaStreamSynchronize_ptsz", Synchronise),
            ("cudaMemcpy", CopyNow),
            ("cuMemcpyDtoH_v2", CopyNow),
            ("hipMemcpyToSymbol()", CopyNow),
            ("cudaMemcpyAsync", CopyLater),
            ("cuMemcpyDtoHAsync_v2", CopyLater),
            ("cudaMemcpyPeer", CopyOnDevice),
            ("cuMemcpyDtoD_v2", CopyOnDevice),
            ("cudaMemsetAsync", Fill),
            ("cudaEventQuery", Poll),
            ("cudaLaunchKernel", Launch),
            ("cudaGraphLaunch", Launch),
            ("hipExtModuleLaunchKernel", Launch),
            ("cuLaunchKernelEx", Launch),
            ("hipMallocManaged", Memory),
            ("cudaGetDevice", Other),
            ("__cudart1046", Other),
            ("__hipPushCallConfiguration", Other),
            ("zeEventHostSynchronize", Synchronise),
            ("zeCommandQueueSynchronize", Synchronise),
            ("zeCommandListAppendLaunchKernel", Launch),
            ("zeCommandQueueExecuteCommandLists", Launch),
            ("zeCommandListAppendMemoryCopy", CopyLater),
            ("zeFenceQueryStatus", Poll),
            ("zetMetricGroupGet", Other),
            ("sycl::_V1::queue::wait_and_throw()", Synchronise),
            ("sycl::_V1::event::wait()", Synchronise),
            ("cl::sycl::queue::submit<main::{lambda}>(…)", Launch),
            ("sycl::_V1::queue::memcpy(void*, void const*, unsigned long)", CopyLater),
            ("sycl::_V1::malloc_device(unsigned long, sycl::_V1::queue const&)", Memory),
            ("urEnqueueKernelLaunch", Launch),
            ("piEventsWait", Synchronise),
            ("clFinish", Synchronise),
            ("clEnqueueNDRangeKernel", Launch),
            ("hsa_signal_wait_scacquire", Synchronise),
            ("hsa_agent_get_info", Other),
            ("acc_wait@solve.c:20", Synchronise),
            ("acc_compute@solve.c:12", LaunchAndWait),
            ("acc_update_device", CopyNow),
            ("GOACC_parallel_keyed", LaunchAndWait),
            ("__pgi_uacc_cuda_wait", Synchronise),
            ("__tgt_target_kernel", LaunchAndWait),
            ("__tgt_target_data_update_mapper", CopyNow),
            ("GOMP_target_ext", LaunchAndWait),
            ("omp_target_alloc", Memory),
            ("!$omp target @jacobi.f90:12", LaunchAndWait),
            ("!$omp target update @jacobi.f90:12", CopyNow),
        ] {
            assert_eq!(RuntimeCall::of(name), Some(call), "{name}");
        }
    }

    #[test]
    fn functions_of_programs_are_no_calls_of_a_runtime() {
        for name in [
            "",
            "main",
            "cutlass_kernel",
            "cudnnConvolutionForward",
            "custom",
            "cuda_kernel",
            "hips",
            "hipster",
            "zero",
            "zebra",
            "pivot",
            "urgent",
            "clamp",
            "clFoo",
            "acc_force",
            "accumulate",
            "sycl::_V1::detail::RoundedRangeKernel<sycl::_V1::item<1>, 1, main::{lambda}>",
            "compute(sycl::_V1::queue&)",
            "syclomatic",
        ] {
            assert_eq!(RuntimeCall::of(name), None, "{name}");
        }
    }

    #[test]
    fn operations_are_told_by_name_or_group() {
        for (name, group, expected) in [
            ("<gpu kernel>", "", GpuOperation::Kernel),
            ("<gpu copyin>", "", GpuOperation::Copy),
            ("<gpu delete>", "", GpuOperation::Memory),
            ("<omp tgt copyout>", "", GpuOperation::Copy),
            ("Memcpy DtoH (Device -> Pinned)", "gpu_memcpy", GpuOperation::Copy),
            ("Memset (Device)", "gpu_memset", GpuOperation::Memset),
            ("[CUDA memcpy HtoD]", "", GpuOperation::Copy),
            ("CopyHostToDevice", "", GpuOperation::Copy),
            ("__amd_rocclr_fillBufferAligned.kd", "", GpuOperation::Memset),
            ("void saxpy<float>(int)", "kernel", GpuOperation::Kernel),
            ("saxpy", "HIP", GpuOperation::Kernel),
        ] {
            assert_eq!(operation(name, group), Some(expected), "{name}");
        }
        for name in ["main", "saxpy", "Memcpy", "<omp idle>", "<no activity>", "kernel"] {
            assert_eq!(operation(name, ""), None, "{name}");
        }
        assert_eq!(operation("hipEventSynchronize", "HIP"), None);
        assert_eq!(operation("COMPUTE IDLE", "CUDA"), None);
        assert!(is_idle("<no gpu activity>", "") && is_idle("Stream Sync", "cuda_sync"));
        assert!(is_idle("COMPUTE IDLE", "HIP") && !is_idle("saxpy", "kernel"));
        assert!(is_copy_to_pageable("Memcpy DtoH (Device -> Pageable)"));
        assert!(!is_copy_to_pageable("Memcpy DtoH (Device -> Pinned)"));
    }
}
