//! Balance, energy, laws, POP efficiencies, comparison and verdicts, each on values
//! that can be checked by hand.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use parallax_analysis::math::t_two_sided;
use parallax_analysis::scaling::{
    ChangeKind, ChangeLimits, CompareOptions, EnergyGates, Grid, ImbalanceRule, Map, MapOptions,
    Measure, PopError, PopIdeal, PopScaling, PopTimes, Program, Region, Trend, VerdictOptions,
    compare, dispersion, energy_delay_product, energy_validity, fit_amdahl, fit_gustafson, fit_usl,
    imbalance, judge, maps, outliers, pop_efficiencies, serial_fraction, share_of_parent, spread,
    verdicts,
};
use proptest::prelude::*;

fn close(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{value} {expected}");
}

proptest! {
    #[test]
    fn statistics_ignore_order_and_bracket_the_values(mut values in prop::collection::vec(0.0_f64..1e3, 1..20)) {
        let before = dispersion(&values).unwrap();
        values.reverse();
        prop_assert_eq!(dispersion(&values).unwrap(), before);
        for measure in [Measure::Median, Measure::Mean] {
            let value = measure.of(&values).unwrap();
            prop_assert!(before.min - 1e-9 <= value && value <= before.max + 1e-9);
        }
    }
}

#[test]
fn dispersion_of_known_values() {
    let found = dispersion(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
    assert_eq!((found.count, found.min, found.max), (8, 2.0, 9.0));
    assert_eq!((found.mean, found.median, found.median_abs_deviation), (5.0, 4.5, 0.5));
    close(found.std_dev.unwrap(), (32.0_f64 / 7.0).sqrt());
    close(found.variation.unwrap(), (32.0_f64 / 7.0).sqrt() / 5.0);
    let (low, high) = found.mean_interval.unwrap();
    close(0.5 * (low + high), 5.0);
    // The quantile for 7 degrees of freedom: `qt(0.975, 7)` of R.
    let half = 2.364_624_251_592_785 * (32.0_f64 / 7.0 / 8.0).sqrt();
    assert!((high - low - 2.0 * half).abs() < 1e-9);
    assert_eq!(dispersion(&[1.0]).unwrap().std_dev, None);
    assert_eq!(dispersion(&[]), None);
    assert_eq!(dispersion(&[1.0, f64::NAN]), None);
}

#[test]
fn the_cold_start_is_the_outlier() {
    // The first run of a real region: 1.68 s against 0.13 s.
    assert_eq!(outliers(&[1.68, 0.131, 0.129, 0.130, 0.132]), [0]);
    assert_eq!(outliers(&[0.13, 0.13, 0.13, 0.13, 1.68, 0.13]), [4]);
    assert!(outliers(&[1.0, 1.1, 0.9, 1.05]).is_empty());
    assert!(outliers(&[1.0, 1.0, 1.0, 1.0]).is_empty());
    assert!(outliers(&[0.1, 0.1, 9.0]).is_empty(), "three runs cannot tell");
}

#[test]
fn imbalance_by_every_rule() {
    let times = [4.0, 2.0, 3.0, 3.0];
    close(imbalance(&times, ImbalanceRule::MaxOverMean).unwrap(), 0.25);
    close(imbalance(&times, ImbalanceRule::Range).unwrap(), 0.5);
    close(imbalance(&times, ImbalanceRule::Excess).unwrap(), 1.0 / 3.0);
    assert_eq!(imbalance(&[3.0, 3.0, 3.0], ImbalanceRule::default()), Some(0.0));
    assert_eq!(imbalance(&[3.0], ImbalanceRule::default()), None);
    assert_eq!(imbalance(&[0.0, 0.0], ImbalanceRule::default()), None);
    assert_eq!(imbalance(&[1.0, f64::NAN], ImbalanceRule::default()), None);
    let map = Map::from_fn(1, 3, |_, j| [None, Some(0.1), Some(0.3)][j]);
    let found = spread(&map).unwrap();
    assert_eq!((found.min, found.max), (0.1, 0.3));
    close(found.mean, 0.2);
}

#[test]
fn shares_of_the_parent() {
    let region = Map::from_fn(1, 3, |_, j| [Some(1.0), Some(2.0), None][j]);
    let parent = Map::from_fn(1, 3, |_, j| [Some(4.0), Some(0.0), Some(4.0)][j]);
    assert_eq!(share_of_parent(&region, &parent).iter().collect::<Vec<_>>(), [(0, 0, 25.0)]);
}

#[test]
fn energy_is_valid_when_runs_agree() {
    assert_eq!(energy_delay_product(3.0, 2.0), 6.0);
    let good: Vec<(f64, Option<f64>)> =
        [100.0, 101.0, 99.0, 100.0, 100.5].iter().map(|&joules| (joules, Some(102.0))).collect();
    assert!(energy_validity(&good, EnergyGates::default()).is_valid());
    let few = energy_validity(&good[..4], EnergyGates::default());
    assert!(!few.enough_runs && few.stable == Some(true) && !few.is_valid());
    let mut wild = good.clone();
    wild[0].0 = 160.0;
    let found = energy_validity(&wild, EnergyGates::default());
    assert_eq!((found.stable, found.agrees, found.runs), (Some(false), Some(false), 5));
    let unknown: Vec<_> = good.iter().map(|&(joules, _)| (joules, None)).collect();
    assert_eq!(energy_validity(&unknown, EnergyGates::default()).agrees, None);
}

#[test]
fn laws_find_planted_parameters() {
    let counts = [1_u32, 2, 3, 4, 8, 16, 32, 64];
    let points = |time: &dyn Fn(f64) -> f64| -> Vec<(u32, f64)> {
        counts.iter().map(|&p| (p, time(f64::from(p)))).collect()
    };
    let amdahl = fit_amdahl(&points(&|p| 120.0 * (0.05 + 0.95 / p))).unwrap();
    close(amdahl.serial_time, 120.0);
    close(amdahl.serial_fraction, 0.05);
    close(amdahl.max_speedup().unwrap(), 20.0);
    close(amdahl.speedup(8.0), 1.0 / (0.05 + 0.95 / 8.0));
    close(amdahl.time(8.0), 120.0 / amdahl.speedup(8.0));
    // Without one core the same law is found from the others.
    let without = &points(&|p| 120.0 * (0.05 + 0.95 / p))[2..];
    close(fit_amdahl(without).unwrap().serial_fraction, 0.05);
    // A superlinear program has no serial part, not a negative one.
    assert_eq!(fit_amdahl(&points(&|p| 10.0 / p / p)).unwrap().serial_fraction, 0.0);
    assert_eq!(fit_amdahl(&points(&|p| 10.0 / p)).unwrap().max_speedup(), None);

    let usl = fit_usl(&points(&|p| 80.0 * (1.0 + 0.03 * (p - 1.0) + 0.0005 * p * (p - 1.0)) / p));
    let usl = usl.unwrap();
    assert!((usl.contention - 0.03).abs() < 1e-9 && (usl.coherency - 0.0005).abs() < 1e-10);
    assert!((usl.peak_cores().unwrap() - (0.97_f64 / 0.0005).sqrt()).abs() < 1e-4);
    assert!((usl.time(16.0) - 80.0 * (1.0 + 0.45 + 0.12) / 16.0).abs() < 1e-9);
    assert_eq!(fit_usl(&points(&|p| 7.0 / p)).unwrap().peak_cores(), None);

    let grown: Vec<(u32, f64)> =
        counts.iter().map(|&p| (p, f64::from(p) - 0.1 * (f64::from(p) - 1.0))).collect();
    let gustafson = fit_gustafson(&grown).unwrap();
    close(gustafson.serial_fraction, 0.1);
    close(gustafson.speedup(64.0), 57.7);

    // Karp and Flatt: under Amdahl's law the metric is the serial fraction at every p.
    close(serial_fraction(8, amdahl.speedup(8.0)).unwrap(), 0.05);
    close(serial_fraction(64, amdahl.speedup(64.0)).unwrap(), 0.05);
    assert_eq!(serial_fraction(1, 1.0), None);

    assert_eq!(fit_amdahl(&[(4, 1.0), (4, 1.1)]), None);
    assert_eq!(fit_usl(&[(1, 1.0), (2, 0.6)]), None);
    assert_eq!(fit_gustafson(&[(1, 1.0)]), None);
    assert_eq!(fit_amdahl(&[(1, 0.0), (2, f64::NAN), (0, 1.0), (4, 1.0)]), None);
}

/// Useful times of `n` processes with this mean and maximum.
fn useful(n: usize, mean: f64, max: f64) -> Vec<f64> {
    let others = (mean * n as f64 - max) / (n as f64 - 1.0);
    let mut times = vec![others; n];
    times[0] = max;
    times
}

/// Two columns (1 and 16 processes) of a published analysis of a real code.
#[test]
fn pop_efficiencies_agree_with_basicanalysis() {
    let one = PopTimes {
        runtime: 21898659.14,
        useful: vec![21882362.82],
        ideal: Some(PopIdeal { runtime: 21884758.97, useful_max: 21884758.97 }),
        instructions: Some(84790848422.0),
        cycles: Some(45294421893.0),
    };
    let sixteen = PopTimes {
        runtime: 2339560.72,
        useful: useful(16, 2226119.73, 2242981.13),
        ideal: Some(PopIdeal { runtime: 2310335.96, useful_max: 2263040.22 }),
        instructions: Some(93158874793.0),
        cycles: Some(60494538119.0),
    };
    let found = pop_efficiencies(&sixteen, Some(&one), PopScaling::Strong).unwrap();
    for (value, percent) in [
        (Some(found.parallel), 95.151184),
        (Some(found.load_balance), 99.248259),
        (Some(found.communication), 95.871892),
        (found.serialisation, 97.952863),
        (found.transfer, 97.875538),
        (found.computation, 61.436394),
        (found.global, 58.457456),
        (found.ipc, 82.262861),
        (found.instructions, 91.017467),
        (found.frequency, 82.053509),
        (found.speedup, 936.0158),
    ] {
        assert!((100.0 * value.unwrap() - percent).abs() < 1e-4, "{value:?} {percent}");
    }
    let weak = pop_efficiencies(&sixteen, Some(&one), PopScaling::Weak).unwrap();
    close(weak.computation.unwrap(), 16.0 * found.computation.unwrap());
    let alone = pop_efficiencies(&sixteen, None, PopScaling::Strong).unwrap();
    assert_eq!((alone.computation, alone.speedup), (None, None));
}

#[test]
fn pop_efficiencies_from_time_in_mpi() {
    let times = PopTimes::from_mpi(10.0, &[1.0, 2.0, 3.0, 6.0]).unwrap();
    let found = pop_efficiencies(&times, None, PopScaling::Strong).unwrap();
    close(found.load_balance, 7.0 / 9.0);
    close(found.communication, 0.9);
    close(found.parallel, 0.7);
    let longer = PopTimes::from_mpi(1.0, &[2.0]).unwrap_err();
    assert_eq!(longer, PopError::MpiExceedsRuntime { process: 0, in_mpi: 2.0, runtime: 1.0 });
    let nobody = PopTimes::from_mpi(1.0, &[]).unwrap();
    assert_eq!(pop_efficiencies(&nobody, None, PopScaling::Weak), Err(PopError::NoProcesses));
    let waiting = PopTimes::from_mpi(1.0, &[1.0, 1.0]).unwrap();
    assert!(pop_efficiencies(&waiting, None, PopScaling::Weak).is_err());
}

fn grid(inputs: &[&str], cores: &[u32], runs: Vec<Vec<Vec<f64>>>) -> Grid {
    Grid::new(inputs.iter().map(|&input| input.to_owned()).collect(), cores.to_vec(), runs).unwrap()
}

#[test]
fn comparison_tells_noise_from_change() {
    let old = grid(
        &["a", "b"],
        &[1, 2],
        vec![
            vec![vec![10.0, 10.2, 10.1], vec![6.0, 6.1, 6.2]],
            vec![vec![20.0, 20.1, 20.2], vec![11.0]],
        ],
    );
    // Inputs in another order, one more core count, `b` on 2 cores not measured.
    let new = grid(
        &["b", "a"],
        &[1, 2, 4],
        vec![
            vec![vec![20.1, 20.3, 20.0], vec![], vec![5.0]],
            vec![vec![8.0, 8.1, 8.2], vec![6.9, 7.0, 7.1], vec![4.0]],
        ],
    );
    let found = compare(&old, &new, CompareOptions::default());
    let kinds: Vec<Option<ChangeKind>> =
        found.changes.iter().map(|change| change.map(|change| change.kind)).collect();
    let expected = [ChangeKind::Faster, ChangeKind::Slower, ChangeKind::WithinNoise];
    assert_eq!(kinds, [expected.map(Some).as_slice(), &[None]].concat());
    // Means 10.1 and 8.1, variances 0.01, three each: t = 2 / sqrt(0.02 / 3), four degrees.
    let test = found.changes[0].unwrap().test.unwrap();
    let t = 2.0 / (0.02_f64 / 3.0).sqrt();
    close(test.p, t_two_sided(t, 4.0));
    assert!(test.adjusted_p > test.p, "three configurations were looked at");
    close(found.time_ratio.get(0, 0).unwrap(), 8.1 / 10.1);
    close(found.efficiency.get(0, 1).unwrap(), 8.1 / 14.0 - 10.1 / 12.2);
    assert_eq!(found.efficiency.get(1, 1), None);
    assert_eq!((found.added_inputs, found.added_cores), (vec![], vec![4]));
    // One run against one, or against several, proves nothing, however far apart they are.
    let single = |times: &[f64]| grid(&["a"], &[1], vec![vec![times.to_vec()]]);
    for new in [&[1.0][..], &[1.0, 1.01, 1.02]] {
        let found = compare(&single(&[2.0]), &single(new), CompareOptions::default());
        let change = found.changes[0].unwrap();
        assert_eq!((change.kind, change.test), (ChangeKind::NotJudged, None));
        assert_eq!(change.runs, (1, new.len()));
    }
}

/// Numbers at random, the same in every run of the test.
struct Lot(u64);

impl Lot {
    /// Evenly from 0 to 1.
    fn even(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// With the normal distribution.
    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.even()).ln()).sqrt() * (std::f64::consts::TAU * self.even()).cos()
    }
}

