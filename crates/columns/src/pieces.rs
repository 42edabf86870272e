//! Equal parts of columns, a few for each thread.

use std::ops::Range;

use parallax_base::threads;

/// Below this, a part is not worth a task.
const LEAST: usize = 1 << 14;

/// `0..len` in contiguous ranges, at least one.
pub(crate) fn pieces(len: usize) -> Vec<Range<usize>> {
    let most = if threads::count() == 1 { 1 } else { threads::count() * 4 };
    let step = len.div_ceil(most).max(LEAST);
    let mut out: Vec<_> =
        (0..len).step_by(step).map(|start| start..(start + step).min(len)).collect();
    if out.is_empty() {
        out.push(0..0);
    }
    out
}

/// `work` for each piece, in order.
pub(crate) fn map_pieces<R: Send>(
    len: usize,
    work: impl Fn(Range<usize>) -> R + Send + Sync,
) -> Vec<R> {
    threads::map(pieces(len), work)
}

/// A column of so many values, of which `work` writes those of each piece where they stay: memory is
/// touched once, by the thread that has the values.
pub(crate) fn filled<T: Copy + Default + Send>(
    len: usize,
    work: impl Fn(Range<usize>, &mut [T]) + Send + Sync,
) -> Vec<T> {
    let mut out = vec![T::default(); len];
    let mut rest = out.as_mut_slice();
    let mut parts = Vec::new();
    for piece in pieces(len) {
        let (here, others) = rest.split_at_mut(piece.len());
        parts.push((piece, here));
        rest = others;
    }
    threads::map(parts, |(piece, here)| work(piece, here));
    out
}

/// The parts one after the other.
pub(crate) fn concat<T: Copy + Default + Send + Sync>(parts: &[Vec<T>]) -> Vec<T> {
    let mut out = vec![T::default(); parts.iter().map(Vec::len).sum()];
    let mut rest = out.as_mut_slice();
    let mut work = Vec::with_capacity(parts.len());
    for part in parts {
        let (here, others) = rest.split_at_mut(part.len());
        work.push((here, part));
        rest = others;
    }
    threads::map(work, |(here, part)| here.copy_from_slice(part));
    out
}

/// The number of a row.
///
/// Columns have at most [`crate::MAX_ROWS`] rows, so nothing is lost.
#[expect(clippy::cast_possible_truncation, reason = "columns have at most u32::MAX rows")]
pub(crate) fn row(i: usize) -> u32 {
    i as u32
}
