//! Tests that could not run, and why: what they themselves wrote, and whole suites.
//!
//! No runner tells a test that was skipped when it ran from one that passed, and none shows the
//! output of tests that pass. So a test appends a line to a file (`parallax_testkit::needs`),
//! whose place it finds in an environment variable.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::counts::Counts;
use crate::shell;

/// The same name as `parallax_testkit::needs::SKIPPED`, which is no dependency of the commands.
const VARIABLE: &str = "PARALLAX_SKIPPED_TESTS";

/// What was skipped so far.
pub(super) struct Skipped {
    file: PathBuf,
    /// How many suites could not run, by why.
    suites: BTreeMap<String, u64>,
}

/// Tests by why they were skipped, and those that ran without a part.
#[derive(Default, PartialEq, Eq, Debug)]
struct Lines<'a> {
    tests: BTreeMap<&'a str, u64>,
    parts: BTreeMap<&'a str, u64>,
}

impl Skipped {
    /// Begins to count: forgets what an earlier run wrote.
    pub(super) fn begin() -> Result<Self> {
        let folder = shell::root().join("target");
        std::fs::create_dir_all(&folder)?;
        let file = folder.join("skipped-tests.txt");
        std::fs::write(&file, "").with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Self { file, suites: BTreeMap::new() })
    }

    /// Tells the tests that `command` runs where to write.
    pub(super) fn listen(&self, command: &mut Command) {
        command.env(VARIABLE, &self.file);
    }

    pub(super) fn suites(&mut self, number: u64, why: &str) {
        *self.suites.entry(why.to_owned()).or_default() += number;
    }

    /// Moves tests that were skipped from those that passed, and gives a line for each reason.
    pub(super) fn end(&self, counts: &mut Counts) -> Result<Vec<String>> {
        let text = std::fs::read_to_string(&self.file)
            .with_context(|| format!("cannot read {}", self.file.display()))?;
        let lines = Lines::of(&text);
        let tests: u64 = lines.tests.values().sum();
        counts.passed = counts.passed.saturating_sub(tests);
        counts.skipped += tests + self.suites.values().sum::<u64>();
        let mut told = Vec::new();
        let mut tell = |number: u64, one: &str, many: &str, why: &str| {
            told.push(format!("{number} {}: {why}", if number == 1 { one } else { many }));
        };
        for (why, number) in lines.tests {
            tell(number, "test skipped", "tests skipped", why);
        }
        for (why, number) in &self.suites {
            tell(*number, "suite skipped", "suites skipped", why);
        }
        for (why, number) in lines.parts {
            tell(number, "test passed in part", "tests passed in part", why);
        }
        Ok(told)
    }
}

impl<'a> Lines<'a> {
    /// Reads `test` or `part`, the program, the test and the reason of each line. A test that was
    /// skipped several times is counted once, with the reason that it gave first.
    fn of(text: &'a str) -> Self {
        let mut out = Self::default();
        let mut seen = BTreeSet::new();
        // What skips the whole test says more than what skips a part of it.
        for (kind, into) in [("test", &mut out.tests), ("part", &mut out.parts)] {
            for line in text.lines() {
                let fields: Vec<&str> = line.splitn(4, '\t').collect();
                if let [found, program, test, why] = fields.as_slice()
                    && *found == kind
                    && seen.insert((*program, *test))
                {
                    *into.entry(*why).or_default() += 1;
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_write_where_this_reads() {
        assert_eq!(VARIABLE, parallax_testkit::needs::SKIPPED);
    }

    #[test]
    fn tests_are_counted_once_and_by_their_reason() {
        let text = "test\ta-1\tx::one\tno corpus\ntest\ta-1\tx::one\tno tool\n\
                    part\ta-1\tx::two\tno tool\npart\ta-1\tx::one\tno tool\n\
                    test\tb-2\tx::one\tno corpus\nbroken\ntest\tb-2\tx::one\n";
        let lines = Lines::of(text);
        assert_eq!(lines.tests, BTreeMap::from([("no corpus", 2)]));
        assert_eq!(lines.parts, BTreeMap::from([("no tool", 1)]));
    }

    #[test]
    fn what_was_skipped_has_not_passed() {
        let folder = std::env::temp_dir().join(format!("skipped-{}", std::process::id()));
        std::fs::write(&folder, "test\ta\tone\tno corpus\npart\ta\ttwo\tno tool\n").unwrap();
        let mut skipped = Skipped { file: folder.clone(), suites: BTreeMap::new() };
        skipped.suites(3, "no Node.js");
        let mut counts = Counts { passed: 10, failed: 1, skipped: 2, flaky: 0 };
        let told = skipped.end(&mut counts).unwrap();
        std::fs::remove_file(folder).unwrap();
        assert_eq!(counts, Counts { passed: 9, failed: 1, skipped: 6, flaky: 0 });
        let expected = [
            "1 test skipped: no corpus",
            "3 suites skipped: no Node.js",
            "1 test passed in part: no tool",
        ];
        assert_eq!(told, expected);
    }
}
