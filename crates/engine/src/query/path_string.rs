//! Hatchet's string dialect: `MATCH ("*", p)->(".", q) WHERE p."name" = "main" AND q IS LEAF`.
//!
//! As in Hatchet, a condition belongs to the one step whose variable it names, and the conditions
//! of a step are joined from left to right: whatever joins the first condition of a step to the
//! conditions of others has no effect. Parentheses around conditions of one step are an addition.

use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};
use super::near::did_you_mean;
use super::path::{
    Join, PathCondition, PathPattern, PathStep, PathTest, PathValue, Quantifier, parse_quantifier,
    regex_at_start,
};
use super::path_object::parse_column;
use super::predicate::{CompareOp, signed};

/// The variables of a pattern and the steps they name.
struct Variables<'a>(Vec<(&'a str, usize)>);

/// Reads a pattern from its `MATCH` to the end of its conditions.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<PathPattern, QueryError> {
    cursor.eat_word("match");
    let mut steps = Vec::new();
    let mut variables = Variables(Vec::new());
    loop {
        parse_step(cursor, &mut steps, &mut variables)?;
        if !cursor.eat_after_blanks("->") {
            break;
        }
    }
    variables.0.sort_unstable();
    if cursor.eat_word("where") {
        let mut join = Join::And;
        loop {
            let (step, next) = parse_factor(cursor, &variables)?;
            if let Some(step) = steps.get_mut(step) {
                let before = std::mem::replace(&mut step.condition, PathCondition::Always);
                step.condition = match before {
                    PathCondition::Always => next,
                    before => before.join(join, next),
                };
            }
            match Join::eat(cursor) {
                Some(found) => join = found,
                None => break,
            }
        }
    }
    Ok(PathPattern { steps })
}

/// Reads `("*", p)`, `("*")`, `(p)` or `()`.
fn parse_step<'a>(
    cursor: &mut Cursor<'a>,
    steps: &mut Vec<PathStep>,
    variables: &mut Variables<'a>,
) -> Result<(), QueryError> {
    cursor.skip_blanks();
    let opened = cursor.at();
    if !cursor.eat("(") {
        let message = format!("expected a step such as `(\"*\", p)`, found {}", cursor.found());
        return Err(cursor.fail(QueryErrorKind::Syntax, message));
    }
    let quantifier = parse_quantifier(cursor)?;
    if quantifier.is_none() || cursor.eat_after_blanks(",") {
        cursor.skip_blanks();
        let from = cursor.at();
        let name = cursor.peek_word();
        cursor.move_to(from + name.len());
        if name.is_empty() && quantifier.is_some() {
            let message = format!("expected a variable, found {}", cursor.found());
            return Err(cursor.fail(QueryErrorKind::Syntax, message));
        }
        if !name.is_empty() {
            variables.0.push((name, steps.len()));
        }
    }
    cursor.close(")", opened)?;
    let quantifier = quantifier.unwrap_or(Quantifier::One);
    steps.push(PathStep { quantifier, condition: PathCondition::Always });
    Ok(())
}

/// Reads `NOT factor`, `(condition AND …)` or one test; gives the step that it belongs to.
fn parse_factor(
    cursor: &mut Cursor<'_>,
    variables: &Variables<'_>,
) -> Result<(usize, PathCondition), QueryError> {
    if cursor.eat_word("not") {
        cursor.enter()?;
        let (step, inner) = parse_factor(cursor, variables)?;
        cursor.leave();
        return Ok((step, PathCondition::Not(Box::new(inner))));
    }
    cursor.skip_blanks();
    let opened = cursor.at();
    if !cursor.eat("(") {
        return parse_test(cursor, variables);
    }
    cursor.enter()?;
    let (step, mut condition) = parse_factor(cursor, variables)?;
    while let Some(join) = Join::eat(cursor) {
        cursor.skip_blanks();
        let from = cursor.at();
        let (other, next) = parse_factor(cursor, variables)?;
        if other != step {
            let message = "conditions within parentheses must be on one variable";
            let error = cursor.fail_since(from, QueryErrorKind::Syntax, message);
            return Err(error.with_hint(
                "every step has its own conditions; join whole patterns with {MATCH …} OR {MATCH …}",
            ));
        }
        condition = condition.join(join, next);
    }
    cursor.close(")", opened)?;
    cursor.leave();
    Ok((step, condition))
}

