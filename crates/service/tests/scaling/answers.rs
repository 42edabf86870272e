//! What `scaling` says about real and written measurements.

use std::fmt::Write as _;

use parallax_protocol::TypedTable as _;
use parallax_service::analysis::scaling::{
    BaselinePolicy, ChangeKind, ChangeLimits, Loss, MapOptions,
};
use parallax_service::scaling::{
    Cause, EnsembleOptions, Remedy, ScalingError, ScalingOptions, compare_versions, scaling,
};

use crate::support::{corpus, database, file, open, rules, text};

fn request() -> ScalingOptions {
    ScalingOptions::default()
}

/// A PaScal file of a program with the given inputs and times in seconds.
fn pascal(inputs: &[&str], cores: &[u32], time: impl Fn(usize, u32, u32) -> f64) -> String {
    let mut data = Vec::new();
    for &p in cores {
        for input in 0..inputs.len() {
            for repetition in 1..=3 {
                let seconds = time(input, p, repetition);
                data.push(format!("\"{p};{input};{repetition}\":{{\"total_time\":{seconds:?}}}"));
            }
        }
    }
    let quoted: Vec<String> = inputs.iter().map(|input| format!("{input:?}")).collect();
    format!(
        "{{\"config\":{{\"pkg\":\"app\",\"command\":\"x --ipts {} -o y\",\"arguments\":[{}],\
         \"data_descriptor\":{{\"values\":[\"total_time\"],\"extras\":{{}},\
         \"keys\":[\"cores\",\"input\",\"repetitions\"]}}}},\"data\":{{{}}}}}",
        inputs.join(","),
        quoted.join(","),
        data.join(",")
    )
}

