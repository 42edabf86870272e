//! Attribute predicates: what stands in brackets after a context, `[cputime:sum (i) > 5%]`.

use std::fmt;

use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};
use super::metrics::{MetricPosition, MetricSelector, parse_selector};
use super::name::{Glob, NameMatch, Quoted};
use super::profiles::{one_or, print_joined};

/// The words that stand for attributes of a context; a metric of such a name goes in quotes.
pub const ATTRIBUTES: [&str; 7] = ["depth", "children", "leaf", "name", "file", "line", "module"];

/// What must hold for a context.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicate {
    /// `cputime:sum (i) > 5%`, `depth <= 3`.
    Number {
        /// What is compared.
        attribute: NumberAttribute,
        /// How.
        op: CompareOp,
        /// With what.
        threshold: Threshold,
    },
    /// `name ~ "MPI_*"`, `file == "solver.c"`.
    Text {
        /// What is matched.
        attribute: TextAttribute,
        /// Whether a match is unwanted (`!~`, `!=`).
        negated: bool,
        /// The pattern: `==` gives `Exact`, `~` a glob or regular expression.
        pattern: NameMatch,
    },
    /// `leaf`: the context has no children.
    Leaf,
    /// All hold. At least two parts, none of them `And`.
    And(Vec<Predicate>),
    /// Any holds. At least two parts, none of them `Or`.
    Or(Vec<Predicate>),
    /// The part does not hold.
    Not(Box<Predicate>),
}

impl Predicate {
    /// All of `parts`, of which there is at least one.
    pub(super) fn all(parts: Vec<Predicate>) -> Predicate {
        let mut flat = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                Predicate::And(inner) => flat.extend(inner),
                part => flat.push(part),
            }
        }
        one_or(flat, Predicate::And)
    }

    /// Whether it is joined from several.
    fn is_list(&self) -> bool {
        matches!(self, Self::And(_) | Self::Or(_))
    }
}

/// A number that a context has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NumberAttribute {
    /// The value of a metric. Where the selector chooses several, one that holds is enough.
    Metric(MetricSelector),
    /// The distance from the root, which has depth 0.
    Depth,
    /// The number of children.
    Children,
    /// The 1-based source line.
    Line,
}

/// A text that a context has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextAttribute {
    /// The function's name, in full or in normal form ([`NameMatch::matches_function`]).
    Name,
    /// The source file's path ([`NameMatch::matches_path`]).
    File,
    /// The load module's path ([`NameMatch::matches_path`]).
    Module,
}

impl TextAttribute {
    fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::File => "file",
            Self::Module => "module",
        }
    }
}

/// How two numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl CompareOp {
    /// Whether `left op right` holds; as IEEE 754 has it, only `!=` holds for a NaN.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Greater => left > right,
            Self::GreaterEqual => left >= right,
            Self::Less => left < right,
            Self::LessEqual => left <= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
        }
    }

    pub(super) fn symbol(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }

    /// Takes an operator; `=` is `==`.
    pub(super) fn eat(cursor: &mut Cursor<'_>) -> Option<Self> {
        cursor.skip_blanks();
        // The longer ones first.
        [
            (">=", Self::GreaterEqual),
            (">", Self::Greater),
            ("<=", Self::LessEqual),
            ("<", Self::Less),
            ("==", Self::Equal),
            ("=", Self::Equal),
            ("!=", Self::NotEqual),
        ]
        .into_iter()
        .find_map(|(symbol, op)| cursor.eat(symbol).then_some(op))
    }
}

/// A number with its unit, as written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The number, finite.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

impl Threshold {
    /// The number in the base unit: seconds for a time, the plain number for a multiple, per cent
    /// for per cent.
    pub fn in_base_unit(&self) -> f64 {
        self.value * self.unit.factor()
    }
}

