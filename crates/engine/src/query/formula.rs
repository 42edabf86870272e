//! Formulas of derived metrics: `=100 * $cputime / @cputime`.
//!
//! A formula is read into steps of a stack machine, so that neither reading back nor evaluating
//! recurses, whatever its length. `docs/query-language.md` is the reference.

use std::fmt;

use parallax_base::Unit;

use super::metrics::MetricSelector;

/// A formula over metrics.
///
/// **Undefined values.** A step whose result is not a finite number (a division by zero, the
/// logarithm of zero, the root of a negative number, an overflow) is undefined, and so is every
/// step that uses it: the result is NaN, which tables show as null.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    pub(super) steps: Vec<Step>,
    pub(super) references: Vec<MetricReference>,
}

/// What a formula names: a metric where it is evaluated, or over the whole execution.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MetricReference {
    /// The metric, with its aggregation and scope where they are written.
    pub metric: MetricSelector,
    /// Written with `@`: the value of the whole execution, not of the context.
    pub is_whole: bool,
}

/// One step of evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// Puts a number on the stack; finite and not negative.
    Number(f64),
    /// Puts the value of a reference on the stack.
    Metric(usize),
    /// Negates the top of the stack.
    Negate,
    /// Takes two from the stack, the right one first.
    Binary(Operator),
    /// Takes this many from the stack.
    Call(Function, usize),
}

/// What stands between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// What can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Avg,
    Sum,
    Sqrt,
    Abs,
    Log,
    Log2,
    Exp,
}

impl Function {
    pub(super) const ALL: [Self; 9] = [
        Self::Min,
        Self::Max,
        Self::Avg,
        Self::Sum,
        Self::Sqrt,
        Self::Abs,
        Self::Log,
        Self::Log2,
        Self::Exp,
    ];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
            Self::Avg => "avg",
            Self::Sum => "sum",
            Self::Sqrt => "sqrt",
            Self::Abs => "abs",
            Self::Log => "log",
            Self::Log2 => "log2",
            Self::Exp => "exp",
        }
    }

    /// Whether it takes any number of arguments, not exactly one.
    pub(super) const fn takes_many(self) -> bool {
        matches!(self, Self::Min | Self::Max | Self::Avg | Self::Sum)
    }

    fn apply(self, arguments: &[f64]) -> f64 {
        // The minimum and maximum of the standard library pass over NaN.
        if arguments.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        let first = arguments.first().copied().unwrap_or(f64::NAN);
        match self {
            Self::Min => arguments.iter().copied().fold(first, f64::min),
            Self::Max => arguments.iter().copied().fold(first, f64::max),
            Self::Sum => arguments.iter().sum(),
            Self::Avg => arguments.iter().sum::<f64>() / arguments.len() as f64,
            Self::Sqrt => first.sqrt(),
            Self::Abs => first.abs(),
            Self::Log => first.ln(),
            Self::Log2 => first.log2(),
            Self::Exp => first.exp(),
        }
    }
}

impl Operator {
    const fn symbol(self) -> &'static str {
        match self {
            Self::Add => " + ",
            Self::Subtract => " - ",
            Self::Multiply => " * ",
            Self::Divide => " / ",
            Self::Power => "^",
        }
    }

    fn apply(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            // 1 to the power of NaN is 1 in floating point, but undefined here.
            Self::Power if left.is_nan() || right.is_nan() => f64::NAN,
            Self::Power => left.powf(right),
        }
    }

    fn unit(self, left: Unit, right: Unit) -> Unit {
        let is_plain = |unit: &Unit| matches!(unit, Unit::Ratio | Unit::Count);
        match self {
            Self::Add | Self::Subtract if left == right => left,
            Self::Multiply | Self::Divide if is_plain(&right) => left,
            Self::Multiply if is_plain(&left) => right,
            Self::Divide if left == right => Unit::Ratio,
            Self::Divide => {
                let left = if is_plain(&left) { "1".to_owned() } else { left.to_string() };
                Unit::Other(format!("{left}/{right}"))
            }
            _ => Unit::Ratio,
        }
    }
}

impl Formula {
    /// The distinct references, in the order in which they are first written.
    #[must_use]
    pub fn references(&self) -> &[MetricReference] {
        &self.references
    }