/// The program of the 2018 paper: `n^2 + n^2/p + log2 p`. Expected values come from the formula.
#[test]
fn the_theoretical_program_of_2018_has_its_four_maps() {
    let sizes: Vec<f64> = (0..13).map(|k| 10.0 * f64::from(1 << k)).collect();
    let cores: Vec<u32> = (0..13).map(|k| 1 << k).collect();
    let time = |i: usize, p: u32| {
        let n = sizes[i];
        n * n + n * n / f64::from(p) + f64::from(p).log2()
    };
    let labels: Vec<String> = sizes.iter().map(|n| format!("-n {n}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let written = pascal(&labels, &cores, |i, p, _| time(i, p));
    let (ensemble, _) =
        open(&[text("theory.json", &written)], &EnsembleOptions::default()).unwrap();
    let answer = scaling(&ensemble, &request()).unwrap();
    let maps = answer.maps(0).unwrap();
    let efficiency = |i: usize, j: usize| time(i, 1) / (f64::from(cores[j]) * time(i, cores[j]));
    let near = |found: Option<f64>, expected: f64| {
        let found = found.unwrap();
        assert!((found - expected).abs() <= 1e-12, "{found} {expected}");
    };
    for i in 0..13 {
        for j in 0..13 {
            let m = i.min(j);
            near(maps.efficiency.get(i, j), efficiency(i, j));
            near(maps.scalability_abs.get(i, j), efficiency(i, j) - efficiency(0, j));
            near(maps.strong_abs.get(i, j), efficiency(i, j) - efficiency(i, 0));
            near(maps.weak_abs.get(i, j), efficiency(i, j) - efficiency(i - m, j - m));
            if i > 0 && j > 0 {
                near(maps.scalability_rel.get(i, j), efficiency(i, j) - efficiency(i - 1, j));
                near(maps.strong_rel.get(i, j), efficiency(i, j) - efficiency(i, j - 1));
                near(maps.weak_rel.get(i, j), efficiency(i, j) - efficiency(i - 1, j - 1));
            }
        }
    }
    let verdict = answer.verdict().join("\n");
    assert!(verdict.contains("Strong scaling ends at 2 cores"), "{verdict}");
}

#[test]
fn shuffled_arguments_come_out_in_command_line_order_with_a_note() {
    let Some(corpus) = corpus() else { return };
    let path = corpus.join("data/pascal/swaptions/swaptions-openmp.json");
    let (ensemble, _) = open(&[file(&path)], &EnsembleOptions::default()).unwrap();
    let answer = scaling(&ensemble, &request()).unwrap();
    let sizes: Vec<&str> =
        answer.inputs.iter().map(|input| input.split(' ').nth(1).unwrap()).collect();
    assert_eq!(sizes, ["32", "64", "96", "128"]);
    // The native input is 400 times the smallest; a shuffled axis would show it elsewhere.
    let time = &answer.maps(0).unwrap().time;
    assert!(time.get(3, 0).unwrap() > 100.0 * time.get(0, 0).unwrap());
    let note = answer.issues.list().iter().find(|issue| issue.message.contains("command line"));
    assert!(note.is_some(), "{:?}", answer.issues);
}

#[test]
fn a_file_without_one_core_gives_times_and_says_what_to_do() {
    let Some(corpus) = corpus() else { return };
    let path = corpus.join("data/pascal/frequency/completo_black_1.json");
    let (ensemble, _) = open(&[file(&path)], &EnsembleOptions::default()).unwrap();
    let answer = scaling(&ensemble, &request()).unwrap();
    let maps = answer.maps(0).unwrap();
    assert!(maps.efficiency.is_undefined() && !maps.time.is_undefined());
    assert!(answer.notes[0].contains(Remedy::Baseline.words()), "{:?}", answer.notes);
    let smallest = MapOptions { baseline: BaselinePolicy::Smallest, ..MapOptions::default() };
    let answer = scaling(&ensemble, &ScalingOptions { maps: smallest, ..request() }).unwrap();
    assert!(!answer.maps(0).unwrap().efficiency.is_undefined());
    assert!(answer.notes.iter().any(|note| note.contains("parallel run")), "{:?}", answer.notes);
}

#[test]
fn frequencies_are_chosen_by_value_or_the_highest_is_shown() {
    let Some(corpus) = corpus() else { return };
    let path = corpus.join("data/pascal/frequency/completo_bodytrack_1.json");
    let (ensemble, _) = open(&[file(&path)], &EnsembleOptions::default()).unwrap();
    let highest = scaling(&ensemble, &request()).unwrap();
    let at = ensemble.parameter("frequency").unwrap();
    let values = &ensemble.parameters()[at].values;
    assert!(values.len() > 1);
    assert!(
        highest.notes.iter().any(|note| note.contains(Remedy::Frequency.words())),
        "{:?}",
        highest.notes
    );
    let lowest = values.iter().filter_map(|value| value.number).fold(f64::MAX, f64::min);
    let fixed = |value: &str| {
        let mut request = request();
        request.axes.fixed.push(("frequency".to_owned(), value.to_owned()));
        scaling(&ensemble, &request)
    };
    let by_unit = fixed(&format!("{} GHz", lowest / 1e9)).unwrap();
    let by_label = fixed(&values[0].label).unwrap();
    assert_eq!(by_unit.maps(0).unwrap().time, by_label.maps(0).unwrap().time);
    let (low, high) = (by_unit.maps(0).unwrap(), highest.maps(0).unwrap());
    assert!(low.time.get(0, 0).unwrap() > high.time.get(0, 0).unwrap(), "slower clock, longer run");
    let error = fixed("9 GHz").unwrap_err();
    assert!(error.is_misuse() && error.to_string().contains("GHz"), "{error}");
}

/// `reactor.c` plants work that grows with the rank in `react`, and a checkpoint that rank 0
/// writes alone.
#[test]
fn the_reactor_ensemble_names_the_planted_imbalance_and_the_serial_checkpoint() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/reactor/hpctoolkit");
    let mut sources = Vec::new();
    for n in [256, 512, 1024] {
        for p in [1, 2, 4, 8] {
            sources.push(database(&folder.join(format!("n{n}-p{p}"))));
        }
    }
    let options = rules(&["cores=ranks", r"input=path:n(\d+)"]);
    let (ensemble, _) = open(&sources, &options).unwrap();
    let answer = scaling(&ensemble, &request()).unwrap();
    assert_eq!(answer.inputs, ["256", "512", "1024"]);
    assert_eq!(answer.cores, [1, 2, 4, 8]);
    let named = |name: &str| {
        let at = answer.regions.iter().position(|region| region.region.name == name).unwrap();
        &answer.regions[at]
    };
    let checkpoint = named("checkpoint");
    assert!(checkpoint.region.path.ends_with("main > loop at reactor.c:117 > checkpoint"));
    assert!(matches!(checkpoint.cause, Some(Cause::Serial { .. })), "{:?}", checkpoint.cause);
    assert!(
        matches!(named("react").cause, Some(Cause::Imbalance { imbalance }) if imbalance > 0.2)
    );
    let verdict = answer.verdict().join("\n");
    assert!(verdict.contains("checkpoint") && verdict.contains("serial"), "{verdict}");
    assert!(verdict.contains("react") && verdict.contains("imbalance"), "{verdict}");
    // One region for each place in the program, however many databases there are.
    let paths: std::collections::BTreeSet<_> =
        answer.regions.iter().map(|region| &region.region.path).collect();
    assert_eq!(paths.len(), answer.regions.len());
    // Own losses add up to the loss of the program at every configuration.
    for input in 0..3 {
        for core_idx in 1..4 {
            let here: Vec<_> = answer
                .losses
                .iter()
                .filter(|loss| loss.input == input && loss.core_idx == core_idx)
                .collect();
            let own: f64 = here.iter().map(|loss| loss.own).sum();
            let whole = here.iter().find(|loss| loss.region == 0).unwrap().inclusive;
            assert!((own - whole).abs() <= 1e-9 * whole.abs(), "{own} {whole}");
        }
    }
}

#[test]
fn databases_tell_their_cores_and_paths_their_inputs() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/reactor/hpctoolkit");
    let sources =
        ["n256-p1", "n512-p1", "n256-p4", "n512-p4"].map(|name| database(&folder.join(name)));
    let (ensemble, notes) = open(&sources, &EnsembleOptions::default()).unwrap();
    let answer = scaling(&ensemble, &request()).unwrap();
    assert_eq!((answer.cores.as_slice(), answer.inputs.len()), ([1, 4].as_slice(), 2));
    assert_eq!(answer.inputs, ["n256", "n512"]);
    assert!(notes.iter().any(|note| note.contains("ranks")), "{notes:?}");
    // Without anything that distinguishes them they are repetitions, and a note says so.
    let (ensemble, notes) = open(&sources, &rules(&["cores=ranks", "input=value:x"])).unwrap();
    assert!(notes.iter().any(|note| note.contains("repetitions")), "{notes:?}");
    let answer = scaling(&ensemble, &request()).unwrap();
    assert_eq!(answer.maps(0).unwrap().repetitions(0, 0), 2);
}