/// The unit of a [`Threshold`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// No unit: in the metric's own.
    None,
    /// Per cent of the root's inclusive value of the same metric in the same profile.
    Percent,
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
    /// 10³.
    Kilo,
    /// 10⁶.
    Mega,
    /// 10⁹.
    Giga,
    /// 10¹².
    Tera,
    /// 2¹⁰.
    Kibi,
    /// 2²⁰.
    Mebi,
    /// 2³⁰.
    Gibi,
    /// 2⁴⁰.
    Tebi,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Self; 16] = [
        Self::None,
        Self::Percent,
        Self::Nanoseconds,
        Self::Microseconds,
        Self::Milliseconds,
        Self::Seconds,
        Self::Minutes,
        Self::Hours,
        Self::Kilo,
        Self::Mega,
        Self::Giga,
        Self::Tera,
        Self::Kibi,
        Self::Mebi,
        Self::Gibi,
        Self::Tebi,
    ];

    /// Whether the number is a time.
    pub fn is_time(self) -> bool {
        matches!(
            self,
            Self::Nanoseconds
                | Self::Microseconds
                | Self::Milliseconds
                | Self::Seconds
                | Self::Minutes
                | Self::Hours
        )
    }

    /// How many of the base unit (see [`Threshold::in_base_unit`]) it is.
    pub fn factor(self) -> f64 {
        match self {
            Self::None | Self::Percent | Self::Seconds => 1.0,
            Self::Nanoseconds => 1e-9,
            Self::Microseconds => 1e-6,
            Self::Milliseconds => 1e-3,
            Self::Minutes => 60.0,
            Self::Hours => 3600.0,
            Self::Kilo => 1e3,
            Self::Mega => 1e6,
            Self::Giga => 1e9,
            Self::Tera => 1e12,
            Self::Kibi => 1024.0,
            Self::Mebi => 1_048_576.0,
            Self::Gibi => 1_073_741_824.0,
            Self::Tebi => 1_099_511_627_776.0,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Percent => "%",
            Self::Nanoseconds => "ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::Minutes => "min",
            Self::Hours => "h",
            Self::Kilo => "k",
            Self::Mega => "M",
            Self::Giga => "G",
            Self::Tera => "T",
            Self::Kibi => "Ki",
            Self::Mebi => "Mi",
            Self::Gibi => "Gi",
            Self::Tebi => "Ti",
        }
    }

    /// The unit of a word; bytes are plain numbers, so `MB` is `M`.
    fn of_word(word: &str) -> Option<Self> {
        let known = |word: &str| Self::ALL.into_iter().find(|unit| unit.word() == word);
        match word {
            "µs" | "μs" => Some(Self::Microseconds),
            "sec" => Some(Self::Seconds),
            "K" | "KB" => Some(Self::Kilo),
            "B" => Some(Self::None),
            _ => known(word).or_else(|| {
                word.strip_suffix('B').and_then(known).filter(|unit| *unit >= Self::Kilo)
            }),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.value, self.unit.word())
    }
}

impl fmt::Display for NumberAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metric(metric) => write!(f, "{metric}"),
            Self::Depth => f.write_str("depth"),
            Self::Children => f.write_str("children"),
            Self::Line => f.write_str("line"),
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { attribute, op, threshold } => {
                write!(f, "{attribute} {} {threshold}", op.symbol())
            }
            Self::Text { attribute, negated, pattern } => {
                let word = attribute.word();
                let not = if *negated { "!" } else { "" };
                match pattern {
                    NameMatch::Exact(text) => {
                        let op = if *negated { "!=" } else { "==" };
                        write!(f, "{word} {op} {}", Quoted(text))
                    }
                    NameMatch::Glob(glob) => write!(f, "{word} {not}~ {}", Quoted(glob.pattern())),
                    NameMatch::Regex(regex) => write!(f, "{word} {not}~ {regex}"),
                }
            }
            Self::Leaf => f.write_str("leaf"),
            Self::And(parts) => print_joined(f, parts, " and ", Self::is_list),
            Self::Or(parts) => print_joined(f, parts, " or ", |part| matches!(part, Self::Or(_))),
            Self::Not(part) if part.is_list() => write!(f, "not ({part})"),
            Self::Not(part) => write!(f, "not {part}"),
        }
    }
}

