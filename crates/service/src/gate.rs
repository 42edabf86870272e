//! [`Gate`]: what must not happen from one version to the next, as the user types it.
//!
//! ```text
//! gate      := what limit ["and" "significant"]
//! what      := "total" | a context expression
//! limit     := (">" | ">=" | "<" | "<=") change
//! change    := ["+" | "-"] number ("%" | unit)
//! unit      := ns | us | ms | s | min, for times; the unit of the metric or nothing, for others
//! ```
//!
//! The comparison is the last one outside of parentheses, brackets and quotes, because context
//! expressions have `>` for children, too.

use parallax_base::Unit;
use parallax_engine::query::{ContextExpr, QueryError, QueryErrorKind, parse_contexts};

/// Which side of its limit a change must not be on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// What a limit counts.
#[derive(Debug, Clone, PartialEq)]
enum Limit {
    /// Per cent of the old value.
    Percent(f64),
    /// Seconds.
    Seconds(f64),
    /// In a unit that is none of time; empty for a bare number.
    Other(f64, String),
}

/// A condition under which a comparison fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// As typed.
    pub text: String,
    /// What is looked at; `None` for the whole program.
    pub(crate) contexts: Option<ContextExpr>,
    side: Side,
    limit: Limit,
    /// Whether a change within noise does not count.
    pub(crate) is_significant_only: bool,
    /// Where the context expression begins, in characters.
    contexts_at: usize,
    /// Where the limit's number begins and ends, in bytes.
    number_at: (usize, usize),
}

/// An error about the bytes `from..to` of `text`.
fn fault(
    kind: QueryErrorKind,
    text: &str,
    (from, to): (usize, usize),
    message: impl Into<String>,
    hint: &str,
) -> QueryError {
    let column = text.get(..from).unwrap_or(text).chars().count() + 1;
    let length = text.get(from..to).unwrap_or("").chars().count().max(1);
    QueryError {
        kind,
        expression: text.to_owned(),
        column,
        length,
        message: message.into(),
        hint: Some(hint.to_owned()),
    }
}

const EXAMPLE: &str = "write what, a comparison and a change: function(solve) > +5%";

impl Gate {
    /// Reads a gate.
    ///
    /// # Errors
    /// What is wrong, with its column and an example.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let end = text.len();
        let (from, to, side) = last_comparison(text).ok_or_else(|| {
            let message = "there is no comparison in this condition";
            fault(QueryErrorKind::Syntax, text, (end, end), message, EXAMPLE)
        })?;
        let what = text.get(..from).unwrap_or_default();
        let name = what.trim();
        let contexts_at = what.chars().count() - what.trim_start().chars().count();
        if name.is_empty() {
            let message = "it does not say what must not change";
            return Err(fault(QueryErrorKind::Syntax, text, (0, from), message, EXAMPLE));
        }
        let contexts = if name.eq_ignore_ascii_case("total") {
            None
        } else {
            Some(parse_contexts(name).map_err(|error| moved(error, text, contexts_at))?)
        };
        let rest = text.get(to..).unwrap_or_default();
        let start = to + (rest.len() - rest.trim_start().len());
        let rest = rest.trim();
        let (rest, is_significant_only) = match rest.rsplit_once(char::is_whitespace) {
            Some((before, last)) if last.eq_ignore_ascii_case("significant") => {
                let before = before.trim_end();
                let cut = before.len().saturating_sub(3);
                let is_and = before.get(cut..).is_some_and(|word| word.eq_ignore_ascii_case("and"));
                if !is_and {
                    let at = start + before.len();
                    let message = "`significant` stands after `and`";
                    let hint = "write function(solve) > +5% and significant";
                    return Err(fault(QueryErrorKind::Syntax, text, (at, end), message, hint));
                }
                (before.get(..cut).unwrap_or_default().trim_end(), true)
            }
            _ => (rest, false),
        };
        let number_at = (start, start + rest.len());
        let limit = limit(text, rest, number_at)?;
        let text = text.to_owned();
        Ok(Self { text, contexts, side, limit, is_significant_only, contexts_at, number_at })
    }

    /// The change that the limit is about; `None` for per cent of nothing.
    pub(crate) fn change(&self, old: f64, new: f64) -> Option<f64> {
        match self.limit {
            Limit::Percent(_) if old == 0.0 && new == 0.0 => Some(0.0),
            // Per cent of nothing is more than any limit.
            Limit::Percent(_) if old == 0.0 => Some((new - old).signum() * f64::INFINITY),
            Limit::Percent(_) => Some((new - old) / old.abs() * 100.0),
            Limit::Seconds(_) | Limit::Other(..) => Some(new - old),
        }
        .filter(|change| !change.is_nan())
    }

    /// Whether a change is on the wrong side of the limit.
    pub(crate) fn is_beyond(&self, change: f64) -> bool {
        let limit = match &self.limit {
            Limit::Percent(limit) | Limit::Seconds(limit) | Limit::Other(limit, _) => *limit,
        };
        match self.side {
            Side::Above => change > limit,
            Side::AtLeast => change >= limit,
            Side::Below => change < limit,
            Side::AtMost => change <= limit,
        }
    }

    /// An error of the context expression inside the gate, at its place in the gate.
    pub(crate) fn moved(&self, error: QueryError) -> QueryError {
        moved(error, &self.text, self.contexts_at)
    }

    /// Whether the limit can be compared with values of `unit`.
    pub(crate) fn check_unit(&self, unit: &Unit) -> Result<(), QueryError> {
        let symbol = unit.to_string();
        let wrong = match &self.limit {
            Limit::Percent(_) => return Ok(()),
            Limit::Seconds(_) => !unit.is_time(),
            Limit::Other(_, word) => {
                unit.is_time() || !word.is_empty() && !word.eq_ignore_ascii_case(&symbol)
            }
        };
        if !wrong {
            return Ok(());
        }
        let counted = if symbol.is_empty() { "a number".to_owned() } else { symbol };
        let message = format!("the metric counts in another unit: {counted}");
        let hint = if unit.is_time() {
            "write the change in %, or with a unit: +0.3s, +20ms"
        } else {
            "write the change in %, or as a number"
        };
        Err(fault(QueryErrorKind::BadUnit, &self.text, self.number_at, message, hint))
    }

    /// Whether the limit is in per cent.
    pub(crate) const fn is_percent(&self) -> bool {
        matches!(self.limit, Limit::Percent(_))
    }
}

