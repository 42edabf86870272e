//! The tables next to the maps: laws, dispersion, energy and the efficiencies of POP.

use std::fmt::Write as _;

use parallax_model::ensemble::metric_names;
use parallax_protocol::TypedTable as _;
use parallax_service::Table;
use parallax_service::scaling::{
    Ensemble, EnsembleOptions, ScalingError, ScalingOptions, energy_table, pop_table, scaling,
};

use crate::support::{corpus, database, file, open, rules, text};

/// The cells of a column as JSON-like values: numbers or `None`.
fn numbers(table: &Table, name: &str) -> Vec<Option<f64>> {
    use arrow_array::Array as _;
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::{Float64Type, UInt32Type};
    let values = &table.column(name).unwrap().values;
    if let Some(values) = values.as_primitive_opt::<UInt32Type>() {
        return values.iter().map(|value| value.map(f64::from)).collect();
    }
    let values = values.as_primitive::<Float64Type>();
    (0..values.len()).map(|at| values.is_valid(at).then(|| values.value(at))).collect()
}

fn texts(table: &Table, name: &str) -> Vec<String> {
    use arrow_array::cast::AsArray as _;
    let values = table.column(name).unwrap().values.as_string::<i32>();
    values.iter().map(|text| text.unwrap_or("").to_owned()).collect()
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-3), "{found} {expected}");
}

fn opened(csv: &str) -> Ensemble {
    open(&[text("runs.csv", csv)], &EnsembleOptions::default()).unwrap().0
}

fn csv(inputs: &[f64], time: impl Fn(f64, f64) -> f64) -> String {
    let mut out = "input,cores,time\n".to_owned();
    for &input in inputs {
        for cores in [1.0, 2.0, 4.0, 8.0] {
            writeln!(out, "{input},{cores},{:?}", time(input, cores)).unwrap();
        }
    }
    out
}

#[test]
fn laws_find_planted_fractions() {
    let request = ScalingOptions::default();
    let amdahl = opened(&csv(&[1.0], |_, p| 80.0 * (0.1 + 0.9 / p)));
    let table = scaling(&amdahl, &request).unwrap().laws_table().into_table();
    assert_eq!(texts(&table, "region"), ["0"]);
    near(numbers(&table, "amdahl_serial")[0], 0.1);
    near(numbers(&table, "amdahl_max_speedup")[0], 10.0);
    near(numbers(&table, "amdahl_time")[0], 80.0);
    assert!(numbers(&table, "amdahl_error")[0].unwrap() < 1e-9);
    near(numbers(&table, "karp_flatt_first")[0], 0.1);
    near(numbers(&table, "karp_flatt_last")[0], 0.1);
    assert_eq!(numbers(&table, "usl_peak_cores"), [None], "no coherency, no peak");
    assert_eq!(numbers(&table, "gustafson_serial"), [None], "one input has no diagonal");

    let (sigma, kappa) = (0.02, 0.01);
    let usl =
        opened(&csv(&[1.0], |_, p| 5.0 * (1.0 + sigma * (p - 1.0) + kappa * p * (p - 1.0)) / p));
    let table = scaling(&usl, &request).unwrap().laws_table().into_table();
    near(numbers(&table, "usl_contention")[0], sigma);
    near(numbers(&table, "usl_coherency")[0], kappa);
    near(numbers(&table, "usl_peak_cores")[0], ((1.0 - sigma) / kappa).sqrt());

    let scaled = opened(&csv(&[1.0, 2.0, 4.0, 8.0], |w, p| 0.1 + 0.9 * w / p));
    let table = scaling(&scaled, &request).unwrap().laws_table().into_table();
    assert_eq!(table.num_rows(), 4);
    for serial in numbers(&table, "gustafson_serial") {
        near(serial, 0.1);
    }
    // Equal work for all inputs is no weak-scaling experiment.
    let equal = opened(&csv(&[1.0, 2.0, 4.0, 8.0], |_, p| 1.0 / p));
    let table = scaling(&equal, &request).unwrap().laws_table().into_table();
    assert!(numbers(&table, "gustafson_serial").iter().all(Option::is_none));
}

#[test]
fn dispersion_counts_what_is_far_from_the_others() {
    let mut runs = "cores,time\n1,1\n1,2\n1,3\n4,7\n".to_owned();
    for time in [1.0, 1.01, 0.99, 1.0, 5.0] {
        writeln!(runs, "2,{time}").unwrap();
    }
    let answer = scaling(&opened(&runs), &ScalingOptions::default()).unwrap();
    let table = answer.dispersion_table().into_table();
    assert_eq!(numbers(&table, "cores"), [Some(1.0), Some(2.0), Some(4.0)]);
    assert_eq!(numbers(&table, "repetitions"), [Some(3.0), Some(5.0), Some(1.0)]);
    assert_eq!(numbers(&table, "outliers"), [Some(0.0), Some(1.0), Some(0.0)]);
    let first = |name: &str| numbers(&table, name)[0];
    for (name, expected) in [
        ("mean", 2.0),
        ("median", 2.0),
        ("min", 1.0),
        ("max", 3.0),
        ("std_dev", 1.0),
        ("variation", 50.0),
    ] {
        near(first(name), expected);
    }
    assert_eq!(numbers(&table, "std_dev")[2], None, "one run has no spread");
}

