//! The efficiencies of the POP methodology as a table: those that a file reports, or those from
//! time in MPI.

use std::collections::BTreeSet;
use std::sync::Arc;

use parallax_analysis::scaling::{Grid, PopEfficiencies, PopScaling, PopTimes, pop_efficiencies};
use parallax_base::Unit;
use parallax_model::ensemble::{Ensemble, metric_names};
use parallax_protocol::{PopRow, PopTable};

use super::answer::{ScalingOptions, display_name};
use super::cells::{Cells, ShownRegion};
use super::tables::Labels;
use super::{Remedy, ScalingError};
use crate::Answer;

/// Longest time outside MPI of a single location in seconds; a metric of ensembles of databases.
pub(super) const USEFUL_MAX: &str = "time:useful-max";
/// Mean time outside MPI over the locations in seconds.
pub(super) const USEFUL_MEAN: &str = "time:useful-mean";

/// An efficiency of the table: how sources call it, compared without regard to case, and how it is
/// computed. TALP's names come first.
struct Quantity {
    names: &'static [&'static str],
    computed: fn(&PopEfficiencies) -> Option<f64>,
}

/// In the order of the columns of [`PopRow`].
const QUANTITIES: [Quantity; 14] = [
    Quantity {
        names: &["parallelEfficiency", "parallel efficiency"],
        computed: |pop| Some(pop.parallel),
    },
    Quantity {
        names: &["mpiLoadBalance", "mpi load balance", "load balance"],
        computed: |pop| Some(pop.load_balance),
    },
    Quantity {
        names: &[
            "mpiCommunicationEfficiency",
            "mpi communication efficiency",
            "communication efficiency",
        ],
        computed: |pop| Some(pop.communication),
    },
    Quantity {
        names: &["serialization efficiency", "mpi serialisation efficiency"],
        computed: |pop| pop.serialisation,
    },
    Quantity {
        names: &["transfer efficiency", "mpi transfer efficiency"],
        computed: |pop| pop.transfer,
    },
    Quantity {
        names: &["ompParallelEfficiency", "openmp parallel efficiency"],
        computed: |_| None,
    },
    Quantity { names: &["ompLoadBalance", "openmp load balance"], computed: |_| None },
    Quantity {
        names: &["ompSchedulingEfficiency", "openmp scheduling efficiency"],
        computed: |_| None,
    },
    Quantity {
        names: &["computation scalability", "computation scaling"],
        computed: |pop| pop.computation,
    },
    Quantity {
        names: &["instruction scalability", "instruction scaling"],
        computed: |pop| pop.instructions,
    },
    Quantity { names: &["ipc scalability", "ipc scaling"], computed: |pop| pop.ipc },
    Quantity {
        names: &["frequency scalability", "frequency scaling"],
        computed: |pop| pop.frequency,
    },
    Quantity { names: &["global efficiency"], computed: |pop| pop.global },
    Quantity { names: &["speedup"], computed: |pop| pop.speedup },
];

const PARALLEL: usize = 0;
const LOAD_BALANCE: usize = 1;
const COMMUNICATION: usize = 2;
const COMPUTATION: usize = 8;
const GLOBAL: usize = 12;

/// The POP efficiencies of each region at each configuration: as a TALP or POP file reports them,
/// or from the time that each location of a database spends in MPI, everything else counting as
/// useful.
///
/// The reference of computation, global efficiency and speedup is the smallest core count on which
/// the same input was measured: the problem stays the same (strong scaling).
///
/// # Errors
/// When a parameter or region is unknown, or the source neither reports efficiencies nor tells
/// time in MPI.
pub fn pop_table(
    ensemble: &Ensemble,
    options: &ScalingOptions,
) -> Result<Answer<PopTable>, ScalingError> {
    let mut notes = Vec::new();
    let cells = Cells::of(ensemble, options, &mut notes)?;
    let sources = Sources::of(&cells);
    let inputs = Labels::of(cells.axes.inputs.iter());
    let mut rows: Vec<PopRow> = Vec::new();
    for region in &cells.regions {
        sources.add_region(&cells, region, &inputs, &mut rows)?;
    }
    if rows.is_empty() {
        return Err(ScalingError::Missing {
            what: "there is neither time in MPI nor an efficiency of POP here".to_owned(),
            hint: format!(
                "databases of MPI programs, TALP JSON and POP CSV have them; for times alone there \
                 are {}",
                Remedy::Laws
            ),
        });
    }
    if rows.iter().any(|row| row.computation.is_some()) {
        notes.push(
            "Computation scaling, global efficiency and speedup are relative to the smallest core \
             count of the same input, unless the file reports them."
                .to_owned(),
        );
    }
    Ok(Answer { value: rows.into_iter().collect(), notes })
}

