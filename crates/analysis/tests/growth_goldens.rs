//! Growth models against the answers of Extra-P 4.2.5 on its own test data and on real programs.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::path::{Path, PathBuf};

use parallax_analysis::growth::{
    Criterion, Function, Model, ModelOptions, Modeler, Point, Style, Sum, Validation, model,
};
use serde_json::Value;

fn corpus() -> Option<PathBuf> {
    parallax_testkit::needs::corpus_path("data/extrap")
}

/// Python writes numbers that JSON does not have; they become null.
fn json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let text = ["-Infinity", "Infinity", "NaN"]
        .iter()
        .fold(text, |text, word| text.replace(&format!(": {word}"), ": null"));
    serde_json::from_str(&text).unwrap()
}

/// The measured points behind a golden model: each holds the statistic that was modelled.
fn points(golden: &Value) -> Vec<Point> {
    golden["predictions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| Point {
            coordinate: entry[0].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect(),
            values: vec![entry[1].as_f64().unwrap()],
        })
        .collect()
}

fn near(value: f64, expected: f64, relative: f64) -> bool {
    (value - expected).abs() <= relative * expected.abs() || value == expected
}

/// The exponents of every term, as the golden file writes them: parameter, kind, exponent.
fn exponents(sum: &Sum) -> Vec<Vec<(usize, &'static str, String)>> {
    sum.terms
        .iter()
        .map(|term| {
            term.factors
                .iter()
                .flat_map(|factor| {
                    [
                        (factor.parameter, "polynomial", factor.polynomial),
                        (factor.parameter, "logarithm", factor.logarithm),
                    ]
                })
                .filter(|(_, _, exponent)| !exponent.is_zero())
                .map(|(parameter, kind, exponent)| (parameter, kind, exponent.to_string()))
                .collect()
        })
        .collect()
}

fn golden_exponents(golden: &Value) -> Vec<Vec<(usize, &'static str, String)>> {
    let simple = |parameter: usize, list: &Value| -> Vec<(usize, &'static str, String)> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|part| {
                let kind = if part["type"] == "polynomial" { "polynomial" } else { "logarithm" };
                (parameter, kind, part["exponent"].as_str().unwrap().to_owned())
            })
            .collect()
    };
    golden["function"]["terms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|term| match term["factors"].as_array() {
            None => simple(0, &term["simple"]),
            Some(factors) => factors
                .iter()
                .flat_map(|factor| {
                    simple(factor["param"].as_u64().unwrap() as usize, &factor["simple"])
                })
                .collect(),
        })
        .collect()
}

/// Compares a model with a golden one and says what differs.
fn differences(found: &Model, golden: &Value) -> Vec<String> {
    let Function::Sum(sum) = &found.function else { return vec!["segmented".to_owned()] };
    let mut differ = Vec::new();
    if exponents(sum) != golden_exponents(golden) {
        differ.push(format!("shape {}", found.function.format(&["x", "y", "z"], Style::Python)));
        return differ;
    }
    let number = |key: &str| golden[key].as_f64();
    let smape = number("SMAPE").unwrap();
    for entry in golden["predictions"].as_array().unwrap() {
        let point: Vec<f64> =
            entry[0].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        let (value, expected) =
            (found.function.evaluate(&point).unwrap(), entry[2].as_f64().unwrap());
        if !near(value, expected, 1e-9) && (value - expected).abs() > 1e-12 {
            differ.push(format!("prediction at {point:?}: {value} {expected}"));
        }
    }
    // On exactly fitting data the errors are rounding.
    let quality = &found.quality;
    if smape < 1e-6 {
        if quality.smape > 1e-6 {
            differ.push(format!("smape {} {smape}", quality.smape));
        }
        return differ;
    }
    // On values of 1e8 that fit to 1 in 1e8, both sides lose digits of the sum of squares; exact
    // rational arithmetic gives 16.98815598 for the worst case here, between both.
    if !near(quality.rss, number("RSS").unwrap(), 1e-7) {
        differ.push(format!("rss {} {}", quality.rss, golden["RSS"]));
    }
    let mut check = |what: &str, value: Option<f64>, expected: Option<f64>| {
        let same = match (value, expected) {
            (Some(value), Some(expected)) => near(value, expected, 1e-8),
            (value, expected) => value.is_none() && expected.is_none(),
        };
        if !same {
            differ.push(format!("{what} {value:?} {expected:?}"));
        }
    };
    check("smape", Some(quality.smape), Some(smape));
    check("rrss", Some(quality.relative_rss), number("rRSS"));
    check("ar2", quality.adjusted_r2, number("AR2"));
    check("re", Some(quality.relative_error), number("RE"));
    check("constant", Some(sum.constant), golden["function"]["constant"].as_f64());
    for (term, golden) in sum.terms.iter().zip(golden["function"]["terms"].as_array().unwrap()) {
        check("coefficient", Some(term.coefficient), golden["coefficient"].as_f64());
    }
    differ
}

