//! What the user does with the traces and profiles of coupled programs.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

fn parallax(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.env("PARALLAX_CACHE", folder.join("cache")).env("LC_ALL", "C.UTF-8");
    command.args(arguments).current_dir(folder).output().unwrap()
}

fn stdout(folder: &Path, arguments: &[&str]) -> String {
    let output = parallax(folder, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn stderr(folder: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let output = parallax(folder, arguments);
    (String::from_utf8(output.stderr).unwrap(), output.status.code())
}

/// A trace of one rank that sends `sends` messages of 100 bytes to `to`, one each millisecond.
fn trace(rank: u32, to: u32, sends: u64, receives: u64) -> String {
    let mut events = vec![json!({
        "event-type": "entry", "name": "work", "time": 0, "node-id": rank, "thread-id": 0
    })];
    let count = sends.max(receives);
    for nth in 0..count {
        let kind = if nth < sends { "send" } else { "receive" };
        let (from, to) = if kind == "send" { (rank, to) } else { (to, rank) };
        events.push(json!({
            "event-type": kind, "time": 1000 * (nth + 1), "source-node-id": from,
            "source-thread-id": 0, "destination-node-id": to, "destination-thread-id": 0,
            "message-size": 100, "message-tag": 1
        }));
    }
    events.push(json!({
        "event-type": "exit", "name": "work", "time": 50_000, "node-id": rank, "thread-id": 0
    }));
    Value::Array(events).to_string()
}

fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("md.json"), trace(0, 1, 5, 0)).unwrap();
    std::fs::write(place.path().join("analysis.json"), trace(1, 0, 0, 5)).unwrap();
    place
}

#[test]
fn components_are_named_listed_and_asked_about() {
    let place = place();
    let place = place.path();
    let convert = ["convert", "md.json", "analysis.json", "run.parallax"];
    let depends = ["--depends", "analysis=md", "--offset", "analysis=0.002"];
    let (told, code) = stderr(place, &[&convert[..], &depends].concat());
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("analysis are those of its trace plus 0.002 s"), "{told}");

    let info: Value =
        serde_json::from_str(&stdout(place, &["info", "run.parallax", "--json"])).unwrap();
    assert_eq!(info["components"], 2);
    let analysis = &info["component_list"][1];
    assert_eq!(analysis["name"], "analysis");
    assert_eq!(analysis["depends_on"], json!(["md"]));
    assert_eq!((&analysis["ranks"], &analysis["first_rank"]), (&json!(1), &json!(0)));
    assert_eq!((&analysis["start_s"], &analysis["end_s"]), (&json!(0.002), &json!(0.052)));
    let text = stdout(place, &["info", "run.parallax", "--width", "80", "--color", "never"]);
    let row = text.lines().find(|line| line.starts_with("analysis ")).unwrap();
    assert!(row.ends_with("md"), "{row}");

    let table =
        stdout(place, &["messages", "run.parallax", "--by", "component", "--format", "csv"]);
    assert_eq!(
        table,
        "sender,receiver,kind,messages,bytes,mean_s,longest_s,unmatched,backwards\n\
         md,analysis,message,5,500,0.002,0.002,0,0\n"
    );
    let chosen =
        stdout(place, &["stats", "run.parallax", "-p", "application(1)", "--format", "csv"]);
    assert!(chosen.contains("work,\"\",1,0.05,0.05,100.0"), "{chosen}");
    let (told, _) = stderr(place, &["messages", "run.parallax", "--by", "file"]);
    assert!(told.contains("No file transfers"), "{told}");
}

#[test]
fn what_names_no_component_is_refused_with_near_names() {
    let place = place();
    let place = place.path();
    let error = |more: &[&str]| {
        let convert = ["convert", "md.json", "analysis.json", "run.parallax"];
        let (told, code) = stderr(place, &[&convert[..], more].concat());
        assert!(!place.join("run.parallax").exists());
        (told, code)
    };
    let (told, code) = error(&["--depends", "analysys=md"]);
    assert_eq!(code, Some(2));
    assert!(told.contains("no component is called analysys"), "{told}");
    assert!(told.contains("did you mean analysis?"), "{told}");
    let (told, code) = error(&["--offset", "zzz=1"]);
    assert_eq!(code, Some(2));
    assert!(told.contains("components are md, analysis"), "{told}");
    let (told, code) = error(&["--offset", "md=soon"]);
    assert_eq!(code, Some(2));
    assert!(told.contains("soon is no time in seconds"), "{told}");
    let (told, code) = error(&["--ranks", "a=0-3"]);
    assert_eq!(code, Some(2));
    assert!(told.contains("components of one trace"), "{told}");
    let (told, code) = error(&["--align", "time-of-day"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("md says nothing about the time of day"), "{told}");
    let (told, _) = stderr(place, &["convert", "md.json", "md.json", "run.parallax"]);
    assert!(told.contains("two components are called"), "{told}");
    let (told, _) = stderr(place, &["convert", "md.json"]);
    assert!(told.contains("specify the trace, then the archive"), "{told}");
}

#[test]
fn a_trace_whose_other_files_change_is_converted_again() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let shape = parallax_testkit::otf2::Shape { calls: 10, ..Default::default() };
    let write = |shape: &parallax_testkit::otf2::Shape| {
        for (path, bytes) in parallax_testkit::otf2::generate(shape).0 {
            std::fs::create_dir_all(place.join(&path).parent().unwrap()).unwrap();
            std::fs::write(place.join(path), bytes).unwrap();
        }
    };
    let calls = || -> Value {
        let info = stdout(place, &["info", "traces.otf2", "--json"]);
        serde_json::from_str::<Value>(&info).unwrap()["calls"].clone()
    };
    write(&shape);
    assert_eq!(calls(), 20);
    // The anchor and the definitions stay, and so does the folder; only one file of it changes.
    let longer = parallax_testkit::otf2::Shape { calls: 12, ..shape };
    let events = parallax_testkit::otf2::generate(&longer).0.remove("traces/0.evt").unwrap();
    std::fs::write(place.join("traces/0.evt"), events).unwrap();
    assert_eq!(calls(), 22);
}

