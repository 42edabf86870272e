//! [`Ensemble`]: several experiments with the parameters in which they differ.
//!
//! Everything that compares executions (scaling maps, growth models, versions) stands on it. A
//! file that holds many runs of one program is an ensemble; so is a row of databases whose
//! contexts were matched by call path. What PaScal calls a region is a context here: a node of
//! the one tree of all experiments.

mod builder;

pub use builder::{EnsembleBuilder, Ids, RegionPlace, ValueOrder};

pub use parallax_base::scaling_data::{
    Metric as EnsembleMetric, Parameter, ParameterValue, Region, RegionKind, RunEstimate, Sample,
    Statistic as RunStatistic, fact_names, metric_names, parameter_names,
};

use parallax_base::Issues;

use crate::Metadata;

/// Several executions of one program, distinguished by parameters.
///
/// Parameter values, coordinates, runs, regions and samples refer to each other by index and are
/// sorted, so that equal content gives equal ensembles whatever the order of the sources.
#[derive(Debug, Clone)]
pub struct Ensemble {
    /// What is known besides numbers.
    pub metadata: Metadata,
    /// What was repaired, dropped or guessed.
    pub issues: Issues,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) coordinates: Vec<Vec<u32>>,
    pub(crate) runs: Vec<Run>,
    pub(crate) regions: Vec<Region>,
    pub(crate) metrics: Vec<EnsembleMetric>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) statistics: Vec<RunStatistic>,
    pub(crate) evidence: Vec<(u32, RunEvidence)>,
}

/// What the values of a run rest on, and what made it slow, where its source tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunEvidence {
    /// About how many samples each location has that was executed; `None` where nothing was
    /// sampled.
    pub samples: Option<f64>,
    /// The location that others wait for.
    pub late: Option<LateLocation>,
    /// By index into the regions, ascending, what others wait for those who compute in it, in
    /// seconds; empty where no trace of calls tells.
    pub delays: Vec<(u32, f64)>,
    /// What else speaks for caution, as sentences.
    pub cautions: Vec<String>,
    /// What its time was estimated from; `None` where it was measured.
    pub estimate: Option<RunEstimate>,
}

/// A location that others wait for, and where it computes meanwhile.
#[derive(Debug, Clone, PartialEq)]
pub struct LateLocation {
    /// Index into the regions: where it computes.
    pub region: u32,
    /// What it is called.
    pub location: String,
    /// What it spends in the region, in seconds.
    pub value: f64,
    /// What locations spend there on average, in seconds.
    pub mean: f64,
    /// What the others wait for it in sum, in seconds.
    pub waiting: f64,
}

/// One execution.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Index into the coordinates.
    pub coordinate: u32,
    /// Number of the repetition, as the source counts.
    pub repetition: u32,
    /// Whether nothing speaks against its values; a run that was far too short may have failed.
    pub is_trusted: bool,
}

/// The columns of an [`Ensemble`] from a source that is sorted already.
#[derive(Debug, Clone, Default)]
pub struct EnsembleColumns {
    /// What was varied.
    pub parameters: Vec<Parameter>,
    /// Distinct combinations of parameter values, one index for each parameter; sorted.
    pub coordinates: Vec<Vec<u32>>,
    /// Executions, sorted by coordinate, then repetition.
    pub runs: Vec<Run>,
    /// Regions, parents before their children.
    pub regions: Vec<Region>,
    /// What was measured.
    pub metrics: Vec<EnsembleMetric>,
    /// Values, sorted by metric, region, run; at most one for each triple.
    pub samples: Vec<Sample>,
    /// Statistics, sorted by metric, region, coordinate.
    pub statistics: Vec<RunStatistic>,
    /// What is known of runs besides values, sorted by run.
    pub evidence: Vec<(u32, RunEvidence)>,
}

impl Ensemble {
    /// An ensemble of sorted columns.
    ///
    /// # Errors
    /// A sentence about the first column that is not as [`EnsembleColumns`] says.
    pub fn new(
        metadata: Metadata,
        columns: EnsembleColumns,
        issues: Issues,
    ) -> Result<Self, String> {
        let EnsembleColumns {
            parameters,
            coordinates,
            runs,
            regions,
            metrics,
            samples,
            statistics,
            evidence,
        } = columns;
        let ensemble = Self {
            metadata,
            issues,
            parameters,
            coordinates,
            runs,
            regions,
            metrics,
            samples,
            statistics,
            evidence,
        };
        ensemble.check()?;
        Ok(ensemble)
    }

