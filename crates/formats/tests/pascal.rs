//! PaScal files: real ones against independent answers, every variant, and damage.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first surprise")]

mod scaling;

use parallax_base::{Issues, MemorySource, Severity};
use parallax_formats::FormatError;
use parallax_formats::scaling_data::{
    Measurements, Outcome, ReadOptions, RegionKind, RegionTime, ScalingFormat, metric_names, read,
};
use scaling::{Rng, corpus, has_issue, kinds, median, read_text, read_whole};

/// Medians of the whole program or a region as (inputs x cores), `None` where nothing was measured.
fn medians(m: &Measurements, region: u32, policy: RegionTime) -> Vec<Vec<Option<f64>>> {
    let cores = &m.parameters[m.parameter("cores").unwrap()].values;
    let inputs = &m.parameters[m.parameter("input").unwrap()].values;
    let cell = |input: &str, cores: &str| {
        let c = m.coordinate(&[cores, input])?;
        let runs = (0..).zip(&m.runs).filter(|(_, run)| run.coordinate == c);
        let times = runs.filter_map(|(r, _)| m.region_time(region, r, policy)).collect();
        median(times)
    };
    inputs.iter().map(|i| cores.iter().map(|c| cell(&i.label, &c.label)).collect()).collect()
}

fn close(ours: &[Vec<Option<f64>>], theirs: &serde_json::Value) {
    let rows = theirs.as_array().unwrap();
    assert_eq!(ours.len(), rows.len());
    for (ours, theirs) in ours.iter().zip(rows) {
        for (a, b) in ours.iter().zip(theirs.as_array().unwrap()) {
            let (Some(a), Some(b)) = (*a, b.as_f64()) else { panic!("{a:?} but {b}") };
            assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} but {b}");
        }
    }
}

