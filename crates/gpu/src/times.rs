//! How long each kernel took, by the clock of the device.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::{Gpu, GpuError};

/// Kernels that are timed, at most, between two calls of [`Gpu::take_times`].
const MOST: u32 = 1024;

/// Time stamps of the device, before and after each kernel.
pub(crate) struct Times {
    pub(crate) queries: wgpu::QuerySet,
    kernels: Mutex<Vec<&'static str>>,
}

impl Times {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let queries = device.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count: 2 * MOST,
        });
        Self { queries, kernels: Mutex::default() }
    }

    /// The queries for one more kernel; none once there are too many.
    pub(crate) fn next(
        &self,
        kernel: &'static str,
    ) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let at = u32::try_from(kernels.len()).ok().filter(|at| *at < MOST)?;
        kernels.push(kernel);
        Some(wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * at),
            end_of_pass_write_index: Some(2 * at + 1),
        })
    }
}

impl Gpu {
    /// The kernels that ran since the last call, in order, with their times; the first 1,024 of them.
    /// None without [`Options::is_timed`](crate::Options::is_timed).
    ///
    /// # Errors
    /// When the device fails.
    pub fn take_times(&self) -> Result<Vec<(&'static str, Duration)>, GpuError> {
        let Some(times) = &self.times else { return Ok(Vec::new()) };
        let kernels =
            std::mem::take(&mut *times.kernels.lock().unwrap_or_else(PoisonError::into_inner));
        if kernels.is_empty() {
            return Ok(Vec::new());
        }
        let stamps = self.resolved(&times.queries, 2 * kernels.len())?;
        let period = f64::from(self.queue.get_timestamp_period());
        let time = |pair: &[u64]| {
            Duration::from_secs_f64(pair[1].saturating_sub(pair[0]) as f64 * period / 1e9)
        };
        Ok(kernels.into_iter().zip(stamps.chunks_exact(2).map(time)).collect())
    }
}
