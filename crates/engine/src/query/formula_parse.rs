//! Reading formulas.
//!
//! ```text
//! formula = ["="] sum
//! sum     = product (("+" | "-") product)*
//! product = signed (("*" | "/") signed)*
//! signed  = "-" signed | power
//! power   = atom ["^" signed]
//! atom    = number | metric | function "(" sum ("," sum)* ")" | "(" sum ")"
//! metric  = ("$" | "@") (name | "{" metric expression "}" | "`" exact name "`")
//! ```

use super::cursor::Cursor;
use super::error::{QueryError, QueryErrorKind};
use super::formula::{Formula, Function, MetricReference, Operator, Step, bare_len};
use super::metrics::{MetricName, MetricPosition, MetricSelector, parse_selector};
use super::near::did_you_mean;

const EXAMPLE: &str = "=$cycles / $instructions";

/// Whether a text that stands where a metric is expected is a formula: it begins with `=`.
#[must_use]
pub fn is_formula(text: &str) -> bool {
    text.trim_start().starts_with('=')
}

/// Reads a formula, with or without the `=` before it. Fails with the place of the first mistake.
///
/// ```
/// use parallax_engine::query::parse_formula;
/// let formula = parse_formula("=100*$cputime/@cputime").unwrap();
/// assert_eq!(formula.to_string(), "=100 * $cputime / @cputime");
/// assert_eq!(formula.evaluate(&mut Vec::new(), |i| [3.0, 12.0][i]), 25.0);
/// ```
pub fn parse_formula(expression: &str) -> Result<Formula, QueryError> {
    let mut parser = Parser {
        cursor: Cursor::start(expression, "the formula", EXAMPLE)?,
        steps: Vec::new(),
        references: Vec::new(),
    };
    parser.cursor.eat("=");
    parser.sum()?;
    parser.cursor.finish("an operator")?;
    Ok(Formula { steps: parser.steps, references: parser.references })
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    steps: Vec<Step>,
    references: Vec<MetricReference>,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<(), QueryError> {
        self.product()?;
        loop {
            let operator = if self.cursor.eat_after_blanks("+") {
                Operator::Add
            } else if self.cursor.eat_after_blanks("-") {
                Operator::Subtract
            } else {
                return Ok(());
            };
            self.product()?;
            self.steps.push(Step::Binary(operator));
        }
    }

    fn product(&mut self) -> Result<(), QueryError> {
        self.signed()?;
        loop {
            let operator = if self.cursor.eat_after_blanks("*") {
                Operator::Multiply
            } else if self.cursor.eat_after_blanks("/") {
                Operator::Divide
            } else {
                return Ok(());
            };
            self.signed()?;
            self.steps.push(Step::Binary(operator));
        }
    }

    fn signed(&mut self) -> Result<(), QueryError> {
        if !self.cursor.eat_after_blanks("-") {
            return self.power();
        }
        self.cursor.enter()?;
        self.signed()?;
        self.cursor.leave();
        self.steps.push(Step::Negate);
        Ok(())
    }

    fn power(&mut self) -> Result<(), QueryError> {
        self.atom()?;
        if self.cursor.eat_after_blanks("^") {
            self.cursor.enter()?;
            self.signed()?;
            self.cursor.leave();
            self.steps.push(Step::Binary(Operator::Power));
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), QueryError> {
        self.cursor.skip_blanks();
        let from = self.cursor.at();
        match self.cursor.peek() {
            Some('(') => {
                self.cursor.bump();
                self.cursor.enter()?;
                self.sum()?;
                self.cursor.leave();
                self.cursor.close(")", from)
            }
            Some('$' | '@') => self.metric(),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.call(),
            _ => {
                let message = format!(
                    "expected a number, a metric such as `$cputime` or a function, found {}",
                    self.cursor.found()
                );
                Err(self.cursor.fail(QueryErrorKind::Syntax, message))
            }
        }
    }

    fn number(&mut self) -> Result<(), QueryError> {
        let from = self.cursor.at();
        let is_digit = |c: char| c.is_ascii_digit();
        self.cursor.skip_while(is_digit);
        if self.cursor.eat(".") {
            self.cursor.skip_while(is_digit);
        }
        let before_exponent = self.cursor.at();
        if self.cursor.eat("e") || self.cursor.eat("E") {
            let _ = self.cursor.eat("-") || self.cursor.eat("+");
            let digits = self.cursor.at();
            self.cursor.skip_while(is_digit);
            if self.cursor.at() == digits {
                self.cursor.move_to(before_exponent);
            }
        }
        let text = self.cursor.since(from);
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                self.steps.push(Step::Number(number));
                Ok(())
            }
            Ok(_) => {
                let message = format!("`{text}` is larger than any number that can be computed");
                Err(self.cursor.fail_since(from, QueryErrorKind::BadNumber, message))
            }
            Err(_) => {
                let message = format!("`{text}` is not a number");
                Err(self.cursor.fail_since(from, QueryErrorKind::BadNumber, message))
            }
        }
    }

    fn call(&mut self) -> Result<(), QueryError> {
        let from = self.cursor.at();
        let word = self.cursor.peek_word();
        self.cursor.move_to(from + word.len());
        let known = Function::ALL.into_iter().find(|f| f.word().eq_ignore_ascii_case(word));
        let opened = {
            self.cursor.skip_blanks();
            self.cursor.at()
        };
        let Some(function) = known else {
            let is_called = self.cursor.peek() == Some('(');
            self.cursor.move_to(from + word.len());
            let words = Function::ALL.map(Function::word);
            let (message, hint) = if is_called {
                let hint = did_you_mean(word, words.into_iter())
                    .unwrap_or_else(|| format!("the functions are {}", words.join(", ")));
                (format!("there is no function `{word}`"), hint)
            } else {
                let hint = format!("a metric begins with `$`: `${word}`");
                (format!("`{word}` is neither a metric nor a function"), hint)
            };
            let error = self.cursor.fail_since(from, QueryErrorKind::UnknownWord, message);
            return Err(error.with_hint(hint));
        };
        if !self.cursor.eat("(") {
            let message = format!("expected `(` after `{word}`, found {}", self.cursor.found());
            return Err(self.cursor.fail(QueryErrorKind::Syntax, message));
        }
        self.cursor.enter()?;
        let mut count = 1;
        self.sum()?;
        while self.cursor.eat_after_blanks(",") {
            if !function.takes_many() {
                let message = format!("`{}` takes one argument", function.word());
                return Err(self.cursor.fail_since(from, QueryErrorKind::Syntax, message));
            }
            self.sum()?;
            count += 1;
        }
        self.cursor.leave();
        self.cursor.close(")", opened)?;
        self.steps.push(Step::Call(function, count));
        Ok(())
    }

    fn metric(&mut self) -> Result<(), QueryError> {
        let from = self.cursor.at();
        let is_whole = self.cursor.bump() == Some('@');
        let opened = self.cursor.at();
        let metric = match self.cursor.peek() {
            Some('{') => {
                self.cursor.bump();
                let metric = parse_selector(&mut self.cursor, MetricPosition::Expression)?;
                self.cursor.close("}", opened)?;
                metric
            }
            Some('`') => self.exact_name()?,
            _ => {
                let end = opened + bare_len(self.cursor.rest());
                if end == opened {
                    let message =
                        format!("expected the name of a metric, found {}", self.cursor.found());
                    return Err(self
                        .cursor
                        .fail(QueryErrorKind::Syntax, message)
                        .with_hint("write `$cputime`, or `${perf::task-clock}` in braces"));
                }
                let mut name = self.cursor.within(opened, end);
                let metric = parse_selector(&mut name, MetricPosition::Expression)?;
                name.finish("")?;
                self.cursor.move_to(end);
                metric
            }
        };
        if matches!(metric.name, MetricName::All | MetricName::Gpu) {
            let message = "a formula computes with one metric at a time, and this names several";
            return Err(self.cursor.fail_since(from, QueryErrorKind::Syntax, message));
        }
        let reference = MetricReference { metric, is_whole };
        let known = self.references.iter().position(|other| *other == reference);
        let number = known.unwrap_or_else(|| {
            self.references.push(reference);
            self.references.len() - 1
        });
        self.steps.push(Step::Metric(number));
        Ok(())
    }

    fn exact_name(&mut self) -> Result<MetricSelector, QueryError> {
        let opened = self.cursor.at();
        self.cursor.bump();
        let from = self.cursor.at();
        self.cursor.skip_while(|c| c != '`');
        let name = self.cursor.since(from).to_owned();
        if !self.cursor.eat("`") {
            self.cursor.move_to(opened + 1);
            let message = "this backquote is never closed";
            return Err(self.cursor.fail_since(opened, QueryErrorKind::Syntax, message));
        }
        Ok(MetricSelector {
            name: MetricName::Exact(name),
            aggregations: Vec::new(),
            scopes: Vec::new(),
        })
    }
}
