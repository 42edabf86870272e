//! Hatchet's path patterns, the second notation of context expressions.

use std::fmt;

use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};
use super::name::{Quoted, RegexMatch};
use super::predicate::CompareOp;
use super::{path_object, path_string};

/// A query by path patterns. Its result is all contexts on all paths that match.
#[derive(Debug, Clone, PartialEq)]
pub enum PathQuery {
    /// One pattern.
    Pattern(PathPattern),
    /// `{…} AND {…}`: chosen by all parts. At least two, none of them `And`.
    And(Vec<PathQuery>),
    /// `{…} OR {…}`: chosen by any part. At least two, none of them `Or`.
    Or(Vec<PathQuery>),
    /// `{…} XOR {…}`: chosen by an odd number of parts. At least two, none of them `Xor`.
    Xor(Vec<PathQuery>),
    /// `NOT {…}`: every context but the chosen ones.
    Not(Box<PathQuery>),
}

/// A pattern for a path downwards through the tree: at least one step, each for the contexts
/// directly below those of the step before it. A path may begin at any context.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPattern {
    /// The steps from above to below.
    pub steps: Vec<PathStep>,
}

/// A run of contexts on a path, each the parent of the next.
#[derive(Debug, Clone, PartialEq)]
pub struct PathStep {
    /// How many contexts the run has.
    pub quantifier: Quantifier,
    /// What holds for each of them.
    pub condition: PathCondition,
}

/// How many contexts a step stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// `"."`: one.
    One,
    /// `"*"`: any number, none too.
    Any,
    /// `"+"`: at least one.
    Some,
    /// `2`: this many.
    Exactly(u64),
}

/// What holds for a context of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum PathCondition {
    /// Every context will do. Stands only as the whole condition of a step.
    Always,
    /// `IS LEAF`: the context has no children.
    Leaf,
    /// A test of one column.
    Column {
        /// The column.
        column: PathColumn,
        /// The test.
        test: PathTest,
    },
    /// All hold. At least two parts, none of them `And`.
    And(Vec<PathCondition>),
    /// Any holds. At least two parts, none of them `Or`.
    Or(Vec<PathCondition>),
    /// An odd number of the parts holds. At least two parts, none of them `Xor`.
    Xor(Vec<PathCondition>),
    /// The part does not hold.
    Not(Box<PathCondition>),
}

/// A column of Hatchet's tables: `name`, `type`, `file`, `line`, `module`, `depth`, `node_id`, or
/// a metric as Hatchet names it, `time (inc)` and `time`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathColumn {
    /// `"name"`
    Name(String),
    /// A column that is a number.
    Number(u64),
    /// `("time", "rank")`: a column of several levels.
    Tuple(Vec<String>),
}

/// A test of the value in a column.
#[derive(Debug, Clone, PartialEq)]
pub enum PathTest {
    /// `= "main"` or `= 5`.
    Equals(PathValue),
    /// `> 5`; the operator is never `Equal`, which is `Equals`.
    Compare(CompareOp, f64),
    /// `=~ "MPI_.*"`: the regular expression matches at the beginning of the text.
    Matches(RegexMatch),
    /// `STARTS WITH "MPI_"`
    StartsWith(String),
    /// `ENDS WITH ".c"`
    EndsWith(String),
    /// `CONTAINS "solve"`
    Contains(String),
    /// `IS NONE`: there is no value.
    IsNone,
    /// `IS NAN`: the value is not a number.
    IsNan,
    /// `IS INF`: the value is infinite.
    IsInf,
}

/// A value to compare with.
#[derive(Debug, Clone, PartialEq)]
pub enum PathValue {
    /// A text.
    Text(String),
    /// A finite number.
    Number(f64),
}

/// How two parts of a query or of a condition are joined, from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
    Xor,
}

impl Join {
    pub(super) fn eat(cursor: &mut Cursor<'_>) -> Option<Self> {
        [("and", Self::And), ("or", Self::Or), ("xor", Self::Xor)]
            .into_iter()
            .find_map(|(word, join)| cursor.eat_word(word).then_some(join))
    }
}

