//! Asking the tool as the user does, for several tests.

#![allow(dead_code, reason = "each test uses some of this")]
#![allow(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use parallax_testkit::needs::{self, Without};
use parallax_testkit::otf2::{Shape, generate};
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

/// The rows of a tree, each with the names of its context and of those above it, the outermost first.
pub(crate) fn tree(arguments: &[&str]) -> Vec<(Vec<String>, Map<String, Value>)> {
    let mut above: Vec<(u64, String)> = Vec::new();
    let with_path = |row: Map<String, Value>| {
        let depth = row["depth"].as_u64().unwrap();
        above.retain(|(other, _)| *other < depth);
        above.push((depth, row["name"].as_str().unwrap().to_owned()));
        (above.iter().map(|(_, name)| name.clone()).collect(), row)
    };
    rows(arguments).into_iter().map(with_path).collect()
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

/// Says that a part of a test cannot be run here, and why.
pub(crate) fn skip(why: &str) {
    needs::skip(Without::Part, why);
}

/// Runs a compiler, which must succeed.
pub(crate) fn compile(compiler: &mut Command) {
    let output = compiler.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Whether the kernel lets anybody take samples, as a recording that was tried says; without that the
/// test is skipped.
pub(crate) fn takes_samples(tried: &Output) -> bool {
    let is_refused = String::from_utf8_lossy(&tried.stderr).contains("does not allow samples");
    if is_refused {
        needs::skip(Without::Test, "the kernel does not allow samples to be taken");
    }
    !is_refused
}

/// A question to a server, as HTTP has it.
pub(crate) fn posted(place: &str, token: &str, question: &str) -> String {
    format!(
        "POST /api/ask HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\
         Authorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{question}",
        question.len()
    )
}

/// The files below a folder by their paths, in order, with what is in them.
pub(crate) fn files_in(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                files.insert(path, bytes);
            }
        }
    }
    files
}

/// Writes an OTF2 trace into a folder; returns its anchor. It is converted in some hundred
/// milliseconds, almost all of which go into reading and writing events.
pub(crate) fn otf2_trace(folder: &Path, calls: u64) -> PathBuf {
    let shape = Shape { locations: 8, calls, ..Shape::default() };
    for (path, bytes) in generate(&shape).0 {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder.join("traces.otf2")
}
