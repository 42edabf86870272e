//! Metric expressions: which metrics, which aggregations of them, in which scopes.

use std::fmt;

use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};
use super::name::{NameMatch, Quoted};
use super::near::did_you_mean;

const EXAMPLE: &str = "cputime:sum (i)";

/// The metrics that measure time, in the order in which `time` prefers them.
pub const TIME_METRICS: [&str; 3] = ["cputime", "realtime", "cycles"];

/// The families of GPU metrics that `gpu` stands for (hpcanalysis' list): their totals, not their
/// sub-metrics such as `gxcopy:h2d`.
pub const GPU_METRICS: [&str; 10] =
    ["gpuop", "gker", "gmem", "gmset", "gxcopy", "gicopy", "gsync", "gins", "gcycles", "gpipe"];

/// Which metrics: the union of the selectors, of which there is at least one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetricExpr {
    /// The parts of the union, as written.
    pub selectors: Vec<MetricSelector>,
}

/// `name:aggregation (scope)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetricSelector {
    /// Which metrics by name.
    pub name: MetricName,
    /// Which aggregations, no two equal; empty where the expression does not say.
    pub aggregations: Vec<Aggregation>,
    /// Which scopes, no two equal; empty where the expression does not say.
    pub scopes: Vec<MetricScope>,
}

/// Which metrics by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MetricName {
    /// `*`: every metric.
    All,
    /// `time`: the first of [`TIME_METRICS`] that the experiment has.
    DefaultTime,
    /// `gpu`: every metric of [`GPU_METRICS`].
    Gpu,
    /// A bare name or glob (never `Regex`), in lower case: the case of ASCII letters does not count.
    Word(NameMatch),
    /// `"perf::PAGE-FAULTS"`: this name, case counts.
    Exact(String),
    /// `/^gins:stl/`.
    Regex(super::RegexMatch),
}

impl MetricName {
    /// Whether a metric is chosen whose name in the experiment is `name`, with or without its
    /// unit: `CPUTIME (sec)` and `CPUTIME` are both chosen by `cputime`. `DefaultTime` chooses all
    /// of [`TIME_METRICS`]; the first one present is for the caller to take.
    pub fn matches(&self, name: &str) -> bool {
        let (short, _) = split_unit(name);
        match self {
            Self::All => true,
            Self::DefaultTime => TIME_METRICS.iter().any(|time| time.eq_ignore_ascii_case(short)),
            Self::Gpu => GPU_METRICS.iter().any(|gpu| gpu.eq_ignore_ascii_case(short)),
            Self::Word(word) => {
                word.matches(&short.to_ascii_lowercase())
                    || word.matches(&name.to_ascii_lowercase())
            }
            Self::Exact(exact) => exact == short || exact == name,
            Self::Regex(regex) => regex.matches(short) || regex.matches(name),
        }
    }
}

/// Splits the name of a metric from its unit: `GXCOPY:H2D (B)` is `GXCOPY:H2D` in `B`.
pub fn split_unit(name: &str) -> (&str, Option<&str>) {
    let unit = name.strip_suffix(')').and_then(|open| open.rsplit_once(" ("));
    match unit {
        Some((short, unit)) if !short.is_empty() && !unit.contains('(') => (short, Some(unit)),
        _ => (name, None),
    }
}

/// How the values of one metric at one context are brought together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Aggregation {
    /// `prop`: not at all; the value of each profile.
    Prop,
    /// `sum` over the profiles.
    Sum,
    /// `min`: the smallest over the profiles that have a value.
    Min,
    /// `max`: the largest over the profiles.
    Max,
    /// `mean` over the profiles, those without a value counting as 0.
    Mean,
    /// `count`: how many profiles have a value. Written `:(count)`, as `gker:count` is a metric.
    Count,
    /// `sqr`: the sum of the squares.
    Sqr,
    /// `stddev`: the standard deviation over the profiles.
    StdDev,
    /// `cfvar`: the coefficient of variation, standard deviation by mean.
    CfVar,
}

impl Aggregation {
    /// Every aggregation.
    pub const ALL: [Self; 9] = [
        Self::Prop,
        Self::Sum,
        Self::Min,
        Self::Max,
        Self::Mean,
        Self::Count,
        Self::Sqr,
        Self::StdDev,
        Self::CfVar,
    ];

    /// The word of the language.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prop => "prop",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::Mean => "mean",
            Self::Count => "count",
            Self::Sqr => "sqr",
            Self::StdDev => "stddev",
            Self::CfVar => "cfvar",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        Self::ALL
            .into_iter()
            .find(|one| one.word() == word || (*one == Self::Mean && word == "avg"))
    }
}