/// Reads a predicate up to its closing bracket.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Predicate, QueryError> {
    let mut parts = Vec::new();
    loop {
        match parse_and(cursor)? {
            Predicate::Or(inner) => parts.extend(inner),
            part => parts.push(part),
        }
        if !cursor.eat_or(false) {
            return Ok(one_or(parts, Predicate::Or));
        }
    }
}

fn parse_and(cursor: &mut Cursor<'_>) -> Result<Predicate, QueryError> {
    let mut parts = vec![parse_part(cursor)?];
    while cursor.eat_and() {
        parts.push(parse_part(cursor)?);
    }
    Ok(Predicate::all(parts))
}

fn parse_part(cursor: &mut Cursor<'_>) -> Result<Predicate, QueryError> {
    if cursor.eat_not() {
        cursor.enter()?;
        let part = parse_part(cursor)?;
        cursor.leave();
        return Ok(Predicate::Not(Box::new(part)));
    }
    cursor.skip_blanks();
    let from = cursor.at();
    if cursor.eat("(") {
        cursor.enter()?;
        let inner = parse(cursor)?;
        cursor.close(")", from)?;
        cursor.leave();
        return Ok(inner);
    }
    if cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        return Err(cursor
            .fail(QueryErrorKind::Syntax, "a comparison begins with a metric or an attribute")
            .with_hint("write `cputime:sum (i) > 5%`, the number on the right"));
    }
    let word = cursor.peek_word();
    let after = cursor.rest().get(word.len()..).and_then(|rest| rest.chars().next());
    let is_whole = !after.is_some_and(super::metrics::is_name_char);
    if is_whole {
        cursor.move_to(from + word.len());
        match word.to_ascii_lowercase().as_str() {
            "leaf" => return Ok(Predicate::Leaf),
            "name" => return parse_text(cursor, TextAttribute::Name),
            "file" => return parse_text(cursor, TextAttribute::File),
            "module" => return parse_text(cursor, TextAttribute::Module),
            "depth" => return parse_number(cursor, NumberAttribute::Depth),
            "children" => return parse_number(cursor, NumberAttribute::Children),
            "line" => return parse_number(cursor, NumberAttribute::Line),
            _ => cursor.move_to(from),
        }
    }
    let metric = parse_selector(cursor, MetricPosition::Comparison)?;
    parse_number(cursor, NumberAttribute::Metric(metric))
}

fn parse_number(
    cursor: &mut Cursor<'_>,
    attribute: NumberAttribute,
) -> Result<Predicate, QueryError> {
    let Some(op) = CompareOp::eat(cursor) else {
        let hint = if cursor.peek() == Some('~') {
            "`~` is for `name`, `file` and `module`"
        } else {
            "compare with >, >=, <, <=, == or !=: `cputime:sum (i) > 5%`"
        };
        let message = format!("expected a comparison of `{attribute}`, found {}", cursor.found());
        return Err(cursor.fail(QueryErrorKind::Syntax, message).with_hint(hint));
    };
    cursor.skip_blanks();
    let number = cursor.at();
    let value = signed(cursor)?;
    let unit = parse_unit(cursor, number)?;
    if unit != Unit::None && !matches!(attribute, NumberAttribute::Metric(_)) {
        return Err(cursor.fail_since(
            number,
            QueryErrorKind::BadUnit,
            format!("`{attribute}` is a plain number and has no unit"),
        ));
    }
    Ok(Predicate::Number { attribute, op, threshold: Threshold { value, unit } })
}

