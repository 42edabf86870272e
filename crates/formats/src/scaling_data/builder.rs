//! Collects [`Measurements`] in any order and sorts them once.

use std::collections::{HashMap, HashSet};

use parallax_base::{Limits, Severity, Unit};

use super::regions::{Nesting, arrange};
use super::{
    Measurements, Metric, Outcome, Parameter, ParameterValue, Region, RegionKind, Report, Run,
    Sample, ScalingFormat, Statistic,
};
use crate::FormatError;

/// How a parameter's values are sorted in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Ascending where all are numbers, else as first seen.
    Numeric,
    /// As first seen or declared.
    Given,
}

struct Column {
    name: String,
    order: Order,
    values: Vec<ParameterValue>,
    by_label: HashMap<String, u32>,
    by_number: HashMap<u64, u32>,
    /// Once the values are sorted, their positions in the order of the file.
    seen: Vec<u32>,
}

/// The bits of a number, equal for equal numbers.
fn bits(number: f64) -> u64 {
    // Adding zero takes the sign from a zero.
    (number + 0.0).to_bits()
}

/// A new region as a reader sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RegionRow<'a> {
    pub(crate) path: &'a str,
    pub(crate) name: &'a str,
    pub(crate) file: Option<&'a str>,
    pub(crate) lines: Option<(u32, u32)>,
    pub(crate) kind: Option<RegionKind>,
}

/// Collects measurements in any order.
pub(crate) struct Builder {
    pub(crate) metadata: Vec<(String, String)>,
    format: ScalingFormat,
    nesting: Nesting,
    limits: Limits,
    columns: Vec<Column>,
    by_column: HashMap<String, usize>,
    coordinates: Vec<Vec<u32>>,
    by_coordinate: HashMap<Vec<u32>, u32>,
    runs: Vec<Run>,
    by_run: HashMap<(u32, u32), u32>,
    pub(crate) regions: Vec<Region>,
    by_region: HashMap<String, u32>,
    metrics: Vec<Metric>,
    by_metric: HashMap<String, u16>,
    samples: Vec<Sample>,
    statistics: Vec<Statistic>,
    /// Bytes of the values of parameters and of the indices of coordinates.
    parameter_bytes: u64,
    /// Values of metrics that have no number any more.
    lost_values: u64,
}

/// The number of a metric beyond those that can be numbered; its values are left out.
const NO_METRIC: u16 = u16::MAX;

/// What one value costs while samples are sorted: three copies, and what a list keeps free.
const SAMPLE_BYTES: u64 = 4 * size_of::<Sample>() as u64;
/// A run with its place among the runs and in the tables of numbers of repetitions.
const RUN_BYTES: u64 = 4 * size_of::<Run>() as u64;
const STATISTIC_BYTES: u64 = 2 * size_of::<Statistic>() as u64;
/// A region with its names, and the same in what is read.
const REGION_BYTES: u64 = 600;
/// A value of a parameter without its label.
const VALUE_BYTES: u64 = 160;
/// A coordinate without its indices.
const COORDINATE_BYTES: u64 = 160;

/// What a builder has of one part of a file; the rest is known only at the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Collected {
    pub(crate) regions: Vec<Region>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) samples: Vec<Sample>,
}

