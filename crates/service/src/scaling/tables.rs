//! The maps, regions and losses of an answer as tables.

use parallax_analysis::scaling::{Loss, Map, Maps};

use super::ScalingError;
use super::answer::{ScalingAnswer, ScalingRegion, display_name};
use super::causes::Cause;
use crate::{Column, Table};

impl ScalingAnswer {
    /// One row for each region shown and each configuration: the exact columns that other
    /// programs rely on. `input` is the argument string, region `0` the whole program.
    /// Configurations that were not measured are left out where they would be too many.
    #[must_use]
    pub fn table(&self) -> Table {
        let has_gaps = self.has_room_for_gaps();
        let mut rows: Vec<(&str, parallax_analysis::scaling::Row<'_>)> = Vec::new();
        for at in self.shown() {
            let (Some(region), Some(maps)) = (self.regions.get(at), self.maps(at)) else {
                continue;
            };
            let id = region.region.id.as_str();
            if has_gaps {
                rows.extend(maps.rows().map(|row| (id, row)));
            } else {
                rows.extend(maps.measured_rows().map(|row| (id, row)));
            }
        }
        type Get = fn(&parallax_analysis::scaling::Row<'_>) -> Option<f64>;
        let column = |name: &str, unit: &str, doc: &'static str, get: Get| {
            Column::optional_f64s(name, unit, doc, rows.iter().map(|(_, row)| get(row)).collect())
        };
        let unit = self.unit.to_string();
        let counts = rows.iter().map(|(_, row)| u32::try_from(row.repetitions).unwrap_or(u32::MAX));
        Table::new(vec![
            Column::strings("region", "Region; 0 is the whole program.", rows.iter().map(|r| r.0)),
            Column::strings("input", "Program arguments.", rows.iter().map(|r| r.1.input)),
            Column::u32s("cores", "Cores used.", rows.iter().map(|r| r.1.cores).collect()),
            Column::u32s("repetitions", "Runs measured.", counts.collect()),
            column("time", &unit, "Statistic of the repetitions.", |row| row.time),
            column("time_min", &unit, "Shortest repetition.", |row| row.time_min),
            column("time_max", &unit, "Longest repetition.", |row| row.time_max),
            column("speedup", "", "Time of the baseline over the time.", |row| row.speedup),
            column("efficiency", "", "Speedup per core of the baseline.", |row| row.efficiency),
            column("scalability_abs", "", "Efficiency less that of the first input.", |row| {
                row.scalability_abs
            }),
            column("strong_abs", "", "Efficiency less that of the baseline.", |row| row.strong_abs),
            column("weak_abs", "", "Efficiency less that at the diagonal's start.", |row| {
                row.weak_abs
            }),
            column("scalability_rel", "", "Efficiency less that of the input before.", |row| {
                row.scalability_rel
            }),
            column("strong_rel", "", "Efficiency less that on fewer cores.", |row| row.strong_rel),
            column("weak_rel", "", "Efficiency less that one step up the diagonal.", |row| {
                row.weak_rel
            }),
        ])
    }

    /// One row for each region, input and core count of the whole answer, in this nesting: the row
    /// of a configuration is `(region * inputs + input) * cores + core`. For views that look cells
    /// up; [`ScalingAnswer::table`] names them for other programs.
    ///
    /// # Errors
    /// When there are too many cells.
    pub fn cells_table(&self) -> Result<Table, ScalingError> {
        let all: Vec<&Maps> = (0..self.regions.len()).filter_map(|at| self.maps(at)).collect();
        let (regions, inputs, cores) = (all.len(), self.inputs.len(), self.cores.len());
        let (cells, limit) =
            (inputs.saturating_mul(cores).saturating_mul(regions), self.limits.max_cells);
        if cells as u64 > limit {
            return Err(ScalingError::TooManyCells { regions, inputs, cores, limit });
        }
        let map = |name: &str, unit: &str, doc: &'static str, get: fn(&Maps) -> &Map| {
            let mut column: Vec<Option<f64>> = vec![None; cells];
            for (region, maps) in all.iter().enumerate() {
                for (input, core_idx, value) in get(maps).iter() {
                    let at = (region * inputs + input) * cores + core_idx;
                    if let Some(cell) = column.get_mut(at) {
                        *cell = Some(value);
                    }
                }
            }
            Column::optional_f64s(name, unit, doc, column)
        };
        let repetitions = all.iter().flat_map(|maps| maps.rows().map(|row| row.repetitions));
        let mut losses: [Vec<Option<f64>>; 2] = std::array::from_fn(|_| vec![None; cells]);
        for loss in &self.losses {
            let at = (loss.region * inputs + loss.input) * cores + loss.core_idx;
            for (column, value) in losses.iter_mut().zip([loss.inclusive, loss.own]) {
                if let Some(cell) = column.get_mut(at) {
                    *cell = Some(value);
                }
            }
        }
        let [inclusive, own] = losses;
        let unit = self.unit.to_string();
        let lost = format!("core-{unit}");
        Ok(Table::new(vec![
            Column::u32s(
                "repetitions",
                "Runs measured.",
                repetitions.map(|runs| u32::try_from(runs).unwrap_or(u32::MAX)).collect(),
            ),
            map("time", &unit, "Statistic of the repetitions.", |maps| &maps.time),
            map("time_min", &unit, "Shortest repetition.", |maps| &maps.time_min),
            map("time_max", &unit, "Longest repetition.", |maps| &maps.time_max),
            map("speedup", "", "Time of the baseline over the time.", |maps| &maps.speedup),
            map("efficiency", "", "Speedup per core of the baseline.", |maps| &maps.efficiency),
            map("scalability_abs", "", "Efficiency less that of the first input.", |maps| {
                &maps.scalability_abs
            }),
            map("strong_abs", "", "Efficiency less that of the baseline.", |maps| &maps.strong_abs),
            map("weak_abs", "", "Efficiency less that at the diagonal's start.", |maps| {
                &maps.weak_abs
            }),
            map("scalability_rel", "", "Efficiency less that of the input before.", |maps| {
                &maps.scalability_rel
            }),
            map("strong_rel", "", "Efficiency less that on fewer cores.", |maps| &maps.strong_rel),
            map("weak_rel", "", "Efficiency less that one step up the diagonal.", |maps| {
                &maps.weak_rel
            }),
            Column::optional_f64s("loss", &lost, "Cost beyond the baseline.", inclusive),
            Column::optional_f64s("own_loss", &lost, "Without what regions inside lose.", own),
        ]))
    }