#[test]
fn medians_of_real_files_equal_the_independent_answers() {
    let Some(corpus) = corpus() else { return };
    let text = std::fs::read(corpus.join("goldens/pascal.json")).unwrap();
    let goldens: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let mut checked = 0;
    for golden in goldens.as_array().unwrap() {
        let file = golden["file"].as_str().unwrap();
        let (m, _) = read_whole(&corpus.join("data").join(file));
        if let Some(whole) = golden.get("whole_program") {
            let inputs = &m.parameters[m.parameter("input").unwrap()].values;
            let labels: Vec<&str> = inputs.iter().map(|v| v.label.as_str()).collect();
            let expected: Vec<&str> = golden["inputs_in_cli_order"]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v.as_str().unwrap())
                .collect();
            assert_eq!(labels, expected, "{file}");
            close(&medians(&m, 0, RegionTime::Union), &whole["time_median"]);
            for (path, answers) in golden["regions"].as_object().unwrap() {
                let region = m.region(path).unwrap();
                for (name, policy) in [
                    ("sum", RegionTime::Sum),
                    ("minmax", RegionTime::Span),
                    ("union", RegionTime::Union),
                    ("max_thread_sum", RegionTime::ThreadMax),
                ] {
                    close(&medians(&m, region, policy), &answers[name]["time_median"]);
                    checked += 1;
                }
            }
        } else {
            for answers in golden["regions"].as_array().unwrap() {
                let lines = answers["region"].as_str().unwrap();
                let program = matches!(lines, "0, 0" | "0, 9999");
                let id = if program { "0".to_owned() } else { lines.replace(", ", "-") };
                let region = m.region(&id).unwrap();
                close(
                    &medians(&m, region, RegionTime::Union),
                    &answers["new_median_of_times"]["time_median"],
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "{checked}");
}

#[test]
fn every_real_file_is_recognised_and_complete() {
    let Some(corpus) = corpus() else { return };
    let mut read_files = 0;
    for folder in ["MiniCosta", "swaptions", "frequency", "counters", "energy"] {
        for entry in std::fs::read_dir(corpus.join("data/pascal").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let json: serde_json::Value =
                serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let (m, issues) = read_whole(&path);
            assert_eq!(m.format, ScalingFormat::PascalAnalyzer);
            let data = json["data"].as_object().unwrap();
            assert_eq!(m.runs.len(), data.len(), "{path:?}");
            assert!(m.runs.iter().all(|run| run.outcome == Outcome::Completed));
            let time = m.metric(metric_names::TIME).unwrap();
            let mut ours: Vec<f64> = m.samples_of(time, 0).iter().map(|s| s.value).collect();
            let mut theirs: Vec<f64> = data
                .values()
                .map(|run| match run["total_time"].as_f64() {
                    Some(total) => total,
                    None => {
                        run["stop_time"].as_f64().unwrap() - run["start_time"].as_f64().unwrap()
                    }
                })
                .collect();
            ours.sort_by(f64::total_cmp);
            theirs.sort_by(f64::total_cmp);
            assert_eq!(ours, theirs, "{path:?}");
            let all_errors: Vec<_> =
                issues.list().iter().filter(|i| i.severity == Severity::Error).collect();
            assert!(all_errors.is_empty(), "{path:?}: {all_errors:?}");
            let keys = json["config"]["data_descriptor"]["keys"].as_array().unwrap();
            assert_eq!(m.parameters.len(), keys.len() - 1);
            read_files += 1;
        }
    }
    assert_eq!(read_files, 18);
}

#[test]
fn shuffled_arguments_come_out_in_command_order_with_a_note() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/pascal/swaptions");
    for (name, shuffled) in [
        ("swaptions-openmp.json", true),
        ("swaptions-openmp_parallel_z.json", true),
        ("swaptions-pthreads.json", true),
        ("swaptions-pthreads_serial_z.json", true),
        ("swaptions-openmp.b35ec462.json", false),
    ] {
        let (m, issues) = read_whole(&folder.join(name));
        assert_eq!(has_issue(&issues, "arguments-reordered"), shuffled, "{name}");
        let inputs = &m.parameters[1].values;
        assert!(inputs[3].label.starts_with("-ns 128 -sm 1000000"), "{inputs:?}");
        let time = m.metric(metric_names::TIME).unwrap();
        let serial = |input: &str| {
            let c = m.coordinate(&["1", input]).unwrap();
            m.repetitions(time, 0, c).next().unwrap()
        };
        let times: Vec<f64> = inputs.iter().map(|v| serial(&v.label)).collect();
        assert!(times.is_sorted(), "{name}: the larger input must take longer: {times:?}");
    }
}

#[test]
fn power_counters_and_energy_are_folded_per_run() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("data/pascal");
    let (m, issues) = read_whole(&folder.join("counters/freqmine_3.json"));
    let names: Vec<&str> = m.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["cores", "frequency", "input"]);
    assert!(m.parameters[1].values.iter().all(|v| (1.0e9..3.0e9).contains(&v.number.unwrap())));
    assert_eq!(m.samples_of(m.metric("fingerprint_sample").unwrap(), 0).len(), 48);
    let power = m.samples_of(m.metric("power:ipmi").unwrap(), 0);
    let energy = m.samples_of(m.metric("energy:ipmi").unwrap(), 0);
    let time = m.metric(metric_names::TIME).unwrap();
    assert_eq!(power.len(), 48);
    // Some series start more than a period after the run: those are refused, and said so.
    let refused = issues.list().iter().find(|i| i.kind == "power-series-rejected").unwrap();
    assert_eq!(energy.len() as u64 + refused.count, 48);
    assert!(energy.len() >= 24, "{}", energy.len());
    for sample in energy {
        let seconds = m.value(time, 0, sample.run).unwrap();
        let watts = power.iter().find(|p| p.run == sample.run).unwrap().value;
        assert!((sample.value / seconds / watts - 1.0).abs() < 0.1, "{sample:?}");
    }
    let (m, _) = read_whole(&folder.join("energy/exp_pesquisa_gurobi_dummy_batch_pascal.json"));
    let joules = m.metric("rapl-sysfs").unwrap();
    let first = m.coordinate(&["16", "/home/vrrcelestino/pascal-suite-python/instances/dummy.mps"]);
    assert_eq!(m.repetitions(joules, 0, first.unwrap()).next(), Some(111.279195));
    let (m, issues) = read_whole(&folder.join("frequency/completo_black_1.json"));
    assert!(has_issue(&issues, "inputs-from-one"), "{:?}", kinds(&issues));
    assert_eq!(m.parameters[2].values.len(), 7);
    assert_eq!(m.parameters[2].values[0].label, "__nt__ in_156K.txt out_156K.txt");
}

