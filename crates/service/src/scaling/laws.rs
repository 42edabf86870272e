//! The laws of scaling, fitted to every region and input, as a table.

use parallax_analysis::scaling::{
    Baseline, GustafsonFit, Maps, fit_amdahl, fit_gustafson, fit_usl, serial_fraction,
    weak_diagonal,
};
use parallax_protocol::{ScalingLawRow, ScalingLawTable};

use super::answer::{ScalingAnswer, display_name};
use super::tables::count;

impl ScalingAnswer {
    /// One row for each region shown and each input: the laws of Amdahl and of universal
    /// scalability fitted to the times over core counts, the serial fraction of Karp and Flatt,
    /// and how far each fit is off.
    ///
    /// Gustafson's law is about the diagonal, on which work grows like cores: it is the same for
    /// all inputs of a region, and undefined where work does not grow like that.
    #[must_use]
    pub fn laws_table(&self) -> ScalingLawTable {
        let is_diagonal = self.program.regions().first().is_some_and(|whole| {
            weak_diagonal(
                &whole.maps,
                parallax_analysis::scaling::VerdictOptions::default().diagonal_tolerance,
            )
            .is_some_and(|found| found.mismatches.iter().all(|step| step.input != step.core_idx))
        });
        let mut rows: Vec<ScalingLawRow> = Vec::new();
        for at in self.shown() {
            let (Some(region), Some(maps)) = (self.regions.get(at), self.maps(at)) else {
                continue;
            };
            let gustafson = is_diagonal.then(|| diagonal_fit(maps)).flatten();
            for (input, label) in maps.inputs.iter().enumerate() {
                let points: Vec<(u32, f64)> = maps
                    .time
                    .row(input)
                    .filter_map(|(at, time)| Some((*maps.cores.get(at)?, time)))
                    .filter(|&(_, time)| time > 0.0)
                    .collect();
                if points.is_empty() {
                    continue;
                }
                let (amdahl, usl) = (fit_amdahl(&points), fit_usl(&points));
                let serial = serial_fractions(maps, input);
                rows.push(ScalingLawRow {
                    region: region.region.id.clone(),
                    name: display_name(&region.region),
                    input: label.clone(),
                    points: count(points.len()),
                    amdahl_serial: amdahl.map(|fit| fit.serial_fraction),
                    amdahl_max_speedup: amdahl.and_then(|fit| fit.max_speedup()),
                    amdahl_time: amdahl.map(|fit| fit.serial_time),
                    amdahl_error: amdahl.map(|fit| 100.0 * fit.relative_error),
                    usl_contention: usl.map(|fit| fit.contention),
                    usl_coherency: usl.map(|fit| fit.coherency),
                    usl_peak_cores: usl.and_then(|fit| fit.peak_cores()),
                    usl_error: usl.map(|fit| 100.0 * fit.relative_error),
                    karp_flatt_first: serial.map(|(first, _)| first),
                    karp_flatt_last: serial.map(|(_, last)| last),
                    gustafson_serial: gustafson.map(|fit| fit.serial_fraction),
                    gustafson_error: gustafson.map(|fit| 100.0 * fit.efficiency_error),
                });
            }
        }
        rows.into_iter().collect()
    }
}

/// Gustafson's law along the main diagonal, where efficiencies are relative to one core.
fn diagonal_fit(maps: &Maps) -> Option<GustafsonFit> {
    let points: Vec<(u32, f64)> = maps
        .cores
        .iter()
        .zip(&maps.baselines)
        .enumerate()
        .filter(|(_, (_, baseline))| **baseline == Baseline::Serial)
        .filter_map(|(at, (&cores, _))| Some((cores, maps.speedup.get(at, at)?)))
        .collect();
    fit_gustafson(&points)
}

/// The experimental serial fraction on the fewest cores beyond one, and on the most.
fn serial_fractions(maps: &Maps, input: usize) -> Option<(f64, f64)> {
    maps.baselines.get(input).filter(|baseline| **baseline == Baseline::Serial)?;
    let mut found = maps
        .speedup
        .row(input)
        .filter_map(|(at, speedup)| serial_fraction(*maps.cores.get(at)?, speedup));
    let first = found.next()?;
    Some((first, found.next_back().unwrap_or(first)))
}
