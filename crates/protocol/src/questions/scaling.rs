//! Questions to an ensemble: maps, losses and verdicts over core counts and inputs.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{NotesReply, ScalingCellTable, ScalingLossTable, ScalingTable};
use crate::Ensemble;
use crate::macros::{choice, fields, question};

choice! {
    /// Statistic over the repetitions of a configuration.
    pub enum RepetitionStatistic {
        /// The median.
        Median = "median",
        /// The arithmetic mean.
        Mean = "mean",
        /// The minimum.
        Min = "min",
        /// The maximum.
        Max = "max",
    }
}

choice! {
    /// A table of an ensemble.
    pub enum ScalingTableKind {
        /// One row for each region and configuration.
        Maps = "maps",
        /// One row for each region: source location, share, imbalance, verdict.
        Regions = "regions",
        /// Parallel overhead by region where that of the program is largest.
        Losses = "losses",
        /// Amdahl, universal scalability, Karp-Flatt and Gustafson for each region and input.
        Laws = "laws",
        /// Dispersion of repetitions.
        Dispersion = "dispersion",
        /// Energy, energy-delay product and their validity.
        Energy = "energy",
        /// Efficiencies of the POP methodology, as reported or from time in MPI.
        Pop = "pop",
    }
}

choice! {
    /// Order of core counts in maps.
    pub enum CoreOrder {
        /// The smallest first.
        Ascending = "ascending",
        /// As the measurements have them first.
        File = "file",
    }
}

/// What efficiency is relative to: a name or a number of cores, written as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(
    feature = "typescript",
    ts(type = "\"serial\" | \"smallest\" | \"common\" | `${number}`")
)]
pub enum ScalingBaseline {
    /// One core.
    #[default]
    Serial,
    /// The smallest core count of each input.
    Smallest,
    /// The smallest core count that all inputs have.
    Common,
    /// This core count.
    Cores(NonZeroU32),
}

impl fmt::Display for ScalingBaseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial => f.write_str("serial"),
            Self::Smallest => f.write_str("smallest"),
            Self::Common => f.write_str("common"),
            Self::Cores(cores) => cores.fmt(f),
        }
    }
}

/// A text that is no baseline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("baseline `{text}` is none of serial, smallest, common or a core count")]
pub struct UnknownBaseline {
    text: String,
}

impl FromStr for ScalingBaseline {
    type Err = UnknownBaseline;

    fn from_str(text: &str) -> Result<Self, UnknownBaseline> {
        match text {
            "serial" => Ok(Self::Serial),
            "smallest" => Ok(Self::Smallest),
            "common" => Ok(Self::Common),
            number => number
                .parse()
                .map(Self::Cores)
                .map_err(|_| UnknownBaseline { text: text.to_owned() }),
        }
    }
}

impl TryFrom<String> for ScalingBaseline {
    type Error = UnknownBaseline;

    fn try_from(text: String) -> Result<Self, UnknownBaseline> {
        text.parse()
    }
}

impl From<ScalingBaseline> for String {
    fn from(baseline: ScalingBaseline) -> Self {
        baseline.to_string()
    }
}

fields! {
    /// Which parameters are the axes, and how maps are computed.
    pub struct ScalingView {
        /// The parameter that counts cores, where it has an unusual name.
        cores: Option<String>,
        /// Parameters held at one value: name and value.
        fixed: Vec<(String, String)>,
        /// Which metric counts as time; null for `time`, else the first.
        metric: Option<String>,
        /// Regions that never reach this share of the program's time, in per cent, are omitted.
        min_percent: f64,
        /// Statistic over repetitions.
        statistic: RepetitionStatistic,
        /// What efficiency is relative to: `serial`, `smallest` (of each input), `common` (the
        /// smallest that all inputs have), or a core count.
        baseline: ScalingBaseline,
        /// Efficiency of each repetition, then the statistic, as PaScal Viewer of 2018 does.
        per_repetition: bool,
        /// Take efficiencies above 100 % as 100 % in the differences.
        clamp: bool,
        /// Omit runs that may have failed: those that were far too short.
        trusted: bool,
    }
}