#[test]
fn runs_of_talp_make_an_ensemble_by_their_paths() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/pascal/peers/talp/example_files/3.5a/scaling_mpi");
    let sources = ["test_base.json", "test_double.json"].map(|name| file(&folder.join(name)));
    let (ensemble, _) = open(&sources, &EnsembleOptions::default()).unwrap();
    let answer = scaling(
        &ensemble,
        &ScalingOptions {
            maps: MapOptions { baseline: BaselinePolicy::Smallest, ..MapOptions::default() },
            ..request()
        },
    )
    .unwrap();
    assert_eq!(answer.cores.len(), 2, "{:?}", answer.cores);
    assert!(answer.maps(0).unwrap().efficiency.get(0, 1).is_some());
}

#[test]
fn damage_gives_an_error_with_a_byte_offset_or_a_smaller_answer() {
    let whole = pascal(&["a", "b"], &[1, 2], |i, p, _| (i + 1) as f64 / f64::from(p));
    let options = EnsembleOptions::default();
    for cut in 0..whole.len() {
        let part = &whole[..cut];
        let outcome = open(&[text("cut.json", part)], &options)
            .and_then(|(ensemble, _)| scaling(&ensemble, &request()));
        match outcome {
            Ok(answer) => {
                let issues = answer.issues.list();
                assert!(
                    issues.iter().any(|issue| issue.place.to_string().contains("at byte")),
                    "cut at {cut}: {issues:?}"
                );
                for row in answer.maps(0).unwrap().rows() {
                    let expected =
                        f64::from(u32::from(row.input == "b") + 1) / f64::from(row.cores);
                    assert!(row.time.is_none_or(|time| time == expected), "cut at {cut}");
                }
            }
            Err(ScalingError::Open(error)) => {
                let text = error.to_string();
                assert!(text.contains("cut.json"), "{text}");
                assert!(
                    text.contains("at byte") || text.contains("is not a file with scaling"),
                    "cut at {cut}: {text}"
                );
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn unknown_names_are_misuse_and_list_what_there_is() {
    let written = pascal(&["a"], &[1, 2], |_, p, _| 1.0 / f64::from(p));
    let (ensemble, _) = open(&[text("a.json", &written)], &EnsembleOptions::default()).unwrap();
    let ask = |change: &dyn Fn(&mut ScalingOptions)| {
        let mut request = request();
        change(&mut request);
        scaling(&ensemble, &request).unwrap_err()
    };
    let region = ask(&|request| request.regions = vec!["9.9".into()]);
    let metric = ask(&|request| request.metric = Some("joules".into()));
    let cores = ask(&|request| request.axes.cores = Some("gpus".into()));
    let fixed = ask(&|request| request.axes.fixed = vec![("colour".into(), "red".into())]);
    for (error, part) in
        [(region, "known: 0"), (metric, "time"), (cores, "cores"), (fixed, "input")]
    {
        assert!(error.is_misuse(), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = open(&[], &EnsembleOptions::default()).unwrap_err();
    assert_eq!(error, ScalingError::NoSources);
}

#[test]
fn a_change_counts_only_beyond_noise() {
    let noise = |r: u32| 0.01 * f64::from(r);
    let old = pascal(&["a", "b"], &[1, 2, 4], |i, p, r| (i + 1) as f64 / f64::from(p) + noise(r));
    // Input b becomes a third slower on four cores; everything else only moves with the noise.
    let new = pascal(&["a", "b"], &[1, 2, 4], |i, p, r| {
        let factor = if i == 1 && p == 4 { 4.0 / 3.0 } else { 1.0 };
        factor * (i + 1) as f64 / f64::from(p) + noise(4 - r) + 0.005
    });
    let options = EnsembleOptions::default();
    let (old, _) = open(&[text("old.json", &old)], &options).unwrap();
    let (new, _) = open(&[text("new.json", &new)], &options).unwrap();
    let answer = compare_versions(&old, &new, &request(), ChangeLimits::default()).unwrap();
    let table = answer.cells_table().into_table();
    assert_eq!(table.num_rows(), 6);
    let mut changes = String::new();
    for change in &answer.regions[0].comparison.changes {
        let _ = write!(changes, "{change:?};");
    }
    assert_eq!(changes.matches("WithinNoise").count(), 5, "{changes}");
    assert_eq!(changes.matches("Slower").count(), 1, "{changes}");
    assert!(answer.sentences[0].contains("slower, with input i2 on 4 cores"), "{answer:?}");
    assert!(answer.evidence.contains("; 6 configurations of regions tested"), "{answer:?}");
}

#[test]
fn single_runs_are_not_judged_and_their_difference_is_told() {
    let single = |factor: f64| {
        let mut csv = String::from("cores,input,time\n");
        for (cores, time) in [(1, 8.0), (2, 4.1), (4, 2.2), (8, 1.3)] {
            let _ = writeln!(csv, "{cores},a,{}", time * factor);
        }
        csv
    };
    let options = EnsembleOptions::default();
    let (old, _) = open(&[text("old.csv", &single(1.0))], &options).unwrap();
    let (new, _) = open(&[text("new.csv", &single(1.03))], &options).unwrap();
    let answer = compare_versions(&old, &new, &request(), ChangeLimits::default()).unwrap();
    assert_eq!(
        answer.sentences,
        ["Whole program: 3 % slower in 4 configurations, not tested (one run each: the variance \
             is unknown)."]
    );
    assert!(answer.evidence.starts_with("One run each: the variance is unknown"), "{answer:?}");
    let kinds = answer.regions[0].comparison.changes.iter().flatten().map(|change| change.kind);
    assert!(kinds.eq([ChangeKind::NotJudged; 4]));
}

#[test]
fn a_region_that_one_thread_enters_is_serial_only_where_cores_do_not_help() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/pascal/solver-v1.json");
    let (ensemble, _) = open(&[file(path.as_ref())], &EnsembleOptions::default()).unwrap();
    let answer = scaling(&ensemble, &request()).unwrap();
    let cause = |id: &str| {
        answer.regions.iter().find(|region| region.region.id == id).and_then(|found| found.cause)
    };
    assert_eq!(cause("1.2.5"), Some(Cause::Serial { working: 1.0, locations: 16.0 }));
    // What its head says of these regions.
    let uneven = Some(Cause::Imbalance { imbalance: 0.375 });
    assert!(close(cause("1.2.3.1"), uneven), "{:?}", cause("1.2.3.1"));
    // The main thread alone enters what holds the parallel regions.
    assert_eq!(cause("1.1"), None);
    assert_eq!(cause("0"), None);
}

#[test]
fn each_configuration_has_its_imbalance() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/pascal/solver-v1.json");
    let (ensemble, _) = open(&[file(path.as_ref())], &EnsembleOptions::default()).unwrap();
    let answer = scaling(&ensemble, &request()).unwrap();
    let table = answer.maps_table();
    let mut told = 0;
    for region in &answer.regions {
        let own = |at: &usize| *table.region[*at] == *region.region.id;
        let rows: Vec<usize> = (0..table.region.len()).filter(own).collect();
        let values: Vec<f64> = rows.iter().filter_map(|&at| table.imbalance[at]).collect();
        assert!(values.iter().all(|value| (0.0..=1.0).contains(value)), "{values:?}");
        told += values.len();
        // What the table of regions sums up.
        let largest = values.iter().copied().reduce(f64::max);
        let known = region.imbalance.map(|spread| spread.max);
        assert_eq!(largest, known, "{}", region.region.id);
    }
    assert!(told > 0);
    // The head of the fixture says of this region that a thread of sixteen computes more.
    let at = |id: &str, cores: u32| {
        (0..table.region.len())
            .filter(|&at| *table.region[at] == *id && table.cores[at] == cores)
            .filter_map(|at| table.imbalance[at])
            .reduce(f64::max)
    };
    assert!((at("1.2.3.1", 16).unwrap() - 0.375).abs() < 0.05, "{:?}", at("1.2.3.1", 16));
}

#[test]
fn functions_below_the_lines_that_call_them_are_call_paths() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/reactor/n256-p2");
    let (_, notes) = open(&[database(path.as_ref())], &EnsembleOptions::default()).unwrap();
    assert!(notes.iter().all(|note| !note.contains("call paths")), "{notes:?}");
}

/// A PaScal file of a program whose region 1 takes two seconds on any number of cores and whose
/// region 2 is entered by as many threads as there are cores.
fn two_regions(other: impl Fn(u32) -> u32, extra: &str) -> String {
    let mut data = Vec::new();
    for p in [1, 4] {
        let entered: Vec<String> =
            (0..p).map(|thread| format!("[2.0,3.0,5,6,{},\"a.c\"]", other(thread))).collect();
        data.push(format!(
            "\"{p};0;1\":{{\"start_time\":0.0,\"stop_time\":3.0,{extra}\"regions\":{{\
             \"1\":[[0.0,2.0,1,2,0,\"a.c\"]],\"2\":[{}]}}}}",
            entered.join(",")
        ));
    }
    format!(
        "{{\"config\":{{\"pkg\":\"app\",\"arguments\":[\"1\"],\"data_descriptor\":{{\
         \"values\":[\"start_time\",\"stop_time\"],\"extras\":{{\"regions\":{{\"values\":[\
         \"start_time\",\"stop_time\",\"start_line\",\"stop_line\",\"thread_id\",\"filename\"\
         ]}}}},\"keys\":[\"cores\",\"input\",\"repetitions\"]}}}},\"data\":{{{}}}}}",
        data.join(",")
    )
}

#[test]
fn one_thread_is_a_cause_only_where_the_file_tells_threads_apart() {
    let cause = |written: &str| {
        let (ensemble, _) =
            open(&[text("app.json", written)], &EnsembleOptions::default()).unwrap();
        let answer = scaling(&ensemble, &request()).unwrap();
        answer.regions.iter().find(|region| region.region.id == "1").and_then(|found| found.cause)
    };
    let serial = Some(Cause::Serial { working: 1.0, locations: 4.0 });
    assert_eq!(cause(&two_regions(|thread| thread, "")), serial);
    assert_eq!(cause(&two_regions(|_| 0, "")), None);
    let told = cause(&two_regions(|thread| thread, "\"imbalances\":{\"1\":0.4},"));
    assert!(close(told, Some(Cause::Imbalance { imbalance: 0.4 })), "{told:?}");
}

fn close(one: Option<Cause>, other: Option<Cause>) -> bool {
    match (one, other) {
        (Some(Cause::Imbalance { imbalance: a }), Some(Cause::Imbalance { imbalance: b })) => {
            (a - b).abs() < 1e-4
        }
        _ => false,
    }
}

/// Regions 1 (0.7 s of work) and 2 (0.3 s, with a lock) on one core and on two: there, one thread
/// begins with each, and thread 0 waits 0.1 s for the lock.
fn side_by_side(machine: &str) -> String {
    let run = |key: &str, end: f64, first: &[(f64, f64, u32)], second: &[(f64, f64, u32)]| {
        let entries = |all: &[(f64, f64, u32)], line: u32| -> String {
            let one = |&(start, stop, thread): &(f64, f64, u32)| {
                format!("[{start:?},{stop:?},{line},{},{thread},\"a.c\"]", line + 1)
            };
            all.iter().map(one).collect::<Vec<_>>().join(",")
        };
        format!(
            "\"{key};0;1\":{{\"start_time\":0.0,\"stop_time\":{end:?},\"regions\":{{\"1\":[{}],\
             \"2\":[{}]}}}}",
            entries(first, 1),
            entries(second, 5)
        )
    };
    format!(
        "{{\"config\":{{{machine}\"pkg\":\"app\",\"arguments\":[\"1\"],\"data_descriptor\":{{\
         \"values\":[\"start_time\",\"stop_time\"],\"extras\":{{\"regions\":{{\"values\":[\
         \"start_time\",\"stop_time\",\"start_line\",\"stop_line\",\"thread_id\",\"filename\"\
         ]}}}},\"keys\":[\"cores\",\"input\",\"repetitions\"]}}}},\"data\":{{{},{}}}}}",
        run("1", 1.0, &[(0.0, 0.7, 0)], &[(0.7, 1.0, 0)]),
        run("2", 0.6, &[(0.0, 0.35, 0), (0.15, 0.5, 1)], &[(0.35, 0.6, 0), (0.0, 0.15, 1)]),
    )
}

#[test]
fn regions_that_overlap_lose_what_their_own_threads_spend() {
    let (ensemble, _) =
        open(&[text("app.json", &side_by_side(""))], &EnsembleOptions::default()).unwrap();
    let answer = scaling(&ensemble, &request()).unwrap();
    let own = |id: &str| {
        let at = answer.regions.iter().position(|region| region.region.id == id).unwrap();
        let (input, core_idx) = answer.worst.unwrap();
        let is_it =
            |loss: &&Loss| (loss.region, loss.input, loss.core_idx) == (at, input, core_idx);
        answer.losses.iter().find(is_it).unwrap().own
    };
    // 2 x 0.6 - 1: the wait for the lock, and thread 1 that ends 0.1 s earlier.
    for (id, planted) in [("1", 0.0), ("2", 0.1), ("0", 0.1)] {
        assert!((own(id) - planted).abs() < 1e-9, "{id}: {}", own(id));
    }
    let all: f64 = answer.ranked().iter().filter_map(|loss| loss.share).sum();
    assert!((all - 1.0).abs() < 1e-9, "{all}");
    let said = answer
        .notes
        .iter()
        .any(|note| note.starts_with("Threads execute regions 1, 2 at the same time"));
    assert!(said, "{:?}", answer.notes);
}

#[test]
fn runs_on_more_cores_than_the_machine_has_are_not_judged() {
    let machine = |processors: &str, launcher: &str| {
        format!(
            "\"machine\":{{\"processors\":[{processors}]}},\"sweep\":{{\"launcher\":{launcher}}},"
        )
    };
    let sentences = |config: &str| {
        let written = side_by_side(config);
        let (ensemble, _) =
            open(&[text("app.json", &written)], &EnsembleOptions::default()).unwrap();
        scaling(&ensemble, &request()).unwrap().regions[0].verdict.sentences.clone()
    };
    let crowded = sentences(&machine("0", "null"));
    assert_eq!(
        crowded[0],
        "The machine has 1 processor: runs on 2 cores are oversubscribed, and no verdict counts \
         them."
    );
    assert!(!crowded.iter().any(|one| one.contains("Strong scaling")), "{crowded:?}");
    for enough in [machine("0,1", "null"), machine("0", "\"mpirun -n {p}\""), String::new()] {
        let said = sentences(&enough);
        assert!(!said.iter().any(|one| one.contains("processor")), "{said:?}");
        assert!(said.iter().any(|one| one.contains("Strong scaling holds up to 2")), "{said:?}");
    }
}
