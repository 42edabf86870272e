//! Rows whose values are in a range, and values by the numbers of their rows.

use std::ops::{Range, RangeInclusive};

use crate::pieces::{concat, filled, map_pieces, row};

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
        // not kept are overwritten by the next. `&&` would be a branch, which is mispredicted often.
        let mut block = [0_u32; BLOCK];
        for start in piece.clone().step_by(BLOCK) {
            let end = (start + BLOCK).min(piece.end);
            let mut len = 0;
            for (i, &value) in (start..end).zip(&values[start..end]) {
                block[len] = row(i);
                len += usize::from((low <= value) & (value <= high));
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
    filled(rows.len(), |piece, here: &mut [T]| {
        for (here, rows) in here.chunks_mut(BLOCK).zip(rows[piece].chunks(BLOCK)) {
            match consecutive(rows) {
                Some(rows) => here.copy_from_slice(&values[rows]),
                None => {
                    for (value, &row) in here.iter_mut().zip(rows) {
                        *value = values[row as usize];
                    }
                }
            }
        }
    })
}

/// The rows as a range, where each is the one after that before it: a filter that keeps nearly all, or
/// the left side of a join in which every row has one partner.
fn consecutive(rows: &[u32]) -> Option<Range<usize>> {
    let (&first, &last) = (rows.first()?, rows.last()?);
    let range = first as usize..last as usize + 1;
    // All are compared, without branches, so that it is done for several at a time.
    let differ = || rows.iter().zip(first..).fold(0, |bits, (&row, at)| bits | (row ^ at));
    (range.len() == rows.len() && differ() == 0).then_some(range)
}

/// `ends` less `starts`, row by row; 0 where something ends before it starts.
#[must_use]
pub fn durations(starts: &[u64], ends: &[u64]) -> Vec<u64> {
    let len = starts.len().min(ends.len());
    filled(len, |piece, here| {
        let times = ends[piece.clone()].iter().zip(&starts[piece]);
        for (time, (end, start)) in here.iter_mut().zip(times) {
            *time = end.saturating_sub(*start);
        }
    })
}

/// The same values with 64 bits.
pub(crate) fn widened(values: &[u32]) -> Vec<u64> {
    filled(values.len(), |piece, here| {
        here.iter_mut().zip(&values[piece]).for_each(|(wide, &value)| *wide = value.into());
    })
}
