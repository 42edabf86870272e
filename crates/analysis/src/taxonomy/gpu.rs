//! Names of the runtimes and drivers of CUDA and HIP, and of what tools write on GPU streams.
//!
//! What a call does to its thread is what the manuals of CUDA say ("API synchronization behavior" in
//! the CUDA runtime API, "Synchronization behaviour" of the memory copies); HIP follows them.

use parallax_model::{ContextKind, ContextTree, Function};

/// What a call of a GPU runtime or driver does to the thread that makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuntimeCall {
    /// Waits until work of the GPU has ended.
    Synchronise,
    /// Copies between host and GPU, and waits for it.
    Copy,
    /// Starts a copy. Waits for it only where host memory is not pinned.
    CopyLater,
    /// Asks whether work has ended, and does not wait.
    Poll,
    /// Any other, such as a launch.
    Other,
}

impl RuntimeCall {
    /// What a function is; `None` for what is in no runtime or driver.
    pub(crate) fn of(name: &str) -> Option<Self> {
        // `cuMemcpyDtoH_v2`, `cudaMemcpy_ptds`, `cudaMemcpy()`.
        let bare = name.split(['_', '(', ' ']).next().unwrap_or(name);
        let rest = ["cuda", "cu", "hip"].iter().find_map(|prefix| {
            bare.strip_prefix(prefix)
                .filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        })?;
        Some(match rest {
            "DeviceSynchronize" | "StreamSynchronize" | "EventSynchronize" | "CtxSynchronize" => {
                Self::Synchronise
            }
            "EventQuery" | "StreamQuery" => Self::Poll,
            _ if rest.starts_with("Memcpy") => {
                if rest.contains("Async") {
                    Self::CopyLater
                } else if ["Peer", "DtoD", "DtoA", "AtoD", "AtoA", "ArrayToArray", "Batch"]
                    .iter()
                    .any(|inside| rest.contains(inside))
                {
                    // The host does not wait for copies inside of GPUs, or from one to another.
                    Self::Other
                } else {
                    Self::Copy
                }
            }
            _ => Self::Other,
        })
    }
}

/// Whether a function belongs to a GPU runtime, also where it is linked into the program.
pub(crate) fn is_runtime(name: &str) -> bool {
    let is_call_of = |prefix| {
        let rest = name.strip_prefix(prefix).and_then(|rest| rest.chars().next());
        rest.is_some_and(|first| first.is_ascii_uppercase())
    };
    ["cuda", "hip"].into_iter().any(is_call_of)
        || ["__cudart", "__pgi_uacc_"].into_iter().any(|prefix| name.starts_with(prefix))
}

/// Whether work on a stream is a copy into host memory that is not pinned, as CUPTI names it. The
/// call that starts it returns when it has ended.
pub(crate) fn is_copy_to_pageable(name: &str) -> bool {
    name.contains("DtoH") && name.contains("-> Pageable")
}

/// Placeholders of HPCToolkit in which a stream does nothing.
pub(crate) const IDLE_NAMES: [&str; 3] = ["<gpu sync>", "<no activity>", "<no gpu activity>"];

/// Groups of Kineto whose records on a stream are no work: the time of a mark of the host, and
/// that a thread waits for the stream.
const NO_WORK_GROUPS: [&str; 2] = ["gpu_user_annotation", "cuda_sync"];

/// By position in the tree, whether a track in a context only looks on: a stream that does nothing,
/// a thread that asks or waits for a GPU, or the span for which Kineto records.
pub(crate) fn onlooking_contexts(tree: &ContextTree) -> Vec<bool> {
    let mut out = idle_contexts(tree);
    for (context, slot) in tree.iter().zip(&mut out) {
        let function = tree.function(context).and_then(|f| tree.functions().get(f.idx()));
        let Some(function) = function else { continue };
        let is_asking = matches!(
            RuntimeCall::of(&function.name),
            Some(RuntimeCall::Poll | RuntimeCall::Synchronise)
        );
        let is_span = function.group.as_deref() == Some("Trace")
            && function.name.starts_with("PyTorch Profiler");
        *slot |= is_asking || is_span;
    }
    out
}

/// By position in the tree, whether a stream in a context does nothing.
pub(crate) fn idle_contexts(tree: &ContextTree) -> Vec<bool> {
    by_enclosing_function(tree, |function| {
        let group = function.group.as_deref().unwrap_or("");
        IDLE_NAMES.contains(&&*function.name) || NO_WORK_GROUPS.contains(&group)
    })
}

/// By position in the tree, whether a stream in a context copies or sets memory: what HPCToolkit,
/// CUPTI and nvprof call it.
pub(crate) fn copying_contexts(tree: &ContextTree) -> Vec<bool> {
    const COPIES: [&str; 6] =
        ["<gpu copy", "<gpu memset", "Memcpy", "Memset", "[CUDA memcpy", "[CUDA memset"];
    by_enclosing_function(tree, |function| {
        COPIES.iter().any(|prefix| function.name.starts_with(prefix))
    })
}

/// By position in the tree, what holds for the function in whose code a context lies; `false`
/// outside of functions.
fn by_enclosing_function(tree: &ContextTree, holds: impl Fn(&Function) -> bool) -> Vec<bool> {
    let of_function: Vec<bool> = tree.functions().iter().map(holds).collect();
    let mut out = vec![false; tree.len()];
    // Parents come before their children: a walk upwards from each context would take long in deep
    // trees.
    for context in tree.iter().skip(1) {
        let own = match tree.kind(context) {
            ContextKind::Function => {
                tree.function(context).and_then(|f| of_function.get(f.idx()).copied())
            }
            _ => tree.parent(context).and_then(|above| out.get(above.idx()).copied()),
        };
        if let Some(slot) = out.get_mut(context.idx()) {
            *slot = own.unwrap_or(false);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_by_name() {
        for (name, call) in [
            ("cudaDeviceSynchronize", Some(RuntimeCall::Synchronise)),
            ("hipStreamSynchronize", Some(RuntimeCall::Synchronise)),
            ("cuCtxSynchronize_v2", Some(RuntimeCall::Synchronise)),
            ("cudaStreamSynchronize_ptsz", Some(RuntimeCall::Synchronise)),
            ("cudaMemcpy", Some(RuntimeCall::Copy)),
            ("cuMemcpyDtoH_v2", Some(RuntimeCall::Copy)),
            ("hipMemcpyToSymbol()", Some(RuntimeCall::Copy)),
            ("cudaMemcpyAsync", Some(RuntimeCall::CopyLater)),
            ("cuMemcpyDtoHAsync_v2", Some(RuntimeCall::CopyLater)),
            ("cudaMemcpyPeer", Some(RuntimeCall::Other)),
            ("cuMemcpyDtoD_v2", Some(RuntimeCall::Other)),
            ("cudaEventQuery", Some(RuntimeCall::Poll)),
            ("cudaLaunchKernel", Some(RuntimeCall::Other)),
            ("cutlass_kernel", None),
            ("cudnnConvolutionForward", None),
            ("custom", None),
            ("", None),
        ] {
            assert_eq!(RuntimeCall::of(name), call, "{name}");
        }
        assert!(is_runtime("cudaMalloc") && !is_runtime("cuda_kernel") && !is_runtime("hips"));
        assert!(is_copy_to_pageable("Memcpy DtoH (Device -> Pageable)"));
        assert!(!is_copy_to_pageable("Memcpy DtoH (Device -> Pinned)"));
    }
}
