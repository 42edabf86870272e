//! `cargo xtask fuzz`: the fuzz targets of `fuzz/`, each for a given time.
//!
//! `cargo-fuzz` drives them; it needs unstable compiler flags, which a nightly toolchain takes
//! and which a stable one takes when it is told to (`RUSTC_BOOTSTRAP`).

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::{metadata, shell};

const SECONDS: u64 = 60;

/// An input that needs more than this is a finding: readers promise bounded memory and time.
const MEMORY_MIB: u64 = 1024;
const SECONDS_PER_INPUT: u64 = 10;

pub(crate) fn run(mut args: Args) -> Result<()> {
    let seconds = args.take_value("--seconds")?.unwrap_or(SECONDS);
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
    let mut failed = Vec::new();
    for target in &chosen {
        println!("\n{target}: {seconds} s");
        // The fuzzer insists that the folder for what it finds is there.
        std::fs::create_dir_all(shell::root().join("fuzz/corpus").join(target))?;
        if let Err(error) = shell::run(fuzzer(target, seconds)) {
            eprintln!("{error:#}");
            failed.push(target.as_str());
        }
    }
    if !failed.is_empty() {
        bail!("{} failed; inputs that did it are under fuzz/artifacts", failed.join(", "));
    }
    println!("\n{} targets, {seconds} s each, no finding", chosen.len());
    Ok(())
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

fn fuzzer(target: &str, seconds: u64) -> Command {
    let has_nightly = shell::output(shell::cargo(&["+nightly", "--version"])).is_some();
    let mut fuzz = if has_nightly {
        shell::cargo(&["+nightly", "fuzz", "run", target])
    } else {
        let mut fuzz = shell::cargo(&["fuzz", "run", target]);
        fuzz.env("RUSTC_BOOTSTRAP", "1");
        fuzz
    };
    // Found inputs go to the first folder; the seeds in the repository are only read.
    let corpus = format!("fuzz/corpus/{target}");
    let seeds = format!("fuzz/seeds/{target}");
    fuzz.arg(&corpus);
    if shell::root().join(&seeds).is_dir() {
        fuzz.arg(&seeds);
    }
    fuzz.arg("--").arg(format!("-max_total_time={seconds}"));
    fuzz.arg(format!("-rss_limit_mb={MEMORY_MIB}")).arg(format!("-timeout={SECONDS_PER_INPUT}"));
    fuzz
}
