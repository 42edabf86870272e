//! Energy of a run, from the counters that the kernel reads from the processor (RAPL).
//!
//! `/sys/class/powercap/intel-rapl:N` is a package (AMD's processors have the same name), with
//! `energy_uj`, which counts microjoules and begins again at `max_energy_range_uj`.
//! What else runs on the machine is in the counters, too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::SweepError;
use crate::series::Sampler;

/// Where the kernel has the counters.
pub(crate) const SYSTEM: &str = "/sys/class/powercap";

/// The field of a run, as PaScal Analyzer calls it.
pub(crate) const FIELD: &str = "rapl-sysfs";

/// How often counters are read: well before they begin again, which takes a busy package minutes.
const PERIOD: Duration = Duration::from_secs(20);

/// The counter of a package.
#[derive(Debug, Clone)]
struct Counter {
    file: PathBuf,
    /// The number of microjoules at which it begins again.
    range: u64,
}

/// The counters of all packages.
#[derive(Debug, Clone)]
pub(crate) struct Counters {
    packages: Vec<Counter>,
}

impl Counters {
    /// The counters below a folder, each of which can be read.
    ///
    /// # Errors
    /// When there are none, or when one cannot be read.
    pub(crate) fn open(system: &Path) -> Result<Self, SweepError> {
        let mut packages = Vec::new();
        let folders = fs::read_dir(system).map(|entries| entries.filter_map(Result::ok));
        let mut folders: Vec<PathBuf> =
            folders.into_iter().flatten().map(|entry| entry.path()).collect();
        folders.sort();
        for folder in folders {
            let name = fs::read_to_string(folder.join("name")).unwrap_or_default();
            if !name.starts_with("package") {
                continue;
            }
            let unreadable = |file: &Path, error: &io::Error| {
                SweepError::Plan(format!(
                    "cannot read {} ({error}): energy needs root, or `chmod a+r` of this file",
                    file.display()
                ))
            };
            let [file, range] = ["energy_uj", "max_energy_range_uj"].map(|name| folder.join(name));
            number(&file).map_err(|error| unreadable(&file, &error))?;
            let range = number(&range).map_err(|error| unreadable(&range, &error))?;
            packages.push(Counter { file, range });
        }
        if packages.is_empty() {
            return Err(SweepError::Plan(format!(
                "this machine has no energy counters ({} has no package); measure without --energy, \
                 or on the machine itself instead of a virtual one",
                system.display()
            )));
        }
        Ok(Self { packages })
    }

    fn read(&self) -> io::Result<Vec<u64>> {
        self.packages.iter().map(|counter| number(&counter.file)).collect()
    }

    /// Microjoules between two readings.
    fn between(&self, before: &[u64], after: &[u64]) -> u64 {
        let readings = self.packages.iter().zip(before.iter().zip(after));
        readings
            .map(|(counter, (&before, &after))| match after.checked_sub(before) {
                Some(more) => more,
                None => counter.range.saturating_sub(before).saturating_add(after),
            })
            .fold(0, u64::saturating_add)
    }
}

/// Adds up the energy until it is stopped.
pub(crate) struct Meter {
    /// Microjoules since the start.
    sampler: Sampler<u64>,
}

impl Meter {
    /// `sample`: how often power is wanted; without it, only the sum.
    pub(crate) fn start(counters: Counters, sample: Option<Duration>) -> io::Result<Self> {
        let mut last = counters.read()?;
        let mut sum = 0_u64;
        let period = sample.map_or(PERIOD, |time| time.min(PERIOD));
        let sampler = Sampler::start(period, Some(0), move |_| {
            let now = counters.read()?;
            sum = sum.saturating_add(counters.between(&last, &now));
            last = now;
            Ok(sum)
        });
        Ok(Self { sampler })
    }

    /// Moments and microjoules since the start; none when a counter could not be read any more.
    pub(crate) fn stop(self) -> Option<Vec<(Instant, u64)>> {
        self.sampler.stop()
    }
}