fn index(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

impl Builder {
    pub(crate) fn new(format: ScalingFormat, nesting: Nesting, limits: Limits) -> Self {
        Self {
            metadata: Vec::new(),
            format,
            nesting,
            limits,
            columns: Vec::new(),
            by_column: HashMap::new(),
            coordinates: Vec::new(),
            by_coordinate: HashMap::new(),
            runs: Vec::new(),
            by_run: HashMap::new(),
            regions: Vec::new(),
            by_region: HashMap::new(),
            metrics: Vec::new(),
            by_metric: HashMap::new(),
            samples: Vec::new(),
            statistics: Vec::new(),
            parameter_bytes: 0,
            lost_values: 0,
        }
    }

    /// Index of the parameter called `name`, which is added if it is new.
    pub(crate) fn parameter(&mut self, name: &str) -> usize {
        if let Some(at) = self.find_parameter(name) {
            return at;
        }
        let order =
            if name == super::parameter_names::INPUT { Order::Given } else { Order::Numeric };
        let (values, by_label, by_number) = (Vec::new(), HashMap::new(), HashMap::new());
        let (name, seen) = (name.to_owned(), Vec::new());
        self.by_column.insert(name.clone(), self.columns.len());
        self.columns.push(Column { name, order, values, by_label, by_number, seen });
        self.columns.len() - 1
    }

    /// Index of a value of a parameter, which is added if it is new.
    pub(crate) fn value(&mut self, parameter: usize, label: &str, number: Option<f64>) -> u32 {
        let Some(column) = self.columns.get_mut(parameter) else { return u32::MAX };
        if let Some(&at) = column.by_label.get(label) {
            return at;
        }
        if let Some(&at) = number.and_then(|number| column.by_number.get(&bits(number))) {
            return at;
        }
        let at = index(column.values.len());
        column.values.push(ParameterValue { label: label.to_owned(), number });
        column.by_label.insert(label.to_owned(), at);
        if let Some(number) = number {
            column.by_number.insert(bits(number), at);
        }
        self.parameter_bytes += VALUE_BYTES + 2 * label.len() as u64;
        at
    }

    /// Index of a value written as text: a number where it is one.
    pub(crate) fn value_of_text(&mut self, parameter: usize, text: &str) -> u32 {
        let number = text.trim().parse().ok().filter(|x: &f64| x.is_finite());
        self.value(parameter, text.trim(), number)
    }

    /// Index of a numeric value.
    pub(crate) fn value_of_number(&mut self, parameter: usize, number: f64) -> u32 {
        self.value(parameter, &number.to_string(), Some(number))
    }

    /// Index of the parameter called `name`, if there is one.
    pub(crate) fn find_parameter(&self, name: &str) -> Option<usize> {
        self.by_column.get(name).copied()
    }

    pub(crate) fn num_parameters(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn coordinate(&mut self, values: Vec<u32>) -> u32 {
        if let Some(&at) = self.by_coordinate.get(&values) {
            return at;
        }
        let at = index(self.coordinates.len());
        self.parameter_bytes += COORDINATE_BYTES + values.len() as u64 * 8;
        self.coordinates.push(values.clone());
        self.by_coordinate.insert(values, at);
        at
    }

    /// Adds a run; two runs may have the same coordinate and repetition: the last one counts.
    pub(crate) fn add_run(&mut self, run: Run) -> u32 {
        let at = index(self.runs.len());
        self.by_run.insert((run.coordinate, run.repetition), at);
        self.runs.push(run);
        at
    }

    /// The run of a coordinate and repetition, which is added if it is new.
    pub(crate) fn run(&mut self, coordinate: u32, repetition: u32) -> u32 {
        if let Some(&at) = self.by_run.get(&(coordinate, repetition)) {
            return at;
        }
        let outcome = Outcome::Completed;
        self.add_run(Run { coordinate, repetition, interval: None, outcome, estimate: None })
    }

    /// Marks a run as suspicious.
    pub(crate) fn suspect(&mut self, run: u32) {
        if let Some(run) = self.runs.get_mut(run as usize) {
            run.outcome = Outcome::Suspicious;
        }
    }

    /// The region of the whole program, which is added if it is new.
    pub(crate) fn program(&mut self) -> u32 {
        let kind = Some(RegionKind::WholeProgram);
        self.region(&RegionRow { path: "", name: "whole program", kind, ..RegionRow::default() })
    }

    /// Index of the region with this path, which is added with the rest of `row` if it is new.
    /// The empty path is the whole program's.
    pub(crate) fn region(&mut self, row: &RegionRow<'_>) -> u32 {
        if let Some(&at) = self.by_region.get(row.path) {
            return at;
        }
        let at = index(self.regions.len());
        self.regions.push(Region {
            id: String::new(),
            path: row.path.to_owned(),
            name: row.name.to_owned(),
            parent: None,
            kind: row.kind.unwrap_or(RegionKind::Marked),
            file: row.file.filter(|file| !file.is_empty()).map(str::to_owned),
            lines: row.lines,
        });
        self.by_region.insert(row.path.to_owned(), at);
        at
    }

    /// Index of the metric called `name`, which is added if it is new. Values of more metrics than
    /// have numbers are left out, which is reported in the end.
    pub(crate) fn metric(&mut self, name: &str, unit: &Unit) -> u16 {
        if let Some(&at) = self.by_metric.get(name) {
            return at;
        }
        let at = u16::try_from(self.metrics.len()).unwrap_or(NO_METRIC);
        if at != NO_METRIC {
            self.metrics.push(Metric { name: name.to_owned(), unit: unit.clone() });
            self.by_metric.insert(name.to_owned(), at);
        }
        at
    }

    /// Adds a value. Values that are not finite must not come here.
    pub(crate) fn push(&mut self, metric: u16, region: u32, run: u32, value: f64) {
        if metric == NO_METRIC {
            self.lost_values += 1;
            return;
        }
        self.samples.push(Sample { metric, region, run, value });
    }

    pub(crate) fn push_statistic(&mut self, statistic: Statistic) {
        self.statistics.push(statistic);
    }

    pub(crate) fn num_samples(&self) -> usize {
        self.samples.len()
    }

    /// Forgets the samples from number `len` on.
    pub(crate) fn truncate_samples(&mut self, len: usize) {
        self.samples.truncate(len);
    }

    /// Forgets the samples of these runs.
    pub(crate) fn forget_runs(&mut self, runs: &HashSet<u32>) {
        self.samples.retain(|sample| !runs.contains(&sample.run));
    }

    /// What was collected, for [`Builder::absorb`].
    pub(crate) fn into_collected(self) -> Collected {
        Collected { regions: self.regions, metrics: self.metrics, samples: self.samples }
    }

    /// Adds what another builder collected of the next part, whose runs have the numbers from
    /// `first_run` on. The result is as if this builder had read that part itself; `None` where it
    /// cannot be, and then this builder is of no use.
    pub(crate) fn absorb(&mut self, part: Collected, first_run: u32) -> Option<()> {
        let mut new_region = Vec::with_capacity(part.regions.len());
        for region in part.regions {
            let known = self.by_region.get(&region.path).copied();
            new_region.push(known.unwrap_or_else(|| {
                let at = index(self.regions.len());
                self.by_region.insert(region.path.clone(), at);
                self.regions.push(region);
                at
            }));
        }
        let new_metric: Vec<u16> =
            part.metrics.iter().map(|metric| self.metric(&metric.name, &metric.unit)).collect();
        // Values beyond them are left out, which only a reader of the whole file counts.
        if self.metrics.len() >= usize::from(NO_METRIC) {
            return None;
        }
        self.samples.reserve(part.samples.len());
        for sample in part.samples {
            self.samples.push(Sample {
                metric: *new_metric.get(usize::from(sample.metric))?,
                region: *new_region.get(sample.region as usize)?,
                run: sample.run.checked_add(first_run)?,
                value: sample.value,
            });
        }
        Some(())
    }

    /// Checks the memory that what was collected so far takes at most, while it is sorted, against
    /// the limits.
    pub(crate) fn check_limits(&self, file: &str) -> Result<(), FormatError> {
        let bytes = self.samples.len() as u64 * SAMPLE_BYTES
            + self.runs.len() as u64 * RUN_BYTES
            + self.statistics.len() as u64 * STATISTIC_BYTES
            + self.regions.len() as u64 * REGION_BYTES
            + self.parameter_bytes;
        self.limits
            .metadata("measurements", bytes)
            .map_err(|cause| FormatError::Limit { file: file.to_owned(), cause })
    }

    /// Sorts everything and drops what is repeated.
    pub(crate) fn finish(mut self, report: &mut Report<'_>) -> Measurements {
        if self.lost_values > 0 {
            let (lost, most) = (self.lost_values, self.metrics.len());
            report.whole(Severity::Error, "too-many-metrics", || {
                format!("{lost} values of metrics after the first {most} are omitted; are rows and columns of the table exchanged?")
            });
        }
        self.sort_values();
        let new_run = self.sort_runs(report);
        let (regions, new_region) = arrange(std::mem::take(&mut self.regions), self.nesting);
        let mut samples = self.samples;
        samples.retain_mut(|sample| {
            let run = new_run.get(sample.run as usize).copied().flatten();
            let region = new_region.get(sample.region as usize).copied();
            (sample.run, sample.region) = (run.unwrap_or(u32::MAX), region.unwrap_or(u32::MAX));
            run.is_some() && region.is_some()
        });
        // Stable, so that of repeated values the last of the file comes last.
        samples = in_order(samples, self.metrics.len(), regions.len(), self.runs.len());
        let before = samples.len();
        let mut kept: Vec<Sample> = Vec::new();
        if samples.windows(2).any(|pair| matches!(pair, [a, b] if same(a, b))) {
            for sample in samples {
                match kept.last_mut().filter(|last| same(last, &sample)) {
                    Some(last) => *last = sample,
                    None => kept.push(sample),
                }
            }
            let dropped = before - kept.len();
            report.whole(Severity::Warning, "repeated-value", || {
                format!("{dropped} values are given more than once for the same region and run; the last of each is kept")
            });
            samples = kept;
        }
        let mut statistics = self.statistics;
        for statistic in &mut statistics {
            let region = new_region.get(statistic.region as usize);
            statistic.region = region.copied().unwrap_or(u32::MAX);
        }
        statistics.sort_by_key(|s| (s.metric, s.region, s.coordinate));
        Measurements {
            format: self.format,
            metadata: self.metadata,
            parameters: self
                .columns
                .into_iter()
                .map(|column| Parameter {
                    name: column.name,
                    values: column.values,
                    order: column.seen,
                })
                .collect(),
            coordinates: self.coordinates,
            runs: self.runs,
            regions,
            metrics: self.metrics,
            samples,
            statistics,
        }
    }

    /// Sorts the values of each parameter and the coordinates; rewrites what refers to them.
    fn sort_values(&mut self) {
        let mut new_values = Vec::new();
        for column in &mut self.columns {
            let all_numbers = column.values.iter().all(|value| value.number.is_some());
            if !all_numbers {
                column.values.iter_mut().for_each(|value| value.number = None);
            }
            let mut order: Vec<u32> = (0..index(column.values.len())).collect();
            if all_numbers && column.order == Order::Numeric {
                let number = |i: u32| column.values.get(i as usize).and_then(|v| v.number);
                order.sort_by(|&a, &b| {
                    number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0))
                });
            }
            let mut new_of = vec![0; order.len()];
            for (new, &old) in (0..).zip(&order) {
                if let Some(slot) = new_of.get_mut(old as usize) {
                    *slot = new;
                }
            }
            let sorted = order.iter().filter_map(|&i| column.values.get(i as usize).cloned());
            column.values = sorted.collect();
            column.seen.clone_from(&new_of);
            new_values.push(new_of);
        }
        for coordinate in &mut self.coordinates {
            for (value, new_of) in coordinate.iter_mut().zip(&new_values) {
                *value = new_of.get(*value as usize).copied().unwrap_or(*value);
            }
        }
        let mut order: Vec<usize> = (0..self.coordinates.len()).collect();
        order.sort_by_key(|&i| self.coordinates.get(i));
        let mut new_of = vec![0; order.len()];
        for (new, &old) in (0..).zip(&order) {
            if let Some(slot) = new_of.get_mut(old) {
                *slot = new;
            }
        }
        self.coordinates.sort_unstable();
        let new = |old: u32| new_of.get(old as usize).copied().unwrap_or(old);
        self.runs.iter_mut().for_each(|run| run.coordinate = new(run.coordinate));
        self.statistics.iter_mut().for_each(|s| s.coordinate = new(s.coordinate));
    }

    /// Sorts the runs; returns the new index of each old one, `None` for those that a later run
    /// of the same coordinate and repetition replaces.
    fn sort_runs(&mut self, report: &mut Report<'_>) -> Vec<Option<u32>> {
        let known = self.coordinates.len();
        let mut new_of = vec![None; self.runs.len()];
        // Runs without a coordinate had a key that could not be parsed, which was reported.
        let mut order: Vec<usize> = (0..self.runs.len())
            .filter(|&i| self.runs.get(i).is_some_and(|run| (run.coordinate as usize) < known))
            .collect();
        let key = |i: usize| self.runs.get(i).map(|run| (run.coordinate, run.repetition));
        order.sort_by_key(|&i| key(i));
        let mut kept: Vec<Run> = Vec::with_capacity(order.len());
        let mut replaced = 0;
        for (at, &old) in order.iter().enumerate() {
            if order.get(at + 1).is_some_and(|&next| key(next) == key(old)) {
                replaced += 1;
                continue;
            }
            if let (Some(run), Some(slot)) = (self.runs.get(old), new_of.get_mut(old)) {
                *slot = Some(index(kept.len()));
                kept.push(run.clone());
            }
        }
        if replaced > 0 {
            report.whole(Severity::Warning, "repeated-run", || {
                format!("{replaced} runs have the same configuration and repetition number as a later one, which replaces them; was the file merged by hand?")
            });
        }
        self.runs = kept;
        new_of
    }
}

