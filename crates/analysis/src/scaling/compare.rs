//! Two versions of a program: the same maps of differences, and which of them are more than noise.
//!
//! What counts as more than noise is the rule of all comparisons ([`math`]): Welch's test of the
//! repetitions, with probabilities adjusted for every configuration and region that was examined.
//! Where a version has a single run nothing is judged, because its spread is not known.

use super::grid::Grid;
use super::map::Map;
use super::maps::{MapOptions, Maps, maps};
use crate::math::{self, Basis, Test};

/// When a difference counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeLimits {
    /// Smallest relative change of time that is worth a word.
    pub tolerance: f64,
    /// Largest adjusted probability by chance.
    pub level: f64,
}

impl Default for ChangeLimits {
    /// 2 % of time, and 5 %.
    fn default() -> Self {
        Self { tolerance: 0.02, level: 0.05 }
    }
}

/// How two versions are compared.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CompareOptions {
    /// How the maps of both versions are computed.
    pub maps: MapOptions,
    /// When a difference counts.
    pub limits: ChangeLimits,
}

/// What became of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// What it is called.
    pub kind: ChangeKind,
    /// Repetitions of the old and of the new version.
    pub runs: (usize, usize),
    /// What it stands on; `None` where a version has a single run.
    pub test: Option<Test>,
}

/// What a change is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The new version takes less time: its adjusted probability by chance is below the level, and
    /// it exceeds the tolerance.
    Faster,
    /// The same the other way round.
    Slower,
    /// Equal versions differ like this too often, or the change is within the tolerance.
    WithinNoise,
    /// A version has a single run, so the spread of its times is unknown.
    NotJudged,
}

impl ChangeKind {
    /// The word of tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::WithinNoise => "within noise",
            Self::NotJudged => "not tested",
        }
    }

    /// Whether it is more than noise.
    #[must_use]
    pub const fn counts(self) -> bool {
        matches!(self, Self::Faster | Self::Slower)
    }
}

/// Two versions on the configurations of the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Maps of the old version.
    pub old: Maps,
    /// Maps of the new version on the axes of the old one.
    pub new: Maps,
    /// `T_new / T_old`: below 1 is faster.
    pub time_ratio: Map,
    /// Difference of efficiency, new minus old.
    pub efficiency: Map,
    /// Difference of absolute scalability, new minus old.
    pub scalability_abs: Map,
    /// Difference of absolute strong scaling, new minus old.
    pub strong_abs: Map,
    /// Difference of absolute weak scaling, new minus old.
    pub weak_abs: Map,
    /// Difference of relative scalability, new minus old.
    pub scalability_rel: Map,
    /// Difference of relative strong scaling, new minus old.
    pub strong_rel: Map,
    /// Difference of relative weak scaling, new minus old.
    pub weak_rel: Map,
    /// One for each configuration, row by row; `None` where either version is missing.
    pub changes: Vec<Option<Change>>,
    /// Inputs of the new version that the old one lacks.
    pub added_inputs: Vec<String>,
    /// Core counts of the new version that the old one lacks.
    pub added_cores: Vec<u32>,
}

/// Compares two versions of one region. Inputs are matched by their argument string, cores by
/// their count; what only one version measured is undefined in the differences. Probabilities are
/// adjusted for the configurations of the region; for several regions use [`judge`] after it.
#[must_use]
pub fn compare(old: &Grid, new: &Grid, options: CompareOptions) -> Comparison {
    let input_of: Vec<Option<usize>> = old
        .inputs()
        .iter()
        .map(|input| new.inputs().iter().position(|other| other == input))
        .collect();
    let aligned = new.select(old.inputs(), &input_of, old.cores());
    let (old_maps, new_maps) = (maps(old, options.maps), maps(&aligned, options.maps));
    let both = |pick: fn(&Maps) -> &Map, join: fn(f64, f64) -> f64| {
        let (a, b) = (pick(&old_maps), pick(&new_maps));
        Map::from_fn(a.num_inputs(), a.num_cores(), |i, j| Some(join(a.get(i, j)?, b.get(i, j)?)))
    };
    let difference = |pick: fn(&Maps) -> &Map| both(pick, |a, b| b - a);
    let time_ratio = both(|maps| &maps.time, |a, b| b / a);
    let changes = (0..old.inputs().len())
        .flat_map(|i| (0..old.cores().len()).map(move |j| (i, j)))
        .map(|(i, j)| {
            time_ratio.get(i, j)?;
            Some(change(old.repetitions(i, j), aligned.repetitions(i, j)))
        })
        .collect();
    let mut out = Comparison {
        efficiency: difference(|maps| &maps.efficiency),
        scalability_abs: difference(|maps| &maps.scalability_abs),
        strong_abs: difference(|maps| &maps.strong_abs),
        weak_abs: difference(|maps| &maps.weak_abs),
        scalability_rel: difference(|maps| &maps.scalability_rel),
        strong_rel: difference(|maps| &maps.strong_rel),
        weak_rel: difference(|maps| &maps.weak_rel),
        time_ratio,
        changes,
        added_inputs: new
            .inputs()
            .iter()
            .filter(|input| !old.inputs().contains(input))
            .cloned()
            .collect(),
        added_cores: new
            .cores()
            .iter()
            .filter(|cores| old.cores().binary_search(cores).is_err())
            .copied()
            .collect(),
        old: old_maps,
        new: new_maps,
    };
    judge(std::iter::once(&mut out), options.limits);
    out
}

/// Adjusts the probabilities of all configurations of these regions together, and calls their
/// changes by what is left; gives the number of tests.
pub fn judge<'c>(
    comparisons: impl Iterator<Item = &'c mut Comparison>,
    limits: ChangeLimits,
) -> usize {
    let mut comparisons: Vec<&mut Comparison> = comparisons.collect();
    let changes = comparisons.iter_mut().flat_map(|comparison| &mut comparison.changes);
    let num_tested = math::adjust(changes.flatten().filter_map(|change| change.test.as_mut()));
    for comparison in comparisons {
        let (ratio, width) = (&comparison.time_ratio, comparison.old.cores.len().max(1));
        for (at, change) in comparison.changes.iter_mut().enumerate() {
            let ratio = ratio.get(at / width, at % width);
            let (Some(change), Some(ratio)) = (change, ratio) else { continue };
            change.kind = kind(change.test, ratio, limits);
        }
    }
    num_tested
}

fn change(old: &[f64], new: &[f64]) -> Change {
    let test = math::welch(old, new, Basis::Repetitions).map(Test::of_rounded);
    Change { kind: ChangeKind::NotJudged, runs: (old.len(), new.len()), test }
}

/// The ratio is that of the statistic that is shown, such as the median; a test of means that
/// points the other way supports nothing.
fn kind(test: Option<Test>, ratio: f64, limits: ChangeLimits) -> ChangeKind {
    let Some(test) = test else { return ChangeKind::NotJudged };
    let difference = test.interval.0 + test.interval.1;
    let is_sure = test.adjusted_p < limits.level;
    if is_sure && ratio < 1.0 - limits.tolerance && difference < 0.0 {
        ChangeKind::Faster
    } else if is_sure && ratio > 1.0 + limits.tolerance && difference > 0.0 {
        ChangeKind::Slower
    } else {
        ChangeKind::WithinNoise
    }
}
