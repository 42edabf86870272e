//! The steps that cargo does: format, lints, documentation, and the browser's compiler.

use std::process::Command;

use anyhow::Result;

use super::{Outcome, layers};
use crate::{shell, wasm};

pub(super) fn fmt() -> Result<Outcome> {
    let mut findings = unformatted(&["fmt", "--all"])?;
    if shell::root().join("fuzz/Cargo.toml").is_file() {
        findings.extend(unformatted(&["fmt", "--manifest-path", "fuzz/Cargo.toml"])?);
    }
    Ok(Outcome::of(findings))
}

/// One finding for each file that rustfmt would change, and its complaints about broken ones.
fn unformatted(words: &[&str]) -> Result<Vec<String>> {
    let mut fmt = shell::cargo(words);
    let output = fmt.args(["--", "--check", "-l"]).output()?;
    let root = format!("{}/", shell::root().display());
    let mut findings: Vec<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|file| format!("{}: run `cargo fmt`", file.strip_prefix(&root).unwrap_or(file)))
        .collect();
    let complaints = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && findings.is_empty() {
        findings.push(format!("`{}` failed: {}", shell::shown(&fmt), complaints.trim()));
    }
    Ok(findings)
}

pub(super) fn clippy() -> Result<Outcome> {
    let words = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--keep-going",
        "--",
        "-D",
        "warnings",
    ];
    Ok(Outcome::of(report(shell::cargo(&words))))
}

pub(super) fn docs() -> Result<Outcome> {
    let words =
        ["doc", "--workspace", "--no-deps", "--locked", "--keep-going", "--document-private-items"];
    let mut doc = shell::cargo(&words);
    doc.env("RUSTDOCFLAGS", "-D warnings");
    Ok(Outcome::of(report(doc)))
}

/// Lints the crates below the surfaces for the browser, with a second `clippy.toml`
/// that bans what the browser and the layer rules do not have: files, clocks, threads, processes.
///
/// Style is judged by the native run; this one judges only the ban and whether it compiles,
/// because its compiler may be another version than the workspace's.
pub(super) fn wasm() -> Result<Outcome> {
    let toolchain = match wasm::find_or_install() {
        Ok(toolchain) => toolchain,
        Err(why) => return Ok(Outcome::Skipped(format!("{why:#}"))),
    };
    let mut clippy = toolchain.cargo("clippy");
    clippy.env("CLIPPY_CONF_DIR", shell::root().join("xtask/clippy-wasm"));
    clippy.arg("--lib").arg("--keep-going");
    for name in layers::browser_crates() {
        clippy.args(["--package", name]);
    }
    clippy.args(["--", "-A", "clippy::all", "-D", "warnings"]);
    clippy.args(["-D", "clippy::disallowed_methods", "-D", "clippy::disallowed_types"]);
    Ok(Outcome::of(report(clippy)))
}

/// Cargo prints its own findings; here they become one line that names the command.
fn report(command: Command) -> Vec<String> {
    shell::run(command).err().map(|error| format!("{error:#}")).into_iter().collect()
}
