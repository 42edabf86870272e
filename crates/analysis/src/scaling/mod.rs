//! Scaling analysis: from repetition times of one region to the PaScal maps, the laws of scaling,
//! energy, balance and a verdict in plain words.
//!
//! Everything here is a pure function of plain values, so that every reader and every surface
//! shows the same numbers. Reading order:
//!
//! 1. [`Grid`]: the repetition times of one region over inputs x cores.
//! 2. [`maps()`]: speedup, efficiency and the six scalability maps ([`Maps`]).
//! 3. [`dispersion`], [`imbalance`], [`energy_validity`], [`pop_efficiencies`]: what is shown with
//!    the maps.
//! 4. [`fit_amdahl`], [`fit_usl`], [`fit_gustafson`]: the laws.
//! 5. [`verdicts`]: which region loses how many core-seconds, and what that means.
//!
//! Formulas and their sources are collected in `docs/scaling-formulas.md`. A value that is not
//! defined (a missing run, a missing baseline, a time of zero) is `None`, never a number.

mod balance;
mod compare;
mod diagonal;
mod energy;
mod evidence;
mod grid;
mod laws;
mod map;
mod maps;
mod normal;
mod pop;
mod sentences;
mod verdict;

pub use crate::math::{Dispersion, Measure, dispersion, outliers};
pub use balance::{ImbalanceRule, Spread, imbalance, share_of_parent, spread};
pub use compare::{Change, ChangeKind, ChangeLimits, CompareOptions, Comparison, compare, judge};
pub use diagonal::{DiagonalStep, WeakDiagonal, weak_diagonal};
pub use energy::{EnergyGates, EnergyValidity, energy_delay_product, energy_validity};
pub use evidence::{GridEvidence, SHORT, Stray, grid_evidence};
pub use grid::{Grid, GridBuilder, GridError};
pub use laws::{
    AmdahlFit, GustafsonFit, UslFit, fit_amdahl, fit_gustafson, fit_usl, serial_fraction,
};
pub use map::Map;
pub use maps::{
    Baseline, BaselinePolicy, EfficiencyRule, MapOptions, Maps, Row, Superlinear, maps,
};
pub use normal::{difference_range, interpolate};
pub use pop::{PopEfficiencies, PopError, PopIdeal, PopScaling, PopTimes, pop_efficiencies};
pub use verdict::{
    ByDefinition, Delay, InputTrend, Loss, Program, ProgramError, Region, StrongEnd, Trend,
    Verdict, VerdictOptions, losses, ranked_losses, verdicts,
};
