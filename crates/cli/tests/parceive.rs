//! A database of Parceive, as it is asked on a terminal.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::path::{Path, PathBuf};

use common::{answer, printed, rows, run};
use parallax_testkit::parceive::Program;
use parallax_testkit::parceive_tags::Tagged;
use serde_json::{Map, Value, json};

fn database(folder: &Path) -> (PathBuf, Program) {
    let program = Program::default();
    let path = folder.join("rounds.db");
    std::fs::write(&path, program.bytes()).unwrap();
    (path, program)
}

fn text(arguments: &[&str]) -> String {
    printed(&[arguments, &["--width", "140"]].concat())
}

#[test]
fn info_counts_calls_loops_and_references() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = database(folder.path());
    let (path, counts) = (path.to_str().unwrap(), program.counts());
    let info = answer(&["info", path]);
    assert_eq!(info["title"], "rounds");
    assert_eq!(info["format"], "Parceive (2016 schema)");
    assert_eq!(
        info["activations"],
        json!({
            "calls": counts.calls,
            "loop_executions": counts.executions,
            "iterations": counts.iterations,
            "references": counts.references,
            "reads": counts.reads,
            "writes": counts.writes,
            "threads": program.threads,
        })
    );
    let shown = text(&["info", path]);
    assert!(shown.contains("63 calls") || shown.contains("63; 51 loop executions"), "{shown}");
    assert!(shown.contains("61 variables and allocations"), "{shown}");
}

#[test]
fn loops_are_listed_with_executions_and_iterations() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = database(folder.path());
    let rows = rows(&["loops", path.to_str().unwrap()]);
    // Three loops, of main and of worker, each by its own call path.
    assert_eq!(rows.len(), 6);
    let sum = |column: &str| rows.iter().map(|row| row[column].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("executions"), program.counts().executions);
    assert_eq!(sum("iterations"), program.counts().iterations);
    let longest = rows.iter().map(|row| row["time_s"].as_f64().unwrap()).collect::<Vec<_>>();
    assert!(longest.is_sorted_by(|a, b| a >= b));
    let shown = text(&["loops", path.to_str().unwrap()]);
    assert!(shown.contains("loop at rounds.c:21"), "{shown}");
}

#[test]
fn references_say_who_reads_and_writes_them_and_what_is_shared() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = database(folder.path());
    let (path, counts) = (path.to_str().unwrap(), program.counts());
    let all = rows(&["references", path]);
    let shared = all.iter().find(|row| row["reference"] == "shared").unwrap();
    assert_eq!(shared["reads"], counts.shared_reads);
    assert_eq!(shared["writes"], program.rounds);
    assert_eq!(shared["threads"], program.threads);
    assert_eq!(shared["storage"], "heap");
    assert_eq!(shared["allocated_in"], "main");
    assert_eq!(shared["allocated_line"], 6);
    assert_eq!(shared["written_in"], "loop at rounds.c:10");

    // Main and the workers share the allocation and nothing else, and only by what they call.
    let both = ["references", path, "--context", "function(main)", "--context", "function(worker)"];
    assert_eq!(rows(&both).len(), 0);
    let inclusive = rows(&[&both[..], &["--inclusive"]].concat());
    let names: Vec<_> = inclusive.iter().map(|row| &row["reference"]).collect();
    assert_eq!(names, ["shared"]);
    let alone = rows(&["references", path, "--context", "function(worker)", "--inclusive"]);
    let writes: u64 = alone.iter().map(|row| row["writes"].as_u64().unwrap()).sum();
    assert_eq!(writes, (counts.writes - u64::from(program.rounds)) / 3 * 2);
    assert!(text(&["references", path]).contains("written in"));
}

#[test]
fn the_usual_questions_work() {
    let folder = tempfile::tempdir().unwrap();
    let (path, program) = database(folder.path());
    let path = path.to_str().unwrap();
    for command in ["tree", "flat", "callers", "stats", "trace", "balance", "report"] {
        let output = run(&[command, path]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {error}");
        assert!(!output.stdout.is_empty(), "{command}");
    }
    // Recursion counts once: descend takes less than the whole.
    let flat = rows(&["flat", path]);
    let inclusive = |function: &str| -> f64 {
        let row = flat.iter().find(|row| row.values().any(|value| value == function)).unwrap();
        row["inclusive"].as_f64().unwrap()
    };
    assert!(inclusive("descend") < inclusive("main") + inclusive("worker"));
    // A loop is no call of its function.
    let stats = rows(&["stats", path]);
    let calls: u64 = stats.iter().map(|row| row["calls"].as_u64().unwrap()).sum();
    assert_eq!(calls, program.counts().calls);
}

#[test]
fn other_databases_of_sqlite_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("people.db");
    std::fs::write(&path, parallax_testkit::sqlite::of_sql("CREATE TABLE people(name)")).unwrap();
    let output = run(&["info", path.to_str().unwrap()]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("people.db"), "{error}");
}

#[test]
fn references_of_a_profile_without_accesses_are_refused() {
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/reactor/n256-p2");
    let output = run(&["references", profile.to_str().unwrap()]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("Parceive"), "{error}");
}

/// What `advise` says of a planted section with two tasks.
fn advised(planted: Tagged, by: &str) -> Vec<Map<String, Value>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("solve.db");
    std::fs::write(&path, planted.bytes()).unwrap();
    let section = "function(\"section Solve\")";
    let path = path.to_str().unwrap();
    rows(&["advise", path, "--by", by, "--workers", "2", "--context", section])
}

#[test]
fn tasks_of_a_section_run_side_by_side_where_they_do_not_depend() {
    let placed = |rows: &[Map<String, Value>]| -> Vec<(u64, String)> {
        let of = |row: &Map<String, Value>| {
            (row["worker"].as_u64().unwrap(), row["task"].as_str().unwrap().to_owned())
        };
        rows.iter().map(of).collect()
    };
    let [first, second] = ["task First", "task Second"].map(str::to_owned);
    let independent = advised(Tagged::Independent, "task");
    assert_eq!(placed(&independent), [(1, first.clone()), (2, second.clone())]);
    assert_eq!(independent[1]["start_s"], 0.0);
    assert!(advised(Tagged::Independent, "pair").is_empty());

    // `f` and `g` do not depend on each other in either; what the tasks do themselves does.
    let dependent = advised(Tagged::Dependent, "task");
    assert_eq!(placed(&dependent).len(), 2);
    assert_eq!(dependent[1]["start_s"], dependent[0]["end_s"]);
    let pairs = advised(Tagged::Dependent, "pair");
    assert_eq!(pairs.len(), 1);
    assert_eq!(
        ["earlier", "later", "reference", "dependence", "earlier_at", "later_at"]
            .map(|column| pairs[0][column].as_str().unwrap()),
        [
            "task First",
            "task Second",
            "first",
            "producer and consumer",
            "solve.c:11 (task First)",
            "solve.c:15 (task Second)"
        ]
    );
}
