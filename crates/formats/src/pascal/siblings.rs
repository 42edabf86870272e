//! Regions that threads execute at the same time.

/// Groups of regions in one run of which the overlap is looked for, at most.
const MOST_GROUPS: usize = 256;
/// Intervals of one group that are kept, at most: 16 MiB.
const MOST_INTERVALS: usize = 1 << 20;

/// The regions with several threads directly inside of one region, in one run.
#[derive(Default)]
struct Group {
    /// Path of the region around them; empty for the program.
    around: String,
    /// Those of one region are disjoint and in order of time; regions follow one another.
    intervals: Vec<(f64, f64)>,
    /// Some are missing.
    is_cut: bool,
    sum: f64,
    regions: Vec<u32>,
}

impl Group {
    /// How long any of the regions is executed.
    fn covered(&mut self) -> f64 {
        // Each region is a sorted part, and a stable sort merges such parts.
        self.intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut covered, mut end) = (0.0, f64::NEG_INFINITY);
        for &(start, stop) in &self.intervals {
            if stop > end {
                covered += stop - start.max(end);
                end = stop;
            }
        }
        covered
    }
}

/// Finds how long regions inside of the same region overlap.
#[derive(Default)]
pub(super) struct Siblings {
    groups: Vec<Group>,
    /// How many of the groups belong to the current run; the others are kept for their memory.
    used: usize,
}

impl Siblings {
    /// Forgets the regions of the run before.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// Adds a region that several threads execute, with its disjoint intervals in order of time.
    pub(super) fn add(&mut self, path: &str, region: u32, intervals: &[(f64, f64)], length: f64) {
        let around = path.rsplit_once('.').map_or("", |(around, _)| around);
        let known = self.groups.iter().take(self.used).position(|group| group.around == around);
        let at = known.unwrap_or(self.used);
        if at >= MOST_GROUPS {
            return;
        }
        if known.is_none() {
            if self.groups.len() == at {
                self.groups.push(Group::default());
            }
            self.used += 1;
            if let Some(group) = self.groups.get_mut(at) {
                around.clone_into(&mut group.around);
                group.intervals.clear();
                group.is_cut = false;
                group.regions.clear();
                group.sum = 0.0;
            }
        }
        if let Some(group) = self.groups.get_mut(at) {
            if group.intervals.len() + intervals.len() > MOST_INTERVALS {
                group.is_cut = true;
            } else {
                group.intervals.extend_from_slice(intervals);
            }
            group.sum += length;
            group.regions.push(region);
        }
    }

    /// For each region that overlaps with others, how long these overlap in sum.
    pub(super) fn overlaps(&mut self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.groups.iter_mut().take(self.used).filter(|group| group.regions.len() > 1).flat_map(
            |group| {
                let is_whole = !group.is_cut;
                let overlap = if is_whole { group.sum - group.covered() } else { 0.0 };
                // Less is rounding.
                let is_there = overlap > group.sum * 1e-9;
                let regions = group.regions.iter().filter(move |_| is_there);
                regions.map(move |&region| (region, overlap))
            },
        )
    }
}
