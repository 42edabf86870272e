//! Formulas: what is read, how it is evaluated, and how mistakes are shown.

use proptest::prelude::*;
use proptest::sample::select;

use parallax_base::Unit;

use super::super::{QueryErrorKind, is_formula, parse_formula};
use super::FORMULA;

/// A formula as a tree, evaluated directly: the oracle.
#[derive(Debug, Clone)]
enum Tree {
    Number(f64),
    Metric(usize),
    Negate(Box<Tree>),
    Binary(char, Box<Tree>, Box<Tree>),
    Call(&'static str, Vec<Tree>),
}

const METRICS: [&str; 4] = ["$cycles", "@cycles", "${perf::task-clock (i)}", "$`IO Bytes`"];

impl Tree {
    /// With parentheses around everything, so that nothing depends on precedence.
    fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Metric(metric) => METRICS[*metric].to_owned(),
            Self::Negate(tree) => format!("(-{})", tree.text()),
            Self::Binary(operator, left, right) => {
                format!("({}{operator}{})", left.text(), right.text())
            }
            Self::Call(function, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(Self::text).collect();
                format!("{function}({})", arguments.join(","))
            }
        }
    }

    fn value(&self, metrics: &[f64; 4]) -> Option<f64> {
        let result = match self {
            Self::Number(number) => *number,
            Self::Metric(metric) => metrics[*metric],
            Self::Negate(tree) => -tree.value(metrics)?,
            Self::Binary(operator, left, right) => {
                let (left, right) = (left.value(metrics)?, right.value(metrics)?);
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    '/' => left / right,
                    _ => left.powf(right),
                }
            }
            Self::Call(function, arguments) => {
                let values: Option<Vec<f64>> =
                    arguments.iter().map(|argument| argument.value(metrics)).collect();
                let values = values?;
                let sum: f64 = values.iter().sum();
                match *function {
                    "min" => values.iter().copied().reduce(f64::min)?,
                    "max" => values.iter().copied().reduce(f64::max)?,
                    "sum" => sum,
                    "avg" => sum / values.len() as f64,
                    "sqrt" => values[0].sqrt(),
                    "abs" => values[0].abs(),
                    "log" => values[0].ln(),
                    "log2" => values[0].log2(),
                    _ => values[0].exp(),
                }
            }
        };
        result.is_finite().then_some(result)
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (0..METRICS.len()).prop_map(Tree::Metric),
        prop_oneof![0.0..10.0, Just(0.0), Just(1.0), Just(2.0), 0.0..1e9].prop_map(Tree::Number),
    ];
    leaf.prop_recursive(6, 48, 4, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed().prop_map(Tree::Negate),
            (select(vec!['+', '-', '*', '/', '^']), boxed(), boxed())
                .prop_map(|(operator, left, right)| Tree::Binary(operator, left, right)),
            (
                select(vec!["min", "max", "sum", "avg"]),
                proptest::collection::vec(inner.clone(), 1..4)
            )
                .prop_map(|(function, arguments)| Tree::Call(function, arguments)),
            (select(vec!["sqrt", "abs", "log", "log2", "exp"]), inner)
                .prop_map(|(function, argument)| Tree::Call(function, vec![argument])),
        ]
    })
}