/// Gives a type with `And`, `Or` and `Xor` lists the method that joins two of its values.
macro_rules! impl_join {
    ($type:ty) => {
        impl $type {
            /// `self join next`, where parts of the same sort become one list.
            pub(super) fn join(self, join: Join, next: Self) -> Self {
                let open = |part| match (join, part) {
                    (Join::And, Self::And(inner))
                    | (Join::Or, Self::Or(inner))
                    | (Join::Xor, Self::Xor(inner)) => inner,
                    (_, part) => vec![part],
                };
                // The first list grows in place: a long chain takes linear time.
                let mut parts = open(self);
                parts.extend(open(next));
                match join {
                    Join::And => Self::And(parts),
                    Join::Or => Self::Or(parts),
                    Join::Xor => Self::Xor(parts),
                }
            }
        }
    };
}

impl_join!(PathQuery);
impl_join!(PathCondition);

impl PathCondition {
    fn is_simple(&self) -> bool {
        !matches!(self, Self::And(_) | Self::Or(_) | Self::Xor(_))
    }

    /// Writes the condition on the context called `variable`, in parentheses where it is a list
    /// and must be read as one part.
    fn print(&self, f: &mut fmt::Formatter<'_>, variable: &str, as_part: bool) -> fmt::Result {
        let (parts, between) = match self {
            Self::Always => return f.write_str("(always)"),
            Self::Leaf => return write!(f, "{variable} IS LEAF"),
            Self::Column { column, test } => return write!(f, "{variable}.{column} {test}"),
            Self::Not(part) => {
                f.write_str("NOT ")?;
                return part.print(f, variable, true);
            }
            Self::And(parts) => (parts, " AND "),
            Self::Or(parts) => (parts, " OR "),
            Self::Xor(parts) => (parts, " XOR "),
        };
        f.write_str(if as_part { "(" } else { "" })?;
        for (at, part) in parts.iter().enumerate() {
            f.write_str(if at > 0 { between } else { "" })?;
            part.print(f, variable, !part.is_simple())?;
        }
        f.write_str(if as_part { ")" } else { "" })
    }
}

impl fmt::Display for Quantifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("\".\""),
            Self::Any => f.write_str("\"*\""),
            Self::Some => f.write_str("\"+\""),
            Self::Exactly(number) => write!(f, "{number}"),
        }
    }
}

impl fmt::Display for PathColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{}", Quoted(name)),
            Self::Number(number) => write!(f, "{number}"),
            Self::Tuple(names) => {
                f.write_str("(")?;
                for (at, name) in names.iter().enumerate() {
                    write!(f, "{}{}", if at > 0 { ", " } else { "" }, Quoted(name))?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for PathTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equals(PathValue::Text(text)) => write!(f, "= {}", Quoted(text)),
            Self::Equals(PathValue::Number(number)) => write!(f, "= {number}"),
            Self::Compare(op, number) => write!(f, "{} {number}", op.symbol()),
            Self::Matches(regex) => write!(f, "=~ {}", Quoted(regex.pattern())),
            Self::StartsWith(text) => write!(f, "STARTS WITH {}", Quoted(text)),
            Self::EndsWith(text) => write!(f, "ENDS WITH {}", Quoted(text)),
            Self::Contains(text) => write!(f, "CONTAINS {}", Quoted(text)),
            Self::IsNone => f.write_str("IS NONE"),
            Self::IsNan => f.write_str("IS NAN"),
            Self::IsInf => f.write_str("IS INF"),
        }
    }
}

/// The string dialect, with the variables `n1`, `n2`, … where a step has a condition.
impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MATCH ")?;
        for (at, step) in self.steps.iter().enumerate() {
            write!(f, "{}({}", if at > 0 { "->" } else { "" }, step.quantifier)?;
            match step.condition {
                PathCondition::Always => f.write_str(")")?,
                _ => write!(f, ", n{})", at + 1)?,
            }
        }
        let mut between = " WHERE ";
        for (at, step) in self.steps.iter().enumerate() {
            if step.condition != PathCondition::Always {
                f.write_str(between)?;
                let as_part =
                    !matches!(step.condition, PathCondition::And(_)) && !step.condition.is_simple();
                step.condition.print(f, &format!("n{}", at + 1), as_part)?;
                between = " AND ";
            }
        }
        Ok(())
    }
}