#[test]
fn equal_versions_are_told_apart_in_at_most_as_many_comparisons_as_the_level_says() {
    type Noise = fn(&mut Lot) -> f64;
    // How many of 1000 comparisons may be alarms, which is what the level says.
    let noises: [(&str, usize, Noise); 5] = [
        ("normal", 50, |lot| 0.03 * lot.normal()),
        // Now and then something disturbs a run a lot.
        ("disturbed", 50, |lot| -0.05 * (1.0 - lot.even()).ln()),
        ("skewed", 50, |lot| 0.02 * lot.normal().exp()),
        // A clock that is as coarse as the noise.
        ("rounded", 50, |lot| (0.6 * lot.normal()).round() * 0.05),
        // Run times do not end at a bound on both sides; where they did, it would be a little more.
        ("even", 80, |lot| 0.1 * lot.even()),
    ];
    for (name, most, noise) in noises {
        for runs in [2, 3, 5] {
            let mut lot = Lot(runs);
            let mut drawn = || {
                let mut cell =
                    |time: f64| (0..runs).map(|_| time * (1.0 + noise(&mut lot))).collect();
                let rows =
                    [40.0, 80.0].map(|work| [1.0, 2.0, 4.0].map(|p| cell(work / p)).to_vec());
                grid(&["a", "b"], &[1, 2, 4], rows.to_vec())
            };
            let alarms = (0..1000)
                .filter(|_| {
                    let mut regions: Vec<_> = (0..3)
                        .map(|_| compare(&drawn(), &drawn(), CompareOptions::default()))
                        .collect();
                    let tested = judge(regions.iter_mut(), ChangeLimits::default());
                    assert_eq!(tested, 18);
                    let changes = regions.iter().flat_map(|region| region.changes.iter().flatten());
                    changes.into_iter().any(|change| change.kind.counts())
                })
                .count();
            assert!(alarms <= most, "{name}, {runs} runs: {alarms} of 1000 comparisons");
        }
    }
    // The rule still finds what is there: 10 % in one of six configurations, five runs each.
    let mut lot = Lot(9);
    let mut version = |slower: f64| {
        let mut cell = |time: f64| (0..5).map(|_| time * (1.0 + 0.01 * lot.normal())).collect();
        let rows =
            [40.0, 80.0 * slower].map(|work| [1.0, 2.0, 4.0].map(|p| cell(work / p)).to_vec());
        grid(&["a", "b"], &[1, 2, 4], rows.to_vec())
    };
    let found = compare(&version(1.0), &version(1.1), CompareOptions::default());
    let slower = found.changes.iter().flatten().filter(|c| c.kind == ChangeKind::Slower).count();
    assert_eq!(slower, 3, "{:?}", found.changes);
}