fn same(a: &Sample, b: &Sample) -> bool {
    (a.metric, a.region, a.run) == (b.metric, b.region, b.run)
}

/// Sorts by metric, region and run; equal ones stay in their order. Where there are about as many
/// of each as samples, every sample is put where it belongs at once.
fn in_order(mut samples: Vec<Sample>, metrics: usize, regions: usize, runs: usize) -> Vec<Sample> {
    let places = metrics.saturating_mul(regions);
    if places.max(runs) > 2 * samples.len() {
        samples.sort_by_key(|s| (s.metric, s.region, s.run));
        return samples;
    }
    let by_run = distributed(&samples, runs, |s| s.run as usize);
    distributed(&by_run, places, |s| usize::from(s.metric) * regions + s.region as usize)
}

/// The samples by the number that `of` gives, which is below `count`; equal ones stay in their
/// order.
fn distributed(samples: &[Sample], count: usize, of: impl Fn(&Sample) -> usize) -> Vec<Sample> {
    let mut places = vec![0_usize; count];
    for sample in samples {
        if let Some(place) = places.get_mut(of(sample)) {
            *place += 1;
        }
    }
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    let mut out = samples.to_vec();
    for &sample in samples {
        if let Some(place) = places.get_mut(of(&sample)) {
            if let Some(slot) = out.get_mut(*place) {
                *slot = sample;
            }
            *place += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_in_order_and_equal_ones_as_they_came() {
        // Numbers that jump about; the value tells where a sample was.
        let jumping = |count: u32, regions: u32, runs: u32| -> Vec<Sample> {
            let number = |i: u32| i.wrapping_mul(2_654_435_761) >> 8;
            (0..count)
                .map(|i| Sample {
                    metric: (number(i) % 3) as u16,
                    region: number(i + count) % regions,
                    run: number(i + 2 * count) % runs,
                    value: f64::from(i),
                })
                .collect()
        };
        // Dense, and with many more runs than samples.
        for (count, regions, runs) in [(500, 5, 20), (0, 1, 1), (40, 3, 100_000)] {
            let samples = jumping(count, regions, runs);
            let mut expected = samples.clone();
            expected.sort_by_key(|s| (s.metric, s.region, s.run));
            assert_eq!(in_order(samples, 3, regions as usize, runs as usize), expected);
        }
    }
}
