//! What `compare` promises of databases: planted and real differences, conditions and exit codes.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::rows_of;
use parallax_testkit::drawn::draw;
use parallax_testkit::hpctoolkit::WriteOptions;
use serde_json::Value;

fn run(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn write(folder: &Path, name: &str, metric: &str, drawing: &str) {
    let files = draw(metric, drawing).to_files(&WriteOptions::default());
    for (path, bytes) in files.by_path {
        let path = folder.join(name).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// Three executions of two versions: `solve` is slower by 12 %, `check` is new.
fn planted() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (run, noise) in [0.0, 0.05, -0.05].into_iter().enumerate() {
        let old = format!("main 1.0 1.0\n  solve {} {}\n  dot 3.0 2.9", 5.0 + noise, 5.0 - noise);
        let new = format!(
            "main 1.0 1.0\n  solve {} {}\n  dot 3.0 2.9\n  check {} 0.2",
            5.6 + noise / 2.0,
            5.6,
            0.2 + noise / 20.0
        );
        write(folder.path(), &format!("old-{run}"), "CPUTIME (sec)", &old);
        write(folder.path(), &format!("new-{run}"), "CPUTIME (sec)", &new);
    }
    folder
}

#[test]
fn a_planted_regression_is_found_said_and_stops_a_build() {
    let folder = planted();
    let at = folder.path();
    let sides = ["compare", "old-0", "old-1", "old-2", "--vs", "new-0", "new-1", "new-2"];
    let output = run(&[&sides[..], &["--width", "100"]].concat(), at);
    let (out, notes) = text(&output);
    assert!(output.status.success(), "{notes}");
    assert!(out.contains("Whole program: slower by"), "{out}");
    assert!(out.contains("solve, called from main: slower by 12 % (95 %: 11 to 13 %)"), "{out}");
    assert!(out.contains("check, called from main: only in the new version: 400.0 ms"), "{out}");
    assert!(out.contains("3 executions"), "{out}");
    assert!(!notes.contains("One execution"), "{notes}");

    let gate = |condition: &str| run(&[&sides[..], &["--fail-if", condition]].concat(), at);
    let failed = gate("function(solve) > +5%");
    assert_eq!(failed.status.code(), Some(3));
    assert!(text(&failed).1.contains("holds: +12.0"), "{}", text(&failed).1);
    assert_eq!(gate("function(solve) > +15%").status.code(), Some(0));
    assert_eq!(gate("total > +1.2s and significant").status.code(), Some(3));
    assert_eq!(gate("function(check) > +100%").status.code(), Some(3), "new is more than any");
    assert_eq!(gate("function(dot) > +0.1% and significant").status.code(), Some(0));
    let wrong = gate("function(sovle) > +5%");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong).1.contains("sovle"), "{}", text(&wrong).1);
    let unit = gate("function(solve) > +5 parsecs");
    assert_eq!(unit.status.code(), Some(2));
}

#[test]
fn tables_of_every_format_and_folded_stacks_have_both_versions() {
    let folder = planted();
    let at = folder.path();
    let base = ["compare", "old-0", "new-0", "--quiet"];
    let (out, notes) = text(&run(&[&base[..], &["--json", "--folded", "d.txt"]].concat(), at));
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{notes}"));
    let table = rows_of(&answer);
    assert_eq!(table[0]["name"], "solve", "the largest difference first");
    let solve = &table[0];
    assert_eq!((solve["own_old"].as_f64(), solve["own_new"].as_f64()), (Some(10.0), Some(11.2)));
    let own: f64 = table.iter().map(|row| row["own_difference"].as_f64().unwrap()).sum();
    let whole = table.iter().find(|row| row["context"] == "").unwrap();
    assert!((own - whole["difference"].as_f64().unwrap()).abs() < 1e-9);
    let folded = std::fs::read_to_string(at.join("d.txt")).unwrap();
    assert!(folded.contains("<main thread>;main;solve 10000000000 11200000000\n"), "{folded}");
    assert!(folded.contains("<main thread>;main;check 0 400000000\n"), "{folded}");
    let (csv, _) = text(&run(&[&base[..], &["--format", "csv", "--relative"]].concat(), at));
    assert_eq!(csv.lines().count(), table.len() + 1);
    for format in ["arrow", "parquet"] {
        let file = format!("t.{format}");
        let written = run(&[&base[..], &["-o", &file]].concat(), at);
        assert!(written.status.success() && at.join(&file).metadata().unwrap().len() > 100);
    }
}

