//! Profile expressions: which profiles (locations) of an experiment.

use std::fmt;

use parallax_model::IdentityKind;

use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};
use super::near::did_you_mean;
use super::range::{RangeList, parse_list};

const EXAMPLE: &str = "rank(0-9).thread(0)";

/// Which profiles.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ProfileExpr {
    /// `*`: every profile, the summary too.
    All,
    /// `summary`: the profile that sums up all others.
    Summary,
    /// `rank(0-9)`: the profiles whose identity has the field, with one of the values.
    Field {
        /// The field of the identity.
        field: IdentityKind,
        /// The accepted values; `None` where having the field is enough.
        values: Option<RangeList>,
    },
    /// `profile(3,7-9)`: by index in the database's table of profiles, where 0 is the summary.
    Index(RangeList),
    /// `a.b`: the profiles that all parts choose. At least two parts, none of them `And`.
    And(Vec<ProfileExpr>),
    /// `a | b`: the profiles that any part chooses. At least two parts, none of them `Or`.
    Or(Vec<ProfileExpr>),
    /// `!a`: every profile but the chosen ones and the summary.
    Not(Box<ProfileExpr>),
}

impl ProfileExpr {
    /// Whether it is joined from several.
    fn is_list(&self) -> bool {
        matches!(self, Self::And(_) | Self::Or(_))
    }
}

/// Writes `parts` with `between`, in parentheses where the part needs them.
pub(super) fn print_joined<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    parts: &[T],
    between: &str,
    needs_parentheses: impl Fn(&T) -> bool,
) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        f.write_str(if at > 0 { between } else { "" })?;
        if needs_parentheses(part) {
            write!(f, "({part})")?;
        } else {
            write!(f, "{part}")?;
        }
    }
    Ok(())
}

impl fmt::Display for ProfileExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Summary => f.write_str("summary"),
            Self::Field { field, values: None } => f.write_str(field.name()),
            Self::Field { field, values: Some(values) } => {
                write!(f, "{}(", field.name())?;
                // Host ids are long numbers that tools show in hexadecimal.
                values.print(f, (*field == IdentityKind::Node).then_some(1 << 16))?;
                write!(f, ")")
            }
            Self::Index(values) => write!(f, "profile({values})"),
            Self::And(parts) => print_joined(f, parts, ".", Self::is_list),
            Self::Or(parts) => print_joined(f, parts, " | ", |part| matches!(part, Self::Or(_))),
            Self::Not(part) if part.is_list() => write!(f, "!({part})"),
            Self::Not(part) => write!(f, "!{part}"),
        }
    }
}

/// Reads a profile expression. Fails with the place of the first mistake.
///
/// ```
/// use parallax_engine::query::parse_profiles;
/// let chosen = parse_profiles("rank(0-3, 8).thread(0) | !rank").unwrap();
/// assert_eq!(chosen.to_string(), "rank(0-3,8).thread(0) | !rank");
/// ```
pub fn parse_profiles(expression: &str) -> Result<ProfileExpr, QueryError> {
    let mut cursor = Cursor::start(expression, "the profile expression", EXAMPLE)?;
    let parsed = parse_or(&mut cursor)?;
    cursor.finish("`.`, `|`")?;
    Ok(parsed)
}

fn parse_or(cursor: &mut Cursor<'_>) -> Result<ProfileExpr, QueryError> {
    let mut parts = Vec::new();
    loop {
        match parse_and(cursor)? {
            ProfileExpr::Or(inner) => parts.extend(inner),
            part => parts.push(part),
        }
        if !cursor.eat_or(true) {
            return Ok(one_or(parts, ProfileExpr::Or));
        }
    }
}

fn parse_and(cursor: &mut Cursor<'_>) -> Result<ProfileExpr, QueryError> {
    let mut parts = Vec::new();
    loop {
        match parse_part(cursor)? {
            ProfileExpr::And(inner) => parts.extend(inner),
            part => parts.push(part),
        }
        if !cursor.eat_after_blanks(".") && !cursor.eat_and() {
            return Ok(one_or(parts, ProfileExpr::And));
        }
    }
}

/// The only part, or all of them under `join`.
pub(super) fn one_or<T>(mut parts: Vec<T>, join: impl Fn(Vec<T>) -> T) -> T {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            join(parts)
        }
    }
}

fn parse_part(cursor: &mut Cursor<'_>) -> Result<ProfileExpr, QueryError> {
    cursor.skip_blanks();
    let from = cursor.at();
    if cursor.eat_not() {
        cursor.enter()?;
        let part = parse_part(cursor)?;
        cursor.leave();
        return Ok(ProfileExpr::Not(Box::new(part)));
    }
    if cursor.eat("(") {
        cursor.enter()?;
        let inner = parse_or(cursor)?;
        cursor.close(")", from)?;
        cursor.leave();
        return Ok(inner);
    }
    if cursor.eat("*") {
        return Ok(ProfileExpr::All);
    }
    let word = cursor.peek_word();
    if word.is_empty() {
        let message = format!("expected a field such as `rank(0-9)`, found {}", cursor.found());
        return Err(cursor.fail(QueryErrorKind::Syntax, message));
    }
    cursor.move_to(from + word.len());
    let known = word.to_ascii_lowercase();
    if known == "summary" {
        return Ok(ProfileExpr::Summary);
    }
    if known == "profile" {
        let values = parse_values(cursor, "a profile index")?;
        return values.map(ProfileExpr::Index).ok_or_else(|| {
            cursor
                .fail_since(from, QueryErrorKind::Syntax, "`profile` needs the indices of profiles")
                .with_hint("write `profile(3,7-9)`, or `*` for every profile")
        });
    }
    if let Some(field) = IdentityKind::ALL.into_iter().find(|field| field.name() == known) {
        let values = parse_values(cursor, "a number")?;
        return Ok(ProfileExpr::Field { field, values });
    }
    let fields = IdentityKind::ALL.map(IdentityKind::name);
    let words = fields.iter().copied().chain(["summary", "profile"]);
    let hint = if ["function", "loop", "line", "instruction"].contains(&known.as_str()) {
        "this looks like a context expression; it belongs in the other argument".to_owned()
    } else {
        did_you_mean(word, words).unwrap_or_else(|| {
            format!("the fields are {}; also `summary`, `profile(…)` and `*`", fields.join(", "))
        })
    };
    let message = format!("there is no field `{word}` in a profile expression");
    Err(cursor.fail_since(from, QueryErrorKind::UnknownWord, message).with_hint(hint))
}

/// Reads the ranges in parentheses; `None` for no parentheses and for `(*)`.
fn parse_values(cursor: &mut Cursor<'_>, what: &str) -> Result<Option<RangeList>, QueryError> {
    cursor.skip_blanks();
    let opened = cursor.at();
    if !cursor.eat("(") {
        cursor.move_to(opened);
        return Ok(None);
    }
    if cursor.eat_after_blanks("*") {
        cursor.close(")", opened)?;
        return Ok(None);
    }
    cursor.skip_blanks();
    if cursor.peek() == Some(')') {
        return Err(cursor
            .fail(QueryErrorKind::Syntax, format!("expected {what}, found `)`"))
            .with_hint("a field without parentheses means every profile that has it"));
    }
    let values = parse_list(cursor, what)?;
    cursor.close(")", opened)?;
    Ok(Some(values))
}