const SMALL: &str = r#"{"config": {"pkg": "./a", "command": "pascalanalyzer -i 10,20 -g ./a",
 "arguments": ["20", "10"], "data_descriptor": {"keys": ["cores", "input", "repetitions"],
 "values": ["start_time", "stop_time", "rapl-sysfs"], "extras": {"sensors": {"values": ["info", "time"]},
 "imbalances": {}, "regions": {"values": ["start_time","stop_time","start_line","stop_line","thread_id","filename"]}}}},
 "data": {
 "2;0;1": {"regions": {"p1": [[100, 101, 0, 0, 7, "gapregion"]],
   "1.2": [[102, 103, 5, 9, 7, "a.c"], [102.5, 104, 5, 9, 8, "a.c"]], "1": [[101, 108, 1, 20, 7, "a.c"]],
   "3": [[108, 109, 0, 0, 7, "binary"]]},
   "imbalances": {"1": 0.25}, "rapl-sysfs": 500.5, "counters": [1, 2],
   "sensors": {"ipmi": [[10, 99.5], [10, 102], [20, 104], [20, 106.5], [20, 109], [20, 111]]},
   "start_time": 100, "stop_time": 110},
 "2;1;1": {"total_time": 3.5, "rapl-sysfs": {"1": 7, "1.2": [1, 2]}}}}"#;

#[test]
fn a_writer_that_keeps_the_order_of_its_inputs_is_believed() {
    let ordered = SMALL.replace("\"arguments\"", "\"arguments_in_order\": true, \"arguments\"");
    let (m, issues) = read_text("small.json", ordered.as_bytes()).unwrap();
    let inputs: Vec<&str> = m.parameters[1].values.iter().map(|v| v.label.as_str()).collect();
    assert_eq!(inputs, ["20", "10"]);
    assert!(!has_issue(&issues, "arguments-reordered"));
    assert!(!has_issue(&issues, "arguments-unconfirmed"));
}

#[test]
fn every_kind_of_field_is_read() {
    let (m, issues) = read_text("small.json", SMALL.as_bytes()).unwrap();
    let inputs: Vec<&str> = m.parameters[1].values.iter().map(|v| v.label.as_str()).collect();
    assert_eq!(inputs, ["10", "20"]);
    assert!(has_issue(&issues, "arguments-reordered"));
    let ids: Vec<_> = m.regions.iter().map(|r| (r.id.as_str(), r.kind, r.parent)).collect();
    use RegionKind::{Automatic, Gap, Marked, WholeProgram};
    assert_eq!(
        ids,
        [
            ("0", WholeProgram, None),
            ("1", Marked, Some(0)),
            ("1.2", Marked, Some(1)),
            ("3", Automatic, Some(0)),
            ("p1", Gap, Some(0)),
        ]
    );
    assert_eq!((m.regions[2].file.as_deref(), m.regions[2].lines), (Some("a.c"), Some((5, 9))));
    assert_eq!((m.regions[3].file.as_deref(), m.regions[3].lines), (None, None));
    let value = |metric: &str, region: u32, run| m.value(m.metric(metric).unwrap(), region, run);
    let times = [RegionTime::Union, RegionTime::Sum, RegionTime::Span, RegionTime::ThreadMax];
    let of = |region| times.map(|policy| m.region_time(region, 0, policy).unwrap());
    assert_eq!(of(2), [2.0, 2.5, 2.0, 1.5]);
    assert_eq!(of(1), [7.0; 4]);
    assert_eq!(of(0), [10.0; 4]);
    assert_eq!(value("locations", 2, 0), Some(2.0));
    assert_eq!(value("visits", 2, 0), Some(2.0));
    assert_eq!(value("time:location-mean", 2, 0), Some(1.25));
    assert_eq!(value("imbalance", 1, 0), Some(0.25));
    assert_eq!((value("counters", 0, 0), value("counters[1]", 0, 0)), (Some(1.0), Some(2.0)));
    // 10 W until 102, rising to 20 W at 104, then 20 W.
    assert_eq!(value("energy:ipmi", 2, 0), Some(30.0));
    assert_eq!(value("energy:ipmi", 0, 0), Some(20.0 + 30.0 + 120.0));
    assert_eq!(value("rapl-sysfs", 0, 0), Some(500.5));
    assert_eq!((value("rapl-sysfs", 1, 1), value("rapl-sysfs", 2, 1)), (Some(7.0), Some(2.0)));
    assert_eq!(value("time", 0, 1), Some(3.5));
    assert_eq!(m.runs[0].interval, Some((100.0, 110.0)));
    assert!(has_issue(&issues, "no-one-core-run"));
    assert!(has_issue(&issues, "run-without-regions"));
    assert_eq!(m.runs[1].outcome, Outcome::Suspicious);
}