/// A program with a serial region of 1 s (checkpoint) and a parallel one of `work` s.
fn planted() -> Program {
    let cores = [1, 2, 4, 8, 16];
    let works = [4.0, 8.0];
    let times = |time: &dyn Fn(f64, f64) -> f64| {
        let runs = works
            .iter()
            .map(|&work| cores.iter().map(|&p| vec![time(work, f64::from(p))]).collect())
            .collect();
        maps(&grid(&["4", "8"], &cores, runs), MapOptions::default())
    };
    let region = |id: &str, name: &str, parent, maps| Region {
        id: id.to_owned(),
        name: name.to_owned(),
        parent,
        maps,
    };
    Program::new(vec![
        region("0", "", None, times(&|work, p| 1.0 + work / p + 0.1)),
        region("1", "solve", Some(0), times(&|work, p| 1.0 + work / p)),
        region("1.2", "checkpoint", Some(1), times(&|_, _| 1.0)),
    ])
    .unwrap()
}

/// What is said of the input when the second has these efficiencies on 2, 4 and 8 cores, and the
/// first 50 % on all of them.
fn about_input(second: [f64; 3]) -> (Trend, String) {
    let cores = [1, 2, 4, 8];
    let row = |efficiencies: [f64; 3]| -> Vec<Vec<f64>> {
        let all = std::iter::once(1.0).chain(efficiencies);
        all.zip(cores).map(|(efficiency, p)| vec![8.0 / (efficiency * f64::from(p))]).collect()
    };
    let runs = vec![row([0.5; 3]), row(second)];
    let maps = maps(&grid(&["a", "b"], &cores, runs), MapOptions::default());
    let root = Region { id: "0".to_owned(), name: String::new(), parent: None, maps };
    let program = Program::new(vec![root]).unwrap();
    let found = verdicts(&program, VerdictOptions::default());
    (found[0].input_trend.unwrap().trend, found[0].text())
}

