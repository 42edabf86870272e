//! Runs that are ended after their first iterations: what is in the file follows from the marks of
//! the program, and nothing here depends on how fast it is.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;
#[path = "common/iterations.rs"]
mod iterations;

use std::fs;
use std::process::{Command, Output};

use common::rows;
use parallax_testkit::needs::{self, Without};
use serde_json::{Map, Value};

struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    /// With the program above, as `app`; `None` where there is no compiler.
    fn new() -> Option<Self> {
        if !needs::program("cc", Without::Test) {
            return None;
        }
        let place = Self { folder: tempfile::tempdir().unwrap() };
        iterations::compile(place.folder.path());
        Some(place)
    }

    fn file(&self) -> String {
        self.folder.path().join("sweep.json").to_str().unwrap().to_owned()
    }

    fn measure(&self, options: &[&str], program: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(self.folder.path()).arg("measure").args(options);
        command.args(["-o", "sweep.json", "--"]).args(program).output().unwrap()
    }

    /// What is said on standard output and error; it must not fail.
    fn measured(&self, options: &[&str], program: &[&str]) -> (String, String) {
        let output = self.measure(options, program);
        let [out, err] = [output.stdout, output.stderr].map(|b| String::from_utf8(b).unwrap());
        assert!(output.status.success(), "{options:?}: {err}");
        (out, err)
    }

    fn data(&self) -> Map<String, Value> {
        let file: Value = serde_json::from_slice(&fs::read(self.file()).unwrap()).unwrap();
        file["data"].as_object().unwrap().clone()
    }

    /// How many iterations were begun with this argument.
    fn iterations(&self, argument: &str) -> usize {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().filter(|line| *line == argument).count()
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn seconds(run: &Value) -> f64 {
    number(&run["stop_time"]) - number(&run["start_time"])
}

#[test]
fn runs_are_ended_after_their_first_iterations_and_marked_as_estimates() {
    let Some(place) = Scratch::new() else { return };
    let options = ["-c", "1,2", "--estimate-from", "5", "--iterations", "3000"];
    let (out, err) = place.measured(&options, &["./app", "3000", "20", "0"]);
    // A minute each, if they had not been ended.
    assert!(place.iterations("3000") < 1500, "{}", place.iterations("3000"));
    for key in ["1;1", "2;1"] {
        let run = &place.data()[key];
        let own = &run["estimated"];
        assert_eq!(
            (&own["from"], &own["of"], &own["region"]),
            (&5.into(), &3000.into(), &"1".into())
        );
        assert_eq!(run["exit_status"], 0);
        // No iteration is shorter than it sleeps.
        assert!(number(&own["median"]) >= 0.02, "{run}");
        assert!(seconds(run) >= 3000.0 * 0.02 && seconds(run) > number(&own["measured_seconds"]));
        let [low, high] = [0, 1].map(|at| number(&own["interval"][at]));
        assert!(low <= seconds(run) && seconds(run) <= high + 1e-6, "{run}");
        // What a part of the program used is not what the whole uses.
        assert_eq!((run.get("user_time"), run.get("signal")), (None, None));
        // Regions are as long as those of a complete run, and nest.
        let region = |path: &str| {
            let entries = run["regions"][path].as_array().unwrap();
            assert_eq!(entries.len(), 1, "{run}");
            number(&entries[0][1]) - number(&entries[0][0])
        };
        assert!(region("1") >= 2900.0 * 0.02 && region("1") <= seconds(run), "{run}");
        assert!(region("1.2") <= region("1"), "{run}");
    }
    assert!(err.contains("estimated from 5 of 3000 iterations"), "{err}");
    assert!(err.contains("2 of 2 times are estimates"), "{err}");
    assert!(out.contains("Estimated from the first iterations, not measured to the end"), "{out}");
    assert!(out.contains("1 core (5 of 3,000 iterations"), "{out}");
    // Tables for other programs say it, too.
    for row in rows(&["scaling", &place.file()]) {
        assert_eq!((&row["estimated"], &row["repetitions"]), (&1.into(), &1.into()), "{row:?}");
    }
    assert!(err.contains("their times are estimates"), "{err}");
    // Nothing is left to be run.
    let before = place.iterations("3000");
    place.measured(&[&options[..], &["--resume"]].concat(), &["./app", "3000", "20", "0"]);
    assert_eq!(place.iterations("3000"), before);
    // It goes on only with the same estimates.
    let other = ["-c", "1,2", "--estimate-from", "6", "--iterations", "3000", "--resume"];
    let output = place.measure(&other, &["./app", "3000", "20", "0"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("the estimates differ"), "{error}");
}

#[test]
fn one_complete_run_of_each_input_counts_the_iterations_and_is_not_averaged_with_estimates() {
    let Some(place) = Scratch::new() else { return };
    let options = [
        "-c",
        "1,2",
        "-i",
        "60 10 0",
        "-i",
        "80 10 0",
        "--reps",
        "2",
        "--estimate-from",
        "10",
        "--iteration-region",
        "1",
    ];
    let (out, err) = place.measured(&options, &["./app"]);
    let data = place.data();
    let estimated = |key: &str| data[key].get("estimated").is_some();
    // The first of each input: on one core.
    assert!(!estimated("1;0;1") && !estimated("1;1;1"));
    assert_eq!(data["1;0;1"]["estimate_check"]["iterations"], 60);
    assert_eq!(data["1;1;1"]["estimate_check"]["iterations"], 80);
    assert!(number(&data["1;0;1"]["estimate_check"]["seconds"]) >= 0.6);
    for (key, of) in [("1;0;2", 60), ("2;0;1", 60), ("2;0;2", 60), ("2;1;1", 80), ("1;1;2", 80)] {
        assert_eq!(data[key]["estimated"]["of"], of, "{key}");
    }
    assert!(err.contains("complete with 60 iterations; the first 10 give"), "{err}");
    // What was measured completely stands alone.
    for row in rows(&["scaling", &place.file(), "--region", "0"]) {
        let expected = if row["cores"] == 1 { (1, 0) } else { (2, 2) };
        let found = (row["repetitions"].as_u64().unwrap(), row["estimated"].as_u64().unwrap());
        assert_eq!(found, expected, "{row:?}");
        if row["cores"] == 1 {
            let key = if row["input"] == "60 10 0" { "1;0;1" } else { "1;1;1" };
            assert!((number(&row["time"]) - seconds(&data[key])).abs() < 1e-5, "{row:?}");
        }
    }
    assert!(err.contains("2 estimates are omitted"), "{err}");
    // An estimate ends after the next run began, and no warning says that runs overlap.
    assert!(!err.contains("before an earlier one stops"), "{err}");
    assert!(out.contains("i1 on 2 cores (10 of 60 iterations"), "{out}");
}

#[test]
fn iterations_that_get_slower_are_reported_and_their_estimate_is_doubted() {
    let Some(place) = Scratch::new() else { return };
    // Each 5 ms longer than the one before: more than a busy machine adds in most of them.
    let options = ["-c", "1", "--estimate-from", "12", "--iterations", "400"];
    let (out, err) = place.measured(&options, &["./app", "400", "5", "5000"]);
    let run = &place.data()["1;1"];
    assert!(number(&run["estimated"]["with_trend"]) > number(&run["estimated"]["interval"][1]));
    assert!(err.contains("iterations get slower within the first 12"), "{err}");
    assert!(out.contains("Iterations get slower within those measured for 1 core"), "{out}");
    assert!(out.contains("the estimate is too low"), "{out}");
}

#[test]
fn a_program_with_too_few_iterations_is_measured_completely() {
    let Some(place) = Scratch::new() else { return };
    let options = ["-c", "1", "--estimate-from", "10", "--iterations", "1000"];
    let (out, err) = place.measured(&options, &["./app", "4", "20", "0"]);
    let run = &place.data()["1;1"];
    assert_eq!(run.get("estimated"), None);
    assert_eq!(run["estimate_check"], serde_json::json!({ "iterations": 4 }));
    assert!(run["user_time"].is_number() && run["regions"]["1"].as_array().unwrap().len() == 4);
    assert!(err.contains("complete: region 1 ended 4 times, and not 10"), "{err}");
    assert!(err.contains("no run was ended early"), "{err}");
    assert!(!out.contains("Estimated"), "{out}");
    // Another region has none at all.
    fs::remove_file(place.file()).unwrap();
    let other = [&options[..], &["--iteration-region", "7"]].concat();
    let (_, err) = place.measured(&other, &["./app", "20", "1", "0"]);
    assert!(err.contains("region 7 ended 0 times"), "{err}");
    // One that fails meanwhile has failed.
    fs::remove_file(place.file()).unwrap();
    let output = place.measure(&options, &["sh", "-c", "./app 4 1 0; exit 5"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(place.data()["1;1"]["exit_status"], 5);
}

#[test]
fn all_processes_must_have_made_their_iterations_and_the_slowest_one_counts() {
    let Some(place) = Scratch::new() else { return };
    let options = ["-c", "2", "--estimate-from", "4", "--iterations", "1000"];
    // As ranks are started: one of them sleeps three times as long.
    let script = "./app 1000 10 0 & ./app 999 30 0 & wait";
    place.measured(&options, &["sh", "-c", script]);
    let run = &place.data()["2;1"];
    assert!(number(&run["estimated"]["median"]) >= 0.03, "{run}");
    assert!(place.iterations("999") >= 4 && place.iterations("999") < 900);
    assert!(seconds(run) >= 1000.0 * 0.03, "{run}");
    // Both threads of the region of the whole run have times.
    assert_eq!(run["regions"]["1"].as_array().unwrap().len(), 2, "{run}");
}

#[test]
fn parallel_regions_without_marks_are_iterations_by_their_place() {
    let Some(place) = Scratch::new() else { return };
    let source = "#include <unistd.h>\n\
                  int main(void) {\n\
                  for (int i = 0; i < 2000; i++) {\n\
                  #pragma omp parallel\n\
                  usleep(20000);\n\
                  }\n\
                  return 0;\n}\n";
    fs::write(place.folder.path().join("omp.c"), source).unwrap();
    let mut compiler = Command::new("gcc");
    compiler.current_dir(place.folder.path()).args(["-g", "-O0", "-fopenmp", "-o", "omp", "omp.c"]);
    if !needs::program("gcc", Without::Test) || !compiler.status().unwrap().success() {
        return;
    }
    let options = [
        "-c",
        "2",
        "--auto-regions",
        "--estimate-from",
        "5",
        "--iterations",
        "2000",
        "--iteration-region",
        "omp.c:4",
    ];
    place.measured(&options, &["./omp"]);
    let run = &place.data()["2;1"];
    assert_eq!(run["estimated"]["region"], "omp.c:4", "{run}");
    assert!(seconds(run) >= 2000.0 * 0.02, "{run}");
}

#[test]
fn what_cannot_be_estimated_is_refused_before_anything_is_run() {
    let Some(place) = Scratch::new() else { return };
    let cases: [(&[&str], &str); 6] = [
        (&["--estimate-from", "2"], "below 3"),
        (&["--estimate-from", "10", "--iterations", "10"], "are no less"),
        (&["--estimate-from", "10", "--iterations", "20,30"], "2 numbers for 0 inputs"),
        (&["--estimate-from", "10", "--counters", "task-clock"], "cannot be used with"),
        (&["--iterations", "10"], "--estimate-from"),
        (&["--estimate-from", "10", "--iteration-region", "x"], "expected a region such as 2"),
    ];
    for (options, part) in cases {
        let output = place.measure(&[&["-c", "1"], options].concat(), &["./app", "5", "1", "0"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {error}");
        assert!(error.contains(part), "{options:?}: {error}");
    }
    assert_eq!(place.iterations("5"), 0);
    let options = ["-c", "1", "--estimate-from", "10", "--iterations", "20", "--dry-run"];
    let (out, _) = place.measured(&options, &["./app", "20", "1", "0"]);
    assert!(out.contains("# 1 core, ended after 10 of 20 iterations"), "{out}");
}
