//! Growth models of a real matrix program against Extra-P 4.2.5, which read the same nine CUBE
//! profiles. The table holds what the profiles say; the answers come from the golden file.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use parallax_analysis::growth::{Model, ModelOptions, Point, Style, model};

const SIZES: [f64; 9] = [1.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2000.0];

/// Call path, metric, and its value at each size.
const MEASURED: [(&str, &str, [f64; 9]); 28] = [
    ("main", "visits", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
    ("main->init_mat", "visits", [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]),
    ("main->zero_mat", "visits", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
    ("main->mat_mul", "visits", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
    (
        "main",
        "time",
        [
            3.1883e-05,
            1.1667e-05,
            1.1930999999999998e-05,
            1.2007e-05,
            1.2051e-05,
            1.1917e-05,
            1.2366e-05,
            1.2488e-05,
            1.3075000000000001e-05,
        ],
    ),
    (
        "main->init_mat",
        "time",
        [
            3.795e-06, 3.34e-06, 3.474e-06, 3.659e-06, 4.171e-06, 5.501e-06, 7.969e-06, 1.2865e-05,
            2.2166e-05,
        ],
    ),
    (
        "main->zero_mat",
        "time",
        [
            1.266e-06, 1.071e-06, 1.08e-06, 1.115e-06, 1.198e-06, 1.35e-06, 1.648e-06, 2.228e-06,
            3.478e-06,
        ],
    ),
    (
        "main->mat_mul",
        "time",
        [
            1.233e-06, 1.069e-06, 1.116e-06, 1.159e-06, 1.339e-06, 1.718e-06, 2.405e-06, 3.829e-06,
            6.546e-06,
        ],
    ),
    (
        "main",
        "min_time",
        [
            3.8177e-05, 1.7147e-05, 1.7601e-05, 1.794e-05, 1.8759e-05, 2.0486e-05, 2.4388e-05,
            3.141e-05, 4.5265e-05,
        ],
    ),
    (
        "main->init_mat",
        "min_time",
        [
            1.254e-06, 1.006e-06, 1.012e-06, 1.013e-06, 1.033e-06, 9.83e-07, 1.009e-06, 9.97e-07,
            9.78e-07,
        ],
    ),
    (
        "main->zero_mat",
        "min_time",
        [
            1.266e-06, 1.071e-06, 1.08e-06, 1.115e-06, 1.198e-06, 1.35e-06, 1.648e-06, 2.228e-06,
            3.478e-06,
        ],
    ),
    (
        "main->mat_mul",
        "min_time",
        [
            1.233e-06, 1.069e-06, 1.116e-06, 1.159e-06, 1.339e-06, 1.718e-06, 2.405e-06, 3.829e-06,
            6.546e-06,
        ],
    ),
    (
        "main",
        "max_time",
        [
            3.8177e-05, 1.7147e-05, 1.7601e-05, 1.794e-05, 1.8759e-05, 2.0486e-05, 2.4388e-05,
            3.141e-05, 4.5265e-05,
        ],
    ),
    (
        "main->init_mat",
        "max_time",
        [
            2.541e-06, 2.334e-06, 2.462e-06, 2.646e-06, 3.138e-06, 4.518e-06, 6.96e-06, 1.1868e-05,
            2.1188e-05,
        ],
    ),
    (
        "main->zero_mat",
        "max_time",
        [
            1.266e-06, 1.071e-06, 1.08e-06, 1.115e-06, 1.198e-06, 1.35e-06, 1.648e-06, 2.228e-06,
            3.478e-06,
        ],
    ),
    (
        "main->mat_mul",
        "max_time",
        [
            1.233e-06, 1.069e-06, 1.116e-06, 1.159e-06, 1.339e-06, 1.718e-06, 2.405e-06, 3.829e-06,
            6.546e-06,
        ],
    ),
    ("main", "PAPI_FP_OPS", [6.0, 9.0, 9.0, 9.0, 9.0, 6.0, 6.0, 6.0, 6.0]),
    (
        "main->init_mat",
        "PAPI_FP_OPS",
        [14.0, 25.0, 50.0, 109.0, 208.0, 480.0, 970.0, 1864.0, 3766.0],
    ),
    ("main->zero_mat", "PAPI_FP_OPS", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    (
        "main->mat_mul",
        "PAPI_FP_OPS",
        [2.0, 20.0, 54.0, 103.0, 202.0, 505.0, 1008.0, 2055.0, 4028.0],
    ),
    ("main", "PAPI_L3_TCM", [39.0, 5.0, 15.0, 10.0, 11.0, 7.0, 9.0, 6.0, 12.0]),
    ("main->init_mat", "PAPI_L3_TCM", [3.0, 3.0, 3.0, 2.0, 2.0, 3.0, 5.0, 4.0, 4.0]),
    ("main->zero_mat", "PAPI_L3_TCM", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("main->mat_mul", "PAPI_L3_TCM", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("main", "PAPI_L2_TCM", [246.0, 206.0, 209.0, 229.0, 212.0, 243.0, 222.0, 227.0, 247.0]),
    ("main->init_mat", "PAPI_L2_TCM", [36.0, 39.0, 40.0, 38.0, 49.0, 45.0, 60.0, 68.0, 86.0]),
    ("main->zero_mat", "PAPI_L2_TCM", [4.0, 3.0, 6.0, 8.0, 15.0, 12.0, 12.0, 19.0, 39.0]),
    ("main->mat_mul", "PAPI_L2_TCM", [0.0, 1.0, 1.0, 2.0, 1.0, 0.0, 2.0, 2.0, 2.0]),
];

fn of(values: &[f64; 9]) -> Model {
    let points: Vec<Point> = SIZES
        .iter()
        .zip(values)
        .map(|(&size, &value)| Point { coordinate: vec![size], values: vec![value] })
        .collect();
    model(&points, &ModelOptions::default()).unwrap()
}

/// Numbers in a text, and the text without them.
fn split(text: &str) -> (Vec<f64>, String) {
    let (mut numbers, mut rest) = (Vec::new(), String::new());
    let mut exponent = false;
    for part in text.split_inclusive(['*', '(', ')']) {
        // Exponents stay text, coefficients become numbers.
        let (body, end) = part.split_at(part.len() - usize::from(part.ends_with(['*', '(', ')'])));
        let signed = body.replace("e-", "E").replace("e+", "F");
        for piece in signed.replace('-', "+-").split('+').filter(|piece| !piece.is_empty()) {
            match piece.replace('E', "e-").replace('F', "e+").parse::<f64>() {
                Ok(number) if !exponent => numbers.push(number),
                _ => rest.push_str(piece),
            }
        }
        rest.push_str(end);
        exponent = end == "(";
    }
    (numbers, rest)
}

#[test]
fn models_of_the_cube_set_are_reproduced() {
    let path = "data/extrap/cube/golden_single_parameter.txt";
    let Some(path) = parallax_testkit::needs::corpus_path(path) else { return };
    let golden = std::fs::read_to_string(path).unwrap();
    let near = |value: f64, expected: f64| (value - expected).abs() <= 1e-8 * expected.abs();
    let mut models = 0;
    for line in golden.lines().filter(|line| !line.is_empty()) {
        let fields: Vec<&str> = line.split(';').collect();
        let entry = MEASURED.iter().find(|entry| entry.0 == fields[0] && entry.1 == fields[1]);
        let found = of(&entry.unwrap().2);
        let text = found.function.format(&["x"], Style::Python);
        let ((numbers, shape), (expected, expected_shape)) = (split(&text), split(fields[2]));
        assert_eq!(shape, expected_shape, "{line}");
        assert_eq!(numbers.len(), expected.len(), "{line} {text}");
        assert!(numbers.iter().zip(&expected).all(|(a, b)| near(*a, *b)), "{line} {text}");
        let number = |at: usize| fields[at].parse::<f64>().unwrap();
        assert!(near(found.quality.smape, number(3)), "{line} {:?}", found.quality);
        assert!(near(found.quality.rss, number(4)), "{line} {:?}", found.quality);
        assert!(near(found.quality.adjusted_r2.unwrap(), number(5)), "{line} {:?}", found.quality);
        models += 1;
    }
    assert_eq!(models, MEASURED.len());
}
