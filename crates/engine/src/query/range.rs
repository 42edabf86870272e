//! Lists of whole numbers: `3`, `0-9`, `0-99:2`, `5-`, `1,5-7`.

use std::fmt;

use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};

/// The numbers `first`, `first + step`, … up to and including `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    first: u64,
    last: u64,
    step: u64,
}

impl Range {
    /// The range, or `None` where it runs backwards or `step` is 0. A range without an end has
    /// `last` = [`u64::MAX`]. Where only one number is in it, it is that number with step 1.
    pub fn new(first: u64, last: u64, step: u64) -> Option<Self> {
        if last < first || step == 0 {
            return None;
        }
        if step > last - first {
            return Some(Self { first, last: first, step: 1 });
        }
        Some(Self { first, last, step })
    }

    /// The smallest number.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The end, which is included where the step meets it; [`u64::MAX`] for no end.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The distance of neighbours, at least 1.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Whether `value` is one of the numbers.
    pub fn contains(&self, value: u64) -> bool {
        self.first <= value && value <= self.last && (value - self.first).is_multiple_of(self.step)
    }

    fn print(&self, f: &mut fmt::Formatter<'_>, hex_from: Option<u64>) -> fmt::Result {
        let number = |f: &mut fmt::Formatter<'_>, value: u64| match hex_from {
            Some(from) if value >= from => write!(f, "{value:#x}"),
            _ => write!(f, "{value}"),
        };
        number(f, self.first)?;
        if self.last == u64::MAX && self.first != u64::MAX {
            write!(f, "-")?;
        } else if self.last > self.first {
            write!(f, "-")?;
            number(f, self.last)?;
        }
        if self.step > 1 {
            write!(f, ":{}", self.step)?;
        }
        Ok(())
    }
}

/// A set of whole numbers as ranges, in ascending order.
///
/// Ranges of step 1 that touch or overlap are one; so equal sets of such ranges are equal however
/// they were written, and `Display` gives the shortest way to write them. Ranges with a larger
/// step are kept as they are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct RangeList {
    /// Step 1, disjoint, not touching, ascending.
    plain: Vec<Range>,
    /// Step above 1, ascending, no two equal.
    stepped: Vec<Range>,
}

impl RangeList {
    /// The numbers of all `ranges`.
    pub fn new(ranges: impl IntoIterator<Item = Range>) -> Self {
        let (mut plain, mut stepped): (Vec<Range>, Vec<Range>) =
            ranges.into_iter().partition(|range| range.step == 1);
        plain.sort_unstable();
        plain.dedup_by(|next, kept| {
            let touches = next.first <= kept.last.saturating_add(1);
            if touches {
                kept.last = kept.last.max(next.last);
            }
            touches
        });
        stepped.sort_unstable();
        stepped.dedup();
        Self { plain, stepped }
    }

    /// Whether `value` is in the set. Takes logarithmic time in the number of plain ranges.
    pub fn contains(&self, value: u64) -> bool {
        let after = self.plain.partition_point(|range| range.first <= value);
        let plain = after.checked_sub(1).and_then(|at| self.plain.get(at));
        plain.is_some_and(|range| value <= range.last)
            || self.stepped.iter().any(|range| range.contains(value))
    }

    /// The ranges in ascending order; they may overlap where one has a step.
    pub fn ranges(&self) -> Vec<Range> {
        let mut all: Vec<Range> = self.plain.iter().chain(&self.stepped).copied().collect();
        all.sort_unstable();
        all
    }

    /// Whether no number is in the set.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.stepped.is_empty()
    }

    /// The one number of the set where it holds exactly one.
    pub fn single(&self) -> Option<u64> {
        match (self.plain.as_slice(), self.stepped.as_slice()) {
            ([range], []) if range.first == range.last => Some(range.first),
            _ => None,
        }
    }

    /// Writes the list with the numbers from `hex_from` on in hexadecimal.
    pub(super) fn print(&self, f: &mut fmt::Formatter<'_>, hex_from: Option<u64>) -> fmt::Result {
        for (at, range) in self.ranges().iter().enumerate() {
            if at > 0 {
                write!(f, ",")?;
            }
            range.print(f, hex_from)?;
        }
        Ok(())
    }
}

impl fmt::Display for RangeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, None)
    }
}

/// Reads `range ("," range)*` up to whatever follows.
pub(super) fn parse_list(cursor: &mut Cursor<'_>, what: &str) -> Result<RangeList, QueryError> {
    let mut ranges = Vec::new();
    loop {
        ranges.push(parse_range(cursor, what)?);
        if !cursor.eat_after_blanks(",") && !cursor.eat_after_blanks("|") {
            return Ok(RangeList::new(ranges));
        }
    }
}

/// Reads one of `a`, `a-b`, `a-`, each with an optional `:step`.
pub(super) fn parse_range(cursor: &mut Cursor<'_>, what: &str) -> Result<Range, QueryError> {
    cursor.skip_blanks();
    let from = cursor.at();
    if cursor.peek() == Some('-') {
        cursor.bump();
        let end = cursor.unsigned(what).ok();
        let hint = match end {
            Some(end) => format!("numbers are never negative; for 0 to {end} write `0-{end}`"),
            None => "a range begins with a number: `0-9`".to_owned(),
        };
        return Err(cursor
            .fail_since(from, QueryErrorKind::BadRange, "this range has no beginning")
            .with_hint(hint));
    }
    let first = cursor.unsigned(what)?;
    let mut last = first;
    if cursor.rest().starts_with("..") {
        return Err(cursor
            .fail(QueryErrorKind::BadRange, "ranges are written with `-`")
            .with_hint("`0-9` is 0 to 9; the end is included"));
    }
    if cursor.eat_after_blanks("-") {
        cursor.skip_blanks();
        last = match cursor.peek() {
            Some(c) if c.is_alphanumeric() => cursor.unsigned(what)?,
            _ => u64::MAX,
        };
    }
    let mut step = 1;
    if cursor.eat_after_blanks(":") {
        cursor.skip_blanks();
        step = cursor.unsigned("a step")?;
    }
    Range::new(first, last, step).ok_or_else(|| {
        let error = |message: &str| cursor.fail_since(from, QueryErrorKind::BadRange, message);
        if step == 0 {
            error("the step of a range cannot be 0")
        } else {
            error("this range runs backwards")
                .with_hint(format!("write `{last}-{first}`; ranges include their end here"))
        }
    })
}
