//! Regions that run at the same time on different threads.

use parallax_analysis::scaling::{Map, maps};
use parallax_model::ensemble::{Ensemble, metric_names};

use super::ScalingError;
use super::answer::{Prepared, ScalingOptions};
use super::axes::Axes;

/// Less than this part of the time of a region is no overlap: threads do not stop at the same moment.
const MIN_OVERLAP: f64 = 0.02;

/// Gives regions that overlap with others the time that their threads spend in them, instead of all
/// cores for as long as any thread is inside: of two regions at once, each has a part of the cores.
/// The regions to which that happens, by position; none where all follow one another.
pub(super) fn share_cores(
    prepared: &mut [Prepared],
    ensemble: &Ensemble,
    axes: &Axes,
    options: &ScalingOptions,
) -> Result<Vec<usize>, ScalingError> {
    let names = [metric_names::OVERLAP, metric_names::LOCATION_MEAN, metric_names::LOCATIONS];
    let [Some(overlap), Some(mean), Some(number)] = names.map(|name| ensemble.metric(name)) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for (at, region) in prepared.iter_mut().enumerate() {
        let Some(source) = region.source.filter(|_| region.mean.is_none()) else { continue };
        let of = |metric| -> Result<Map, ScalingError> {
            let grid = axes.grid(ensemble, metric, source, options.runs, options.maps.measure)?;
            Ok(maps(&grid, options.maps).time)
        };
        let overlaps = of(overlap)?;
        if overlaps.is_undefined() {
            continue;
        }
        let (means, numbers) = (of(mean)?, of(number)?);
        let per_core = overlaps.map_cells(|i, j, seconds| {
            let time = region.maps.time.get(i, j)?;
            let cores = axes.cores.get(j).copied().map(f64::from)?;
            let spent = means.get(i, j)? * numbers.get(i, j)? / cores;
            (seconds > time * MIN_OVERLAP).then_some(spent)
        });
        if !per_core.is_undefined() {
            region.mean = Some(per_core);
            found.push(at);
        }
    }
    Ok(found)
}