/// A PaScal file whose runs take two seconds at ten watts; the counter says `total` joules.
fn with_power(runs: u32, total: f64) -> String {
    let samples: Vec<String> =
        (0..=20).map(|at| format!("[10.0,{:?}]", f64::from(at) / 10.0)).collect();
    let samples = samples.join(",");
    let data: Vec<String> = (1..=runs)
        .map(|run| {
            format!(
                "\"1;0;{run}\":{{\"start_time\":0.0,\"stop_time\":2.0,\"rapl-sysfs\":{total:?},\
                 \"sensors\":{{\"rapl_sample-sysfs\":[{samples}]}}}}"
            )
        })
        .collect();
    format!(
        "{{\"config\":{{\"pkg\":\"app\",\"arguments\":[\"a\"],\"data_descriptor\":{{\"values\":\
         [\"start_time\",\"stop_time\",\"rapl-sysfs\"],\"extras\":{{\"sensors\":\
         {{\"values\":[\"info\",\"time\"]}}}},\"keys\":[\"cores\",\"input\",\"repetitions\"]}}}},\
         \"data\":{{{}}}}}",
        data.join(",")
    )
}

#[test]
fn energy_passes_its_gates_or_says_which_it_failed() {
    let request = ScalingOptions::default();
    let ask = |runs: u32, total: f64| {
        let written = with_power(runs, total);
        let sources = [text("power.json", &written)];
        let (ensemble, _) = open(&sources, &EnsembleOptions::default()).unwrap();
        let table = energy_table(&ensemble, &request).unwrap().value.into_table();
        let at =
            texts(&table, "meter").iter().position(|name| name == "rapl_sample-sysfs").unwrap();
        let number = |name: &str| numbers(&table, name)[at];
        near(number("energy"), 20.0);
        near(number("power"), 10.0);
        near(number("edp"), 40.0);
        (texts(&table, "valid")[at].clone(), texts(&table, "note")[at].clone())
    };
    assert_eq!(ask(5, 20.4), ("yes".to_owned(), String::new()));
    let (valid, note) = ask(5, 25.0);
    assert_eq!((valid.as_str(), note.as_str()), ("no", "20.0 % off the independent total"));
    let (valid, note) = ask(3, 20.4);
    assert_eq!((valid.as_str(), note.as_str()), ("no", "3 of 5 runs"));
}

#[test]
fn energy_of_real_files_is_there_or_said_to_be_absent() {
    let Some(corpus) = corpus() else { return };
    let request = ScalingOptions::default();
    let open = |name: &str| {
        open(&[file(&corpus.join("data/pascal").join(name))], &EnsembleOptions::default())
            .unwrap()
            .0
    };
    let table =
        energy_table(&open("counters/blackscholes_3.json"), &request).unwrap().value.into_table();
    assert!(table.num_rows() > 5);
    for ((power, energy), edp) in
        numbers(&table, "power").iter().zip(numbers(&table, "energy")).zip(numbers(&table, "edp"))
    {
        let (power, energy) = (power.unwrap(), energy.unwrap());
        assert!((150.0..400.0).contains(&power), "a server draws {power} W?");
        near(edp, energy * (energy / power));
    }
    assert!(texts(&table, "valid").iter().all(|valid| valid == "no"), "three runs are too few");
    let error = energy_table(&open("swaptions/swaptions-openmp.json"), &request).unwrap_err();
    assert!(matches!(error, ScalingError::Missing { .. }), "{error}");
    assert!(error.to_string().contains("no energy was measured"), "{error}");
}

