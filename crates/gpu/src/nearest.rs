//! The nearest of some centres.

use crate::kernels::Module;
use crate::{Column, Gpu, GpuError};

impl Gpu {
    /// [`parallax_columns::nearest`]: the number of the nearest centre of each point.
    ///
    /// # Errors
    /// When there is no coordinate or no centre, the last point or centre lacks coordinates, the
    /// device fails or has no memory.
    pub fn nearest(
        &self,
        points: &Column<u32>,
        centres: &Column<u32>,
        dims: u32,
    ) -> Result<Column<u32>, GpuError> {
        let [num_points, num_centres] =
            [points, centres].map(|of| of.rows().checked_div(dims).unwrap_or(0));
        let is_whole = |of: &Column<u32>| dims > 0 && of.rows().is_multiple_of(dims);
        if num_centres == 0 || !is_whole(points) || !is_whole(centres) {
            return Err(crate::filter::lengths(points, centres));
        }
        let out = self.column(num_points as usize)?;
        let buffers = [(1, points.buffer()), (2, centres.buffer()), (3, out.buffer())];
        let params = (num_points, [dims, num_centres, 0, 0, 0, 0]);
        let mut commands = self.commands();
        commands.run((Module::Nearest, "nearest"), params, &buffers);
        commands.submit();
        Ok(out)
    }
}
