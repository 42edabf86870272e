//! Comparison of drawn databases computed by hand, of permuted and renamed ones, and the statistics
//! against closed forms and brute force.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

mod report_support;

use parallax_analysis::comparison::{
    Comparison, ComparisonOptions, Execution, Matching, Over, Presence, Version, compare,
    location_costs,
};
use parallax_analysis::correlation::{ColumnKind, CorrelationOrder, LocationColumn, correlate};
use parallax_analysis::math::{
    Basis, benjamini_hochberg, paired, paired_ratio, pearson, ranks, spearman, t_quantile_95,
    t_two_sided, welch,
};
use parallax_base::{Control, MetricIdx, Unit};
use parallax_engine::{LocationChoice, Session};
use parallax_testkit::drawn::draw;
use proptest::prelude::*;
use report_support::open;

const TIME: MetricIdx = MetricIdx::new(0);

fn drawn(drawing: &str) -> Session {
    open(&draw("CPUTIME (sec)", drawing))
}

fn execution(session: &Session) -> Execution<'_> {
    Execution {
        session,
        measure: session.costs(TIME, &LocationChoice::All, &Control::new()).unwrap().into(),
        metrics: vec![TIME],
        locations: LocationChoice::All,
        scale: 1.0,
        watched: Vec::new(),
    }
}

fn compared(versions: &[&[Session]], options: &ComparisonOptions) -> Comparison {
    let versions: Vec<Version<'_>> = versions
        .iter()
        .enumerate()
        .map(|(at, sessions)| Version {
            name: format!("v{at}"),
            executions: sessions.iter().map(execution).collect(),
        })
        .collect();
    compare(&versions, "CPUTIME", &Unit::Seconds, options, &Control::new()).unwrap()
}

/// Path, presence, old and new own cost of every row that costs anything.
fn told(comparison: &Comparison) -> Vec<String> {
    let pair = &comparison.pairs[0];
    let mut out: Vec<String> = comparison
        .contexts
        .iter()
        .zip(&pair.rows)
        .filter(|(_, row)| row.own.old != 0.0 || row.own.new != 0.0)
        .map(|(context, row)| {
            let path = context.path.join("/");
            format!("{path} {} {:.6} {:.6}", row.presence.name(), row.own.old, row.own.new)
        })
        .collect();
    out.sort();
    out
}

fn row(comparison: &Comparison, name: &str) -> usize {
    comparison.contexts.iter().position(|context| context.name == name).unwrap()
}

const OLD: &str = "
main       1.0  1.0
  solve    4.0  4.0
    dot    1.0  2.0
  write    .    1.0
";

const NEW: &str = "
main       1.0  1.0
  check    0.5  0.5
  solve    5.0  5.5
    dot    1.0  2.0
";

#[test]
fn contexts_are_matched_by_call_path_and_own_differences_add_up() {
    let (old, new) = ([drawn(OLD)], [drawn(NEW)]);
    let comparison = compared(&[&old, &new], &ComparisonOptions::default());
    assert_eq!(
        told(&comparison),
        [
            "<main thread>/main both 2.000000 2.000000",
            "<main thread>/main/check new 0.000000 1.000000",
            "<main thread>/main/solve both 8.000000 10.500000",
            "<main thread>/main/solve/dot both 3.000000 3.000000",
            "<main thread>/main/write old 1.000000 0.000000",
        ]
    );
    let pair = &comparison.pairs[0];
    let total = pair.total().unwrap();
    assert_eq!((total.old, total.new, total.difference()), (14.0, 16.5, 2.5));
    let own: f64 = pair.rows.iter().map(|row| row.own.difference()).sum();
    assert!((own - total.difference()).abs() < 1e-12);
    let solve = &pair.rows[row(&comparison, "solve")];
    assert_eq!((solve.inclusive.old, solve.inclusive.new), (11.0, 13.5));
    assert_eq!(solve.own.percent(), Some(31.25));
    assert_eq!(solve.own.ratio(), Some(1.3125));
    assert_eq!(solve.own.share, Some(100.0));
    assert_eq!(pair.rows[row(&comparison, "check")].presence, Presence::OnlyNew);
    assert_eq!(pair.rows[row(&comparison, "check")].own.percent(), None);
    assert_eq!(pair.basis, Some(Basis::PairedLocations));
    assert_eq!(comparison.over, Over::Sum);
    assert!(comparison.notes.iter().any(|note| note.contains("One execution")), "{comparison:?}");
}

