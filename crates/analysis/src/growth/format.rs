//! Models as text, in the notations that Extra-P offers.

use super::function::{Factor, Function, Sum, Term};

/// A notation for functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// `2.8 + 0.48 * p^(5/4) * log2(p)^(1)`.
    #[default]
    Plain,
    /// `2.8+0.48*p**(5/4)*log2(p)**(1)`, an expression that Python evaluates.
    Python,
    /// `2.8+0.48\cdot p^{5/4}\cdot \log_2{p}^{1}`.
    Latex,
}

impl Function {
    /// The function as text with these parameter names; a parameter without a name becomes `x1`,
    /// `x2` and so on. A coefficient of 1 and a constant of 0 are left out.
    #[must_use]
    pub fn format(&self, names: &[&str], style: Style) -> String {
        let name = |parameter: usize| {
            names.get(parameter).map_or_else(|| format!("x{}", parameter + 1), |&name| name.into())
        };
        match self {
            Self::Sum(sum) => of_sum(sum, &name, style),
            Self::Segmented { below, below_end, above, above_start } => {
                let (low, high) = (of_sum(below, &name, style), of_sum(above, &name, style));
                let p = name(0);
                match style {
                    Style::Plain => {
                        format!("{{{low} for {p}<={below_end}; {high} for {p}>={above_start}}}")
                    }
                    Style::Python => format!(
                        "(({low}) if {p}<={below_end} else ({high}) if {p}>={above_start} else \
                         math.nan)"
                    ),
                    Style::Latex => format!(
                        "\\begin{{cases}}{low} & {p}\\le {below_end}\\\\{high} & {p}\\ge \
                         {above_start}\\end{{cases}}"
                    ),
                }
            }
        }
    }
}

fn of_sum(sum: &Sum, name: &dyn Fn(usize) -> String, style: Style) -> String {
    let mut text = String::new();
    if sum.constant != 0.0 || sum.terms.is_empty() {
        text = number(sum.constant, style);
    }
    for term in &sum.terms {
        let term = of_term(term, name, style);
        if !text.is_empty() {
            match style {
                Style::Plain => text.push_str(" + "),
                // A minus sign of the term already joins both.
                Style::Python | Style::Latex if term.starts_with('-') => {}
                Style::Python | Style::Latex => text.push('+'),
            }
        }
        text.push_str(&term);
    }
    text
}

fn of_term(term: &Term, name: &dyn Fn(usize) -> String, style: Style) -> String {
    let mut parts = Vec::new();
    if term.coefficient != 1.0 || term.factors.is_empty() {
        parts.push(number(term.coefficient, style));
    }
    for Factor { parameter, polynomial, logarithm } in &term.factors {
        let p = name(*parameter);
        if !polynomial.is_zero() {
            parts.push(match style {
                Style::Plain => format!("{p}^({polynomial})"),
                Style::Python => format!("{p}**({polynomial})"),
                Style::Latex => format!("{p}^{{{polynomial}}}"),
            });
        }
        if !logarithm.is_zero() {
            parts.push(match style {
                Style::Plain => format!("log2({p})^({logarithm})"),
                Style::Python => format!("log2({p})**({logarithm})"),
                Style::Latex => format!("\\log_2{{{p}}}^{{{logarithm}}}"),
            });
        }
    }
    parts.join(match style {
        Style::Plain => " * ",
        Style::Python => "*",
        Style::Latex => "\\cdot ",
    })
}

/// The shortest digits that give the same number back.
fn number(value: f64, style: Style) -> String {
    let text = format!("{value:?}");
    match (style, text.split_once('e')) {
        (Style::Latex, Some((digits, power))) => format!("{digits}\\times10^{{{power}}}"),
        _ => text,
    }
}
