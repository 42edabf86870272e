//! Runs under measurement tools: launchers with their names run the program and copy a database that
//! the tool wrote, and everything after that is real.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;
#[path = "common/tools.rs"]
mod tools;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::rows_of;
use parallax_testkit::needs;
use serde_json::{Map, Value};
use tools::{PARSED, hpctoolkit};

struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    /// With the program `app`, and with launchers first in `PATH`.
    fn new(tools: &[(&str, &str)]) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.path("bin")).unwrap();
        place.script("app", "echo \"$OMP_NUM_THREADS/$*\" >> log");
        for (name, script) in tools {
            place.script(&format!("bin/{name}"), script);
        }
        place
    }

    fn script(&self, name: &str, script: &str) {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn tool(&self, data: &Path, words: &[&str]) -> Output {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(self.folder.path()).env("DATA", data);
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command.env("PARALLAX_CACHE", self.path("cache"));
        command.args(words).output().unwrap()
    }

    fn measure(&self, data: &Path, options: &[&str]) -> Output {
        let sweep = ["measure", "-c", "1,2", "-i", "small", "-i", "a, 'b c'"];
        self.tool(data, &[&sweep, options, &["-o", "sweep.json", "--", "./app"]].concat())
    }

    fn data(&self) -> Map<String, Value> {
        let bytes = fs::read(self.path("sweep.json")).unwrap();
        let file: Value = serde_json::from_slice(&bytes).unwrap();
        file["data"].as_object().unwrap().clone()
    }

    /// Measures, and checks that four databases open as an ensemble with their parameters.
    fn collects(&self, name: &str, data: &Path, database: &str) {
        let output = self.measure(data, &["--tool", name]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {error}");
        let table = format!("sweep-{name}/runs.csv");
        assert!(error.contains(&format!("--params {table}")), "{name}: {error}");
        let folders = ["cores1-input0", "cores1-input1", "cores2-input0", "cores2-input1"];
        let paths = folders.map(|run| format!("sweep-{name}/{run}-run1{database}"));
        let words =
            ["scaling", "--params", &table, "--table", "dispersion", "--json", "--region", "0"];
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let output = self.tool(data, &[&words[..], &paths].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {error}");
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut cells: Vec<(u64, String)> = rows_of(&found)
            .iter()
            .map(|row| (row["cores"].as_u64().unwrap(), row["input"].as_str().unwrap().to_owned()))
            .collect();
        cells.sort();
        let expected = [(1, "a, 'b c'"), (1, "small"), (2, "a, 'b c'"), (2, "small")];
        assert_eq!(cells, expected.map(|(cores, input)| (cores, input.to_owned())), "{name}");
    }
}

fn scratch(tools: &[(&'static str, String)]) -> Scratch {
    let tools: Vec<(&str, &str)> =
        tools.iter().map(|(name, text)| (*name, text.as_str())).collect();
    Scratch::new(&tools)
}

#[test]
fn databases_of_hpctoolkit_are_an_ensemble() {
    let Some(data) = needs::corpus_path("data/hpctoolkit/measured/small-minife-2x2") else {
        return;
    };
    let place = scratch(&hpctoolkit());
    place.collects("hpctoolkit", &data, "/database");
    let log = fs::read_to_string(place.path("log")).unwrap();
    assert_eq!(log.lines().collect::<Vec<_>>(), ["1/small", "1/a, b c", "2/small", "2/a, b c"]);
    let run = place.path("sweep-hpctoolkit/cores1-input0-run1");
    let command = fs::read_to_string(run.join("command.txt")).unwrap();
    assert!(command.starts_with("hpcrun -t -e REALTIME -o /") && command.contains(" ./app small"));
    // Nothing is left to be run, and what is there is kept.
    let output = place.measure(&data, &["--tool", "hpctoolkit", "--resume"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(place.path("log")).unwrap(), log);
    // It goes on only with the same tool.
    let output = place.measure(&data, &["--resume"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("the tool differ"));
}

#[test]
fn profiles_of_tau_are_an_ensemble() {
    let Some(data) = needs::corpus_path("data/reactor/tau-profiles/p2") else { return };
    let script = format!("{PARSED}\"$@\" && cp -r \"$DATA\"/. \"$PROFILEDIR\"");
    let place = scratch(&[("tau_exec", script)]);
    place.collects("tau", &data, "");
}

#[test]
fn traces_of_score_p_are_an_ensemble() {
    let Some(data) = needs::corpus_path("data/otf2/ping-pong-otf2") else { return };
    let place = scratch(&[]);
    place.script("app", "test \"$SCOREP_ENABLE_TRACING\" = true && cp -r \"$DATA\" \"$SCOREP_EXPERIMENT_DIRECTORY\"");
    place.collects("scorep", &data, "/experiment/traces.otf2");
}

#[test]
fn profiles_of_caliper_are_an_ensemble() {
    let file = "data/caliper/caliper-lulesh-json/lulesh-annotation-profile.json";
    let Some(data) = needs::corpus_path(file) else { return };
    let place = scratch(&[]);
    place.script("app", "out=${CALI_CONFIG#*,output=}; cp \"$DATA\" \"${out%)}\"");
    place.collects("caliper", &data, "/profile.json");
}

#[test]
fn exports_of_nsight_are_an_ensemble() {
    let file = "data/other/cloverleaf-nsys/perlmutter-cloverleaf-cuda.sqlite";
    let Some(data) = needs::corpus_path(file) else { return };
    let script = format!(
        "case $1 in\nprofile) shift\n{PARSED}touch \"$out.nsys-rep\"; exec \"$@\";;\n\
         export) shift\n{PARSED}test -e \"$1\" && cp \"$DATA\" \"$out\";;\nesac"
    );
    let place = scratch(&[("nsys", script)]);
    place.collects("nsight", &data, "/report.sqlite");
    // Outside of the launcher of MPI.
    fs::remove_file(place.path("sweep.json")).unwrap();
    fs::remove_dir_all(place.path("sweep-nsight")).unwrap();
    place.script("bin/mpirun", "shift 2; exec \"$@\"");
    let output = place.measure(&data, &["--tool", "nsight", "--mpi", "mpirun -n {p}"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    let run = place.path("sweep-nsight/cores2-input1-run1");
    assert!(run.join("report.sqlite").exists());
    let command = fs::read_to_string(run.join("command.txt")).unwrap();
    assert!(command.starts_with("nsys profile --trace=cuda,nvtx,osrt,mpi"), "{command}");
    assert!(command.contains(" mpirun -n 2 ./app"), "{command}");
}

#[test]
fn a_tool_that_leaves_no_database_makes_the_run_fail_with_what_it_said() {
    let mut tools = hpctoolkit();
    tools[2].1 = "echo no measurements here >&2; exit 7".to_owned();
    let place = scratch(&tools);
    let failed = |place: &Scratch, parts: &[&str], status: i64| {
        let _ = fs::remove_file(place.path("sweep.json"));
        let output = place.measure(Path::new("/"), &["--tool", "hpctoolkit"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{error}");
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert_eq!(place.data()["1;0;1"]["exit_status"], status, "{error}");
        let table = fs::read_to_string(place.path("sweep-hpctoolkit/runs.csv")).unwrap();
        assert_eq!(table, "path,cores,input\n");
    };
    failed(&place, &["hpcprof -o", "exit status 7", "no measurements here", "hpcrun said this"], 7);
    // One that says it succeeded.
    place.script("bin/hpcprof", "exit 0");
    failed(&place, &["left no database", "hpcrun said this"], 1);
    // What is there is no database.
    place.script("bin/hpcprof", &format!("{PARSED}mkdir \"$out\"; echo x > \"$out/meta.db\""));
    failed(&place, &["left no database"], 1);
    // The program fails, and nothing more is done.
    place.script("app", "echo bad luck >&2; exit 3");
    failed(&place, &["exit status 3", "bad luck"], 3);
    // A folder that no sweep made is not touched.
    let own = place.path("sweep-hpctoolkit/cores1-input0-run1");
    fs::remove_dir_all(&own).unwrap();
    fs::create_dir(&own).unwrap();
    fs::write(own.join("mine"), "text").unwrap();
    fs::remove_file(place.path("sweep.json")).unwrap();
    let output = place.measure(Path::new("/"), &["--tool", "hpctoolkit"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("no run of a sweep made it") && own.join("mine").exists(), "{error}");
}

#[test]
fn any_other_tool_is_described_by_its_commands() {
    let Some(data) = needs::corpus_path("data/hpctoolkit/measured/small-minife-2x2") else {
        return;
    };
    let place = scratch(&[]);
    place.script("collect", "mkdir \"$1\"; shift; test \"$WHERE\" -ef . || exit 9; exec \"$@\"");
    place.script("make-database", "cp -r \"$DATA\" \"$2\"");
    let options = [
        "--tool-command",
        "./collect {run}/raw",
        "--tool-then",
        "./make-database {run}/raw {database}",
        "--tool-database",
        "{run}/out",
        "--tool-folder",
        "runs",
        "--env",
        "WHERE={run}/../..",
    ];
    let output = place.measure(&data, &[&options[..], &["--dry-run"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let dry = String::from_utf8(output.stdout).unwrap();
    assert!(dry.contains("./collect ") && dry.contains("&& ./make-database "), "{dry}");
    assert!(!place.path("runs").exists());
    let output = place.measure(&data, &options);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(place.path("runs/cores2-input1-run1/out/meta.db").exists());
    let table = fs::read_to_string(place.path("runs/runs.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[..2], ["path,cores,input", "cores1-input0-run1/out,1,small"]);
    assert!(table.contains("cores1-input1-run1/out,1,\"a, 'b c'\"\n"), "{table}");
    // The options must fit together.
    for (options, part) in [
        (&["--tool-command", "./collect x"][..], "--tool-database"),
        (&["--tool", "hpctoolkit", "--tool-database", "/tmp/x"], "{run}"),
        (&["--tool-folder", "x"], "name one of these"),
        (&["--tool", "gprof"], "hpctoolkit"),
        (&["--tool", "tau", "--record", "x"], "cannot be used with"),
    ] {
        let _ = fs::remove_file(place.path("sweep.json"));
        let output = place.measure(&data, options);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {error}");
        assert!(error.contains(part), "{part}: {error}");
    }
}