    /// The result where reference number i has the value `value(i)`; NaN where it is undefined.
    /// `stack` is room for intermediate results, to be used again.
    pub fn evaluate(&self, stack: &mut Vec<f64>, value: impl Fn(usize) -> f64) -> f64 {
        stack.clear();
        for step in &self.steps {
            let result = match *step {
                Step::Number(number) => number,
                Step::Metric(reference) => value(reference),
                Step::Negate => -pop(stack),
                Step::Binary(operator) => {
                    let right = pop(stack);
                    operator.apply(pop(stack), right)
                }
                Step::Call(function, count) => {
                    let from = stack.len().saturating_sub(count);
                    let result = function.apply(stack.get(from..).unwrap_or_default());
                    stack.truncate(from);
                    result
                }
            };
            stack.push(if result.is_finite() { result } else { f64::NAN });
        }
        pop(stack)
    }

    /// The unit of the result where reference number i has the unit `unit(i)`: that of the
    /// operands of sums and differences, `B/s` for quotients, none where the operands tell none.
    pub fn unit(&self, unit: impl Fn(usize) -> Unit) -> Unit {
        let mut stack: Vec<Unit> = Vec::new();
        for step in &self.steps {
            let mut pop = || stack.pop().unwrap_or(Unit::Ratio);
            let result = match *step {
                Step::Number(_) => Unit::Ratio,
                Step::Metric(reference) => unit(reference),
                Step::Negate => pop(),
                Step::Binary(operator) => {
                    let right = pop();
                    operator.unit(pop(), right)
                }
                Step::Call(function, count) => {
                    let from = stack.len().saturating_sub(count);
                    let arguments = stack.split_off(from);
                    let first = arguments.first().cloned().unwrap_or(Unit::Ratio);
                    let is_kept = function.takes_many() || function == Function::Abs;
                    let is_same = arguments.iter().all(|unit| *unit == first);
                    if is_kept && is_same { first } else { Unit::Ratio }
                }
            };
            stack.push(result);
        }
        stack.pop().unwrap_or(Unit::Ratio)
    }
}

fn pop(stack: &mut Vec<f64>) -> f64 {
    stack.pop().unwrap_or(f64::NAN)
}

/// How tightly the outermost part of a printed formula binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Sum,
    Product,
    Negation,
    Power,
    Atom,
}

/// `text`, in parentheses where it binds less tightly than its place needs.
fn wrapped((text, binding): (String, Binding), least: Binding) -> String {
    if binding < least { format!("({text})") } else { text }
}

impl fmt::Display for Formula {
    /// The canonical form, with the `=` that tells formulas from names of metrics.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack: Vec<(String, Binding)> = Vec::new();
        for step in &self.steps {
            let mut pop = || stack.pop().unwrap_or((String::new(), Binding::Atom));
            let result = match *step {
                Step::Number(number) => (number.to_string(), Binding::Atom),
                Step::Metric(reference) => {
                    let reference = self.references.get(reference);
                    (reference.map(ToString::to_string).unwrap_or_default(), Binding::Atom)
                }
                Step::Negate => {
                    (format!("-{}", wrapped(pop(), Binding::Negation)), Binding::Negation)
                }
                Step::Binary(operator) => {
                    let (binding, left, right) = match operator {
                        Operator::Add | Operator::Subtract => {
                            (Binding::Sum, Binding::Sum, Binding::Product)
                        }
                        Operator::Multiply | Operator::Divide => {
                            (Binding::Product, Binding::Product, Binding::Negation)
                        }
                        Operator::Power => (Binding::Power, Binding::Atom, Binding::Negation),
                    };
                    let right = wrapped(pop(), right);
                    // Appended in place: a long sum must not be copied at every step.
                    let mut text = wrapped(pop(), left);
                    text.push_str(operator.symbol());
                    text.push_str(&right);
                    (text, binding)
                }
                Step::Call(function, count) => {
                    let from = stack.len().saturating_sub(count);
                    let arguments: Vec<String> =
                        stack.split_off(from).into_iter().map(|(text, _)| text).collect();
                    (format!("{}({})", function.word(), arguments.join(", ")), Binding::Atom)
                }
            };
            stack.push(result);
        }
        write!(f, "={}", stack.pop().unwrap_or((String::new(), Binding::Atom)).0)
    }
}

impl fmt::Display for MetricReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sigil = if self.is_whole { '@' } else { '$' };
        let text = self.metric.to_string();
        if bare_len(&text) == text.len() {
            write!(f, "{sigil}{text}")
        } else {
            write!(f, "{sigil}{{{text}}}")
        }
    }
}

/// How many bytes at the beginning of `text` may stand after `$` without braces: a letter or `_`,
/// then letters, digits and `_`; also `:` and `.` where one of these follows, as in
/// `perf::cycles`.
pub(super) fn bare_len(text: &str) -> usize {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if !text.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return 0;
    }
    // Separators count only when a word follows.
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if is_word(c) {
            end = at + c.len_utf8();
        } else if !matches!(c, ':' | '.') {
            break;
        }
    }
    end
}