/// The statistic that Extra-P reports as relative error, over all points.
fn mean_relative_error(golden: &Value, found: &Model) -> f64 {
    let points = points(golden);
    let errors = points.iter().filter(|point| point.values[0] != 0.0).map(|point| {
        let predicted = found.function.evaluate(&point.coordinate).unwrap();
        ((predicted - point.values[0]) / point.values[0]).abs()
    });
    errors.sum::<f64>() / points.len() as f64
}

/// Every model of every file, with the deviations that `docs/scaling-formulas.md` explains.
#[test]
fn default_models_of_extrap_are_reproduced() {
    let Some(corpus) = corpus() else { return };
    let golden = json(&corpus.join("golden_extrap_4.2.5_default_modeler.json"));
    let (mut equal, mut constants, mut zeros, mut ties, mut not_median) = (0, 0, 0, 0, 0);
    for (file, measures) in golden.as_object().unwrap() {
        for (measure, experiment) in measures.as_object().unwrap() {
            let several = experiment["parameters"].as_array().unwrap().len() > 1;
            for (at, golden) in experiment["models"].as_array().unwrap().iter().enumerate() {
                if measure == "median" && !several {
                    // Extra-P does not hand the measure to its search for one parameter: the
                    // "median" models are those of the mean.
                    assert_eq!(golden["model"], measures["mean"]["models"][at]["model"]);
                    not_median += 1;
                    continue;
                }
                let found = model(&points(golden), &ModelOptions::default()).unwrap();
                let differ = differences(&found, golden);
                let what = format!(
                    "{file} {measure} {} {}: {differ:?}",
                    golden["callpath"], golden["model"]
                );
                if differ.is_empty() {
                    equal += 1;
                } else if file.ends_with("cross_matrix_2p.jsonl")
                    || file.ends_with("incomplete_matrix_2p.jsonl")
                {
                    // Points on a cross: several combinations are the same function there, and
                    // rounding chooses. Ours is the one tried first.
                    assert!(
                        near(found.quality.smape, golden["SMAPE"].as_f64().unwrap(), 1e-9),
                        "{what}"
                    );
                    for entry in golden["predictions"].as_array().unwrap() {
                        let point: Vec<f64> = entry[0]
                            .as_array()
                            .unwrap()
                            .iter()
                            .map(|x| x.as_f64().unwrap())
                            .collect();
                        let value = found.function.evaluate(&point).unwrap();
                        assert!(near(value, entry[2].as_f64().unwrap(), 1e-9), "{what}");
                    }
                    ties += 1;
                } else {
                    assert!(
                        differ
                            .iter()
                            .all(|text| text.starts_with("re") || text.starts_with("rrss")),
                        "{what}"
                    );
                    let error = mean_relative_error(golden, &found);
                    if found.function.is_constant() {
                        // Extra-P reports the error of the last point alone for constants.
                        assert!(near(found.quality.relative_error, error, 1e-12), "{what}");
                        assert_eq!(differ.len(), 1, "{what}");
                        constants += 1;
                    } else {
                        // A value of 0 makes the relative errors infinite there; it does not count
                        // here.
                        assert!(golden["RE"].is_null() && golden["rRSS"].is_null(), "{what}");
                        assert!(near(found.quality.relative_error, error, 1e-12), "{what}");
                        zeros += 1;
                    }
                }
            }
        }
    }
    assert_eq!([equal, constants, zeros, ties, not_median], [126, 21, 2, 4, 67]);
}