#[test]
fn functions_are_added_up_wherever_they_are_called_from_and_recursion_counts_once() {
    let (old, new) = (
        [drawn("main 1.0\n  f 1.0\n    f 2.0\n  g .\n    f 4.0")],
        [drawn("main 1.0\n  f 1.0\n    f 3.0\n  g .\n    f 4.0")],
    );
    let options = ComparisonOptions { matching: Some(Matching::Function), ..Default::default() };
    let comparison = compared(&[&old, &new], &options);
    let f = &comparison.pairs[0].rows[row(&comparison, "f")];
    assert_eq!((f.own.old, f.own.new), (7.0, 8.0));
    assert_eq!((f.inclusive.old, f.inclusive.new), (7.0, 8.0));
    assert_eq!(comparison.pairs[0].total().unwrap().new, 9.0);
}

#[test]
fn repetitions_tell_noise_from_a_planted_regression() {
    let version = |solve: [f64; 4], dot: [f64; 4]| -> Vec<Session> {
        let runs = solve.iter().zip(&dot);
        runs.map(|(solve, dot)| drawn(&format!("main 1.0\n  solve {solve}\n    dot {dot}")))
            .collect()
    };
    let old = version([10.0, 10.2, 9.8, 10.0], [3.0, 3.6, 2.6, 3.0]);
    let new = version([11.2, 11.4, 11.0, 11.2], [3.2, 3.5, 2.7, 3.4]);
    let comparison = compared(&[&old, &new], &ComparisonOptions::default());
    let pair = &comparison.pairs[0];
    assert_eq!(pair.basis, Some(Basis::Repetitions));
    let solve = pair.rows[row(&comparison, "solve")].own;
    assert_eq!(solve.is_significant(0.05), Some(true));
    assert!((solve.percent().unwrap() - 12.0).abs() < 1e-9);
    let (low, high) = solve.percent_interval().unwrap();
    // Standard deviations of 0.16330: half width t(6) * 0.16330 * sqrt(2/4) = 0.28256 of 10.
    assert!((low - 9.1745).abs() < 1e-3 && (high - 14.8255).abs() < 1e-3, "{low} {high}");
    let dot = pair.rows[row(&comparison, "dot")].own;
    assert_eq!(dot.is_significant(0.05), Some(false));
    let sentences = comparison.sentences(pair);
    assert!(sentences[0].starts_with("Whole program: slower by 9"), "{sentences:?}");
    assert_eq!(
        sentences[1],
        "solve, called from main: slower by 12 % (95 %: 9.2 to 15 %), 11.20 s versus \
         10.00 s; +1.200 s of +1.350 s total difference."
    );
    assert_eq!(sentences.len(), 2, "noise is not named: {sentences:?}");
}

#[test]
fn different_numbers_of_locations_are_compared_by_their_mean() {
    let (old, new) =
        ([drawn("main 1.0 3.0\n  f 1.0 1.0")], [drawn("main 2.0 2.0 2.0\n  f 1.0 . 0.5")]);
    let comparison = compared(&[&old, &new], &ComparisonOptions::default());
    assert_eq!(comparison.over, Over::Mean);
    let f = comparison.pairs[0].rows[row(&comparison, "f")].own;
    assert_eq!((f.old, f.new), (1.0, 0.5));
    assert_eq!(comparison.pairs[0].basis, Some(Basis::Locations));
    let slowest = ComparisonOptions { over: Some(Over::Max), ..Default::default() };
    let comparison = compared(&[&old, &new], &slowest);
    let total = *comparison.pairs[0].total().unwrap();
    assert_eq!((total.old, total.new), (4.0, 3.0));
    assert_eq!(comparison.pairs[0].basis, None);
}

