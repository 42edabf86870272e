//! Formulas: their tree, and the two ways in which files write them.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::yaml::{Content, Document, NodeId};

/// A formula over the inputs of a taxonomy.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A constant.
    Number(f64),
    /// The statistic at this position of [`super::Taxonomy::inputs`].
    Input(usize),
    /// An operation on other expressions.
    Apply {
        /// Which.
        operation: Operation,
        /// On what; as many as the operation takes.
        arguments: Vec<Expression>,
    },
}

/// What is done with the arguments of an [`Expression`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Sum of one or more.
    Add,
    /// The first minus all others; of two or more.
    Subtract,
    /// Product of one or more.
    Multiply,
    /// The first divided by all others; of two or more.
    Divide,
    /// The first to the power of the second.
    Power,
    /// The negative of one.
    Negate,
    /// The square root of one.
    SquareRoot,
    /// The logarithm of the first to the base of the second.
    Logarithm,
    /// The natural logarithm of one.
    NaturalLogarithm,
    /// The smallest of one or more.
    Minimum,
    /// The largest of one or more.
    Maximum,
    /// The largest integer that is not larger than one.
    Floor,
    /// The smallest integer that is not smaller than one.
    Ceiling,
    /// The largest integer that is smaller than one.
    StrictFloor,
    /// The smallest integer that is larger than one.
    StrictCeiling,
}

impl Operation {
    /// The operation that files call `name`, for `count` arguments.
    fn named(name: &str, count: usize) -> Option<Self> {
        let (operation, least, most) = match name.trim() {
            "-" if count == 1 => (Self::Negate, 1, 1),
            "+" | "sum" => (Self::Add, 1, usize::MAX),
            "-" => (Self::Subtract, 2, usize::MAX),
            "*" | "prod" => (Self::Multiply, 1, usize::MAX),
            "/" => (Self::Divide, 2, usize::MAX),
            "^" | "pow" => (Self::Power, 2, 2),
            "sqrt" => (Self::SquareRoot, 1, 1),
            "log" if count == 1 => (Self::NaturalLogarithm, 1, 1),
            "log" => (Self::Logarithm, 2, 2),
            "ln" => (Self::NaturalLogarithm, 1, 1),
            "min" => (Self::Minimum, 1, usize::MAX),
            "max" => (Self::Maximum, 1, usize::MAX),
            "floor" => (Self::Floor, 1, 1),
            "ceil" => (Self::Ceiling, 1, 1),
            "strict floor" => (Self::StrictFloor, 1, 1),
            "strict ceil" => (Self::StrictCeiling, 1, 1),
            _ => return None,
        };
        (least..=most).contains(&count).then_some(operation)
    }
}

/// Deepest nesting of a formula.
const MAX_DEPTH: u32 = 64;

/// Why a formula was not understood.
pub(super) struct Misread {
    pub(super) line: usize,
    pub(super) what: String,
}

/// Reads formulas of one document.
pub(super) struct Formulas<'d, 't> {
    pub(super) document: &'d Document<'t>,
    /// The position of the input that a node describes.
    pub(super) input_of: &'d dyn Fn(NodeId) -> Option<usize>,
    /// Nodes that may still be visited: an alias may be used many times within what many aliases
    /// stand for.
    pub(super) fuel: &'d mut u64,
}

/// A part of an infix formula.
enum Token {
    Operator(char),
    Operand(Measured),
}

/// An expression with its height, which is bounded: whoever walks an expression may recurse.
pub(super) struct Measured {
    pub(super) expression: Expression,
    height: u32,
}

impl Measured {
    const fn leaf(expression: Expression) -> Self {
        Self { expression, height: 0 }
    }

    /// `None` when the result would be too high.
    fn apply(operation: Operation, arguments: Vec<Self>) -> Option<Self> {
        let height = 1 + arguments.iter().map(|a| a.height).max().unwrap_or(0);
        let arguments = arguments.into_iter().map(|a| a.expression).collect();
        let expression = Expression::Apply { operation, arguments };
        (height <= MAX_DEPTH).then_some(Self { expression, height })
    }
}

impl Formulas<'_, '_> {
    fn misread<T>(&self, node: NodeId, what: impl Into<String>) -> Result<T, Misread> {
        Err(Misread { line: self.document.line(node), what: what.into() })
    }

    fn pay(&mut self, node: NodeId) -> Result<(), Misread> {
        match self.fuel.checked_sub(1) {
            Some(rest) => {
                *self.fuel = rest;
                Ok(())
            }
            None => self.misread(node, "the aliases of the file stand for too much"),
        }
    }