#[test]
fn automatic_regions_with_a_place_are_called_by_it() {
    let small = SMALL.replace("0, 0, 7, \"binary\"", "27, 27, 7, \"binary:/src/solver.c\"");
    let (m, _) = read_text("small.json", small.as_bytes()).unwrap();
    let region = &m.regions[3];
    assert_eq!((region.id.as_str(), region.kind), ("3", RegionKind::Automatic));
    assert_eq!(region.name, "solver.c:27");
    assert_eq!((region.file.as_deref(), region.lines), (Some("/src/solver.c"), Some((27, 27))));
    let small = SMALL.replace("\"binary\"", "\"binary:solve._omp_fn.0\"");
    let (m, _) = read_text("small.json", small.as_bytes()).unwrap();
    let region = &m.regions[3];
    assert_eq!((region.name.as_str(), region.kind), ("solve._omp_fn.0", RegionKind::Automatic));
    assert_eq!((region.file.as_deref(), region.lines), (None, None));
}

#[test]
fn the_region_time_policy_chooses_the_main_time() {
    for (policy, expected) in
        [(RegionTime::Union, 2.0), (RegionTime::Sum, 2.5), (RegionTime::ThreadMax, 1.5)]
    {
        let options = ReadOptions { region_time: policy, ..ReadOptions::new("small.json") };
        let source = MemorySource::new(SMALL.as_bytes());
        let m = read(&source, &options, &mut Issues::new()).unwrap();
        let time = m.metric(metric_names::TIME).unwrap();
        assert_eq!(m.value(time, 2, 0), Some(expected));
        // All policies can still be asked for.
        assert_eq!(m.region_time(2, 0, RegionTime::Union), Some(2.0));
        assert_eq!(m.region_time(2, 0, RegionTime::Sum), Some(2.5));
    }
}

fn file(runs: &str) -> String {
    format!(
        r#"{{"config": {{"data_descriptor": {{"keys": ["cores", "repetitions"], "values": []}}}}, "data": {{{runs}}}}}"#
    )
}

