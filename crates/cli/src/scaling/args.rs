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
    /// Source of a parameter that is missing in the data: ranks, threads, locations, nodes,
    /// path:REGEX (first capture group in the path), meta:FACT or value:TEXT; can be repeated.
    #[arg(long, value_name = "NAME=SOURCE", help_heading = "Runs")]
    pub(crate) param: Vec<String>,
    /// CSV table of parameters, with a column `path` and one column per parameter.
    #[arg(long, value_name = "FILE", help_heading = "Runs")]
    pub(crate) params: Option<PathBuf>,
    /// Time metric (default: wall-clock time, or elapsed time in a trace). CPU time gives maps but
    /// no verdict, because blocked threads use none.
    #[arg(long, short, value_name = "METRIC", help_heading = "Runs")]
    pub(crate) metric: Option<String>,
    /// Databases: locations to include, such as 'rank(0-9)' (default: the first thread of each
    /// rank).
    #[arg(long, short, value_name = "PROFILES", help_heading = "Runs")]
    pub(crate) profiles: Option<String>,
    /// Databases: aggregation over the locations of a run (default: max; for `compare`: sum, or
    /// mean if the numbers of locations differ).
    #[arg(long, value_parser = names::<OverLocations>(), help_heading = "Runs")]
    pub(crate) over: Option<OverLocations>,
    /// Databases: contexts to use as regions.
    #[arg(long, value_parser = names::<RegionDetail>(), default_value_t, help_heading = "Runs")]
    pub(crate) detail: RegionDetail,
    /// Databases: also use contexts inside system and MPI libraries as regions.
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
    /// Name of the parameter that holds the core count, if it is an unusual one.
    #[arg(long, value_name = "NAME", help_heading = "Maps")]
    pub(crate) cores: Option<String>,
    /// Show runs at this frequency, such as '2.3 GHz' (default: the highest).
    #[arg(long, value_name = "VALUE", help_heading = "Maps")]
    pub(crate) frequency: Option<String>,
    /// Fix another parameter at one value; can be repeated.
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Maps")]
    pub(crate) fix: Vec<String>,
    /// Include only this region, by id (0 is the whole program), path, name or glob; can be repeated.
    #[arg(long, short, value_name = "REGION", help_heading = "Maps")]
    pub(crate) region: Vec<String>,
    /// Exclude regions that never reach this share of the program's time, in per cent.
    #[arg(long, value_name = "PERCENT", default_value_t = ScalingView::default().min_percent, help_heading = "Maps")]
    pub(crate) min_share: f64,
    /// Statistic over repetitions.
    #[arg(long, value_parser = names::<RepetitionStatistic>(), default_value_t, help_heading = "Maps")]
    pub(crate) statistic: RepetitionStatistic,
    /// Baseline of efficiency: serial (one core), smallest (smallest core count of each input),
    /// common (smallest core count common to all inputs), or a core count.
    #[arg(long, value_name = "BASELINE", default_value_t, help_heading = "Maps")]
    pub(crate) baseline: ScalingBaseline,
    /// Compute the efficiency of each repetition before the statistic, as PaScal Viewer of 2018
    /// does.
    #[arg(long, help_heading = "Maps")]
    pub(crate) per_repetition: bool,
    /// Clamp efficiencies to 100 % in the differences.
    #[arg(long, help_heading = "Maps")]
    pub(crate) clamp: bool,
    /// Exclude runs that were far too short and may have failed.
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
                .ok_or_else(|| anyhow::anyhow!("--fix {text}: expected NAME=VALUE"))?;
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
    /// The first input, one core, or the start of the diagonal.
    Absolute,
    /// The neighbour: the previous input, the next smaller core count, or one step up the diagonal.
    Relative,
}

const EXAMPLES: &str = "\
Examples:
  parallax scaling runs.json                                PaScal Analyzer file
  parallax scaling runs.json --region 1.2 --html map.html   one region, as HTML
  parallax scaling run-p*/database --param cores=ranks      databases of runs
  parallax scaling runs/ --param 'input=path:n(\\d+)'        inputs from paths
  parallax scaling talp-*.json --baseline smallest --json   no run on one core
  parallax scaling run-p*/database --table pop              POP efficiencies