/// Over which contexts the value of one context is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetricScope {
    /// `i`: inclusive, the context and all below it (HPCToolkit's scope `execution`).
    Inclusive,
    /// `e`: exclusive, the context and what belongs to the same function below it (`function`).
    Exclusive,
    /// `p`: the context alone (`point`).
    Point,
    /// `c`: the context with its lines, but not the loops within (`lex_aware`).
    Lexical,
}

impl MetricScope {
    /// Every scope.
    pub const ALL: [Self; 4] = [Self::Inclusive, Self::Exclusive, Self::Point, Self::Lexical];

    /// The letter of the language.
    pub fn letter(self) -> char {
        match self {
            Self::Inclusive => 'i',
            Self::Exclusive => 'e',
            Self::Point => 'p',
            Self::Lexical => 'c',
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "i" | "inclusive" | "execution" => Some(Self::Inclusive),
            "e" | "exclusive" | "function" => Some(Self::Exclusive),
            "p" | "point" => Some(Self::Point),
            "c" | "lexical" | "lex_aware" => Some(Self::Lexical),
            _ => None,
        }
    }
}

impl fmt::Display for MetricExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, selector) in self.selectors.iter().enumerate() {
            write!(f, "{}{selector}", if at > 0 { " | " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for MetricSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            MetricName::All => f.write_str("*")?,
            MetricName::DefaultTime => f.write_str("time")?,
            MetricName::Gpu => f.write_str("gpu")?,
            MetricName::Word(word) => f.write_str(word.text())?,
            MetricName::Exact(exact) => write!(f, "{}", Quoted(exact))?,
            MetricName::Regex(regex) => write!(f, "{regex}")?,
        }
        match self.aggregations.as_slice() {
            [] => {}
            [one] if *one != Aggregation::Count => write!(f, ":{}", one.word())?,
            many => {
                let words: Vec<&str> = many.iter().map(|one| one.word()).collect();
                write!(f, ":({})", words.join(","))?;
            }
        }
        if !self.scopes.is_empty() {
            let letters: Vec<String> =
                self.scopes.iter().map(|scope| scope.letter().to_string()).collect();
            write!(f, " ({})", letters.join(","))?;
        }
        Ok(())
    }
}

/// Reads a metric expression. Fails with the place of the first mistake.
///
/// ```
/// use parallax_engine::query::parse_metrics;
/// let chosen = parse_metrics("CPUTIME:(sum,max)(i) | \"perf::PAGE-FAULTS\"").unwrap();
/// assert_eq!(chosen.to_string(), "cputime:(sum,max) (i) | \"perf::PAGE-FAULTS\"");
/// ```
pub fn parse_metrics(expression: &str) -> Result<MetricExpr, QueryError> {
    let mut cursor = Cursor::start(expression, "the metric expression", EXAMPLE)?;
    let mut selectors = Vec::new();
    loop {
        selectors.push(parse_selector(&mut cursor, MetricPosition::Expression)?);
        if !cursor.eat_or(true) {
            break;
        }
    }
    let after = cursor.clone();
    cursor.finish("`|`").map_err(|error| {
        let mut after = after;
        after.skip_blanks();
        if after.peek_word().is_empty() {
            error
        } else {
            error.with_hint("names with blanks are written in quotes: \"IO Bytes Read\"")
        }
    })?;
    Ok(MetricExpr { selectors })
}

/// Where a metric stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MetricPosition {
    /// A metric expression of its own.
    Expression,
    /// The left side of a comparison.
    Comparison,
}

/// Whether a bare metric name may hold `c`: all that no operator of the language needs.
pub(super) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || "_:.-*?@#$/+%".contains(c)
}

