//! The efficiencies of the POP methodology, from useful time and time in MPI.
//!
//! Source: POP CoE, "POP standard metrics for parallel performance analysis"; the definitions are
//! those of BSC's `basicanalysis` and of TALP (DLB), see `docs/scaling-formulas.md`. All values
//! are fractions: 1 is ideal.

use crate::math::Measure;
use crate::math::numeric::{count, mean, sum};

/// How the problem changes between two executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PopScaling {
    /// Same problem on more processes: total useful work shall stay the same.
    Strong,
    /// The problem grows with the processes: total useful work shall grow like them.
    Weak,
}

/// Times of one execution in one region, all in the same unit.
#[derive(Debug, Clone, PartialEq)]
pub struct PopTimes {
    /// Wall time of the region.
    pub runtime: f64,
    /// Useful (computing) time of every process; its length is the number of processes.
    pub useful: Vec<f64>,
    /// The same on an ideal network, from a replay, where known.
    pub ideal: Option<PopIdeal>,
    /// Useful instructions of all processes, where counted.
    pub instructions: Option<f64>,
    /// Useful cycles of all processes, where counted.
    pub cycles: Option<f64>,
}

/// What a replay on an ideal network gives, in the unit of [`PopTimes`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PopIdeal {
    /// Wall time.
    pub runtime: f64,
    /// Longest useful time of a process.
    pub useful_max: f64,
}

/// Why there are no efficiencies.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PopError {
    /// No process.
    #[error("no process has a useful time")]
    NoProcesses,
    /// A time is negative or not finite, or all are zero.
    #[error("{what} is {value}: a positive finite time is needed")]
    BadTime {
        /// Which time.
        what: &'static str,
        /// The value found.
        value: f64,
    },
    /// A process spends more time in MPI than the region lasts.
    #[error("process {process} spends {in_mpi} in MPI in a region of {runtime}")]
    MpiExceedsRuntime {
        /// Position of the process.
        process: usize,
        /// Its time in MPI.
        in_mpi: f64,
        /// Wall time of the region.
        runtime: f64,
    },
}

impl PopTimes {
    /// Times from the wall time and each process's time in MPI: everything outside MPI counts as
    /// useful, which is what can be known without a trace.
    ///
    /// # Errors
    /// When a time in MPI is not finite, negative, or longer than the region.
    pub fn from_mpi(runtime: f64, in_mpi: &[f64]) -> Result<Self, PopError> {
        for (process, &time) in in_mpi.iter().enumerate() {
            if !time.is_finite() || time < 0.0 {
                return Err(PopError::BadTime { what: "a time in MPI", value: time });
            }
            if time > runtime {
                return Err(PopError::MpiExceedsRuntime { process, in_mpi: time, runtime });
            }
        }
        let useful = in_mpi.iter().map(|time| runtime - time).collect();
        Ok(Self { runtime, useful, ideal: None, instructions: None, cycles: None })
    }
}

/// The POP tree of one execution, against a reference where one is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PopEfficiencies {
    /// `parallel = load_balance x communication = mean useful / runtime`.
    pub parallel: f64,
    /// `mean useful / max useful`.
    pub load_balance: f64,
    /// `max useful / runtime`.
    pub communication: f64,
    /// `max useful / runtime` on an ideal network: what waiting for each other costs.
    pub serialisation: Option<f64>,
    /// `communication / serialisation`: what moving data costs.
    pub transfer: Option<f64>,
    /// Total useful time of the reference over that of this execution (per process when weak).
    pub computation: Option<f64>,
    /// `parallel x computation`.
    pub global: Option<f64>,
    /// Instructions of the reference over those of this execution (per process when weak).
    pub instructions: Option<f64>,
    /// Instructions per cycle over those of the reference.
    pub ipc: Option<f64>,
    /// Cycles per useful time over those of the reference.
    pub frequency: Option<f64>,
    /// `runtime(reference) / runtime`; times the ratio of processes when weak.
    pub speedup: Option<f64>,
}

/// The POP efficiencies of one execution.
///
/// # Errors
/// When there is no process or a time cannot be used.
pub fn pop_efficiencies(
    times: &PopTimes,
    reference: Option<&PopTimes>,
    scaling: PopScaling,
) -> Result<PopEfficiencies, PopError> {
    let own = Totals::of(times)?;
    let base = reference.map(Totals::of).transpose()?;
    let load_balance = own.mean / own.max;
    let communication = own.max / times.runtime;
    let parallel = load_balance * communication;
    let serialisation =
        times.ideal.map(|ideal| ideal.useful_max / ideal.runtime).filter(|value| value.is_finite());
    // Growth of the machine, by which weak scaling expects totals to grow.
    let growth = base.as_ref().map(|base| match scaling {
        PopScaling::Strong => 1.0,
        PopScaling::Weak => own.processes / base.processes,
    });
    let against = |value: Option<f64>| value.filter(|value| value.is_finite());
    let computation =
        against(base.as_ref().zip(growth).map(|(base, growth)| growth * base.total / own.total));
    let counts = |pick: fn(&PopTimes) -> Option<f64>| Some((pick(reference?)?, pick(times)?));
    let instructions = counts(|times| times.instructions);
    let cycles = counts(|times| times.cycles);
    Ok(PopEfficiencies {
        parallel,
        load_balance,
        communication,
        serialisation,
        transfer: against(serialisation.map(|value| communication / value)),
        computation,
        global: computation.map(|value| value * parallel),
        instructions: against(
            instructions.zip(growth).map(|((base, own), growth)| growth * base / own),
        ),
        ipc: against(instructions.zip(cycles).map(
            |((base_instructions, instructions), (base_cycles, cycles))| {
                (instructions / cycles) / (base_instructions / base_cycles)
            },
        )),
        frequency: against(cycles.zip(base.as_ref()).map(|((base_cycles, cycles), base)| {
            (cycles / own.total) / (base_cycles / base.total)
        })),
        speedup: against(
            reference.zip(growth).map(|(base, growth)| growth * base.runtime / times.runtime),
        ),
    })
}

struct Totals {
    processes: f64,
    mean: f64,
    max: f64,
    total: f64,
}

impl Totals {
    fn of(times: &PopTimes) -> Result<Self, PopError> {
        if !times.runtime.is_finite() || times.runtime <= 0.0 {
            return Err(PopError::BadTime { what: "the runtime", value: times.runtime });
        }
        if let Some(&value) = times.useful.iter().find(|time| !time.is_finite() || **time < 0.0) {
            return Err(PopError::BadTime { what: "a useful time", value });
        }
        let mean = mean(&times.useful).ok_or(PopError::NoProcesses)?;
        let max = Measure::Max.of(&times.useful).ok_or(PopError::NoProcesses)?;
        if max <= 0.0 {
            return Err(PopError::BadTime { what: "the longest useful time", value: max });
        }
        let total = sum(&times.useful);
        Ok(Self { processes: count(times.useful.len()), mean, max, total })
    }
}
