//! Puts experiments and ensembles together into one [`Ensemble`].

use std::collections::{HashMap, HashSet};

use parallax_base::{Issues, LimitExceeded, Limits, Place, Severity, Stage, Unit};

use super::{
    Ensemble, EnsembleColumns, EnsembleMetric, Parameter, ParameterValue, Region, RegionKind, Run,
    RunEvidence, RunStatistic, Sample, parameter_names,
};
use crate::Metadata;

/// In which order the values of a parameter end up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueOrder {
    /// Ascending where all are numbers, else as first seen.
    Numeric,
    /// As first seen.
    AsSeen,
}

/// Where the ids of regions come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ids {
    /// The regions bring them; one that is taken already gets the region's path instead.
    Kept,
    /// They count siblings: `1`, `1.1`, `1.2`, `2`; the whole program is `0`.
    Counted,
}

/// What a new region brings besides its place in the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionPlace {
    /// Its id, for [`Ids::Kept`].
    pub id: String,
    /// Its path.
    pub path: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: RegionKind,
    /// Source file.
    pub file: Option<String>,
    /// First and last line.
    pub lines: Option<(u32, u32)>,
}

struct Column {
    name: String,
    order: ValueOrder,
    values: Vec<ParameterValue>,
    by_label: HashMap<String, u32>,
    by_number: HashMap<u64, u32>,
    /// Positions of values in the order of the sources, each once.
    seen: Vec<u32>,
    /// Whether a value is in `seen`.
    is_seen: Vec<bool>,
}

impl Column {
    fn see(&mut self, at: u32) {
        if self.is_seen.len() < self.values.len() {
            self.is_seen.resize(self.values.len(), false);
        }
        if let Some(is_seen) = self.is_seen.get_mut(at as usize).filter(|is_seen| !**is_seen) {
            *is_seen = true;
            self.seen.push(at);
        }
    }
}

/// The bits of a number, equal for equal numbers.
fn bits(number: f64) -> u64 {
    // Adding zero takes the sign from a zero.
    (number + 0.0).to_bits()
}

/// Collects parameters, runs, regions and values in any order.
pub struct EnsembleBuilder {
    metadata: Metadata,
    issues: Issues,
    ids: Ids,
    columns: Vec<Column>,
    by_column: HashMap<String, usize>,
    /// Parameter values by column; shorter than the columns where later ones were added.
    coordinates: Vec<Vec<Option<u32>>>,
    by_coordinate: HashMap<Vec<Option<u32>>, u32>,
    runs: Vec<Run>,
    by_run: HashMap<(u32, u32), u32>,
    /// The first repetition that may be free of those from a number on at a coordinate.
    next_free: HashMap<(u32, u32), u32>,
    regions: Vec<Region>,
    by_key: HashMap<(Option<u32>, String), u32>,
    metrics: Vec<EnsembleMetric>,
    by_metric: HashMap<String, u16>,
    samples: Vec<Sample>,
    /// Metric, region and run of the first samples, as many as were looked up so far.
    taken: HashSet<(u16, u32, u32)>,
    num_taken: usize,
    statistics: Vec<RunStatistic>,
    evidence: Vec<(u32, RunEvidence)>,
    /// Values of metrics that have no number any more.
    lost_values: u64,
}

/// The number of a metric beyond those that can be numbered; its values are left out.
const NO_METRIC: u16 = u16::MAX;

/// Configurations times parameters at most: 4 GB while they are sorted.
const MOST_INDICES: usize = 100_000_000;

/// The value of a parameter that an experiment does not have.
const NOT_GIVEN: &str = "not given";