/// Reads `name[:aggregation] [(scopes)]`.
pub(super) fn parse_selector(
    cursor: &mut Cursor<'_>,
    place: MetricPosition,
) -> Result<MetricSelector, QueryError> {
    cursor.skip_blanks();
    let from = cursor.at();
    let mut aggregations = Vec::new();
    let name = if let Some(exact) = cursor.quoted()? {
        MetricName::Exact(exact)
    } else if cursor.peek() == Some('/') {
        MetricName::Regex(cursor.regex()?)
    } else {
        cursor.skip_while(is_name_char);
        let bare = cursor.since(from);
        if bare.is_empty() {
            let what = match place {
                MetricPosition::Expression => "a metric such as `cputime:sum (i)`",
                MetricPosition::Comparison => "a metric or an attribute such as `depth`",
            };
            let message = format!("expected {what}, found {}", cursor.found());
            return Err(cursor.fail(QueryErrorKind::Syntax, message));
        }
        let (name, rest) = split_aggregation(bare, cursor.peek());
        cursor.move_to(from + bare.len() - rest.len());
        bare_name(name).ok_or_else(|| {
            cursor
                .fail_since(
                    from,
                    QueryErrorKind::Syntax,
                    format!("`{bare}` is not the name of a metric"),
                )
                .with_hint("write `name` or `name:aggregation`: `cputime:sum (i)`")
        })?
    };
    if cursor.eat(":") {
        parse_aggregations(cursor, &mut aggregations)?;
    }
    let mut scopes = Vec::new();
    let before = cursor.at();
    cursor.skip_blanks();
    let opened = cursor.at();
    if cursor.eat("(") {
        parse_scopes(cursor, opened, &mut scopes)?;
    } else {
        cursor.move_to(before);
    }
    Ok(MetricSelector { name, aggregations, scopes })
}

/// Splits a bare `name:aggregation` before the colon. What follows the last colon is an
/// aggregation where it is the word of one other than `count`, or where it is empty and the list
/// of aggregations in parentheses comes `next`.
fn split_aggregation(bare: &str, next: Option<char>) -> (&str, &str) {
    let Some((name, last)) = bare.rsplit_once(':') else { return (bare, "") };
    let is_list = last.is_empty() && next == Some('(');
    let is_word = Aggregation::of_word(last).is_some_and(|one| one != Aggregation::Count);
    if name.is_empty() || name.ends_with(':') || !(is_list || is_word) {
        return (bare, "");
    }
    bare.split_at(name.len())
}

/// The meaning of a bare name; `None` where it is no name at all.
pub(super) fn bare_name(name: &str) -> Option<MetricName> {
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "*" => Some(MetricName::All),
        "time" => Some(MetricName::DefaultTime),
        "gpu" => Some(MetricName::Gpu),
        _ if name.ends_with(':')
            || !name.contains(|c: char| c.is_alphanumeric() || "_*?".contains(c)) =>
        {
            None
        }
        _ => Some(MetricName::Word(NameMatch::from_bare(&name))),
    }
}

fn parse_aggregations(
    cursor: &mut Cursor<'_>,
    aggregations: &mut Vec<Aggregation>,
) -> Result<(), QueryError> {
    let opened = cursor.at();
    let is_list = cursor.eat("(");
    loop {
        cursor.skip_blanks();
        let from = cursor.at();
        let word = cursor.peek_word();
        cursor.move_to(from + word.len());
        let Some(one) = Aggregation::of_word(word) else {
            let words = Aggregation::ALL.map(Aggregation::word);
            let hint = did_you_mean(word, words.into_iter())
                .unwrap_or_else(|| format!("the aggregations are {}", words.join(", ")));
            let message = if word.is_empty() {
                format!("expected an aggregation, found {}", cursor.found())
            } else {
                format!("there is no aggregation `{word}`")
            };
            let error = cursor.fail_since(from, QueryErrorKind::UnknownWord, message);
            return Err(error.with_hint(hint));
        };
        if !aggregations.contains(&one) {
            aggregations.push(one);
        }
        if !is_list {
            return Ok(());
        }
        if !cursor.eat_after_blanks(",") && !cursor.eat_after_blanks("|") {
            return cursor.close(")", opened);
        }
    }
}

fn parse_scopes(
    cursor: &mut Cursor<'_>,
    opened: usize,
    scopes: &mut Vec<MetricScope>,
) -> Result<(), QueryError> {
    loop {
        cursor.skip_blanks();
        let from = cursor.at();
        let word = cursor.peek_word();
        cursor.move_to(from + word.len());
        let Some(scope) = MetricScope::of_word(word) else {
            let message = if word.is_empty() {
                format!("expected a scope, found {}", cursor.found())
            } else {
                format!("there is no scope `{word}`")
            };
            let hint = match word.to_ascii_lowercase().as_str() {
                "sec" | "s" | "b" | "cyc" | "us" | "ns" => {
                    "write names without units: `cputime (i)`; or quote the full name: \"CPUTIME \
                     (sec)\""
                }
                _ => "the scopes are i (inclusive), e (exclusive), p (point), c (lexical)",
            };
            let error = cursor.fail_since(from, QueryErrorKind::UnknownWord, message);
            return Err(error.with_hint(hint));
        };
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
        if !cursor.eat_after_blanks(",") && !cursor.eat_after_blanks("|") {
            return cursor.close(")", opened);
        }
    }
}
