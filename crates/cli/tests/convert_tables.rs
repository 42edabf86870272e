//! `convert --to parquet`: a folder of tables, complete or not there.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::path::{Path, PathBuf};

use common::{files_in, otf2_trace, printed, run};

/// Paths below a folder, as texts.
fn names(folder: &Path) -> Vec<String> {
    let files = files_in(folder).into_iter();
    files
        .map(|(path, bytes)| {
            assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{path:?}");
            path.strip_prefix(folder).unwrap().display().to_string()
        })
        .collect()
}

#[test]
fn values_and_traces_are_written_in_parts_by_location() {
    let database = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor/n1024-p8");
    let database = database.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let convert = |options: &[&str], name: &str| -> PathBuf {
        let to = folder.path().join(name);
        let words = ["convert", "--to", "parquet", database, to.to_str().unwrap()];
        printed(&[&words, options].concat());
        to
    };
    let whole = convert(&[], "whole");
    let expected = [
        "contexts.parquet",
        "locations.parquet",
        "metrics.parquet",
        "samples/part-01-24.parquet",
        "values/part-01-24.parquet",
    ];
    assert_eq!(names(&whole), expected);
    let parts = names(&convert(&["--part-locations", "10"], "parts"));
    let parts: Vec<&String> = parts.iter().filter(|name| name.starts_with("values/")).collect();
    let expected =
        ["values/part-01-10.parquet", "values/part-11-20.parquet", "values/part-21-24.parquet"];
    assert_eq!(parts, expected);
    assert_eq!(names(&convert(&["--part-rows", "1"], "rows")).len(), 3 + 24 + 24);

    // What is there stays, and nothing unfinished is left.
    let output = run(&["convert", "--to", "parquet", database, whole.to_str().unwrap()]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && told.contains("exists already"), "{told}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
    let output = run(&["convert", "--to", "parquet", database, database, "x"]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("takes one database"));
}

#[test]
fn calls_of_a_trace_are_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let trace = otf2_trace(folder.path(), 400);
    let to = folder.path().join("tables");
    printed(&[
        "convert",
        "--to",
        "parquet",
        trace.to_str().unwrap(),
        to.to_str().unwrap(),
        "--part-locations",
        "5",
    ]);
    let found = names(&to);
    assert!(found.iter().any(|name| name.starts_with("trace_events/part-")), "{found:?}");
    assert!(!found.iter().any(|name| name.starts_with("samples/")), "{found:?}");
    assert_eq!(found.iter().filter(|name| name.starts_with("trace_events/")).count(), 2);
}