#[test]
fn the_same_execution_twice_differs_in_nothing() {
    let (old, new) = ([drawn(OLD)], [drawn(OLD)]);
    let comparison = compared(&[&old, &new], &ComparisonOptions::default());
    let pair = &comparison.pairs[0];
    assert!(pair.rows.iter().all(|row| row.own.difference() == 0.0 && row.own.share.is_none()));
    assert!(pair.rows.iter().all(|row| row.own.is_significant(0.05) != Some(true)));
    assert_eq!(comparison.sentences(pair)[0], "Whole program: unchanged, 14.00 s.");
}

fn drawing(columns: &[usize], names: [&str; 4], costs: &[[f64; 4]]) -> String {
    let line = |depth: usize, name: &str, at: usize| {
        let values: Vec<String> = columns.iter().map(|&c| costs[c][at].to_string()).collect();
        format!("{}{name} {}\n", "  ".repeat(depth), values.join(" "))
    };
    let [a, b, c, d] = names;
    [line(0, a, 0), line(1, b, 1), line(2, c, 2), line(1, d, 3)].concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn permuting_locations_or_renaming_functions_changes_no_finding(
        old in prop::collection::vec(prop::array::uniform4(0.01_f64..9.0), 3..6),
        factor in 0.5_f64..2.0,
        swap in 0_usize..3,
    ) {
        let new: Vec<[f64; 4]> =
            old.iter().map(|c| [c[0], c[1] * factor, c[2] + 0.25, c[3] * 1.01]).collect();
        let straight: Vec<usize> = (0..old.len()).collect();
        let mut turned = straight.clone();
        turned.rotate_left(swap.min(old.len() - 1));
        let names = ["main", "solve", "dot", "write"];
        let others = ["alpha", "beta", "gamma", "delta"];
        let options = ComparisonOptions::default();
        let with = |columns: &[usize], names| {
            let sessions = (
                [drawn(&drawing(columns, names, &old))],
                [drawn(&drawing(columns, names, &new))],
            );
            compared(&[&sessions.0, &sessions.1], &options)
        };
        let plain = with(&straight, names);
        let permuted = with(&turned, names);
        prop_assert_eq!(told(&plain), told(&permuted));
        prop_assert_eq!(
            plain.sentences(&plain.pairs[0]),
            permuted.sentences(&permuted.pairs[0])
        );
        let renamed = with(&straight, others);
        let back = |text: String| {
            others.iter().zip(names).fold(text, |text, (other, name)| text.replace(other, name))
        };
        let sentences: Vec<String> =
            renamed.sentences(&renamed.pairs[0]).into_iter().map(back).collect();
        prop_assert_eq!(plain.sentences(&plain.pairs[0]), sentences);
        // Matched pairs have the same tests, whatever the order of their locations.
        for (a, b) in plain.pairs[0].rows.iter().zip(&permuted.pairs[0].rows) {
            let p = |row: &parallax_analysis::comparison::ContextDelta| row.own.test.map(|t| t.p);
            match (p(a), p(b)) {
                (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-9, "{a} {b}"),
                (a, b) => prop_assert_eq!(a, b),
            }
        }
    }

    #[test]
    fn swapping_versions_turns_the_sign_of_every_difference(
        old in prop::collection::vec(prop::array::uniform4(0.01_f64..9.0), 2..5),
        new in prop::collection::vec(prop::array::uniform4(0.01_f64..9.0), 2..5),
    ) {
        let names = ["main", "solve", "dot", "write"];
        let session = |costs: &[[f64; 4]]| {
            let columns: Vec<usize> = (0..costs.len()).collect();
            [drawn(&drawing(&columns, names, costs))]
        };
        let (a, b) = (session(&old), session(&new));
        let there = compared(&[&a, &b], &ComparisonOptions::default());
        let back = compared(&[&b, &a], &ComparisonOptions::default());
        for (there, back) in there.pairs[0].rows.iter().zip(&back.pairs[0].rows) {
            prop_assert!((there.own.difference() + back.own.difference()).abs() < 1e-9);
        }
    }

    #[test]
    fn ranks_count_smaller_and_equal_values(values in prop::collection::vec(0_u8..6, 1..40)) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        for (value, rank) in values.iter().zip(ranks(&values)) {
            let smaller = values.iter().filter(|other| *other < value).count() as f64;
            let equal = values.iter().filter(|other| *other == value).count() as f64;
            prop_assert_eq!(rank, smaller + (equal + 1.0) / 2.0);
        }
    }
}