    /// The formula that `node` writes: a number, an input, a list with operators between its
    /// operands, or a mapping from an operation to its arguments.
    pub(super) fn read(&mut self, node: NodeId, depth: u32) -> Result<Measured, Misread> {
        if depth > MAX_DEPTH {
            return self.misread(node, "the formula is nested too deeply");
        }
        self.pay(node)?;
        if let Some(input) = (self.input_of)(node) {
            return Ok(Measured::leaf(Expression::Input(input)));
        }
        match self.document.content(node) {
            Some(Content::Scalar(text)) => {
                let mut tokens = Vec::new();
                self.tokens(node, text, &mut tokens)?;
                self.infix(node, tokens)
            }
            Some(Content::Sequence(items)) => {
                let mut tokens = Vec::new();
                for &item in items {
                    // Operators and numbers may share a text with others: `4*`.
                    match self.document.text(item) {
                        Some(text) => self.tokens(item, text, &mut tokens)?,
                        None => tokens.push(Token::Operand(self.read(item, depth + 1)?)),
                    }
                }
                self.infix(node, tokens)
            }
            Some(Content::Mapping(pairs)) => {
                let &[(name, arguments)] = pairs.as_slice() else {
                    return self.misread(node, "a call is a mapping with one pair");
                };
                let name = self.document.text(name).unwrap_or_default();
                let items = self.document.items(arguments);
                let Some(operation) = Operation::named(name, items.len()) else {
                    let count = items.len();
                    return self.misread(node, format!("`{name}` of {count} arguments is unknown"));
                };
                let mut arguments = Vec::new();
                for &item in items {
                    arguments.push(self.read(item, depth + 1)?);
                }
                let applied = Measured::apply(operation, arguments);
                applied.map_or_else(|| self.misread(node, "the formula is nested too deeply"), Ok)
            }
            None => self.misread(node, "a formula is missing"),
        }
    }

    fn tokens(&mut self, node: NodeId, text: &str, out: &mut Vec<Token>) -> Result<(), Misread> {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            self.pay(node)?;
            if matches!(first, '+' | '-' | '*' | '/' | '^') {
                out.push(Token::Operator(first));
                rest = rest.get(1..).unwrap_or_default();
            } else {
                let (number, tail) = rest.split_at_checked(number_len(rest)).unwrap_or((rest, ""));
                let Ok(number) = number.parse() else {
                    return self.misread(node, format!("`{text}` is not part of a formula"));
                };
                out.push(Token::Operand(Measured::leaf(Expression::Number(number))));
                rest = tail;
            }
            rest = rest.trim_start();
        }
        Ok(())
    }

    fn infix(&self, node: NodeId, tokens: Vec<Token>) -> Result<Measured, Misread> {
        let mut tokens = tokens.into_iter().peekable();
        let parsed = binary(&mut tokens, 0, 0).filter(|_| tokens.peek().is_none());
        parsed.map_or_else(
            || self.misread(node, "the formula is not complete or nested too deeply"),
            Ok,
        )
    }
}

/// Length of the number at the start of `text`, without a sign; 0 when there is none.
fn number_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count()
    };
    let mantissa = digits(0);
    let has_exponent = mantissa > 0 && matches!(bytes.get(mantissa), Some(b'e' | b'E'));
    if !has_exponent {
        return mantissa;
    }
    let sign = usize::from(matches!(bytes.get(mantissa + 1), Some(b'+' | b'-')));
    let end = digits(mantissa + 1 + sign);
    if end > mantissa + 1 + sign { end } else { mantissa }
}

/// The operation of an infix operator, and how tightly it binds.
const fn operator(symbol: char) -> Option<(Operation, u32)> {
    match symbol {
        '+' => Some((Operation::Add, 1)),
        '-' => Some((Operation::Subtract, 1)),
        '*' => Some((Operation::Multiply, 2)),
        '/' => Some((Operation::Divide, 2)),
        '^' => Some((Operation::Power, 4)),
        _ => None,
    }
}

/// A sign binds tighter than a product and less than a power.
const SIGN: u32 = 3;

/// The expression at the start of `tokens`, up to an operator that binds less than `least`.
/// `None` when there is none or it is too deep.
fn binary(tokens: &mut Peekable<IntoIter<Token>>, least: u32, depth: u32) -> Option<Measured> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut left = match tokens.next()? {
        Token::Operand(operand) => operand,
        Token::Operator('+') => binary(tokens, SIGN, depth + 1)?,
        Token::Operator('-') => match binary(tokens, SIGN, depth + 1)? {
            Measured { expression: Expression::Number(number), .. } => {
                Measured::leaf(Expression::Number(-number))
            }
            operand => Measured::apply(Operation::Negate, vec![operand])?,
        },
        Token::Operator(_) => return None,
    };
    while let Some(&Token::Operator(symbol)) = tokens.peek()
        && let Some((operation, strength)) = operator(symbol)
        && strength >= least
    {
        // Operands of equal operators are gathered, which keeps long sums flat.
        // A power is right-associative: what follows it belongs to its exponent.
        let mut operands = vec![left];
        let after = if operation == Operation::Power { strength } else { strength + 1 };
        while matches!(tokens.peek(), Some(&Token::Operator(same)) if same == symbol) {
            tokens.next();
            operands.push(binary(tokens, after, depth + 1)?);
        }
        left = Measured::apply(operation, operands)?;
    }
    Some(left)
}