#[test]
fn estimates_are_marked_and_do_not_stand_next_to_measured_runs() {
    let estimated = r#""estimated": {"from": 5, "of": 100, "interval": [39, 42.5], "region": "1"}"#;
    let runs = format!(
        r#""1;1": {{"start_time": 0, "stop_time": 40, {estimated}}},
           "2;1": {{"start_time": 2, "stop_time": 22, "estimate_check": {{"iterations": 100}}}},
           "2;2": {{"start_time": 22, "stop_time": 46, {estimated}, "imbalances": {{"1": 0.5}}}}"#
    );
    let (m, issues) = read_text("a.json", file(&runs).as_bytes()).unwrap();
    let found: Vec<_> = m.runs.iter().map(|run| (run.outcome, run.estimate.is_some())).collect();
    let completed = Outcome::Completed;
    assert_eq!(found, [(completed, true), (completed, false), (Outcome::Replaced, true)]);
    let estimate = m.runs[0].estimate.unwrap();
    assert_eq!((estimate.iterations, estimate.of), (5, 100));
    assert_eq!((estimate.interval, estimate.with_trend), ((39.0, 42.5), None));
    // What is not used has no values, and nothing of a mark is a metric.
    let values: Vec<_> = m.samples.iter().map(|sample| (sample.run, sample.value)).collect();
    assert_eq!(values, [(0, 40.0), (1, 20.0)]);
    assert!(m.metrics.iter().all(|metric| !metric.name.starts_with("estimat")));
    assert!(has_issue(&issues, "run-estimated") && has_issue(&issues, "estimate-replaced"));
    // It ends after the next one began.
    assert!(!has_issue(&issues, "overlapping-runs"));
    // A trend, and marks that say nothing.
    let with_trend = estimated.replace("\"from\"", "\"with_trend\": 50, \"from\"");
    let run = |mark: &str| file(&format!(r#""1;1": {{"start_time": 0, "stop_time": 40, {mark}}}"#));
    let (m, _) = read_text("a.json", run(&with_trend).as_bytes()).unwrap();
    assert_eq!(m.runs[0].estimate.unwrap().with_trend, Some(50.0));
    for mark in ["\"estimated\": true", "\"estimated\": {\"from\": 5, \"of\": 100}"] {
        let (m, issues) = read_text("a.json", run(mark).as_bytes()).unwrap();
        assert_eq!((m.runs[0].estimate, m.samples.len()), (None, 1), "{mark}");
        assert!(has_issue(&issues, "wrong-type"), "{mark}");
    }
}

#[test]
fn merged_failed_and_repeated_runs_become_issues() {
    let overlap =
        r#""1;1": {"start_time": 0, "stop_time": 10}, "2;1": {"start_time": 5, "stop_time": 12}"#;
    let (_, issues) = read_text("a.json", file(overlap).as_bytes()).unwrap();
    assert!(has_issue(&issues, "overlapping-runs"));

    let short = r#""1;1": {"start_time": 0, "stop_time": 0.003}, "2;1": {"start_time": 5, "stop_time": 12}"#;
    let (m, issues) = read_text("a.json", file(short).as_bytes()).unwrap();
    assert!(has_issue(&issues, "run-too-short"));
    let outcomes: Vec<_> = m.runs.iter().map(|run| run.outcome).collect();
    assert_eq!(outcomes, [Outcome::Suspicious, Outcome::Completed]);
    assert_eq!(m.samples.len(), 2);

    let failed = r#""1;1": {"total_time": 4, "exit_status": 1, "regions": {"1": 3}}, "2;1": {"start_time": 5, "stop_time": 4}, "4;1": {"total_time": 1}"#;
    let (m, issues) = read_text("a.json", file(failed).as_bytes()).unwrap();
    assert!(has_issue(&issues, "run-failed") && has_issue(&issues, "bad-run-time"));
    assert_eq!(m.samples.len(), 1, "values of failed runs must not reach a map");

    let twice = r#""1;1": {"total_time": 4}, "1;1": {"total_time": 5}"#;
    let (m, issues) = read_text("a.json", file(twice).as_bytes()).unwrap();
    assert!(has_issue(&issues, "repeated-run"));
    let values: Vec<f64> = m.samples.iter().map(|s| s.value).collect();
    assert_eq!(values, [5.0], "the last one counts, as in every JSON library");

    let keys = r#""1": {"total_time": 4}, "x;1": {"total_time": 4}, "0;1": {"total_time": 4}, "1;1;1": {"total_time": 5}, "2;1": {"total_time": 6}"#;
    let (m, issues) = read_text("a.json", file(keys).as_bytes()).unwrap();
    assert_eq!(m.runs.len(), 1);
    let bad = issues.list().iter().find(|i| i.kind == "bad-key").unwrap();
    assert_eq!((bad.count, m.samples[0].value), (4, 6.0));
}

#[test]
fn wrong_types_and_numbers_are_reported_with_byte_and_path() {
    let runs = r#""1;1": {"total_time": "fast"}, "2;1": [1], "3;1": {"total_time": NaN}, "4;1": {"total_time": 4,
      "regions": {"1": [[3, 2, 0, 0, 1, "a"], [NaN, 2], "x", {"y": [1]}, [[1], 2], [1, 2, 0, 0, 1, "a\"b"]], "2": "z", "3": {}, "4": [5, 6, 1, 2, 3, "f.c"]},
      "sensors": {"ipmi": [[NaN, 1], [2, 3]], "rapl": 5}, "imbalances": [1], "rapl-x": {"1": "a", "2": [[1], 3]}, "new": null}"#;
    let text = file(runs);
    let (m, issues) = read_text("a.json", text.as_bytes()).unwrap();
    let wrong = issues.list().iter().find(|i| i.kind == "wrong-type").unwrap();
    assert_eq!(wrong.count, 8, "{issues:?}");
    assert!(wrong.message.contains(r#"$.data["1;1"].total_time is a string"#), "{}", wrong.message);
    let parallax_base::Place::Byte { offset, .. } = wrong.place else { panic!() };
    assert!(text[offset as usize..].trim_start().starts_with("\"fast\""));
    let bad = issues.list().iter().find(|i| i.kind == "bad-entry").unwrap();
    assert!(bad.message.starts_with("5 entries of region 1"), "{}", bad.message);
    assert!(has_issue(&issues, "power-series-rejected"));
    let run = m.runs.iter().position(|r| {
        m.parameters[0].values[m.coordinates[r.coordinate as usize][0] as usize].label == "4"
    });
    let run = run.unwrap() as u32;
    let time = m.metric("time").unwrap();
    assert_eq!(m.value(time, m.region("1").unwrap(), run), Some(1.0));
    assert_eq!(m.value(time, m.region("4").unwrap(), run), Some(1.0));
    assert!(m.samples.iter().all(|s| s.value.is_finite()));
}

#[test]
fn config_may_follow_data() {
    let (config, data) = SMALL.split_once(" \"data\": ").unwrap();
    let config = config.trim_start_matches('{').trim_end().trim_end_matches(',');
    let data = data.strip_suffix('}').unwrap();
    let swapped = format!("{{\"data\": {data}, {config}}}");
    let (a, _) = read_text("a.json", swapped.as_bytes()).unwrap();
    let (b, _) = read_text("a.json", SMALL.as_bytes()).unwrap();
    assert_eq!(a.samples, b.samples);
    assert_eq!(a.parameters, b.parameters);
}

#[test]
fn every_truncation_gives_complete_runs_or_an_error_with_a_place() {
    let (whole, _) = read_text("a.json", SMALL.as_bytes()).unwrap();
    let (mut partial, mut errors) = (0, 0);
    for len in 0..SMALL.len() {
        match read_text("a.json", &SMALL.as_bytes()[..len]) {
            Ok((m, issues)) => {
                assert!(has_issue(&issues, "file-ends-early"), "cut at {len}");
                let time = m.metric("time").unwrap();
                for (run, times) in (0..).zip(&m.runs) {
                    let same =
                        whole.runs.iter().position(|r| r.interval == times.interval).unwrap();
                    assert_eq!(
                        m.value(time, 0, run),
                        whole.value(time, 0, same as u32),
                        "cut at {len}"
                    );
                }
                partial += 1;
            }
            Err(FormatError::Malformed { offset, what, .. }) => {
                assert!(offset as usize <= len && what.contains('$'), "{offset} {what}");
                errors += 1;
            }
            Err(FormatError::NotThisFormat { .. }) => errors += 1,
            Err(other) => panic!("cut at {len}: {other}"),
        }
    }
    assert!(partial > 50 && errors > 500, "{partial} {errors}");
}

#[test]
fn no_changed_byte_stops_the_reader() {
    let mut text = SMALL.as_bytes().to_vec();
    let mut random = Rng::new(7);
    for at in 0..text.len() {
        let kept = text[at];
        for byte in [0, b'"', b'\\', b'{', b']', b',', b'-', b'9', b'e', 0xff, random.next() as u8]
        {
            text[at] = byte;
            if let Ok((m, _)) = read_text("a.json", &text) {
                assert!(m.samples.iter().all(|s| s.value.is_finite()));
                assert!(m.samples.iter().all(|s| (s.run as usize) < m.runs.len()));
                assert!(m.samples.iter().all(|s| (s.region as usize) < m.regions.len()));
            }
        }
        text[at] = kept;
    }
}

#[test]
fn hostile_shapes_end_with_an_error() {
    let deep = format!("{{\"config\": {{\"pkg\": 1, \"x\": {}", "[".repeat(100_000));
    let nested = file(&format!("\"1;1\": {{\"regions\": {}", "{\"a\":".repeat(100_000)));
    for text in [deep, nested] {
        let error = read_text("a.json", text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("nested deeper"), "{error}");
    }
    let path = "1.".repeat(50_000) + "1";
    let (m, _) = read_text(
        "a.json",
        file(&format!("\"1;1\": {{\"total_time\": 1, \"regions\": {{{path:?}: 1}}}}")).as_bytes(),
    )
    .unwrap();
    assert_eq!(m.regions.len(), 2);
}

#[test]
fn compressed_files_give_the_same() {
    let Some(corpus) = corpus() else { return };
    let plain =
        std::fs::read(corpus.join("data/pascal/MiniCosta/escalabilidade_variavel.json")).unwrap();
    let (expected, _) = read_text("a.json", &plain).unwrap();
    let gzip = scaling::gzip(&plain);
    let zstd =
        ruzstd::encoding::compress_to_vec(&plain[..], ruzstd::encoding::CompressionLevel::Fastest);
    for packed in [gzip, zstd] {
        assert!(packed.len() < plain.len());
        assert_eq!(read_text("a.json.packed", &packed).unwrap().0, expected);
        for len in (0..packed.len()).step_by(97) {
            // A cut stream is an error or an issue, never a smaller result that looks complete.
            if let Ok((m, issues)) = read_text("a", &packed[..len]) {
                assert!(m.runs.len() < 18 && has_issue(&issues, "file-ends-early"), "{len}");
            }
        }
    }
}

#[test]
fn memory_does_not_follow_the_number_of_entries() {
    // 40 000 entries of one region in one run, and what they must add up to.
    let mut entries = String::new();
    let mut total = 0.0;
    for i in 0..40_000 {
        let (start, length) = (f64::from(i), f64::from(i % 8) / 16.0);
        total += length;
        let comma = if i == 0 { "" } else { ", " };
        entries += &format!("{comma}[{start}, {}, 10, 20, {}, \"a.c\"]", start + length, i % 4);
    }
    let run = format!("\"1;1\": {{\"regions\": {{\"1\": [{entries}]}}, \"total_time\": 40000}}");
    let (m, _) = read_text("a.json", file(&run).as_bytes()).unwrap();
    assert!((m.region_time(1, 0, RegionTime::Union).unwrap() - total).abs() < 1e-9);
    assert_eq!(m.value(m.metric("visits").unwrap(), 1, 0), Some(40_000.0));
    assert!(m.samples.len() < 10);
}

#[test]
fn counts_that_were_read_at_an_interval_are_shared_among_regions() {
    let file = |samples: &str, config: &str| {
        format!(
            r#"{{"config": {{"pkg": "a", {config} "data_descriptor": {{"keys": ["cores", "repetitions"],
            "values": ["start_time", "stop_time"], "extras": {{"sensors": {{"values": ["info", "time"]}},
            "regions": {{"values": ["start_time", "stop_time"]}}}}}}}},
            "data": {{"1;1": {{"start_time": 10, "stop_time": 20, "cycles": 90,
            "regions": {{"1": [[10, 14]], "2": [[14.5, 20]], "3": [[11, 11.5]]}},
            "sensors": {{"fingerprint_sample": [{samples}]}}}}}}}}"#
        )
    };
    // 10 a second, then 5 a second; the second event happens at once.
    let samples =
        "[[0, 0], 10], [[20, 7], 12], [[40, 7], 14], [[50, 7], 16], [[60, 7], 18], [[70, 7], 20]";
    let named = r#""sweep": {"counters": ["cycles", "faults"]},"#;
    let (m, issues) = read_text("counts.json", file(samples, named).as_bytes()).unwrap();
    assert!(!has_issue(&issues, "count-series-rejected"));
    let value = |metric: &str, region| m.value(m.metric(metric).unwrap(), region, 0);
    assert_eq!((value("cycles", 1), value("cycles", 2)), (Some(40.0), Some(27.5)));
    assert_eq!((value("faults", 1), value("faults", 2)), (Some(7.0), Some(0.0)));
    // Too short for the interval; and the whole program has what the run says.
    assert_eq!((value("cycles", 3), value("cycles", 0)), (None, Some(90.0)));
    let (m, _) = read_text("counts.json", file(samples, "").as_bytes()).unwrap();
    assert_eq!(m.value(m.metric("fingerprint_sample[1]").unwrap(), 1, 0), Some(7.0));
    for bad in
        ["[[1], 10], [[0], 20]", "[[1], 10], [[2, 3], 20]", "[[1], 10]", "[[[1]], 10], {}, [[], 1]"]
    {
        let (m, issues) = read_text("counts.json", file(bad, named).as_bytes()).unwrap();
        let counted = m.metric("cycles").and_then(|metric| m.value(metric, 1, 0));
        assert_eq!((counted, m.runs.len()), (None, 1), "{bad}");
        let is_said = has_issue(&issues, "count-series-rejected");
        assert_eq!(is_said, !bad.starts_with("[[["), "{bad}: {:?}", kinds(&issues));
    }
}
