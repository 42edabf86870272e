//! Kernels of GPUs that compute nothing.

/// Beginnings of the names of kernels by which GPUs communicate: those of NCCL, of its forks for
/// other GPUs, and of MSCCL.
const COLLECTIVES: [&str; 6] =
    ["ncclKernel", "ncclDevKernel", "rcclKernel", "rcclDevKernel", "mscclKernel", "oneccl_"];

/// Whether a function is a kernel by which GPUs communicate: `ncclKernel_AllReduce_RING_LL_Sum_float`.
/// Its time is that of the network, or of waiting for the slowest GPU.
#[must_use]
pub fn is_collective_kernel(name: &str) -> bool {
    let bare = name.strip_prefix("void ").unwrap_or(name);
    COLLECTIVES.iter().any(|prefix| bare.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_of_nccl_and_rccl_communicate() {
        for name in [
            "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)",
            "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "void rcclKernel_Broadcast(int)",
        ] {
            assert!(is_collective_kernel(name), "{name}");
        }
        for name in ["ncclAllReduce", "nccl:all_reduce", "volta_sgemm_128x32_nt", ""] {
            assert!(!is_collective_kernel(name), "{name}");
        }
    }
}
