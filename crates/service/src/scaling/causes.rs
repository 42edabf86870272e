//! Why a region loses, as far as the distribution over locations shows it.

use std::collections::BTreeMap;

use parallax_analysis::scaling::Spread;
use parallax_model::ensemble::{Ensemble, Region, metric_names};

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
    /// What the distribution at one configuration says of a region. A region that
    /// one thread enters may start others inside, so only one that makes no use of the cores is
    /// serial: `unused` says how many there are.
    pub(super) fn of(region: &Region, cell: Cell, unused: Option<u32>) -> Option<Self> {
        if is_mpi(&region.name) {
            return Some(Self::Communication);
        }
        match cell {
            Cell { locations: Some(n), imbalance } if n >= 2.0 => {
                let working = n * (1.0 - imbalance);
                if working <= SERIAL_NUMBER || working <= SERIAL_SHARE * n {
                    return Some(Self::Serial { working, locations: n });
                }
                (imbalance >= IMBALANCED).then_some(Self::Imbalance { imbalance })
            }
            Cell { locations: None, imbalance } => {
                (imbalance >= IMBALANCED).then_some(Self::Imbalance { imbalance })
            }
            Cell { .. } => {
                unused.map(|cores| Self::Serial { working: 1.0, locations: f64::from(cores) })
            }
        }
    }

    /// One clause for people.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Serial { working, locations } => {
                format!("serial: as if {working:.1} of {locations} ranks or threads did all of it")
            }
            Self::Imbalance { imbalance } => format!(
                "imbalance: the slowest takes {:.2} times the mean",
                1.0 / (1.0 - imbalance).max(1e-3)
            ),
            Self::Communication => "communication, or waiting for others".to_owned(),
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
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    imbalance: f64,
    locations: f64,
    count: f64,
}

/// The distribution over locations of every region at every configuration.
pub(super) struct Spreads {
    cells: BTreeMap<(u32, usize, u32), Sum>,
}

impl Spreads {
    pub(super) fn of(ensemble: &Ensemble, axes: &Axes, runs: RunChoice) -> Self {
        let mut cells: BTreeMap<(u32, usize, u32), Sum> = BTreeMap::new();
        let [time, max, mean, count, told] = [
            metric_names::TIME,
            metric_names::LOCATION_MAX,
            metric_names::LOCATION_MEAN,
            metric_names::LOCATIONS,
            metric_names::IMBALANCE,
        ]
        .map(|name| ensemble.metric(name));
        for region in (0..).take(ensemble.regions().len()) {
            let samples = |metric: Option<u16>| {
                metric.map(|metric| ensemble.samples_of(metric, region)).unwrap_or_default()
            };
            let value = |metric: Option<u16>, run: u32| {
                let list = samples(metric);
                let at = list.binary_search_by_key(&run, |sample| sample.run).ok()?;
                list.get(at).map(|sample| sample.value)
            };
            // Sources that time threads leave out a largest time that equals the region's time, and
            // everything about threads where there is one only.
            let measured = samples(mean).iter().filter_map(|sample| {
                let max = value(max, sample.run).or_else(|| value(time, sample.run))?;
                let locations = value(count, sample.run).unwrap_or(0.0);
                Some((sample.run, (max - sample.value) / max, locations))
            });
            let alone = samples(time.filter(|_| count.is_some())).iter();
            let alone = alone.filter(|sample| value(mean, sample.run).is_none());
            let measured = measured.chain(alone.map(|sample| (sample.run, 0.0, 1.0)));
            let told = samples(told).iter().map(|sample| (sample.run, sample.value, 0.0));
            for (run, imbalance, locations) in measured.chain(told) {
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
            .filter(|cell| cell.locations != Some(1.0))
            .map(|cell| cell.imbalance)
            .collect();
        let min = values.iter().copied().reduce(f64::min)?;
        let max = values.iter().copied().reduce(f64::max)?;
        Some(Spread { min, mean: values.iter().sum::<f64>() / values.len() as f64, max })
    }
}

fn cell(sum: &Sum) -> Cell {
    let locations = sum.locations / sum.count;
    Cell { locations: (locations > 0.0).then_some(locations), imbalance: sum.imbalance / sum.count }
}