proptest! {
    #[test]
    fn a_formula_has_the_value_of_its_tree(
        tree in tree(),
        values in proptest::array::uniform4(prop_oneof![Just(0.0), -5.0..5.0, 0.0..1e6]),
    ) {
        let formula = parse_formula(&tree.text()).unwrap();
        let order: Vec<usize> = formula
            .references()
            .iter()
            .map(|reference| {
                let text = reference.to_string();
                METRICS.iter().position(|metric| *metric == text).unwrap_or(3)
            })
            .collect();
        let found = formula.evaluate(&mut Vec::new(), |i| values[order[i]]);
        let expected = tree.value(&values);
        prop_assert_eq!((!found.is_nan()).then_some(found), expected, "{}", tree.text());
        // Fewer parentheses mean the same.
        let printed = formula.to_string();
        prop_assert_eq!(parse_formula(&printed), Ok(formula), "{}", printed);
    }

    #[test]
    fn every_text_is_a_formula_or_a_mistake_with_a_place(
        text in "[$@{}`a-z0-9()+*/^,.: =-]{0,24}",
    ) {
        if let Err(error) = parse_formula(&text) {
            prop_assert!(error.column <= text.chars().count() + 1, "{:?}", error);
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

fn value(text: &str) -> f64 {
    parse_formula(text).unwrap().evaluate(&mut Vec::new(), |_| 0.0)
}

#[test]
fn precedence_is_that_of_mathematics() {
    assert_eq!(value("1 + 2 * 3"), 7.0);
    assert_eq!(value("8 / 4 / 2"), 1.0);
    assert_eq!(value("10 - 4 - 3"), 3.0);
    assert_eq!(value("2^3^2"), 512.0);
    assert_eq!(value("-2^2"), -4.0);
    assert_eq!(value("2^-1 * 4"), 2.0);
    assert_eq!(value("2 * -3"), -6.0);
    assert_eq!(value("1.5e2 + .5 + 2.e0"), 152.5);
    assert_eq!(value("=max(1, min(5, 3), 2) + avg(1, 2) + sum(1, 2)"), 7.5);
    assert_eq!(value("sqrt(9) + abs(-1) + log2(8) + log(exp(2))"), 9.0);
}

#[test]
fn what_is_undefined_stays_undefined() {
    let undefined = ["1/0", "0/0", "sqrt(-1)", "log(0)", "1/0*0", "(0/0)^0", "1^(0/0)", "exp(1e9)"];
    for text in undefined.into_iter().chain(["min(1, 0/0)", "max(0/0, 1)", "abs(1/0)"]) {
        assert!(value(text).is_nan(), "{text}");
    }
}

#[test]
fn formulas_print_their_canonical_form() {
    let same = |text: &str| assert_eq!(FORMULA(text).as_deref(), Ok(text));
    same("=$cycles / $instructions");
    same("=100 * $cputime / @cputime");
    same("=$perf::cycles - ${perf::task-clock}");
    same("=${cputime:sum (i)}^2");
    same("=($a + $b) * ($a - $b)");
    same("=$a - ($b - $c)");
    same("=(-$a)^2 + -$a^2");
    same("=${\"IO Bytes Read\"}");
    assert_eq!(FORMULA("$`IO Bytes Read`").as_deref(), Ok("=${\"IO Bytes Read\"}"));
    assert_eq!(FORMULA("(( $A ))/((2))").as_deref(), Ok("=$a / 2"));
    assert!(is_formula("  =$a") && !is_formula("cputime") && !is_formula(""));
}

#[test]
fn mistakes_show_their_place_and_what_to_write() {
    let bad = |text: &str, kind, column, said: &str| {
        let error = parse_formula(text).unwrap_err();
        assert_eq!((error.kind, error.column), (kind, column), "{text}: {error}");
        assert!(error.to_string().contains(said), "{error}");
    };
    bad("", QueryErrorKind::Empty, 1, "write for example `=$cycles / $instructions`");
    bad("=", QueryErrorKind::Syntax, 2, "found the end");
    bad("=$a +", QueryErrorKind::Syntax, 6, "found the end");
    bad("=cputime / 2", QueryErrorKind::UnknownWord, 2, "a metric begins with `$`: `$cputime`");
    bad("=sqr($a)", QueryErrorKind::UnknownWord, 2, "did you mean `sqrt`?");
    bad("=sqrt($a, $b)", QueryErrorKind::Syntax, 2, "takes one argument");
    bad("=max $a", QueryErrorKind::Syntax, 6, "expected `(` after `max`");
    bad("=($a + 1", QueryErrorKind::Syntax, 2, "never closed");
    bad("=$a + 1)", QueryErrorKind::Syntax, 8, "one `)` more");
    bad("=$a $b", QueryErrorKind::Syntax, 5, "expected an operator or the end");
    bad("=$perf::task-clock $x", QueryErrorKind::UnknownWord, 14, "`$clock`");
    bad("=$ a", QueryErrorKind::Syntax, 3, "in braces");
    bad("=$5", QueryErrorKind::Syntax, 3, "in braces");
    bad("=${a", QueryErrorKind::Syntax, 3, "this `{` is never closed");
    bad("=$`a", QueryErrorKind::Syntax, 3, "this backquote is never closed");
    bad("=${*} / 2", QueryErrorKind::Syntax, 2, "names several");
    bad("=${a (x)}", QueryErrorKind::UnknownWord, 7, "there is no scope `x`");
}

#[test]
fn depth_is_limited_and_length_costs_linear_time() {
    let deep = format!("{}1{}", "(".repeat(100), ")".repeat(100));
    for text in [deep, "-".repeat(100) + "1", "2^".repeat(100) + "2"] {
        assert_eq!(parse_formula(&text).unwrap_err().kind, QueryErrorKind::TooDeep);
    }
    let long = format!("=1{}", "+1".repeat(200_000));
    let formula = parse_formula(&long).unwrap();
    assert_eq!(formula.evaluate(&mut Vec::new(), |_| 0.0), 200_001.0);
    assert_eq!(parse_formula(&formula.to_string()), Ok(formula));
}

#[test]
fn units_follow_the_formula() {
    let unit = |text: &str| {
        let formula = parse_formula(text).unwrap();
        let is_bytes = |i: usize| formula.references()[i].to_string().ends_with("bytes");
        formula.unit(|i| if is_bytes(i) { Unit::Bytes } else { Unit::Seconds }).to_string()
    };
    assert_eq!(unit("$bytes / $time"), "B/s");
    assert_eq!(unit("$bytes * 2 + max(0 * $bytes, $bytes)"), "B");
    assert_eq!(unit("100 * $bytes / @bytes"), "");
    assert_eq!(unit("$bytes + $time"), "");
    assert_eq!(unit("1 / $bytes"), "1/B");
}
