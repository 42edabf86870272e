//! Series within a run: what is read at an interval while the program runs.
//!
//! In the file they are the `sensors` of a run, under the names and in the form that PaScal Analyzer
//! has for them: power as `[watts, time]`, events as `[[count, ...], time]`, times of the epoch.

use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

/// The group of a run, and what its descriptor says of an entry.
pub(crate) const GROUP: &str = "sensors";
pub(crate) const VALUES: [&str; 2] = ["info", "time"];

/// Power of all packages from their counters of energy, in watts.
const RAPL: &str = "rapl_sample-sysfs";

/// Power of the machine as its management controller reports it, in watts.
const IPMI: &str = "ipmi";

/// Events from the start of the run on.
const COUNTS: &str = "fingerprint_sample";

/// Readings that are kept at most: of longer runs every second one is dropped, again and again.
const MOST: usize = 20_000;

/// The shortest interval: the counters of energy change once a millisecond.
pub(crate) const SHORTEST: Duration = Duration::from_millis(1);

/// The interval where none is named, as PaScal Analyzer has it.
pub const SAMPLE_PERIOD: Duration = Duration::from_millis(100);

/// What was read during a run. Times are seconds of the epoch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Time, and watts of all processors.
    pub packages: Vec<(f64, f64)>,
    /// Time, and watts of the machine.
    pub machine: Vec<(f64, f64)>,
    /// Time, and how often each event that is counted had happened by then, in their order.
    pub counts: Vec<(f64, Vec<u64>)>,
}

impl Series {
    /// The sensors of a run; none: nothing was read.
    pub(crate) fn sensors(&self) -> Option<Value> {
        let mut sensors = Map::new();
        for (name, samples) in [(RAPL, &self.packages), (IPMI, &self.machine)] {
            if !samples.is_empty() {
                let samples = samples.iter().map(|&(time, watts)| json!([watts, time]));
                sensors.insert(name.to_owned(), samples.collect());
            }
        }
        if !self.counts.is_empty() {
            let samples = self.counts.iter().map(|(time, counts)| json!([counts, time]));
            sensors.insert(COUNTS.to_owned(), samples.collect());
        }
        (!sensors.is_empty()).then_some(Value::Object(sensors))
    }

    pub(crate) fn to_value(&self) -> Value {
        json!([self.packages, self.machine, self.counts])
    }

    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        let watts = |value: &Value| -> Option<Vec<(f64, f64)>> {
            let pairs = value.as_array()?.iter();
            pairs.map(|pair| Some((pair.get(0)?.as_f64()?, pair.get(1)?.as_f64()?))).collect()
        };
        let counts = value.get(2)?.as_array()?.iter().map(|sample| {
            let counts = sample.get(1)?.as_array()?.iter().map(Value::as_u64);
            Some((sample.get(0)?.as_f64()?, counts.collect::<Option<_>>()?))
        });
        Some(Self {
            packages: watts(value.get(0)?)?,
            machine: watts(value.get(1)?)?,
            counts: counts.collect::<Option<_>>()?,
        })
    }
}

/// Reads something at an interval, on a thread of its own, until it is stopped.
pub(crate) struct Sampler<T> {
    stop: Sender<()>,
    thread: JoinHandle<io::Result<Vec<(Instant, T)>>>,
}

impl<T: Send + 'static> Sampler<T> {
    /// `first` is the reading of this moment; without it, the first one is made at once. `read` is
    /// called after each `period`, and a last time, with true, at the end.
    pub(crate) fn start(
        period: Duration,
        first: Option<T>,
        mut read: impl FnMut(bool) -> io::Result<T> + Send + 'static,
    ) -> Self {
        let (stop, stopped) = channel();
        let begun = Instant::now();
        let thread = thread::spawn(move || {
            let mut period = period;
            let mut due = if first.is_some() { begun + period } else { begun };
            let mut samples: Vec<(Instant, T)> =
                first.map(|first| (begun, first)).into_iter().collect();
            loop {
                let left = due.saturating_duration_since(Instant::now());
                let is_last = stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout);
                let value = read(is_last)?;
                let now = Instant::now();
                samples.push((now, value));
                if is_last {
                    return Ok(samples);
                }
                if samples.len() >= MOST {
                    let mut is_kept = false;
                    samples.retain(|_| {
                        is_kept = !is_kept;
                        is_kept
                    });
                    period *= 2;
                }
                // What was missed is not made up for.
                due = (due + period).max(now);
            }
        });
        Self { stop, thread }
    }

    /// What was read, the first and the last reading included; none when one of them failed.
    pub(crate) fn stop(self) -> Option<Vec<(Instant, T)>> {
        let _ = self.stop.send(());
        self.thread.join().ok()?.ok()
    }
}

/// A moment as seconds of the epoch, in whole microseconds; `at` and `epoch` are the same moment.
pub(crate) fn time_of(moment: Instant, at: Instant, epoch: f64) -> f64 {
    let since = match moment.checked_duration_since(at) {
        Some(after) => after.as_secs_f64(),
        None => -at.duration_since(moment).as_secs_f64(),
    };
    rounded(epoch + since, 1e6)
}

/// A number with few digits, because a file has many of them.
pub(crate) fn rounded(value: f64, scale: f64) -> f64 {
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_reading_are_always_there() {
        let mut number = 0;
        let sampler = Sampler::start(Duration::from_secs(3600), Some(0), move |_| {
            number += 1;
            Ok(number)
        });
        let values: Vec<i32> =
            sampler.stop().unwrap().into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, [0, 1]);
        let failing = Sampler::start(SHORTEST, Some(0), |_| Err(io::Error::other("gone")));
        assert!(failing.stop().is_none());
    }

    #[test]
    fn a_long_series_is_thinned_over_all_of_its_time() {
        let (sender, receiver) = channel();
        let mut number = 0;
        let sampler = Sampler::start(Duration::ZERO, Some(0_usize), move |_| {
            number += 1;
            if number == 3 * MOST {
                let _ = sender.send(());
            }
            Ok(number)
        });
        receiver.recv().unwrap();
        let values: Vec<usize> = sampler.stop().unwrap().into_iter().map(|pair| pair.1).collect();
        assert!((MOST / 2..=MOST).contains(&values.len()), "{}", values.len());
        assert!(values.is_sorted() && values[0] == 0 && *values.last().unwrap() > 3 * MOST);
        assert!(values[values.len() / 2] > MOST, "not only the end is thin");
    }
}
