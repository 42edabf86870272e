//! Questions to an ensemble.

use parallax_base::Limits;
use parallax_service::analysis::scaling::{
    BaselinePolicy, EfficiencyRule, MapOptions, Measure, Superlinear, VerdictOptions,
};
use parallax_service::scaling::{AxisChoice, RunChoice, ScalingRequest};
use serde::{Deserialize, Serialize};

use super::ErrorReply;

/// Which parameters are the axes, and how maps are computed. Words and defaults are those of the
/// command line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(default)]
pub struct ViewAsk {
    /// The parameter that counts cores, where it has an unusual name.
    pub cores: Option<String>,
    /// Parameters held at one value: name and value.
    pub fixed: Vec<(String, String)>,
    /// Which metric counts as time; null for `time`, else the first.
    pub metric: Option<String>,
    /// Regions that never reach this share of the program's time, in per cent, are left out.
    pub min_percent: f64,
    /// Statistic over repetitions: `median` (default), `mean`, `min`, `max`.
    pub statistic: Option<String>,
    /// What efficiency is relative to: `serial` (default), `smallest`, `common`, or a core count.
    pub baseline: Option<String>,
    /// Efficiency of each repetition, then the statistic, as the viewer of 2018 has it.
    pub per_repetition: bool,
    /// Take efficiencies above 100 % as 100 % in the differences.
    pub clamp: bool,
    /// Leave out runs that may have failed.
    pub trusted: bool,
}

impl ViewAsk {
    /// The request that this makes of `regions` (all when empty).
    ///
    /// # Errors
    /// When a word is none of those that a field knows.
    pub fn request(&self, regions: &[String]) -> Result<ScalingRequest, ErrorReply> {
        let unknown = |field: &str, word: &str, known: &str| {
            ErrorReply::new("misuse", format!("{field} `{word}` is none of {known}"))
        };
        let measure = match self.statistic.as_deref() {
            None | Some("median") => Measure::Median,
            Some("mean") => Measure::Mean,
            Some("min") => Measure::Min,
            Some("max") => Measure::Max,
            Some(word) => return Err(unknown("statistic", word, "median, mean, min, max")),
        };
        let baseline = match self.baseline.as_deref() {
            None | Some("serial") => BaselinePolicy::Serial,
            Some("smallest") => BaselinePolicy::Smallest,
            Some("common") => BaselinePolicy::SmallestCommon,
            Some(word) => match word.parse() {
                Ok(cores) if cores > 0 => BaselinePolicy::Cores(cores),
                _ => {
                    let known = "serial, smallest, common, or a core count";
                    return Err(unknown("baseline", word, known));
                }
            },
        };
        Ok(ScalingRequest {
            axes: AxisChoice { cores: self.cores.clone(), fixed: self.fixed.clone() },
            metric: self.metric.clone(),
            regions: regions.to_vec(),
            min_percent: self.min_percent,
            runs: if self.trusted { RunChoice::Trusted } else { RunChoice::All },
            maps: MapOptions {
                measure,
                efficiency: if self.per_repetition {
                    EfficiencyRule::PerRepetition
                } else {
                    EfficiencyRule::OfStatistic
                },
                baseline,
                superlinear: if self.clamp {
                    Superlinear::ClampInDifferences
                } else {
                    Superlinear::Keep
                },
            },
            verdict: VerdictOptions::default(),
            limits: Limits::default(),
        })
    }
}

/// Regions, verdict and maps of an ensemble.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ScalingAsk {
    /// An ensemble.
    pub item: String,
    /// How to look at it.
    #[serde(default)]
    pub view: ViewAsk,
}

/// A parameter of an ensemble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ParameterReply {
    /// Its name.
    pub name: String,
    /// Its values, in their order, as people read them.
    pub values: Vec<String>,
    /// The numbers that they are; null where they are not numbers.
    pub numbers: Vec<Option<f64>>,
}

/// Smallest, mean and largest value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SpreadReply {
    /// Smallest value.
    pub min: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Largest value.
    pub max: f64,
}

/// A region with everything there is to say about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RegionReply {
    /// Its id; `0` for the whole program.
    pub id: String,
    /// Position of the region around it in the answer; null for the whole program.
    pub parent: Option<u32>,
    /// Levels below the whole program.
    pub depth: u32,
    /// `whole program`, `region`, `function`, `loop`, ...
    pub kind: String,
    /// Its name; may be empty.
    pub name: String,
    /// What a sentence calls it; may be empty.
    pub display_name: String,
    /// Call path.
    pub path: String,
    /// Source file.
    pub file: Option<String>,
    /// First line.
    pub first_line: Option<u32>,
    /// Last line.
    pub last_line: Option<u32>,
    /// Smallest share of its parent's time, in per cent.
    pub share_min: Option<f64>,
    /// Largest share of its parent's time, in per cent.
    pub share_max: Option<f64>,
    /// Load imbalance over the configurations, as fractions.
    pub imbalance: Option<SpreadReply>,
    /// Why it loses, where that can be seen.
    pub cause: Option<String>,
    /// What a person should know, one sentence each.
    pub sentences: Vec<String>,
    /// Largest absolute value of the three absolute difference maps: their shared range.
    pub range_absolute: Option<f64>,
    /// Largest absolute value of the three relative difference maps.
    pub range_relative: Option<f64>,
}

