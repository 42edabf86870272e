//! The laws of scaling, fitted to the times of one input over core counts.
//!
//! All fits minimise the sum of squared *relative* errors of time, so that the short times of
//! many cores weigh as much as the long time of one. Each law is linear in its parameters, which
//! must not be negative; the best of the few sub-models is found exactly, without iteration.

use crate::math::numeric::{Cutoff, count, least_squares, sum};

/// Amdahl's law `T(p) = T1 (f + (1 - f) / p)` (Amdahl 1967).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AmdahlFit {
    /// `T1`, the fitted time on one core in seconds.
    pub serial_time: f64,
    /// `f`, the serial fraction of that time, 0..1.
    pub serial_fraction: f64,
    /// Root mean square of the relative errors of time.
    pub relative_error: f64,
    /// Number of core counts used.
    pub points: usize,
}

impl AmdahlFit {
    /// Predicted time on `cores` cores in seconds.
    #[must_use]
    pub fn time(&self, cores: f64) -> f64 {
        self.serial_time * (self.serial_fraction + (1.0 - self.serial_fraction) / cores)
    }

    /// Predicted speedup over one core.
    #[must_use]
    pub fn speedup(&self, cores: f64) -> f64 {
        1.0 / (self.serial_fraction + (1.0 - self.serial_fraction) / cores)
    }

    /// The limit `1 / f` of the speedup; `None` when the fit has no serial part.
    #[must_use]
    pub fn max_speedup(&self) -> Option<f64> {
        (self.serial_fraction > 0.0).then(|| 1.0 / self.serial_fraction)
    }
}

/// Gunther's universal scalability law
/// `T(p) = T1 (1 + sigma (p - 1) + kappa p (p - 1)) / p` (Gunther, "Guerrilla Capacity Planning",
/// 2007).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UslFit {
    /// `T1`, the fitted time on one core in seconds.
    pub serial_time: f64,
    /// `sigma`, contention: the part that waits for a shared resource.
    pub contention: f64,
    /// `kappa`, coherency: the cost of pairwise exchange, which makes scaling turn back.
    pub coherency: f64,
    /// Root mean square of the relative errors of time.
    pub relative_error: f64,
    /// Number of core counts used.
    pub points: usize,
}

impl UslFit {
    /// Predicted speedup over one core.
    #[must_use]
    pub fn speedup(&self, cores: f64) -> f64 {
        let others = cores - 1.0;
        cores / (1.0 + self.contention * others + self.coherency * cores * others)
    }

    /// Predicted time on `cores` cores in seconds.
    #[must_use]
    pub fn time(&self, cores: f64) -> f64 {
        self.serial_time / self.speedup(cores)
    }

    /// Cores `sqrt((1 - sigma) / kappa)` beyond which more cores make the program slower; `None`
    /// when the fit has no coherency cost.
    #[must_use]
    pub fn peak_cores(&self) -> Option<f64> {
        (self.coherency > 0.0)
            .then(|| ((1.0 - self.contention).max(0.0) / self.coherency).sqrt().max(1.0))
    }
}

/// Gustafson's law `S(p) = p - s (p - 1)` for problems that grow with the machine (Gustafson
/// 1988).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GustafsonFit {
    /// `s`, the serial fraction of the parallel run, 0..1.
    pub serial_fraction: f64,
    /// Root mean square of the errors of efficiency `S / p`.
    pub efficiency_error: f64,
    /// Number of points used.
    pub points: usize,
}

impl GustafsonFit {
    /// Predicted scaled speedup.
    #[must_use]
    pub fn speedup(&self, cores: f64) -> f64 {
        cores - self.serial_fraction * (cores - 1.0)
    }
}

/// Fits Amdahl's law to `(cores, seconds)`.
///
/// `None` for fewer than two distinct core counts. Points with zero cores, or times that are not
/// positive and finite, are left out.
#[must_use]
pub fn fit_amdahl(points: &[(u32, f64)]) -> Option<AmdahlFit> {
    let points = usable(points, 2)?;
    // T = a / p + b with a, b >= 0.
    let (weights, relative_error) = non_negative(&points, &[&|p| 1.0 / p, &|_| 1.0])?;
    let (&parallel, &serial) = (weights.first()?, weights.get(1)?);
    let serial_time = parallel + serial;
    (serial_time > 0.0).then(|| AmdahlFit {
        serial_time,
        serial_fraction: serial / serial_time,
        relative_error,
        points: points.len(),
    })
}

/// Fits the universal scalability law to `(cores, seconds)`.
///
/// `None` for fewer than three distinct core counts; points are left out as in [`fit_amdahl`].
#[must_use]
pub fn fit_usl(points: &[(u32, f64)]) -> Option<UslFit> {
    let points = usable(points, 3)?;
    // T = a / p + b + c (p - 1) with a, b, c >= 0: then T1 = a + b, sigma = b / T1, and
    // kappa = c / T1, for (1 + sigma (p-1) + kappa p (p-1)) / p
    //                    = (1 - sigma) / p + sigma + kappa (p - 1).
    let (weights, relative_error) = non_negative(&points, &[&|p| 1.0 / p, &|_| 1.0, &|p| p - 1.0])?;
    let (&parallel, &serial, &exchange) = (weights.first()?, weights.get(1)?, weights.get(2)?);
    let serial_time = parallel + serial;
    (serial_time > 0.0).then(|| UslFit {
        serial_time,
        contention: serial / serial_time,
        coherency: exchange / serial_time,
        relative_error,
        points: points.len(),
    })
}

