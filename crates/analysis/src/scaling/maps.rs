//! Speedup, efficiency and the scalability maps of PaScal.

use std::sync::Arc;

use super::grid::Grid;
use super::map::{Map, Pattern};
use crate::math::Measure;

/// How the maps are computed. The default is that of the PaScal Viewer of 2025.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MapOptions {
    /// Statistic over repetitions.
    pub measure: Measure,
    /// From which times efficiency is formed.
    pub efficiency: EfficiencyRule,
    /// What efficiency is relative to.
    pub baseline: BaselinePolicy,
    /// What the differences do with efficiencies above 1.
    pub superlinear: Superlinear,
}

/// From which times efficiency is formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EfficiencyRule {
    /// `E = T(w,1) / (p T(w,p))` with `T` the statistic over repetitions (paper of 2025).
    #[default]
    OfStatistic,
    /// Speedup and efficiency of every repetition against the baseline of the same repetition,
    /// then the statistic of those (PaScal Viewer of 2018). Undefined where a configuration and
    /// its baseline do not have the same number of repetitions, for then they cannot be paired.
    PerRepetition,
}

/// Which core count efficiency is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BaselinePolicy {
    /// One core, or nothing: the definition of the papers.
    #[default]
    Serial,
    /// This core count.
    Cores(u32),
    /// For each input, the smallest core count on which it was measured.
    Smallest,
    /// The smallest core count on which every input was measured, so that rows are comparable.
    SmallestCommon,
}

/// The baseline that an input really has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// One core: efficiencies are those of the papers.
    Serial,
    /// This many cores: speedup and efficiency are relative to a parallel run, and say nothing
    /// about what was lost up to there. Show this next to every such number.
    Cores(u32),
    /// None measured: speedup, efficiency and everything derived from them is undefined.
    Missing,
}

impl Baseline {
    /// The core count of the baseline.
    #[must_use]
    pub fn cores(self) -> Option<u32> {
        match self {
            Self::Serial => Some(1),
            Self::Cores(cores) => Some(cores),
            Self::Missing => None,
        }
    }
}

/// What the difference maps do with superlinear efficiencies; the efficiency map keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Superlinear {
    /// Used as they are.
    #[default]
    Keep,
    /// Taken as 1 (paper of 2025: "attenuated in the scalability differences").
    ClampInDifferences,
}

/// All maps of one region. Every map has one row per input and one column per core count; memory
/// follows the configurations that were measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Maps {
    /// Inputs (argument strings), the rows.
    pub inputs: Arc<[String]>,
    /// Core counts, ascending, the columns.
    pub cores: Arc<[u32]>,
    /// The baseline of each input.
    pub baselines: Vec<Baseline>,
    /// How the maps were computed.
    pub options: MapOptions,
    /// The configurations that were measured.
    measured: Arc<Pattern>,
    /// Their numbers of repetitions.
    repetitions: Vec<usize>,
    /// The statistic of the repetition times, in seconds.
    pub time: Map,
    /// Shortest repetition, in seconds.
    pub time_min: Map,
    /// Longest repetition, in seconds.
    pub time_max: Map,
    /// `S = T(w,p0) / T(w,p)` with `p0` the baseline's cores.
    pub speedup: Map,
    /// `E = p0 T(w,p0) / (p T(w,p))`; 1 is ideal, above 1 is superlinear.
    pub efficiency: Map,
    /// `E(w,p) - E(w0,p)`, `w0` the first input (paper of 2025, equation 1).
    pub scalability_abs: Map,
    /// `E(w,p) - E(w,p0)`, `p0` the baseline (paper of 2025, equation 2).
    pub strong_abs: Map,
    /// `E(i,j) - E(i-m,j-m)`, `m = min(i,j)`: against the start of the cell's diagonal (paper of
    /// 2025, equation 3).
    pub weak_abs: Map,
    /// `E(i,j) - E(i-1,j)` (paper of 2018, equation 1); undefined for the first input.
    pub scalability_rel: Map,
    /// `E(i,j) - E(i,j-1)` (paper of 2018, equation 2); undefined for the first core count.
    pub strong_rel: Map,
    /// `E(i,j) - E(i-1,j-1)` (paper of 2018, equation 3); undefined for the first of either.
    pub weak_rel: Map,
}