/// Reads `p."column" test` or `p IS [NOT] LEAF`.
fn parse_test(
    cursor: &mut Cursor<'_>,
    variables: &Variables<'_>,
) -> Result<(usize, PathCondition), QueryError> {
    let from = cursor.at();
    let name = cursor.peek_word();
    if name.is_empty() {
        let message = format!("expected a condition, found {}", cursor.found());
        let error = cursor.fail(QueryErrorKind::Syntax, message);
        return Err(error.with_hint("write `p.\"name\" = \"main\"`"));
    }
    cursor.move_to(from + name.len());
    let Variables(known) = variables;
    let step = match known.partition_point(|(known, _)| *known < name) {
        at if known.get(at).is_some_and(|(known, _)| *known == name) => known.get(at),
        _ => None,
    };
    let Some((_, step)) = step.copied() else {
        let message = format!("there is no variable `{name}` in this pattern");
        let error = cursor.fail_since(from, QueryErrorKind::UnknownWord, message);
        return Err(match did_you_mean(name, known.iter().map(|(name, _)| *name)) {
            Some(hint) => error.with_hint(hint),
            None => error.with_hint(format!("name the step, `(\".\", {name})`")),
        });
    };
    if cursor.eat_word("is") {
        let negated = cursor.eat_word("not");
        if !cursor.eat_word("leaf") {
            cursor.skip_blanks();
            return Err(cursor
                .fail(QueryErrorKind::Syntax, format!("expected `LEAF`, found {}", cursor.found()))
                .with_hint(format!("`IS NONE` and the like need a column: `{name}.\"time\"`")));
        }
        return Ok((step, negate(negated, PathCondition::Leaf)));
    }
    if !cursor.eat_after_blanks(".") {
        cursor.skip_blanks();
        let message = format!("expected `.\"column\"` or `IS LEAF`, found {}", cursor.found());
        return Err(cursor.fail(QueryErrorKind::Syntax, message));
    }
    let column = parse_column(cursor)?;
    let (negated, test) = parse_column_test(cursor)?;
    Ok((step, negate(negated, PathCondition::Column { column, test })))
}

fn negate(negated: bool, condition: PathCondition) -> PathCondition {
    if negated { PathCondition::Not(Box::new(condition)) } else { condition }
}

/// Reads the operator and what it compares with; gives whether the test is negated.
fn parse_column_test(cursor: &mut Cursor<'_>) -> Result<(bool, PathTest), QueryError> {
    if cursor.eat_word("is") {
        let negated = cursor.eat_word("not");
        let tests =
            [("none", PathTest::IsNone), ("nan", PathTest::IsNan), ("inf", PathTest::IsInf)];
        for (word, test) in tests {
            if cursor.eat_word(word) {
                return Ok((negated, test));
            }
        }
        cursor.skip_blanks();
        let message = format!("expected `NONE`, `NAN` or `INF`, found {}", cursor.found());
        let error = cursor.fail(QueryErrorKind::Syntax, message);
        return Err(error.with_hint("`IS LEAF` is asked of a step, not of a column"));
    }
    if cursor.eat_after_blanks("=~") {
        let (from, text) = expect_text(cursor)?;
        return Ok((false, regex_at_start(cursor, from, &text)?));
    }
    for (first, make) in
        [("starts", PathTest::StartsWith as fn(String) -> PathTest), ("ends", PathTest::EndsWith)]
    {
        if cursor.eat_word(first) {
            if !cursor.eat_word("with") {
                cursor.skip_blanks();
                let message = format!("expected `WITH`, found {}", cursor.found());
                return Err(cursor.fail(QueryErrorKind::Syntax, message));
            }
            return Ok((false, make(expect_text(cursor)?.1)));
        }
    }
    if cursor.eat_word("contains") {
        return Ok((false, PathTest::Contains(expect_text(cursor)?.1)));
    }
    let Some(op) = CompareOp::eat(cursor) else {
        let message = format!("expected a comparison, found {}", cursor.found());
        return Err(cursor.fail(QueryErrorKind::Syntax, message).with_hint(
            "the comparisons are =, !=, <, <=, >, >=, =~, STARTS WITH, ENDS WITH, CONTAINS, IS",
        ));
    };
    cursor.skip_blanks();
    let from = cursor.at();
    match (op, cursor.quoted()?) {
        (CompareOp::Equal, Some(text)) => Ok((false, PathTest::Equals(PathValue::Text(text)))),
        (CompareOp::NotEqual, Some(text)) => Ok((true, PathTest::Equals(PathValue::Text(text)))),
        (_, Some(_)) => Err(cursor
            .fail_since(from, QueryErrorKind::Syntax, "expected a number, found a text")
            .with_hint("texts are compared with =, !=, =~, STARTS WITH, ENDS WITH, CONTAINS")),
        (CompareOp::Equal, None) => {
            Ok((false, PathTest::Equals(PathValue::Number(signed(cursor)?))))
        }
        (op, None) => Ok((false, PathTest::Compare(op, signed(cursor)?))),
    }
}

/// Reads a quoted text; gives where it begins.
fn expect_text(cursor: &mut Cursor<'_>) -> Result<(usize, String), QueryError> {
    cursor.skip_blanks();
    let from = cursor.at();
    match cursor.quoted()? {
        Some(text) => Ok((from, text)),
        None => {
            let message = format!("expected a text in quotes, found {}", cursor.found());
            Err(cursor.fail(QueryErrorKind::Syntax, message))
        }
    }
}
