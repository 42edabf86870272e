//! The laws of scaling, fitted to every region and input, as a table.

use parallax_analysis::scaling::{
    AmdahlFit, Baseline, GustafsonFit, Maps, UslFit, fit_amdahl, fit_gustafson, fit_usl,
    serial_fraction, weak_diagonal,
};

use super::answer::{ScalingAnswer, display_name};
use crate::{Column, Table};

/// The laws of one region and input.
struct Row<'a> {
    region: &'a str,
    name: String,
    input: &'a str,
    points: usize,
    amdahl: Option<AmdahlFit>,
    usl: Option<UslFit>,
    /// The experimental serial fraction on the fewest cores beyond one, and on the most.
    serial: Option<(f64, f64)>,
    gustafson: Option<GustafsonFit>,
}

impl ScalingAnswer {
    /// One row for each region shown and each input: the laws of Amdahl and of universal
    /// scalability fitted to the times over core counts, the serial fraction of Karp and Flatt,
    /// and how far each fit is off.
    ///
    /// Gustafson's law is about the diagonal, on which work grows like cores: it is the same for
    /// all inputs of a region, and undefined where work does not grow like that.
    #[must_use]
    pub fn laws_table(&self) -> Table {
        let is_diagonal = self.program.regions().first().is_some_and(|whole| {
            weak_diagonal(
                &whole.maps,
                parallax_analysis::scaling::VerdictOptions::default().diagonal_tolerance,
            )
            .is_some_and(|found| found.mismatches.iter().all(|step| step.input != step.core_idx))
        });
        let mut rows: Vec<Row<'_>> = Vec::new();
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
                rows.push(Row {
                    region: &region.region.id,
                    name: display_name(&region.region),
                    input: label,
                    points: points.len(),
                    amdahl: fit_amdahl(&points),
                    usl: fit_usl(&points),
                    serial: serial_fractions(maps, input),
                    gustafson,
                });
            }
        }
        table(&rows, &self.unit.to_string())
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

fn table(rows: &[Row<'_>], unit: &str) -> Table {
    type Get = fn(&Row<'_>) -> Option<f64>;
    let column = |name: &str, unit: &str, doc: &'static str, get: Get| {
        Column::optional_f64s(name, unit, doc, rows.iter().map(get).collect())
    };
    let points = rows.iter().map(|row| u32::try_from(row.points).unwrap_or(u32::MAX)).collect();
    Table::new(vec![
        Column::strings(
            "region",
            "Region; 0 is the whole program.",
            rows.iter().map(|row| row.region),
        ),
        Column::strings("name", "What it is called.", rows.iter().map(|row| &row.name)),
        Column::strings("input", "Program arguments.", rows.iter().map(|row| row.input)),
        Column::u32s("points", "Core counts with a time.", points),
        column("amdahl_serial", "", "Serial fraction by Amdahl's law.", |row| {
            Some(row.amdahl?.serial_fraction)
        }),
        column("amdahl_max_speedup", "", "Speedup that Amdahl's law allows at most.", |row| {
            row.amdahl?.max_speedup()
        }),
        column("amdahl_time", unit, "Time on one core by Amdahl's law.", |row| {
            Some(row.amdahl?.serial_time)
        }),
        column("amdahl_error", "%", "Relative error of times, root mean square.", |row| {
            Some(100.0 * row.amdahl?.relative_error)
        }),
        column("usl_contention", "", "Sigma of the universal scalability law.", |row| {
            Some(row.usl?.contention)
        }),
        column("usl_coherency", "", "Kappa of the universal scalability law.", |row| {
            Some(row.usl?.coherency)
        }),
        column("usl_peak_cores", "", "Cores beyond which more make it slower.", |row| {
            row.usl?.peak_cores()
        }),
        column("usl_error", "%", "Relative error of times, root mean square.", |row| {
            Some(100.0 * row.usl?.relative_error)
        }),
        column("karp_flatt_first", "", "Serial fraction on the fewest cores.", |row| {
            Some(row.serial?.0)
        }),
        column("karp_flatt_last", "", "Serial fraction on the most cores.", |row| {
            Some(row.serial?.1)
        }),
        column(
            "gustafson_serial",
            "",
            "Serial fraction where work grows in proportion to cores.",
            |row| Some(row.gustafson?.serial_fraction),
        ),
        column("gustafson_error", "%", "Error of efficiency, root mean square.", |row| {
            Some(100.0 * row.gustafson?.efficiency_error)
        }),
    ])
}
