//! The tables of iterations.

use parallax_analysis::iterations::{
    Cell, ContextStatistics, Cube, IterationState, IterationStatistics, LocationStatistics, MapOf,
    TreeTimes, map_of, trees,
};
use parallax_base::Control;
use parallax_protocol::{
    IterationContextCell, IterationContextCellTable, IterationContextRow, IterationContextTable,
    IterationLocationRow, IterationLocationTable, IterationMapTable, IterationRow, IterationTable,
    IterationTreeRow, IterationTreeTable, IterationsRequest,
};

use super::{FoundIterations, does};
use crate::ServiceError;
use crate::timeline::path_names;

impl FoundIterations<'_> {
    fn location(&self, at: usize) -> String {
        self.locations.get(at).cloned().unwrap_or_default()
    }

    pub(super) fn contexts(&self) -> IterationContextTable {
        let tree = self.opened.session.tree();
        let percent = |value: Option<f64>| value.map(|value| value * 100.0);
        let interval = self.interval_seconds();
        let statistics = self.statistics;
        let row = |row: &ContextStatistics| IterationContextRow {
            context: self.names.phases.label(tree, row.context),
            does: does(row.activity),
            share_percent: row.share * 100.0,
            mean_s: row.mean_seconds,
            max_s: row.max_seconds,
            balance_ratio: row.balance_ratio,
            across_percent: percent(row.across_locations),
            within_percent: percent(row.within_location),
            saving_s: row.saving_seconds,
            total_saving_s: row.potential_saving(interval, statistics),
            lasting_saving_s: row.lasting_saving_seconds.min(statistics.waited_seconds),
            resolved: if row.is_resolved { "yes" } else { "no" },
            slowest: self.location(row.slowest),
            call_path: path_names(
                tree,
                row.context,
                |_| true,
                |at| self.names.phases.label(tree, at),
            )
            .join(" > "),
            context_id: tree.source_id(row.context),
        };
        self.statistics.contexts.iter().map(row).collect()
    }

    pub(super) fn by_location(&self) -> IterationLocationTable {
        let row = |row: &LocationStatistics| IterationLocationRow {
            location: self.location(row.location),
            length_s: row.length_seconds,
            computing_s: row.computing_seconds,
            communicating_s: row.communicating_seconds,
            waiting_s: row.waiting_seconds,
            variation_percent: row.variation.map(|variation| variation * 100.0),
            slowest_in: row.num_slowest as u64,
        };
        self.statistics.locations.iter().map(row).collect()
    }

    pub(super) fn by_iteration(&self) -> IterationTable {
        let row = |row: &IterationStatistics| {
            let (mean, max) = (row.computing_seconds, row.longest_seconds);
            let balance_ratio = (max > 0.0).then(|| (mean / max).min(1.0));
            IterationRow {
                iteration: row.iteration as u64,
                state: row.state.name(),
                start_s: row.start_nanos.saturating_sub(self.start_nanos) as f64 / 1e9,
                length_s: row.length_seconds,
                mean_s: mean,
                max_s: max,
                balance_ratio,
                imbalance_percent: balance_ratio.map(|ratio| (1.0 - ratio) * 100.0),
                saving_s: row.saving_seconds,
                waiting_s: row.waiting_seconds,
                slowest: self.location(row.slowest),
            }
        };
        self.statistics.iterations.iter().map(row).collect()
    }

    /// The time of one context, or of all that computes, on each location in each iteration.
    pub(super) fn heat(
        &self,
        request: &IterationsRequest,
        control: &Control,
    ) -> Result<IterationMapTable, ServiceError> {
        let session = &self.opened.session;
        let wanted = match request.context {
            None => MapOf::Computing,
            Some(id) => MapOf::Context(session.tree().by_source_id(id)),
        };
        let units = self.opened.units(request, control)?;
        let nanos = map_of(session, self.iterations, &units, wanted, control)?;
        let num = self.iterations.len().max(1);
        let num_locations = self.iterations.streams.len().max(1);
        let sum = |iteration: usize| -> u128 {
            nanos.iter().skip(iteration).step_by(num).map(|&nanos| u128::from(nanos)).sum()
        };
        let means: Vec<f64> =
            (0..num).map(|iteration| sum(iteration) as f64 / num_locations as f64).collect();
        let difference = |at: usize| {
            let (time, mean) = (nanos.get(at).copied().unwrap_or(0), means.get(at % num));
            (time as f64 - mean.copied().unwrap_or(0.0)) / 1e9
        };
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Ok(IterationMapTable {
            location: (0..nanos.len()).map(|at| number(at / num)).collect(),
            iteration: (0..nanos.len()).map(|at| number(at % num)).collect(),
            time_s: nanos.iter().map(|&n| n as f64 / 1e9).collect(),
            difference_s: (0..nanos.len()).map(difference).collect(),
        })
    }

    pub(super) fn cells(
        &self,
        request: &IterationsRequest,
        control: &Control,
    ) -> Result<IterationContextCellTable, ServiceError> {
        let session = &self.opened.session;
        let tree = session.tree();
        let units = self.opened.units(request, control)?;
        let cube = Cube::read(session, self.iterations, &units, control)?;
        let is_asked = |iteration: u32| {
            self.iterations.states.get(iteration as usize) != Some(&IterationState::LeftOut)
        };
        let cells = cube.cells.iter().filter(|cell| is_asked(cell.iteration));
        let row = |cell: &Cell| IterationContextCell {
            iteration: cell.iteration,
            location: self.location(cell.location as usize),
            context: self.names.phases.label(tree, cell.context),
            context_id: tree.source_id(cell.context),
            time_s: cell.nanos as f64 / 1e9,
        };
        Ok(cells.map(row).collect())
    }

    pub(super) fn trees(
        &self,
        request: &IterationsRequest,
        control: &Control,
    ) -> Result<IterationTreeTable, ServiceError> {
        let session = &self.opened.session;
        let tree = session.tree();
        let units = self.opened.units(request, control)?;
        let cube = Cube::read(session, self.iterations, &units, control)?;
        let row = |row: TreeTimes| IterationTreeRow {
            iteration: row.iteration,
            context: self.names.phases.label(tree, row.context),
            depth: row.depth,
            locations: row.num_locations,
            inclusive_s: row.inclusive.mean,
            inclusive_min_s: row.inclusive.min,
            inclusive_max_s: row.inclusive.max,
            inclusive_deviation_s: row.inclusive.deviation,
            exclusive_s: row.exclusive.mean,
            exclusive_min_s: row.exclusive.min,
            exclusive_max_s: row.exclusive.max,
            exclusive_deviation_s: row.exclusive.deviation,
            context_id: tree.source_id(row.context),
            parent_id: row.parent.map(|parent| tree.source_id(parent)),
        };
        let rows = trees(tree, &units, self.iterations, &cube)?;
        Ok(rows.into_iter().map(row).collect())
    }
}