#[test]
fn students_distribution_agrees_with_its_closed_forms_and_its_integral() {
    for t in [0.0, 0.01, 0.5, 1.0, 2.0, 5.0, 30.0, 1000.0] {
        // Cauchy, and the closed form of two degrees of freedom.
        let one = 1.0 - 2.0 / std::f64::consts::PI * f64::atan(t);
        assert!((t_two_sided(t, 1.0) - one).abs() < 1e-12, "{t}");
        let two = 1.0 - t / f64::sqrt(2.0 + t * t);
        assert!((t_two_sided(t, 2.0) - two).abs() < 1e-12, "{t}");
    }
    // Simpson's rule over the density, whose constant comes from the same rule.
    let integral = |from: f64, to: f64, freedom: f64| {
        let n = 20_000;
        let density = |x: f64| (1.0 + x * x / freedom).powf(-(freedom + 1.0) / 2.0);
        let h = (to - from) / f64::from(n);
        (0..=n)
            .map(|i| {
                let weight = if i == 0 || i == n {
                    1.0
                } else if i % 2 == 1 {
                    4.0
                } else {
                    2.0
                };
                weight * density(from + f64::from(i) * h)
            })
            .sum::<f64>()
            * h
            / 3.0
    };
    for freedom in [7.5, 12.0, 40.0] {
        let whole = integral(0.0, 200.0, freedom);
        for t in [0.3, 1.7, 3.0] {
            let inner = integral(0.0, t, freedom);
            let expected = 1.0 - inner / whole;
            assert!((t_two_sided(t, freedom) - expected).abs() < 1e-9, "{freedom} {t}");
        }
    }
    for (freedom, quantile) in [(1.0, 12.7062), (6.0, 2.44691), (30.0, 2.04227)] {
        assert!((t_quantile_95(freedom) - quantile).abs() < 1e-4);
    }
}

#[test]
fn tests_of_two_samples_agree_with_numbers_worked_out_by_hand() {
    // Means 2 and 5, variances 1 and 4, three each: error sqrt(5/3), freedom (5/3)^2/(1/18+16/18).
    let test = welch(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0], Basis::Repetitions).unwrap();
    let freedom = 25.0 / 9.0 / (17.0 / 18.0);
    assert!((test.p - t_two_sided(3.0 / (5.0_f64 / 3.0).sqrt(), freedom)).abs() < 1e-12);
    assert!((test.effect.unwrap() - 3.0 / 2.5_f64.sqrt() * 0.8).abs() < 1e-12);
    // Differences 1, 2, 3: t = 2 / (1 / sqrt 3), two degrees of freedom.
    let test = paired(&[1.0, 1.0, 1.0], &[2.0, 3.0, 4.0], Basis::PairedLocations).unwrap();
    let t = 2.0 * 3.0_f64.sqrt();
    assert!((test.p - (1.0 - t / (2.0 + t * t).sqrt())).abs() < 1e-12);
    // Ratio 7/3, residuals -1/3 and 1/3, error sqrt(2 * 2/9) / 3 = 2/9: t = 6, one degree.
    let test = paired_ratio(&[1.0, 2.0], &[2.0, 5.0], Basis::PairedLocations).unwrap();
    let one = 1.0 - 2.0 / std::f64::consts::PI * 6.0_f64.atan();
    assert!((test.p - one).abs() < 1e-12, "{test:?}");
    let half = t_quantile_95(1.0) * 2.0 / 9.0 * 1.5;
    assert!((test.interval.0 - (2.0 - half)).abs() < 1e-9, "{test:?}");
    // All pairs three times as much: no doubt at all, although they differ.
    let test = paired_ratio(&[1.0, 2.0, 9.0], &[3.0, 6.0, 27.0], Basis::PairedLocations).unwrap();
    assert_eq!((test.p, test.interval), (0.0, (8.0, 8.0)));
    // Values that do not vary: certain of counts; of times, which are rounded, as likely as that
    // two and two values do not overlap, in 2 of 6 arrangements.
    let test = welch(&[1.0, 1.0], &[2.0, 2.0], Basis::Repetitions).unwrap();
    assert_eq!(test.p, 0.0);
    assert!((test.of_rounded().p - 1.0 / 3.0).abs() < 1e-12);
    let vary = welch(&[1.0, 1.1], &[2.0, 2.1], Basis::Repetitions).unwrap();
    assert_eq!(vary.of_rounded(), vary);
    assert_eq!(welch(&[1.0, 1.0], &[1.0, 1.0], Basis::Repetitions).unwrap().p, 1.0);
    assert_eq!(welch(&[1.0], &[1.0, 2.0], Basis::Repetitions), None);
}

