//! Columns of tables in the memory of a device.

use std::ops::RangeInclusive;
use std::sync::Arc;

use parallax_columns::{Groups, Memory, Shared};

use crate::kernels::Module;
use crate::plan::FEW;
use crate::{Column, DeviceKind, DevicePairs, Gpu, GpuError, devices};

/// The memory of a device, for [`parallax_columns::ColumnTable`].
#[derive(Debug, Clone)]
pub struct DeviceMemory {
    gpu: Arc<Gpu>,
}

impl DeviceMemory {
    /// That of this device. Tables that are combined are of one `Gpu`.
    #[must_use]
    pub fn new(gpu: Arc<Gpu>) -> Self {
        Self { gpu }
    }

    /// The device.
    #[must_use]
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }
}

/// The number of the device on which a table of so many rows should be, where operations on it may be
/// several; or why it should be in the memory of the host. A device in software is never chosen.
///
/// # Errors
/// When the processor is the better place.
pub fn device_for(rows: usize) -> Result<usize, String> {
    if rows < FEW {
        return Err("too few rows for a GPU".to_owned());
    }
    match devices().into_iter().next() {
        None => Err("there is no GPU".to_owned()),
        Some(found) if found.kind == DeviceKind::Software => {
            Err(format!("{} is the processor, too", found.name))
        }
        Some(found) => Ok(found.number),
    }
}

impl Gpu {
    /// The same values with 64 bits.
    ///
    /// # Errors
    /// When the device has no memory.
    pub fn widen(&self, values: &Column<u32>) -> Result<Column<u64>, GpuError> {
        let out = self.column(values.len())?;
        let buffers = [(2, values.buffer()), (5, out.buffer())];
        let mut commands = self.commands();
        commands.run((Module::Gather, "widen"), (values.rows(), [0; 6]), &buffers);
        commands.submit();
        Ok(out)
    }
}

impl Memory for DeviceMemory {
    type Narrow = Column<u32>;
    type Wide = Column<u64>;
    type Error = GpuError;

    fn put_narrow(&self, values: Shared<u32>) -> Result<Column<u32>, GpuError> {
        self.gpu.upload(AsRef::<[u32]>::as_ref(&*values))
    }

    fn put_wide(&self, values: Shared<u64>) -> Result<Column<u64>, GpuError> {
        self.gpu.upload(AsRef::<[u64]>::as_ref(&*values))
    }

    fn narrow(&self, column: &Column<u32>) -> Result<Shared<u32>, GpuError> {
        Ok(Arc::new(self.gpu.download(column)?))
    }

    fn wide(&self, column: &Column<u64>) -> Result<Shared<u64>, GpuError> {
        Ok(Arc::new(self.gpu.download(column)?))
    }

    fn num_rows(&self, column: &Column<u32>) -> usize {
        column.len()
    }

    fn widen(&self, column: &Column<u32>) -> Result<Column<u64>, GpuError> {
        self.gpu.widen(column)
    }

    fn durations(&self, starts: &Column<u64>, ends: &Column<u64>) -> Result<Column<u64>, GpuError> {
        self.gpu.durations(starts, ends)
    }

    fn filter_narrow(
        &self,
        values: &Column<u32>,
        range: RangeInclusive<u32>,
    ) -> Result<Column<u32>, GpuError> {
        self.gpu.filter_u32(values, range)
    }

    fn filter_wide(
        &self,
        values: &Column<u64>,
        range: RangeInclusive<u64>,
    ) -> Result<Column<u32>, GpuError> {
        self.gpu.filter(values, range)
    }

    fn sort_narrow(&self, keys: &Column<u32>) -> Result<Column<u32>, GpuError> {
        self.gpu.sort_u32(keys)
    }

    fn sort_wide(&self, keys: &Column<u64>) -> Result<Column<u32>, GpuError> {
        self.gpu.sort(keys)
    }

    fn gather_narrow(
        &self,
        values: &Column<u32>,
        rows: &Column<u32>,
    ) -> Result<Column<u32>, GpuError> {
        self.gpu.gather(values, rows)
    }

    fn gather_wide(
        &self,
        values: &Column<u64>,
        rows: &Column<u32>,
    ) -> Result<Column<u64>, GpuError> {
        self.gpu.gather(values, rows)
    }

    fn group(
        &self,
        minor: &Column<u32>,
        major: Option<&Column<u32>>,
        values: &Column<u64>,
    ) -> Result<Groups, GpuError> {
        self.gpu.group(minor, major, values)
    }

    fn join(
        &self,
        left: &Column<u32>,
        right: &Column<u32>,
    ) -> Result<(Column<u32>, Column<u32>), GpuError> {
        let DevicePairs { left, right } = self.gpu.join(left, right)?;
        Ok((left, right))
    }

    fn histogram(&self, values: &Column<u64>, edges: &[u64]) -> Result<Vec<u64>, GpuError> {
        self.gpu.histogram(values, edges)
    }
}
