//! A recording of the project's own runtime, as it is asked on a terminal.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::path::Path;

use common::{answer, printed, rows};
use serde_json::{Value, json};

fn recording() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/measured/image.plxm");
    path.to_str().unwrap().to_owned()
}

fn text(arguments: &[&str]) -> String {
    printed(&[arguments, &["--width", "160"]].concat())
}

#[test]
fn info_counts_what_the_program_must_have_done() {
    let info = answer(&["info", &recording()]);
    assert_eq!(info["title"], "image");
    assert_eq!(info["format"], "Parallax recording (version 1)");
    let activations = &info["activations"];
    // 9 calls and one for each of 32 rows; 4 loops and that of each worker.
    assert_eq!(activations["calls"], 41);
    assert_eq!(activations["loop_executions"], 6);
    assert_eq!(activations["iterations"], 161);
    assert_eq!(activations["threads"], 3);
    // The lock, 3 allocations, 3 variables, and one variable of each sharpened row.
    assert_eq!(activations["references"], 39);
}

#[test]
fn the_tree_has_functions_regions_and_loops() {
    let shown = text(&["tree", &recording(), "--all"]);
    for expected in ["main", "picture", "└─ loop at image.c:45", "sharpen_row", "image.c:"] {
        assert!(shown.contains(expected), "{expected} in {shown}");
    }
}

#[test]
fn loops_have_their_executions_and_iterations() {
    let mut found: Vec<_> = rows(&["loops", &recording()])
        .into_iter()
        .map(|row| {
            let name = |column: &str| row[column].as_str().unwrap().to_owned();
            (name("function"), row["executions"].clone(), row["iterations"].clone())
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let expected = [
        ("brighten", 1, 32),
        ("brightness", 1, 32),
        ("load", 1, 32),
        ("smooth", 1, 31),
        ("worker", 2, 34),
    ];
    assert_eq!(found, expected.map(|(name, e, i)| (name.to_owned(), json!(e), json!(i))));
}

#[test]
fn advice_finds_the_planted_verdicts() {
    let rows = rows(&["advise", &recording()]);
    let verdict = |function: &str| {
        let is_it = |row: &&serde_json::Map<String, Value>| {
            row.values().any(|cell| {
                cell.as_str().is_some_and(|cell| cell.contains(&format!("{function} > loop at")))
            })
        };
        let row = rows.iter().find(is_it).unwrap_or_else(|| panic!("{function} in {rows:?}"));
        row["verdict"].as_str().unwrap().to_owned()
    };
    let found = ["load", "brighten", "brightness", "smooth", "worker"].map(verdict);
    let expected =
        ["independent", "independent", "independent after changes", "dependent", "dependent"];
    assert_eq!(found, expected);
    let shown = text(&["advise", &recording()]);
    assert!(shown.contains("make total a reduction"), "{shown}");
    assert!(shown.contains("which iteration 0 wrote at image.c:77 (smooth)"), "{shown}");
}

#[test]
fn producer_and_consumer_and_the_race_are_found() {
    let pairs = text(&["advise", &recording(), "--by", "pair"]);
    let of_picture = pairs.lines().find(|line| line.starts_with("main > picture")).unwrap();
    for expected in ["load", "brighten", "producer and consumer", "image.c:37", "image.c:48"] {
        assert!(of_picture.contains(expected), "{expected} in {of_picture}");
    }
    let races = rows(&["advise", &recording(), "--by", "race"]);
    let names: Vec<_> = races.iter().map(|row| row["reference"].as_str().unwrap()).collect();
    // What the lock guards, and what the main thread touches before and after, is ordered.
    assert_eq!(names, ["rows_done", "rows_done"]);
}

#[test]
fn references_say_who_reads_and_writes_what() {
    let all = rows(&["references", &recording()]);
    let find = |name: &str| all.iter().find(|row| row["reference"] == name).unwrap();
    let sharp = find("sharp");
    assert_eq!((&sharp["storage"], &sharp["size_bytes"]), (&json!("heap"), &json!(8192)));
    assert_eq!((&sharp["reads"], &sharp["writes"]), (&json!(0), &json!(32)));
    assert_eq!((&sharp["threads"], &sharp["allocated_line"]), (&json!(2), &json!(138)));
    assert_eq!(find("next_row")["threads"], 2);
    let shared = rows(&[
        "references",
        &recording(),
        "--context",
        "function(load)",
        "--context",
        "function(brighten)",
        "--inclusive",
    ]);
    let names: Vec<_> = shared.iter().map(|row| row["reference"].as_str().unwrap()).collect();
    assert_eq!(names, ["image"]);
}
