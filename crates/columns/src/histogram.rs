//! How many values there are in each interval.

use crate::pieces::map_pieces;

/// How many values are from each edge to the next one, that one excluded; in the last interval it is
/// included. Edges ascend; fewer than two make no interval.
///
/// ```
/// assert_eq!(parallax_columns::histogram(&[1, 5, 9, 10], &[0, 5, 10]), [1, 3]);
/// ```
#[must_use]
pub fn histogram(values: &[u64], edges: &[u64]) -> Vec<u64> {
    let Some(len) = edges.len().checked_sub(1).filter(|len| *len > 0) else { return Vec::new() };
    let (first, last) = (edges[0], edges[len]);
    let parts = map_pieces(values.len(), |piece| {
        let mut bins = vec![0_u64; len];
        for &value in &values[piece] {
            if value >= first && value <= last {
                let above = edges.partition_point(|&edge| edge <= value);
                bins[(above - 1).min(len - 1)] += 1;
            }
        }
        bins
    });
    let mut all = vec![0; len];
    for part in parts {
        all.iter_mut().zip(part).for_each(|(all, here)| *all += here);
    }
    all
}
