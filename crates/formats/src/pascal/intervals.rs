//! The union of many intervals, in bounded memory.

/// Collects intervals and gives the length of their union.
///
/// Entries come nearly in order of time, so most extend the end of a sorted list. When the list is
/// full it is sorted and merged; if that does not make room, the older half is added up and
/// forgotten, and whatever later reaches back into it is cut there ([`Intervals::was_cut`]).
#[derive(Debug, Clone, Default)]
pub struct Intervals {
    list: Vec<(f64, f64)>,
    sorted: bool,
    folded_length: f64,
    folded_until: Option<f64>,
    cut: bool,
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
        *self = Self { list: std::mem::take(&mut self.list), sorted: true, ..Self::default() };
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
        if let Some(last) = self.list.last_mut() {
            if start < last.0 {
                self.sorted = false;
            } else if start <= last.1 && self.sorted {
                last.1 = last.1.max(stop);
                return;
            }
        }
        if self.list.len() >= Self::MOST {
            self.make_room();
        }
        self.list.push((start, stop));
    }

    /// The disjoint intervals in order of time (those that were not forgotten).
    pub fn merged(&mut self) -> &[(f64, f64)] {
        if !self.sorted {
            self.list.sort_by(|a, b| a.0.total_cmp(&b.0));
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
