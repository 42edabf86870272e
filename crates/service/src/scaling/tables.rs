//! The maps, regions and losses of an answer as tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_analysis::scaling::{Map, Maps, Row as MapRow};
use parallax_protocol::{
    ScalingCellTable, ScalingLossRow, ScalingLossTable, ScalingMapRow, ScalingMapTable,
    ScalingRegionRow, ScalingRegionTable,
};

use super::ScalingError;
use super::answer::{ScalingAnswer, display_name};
use super::causes::Cause;

/// Texts that many rows have, each stored once.
pub(super) struct Labels<'a>(BTreeMap<&'a str, Arc<str>>);

impl<'a> Labels<'a> {
    pub(super) fn of(texts: impl IntoIterator<Item = &'a String>) -> Self {
        Self(texts.into_iter().map(|text| (text.as_str(), Arc::from(text.as_str()))).collect())
    }

    pub(super) fn get(&self, text: &str) -> Arc<str> {
        self.0.get(text).map_or_else(|| Arc::from(text), Arc::clone)
    }
}

/// A number of repetitions or points, as tables have it.
pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl ScalingAnswer {
    /// One row for each region shown and each configuration: the exact columns that other
    /// programs rely on. `input` is the argument string, region `0` the whole program.
    /// Configurations that were not measured are omitted where they would be too many.
    #[must_use]
    pub fn maps_table(&self) -> ScalingMapTable {
        let has_gaps = self.has_room_for_gaps();
        let inputs = Labels::of(&self.inputs);
        let mut table = ScalingMapTable::default();
        for at in self.shown() {
            let (Some(region), Some(maps)) = (self.regions.get(at), self.maps(at)) else {
                continue;
            };
            let id: Arc<str> = Arc::from(region.region.id.as_str());
            let row = |row: MapRow<'_>| ScalingMapRow {
                region: Arc::clone(&id),
                input: inputs.get(row.input),
                cores: row.cores,
                repetitions: count(row.repetitions),
                estimated: count(self.grounds.num_estimated(row.input_idx, row.cores)),
                time: row.time,
                time_min: row.time_min,
                time_max: row.time_max,
                speedup: row.speedup,
                efficiency: row.efficiency,
                scalability_abs: row.scalability_abs,
                strong_abs: row.strong_abs,
                weak_abs: row.weak_abs,
                scalability_rel: row.scalability_rel,
                strong_rel: row.strong_rel,
                weak_rel: row.weak_rel,
                imbalance: region.imbalances.get(row.input_idx, row.core_idx),
            };
            if has_gaps {
                table.extend(self.in_order(maps.rows()).map(row));
            } else {
                table.extend(self.in_order(maps.measured_rows()).map(row));
            }
        }
        table
    }

    /// Rows of one region, whose core counts become those of `rows` in each input.
    fn in_order<'a>(
        &self,
        rows: impl Iterator<Item = MapRow<'a>>,
    ) -> impl Iterator<Item = MapRow<'a>> {
        let mut rows: Vec<MapRow<'_>> = rows.collect();
        let mut rank = vec![0; self.cores.len()];
        for (at, &core_idx) in self.rows.iter().enumerate() {
            if let Some(rank) = rank.get_mut(core_idx) {
                *rank = at;
            }
        }
        rows.sort_by_key(|row| (row.input_idx, rank.get(row.core_idx).copied()));
        rows.into_iter()
    }

    /// One row for each region, input and core count of the whole answer, in this nesting: the row
    /// of a configuration is `(region * inputs + input) * cores + core`. For views that look cells
    /// up; [`ScalingAnswer::maps_table`] names them for other programs.
    ///
    /// # Errors
    /// When there are too many cells.
    pub fn cells_table(&self) -> Result<ScalingCellTable, ScalingError> {
        let all: Vec<&Maps> = (0..self.regions.len()).filter_map(|at| self.maps(at)).collect();
        let (regions, inputs, cores) = (all.len(), self.inputs.len(), self.cores.len());
        let (cells, limit) =
            (inputs.saturating_mul(cores).saturating_mul(regions), self.limits.max_cells);
        if cells as u64 > limit {
            return Err(ScalingError::TooManyCells { regions, inputs, cores, limit });
        }
        let map = |get: fn(&Maps) -> &Map| {
            let mut column: Vec<Option<f64>> = vec![None; cells];
            for (region, maps) in all.iter().enumerate() {
                for (input, core_idx, value) in get(maps).iter() {
                    let at = (region * inputs + input) * cores + core_idx;
                    if let Some(cell) = column.get_mut(at) {
                        *cell = Some(value);
                    }
                }
            }
            column
        };
        let mut imbalance: Vec<Option<f64>> = vec![None; cells];
        for (at, region) in self.regions.iter().enumerate() {
            for (input, core_idx, value) in region.imbalances.iter() {
                let at = (at * inputs + input) * cores + core_idx;
                if let Some(cell) = imbalance.get_mut(at) {
                    *cell = Some(value);
                }
            }
        }
        let mut losses: [Vec<Option<f64>>; 2] = std::array::from_fn(|_| vec![None; cells]);
        for loss in &self.losses {
            let at = (loss.region * inputs + loss.input) * cores + loss.core_idx;
            for (column, value) in losses.iter_mut().zip([loss.inclusive, loss.own]) {
                if let Some(cell) = column.get_mut(at) {
                    *cell = Some(value);
                }
            }
        }
        let [loss, own_loss] = losses;
        let configurations =
            || (0..inputs).flat_map(|input| self.cores.iter().map(move |&cores| (input, cores)));
        let estimated = all.iter().flat_map(|_| {
            configurations().map(|(input, cores)| self.grounds.num_estimated(input, cores))
        });
        let repetitions = all.iter().flat_map(|maps| maps.rows().map(|row| row.repetitions));
        Ok(ScalingCellTable {
            repetitions: repetitions.map(count).collect(),
            estimated: estimated.map(count).collect(),
            time: map(|maps| &maps.time),
            time_min: map(|maps| &maps.time_min),
            time_max: map(|maps| &maps.time_max),
            speedup: map(|maps| &maps.speedup),
            efficiency: map(|maps| &maps.efficiency),
            scalability_abs: map(|maps| &maps.scalability_abs),
            strong_abs: map(|maps| &maps.strong_abs),
            weak_abs: map(|maps| &maps.weak_abs),
            scalability_rel: map(|maps| &maps.scalability_rel),
            strong_rel: map(|maps| &maps.strong_rel),
            weak_rel: map(|maps| &maps.weak_rel),
            imbalance,
            loss,
            own_loss,
        })
    }

    /// One row for each region: its place, share, imbalance and verdict.
    #[must_use]
    pub fn regions_table(&self) -> ScalingRegionTable {
        let rows = self.shown().filter_map(|at| self.regions.get(at));
        rows.map(|row| {
            let place = &row.region;
            let above = row.parent.and_then(|parent| self.regions.get(parent));
            ScalingRegionRow {
                region: place.id.clone(),
                parent: above.map(|above| above.region.id.clone()),
                kind: place.kind.name(),
                name: place.name.clone(),
                path: place.path.clone(),
                file: place.file.clone(),
                first_line: place.lines.map(|(first, _)| first),
                last_line: place.lines.map(|(_, last)| last),
                share_min: row.share_of_parent.map(|(low, _)| low),
                share_max: row.share_of_parent.map(|(_, high)| high),
                imbalance_mean: row.imbalance.map(|spread| spread.mean),
                imbalance_max: row.imbalance.map(|spread| spread.max),
                verdict: row.verdict.text(),
            }
        })
        .collect()
    }

    /// The losses where the whole program loses most.
    #[must_use]
    pub fn losses_table(&self) -> ScalingLossTable {
        let ranked = self.ranked();
        let rows = ranked.iter().filter_map(|loss| Some((loss, self.regions.get(loss.region)?)));
        rows.map(|(loss, row)| ScalingLossRow {
            region: row.region.id.clone(),
            name: match display_name(&row.region) {
                name if name.is_empty() => row.region.path.clone(),
                name => name,
            },
            input: self.inputs.get(loss.input).cloned().unwrap_or_default(),
            cores: self.cores.get(loss.core_idx).copied().unwrap_or(0),
            loss: loss.inclusive,
            own_loss: loss.own,
            share: loss.share.map(|share| 100.0 * share),
            cause: row.cause.as_ref().map(Cause::words),
        })
        .collect()
    }
}