fn index(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

impl EnsembleBuilder {
    /// An empty ensemble.
    #[must_use]
    pub fn new(metadata: Metadata, ids: Ids) -> Self {
        Self {
            metadata,
            issues: Issues::new(),
            ids,
            columns: Vec::new(),
            by_column: HashMap::new(),
            coordinates: Vec::new(),
            by_coordinate: HashMap::new(),
            runs: Vec::new(),
            by_run: HashMap::new(),
            next_free: HashMap::new(),
            regions: Vec::new(),
            by_key: HashMap::new(),
            metrics: Vec::new(),
            by_metric: HashMap::new(),
            samples: Vec::new(),
            taken: HashSet::new(),
            num_taken: 0,
            statistics: Vec::new(),
            evidence: Vec::new(),
            lost_values: 0,
        }
    }

    /// The sink of issues.
    pub fn issues(&mut self) -> &mut Issues {
        &mut self.issues
    }

    /// Number of runs so far.
    #[must_use]
    pub fn num_runs(&self) -> usize {
        self.runs.len()
    }

    /// Index of the coordinate with these values, in any order; parameters that are new are
    /// added, those not named are "not given".
    pub fn coordinate(&mut self, values: &[(&str, ParameterValue, ValueOrder)]) -> u32 {
        let mut coordinate = vec![None; self.columns.len()];
        for (name, value, order) in values {
            let column = self.column(name, *order);
            let at = self.value(column, value);
            if column >= coordinate.len() {
                coordinate.resize(column + 1, None);
            }
            if let Some(slot) = coordinate.get_mut(column) {
                *slot = Some(at);
            }
        }
        while coordinate.last() == Some(&None) {
            coordinate.pop();
        }
        let next = index(self.coordinates.len());
        let at = *self.by_coordinate.entry(coordinate.clone()).or_insert(next);
        if at == next {
            self.coordinates.push(coordinate);
        }
        at
    }

    fn column(&mut self, name: &str, order: ValueOrder) -> usize {
        if let Some(&at) = self.by_column.get(name) {
            return at;
        }
        let (values, by_label, by_number) = (Vec::new(), HashMap::new(), HashMap::new());
        let (name, seen, is_seen) = (name.to_owned(), Vec::new(), Vec::new());
        self.by_column.insert(name.clone(), self.columns.len());
        self.columns.push(Column { name, order, values, by_label, by_number, seen, is_seen });
        self.columns.len() - 1
    }

    fn value(&mut self, column: usize, value: &ParameterValue) -> u32 {
        let Some(column) = self.columns.get_mut(column) else { return 0 };
        let by_label = column.by_label.get(&value.label).copied();
        let by_number =
            value.number.and_then(|number| column.by_number.get(&bits(number)).copied());
        // The same value in other words, such as 4 and 4.0.
        if let Some(at) = by_label.into_iter().chain(by_number).min() {
            return at;
        }
        let at = index(column.values.len());
        column.by_label.insert(value.label.clone(), at);
        if let Some(number) = value.number {
            column.by_number.insert(bits(number), at);
        }
        column.values.push(value.clone());
        at
    }

    /// Adds a run with the first repetition number at its coordinate that is free, from
    /// `repetition` on.
    pub fn add_run(&mut self, coordinate: u32, repetition: u32, is_trusted: bool) -> u32 {
        let asked = (coordinate, repetition);
        let mut repetition = self.next_free.get(&asked).copied().unwrap_or(repetition);
        while self.by_run.contains_key(&(coordinate, repetition)) && repetition < u32::MAX {
            repetition += 1;
        }
        self.next_free.insert(asked, repetition.saturating_add(1));
        let at = index(self.runs.len());
        self.by_run.insert((coordinate, repetition), at);
        self.runs.push(Run { coordinate, repetition, is_trusted });
        at
    }

    /// The region known as `key` below `parent`, which is made by `place` if it is new.
    pub fn region(
        &mut self,
        parent: Option<u32>,
        key: &str,
        place: impl FnOnce() -> RegionPlace,
    ) -> u32 {
        let entry = (parent, key.to_owned());
        if let Some(&at) = self.by_key.get(&entry) {
            return at;
        }
        let RegionPlace { id, path, name, kind, file, lines } = place();
        let at = index(self.regions.len());
        self.regions.push(Region { id, path, name, parent, kind, file, lines });
        self.by_key.insert(entry, at);
        at
    }

    /// Index of the metric called `name`, which is added if it is new.
    pub fn metric(&mut self, name: &str, unit: &Unit) -> u16 {
        if let Some(&at) = self.by_metric.get(name) {
            return at;
        }
        let at = u16::try_from(self.metrics.len()).unwrap_or(NO_METRIC);
        if at != NO_METRIC {
            self.metrics.push(EnsembleMetric { name: name.to_owned(), unit: unit.clone() });
            self.by_metric.insert(name.to_owned(), at);
        }
        at
    }

    /// Adds what is known of a run besides its values.
    pub fn evidence(&mut self, run: u32, evidence: RunEvidence) {
        self.evidence.push((run, evidence));
    }

    /// Adds a value. A value that is not finite is left out: nothing can be computed from it.
    pub fn push(&mut self, metric: u16, region: u32, run: u32, value: f64) {
        if metric == NO_METRIC {
            self.lost_values += 1;
        } else if value.is_finite() {
            self.samples.push(Sample { metric, region, run, value });
        }
    }

    /// Gives every region in every run a value of `metric`: 0 where there is none. For sampled
    /// times, where no sample means no time that sampling could see.
    ///
    /// # Errors
    /// When regions times runs are more than the limits allow.
    pub fn fill_with_zero(&mut self, metric: u16, limits: &Limits) -> Result<(), LimitExceeded> {
        let cells = (self.regions.len() as u64).saturating_mul(self.runs.len() as u64);
        // What is sorted takes as much again, and so does the set of what is there.
        let bytes = cells.saturating_mul(3 * size_of::<Sample>() as u64);
        limits.metadata("a value for each region in each run", bytes)?;
        let there: HashSet<(u32, u32)> = self
            .samples
            .iter()
            .filter(|sample| sample.metric == metric)
            .map(|sample| (sample.region, sample.run))
            .collect();
        for region in 0..index(self.regions.len()) {
            for run in 0..index(self.runs.len()) {
                if !there.contains(&(region, run)) {
                    self.samples.push(Sample { metric, region, run, value: 0.0 });
                }
            }
        }
        Ok(())
    }

    /// Adds all of `part`, whose coordinates are extended by `extra` parameters; an extra
    /// parameter replaces one of the same name.
    ///
    /// Runs of the same coordinate and repetition are the same execution when `part` brings only
    /// values that are not there yet (SPERF writes one file for each region), and further
    /// repetitions otherwise. Returns whether repetitions were added to known coordinates.
    pub fn absorb(&mut self, part: Ensemble, extra: &[(&str, ParameterValue)]) -> bool {
        let coordinates: Vec<u32> = (0..part.coordinates.len())
            .map(|at| {
                let own = part.parameters.iter().enumerate().filter_map(|(p, parameter)| {
                    let replaced = extra.iter().any(|(name, _)| *name == parameter.name);
                    let value = part.value_at(at, p).filter(|_| !replaced)?;
                    Some((parameter.name.as_str(), value.clone(), order_of(&parameter.name)))
                });
                let extra =
                    extra.iter().map(|(name, value)| (*name, value.clone(), ValueOrder::Numeric));
                self.coordinate(&own.chain(extra).collect::<Vec<_>>())
            })
            .collect();
        self.absorb_order(&part.parameters);
        let of = |table: &[u32], at: u32| table.get(at as usize).copied().unwrap_or(u32::MAX);
        let regions = self.absorb_regions(&part.regions);
        let metrics: Vec<u16> =
            part.metrics.iter().map(|metric| self.metric(&metric.name, &metric.unit)).collect();
        let metric_of = |at: u16| metrics.get(usize::from(at)).copied().unwrap_or(u16::MAX);

        let known: Vec<Option<u32>> = part
            .runs
            .iter()
            .map(|run| {
                self.by_run.get(&(of(&coordinates, run.coordinate), run.repetition)).copied()
            })
            .collect();
        let is_known = known.iter().any(Option::is_some);
        let collides = is_known && {
            // Those that came since the last look, so that many files cost no more than their size.
            let fresh = self.samples.get(self.num_taken..).unwrap_or_default();
            self.taken.extend(fresh.iter().map(|s| (s.metric, s.region, s.run)));
            self.num_taken = self.samples.len();
            part.samples.iter().any(|s| {
                let run = known.get(s.run as usize).copied().flatten();
                run.is_some_and(|run| {
                    self.taken.contains(&(metric_of(s.metric), of(&regions, s.region), run))
                })
            })
        };
        let runs: Vec<u32> = part
            .runs
            .iter()
            .zip(&known)
            .map(|(run, known)| match known {
                Some(known) if !collides => *known,
                _ => self.add_run(of(&coordinates, run.coordinate), run.repetition, run.is_trusted),
            })
            .collect();
        for s in &part.samples {
            self.push(metric_of(s.metric), of(&regions, s.region), of(&runs, s.run), s.value);
        }
        let numbered = part.statistics.iter().filter(|s| metric_of(s.metric) != NO_METRIC);
        self.statistics.extend(numbered.map(|s| RunStatistic {
            metric: metric_of(s.metric),
            region: of(&regions, s.region),
            coordinate: of(&coordinates, s.coordinate),
            ..*s
        }));
        for (run, mut evidence) in part.evidence {
            if let Some(late) = &mut evidence.late {
                late.region = of(&regions, late.region);
            }
            self.evidence.push((of(&runs, run), evidence));
        }
        self.issues.extend(part.issues);
        collides
    }

    /// Keeps the order of values in a source, of those that its coordinates have.
    fn absorb_order(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            let column = self.by_column.get(&parameter.name);
            let Some(column) = column.and_then(|&at| self.columns.get_mut(at)) else { continue };
            for &at in &parameter.order {
                let value = parameter.values.get(at as usize);
                let known = value.and_then(|value| column.by_label.get(&value.label));
                if let Some(known) = known.copied() {
                    column.see(known);
                }
            }
        }
    }

    fn absorb_regions(&mut self, regions: &[Region]) -> Vec<u32> {
        let mut new_of: Vec<u32> = Vec::with_capacity(regions.len());
        for region in regions {
            let parent = region.parent.and_then(|above| new_of.get(above as usize).copied());
            let key = match region.kind {
                RegionKind::WholeProgram => "",
                _ => region.path.as_str(),
            };
            let at = self.region(parent, key, || RegionPlace {
                id: region.id.clone(),
                path: region.path.clone(),
                name: region.name.clone(),
                kind: region.kind,
                file: region.file.clone(),
                lines: region.lines,
            });
            new_of.push(at);
        }
        new_of
    }

    /// Sorts everything.
    ///
    /// # Errors
    /// A sentence about what does not fit together, such as a value of a region that was never
    /// added.
    pub fn finish(mut self) -> Result<Ensemble, String> {
        if self.lost_values > 0 {
            let (lost, most) = (self.lost_values, self.metrics.len());
            let (severity, stage, kind) = (Severity::Error, Stage::Import, "too-many-metrics");
            self.issues.report_many(severity, stage, kind, Place::Whole, lost, || {
                format!("values of metrics after the first {most} are omitted")
            });
        }
        // Each coordinate has an index for each parameter, given or not.
        let (points, parameters) = (self.coordinates.len(), self.columns.len());
        if points.saturating_mul(parameters) > MOST_INDICES {
            return Err(format!(
                "{points} configurations of {parameters} parameters are too many; open files apart \
                 that have other parameters"
            ));
        }
        let (coordinates, new_coordinate) = self.finish_coordinates();
        let (runs, new_run) = self.finish_runs(&new_coordinate);
        let (regions, new_region) = self.finish_regions();
        let of = |table: &[u32], at: u32| table.get(at as usize).copied().unwrap_or(u32::MAX);
        let mut samples = self.samples;
        for sample in &mut samples {
            sample.region = of(&new_region, sample.region);
            sample.run = of(&new_run, sample.run);
        }
        samples.sort_by_key(|s| (s.metric, s.region, s.run));
        let mut statistics = self.statistics;
        for statistic in &mut statistics {
            statistic.region = of(&new_region, statistic.region);
            statistic.coordinate = of(&new_coordinate, statistic.coordinate);
        }
        statistics.sort_by_key(|s| (s.metric, s.region, s.coordinate));
        let mut evidence = self.evidence;
        for (run, evidence) in &mut evidence {
            *run = of(&new_run, *run);
            if let Some(late) = &mut evidence.late {
                late.region = of(&new_region, late.region);
            }
        }
        evidence.sort_by_key(|(run, _)| *run);
        let columns = EnsembleColumns {
            parameters: self
                .columns
                .into_iter()
                .map(|column| Parameter {
                    name: column.name,
                    values: column.values,
                    order: column.seen,
                })
                .collect(),
            coordinates,
            runs,
            regions,
            metrics: self.metrics,
            samples,
            statistics,
            evidence,
        };
        Ensemble::new(self.metadata, columns, self.issues)
    }

    /// Fills what was not given, sorts values and coordinates; returns the new index of each.
    fn finish_coordinates(&mut self) -> (Vec<Vec<u32>>, Vec<u32>) {
        let num_columns = self.columns.len();
        for coordinate in &mut self.coordinates {
            coordinate.resize(num_columns, None);
        }
        for (at, column) in self.columns.iter_mut().enumerate() {
            let lacks = |coordinate: &Vec<Option<u32>>| coordinate.get(at) == Some(&None);
            if self.coordinates.iter().any(lacks) {
                let value = index(column.values.len());
                column.values.push(ParameterValue { label: NOT_GIVEN.to_owned(), number: None });
                for slot in self.coordinates.iter_mut().filter_map(|c| c.get_mut(at)) {
                    slot.get_or_insert(value);
                }
            }
            let mut order: Vec<usize> = (0..column.values.len()).collect();
            let number = |i: usize| column.values.get(i).and_then(|value| value.number);
            if column.order == ValueOrder::Numeric && order.iter().all(|&i| number(i).is_some()) {
                order.sort_by(|&a, &b| {
                    number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0))
                });
            }
            let new_of = inverse(&order);
            (0..index(column.values.len())).for_each(|at| column.see(at));
            for at in &mut column.seen {
                *at = new_of.get(*at as usize).copied().unwrap_or(*at);
            }
            column.values =
                order.iter().filter_map(|&old| column.values.get(old).cloned()).collect();
            for slot in self.coordinates.iter_mut().filter_map(|c| c.get_mut(at)) {
                *slot = slot.and_then(|old| new_of.get(old as usize).copied());
            }
        }
        let finished: Vec<Vec<u32>> = self
            .coordinates
            .iter()
            .map(|coordinate| coordinate.iter().map(|value| value.unwrap_or(0)).collect())
            .collect();
        let mut order: Vec<usize> = (0..finished.len()).collect();
        order.sort_by_key(|&at| finished.get(at));
        let sorted = order.iter().filter_map(|&at| finished.get(at).cloned()).collect();
        (sorted, inverse(&order))
    }

    fn finish_runs(&mut self, new_coordinate: &[u32]) -> (Vec<Run>, Vec<u32>) {
        for run in &mut self.runs {
            run.coordinate =
                new_coordinate.get(run.coordinate as usize).copied().unwrap_or(u32::MAX);
        }
        let mut order: Vec<usize> = (0..self.runs.len()).collect();
        order.sort_by_key(|&at| self.runs.get(at).map(|run| (run.coordinate, run.repetition)));
        let sorted = order.iter().filter_map(|&at| self.runs.get(at).cloned()).collect();
        (sorted, inverse(&order))
    }

    /// Regions depth-first, siblings as first seen, with unique ids.
    fn finish_regions(&mut self) -> (Vec<Region>, Vec<u32>) {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.regions.len()];
        let mut roots = Vec::new();
        for (at, region) in (0..).zip(&self.regions) {
            match region.parent.and_then(|above| children.get_mut(above as usize)) {
                Some(list) => list.push(at),
                None => roots.push(at),
            }
        }
        let is_program = |at: u32| {
            self.regions.get(at as usize).is_some_and(|r| r.kind == RegionKind::WholeProgram)
        };
        // An explicit stack: call paths may be deep.
        let mut stack: Vec<(u32, Option<u32>, String)> = Vec::new();
        let numbered = |list: &[u32], prefix: &str, above: Option<u32>| {
            let mut next = 0_usize;
            let mut out: Vec<(u32, Option<u32>, String)> = Vec::new();
            for &at in list {
                let id = if is_program(at) {
                    "0".to_owned()
                } else {
                    next += 1;
                    format!("{prefix}{next}")
                };
                out.push((at, above, id));
            }
            out.reverse();
            out
        };
        stack.extend(numbered(&roots, "", None));
        let mut sorted: Vec<Region> = Vec::with_capacity(self.regions.len());
        let mut order = Vec::with_capacity(self.regions.len());
        let mut taken = HashSet::new();
        while let Some((at, parent, counted)) = stack.pop() {
            let Some(region) = self.regions.get(at as usize) else { continue };
            let new = index(sorted.len());
            let id = match self.ids {
                Ids::Counted => counted.clone(),
                Ids::Kept if taken.contains(&region.id) => std::iter::once(region.path.clone())
                    .chain((2..).map(|n: u32| format!("{}#{n}", region.id)))
                    .find(|id| !taken.contains(id))
                    .unwrap_or_default(),
                Ids::Kept => region.id.clone(),
            };
            taken.insert(id.clone());
            sorted.push(Region { id, parent, ..region.clone() });
            order.push(at as usize);
            let prefix = if is_program(at) { String::new() } else { format!("{counted}.") };
            let below = children.get(at as usize).map(Vec::as_slice).unwrap_or_default();
            stack.extend(numbered(below, &prefix, Some(new)));
        }
        (sorted, inverse(&order))
    }
}

/// Inputs keep the order of the command line; other parameters are sorted if they are numbers.
fn order_of(parameter: &str) -> ValueOrder {
    if parameter == parameter_names::INPUT { ValueOrder::AsSeen } else { ValueOrder::Numeric }
}

/// For each old index its place in `order`.
fn inverse(order: &[usize]) -> Vec<u32> {
    let mut new_of = vec![0; order.len()];
    for (new, &old) in (0..).zip(order) {
        if let Some(slot) = new_of.get_mut(old) {
            *slot = new;
        }
    }
    new_of
}
