//! `cargo xtask test`: every test of the workspace and of the page, then one closing line.

mod counts;
mod skipped;

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use self::counts::{Counts, Suite};
use self::skipped::Skipped;
use crate::args::Args;
use crate::{node, python, setup, shell, wasm, web, wheel};

/// Everything that has run, and what could not.
struct Run {
    counts: Counts,
    skipped: Skipped,
    is_sound: bool,
}

pub(crate) fn run(args: Args) -> Result<()> {
    let filters = args.rest();
    setup::base()?;
    setup::programs();
    setup::object_store();
    let started = Instant::now();
    let mut run = Run { counts: Counts::default(), skipped: Skipped::begin()?, is_sound: true };
    if filters == ["python"] {
        package(&mut run)?;
        return end(run, started);
    }

    // The page first: the tool is then compiled once, with the page inside.
    let has_page = filters.is_empty() && build_page(&mut run)?;
    let suite = if setup::has_nextest() { Suite::Nextest } else { Suite::Cargo };
    run.suite(suite, runner(&filters))?;
    if filters.is_empty() {
        let mut doc = shell::cargo(&["test", "--locked", "--workspace", "--doc", "--no-fail-fast"]);
        doc.args(FEATURES);
        run.suite(Suite::Cargo, doc)?;
    }
    if filters.is_empty() {
        package(&mut run)?;
    }
    if has_page {
        page(&mut run)?;
    }
    if run.counts.passed == 0 && run.counts.failed == 0 && filters.is_empty() {
        bail!("no test ran");
    }
    end(run, started)
}

/// The closing lines.
fn end(run: Run, started: Instant) -> Result<()> {
    let Run { mut counts, skipped, is_sound } = run;
    let told = skipped.end(&mut counts)?;
    println!();
    told.iter().for_each(|line| println!("{line}"));
    if counts.flaky > 0 {
        println!(
            "{} flaky: failed first and passed when run again; the names are above",
            counts.flaky
        );
    }
    println!("finished in {}", shell::seconds(started.elapsed()));
    // Alone on its line and the last: programs read it.
    println!("\n{} passed, {} failed, {} skipped", counts.passed, counts.failed, counts.skipped);
    if !is_sound || counts.failed > 0 {
        bail!("the tests did not all pass");
    }
    Ok(())
}

impl Run {
    /// Runs one suite and counts its tests.
    fn suite(&mut self, suite: Suite, command: Command) -> Result<()> {
        let (counts, is_success) = self.once(suite, command)?;
        self.counts.add(counts);
        self.is_sound &= is_success;
        Ok(())
    }

    /// Runs the tests of a Python package, and once more those that fail; the runners of the other
    /// suites do so themselves.
    fn pytest(&mut self, make: impl Fn() -> Command) -> Result<()> {
        let (mut counts, mut is_success) = self.once(Suite::Pytest, make())?;
        if !is_success && counts.passed > 0 {
            let mut again = make();
            again.args(["--last-failed", "--last-failed-no-failures", "none"]);
            let (second, is_second) = self.once(Suite::Pytest, again)?;
            counts.retried(second);
            is_success = is_second;
        }
        self.counts.add(counts);
        self.is_sound &= is_success;
        Ok(())
    }

    fn once(&mut self, suite: Suite, mut command: Command) -> Result<(Counts, bool)> {
        println!("\n$ {}", shell::shown(&command));
        self.skipped.listen(&mut command);
        let mut counts = Counts::default();
        let is_success = shell::watch(command, |line| counts.see(suite, line))?;
        counts.end(suite, is_success);
        Ok((counts, is_success))
    }
}

/// Builds the application for the browser. Where a tool for that cannot be had it says so and gives
/// false; where everything must run, as in CI, that is a failure.
fn build_page(run: &mut Run) -> Result<bool> {
    let tools = node::find_or_install()
        .and_then(|_| web::packages())
        .and_then(|()| wasm::find_or_install())
        .and_then(wasm::Toolchain::fetch);
    if let Err(why) = tools {
        if shell::must_be_whole() {
            return Err(why);
        }
        println!("\nwithout the application in the browser: {why:#}");
        run.skipped.suites(3, &format!("{why:#}"));
        return Ok(false);
    }
    println!("\nbuilding the application for the browser");
    web::build()?;
    Ok(true)
}

/// Tests the Python package, where its libraries can be had.
fn package(run: &mut Run) -> Result<()> {
    let tools = python::COMMON.python().and_then(|python| Ok((python, wheel::maturin()?)));
    let (python, maturin) = match tools {
        Ok(tools) => tools,
        Err(why) => {
            println!("\nwithout tests of the Python package: {why:#}");
            run.skipped.suites(1, &format!("the Python package: {why:#}"));
            return Ok(());
        }
    };
    println!("\nbuilding the Python package");
    let wheel = wheel::for_tests(&maturin, &python)?;
    python::install(&python, &wheel)?;
    run.pytest(|| python::COMMON.tests(&python))?;
    for other in python::others(&python) {
        match other.python() {
            Ok(python) => {
                println!("\ntesting the package with {}", other.name());
                python::install(&python, &wheel)?;
                run.pytest(|| python::Other::tests(&python))?;
            }
            Err(why) => {
                println!("\nwithout tests of {}: {why:#}", other.name());
                run.skipped.suites(1, &format!("{}: {why:#}", other.name()));
            }
        }
    }
    match python::INTEROP.python() {
        Ok(python) => {
            python::install(&python, &wheel)?;
            run.pytest(|| python::INTEROP.tests(&python))
        }
        Err(why) => {
            println!("\nwithout tests of Hatchet, Thicket, Extra-P and plotnine: {why:#}");
            run.skipped.suites(1, &format!("Hatchet, Thicket, Extra-P and plotnine: {why:#}"));
            Ok(())
        }
    }
}

/// Tests the application for the browser: types, units, and the whole of it in a real Chromium.
fn page(run: &mut Run) -> Result<()> {
    run.suite(Suite::Types, web::npm(&["run", "--silent", "check"])?)?;
    run.suite(Suite::Vitest, web::npm(&["run", "--silent", "test"])?)?;
    // The tests before have compiled the tool that these ones start.
    match web::chromium_or_install() {
        Ok(chromium) => {
            let mut command = web::npm(&["run", "--silent", "e2e"])?;
            command.env("PARALLAX_CHROMIUM", chromium);
            run.suite(Suite::Playwright, command)
        }
        Err(why) if shell::must_be_whole() => Err(why),
        Err(why) => {
            println!("\nwithout tests in a browser: {why:#}");
            run.skipped.suites(1, &format!("{why:#}"));
            Ok(())
        }
    }
}

/// What all tests are built with: the types of the web are compared with those that are kept, and the
/// tool can use GPUs.
pub(crate) const FEATURES: [&str; 2] = [
    "--features",
    "parallax-wire/typescript,parallax-cli/gpu,parallax-cli/sql,parallax-cli/cluster,parallax-cli/store,parallax-python/gpu,parallax-python/sql,parallax-python/store",
];

/// The command that runs unit and integration tests.
pub(crate) fn runner(filters: &[String]) -> Command {
    let mut runner = if setup::has_nextest() {
        shell::cargo(&["nextest", "run", "--no-tests=warn", "--retries=1"])
    } else {
        shell::cargo(&["test", "--all-targets"])
    };
    runner.args(["--locked", "--no-fail-fast"]);
    if !filters.iter().any(|word| word.starts_with("-p") || word.starts_with("--package")) {
        runner.arg("--workspace").args(FEATURES);
    }
    runner.args(filters);
    runner
}