/// All of the energy that was metered, in joules.
pub(crate) fn joules(metered: &[(Instant, u64)]) -> Option<f64> {
    Some(metered.last()?.1 as f64 / 1e6)
}

/// Mean power between each two readings, in watts, at the moment between them: so energy is the
/// integral of power again.
pub(crate) fn power(metered: &[(Instant, u64)]) -> Vec<(Instant, f64)> {
    let mut points = metered.to_vec();
    // The last interval ends when the program does. Power over a short one says nothing, because
    // the counters change in steps.
    if let [.., third, second, last] = points.as_slice()
        && last.0.duration_since(second.0) * 2 < second.0.duration_since(third.0)
    {
        points.remove(points.len() - 2);
    }
    let pairs = points.iter().zip(points.iter().skip(1));
    let pairs = pairs.filter(|(before, after)| after.0 > before.0);
    pairs
        .map(|(before, after)| {
            let time = after.0.duration_since(before.0);
            let joules = after.1.saturating_sub(before.1) as f64 / 1e6;
            (before.0 + time / 2, joules / time.as_secs_f64())
        })
        .collect()
}

fn number(file: &Path) -> io::Result<u64> {
    fs::read_to_string(file)?.trim().parse().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with these domains: name, microjoules, range.
    fn machine(domains: &[(&str, &str, u64, u64)]) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        for (folder, name, energy, range) in domains {
            let folder = place.path().join(folder);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("name"), format!("{name}\n")).unwrap();
            fs::write(folder.join("energy_uj"), format!("{energy}\n")).unwrap();
            fs::write(folder.join("max_energy_range_uj"), format!("{range}\n")).unwrap();
        }
        place
    }

    #[test]
    fn energy_is_that_of_all_packages_also_when_a_counter_begins_again() {
        let place = machine(&[
            ("intel-rapl:0", "package-0", 900, 1_000),
            ("intel-rapl:1", "package-1", 10, 1_000),
            // A part of a package, and what counts it twice.
            ("intel-rapl:0:0", "core", 5, 1_000),
            ("intel-rapl:2", "psys", 5, 1_000),
        ]);
        let meter = Meter::start(Counters::open(place.path()).unwrap(), None).unwrap();
        for (folder, energy) in [("intel-rapl:0", 50), ("intel-rapl:1", 30), ("intel-rapl:2", 999)]
        {
            fs::write(place.path().join(folder).join("energy_uj"), energy.to_string()).unwrap();
        }
        assert_eq!(joules(&meter.stop().unwrap()), Some(170e-6));
    }

    #[test]
    fn the_integral_of_power_is_the_energy() {
        let begun = Instant::now();
        let at = |milliseconds| begun + Duration::from_millis(milliseconds);
        // 100 W, then 50 W; the last reading comes 10 ms after the one before.
        let metered = [(0, 0), (100, 10), (200, 20), (300, 25), (400, 30), (410, 31)]
            .map(|(time, joules)| (at(time), joules * 1_000_000));
        let found = power(&metered);
        let times: Vec<Instant> = found.iter().map(|sample| sample.0).collect();
        assert_eq!(times, [50, 150, 250, 355].map(at));
        let watts: Vec<i64> = found.iter().map(|sample| sample.1.round() as i64).collect();
        assert_eq!(watts, [100, 100, 50, 55]);
        assert_eq!(joules(&metered), Some(31.0));
        assert!(power(&metered[..1]).is_empty());
    }

    #[test]
    fn a_machine_without_counters_is_told_before_anything_runs() {
        let empty = tempfile::tempdir().unwrap();
        for place in [empty.path(), Path::new("/nowhere")] {
            let error = Counters::open(place).unwrap_err();
            assert!(error.is_misuse());
            assert!(
                error.to_string().starts_with("this machine has no energy counters"),
                "{error}"
            );
        }
        let place = machine(&[("intel-rapl:0", "package-0", 1, 2)]);
        fs::remove_file(place.path().join("intel-rapl:0/energy_uj")).unwrap();
        let error = Counters::open(place.path()).unwrap_err().to_string();
        assert!(error.contains("energy_uj") && error.contains("root"), "{error}");
    }
}
