//! `cargo xtask test`: every test of the workspace, then one closing line.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::{setup, shell};

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

    let mut commands = vec![runner(&filters)];
    if filters.is_empty() {
        commands.push(shell::cargo(&[
            "test",
            "--locked",
            "--workspace",
            "--doc",
            "--no-fail-fast",
        ]));
    }
    for command in commands {
        println!("\n$ {}", shell::shown(&command));
        is_sound &= shell::watch(command, |line| counts.add(line))?;
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

/// The command that runs unit and integration tests.
pub(crate) fn runner(filters: &[String]) -> Command {
    let mut runner = if setup::has_nextest() {
        shell::cargo(&["nextest", "run", "--no-tests=warn"])
    } else {
        shell::cargo(&["test", "--all-targets"])
    };
    runner.args(["--locked", "--no-fail-fast"]);
    if !filters.iter().any(|word| word.starts_with("-p") || word.starts_with("--package")) {
        runner.arg("--workspace");
    }
    runner.args(filters);
    runner
}

impl Counts {
    /// Adds the summary line of nextest or of one test binary; other lines count for nothing.
    fn add(&mut self, line: &str) {
        let line = shell::without_colours(line);
        let line = line.trim();
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
    fn colours_do_not_hide_a_summary() {
        let mut counts = Counts::default();
        counts.add(
            "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m2\u{1b}[0m tests run: \
             \u{1b}[1m2\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m skipped",
        );
        assert_eq!(counts, Counts { passed: 2, failed: 0 });
    }
}