#[test]
fn adjusted_probabilities_are_the_smallest_rate_that_reports_each() {
    let p = [0.01, 0.04, 0.03, 0.005, 0.5];
    let mut adjusted = p;
    benjamini_hochberg(&mut adjusted);
    // Brute force over the definition: the smallest q for which the step-up rule rejects.
    for (at, value) in p.iter().enumerate() {
        let rejects = |rate: f64| {
            let mut sorted = p;
            sorted.sort_by(f64::total_cmp);
            let last = (1..=5).rev().find(|&k| sorted[k - 1] <= k as f64 / 5.0 * rate + 1e-12);
            last.is_some_and(|k| *value <= sorted[k - 1])
        };
        assert!(rejects(adjusted[at]) && !rejects(adjusted[at] - 1e-6), "{value}");
    }
}

#[test]
fn correlations_agree_with_their_definitions() {
    let (x, y) = ([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.5]);
    let r = pearson(&x, &y).unwrap();
    // Sums of squares 5 and 22.6875, of products 10.75.
    assert!((r.coefficient - 10.75 / (5.0_f64 * 23.1875).sqrt()).abs() < 1e-12, "{r:?}");
    assert_eq!(spearman(&x, &y).unwrap().coefficient, 1.0);
    assert_eq!(pearson(&x, &[1.0; 4]), None);
    // Of 24 orders of four values, 1 - 6 sum d^2 / (n (n^2 - 1)).
    let shuffled = [3.0, 1.0, 4.0, 2.0];
    assert!(
        (spearman(&x, &shuffled).unwrap().coefficient - (1.0 - 6.0 * 10.0 / 60.0)).abs() < 1e-12
    );
}

/// Every order of `values`.
fn orders(values: &[f64]) -> Vec<Vec<f64>> {
    if values.is_empty() {
        return vec![Vec::new()];
    }
    let each = |at: usize| {
        let mut rest = values.to_vec();
        let first = rest.remove(at);
        orders(&rest).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    (0..values.len()).flat_map(each).collect()
}

#[test]
fn a_perfect_order_of_few_locations_is_as_likely_as_one_order_of_all() {
    // 2 of n! orders are perfect.
    for (n, expected) in
        [(3_u32, 1.0 / 3.0), (4, 1.0 / 12.0), (5, 1.0 / 60.0), (9, 2.0 / 362_880.0)]
    {
        let x: Vec<f64> = (0..n).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| x * x).collect();
        let found = spearman(&x, &y).unwrap();
        assert!((found.p - expected).abs() < 1e-12, "{n}: {found:?}");
        // On a line as well, whatever Student's distribution says of normal values.
        assert!((pearson(&x, &x).unwrap().p - expected).abs() < 1e-12, "{n}");
        let falling: Vec<f64> = x.iter().map(|x| -x).collect();
        assert!((spearman(&x, &falling).unwrap().p - expected).abs() < 1e-12, "{n}");
    }
    // Beyond, Student's distribution; of a perfect order still two of 12!.
    let x: Vec<f64> = (0..12).map(f64::from).collect();
    assert!((spearman(&x, &x).unwrap().p / (2.0 / 479_001_600.0) - 1.0).abs() < 1e-9);
    // As cor.test of R says: ten of 120 orders are as far from 0 as one
    // swap of neighbours, or farther.
    let p = |y: &[f64]| {
        let x: Vec<f64> = (0_u32..).map(f64::from).take(y.len()).collect();
        spearman(&x, y).unwrap().p
    };
    assert!((p(&[1.0, 2.0, 3.0, 5.0, 4.0]) - 10.0 / 120.0).abs() < 1e-12);
}

