//! Runs that are ended after their first iterations, whose time is then estimated.
//!
//! The program marks an iteration as a region. Times are taken from its marks, and not from the
//! moment at which it was ended. ADR 0110 has the reasons.

use std::fmt;
use std::str::FromStr;

use parallax_analysis::math::{Measure, dispersion};
use serde_json::{Map, Value, json};

use crate::SweepError;
use crate::regions::{Numbered, Part};

/// Fewest iterations that have a median besides the first one.
const FEWEST: u64 = 3;

/// Of how many values a trend is looked for at most; more are averaged in groups.
const MOST_OF_TREND: usize = 512;

/// When runs are ended, and what is known of complete ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstIterations {
    /// The region that is an iteration.
    pub region: IterationRegion,
    /// How many are measured.
    pub from: u64,
    /// How many a complete run has: of all inputs, or of each; none: the first run of each input is
    /// complete, and they are counted.
    pub of: Vec<u64>,
}

impl FirstIterations {
    /// Whether runs of these inputs can be ended so.
    pub(crate) fn check(&self, num_inputs: usize) -> Result<(), SweepError> {
        let wrong = |why: String| Err(SweepError::Plan(why));
        if self.from < FEWEST {
            return wrong(format!(
                "--estimate-from is below {FEWEST}: the first iteration is often slower, and the \
                 others need a median"
            ));
        }
        if self.of.len() > 1 && self.of.len() != num_inputs {
            return wrong(format!(
                "--iterations has {} numbers for {num_inputs} inputs; name one, or one for each \
                 input",
                self.of.len()
            ));
        }
        match self.of.iter().find(|&&of| of <= self.from) {
            Some(of) => wrong(format!(
                "a complete run has {of} --iterations, and --estimate-from {} are no less",
                self.from
            )),
            None => Ok(()),
        }
    }

    /// How many iterations a complete run of an input has, where that was said.
    pub(crate) fn of(&self, input: Option<u32>) -> Option<u64> {
        match self.of.as_slice() {
            [one] => Some(*one),
            each => each.get(input? as usize).copied(),
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        json!({ "region": self.region.to_string(), "from": self.from, "of": self.of })
    }
}

/// The region that is an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IterationRegion {
    /// The end of its path: `2` is region 1.2 as well.
    Path(Vec<i64>),
    /// A parallel region without marks, by its place.
    Line {
        /// The end of the path of the file.
        file: String,
        /// The line as it is reported.
        line: u32,
    },
}

impl FromStr for IterationRegion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<i64>, _> = text.split('.').map(str::parse).collect();
        if let Ok(numbers) = numbers {
            return Ok(Self::Path(numbers));
        }
        let place = text.rsplit_once(':').and_then(|(file, line)| {
            let line = line.parse().ok()?;
            (!file.is_empty()).then(|| Self::Line { file: file.to_owned(), line })
        });
        place.ok_or_else(|| "expected a region such as 2, 1.2 or solver.c:27".to_owned())
    }
}

impl fmt::Display for IterationRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(numbers) => {
                let parts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                f.write_str(&parts.join("."))
            }
            Self::Line { file, line } => write!(f, "{file}:{line}"),
        }
    }
}

impl IterationRegion {
    /// Whether a region is the one.
    pub(crate) fn is_of(&self, path: &[Part], bodies: &Numbered) -> bool {
        match self {
            Self::Path(numbers) => {
                let Some(first) = path.len().checked_sub(numbers.len()) else { return false };
                let end = path.get(first..).unwrap_or_default();
                let number = |part: &Part| match part {
                    Part::Mark(id) => Some(*id),
                    Part::Body(place) => bodies.get(place).map(|body| body.number),
                };
                end.iter().map(number).eq(numbers.iter().copied().map(Some))
            }
            Self::Line { file, line } => {
                let Some(Part::Body(place)) = path.last() else { return false };
                bodies.get(place).is_some_and(|body| {
                    let rest = body.file.strip_suffix(file.as_str());
                    body.line == *line && rest.is_some_and(|rest| rest.ends_with(['/', ':']))
                })
            }
        }
    }

