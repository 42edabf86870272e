//! How many tests passed and failed, as their runners say.

use crate::shell;

/// The suites of tests, each of which says in its own way how it ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Suite {
    /// `cargo nextest run`: one line at the end. It repeats what failing tests print, the summary
    /// of their own harness among it.
    Nextest,
    /// `cargo test`: a line for each program of tests.
    Cargo,
    /// The types of the page. It counts no tests; the whole is one.
    Types,
    /// Vitest: one line at the end.
    Vitest,
    /// pytest: one line at the end.
    Pytest,
    /// Playwright: a line for each way to end.
    Playwright,
}

/// Tests by how they ended.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    /// Of those that passed, the ones that failed when they ran first.
    pub(super) flaky: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.flaky += other.flaky;
    }

    /// Adds what the tests did that had failed and ran a second time.
    pub(super) fn retried(&mut self, second: Self) {
        self.passed += second.passed;
        self.flaky += second.passed;
        self.failed = second.failed;
    }

    /// Looks at a line that a suite has written; most say nothing about counts.
    pub(super) fn see(&mut self, suite: Suite, line: &str) {
        let line = shell::without_colours(line);
        match suite {
            Suite::Nextest => {
                if let Some(summary) = of_nextest(&line) {
                    *self = summary;
                }
            }
            Suite::Cargo => self.add(of_cargo(&line).unwrap_or_default()),
            Suite::Types => {}
            Suite::Vitest => {
                if let Some(summary) = of_vitest(&line) {
                    *self = summary;
                }
            }
            Suite::Pytest => {
                if let Some(summary) = of_pytest(&line) {
                    *self = summary;
                }
            }
            Suite::Playwright => self.add(of_playwright(&line).unwrap_or_default()),
        }
    }

    /// The suite has ended. One that failed without a word about tests, because it did not even
    /// compile, is a failure, too.
    pub(super) fn end(&mut self, suite: Suite, is_success: bool) {
        if !is_success && self.failed == 0 {
            self.failed = 1;
        }
        if is_success && suite == Suite::Types {
            self.passed = 1;
        }
    }
}