#[test]
fn three_versions_are_compared_with_the_first_and_metrics_must_match() {
    let folder = planted();
    let at = folder.path();
    let (out, _) = text(&run(&["compare", "old-0", "old-1", "new-0", "--json"], at));
    let table = rows_of(&serde_json::from_str(&out).unwrap());
    let versions: std::collections::BTreeSet<_> =
        table.iter().map(|row| row["version"].as_str().unwrap().to_owned()).collect();
    assert_eq!(versions.into_iter().collect::<Vec<_>>(), ["new-0", "old-1"]);
    write(at, "cycles", "CYCLES", "main 1.0\n  solve 4.0");
    let other = run(&["compare", "old-0", "cycles", "--metric", "cputime"], at);
    assert_eq!(other.status.code(), Some(2));
    let message = text(&other).1;
    assert!(message.contains("cycles: ") && message.contains("CYCLES"), "{message}");
    assert_eq!(run(&["compare", "old-0"], at).status.code(), Some(1));
}

#[test]
fn profiles_of_two_tools_meet_by_function() {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let output = run(&["compare", "reactor-tau/p4", "reactor/n256-p4", "--json"], &fixtures);
    let (out, notes) = text(&output);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{notes}"));
    let table = rows_of(&answer);
    let both: Vec<&str> = table
        .iter()
        .filter(|row| row["in"] == "both")
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    for name in ["MPI_Allreduce", "MPI_Waitall", "react", "checkpoint"] {
        assert!(both.contains(&name), "{name} is not among {both:?}");
    }
    assert!(notes.contains("different tools"), "{notes}");
    assert!(notes.contains("helper threads"), "{notes}");
}

#[test]
fn functions_that_share_their_imbalance_are_correlated() {
    let folder = tempfile::tempdir().unwrap();
    // wait is what solve leaves of 10 s; dot has nothing to do with either.
    let solve = [1.0, 4.0, 2.0, 8.0, 6.0, 3.0];
    let column = |of: &dyn Fn(usize, f64) -> f64| {
        let cells = solve.iter().enumerate().map(|(at, &value)| of(at, value).to_string());
        cells.collect::<Vec<_>>().join(" ")
    };
    let drawing = format!(
        "main {}\n  solve {}\n  wait {}\n  dot {}",
        column(&|_, _| 0.5),
        column(&|_, value| value),
        column(&|_, value| 10.0 - value),
        column(&|at, _| [3.0, 2.9, 3.1, 2.8, 3.2, 3.3][at])
    );
    write(folder.path(), "db", "CPUTIME (sec)", &drawing);
    let ask = |more: &[&str]| {
        let output = run(&[&["correlate", "db", "--json"], more].concat(), folder.path());
        let (out, notes) = text(&output);
        rows_of(&serde_json::from_str(&out).unwrap_or_else(|_| panic!("{notes}")))
    };
    let all = ask(&[]);
    let pair = |row: &&serde_json::Map<String, Value>| {
        row["first"] == "wait (CPUTIME)" && row["second"] == "solve (CPUTIME)"
    };
    let at = all.iter().position(|row| pair(&row)).unwrap();
    assert!(at < 2, "the whole follows dot as exactly, nothing else does: {all:?}");
    assert!((all[at]["pearson"].as_f64().unwrap() + 1.0).abs() < 1e-12);
    assert_eq!(all[at]["locations"], 6);
    assert_eq!(ask(&["--top", "1"]).len(), 1);
    let ranked = ask(&["--with", "rank"]);
    assert!(ranked.iter().all(|row| row["first"] == "rank"), "{ranked:?}");
    let wrong = run(&["correlate", "db", "--with", "slove"], folder.path());
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong).1.contains("solve"), "{}", text(&wrong).1);
}

#[test]
fn a_report_says_what_became_slower_and_makes_one_page_of_it() {
    let folder = planted();
    let arguments = ["report", "new-0", "--against", "old-0", "--html", "r.html", "--json"];
    let (out, notes) = text(&run(&arguments, folder.path()));
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{notes}"));
    let findings = answer["findings"].as_array().unwrap();
    let slower = findings.iter().find(|finding| finding["kind"] == "Slower").unwrap();
    let words = slower["text"].as_str().unwrap();
    assert!(words.contains("slower by") && words.contains("solve"), "{words}");
    assert_eq!(slower["next"], "parallax compare old-0 new-0");
    let page = std::fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(page.contains("Top findings") && page.contains("Compared with old-0"), "{page}");
    assert!(!page.contains("<script") && !page.contains("http"), "nothing from elsewhere");
    let back = ["report", "old-0", "--against", "new-0", "--json"];
    let (out, _) = text(&run(&back, folder.path()));
    assert!(!out.contains("\"Slower\""), "what became faster is not wrong: {out}");
}

