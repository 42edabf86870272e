//! How deep the call paths of all versions go: profiles of one program may have been recorded to
//! another depth.
//!
//! What lies below the depth of the shallower version is then no code that is new: what was called
//! there counted to the caller. Compared as they are, contexts of one version would be "gone" and
//! those of the other "new".
//!
//! ```text
//! depth 2                 deeper                    compared
//!
//! main                    main                      main
//!   solve   10 s            solve      1 s            solve   10 s   9.5 s
//!                             dgemm    8.5 s
//! ```

use super::Version;
use super::merge::Merged;
use super::read::Reading;

/// The deepest contexts of the shallower version take what those of the deeper one take with
/// everything below, up to this part: then the same is meant.
const ALIKE: f64 = 0.25;
/// Less than this part of the whole below is not worth a word.
const WORTH_FOLDING: f64 = 0.01;
/// So many contexts at least are where the shallower version ends: one alone may have been changed.
const LEAST: usize = 2;

/// The depth that all versions have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommonDepth {
    pub(super) depth: u32,
    /// Versions whose call paths end there.
    shallow: Vec<usize>,
}

impl CommonDepth {
    pub(super) fn note(&self, versions: &[Version<'_>]) -> String {
        let names: Vec<&str> = self
            .shallow
            .iter()
            .filter_map(|&at| versions.get(at))
            .map(|version| version.name.as_str())
            .collect();
        format!(
            "Call paths were recorded to another depth: those of {} end at depth {}. What others have \
             below counts to the context around it.",
            names.join(", "),
            self.depth
        )
    }
}

/// The depth at which versions are comparable, where some were recorded to a smaller one than
/// others; `None` where all have the same depth, or differ because the program does.
pub(super) fn common_depth(
    versions: &[Version<'_>],
    merged: &Merged,
    readings: &[Reading<'_>],
) -> Option<CommonDepth> {
    let mut first = 0;
    let of_version: Vec<&[Reading<'_>]> = versions
        .iter()
        .map(|version| {
            let range = first..first + version.executions.len();
            first = range.end;
            readings.get(range).unwrap_or_default()
        })
        .collect();
    let inclusive = |version: usize, row: usize| -> f64 {
        let own = of_version.get(version).copied().unwrap_or_default();
        let sum: f64 =
            own.iter().filter_map(|reading| reading.sums.get(row)).map(|c| c.inclusive).sum();
        sum / own.len().max(1) as f64
    };
    let rows = 0..merged.contexts.len();
    let depth_of = |row: usize| merged.contexts.get(row).map_or(0, |context| context.depth);
    let depths: Vec<u32> = (0..versions.len())
        .map(|version| {
            let has = |row: &usize| inclusive(version, *row) > 0.0;
            rows.clone().filter(has).map(depth_of).max().unwrap_or(0)
        })
        .collect();
    let (depth, deepest) = (*depths.iter().min()?, *depths.iter().max()?);
    if depth == 0 || depth == deepest {
        return None;
    }
    let shallow: Vec<usize> =
        (0..versions.len()).filter(|v| depths.get(*v) == Some(&depth)).collect();
    let deep: Vec<usize> = (0..versions.len()).filter(|v| depths.get(*v) != Some(&depth)).collect();
    // Where the shallow versions end and a deep one goes on.
    let is_alike = deep.iter().all(|&deep| {
        let mut below = vec![0.0; merged.contexts.len()];
        for row in rows.clone() {
            let parent = merged.contexts.get(row).and_then(|context| context.parent);
            if let Some(sum) = parent.and_then(|parent| below.get_mut(parent)) {
                *sum += inclusive(deep, row);
            }
        }
        let ends = rows.clone().filter(|&row| {
            depth_of(row) == depth
                && below.get(row).is_some_and(|below| *below > 0.0)
                && shallow.iter().any(|&shallow| inclusive(shallow, row) > 0.0)
        });
        let (mut num, mut difference, mut whole, mut inside) = (0, 0.0, 0.0, 0.0);
        for row in ends {
            let of_shallow: f64 = shallow.iter().map(|&shallow| inclusive(shallow, row)).sum();
            num += 1;
            difference += (of_shallow / shallow.len().max(1) as f64 - inclusive(deep, row)).abs();
            whole += inclusive(deep, row);
            inside += below.get(row).copied().unwrap_or(0.0);
        }
        num >= LEAST && difference <= ALIKE * whole && inside >= WORTH_FOLDING * inclusive(deep, 0)
    });
    is_alike.then_some(CommonDepth { depth, shallow })
}
