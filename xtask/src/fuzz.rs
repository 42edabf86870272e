//! `cargo xtask fuzz`: the fuzz targets of `fuzz/`, each for a given time.
//!
//! `cargo-fuzz` drives them; it needs unstable compiler flags, which a nightly toolchain takes
//! and which a stable one takes when it is told to (`RUSTC_BOOTSTRAP`). Several targets may run side
//! by side (`--jobs`); what each of them prints goes to `fuzz/artifacts/TARGET.log` then. At the end
//! there is a table for documents.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::{metadata, shell};

const SECONDS: u64 = 60;

/// An input that needs more than this is a finding: readers promise bounded memory and time.
const MEMORY_MIB: u64 = 1024;
const SECONDS_PER_INPUT: u64 = 10;

/// Words that inputs of these targets are made of, in `fuzz/dictionaries`.
const DICTIONARIES: &[(&str, &[&str])] = &[
    (
        "json_trace.dict",
        &[
            "json_trace_chrome",
            "json_trace_codar",
            "json_trace_chimbuko",
            "json_trace_executions",
            "convert",
            "questions",
        ],
    ),
    ("measurements.dict", &["pascal", "extrap", "sperf_talp_pop", "scaling"]),
    ("tau.dict", &["tau_profile", "tau_trace", "callgrind"]),
    ("requests.dict", &["protocol", "query", "formula"]),
];

pub(crate) fn run(mut args: Args) -> Result<()> {
    let seconds = args.take_value("--seconds")?.unwrap_or(SECONDS);
    let jobs: usize = args.take_value("--jobs")?.unwrap_or(1);
    let only_list = args.take_flag("--list");
    let wanted = args.positional()?;
    let targets = targets()?;
    if only_list {
        targets.iter().for_each(|target| println!("{target}"));
        return Ok(());
    }
    if let Some(unknown) = wanted.iter().find(|name| !targets.contains(name)) {
        bail!("no fuzz target `{unknown}`; there are {}", targets.join(", "));
    }
    install()?;
    let chosen = if wanted.is_empty() { targets } else { wanted };
    println!("building {} targets", chosen.len());
    // Once for all, so that those that run concurrently do not wait for each other.
    shell::run(cargo_fuzz(&["build"]))?;

    let runs = run_all(&chosen, seconds, jobs.max(1))?;
    println!("\n{}", table(&runs));
    let found: Vec<&str> =
        runs.iter().filter(|run| !run.is_sound()).map(|run| run.target.as_str()).collect();
    if !found.is_empty() {
        bail!("{} failed; inputs that did it are under fuzz/artifacts", found.join(", "));
    }
    println!("{} targets, {seconds} s each, no finding", chosen.len());
    Ok(())
}

/// What came of a target.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Run {
    target: String,
    seconds: u64,
    /// How many inputs were tried.
    executions: u64,
    /// How many of them reached new code and were kept.
    new_inputs: u64,
    /// Files of inputs that were findings.
    findings: Vec<String>,
    /// Whether it ended as it should.
    is_complete: bool,
}

impl Run {
    fn is_sound(&self) -> bool {
        self.is_complete && self.findings.is_empty()
    }
}

/// Runs the targets, `jobs` of them at a time, and gives their results in the given order.
fn run_all(targets: &[String], seconds: u64, jobs: usize) -> Result<Vec<Run>> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Run>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(targets.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(target) = targets.get(at) else { return };
                    println!("{target}: {seconds} s");
                    let run = run_one(target, seconds, jobs > 1);
                    if let Ok(run) = &run {
                        println!("{}", row(run));
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, run));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, run)| run).collect()
}

fn run_one(target: &str, seconds: u64, is_quiet: bool) -> Result<Run> {
    let root = shell::root();
    // The fuzzer insists that the folder for what it finds is there.
    fs::create_dir_all(root.join("fuzz/corpus").join(target))?;
    let artifacts = root.join("fuzz/artifacts").join(target);
    fs::create_dir_all(&artifacts)?;
    let log = root.join("fuzz/artifacts").join(format!("{target}.log"));
    let before = names_in(&artifacts);
    let started = Instant::now();
    let mut command = fuzzer(target, seconds);
    let (is_complete, text) = if is_quiet {
        let file = fs::File::create(&log)?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let status = command.status().with_context(|| shell::shown(&command))?;
        (status.success(), fs::read(&log)?)
    } else {
        let mut text = Vec::new();
        let is_complete = shell::watch(command, |line| {
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        })?;
        (is_complete, text)
    };
    let findings = names_in(&artifacts).difference(&before).cloned().collect();
    let text = String::from_utf8_lossy(&text);
    Ok(Run {
        target: target.to_owned(),
        seconds: started.elapsed().as_secs(),
        executions: statistic(&text, "number_of_executed_units"),
        new_inputs: statistic(&text, "new_units_added"),
        findings,
        is_complete,
    })
}

