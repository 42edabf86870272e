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
mod text;

pub use options::{ReadOptions, RegionTime};
pub use read::{
    SPLIT_FROM, assemble_parts, part_end, read, read_part, read_stream, sniff_source, split,
};
pub use sniff::{ScalingFormat, sniff};

pub(crate) use builder::{Builder, Collected, RegionRow};
pub(crate) use options::Report;
pub(crate) use regions::Nesting;
pub(crate) use text::{number, whole};

pub use parallax_base::scaling_data::{
    Metric, Parameter, ParameterValue, Region, RegionKind, RunEstimate, Sample, Statistic,
    fact_names, metric_names, parameter_names,
};

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
    /// What its time was estimated from; `None` where it was measured.
    pub estimate: Option<RunEstimate>,
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
    /// An estimate of what another run of the same configuration measured; it has no values.
    Replaced,
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
