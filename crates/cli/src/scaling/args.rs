//! What can be typed after `scaling`, `model`, `merge` and `compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use parallax_protocol::{
    CompareRequest, CoreOrder, DifferencesBy, EnsembleChoice, ModelSearch, ModelsRequest,
    OverLocations, RegionDetail, RegionEntries, RepetitionStatistic, ScalingBaseline,
    ScalingTableKind, ScalingView,
};
use parallax_service::scaling::ScalingOptions;

use crate::choice::names;

/// Input, and how it becomes one ensemble of runs.
#[derive(Debug, Args)]
pub(crate) struct EnsembleArgs {
    /// Source of a parameter that the data lacks: NAME=ranks, threads, locations,
    /// nodes, path:REGEX (the first group in the path), meta:FACT or value:TEXT.
    #[arg(long, value_name = "NAME=SOURCE", help_heading = "Runs")]
    pub(crate) param: Vec<String>,
    /// A CSV table of parameters: a column `path` and one for each parameter.
    #[arg(long, value_name = "FILE", help_heading = "Runs")]
    pub(crate) params: Option<PathBuf>,
    /// Metric to use as time; default: wall-clock time, or elapsed time in a trace. CPU time gives
    /// maps but no verdict: whoever waits asleep uses none.
    #[arg(long, short, value_name = "METRIC", help_heading = "Runs")]
    pub(crate) metric: Option<String>,
    /// Databases: locations to include, such as 'rank(0-9)'; default: the first thread of
    /// each rank.
    #[arg(long, short, value_name = "PROFILES", help_heading = "Runs")]
    pub(crate) profiles: Option<String>,
    /// Databases: aggregation over the locations of a run; default: the maximum;
    /// `compare` of databases takes the sum, or the mean for different numbers of locations.
    #[arg(long, value_parser = names::<OverLocations>(), help_heading = "Runs")]
    pub(crate) over: Option<OverLocations>,
    /// Databases: contexts to use as regions.
    #[arg(long, value_parser = names::<RegionDetail>(), default_value_t, help_heading = "Runs")]
    pub(crate) detail: RegionDetail,
    /// Databases: regions for what system and MPI libraries call inside, too.
    #[arg(long, help_heading = "Runs")]
    pub(crate) library_frames: bool,
    /// PaScal files: aggregation over the entries of a region in one run.
    #[arg(long, value_parser = names::<RegionEntries>(), default_value_t, help_heading = "Runs")]
    pub(crate) region_time: RegionEntries,
}

impl EnsembleArgs {
    /// What they choose; a table of parameters comes separately.
    pub(crate) fn choice(&self) -> EnsembleChoice {
        EnsembleChoice {
            parameters: self.param.clone(),
            metric: self.metric.clone(),
            profiles: self.profiles.clone(),
            over: self.over,
            detail: self.detail,
            library_frames: self.library_frames,
            region_time: self.region_time,
        }
    }
}

/// Which parameters are the axes, and how the maps are computed.
#[derive(Debug, Args)]
pub(crate) struct MapArgs {
    /// The parameter that counts cores, where it has an unusual name.
    #[arg(long, value_name = "NAME", help_heading = "Maps")]
    pub(crate) cores: Option<String>,
    /// Show runs at this frequency, such as '2.3 GHz'; default: the highest.
    #[arg(long, value_name = "VALUE", help_heading = "Maps")]
    pub(crate) frequency: Option<String>,
    /// Fix another parameter at one value.
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Maps")]
    pub(crate) fix: Vec<String>,
    /// Only these regions, by id (0 is the whole program), path, name or glob.
    #[arg(long, short, value_name = "REGION", help_heading = "Maps")]
    pub(crate) region: Vec<String>,
    /// Exclude regions that never reach this share of the program's time.
    #[arg(long, value_name = "PERCENT", default_value_t = ScalingView::default().min_percent, help_heading = "Maps")]
    pub(crate) min_share: f64,
    /// Statistic over repetitions.
    #[arg(long, value_parser = names::<RepetitionStatistic>(), default_value_t, help_heading = "Maps")]
    pub(crate) statistic: RepetitionStatistic,
    /// Baseline of efficiency: serial (one core), smallest (for each input), common (the
    /// smallest that all inputs have), or a core count.
    #[arg(long, value_name = "BASELINE", default_value_t, help_heading = "Maps")]
    pub(crate) baseline: ScalingBaseline,
    /// Efficiency of each repetition, then the statistic, as PaScal Viewer of 2018 does.
    #[arg(long, help_heading = "Maps")]
    pub(crate) per_repetition: bool,
    /// Clamp efficiencies to 100 % in the differences.
    #[arg(long, help_heading = "Maps")]
    pub(crate) clamp: bool,
    /// Exclude runs that may have failed: those that were far too short.
    #[arg(long, help_heading = "Maps")]
    pub(crate) trusted: bool,
}

