//! Values by key.

use std::collections::HashMap;
use std::ops::Range;

use foldhash::fast::RandomState;

use parallax_base::threads;

use crate::Moments;
use crate::pieces::{concat, map_pieces};

/// Groups, ascending by `major` and then by `minor`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Groups {
    /// The key of each group.
    pub minor: Vec<u32>,
    /// The first key of each group where there are two; else empty.
    pub major: Vec<u32>,
    /// What is known of its values.
    pub moments: Vec<Moments>,
}

impl Groups {
    /// The groups of all parts, of which one may be in several.
    #[must_use]
    pub fn merged(parts: impl IntoIterator<Item = Self>) -> Self {
        let parts: Vec<Self> = parts.into_iter().collect();
        let has_major = parts.iter().any(|part| !part.major.is_empty());
        let entries = |part: Self| {
            let majors = part.major.iter().copied().chain(std::iter::repeat(0));
            let keys = majors.zip(part.minor).map(|(major, minor)| pair(major, minor));
            keys.zip(part.moments).collect()
        };
        Self::of_keys(merged(&parts.into_iter().map(entries).collect::<Vec<_>>()), has_major)
    }

    fn of_keys((keys, moments): (Vec<u64>, Vec<Moments>), has_major: bool) -> Self {
        let major =
            if has_major { keys.iter().map(|&key| halves(key).0).collect() } else { Vec::new() };
        Self { minor: keys.iter().map(|&key| halves(key).1).collect(), major, moments }
    }
}

/// A dense table has at most this many groups, and no more than a quarter of the rows.
const DENSE: usize = 1 << 16;

/// The values of each key: of `minor`, or of `major` and `minor` where there are two.
///
/// ```
/// let groups = parallax_columns::group(&[7, 3, 7], None, &[1, 2, 3]);
/// assert_eq!(groups.minor, [3, 7]);
/// assert_eq!(groups.moments[1].sum, 4);
/// ```
///
/// # Panics
/// When the columns have different lengths.
#[must_use]
pub fn group(minor: &[u32], major: Option<&[u32]>, values: &[u64]) -> Groups {
    assert!(
        minor.len() == values.len() && major.is_none_or(|major| major.len() == values.len()),
        "columns of one table have one length"
    );
    match major {
        None => one_key(minor, values),
        Some(major) => {
            let parts = map_pieces(values.len(), |piece| {
                hashed(piece, values, |i| pair(major[i], minor[i]))
            });
            Groups::of_keys(merged(&parts), true)
        }
    }
}

fn one_key(keys: &[u32], values: &[u64]) -> Groups {
    let ends = map_pieces(keys.len(), |piece| {
        keys[piece].iter().fold((u32::MAX, 0), |(low, high), &key| (low.min(key), high.max(key)))
    });
    let (low, high) = ends.into_iter().fold((u32::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    if keys.is_empty() {
        return Groups::default();
    }
    let len = (high - low) as usize + 1;
    if len <= DENSE && len <= keys.len() / 4 + 1 {
        let tables = map_pieces(keys.len(), |piece| {
            let mut table = vec![Moments::NONE; len];
            for (&key, &value) in keys[piece.clone()].iter().zip(&values[piece]) {
                table[(key - low) as usize].push(value);
            }
            table
        });
        let mut tables = tables.into_iter();
        let mut all = tables.next().unwrap_or_default();
        for table in tables {
            all.iter_mut().zip(&table).for_each(|(a, b)| a.merge(b));
        }
        let found = (low..=high).zip(all).filter(|(_, moments)| moments.count > 0);
        let (minor, moments) = found.unzip();
        return Groups { minor, major: Vec::new(), moments };
    }
    let parts = map_pieces(keys.len(), |piece| hashed(piece, values, |i| u64::from(keys[i])));
    Groups::of_keys(merged(&parts), false)
}

fn pair(major: u32, minor: u32) -> u64 {
    u64::from(major) << 32 | u64::from(minor)
}

#[expect(clippy::cast_possible_truncation, reason = "both halves are of 32 bits")]
fn halves(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

/// The groups of a piece, ascending by key.
fn hashed(
    piece: Range<usize>,
    values: &[u64],
    key_of: impl Fn(usize) -> u64,
) -> Vec<(u64, Moments)> {
    let mut slots: HashMap<u64, usize, RandomState> = HashMap::default();
    let mut groups: Vec<(u64, Moments)> = Vec::new();
    let mut last = usize::MAX;
    for i in piece {
        let key = key_of(i);
        // Runs of one key are common.
        if groups.get(last).is_none_or(|(known, _)| *known != key) {
            last = *slots.entry(key).or_insert_with(|| {
                groups.push((key, Moments::NONE));
                groups.len() - 1
            });
        }
        groups[last].1.push(values[i]);
    }
    groups.sort_unstable_by_key(|(key, _)| *key);
    groups
}

/// The groups of all pieces, of which one may be in several.
fn merged(parts: &[Vec<(u64, Moments)>]) -> (Vec<u64>, Vec<Moments>) {
    // Ranges of keys with about as many groups each, by a sample of each part.
    let sample = |part: &Vec<(u64, Moments)>| {
        let step = (part.len() / threads::count() / 4).max(FEW);
        part.iter().step_by(step).map(|(key, _)| *key).collect::<Vec<_>>()
    };
    let mut borders: Vec<u64> = parts.iter().flat_map(sample).collect();
    borders.sort_unstable();
    let step = (borders.len() / threads::count() / 4).max(1);
    let mut borders: Vec<u64> = borders.into_iter().step_by(step).collect();
    borders.dedup();
    let mut ranges: Vec<(u64, Option<u64>)> =
        borders.iter().copied().zip(borders.iter().skip(1).copied().map(Some)).collect();
    ranges.extend(borders.last().map(|&last| (last, None)));
    let merged = threads::map(ranges, |(low, high)| {
        let parts = parts.iter().map(|part| {
            let start = part.partition_point(|(key, _)| *key < low);
            let end = high.map_or(part.len(), |high| part.partition_point(|(key, _)| *key < high));
            &part[start..end]
        });
        let mut all = parts.collect::<Vec<_>>().concat();
        // The parts ascend, and merging them is what a stable sort does with such.
        all.sort_by_key(|(key, _)| *key);
        all.dedup_by(|next, last| {
            let is_same = next.0 == last.0;
            if is_same {
                last.1.merge(&next.1);
            }
            is_same
        });
        all
    });
    let keys: Vec<Vec<u64>> = threads::map(merged.iter().collect(), |part: &Vec<_>| {
        part.iter().map(|(key, _)| *key).collect()
    });
    let moments: Vec<Vec<Moments>> =
        threads::map(merged, |part| part.into_iter().map(|(_, moments)| moments).collect());
    (concat(&keys), concat(&moments))
}

/// A range of keys with fewer groups is not worth a task.
const FEW: usize = 256;
