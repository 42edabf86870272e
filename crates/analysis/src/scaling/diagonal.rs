//! Is the diagonal of the maps a weak-scaling experiment at all?

use super::maps::Maps;

/// One step along the inputs together with one step along the cores.
#[derive(Debug, Clone, PartialEq)]
pub struct DiagonalStep {
    /// Position of the larger input.
    pub input: usize,
    /// Position of the larger core count.
    pub core_idx: usize,
    /// Growth of work: `T(w_i) / T(w_{i-1})` at the reference core count.
    pub work_ratio: f64,
    /// Growth of cores: `p_j / p_{j-1}`.
    pub cores_ratio: f64,
}

/// Whether work grows like cores along the diagonals, so that the weak maps mean what they say.
#[derive(Debug, Clone, PartialEq)]
pub struct WeakDiagonal {
    /// Cores on which work was compared: 1, or the smallest count with all inputs.
    pub reference_cores: u32,
    /// Number of steps compared.
    pub num_steps: usize,
    /// The steps whose ratios differ by more than the tolerance, by input, then core count.
    pub mismatches: Vec<DiagonalStep>,
}

impl WeakDiagonal {
    /// The warning to show, or `None` when every step matches.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let distance = |step: &DiagonalStep| {
            (step.work_ratio / step.cores_ratio).max(step.cores_ratio / step.work_ratio)
        };
        // The first of equally bad steps, so that the words do not depend on float ties.
        let worst = self
            .mismatches
            .iter()
            .reduce(|worst, step| if distance(step) > distance(worst) { step } else { worst })?;
        Some(format!(
            "The weak-scaling maps do not come from a weak-scaling experiment: in {} of {} steps \
             work does not grow in proportion to cores; largest deviation: the step to input i{} \
             multiplies work by {:.2} and cores by {:.2}.",
            self.mismatches.len(),
            self.num_steps,
            worst.input + 1,
            worst.work_ratio,
            worst.cores_ratio,
        ))
    }
}

/// Compares growth of work with growth of cores on every diagonal step of the maps.
///
/// `tolerance` is a factor: 1.25 accepts ratios that differ by up to a quarter. Work is measured
/// as time on one core, else on the smallest core count that has all inputs. `None` when there is
/// no such count or nothing to compare. Source: the manual of PaScal Analyzer asks that work and
/// cores grow at the same rate for the weak maps.
#[must_use]
pub fn weak_diagonal(maps: &Maps, tolerance: f64) -> Option<WeakDiagonal> {
    let all = 0..maps.inputs.len();
    let reference = (0..maps.cores.len())
        .find(|&j| all.clone().all(|i| maps.time.get(i, j).is_some_and(|time| time > 0.0)))?;
    let mut num_steps = 0;
    let mut mismatches = Vec::new();
    for (input, core_idx) in steps(maps) {
        let before = maps.time.get(input - 1, reference)?;
        let work_ratio = maps.time.get(input, reference)? / before;
        let cores_ratio =
            f64::from(*maps.cores.get(core_idx)?) / f64::from(*maps.cores.get(core_idx - 1)?);
        num_steps += 1;
        let off = (work_ratio / cores_ratio).max(cores_ratio / work_ratio);
        if off > tolerance {
            mismatches.push(DiagonalStep { input, core_idx, work_ratio, cores_ratio });
        }
    }
    (num_steps > 0).then_some(WeakDiagonal {
        reference_cores: *maps.cores.get(reference)?,
        num_steps,
        mismatches,
    })
}

/// Where diagonal steps end, in order: at the configurations that were measured, and on the main
/// diagonal. Steps between configurations that were not measured would be as many as inputs times
/// core counts, and have no cell in the weak maps.
fn steps(maps: &Maps) -> Vec<(usize, usize)> {
    let main = (1..maps.inputs.len().min(maps.cores.len())).map(|at| (at, at));
    let measured = maps.measured().filter(|&(input, core_idx)| input > 0 && core_idx > 0);
    let mut steps: Vec<(usize, usize)> = main.chain(measured).collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}
