//! Other programs on the same files.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

/// Seconds that a program takes in all; what it prints goes nowhere.
pub(super) fn timed(program: &str, words: &[&str]) -> Result<f64> {
    let start = Instant::now();
    let mut command = Command::new(program);
    let status = command.args(words).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let status = status.with_context(|| format!("{program} is not installed"))?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Seconds and count that a script prints, in the Python that `cargo xtask bench` prepares.
pub(super) fn python(script: &str, words: &[&str]) -> Result<(f64, u64)> {
    let venv = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench-venv"));
    let named = std::env::var_os("PARALLAX_BENCH_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| venv.join("bin/python"));
    let output = Command::new(python).args(["-c", script]).args(words).output();
    let output = output.context("no Python with the peers")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{}", said.lines().last().unwrap_or_default());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let (seconds, count) = text.trim().split_once(' ').context("an unexpected answer")?;
    Ok((seconds.parse()?, count.trim().parse()?))
}
