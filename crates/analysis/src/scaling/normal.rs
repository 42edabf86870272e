//! Maps as the viewers prepare them for drawing: shared ranges, normalised columns, refinement.

use super::map::Map;
use super::numeric::count;

/// `M`, the largest absolute value of all given maps: the viewers draw the three difference maps
/// on one symmetric scale `-M..M` (2018 viewer; the 2025 viewer's pictures agree).
#[must_use]
pub fn difference_range(maps: &[&Map]) -> Option<f64> {
    maps.iter()
        .filter_map(|map| map.min_max())
        .map(|(low, high)| low.abs().max(high.abs()))
        .reduce(f64::max)
}

/// `1 - E`: the distance from the ideal, which the 2018 viewer shows as "ideal variation".
#[must_use]
pub fn ideal_variation(efficiency: &Map) -> Map {
    efficiency.map(|value| 1.0 - value)
}

/// Each input's values over its cores brought to 0..100: `100 (x - min) / (max - min)`, as the
/// energy map does. Where all values of an input are equal, they become 0.
#[must_use]
pub fn normalise_over_cores(map: &Map) -> Map {
    let range = |input: usize| {
        let row = || map.row(input).map(|(_, value)| value);
        Some((row().reduce(f64::min)?, row().reduce(f64::max)?))
    };
    let ranges: Vec<Option<(f64, f64)>> = (0..map.num_inputs()).map(range).collect();
    map.map_cells(|input, _, value| {
        let (low, high) = ranges.get(input).copied().flatten()?;
        Some(if high > low { 100.0 * (value - low) / (high - low) } else { 0.0 })
    })
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
