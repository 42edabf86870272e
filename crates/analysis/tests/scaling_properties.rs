//! What must hold for any times: scale, order of repetitions, missing configurations.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use parallax_analysis::scaling::{
    Baseline, BaselinePolicy, EfficiencyRule, Grid, GridBuilder, Map, MapOptions, Maps, Measure,
    Program, Region, losses, maps,
};
use proptest::prelude::*;

type Runs = Vec<Vec<Vec<f64>>>;

fn grid(runs: Runs) -> Grid {
    let inputs = (0..runs.len()).map(|i| format!("i{i}")).collect();
    let cores = (0..runs[0].len()).map(|j| 1 << j).collect();
    Grid::new(inputs, cores, runs).unwrap()
}

fn runs() -> impl Strategy<Value = Runs> {
    (1_usize..5, 1_usize..6).prop_flat_map(|(inputs, cores)| {
        let cell = prop::collection::vec(0.001_f64..1000.0, 0..5);
        prop::collection::vec(prop::collection::vec(cell, cores), inputs)
    })
}

fn options() -> impl Strategy<Value = MapOptions> {
    let measures =
        prop::sample::select(vec![Measure::Median, Measure::Mean, Measure::Min, Measure::Max]);
    let baselines = prop::sample::select(vec![
        BaselinePolicy::Serial,
        BaselinePolicy::Cores(2),
        BaselinePolicy::Smallest,
        BaselinePolicy::SmallestCommon,
    ]);
    (measures, baselines).prop_map(|(measure, baseline)| MapOptions {
        measure,
        baseline,
        ..MapOptions::default()
    })
}

fn relative(maps: &Maps) -> [&Map; 8] {
    [
        &maps.speedup,
        &maps.efficiency,
        &maps.scalability_abs,
        &maps.strong_abs,
        &maps.weak_abs,
        &maps.scalability_rel,
        &maps.strong_rel,
        &maps.weak_rel,
    ]
}

/// All cells of a map, input by input, the undefined ones included.
fn cells(map: &Map) -> Vec<Option<f64>> {
    let of = |input| (0..map.num_cores()).map(move |core_idx| map.get(input, core_idx));
    (0..map.num_inputs()).flat_map(of).collect()
}

