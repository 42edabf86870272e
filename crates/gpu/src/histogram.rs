//! How many values there are in each interval.

use crate::kernels::Module;
use crate::{Column, Gpu, GpuError};

impl Gpu {
    /// [`parallax_columns::histogram`]: how many values are from each edge to the next one. Edges
    /// ascend.
    ///
    /// # Errors
    /// When the device fails or has no memory.
    pub fn histogram(&self, values: &Column<u64>, edges: &[u64]) -> Result<Vec<u64>, GpuError> {
        let Some(len) = edges.len().checked_sub(1).filter(|len| *len > 0) else {
            return Ok(Vec::new());
        };
        let edges = self.upload(edges)?;
        let bins: Column<u32> = self.column(len)?;
        let mut commands = self.commands();
        commands.clear(bins.buffer());
        let buffers = [(1, values.buffer()), (2, edges.buffer()), (3, bins.buffer())];
        let params = (values.rows(), [edges.rows(), 0, 0, 0, 0, 0]);
        commands.run((Module::Histogram, "histogram"), params, &buffers);
        commands.submit();
        Ok(self.download(&bins)?.into_iter().map(u64::from).collect())
    }
}
