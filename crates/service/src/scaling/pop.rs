//! The efficiencies of the POP methodology as a table: those that a file reports, or those from
//! time in MPI.

use std::collections::BTreeSet;

use parallax_analysis::scaling::{Grid, PopEfficiencies, PopScaling, PopTimes, pop_efficiencies};
use parallax_base::Unit;
use parallax_model::ensemble::{Ensemble, metric_names};

use super::answer::{ScalingRequest, display_name};
use super::cells::{Cells, ShownRegion};
use super::{Remedy, ScalingError};
use crate::{Answer, Column, Table};

/// Longest time outside MPI of a single location in seconds; a metric of ensembles of databases.
pub(super) const USEFUL_MAX: &str = "time:useful-max";
/// Mean time outside MPI over the locations in seconds.
pub(super) const USEFUL_MEAN: &str = "time:useful-mean";

/// An efficiency of the table: its column, its meaning, and how sources call it, compared without
/// regard to case. TALP's names come first.
struct Quantity {
    column: &'static str,
    doc: &'static str,
    names: &'static [&'static str],
    computed: fn(&PopEfficiencies) -> Option<f64>,
}

const QUANTITIES: [Quantity; 14] = [
    Quantity {
        column: "parallel",
        doc: "Parallel efficiency: mean useful time over the runtime.",
        names: &["parallelEfficiency", "parallel efficiency"],
        computed: |pop| Some(pop.parallel),
    },
    Quantity {
        column: "load_balance",
        doc: "Mean useful time over the longest.",
        names: &["mpiLoadBalance", "mpi load balance", "load balance"],
        computed: |pop| Some(pop.load_balance),
    },
    Quantity {
        column: "communication",
        doc: "Longest useful time over the runtime.",
        names: &[
            "mpiCommunicationEfficiency",
            "mpi communication efficiency",
            "communication efficiency",
        ],
        computed: |pop| Some(pop.communication),
    },
    Quantity {
        column: "serialisation",
        doc: "The same on an ideal network.",
        names: &["serialization efficiency", "mpi serialisation efficiency"],
        computed: |pop| pop.serialisation,
    },
    Quantity {
        column: "transfer",
        doc: "Communication over serialisation: the cost of moving data.",
        names: &["transfer efficiency", "mpi transfer efficiency"],
        computed: |pop| pop.transfer,
    },
    Quantity {
        column: "openmp_parallel",
        doc: "Parallel efficiency of OpenMP, as reported.",
        names: &["ompParallelEfficiency", "openmp parallel efficiency"],
        computed: |_| None,
    },
    Quantity {
        column: "openmp_load_balance",
        doc: "Load balance of OpenMP, as reported.",
        names: &["ompLoadBalance", "openmp load balance"],
        computed: |_| None,
    },
    Quantity {
        column: "openmp_scheduling",
        doc: "Scheduling efficiency of OpenMP, as reported.",
        names: &["ompSchedulingEfficiency", "openmp scheduling efficiency"],
        computed: |_| None,
    },
    Quantity {
        column: "computation",
        doc: "Total useful time of the reference over the own.",
        names: &["computation scalability", "computation scaling"],
        computed: |pop| pop.computation,
    },
    Quantity {
        column: "instructions",
        doc: "Instructions of the reference over the own.",
        names: &["instruction scalability", "instruction scaling"],
        computed: |pop| pop.instructions,
    },
    Quantity {
        column: "ipc",
        doc: "Instructions per cycle over those of the reference.",
        names: &["ipc scalability", "ipc scaling"],
        computed: |pop| pop.ipc,
    },
    Quantity {
        column: "frequency",
        doc: "Cycles per useful time over those of the reference.",
        names: &["frequency scalability", "frequency scaling"],
        computed: |pop| pop.frequency,
    },
    Quantity {
        column: "global",
        doc: "Parallel efficiency times computation.",
        names: &["global efficiency"],
        computed: |pop| pop.global,
    },
    Quantity {
        column: "speedup",
        doc: "Runtime of the reference over the own.",
        names: &["speedup"],
        computed: |pop| pop.speedup,
    },
];

const PARALLEL: usize = 0;
const COMPUTATION: usize = 8;
const GLOBAL: usize = 12;

struct Row<'a> {
    region: &'a str,
    name: String,
    input: &'a str,
    cores: u32,
    values: [Option<f64>; QUANTITIES.len()],
    origin: &'static str,
}

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
    request: &ScalingRequest,
) -> Result<Answer<Table>, ScalingError> {
    let mut notes = Vec::new();
    let cells = Cells::of(ensemble, request, &mut notes)?;
    let sources = Sources::of(&cells);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for region in &cells.regions {
        sources.add_region(&cells, region, &mut rows)?;
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
    if rows.iter().any(|row| row.values.get(COMPUTATION).copied().flatten().is_some()) {
        notes.push(
            "Computation scaling, global efficiency and speedup are relative to the smallest core \
             count of the same input, unless the file reports them."
                .to_owned(),
        );
    }
    Ok(Answer { value: table(&rows), notes })
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
    fn add_region<'a>(
        &self,
        cells: &'a Cells<'_>,
        region: &'a ShownRegion<'_>,
        rows: &mut Vec<Row<'a>>,
    ) -> Result<(), ScalingError> {
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
                for ((slot, quantity), grid) in values.iter_mut().zip(&QUANTITIES).zip(&reported) {
                    let told = grid.as_ref().and_then(|grid| cells.value(grid, input, core_idx));
                    is_reported |= told.is_some();
                    *slot = told.or_else(|| {
                        // Totals over all processes say nothing about their balance.
                        let is_known = is_database || !BALANCE.contains(&quantity.column);
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
                rows.push(Row {
                    region: region.id,
                    name: display_name(region.region),
                    input: label,
                    cores,
                    values,
                    origin: if is_reported { "reported" } else { "time in MPI" },
                });
            }
        }
        Ok(())
    }
}

/// Columns that need the useful time of every process.
const BALANCE: [&str; 4] = ["parallel", "load_balance", "communication", "global"];

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

fn table(rows: &[Row<'_>]) -> Table {
    let mut columns = vec![
        Column::strings(
            "region",
            "Region; 0 is the whole program.",
            rows.iter().map(|row| row.region),
        ),
        Column::strings("name", "What it is called.", rows.iter().map(|row| &row.name)),
        Column::strings("input", "Program arguments.", rows.iter().map(|row| row.input)),
        Column::u32s("cores", "Cores used.", rows.iter().map(|row| row.cores).collect()),
    ];
    for (at, quantity) in QUANTITIES.iter().enumerate() {
        let values = rows.iter().map(|row| row.values.get(at).copied().flatten()).collect();
        columns.push(Column::optional_f64s(quantity.column, "", quantity.doc, values));
    }
    columns.push(Column::strings(
        "origin",
        "Reported by the file, or computed from time in MPI.",
        rows.iter().map(|row| row.origin),
    ));
    Table::new(columns)
}
