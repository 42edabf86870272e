//! Pictures of time.

use parallax_columns::{Bins, Groups};

use crate::filter::{lengths, words};
use crate::kernels::Module;
use crate::{Column, Gpu, GpuError};

/// Events in the memory of a device; see [`parallax_columns::Events`].
#[derive(Debug, Clone, Copy)]
pub struct DeviceEvents<'a> {
    /// Where.
    pub location: &'a Column<u32>,
    /// What.
    pub context: &'a Column<u32>,
    /// From when.
    pub start: &'a Column<u64>,
    /// Until when.
    pub end: &'a Column<u64>,
}

impl Gpu {
    /// [`parallax_columns::times_in_cells`]: how long each context was active in each cell.
    ///
    /// # Errors
    /// When the columns have several lengths, or more cells or parts of events than 32 bits can
    /// count; when the device fails or has no memory.
    pub fn times_in_cells(
        &self,
        events: DeviceEvents<'_>,
        tracks: u32,
        bins: Bins,
    ) -> Result<Groups, GpuError> {
        let DeviceEvents { location, context, start, end } = events;
        if context.len() != location.len() {
            return Err(lengths(context, location));
        }
        if let Some(other) = [start, end].into_iter().find(|of| of.len() != location.len()) {
            return Err(lengths(other, location));
        }
        // The most rows that there can be: every event in every bin.
        let most = location.len() as u64 * u64::from(bins.count);
        if most > u32::MAX.into() || tracks.checked_mul(bins.count).is_none() || bins.exponent >= 64
        {
            return Err(GpuError::TooLarge { bytes: most.saturating_mul(16), limit: self.limit() });
        }
        let len = location.rows();
        let before: Column<u32> = self.column(location.len() + 1)?;
        let [low, high] = words(bins.first);
        let params = [bins.exponent, low, high, bins.count, tracks, len];
        let times = [(3, start.buffer()), (4, end.buffer()), (5, before.buffer())];
        let inputs = [&[(1, location.buffer())], &times[..]].concat();
        let mut commands = self.commands();
        commands.clear(before.buffer());
        commands.run((Module::Cells, "touched"), (len, params), &inputs);
        self.scan(&mut commands, &before)?;
        commands.submit();
        let rows = self.download_rows(&before, location.len(), 1)?[0];
        let cells: Column<u32> = self.column(rows as usize)?;
        let contexts: Column<u32> = self.column(rows as usize)?;
        let parts: Column<u64> = self.column(rows as usize)?;
        let outputs = [(6, cells.buffer()), (7, contexts.buffer()), (8, parts.buffer())];
        let buffers = [&inputs[..], &[(2, context.buffer())], &outputs].concat();
        let mut commands = self.commands();
        commands.run((Module::Cells, "spread"), (rows, params), &buffers);
        commands.submit();
        self.group(&contexts, Some(&cells), &parts)
    }
}