#[test]
fn what_rises_here_and_falls_there_does_depend_on_the_input() {
    let (trend, text) = about_input([0.36, 0.55, 0.59]);
    assert_eq!(trend, Trend::Mixed);
    assert!(text.starts_with("Efficiency has no clear trend with the input (-14.0 to +9.0 points"));
    // Small differences either way are scatter.
    let (trend, text) = about_input([0.49, 0.5, 0.51]);
    assert_eq!(trend, Trend::Holds);
    assert!(text.starts_with("Efficiency does not depend on the input (0.0 points)"), "{text}");
    let (trend, _) = about_input([0.56, 0.6, 0.7]);
    assert_eq!(trend, Trend::Rises);
}

#[test]
fn the_verdict_names_the_planted_culprit() {
    let found = verdicts(&planted(), VerdictOptions::default());
    assert_eq!(found.len(), 3);
    let whole = &found[0];
    assert_eq!(whole.input_trend.unwrap().trend, Trend::Rises);
    let end = whole.strong[1];
    assert_eq!((end.cores, end.next.unwrap().0, end.fastest), (8, 16, 16));
    close(end.efficiency, 9.1 / (8.0 * 2.1));
    // Beyond one core, 15 x 1.1 s are lost on 16 cores, 15 x 1 s of it in the checkpoint.
    let loss = whole.loss.unwrap();
    assert_eq!(loss.core_idx, 4);
    assert!((loss.inclusive - 16.5).abs() < 1e-9 && (loss.own - 1.5).abs() < 1e-9);
    let culprit = found[2].loss.unwrap();
    close(culprit.share.unwrap(), 15.0 / 16.5);
    assert!((found[1].loss.unwrap().own).abs() < 1e-9, "solve itself is perfectly parallel");
    let text = whole.text();
    assert!(text.starts_with("Efficiency rises with the input"), "{text}");
    assert!(
        text.contains("Strong scaling ends at 8 cores for input i2 (efficiency 54 %, 36"),
        "{text}"
    );
    assert!(text.contains("91 % of the program's overhead is in region 1.2, checkpoint"), "{text}");
    let text = found[2].text();
    assert!(text.contains("Efficiency does not depend on the input"), "{text}");
    let expected = "No speedup for input i2: no run is faster than that on 1 core (efficiency 50 % on 2 cores).";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("Has 91 % of the program's overhead (15.0 core-seconds"), "{text}");
}