/// Fits Gustafson's law to `(cores, scaled speedup)`, the speedups `T(w_k,1) / T(w_k,p_k)` along
/// a diagonal on which work grows like cores.
///
/// The sum of squared errors of efficiency `S / p = 1 - s (1 - 1/p)` is smallest at
/// `s = sum v (1 - S/p) / sum v^2`, `v = 1 - 1/p`. `None` without a point beyond one core.
#[must_use]
pub fn fit_gustafson(points: &[(u32, f64)]) -> Option<GustafsonFit> {
    let points: Vec<(f64, f64)> = points
        .iter()
        .filter(|&&(cores, speedup)| cores > 1 && speedup.is_finite() && speedup > 0.0)
        .map(|&(cores, speedup)| (f64::from(cores), speedup))
        .collect();
    let others = |cores: f64| 1.0 - 1.0 / cores;
    let squares: Vec<f64> = points.iter().map(|&(p, _)| others(p) * others(p)).collect();
    let products: Vec<f64> = points.iter().map(|&(p, s)| others(p) * (1.0 - s / p)).collect();
    if points.is_empty() {
        return None;
    }
    let serial_fraction = (sum(&products) / sum(&squares)).clamp(0.0, 1.0);
    let errors: Vec<f64> = points
        .iter()
        .map(|&(p, s)| 1.0 - serial_fraction * others(p) - s / p)
        .map(|error| error * error)
        .collect();
    Some(GustafsonFit {
        serial_fraction,
        efficiency_error: (sum(&errors) / count(points.len())).sqrt(),
        points: points.len(),
    })
}

/// The experimentally determined serial fraction `e = (1/S - 1/p) / (1 - 1/p)` of one
/// measurement: constant over p under Amdahl's law, growing where overhead grows.
///
/// Source: Karp and Flatt, "Measuring parallel processor performance", 1990. `None` on one core or
/// for a speedup that is not positive.
#[must_use]
pub fn serial_fraction(cores: u32, speedup: f64) -> Option<f64> {
    let inverse = 1.0 / f64::from(cores);
    (cores > 1 && speedup > 0.0 && speedup.is_finite())
        .then(|| (1.0 / speedup - inverse) / (1.0 - inverse))
}

fn usable(points: &[(u32, f64)], distinct: usize) -> Option<Vec<(f64, f64)>> {
    let mut kept: Vec<(u32, f64)> = points
        .iter()
        .copied()
        .filter(|&(cores, time)| cores > 0 && time.is_finite() && time > 0.0)
        .collect();
    kept.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let num_distinct = kept.chunk_by(|a, b| a.0 == b.0).count();
    (num_distinct >= distinct)
        .then(|| kept.into_iter().map(|(cores, time)| (f64::from(cores), time)).collect())
}

/// Weights of 0 and above of the basis functions that minimise the relative errors, and the root
/// mean square of those.
fn non_negative(points: &[(f64, f64)], basis: &[&dyn Fn(f64) -> f64]) -> Option<(Vec<f64>, f64)> {
    let columns: Vec<Vec<f64>> = basis
        .iter()
        .map(|function| points.iter().map(|&(p, time)| function(p) / time).collect())
        .collect();
    let ones = vec![1.0; points.len()];
    // An improvement below this is rounding: then the law with fewer parts stands.
    const NOISE: f64 = 1e-12;
    let mut best: Option<(Vec<f64>, f64)> = None;
    // Every subset of the basis, small ones first; the optimum under constraints is the best
    // feasible one.
    let mut subsets: Vec<usize> = (1..1_usize << basis.len()).collect();
    subsets.sort_by_key(|subset| subset.count_ones());
    for subset in subsets {
        let chosen: Vec<usize> = (0..basis.len()).filter(|at| subset >> at & 1 == 1).collect();
        let selected = chosen.iter().filter_map(|&at| columns.get(at).cloned()).collect();
        let Some(solution) = least_squares(selected, &ones, Cutoff::Dimension) else { continue };
        if solution.rank < chosen.len() || solution.coefficients.iter().any(|&value| value < 0.0) {
            continue;
        }
        let mut weights = vec![0.0; basis.len()];
        for (&at, &value) in chosen.iter().zip(&solution.coefficients) {
            if let Some(weight) = weights.get_mut(at) {
                *weight = value;
            }
        }
        let squares: Vec<f64> = (0..points.len())
            .map(|row| {
                let predicted =
                    columns.iter().zip(&weights).fold(0.0, |total, (column, weight)| {
                        total + column.get(row).copied().unwrap_or(0.0) * weight
                    });
                (predicted - 1.0) * (predicted - 1.0)
            })
            .collect();
        let error = (sum(&squares) / count(points.len())).sqrt();
        if best.as_ref().is_none_or(|(_, least)| error + NOISE < *least) {
            best = Some((weights, error));
        }
    }
    best
}
