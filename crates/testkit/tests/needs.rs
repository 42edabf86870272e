//! Tests that cannot run are counted as skipped, and are failures where the corpus is required.

#![allow(clippy::unwrap_used, reason = "tests may stop")]

use std::path::Path;
use std::process::Command;

use parallax_testkit::needs;

/// What the test below asks for; it runs again and again with this variable set.
const ASK: &str = "PARALLAX_TESTKIT_ASKS";

#[test]
fn asks() {
    match std::env::var(ASK).as_deref() {
        Ok("corpus") => _ = needs::corpus(),
        Ok("part") => _ = needs::program("no-such-program", needs::Without::Part),
        Ok(path) => _ = needs::corpus_path(path),
        Err(_) => {}
    }
}

/// Whether the test passed, and the lines that it wrote about what it skipped.
fn run(ask: &str, variables: &[(&str, &Path)]) -> (bool, Vec<Vec<String>>) {
    let place = tempfile::tempdir().unwrap();
    let lines = place.path().join("skipped");
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "asks", "--nocapture"]).env(ASK, ask).env(needs::SKIPPED, &lines);
    test.env_remove("PARALLAX_CORPUS").env_remove("PARALLAX_REQUIRE_CORPUS");
    for (name, value) in variables {
        test.env(name, value);
    }
    let passed = test.output().unwrap().status.success();
    let text = std::fs::read_to_string(lines).unwrap_or_default();
    let fields = |line: &str| line.split('\t').map(str::to_owned).collect();
    (passed, text.lines().map(fields).collect())
}

#[test]
fn a_missing_file_is_a_skip_and_where_the_corpus_is_required_a_failure() {
    let corpus = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(corpus.path().join("data/here")).unwrap();
    let named = ("PARALLAX_CORPUS", corpus.path());
    let required = ("PARALLAX_REQUIRE_CORPUS", Path::new("1"));

    assert_eq!(run("corpus", &[named]), (true, vec![]));
    assert_eq!(run("data/here", &[named, required]), (true, vec![]));
    let (passed, lines) = run("data/gone", &[named]);
    assert!(passed);
    let [line] = lines.as_slice() else { unreachable!("{lines:?}") };
    assert_eq!(
        (&*line[0], &*line[2], &*line[3]),
        ("test", "asks", "data/gone is not in the corpus")
    );
    assert!(line[1].starts_with("needs-"), "{line:?}");
    assert_eq!(run("data/gone", &[named, required]), (false, vec![]));
}

#[test]
fn a_corpus_that_is_named_wrongly_is_a_failure() {
    let place = tempfile::tempdir().unwrap();
    for wrong in [place.path().join("shred"), place.path().to_owned(), "".into()] {
        assert_eq!(run("corpus", &[("PARALLAX_CORPUS", &wrong)]), (false, vec![]), "{wrong:?}");
    }
}

#[test]
fn a_missing_program_skips_what_needs_it() {
    let (passed, lines) = run("part", &[]);
    assert!(passed);
    assert_eq!(lines.iter().map(|line| &*line[0]).collect::<Vec<_>>(), ["part"]);
}