/// A number that the fuzzer tells at its end, as `stat::NAME: NUMBER`.
fn statistic(text: &str, name: &str) -> u64 {
    let found = text
        .lines()
        .rev()
        .find_map(|line| line.trim().strip_prefix("stat::")?.strip_prefix(name)?.strip_prefix(':'));
    found.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn table(runs: &[Run]) -> String {
    let mut out = String::from(
        "| target | seconds | executions | new inputs | findings |\n|---|---|---|---|---|\n",
    );
    for run in runs {
        out.push_str(&row(run));
        out.push('\n');
    }
    out
}

fn row(run: &Run) -> String {
    let findings = match (run.findings.is_empty(), run.is_complete) {
        (true, true) => "none".to_owned(),
        (true, false) => "did not end as it should".to_owned(),
        (false, _) => run.findings.join(", "),
    };
    format!(
        "| `{}` | {} | {} | {} | {findings} |",
        run.target,
        run.seconds,
        grouped(run.executions),
        grouped(run.new_inputs)
    )
}

/// `1234567` as `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn targets() -> Result<Vec<String>> {
    let packages = metadata::packages(&["--no-deps", "--manifest-path", "fuzz/Cargo.toml"])
        .context("no fuzz targets: fuzz/Cargo.toml cannot be read")?;
    let mut names: Vec<String> = packages.into_iter().flat_map(|p| p.binaries).collect();
    names.sort();
    Ok(names)
}

fn install() -> Result<()> {
    if shell::output(shell::cargo(&["fuzz", "--version"])).is_some() {
        return Ok(());
    }
    println!("installing cargo-fuzz");
    shell::run(shell::cargo(&["install", "--quiet", "--locked", "cargo-fuzz"]))
}

/// `cargo fuzz` with a compiler that takes its flags.
fn cargo_fuzz(words: &[&str]) -> Command {
    let has_nightly = shell::output(shell::cargo(&["+nightly", "--version"])).is_some();
    if has_nightly {
        shell::cargo(&[&["+nightly", "fuzz"], words].concat())
    } else {
        let mut fuzz = shell::cargo(&[&["fuzz"], words].concat());
        fuzz.env("RUSTC_BOOTSTRAP", "1");
        fuzz
    }
}

fn fuzzer(target: &str, seconds: u64) -> Command {
    let mut fuzz = cargo_fuzz(&["run", target]);
    // Found inputs go to the first folder; the seeds in the repository are only read.
    fuzz.arg(format!("fuzz/corpus/{target}"));
    let seeds = format!("fuzz/seeds/{target}");
    if shell::root().join(&seeds).is_dir() {
        fuzz.arg(&seeds);
    }
    fuzz.arg("--").arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
    fuzz.arg(format!("-rss_limit_mb={MEMORY_MIB}")).arg(format!("-timeout={SECONDS_PER_INPUT}"));
    if let Some(dictionary) = dictionary(target) {
        fuzz.arg(format!("-dict={}", shell::root().join(dictionary).display()));
    }
    fuzz
}

/// The words of a target, relative to the root.
fn dictionary(target: &str) -> Option<PathBuf> {
    let (file, _) = DICTIONARIES.iter().find(|(_, targets)| targets.contains(&target))?;
    Some(Path::new("fuzz/dictionaries").join(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionaries_are_there_and_their_targets_exist() {
        let targets = targets().unwrap();
        for (file, of) in DICTIONARIES {
            assert!(shell::root().join("fuzz/dictionaries").join(file).is_file(), "{file}");
            for target in *of {
                assert!(targets.iter().any(|known| known == target), "{target}");
            }
        }
        for target in &targets {
            assert!(shell::root().join("fuzz/seeds").join(target).is_dir(), "seeds of {target}");
        }
    }

    #[test]
    fn what_the_fuzzer_tells_becomes_a_row() {
        let text = "#2 INITED\nDone 1234567 runs in 61 second(s)\nstat::number_of_executed_units: \
            1234567\nstat::average_exec_per_sec:     20239\nstat::new_units_added:          89\n";
        let run = Run {
            target: "tau_trace".to_owned(),
            seconds: 61,
            executions: statistic(text, "number_of_executed_units"),
            new_inputs: statistic(text, "new_units_added"),
            findings: Vec::new(),
            is_complete: true,
        };
        assert_eq!(row(&run), "| `tau_trace` | 61 | 1,234,567 | 89 | none |");
        assert!(run.is_sound());
        let crashed = Run { is_complete: false, ..run.clone() };
        assert!(row(&crashed).contains("did not end") && !crashed.is_sound());
        let found = Run { findings: vec!["oom-1".to_owned()], ..run };
        assert!(row(&found).ends_with("| oom-1 |") && !found.is_sound());
        assert_eq!(statistic("nothing", "new_units_added"), 0);
    }
}