/// Regions, verdict and maps.
///
/// Table `cells` has one row for each region, input and core count, in this nesting: row
/// `(region * inputs + input) * cores + core`. Columns: `repetitions`, `time`, `time_min`,
/// `time_max`, `speedup`, `efficiency`, `scalability_abs`, `strong_abs`, `weak_abs`,
/// `scalability_rel`, `strong_rel`, `weak_rel`, `loss`, `own_loss` (core-seconds). Undefined cells are
/// null.
///
/// Table `losses` has one row for each region that loses where the whole program loses most, the
/// worst first: what `parallax scaling` ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ScalingReply {
    /// Name of the program.
    pub title: String,
    /// Format and origin of the measurements.
    pub source: String,
    /// Unit symbol of the times.
    pub unit: String,
    /// Inputs.
    pub inputs: Vec<String>,
    /// Core counts, ascending.
    pub cores: Vec<u32>,
    /// Core count that efficiency is relative to, for each input; null where there is none.
    pub baselines: Vec<Option<u32>>,
    /// All regions, the whole program first, parents before children.
    pub regions: Vec<RegionReply>,
    /// Positions of input and core count where the whole program loses most.
    pub worst: Option<(u32, u32)>,
    /// The verdict on the whole program, one sentence each.
    pub verdict: Vec<String>,
    /// What a person should know, the most important first.
    pub notes: Vec<String>,
    /// All parameters of the ensemble.
    pub parameters: Vec<ParameterReply>,
    /// Names of the metrics of the ensemble.
    pub metrics: Vec<String>,
}

/// Another table of an ensemble.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ScalingTableAsk {
    /// An ensemble.
    pub item: String,
    /// How to look at it.
    #[serde(default)]
    pub view: ViewAsk,
    /// Regions by id, path, name or glob; all when empty.
    #[serde(default)]
    pub regions: Vec<String>,
    /// `maps`, `regions`, `losses`, `laws`, `dispersion`, `energy` or `pop`.
    pub table: String,
}

/// Growth models.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelsAsk {
    /// An ensemble.
    pub item: String,
    /// Parameters of the models; null for all whose values are numbers.
    #[serde(default)]
    pub parameters: Option<Vec<String>>,
    /// Numbers inside labels: `NAME=REGEX`.
    #[serde(default)]
    pub numbers: Vec<String>,
    /// The metric; null for all that were measured.
    #[serde(default)]
    pub metric: Option<String>,
    /// Regions by id, path or name; all when empty.
    #[serde(default)]
    pub regions: Vec<String>,
    /// Statistic that is modelled: `mean` (default), `median`, `min`, `max`.
    #[serde(default)]
    pub statistic: Option<String>,
    /// Values of the models along a parameter.
    #[serde(default)]
    pub curve: Option<CurveAsk>,
}

/// Where curves of models go along.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CurveAsk {
    /// The parameter.
    pub parameter: String,
    /// Its values.
    pub values: Vec<f64>,
    /// Values of other parameters of the models; those that are not named stand at their largest
    /// measured value.
    #[serde(default)]
    pub at: Vec<(String, f64)>,
}

/// Values of a model along a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CurveReply {
    /// Values of the parameter.
    pub x: Vec<f64>,
    /// Values of the model; null where it is undefined.
    pub y: Vec<Option<f64>>,
}

/// The model of one region, metric and group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelReply {
    /// Id of the region in the ensemble's own numbering; `0` is the whole program.
    pub region: String,
    /// Call path of the region.
    pub path: String,
    /// The metric.
    pub metric: String,
    /// Its unit symbol.
    pub unit: String,
    /// Values of the parameters that tell models apart; empty when there are none.
    pub group: String,
    /// The model as text.
    pub formula: String,
    /// Symmetric mean absolute percentage error, in per cent.
    pub smape: f64,
    /// Adjusted coefficient of determination.
    pub adjusted_r2: Option<f64>,
    /// Number of points it was made of.
    pub points: u32,
    /// Its values where a curve was asked for.
    pub curve: Option<CurveReply>,
}

/// Growth models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ModelsReply {
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// The models, in the order of the tree.
    pub models: Vec<ModelReply>,
    /// What a person should know.
    pub notes: Vec<String>,
}

/// Two ensembles as versions of one program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CompareAsk {
    /// The old version: an ensemble.
    pub old: String,
    /// The new version: an ensemble.
    pub new: String,
    /// How to look at them.
    #[serde(default)]
    pub view: ViewAsk,
    /// Smallest change of time, in per cent, that counts; null for 2.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// A change counts when its adjusted probability by chance is below this; null for 0.05.
    #[serde(default)]
    pub significance: Option<f64>,
}

/// A region that both versions have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ComparedRegionReply {
    /// Id in the old version.
    pub id: String,
    /// Position of the region around it in the answer; null at the top.
    pub parent: Option<u32>,
    /// What a sentence calls it.
    pub display_name: String,
    /// Call path.
    pub path: String,
    /// Largest absolute value of all differences of efficiency.
    pub range: f64,
}

/// Two versions side by side. Table `cells` has one row for each region, input and core count of
/// the old version, nested like that of `scaling`: `time_old`, `time_new`, `time_ratio`, `change`
/// (`faster`, `slower`, `within noise`, or `not tested` where a version has a single run),
/// `runs_old`, `runs_new`, `p`, `p_adjusted`, `low` and `high` (95 % interval of the difference),
/// and differences of `efficiency`, `scalability_abs`, ...
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CompareReply {
    /// What the versions are called.
    pub titles: (String, String),
    /// Inputs of the old version.
    pub inputs: Vec<String>,
    /// Core counts of the old version.
    pub cores: Vec<u32>,
    /// Regions that both have, the whole program first.
    pub regions: Vec<ComparedRegionReply>,
    /// Paths of regions that only the old version has.
    pub only_old: Vec<String>,
    /// Paths of regions that only the new version has.
    pub only_new: Vec<String>,
    /// What changes are judged by: which test, on how many runs, adjusted for how many looks, at
    /// which level.
    #[serde(default)]
    pub evidence: String,
    /// The verdict in plain words.
    pub sentences: Vec<String>,
    /// What a person should know.
    pub notes: Vec<String>,
}