/// The folder of a real workflow; `None` where there is no corpus.
fn real() -> Option<PathBuf> {
    parallax_testkit::needs::corpus_path("data/tau/workflow_consolidation")
}

#[test]
fn profiles_become_the_workflow_profile_that_taus_tool_made() {
    let Some(folder) = real() else { return };
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    let (md, reader, description) = (path("xmain_0"), path("reader2_0"), path("workflow_in.json"));
    let arguments = ["convert", &md, &reader, "merged.json", "--workflow", &description];
    let (told, code) = stderr(place.path(), &arguments);
    assert_eq!((told.as_str(), code), ("", Some(0)));
    let read =
        |path: &Path| -> Value { serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap() };
    let merged = read(&place.path().join("merged.json"));
    let golden = read(&folder.join("merged_workflow.json"));
    assert!(same(&merged, &golden), "every value is that of TAU's own tool");

    // Without a description names and dependencies are what is said.
    let arguments = ["convert", &md, &reader, "own.json", "--depends", "reader2_0=xmain_0"];
    assert_eq!(stderr(place.path(), &arguments).1, Some(0));
    let info: Value =
        serde_json::from_str(&stdout(place.path(), &["info", "own.json", "--json"])).unwrap();
    assert_eq!(info["title"], "own");
    assert_eq!(info["component_list"][1]["depends_on"], json!(["xmain_0"]));
    assert_eq!(info["component_list"][1]["first_rank"], 8);
    assert_eq!(info["component_list"][0]["ranks"], 8);
    let named = format!("reader_0={reader}");
    let arguments = ["convert", "--component", &named, &md, "x.json", "--workflow", &description];
    let (told, code) = stderr(place.path(), &arguments);
    assert_eq!(code, Some(2));
    assert!(told.contains("did you mean reader_0?"), "{told}");
    assert!(!place.path().join("x.json").exists());
}

/// Whether two values are the same; numbers by value, as tools write 4 or 4.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(name, value)| b.get(name).is_some_and(|other| same(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (a, b) => a == b,
    }
}

#[test]
fn a_folder_with_a_trace_of_tau_and_its_definitions_opens_as_the_trace() {
    let needs = parallax_testkit::needs::corpus_path;
    let Some(real) = needs("data/reactor/tau-trace-p4") else { return };
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("run");
    std::fs::create_dir(&folder).unwrap();
    for name in ["tau.trc", "tau.edf"] {
        std::fs::copy(real.join(name), folder.join(name)).unwrap();
    }
    let said = |what: &str| -> Value {
        let text = stdout(place.path(), &["info", what, "--json"]);
        serde_json::from_str(&text).unwrap()
    };
    let (whole, named) = (said("run"), said("run/tau.trc"));
    assert_eq!(whole["format"], "TAU trace (converted)");
    assert_eq!(whole["calls"], named["calls"]);
    assert_eq!(whole["locations"], 4);
}

/// What TAU recorded about host, processor and command, of all threads together.
#[test]
fn info_has_what_the_tool_recorded_about_the_execution() {
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor-tau/p4");
    let profiles = profiles.to_str().unwrap();
    let place = tempfile::tempdir().unwrap();
    let text = stdout(place.path(), &["info", profiles, "--json"]);
    let info: Value = serde_json::from_str(&text).unwrap();
    let facts = info["fact_list"].as_array().unwrap();
    let value = |name: &str| {
        let found = facts.iter().find(|fact| fact["name"] == name);
        found.map(|fact| fact["value"].as_str().unwrap().to_owned())
    };
    let host = value("Hostname").unwrap();
    assert!(value("CPU Type").is_some() && value("Command Line").is_some(), "{facts:?}");
    let shown = stdout(place.path(), &["info", profiles]);
    let metadata = shown.split("\nMetadata\n").nth(1).unwrap();
    assert!(metadata.contains("Hostname") && metadata.contains(&host), "{shown}");
}