impl MapArgs {
    /// How they look at an ensemble.
    ///
    /// # Errors
    /// When `--fix` has no equals sign.
    pub(crate) fn view(&self, metric: Option<String>) -> anyhow::Result<ScalingView> {
        let mut fixed = Vec::new();
        for text in &self.fix {
            let (name, value) = text
                .split_once('=')
                .ok_or_else(|| anyhow::anyhow!("--fix {text}: write NAME=VALUE"))?;
            fixed.push((name.to_owned(), value.to_owned()));
        }
        fixed.extend(self.frequency.iter().map(|value| ("frequency".to_owned(), value.clone())));
        Ok(ScalingView {
            cores: self.cores.clone(),
            fixed,
            metric,
            min_percent: self.min_share,
            statistic: self.statistic,
            baseline: self.baseline,
            per_repetition: self.per_repetition,
            clamp: self.clamp,
            trusted: self.trusted,
        })
    }

    /// The same with the regions that were requested.
    ///
    /// # Errors
    /// When `--fix` has no equals sign.
    pub(crate) fn options(&self, metric: Option<String>) -> anyhow::Result<ScalingOptions> {
        let view = self.view(metric)?;
        Ok(ScalingOptions { regions: self.region.clone(), ..ScalingOptions::from(&view) })
    }
}

/// Reference of the differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// The first input, one core, the start of the diagonal.
    Absolute,
    /// The neighbour: the previous input, the next smaller core count, one step up the diagonal.
    Relative,
}

const EXAMPLES: &str = "\
Examples:
  parallax scaling runs.json                                    a file of PaScal Analyzer
  parallax scaling runs.json --region 1.2 --html report.html    maps of a region; a report
  parallax scaling run-p*/database --param cores=ranks          databases of several runs
  parallax scaling runs/ --param 'input=path:n(\\d+)'            inputs from the paths
  parallax scaling talp-*.json --baseline smallest --json       TALP, no run on one core
  parallax scaling run-p*/database --table pop                  load balance, communication

Rows of a map are core counts, columns are inputs. In databases, times are elapsed times of the
first thread of the slowest rank, where they are known (CPU time otherwise, without a verdict); time inside system and MPI libraries is attributed to the call into
them.";

/// Options of `scaling`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ScalingArgs {
    /// Measurement files (PaScal, SPERF, Extra-P, TALP, CSV), databases of several runs, or
    /// a folder of either.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Reference of the difference maps.
    #[arg(long, value_enum, default_value = "absolute", help_heading = "Maps")]
    pub(crate) mode: Mode,
    /// Table to write; as text, `maps` has the verdict and the maps.
    #[arg(long, value_parser = names::<ScalingTableKind>(), default_value_t, help_heading = "Output")]
    pub(crate) table: ScalingTableKind,
    /// Also draw the maps into this SVG file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    /// Also write a self-contained HTML report.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    /// Draw four steps between neighbours in SVG and HTML, as the PaScal viewers do.
    #[arg(long, help_heading = "Output")]
    pub(crate) smooth: bool,
    /// Order of core counts, the rows of maps and of their table: ascending, or as the file has
    /// them; differences stay those to the next smaller count.
    #[arg(long, value_parser = names::<CoreOrder>(), default_value_t, help_heading = "Maps")]
    pub(crate) order: CoreOrder,
    #[command(flatten)]
    pub(crate) maps: MapArgs,
    #[command(flatten)]
    pub(crate) ensemble: EnsembleArgs,
}

