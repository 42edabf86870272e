//! Growth models of planted functions, what must hold for any values, and the guards.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops where it cannot go on")]

use parallax_analysis::growth::{
    Exponent, Exponents, Function, GrowthError, Model, ModelOptions, ModelWarning, Modeler, Point,
    PointSelection, Style, Sum, default_shapes, falls_strictly, model, resource_consumption,
};
use parallax_analysis::scaling::Measure;
use proptest::prelude::*;

fn line(xs: &[f64], f: impl Fn(f64) -> f64) -> Vec<Point> {
    xs.iter().map(|&x| Point { coordinate: vec![x], values: vec![f(x)] }).collect()
}

fn of(points: &[Point]) -> Model {
    model(points, &ModelOptions::default()).unwrap()
}

fn sum(found: &Model) -> &Sum {
    match &found.function {
        Function::Sum(sum) => sum,
        Function::Segmented { .. } => panic!("segmented"),
    }
}

fn shape(found: &Model) -> String {
    let mut text = Vec::new();
    for term in &sum(found).terms {
        let factors: Vec<String> = term
            .factors
            .iter()
            .map(|f| format!("{}:{}:{}", f.parameter, f.polynomial, f.logarithm))
            .collect();
        text.push(factors.join("*"));
    }
    text.join(" + ")
}

const POWERS: [f64; 7] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

#[test]
fn every_default_shape_is_found_again() {
    let shapes = default_shapes(true, false);
    assert_eq!(shapes.len(), 42);
    assert_eq!(default_shapes(false, false).len(), 19);
    assert_eq!((default_shapes(true, true).len(), default_shapes(false, true).len()), (84, 38));
    for planted in shapes {
        let (i, j) = (planted.polynomial.value(), planted.logarithm.value());
        let found = of(&line(&POWERS, |x| 7.0 + 3.0 * x.powf(i) * x.log2().powf(j)));
        let factor = sum(&found).terms[0].factors[0];
        assert_eq!((factor.polynomial, factor.logarithm), (planted.polynomial, planted.logarithm));
        assert!((sum(&found).terms[0].coefficient - 3.0).abs() < 1e-9);
        assert!((sum(&found).constant - 7.0).abs() < 1e-6, "{found:?}");
        assert!(found.quality.smape < 1e-7 && found.warnings.is_empty());
    }
}

#[test]
fn constants_stay_constant() {
    let found = of(&line(&POWERS, |_| 0.1));
    assert!(found.function.is_constant());
    assert_eq!((sum(&found).constant, found.quality.rss, found.quality.smape), (0.1, 0.0, 0.0));
    assert_eq!(of(&line(&POWERS, |_| 0.0)).function.evaluate(&[5.0]), Some(0.0));
    // One point is modelled by its value.
    assert_eq!(of(&line(&[3.0], |_| 2.0)).function.evaluate(&[9.0]), Some(2.0));
}

#[test]
fn strong_scaling_by_negative_exponents_or_resources() {
    let points = line(&POWERS, |p| 2.0 + 64.0 / p);
    assert!(falls_strictly(&points, 0, Measure::Mean));
    assert!(!falls_strictly(&line(&POWERS, |p| p), 0, Measure::Mean));
    assert!(!falls_strictly(&line(&[4.0], |p| p), 0, Measure::Mean));
    let negative = ModelOptions { negative_exponents: true, ..ModelOptions::default() };
    assert_eq!(shape(&model(&points, &negative).unwrap()), "0:-1:0");
    let resources = of(&resource_consumption(&points, 0));
    assert_eq!(shape(&resources), "0:1:0");
    assert!((resources.function.evaluate(&[16.0]).unwrap() - 96.0).abs() < 1e-9);
}

#[test]
fn products_sums_and_mixtures_of_two_parameters() {
    let of_two = |f: &dyn Fn(f64, f64) -> f64| {
        let axis = [2.0, 4.0, 8.0, 16.0, 32.0];
        let points: Vec<Point> = axis
            .iter()
            .flat_map(|&x| axis.iter().map(move |&y| (x, y)))
            .map(|(x, y)| Point { coordinate: vec![x, y], values: vec![f(x, y)] })
            .collect();
        shape(&of(&points))
    };
    assert_eq!(of_two(&|x, y| 3.0 + 2.0 * x * y * y), "0:1:0*1:2:0");
    assert_eq!(of_two(&|x, y| 3.0 + 2.0 * x + 5.0 * y.log2()), "0:1:0 + 1:0:1");
    assert_eq!(of_two(&|x, y| 3.0 + 2.0 * x + 5.0 * x * y), "0:1:0 + 0:1:0*1:1:0");
    assert_eq!(of_two(&|_, y| 3.0 + 5.0 * y), "1:1:0");
    assert_eq!(of_two(&|_, _| 3.0), "");
}

