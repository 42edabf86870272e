//! What is run next, what is not worth running, and how long the rest takes.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use parallax_analysis::math::{Measure, dispersion};

use crate::plan::{Configuration, Key, Plan, Repetitions};

/// Why the rest of a configuration is not run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Skip {
    /// It failed so often.
    Failures(u32),
    /// At these fewer cores the efficiency is this already.
    Efficiency {
        /// The core count that was measured.
        cores: u32,
        /// Its parallel efficiency, relative to the fewest cores measured of the same input.
        efficiency: f64,
    },
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Next {
    Run(Key),
    /// Said once of each configuration.
    Skip(Configuration, Skip),
}

/// What is known of a configuration.
#[derive(Debug, Default)]
struct Known {
    /// Seconds of the runs that succeeded.
    seconds: Vec<f64>,
    failures: u32,
    /// Seconds of all runs.
    spent: f64,
}

impl Known {
    fn runs(&self) -> f64 {
        self.seconds.len() as f64 + f64::from(self.failures)
    }

    fn median(&self) -> Option<f64> {
        Measure::Median.of(&self.seconds)
    }

    /// Half of the 95 % confidence interval of the mean as a share of the mean.
    fn relative_interval(&self) -> Option<f64> {
        let found = dispersion(&self.seconds)?;
        let (low, high) = found.mean_interval?;
        (found.mean > 0.0).then(|| (high - low) / 2.0 / found.mean)
    }
}

/// The runs of a plan in order, less those that are there or not needed any more.
pub(crate) struct Schedule<'p> {
    plan: &'p Plan,
    keys: Vec<Key>,
    at: usize,
    there: HashSet<Key>,
    known: BTreeMap<Configuration, Known>,
    skipped: HashSet<Configuration>,
}

