//! How far repetitions lie apart, as a table.

use std::sync::Arc;

use parallax_analysis::scaling::{dispersion, outliers};
use parallax_protocol::{DispersionRow, DispersionTable};

use super::answer::ScalingAnswer;
use super::tables::{Labels, count};

impl ScalingAnswer {
    /// One row for each region shown and each configuration that was measured: how far its
    /// repetitions lie apart, and how many do not belong to the others.
    #[must_use]
    pub fn dispersion_table(&self) -> DispersionTable {
        let inputs = Labels::of(&self.inputs);
        let mut table = DispersionTable::default();
        for region in self.shown().filter_map(|at| self.regions.get(at)) {
            let grid = &region.grid;
            let id: Arc<str> = Arc::from(region.region.id.as_str());
            table.extend(grid.measured().filter_map(|(input, core_idx, times)| {
                let (input, &cores) = grid.inputs().get(input).zip(grid.cores().get(core_idx))?;
                let of = dispersion(times)?;
                Some(DispersionRow {
                    region: Arc::clone(&id),
                    input: inputs.get(input),
                    cores,
                    repetitions: count(of.count),
                    mean: of.mean,
                    median: of.median,
                    min: of.min,
                    max: of.max,
                    std_dev: of.std_dev,
                    variation: of.variation.map(|variation| 100.0 * variation),
                    mean_low: of.mean_interval.map(|(low, _)| low),
                    mean_high: of.mean_interval.map(|(_, high)| high),
                    outliers: count(outliers(times).len()),
                })
            }));
        }
        table
    }
}
