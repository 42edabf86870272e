//! What a report says to do next: over the whole corpus each command runs as a shell would run it,
//! and shows the context that the finding is about with the number of the finding.

#![allow(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::skip;
use parallax_testkit::needs;
use serde_json::Value;

/// Databases, profiles and traces of the corpus of all formats: those whose findings are compared with
/// an expert's, and more. Those of several runs are ensembles, whose report is their scaling.
fn data() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/findings/expert.json");
    let rows: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let rows = rows.as_array().unwrap().iter().filter(|row| row["ask"] == "report");
    let compared = rows.map(|row| row["data"].as_str().unwrap().to_owned());
    let more = ["reactor/otf2-p4/traces.otf2", "tau/workflow_consolidation/merged_workflow.json"];
    compared.chain(more.map(str::to_owned)).collect()
}

/// Runs a command line as it is typed, in a folder.
fn typed(line: &str, folder: &Path) -> Output {
    let tool = env!("CARGO_BIN_EXE_parallax");
    let line = line.replacen("parallax", &format!("'{tool}'"), 1);
    Command::new("sh").args(["-c", &line]).current_dir(folder).output().unwrap()
}

fn json(line: &str, folder: &Path) -> Result<Value, String> {
    let output = typed(&format!("{line} --json"), folder);
    let error = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{line}: {error}"));
    }
    serde_json::from_slice(&output.stdout).map_err(|cause| format!("{line}: {cause}; {error}"))
}

/// Whether a row, as names of columns with their values, is one that is looked for.
type Chooses<'a> = dyn Fn(&[(&str, &Value)]) -> bool + 'a;

/// All numbers of the rows of an answer in which `is_selected` holds.
fn numbers(answer: &Value, is_selected: &Chooses<'_>) -> Vec<f64> {
    let mut tables = vec![answer];
    let parts = answer.as_object().into_iter().flat_map(|parts| parts.values());
    tables.extend(parts.filter(|part| part["columns"].is_array()));
    let mut out = Vec::new();
    for table in tables {
        let Some(columns) = table["columns"].as_array() else { continue };
        let names: Vec<&str> = columns.iter().filter_map(|c| c["name"].as_str()).collect();
        for row in table["rows"].as_array().into_iter().flatten() {
            let cells = row.as_array().into_iter().flatten();
            let row: Vec<(&str, &Value)> = names.iter().copied().zip(cells).collect();
            if is_selected(&row) {
                out.extend(row.iter().filter_map(|(_, value)| value.as_f64()));
            }
        }
    }
    out
}

/// What is wrong with the next step of a finding; nothing where it shows what the finding is about.
fn fault(finding: &Value, folder: &Path) -> Option<String> {
    let line = finding["next"].as_str().unwrap();
    let answer = match json(line, folder) {
        Ok(answer) => answer,
        Err(error) => return Some(error),
    };
    let value = finding["value"].as_f64()?;
    let is_near = |number: &f64| (number - value).abs() <= value.abs() * 1e-6;
    let id = finding["context_id"].as_u64();
    let function = finding["function"].as_str();
    // Rows of contexts are those of the finding's; rows of functions, locations or waits have no id,
    // or that of one of several contexts.
    let is_selected = |row: &[(&str, &Value)]| {
        let cell = |name: &str| row.iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        let is_called = |name: &str| cell("name").and_then(Value::as_str) == Some(name);
        match (function, cell("context_id").and_then(Value::as_u64)) {
            (Some(name), _) => is_called(name),
            (None, Some(own)) => id.is_none_or(|id| id == own),
            (None, None) => true,
        }
    };
    let found = numbers(&answer, &is_selected);
    (!found.iter().any(is_near))
        .then(|| format!("{line}: shows no {value} of context {id:?} ({})", finding["text"]))
}

#[test]
fn each_next_step_runs_and_shows_what_its_finding_is_about() {
    let Some(corpus) = needs::corpus().map(|root| root.join("data")) else { return };
    let (mut faults, mut checked) = (Vec::new(), 0);
    for path in data() {
        if needs::corpus_path(&format!("data/{path}")).is_none() {
            continue;
        }
        let report = match json(&format!("parallax report '{path}'"), &corpus) {
            Ok(report) => report,
            Err(error) => {
                faults.push(error);
                continue;
            }
        };
        for finding in report["findings"].as_array().unwrap() {
            checked += 1;
            faults.extend(fault(finding, &corpus));
            // What a button of the page leads to is said by the id of the context alone.
            let is_about_one = !finding["contexts"].is_null() || !finding["function"].is_null();
            if is_about_one && finding["context_id"].is_null() {
                faults.push(format!("{path}: no context in {}", finding["text"]));
            }
        }
    }
    if checked == 0 {
        return skip("no database of the corpus");
    }
    assert!(faults.is_empty(), "{} of {checked}:\n{}", faults.len(), faults.join("\n"));
}