question! {
    /// Regions, verdict and maps of an ensemble.
    "scaling" of Ensemble,
    request ScalingRequest {
        /// How to look at it.
        view: ScalingView,
        /// In which order maps show core counts; what they are computed from is the same.
        order: CoreOrder,
    }
    reply ScalingReply,
    tables ScalingTables {
        /// All cells of all maps.
        cells: ScalingCellTable,
        /// What loses where the whole program loses most.
        losses: ScalingLossTable,
    }
}

/// A parameter of an ensemble.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ParameterReply {
    /// Its name.
    pub name: String,
    /// Its values, in their order, as texts.
    pub values: Vec<String>,
    /// The numbers that they are; null where they are not numbers.
    pub numbers: Vec<Option<f64>>,
}

/// Smallest, mean and largest value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
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
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RegionReply {
    /// Its id; `0` for the whole program.
    pub id: String,
    /// Position of the region around it in the answer; null for the whole program.
    pub parent: Option<u32>,
    /// Levels below the whole program.
    pub depth: u32,
    /// `whole program`, `region`, `function`, `loop`, ...
    pub kind: &'static str,
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
    /// Notes and warnings, one sentence each.
    pub sentences: Vec<String>,
    /// Largest absolute value of the three absolute difference maps: their shared range.
    pub range_absolute: Option<f64>,
    /// Largest absolute value of the three relative difference maps.
    pub range_relative: Option<f64>,
}

/// The reply to `scaling`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
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
    /// Positions in `cores`, in the order in which maps show them from the top.
    pub rows: Vec<u32>,
    /// Core count that efficiency is relative to, for each input; null where there is none.
    pub baselines: Vec<Option<u32>>,
    /// All regions, the whole program first, parents before children.
    pub regions: Vec<RegionReply>,
    /// Positions of input and core count where the whole program loses most.
    pub worst: Option<(u32, u32)>,
    /// The verdict on the whole program, one sentence each.
    pub verdict: Vec<String>,
    /// What makes the data doubtful, one sentence each; stands next to the verdict.
    pub warnings: Vec<String>,
    /// Notes and warnings, the most important first.
    pub notes: Vec<String>,
    /// All parameters of the ensemble.
    pub parameters: Vec<ParameterReply>,
    /// Names of the metrics of the ensemble.
    pub metrics: Vec<String>,
}

question! {
    /// One of the tables of an ensemble.
    "scaling_table" of Ensemble,
    request ScalingTableRequest {
        /// How to look at it.
        view: ScalingView,
        /// Regions by id, path, name or glob; all when empty.
        regions: Vec<String>,
        /// Which table.
        table: ScalingTableKind [required],
        /// In which order the table `maps` has the core counts of an input.
        order: CoreOrder,
    }
    reply NotesReply,
    tables ScalingTableTables {
        /// The table.
        rows: ScalingTable,
    }
}

#[cfg(test)]
mod tests {
    use super::ScalingBaseline;

    #[test]
    fn a_baseline_is_a_name_or_a_core_count() {
        for text in ["serial", "smallest", "common", "16"] {
            let baseline: ScalingBaseline = text.parse().unwrap();
            assert_eq!(baseline.to_string(), text);
            let json = serde_json::to_value(baseline).unwrap();
            assert_eq!(json, serde_json::json!(text));
            assert_eq!(serde_json::from_value::<ScalingBaseline>(json).unwrap(), baseline);
        }
        for text in ["", "0", "-1", "1.5", "Serial", "all"] {
            let error = text.parse::<ScalingBaseline>().unwrap_err();
            assert!(error.to_string().contains("smallest"), "{error}");
        }
    }
}
