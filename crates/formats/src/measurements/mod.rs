//! Measurements of one program under several parameters: what every scaling format holds.
//!
//! A PaScal file, an Extra-P experiment, a SPERF report and a table of times all say the same
//! thing: at this coordinate (cores, input, ...), in this repetition, this region took so much of
//! this metric. [`Measurements`] is that, as plain columns; [`read()`] reads any [`ScalingFormat`]
//! that [`sniff()`] recognises.

mod builder;
mod options;
mod read;
mod regions;
mod sniff;

pub use options::{ReadOptions, RegionTime};
pub use read::{
    SPLIT_FROM, assemble_parts, part_end, read, read_part, read_stream, sniff_source, split,
};
pub use sniff::{ScalingFormat, sniff};

pub(crate) use builder::{Builder, Collected, RegionRow};
pub(crate) use options::Report;
pub(crate) use regions::Nesting;

use parallax_base::Unit;

/// Names of metrics that several formats share.
pub mod metric_names {
    /// Wall-clock time of a region or of the whole program, in seconds. Of a region that was
    /// entered several times: by the policy of [`RegionTime`](super::RegionTime).
    pub const TIME: &str = "time";
    /// Sum of all entries' durations, in seconds; only where it differs from the union.
    pub const TIME_SUM: &str = "time:sum";
    /// Last stop minus first start, in seconds; only where there is more than one entry.
    pub const TIME_SPAN: &str = "time:span";
    /// Length of the union of the entries' intervals, in seconds; only where it is not `time`.
    pub const TIME_UNION: &str = "time:union";
    /// Largest sum of durations of one thread, in seconds; only with more than one thread.
    pub const TIME_THREAD_MAX: &str = "time:thread-max";
    /// Smallest sum of durations of one thread, in seconds; only with more than one thread.
    pub const TIME_THREAD_MIN: &str = "time:thread-min";
    /// Mean over threads of their sums of durations, in seconds; only with more than one thread.
    pub const TIME_THREAD_MEAN: &str = "time:thread-mean";
    /// Number of threads that entered the region; only where it is not 1.
    pub const THREADS: &str = "threads";
    /// Number of entries of the region; only where it is not 1.
    pub const VISITS: &str = "visits";
    /// Load imbalance as the measuring tool reports it, 0 to 1.
    pub const IMBALANCE: &str = "imbalance";
    /// Start of metrics with energy in joules; the power sensor's name follows.
    pub const ENERGY: &str = "energy:";
    /// Start of metrics with mean power in watts; the power sensor's name follows.
    pub const POWER: &str = "power:";
    /// Parallel efficiency, where a source has only this, as a ratio.
    pub const EFFICIENCY: &str = "efficiency";
}

/// Names of parameters that several formats share.
pub mod parameter_names {
    /// Cores, threads or processes in use.
    pub const CORES: &str = "cores";
    /// The input: a set of program arguments.
    pub const INPUT: &str = "input";
    /// Core frequency in hertz.
    pub const FREQUENCY: &str = "frequency";
}

/// Measurements of one program under several parameters.
///
/// Parameter values, coordinates, runs, regions and samples refer to each other by index.
/// Everything is sorted, so equal content gives equal structures whatever the order of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurements {
    /// Which format it was read from.
    pub format: ScalingFormat,
    /// What the file says about the program, host and tool: names and texts in file order.
    pub metadata: Vec<(String, String)>,
    /// What was varied, in the order of the file.
    pub parameters: Vec<Parameter>,
    /// Distinct combinations of parameter values that were measured: for each, the index of its
    /// value for each parameter, in the order of `parameters`. Sorted.
    pub coordinates: Vec<Vec<u32>>,
    /// Executions, sorted by coordinate, then repetition.
    pub runs: Vec<Run>,
    /// The region tree, parents before children, siblings in natural order of their ids.
    pub regions: Vec<Region>,
    /// What was measured.
    pub metrics: Vec<Metric>,
    /// Values, sorted by metric, region, run; at most one for each triple.
    pub samples: Vec<Sample>,
    /// Statistics over repetitions, where a file has them instead of the values.
    pub statistics: Vec<Statistic>,
}

/// Something that was varied between runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, such as `cores` or `input`.
    pub name: String,
    /// Its distinct values: numbers ascending; inputs in command-line order; others in order of
    /// first appearance.
    pub values: Vec<ParameterValue>,
}

/// One value of a [`Parameter`].
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterValue {
    /// As a person wrote it.
    pub label: String,
    /// As a number, where all values of the parameter are numbers. Frequencies in hertz.
    pub number: Option<f64>,
}

/// One execution of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Index into the coordinates.
    pub coordinate: u32,
    /// The number of the repetition as the file counts (most tools start at 1).
    pub repetition: u32,
    /// Start and stop in seconds of the Unix epoch, where the file has them.
    pub interval: Option<(f64, f64)>,
    /// Whether its values can be trusted.
    pub outcome: Outcome,
}

