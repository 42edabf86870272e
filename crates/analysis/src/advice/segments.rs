//! [`Segments`]: what holds for which bytes.

use std::collections::BTreeMap;
use std::ops::Range;

/// Values of half-open ranges of bytes that do not overlap.
#[derive(Debug, Clone, Default)]
pub(super) struct Segments<V> {
    /// By start: end and value.
    map: BTreeMap<u64, (u64, V)>,
}

impl<V: Clone> Segments<V> {
    pub(super) const fn new() -> Self {
        Self { map: BTreeMap::new() }
    }

    /// The values of what overlaps `range`, in order.
    pub(super) fn overlapping(&self, range: &Range<u64>) -> impl Iterator<Item = &V> + '_ {
        let before = self.map.range(..range.start).next_back();
        let (start, end) = (range.start, range.end);
        let before = before.filter(move |(_, (stop, _))| *stop > start).into_iter();
        // An empty range overlaps nothing; BTreeMap would panic for a reversed one.
        let within = self.map.range(start..end.max(start));
        before.chain(within).map(|(_, (_, value))| value)
    }

    /// Changes the values of all bytes of `range`; bytes without one get the default first.
    pub(super) fn update(&mut self, range: &Range<u64>, mut change: impl FnMut(&mut V))
    where
        V: Default,
    {
        if range.start >= range.end {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        let inside: Vec<(u64, u64)> =
            self.map.range(range.clone()).map(|(&start, &(end, _))| (start, end)).collect();
        let mut at = range.start;
        let mut fill = Vec::new();
        for (start, end) in inside {
            fill.push(at..start);
            if let Some((_, value)) = self.map.get_mut(&start) {
                change(value);
            }
            at = end;
        }
        fill.push(at..range.end);
        for gap in fill.into_iter().filter(|gap| gap.start < gap.end) {
            let mut value = V::default();
            change(&mut value);
            self.map.insert(gap.start, (gap.end, value));
        }
    }

    /// Gives all bytes of `range` one value, in one segment.
    pub(super) fn set(&mut self, range: &Range<u64>, value: V) {
        if range.start >= range.end {
            return;
        }
        self.cut(range.start);
        self.cut(range.end);
        let inside: Vec<u64> = self.map.range(range.clone()).map(|(&start, _)| start).collect();
        for start in inside {
            self.map.remove(&start);
        }
        self.map.insert(range.start, (range.end, value));
    }

    /// Makes two segments of the one around `at`.
    fn cut(&mut self, at: u64) {
        let Some((_, (end, value))) = self.map.range_mut(..at).next_back() else { return };
        if *end <= at {
            return;
        }
        let (stop, value) = (std::mem::replace(end, at), value.clone());
        self.map.insert(at, (stop, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_where_others_begin_and_end() {
        let mut segments = Segments::new();
        segments.set(&(0..10), "a".to_owned());
        segments.set(&(4..6), "b".to_owned());
        segments.update(&(8..12), |value: &mut String| value.push('n'));
        let drawn =
            |range: Range<u64>| segments.overlapping(&range).cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(drawn(0..20), "a b a an n");
        assert_eq!(drawn(5..6), "b");
        assert_eq!(drawn(7..8), "a");
        assert_eq!(drawn(12..20), "");
        assert_eq!(drawn(3..3), "a");
    }
}
