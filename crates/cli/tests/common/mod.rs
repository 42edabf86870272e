//! Asking the tool as a person does, for several tests.

#![allow(dead_code, reason = "each test uses some of this")]
#![allow(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::process::{Command, Output};

use serde_json::{Map, Value};

/// What the tool does with these arguments.
pub(crate) fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax")).args(arguments).output().unwrap()
}

/// What it prints; it must not fail.
pub(crate) fn printed(arguments: &[&str]) -> String {
    let output = run(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Its answer in JSON.
pub(crate) fn answer(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--json"]].concat())).unwrap()
}

/// The rows of its answer in JSON.
pub(crate) fn rows(arguments: &[&str]) -> Vec<Map<String, Value>> {
    rows_of(&answer(arguments))
}

/// The rows of a table in JSON, each by the names of its columns.
pub(crate) fn rows_of(answer: &Value) -> Vec<Map<String, Value>> {
    let columns = answer["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|c| c["name"].as_str().unwrap()).collect();
    let rows = answer["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        let cells = row.as_array().unwrap().iter().cloned();
        names.iter().map(|name| (*name).to_owned()).zip(cells).collect()
    })
    .collect()
}