impl fmt::Display for PathQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, between) = match self {
            Self::Pattern(pattern) => return write!(f, "{pattern}"),
            Self::Not(part) => return write!(f, "NOT {{{part}}}"),
            Self::And(parts) => (parts, " AND "),
            Self::Or(parts) => (parts, " OR "),
            Self::Xor(parts) => (parts, " XOR "),
        };
        for (at, part) in parts.iter().enumerate() {
            f.write_str(if at > 0 { between } else { "" })?;
            match part {
                Self::Not(_) => write!(f, "{part}")?,
                _ => write!(f, "{{{part}}}")?,
            }
        }
        Ok(())
    }
}

/// Whether a path query begins here: no other context expression begins like one.
pub(super) fn begins(cursor: &Cursor<'_>) -> bool {
    matches!(cursor.peek(), Some('[' | '{')) || is_word(cursor, "match") || {
        let mut after = cursor.clone();
        after.eat_word("not") && after.eat_after_blanks("{")
    }
}

fn is_word(cursor: &Cursor<'_>, word: &str) -> bool {
    cursor.peek_word().eq_ignore_ascii_case(word)
}

/// Reads a path query up to the end of the expression.
pub(super) fn parse_query(cursor: &mut Cursor<'_>) -> Result<PathQuery, QueryError> {
    let query = parse_part_list(cursor)?;
    cursor.finish("`AND`, `OR`, `XOR`")?;
    Ok(query)
}

/// Reads a pattern, or parts in braces with what joins them.
fn parse_part_list(cursor: &mut Cursor<'_>) -> Result<PathQuery, QueryError> {
    cursor.skip_blanks();
    if cursor.peek() == Some('[') {
        return path_object::parse(cursor).map(PathQuery::Pattern);
    }
    if is_word(cursor, "match") {
        return path_string::parse(cursor).map(PathQuery::Pattern);
    }
    let mut query = parse_part(cursor)?;
    while let Some(join) = Join::eat(cursor) {
        query = query.join(join, parse_part(cursor)?);
    }
    Ok(query)
}

/// Reads `{…}` or `NOT {…}`.
fn parse_part(cursor: &mut Cursor<'_>) -> Result<PathQuery, QueryError> {
    cursor.skip_blanks();
    let opened = cursor.at();
    if cursor.eat_word("not") {
        cursor.enter()?;
        let part = parse_part(cursor)?;
        cursor.leave();
        return Ok(PathQuery::Not(Box::new(part)));
    }
    if !cursor.eat("{") {
        let message = format!("expected a pattern in braces, found {}", cursor.found());
        return Err(cursor
            .fail(QueryErrorKind::Syntax, message)
            .with_hint("write `{MATCH …} AND {MATCH …}`"));
    }
    cursor.enter()?;
    let inner = parse_part_list(cursor)?;
    cursor.close("}", opened)?;
    cursor.leave();
    Ok(inner)
}

/// Reads a quantifier where one stands: `"."`, `"*"`, `"+"` or a number.
pub(super) fn parse_quantifier(cursor: &mut Cursor<'_>) -> Result<Option<Quantifier>, QueryError> {
    cursor.skip_blanks();
    let from = cursor.at();
    if cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        return cursor.unsigned("a number of contexts").map(|n| Some(Quantifier::Exactly(n)));
    }
    let Some(text) = cursor.quoted()? else { return Ok(None) };
    match text.as_str() {
        "." => Ok(Some(Quantifier::One)),
        "*" => Ok(Some(Quantifier::Any)),
        "+" => Ok(Some(Quantifier::Some)),
        _ => Err(cursor
            .fail_since(from, QueryErrorKind::Syntax, "this is no quantifier")
            .with_hint("the quantifiers are \".\" (one), \"*\", \"+\" and numbers")),
    }
}

/// Compiles the regular expression of the text that was read from byte `from` to here.
pub(super) fn regex_at_start(
    cursor: &Cursor<'_>,
    from: usize,
    pattern: &str,
) -> Result<PathTest, QueryError> {
    RegexMatch::at_start(pattern)
        .map(PathTest::Matches)
        .map_err(|error| cursor.fail_since(from, QueryErrorKind::BadPattern, error.to_string()))
}
