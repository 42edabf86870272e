//! The files of `fixtures/pascal` are what the generator writes, and hold what was planted.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use parallax_testkit::pascal::{IMBALANCE, Version, solver};
use serde_json::Value;

const SEED: u64 = 7;

fn runs(version: Version) -> Value {
    serde_json::from_str::<Value>(&solver(version, SEED)).unwrap()["data"].take()
}

/// Seconds of a thread in the first entry of a region; `thread` counts entries.
fn seconds(runs: &Value, run: &str, region: &str, thread: usize) -> f64 {
    let entry = &runs[run]["regions"][region][thread];
    entry[1].as_f64().unwrap() - entry[0].as_f64().unwrap()
}

/// The middle one of the three repetitions.
fn median(runs: &Value, configuration: &str, region: &str, thread: usize) -> f64 {
    let mut all = [1, 2, 3].map(|r| seconds(runs, &format!("{configuration};{r}"), region, thread));
    all.sort_by(f64::total_cmp);
    all[1]
}

#[test]
fn the_fixtures_are_what_the_generator_writes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/pascal");
    for (name, version) in [("solver-v1.json", Version::First), ("solver-v2.json", Version::Second)]
    {
        let kept = std::fs::read_to_string(folder.join(name)).unwrap();
        assert!(kept == solver(version, SEED), "{name} is not what the generator writes");
    }
}

#[test]
fn all_configurations_are_there_three_times() {
    assert_eq!(runs(Version::First).as_object().unwrap().len(), 5 * 5 * 3);
}

#[test]
fn a_serial_region_takes_as_long_on_any_core_count_until_it_is_repaired() {
    let (first, second) = (runs(Version::First), runs(Version::Second));
    for cores in [1, 2, 4, 8, 16] {
        let planted = 0.040 * 4.0;
        let serial = median(&first, &format!("{cores};2"), "1.2.5", 0);
        assert!((serial - planted).abs() < 3e-6, "{cores} cores: {serial}");
        let even = median(&second, &format!("{cores};2"), "1.2.5", 0);
        assert!((even - planted / f64::from(cores)).abs() < 3e-6, "{cores} cores: {even}");
    }
}

#[test]
fn the_first_thread_of_the_uneven_region_has_the_planted_share() {
    let first = runs(Version::First);
    let threads: Vec<f64> = (0..8).map(|t| median(&first, "8;4", "1.2.3.1", t)).collect();
    let mean = threads.iter().sum::<f64>() / 8.0;
    assert!((threads[0] / mean - IMBALANCE).abs() < 1e-4, "{threads:?}");
    assert!((mean - 0.180 * 16.0 / 8.0).abs() < 3e-6, "{mean}");
}
