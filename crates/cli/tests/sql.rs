//! `parallax sql`: statements as they are typed, their formats, and what is refused.
#![cfg(feature = "sql")]

mod common;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{printed, rows, run};

fn database() -> String {
    let fixture = "../../fixtures/reactor/hybrid-n1024-p2x2";
    Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture).display().to_string()
}

#[test]
fn a_statement_gives_the_numbers_of_the_command_in_every_format() {
    let db = database();
    assert_eq!(
        rows(&["sql", &db, "SELECT * FROM flat(by => 'file')"]),
        rows(&["flat", &db, "--by", "file"])
    );
    assert_eq!(rows(&["sql", &db, "SELECT * FROM balance()"]), rows(&["balance", &db]));
    let statement = "SELECT name, depth FROM contexts WHERE name = 'main' ORDER BY context_id";
    let csv = printed(&["sql", &db, statement, "--format", "csv"]);
    assert!(csv.starts_with("name,depth\nmain,"), "{csv}");
    let text = printed(&["sql", &db, statement]);
    assert!(text.contains("main"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    for (name, begin) in [("a.arrow", &b"ARROW1"[..]), ("a.parquet", &b"PAR1"[..])] {
        let file = folder.path().join(name);
        printed(&["sql", &db, "SELECT * FROM values", "--output", file.to_str().unwrap()]);
        assert!(std::fs::read(&file).unwrap().starts_with(begin), "{name}");
    }
    // What is read is shown in full.
    let plan = printed(&["sql", &db, "EXPLAIN SELECT * FROM values WHERE context_id = 5"]);
    assert!(plan.contains("metric_id, value], read=[context_id=5]\n"), "{plan}");
    // Units are passed on with the columns that have them.
    let answer = common::answer(&["sql", &db, "SELECT start_ns FROM samples LIMIT 1"]);
    assert_eq!(answer["columns"][0]["unit"], "ns");
}

#[test]
fn remarks_of_questions_are_told() {
    let db = database();
    let told = |arguments: &[&str]| {
        let output = run(arguments);
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let expected = told(&["query", &db, "--profiles", "rank(9999)"]);
    assert!(expected.starts_with("note: "), "{expected}");
    let statement = "SELECT count(*) FROM query(profiles => 'rank(9999)')";
    assert_eq!(told(&["sql", &db, statement]), expected);
}

#[test]
fn statements_come_from_a_pipe() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(["sql", &database(), "--format", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"SELECT 1 AS a;\nSELECT 2\n AS b;\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "a\n1\nb\n2\n");
}

#[test]
fn refusals_say_why_and_mistakes_are_misuse() {
    let db = database();
    let cases: [(&[&str], i32, &str); 5] = [
        (&["COPY contexts TO 'a.csv'"], 2, "statements only read"),
        (&["SELECT nam FROM contexts"], 2, "nam"),
        (&["SELECT * FROM messages"], 2, "needs a trace of events"),
        (&["SELECT 1; SELECT 2", "--output", "never.csv"], 2, "a file holds one result"),
        (
            &[
                "SELECT count(*) FROM contexts a, contexts b, contexts c, contexts d
                  WHERE a.depth + b.depth + c.depth > d.depth * 7",
                "--time-limit",
                "0.2",
            ],
            1,
            "takes longer than 0.2 s",
        ),
    ];
    for (arguments, status, expected) in cases {
        let begun = Instant::now();
        let output = run(&[&["sql", &db], arguments].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        // The last one would take hours, and so would what only looks at the clock between its rows.
        assert!(begun.elapsed() < Duration::from_secs(30), "{arguments:?}");
    }
    assert!(!Path::new("never.csv").exists());
}

#[test]
fn measurements_of_several_runs_are_asked_together() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let place = |name: &str| fixtures.join(name).display().to_string();
    let file = place("pascal/solver-v1.json");
    let maps = rows(&["scaling", &file, "--table", "maps", "--min-share", "0"]);
    let statement = "SELECT * FROM scaling_table(table => 'maps', min_percent => 0)";
    assert_eq!(rows(&["sql", &file, statement]), maps);
    let [one, two, four] = [1, 2, 4].map(|ranks| place(&format!("reactor/n1024-p{ranks}")));
    let statement = "SELECT cores FROM runs WHERE region_id = 0 ORDER BY cores";
    let csv = ["--param", "cores=ranks", "--format", "csv", "--with", &two, &four];
    assert_eq!(printed(&[&["sql", &one, statement], &csv[..]].concat()), "cores\n1\n2\n4\n");
    // A folder with several databases is an ensemble as well.
    let folder = tempfile::tempdir().unwrap();
    for ranks in [1, 2] {
        let to = folder.path().join(format!("p{ranks}"));
        std::fs::create_dir(&to).unwrap();
        for entry in std::fs::read_dir(place(&format!("reactor/n1024-p{ranks}"))).unwrap() {
            let from = entry.unwrap();
            if from.file_type().unwrap().is_file() {
                std::fs::copy(from.path(), to.join(from.file_name())).unwrap();
            }
        }
    }
    let folder = folder.path().to_str().unwrap();
    let counted = "SELECT count(DISTINCT run_id) AS n FROM runs";
    assert_eq!(printed(&["sql", folder, counted, "--format", "csv"]), "n\n2\n");
    let output = run(&["sql", &file, "SELECT 1", "--stats"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_bytes_that_a_statement_reads_are_told() {
    let db = database();
    let read = |statement: &str| {
        let output = run(&["sql", &db, statement, "--stats"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        let line = told.lines().find(|line| line.contains("read") && line.contains(" of "));
        line.unwrap_or_else(|| panic!("{told}")).to_owned()
    };
    assert!(read("SELECT 1 + 1").contains("read 0 B of"), "{}", read("SELECT 1 + 1"));
    assert!(!read("SELECT count(value) FROM values").contains("read 0 B"));
}
