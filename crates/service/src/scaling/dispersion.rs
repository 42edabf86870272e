//! How far repetitions lie apart, as a table.

use parallax_analysis::scaling::{Dispersion, dispersion, outliers};

use super::answer::ScalingAnswer;
use crate::{Column, Table};

/// The repetitions of one region at one configuration.
struct Row<'a> {
    region: &'a str,
    input: &'a str,
    cores: u32,
    of: Dispersion,
    outliers: usize,
}

impl ScalingAnswer {
    /// One row for each region shown and each configuration that was measured: how far its
    /// repetitions lie apart, and how many do not belong to the others.
    #[must_use]
    pub fn dispersion_table(&self) -> Table {
        let mut rows: Vec<Row<'_>> = Vec::new();
        for region in self.shown().filter_map(|at| self.regions.get(at)) {
            let grid = &region.grid;
            for (input, core_idx, times) in grid.measured() {
                let place = grid.inputs().get(input).zip(grid.cores().get(core_idx));
                if let (Some((input, &cores)), Some(of)) = (place, dispersion(times)) {
                    let outliers = outliers(times).len();
                    rows.push(Row { region: &region.region.id, input, cores, of, outliers });
                }
            }
        }
        let unit = self.unit.to_string();
        type Get = fn(&Dispersion) -> Option<f64>;
        let column = |name: &str, unit: &str, doc: &'static str, get: Get| {
            Column::optional_f64s(name, unit, doc, rows.iter().map(|row| get(&row.of)).collect())
        };
        let whole = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Table::new(vec![
            Column::strings(
                "region",
                "Region; 0 is the whole program.",
                rows.iter().map(|row| row.region),
            ),
            Column::strings("input", "Program arguments.", rows.iter().map(|row| row.input)),
            Column::u32s("cores", "Cores used.", rows.iter().map(|row| row.cores).collect()),
            Column::u32s(
                "repetitions",
                "Runs measured.",
                rows.iter().map(|row| whole(row.of.count)).collect(),
            ),
            column("mean", &unit, "Arithmetic mean.", |of| Some(of.mean)),
            column("median", &unit, "Middle repetition.", |of| Some(of.median)),
            column("min", &unit, "Shortest repetition.", |of| Some(of.min)),
            column("max", &unit, "Longest repetition.", |of| Some(of.max)),
            column("std_dev", &unit, "Sample standard deviation.", |of| of.std_dev),
            column("variation", "%", "Standard deviation over the mean.", |of| {
                of.variation.map(|variation| 100.0 * variation)
            }),
            column("mean_low", &unit, "Start of the 95 % interval of the mean.", |of| {
                of.mean_interval.map(|(low, _)| low)
            }),
            column("mean_high", &unit, "End of the 95 % interval of the mean.", |of| {
                of.mean_interval.map(|(_, high)| high)
            }),
            Column::u32s(
                "outliers",
                "Repetitions far from the others (of four or more).",
                rows.iter().map(|row| whole(row.outliers)).collect(),
            ),
        ])
    }
}