    /// One row for each region: its place, share, imbalance and verdict.
    #[must_use]
    pub fn regions_table(&self) -> Table {
        let rows: Vec<&ScalingRegion> =
            self.shown().filter_map(|at| self.regions.get(at)).collect();
        let parent = |row: &&ScalingRegion| Some(self.regions.get(row.parent?)?.region.id.clone());
        let line = |row: &&ScalingRegion, first: bool| {
            row.region.lines.map(|(a, b)| f64::from(if first { a } else { b }))
        };
        let share = |pick: fn((f64, f64)) -> f64| {
            rows.iter().map(|row| row.share_of_parent.map(pick)).collect()
        };
        Table::new(vec![
            Column::strings("region", "Id.", rows.iter().map(|row| &row.region.id)),
            Column::optional_strings("parent", "Region around it.", rows.iter().map(parent)),
            Column::strings("kind", "What it is.", rows.iter().map(|row| row.region.kind.name())),
            Column::strings("name", "Name.", rows.iter().map(|row| &row.region.name)),
            Column::strings("path", "Call path.", rows.iter().map(|row| &row.region.path)),
            Column::optional_strings(
                "file",
                "Source file.",
                rows.iter().map(|row| row.region.file.as_ref()),
            ),
            Column::optional_f64s(
                "first_line",
                "",
                "First line.",
                rows.iter().map(|row| line(row, true)).collect(),
            ),
            Column::optional_f64s(
                "last_line",
                "",
                "Last line.",
                rows.iter().map(|row| line(row, false)).collect(),
            ),
            Column::optional_f64s(
                "share_min",
                "%",
                "Smallest share of its parent's time.",
                share(|(low, _)| low),
            ),
            Column::optional_f64s(
                "share_max",
                "%",
                "Largest share of its parent's time.",
                share(|(_, high)| high),
            ),
            Column::optional_f64s(
                "imbalance_mean",
                "",
                "Mean load imbalance over the configurations.",
                rows.iter().map(|row| row.imbalance.map(|spread| spread.mean)).collect(),
            ),
            Column::optional_f64s(
                "imbalance_max",
                "",
                "Largest load imbalance.",
                rows.iter().map(|row| row.imbalance.map(|spread| spread.max)).collect(),
            ),
            Column::strings(
                "verdict",
                "Verdict, in sentences.",
                rows.iter().map(|row| row.verdict.text()),
            ),
        ])
    }

    /// The losses where the whole program loses most, or at every configuration.
    #[must_use]
    pub fn losses_table(&self, everywhere: bool) -> Table {
        let ranked = if everywhere { self.losses.clone() } else { self.ranked() };
        let rows: Vec<(&Loss, &ScalingRegion)> =
            ranked.iter().filter_map(|loss| Some((loss, self.regions.get(loss.region)?))).collect();
        let unit = format!("core-{}", self.unit);
        let words = |row: &ScalingRegion| row.cause.as_ref().map(Cause::words);
        Table::new(vec![
            Column::strings("region", "Id.", rows.iter().map(|(_, row)| &row.region.id)),
            Column::strings(
                "name",
                "What it is called.",
                rows.iter().map(|(_, row)| match display_name(&row.region) {
                    name if name.is_empty() => row.region.path.clone(),
                    name => name,
                }),
            ),
            Column::strings(
                "input",
                "Program arguments.",
                rows.iter().map(|(loss, _)| self.inputs.get(loss.input).map_or("", String::as_str)),
            ),
            Column::u32s(
                "cores",
                "Cores used.",
                rows.iter()
                    .map(|(loss, _)| self.cores.get(loss.core_idx).copied().unwrap_or(0))
                    .collect(),
            ),
            Column::f64s(
                "loss",
                &unit,
                "Core-seconds beyond the baseline, with everything inside.",
                rows.iter().map(|(loss, _)| loss.inclusive).collect(),
            ),
            Column::f64s(
                "own_loss",
                &unit,
                "The same without what the regions inside lose.",
                rows.iter().map(|(loss, _)| loss.own).collect(),
            ),
            Column::optional_f64s(
                "share",
                "%",
                "Own loss as a share of the program's loss.",
                rows.iter().map(|(loss, _)| loss.share.map(|share| 100.0 * share)).collect(),
            ),
            Column::optional_strings(
                "cause",
                "Why, where that can be seen.",
                rows.iter().map(|(_, row)| words(row)),
            ),
        ])
    }
}