impl<'p> Schedule<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            keys: plan.keys(),
            at: 0,
            there: HashSet::new(),
            known: BTreeMap::new(),
            skipped: HashSet::new(),
        }
    }

    /// A run was made. It took `spent` seconds, and a complete one takes `seconds`.
    pub(crate) fn add(&mut self, key: Key, is_success: bool, seconds: f64, spent: f64) {
        self.there.insert(key);
        let known = self.known.entry(key.configuration()).or_default();
        known.spent += spent.max(0.0);
        if is_success {
            known.seconds.push(seconds);
        } else {
            known.failures += 1;
        }
    }

    /// All runs that are to be made, where none of them depends on another one.
    pub(crate) fn rest(&self) -> Vec<Key> {
        self.keys.iter().copied().filter(|&key| self.is_needed(key)).collect()
    }

    /// What is to be done next; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Next> {
        while let Some(&key) = self.keys.get(self.at) {
            if self.is_needed(key) {
                let Some(why) = self.hopeless(key.configuration()) else {
                    return Some(Next::Run(key));
                };
                if self.skipped.insert(key.configuration()) {
                    return Some(Next::Skip(key.configuration(), why));
                }
            }
            self.at += 1;
        }
        None
    }

    fn is_needed(&self, key: Key) -> bool {
        !self.there.contains(&key) && self.missing(key.configuration()) > 0.0
    }

    /// How many runs a configuration still needs, as far as one can tell; 0 when it has enough.
    fn missing(&self, configuration: Configuration) -> f64 {
        let known = self.known.get(&configuration);
        let runs = known.map_or(0.0, Known::runs);
        let most = (f64::from(self.plan.repetitions.most()) - runs).max(0.0);
        let Repetitions::UntilInterval { relative, least, .. } = self.plan.repetitions else {
            return most;
        };
        let succeeded = known.map_or(0.0, |known| known.seconds.len() as f64);
        let to_least = f64::from(least) - succeeded;
        if to_least > 0.0 {
            return to_least.min(most);
        }
        match known.and_then(Known::relative_interval) {
            Some(found) if found <= relative => 0.0,
            // The interval shrinks with the root of the number.
            Some(found) => {
                let needed = succeeded * (found / relative).powi(2);
                (needed - succeeded).ceil().max(1.0).min(most)
            }
            None => most,
        }
    }

    /// Whether further runs of a configuration are not worth their time.
    fn hopeless(&self, of: Configuration) -> Option<Skip> {
        if let (Some(limit), Some(known)) = (self.plan.stop.failures, self.known.get(&of))
            && known.failures >= limit
            && known.seconds.is_empty()
        {
            return Some(Skip::Failures(known.failures));
        }
        let limit = self.plan.stop.efficiency?;
        let fewer = self.known.iter().filter(|(other, _)| {
            other.cores < of.cores && (other.frequency, other.input) == (of.frequency, of.input)
        });
        let mut fewer = fewer.filter_map(|(other, known)| {
            Some((other.cores, f64::from(other.cores) * known.median()?))
        });
        // Ascending: the first one has the fewest cores.
        let (_, base) = fewer.next()?;
        fewer.find_map(|(cores, core_seconds)| {
            let efficiency = base / core_seconds;
            (efficiency < limit).then_some(Skip::Efficiency { cores, efficiency })
        })
    }

    /// How many runs are left, and about how long they take; no time is known before the first run.
    pub(crate) fn left(&self) -> (u64, Option<Duration>) {
        let mut configurations: BTreeMap<Configuration, f64> = BTreeMap::new();
        for key in self.keys.iter().skip(self.at).filter(|key| !self.there.contains(key)) {
            *configurations.entry(key.configuration()).or_default() += 1.0;
        }
        let all: (f64, f64) = self
            .known
            .values()
            .fold((0.0, 0.0), |(spent, runs), known| (spent + known.spent, runs + known.runs()));
        let (mut runs, mut seconds) = (0.0, 0.0);
        for (configuration, planned) in configurations {
            if self.hopeless(configuration).is_some() {
                continue;
            }
            let needed = self.missing(configuration).min(planned);
            runs += needed;
            seconds += needed * self.expected(configuration).unwrap_or(all.0 / all.1);
        }
        let pauses = self.plan.pause.as_secs_f64() * runs;
        let time = Duration::try_from_secs_f64(seconds + pauses).ok().filter(|_| all.1 > 0.0);
        // Both are whole numbers of at most 100,000.
        (runs as u64, time)
    }

    /// Seconds of a run, from runs of the same configuration, else of the same input on the nearest
    /// core count and frequency.
    fn expected(&self, of: Configuration) -> Option<f64> {
        let measured = self
            .known
            .iter()
            .filter(|(other, known)| other.input == of.input && known.runs() > 0.0);
        let nearest = measured.min_by_key(|(other, _)| {
            let frequencies = other.frequency.zip(of.frequency);
            (other.cores.abs_diff(of.cores), frequencies.map(|(a, b)| a.abs_diff(b)))
        })?;
        Some(nearest.1.spent / nearest.1.runs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Order, Stop};

    fn plan(repetitions: Repetitions) -> Plan {
        let mut plan = Plan::new("./app", Vec::new(), vec![1, 2, 4]);
        plan.inputs = vec!["a".into(), "b".into()];
        plan.repetitions = repetitions;
        plan.order = Order::Ascending;
        plan
    }

    /// Runs a plan by planted times; `None` fails. The runs by their keys, and what was skipped.
    fn run(
        plan: &Plan,
        mut time: impl FnMut(Key) -> Option<f64>,
    ) -> (Vec<String>, Vec<(u32, Skip)>) {
        let mut schedule = Schedule::new(plan);
        let (mut runs, mut skipped) = (Vec::new(), Vec::new());
        while let Some(next) = schedule.next() {
            match next {
                Next::Run(key) => {
                    runs.push(key.text());
                    let seconds = time(key);
                    schedule.add(key, seconds.is_some(), seconds.unwrap_or(1.0), 1.0);
                }
                Next::Skip(of, why) => skipped.push((of.cores, why)),
            }
        }
        assert_eq!(schedule.left().0, 0);
        (runs, skipped)
    }

    #[test]
    fn what_is_there_is_not_run_again() {
        let plan = plan(Repetitions::Fixed(2));
        let mut schedule = Schedule::new(&plan);
        for text in ["1;0;1", "1;0;2", "2;1;1", "4;1;2"] {
            schedule.add(plan.key_of(text).unwrap(), true, 1.0, 1.0);
        }
        let mut found = Vec::new();
        while let Some(Next::Run(key)) = schedule.next() {
            schedule.add(key, true, 1.0, 1.0);
            found.push(key.text());
        }
        let expected = ["1;1;1", "1;1;2", "2;0;1", "2;0;2", "2;1;2", "4;0;1", "4;0;2", "4;1;1"];
        assert_eq!(found, expected);
    }

    #[test]
    fn repetitions_end_when_the_interval_is_narrow() {
        let until = Repetitions::UntilInterval { relative: 0.05, least: 3, most: 8 };
        // Input 0 is exact, input 1 varies by a third and never gets there.
        let time = |key: Key| match key.input {
            Some(0) => Some(1.0),
            _ => Some(if key.repetition.is_multiple_of(2) { 1.0 } else { 1.5 }),
        };
        let (runs, _) = run(&plan(until), time);
        let of = |start: &str| runs.iter().filter(|run| run.starts_with(start)).count();
        assert_eq!((of("2;0;"), of("2;1;")), (3, 8));
        // Planted: a spread of 1 % around 1. With three values t = 4.303, so the half width is
        // 4.303 * 0.01 / sqrt(3) = 2.5 %: enough for 3 %, not for 2 %.
        let time = |key: Key| Some([1.0, 0.99, 1.01][(key.repetition as usize - 1) % 3]);
        for (relative, expected) in [(0.03, 3), (0.02, 4)] {
            let until = Repetitions::UntilInterval { relative, least: 2, most: 30 };
            let mut exact = plan(until);
            exact.cores = vec![1];
            // Two values 1.0 and 0.99: 12.7 * 0.00707 / sqrt(2) = 6.4 %.
            let (runs, _) = run(&exact, time);
            assert_eq!(runs.iter().filter(|run| run.starts_with("1;0;")).count(), expected);
        }
    }

    #[test]
    fn failures_do_not_count_towards_an_interval() {
        let until = Repetitions::UntilInterval { relative: 0.05, least: 2, most: 6 };
        let time = |key: Key| (key.repetition > 2).then_some(1.0);
        let (runs, _) = run(&plan(until), time);
        assert_eq!(runs.iter().filter(|run| run.starts_with("4;1;")).count(), 4);
    }

    #[test]
    fn configurations_that_only_fail_are_given_up() {
        let mut plan = plan(Repetitions::Fixed(5));
        plan.stop = Stop { failures: Some(2), efficiency: None };
        let time =
            |key: Key| (key.cores != 2 && (key.cores != 4 || key.repetition != 1)).then_some(1.0);
        let (runs, skipped) = run(&plan, time);
        let of = |start: &str| runs.iter().filter(|run| run.starts_with(start)).count();
        assert_eq!((of("1;0;"), of("2;0;"), of("4;0;")), (5, 2, 5));
        assert_eq!(skipped, [(2, Skip::Failures(2)), (2, Skip::Failures(2))]);
        plan.stop = Stop::default();
        assert_eq!(run(&plan, |_| None).0.len(), 30);
    }

    #[test]
    fn more_cores_are_not_tried_where_fewer_bring_nothing() {
        let mut plan = plan(Repetitions::Fixed(2));
        plan.cores = vec![1, 2, 4, 8];
        plan.stop = Stop { failures: None, efficiency: Some(0.5) };
        // Input 0 stops at two cores: T(1) = 8, T(2) = 5 (80 %), T(4) = 5 (40 %). Input 1 is perfect.
        let time = |key: Key| match (key.input, key.cores) {
            (Some(0), 1) => Some(8.0),
            (Some(0), _) => Some(5.0),
            (_, cores) => Some(8.0 / f64::from(cores)),
        };
        for order in [Order::Ascending, Order::Interleaved] {
            plan.order = order;
            let (runs, skipped) = run(&plan, time);
            assert_eq!(skipped, [(8, Skip::Efficiency { cores: 4, efficiency: 0.4 })]);
            assert!(!runs.iter().any(|run| run.starts_with("8;0;")) && runs.len() == 14);
        }
    }

    #[test]
    fn the_time_left_follows_what_is_known() {
        let plan = plan(Repetitions::Fixed(2));
        let mut schedule = Schedule::new(&plan);
        assert_eq!(schedule.left(), (12, None));
        let key = |text| plan.key_of(text).unwrap();
        schedule.add(key("1;0;1"), true, 10.0, 10.0);
        // Nothing else is known: eleven runs like this one.
        assert_eq!(schedule.left(), (11, Some(Duration::from_secs(110))));
        schedule.add(key("2;0;1"), true, 6.0, 6.0);
        schedule.add(key("1;1;1"), true, 100.0, 100.0);
        // Input 0: one of 10, one of 6, two as on 2 cores. Input 1: five as on 1 core.
        assert_eq!(schedule.left(), (9, Some(Duration::from_secs(10 + 6 + 12 + 500))));
    }
}