    /// Whether bodies of parallel regions must be known to tell.
    #[cfg(target_os = "linux")]
    pub(crate) const fn needs_bodies(&self) -> bool {
        matches!(self, Self::Line { .. })
    }
}

/// The iterations of a process: those of the thread that has most of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Iterations {
    pub(crate) process: usize,
    /// Start and stop of each, in the order of their ends.
    spans: Vec<(f64, f64)>,
}

/// From the end of the first iteration to the end of the last one that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Window {
    pub(crate) start: f64,
    pub(crate) stop: f64,
}

impl Iterations {
    pub(crate) const fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn window(&self, from: u64) -> Option<Window> {
        let last = usize::try_from(from).ok()?.min(self.spans.len()).checked_sub(1)?;
        Some(Window { start: self.spans.first()?.1, stop: self.spans.get(last)?.1 })
    }
}

/// The iterations of each process, from those of all threads: thread, start and stop.
pub(crate) fn by_process(
    all: impl Iterator<Item = (usize, f64, f64)>,
    process: impl Fn(usize) -> usize,
) -> Vec<Iterations> {
    let mut threads: std::collections::BTreeMap<usize, Vec<(f64, f64)>> = Default::default();
    for (thread, start, stop) in all {
        threads.entry(thread).or_default().push((start, stop));
    }
    let mut found: Vec<Iterations> = Vec::new();
    for (thread, spans) in threads {
        let process = process(thread);
        match found.last_mut().filter(|last| last.process == process) {
            Some(last) if last.spans.len() >= spans.len() => {}
            Some(last) => last.spans = spans,
            None => found.push(Iterations { process, spans }),
        }
    }
    for own in &mut found {
        own.spans.sort_by(|a, b| a.1.total_cmp(&b.1));
    }
    found
}

/// What is asked of the iterations of a run.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) region: &'a IterationRegion,
    pub(crate) from: u64,
    /// Whether the run was ended after the first ones, and how many a complete run has.
    pub(crate) ended_of: Option<u64>,
    /// When the run began, in seconds since 1970.
    pub(crate) start: f64,
}

/// The time of a complete run, from its first iterations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Iterations that were measured.
    pub from: u64,
    /// Iterations of a complete run.
    pub of: u64,
    /// The time from the start to the end of the last iteration.
    pub seconds: f64,
    /// Between which seconds it lies with 95 % confidence, if all iterations are like the first.
    pub interval: (f64, f64),
    /// The time if the trend of the iterations goes on, where they have one that leads out of the
    /// interval.
    pub with_trend: Option<f64>,
    /// The median of the iterations after the first one, in seconds.
    pub median: f64,
    /// By what the times after the first iteration are multiplied.
    pub(crate) factor: f64,
}

impl Request<'_> {
    /// What the slowest process says.
    pub(crate) fn estimate(&self, iterations: &[Iterations]) -> Option<Estimate> {
        let of = |own: &Iterations| {
            let of = self.ended_of.unwrap_or(own.len() as u64);
            let from = usize::try_from(self.from).ok()?;
            Estimate::of(self.start, own.spans.get(..from)?, of)
        };
        let all = iterations.iter().filter_map(of);
        all.max_by(|a, b| a.seconds.total_cmp(&b.seconds))
    }
}