#[test]
fn sparse_points_suffice_for_three_parameters() {
    // Three lines that meet at one point, and two points off the lines.
    let axis = [4.0, 8.0, 16.0, 32.0, 64.0];
    let f = |v: &[f64]| 1.0 + 2.0 * v[0] * v[1].log2() + 0.5 * v[2] * v[2];
    let mut coordinates = vec![vec![4.0; 3]];
    for parameter in 0..3 {
        for &x in &axis[1..] {
            let mut point = vec![4.0; 3];
            point[parameter] = x;
            coordinates.push(point);
        }
    }
    coordinates.extend([vec![16.0, 32.0, 8.0], vec![64.0, 8.0, 64.0]]);
    let points: Vec<Point> = coordinates
        .into_iter()
        .map(|coordinate| Point { values: vec![f(&coordinate)], coordinate })
        .collect();
    for selection in [PointSelection::Longest, PointSelection::Smallest] {
        let options = ModelOptions { selection, ..ModelOptions::default() };
        let found = model(&points, &options).unwrap();
        assert_eq!(shape(&found), "0:1:0*1:0:1 + 2:2:0");
        assert!((found.function.evaluate(&[128.0, 4.0, 2.0]).unwrap() - 515.0).abs() < 1e-6);
    }
}

#[test]
fn segments_are_found_where_they_were_planted() {
    let xs: Vec<f64> = (1..=12).map(f64::from).collect();
    let points = line(&xs, |x| if x <= 6.0 { x * x } else { 30.0 + x });
    let options = ModelOptions { modeler: Modeler::Segmented, ..ModelOptions::default() };
    let found = model(&points, &options).unwrap();
    let Function::Segmented { below_end, above_start, .. } = found.function else {
        panic!("no segments: {found:?}");
    };
    assert_eq!((below_end, above_start), (6.0, 6.0));
    for point in &points {
        let value = found.function.evaluate(&point.coordinate).unwrap();
        assert!((value - point.values[0]).abs() < 1e-9);
    }
    // Without a change of behaviour it is the basic model, whatever the order of the points.
    let mut plain = line(&xs, |x| 5.0 + x);
    plain.reverse();
    assert_eq!(shape(&model(&plain, &options).unwrap()), "0:1:0");
    // Too few points for a window.
    let few = model(&points[..4], &options).unwrap();
    assert!(few.warnings.contains(&ModelWarning::FewPointsForSegments { points: 4 }));
}

#[test]
fn refining_finds_exponents_outside_the_default_space() {
    let options = ModelOptions { modeler: Modeler::Refining, ..ModelOptions::default() };
    let found = model(&line(&POWERS, |x| 1.0 + x.powf(3.5)), &options).unwrap();
    assert_eq!(shape(&found), "0:7/2:0");
    assert!(found.quality.smape < 1e-7);
}

#[test]
fn chosen_exponents_replace_or_extend_the_default_ones() {
    let number = |text: &str| text.parse::<Exponent>().unwrap();
    let exponents = Exponents {
        polynomial: vec![number("7/2"), number("0.125")],
        logarithm: vec![number("3")],
        force_combination: false,
        keep_defaults: false,
    };
    let options = ModelOptions { exponents: Some(exponents), ..ModelOptions::default() };
    let with = |f: &dyn Fn(f64) -> f64| shape(&model(&line(&POWERS, f), &options).unwrap());
    assert_eq!(with(&|x| x.powf(3.5)), "0:7/2:0");
    assert_eq!(with(&|x| 1.0 + x.powf(0.125)), "0:1/8:0");
    assert_eq!(with(&|x| 2.0 + x.log2().powi(3)), "0:0:3");
}

#[test]
fn exponents_are_exact_fractions() {
    let new = |a: i64, b: i64| Exponent::new(a, b).map(|exponent| exponent.to_string()).ok();
    assert_eq!(new(6, 4).as_deref(), Some("3/2"));
    assert_eq!(new(-6, -3).as_deref(), Some("2"));
    assert_eq!(new(3, -4).as_deref(), Some("-3/4"));
    assert_eq!(new(0, 5).as_deref(), Some("0"));
    assert_eq!((new(1, 0), new(i64::MIN, 1), new(0, 0)), (None, None, None));
    for (text, expected) in
        [("1.5", "3/2"), ("-0.25", "-1/4"), (" 2 ", "2"), ("-1/3", "-1/3"), ("2.", "2")]
    {
        assert_eq!(text.parse::<Exponent>().unwrap().to_string(), expected, "{text}");
    }
    for text in ["", "x", "1/0", ".", "1.2345678", "1e3", "1.-5", "--1", "99999999999999999999"] {
        assert!(text.parse::<Exponent>().is_err(), "{text}");
    }
}

#[test]
fn functions_as_text() {
    let found = of(&line(&POWERS, |x| 7.0 + 3.0 * x.powf(1.25) * x.log2()));
    let mut function = found.function.clone();
    if let Function::Sum(sum) = &mut function {
        sum.constant = -7.5;
        sum.terms[0].coefficient = 3e-7;
    }
    assert_eq!(function.format(&["p"], Style::Plain), "-7.5 + 3e-7 * p^(5/4) * log2(p)^(1)");
    assert_eq!(function.format(&["p"], Style::Python), "-7.5+3e-7*p**(5/4)*log2(p)**(1)");
    assert_eq!(
        function.format(&[], Style::Latex),
        "-7.5+3\\times10^{-7}\\cdot x1^{5/4}\\cdot \\log_2{x1}^{1}"
    );
    assert!(function.dominant_term(&[2.0]).is_none(), "the constant is larger");
    assert!(found.function.dominant_term(&[64.0]).is_some());
}

