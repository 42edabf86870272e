//! `cargo xtask test`: every test of the workspace, then one closing line.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::{setup, shell, web};

/// Tests that ran, as their runners counted them.
#[derive(Default, PartialEq, Eq, Debug)]
struct Counts {
    passed: u64,
    failed: u64,
}

pub(crate) fn run(args: Args) -> Result<()> {
    let filters = args.rest();
    setup::base()?;
    let started = Instant::now();
    let mut counts = Counts::default();
    let mut is_sound = true;

    // The page first: the tool is then compiled once, with the page inside.
    let has_page = filters.is_empty() && build_page()?;
    let mut commands = vec![runner(&filters)];
    if filters.is_empty() {
        let mut doc = shell::cargo(&["test", "--locked", "--workspace", "--doc", "--no-fail-fast"]);
        doc.args(TYPES);
        commands.push(doc);
    }
    for command in commands {
        println!("\n$ {}", shell::shown(&command));
        is_sound &= shell::watch(command, |line| counts.add(line))?;
    }

    if has_page {
        is_sound &= page(&mut counts)?;
    }

    println!(
        "\n{} passed, {} failed in {}",
        counts.passed,
        counts.failed,
        shell::seconds(started.elapsed())
    );
    if !is_sound || counts.failed > 0 {
        bail!("the tests did not all pass");
    }
    if counts.passed == 0 && filters.is_empty() {
        bail!("no test ran");
    }
    Ok(())
}

/// Builds the application for the browser. Where Node.js or Chromium is absent it says so and gives
/// false; with `PARALLAX_REQUIRE_WEB` set, as in CI, that is a failure.
fn build_page() -> Result<bool> {
    if let Err(why) = web::node().and_then(|_| web::chromium_or_install()) {
        if std::env::var_os("PARALLAX_REQUIRE_WEB").is_some() {
            return Err(why);
        }
        println!("\nwithout the application in the browser: {why:#}");
        return Ok(false);
    }
    println!("\nbuilding the application for the browser");
    web::build()?;
    Ok(true)
}

/// Tests the application for the browser: types, units, and the whole of it in a real Chromium.
fn page(counts: &mut Counts) -> Result<bool> {
    // The tests before have compiled the tool.
    let mut is_sound = true;
    for script in ["check", "test", "e2e"] {
        let mut command = web::npm(&["run", "--silent", script]);
        println!("\n$ {}", shell::shown(&command));
        if let Some(chromium) = web::chromium() {
            command.env("PARALLAX_CHROMIUM", chromium);
        }
        is_sound &= shell::watch(command, |line| counts.add(line))?;
    }
    Ok(is_sound)
}

/// Has the types of the web compared with those that are kept, in the same build as all other tests.
pub(crate) const TYPES: [&str; 2] = ["--features", "parallax-wire/typescript"];

/// The command that runs unit and integration tests.
pub(crate) fn runner(filters: &[String]) -> Command {
    let mut runner = if setup::has_nextest() {
        shell::cargo(&["nextest", "run", "--no-tests=warn"])
    } else {
        shell::cargo(&["test", "--all-targets"])
    };
    runner.args(["--locked", "--no-fail-fast"]);
    if !filters.iter().any(|word| word.starts_with("-p") || word.starts_with("--package")) {
        runner.arg("--workspace").args(TYPES);
    }
    runner.args(filters);
    runner
}

impl Counts {
    /// Vitest: `Tests  2 failed | 41 passed (43)`; Playwright: `3 passed (9.1s)`, `1 failed`.
    fn add_of_page(&mut self, line: &str) -> bool {
        let (line, parts) = match line.strip_prefix("Tests ") {
            Some(rest) => (rest, '|'),
            None => (line, ' '),
        };
        let mut is_summary = false;
        let pieces: Vec<&str> = if parts == '|' { line.split('|').collect() } else { vec![line] };
        for piece in pieces {
            let words: Vec<&str> = piece.split_whitespace().collect();
            let (number, what) = match words.as_slice() {
                [number, what] => (number, what),
                [number, what, time] if time.starts_with('(') => (number, what),
                _ => return is_summary,
            };
            let Ok(number) = number.parse::<u64>() else { return is_summary };
            match *what {
                // A flaky test passed when it was tried again; Playwright names it in its report.
                "passed" | "flaky" => self.passed += number,
                "failed" => self.failed += number,
                _ => return is_summary,
            }
            is_summary = true;
        }
        is_summary
    }

    /// Adds the summary line of nextest, of one test binary, of Vitest or of Playwright; other
    /// lines count for nothing.
    fn add(&mut self, line: &str) {
        let line = shell::without_colours(line);
        let line = line.trim();
        if self.add_of_page(line) {
            return;
        }
        let numbers = if line.starts_with("Summary [") {
            line.split_once(" run:").map(|(_, numbers)| numbers)
        } else {
            line.strip_prefix("test result:").and_then(|rest| rest.split_once(". ")).map(|r| r.1)
        };
        for part in numbers.unwrap_or_default().split([',', ';']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(what)) = (words.next(), words.next()) else { continue };
            let number = number.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" | "timed" | "exec" => self.failed += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_both_runners_are_added_up() {
        let mut counts = Counts::default();
        counts.add("     Summary [   0.003s] 7 tests run: 5 passed (1 slow), 2 failed, 1 skipped");
        counts.add("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out");
        counts.add("test result: FAILED. 1 passed; 4 failed; 0 ignored");
        counts.add("running 12 tests");
        assert_eq!(counts, Counts { passed: 9, failed: 6 });
    }

    #[test]
    fn summaries_of_the_page_are_added_up() {
        let mut counts = Counts::default();
        counts.add("      Tests  2 failed | 41 passed (43)");
        counts.add("  3 passed (9.1s)");
        counts.add("  1 failed");
        counts.add("  2 flaky");
        counts.add(" Test Files  7 passed (7)");
        assert_eq!(counts, Counts { passed: 46, failed: 3 });
    }

    #[test]
    fn colours_do_not_hide_a_summary() {
        let mut counts = Counts::default();
        counts.add(
            "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m2\u{1b}[0m tests run: \
             \u{1b}[1m2\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m skipped",
        );
        assert_eq!(counts, Counts { passed: 2, failed: 0 });
    }
}
