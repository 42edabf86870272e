//! Rows whose values are in a range, and values by the numbers of their rows.

use std::ops::RangeInclusive;

use parallax_base::threads;

use crate::pieces::{concat, map_pieces, pieces, row};

/// The numbers of the rows whose values are in `range`, ascending.
///
/// ```
/// assert_eq!(parallax_columns::filter(&[5_u64, 1, 9, 5], 2..=5), [0, 3]);
/// ```
#[must_use]
pub fn filter<T: Ord + Copy + Sync + Send>(values: &[T], range: RangeInclusive<T>) -> Vec<u32> {
    let (low, high) = range.into_inner();
    let parts = map_pieces(values.len(), |piece| {
        let mut kept = Vec::new();
        // A block at a time, without branches: all numbers are written, and those of rows that are
        // not kept are overwritten by the next.
        let mut block = [0_u32; BLOCK];
        for start in piece.clone().step_by(BLOCK) {
            let end = (start + BLOCK).min(piece.end);
            let mut len = 0;
            for (i, &value) in (start..end).zip(&values[start..end]) {
                block[len] = row(i);
                len += usize::from(low <= value && value <= high);
            }
            kept.extend_from_slice(&block[..len]);
        }
        kept
    });
    concat(&parts)
}

const BLOCK: usize = 1024;

/// The values of the rows with these numbers.
///
/// # Panics
/// When there is no row with one of the numbers.
#[must_use]
pub fn gather<T: Copy + Default + Sync + Send>(values: &[T], rows: &[u32]) -> Vec<T> {
    let mut out = vec![T::default(); rows.len()];
    let mut rest = out.as_mut_slice();
    let mut work = Vec::new();
    for piece in pieces(rows.len()) {
        let (here, others) = rest.split_at_mut(piece.len());
        work.push((here, &rows[piece]));
        rest = others;
    }
    threads::map(work, |(here, rows)| {
        for (value, &row) in here.iter_mut().zip(rows) {
            *value = values[row as usize];
        }
    });
    out
}

/// `ends` less `starts`, row by row; 0 where something ends before it starts.
#[must_use]
pub fn durations(starts: &[u64], ends: &[u64]) -> Vec<u64> {
    let len = starts.len().min(ends.len());
    concat(&map_pieces(len, |piece| {
        let ends = &ends[piece.clone()];
        ends.iter().zip(&starts[piece]).map(|(end, start)| end.saturating_sub(*start)).collect()
    }))
}

/// The same values with 64 bits.
pub(crate) fn widened(values: &[u32]) -> Vec<u64> {
    concat(&map_pieces(values.len(), |piece| {
        values[piece].iter().map(|&value| value.into()).collect()
    }))
}