#[test]
fn models_of_real_pascal_programs_are_reproduced() {
    let Some(corpus) = corpus() else { return };
    let golden = json(&corpus.join("pascal_derived/golden.json"));
    let mut models = 0;
    for (file, experiment) in golden.as_object().unwrap() {
        for golden in experiment["models"].as_array().unwrap() {
            let found = model(&points(golden), &ModelOptions::default()).unwrap();
            let differ = differences(&found, golden);
            assert!(
                differ.is_empty(),
                "{file} {} {}: {differ:?}",
                golden["callpath"],
                golden["model"]
            );
            models += 1;
        }
    }
    assert_eq!(models, 43);
}

/// The exponents in a function as text, in their order: powers and logarithms.
fn exponents_in(text: &str) -> Vec<(bool, String)> {
    text.match_indices("**(")
        .map(|(at, opening)| {
            let logarithm = text[..at].ends_with(')');
            let rest = &text[at + opening.len()..];
            (logarithm, rest[..rest.find(')').unwrap()].to_owned())
        })
        .collect()
}

#[test]
fn other_searches_of_extrap_are_reproduced() {
    let Some(corpus) = corpus() else { return };
    let defaults = json(&corpus.join("golden_extrap_4.2.5_default_modeler.json"));
    let variants = json(&corpus.join("golden_extrap_4.2.5_variants.json"));
    let (mut models, mut segmented) = (0, 0);
    for (variant, files) in variants.as_object().unwrap() {
        let default = ModelOptions::default();
        let options = match variant.as_str() {
            "refining" => ModelOptions { modeler: Modeler::Refining, ..default },
            "segmented" => ModelOptions { modeler: Modeler::Segmented, ..default },
            "basic_negative_exponents" => ModelOptions { negative_exponents: true, ..default },
            "basic_compare_with_RSS" => ModelOptions { criterion: Criterion::Rss, ..default },
            "basic_no_crossvalidation" => ModelOptions { validation: Validation::None, ..default },
            other => panic!("unknown variant {other}"),
        };
        for (file, list) in files.as_object().unwrap() {
            for golden in list.as_array().unwrap() {
                let same = |entry: &&Value| {
                    entry["callpath"] == golden["callpath"] && entry["metric"] == golden["metric"]
                };
                let experiment = &defaults[file]["mean"];
                let input = experiment["models"].as_array().unwrap().iter().find(same).unwrap();
                let name = experiment["parameters"][0].as_str().unwrap();
                let found = model(&points(input), &options).unwrap();
                let text = found.function.format(&[name], Style::Python);
                let what =
                    format!("{variant} {file} {}: {text}, expected {golden}", golden["callpath"]);
                match golden["model"].as_str() {
                    Some(model) => assert_eq!(exponents_in(&text), exponents_in(model), "{what}"),
                    None => {
                        assert!(matches!(found.function, Function::Segmented { .. }), "{what}");
                        segmented += 1;
                    }
                }
                let number = |key: &str| golden[key].as_f64().unwrap();
                if number("SMAPE") < 1e-6 {
                    assert!(found.quality.smape < 1e-6, "{what}");
                } else {
                    assert!(near(found.quality.smape, number("SMAPE"), 1e-8), "{what}");
                    assert!(near(found.quality.rss, number("RSS"), 1e-7), "{what}");
                }
                assert!(near(found.quality.adjusted_r2.unwrap(), number("AR2"), 1e-8), "{what}");
                models += 1;
            }
        }
    }
    assert_eq!((models, segmented), (300, 10));
}