#[test]
fn what_cannot_be_modelled_is_refused_or_said() {
    let point = |coordinate: &[f64], values: &[f64]| Point {
        coordinate: coordinate.to_vec(),
        values: values.to_vec(),
    };
    let error = |points: &[Point]| model(points, &ModelOptions::default()).unwrap_err();
    assert_eq!(error(&[]), GrowthError::NoPoints);
    assert_eq!(error(&[point(&[1.0], &[])]), GrowthError::NoValues { point: 0 });
    assert!(matches!(error(&[point(&[], &[1.0])]), GrowthError::Dimensions { .. }));
    let mixed = [point(&[1.0], &[1.0]), point(&[1.0, 2.0], &[1.0])];
    assert_eq!(error(&mixed), GrowthError::Dimensions { point: 1, found: 2, expected: 1 });
    assert!(error(&[point(&[f64::NAN], &[1.0])]).to_string().contains("coordinate of NaN"));
    assert!(error(&[point(&[1.0], &[f64::INFINITY])]).to_string().contains("value of inf"));
    let several = [point(&[1.0, 2.0], &[1.0]), point(&[2.0, 2.0], &[2.0])];
    let segmented = ModelOptions { modeler: Modeler::Segmented, ..ModelOptions::default() };
    let refused = model(&several, &segmented).unwrap_err();
    assert_eq!(refused, GrowthError::SegmentsOfSeveral { parameters: 2 });

    let below_one = of(&line(&[0.5, 1.0, 2.0, 4.0, 8.0], |x| 1.0 + x * x));
    assert_eq!(below_one.warnings, [ModelWarning::NoLogarithms { parameter: 0 }]);
    assert_eq!(shape(&below_one), "0:2:0");
    let few = of(&line(&[2.0, 4.0, 8.0], |x| x));
    assert_eq!(few.warnings, [ModelWarning::FewPoints { parameter: 0, points: 3 }]);
    // Negative and zero parameters only lose the shapes that are not defined there.
    assert_eq!(shape(&of(&line(&[-2.0, -1.0, 0.0, 1.0, 2.0, 3.0], |x| 5.0 + x * x))), "0:2:0");
    // Huge values overflow a shape, not the search.
    assert!(of(&line(&[1e120, 2e120, 3e120, 4e120, 5e120], |x| x)).quality.smape < 1e-6);
}

fn values() -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(1e-3_f64..1e3, 1..4), 5..9)
}

fn measured(values: &[Vec<f64>]) -> Vec<Point> {
    let coordinate = |at: usize| vec![f64::from(1_u32 << (at + 1))];
    values
        .iter()
        .enumerate()
        .map(|(at, values)| Point { coordinate: coordinate(at), values: values.clone() })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn units_do_not_matter(values in values(), k in -10_i32..10) {
        let factor = 2.0_f64.powi(k);
        let scaled: Vec<Vec<f64>> = values.iter().map(|v| v.iter().map(|x| x * factor).collect()).collect();
        let (a, b) = (of(&measured(&values)), of(&measured(&scaled)));
        prop_assert_eq!(shape(&a), shape(&b));
        // Powers of two scale every step exactly.
        prop_assert_eq!(sum(&a).constant * factor, sum(&b).constant);
        prop_assert_eq!(a.quality.smape, b.quality.smape);
    }

    #[test]
    fn order_of_repetitions_does_not_matter(values in values()) {
        let turned: Vec<Vec<f64>> = values.iter().map(|v| v.iter().rev().copied().collect()).collect();
        prop_assert_eq!(of(&measured(&values)), of(&measured(&turned)));
    }

    #[test]
    fn order_of_points_changes_no_more_than_rounding(values in values(), turn in 0_usize..9) {
        let points = measured(&values);
        let mut turned = points.clone();
        turned.rotate_left(turn % points.len());
        let (a, b) = (of(&points), of(&turned));
        prop_assert!((a.quality.smape - b.quality.smape).abs() <= 1e-7 * a.quality.smape.max(1e-3));
    }

    #[test]
    fn a_model_never_beats_the_constant_by_being_worse(values in values()) {
        let points = measured(&values);
        let found = of(&points);
        let ys: Vec<f64> = points.iter().map(|point| Measure::Mean.of(&point.values).unwrap()).collect();
        let mean = ys.iter().sum::<f64>() / ys.len() as f64;
        let constant: f64 = ys.iter().map(|y| 200.0 * (mean - y).abs() / (mean + y)).sum::<f64>() / ys.len() as f64;
        prop_assert!(found.quality.smape <= constant * (1.0 + 1e-9));
    }
}