/// The metrics that efficiencies come from.
struct Sources {
    reported: [Option<u16>; QUANTITIES.len()],
    runtime: Option<u16>,
    useful_max: Option<u16>,
    useful_mean: Option<u16>,
    locations: Option<u16>,
    /// Useful time of all processors together, as TALP reports it.
    useful_total: Option<u16>,
    instructions: Option<u16>,
    cycles: Option<u16>,
}

impl Sources {
    fn of(cells: &Cells<'_>) -> Self {
        let named = |wanted: &str| cells.metric(|name, _| name.eq_ignore_ascii_case(wanted));
        let reported = QUANTITIES.each_ref().map(|quantity| {
            // A column of a table that happens to be called `speedup` is no efficiency of POP.
            quantity.names.iter().find_map(|wanted| {
                cells.metric(|name, unit| {
                    name.eq_ignore_ascii_case(wanted)
                        && (*unit == Unit::Ratio || wanted.contains(' '))
                })
            })
        });
        let useful_max = named(USEFUL_MAX);
        let runtime =
            if useful_max.is_some() { metric_names::LOCATION_MAX } else { metric_names::TIME };
        Self {
            reported,
            runtime: named(runtime),
            useful_max,
            useful_mean: named(USEFUL_MEAN),
            locations: named(metric_names::LOCATIONS),
            useful_total: named("usefulTime"),
            instructions: named("instructions"),
            cycles: named("cycles"),
        }
    }

    /// Adds the rows of one region.
    fn add_region(
        &self,
        cells: &Cells<'_>,
        region: &ShownRegion<'_>,
        inputs: &Labels<'_>,
        rows: &mut Vec<PopRow>,
    ) -> Result<(), ScalingError> {
        let (id, name) = (Arc::from(region.id), Arc::from(display_name(region.region)));
        let grid =
            |metric: Option<u16>| metric.map(|metric| cells.grid(metric, region.at)).transpose();
        let mut reported: Vec<Option<Grid>> = Vec::new();
        for &metric in &self.reported {
            reported.push(grid(metric)?);
        }
        let grids = Grids {
            runtime: grid(self.runtime)?,
            useful_max: grid(self.useful_max)?,
            useful_mean: grid(self.useful_mean)?,
            locations: grid(self.locations)?,
            useful_total: grid(self.useful_total)?,
            instructions: grid(self.instructions)?,
            cycles: grid(self.cycles)?,
        };
        let known = reported.iter().flatten().chain(grids.all());
        let measured: BTreeSet<(usize, usize)> =
            known.flat_map(Grid::measured).map(|(input, core_idx, _)| (input, core_idx)).collect();
        let measured: Vec<(usize, usize)> = measured.into_iter().collect();
        for configurations in measured.chunk_by(|a, b| a.0 == b.0) {
            let mut reference: Option<PopTimes> = None;
            for &(input, core_idx) in configurations {
                let place = cells.axes.inputs.get(input).zip(cells.axes.cores.get(core_idx));
                let Some((label, &cores)) = place else { continue };
                let times = grids.times(cells, input, core_idx, cores);
                let reference =
                    times.as_ref().map(|times| &*reference.get_or_insert_with(|| times.clone()));
                let computed = times
                    .as_ref()
                    .and_then(|times| pop_efficiencies(times, reference, PopScaling::Strong).ok());
                let is_database = self.useful_max.is_some();
                let mut values = [None; QUANTITIES.len()];
                let mut is_reported = false;
                let known = QUANTITIES.iter().zip(&reported).enumerate();
                for (slot, (at, (quantity, grid))) in values.iter_mut().zip(known) {
                    let told = grid.as_ref().and_then(|grid| cells.value(grid, input, core_idx));
                    is_reported |= told.is_some();
                    *slot = told.or_else(|| {
                        // Totals over all processes say nothing about their balance.
                        let is_known = is_database || !BALANCE.contains(&at);
                        computed.as_ref().filter(|_| is_known).and_then(quantity.computed)
                    });
                }
                let part = |at: usize| values.get(at).copied().flatten();
                if let (false, Some(parallel), Some(computation)) =
                    (is_database, part(PARALLEL), part(COMPUTATION))
                    && let Some(slot) = values.get_mut(GLOBAL)
                    && reported.get(GLOBAL).is_none_or(Option::is_none)
                {
                    *slot = Some(parallel * computation);
                }
                if !(is_reported || is_database && computed.is_some()) {
                    continue;
                }
                let [
                    parallel,
                    load_balance,
                    communication,
                    serialisation,
                    transfer,
                    openmp_parallel,
                    openmp_load_balance,
                    openmp_scheduling,
                    computation,
                    instructions,
                    ipc,
                    frequency,
                    global,
                    speedup,
                ] = values;
                rows.push(PopRow {
                    region: Arc::clone(&id),
                    name: Arc::clone(&name),
                    input: inputs.get(label),
                    cores,
                    parallel,
                    load_balance,
                    communication,
                    serialisation,
                    transfer,
                    openmp_parallel,
                    openmp_load_balance,
                    openmp_scheduling,
                    computation,
                    instructions,
                    ipc,
                    frequency,
                    global,
                    speedup,
                    origin: if is_reported { "reported" } else { "time in MPI" },
                });
            }
        }
        Ok(())
    }
}

