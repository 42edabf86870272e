//! `metrics/default.yaml`: real ones, all that the format documents, and broken ones.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

mod hpctoolkit;

use std::fmt::Write as _;

use hpctoolkit::{corpus, find, fixtures};
use parallax_base::Issues;
use parallax_formats::hpctoolkit::{
    ChildVariants, Combine, Expression, Formula, FormulaPair, Operation, Render, Taxonomy,
    TaxonomyNode,
};

fn parse(text: &str) -> (Taxonomy, Issues) {
    let mut issues = Issues::new();
    let taxonomy = Taxonomy::parse(text, &mut issues);
    (taxonomy, issues)
}

/// The value of a formula, with those of the inputs.
fn value(expression: &Expression, inputs: &[f64]) -> f64 {
    let (operation, arguments) = match expression {
        Expression::Number(number) => return *number,
        Expression::Input(input) => return inputs[*input],
        Expression::Apply { operation, arguments } => (operation, arguments),
    };
    let values: Vec<f64> = arguments.iter().map(|a| value(a, inputs)).collect();
    let fold = |f: fn(f64, f64) -> f64| values.iter().copied().reduce(f).unwrap();
    match operation {
        Operation::Add => fold(|a, b| a + b),
        Operation::Subtract => fold(|a, b| a - b),
        Operation::Multiply => fold(|a, b| a * b),
        Operation::Divide => fold(|a, b| a / b),
        Operation::Power => values[0].powf(values[1]),
        Operation::Negate => -values[0],
        Operation::SquareRoot => values[0].sqrt(),
        Operation::Logarithm => values[0].log(values[1]),
        Operation::NaturalLogarithm => values[0].ln(),
        Operation::Minimum => fold(f64::min),
        Operation::Maximum => fold(f64::max),
        Operation::Floor => values[0].floor(),
        Operation::Ceiling => values[0].ceil(),
        Operation::StrictFloor => values[0].ceil() - 1.0,
        Operation::StrictCeiling => values[0].floor() + 1.0,
    }
}

/// A taxonomy whose only formula is `formula`, with the inputs `a`, `b` and `c`.
fn with_formula(formula: &str) -> (Option<Expression>, Issues) {
    let inputs =
        ["a", "b", "c"].map(|name| format!("  - &{name} {{metric: {name}, scope: point}}\n"));
    let text = format!(
        "version: 0\ninputs:\n{}roots:\n  - name: m\n    variants:\n      Sum:\n        formula:\n          \
         inclusive:\n            standard: {formula}\n",
        inputs.concat()
    );
    let (mut taxonomy, issues) = parse(&text);
    let formula = taxonomy.roots.pop().and_then(|mut root| root.variants.pop()).map(|v| v.formula);
    match formula {
        Some(Formula::Own { inclusive, .. }) => (inclusive.standard, issues),
        other => panic!("the formula is {other:?}"),
    }
}

fn count(nodes: &[TaxonomyNode], of: &impl Fn(&TaxonomyNode) -> usize) -> usize {
    nodes.iter().map(|node| of(node) + count(&node.children, of)).sum()
}

fn formulas(node: &TaxonomyNode) -> usize {
    let of_pair = |pair: &FormulaPair| usize::from(pair.standard.is_some());
    let of = |formula: &Formula| match formula {
        Formula::Own { inclusive, exclusive } => of_pair(inclusive) + of_pair(exclusive),
        _ => 0,
    };
    node.variants.iter().map(|variant| of(&variant.formula)).sum()
}

/// Counts by plain text search, which knows nothing of YAML.
fn check_counts(text: &str, name: &str) {
    let (taxonomy, issues) = parse(text);
    assert!(issues.is_empty(), "{name}: {issues:?}");
    let lines = || text.lines().map(|line| line.trim_start().trim_start_matches("- "));
    let starting = |what: &str| lines().filter(|line| line.starts_with(what)).count();
    assert_eq!(taxonomy.inputs.len(), starting("&"), "inputs of {name}");
    assert_eq!(count(&taxonomy.roots, &|_| 1), starting("name: "), "metrics of {name}");
    assert_eq!(
        count(&taxonomy.roots, &|node| node.variants.len()),
        starting("render:"),
        "variants of {name}"
    );
    // Writers until 2022 have no `standard:`; their `exclusive:` is followed by the formula.
    let plain =
        |what: &str| lines().filter(|l| l.starts_with(what) && l.len() > what.len()).count();
    let written = starting("standard:") + plain("inclusive:") + plain("exclusive:");
    assert_eq!(count(&taxonomy.roots, &formulas), written, "formulas of {name}");
    assert_eq!(
        count(&taxonomy.roots, &|node| usize::from(!node.is_visible)),
        starting("visible by default: false"),
        "hidden metrics of {name}"
    );
    for input in &taxonomy.inputs {
        assert!(!input.metric.is_empty() && !input.scope.is_empty(), "{name}: {input:?}");
    }
}

