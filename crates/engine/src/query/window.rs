//! Time windows: `(t0, t1)`, `1.5s..2s`, `10%..20%`.

use std::fmt;

use parallax_base::casts::saturated_u64;

use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};
use super::predicate::{Unit, parse_unit, signed};

const EXAMPLE: &str = "1.5s..2s";

/// A span of time; both ends belong to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeWindow {
    /// Where it begins.
    pub start: TimePoint,
    /// Where it ends.
    pub end: TimePoint,
}

/// A point in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TimePoint {
    /// Nothing written: the beginning or the end of the traces.
    Open,
    /// A plain number: a time stamp of the traces, in nanoseconds.
    Absolute(u64),
    /// A number with a unit: so many nanoseconds after the beginning of the traces.
    AfterStart(u64),
    /// A percentage of the duration of the traces after their beginning, 0 to 100.
    Percent(f64),
}

impl TimeWindow {
    /// Everything.
    pub const ALL: Self = Self { start: TimePoint::Open, end: TimePoint::Open };

    /// The window in time stamps (nanoseconds, both ends included) for traces that begin and end
    /// at the given ones. The result may reach beyond the traces, and its end may lie before its
    /// beginning where the two ends are given in different ways.
    pub fn resolve(&self, trace_start: u64, trace_end: u64) -> (u64, u64) {
        let resolve = |point: TimePoint, open: u64| match point {
            TimePoint::Open => open,
            TimePoint::Absolute(nanos) => nanos,
            TimePoint::AfterStart(nanos) => trace_start.saturating_add(nanos),
            TimePoint::Percent(100.0) => trace_end,
            TimePoint::Percent(percent) => {
                let duration = trace_end.saturating_sub(trace_start) as f64;
                // A cast of a float saturates.
                trace_start.saturating_add(saturated_u64((duration * (percent / 100.0)).round()))
            }
        };
        (resolve(self.start, trace_start), resolve(self.end, trace_end))
    }
}

impl fmt::Display for TimePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Open => Ok(()),
            Self::Absolute(nanos) => write!(f, "{nanos}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::AfterStart(nanos) => {
                let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
                let unit = units.into_iter().find(|(size, _)| nanos.is_multiple_of(*size));
                let (size, word) = unit.unwrap_or((1, "ns"));
                write!(f, "{}{word}", nanos / size)
            }
        }
    }
}

impl fmt::Display for TimeWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { start: TimePoint::Open, end: TimePoint::Open } => f.write_str("*"),
            Self { start, end } => write!(f, "{start}..{end}"),
        }
    }
}

/// Reads a time window. Fails with the place of the first mistake.
///
/// ```
/// use parallax_engine::query::parse_window;
/// let window = parse_window("1.5s .. 2s").unwrap();
/// assert_eq!(window.to_string(), "1500ms..2s");
/// assert_eq!(window.resolve(1_000, 9_000_000_000), (1_500_001_000, 2_000_001_000));
/// ```
pub fn parse_window(expression: &str) -> Result<TimeWindow, QueryError> {
    let mut cursor = Cursor::start(expression, "the time window", EXAMPLE)?;
    let from = cursor.at();
    if cursor.eat("*") {
        cursor.finish("")?;
        return Ok(TimeWindow::ALL);
    }
    let enclosed = ["(", "["].into_iter().find(|open| cursor.eat(open));
    let start = parse_point(&mut cursor)?;
    cursor.skip_blanks();
    let found = cursor.eat("..") || (enclosed.is_some() && cursor.eat(","));
    if !found {
        let message = format!("expected `..` and when the window ends, found {}", cursor.found());
        let error = cursor.fail(QueryErrorKind::Syntax, message);
        return Err(error.with_hint("a window has two ends: `1.5s..2s`, or `1.5s..` to the end"));
    }
    let end = parse_point(&mut cursor)?;
    match enclosed {
        Some("(") => cursor.close(")", from)?,
        Some(_) => cursor.close("]", from)?,
        None => {}
    }
    cursor.finish("")?;
    let backwards = match (start, end) {
        (TimePoint::Absolute(start), TimePoint::Absolute(end))
        | (TimePoint::AfterStart(start), TimePoint::AfterStart(end)) => end < start,
        (TimePoint::Percent(start), TimePoint::Percent(end)) => end < start,
        _ => false,
    };
    if backwards {
        return Err(cursor
            .fail_since(from, QueryErrorKind::BadRange, "this window ends before it begins")
            .with_hint(format!("write `{end}..{start}`")));
    }
    Ok(TimeWindow { start, end })
}

/// Reads one end; `Open` where nothing but a separator or bracket follows.
fn parse_point(cursor: &mut Cursor<'_>) -> Result<TimePoint, QueryError> {
    cursor.skip_blanks();
    if cursor.is_at_end()
        || cursor.rest().starts_with("..")
        || matches!(cursor.peek(), Some(',' | ')' | ']'))
    {
        return Ok(TimePoint::Open);
    }
    let from = cursor.at();
    let value = signed(cursor)?;
    let number = cursor.since(from);
    let unit = parse_unit(cursor, from)?;
    let fail = |cursor: &Cursor<'_>, kind, message: &str| cursor.fail_since(from, kind, message);
    if value < 0.0 {
        return Err(fail(cursor, QueryErrorKind::BadNumber, "a time is never negative"));
    }
    let nanos_each: u64 = match unit {
        Unit::Percent if value > 100.0 => {
            return Err(fail(cursor, QueryErrorKind::BadNumber, "this is more than 100%"));
        }
        Unit::Percent => return Ok(TimePoint::Percent(value)),
        Unit::None | Unit::Nanoseconds => 1,
        Unit::Microseconds => 1_000,
        Unit::Milliseconds => 1_000_000,
        Unit::Seconds => 1_000_000_000,
        Unit::Minutes => 60_000_000_000,
        Unit::Hours => 3_600_000_000_000,
        _ => {
            return Err(fail(cursor, QueryErrorKind::BadUnit, "this is not a unit of time")
                .with_hint(
                    "the units are %, ns, us, ms, s, min and h; a plain number is a time \
                            stamp in ns",
                ));
        }
    };
    // Whole numbers stay exact; fractions are rounded to the nanosecond.
    let nanos = match number.trim_start_matches('+').parse::<u64>() {
        Ok(whole) => whole.checked_mul(nanos_each),
        Err(_) => {
            let nanos = (value * nanos_each as f64).round();
            (nanos < u64::MAX as f64).then_some(saturated_u64(nanos))
        }
    };
    let Some(nanos) = nanos else {
        return Err(fail(cursor, QueryErrorKind::BadNumber, "this time is too far away"));
    };
    Ok(if unit == Unit::None { TimePoint::Absolute(nanos) } else { TimePoint::AfterStart(nanos) })
}
