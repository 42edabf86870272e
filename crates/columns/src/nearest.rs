//! The nearest of some centres: the step of k-means that takes its time.

use crate::pieces::{concat, map_pieces, row};

/// The number of the nearest centre of each point, by the square of their distance; of several the
/// first. Points and centres have `dims` coordinates each, one after the other.
///
/// Squares and their sums are exact, so that no order of additions matters. Real coordinates are
/// brought to the 32 bits by their range; points between two centres by less than that rounding may
/// then be nearer to the other one.
///
/// ```
/// assert_eq!(parallax_columns::nearest(&[1, 1, 9, 8], &[0, 0, 9, 9], 2), [0, 1]);
/// ```
///
/// # Panics
/// When there is no coordinate or no centre, or the last point or centre lacks coordinates.
#[must_use]
pub fn nearest(points: &[u32], centres: &[u32], dims: usize) -> Vec<u32> {
    assert!(
        dims > 0
            && !centres.is_empty()
            && points.len().is_multiple_of(dims)
            && centres.len().is_multiple_of(dims),
        "points and centres have the same number of coordinates"
    );
    let square = |(a, b): (&u32, &u32)| u64::from(a.abs_diff(*b)).pow(2);
    let distance = |point: &[u32], centre: &[u32]| -> u128 {
        point.iter().zip(centre).map(|pair| u128::from(square(pair))).sum()
    };
    concat(&map_pieces(points.len() / dims, |piece| {
        let points = &points[piece.start * dims..piece.end * dims];
        let of = |point: &[u32]| {
            let far = (u128::MAX, 0);
            centres
                .chunks_exact(dims)
                .enumerate()
                .map(|(i, centre)| (distance(point, centre), row(i)))
                .fold(far, |best, next| if next.0 < best.0 { next } else { best })
                .1
        };
        points.chunks_exact(dims).map(of).collect()
    }))
}