impl Estimate {
    /// From the first iterations, of which the first counts with its own time only.
    fn of(start: f64, first: &[(f64, f64)], of: u64) -> Option<Self> {
        let from = first.len() as u64;
        let rest = of.checked_sub(from).filter(|&rest| rest > 0)? as f64;
        let (begin, end) = (first.first()?.1, first.last()?.1);
        // From end to end, with what lies between two marks.
        let times: Vec<f64> =
            first.iter().zip(first.iter().skip(1)).map(|(one, next)| next.1 - one.1).collect();
        let spread = dispersion(&times)?;
        let median = spread.median;
        let measured = end - start;
        let seconds = measured + rest * median;
        let of_median = median_interval(&times)?;
        // A few long iterations among many short ones are in the mean and not in the median.
        let of_mean = spread.mean_interval.unwrap_or(of_median);
        let (low, high) = (of_median.0.min(of_mean.0), of_median.1.max(of_mean.1));
        let random = 1.96 * spread.std_dev.unwrap_or(0.0) * rest.sqrt();
        let below = (rest * (median - low)).hypot(random);
        let above = (rest * (high - median)).hypot(random);
        let interval = ((seconds - below).max(measured), seconds + above);
        let trend = trend(&times).map(|slope| measured + continued(&times, slope, rest));
        let with_trend = trend.filter(|time| *time < interval.0 || *time > interval.1);
        let factor = (end - begin + rest * median) / (end - begin);
        let estimate = Self { from, of, seconds, interval, with_trend, median, factor };
        (seconds.is_finite() && factor.is_finite()).then_some(estimate)
    }

    /// As the file has it, of a run that was ended after so many seconds.
    pub(crate) fn to_value(self, region: &IterationRegion, measured_seconds: f64) -> Value {
        let mut fields = self.to_check();
        fields.remove("seconds");
        fields.insert("of".to_owned(), json!(self.of));
        fields.insert("region".to_owned(), json!(region.to_string()));
        fields.insert("measured_seconds".to_owned(), json!(measured_seconds));
        Value::Object(fields)
    }

    /// As the file has it, of a complete run.
    pub(crate) fn to_check(self) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        set("from", json!(self.from));
        set("seconds", json!(self.seconds));
        set("median", json!(self.median));
        set("interval", json!([self.interval.0, self.interval.1]));
        if let Some(time) = self.with_trend {
            set("with_trend", json!(time));
        }
        fields
    }
}

/// The 95 % confidence interval of a median, which assumes nothing about how values are distributed:
/// from one value in their order to the one as far from the other end. Of fewer than six values, all.
fn median_interval(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let cut = if n > 100 {
        // The binomial distribution is normal there: 0.98 of the root, and a little more.
        (n / 2).saturating_sub(n.isqrt() + 1)
    } else {
        let mut probability = 0.5_f64.powi(i32::try_from(n).ok()?);
        let (mut sum, mut cut) = (probability, 0);
        while 2.0 * sum <= 0.05 {
            cut += 1;
            probability *= (n + 1 - cut) as f64 / cut as f64;
            sum += probability;
        }
        cut.saturating_sub(1)
    };
    Some((*sorted.get(cut)?, *sorted.get(n.checked_sub(cut + 1)?)?))
}

/// By how much each value is larger than the one before, if they grow or shrink: the test of Mann and
/// Kendall at a level of 1 %, and the slope of Theil and Sen.
fn trend(values: &[f64]) -> Option<f64> {
    let size = values.len().div_ceil(MOST_OF_TREND).max(1);
    let groups: Vec<f64> =
        values.chunks_exact(size).filter_map(|group| Measure::Mean.of(group)).collect();
    let n = groups.len() as f64;
    let mut slopes = Vec::new();
    let mut sum = 0_i64;
    for (at, one) in groups.iter().enumerate() {
        for (other, steps) in groups.iter().skip(at + 1).zip(1_u32..) {
            slopes.push((other - one) / f64::from(steps));
            sum += match other.total_cmp(one) {
                std::cmp::Ordering::Less => -1,
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => 1,
            };
        }
    }
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    let score = (sum.unsigned_abs() as f64 - 1.0) / variance.sqrt();
    (score > 2.576).then(|| Measure::Median.of(&slopes)).flatten().map(|slope| slope / size as f64)
}

