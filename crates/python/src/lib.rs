//! The native part of the Python package `parallax`: opens paths, passes requests on, and gives
//! tables to whoever reads Arrow.
//!
//! What users see is Python, in `python/parallax`: its methods are generated from the definitions
//! of the questions, and each of them sends one request to `Engine`. No number is computed
//! here.

mod archives;
mod device;
mod device_columns;
mod engine;
#[cfg(feature = "gpu")]
mod gpus;
mod process;
#[cfg(feature = "sql")]
mod statement;
mod stream;
mod table;
mod wait;

use pyo3::prelude::*;

/// As in the program: tables are large and short-lived, and asked for again and again (ADR 0010).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native part of the package.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(device::devices, module)?)?;
    module.add_class::<device::DeviceTable>()?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<engine::Item>()?;
    module.add_class::<stream::Stream>()?;
    module.add_class::<table::Table>()
}
