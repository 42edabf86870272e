//! Maps as the viewers prepare them for drawing: shared ranges, refinement.

use super::map::Map;
use crate::math::numeric::count;

/// `M`, the largest absolute value of all given maps: the viewers draw the three difference maps
/// on one symmetric scale `-M..M` (2018 viewer; the 2025 viewer's pictures agree).
#[must_use]
pub fn difference_range(maps: &[&Map]) -> Option<f64> {
    maps.iter()
        .filter_map(|map| map.min_max())
        .map(|(low, high)| low.abs().max(high.abs()))
        .reduce(f64::max)
}

/// The map with each axis refined `factor` times: `n` becomes `factor (n - 1) + 1` cells, linear
/// in between along both axes. The viewers use 4.
///
/// A cell that would need a missing neighbour is missing. A factor of 0 is taken as 1, which
/// returns the map itself.
#[must_use]
pub fn interpolate(map: &Map, factor: usize) -> Map {
    let factor = factor.max(1);
    let refined = |cells: usize| cells.checked_sub(1).map_or(0, |last| last * factor + 1);
    let between = |low: Option<f64>, high: Option<f64>, part: f64| {
        if part == 0.0 { low } else { Some(low? + (high? - low?) * part) }
    };
    Map::from_fn(refined(map.num_inputs()), refined(map.num_cores()), |row, column| {
        let (i, j) = (row / factor, column / factor);
        let row_part = count(row % factor) / count(factor);
        let column_part = count(column % factor) / count(factor);
        let upper = between(map.get(i, j), map.get(i, j + 1), column_part);
        let lower = between(map.get(i + 1, j), map.get(i + 1, j + 1), column_part);
        between(upper, lower, row_part)
    })
}