/// The sum of `rest` more values if they go on along a line of this slope; none is below the smallest
/// of those that are known.
fn continued(values: &[f64], slope: f64, rest: f64) -> f64 {
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let last = Measure::Median.of(values).unwrap_or(0.0) + slope * middle;
    let least = Measure::Min.of(values).unwrap_or(0.0);
    let number =
        if slope < 0.0 { rest.min(((least - last) / slope).max(0.0).floor()) } else { rest };
    number * (last + slope * (number + 1.0) / 2.0) + (rest - number) * least
}

#[cfg(test)]
mod tests {
    use parallax_analysis::math::Random;

    use super::*;

    /// Iterations of these lengths, which begin one second after the run and have a gap of a tenth of
    /// them before each.
    fn spans(seconds: &[f64]) -> Vec<(f64, f64)> {
        let mut at = 101.0;
        let span = |seconds: &f64| {
            let start = at + 0.1 * seconds;
            at += seconds;
            (start, at)
        };
        seconds.iter().map(span).collect()
    }

    fn estimate(seconds: &[f64], of: u64) -> Estimate {
        Estimate::of(100.0, &spans(seconds), of).unwrap()
    }

    fn is_about(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9 * expected.abs().max(1.0)
    }

    #[test]
    fn the_rest_is_the_median_and_the_first_iteration_counts_once() {
        // A slow first one: 1 s before it, 5 s, then four of 0.1 s, and 95 more.
        let found = estimate(&[5.0, 0.1, 0.1, 0.1, 0.1], 100);
        assert!(is_about(found.seconds, 1.0 + 5.0 + 99.0 * 0.1), "{found:?}");
        assert!(is_about(found.interval.0, found.seconds), "{found:?}");
        assert!(is_about(found.interval.1, found.seconds), "{found:?}");
        assert_eq!((found.from, found.of, found.with_trend), (5, 100, None));
        // After the first one, four become 99.
        assert!(is_about(found.factor, 99.0 / 4.0), "{found:?}");
        // One slow iteration does not change the median, and is in the interval.
        let found = estimate(&[0.1, 0.1, 0.1, 0.1, 0.9, 0.1], 101);
        assert!(is_about(found.median, 0.1), "{found:?}");
        let mean = 1.0 + 1.4 + 95.0 * (1.3 / 5.0);
        assert!(found.interval.0 <= found.seconds && found.interval.1 >= mean, "{found:?}");
        assert_eq!(Estimate::of(100.0, &spans(&[0.1, 0.1, 0.1]), 3), None);
    }

    #[test]
    fn the_time_of_drawn_programs_is_in_the_interval() {
        let mut random = Random(7);
        let mut uniform = move || random.below(1_000_000) as f64 / 1e6;
        let (mut inside, mut narrow) = (0, 0);
        for _ in 0..400 {
            // Skewed: most take about 1, some up to 3.
            let times: Vec<f64> = (0..300).map(|_| 0.9 + 2.0 * uniform().powi(6)).collect();
            let found = estimate(&times[..20], 300);
            let whole = 1.0 + times.iter().sum::<f64>();
            inside += usize::from((found.interval.0..=found.interval.1).contains(&whole));
            narrow += usize::from(found.interval.1 - found.interval.0 < 0.7 * whole);
        }
        assert!(inside >= 350 && narrow >= 350, "{inside} {narrow}");
    }

