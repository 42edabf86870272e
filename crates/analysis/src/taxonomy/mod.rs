//! What code and locations are: the purpose of functions by their names, the routines of MPI by
//! class, the runtimes of GPUs, the threads that helpers run on. One classification, for all
//! analyses.

pub(crate) mod classes;
pub(crate) mod gpu;
mod helpers;
mod kernels;
mod mpi;

use parallax_base::LocationIdx;
use parallax_model::{IdentityKind, LocationCatalog};

pub use classes::{CostClass, GpuOperation, Purposes};
pub use helpers::HelperThreads;
pub use kernels::is_collective_kernel;
pub use mpi::{MpiClass, mpi_routine};

pub(crate) use classes::Classes;

/// What TAU calls the program where it measures no function of it: the time of its own timers
/// around everything.
pub const TAU_PROGRAM: [&str; 2] = [".TAU application", "taupreload_main"];

/// Whether a location is a stream, context or device of a GPU.
#[must_use]
pub fn is_gpu(locations: &LocationCatalog, location: LocationIdx) -> bool {
    [IdentityKind::GpuStream, IdentityKind::GpuContext, IdentityKind::GpuDevice]
        .iter()
        .any(|&kind| locations.identity(location, kind).is_some())
}
