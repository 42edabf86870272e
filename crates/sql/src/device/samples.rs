//! [`Sample`]: rows of a table on a device that stand for all of it.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Instant;

use datafusion::arrow::array::{Array, ArrayRef, AsArray as _};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{Int64Type, UInt16Type, UInt32Type};
use datafusion::arrow::record_batch::RecordBatch;
use parallax_columns::{ColumnDevice, DeviceColumn, DeviceError, Values};

use super::job::JobResult;

/// Rows that times are measured with: a few, ...
pub(super) const FEW: usize = 1 << 15;

/// ... and more: a sixteenth, because a time of few rows says little about that of many.
pub(super) fn more_rows(rows: usize) -> usize {
    (rows / 16).clamp(1 << 18, 1 << 22)
}

/// Rows of a sample that lie next to each other, as rows do in the table.
pub(super) const BLOCK_ROWS: usize = 1 << 10;

/// So many rows of a table at most, in blocks that are spread over it: tables are in the order of
/// locations and times, so that the first rows are not like the others.
pub(crate) fn spread(rows: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let wanted = (most / BLOCK_ROWS).max(1);
    let there = rows.div_ceil(BLOCK_ROWS);
    let blocks = wanted.min(there);
    (0..blocks).map(move |at| {
        let begin = at * there / blocks * BLOCK_ROWS;
        begin..rows.min(begin + BLOCK_ROWS)
    })
}

/// Columns of some rows of a table.
pub(super) struct Sample {
    blocks: Vec<Range<usize>>,
    pub(super) rows: usize,
    pub(super) columns: HashMap<usize, DeviceColumn>,
    /// What was copied for them, and how long that took.
    pub(super) bytes: u64,
    pub(super) seconds: f64,
}

impl Sample {
    /// Copies so many rows of a table at most.
    ///
    /// # Errors
    /// When the device fails or has no room.
    pub(super) fn of(
        table: &RecordBatch,
        columns: &[usize],
        most: usize,
        device: &dyn ColumnDevice,
    ) -> Result<Self, DeviceError> {
        let blocks: Vec<Range<usize>> = spread(table.num_rows(), most).collect();
        let sampled = columns.iter().map(|&at| {
            let column = column(table, at)?;
            let of_block = |block: &Range<usize>| column.slice(block.start, block.len());
            let parts: Vec<ArrayRef> = blocks.iter().map(of_block).collect();
            let parts: Vec<&dyn Array> = parts.iter().map(|part| &**part).collect();
            let failed = |error| DeviceError::Unsuitable(format!("{error}"));
            Ok((at, concat(&parts).map_err(failed)?))
        });
        let sampled = sampled.collect::<Result<Vec<(usize, ArrayRef)>, DeviceError>>()?;
        let begin = Instant::now();
        let columns = sampled.iter().map(|(at, column)| Ok((*at, copied(device, column)?)));
        let columns = columns.collect::<Result<HashMap<_, _>, DeviceError>>()?;
        let seconds = begin.elapsed().as_secs_f64();
        let bytes = columns.values().map(DeviceColumn::bytes).sum();
        let rows = blocks.iter().map(ExactSizeIterator::len).sum();
        Ok(Self { blocks, rows, columns, bytes, seconds })
    }

    /// What was found of these rows, with numbers of the rows of the table: columns of these are
    /// collected at the distances at which those of all rows are.
    pub(super) fn in_table(&self, found: JobResult) -> JobResult {
        let JobResult::Rows(mut rows) = found else { return found };
        for row in &mut rows {
            let (block, place) = (*row as usize / BLOCK_ROWS, *row as usize % BLOCK_ROWS);
            let begin = self.blocks.get(block).map_or(0, |block| block.start);
            *row = u32::try_from(begin + place).unwrap_or(u32::MAX);
        }
        JobResult::Rows(rows)
    }
}

fn absent() -> DeviceError {
    DeviceError::Unsuitable("a column has no whole numbers".to_owned())
}

/// A column of a table.
pub(super) fn column(table: &RecordBatch, at: usize) -> Result<&ArrayRef, DeviceError> {
    table.columns().get(at).ok_or_else(absent)
}

/// Copies a column of whole numbers to the device.
pub(super) fn copied(
    device: &dyn ColumnDevice,
    column: &ArrayRef,
) -> Result<DeviceColumn, DeviceError> {
    if let Some(values) = column.as_primitive_opt::<UInt32Type>() {
        return device.copy(Values::Narrow(values.values()));
    }
    if let Some(values) = column.as_primitive_opt::<UInt16Type>() {
        let values: Vec<u32> = values.values().iter().map(|&value| value.into()).collect();
        return device.copy(Values::Narrow(&values));
    }
    let values = column.as_primitive_opt::<Int64Type>().ok_or_else(absent)?;
    device.copy(Values::Wide(values.values()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_over_the_table() {
        let blocks: Vec<_> = spread(1_000_000, 4096).collect();
        assert_eq!(blocks.len(), 4);
        assert!(blocks.windows(2).all(|two| two[1].start - two[0].start > 240_000));
        assert!(blocks.iter().all(|block| block.len() == BLOCK_ROWS));
        // All of a table that has fewer.
        let all: Vec<usize> = spread(2500, 4096).flatten().collect();
        assert_eq!(all, (0..2500).collect::<Vec<_>>());
        assert_eq!(spread(0, 4096).count(), 0);
    }
}