/// Efficiencies that need the useful time of every process.
const BALANCE: [usize; 4] = [PARALLEL, LOAD_BALANCE, COMMUNICATION, GLOBAL];

/// The repetitions of the metrics that times come from, in one region.
struct Grids {
    runtime: Option<Grid>,
    useful_max: Option<Grid>,
    useful_mean: Option<Grid>,
    locations: Option<Grid>,
    useful_total: Option<Grid>,
    instructions: Option<Grid>,
    cycles: Option<Grid>,
}

/// More locations than any machine has; a larger number is damage.
const MOST_LOCATIONS: f64 = 1e8;

impl Grids {
    /// Those that are there.
    fn all(&self) -> impl Iterator<Item = &Grid> {
        let Self { runtime, useful_max, useful_mean, .. } = self;
        let Self { locations, useful_total, instructions, cycles, .. } = self;
        let all = [runtime, useful_max, useful_mean, locations, useful_total, instructions, cycles];
        all.into_iter().flatten()
    }

    /// Processes that have the number, the mean and the largest of the useful times of the real
    /// ones: the efficiencies depend on no more than these.
    fn times(
        &self,
        cells: &Cells<'_>,
        input: usize,
        core_idx: usize,
        cores: u32,
    ) -> Option<PopTimes> {
        let value =
            |grid: &Option<Grid>| cells.value(grid.as_ref()?, input, core_idx).filter(|v| *v > 0.0);
        let runtime = value(&self.runtime)?;
        let useful = match (value(&self.useful_max), value(&self.useful_mean)) {
            (Some(longest), Some(mean)) => {
                let count = value(&self.locations).unwrap_or(1.0).max(1.0);
                let others = Some(count - 1.0).filter(|&others| others < MOST_LOCATIONS)?.max(0.0);
                let rest = if others > 0.0 { (count * mean - longest) / others } else { 0.0 };
                // The cast is exact: the count is a small whole number.
                let mut useful = vec![rest.max(0.0); others as usize];
                useful.push(longest);
                useful
            }
            // The share of each processor is not known, only their number.
            _ => vec![value(&self.useful_total)? / f64::from(cores)],
        };
        Some(PopTimes {
            runtime,
            useful,
            ideal: None,
            instructions: value(&self.instructions),
            cycles: value(&self.cycles),
        })
    }
}
