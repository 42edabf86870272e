//! The operations of `parallax-columns` on GPUs, with the same results, bit for bit.
//!
//! One source of kernels (WGSL, through `wgpu`) serves GPUs of NVIDIA, AMD, Intel and Apple, and a
//! software device that needs none. [`devices`] lists them, [`Gpu::open`] opens one. Columns are
//! [uploaded](Gpu::upload) once and stay there between operations; [`Gpu`] is a
//! [`parallax_columns::ColumnDevice`], too.
//!
//! Only whole numbers: browsers and some GPUs lack 64-bit floats, and times and counts need none.
//! Words of 64 bits are pairs of 32 in the kernels, for the same reason. Operations that read a key,
//! a value or a length back wait for the device; all others only queue work.
//!
//! Kernels are compiled without bounds checks: that every index is in bounds follows from the lengths
//! that this crate passes.

mod buffers;
mod cells;
mod device;
mod error;
mod filter;
mod group;
mod histogram;
mod join;
mod kernels;
mod memory;
mod nearest;
mod plan;
mod products;
mod resident;
mod sort;
mod times;

pub use buffers::{Column, Word};
pub use cells::DeviceEvents;
pub use device::{DeviceInfo, DeviceKind, Gpu, Options, SortShape, devices};
pub use error::GpuError;
pub use join::DevicePairs;
pub use memory::{DeviceMemory, device_for};
pub use plan::Planner;
