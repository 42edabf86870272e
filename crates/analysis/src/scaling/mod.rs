//! Scaling analysis: from repetition times of one region to the PaScal maps, the laws of scaling,
//! energy, balance and a verdict in plain words.
//!
//! Everything here is a pure function of plain values, so that every reader and every surface
//! shows the same numbers. Reading order:
//!
//! 1. [`Grid`]: the repetition times of one region over inputs x cores.
//! 2. [`maps()`]: speedup, efficiency and the six scalability maps ([`Maps`]).
//! 3. [`RegionTimeFold`]: how the entries of a region become one time.
//! 4. [`dispersion`], [`imbalance`], [`region_energy`], [`pop_efficiencies`]: what stands beside
//!    the maps.
//! 5. [`fit_amdahl`], [`fit_usl`], [`fit_gustafson`]: the laws.
//! 6. [`verdicts`]: which region loses how many core-seconds, and what that means.
//!
//! Formulas and their sources are collected in `docs/scaling-formulas.md`. A value that is not
//! defined (a missing run, a missing baseline, a time of zero) is `None`, never a number.

mod balance;
mod compare;
mod diagonal;
mod energy;
mod grid;
mod intervals;
mod laws;
mod map;
mod maps;
mod normal;
pub(crate) mod numeric;
mod pop;
mod stats;
mod verdict;
mod words;

pub use balance::{ImbalanceRule, Spread, imbalance, share_of_parent, spread};
pub use compare::{Change, ChangeKind, ChangeLimits, CompareOptions, Comparison, compare, judge};
pub use diagonal::{DiagonalCell, DiagonalStep, WeakDiagonal, weak_diagonal, weak_table};
pub use energy::{
    EnergyError, EnergyGates, EnergyOptions, EnergyValidity, PowerSample, energy_delay_product,
    energy_from_deltas, energy_from_mean_power, energy_validity, region_energy,
};
pub use grid::{Grid, GridBuilder, GridError};
pub use intervals::{
    Entry, Interval, RegionTime, RegionTimeFold, RegionTimes, gaps, self_time, union, union_length,
};
pub use laws::{
    AmdahlFit, GustafsonFit, UslFit, fit_amdahl, fit_gustafson, fit_usl, serial_fraction,
};
pub use map::Map;
pub use maps::{
    Baseline, BaselinePolicy, EfficiencyRule, MapOptions, Maps, Row, Superlinear, maps,
};
pub use normal::{difference_range, ideal_variation, interpolate, normalise_over_cores};
pub use pop::{
    OpenMpEfficiencies, OpenMpTimes, PopEfficiencies, PopError, PopIdeal, PopScaling, PopTimes,
    openmp_efficiencies, pop_efficiencies,
};
pub use stats::{Dispersion, Measure, dispersion, outliers};
pub use verdict::{
    InputTrend, Loss, Program, ProgramError, Region, StrongEnd, Trend, Verdict, VerdictOptions,
    losses, ranked_losses, verdicts,
};
