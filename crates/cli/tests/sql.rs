//! `parallax sql`: statements as they are typed, their formats, and what is refused.
#![cfg(feature = "sql")]

mod common;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

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
        let output = run(&[&["sql", &db], arguments].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    assert!(!Path::new("never.csv").exists());
}
