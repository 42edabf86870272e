//! The tables of iterations.

use parallax_analysis::iterations::{
    ContextStatistics, Cube, IterationState, IterationStatistics, LocationStatistics, MapOf, map_of,
};
use parallax_base::Control;
use parallax_engine::{Column, Table};

use super::{Found, IterationsRequest, does};
use crate::ServiceError;
use crate::timeline::path;

impl Found<'_> {
    fn location(&self, at: usize) -> &str {
        self.locations.get(at).map_or("", String::as_str)
    }

    pub(super) fn contexts(&self) -> Table {
        let tree = self.opened.session.tree();
        let rows = &self.statistics.contexts;
        let of =
            |value: fn(&ContextStatistics) -> f64| -> Vec<f64> { rows.iter().map(value).collect() };
        let percent = |value: Option<f64>| value.map(|value| value * 100.0);
        Table::new(vec![
            Column::strings("context", "The function.", rows.iter().map(|r| tree.label(r.context))),
            Column::strings(
                "does",
                "`computing`, `communicating` (in MPI) or `waiting` for others.",
                rows.iter().map(|r| does(r.activity)),
            ),
            Column::f64s(
                "share_percent",
                "%",
                "Of the time in which locations are active in iterations.",
                of(|r| r.share * 100.0),
            ),
            Column::f64s(
                "mean_s",
                "s",
                "Mean over iterations of the mean over locations.",
                of(|r| r.mean_seconds),
            ),
            Column::f64s(
                "max_s",
                "s",
                "Mean over iterations of the largest of the locations.",
                of(|r| r.max_seconds),
            ),
            Column::f64s(
                "balance_ratio",
                "",
                "Mean over locations / the largest of them, over all iterations.",
                of(|r| r.balance_ratio),
            ),
            Column::optional_f64s(
                "across_percent",
                "%",
                "Coefficient of variation across locations.",
                rows.iter().map(|r| percent(r.across_locations)).collect(),
            ),
            Column::optional_f64s(
                "within_percent",
                "%",
                "Coefficient of variation within one location over iterations, on average.",
                rows.iter().map(|r| percent(r.within_location)).collect(),
            ),
            Column::f64s(
                "saving_s",
                "s",
                "max - mean: what an iteration would be shorter if it were balanced.",
                of(|r| r.saving_seconds),
            ),
            Column::f64s(
                "total_saving_s",
                "s",
                "The same over all iterations.",
                of(|r| r.total_saving_seconds),
            ),
            Column::f64s(
                "lasting_saving_s",
                "s",
                "What is left of it when differences that change between iterations even out.",
                of(|r| r.lasting_saving_seconds),
            ),
            Column::strings(
                "resolved",
                "`no` when samples are too far apart to judge single iterations.",
                rows.iter().map(|r| if r.is_resolved { "yes" } else { "no" }),
            ),
            Column::strings(
                "slowest",
                "The location with the largest mean.",
                rows.iter().map(|r| self.location(r.slowest)),
            ),
            Column::strings(
                "call_path",
                "From the outermost caller.",
                rows.iter().map(|r| path(tree, r.context)),
            ),
            Column::u32s(
                "context_id",
                "Id in the database.",
                rows.iter().map(|r| tree.source_id(r.context)).collect(),
            ),
        ])
    }

    pub(super) fn by_location(&self) -> Table {
        let rows = &self.statistics.locations;
        let of = |value: fn(&LocationStatistics) -> f64| -> Vec<f64> {
            rows.iter().map(value).collect()
        };
        Table::new(vec![
            Column::strings("location", "Who.", rows.iter().map(|r| self.location(r.location))),
            Column::f64s("length_s", "s", "Mean length of an iteration.", of(|r| r.length_seconds)),
            Column::f64s(
                "computing_s",
                "s",
                "Mean time of computing in an iteration.",
                of(|r| r.computing_seconds),
            ),
            Column::f64s(
                "communicating_s",
                "s",
                "Mean time in MPI, not waiting.",
                of(|r| r.communicating_seconds),
            ),
            Column::f64s("waiting_s", "s", "Mean time of waiting.", of(|r| r.waiting_seconds)),
            Column::optional_f64s(
                "variation_percent",
                "%",
                "Coefficient of variation of computing over iterations.",
                rows.iter().map(|r| r.variation.map(|v| v * 100.0)).collect(),
            ),
            Column::u64s(
                "slowest_in",
                "",
                "In how many iterations nobody computes longer.",
                rows.iter().map(|r| r.num_slowest as u64).collect(),
            ),
        ])
    }

    pub(super) fn by_iteration(&self) -> Table {
        let rows = &self.statistics.iterations;
        type Row = IterationStatistics;
        let of = |value: &dyn Fn(&Row) -> f64| -> Vec<f64> { rows.iter().map(value).collect() };
        let after = |nanos: u64| nanos.saturating_sub(self.start_nanos) as f64 / 1e9;
        let mean = |r: &Row| r.computing_seconds;
        let max = |r: &Row| r.longest_seconds;
        let ratio = |r: &Row| {
            (r.longest_seconds > 0.0).then(|| (r.computing_seconds / r.longest_seconds).min(1.0))
        };
        Table::new(vec![
            Column::u64s(
                "iteration",
                "",
                "Counted from 0.",
                rows.iter().map(|r| r.iteration as u64).collect(),
            ),
            Column::strings(
                "state",
                "Only `whole` iterations count in statistics.",
                rows.iter().map(|r| r.state.name()),
            ),
            Column::f64s(
                "start_s",
                "s",
                "When the first location begins it, after the start of the trace.",
                of(&|r| after(r.start_nanos)),
            ),
            Column::f64s("length_s", "s", "Mean over locations.", of(&|r| r.length_seconds)),
            Column::f64s("mean_s", "s", "Computing: mean over locations.", of(&mean)),
            Column::f64s("max_s", "s", "Computing: the largest of the locations.", of(&max)),
            Column::optional_f64s(
                "balance_ratio",
                "",
                "mean / max of computing.",
                rows.iter().map(ratio).collect(),
            ),
            Column::optional_f64s(
                "imbalance_percent",
                "%",
                "(max - mean) / max of computing.",
                rows.iter().map(|r| ratio(r).map(|ratio| (1.0 - ratio) * 100.0)).collect(),
            ),
            Column::f64s(
                "saving_s",
                "s",
                "If each context that computes were balanced on its own.",
                of(&|r| r.saving_seconds),
            ),
            Column::f64s("waiting_s", "s", "Mean time of waiting.", of(&|r| r.waiting_seconds)),
            Column::strings(
                "slowest",
                "The location that computes longest.",
                rows.iter().map(|r| self.location(r.slowest)),
            ),
        ])
    }

    /// The time of one context, or of all that computes, on each location in each iteration.
    pub(super) fn heat(
        &self,
        request: &IterationsRequest,
        context: Option<u32>,
        control: &Control,
    ) -> Result<Table, ServiceError> {
        let session = &self.opened.session;
        let wanted = match context {
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
        Ok(Table::new(vec![
            Column::u32s(
                "location",
                "Its place among the locations.",
                (0..nanos.len()).map(|at| number(at / num)).collect(),
            ),
            Column::u32s(
                "iteration",
                "Counted from 0.",
                (0..nanos.len()).map(|at| number(at % num)).collect(),
            ),
            Column::f64s("time_s", "s", "Time.", nanos.iter().map(|&n| n as f64 / 1e9).collect()),
            Column::f64s(
                "difference_s",
                "s",
                "Time - mean over the locations in that iteration.",
                (0..nanos.len()).map(difference).collect(),
            ),
        ]))
    }

    pub(super) fn cells(
        &self,
        request: &IterationsRequest,
        control: &Control,
    ) -> Result<Table, ServiceError> {
        let session = &self.opened.session;
        let tree = session.tree();
        let units = self.opened.units(request, control)?;
        let cube = Cube::read(session, self.iterations, &units, control)?;
        let is_asked = |iteration: u32| {
            self.iterations.states.get(iteration as usize) != Some(&IterationState::LeftOut)
        };
        let cells: Vec<_> = cube.cells.iter().filter(|c| is_asked(c.iteration)).collect();
        Ok(Table::new(vec![
            Column::u32s(
                "iteration",
                "Counted from 0.",
                cells.iter().map(|c| c.iteration).collect(),
            ),
            Column::strings(
                "location",
                "Who.",
                cells.iter().map(|c| self.location(c.location as usize)),
            ),
            Column::strings("context", "What.", cells.iter().map(|c| tree.label(c.context))),
            Column::u32s(
                "context_id",
                "Id in the database.",
                cells.iter().map(|c| tree.source_id(c.context)).collect(),
            ),
            Column::f64s(
                "time_s",
                "s",
                "Time in it without what it calls; of MPI with what lies below.",
                cells.iter().map(|c| c.nanos as f64 / 1e9).collect(),
            ),
        ]))
    }
}