/// Reads a decimal number with an optional sign, fraction and exponent.
pub(super) fn signed(cursor: &mut Cursor<'_>) -> Result<f64, QueryError> {
    let from = cursor.at();
    if !cursor.eat("-") {
        cursor.eat("+");
    }
    let is_digit = |c: char| c.is_ascii_digit();
    cursor.skip_while(is_digit);
    // `1..2` is a window, not a fraction.
    if cursor.peek() == Some('.') && !cursor.rest().starts_with("..") {
        cursor.bump();
        cursor.skip_while(is_digit);
    }
    let mut exponent = cursor.rest().chars();
    if matches!(exponent.next(), Some('e' | 'E')) {
        let sign = exponent.clone().next().filter(|c| matches!(c, '+' | '-'));
        if sign.is_some() {
            exponent.next();
        }
        if exponent.next().is_some_and(|c| c.is_ascii_digit()) {
            cursor.bump();
            if sign.is_some() {
                cursor.bump();
            }
            cursor.skip_while(is_digit);
        }
    }
    let text = cursor.since(from);
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => {
            let message = format!("`{text}` is too large a number");
            Err(cursor.fail_since(from, QueryErrorKind::BadNumber, message))
        }
        Err(_) => {
            cursor.move_to(from);
            let message = format!("expected a number, found {}", cursor.found());
            Err(cursor.fail(QueryErrorKind::BadNumber, message))
        }
    }
}

/// Reads the unit of the number that began at byte `number`; blanks may stand before it.
pub(super) fn parse_unit(cursor: &mut Cursor<'_>, number: usize) -> Result<Unit, QueryError> {
    if cursor.eat_after_blanks("%") {
        return Ok(Unit::Percent);
    }
    let before = cursor.at();
    cursor.skip_blanks();
    let from = cursor.at();
    let word = cursor.peek_word();
    if word.is_empty() || ["and", "or"].iter().any(|join| word.eq_ignore_ascii_case(join)) {
        cursor.move_to(before);
        return Ok(Unit::None);
    }
    cursor.move_to(from + word.len());
    Unit::of_word(word).ok_or_else(|| {
        let text = cursor.since(number);
        let hint = match word {
            "m" => "is it `ms`, `min` or `M` (a million)?",
            _ => "the units are %, ns, us, ms, s, min, h, k, M, G, T, Ki, Mi, Gi, Ti",
        };
        cursor
            .fail_since(from, QueryErrorKind::BadUnit, format!("unknown unit `{word}` in `{text}`"))
            .with_hint(hint)
    })
}

/// Reads the operator and the pattern of a text.
fn parse_text(cursor: &mut Cursor<'_>, attribute: TextAttribute) -> Result<Predicate, QueryError> {
    cursor.skip_blanks();
    let ops = [
        ("!~", true, false),
        ("~", false, false),
        ("!=", true, true),
        ("==", false, true),
        ("=", false, true),
    ];
    let Some((negated, exact)) =
        ops.into_iter().find_map(|(op, negated, exact)| cursor.eat(op).then_some((negated, exact)))
    else {
        let word = attribute.word();
        let message = format!("expected a comparison of `{word}`, found {}", cursor.found());
        return Err(cursor
            .fail(QueryErrorKind::Syntax, message)
            .with_hint(format!("match with ~ or !~, compare with == or !=: `{word} ~ MPI_*`")));
    };
    cursor.skip_blanks();
    let from = cursor.at();
    let text = if let Some(text) = cursor.quoted()? {
        text
    } else if cursor.peek() == Some('/') && !exact {
        let pattern = NameMatch::Regex(cursor.regex()?);
        return Ok(Predicate::Text { attribute, negated, pattern });
    } else {
        cursor.skip_while(|c| !c.is_whitespace() && !"[](),|&\"'".contains(c));
        cursor.since(from).to_owned()
    };
    if cursor.at() == from {
        let message = format!("expected a text to match, found {}", cursor.found());
        return Err(cursor
            .fail(QueryErrorKind::Syntax, message)
            .with_hint("put a text with blanks or brackets in quotes"));
    }
    let pattern = if exact { NameMatch::Exact(text) } else { NameMatch::Glob(Glob::new(&text)) };
    Ok(Predicate::Text { attribute, negated, pattern })
}