#[test]
fn the_fixtures_are_read_without_a_complaint() {
    for folder in fixtures() {
        let text = std::fs::read_to_string(folder.join(Taxonomy::PATH)).unwrap();
        check_counts(&text, &folder.display().to_string());
    }
}

#[test]
fn all_taxonomies_of_the_corpus_are_read_without_a_complaint() {
    let Some(corpus) = corpus() else { return };
    let mut folders = Vec::new();
    find(&corpus.join("data"), "default.yaml", &mut folders);
    assert!(folders.len() > 70, "only {} taxonomies", folders.len());
    for folder in folders {
        let text = std::fs::read_to_string(folder.join("default.yaml")).unwrap();
        check_counts(&text, &folder.display().to_string());
    }
}

#[test]
fn a_written_formula_of_prefix_maps_computes_the_gpu_utilisation() {
    let text = r#"
version: 0
inputs:
  - &GSAMPx3a_TOT-sum {metric: "GSAMP:TOT", scope: execution, formula: $$, combine: sum}
  - &GSAMPx3a_EXP-sum {metric: "GSAMP:EXP", scope: execution, formula: $$, combine: sum}
roots:
  - name: GSAMP:UTIL
    description: GPU utilization computed using PC sampling
    format: "%6.2f %%"
    visible by default: false
    variants:
      "":
        render: [number, percent]
        formula:
          inclusive:
            standard: {min: [100, {max: [0, {/: [{"*": [100, *GSAMPx3a_TOT-sum]}, *GSAMPx3a_EXP-sum]}]}]}
"#;
    let (taxonomy, issues) = parse(text);
    assert!(issues.is_empty(), "{issues:?}");
    let root = &taxonomy.roots[0];
    assert_eq!((&*root.name, root.is_visible), ("GSAMP:UTIL", false));
    assert_eq!(root.short_description, root.description);
    let variant = &root.variants[0];
    assert_eq!((&*variant.name, &*variant.format), ("", "%6.2f %%"));
    assert_eq!(variant.render, [Render::Number, Render::Percent]);
    let Formula::Own { inclusive, exclusive } = &variant.formula else { panic!() };
    assert_eq!(*exclusive, FormulaPair::default());
    assert_eq!(inclusive.custom, inclusive.standard, "custom is standard where it is not given");
    let formula = inclusive.standard.as_ref().unwrap();
    for (sampled, expected, utilisation) in [(30.0, 120.0, 25.0), (300.0, 120.0, 100.0)] {
        assert_eq!(value(formula, &[sampled, expected]), utilisation);
    }
}