fn moved(error: QueryError, text: &str, by: usize) -> QueryError {
    QueryError { expression: text.to_owned(), column: error.column + by, ..error }
}

/// Where the last comparison outside of brackets and quotes is, and which one.
fn last_comparison(text: &str) -> Option<(usize, usize, Side)> {
    let mut depth = 0_usize;
    let mut quote: Option<char> = None;
    let mut found = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, '>' | '<') if depth == 0 => {
                let is_equal = chars.next_if(|(_, next)| *next == '=').is_some();
                let side = match (c, is_equal) {
                    ('>', false) => Side::Above,
                    ('>', true) => Side::AtLeast,
                    (_, false) => Side::Below,
                    (_, true) => Side::AtMost,
                };
                found = Some((at, at + 1 + usize::from(is_equal), side));
            }
            _ => {}
        }
    }
    found
}

fn limit(text: &str, rest: &str, place: (usize, usize)) -> Result<Limit, QueryError> {
    let number_end = rest
        .char_indices()
        .find(|&(at, c)| {
            let is_exponent = matches!(c, 'e' | 'E')
                && rest.get(at + 1..).is_some_and(|after| {
                    after.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+')
                });
            !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-') || is_exponent)
        })
        .map_or(rest.len(), |(at, _)| at);
    let (digits, unit) = rest.split_at_checked(number_end).unwrap_or((rest, ""));
    let number =
        digits.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(|| {
            let message = if rest.is_empty() {
                "the change is missing after the comparison".to_owned()
            } else {
                format!("`{rest}` is no change")
            };
            fault(QueryErrorKind::BadNumber, text, place, message, EXAMPLE)
        })?;
    let unit = unit.trim();
    let seconds = |factor: f64| Ok(Limit::Seconds(number * factor));
    match unit {
        "%" => Ok(Limit::Percent(number)),
        "ns" => seconds(1e-9),
        "us" | "µs" => seconds(1e-6),
        "ms" => seconds(1e-3),
        "s" | "sec" => seconds(1.0),
        "min" => seconds(60.0),
        word if word.contains(|c: char| !c.is_alphabetic()) => {
            let from = place.0 + number_end;
            let message = format!("`{word}` is no unit");
            let hint = "units are %, ns, us, ms, s, min, and that of the metric";
            Err(fault(QueryErrorKind::BadUnit, text, (from, place.1), message, hint))
        }
        word => Ok(Limit::Other(number, word.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_comparison_is_the_limit() {
        let gate = Gate::parse("function(a) > function(b) > +5%").unwrap();
        assert_eq!(gate.contexts.as_ref().unwrap().to_string(), "function(a) > function(b)");
        assert_eq!(gate.limit, Limit::Percent(5.0));
        let gate = Gate::parse("function(f)[cputime:sum (i) > 5%] >= 20 ms").unwrap();
        assert_eq!((gate.limit.clone(), gate.side), (Limit::Seconds(0.02), Side::AtLeast));
        assert!(gate.is_beyond(0.02) && !gate.is_beyond(0.019));
    }

    #[test]
    fn changes_have_signs_units_and_may_have_to_be_significant() {
        let gate = Gate::parse("total < -2.5% and significant").unwrap();
        assert!(gate.contexts.is_none() && gate.is_significant_only);
        assert_eq!(gate.change(10.0, 9.7).map(|c| (c * 1e6).round() / 1e6), Some(-3.0));
        assert!(gate.is_beyond(-3.0) && !gate.is_beyond(-2.0));
        assert_eq!(Gate::parse("total > 1e3 cycles").unwrap().limit, {
            Limit::Other(1000.0, "cycles".into())
        });
    }

    #[test]
    fn what_appears_anew_is_beyond_any_percentage() {
        let gate = Gate::parse("function(f) > +500%").unwrap();
        assert!(gate.is_beyond(gate.change(0.0, 0.1).unwrap()));
        assert!(!gate.is_beyond(gate.change(0.0, 0.0).unwrap()));
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        for (text, column, word) in [
            ("function(solve)", 16, "no comparison"),
            ("> +5%", 1, "what must not change"),
            ("function(solve) > ", 19, "missing"),
            ("function(solve) > fast", 19, "no change"),
            ("function(solve) > +5 p%c", 21, "no unit"),
            ("  functoin(solve) > +5%", 3, "functoin"),
        ] {
            let error = Gate::parse(text).unwrap_err();
            assert_eq!(error.column, column, "{text}: {error}");
            assert!(error.to_string().contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn a_limit_in_seconds_is_wrong_for_counts() {
        let gate = Gate::parse("total > +3s").unwrap();
        assert!(gate.check_unit(&Unit::Seconds).is_ok());
        assert_eq!(gate.check_unit(&Unit::Count).unwrap_err().column, 9);
        assert!(Gate::parse("total > 3").unwrap().check_unit(&Unit::Seconds).is_err());
    }
}
