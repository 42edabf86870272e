//! Numbers in the golden texts against sums over the same files that share no code with Parallax.
//!
//! The texts are what the commands print, whatever that is; `oracles/reactor.json` has numbers that
//! must stand in them. `oracles/reactor.py` recomputes them where the corpus has the independent
//! reader that it needs.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

use std::path::{Path, PathBuf};
use std::process::Command;

use parallax_testkit::needs::{self, Without};

/// A golden text, what stands in a line of it, and numbers of that line.
type Pin = (String, String, Vec<f64>);

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn stored() -> String {
    std::fs::read_to_string(tests().join("oracles/reactor.json")).unwrap()
}

/// Prefixes of SI that lines have, and what numbers of base units are multiplied by for them.
const PREFIXES: [(&str, f64); 7] =
    [("ms", 1e3), ("µs", 1e6), ("ns", 1e9), ("k", 1e-3), ("M", 1e-6), ("G", 1e-9), ("T", 1e-12)];

/// Whether a line shows a number of base units: rounded to the digits that are printed, or exactly
/// as an integer.
fn shows(line: &str, number: f64) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    (0..words.len()).any(|at| {
        let is_part = |c: char| !(c.is_ascii_digit() || c == '.' || c == ',');
        let unit = words.get(at + 1).copied().unwrap_or_default();
        let prefix = PREFIXES.iter().find(|(prefix, _)| {
            let rest = unit.strip_prefix(prefix);
            rest.is_some_and(|rest| !rest.starts_with(char::is_lowercase))
        });
        words[at].split(is_part).any(|word| {
            let word = word.trim_matches(['.', ',']).replace(',', "");
            let Ok(printed) = word.parse::<f64>() else { return false };
            let digits = word.split_once('.').map(|(_, digits)| digits.len());
            let rounded = |number: f64, digits: usize| {
                let unit = 10_f64.powi(-i32::try_from(digits).unwrap());
                (printed - number).abs() <= 0.500_001 * unit
            };
            match (digits, prefix) {
                (None, None) => printed == number,
                (digits, Some((_, times))) => rounded(number * times, digits.unwrap_or(0)),
                (Some(digits), None) => rounded(number, digits),
            }
        })
    })
}

#[test]
fn golden_texts_have_the_numbers_of_the_oracle() {
    let pins: Vec<Pin> = serde_json::from_str(&stored()).unwrap();
    let mut texts = std::collections::BTreeSet::new();
    for (golden, place, numbers) in &pins {
        let text = tests().join("golden").join(format!("{golden}.200.txt"));
        let text = std::fs::read_to_string(text).unwrap();
        let mut lines = text.lines().filter(|line| line.contains(place.as_str()));
        let is_there = lines.any(|line| numbers.iter().all(|&number| shows(line, number)));
        assert!(is_there, "no line of {golden} with {place:?} has {numbers:?}");
        texts.insert(golden);
    }
    // All but one, which has no number in it.
    assert_eq!(texts.len(), 25, "{texts:?}");
}

#[test]
fn the_oracle_says_what_is_stored() {
    let Some(tools) = needs::corpus_path("tools/v4check.py") else { return };
    if !needs::program("python3", Without::Test) {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut oracle = Command::new("python3");
    oracle.arg(tests().join("oracles/reactor.py")).arg(tools.parent().unwrap()).arg(root);
    let output = oracle.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), stored());
}

#[test]
fn a_line_shows_what_it_rounds() {
    let line = "    12.05       56.6 ████▌  1,234 of 7.";
    assert!(shows(line, 12.0463) && shows(line, 56.64) && shows(line, 1234.0) && shows(line, 7.0));
    assert!(!shows(line, 12.06) && !shows(line, 56.7) && !shows(line, 1234.4) && !shows(line, 6.9));
}
