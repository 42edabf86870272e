//! What measurements of one program under several parameters consist of.
//!
//! A file of measurements and an ensemble of the model have the same columns; values refer to
//! metrics, regions, runs and coordinates by index.

use crate::Unit;

/// Names of metrics that readers write and analyses look for.
pub mod metric_names {
    /// Wall-clock time of a region or of the whole program, in seconds: one number for each run.
    pub const TIME: &str = "time";
    /// Time on processors in seconds, where nothing tells how long the run took: whoever waits
    /// asleep uses none, so it says nothing about scaling.
    pub const CPU_TIME: &str = "cpu-time";
    /// Sum of all entries' durations, in seconds; only where it differs from the union.
    pub const TIME_SUM: &str = "time:sum";
    /// Last stop minus first start, in seconds; only where there is more than one entry.
    pub const TIME_SPAN: &str = "time:span";
    /// Length of the union of the entries' intervals, in seconds; only where it is not `time`.
    pub const TIME_UNION: &str = "time:union";
    /// Longest time of a single location (thread or rank), in seconds; only with several.
    pub const LOCATION_MAX: &str = "time:location-max";
    /// Shortest time of a single location, in seconds; only with several.
    pub const LOCATION_MIN: &str = "time:location-min";
    /// Mean time over locations, in seconds, those of the run without a value as 0.
    pub const LOCATION_MEAN: &str = "time:location-mean";
    /// Number of locations that the mean is over.
    pub const LOCATIONS: &str = "locations";
    /// How long this region and others inside of the same region are executed at the same time by
    /// different threads, in seconds: what their times add up to, minus their union; only where they
    /// are.
    pub const OVERLAP: &str = "time:overlap";
    /// Number of entries of the region; only where it is not 1.
    pub const VISITS: &str = "visits";
    /// Load imbalance as the measuring tool reports it, 0 to 1.
    pub const IMBALANCE: &str = "imbalance";
    /// Start of metrics with energy in joules; the power sensor's name follows.
    pub const ENERGY: &str = "energy:";
    /// Start of metrics with mean power in watts; the power sensor's name follows.
    pub const POWER: &str = "power:";
    /// Parallel efficiency, where a source has nothing else, as a ratio.
    pub const EFFICIENCY: &str = "efficiency";
}

/// Names of parameters that readers write and analyses look for.
pub mod parameter_names {
    /// Cores, threads or processes in use.
    pub const CORES: &str = "cores";
    /// The input: a set of program arguments.
    pub const INPUT: &str = "input";
    /// Core frequency in hertz.
    pub const FREQUENCY: &str = "frequency";
}

/// Names of facts about all runs that readers write and analyses look for.
pub mod fact_names {
    /// Number of processors (hardware threads) of the machine that all runs were on.
    pub const PROCESSORS: &str = "processors";
}

/// Something that was varied between runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, such as `cores` or `input`.
    pub name: String,
    /// Its distinct values, in the order in which maps show them.
    pub values: Vec<ParameterValue>,
    /// Positions in `values`, each once, in the order in which the source has them first.
    pub order: Vec<u32>,
}

/// One value of a [`Parameter`].
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterValue {
    /// As the user wrote it.
    pub label: String,
    /// As a number, where it is one; frequencies in hertz.
    pub number: Option<f64>,
}

/// A part of the program, common to all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    /// A short unique name: `0` for the whole program, `1.2` below it, `108-120`, a call path.
    pub id: String,
    /// The call path, or what the source writes in its place.
    pub path: String,
    /// Display name: a function, a loop, the last part of the path.
    pub name: String,
    /// Index of the region around it; `None` for outermost ones.
    pub parent: Option<u32>,
    /// What it is.
    pub kind: RegionKind,
    /// Source file.
    pub file: Option<String>,
    /// First and last line in the source file.
    pub lines: Option<(u32, u32)>,
}

/// What a [`Region`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegionKind {
    /// The program from start to exit.
    WholeProgram,
    /// Marked in the source by a developer.
    Marked,
    /// The time between two marked regions.
    Gap,
    /// Marked by the measuring tool, without source lines.
    Automatic,
    /// A thread's or process's entry.
    Entry,
    /// A call of a function.
    Function,
    /// A loop.
    Loop,
    /// A source line.
    Line,
}

impl RegionKind {
    /// The word that tables use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WholeProgram => "program",
            Self::Marked => "region",
            Self::Gap => "gap",
            Self::Automatic => "automatic",
            Self::Entry => "entry",
            Self::Function => "function",
            Self::Loop => "loop",
            Self::Line => "line",
        }
    }
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

/// What the time of a run rests on that was ended after its first iterations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunEstimate {
    /// Iterations that were measured.
    pub iterations: u64,
    /// Iterations of a complete run.
    pub of: u64,
    /// Between which seconds the time lies if all iterations are like those that were measured.
    pub interval: (f64, f64),
    /// The time in seconds if iterations go on to get slower or faster as those that were measured
    /// do; `None` where these do not.
    pub with_trend: Option<f64>,
}

/// Statistics over the repetitions at one coordinate, where a source has nothing else.
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