#[test]
fn time_in_mpi_of_databases_becomes_efficiencies() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/reactor/hpctoolkit");
    let sources: Vec<_> =
        [1, 2, 4, 8].iter().map(|p| database(&folder.join(format!("n512-p{p}")))).collect();
    let (ensemble, _) = open(&sources, &rules(&["cores=ranks"])).unwrap();
    let request = ScalingOptions { regions: vec!["0".to_owned()], ..ScalingOptions::default() };
    let table = pop_table(&ensemble, &request).unwrap().value.into_table();
    let column = |name: &str| numbers(&table, name);
    assert_eq!(column("cores"), [Some(1.0), Some(2.0), Some(4.0), Some(8.0)]);
    let (parallel, balance) = (column("parallel"), column("load_balance"));
    for (at, communication) in column("communication").into_iter().enumerate() {
        near(parallel[at], balance[at].unwrap() * communication.unwrap());
        near(column("global")[at], parallel[at].unwrap() * column("computation")[at].unwrap());
    }
    near(parallel[0], 1.0);
    near(column("computation")[0], 1.0);
    // The planted imbalance and the serial checkpoint grow with the ranks.
    assert!(parallel.is_sorted_by(|a, b| a > b), "{parallel:?}");
    assert!(balance[3].unwrap() < 0.75, "{balance:?}");
    // What the efficiencies take away is the time of the calls of MPI themselves.
    let [mean, useful] = [metric_names::LOCATION_MEAN, "time:useful-mean"]
        .map(|name| ensemble.metric(name).unwrap());
    for run in 0..4 {
        let value = |metric: u16, region: u32| {
            let samples = ensemble.samples_of(metric, region);
            samples.iter().find(|sample| sample.run == run).map_or(0.0, |sample| sample.value)
        };
        let regions = ensemble.regions();
        let is_mpi = |name: &str| name.starts_with("MPI_") || name.starts_with("PMPI_");
        let calls = (0..).zip(regions).filter(|(_, region)| {
            let parent = region.parent.and_then(|above| regions.get(above as usize));
            is_mpi(&region.name) && !parent.is_some_and(|parent| is_mpi(&parent.name))
        });
        let in_mpi: f64 = calls.map(|(at, _)| value(mean, at)).sum();
        let taken = value(mean, 0) - value(useful, 0);
        assert!((taken - in_mpi).abs() <= 1e-9 * value(mean, 0), "run {run}: {taken} {in_mpi}");
    }
}

#[test]
fn reported_efficiencies_come_out_as_reported() {
    let Some(corpus) = corpus() else { return };
    let request = ScalingOptions::default();
    let peers = corpus.join("data/pascal/peers");
    let open =
        |name: &str| open(&[file(&peers.join(name))], &EnsembleOptions::default()).unwrap().0;
    for name in ["pypop/modelfactors.csv", "pypop/precomputed.csv"] {
        let table = pop_table(&open(name), &request).unwrap().value.into_table();
        near(numbers(&table, "parallel")[1], 0.993_782_52);
        near(numbers(&table, "load_balance")[1], 0.997_609_3);
        near(numbers(&table, "communication")[1], 0.996_164_05);
        near(numbers(&table, "serialisation")[1], 0.998_423_59);
        near(numbers(&table, "computation")[1], 0.955_003_19);
        assert!(texts(&table, "origin").iter().all(|origin| origin == "reported"));
    }
    let talp = open("talp/example_files/genex/talp.4x56.json");
    let table = pop_table(&talp, &request).unwrap().value.into_table();
    near(numbers(&table, "parallel")[0], 0.96);
    near(numbers(&table, "load_balance")[0], 0.99);
    let pascal = file(&corpus.join("data/pascal/swaptions/swaptions-openmp.json"));
    let (pascal, _) = crate::support::open(&[pascal], &EnsembleOptions::default()).unwrap();
    let error = pop_table(&pascal, &request).unwrap_err().to_string();
    assert!(error.contains("time in MPI"), "{error}");
}

/// `0, 9999` is what the file calls the whole program; its regions take up to a hundred times as
/// long.
#[test]
fn shares_of_a_program_shorter_than_its_regions_are_dropped_with_a_note() {
    let Some(corpus) = corpus() else { return };
    let path = corpus.join("data/pascal/viewer-2018/freqmine.json");
    let (ensemble, _) = open(&[file(&path)], &EnsembleOptions::default()).unwrap();
    let answer = scaling(&ensemble, &ScalingOptions::default()).unwrap();
    assert!(answer.notes[0].contains("take longer than"), "{:?}", answer.notes);
    assert!(!answer.losses.is_empty() && answer.losses.iter().all(|loss| loss.share.is_none()));
    for region in &answer.regions {
        let text = region.verdict.text();
        assert!(!text.contains("of the program's overhead"), "{text}");
    }
    // The losses themselves stay, in words and as numbers.
    assert!(answer.verdict().iter().any(|text| text.contains("core-seconds")));
    let at = answer.regions.iter().position(|region| region.region.id == "50-60").unwrap();
    let text = answer.regions[at].verdict.text();
    assert!(text.contains("Exclusive parallel overhead: 68.1 core-seconds"), "{text}");
    let losses = answer.losses_table().into_table();
    assert!(numbers(&losses, "share").iter().all(Option::is_none));
    assert!(numbers(&losses, "own_loss")[0].unwrap() > 50.0);
}