    #[test]
    fn iterations_that_get_slower_or_faster_are_seen_and_others_are_not() {
        let mut random = Random(11);
        let mut noise = move || random.below(1000) as f64 * 1e-6;
        // Each 2 % slower than the first than the one before it.
        let times: Vec<f64> = (0..200).map(|at| 0.1 + 0.002 * f64::from(at) + noise()).collect();
        let found = estimate(&times[..20], 200);
        let whole = 1.0 + times.iter().sum::<f64>();
        assert!(found.interval.1 < whole, "{found:?} {whole}");
        let trend = found.with_trend.unwrap();
        assert!((trend / whole - 1.0).abs() < 0.05, "{trend} {whole}");
        // Faster, and in the end as fast as the fastest.
        let times: Vec<f64> = (0..20).map(|at| 0.1 - 0.002 * f64::from(at)).collect();
        let trend = estimate(&times, 1000).with_trend.unwrap();
        let measured = 1.0 + times.iter().sum::<f64>();
        assert!((trend - measured - 980.0 * 0.062).abs() < 0.1, "{trend} {measured}");
        let mut alarms = 0;
        for seed in 0..200 {
            let mut random = Random(seed);
            let times: Vec<f64> = (0..20).map(|_| 0.1 + random.below(1000) as f64 * 1e-5).collect();
            alarms += usize::from(estimate(&times, 200).with_trend.is_some());
        }
        assert!(alarms <= 6, "{alarms}");
        // More than are compared one by one.
        let times: Vec<f64> = (0..2000).map(|at| 0.1 + 0.0001 * f64::from(at)).collect();
        let trend = estimate(&times, 4000).with_trend.unwrap();
        let whole: f64 = 1.0 + (0..4000).map(|at| 0.1 + 0.0001 * f64::from(at)).sum::<f64>();
        assert!((trend / whole - 1.0).abs() < 0.01, "{trend} {whole}");
    }

    #[test]
    fn intervals_of_medians_are_those_of_tables() {
        let of = |n: u32| {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            median_interval(&values).unwrap()
        };
        // Tables of the sign test at 5 % in both directions.
        for (n, expected) in [
            (2, (1.0, 2.0)),
            (5, (1.0, 5.0)),
            (6, (1.0, 6.0)),
            (9, (2.0, 8.0)),
            (20, (6.0, 15.0)),
            (50, (18.0, 33.0)),
        ] {
            assert_eq!(of(n), expected, "{n}");
        }
        let (low, high) = of(1000);
        assert!((460.0..=470.0).contains(&low) && is_about(low + high, 1001.0), "{low} {high}");
    }

    #[test]
    fn the_thread_with_most_iterations_counts_and_the_slowest_process() {
        let all = [(0, 100.0, 101.0), (1, 100.0, 100.5), (1, 101.0, 102.0), (2, 100.0, 109.0)];
        let found = by_process(all.into_iter(), |thread| usize::from(thread == 2));
        let lens: Vec<(usize, usize)> = found.iter().map(|own| (own.process, own.len())).collect();
        assert_eq!(lens, [(0, 2), (1, 1)]);
        let region = IterationRegion::Path(vec![1]);
        let request = Request { region: &region, from: 3, ended_of: Some(10), start: 100.0 };
        let one = Iterations { process: 0, spans: spans(&[1.0; 3]) };
        let two = Iterations { process: 1, spans: spans(&[2.0; 3]) };
        assert!(is_about(request.estimate(&[one.clone(), two]).unwrap().seconds, 21.0));
        // A process with too few says nothing.
        let few = Iterations { process: 1, spans: spans(&[9.0; 2]) };
        assert!(is_about(request.estimate(&[one, few.clone()]).unwrap().seconds, 11.0));
        assert_eq!(request.estimate(&[few]), None);
    }

    #[test]
    fn regions_are_read_as_they_are_written() {
        for text in ["2", "1.2", "-7", "solver.c:27", "a:b.c:3"] {
            assert_eq!(text.parse::<IterationRegion>().unwrap().to_string(), text);
        }
        for text in ["", "x", ":3", "a.c:", "a.c:x", "1."] {
            assert!(text.parse::<IterationRegion>().is_err(), "{text}");
        }
        let path = [Part::Mark(1), Part::Mark(2)];
        let is_of =
            |text: &str| text.parse::<IterationRegion>().unwrap().is_of(&path, &Numbered::new());
        assert!(is_of("2") && is_of("1.2"));
        assert!(!is_of("1") && !is_of("3.2") && !is_of("0.1.2") && !is_of("a.c:2"));
    }
}
