//! Hatchet's object dialect: `["*", {"name": "MPI_.*", "time (inc)": "> 5"}]`, as Python or JSON.

use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};
use super::path::{
    Join, PathColumn, PathCondition, PathPattern, PathStep, PathTest, PathValue, Quantifier,
    parse_quantifier, regex_at_start,
};
use super::predicate::{CompareOp, signed};

/// Reads a pattern from its `[` to its `]`.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<PathPattern, QueryError> {
    let opened = cursor.at();
    cursor.eat("[");
    let mut steps = Vec::new();
    loop {
        if !steps.is_empty() && cursor.eat_after_blanks("]") {
            break;
        }
        steps.push(parse_item(cursor)?);
        if !cursor.eat_after_blanks(",") {
            cursor.close("]", opened)?;
            break;
        }
    }
    Ok(PathPattern { steps })
}

/// Reads `quantifier`, `{…}`, `(quantifier, {…})` or `[quantifier, {…}]`.
fn parse_item(cursor: &mut Cursor<'_>) -> Result<PathStep, QueryError> {
    cursor.skip_blanks();
    let opened = cursor.at();
    let close = match cursor.peek() {
        Some('(') => ")",
        Some('[') => "]",
        Some('{') => {
            let condition = parse_conditions(cursor)?;
            return Ok(PathStep { quantifier: Quantifier::One, condition });
        }
        _ => {
            let quantifier = expect_quantifier(cursor)?;
            return Ok(PathStep { quantifier, condition: PathCondition::Always });
        }
    };
    cursor.bump();
    let quantifier = expect_quantifier(cursor)?;
    let mut condition = PathCondition::Always;
    if cursor.eat_after_blanks(",") {
        cursor.skip_blanks();
        if cursor.peek() == Some('{') {
            condition = parse_conditions(cursor)?;
            cursor.eat_after_blanks(",");
        }
    }
    cursor.close(close, opened)?;
    Ok(PathStep { quantifier, condition })
}

fn expect_quantifier(cursor: &mut Cursor<'_>) -> Result<Quantifier, QueryError> {
    parse_quantifier(cursor)?.ok_or_else(|| {
        let message = format!("expected a quantifier or `{{…}}`, found {}", cursor.found());
        let error = cursor.fail(QueryErrorKind::Syntax, message);
        error.with_hint("write `[\"*\", {\"name\": \"MPI_.*\"}]`; Python functions cannot be used")
    })
}

/// Reads `{column: value, …}`: all must hold.
fn parse_conditions(cursor: &mut Cursor<'_>) -> Result<PathCondition, QueryError> {
    let opened = cursor.at();
    cursor.eat("{");
    let mut all = PathCondition::Always;
    loop {
        if cursor.eat_after_blanks("}") {
            return Ok(all);
        }
        let column = parse_column(cursor)?;
        if !cursor.eat_after_blanks(":") {
            cursor.skip_blanks();
            let message = format!("expected `:` and a value, found {}", cursor.found());
            return Err(cursor.fail(QueryErrorKind::Syntax, message));
        }
        cursor.skip_blanks();
        let list = cursor.at();
        if cursor.eat("[") {
            loop {
                let test = parse_value(cursor)?;
                all = and(all, &column, test);
                if !cursor.eat_after_blanks(",") {
                    break;
                }
            }
            cursor.close("]", list)?;
        } else {
            let test = parse_value(cursor)?;
            all = and(all, &column, test);
        }
        if !cursor.eat_after_blanks(",") {
            cursor.close("}", opened)?;
            return Ok(all);
        }
    }
}

fn and(all: PathCondition, column: &PathColumn, test: PathTest) -> PathCondition {
    let next = PathCondition::Column { column: column.clone(), test };
    match all {
        PathCondition::Always => next,
        all => all.join(Join::And, next),
    }
}

/// Reads `"name"`, a number or `("time", "rank")`.
pub(super) fn parse_column(cursor: &mut Cursor<'_>) -> Result<PathColumn, QueryError> {
    cursor.skip_blanks();
    if let Some(name) = cursor.quoted()? {
        return Ok(PathColumn::Name(name));
    }
    let opened = cursor.at();
    if cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
        return cursor.unsigned("a column").map(PathColumn::Number);
    }
    let mut names = Vec::new();
    if cursor.eat("(") {
        loop {
            cursor.skip_blanks();
            match cursor.quoted()? {
                Some(name) => names.push(name),
                None => break,
            }
            if !cursor.eat_after_blanks(",") {
                cursor.close(")", opened)?;
                return Ok(PathColumn::Tuple(names));
            }
        }
    }
    let message = format!("expected a column in quotes, found {}", cursor.found());
    let error = cursor.fail(QueryErrorKind::Syntax, message);
    Err(error.with_hint("columns are \"name\", \"depth\", \"time (inc)\", …"))
}

/// Reads a number, a comparison in quotes or a regular expression in quotes.
fn parse_value(cursor: &mut Cursor<'_>) -> Result<PathTest, QueryError> {
    cursor.skip_blanks();
    let from = cursor.at();
    if let Some(text) = cursor.quoted()? {
        return match comparison(&text) {
            Some((CompareOp::Equal, number)) => Ok(PathTest::Equals(PathValue::Number(number))),
            Some((op, number)) => Ok(PathTest::Compare(op, number)),
            None => regex_at_start(cursor, from, &text),
        };
    }
    match cursor.peek() {
        Some(c) if c.is_ascii_digit() || "+-.".contains(c) => {
            signed(cursor).map(|number| PathTest::Equals(PathValue::Number(number)))
        }
        _ => {
            let message = format!("expected a text or a number, found {}", cursor.found());
            let error = cursor.fail(QueryErrorKind::Syntax, message);
            Err(error.with_hint(
                "write a regular expression, a comparison such as \"> 5\", a \
                                 number, or a list of them; Python functions cannot be used",
            ))
        }
    }
}

/// The comparison that a text such as `> 5` holds.
fn comparison(text: &str) -> Option<(CompareOp, f64)> {
    let mut cursor = Cursor::over(text);
    let op = CompareOp::eat(&mut cursor)?;
    cursor.skip_blanks();
    let number = signed(&mut cursor).ok()?;
    cursor.skip_blanks();
    cursor.is_at_end().then_some((op, number))
}