/// `     Summary [   0.003s] 7 tests run: 5 passed (1 slow), 2 failed, 1 skipped`, where skipped is
/// what a filter left out. What tests print is indented otherwise.
fn of_nextest(line: &str) -> Option<Counts> {
    let (_, numbers) = line.strip_prefix("     Summary [")?.split_once(" run: ")?;
    let mut counts = Counts::default();
    // `5 passed (1 slow, 2 flaky)`: the flaky ones are among those that passed.
    for part in numbers.split([',', '(']) {
        let (number, what) = number_of(part)?;
        match what.trim_end_matches(')') {
            "passed" => counts.passed += number,
            "flaky" => counts.flaky += number,
            "failed" | "timed" | "exec" => counts.failed += number,
            _ => {}
        }
    }
    Some(counts)
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s`.
fn of_cargo(line: &str) -> Option<Counts> {
    let (_, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut counts = Counts::default();
    for (number, what) in numbers.split("; ").filter_map(number_of) {
        match what {
            "passed" => counts.passed += number,
            "failed" => counts.failed += number,
            "ignored" => counts.skipped += number,
            _ => {}
        }
    }
    Some(counts)
}

/// `      Tests  2 failed | 41 passed | 1 skipped (44)`.
fn of_vitest(line: &str) -> Option<Counts> {
    let (numbers, _) = line.trim_start().strip_prefix("Tests  ")?.rsplit_once(" (")?;
    let mut counts = Counts::default();
    for part in numbers.split(" | ") {
        let (number, what) = number_of(part)?;
        match what {
            "passed" => counts.passed += number,
            "failed" => counts.failed += number,
            "skipped" | "todo" => counts.skipped += number,
            _ => return None,
        }
    }
    Some(counts)
}

/// `2 failed, 41 passed, 1 skipped, 1 warning in 0.12s`, with or without `=` around it. A test that
/// fails although it must, or passes although it must not, counts as its author meant it.
fn of_pytest(line: &str) -> Option<Counts> {
    let (numbers, time) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    if !time.contains('s') || !time.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut counts = Counts::default();
    for part in numbers.split(", ") {
        let (number, what) = number_of(part)?;
        match what {
            "passed" | "xfailed" => counts.passed += number,
            "failed" | "error" | "errors" | "xpassed" => counts.failed += number,
            "skipped" => counts.skipped += number,
            "warning" | "warnings" | "deselected" | "subtests" => {}
            _ => return None,
        }
    }
    Some(counts)
}

/// `  40 passed (9.1s)`, `  1 failed`, `  2 skipped`, `  1 flaky`, `  3 did not run`, where flaky tests
/// are not among those that passed.
fn of_playwright(line: &str) -> Option<Counts> {
    let text = line.strip_prefix("  ").filter(|text| !text.starts_with(' '))?;
    let text = text.split_once(" (").map_or(text, |(text, _)| text);
    let (number, what) = text.split_once(' ')?;
    let number = number.parse().ok()?;
    let mut counts = Counts::default();
    match what {
        "passed" => counts.passed = number,
        "flaky" => (counts.passed, counts.flaky) = (number, number),
        "failed" | "interrupted" | "did not run" => counts.failed = number,
        "skipped" => counts.skipped = number,
        _ => return None,
    }
    Some(counts)
}

/// A number and the word after it.
fn number_of(part: &str) -> Option<(u64, &str)> {
    let mut words = part.split_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(suite: Suite, lines: &[&str], is_success: bool) -> (u64, u64, u64) {
        let mut counts = Counts::default();
        lines.iter().for_each(|line| counts.see(suite, line));
        counts.end(suite, is_success);
        (counts.passed, counts.failed, counts.skipped)
    }

    #[test]
    fn one_failure_is_counted_once_although_nextest_repeats_the_harness() {
        let lines = [
            "        FAIL [   0.005s] xtask::x tests::one_fails",
            "  stdout ---",
            "    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out",
            "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out",
            "     Summary [   0.003s] 7 tests run: 5 passed (1 slow), 2 failed, 1 skipped",
            "        FAIL [   0.005s] xtask::x tests::one_fails",
        ];
        assert_eq!(counted(Suite::Nextest, &lines, false), (5, 2, 0));
    }

    #[test]
    fn ways_to_fail_are_failures() {
        let line = "     Summary [  60.1s] 5/9 tests run: 1 passed, 2 timed out, 2 exec failed";
        assert_eq!(counted(Suite::Nextest, &[line], false), (1, 4, 0));
    }

    #[test]
    fn tests_that_pass_when_run_again_are_flaky() {
        let mut counts = Counts::default();
        let line =
            "     Summary [   3.1s] 7 tests run: 6 passed (1 slow, 2 flaky), 1 failed, 0 skipped";
        counts.see(Suite::Nextest, line);
        assert_eq!((counts.passed, counts.flaky, counts.failed), (6, 2, 1));
        let mut counts = Counts::default();
        ["  1 flaky", "  3 passed (9.1s)"]
            .iter()
            .for_each(|line| counts.see(Suite::Playwright, line));
        assert_eq!((counts.passed, counts.flaky, counts.failed), (4, 1, 0));
        let mut counts = Counts { passed: 10, failed: 3, ..Counts::default() };
        counts.retried(Counts { passed: 2, failed: 1, ..Counts::default() });
        assert_eq!((counts.passed, counts.flaky, counts.failed), (12, 2, 1));
    }

    #[test]
    fn programs_of_cargo_test_are_added_up() {
        let lines = [
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
            "running 12 tests",
            "test result: FAILED. 1 passed; 4 failed; 0 ignored",
        ];
        assert_eq!(counted(Suite::Cargo, &lines, false), (4, 4, 1));
    }

    #[test]
    fn the_page_has_three_suites() {
        let lines =
            [" Test Files  7 passed (7)", "      Tests  2 failed | 41 passed | 1 skipped (44)"];
        assert_eq!(counted(Suite::Vitest, &lines, false), (41, 2, 1));
        let lines =
            ["  3 passed (9.1s)", "  1 failed", "  2 flaky", "  1 did not run", "  2 skipped"];
        assert_eq!(counted(Suite::Playwright, &lines, false), (5, 2, 2));
        let lines =
            ["    2 failed", "   ✓  3 e2e/open.spec.ts:9:1 › 4 passed (2s)", "  12 of them"];
        assert_eq!(counted(Suite::Playwright, &lines, true), (0, 0, 0));
        assert_eq!(counted(Suite::Types, &["svelte-check found 0 errors"], true), (1, 0, 0));
        assert_eq!(counted(Suite::Types, &[], false), (0, 1, 0));
    }

    #[test]
    fn pytest_says_all_in_one_line() {
        let lines =
            ["SKIPPED [1] tests/a.py:3: no corpus in 2 places", "3 passed, 1 skipped in 0.12s"];
        assert_eq!(counted(Suite::Pytest, &lines, true), (3, 0, 1));
        let line = "==== 2 failed, 41 passed, 1 error, 2 warnings in 62.10s (0:01:02) ====";
        assert_eq!(counted(Suite::Pytest, &[line], false), (41, 3, 0));
        assert_eq!(counted(Suite::Pytest, &["no tests ran in 0.01s"], false), (0, 1, 0));
    }

    #[test]
    fn a_suite_that_does_not_compile_is_a_failure() {
        assert_eq!(counted(Suite::Nextest, &["error: could not compile"], false), (0, 1, 0));
        assert_eq!(counted(Suite::Nextest, &[], true), (0, 0, 0));
    }

    #[test]
    fn colours_do_not_hide_a_summary() {
        let line = "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m2\u{1b}[0m tests run: \
             \u{1b}[1m2\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m skipped";
        assert_eq!(counted(Suite::Nextest, &[line], true), (2, 0, 0));
    }
}
