//! What is read at an interval within runs: events, and power by a planted `ipmitool`.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::rows;
use parallax_testkit::needs::{self, Without};
use serde_json::Value;

struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self, name: &str, text: &str) {
        // Written elsewhere and renamed: no process that is being started has it open for writing.
        let new = self.path("new");
        fs::write(&new, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(new, self.path(name)).unwrap();
    }

    /// `measure` with programs of this folder before those of the machine.
    fn measure(&self, options: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut path = self.folder.path().as_os_str().to_owned();
        path.push(":/usr/bin:/bin");
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(self.folder.path()).env("PATH", path).env_remove("IPMI_PASSWORD");
        command.envs(variables.iter().copied()).arg("measure").args(options);
        command.args(["--cores", "1", "-o", "sweep.json", "--", "./app"]).output().unwrap()
    }

    fn measured(&self, options: &[&str], variables: &[(&str, &str)]) -> Value {
        let output = self.measure(options, variables);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&fs::read(self.path("sweep.json")).unwrap()).unwrap()
    }

    fn refused(&self, options: &[&str], variables: &[(&str, &str)]) -> String {
        let output = self.measure(options, variables);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        said
    }

    fn file(&self) -> String {
        self.path("sweep.json").to_str().unwrap().to_owned()
    }
}

/// Writes down how it was called, and answers as the real one does.
const IPMITOOL: &str = r#"
echo "$* / $IPMI_PASSWORD" >> asked
cat <<END

    Instantaneous power reading:                   236 Watts
    Minimum during sampling period:                  4 Watts
    Maximum during sampling period:                420 Watts
    Power reading state is:                   activated
END
"#;

/// Ends when the power was read three times after the first question, which is asked before it runs.
const WATCHED: &str = r#"
echo "password: $IPMI_PASSWORD" > told
until [ $(wc -l < asked) -ge 4 ]; do sleep 0.05; done
"#;

#[test]
fn power_of_the_machine_is_read_by_ipmitool_while_the_program_runs() {
    let place = Scratch::new();
    place.script("app", WATCHED);
    place.script("ipmitool", IPMITOOL);
    let file = place.measured(&["--ipmi", "admin@bmc7"], &[("IPMI_PASSWORD", "sesame")]);
    let asked = fs::read_to_string(place.path("asked")).unwrap();
    let expected = "-I lanplus -H bmc7 -U admin -E dcmi power reading / sesame";
    assert!(asked.lines().all(|line| line == expected), "{asked}");
    // The password goes neither to the program nor into the file.
    assert_eq!(fs::read_to_string(place.path("told")).unwrap(), "password: \n");
    assert!(!file.to_string().contains("sesame"), "{file:#}");
    let run = &file["data"]["1;1"];
    let samples = run["sensors"]["ipmi"].as_array().unwrap();
    assert!(samples.len() >= 2, "{run:#}");
    let until = run["stop_time"].as_f64().unwrap() + 1.0;
    for sample in samples {
        assert_eq!(sample[0], 236.0);
        assert!(sample[1].as_f64().unwrap() <= until, "{run:#}");
    }
    let extras = &file["config"]["data_descriptor"]["extras"];
    assert_eq!(extras["sensors"]["values"], serde_json::json!(["info", "time"]));
    // The integral is the energy of the run.
    let table = rows(&["scaling", &place.file(), "--table", "energy"]);
    assert_eq!((table.len(), table[0]["meter"].as_str()), (1, Some("ipmi")));
    assert!((table[0]["power"].as_f64().unwrap() - 236.0).abs() < 1e-6, "{table:?}");
    // Going on asks the same controller.
    let output = place.measure(&["--ipmi", "local", "--resume"], &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("controllers differ") && said.contains("admin@bmc7"), "{said}");
}

#[test]
fn what_cannot_be_read_is_said_before_anything_runs() {
    let place = Scratch::new();
    place.script("app", "echo ran > told");
    let said = place.refused(&["--sample", "50ms"], &[]);
    assert!(said.contains("--counters"), "{said}");
    let said = place.refused(&["--sample", "50us", "--counters", "task-clock"], &[]);
    assert!(said.contains("500ms"), "{said}");
    let said = place.refused(&["--sample", "0.1ms", "--counters", "task-clock"], &[]);
    assert!(said.contains("1 ms"), "{said}");
    let said = place.refused(&["--ipmi", "bmc7"], &[]);
    assert!(said.contains("IPMI_PASSWORD"), "{said}");
    let said = place.refused(&["--ipmi", "admin@"], &[]);
    assert!(said.contains("USER@SERVER"), "{said}");
    place.script("ipmitool", "echo 'Could not open device at /dev/ipmi0' >&2; exit 1");
    let said = place.refused(&["--ipmi", "local"], &[]);
    assert!(said.contains("/dev/ipmi0") && said.contains("ipmi_devintf"), "{said}");
    place.script("ipmitool", "echo 'Error: Unable to establish IPMI v2 / RMCP+ session'");
    let said = place.refused(&["--ipmi", "bmc7"], &[("IPMI_PASSWORD", "x")]);
    assert!(said.contains("RMCP+ session") && said.contains("password"), "{said}");
    assert!(!place.path("told").exists() && !place.path("sweep.json").exists());
}

/// Region 1 computes for 0.4 s of processor time, region 2 sleeps as long.
const PHASES: &str = r#"
#include "pascalops.h"
#include <time.h>
int main(void) {
    pascal_start(1);
    while (clock() < 4 * (CLOCKS_PER_SEC / 10)) {}
    pascal_stop(1);
    pascal_start(2);
    struct timespec wait = {0, 400000000};
    nanosleep(&wait, NULL);
    pascal_stop(2);
    return 0;
}
"#;

#[test]
fn events_within_a_run_are_shared_among_its_regions() {
    if !needs::program("cc", Without::Test) {
        return;
    }
    let place = Scratch::new();
    fs::write(place.path("app.c"), PHASES).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../measure/include");
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-pthread", "-o"]).arg(place.path("app")).arg("-I").arg(include);
    assert!(compiler.arg(place.path("app.c")).status().unwrap().success());
    let options = ["--counters", "task-clock,page-faults", "--sample", "10ms"];
    let file = place.measured(&options, &[]);
    assert_eq!(file["config"]["sample_rate"], 0.01);
    let run = &file["data"]["1;1"];
    let samples = run["sensors"]["fingerprint_sample"].as_array().unwrap();
    assert!(samples.len() > 10, "{run:#}");
    assert_eq!(samples[0][0], serde_json::json!([0, 0]));
    let last = &samples.last().unwrap()[0];
    assert_eq!((&last[0], &last[1]), (&run["task-clock"], &run["page-faults"]));
    let total = run["task-clock"].as_f64().unwrap();
    let of = |region: &str| {
        let file = place.file();
        let maps = rows(&["scaling", &file, "--metric", "task-clock", "--region", region]);
        maps[0]["time"].as_f64().unwrap()
    };
    let (computing, sleeping) = (of("1"), of("2"));
    assert_eq!(of("0"), total);
    assert!(computing > 0.7 * total && computing <= total, "{computing} of {total}");
    assert!(sleeping < 0.2 * total, "{sleeping} of {total}");
    // The words of PaScal Analyzer mean the same; a file is gone on with at its own interval only.
    let analyzer = ["--fgps", "task-clock,page-faults", "--resume"];
    let output = place.measure(&analyzer, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("there 0.01, now 0.1"), "{said}");
}