/// One configuration of one region as a table row; `None` where undefined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    /// Position of the input.
    pub input_idx: usize,
    /// Position of the core count.
    pub core_idx: usize,
    /// Input (argument string).
    pub input: &'a str,
    /// Core count.
    pub cores: u32,
    /// Number of repetitions.
    pub repetitions: usize,
    /// Statistic of the times, in seconds.
    pub time: Option<f64>,
    /// Shortest repetition, in seconds.
    pub time_min: Option<f64>,
    /// Longest repetition, in seconds.
    pub time_max: Option<f64>,
    /// See [`Maps::speedup`].
    pub speedup: Option<f64>,
    /// See [`Maps::efficiency`].
    pub efficiency: Option<f64>,
    /// See [`Maps::scalability_abs`].
    pub scalability_abs: Option<f64>,
    /// See [`Maps::strong_abs`].
    pub strong_abs: Option<f64>,
    /// See [`Maps::weak_abs`].
    pub weak_abs: Option<f64>,
    /// See [`Maps::scalability_rel`].
    pub scalability_rel: Option<f64>,
    /// See [`Maps::strong_rel`].
    pub strong_rel: Option<f64>,
    /// See [`Maps::weak_rel`].
    pub weak_rel: Option<f64>,
}

impl Maps {
    /// Number of repetitions at a configuration; 0 outside the maps.
    #[must_use]
    pub fn repetitions(&self, input: usize, core_idx: usize) -> usize {
        let at = self.measured.find(input, core_idx);
        at.and_then(|at| self.repetitions.get(at)).copied().unwrap_or(0)
    }

    /// Position of the baseline's core count of an input.
    #[must_use]
    pub fn baseline_idx(&self, input: usize) -> Option<usize> {
        let cores = self.baselines.get(input)?.cores()?;
        self.cores.binary_search(&cores).ok()
    }

    /// Whether some input has a baseline other than one core, which a reader must be told.
    #[must_use]
    pub fn has_parallel_baseline(&self) -> bool {
        self.baselines.iter().any(|baseline| matches!(baseline, Baseline::Cores(_)))
    }

    /// Positions of the inputs that were measured but have no baseline: their times can be
    /// shown, their maps cannot.
    #[must_use]
    pub fn inputs_without_baseline(&self) -> Vec<usize> {
        (0..self.inputs.len())
            .filter(|&input| {
                self.baselines.get(input) == Some(&Baseline::Missing)
                    && self.time.row(input).next().is_some()
            })
            .collect()
    }

    /// Number of configurations that were measured.
    #[must_use]
    pub fn num_measured(&self) -> usize {
        self.measured.len()
    }

    /// The measured configurations in order, input by input: input and position of the core count.
    pub fn measured(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.measured.cells()
    }

    /// The maps as table rows: input by input, core count by core count. Configurations without
    /// repetitions are included, so that a gap is seen; see [`Maps::measured_rows`].
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.inputs.len())
            .flat_map(move |input| (0..self.cores.len()).map(move |at| (input, at)))
            .filter_map(|(input, core_idx)| self.row(input, core_idx))
    }

    /// As [`Maps::rows`], for the configurations that were measured.
    pub fn measured_rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.measured().filter_map(|(input, core_idx)| self.row(input, core_idx))
    }

    fn row(&self, i: usize, j: usize) -> Option<Row<'_>> {
        Some(Row {
            input_idx: i,
            core_idx: j,
            input: self.inputs.get(i)?,
            cores: *self.cores.get(j)?,
            repetitions: self.repetitions(i, j),
            time: self.time.get(i, j),
            time_min: self.time_min.get(i, j),
            time_max: self.time_max.get(i, j),
            speedup: self.speedup.get(i, j),
            efficiency: self.efficiency.get(i, j),
            scalability_abs: self.scalability_abs.get(i, j),
            strong_abs: self.strong_abs.get(i, j),
            weak_abs: self.weak_abs.get(i, j),
            scalability_rel: self.scalability_rel.get(i, j),
            strong_rel: self.strong_rel.get(i, j),
            weak_rel: self.weak_rel.get(i, j),
        })
    }
}