    /// What was varied.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Index of the parameter of this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name == name)
    }

    /// Distinct combinations of parameter values: for each, the index of its value for each
    /// parameter. Sorted.
    #[must_use]
    pub fn coordinates(&self) -> &[Vec<u32>] {
        &self.coordinates
    }

    /// The value of a parameter at a coordinate.
    #[must_use]
    pub fn value_at(&self, coordinate: usize, parameter: usize) -> Option<&ParameterValue> {
        let value = *self.coordinates.get(coordinate)?.get(parameter)?;
        self.parameters.get(parameter)?.values.get(value as usize)
    }

    /// Executions, sorted by coordinate, then repetition.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The regions, parents before their children.
    #[must_use]
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// What was measured.
    #[must_use]
    pub fn metrics(&self) -> &[EnsembleMetric] {
        &self.metrics
    }

    /// Index of the metric of this name.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<u16> {
        let at = self.metrics.iter().position(|metric| metric.name == name)?;
        u16::try_from(at).ok()
    }

    /// All values of one metric in one region, sorted by run.
    #[must_use]
    pub fn samples_of(&self, metric: u16, region: u32) -> &[Sample] {
        let key = |s: &Sample| (s.metric, s.region);
        let start = self.samples.partition_point(|s| key(s) < (metric, region));
        let end = self.samples.partition_point(|s| key(s) <= (metric, region));
        self.samples.get(start..end).unwrap_or_default()
    }

    /// The statistics of one metric in one region, sorted by coordinate.
    #[must_use]
    pub fn statistics_of(&self, metric: u16, region: u32) -> &[RunStatistic] {
        let key = |s: &RunStatistic| (s.metric, s.region);
        let start = self.statistics.partition_point(|s| key(s) < (metric, region));
        let end = self.statistics.partition_point(|s| key(s) <= (metric, region));
        self.statistics.get(start..end).unwrap_or_default()
    }

    /// What is known of runs besides their values: index of the run and what it is, sorted.
    #[must_use]
    pub fn evidence(&self) -> &[(u32, RunEvidence)] {
        &self.evidence
    }

    /// Checks the invariants of the columns.
    ///
    /// # Errors
    /// A sentence about the first that does not hold.
    pub fn check(&self) -> Result<(), String> {
        let fits = |coordinate: &Vec<u32>| {
            coordinate.len() == self.parameters.len()
                && coordinate
                    .iter()
                    .zip(&self.parameters)
                    .all(|(&value, parameter)| (value as usize) < parameter.values.len())
        };
        if let Some(at) = self.coordinates.iter().position(|coordinate| !fits(coordinate)) {
            return Err(format!("coordinate {at} does not fit the parameters"));
        }
        if self.coordinates.windows(2).any(|pair| pair.first() >= pair.last()) {
            return Err("the coordinates are not sorted".into());
        }
        let key = |run: &Run| (run.coordinate, run.repetition);
        if self.runs.iter().any(|run| run.coordinate as usize >= self.coordinates.len())
            || self.runs.is_sorted_by_key(key).eq(&false)
        {
            return Err("the runs are not sorted by their coordinates".into());
        }
        let late = |(at, region): (u32, &Region)| region.parent.is_some_and(|above| above >= at);
        if (0..).zip(&self.regions).any(late) {
            return Err("a region stands before its parent".into());
        }
        let key = |s: &Sample| (s.metric, s.region, s.run);
        let outside = |s: &Sample| {
            s.metric as usize >= self.metrics.len()
                || s.region as usize >= self.regions.len()
                || s.run as usize >= self.runs.len()
                || !s.value.is_finite()
        };
        if self.samples.iter().any(outside) || !self.samples.is_sorted_by(|a, b| key(a) < key(b)) {
            return Err("the samples are not sorted or refer to nothing".into());
        }
        let key = |s: &RunStatistic| (s.metric, s.region, s.coordinate);
        let outside = |s: &RunStatistic| {
            s.metric as usize >= self.metrics.len()
                || s.region as usize >= self.regions.len()
                || s.coordinate as usize >= self.coordinates.len()
        };
        if self.statistics.iter().any(outside) || !self.statistics.is_sorted_by_key(key) {
            return Err("the statistics are not sorted or refer to nothing".into());
        }
        let outside = |(run, evidence): &(u32, RunEvidence)| {
            let late = evidence.late.as_ref();
            *run as usize >= self.runs.len()
                || late.is_some_and(|late| late.region as usize >= self.regions.len())
        };
        if self.evidence.iter().any(outside) {
            return Err("what is known of runs refers to nothing".into());
        }
        Ok(())
    }
}