#[test]
fn a_verdict_without_baseline_claims_nothing() {
    let times = grid(&["a"], &[2, 4], vec![vec![vec![2.0], vec![1.0]]]);
    let region = Region {
        id: "0".to_owned(),
        name: String::new(),
        parent: None,
        maps: maps(&times, MapOptions::default()),
    };
    let found = verdicts(&Program::new(vec![region]).unwrap(), VerdictOptions::default());
    assert!(found[0].text().starts_with("No run on 1 core as baseline"));
    assert_eq!((found[0].loss, found[0].input_trend), (None, None));
    assert!(found[0].strong.is_empty());
}

#[test]
fn programs_must_be_trees_on_the_same_axes() {
    let program = planted();
    let regions = program.regions().to_vec();
    assert!(Program::new(vec![]).is_err());
    assert!(Program::new(vec![regions[1].clone()]).is_err());
    assert!(Program::new(vec![regions[0].clone(), regions[0].clone()]).is_err());
    assert!(Program::new(vec![regions[0].clone(), regions[2].clone()]).is_err());
    let mut other = regions[1].clone();
    other.maps.cores = [&[3], &other.maps.cores[1..]].concat().into();
    assert!(Program::new(vec![regions[0].clone(), other]).is_err());
}

#[test]
fn no_speed_up_is_told_of_the_cores_that_there_are() {
    let runs = vec![vec![vec![10.0], vec![9.5], vec![5.0]]];
    let all = maps(&grid(&["4"], &[1, 2, 4], runs), MapOptions::default());
    let whole = Region { id: "0".into(), name: String::new(), parent: None, maps: all };
    let program = Program::new(vec![whole]).unwrap();
    let said = |most_cores| {
        verdicts(&program, VerdictOptions { most_cores, ..VerdictOptions::default() })[0].text()
    };
    let expected = "No speedup: the shortest time, on 2 cores, is 95 % of that on 1 core \
                    (efficiency 53 % on 2 cores).";
    assert!(said(Some(2)).contains(expected), "{}", said(Some(2)));
    // With four cores there is one.
    assert!(said(None).contains("Strong scaling holds up to 4 cores"), "{}", said(None));
}
