//! The theoretical program of the 2018 paper: serial time n^2, parallel time n^2/p + log2 p.
//!
//! Expected values are written as closed forms of n and p, not by way of times: with p = 2^k,
//! `E = n^2 / (p (n^2/p + k)) = n^2 / (n^2 + k 2^k)`.

use parallax_analysis::scaling::{
    ByDefinition, Grid, MapOptions, Maps, Program, Region, Superlinear, VerdictOptions,
    difference_range, fit_amdahl, interpolate, maps, verdicts, weak_diagonal,
};

const STEPS: u32 = 13;

fn size(i: u32) -> f64 {
    10.0 * f64::from(1_u32 << i)
}

#[expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]
fn program() -> Maps {
    let cores: Vec<u32> = (0..STEPS).map(|k| 1 << k).collect();
    let inputs = (0..STEPS).map(|i| size(i).to_string()).collect();
    let runs = (0..STEPS)
        .map(|i| {
            (0..STEPS)
                .map(|k| vec![size(i) * size(i) / f64::from(1_u32 << k) + f64::from(k)])
                .collect()
        })
        .collect();
    maps(&Grid::new(inputs, cores, runs).unwrap(), MapOptions::default())
}

/// `E` of input i on 2^k cores.
fn efficiency(i: u32, k: u32) -> f64 {
    let work = 100.0 * f64::from(1_u32 << (2 * i));
    work / (work + f64::from(k) * f64::from(1_u32 << k))
}

fn same(value: Option<f64>, expected: Option<f64>, at: (u32, u32)) {
    match (value, expected) {
        (Some(value), Some(expected)) => {
            assert!((value - expected).abs() <= 4.0 * f64::EPSILON, "{at:?}: {value} {expected}");
        }
        (value, expected) => assert_eq!(value, expected, "{at:?}"),
    }
}

#[test]
fn all_maps_follow_from_the_formulas() {
    let found = program();
    for i in 0..STEPS {
        for k in 0..STEPS {
            let at = (i as usize, k as usize);
            let e = efficiency(i, k);
            let get = |map: &parallax_analysis::scaling::Map| map.get(at.0, at.1);
            same(get(&found.efficiency), Some(e), (i, k));
            let speedup = get(&found.speedup).unwrap();
            assert!((speedup / (e * f64::from(1_u32 << k)) - 1.0).abs() < 1e-15);
            let m = i.min(k);
            same(get(&found.scalability_abs), Some(e - efficiency(0, k)), (i, k));
            same(get(&found.strong_abs), Some(e - 1.0), (i, k));
            same(get(&found.weak_abs), Some(e - efficiency(i - m, k - m)), (i, k));
            let up = i.checked_sub(1).map(|i| e - efficiency(i, k));
            let left = k.checked_sub(1).map(|k| e - efficiency(i, k));
            let both = i.checked_sub(1).zip(k.checked_sub(1)).map(|(i, k)| e - efficiency(i, k));
            same(get(&found.scalability_rel), up, (i, k));
            same(get(&found.strong_rel), left, (i, k));
            same(get(&found.weak_rel), both, (i, k));
        }
    }
    // A number that can be checked by hand: n = 10, p = 4096: 100 / (100 + 12 * 4096).
    same(found.efficiency.get(0, 12), Some(100.0 / 49252.0), (0, 12));
}

#[test]
fn what_the_paper_infers_from_its_pictures_holds() {
    let found = program();
    // a) for any number of cores, larger problems are more efficient: the program scales.
    assert!(found.scalability_rel.iter().all(|(_, _, value)| value >= 0.0));
    // c) more cores on any fixed problem lower efficiency: not strongly scalable.
    assert!(found.strong_rel.iter().all(|(_, _, value)| value < 0.0));
    // d) no efficiency drop when both grow: weakly scalable. One step multiplies the overhead
    // k 2^k / n^2 by k / (2 (k - 1)): nothing changes at k = 2, then it shrinks. The step to k = 1
    // leaves one core, where efficiency is 1 by definition, and must lose something.
    for i in 1..STEPS as usize {
        assert!(found.weak_rel.get(i, 1).unwrap() < 0.0);
        same(found.weak_rel.get(i, 2), Some(0.0), (1, 2));
        for k in 3..STEPS as usize {
            assert!(found.weak_rel.get(i, k).unwrap() > 0.0, "{i} {k}");
        }
    }
}

