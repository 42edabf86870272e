//! Regions that threads execute at the same time.

use super::intervals::Intervals;

/// Groups of regions in one run of which the overlap is looked for, at most.
const MOST_GROUPS: usize = 256;

/// The regions with several threads directly inside of one region, in one run.
#[derive(Default)]
struct Group {
    /// Path of the region around them; empty for the program.
    around: String,
    union: Intervals,
    sum: f64,
    regions: Vec<u32>,
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
                group.union.clear();
                group.regions.clear();
                group.sum = 0.0;
            }
        }
        if let Some(group) = self.groups.get_mut(at) {
            for &(start, stop) in intervals {
                group.union.add(start, stop);
            }
            group.sum += length;
            group.regions.push(region);
        }
    }

    /// For each region that overlaps with others, how long these overlap in sum.
    pub(super) fn overlaps(&mut self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.groups.iter_mut().take(self.used).filter(|group| group.regions.len() > 1).flat_map(
            |group| {
                let overlap = group.sum - group.union.length();
                // Rounding; and what was cut off is too short to say anything.
                let is_there = !group.union.was_cut() && overlap > group.sum * 1e-9;
                let regions = group.regions.iter().filter(move |_| is_there);
                regions.map(move |&region| (region, overlap))
            },
        )
    }
}
