//! Rows of two tables with equal keys.

use crate::kernels::Module;
use crate::sort::Ordered;
use crate::{Column, Gpu, GpuError};

/// Rows that belong together: the i-th of both columns.
#[derive(Debug)]
pub struct DevicePairs {
    /// Rows of the left side, ascending.
    pub left: Column<u32>,
    /// Rows of the right side, ascending for each of the left.
    pub right: Column<u32>,
}

/// Starts by key are kept in a table up to this many keys for each row of the right side.
const SPREAD: u64 = 4;

/// What a tile says when it has too many pairs to be counted.
const EXCESS: u32 = u32::MAX;

impl Gpu {
    /// [`parallax_columns::join`]: the pairs of rows with equal keys (an inner join).
    ///
    /// # Errors
    /// When there are too many pairs, or the device fails or has no memory.
    pub fn join(&self, left: &Column<u32>, right: &Column<u32>) -> Result<DevicePairs, GpuError> {
        if left.is_empty() || right.is_empty() {
            return Ok(DevicePairs { left: self.column(0)?, right: self.column(0)? });
        }
        let Ordered { keys: sorted, rows: order } = self.ordered(right, None)?;
        let low = self.download_rows(&sorted, 0, 1)?[0];
        let high = self.download_rows(&sorted, sorted.len() - 1, 1)?[0];
        let is_dense = u64::from(high - low) <= sorted.len() as u64 * SPREAD + 1024;
        let mut commands = self.commands();
        let starts: Column<u32> =
            self.column(if is_dense { (high - low) as usize + 2 } else { 1 })?;
        if is_dense {
            let buffers = [(1, sorted.buffer()), (2, starts.buffer())];
            commands.run(
                (Module::Starts, "starts_of"),
                (sorted.rows(), [0, low, 0, 0, 0, 0]),
                &buffers,
            );
        }
        let last = if is_dense { high } else { sorted.rows() };
        let params = (left.rows(), [u32::from(is_dense), low, last, 0, 0, 0]);
        let before: Column<u32> = self.column(self.tiles(left.rows()) as usize)?;
        let inputs =
            [(1, before.buffer()), (2, left.buffer()), (3, starts.buffer()), (4, sorted.buffer())];
        commands.run((Module::Join, "count"), params, &inputs);
        commands.submit();

        // Added here, where a sum of more than 32 bits is seen.
        let counts = self.download(&before)?;
        let mut sum = 0_u32;
        let mut sums = Vec::with_capacity(counts.len());
        for count in counts {
            sums.push(sum);
            let next = sum.checked_add(count).filter(|_| count != EXCESS);
            sum = next.ok_or(GpuError::TooManyPairs)?;
        }
        let before = self.upload(&sums)?;
        let pairs =
            DevicePairs { left: self.column(sum as usize)?, right: self.column(sum as usize)? };
        if sum > 0 {
            let inputs = [
                (1, before.buffer()),
                (2, left.buffer()),
                (3, starts.buffer()),
                (4, sorted.buffer()),
                (5, order.buffer()),
                (6, pairs.left.buffer()),
                (7, pairs.right.buffer()),
            ];
            let mut commands = self.commands();
            commands.run((Module::Join, "emit"), params, &inputs);
            commands.submit();
        }
        Ok(pairs)
    }
}