/// The maps of one region from its repetition times.
///
/// Sources: "Pascal Viewer", VPA 2018, equations 1 to 3 (relative maps); the PaScal Viewer paper
/// of 2025, equations 1 to 3 (absolute maps) and section 3.1 (median, efficiency).
#[must_use]
pub fn maps(grid: &Grid, options: MapOptions) -> Maps {
    // Nothing is defined where nothing was measured.
    let measured = grid.pattern();
    let of = |measure: Measure| Map::on(measured, |i, j| measure.of(grid.repetitions(i, j)));
    let time = of(options.measure);
    let baselines = baselines(grid, options.baseline);
    let base_idx: Vec<Option<usize>> = baselines
        .iter()
        .map(|baseline| grid.cores().binary_search(&baseline.cores()?).ok())
        .collect();
    let base_of = |input: usize| base_idx.get(input).copied().flatten();

    let speedup = Map::on(measured, |i, j| {
        let base = base_of(i)?;
        match options.efficiency {
            EfficiencyRule::OfStatistic => ratio(time.get(i, base)?, time.get(i, j)?),
            EfficiencyRule::PerRepetition => {
                let (serial, parallel) = (grid.repetitions(i, base), grid.repetitions(i, j));
                if serial.len() != parallel.len() {
                    return None;
                }
                let each: Option<Vec<f64>> =
                    serial.iter().zip(parallel).map(|(&t0, &t)| ratio(t0, t)).collect();
                options.measure.of(&each?)
            }
        }
    });
    // Dividing a statistic by p commutes with every statistic offered, so the efficiency of the
    // statistic and the statistic of efficiencies need no second formula.
    let efficiency = Map::on(measured, |i, j| {
        let base_cores = f64::from(*grid.cores().get(base_of(i)?)?);
        let cores = f64::from(*grid.cores().get(j)?);
        Some(speedup.get(i, j)? * base_cores / cores)
    });
    let compared = match options.superlinear {
        Superlinear::Keep => efficiency.clone(),
        Superlinear::ClampInDifferences => efficiency.map(|value| value.min(1.0)),
    };
    let minus = |reference: &dyn Fn(usize, usize) -> Option<(usize, usize)>| {
        Map::on(measured, |i, j| {
            let (ri, rj) = reference(i, j)?;
            Some(compared.get(i, j)? - compared.get(ri, rj)?)
        })
    };
    Maps {
        scalability_abs: minus(&|_, j| Some((0, j))),
        strong_abs: minus(&|i, _| Some((i, base_of(i)?))),
        weak_abs: minus(&|i, j| Some((i - i.min(j), j - i.min(j)))),
        scalability_rel: minus(&|i, j| Some((i.checked_sub(1)?, j))),
        strong_rel: minus(&|i, j| Some((i, j.checked_sub(1)?))),
        weak_rel: minus(&|i, j| Some((i.checked_sub(1)?, j.checked_sub(1)?))),
        inputs: Arc::clone(grid.shared_inputs()),
        cores: Arc::clone(grid.shared_cores()),
        baselines,
        options,
        measured: Arc::clone(measured),
        repetitions: grid.measured().map(|(_, _, times)| times.len()).collect(),
        time_min: of(Measure::Min),
        time_max: of(Measure::Max),
        time,
        speedup,
        efficiency,
    }
}

/// `a / b`, undefined for a divisor of 0 and for a quotient that is not finite.
fn ratio(a: f64, b: f64) -> Option<f64> {
    let quotient = a / b;
    (b != 0.0 && quotient.is_finite()).then_some(quotient)
}

fn baselines(grid: &Grid, policy: BaselinePolicy) -> Vec<Baseline> {
    let measured = |input: usize, core_idx: usize| !grid.repetitions(input, core_idx).is_empty();
    let inputs = 0..grid.inputs().len();
    let fixed = |cores: Option<u32>| -> Vec<Baseline> {
        let core_idx = cores.and_then(|cores| grid.cores().binary_search(&cores).ok());
        inputs
            .clone()
            .map(|input| match (cores, core_idx) {
                (Some(cores), Some(core_idx)) if measured(input, core_idx) => baseline(cores),
                _ => Baseline::Missing,
            })
            .collect()
    };
    match policy {
        BaselinePolicy::Serial => fixed(Some(1)),
        BaselinePolicy::Cores(cores) => fixed(Some(cores)),
        BaselinePolicy::SmallestCommon => {
            let common = (0..grid.cores().len())
                .find(|&core_idx| inputs.clone().all(|input| measured(input, core_idx)));
            fixed(common.and_then(|core_idx| grid.cores().get(core_idx).copied()))
        }
        BaselinePolicy::Smallest => inputs
            .clone()
            .map(|input| {
                let smallest = grid.pattern().columns_of(input).first();
                let cores = smallest.and_then(|&core_idx| grid.cores().get(core_idx));
                cores.map_or(Baseline::Missing, |&cores| baseline(cores))
            })
            .collect(),
    }
}

fn baseline(cores: u32) -> Baseline {
    if cores == 1 { Baseline::Serial } else { Baseline::Cores(cores) }
}