proptest! {
    #[test]
    fn powers_of_two_change_no_bit_of_any_efficiency(runs in runs(), options in options(), k in -20_i32..20) {
        let factor = 2.0_f64.powi(k);
        let scaled = runs.iter().map(|row| row.iter().map(|cell| cell.iter().map(|t| t * factor).collect()).collect()).collect();
        let (a, b) = (maps(&grid(runs), options), maps(&grid(scaled), options));
        for (a, b) in relative(&a).into_iter().zip(relative(&b)) {
            prop_assert_eq!(a, b);
        }
    }

    #[test]
    fn any_factor_changes_efficiencies_only_by_rounding(runs in runs(), options in options(), factor in 1e-6_f64..1e6) {
        let scaled = runs.iter().map(|row| row.iter().map(|cell| cell.iter().map(|t| t * factor).collect()).collect()).collect();
        let (a, b) = (maps(&grid(runs), options), maps(&grid(scaled), options));
        for (a, b) in relative(&a).into_iter().zip(relative(&b)) {
            for (x, y) in cells(a).iter().zip(&cells(b)) {
                prop_assert_eq!(x.is_some(), y.is_some());
                if let (Some(x), Some(y)) = (x, y) {
                    // Differences cancel, so the bound is relative to the largest ratio possible.
                    prop_assert!((x - y).abs() <= 1e-14 * 1e6_f64.max(x.abs()));
                }
            }
        }
    }

    #[test]
    fn order_of_repetitions_changes_no_bit(runs in runs(), options in options(), turn in 0_usize..5) {
        let turned = runs.iter().map(|row| row.iter().map(|cell| {
            let mut cell = cell.clone();
            let by = turn.min(cell.len());
            cell.rotate_left(by);
            cell.reverse();
            cell
        }).collect()).collect();
        prop_assert_eq!(maps(&grid(runs), options), maps(&grid(turned), options));
    }

    #[test]
    fn a_cell_is_defined_exactly_when_what_it_needs_was_measured(runs in runs(), options in options()) {
        let found = maps(&grid(runs.clone()), options);
        let has = |i: usize, j: usize| !runs[i][j].is_empty();
        for at in 0..runs.len() * found.cores.len() {
            let (i, j) = (at / found.cores.len(), at % found.cores.len());
            prop_assert_eq!(found.baseline_idx(i).is_none(), found.baselines[i] == Baseline::Missing);
            let e = |i: usize, j: usize| has(i, j) && found.baseline_idx(i).is_some_and(|b| has(i, b));
            let m = i.min(j);
            prop_assert_eq!(found.repetitions(i, j), runs[i][j].len());
            prop_assert_eq!(found.time.get(i, j).is_some(), has(i, j));
            prop_assert_eq!(found.efficiency.get(i, j).is_some(), e(i, j));
            prop_assert_eq!(found.scalability_abs.get(i, j).is_some(), e(i, j) && e(0, j));
            prop_assert_eq!(found.strong_abs.get(i, j).is_some(), e(i, j));
            prop_assert_eq!(found.weak_abs.get(i, j).is_some(), e(i, j) && e(i - m, j - m));
            prop_assert_eq!(found.scalability_rel.get(i, j).is_some(), i > 0 && e(i, j) && e(i - 1, j));
            prop_assert_eq!(found.strong_rel.get(i, j).is_some(), j > 0 && e(i, j) && e(i, j - 1));
            prop_assert_eq!(found.weak_rel.get(i, j).is_some(), i > 0 && j > 0 && e(i, j) && e(i - 1, j - 1));
        }
    }

    #[test]
    fn removing_a_configuration_changes_no_other_time_and_adds_no_value(runs in runs(), i in 0_usize..5, j in 0_usize..6) {
        let (i, j) = (i % runs.len(), j % runs[0].len());
        let mut cut = runs.clone();
        cut[i][j].clear();
        let (whole, cut) = (maps(&grid(runs), MapOptions::default()), maps(&grid(cut), MapOptions::default()));
        for (a, b) in relative(&whole).into_iter().zip(relative(&cut)) {
            for (x, y) in cells(a).iter().zip(&cells(b)) {
                prop_assert!(y.is_none() || x == y, "{:?} became {:?}", x, y);
            }
        }
    }

    #[test]
    fn runs_in_any_order_give_the_same_grid(runs in runs(), seed in 0_usize..1000) {
        let expected = grid(runs.clone());
        let mut flat = Vec::new();
        for (i, row) in runs.iter().enumerate() {
            for (j, cell) in row.iter().enumerate() {
                flat.push((i, 1_u32 << j, cell.clone()));
            }
        }
        let by = seed % flat.len();
        flat.rotate_left(by);
        let mut builder = GridBuilder::new(expected.inputs().to_vec());
        for (i, cores, cell) in flat {
            for time in cell {
                builder.push(i, cores, time).unwrap();
            }
        }
        prop_assert_eq!(builder.finish_with(expected.cores().to_vec()).unwrap(), expected);
    }

    #[test]
    fn per_repetition_efficiency_of_one_repetition_is_the_same(times in prop::collection::vec(0.001_f64..100.0, 1..8)) {
        let runs: Runs = vec![times.iter().map(|&time| vec![time]).collect()];
        let rule = MapOptions { efficiency: EfficiencyRule::PerRepetition, ..Default::default() };
        prop_assert_eq!(maps(&grid(runs.clone()), rule).efficiency, maps(&grid(runs), MapOptions::default()).efficiency);
    }

    #[test]
    fn own_losses_add_up_to_the_loss_of_the_program(whole in runs(), parts in prop::collection::vec(0.0_f64..1.0, 3)) {
        let part = |share: f64| maps(&grid(whole.iter().map(|row| row.iter().map(|cell| cell.iter().map(|t| t * share).collect()).collect()).collect()), MapOptions::default());
        let region = |id: &str, parent: Option<usize>, maps: Maps| Region { id: id.into(), name: String::new(), parent, maps };
        let program = Program::new(vec![
            region("0", None, part(1.0)),
            region("1", Some(0), part(parts[0])),
            region("1.2", Some(1), part(parts[0] * parts[1])),
            region("3", Some(0), part((1.0 - parts[0]) * parts[2])),
        ]).unwrap();
        let found = losses(&program);
        for whole in found.iter().filter(|loss| loss.region == 0) {
            let at = |loss: &&parallax_analysis::scaling::Loss| loss.input == whole.input && loss.core_idx == whole.core_idx;
            let total: f64 = found.iter().filter(at).map(|loss| loss.own).sum();
            prop_assert!((total - whole.inclusive).abs() <= 1e-9 * whole.inclusive.abs().max(1e5));
            prop_assert_eq!(found.iter().filter(at).count(), 4);
        }
    }
}

#[test]
fn repetitions_that_cannot_be_paired_give_no_efficiency() {
    let rule = MapOptions { efficiency: EfficiencyRule::PerRepetition, ..Default::default() };
    let found = maps(&grid(vec![vec![vec![4.0, 4.0, 4.0], vec![2.0, 2.0]]]), rule);
    assert_eq!((found.efficiency.get(0, 0), found.efficiency.get(0, 1)), (Some(1.0), None));
}

#[test]
fn a_time_of_zero_gives_no_infinite_speedup() {
    let found = maps(&grid(vec![vec![vec![4.0], vec![0.0]]]), MapOptions::default());
    assert_eq!((found.time.get(0, 1), found.speedup.get(0, 1)), (Some(0.0), None));
}

#[test]
fn grids_refuse_what_would_give_wrong_maps() {
    let one = |cores: Vec<u32>, cell: Vec<f64>| {
        let row = cores.iter().map(|_| cell.clone()).collect();
        Grid::new(vec!["i".into()], cores, vec![row]).unwrap_err().to_string()
    };
    assert!(one(vec![0], vec![]).contains("core counts start at 1"));
    assert!(one(vec![2, 1], vec![]).contains("1 follows 2"));
    assert!(one(vec![1, 1], vec![]).contains("1 follows 1"));
    assert!(one(vec![1], vec![f64::NAN]).contains("NaN"));
    assert!(one(vec![1], vec![-1.0]).contains("-1"));
    assert!(Grid::new(vec![], vec![1], vec![vec![]]).is_err());
    assert!(Grid::new(vec!["i".into()], vec![1, 2], vec![vec![vec![]]]).is_err());
    let mut builder = GridBuilder::new(vec!["i".into()]);
    assert!(builder.push(1, 1, 1.0).is_err());
    assert!(builder.push(0, 0, 1.0).is_err());
    assert!(builder.push(0, 1, f64::INFINITY).is_err());
}