#[test]
fn all_that_the_format_documents_is_read() {
    let text = r#"
inputs:
  - &cycles
    metric: perf::cycles
    scope: function
  - &cycles-I
    <<: *cycles
    scope: execution
  - &cycles-I-cnt
    <<: [*cycles-I, *cycles]
    formula: 1
  - &cycles-max {<<: *cycles, combine: max, formula: ($$^2)}
roots:
  - name: !!str CPU Cycles
    description: >
      Cycles spent. And
      more.
    variants:
      Sum:
        render: number
        child variant: [Sum, Mean]
        formula: {inclusive: *cycles-I, exclusive: *cycles}
      Mean:
        render: [number, colorbar, hidden, percentage]
        format: '%.3f'
        child variant: Sum
        formula:
          inclusive: [*cycles-I, /, *cycles-I-cnt]
          exclusive: {custom: [4*, [*cycles, "-", 2]], standard: *cycles}
    children:
      - {name: first, short description: like the first child, variants: {Sum: {formula: first}}}
      - {name: total, variants: {Sum: {formula: sum}, Mean: {render: hidden}}}
"#;
    let (taxonomy, issues) = parse(text);
    assert!(issues.is_empty(), "{issues:?}");
    let inputs: Vec<_> =
        taxonomy.inputs.iter().map(|i| (&*i.scope, &*i.formula, i.combine)).collect();
    assert_eq!(
        inputs,
        [
            ("function", "$$", Combine::Sum),
            ("execution", "$$", Combine::Sum),
            ("execution", "1", Combine::Sum),
            ("function", "($$^2)", Combine::Max),
        ]
    );
    assert!(taxonomy.inputs.iter().all(|input| &*input.metric == "perf::cycles"));
    let root = &taxonomy.roots[0];
    assert_eq!(&*root.name, "CPU Cycles");
    assert_eq!(&*root.description, "Cycles spent. And more.\n");
    assert_eq!(&*root.short_description, "Cycles spent");
    assert_eq!(root.variants[0].children, ChildVariants::Each(vec!["Sum".into(), "Mean".into()]));
    assert_eq!(root.variants[0].render, [Render::Number]);
    assert_eq!(root.variants[1].children, ChildVariants::Same("Sum".into()));
    assert_eq!(&*root.variants[1].format, "%.3f");
    assert_eq!(
        root.variants[1].render,
        [Render::Number, Render::ColorBar, Render::Hidden, Render::Percent]
    );
    let Formula::Own { inclusive, exclusive } = &root.variants[1].formula else { panic!() };
    let inputs = [9.0, 12.0, 4.0, 0.0];
    assert_eq!(value(inclusive.standard.as_ref().unwrap(), &inputs), 3.0);
    assert_eq!(value(exclusive.custom.as_ref().unwrap(), &inputs), 28.0);
    assert_eq!(exclusive.standard, Some(Expression::Input(0)));
    let [first, total] = root.children.as_slice() else { panic!() };
    assert_eq!(&*first.description, "like the first child");
    assert_eq!(first.variants[0].formula, Formula::FirstChild);
    assert_eq!(total.variants[0].formula, Formula::SumOfChildren);
    assert_eq!(total.variants[1].formula, Formula::Absent);
    assert_eq!(total.variants[1].children, ChildVariants::Same("Mean".into()));
}

#[test]
fn infix_and_prefix_formulas_follow_the_rules_of_arithmetic() {
    let inputs = [2.0, 3.0, 5.0];
    for (formula, expected) in [
        ("'1 + 2 * 3'", 7.0),
        ("['(']", f64::NAN),
        ("[[1, +, 2], '*', 3]", 9.0),
        ("'2 ^ 3 ^ 2'", 512.0),
        ("'10 - 4 - 3'", 3.0),
        ("'100 / 5 / 2 * 3'", 30.0),
        ("'-2 ^ 2'", -4.0),
        ("'2 ^ -1'", 0.5),
        ("'3 * -2 + 1e1'", 4.0),
        ("'1.5e+2/2E-1'", 750.0),
        ("[*a, '^', *b, '*', *c]", 40.0),
        ("[4*, [3+4]]", 28.0),
        ("{sum: [1, *b, {prod: [*a, *c]}]}", 14.0),
        ("{pow: [*b, 2]}", 9.0),
        ("{'-': [*b]}", -3.0),
        ("{'-': [*c, 1, 1]}", 3.0),
        ("{sqrt: [16]}", 4.0),
        ("{log: [8, 2]}", 3.0),
        ("{ln: [1]}", 0.0),
        ("{log: [[1, +, 0]]}", 0.0),
        ("{max: [*a, *b, {floor: [7.5]}]}", 7.0),
        ("{min: [{ceil: [7.5]}, {strict floor: [7]}, {strict ceil: [7]}]}", 6.0),
    ] {
        let (read, issues) = with_formula(formula);
        if expected.is_nan() {
            assert_eq!(read, None, "{formula}");
            assert_eq!(issues.list()[0].kind, "taxonomy-formula");
            continue;
        }
        assert!(issues.is_empty(), "{formula}: {issues:?}");
        assert!((value(&read.unwrap(), &inputs) - expected).abs() < 1e-12, "{formula}");
    }
}

#[test]
fn a_formula_that_is_not_understood_is_left_out_with_its_line() {
    for formula in
        ["{frobnicate: [1]}", "{sqrt: [1, 2]}", "[1, +]", "[1, 2]", "x", "{a: 1, b: 2}", "[]", "1e"]
    {
        let (read, issues) = with_formula(formula);
        assert_eq!(read, None, "{formula}");
        let [issue] = issues.list() else { panic!("{formula}: {issues:?}") };
        assert_eq!(issue.kind, "taxonomy-formula");
        assert!(issue.message.starts_with("line 12: "), "{formula}: {}", issue.message);
    }
}

