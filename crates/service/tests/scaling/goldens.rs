//! Maps of real PaScal files, through the readers and the service, against answers computed
//! independently of this code.

use std::path::PathBuf;

use parallax_service::analysis::scaling::{BaselinePolicy, EfficiencyRule, Map, MapOptions, Maps};
use parallax_service::scaling::{EnsembleOptions, RegionTime, ScalingOptions, scaling};
use serde_json::Value;

use crate::support::{corpus, file, open, text};

fn golden(corpus: &std::path::Path) -> Vec<Value> {
    let bytes = std::fs::read(corpus.join("goldens/pascal.json")).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Compares a map with a golden matrix that may lack its first `skip.0` rows and `skip.1` columns.
fn check(what: &str, map: &Map, golden: &Value, skip: (usize, usize)) -> usize {
    let golden = golden.as_array().unwrap();
    assert_eq!(golden.len() + skip.0, map.num_inputs(), "{what}: rows");
    let mut compared = 0;
    for i in 0..map.num_inputs() {
        for j in 0..map.num_cores() {
            let value = map.get(i, j);
            let Some((gi, gj)) = i.checked_sub(skip.0).zip(j.checked_sub(skip.1)) else {
                assert_eq!(value, None, "{what} {i},{j}");
                continue;
            };
            match (golden[gi][gj].as_f64(), value) {
                (Some(expected), Some(value)) => {
                    let limit = 1e-12 * expected.abs().max(1.0);
                    assert!(
                        (value - expected).abs() <= limit,
                        "{what} {i},{j}: {value} {expected}"
                    );
                    compared += 1;
                }
                (expected, value) => assert_eq!(value, expected, "{what} {i},{j}"),
            }
        }
    }
    compared
}

fn check_all(what: &str, maps: &Maps, golden: &Value) -> usize {
    [
        ("time_median", &maps.time, (0, 0)),
        ("speedup", &maps.speedup, (0, 0)),
        ("efficiency", &maps.efficiency, (0, 0)),
        ("scalability_abs", &maps.scalability_abs, (0, 0)),
        ("strong_abs", &maps.strong_abs, (0, 0)),
        ("weak_abs", &maps.weak_abs, (0, 0)),
        ("scalability_rel", &maps.scalability_rel, (1, 0)),
        ("strong_rel", &maps.strong_rel, (0, 1)),
        ("weak_rel", &maps.weak_rel, (1, 1)),
    ]
    .into_iter()
    .map(|(name, map, skip)| check(&format!("{what} {name}"), map, &golden[name], skip))
    .sum()
}

const POLICIES: [(&str, RegionTime); 4] = [
    ("sum", RegionTime::Sum),
    ("minmax", RegionTime::Span),
    ("union", RegionTime::Union),
    ("max_thread_sum", RegionTime::ThreadMax),
];

#[test]
fn analyzer_files_agree_to_1e12_for_every_region_and_policy() {
    let Some(corpus) = corpus() else { return };
    let (mut files, mut regions, mut cells) = (0, 0, 0);
    for golden in golden(&corpus).iter().filter(|golden| golden.get("whole_program").is_some()) {
        let name = golden["file"].as_str().unwrap();
        let path: PathBuf = corpus.join("data").join(name);
        for (policy, region_time) in POLICIES {
            let options = EnsembleOptions { region_time, ..EnsembleOptions::default() };
            let (ensemble, _) = open(&[file(&path)], &options).unwrap();
            let answer = scaling(&ensemble, &ScalingOptions::default()).unwrap();
            assert_eq!(answer.inputs, strings(&golden["inputs_in_cli_order"]), "{name}");
            cells += check_all(name, answer.maps(0).unwrap(), &golden["whole_program"]);
            let expected = golden["regions"].as_object().unwrap();
            assert_eq!(answer.regions.len(), 1 + expected.len());
            for (id, expected) in expected {
                let at = answer.regions.iter().position(|region| region.region.id == *id).unwrap();
                let what = format!("{name} {id} {policy}");
                cells += check_all(&what, answer.maps(at).unwrap(), &expected[policy]);
                if policy == "union" {
                    let (low, high) = answer.regions[at].share_of_parent.unwrap();
                    let range = &expected["percent_of_parent_min_max"];
                    assert!((low - range[0].as_f64().unwrap()).abs() < 1e-10, "{what}: {low}");
                    assert!((high - range[1].as_f64().unwrap()).abs() < 1e-10, "{what}: {high}");
                    regions += 1;
                }
            }
        }
        files += 1;
    }
    assert_eq!((files, regions), (3, 6), "all golden files and regions were compared");
    assert!(cells > 5000, "{cells} cells compared");
}

#[test]
fn viewer_2018_files_agree_to_1e12_by_both_rules() {
    let Some(corpus) = corpus() else { return };
    let mut regions = 0;
    for golden in golden(&corpus) {
        let Some(list) = golden["regions"].as_array() else { continue };
        let name = golden["file"].as_str().unwrap();
        let source = file(&corpus.join("data").join(name));
        let (ensemble, _) = open(&[source], &EnsembleOptions::default()).unwrap();
        let new = scaling(&ensemble, &ScalingOptions::default()).unwrap();
        let per_repetition =
            MapOptions { efficiency: EfficiencyRule::PerRepetition, ..MapOptions::default() };
        let old = ScalingOptions { maps: per_repetition, ..ScalingOptions::default() };
        let old = scaling(&ensemble, &old).unwrap();
        assert_eq!(new.regions.len(), list.len());
        for expected in list {
            // "0, 0" and "0, 9999" are the whole program, "50, 60" is the region 50-60.
            let marks = expected["region"].as_str().unwrap();
            let id = if marks.starts_with("0, ") { "0".into() } else { marks.replace(", ", "-") };
            let at = new.regions.iter().position(|region| region.region.id == id).unwrap();
            assert_eq!(new.inputs, strings(&expected["arguments"]));
            let what = format!("{name} {marks}");
            check_all(&what, new.maps(at).unwrap(), &expected["new_median_of_times"]);
            let efficiency = &expected["old_viewer_median_of_efficiencies"];
            check(&format!("{what} old"), &old.maps(at).unwrap().efficiency, efficiency, (0, 0));
            regions += 1;
        }
    }
    assert_eq!(regions, 8, "all regions of both files were compared");
}

/// A file without runs on one core shows times and no map; with another baseline it is marked.
#[test]
fn a_file_without_one_core_keeps_its_times() {
    let Some(corpus) = corpus() else { return };
    let golden = &golden(&corpus)[0];
    let name = golden["file"].as_str().unwrap();
    let bytes = std::fs::read(corpus.join("data").join(name)).unwrap();
    let mut whole: Value = serde_json::from_slice(&bytes).unwrap();
    let keys = strings(&whole["config"]["data_descriptor"]["keys"]);
    let cores = keys.iter().position(|key| key == "cores").unwrap();
    let runs = whole["data"].as_object_mut().unwrap();
    let before = runs.len();
    runs.retain(|key, _| key.split(';').nth(cores) != Some("1"));
    assert!(runs.len() < before && !runs.is_empty());
    let (ensemble, _) =
        open(&[text(name, &whole.to_string())], &EnsembleOptions::default()).unwrap();

    let answer = scaling(&ensemble, &ScalingOptions::default()).unwrap();
    let found = answer.maps(0).unwrap();
    assert_eq!(found.inputs_without_baseline(), [0, 1, 2, 3]);
    assert!(found.efficiency.is_undefined() && found.weak_abs.is_undefined());
    assert_eq!(found.time.iter().count(), found.inputs.len() * found.cores.len());

    let maps = MapOptions { baseline: BaselinePolicy::Smallest, ..MapOptions::default() };
    let answer = scaling(&ensemble, &ScalingOptions { maps, ..ScalingOptions::default() }).unwrap();
    let found = answer.maps(0).unwrap();
    assert!(found.has_parallel_baseline() && found.inputs_without_baseline().is_empty());
    // Relative to two cores, twice the golden ratio of efficiencies.
    let golden = &golden["whole_program"]["efficiency"];
    let expected = golden[2][7].as_f64().unwrap() / golden[2][1].as_f64().unwrap();
    assert!((found.efficiency.get(2, 6).unwrap() - expected).abs() < 1e-12);
    assert_eq!(found.efficiency.get(2, 0), Some(1.0));
}
