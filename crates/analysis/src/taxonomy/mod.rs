//! What code and locations are: the purpose of functions by their names, the routines of MPI by
//! class, the runtimes of GPUs, the threads that helpers run on. One classification, for all
//! analyses.

pub(crate) mod classes;
pub(crate) mod gpu;
mod gpu_calls;
mod helpers;
mod kernels;
mod mpi;
mod names;
pub(crate) mod phases;
mod roles;
mod threads;

use parallax_engine::display_name;

pub use classes::{CostClass, GpuOperation, Purposes};
pub use helpers::HelperThreads;
pub use kernels::is_collective_kernel;
pub use mpi::{MpiClass, is_collective_sync, mpi_routine};
pub use names::FunctionNames;
pub use phases::Phases;
pub use roles::Roles;

pub(crate) use classes::Classes;

/// Whether a function waits for a GPU and does nothing else: `cudaDeviceSynchronize` and its like
/// of all programming interfaces.
#[must_use]
pub fn waits_for_gpu(name: &str) -> bool {
    gpu::RuntimeCall::of(name) == Some(gpu::RuntimeCall::Synchronise)
}

/// Whether a timer of TAU stands for the program, or one of its threads, where nothing is
/// instrumented, and for no function.
#[must_use]
pub fn is_uninstrumented(name: &str) -> bool {
    [".TAU application", "taupreload_main"].contains(&&*display_name(name))
        || name.starts_with("[PTHREAD]")
}