#[test]
fn what_two_columns_have_in_one_location_only_is_no_more_than_that_location() {
    // A function that runs on one of 100 locations, and another that runs there, too: 1 of 100
    // arrangements puts them together.
    let mut x = vec![0.0; 100];
    x[17] = 5.0;
    let y: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
    for found in [pearson(&x, &y).unwrap(), spearman(&x, &y).unwrap()] {
        assert_eq!(found.coefficient, 1.0);
        assert!((found.p - 0.01).abs() < 1e-9, "{found:?}");
    }
}

#[test]
fn few_locations_never_come_first() {
    let lot = |seed: u64, at: u64| ((seed + at * at * 7919) % 101) as f64;
    let few = |at: u64, value: f64| if at < 3 { value } else { f64::NAN };
    let column = |context: &str, of: &dyn Fn(u64) -> f64| LocationColumn {
        kind: ColumnKind::Cost { metric: "TIME".into(), context: context.into() },
        values: (0..60).map(of).collect(),
    };
    let columns = vec![
        column("copies", &|at| few(at, at as f64)),
        column("kernels", &|at| few(at, 2.0 * at as f64)),
        column("solve", &|at| at as f64 + 0.3 * lot(5, at)),
        column("wait", &|at| 100.0 - at as f64 - 0.3 * lot(23, at)),
    ];
    let order = CorrelationOrder::Significance;
    let found = correlate(columns, |_| true, order, 10, &Control::new()).unwrap();
    let first = &found.pairs[0];
    assert_eq!((first.a, first.b, first.spearman.count), (2, 3, 60), "{:?}", found.pairs);
    let few = found.pairs.iter().find(|pair| (pair.a, pair.b) == (0, 1)).unwrap();
    assert_eq!((few.spearman.coefficient, few.spearman.count), (1.0, 3));
    assert!((few.spearman.p - 1.0 / 3.0).abs() < 1e-12 && few.pearson.p >= few.spearman.p);
}

#[test]
fn columns_by_lot_are_correlated_in_at_most_as_many_questions_as_the_level_says() {
    let mut state = 11_u64;
    let mut lot = |sides: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % sides) as f64
    };
    // Few and more locations; values that are nearly all different, and many equal ones.
    for (locations, sides) in [(4, 1000), (6, 1000), (6, 3), (9, 4), (14, 1000), (30, 5)] {
        let mut alarms = [0, 0];
        for _ in 0..1000 {
            let columns = (0..5).map(|at| LocationColumn {
                kind: ColumnKind::Cost { metric: "TIME".into(), context: format!("f{at}") },
                values: (0..locations).map(|_| lot(sides)).collect(),
            });
            let order = CorrelationOrder::Significance;
            let found = correlate(columns.collect(), |_| true, order, 10, &Control::new()).unwrap();
            alarms[0] += u32::from(found.pairs.iter().any(|pair| pair.spearman_adjusted < 0.05));
            alarms[1] += u32::from(found.pairs.iter().any(|pair| pair.pearson_adjusted < 0.05));
        }
        // Beyond nine locations Student's distribution is near, not exact.
        let most = if locations <= 9 { 50 } else { 65 };
        assert!(alarms[0] <= most, "{locations} locations, {sides}: {alarms:?} of 1000");
        assert!(alarms[1] <= 80, "{locations} locations, {sides}: {alarms:?} of 1000");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_probability_of_few_ranks_is_the_share_of_all_orders(
        pairs in prop::collection::vec((0_u8..5, 0_u8..9), 3..7),
    ) {
        let x: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.0)).collect();
        let y: Vec<f64> = pairs.iter().map(|pair| f64::from(pair.1)).collect();
        let Some(found) = spearman(&x, &y) else { return Ok(()) };
        let (x, y) = (ranks(&x), ranks(&y));
        let mean = (x.len() as f64 + 1.0) / 2.0;
        let far = |y: &[f64]| {
            x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>().abs()
        };
        let (all, seen) = (orders(&y), far(&y));
        let as_far = all.iter().filter(|order| far(order) >= seen - 1e-9).count();
        prop_assert!((found.p - as_far as f64 / all.len() as f64).abs() < 1e-12, "{:?}", found);
    }
}