#[test]
fn the_first_rows_of_any_answer_by_any_column() {
    let folder = planted();
    let ask = |more: &[&str]| run(&[&["flat", "old-0"], more].concat(), folder.path());
    let names = |output: &Output| {
        let (out, notes) = text(output);
        let table = rows_of(&serde_json::from_str(&out).unwrap_or_else(|_| panic!("{notes}")));
        table.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&ask(&["--json", "--order-by", "inclusive", "--top", "2"])),
        ["main", "solve"]
    );
    assert_eq!(names(&ask(&["--json", "--order-by", "exclusive:asc", "--top", "1"])), ["main"]);
    assert_eq!(names(&ask(&["--json", "--top", "1"])), ["solve"]);
    let (shown, _) = text(&ask(&["--order-by", "inclusive:asc", "--top", "1"]));
    assert!(shown.contains("dot") && !shown.contains("solve"), "{shown}");
    let wrong = ask(&["--order-by", "price"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong).1.contains("its columns are"), "{}", text(&wrong).1);
}

/// A TAU profile of one thread: names of timers, calls, exclusive and inclusive seconds.
fn write_tau(folder: &Path, name: &str, timers: &[(&str, u32, u32, u32)]) {
    let mut text = format!("{} templated_functions_MULTI_TIME\n", timers.len());
    text.push_str("# Name Calls Subrs Excl Incl ProfileCalls\n");
    for (name, calls, own, whole) in timers {
        let group = if name.contains("=>") { "TAU_CALLPATH" } else { "TAU_USER" };
        text.push_str(&format!(
            "\"{name}\" {calls} 0 {own}000000 {whole}000000 0 GROUP=\"{group}\"\n"
        ));
    }
    text.push_str("0 aggregates\n");
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("profile.0.0.0"), text).unwrap();
}

#[test]
fn call_paths_that_were_cut_are_compared_by_function_and_no_time_is_negative() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let flat =
        [("main", 1, 1, 15), ("a", 1, 1, 7), ("b", 1, 1, 7), ("c", 2, 2, 12), ("d", 2, 10, 10)];
    let below_main = [("main => a", 1, 1, 7), ("main => b", 1, 1, 7)];
    let whole = [
        ("main => a => c", 1, 1, 6),
        ("main => b => c", 1, 1, 6),
        ("main => a => c => d", 1, 5, 5),
        ("main => b => c => d", 1, 5, 5),
    ];
    // The same run with TAU_CALLPATH_DEPTH=2: which call of c it was that called d is not known.
    let cut = [("a => c", 1, 1, 6), ("b => c", 1, 1, 6), ("c => d", 2, 10, 10)];
    write_tau(at, "deep", &[&flat[..], &below_main, &whole].concat());
    write_tau(at, "cut", &[&flat[..], &below_main, &cut].concat());
    for pair in [["deep", "cut"], ["cut", "deep"]] {
        let output = run(&["compare", pair[0], pair[1], "--json"], at);
        let (out, notes) = text(&output);
        let rows = rows_of(&serde_json::from_str(&out).unwrap());
        assert!(notes.contains("only the inner part of call paths was recorded"), "{notes}");
        let number = |row: &serde_json::Map<String, Value>, name: &str| row[name].as_f64().unwrap();
        for row in &rows {
            for column in ["old", "new", "own_old", "own_new"] {
                assert!(number(row, column) >= 0.0, "{row:?}");
            }
            assert!(number(row, "own_difference").abs() < 1e-9, "{row:?}");
        }
        let d = rows.iter().find(|row| row["name"] == "d").unwrap();
        assert!((number(d, "own_new") - 10.0).abs() < 1e-9, "{d:?}");
        let (shown, _) = text(&run(&["compare", pair[0], pair[1]], at));
        assert!(shown.contains("Whole program: unchanged, 15.00 s"), "{shown}");
    }
}