Rows of a map are core counts, columns are inputs. In databases, times are elapsed times of the \
first thread of the slowest rank if known, otherwise CPU times, without a verdict. Time inside \
system and MPI libraries is attributed to the call into them.";

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
    /// Table to write; in text output, `maps` shows the verdict and the maps.
    #[arg(long, value_parser = names::<ScalingTableKind>(), default_value_t, help_heading = "Output")]
    pub(crate) table: ScalingTableKind,
    /// Also write the maps to this SVG file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) svg: Option<PathBuf>,
    /// Also write a report to this file, as self-contained HTML.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    /// Draw four interpolated steps between neighbouring cells in SVG and HTML, as the PaScal
    /// viewers do.
    #[arg(long, help_heading = "Output")]
    pub(crate) smooth: bool,
    /// Order of core counts in the rows of the maps and their table; differences still refer to the
    /// next smaller core count.
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
    /// Comma-separated list of model parameters (default: all numeric parameters).
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Model")]
    pub(crate) over_parameters: Vec<String>,
    /// Extract numbers from the labels of a parameter: the first capture group of the expression;
    /// can be repeated.
    #[arg(long, value_name = "NAME=REGEX", help_heading = "Model")]
    pub(crate) number: Vec<String>,
    /// Include only this region, by id, path or name; can be repeated.
    #[arg(long, short, value_name = "REGION", help_heading = "Model")]
    pub(crate) region: Vec<String>,
    /// Statistic over repetitions to model.
    #[arg(long, value_parser = names::<RepetitionStatistic>(), default_value_t = ModelsRequest::default().statistic, help_heading = "Model")]
    pub(crate) statistic: RepetitionStatistic,
    /// Search method.
    #[arg(long, value_parser = names::<ModelSearch>(), default_value_t, help_heading = "Model")]
    pub(crate) modeler: ModelSearch,
    /// Include terms with negative exponents.
    #[arg(long, help_heading = "Model")]
    pub(crate) negative: bool,
    /// Model resource usage: the value multiplied by this parameter.
    #[arg(long, value_name = "NAME", help_heading = "Model")]
    pub(crate) resources: Option<String>,
    /// Predict at these parameter values, comma-separated; other parameters are set to their
    /// maximum.
    #[arg(long, value_name = "NAME=NUMBER", value_delimiter = ',', help_heading = "Model")]
    pub(crate) at: Vec<String>,
    #[command(flatten)]
    pub(crate) ensemble: EnsembleArgs,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  parallax compare old/database new/database          contexts by difference
  parallax compare old-* --vs new-*                   repetitions of both
  parallax compare main.db branch.db --by function    regardless of the caller
  parallax compare main.db branch.db \\
      --fail-if 'function(solve) > +5%' --fail-if 'total > +2%'
  parallax compare main.db branch.db --folded d.txt   for flamegraph.pl
  parallax compare old.json new.json                  two measurement files

Conditions of --fail-if: total or a context expression; >, >=, < or <=; a change in %, ns, us, \
ms, s, min or the unit of the metric; optionally followed by `and significant`, to ignore noise.

Exit status: 0 success; 1 the data cannot be read or compared; 2 invalid arguments, expressions \
or names; 3 a condition of --fail-if holds.";

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Versions to compare: databases, profiles or traces, of which the first is the reference; or
    /// two measurement files or folders of several runs.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Runs of the new version, if each version was run several times; the paths before this option
    /// are runs of the old version.
    #[arg(long, value_name = "PATH", num_args = 1.., help_heading = "Versions")]
    pub(crate) vs: Vec<PathBuf>,
    /// Rows of the table (default: contexts, or functions if the versions were measured with
    /// different tools).
    #[arg(long, value_parser = names::<DifferencesBy>(), help_heading = "Versions")]
    pub(crate) by: Option<DifferencesBy>,
    /// Order of the rows, by exclusive values.
    #[arg(long, value_enum, default_value = "difference", help_heading = "Versions")]
    pub(crate) sort: CompareSort,
    /// Same as --sort relative.
    #[arg(long, conflicts_with_all = ["sort", "absolute"], help_heading = "Versions")]
    pub(crate) relative: bool,
    /// Same as --sort difference, which is the default.
    #[arg(long, conflicts_with = "sort", help_heading = "Versions")]
    pub(crate) absolute: bool,
    /// Significance level of the tests.
    #[arg(long, value_name = "LEVEL", default_value_t = CompareRequest::default().significance, help_heading = "Versions")]
    pub(crate) significance: f64,
    /// Exit with status 3 if this condition holds, such as 'function(solve) > +5%' or 'total >
    /// +0.3s'; can be repeated.
    #[arg(long, value_name = "CONDITION", help_heading = "Versions")]
    pub(crate) fail_if: Vec<String>,
    /// Also write stacks with the values of both versions to this file, in the format of
    /// difffolded.pl.
    #[arg(long, value_name = "FILE", help_heading = "Versions")]
    pub(crate) folded: Option<PathBuf>,
    /// Measurement files: smallest change of time to report, in per cent.
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
    /// Largest difference first.
    Difference,
    /// Largest change in per cent first.
    Relative,
    /// Largest value in the new version first.
    New,
    /// Largest value in the old version first.
    Old,
    /// Most significant difference first.
    Significance,
    /// Tree order.
    Tree,
}

/// Options of `merge`.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// PaScal Analyzer files; runs of the same configuration become repetitions.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}
