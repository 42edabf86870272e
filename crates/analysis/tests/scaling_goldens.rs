//! The maps of real PaScal files against answers computed independently of this code.

#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parallax_analysis::scaling::{
    BaselinePolicy, EfficiencyRule, Entry, Grid, GridBuilder, Interval, Map, MapOptions, Maps,
    RegionTime, RegionTimeFold, maps, share_of_parent,
};
use serde_json::Value;

fn corpus() -> Option<PathBuf> {
    parallax_testkit::needs::corpus()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Checks a map against a golden matrix that may lack its first `skip.0` rows and `skip.1`
/// columns, which must be undefined then.
fn check(what: &str, map: &Map, golden: &Value, skip: (usize, usize)) -> usize {
    let golden = golden.as_array().unwrap();
    assert_eq!(golden.len() + skip.0, map.num_inputs(), "{what}: rows");
    let mut compared = 0;
    for i in 0..map.num_inputs() {
        for j in 0..map.num_cores() {
            let value = map.get(i, j);
            let Some((gi, gj)) = i.checked_sub(skip.0).zip(j.checked_sub(skip.1)) else {
                assert_eq!(value, None, "{what}: cell {i},{j} has no neighbour");
                continue;
            };
            let row = golden[gi].as_array().unwrap();
            assert_eq!(row.len() + skip.1, map.num_cores(), "{what}: columns");
            match (row[gj].as_f64(), value) {
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

struct File {
    whole: Grid,
    regions: BTreeMap<String, BTreeMap<&'static str, Grid>>,
}

const POLICIES: [(&str, RegionTime); 4] = [
    ("sum", RegionTime::Sum),
    ("minmax", RegionTime::MinMax),
    ("union", RegionTime::Union),
    ("max_thread_sum", RegionTime::MaxThreadSum),
];

/// Just enough of the Analyzer's JSON for files whose keys are cores;input;repetitions.
fn analyzer_file(path: &Path, inputs: &[String]) -> File {
    let file = json(path);
    let keys = strings(&file["config"]["data_descriptor"]["keys"]);
    let place = |name: &str| keys.iter().position(|key| key == name).unwrap();
    let mut whole = GridBuilder::new(inputs.to_vec());
    let mut regions: BTreeMap<String, BTreeMap<&'static str, GridBuilder>> = BTreeMap::new();
    let number = |value: &Value| value.as_f64().unwrap();
    for (key, run) in file["data"].as_object().unwrap() {
        let parts: Vec<usize> = key.split(';').map(|part| part.parse().unwrap()).collect();
        let (cores, input) = (parts[place("cores")] as u32, parts[place("input")]);
        let seconds = number(&run["stop_time"]) - number(&run["start_time"]);
        whole.push(input, cores, seconds).unwrap();
        for (region, entries) in run["regions"].as_object().into_iter().flatten() {
            let mut fold = RegionTimeFold::new();
            for entry in entries.as_array().unwrap() {
                let interval = Interval::new(number(&entry[0]), number(&entry[1])).unwrap();
                fold.push(Entry { interval, thread: entry[4].as_u64().unwrap() });
            }
            let times = fold.times().unwrap();
            for (name, policy) in POLICIES {
                regions
                    .entry(region.clone())
                    .or_default()
                    .entry(name)
                    .or_insert_with(|| GridBuilder::new(inputs.to_vec()))
                    .push(input, cores, times.get(policy))
                    .unwrap();
            }
        }
    }
    File {
        whole: whole.finish().unwrap(),
        regions: regions
            .into_iter()
            .map(|(region, grids)| {
                let done = grids.into_iter().map(|(name, grid)| (name, grid.finish().unwrap()));
                (region, done.collect())
            })
            .collect(),
    }
}

#[test]
fn analyzer_files_agree_to_1e12() {
    let Some(corpus) = corpus() else { return };
    let golden = json(&corpus.join("goldens/pascal.json"));
    let (mut files, mut regions, mut cells) = (0, 0, 0);
    for golden in golden.as_array().unwrap() {
        if golden.get("whole_program").is_none() {
            continue;
        }
        let name = golden["file"].as_str().unwrap();
        let file = analyzer_file(
            &corpus.join("data").join(name),
            &strings(&golden["inputs_in_cli_order"]),
        );
        let whole = maps(&file.whole, MapOptions::default());
        cells += check_all(name, &whole, &golden["whole_program"]);
        files += 1;
        let mut times: BTreeMap<String, Map> = BTreeMap::new();
        assert_eq!(golden["regions"].as_object().unwrap().len(), file.regions.len());
        for (region, expected) in golden["regions"].as_object().unwrap() {
            for (policy, grid) in &file.regions[region] {
                let found = maps(grid, MapOptions::default());
                cells += check_all(&format!("{name} {region} {policy}"), &found, &expected[policy]);
                if *policy == "union" {
                    times.insert(region.clone(), found.time);
                }
            }
            regions += 1;
        }
        for (region, expected) in golden["regions"].as_object().unwrap() {
            let parent = region.rsplit_once('.').and_then(|(parent, _)| times.get(parent));
            let share = share_of_parent(&times[region], parent.unwrap_or(&whole.time));
            let (low, high) = share.min_max().unwrap();
            let range = &expected["percent_of_parent_min_max"];
            for (value, expected) in [(low, &range[0]), (high, &range[1])] {
                let expected = expected.as_f64().unwrap();
                assert!((value - expected).abs() <= 1e-10, "{name} {region}: {value} {expected}");
            }
        }
    }
    assert_eq!((files, regions), (3, 6), "all golden files were read");
    assert!(cells > 2000, "{cells} cells compared");
}

/// The list of regions that the viewer of 2018 reads.
#[test]
fn viewer_2018_files_agree_to_1e12() {
    let Some(corpus) = corpus() else { return };
    let golden = json(&corpus.join("goldens/pascal.json"));
    let mut regions = 0;
    for golden in golden.as_array().unwrap() {
        let Some(list) = golden["regions"].as_array() else { continue };
        let name = golden["file"].as_str().unwrap();
        let file = json(&corpus.join("data").join(name));
        for (region, expected) in file.as_array().unwrap().iter().zip(list) {
            assert_eq!(region["region"], expected["region"]);
            let inputs = strings(&expected["arguments"]);
            let mut builder = GridBuilder::new(inputs.clone());
            for execution in region["executions"].as_array().unwrap() {
                for part in execution.as_array().unwrap() {
                    let argument = part["argument"].as_str().unwrap();
                    let input = inputs.iter().position(|input| input == argument).unwrap();
                    for run in part["runs"].as_array().unwrap() {
                        let cores = run["threads"].as_u64().unwrap() as u32;
                        builder.push(input, cores, run["time"].as_f64().unwrap()).unwrap();
                    }
                }
            }
            let grid = builder.finish().unwrap();
            let what = format!("{name} {}", region["region"]);
            let found = maps(&grid, MapOptions::default());
            check_all(&what, &found, &expected["new_median_of_times"]);
            let old =
                MapOptions { efficiency: EfficiencyRule::PerRepetition, ..Default::default() };
            let old = maps(&grid, old);
            let golden = &expected["old_viewer_median_of_efficiencies"];
            check(&format!("{what} old"), &old.efficiency, golden, (0, 0));
            regions += 1;
        }
    }
    assert_eq!(regions, 8, "all regions of both files were read");
}

/// A file without runs on one core shows times and no map; with another baseline it is marked.
#[test]
fn swaptions_without_one_core_keeps_its_times() {
    let Some(corpus) = corpus() else { return };
    let golden = json(&corpus.join("goldens/pascal.json"));
    let golden = &golden[0];
    let path = corpus.join("data").join(golden["file"].as_str().unwrap());
    let file = analyzer_file(&path, &strings(&golden["inputs_in_cli_order"]));
    let whole = &file.whole;
    let runs = (0..whole.inputs().len())
        .map(|i| (1..whole.cores().len()).map(|j| whole.repetitions(i, j).to_vec()).collect())
        .collect();
    let cut = Grid::new(whole.inputs().to_vec(), whole.cores()[1..].to_vec(), runs).unwrap();
    let found = maps(&cut, MapOptions::default());
    assert_eq!(found.inputs_without_baseline(), [0, 1, 2, 3]);
    assert!(found.efficiency.is_undefined() && found.weak_abs.is_undefined());
    assert_eq!(found.time.iter().count(), found.inputs.len() * found.cores.len());

    let smallest = MapOptions { baseline: BaselinePolicy::Smallest, ..Default::default() };
    let found = maps(&cut, smallest);
    assert!(found.has_parallel_baseline() && found.inputs_without_baseline().is_empty());
    // Relative to two cores, twice the golden ratio of efficiencies.
    let golden = &golden["whole_program"]["efficiency"];
    let expected = golden[2][7].as_f64().unwrap() / golden[2][1].as_f64().unwrap();
    assert!((found.efficiency.get(2, 6).unwrap() - expected).abs() < 1e-12);
    assert_eq!(found.efficiency.get(2, 0), Some(1.0));
}
