//! Two versions of a program: the same maps of differences, and which of them are more than noise.

use super::grid::Grid;
use super::map::Map;
use super::maps::{MapOptions, Maps, maps};
use super::numeric::count;

/// When a difference counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompareOptions {
    /// How the maps of both versions are computed.
    pub maps: MapOptions,
    /// Smallest relative change of time that is worth a word.
    pub tolerance: f64,
}

impl Default for CompareOptions {
    /// The default maps and 2 %.
    fn default() -> Self {
        Self { maps: MapOptions::default(), tolerance: 0.02 }
    }
}

/// What became of one configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change {
    /// Every repetition of the new version is faster than every one of the old, and the change
    /// exceeds the tolerance.
    Faster {
        /// Probability that equal versions separate like this: `2 n! m! / (n + m)!` for n and m
        /// repetitions (Mann and Whitney 1947, U = 0, two-sided); 1 for one against one.
        chance: f64,
    },
    /// The same the other way round.
    Slower {
        /// As for [`Change::Faster`].
        chance: f64,
    },
    /// The repetitions overlap or the change is within the tolerance.
    WithinNoise,
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
    /// One verdict per configuration, row by row; `None` where either version is missing.
    pub changes: Vec<Option<Change>>,
    /// Inputs of the new version that the old one lacks.
    pub added_inputs: Vec<String>,
    /// Core counts of the new version that the old one lacks.
    pub added_cores: Vec<u32>,
}

/// Compares two versions of one region. Inputs are matched by their argument string, cores by
/// their count; what only one version measured is undefined in the differences.
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
            change(
                old.repetitions(i, j),
                aligned.repetitions(i, j),
                time_ratio.get(i, j)?,
                options.tolerance,
            )
        })
        .collect();
    Comparison {
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
    }
}

fn change(old: &[f64], new: &[f64], ratio: f64, tolerance: f64) -> Option<Change> {
    let extent = |times: &[f64]| {
        let low = times.iter().copied().reduce(f64::min)?;
        Some((low, times.iter().copied().reduce(f64::max)?))
    };
    let ((old_low, old_high), (new_low, new_high)) = (extent(old)?, extent(new)?);
    let chance = separation_chance(old.len(), new.len());
    Some(if new_high < old_low && ratio < 1.0 - tolerance {
        Change::Faster { chance }
    } else if new_low > old_high && ratio > 1.0 + tolerance {
        Change::Slower { chance }
    } else {
        Change::WithinNoise
    })
}

/// `2 n! m! / (n + m)!`: two of the equally likely arrangements separate the samples.
fn separation_chance(n: usize, m: usize) -> f64 {
    let arrangements =
        (1..=n.min(m)).fold(1.0, |product, k| product * count(n.max(m) + k) / count(k));
    (2.0 / arrangements).min(1.0)
}