#[test]
fn the_words_of_the_paper_are_said_of_its_example() {
    let judge = |maps: Maps| {
        let region = Region { id: "0".into(), name: String::new(), parent: None, maps };
        let program = Program::new(vec![region]).unwrap();
        verdicts(&program, VerdictOptions::default()).remove(0)
    };
    let told = judge(program());
    let expected =
        ByDefinition { generally: Some(true), strongly: Some(false), weakly: Some(true) };
    assert_eq!(told.by_definition, expected);
    let text = told.text();
    assert!(text.contains("PaScal Viewer"), "{text}");
    assert!(text.contains("scalable, not strongly scalable, weakly scalable"), "{text}");
    // The sentence that says how far it scales stays.
    assert!(text.contains("Strong scaling holds up to 4096 cores"), "{text}");
    // With overhead that grows with cores and not with work, no definition holds but one.
    let of = |time: &dyn Fn(f64, f64) -> f64| {
        let (inputs, cores) = ([1.0, 2.0, 4.0], [1_u32, 2, 4, 8]);
        let row = |n: &f64| cores.iter().map(|&p| vec![time(*n, f64::from(p))]).collect();
        let names = inputs.iter().map(ToString::to_string).collect();
        let grid = Grid::new(names, cores.to_vec(), inputs.iter().map(row).collect()).unwrap();
        judge(maps(&grid, MapOptions::default())).by_definition
    };
    // Nothing is lost: all hold.
    assert_eq!(
        of(&|n, p| n / p),
        ByDefinition { generally: Some(true), strongly: Some(true), weakly: Some(true) }
    );
    // A serial half of whatever size: efficiency depends on cores alone, and falls with them.
    assert_eq!(
        of(&|n, p| n * (0.5 + 0.5 / p)),
        ByDefinition { generally: Some(true), strongly: Some(false), weakly: Some(false) }
    );
}

#[test]
fn drawing_helpers_follow_the_viewers() {
    let found = program();
    let m = difference_range(&[&found.scalability_abs, &found.strong_abs, &found.weak_abs]);
    same(m, Some(1.0 - efficiency(0, 12)), (0, 12));
    let fine = interpolate(&found.efficiency, 4);
    assert_eq!((fine.num_inputs(), fine.num_cores()), (49, 49));
    same(fine.get(8, 20), Some(efficiency(2, 5)), (2, 5));
    // A quarter of the way down and halfway across is the bilinear blend of four cells.
    let blend = 0.375 * (efficiency(2, 5) + efficiency(2, 6))
        + 0.125 * (efficiency(3, 5) + efficiency(3, 6));
    same(fine.get(9, 22), Some(blend), (9, 22));
}

#[test]
fn the_diagonal_is_not_matched_and_that_is_said() {
    // Work grows by 4 with n, cores by 2: the paper's weak maps compare unlike things.
    let warning = weak_diagonal(&program(), 1.25).unwrap();
    assert_eq!(warning.mismatches.len(), 144);
    assert!(warning.warning().unwrap().contains("multiplies work by 4.00 and cores by 2.00"));
}

#[test]
fn superlinear_cells_are_kept_and_clamped_only_in_differences() {
    let grid = Grid::new(
        vec!["small".into(), "large".into()],
        vec![1, 2],
        vec![vec![vec![8.0], vec![5.0]], vec![vec![8.0], vec![3.2]]],
    )
    .unwrap();
    let clamp = MapOptions { superlinear: Superlinear::ClampInDifferences, ..Default::default() };
    let (kept, clamped) = (maps(&grid, MapOptions::default()), maps(&grid, clamp));
    assert_eq!(clamped.efficiency.get(1, 1), Some(1.25));
    assert_eq!(kept.scalability_abs.get(1, 1), Some(0.44999999999999996));
    assert_eq!(clamped.scalability_abs.get(1, 1), Some(1.0 - 0.8));
    assert_eq!((kept.strong_abs.get(1, 1), clamped.strong_abs.get(1, 1)), (Some(0.25), Some(0.0)));
}

#[test]
fn amdahl_of_the_largest_problem_has_no_serial_part_worth_naming() {
    let found = program();
    let points: Vec<(u32, f64)> =
        found.time.row(12).map(|(at, time)| (found.cores[at], time)).collect();
    let fit = fit_amdahl(&points).unwrap();
    assert!(fit.serial_fraction < 1e-7 && fit.relative_error < 1e-3, "{fit:?}");
}