/// Options of `model`.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// Measurement files (Extra-P, PaScal, TALP, CSV), databases of several runs, or a
    /// folder of either.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Parameters of the models, as a list; default: all numeric ones.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Model")]
    pub(crate) over_parameters: Vec<String>,
    /// Extract numbers from labels: the first group of the expression in the parameter's values.
    #[arg(long, value_name = "NAME=REGEX", help_heading = "Model")]
    pub(crate) number: Vec<String>,
    /// Only these regions, by id, path or name.
    #[arg(long, short, value_name = "REGION", help_heading = "Model")]
    pub(crate) region: Vec<String>,
    /// Statistic over repetitions to model.
    #[arg(long, value_parser = names::<RepetitionStatistic>(), default_value_t = ModelsRequest::default().statistic, help_heading = "Model")]
    pub(crate) statistic: RepetitionStatistic,
    /// Search method: full, refining, or segmented (two models).
    #[arg(long, value_parser = names::<ModelSearch>(), default_value_t, help_heading = "Model")]
    pub(crate) modeler: ModelSearch,
    /// Include terms with negative exponents.
    #[arg(long, help_heading = "Model")]
    pub(crate) negative: bool,
    /// Model resources: the value times this parameter.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) resources: Option<String>,
    /// Predict at these parameter values; others are at their maximum.
    #[arg(long, value_name = "NAME=NUMBER", value_delimiter = ',', help_heading = "Model")]
    pub(crate) at: Vec<String>,
    #[command(flatten)]
    pub(crate) ensemble: EnsembleArgs,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  parallax compare old/database new/database             contexts by difference
  parallax compare old-* --vs new-*                      repetitions of both, for significance
  parallax compare main.db branch.db --by function       functions regardless of caller
  parallax compare main.db branch.db --fail-if 'function(solve) > +5%' --fail-if 'total > +2%'
  parallax compare main.db branch.db --folded diff.txt   for difffolded and flamegraph.pl
  parallax compare old.json new.json                     maps of two measurement files

Conditions of --fail-if: total or a context expression; >, >=, < or <=; a change in %, ns, us, ms,
s, min or the unit of the metric; optionally `and significant`, to ignore noise.

Exit codes: 0 compared; 1 the data cannot be read or answer; 2 the question is wrong; 3 compared,
and a condition of --fail-if holds.";

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    /// The versions: databases, profiles or traces, the first of which is the reference; or two
    /// measurement files, or folders of several runs.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Executions of the new version, if each version was executed several times; those before are
    /// repetitions of the old one.
    #[arg(long, value_name = "PATH", num_args = 1.., help_heading = "Versions")]
    pub(crate) vs: Vec<PathBuf>,
    /// Rows; default: contexts, or functions if the versions come from different tools.
    #[arg(long, value_parser = names::<DifferencesBy>(), help_heading = "Versions")]
    pub(crate) by: Option<DifferencesBy>,
    /// Order of the rows, by exclusive values.
    #[arg(long, value_enum, default_value = "difference", help_heading = "Versions")]
    pub(crate) sort: CompareSort,
    /// The same as --sort relative: changes in per cent.
    #[arg(long, conflicts_with_all = ["sort", "absolute"], help_heading = "Versions")]
    pub(crate) relative: bool,
    /// The same as --sort difference, which is the default.
    #[arg(long, conflicts_with = "sort", help_heading = "Versions")]
    pub(crate) absolute: bool,
    /// Significance level of the tests.
    #[arg(long, value_name = "LEVEL", default_value_t = CompareRequest::default().significance, help_heading = "Versions")]
    pub(crate) significance: f64,
    /// Exit with status 3 if this holds, such as 'function(solve) > +5%' or 'total > +0.3s'.
    #[arg(long, value_name = "CONDITION", help_heading = "Versions")]
    pub(crate) fail_if: Vec<String>,
    /// Also write stacks with both values into this file, in the format of difffolded.pl.
    #[arg(long, value_name = "FILE", help_heading = "Versions")]
    pub(crate) folded: Option<PathBuf>,
    /// Measurement files: tolerance, the smallest change of time in per cent to report.
    #[arg(long, value_name = "PERCENT", default_value_t = CompareRequest::default().tolerance, help_heading = "Maps")]
    pub(crate) tolerance: f64,
    /// Reference of the difference maps.
    #[arg(long, value_enum, default_value = "absolute", help_heading = "Maps")]
    pub(crate) mode: Mode,
    #[command(flatten)]
    pub(crate) maps: MapArgs,
    #[command(flatten)]
    pub(crate) ensemble: EnsembleArgs,
}

/// Order of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareSort {
    /// The largest difference first.
    Difference,
    /// The largest change in per cent first.
    Relative,
    /// The largest value in the new version first.
    New,
    /// The largest value in the old version first.
    Old,
    /// The most significant first.
    Significance,
    /// In tree order.
    Tree,
}

/// Options of `merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// PaScal Analyzer files; runs of the same configuration become repetitions.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}
