//! Filters, prefix sums and gathering.

use std::ops::RangeInclusive;

use crate::device::Commands;
use crate::kernels::Module;
use crate::{Column, Gpu, GpuError, Word};

/// The words of a number, the lower one first.
pub(crate) fn words(value: u64) -> [u32; 2] {
    bytemuck::cast(value.to_le_bytes())
}

/// Rows that were kept, and how many there are before each tile.
pub(crate) struct Kept {
    pub(crate) rows: Column<u32>,
    pub(crate) before: Column<u32>,
}

impl Gpu {
    /// [`parallax_columns::filter`] of values of 64 bits.
    ///
    /// # Errors
    /// When the device fails or has no memory.
    pub fn filter(
        &self,
        values: &Column<u64>,
        range: RangeInclusive<u64>,
    ) -> Result<Column<u32>, GpuError> {
        let ([a, b], [c, d]) = (words(*range.start()), words(*range.end()));
        let inputs = [(3, values.buffer())];
        Ok(self.keep(Module::FilterU64, values.rows(), [a, b, c, d], &inputs)?.rows)
    }

    /// [`parallax_columns::filter`] of values of 32 bits.
    ///
    /// # Errors
    /// When the device fails or has no memory.
    pub fn filter_u32(
        &self,
        values: &Column<u32>,
        range: RangeInclusive<u32>,
    ) -> Result<Column<u32>, GpuError> {
        let inputs = [(3, values.buffer())];
        let limits = [*range.start(), 0, *range.end(), 0];
        Ok(self.keep(Module::FilterU32, values.rows(), limits, &inputs)?.rows)
    }

    /// The rows that `keep` of the module keeps.
    pub(crate) fn keep(
        &self,
        module: Module,
        len: u32,
        [a, b, c, d]: [u32; 4],
        inputs: &[(u32, &wgpu::Buffer)],
    ) -> Result<Kept, GpuError> {
        let tiles = self.tiles(len) as usize;
        let before: Column<u32> = self.column(tiles + 1)?;
        let params = (len, [a, b, c, d, 0, 0]);
        let mut commands = self.commands();
        commands.clear(before.buffer());
        commands.run((module, "count"), params, &[&[(1, before.buffer())], inputs].concat());
        self.scan(&mut commands, &before)?;
        commands.submit();
        let count = self.download_rows(&before, tiles, 1)?[0];
        let rows = self.column(count as usize)?;
        let mut commands = self.commands();
        if count > 0 {
            let outputs = [(1, before.buffer()), (2, rows.buffer())];
            commands.run((module, "emit"), params, &[&outputs, inputs].concat());
        }
        commands.submit();
        Ok(Kept { rows, before })
    }

    /// Replaces each number by the sum of those before it.
    pub(crate) fn scan(
        &self,
        commands: &mut Commands<'_>,
        data: &Column<u32>,
    ) -> Result<(), GpuError> {
        let len = data.rows();
        let tiles = self.tiles(len);
        let params = (len, [0; 6]);
        // A few tiles are done sooner by one workgroup than by three kernels.
        if tiles <= 4 {
            commands.run_some((Module::Scan, "top"), params, &[(1, data.buffer())], 1);
            return Ok(());
        }
        let sums: Column<u32> = self.column(tiles as usize)?;
        let buffers = [(1, data.buffer()), (2, sums.buffer())];
        commands.run((Module::Scan, "reduce"), params, &buffers);
        self.scan(commands, &sums)?;
        commands.run((Module::Scan, "down"), params, &buffers);
        commands.hold(sums);
        Ok(())
    }

    /// [`parallax_columns::gather`], but that the number of a row behind the last one gives the value
    /// of the last.
    ///
    /// # Errors
    /// When there are numbers of rows and no rows, the device fails or has no memory.
    pub fn gather<T: Word>(
        &self,
        values: &Column<T>,
        rows: &Column<u32>,
    ) -> Result<Column<T>, GpuError> {
        let out = self.column(rows.len())?;
        let Some(last) = values.rows().checked_sub(1) else {
            return if rows.is_empty() { Ok(out) } else { Err(lengths(values, rows)) };
        };
        let (entry, input, output) =
            if size_of::<T>() == 8 { ("gather_u64", 4, 5) } else { ("gather_u32", 2, 3) };
        let buffers = [(1, rows.buffer()), (input, values.buffer()), (output, out.buffer())];
        let mut commands = self.commands();
        commands.run((Module::Gather, entry), (rows.rows(), [last, 0, 0, 0, 0, 0]), &buffers);
        commands.submit();
        Ok(out)
    }

    /// [`parallax_columns::durations`] of two columns of one length.
    ///
    /// # Errors
    /// When the lengths differ, the device fails or has no memory.
    pub fn durations(
        &self,
        starts: &Column<u64>,
        ends: &Column<u64>,
    ) -> Result<Column<u64>, GpuError> {
        if starts.len() != ends.len() {
            return Err(lengths(starts, ends));
        }
        let out = self.column(starts.len())?;
        let buffers = [(4, ends.buffer()), (5, out.buffer()), (6, starts.buffer())];
        let mut commands = self.commands();
        commands.run((Module::Gather, "subtract"), (starts.rows(), [0; 6]), &buffers);
        commands.submit();
        Ok(out)
    }
}

/// Columns of lengths that do not go together.
pub(crate) fn lengths<A: Word, B: Word>(one: &Column<A>, other: &Column<B>) -> GpuError {
    GpuError::Lengths { one: one.len(), other: other.len() }
}
