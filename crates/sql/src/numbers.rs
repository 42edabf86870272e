//! [`Numbers`]: which ids or times a query asks for.

use std::fmt;

use serde_json::{Value, json};

/// Whole numbers that are not negative, as ranges that include their ends: ascending, with gaps
/// between them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Numbers(Vec<(u64, u64)>);

impl Numbers {
    /// All of them.
    pub(crate) fn all() -> Self {
        Self(vec![(0, u64::MAX)])
    }

    /// None.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    /// From `first` to `last`, both included; none where they are in the wrong order. Numbers below
    /// 0 are none.
    pub(crate) fn range(first: i128, last: i128) -> Self {
        let most = i128::from(u64::MAX);
        let (first, last) = (first.max(0), last.min(most));
        match (u64::try_from(first), u64::try_from(last)) {
            (Ok(first), Ok(last)) if first <= last => Self(vec![(first, last)]),
            _ => Self::none(),
        }
    }

    /// These numbers.
    pub(crate) fn of(numbers: impl IntoIterator<Item = u64>) -> Self {
        Self::joined(numbers.into_iter().map(|number| (number, number)).collect())
    }

    /// The numbers of all ranges, which may overlap.
    fn joined(mut ranges: Vec<(u64, u64)>) -> Self {
        ranges.sort_unstable();
        let mut out: Vec<(u64, u64)> = Vec::new();
        for (first, last) in ranges {
            match out.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => out.push((first, last)),
            }
        }
        Self(out)
    }

    /// Those in either.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self::joined(self.0.iter().chain(&other.0).copied().collect())
    }

    /// Those in both.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut out = Vec::new();
        while let (Some(&&(a0, a1)), Some(&&(b0, b1))) = (a.peek(), b.peek()) {
            let (first, last) = (a0.max(b0), a1.min(b1));
            if first <= last {
                out.push((first, last));
            }
            if a1 < b1 {
                a.next();
            } else {
                b.next();
            }
        }
        Self(out)
    }

    /// Whether `number` is one of them.
    pub(crate) fn contains(&self, number: u64) -> bool {
        let at = self.0.partition_point(|&(first, _)| first <= number);
        at.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|&(_, last)| number <= last)
    }

    /// Whether they are all.
    pub(crate) fn is_all(&self) -> bool {
        self.0 == [(0, u64::MAX)]
    }

    /// As they are sent to others: pairs of the first and the last number of a range.
    pub(crate) fn to_json(&self) -> Value {
        self.0.iter().map(|&(first, last)| json!([first, last])).collect()
    }

    /// What was sent; `None` when it is something else.
    pub(crate) fn from_json(sent: &Value) -> Option<Self> {
        let range = |sent: &Value| Some((sent.get(0)?.as_u64()?, sent.get(1)?.as_u64()?));
        let ranges: Vec<_> = sent.as_array()?.iter().map(range).collect::<Option<_>>()?;
        ranges.iter().all(|(first, last)| first <= last).then(|| Self::joined(ranges))
    }

    /// The smallest and the largest.
    pub(crate) fn span(&self) -> Option<(u64, u64)> {
        self.0.first().zip(self.0.last()).map(|(first, last)| (first.0, last.1))
    }
}

/// Ranges that a plan shows at most.
const MOST_SHOWN: usize = 4;

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (at, &(first, last)) in self.0.iter().take(MOST_SHOWN).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match (first, last) {
                _ if first == last => write!(f, "{comma}{first}")?,
                (first, u64::MAX) => write!(f, "{comma}{first}..")?,
                (0, last) => write!(f, "{comma}..{last}")?,
                _ => write!(f, "{comma}{first}..{last}")?,
            }
        }
        match self.0.len().checked_sub(MOST_SHOWN) {
            Some(more) if more > 0 => write!(f, ",... ({more} more)"),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_ranges_are_those_of_their_numbers() {
        // Every pair of small sets, against membership.
        let sets: Vec<Vec<u64>> =
            (0..64_u64).map(|bits| (0..6).filter(|bit| bits >> bit & 1 == 1).collect()).collect();
        for a in &sets {
            for b in &sets {
                let (x, y) = (Numbers::of(a.iter().copied()), Numbers::of(b.iter().copied()));
                for n in 0..8 {
                    let (in_a, in_b) = (a.contains(&n), b.contains(&n));
                    assert_eq!(x.and(&y).contains(n), in_a && in_b, "{x} and {y}: {n}");
                    assert_eq!(x.or(&y).contains(n), in_a || in_b, "{x} or {y}: {n}");
                }
                assert_eq!(Numbers::from_json(&x.to_json()).as_ref(), Some(&x));
            }
        }
    }

    #[test]
    fn ranges_end_where_numbers_do() {
        assert!(Numbers::range(-5, i128::MAX).is_all());
        assert_eq!(Numbers::range(-5, -1), Numbers::none());
        assert_eq!(Numbers::range(3, 2), Numbers::none());
        let most = Numbers::range(i128::from(u64::MAX), i128::MAX);
        assert!(most.contains(u64::MAX) && !most.contains(u64::MAX - 1));
        assert_eq!(most.or(&Numbers::of([0])).span(), Some((0, u64::MAX)));
    }

    #[test]
    fn plans_show_few_ranges() {
        assert_eq!(Numbers::of([1, 2, 3, 7]).to_string(), "1..3,7");
        assert_eq!(Numbers::of((0..20).map(|n| n * 2)).to_string(), "0,2,4,6,... (16 more)");
        assert_eq!(Numbers::range(5, i128::MAX).to_string(), "5..");
        assert_eq!(Numbers::none().to_string(), "none");
    }
}
