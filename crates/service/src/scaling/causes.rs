//! Why a region loses, as far as the distribution over locations shows it.

use std::collections::{BTreeMap, BTreeSet};

use parallax_analysis::scaling::Spread;
use parallax_base::capitalised;
use parallax_model::ensemble::{Ensemble, Region, Sample, metric_names};

use super::answer::is_mpi;
use super::axes::{Axes, RunChoice};

/// Why a region loses.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// Few of several locations do all of it.
    Serial {
        /// How many locations would do the same work if each took as long as the slowest.
        working: f64,
        /// Number of locations.
        locations: f64,
    },
    /// Some locations take much longer than others.
    Imbalance {
        /// `(max - mean) / max` over the locations.
        imbalance: f64,
    },
    /// It is a call of MPI: communication, or waiting for others.
    Communication,
}

/// Up to this share of the locations (mean over the largest), or this number of them, a region
/// is serial.
const SERIAL_SHARE: f64 = 0.25;
const SERIAL_NUMBER: f64 = 1.2;
/// Up to this speedup a region makes no use of more cores.
pub(super) const NO_SPEEDUP: f64 = 1.2;
/// From this on an imbalance is worth a word.
const IMBALANCED: f64 = 0.15;

impl Cause {
    /// What the distribution at one configuration says of a region. A region that one thread
    /// enters may start others inside, so it is serial only where it makes no use of the cores:
    /// `unused` says how many there are.
    pub(super) fn of(region: &Region, cell: Cell, unused: Option<u32>) -> Option<Self> {
        if is_mpi(&region.name) {
            return Some(Self::Communication);
        }
        if cell.is_alone {
            return unused.map(|cores| Self::Serial { working: 1.0, locations: f64::from(cores) });
        }
        match cell {
            Cell { locations: Some(n), imbalance, .. } if n >= 2.0 => {
                let working = n * (1.0 - imbalance);
                if working <= SERIAL_NUMBER || working <= SERIAL_SHARE * n {
                    return Some(Self::Serial { working, locations: n });
                }
                (imbalance >= IMBALANCED).then_some(Self::Imbalance { imbalance })
            }
            Cell { locations: None, imbalance, .. } => {
                (imbalance >= IMBALANCED).then_some(Self::Imbalance { imbalance })
            }
            // Of one location nothing is known about the others.
            Cell { .. } => None,
        }
    }

    /// The cause as a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}.", capitalised(&self.words()))
    }

    /// The cause as a clause.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Serial { working, locations } => {
                format!(
                    "serialisation: equivalent to {working:.1} of {locations} ranks or threads \
                         working"
                )
            }
            Self::Imbalance { imbalance } => format!(
                "load imbalance: maximum is {:.2} times the mean",
                1.0 / (1.0 - imbalance).max(1e-3)
            ),
            Self::Communication => "MPI time (transfer or wait)".to_owned(),
        }
    }
}

/// The distribution over locations of a region at one configuration, mean over repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell {
    /// Number of locations, where it is known.
    pub(super) locations: Option<f64>,
    /// `(max - mean) / max`.
    pub(super) imbalance: f64,
    /// In every repetition one thread alone entered it, while others entered other regions.
    pub(super) is_alone: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    imbalance: f64,
    locations: f64,
    count: f64,
    /// Repetitions in which one thread alone entered the region.
    alone: f64,
}

/// The distribution over locations of every region at every configuration.
pub(super) struct Spreads {
    cells: BTreeMap<(u32, usize, u32), Sum>,
}

impl Spreads {
    pub(super) fn of(ensemble: &Ensemble, axes: &Axes, runs: RunChoice) -> Self {
        let mut cells: BTreeMap<(u32, usize, u32), Sum> = BTreeMap::new();
        let num_regions = ensemble.regions().len();
        let [time, max, mean, count, told] = [
            metric_names::TIME,
            metric_names::LOCATION_MAX,
            metric_names::LOCATION_MEAN,
            metric_names::LOCATIONS,
            metric_names::IMBALANCE,
        ]
        .map(|name| ensemble.metric(name));
        let samples_of = |metric: Option<u16>, region| {
            metric.map(|metric| ensemble.samples_of(metric, region)).unwrap_or_default()
        };
        // Where no region has several threads, the file may not distinguish them.
        let threaded: BTreeSet<u32> = (0..)
            .take(num_regions)
            .flat_map(|region| samples_of(count, region))
            .map(|sample| sample.run)
            .collect();
        for region in (0..).take(num_regions) {
            let [time, max, mean, count, told] =
                [time, max, mean, count, told].map(|metric| samples_of(metric, region));
            let value = |list: &[Sample], run: u32| {
                let at = list.binary_search_by_key(&run, |sample| sample.run).ok()?;
                list.get(at).map(|sample| sample.value)
            };
            // Sources that time threads leave out a largest time that equals the region's time, and
            // everything about threads where there is one only.
            let measured = mean.iter().filter_map(|sample| {
                let max = value(max, sample.run).or_else(|| value(time, sample.run))?;
                let locations = value(count, sample.run).unwrap_or(0.0);
                Some((sample.run, (max - sample.value) / max, locations, 0.0))
            });
            let alone = time.iter().map(|sample| sample.run).filter(|&run| {
                threaded.contains(&run) && value(mean, run).is_none() && value(told, run).is_none()
            });
            let alone = alone.map(|run| (run, 0.0, 1.0, 1.0));
            let told = told.iter().map(|sample| (sample.run, sample.value, 0.0, 0.0));
            for (run, imbalance, locations, alone) in measured.chain(alone).chain(told) {
                let Some(run) = ensemble.runs().get(run as usize) else { continue };
                let is_left_out = runs == RunChoice::Trusted && !run.is_trusted;
                let Some((input, cores)) = axes.cell(run.coordinate).filter(|_| !is_left_out)
                else {
                    continue;
                };
                if !imbalance.is_finite() {
                    continue;
                }
                let sum = cells.entry((region, input, cores)).or_default();
                sum.imbalance += imbalance.max(0.0);
                sum.locations += locations;
                sum.count += 1.0;
                sum.alone += alone;
            }
        }
        Self { cells }
    }

    /// The distribution at one configuration.
    pub(super) fn at(&self, region: u32, input: usize, cores: u32) -> Option<Cell> {
        self.cells.get(&(region, input, cores)).map(cell)
    }

    /// Smallest, mean and largest imbalance of a region over the configurations.
    pub(super) fn of_region(&self, region: u32) -> Option<Spread> {
        let range = self.cells.range((region, 0, 0)..=(region, usize::MAX, u32::MAX));
        let values: Vec<f64> = range
            .map(|(_, sum)| cell(sum))
            .filter(|cell| !cell.is_alone)
            .map(|cell| cell.imbalance)
            .collect();
        let min = values.iter().copied().reduce(f64::min)?;
        let max = values.iter().copied().reduce(f64::max)?;
        Some(Spread { min, mean: values.iter().sum::<f64>() / values.len() as f64, max })
    }
}

fn cell(sum: &Sum) -> Cell {
    let locations = sum.locations / sum.count;
    Cell {
        locations: (locations > 0.0).then_some(locations),
        imbalance: sum.imbalance / sum.count,
        is_alone: sum.alone >= sum.count,
    }
}
