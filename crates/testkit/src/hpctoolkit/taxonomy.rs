//! metrics/default.yaml: how the columns of a viewer are made from the summary statistics.

use std::fmt::Write;

use super::database::{Database, Scope, Statistic};

/// The text of the file, in the form that writers since 2022 give it.
pub(crate) fn default_yaml(database: &Database) -> String {
    let mut inputs = String::new();
    let mut roots = String::new();
    let scopes: Vec<Scope> = [Scope::Execution, Scope::LexAware, Scope::Function]
        .into_iter()
        .filter(|scope| database.scopes.contains(scope))
        .collect();
    for metric in &database.metrics {
        for scope in &scopes {
            for &statistic in &metric.statistics {
                let anchor = anchor(&metric.name, statistic, *scope);
                let combine = combine(statistic);
                let _ = write!(
                    inputs,
                    "  - &{anchor}\n    metric: {}\n    scope: {}\n    formula: {}\n    combine: {combine}\n",
                    quoted(&metric.name),
                    scope.name(),
                    statistic.formula(),
                );
            }
        }
        let name = quoted(&metric.name);
        let _ = write!(roots, "  - name: {name}\n    description: {name}\n    variants:\n");
        let variants: [(&str, &str, &[Statistic]); 6] = [
            ("Sum", "[number, percent]", &[Statistic::Sum]),
            ("Mean", "[number]", &[Statistic::Sum, Statistic::Count]),
            ("StdDev", "[number]", &[Statistic::SumOfSquares, Statistic::Sum, Statistic::Count]),
            ("CfVar", "[number]", &[Statistic::SumOfSquares, Statistic::Sum, Statistic::Count]),
            ("Min", "[number]", &[Statistic::Min]),
            ("Max", "[number]", &[Statistic::Max]),
        ];
        for (variant, render, needs) in variants {
            if needs.iter().any(|need| !metric.statistics.contains(need)) {
                continue;
            }
            let formula =
                |scope| formula(variant, &|s| format!("*{}", anchor(&metric.name, s, scope)));
            let _ = write!(roots, "      {variant}:\n        render: {render}\n        formula:\n");
            let _ = writeln!(roots, "          inclusive:");
            let _ = writeln!(roots, "            standard: {}", formula(Scope::Execution));
            let _ = writeln!(roots, "          exclusive:");
            if scopes.contains(&Scope::LexAware) {
                let _ = writeln!(roots, "            custom: {}", formula(Scope::LexAware));
            }
            let _ = writeln!(roots, "            standard: {}", formula(Scope::Function));
        }
    }
    for derived in &database.derived {
        let metric = |at: usize| database.metrics.get(at).map_or("", |metric| &metric.name);
        let quotient = |scope| {
            let input = |at| anchor(metric(at), Statistic::Sum, scope);
            let (above, below) = (input(derived.numerator), input(derived.denominator));
            format!("{{\"*\": [{}, {{/: [*{above}, *{below}]}}]}}", derived.factor)
        };
        let _ = write!(
            roots,
            "  - name: {}\n    description: {}\n    format: {}\n    variants:\n      \"\":\n        \
             render: [number]\n        formula:\n          inclusive:\n            standard: {}\n          \
             exclusive:\n            custom: {}\n            standard: {}\n",
            quoted(&derived.name),
            quoted(&derived.description),
            quoted(&derived.format),
            quotient(Scope::Execution),
            quotient(Scope::LexAware),
            quotient(Scope::Function),
        );
    }
    format!("version: 0\ninputs:\n{inputs}roots:\n{roots}")
}

fn formula(variant: &str, of: &dyn Fn(Statistic) -> String) -> String {
    let mean = || format!("{{/: [{}, {}]}}", of(Statistic::Sum), of(Statistic::Count));
    let deviation = || {
        let squares = of(Statistic::SumOfSquares);
        let count = of(Statistic::Count);
        format!("{{sqrt: [{{\"-\": [{{/: [{squares}, {count}]}}, {{^: [{}, 2]}}]}}]}}", mean())
    };
    match variant {
        "Mean" => mean(),
        "StdDev" => deviation(),
        "CfVar" => format!("{{/: [{}, {}]}}", deviation(), mean()),
        "Min" => of(Statistic::Min),
        "Max" => of(Statistic::Max),
        _ => of(Statistic::Sum),
    }
}

fn combine(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Count | Statistic::Sum | Statistic::SumOfSquares => "sum",
        Statistic::Min => "min",
        Statistic::Max => "max",
    }
}

/// The name of an input, with everything but letters, digits, `_` and `-` written as `x20_`.
fn anchor(metric: &str, statistic: Statistic, scope: Scope) -> String {
    let formula = match statistic {
        Statistic::Count => "1",
        Statistic::SumOfSquares => "x5b_0x0x5d_x20_x5e_x20_2",
        Statistic::Sum | Statistic::Min | Statistic::Max => "x5b_0x0x5d_",
    };
    let mut text = String::new();
    for byte in metric.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "x{byte:02x}_");
        }
    }
    format!("{text}-{}-{formula}-{}", combine(statistic), scope.name())
}

/// The text as a YAML scalar: plain where that is safe, in double quotes otherwise.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '(' | ')' | ' ' | ':');
    let is_safe = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(is_plain)
        && !text.contains(": ")
        && !text.ends_with([' ', ':']);
    if is_safe { text.to_owned() } else { format!("{text:?}") }
}