#[test]
fn what_stands_before_a_syntax_error_is_kept() {
    let text = "version: 0\nroots:\n  - name: whole\n  - name: half\n    variants: {Sum: {";
    let (taxonomy, issues) = parse(text);
    let names: Vec<_> = taxonomy.roots.iter().map(|root| &*root.name).collect();
    assert_eq!(names, ["whole", "half"]);
    assert_eq!(issues.list()[0].kind, "taxonomy-syntax");
}

#[test]
fn every_truncation_and_every_changed_byte_gives_a_taxonomy() {
    let folder = &fixtures()[0];
    let text = std::fs::read(folder.join(Taxonomy::PATH)).unwrap();
    let mut issues = Issues::new();
    for end in 0..text.len() {
        let _ = Taxonomy::parse(&String::from_utf8_lossy(&text[..end]), &mut issues);
    }
    for at in 0..text.len() {
        for byte in [0, 0xff, b'\n', b' ', b':', b'[', b'*', b'&', b'-', b'"', text[at] ^ 1] {
            let mut changed = text.clone();
            changed[at] = byte;
            let _ = Taxonomy::parse(&String::from_utf8_lossy(&changed), &mut issues);
        }
    }
    assert!(!issues.is_empty());
}

/// Aliases of aliases: each level stands for ten of the one before it.
fn bomb(levels: usize, of: &str) -> String {
    let mut text = format!("x0: &x0 {of}\n");
    for level in 1..levels {
        let before = vec![format!("*x{}", level - 1); 10].join(", ");
        let _ = writeln!(text, "x{level}: &x{level} [{before}]");
    }
    text
}

#[test]
fn alias_bombs_cycles_and_deep_nesting_end_soon() {
    let last = "*x19";
    let as_formula = format!(
        "{}roots: [{{name: m, variants: {{Sum: {{formula: {{inclusive: {{sum: {last}}}}}}}}}}}]\n",
        bomb(20, "[1, 2]")
    );
    let mut as_metrics = String::from("x0: &x0 {name: leaf}\n");
    for level in 1..20 {
        let before = vec![format!("*x{}", level - 1); 10].join(", ");
        let _ = writeln!(as_metrics, "x{level}: &x{level} {{name: n, children: [{before}]}}");
    }
    as_metrics += "roots: [*x19]\n";
    let mut merges = String::from("x0: &x0 {a: b}\n");
    for level in 1..20 {
        let before = vec![format!("*x{}", level - 1); 10].join(", ");
        let _ = writeln!(merges, "x{level}: &x{level} {{<<: [{before}]}}");
    }
    merges += "roots: [{<<: *x19, name: m}]\n";
    let long = 20_000;
    for (name, text) in [
        ("formula", as_formula),
        ("metrics", as_metrics),
        ("merges", merges),
        ("metric in itself", "roots: &r\n  - name: m\n    children: *r\n".into()),
        ("merge of itself", "roots:\n  - &m\n    <<: *m\n    name: m\n".into()),
        (
            "formula in itself",
            "roots: [{name: m, variants: {Sum: {formula: {inclusive: &f [1, +, *f]}}}}]".into(),
        ),
        ("flow", "[".repeat(long)),
        ("blocks", "- ".repeat(long)),
        ("keys", "? ".repeat(long)),
        (
            "powers",
            format!(
                "roots: [{{name: m, variants: {{Sum: {{formula: {{inclusive: {{standard: '{}2'}}}}}}}}}}]",
                "2^".repeat(long)
            ),
        ),
        (
            "signs",
            format!(
                "roots: [{{name: m, variants: {{Sum: {{formula: {{inclusive: {{standard: '{}2'}}}}}}}}}}]",
                "-".repeat(long)
            ),
        ),
        (
            "mixed",
            format!(
                "roots: [{{name: m, variants: {{Sum: {{formula: {{inclusive: {{standard: '{}2'}}}}}}}}}}]",
                "2+2-".repeat(long)
            ),
        ),
    ] {
        let (taxonomy, issues) = parse(&text);
        assert!(!issues.is_empty(), "{name} is not complained about");
        let metrics = count(&taxonomy.roots, &|_| 1);
        assert!(metrics <= 1000 + 4 * text.len(), "{name}: {metrics} metrics");
    }
}

#[test]
fn long_sums_stay_flat() {
    let (read, issues) = with_formula(&format!("'{}1'", "1+".repeat(5000)));
    assert!(issues.is_empty(), "{issues:?}");
    assert_eq!(value(&read.unwrap(), &[]), 5001.0);
}
