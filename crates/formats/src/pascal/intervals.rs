//! The union of many intervals, in bounded memory.

use parallax_base::casts::saturated_u32;

/// Collects intervals and gives the length of their union.
///
/// Entries come nearly in order of time, so most belong at the end of a sorted list or a few
/// places before it. When the list is
/// full it is sorted and merged; if that does not make room, the older half is added up and
/// forgotten, and whatever later reaches back into it is cut there ([`Intervals::was_cut`]).
#[derive(Debug, Clone, Default)]
pub struct Intervals {
    list: Vec<(f64, f64)>,
    sorted: bool,
    folded_length: f64,
    folded_until: Option<f64>,
    cut: bool,
    /// For sorting, kept for their memory.
    spare: Vec<(f64, f64)>,
    places: Vec<u32>,
}

impl Intervals {
    /// Most intervals kept at once: 512 KiB.
    pub const MOST: usize = 1 << 15;

    /// No intervals.
    #[must_use]
    pub fn new() -> Self {
        Self { sorted: true, ..Self::default() }
    }

    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.list.clear();
        (self.sorted, self.cut) = (true, false);
        (self.folded_length, self.folded_until) = (0.0, None);
    }

    /// Adds the interval from `start` to `stop`, both finite and in order.
    #[inline]
    pub fn add(&mut self, mut start: f64, stop: f64) {
        if let Some(until) = self.folded_until
            && start < until
        {
            self.cut = true;
            start = until;
            if stop <= start {
                return;
            }
        }
        if self.sorted
            && let Some(last) = self.list.last_mut()
        {
            if start < last.0 {
                self.sorted = false;
                if self.insert(start, stop) {
                    return;
                }
            } else if start <= last.1 {
                last.1 = last.1.max(stop);
                return;
            }
        }
        if self.list.len() >= Self::MOST {
            self.make_room();
        }
        self.list.push((start, stop));
    }

    /// How far back an interval is put in its place at once.
    const NEAR: usize = 8;

    /// Puts an interval that starts before the last one into the sorted list, if its place is
    /// near the end; says in `sorted` whether the list is in order then.
    #[inline(never)]
    fn insert(&mut self, start: f64, mut stop: f64) -> bool {
        let len = self.list.len();
        let tail = self.list.get(len.saturating_sub(Self::NEAR)..).unwrap_or_default();
        let after = tail.iter().rev().take_while(|other| other.0 > start).count();
        if len >= Self::MOST || after == tail.len() && len > after {
            return false;
        }
        let at = len - after;
        let touched = tail.iter().rev().take(after).rev().take_while(|other| other.0 <= stop);
        let (count, reach) = touched.fold((0, stop), |(n, to), other| (n + 1, to.max(other.1)));
        stop = reach;
        // The list is disjoint, so the last that is touched is the only one that may reach on.
        match at.checked_sub(1).and_then(|before| self.list.get_mut(before)) {
            Some(before) if start <= before.1 => {
                before.1 = before.1.max(stop);
                self.list.drain(at..at + count);
            }
            _ => {
                self.list.splice(at..at + count, [(start, stop)]);
            }
        }
        self.sorted = true;
        true
    }

    /// The disjoint intervals in order of time (those that were not forgotten).
    pub fn merged(&mut self) -> &[(f64, f64)] {
        if !self.sorted {
            self.sort();
            self.list.dedup_by(|next, kept| {
                let touches = next.0 <= kept.1;
                if touches {
                    kept.1 = kept.1.max(next.1);
                }
                touches
            });
            self.sorted = true;
        }
        &self.list
    }

    /// Length of the union, in the unit of the intervals.
    pub fn length(&mut self) -> f64 {
        self.folded_length + self.merged().iter().map(|(start, stop)| stop - start).sum::<f64>()
    }

    /// Whether the union may be too short because an interval reached back into what was
    /// forgotten.
    #[must_use]
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    /// Whether [`Intervals::merged`] lacks the oldest part.
    #[must_use]
    pub fn is_folded(&self) -> bool {
        self.folded_until.is_some()
    }

    /// Sorts by start. Starts are spread over as many buckets as there are intervals, about
    /// evenly in measurements, so that each has its place within a few steps.
    #[inline(never)]
    fn sort(&mut self) {
        let by_start = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0);
        let (low, high) = self.list.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |all, one| {
            (if one.0 < all.0 { one.0 } else { all.0 }, if one.0 > all.1 { one.0 } else { all.1 })
        });
        let buckets = self.list.len();
        let scale = (buckets as f64 - 0.5) / (high - low);
        if buckets < 64 || !scale.is_finite() {
            self.list.sort_unstable_by(by_start);
            return;
        }
        // Rises with the start, so that buckets are in order; the cast saturates.
        let bucket = |start: f64| saturated_u32((start - low) * scale) as usize;
        self.places.clear();
        self.places.resize(buckets + 1, 0);
        for &(start, _) in &self.list {
            if let Some(count) = self.places.get_mut(bucket(start)) {
                *count += 1;
            }
        }
        let (mut sum, mut most) = (0, 0);
        for place in &mut self.places {
            most = most.max(*place);
            sum += std::mem::replace(place, sum);
        }
        if most > 24 {
            self.list.sort_unstable_by(by_start);
            return;
        }
        self.spare.clear();
        self.spare.resize(buckets, (0.0, 0.0));
        for &interval in &self.list {
            if let Some(place) = self.places.get_mut(bucket(interval.0)) {
                if let Some(slot) = self.spare.get_mut(*place as usize) {
                    *slot = interval;
                }
                *place += 1;
            }
        }
        std::mem::swap(&mut self.list, &mut self.spare);
        // Within a bucket by insertion.
        for at in 1..self.list.len() {
            let mut place = at;
            while let Some([before, here]) = self.list.get_mut(place - 1..=place)
                && by_start(before, here).is_gt()
            {
                std::mem::swap(before, here);
                place -= 1;
                if place == 0 {
                    break;
                }
            }
        }
    }

    #[cold]
    fn make_room(&mut self) {
        let kept = self.merged().len();
        if kept <= Self::MOST / 2 {
            return;
        }
        for (start, stop) in self.list.drain(..kept / 2) {
            self.folded_length += stop - start;
            self.folded_until = Some(stop);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_union_is_the_same_in_any_order() {
        let spans = [(0.0, 2.0), (1.0, 3.0), (5.0, 6.0), (3.0, 3.5), (5.5, 5.7), (8.0, 9.0)];
        for shift in 0..spans.len() {
            for reverse in [false, true] {
                let mut order = spans.to_vec();
                order.rotate_left(shift);
                if reverse {
                    order.reverse();
                }
                let mut union = Intervals::new();
                order.iter().for_each(|&(a, b)| union.add(a, b));
                assert_eq!(union.length(), 5.5);
                assert_eq!(union.merged(), [(0.0, 3.5), (5.0, 6.0), (8.0, 9.0)]);
                union.clear();
                assert_eq!(union.length(), 0.0);
            }
        }
    }

    #[test]
    fn order_and_distance_do_not_matter() {
        let mut state = 3_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 20) % below
        };
        for round in 0..400_u64 {
            let n = [3, 20, 90, 2000].get((round % 4) as usize).copied().unwrap();
            let spread = [4, 40, 4 * n].get((round / 4 % 3) as usize).copied().unwrap();
            let mut spans: Vec<(f64, f64)> = (0..n)
                .map(|i| {
                    // In order, nearly, by stop, at random, and all at once with one far away.
                    let start = match round / 12 % 5 {
                        0 => i * 3,
                        1 => i * 3 + next(12),
                        2 => (i * 4).saturating_sub(next(9)),
                        3 => next(spread),
                        _ => next(3) + if i == n / 2 { 1 << 40 } else { 0 },
                    };
                    (start as f64 - 5.0, (start + next(5)) as f64 - 5.0)
                })
                .collect();
            let mut union = Intervals::new();
            spans.iter().for_each(|&(a, b)| union.add(a, b));
            spans.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut expected: Vec<(f64, f64)> = Vec::new();
            for (start, stop) in spans {
                match expected.last_mut().filter(|last| start <= last.1) {
                    Some(last) => last.1 = last.1.max(stop),
                    None => expected.push((start, stop)),
                }
            }
            assert_eq!(union.merged(), expected, "round {round}");
        }
    }

    #[test]
    fn a_million_entries_stay_bounded_and_exact() {
        let mut union = Intervals::new();
        for i in 0..1_000_000_u32 {
            let start = f64::from(i);
            union.add(start, start + 0.5);
            assert!(union.list.len() <= Intervals::MOST);
        }
        assert_eq!(union.length(), 500_000.0);
        assert!(union.is_folded() && !union.was_cut());
        union.add(3.0, 999_999.25);
        assert!(union.was_cut());
    }
}