#[test]
fn the_most_expensive_functions_are_kept_when_not_all_fit() {
    // The last function of the tree has 55 of 100 s and rises with the rank; ten before it are as
    // cheap as makes no difference, but above the least share.
    let mut drawing = String::from("main 0.1 0.1 0.1 0.1\n");
    for at in 0..10 {
        drawing.push_str(&format!("  early{at} 1.1 1.1 1.2 1.1\n"));
    }
    drawing.push_str("  late 5.0 10.0 17.0 23.0\n");
    let session = drawn(&drawing);
    let version = Version { name: String::new(), executions: vec![execution(&session)] };
    let costs = |most_cells: usize| {
        location_costs(&version, Matching::Function, 1.0, most_cells, &Control::new()).unwrap()
    };
    // Two numbers for each of four locations: three rows, of which one is the whole program.
    let found = costs(3 * 2 * 4);
    assert_eq!((found.rows.len(), found.left_out), (2, 9));
    assert_eq!(found.rows[0], ("late".to_owned(), vec![5.0, 10.0, 17.0, 23.0]));
    for (whole, expected) in found.whole.iter().zip([16.1, 21.1, 29.1, 34.1]) {
        assert!((whole - expected).abs() < 1e-9, "{:?}", found.whole);
    }
    let all = costs(usize::MAX);
    assert_eq!((all.rows.len(), all.left_out), (11, 0));
    // However little fits, one function does.
    assert_eq!(costs(0).rows[0].0, "late");
}

#[test]
fn profiles_recorded_to_another_depth_are_compared_at_the_depth_of_both() {
    let shallow = drawn(
        "
        main       1.0  1.0
          solve    9.0  9.5
          write    2.0  2.0
        ",
    );
    let deep = drawn(
        "
        main       1.0  1.0
          solve    0.5  0.5
            dot    6.0  6.0
              add  2.0  2.5
          write    0.5  0.5
            pack   1.5  1.5
        ",
    );
    for (old, new) in [(&shallow, &deep), (&deep, &shallow)] {
        let versions = [old, new].map(|session| Version {
            name: String::from(if std::ptr::eq(session, &shallow) { "shallow" } else { "deep" }),
            executions: vec![execution(session)],
        });
        let options = ComparisonOptions::default();
        let found =
            compare(&versions, "CPUTIME", &Unit::Seconds, &options, &Control::new()).unwrap();
        assert_eq!(found.matching, Matching::CallPath);
        let depth = found.contexts.iter().map(|context| context.depth).max();
        assert_eq!(depth, Some(found.contexts[row(&found, "solve")].depth));
        let rows = &found.pairs[0].rows;
        for (name, least, most) in [("solve", 17.5, 18.5), ("write", 4.0, 4.0), ("main", 2.0, 2.0)]
        {
            let own = rows[row(&found, name)].own;
            assert!(own.old >= least && own.old <= most, "{name}: {own:?}");
            assert!(own.new >= least && own.new <= most, "{name}: {own:?}");
            assert_eq!(rows[row(&found, name)].presence, Presence::Both);
        }
        assert!(found.notes.iter().any(|note| note.contains("those of shallow end at depth")));
    }
    // A function that is new is new.
    let grown = drawn(
        "
        main       1.0  1.0
          solve    9.0  9.5
            check  4.0  4.0
          write    2.0  2.0
        ",
    );
    let found = compared(&[&[shallow], &[grown]], &ComparisonOptions::default());
    let check = found.pairs[0].rows[row(&found, "check")];
    assert_eq!((check.presence, check.own.new), (Presence::OnlyNew, 8.0));
}