/// How an execution ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing speaks against it.
    Completed,
    /// It may have failed (far too short, regions missing); its values are kept.
    Suspicious,
    /// The file says that it failed; it has no values.
    Failed,
}

/// A part of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// A short unique name for tables: `0` for the whole program, `1.2`, `108-120`, a call path.
    pub id: String,
    /// As the source writes it: `1.2`, `main->solve`, `108, 120`.
    pub path: String,
    /// The last part of the path.
    pub name: String,
    /// Index of the region around it; `None` for roots.
    pub parent: Option<u32>,
    /// What it is.
    pub kind: RegionKind,
    /// Source file.
    pub file: Option<String>,
    /// First and last line in the source file.
    pub lines: Option<(u32, u32)>,
}

/// What a [`Region`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionKind {
    /// The program from start to exit.
    WholeProgram,
    /// Marked by hand or a node of a call tree.
    Marked,
    /// The time between two marked regions.
    Gap,
    /// Marked by the measuring tool (parallel loops, thread creation); it has no source lines.
    Automatic,
}

/// Something that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name; see [`metric_names`].
    pub name: String,
    /// What its values count.
    pub unit: Unit,
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Index into the metrics.
    pub metric: u16,
    /// Index into the regions.
    pub region: u32,
    /// Index into the runs.
    pub run: u32,
    /// The value in the metric's unit; always finite.
    pub value: f64,
}

/// Statistics over the repetitions at one coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistic {
    /// Index into the metrics.
    pub metric: u16,
    /// Index into the regions.
    pub region: u32,
    /// Index into the coordinates.
    pub coordinate: u32,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Smallest value.
    pub minimum: f64,
    /// Largest value.
    pub maximum: f64,
    /// Population standard deviation.
    pub deviation: f64,
    /// Number of repetitions.
    pub repetitions: u32,
}

impl Measurements {
    /// Index of the metric of this name.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<u16> {
        let at = self.metrics.iter().position(|metric| metric.name == name)?;
        u16::try_from(at).ok()
    }

    /// Index of the parameter of this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name == name)
    }

    /// Index of the region with this id, or else with this path in the source.
    #[must_use]
    pub fn region(&self, id: &str) -> Option<u32> {
        let by_id = self.regions.iter().position(|region| region.id == id);
        let found = by_id.or_else(|| self.regions.iter().position(|region| region.path == id))?;
        u32::try_from(found).ok()
    }

    /// All samples of one metric in one region, sorted by run.
    #[must_use]
    pub fn samples_of(&self, metric: u16, region: u32) -> &[Sample] {
        let key = |s: &Sample| (s.metric, s.region);
        let start = self.samples.partition_point(|s| key(s) < (metric, region));
        let end = self.samples.partition_point(|s| key(s) <= (metric, region));
        self.samples.get(start..end).unwrap_or_default()
    }

    /// The value of one metric in one region in one run.
    #[must_use]
    pub fn value(&self, metric: u16, region: u32, run: u32) -> Option<f64> {
        let series = self.samples_of(metric, region);
        let at = series.binary_search_by_key(&run, |s| s.run).ok()?;
        series.get(at).map(|s| s.value)
    }

    /// The values of one metric in one region at one coordinate, in order of repetition.
    pub fn repetitions(
        &self,
        metric: u16,
        region: u32,
        coordinate: u32,
    ) -> impl Iterator<Item = f64> + '_ {
        let first = self.runs.partition_point(|run| run.coordinate < coordinate) as u64;
        let past = self.runs.partition_point(|run| run.coordinate <= coordinate) as u64;
        let series = self.samples_of(metric, region);
        let start = series.partition_point(|s| u64::from(s.run) < first);
        let end = series.partition_point(|s| u64::from(s.run) < past);
        series.get(start..end).unwrap_or_default().iter().map(|s| s.value)
    }

    /// The time of a region in one run in seconds, by `policy`.
    ///
    /// Policies that give the same value as [`metric_names::TIME`] (one entry, one thread) are
    /// not stored twice; this looks in the right place.
    #[must_use]
    pub fn region_time(&self, region: u32, run: u32, policy: RegionTime) -> Option<f64> {
        let own = self.metric(policy.metric_name()).and_then(|m| self.value(m, region, run));
        own.or_else(|| self.value(self.metric(metric_names::TIME)?, region, run))
    }

    /// The coordinate with these values (labels or numbers as text), in the order of the
    /// parameters.
    #[must_use]
    pub fn coordinate(&self, labels: &[&str]) -> Option<u32> {
        let index = |(parameter, label): (&Parameter, &&str)| {
            let at = parameter.values.iter().position(|value| value.label == **label)?;
            u32::try_from(at).ok()
        };
        if labels.len() != self.parameters.len() {
            return None;
        }
        let wanted: Option<Vec<u32>> = self.parameters.iter().zip(labels).map(index).collect();
        u32::try_from(self.coordinates.binary_search(&wanted?).ok()?).ok()
    }
}
