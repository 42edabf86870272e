//! Regions as sets of time intervals: how many entries become one time, self time and gaps.

use std::collections::BTreeMap;

use super::numeric::sum;

/// A span of time from `start` to `stop` in seconds, `start <= stop`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Begin, in seconds.
    pub start: f64,
    /// End, in seconds.
    pub stop: f64,
}

impl Interval {
    /// An interval; `None` when a time is not finite or the end lies before the begin.
    #[must_use]
    pub fn new(start: f64, stop: f64) -> Option<Self> {
        (start.is_finite() && stop.is_finite() && start <= stop).then_some(Self { start, stop })
    }

    /// Length in seconds.
    #[must_use]
    pub fn length(self) -> f64 {
        self.stop - self.start
    }
}

/// One execution of a region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// When it ran.
    pub interval: Interval,
    /// Which thread ran it; PaScal's ids are arbitrary and change from run to run.
    pub thread: u64,
}

/// How the entries of a region in one run become one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RegionTime {
    /// Length of the union: time during which at least one thread was inside. Equals the sum when
    /// entries do not overlap.
    #[default]
    Union,
    /// Sum of all entries: thread-seconds.
    Sum,
    /// From the first begin to the last end, gaps included (`minmax` of PascalData).
    MinMax,
    /// Entries summed per thread, the largest of these (after `maxthread` of PascalData).
    MaxThreadSum,
}

/// The time of a region in one run by every policy, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegionTimes {
    /// Number of entries.
    pub entries: usize,
    /// [`RegionTime::Union`].
    pub union: f64,
    /// [`RegionTime::Sum`].
    pub sum: f64,
    /// [`RegionTime::MinMax`].
    pub min_max: f64,
    /// [`RegionTime::MaxThreadSum`].
    pub max_thread_sum: f64,
}

impl RegionTimes {
    /// The time by one policy.
    #[must_use]
    pub fn get(&self, policy: RegionTime) -> f64 {
        match policy {
            RegionTime::Union => self.union,
            RegionTime::Sum => self.sum,
            RegionTime::MinMax => self.min_max,
            RegionTime::MaxThreadSum => self.max_thread_sum,
        }
    }
}

/// Folds the entries of one region in one run as a reader meets them, in any order.
///
/// Memory follows the number of threads and of separate intervals, not the number of entries:
/// overlapping and touching intervals are merged whenever the list has doubled.
#[derive(Debug, Clone, Default)]
pub struct RegionTimeFold {
    entries: usize,
    sum: f64,
    threads: BTreeMap<u64, f64>,
    intervals: Vec<Interval>,
    merged: usize,
}

impl RegionTimeFold {
    /// An empty fold.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one entry.
    pub fn push(&mut self, entry: Entry) {
        const FIRST_MERGE: usize = 64;
        self.entries += 1;
        self.sum += entry.interval.length();
        *self.threads.entry(entry.thread).or_insert(0.0) += entry.interval.length();
        self.intervals.push(entry.interval);
        if self.intervals.len() >= FIRST_MERGE.max(self.merged.saturating_mul(2)) {
            self.intervals = union(&self.intervals);
            self.merged = self.intervals.len();
        }
    }

    /// The times; `None` when the region was never entered.
    #[must_use]
    pub fn times(&self) -> Option<RegionTimes> {
        let intervals = union(&self.intervals);
        let (first, last) = (intervals.first()?, intervals.last()?);
        Some(RegionTimes {
            entries: self.entries,
            union: total(&intervals),
            sum: self.sum,
            min_max: last.stop - first.start,
            max_thread_sum: self.threads.values().copied().fold(0.0, f64::max),
        })
    }

    /// Time per thread in seconds, by ascending thread id: what load imbalance is made of.
    #[must_use]
    pub fn thread_times(&self) -> Vec<f64> {
        self.threads.values().copied().collect()
    }

    /// The union of the entries, ascending and disjoint.
    #[must_use]
    pub fn into_union(self) -> Vec<Interval> {
        union(&self.intervals)
    }
}

/// The union of intervals: ascending, disjoint, touching ones joined.
#[must_use]
pub fn union(intervals: &[Interval]) -> Vec<Interval> {
    let mut sorted = intervals.to_vec();
    sorted.sort_by(|a, b| a.start.total_cmp(&b.start).then(a.stop.total_cmp(&b.stop)));
    let mut merged: Vec<Interval> = Vec::new();
    for interval in sorted {
        match merged.last_mut() {
            Some(last) if interval.start <= last.stop => last.stop = last.stop.max(interval.stop),
            _ => merged.push(interval),
        }
    }
    merged
}

/// Length of the union in seconds.
#[must_use]
pub fn union_length(intervals: &[Interval]) -> f64 {
    total(&union(intervals))
}

fn total(disjoint: &[Interval]) -> f64 {
    sum(&disjoint.iter().map(|interval| interval.length()).collect::<Vec<_>>())
}

/// Where `parent` ran and none of `children` did: the union of the parent minus the union of the
/// children, ascending and disjoint. With the whole program as the parent these are PaScal's gaps.
#[must_use]
pub fn gaps(parent: &[Interval], children: &[Interval]) -> Vec<Interval> {
    let children = union(children);
    let mut next = 0;
    let mut found = Vec::new();
    for outer in union(parent) {
        let mut from = outer.start;
        while let Some(inner) = children.get(next) {
            if inner.start >= outer.stop {
                break;
            }
            if inner.start > from {
                found.push(Interval { start: from, stop: inner.start });
            }
            from = from.max(inner.stop);
            if inner.stop > outer.stop {
                // This child may reach into the next interval of the parent.
                break;
            }
            next += 1;
        }
        if from < outer.stop {
            found.push(Interval { start: from, stop: outer.stop });
        }
    }
    found
}

/// Time of the parent outside its children, in seconds: the length of [`gaps`].
#[must_use]
pub fn self_time(parent: &[Interval], children: &[Interval]) -> f64 {
    total(&gaps(parent, children))
}
