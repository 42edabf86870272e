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
    let words = ["clippy", "--workspace", "--all-targets", "--locked", "--keep-going"];
    without_warning(shell::cargo(&words))
}

pub(super) fn docs() -> Result<Outcome> {
    let words = ["doc", "--workspace", "--no-deps", "--locked", "--keep-going"];
    let mut doc = shell::cargo(&words);
    doc.arg("--document-private-items");
    without_warning(doc)
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
    if let Err(why) = toolchain.fetch() {
        return Ok(Outcome::Skipped(format!("{why:#}")));
    }
    let mut clippy = toolchain.cargo("clippy");
    clippy.env("CLIPPY_CONF_DIR", shell::root().join("xtask/clippy-wasm"));
    clippy.arg("--lib").arg("--keep-going");
    for name in layers::browser_crates() {
        clippy.args(["--package", name]);
    }
    clippy.args(["--", "-A", "clippy::all"]);
    clippy.args(["-W", "clippy::disallowed_methods", "-W", "clippy::disallowed_types"]);
    without_warning(clippy)
}

/// Runs cargo, which prints its findings itself; any warning counts as one.
///
/// Warnings stay warnings for the compiler (no `-D`): as errors, those of one crate would hide
/// those of all crates above it.
fn without_warning(command: Command) -> Result<Outcome> {
    let name = shell::shown(&command);
    let mut count = 0;
    let is_success = shell::watch(command, |line| count += usize::from(is_finding(line)))?;
    Ok(match (is_success, count) {
        (true, 0) => Outcome::Ok,
        (_, count) => Outcome::Found(vec![format!("{count} warnings and errors from `{name}`")]),
    })
}

/// The first line of a warning or an error, but not the sums that cargo adds at the end.
fn is_finding(line: &str) -> bool {
    let line = shell::without_colours(line);
    let is_sum =
        ["generated", "could not compile", "could not document", "build failed", "aborting"]
            .iter()
            .any(|sum| line.contains(sum));
    (line.starts_with("warning") || line.starts_with("error")) && !is_sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_told_from_sums() {
        assert!(is_finding("warning: unused variable: `x`"));
        assert!(is_finding("\u{1b}[1m\u{1b}[91merror[E0425]\u{1b}[0m: cannot find value"));
        assert!(!is_finding("warning: `parallax-base` (lib) generated 2 warnings"));
        assert!(!is_finding("error: could not compile `parallax-base` (lib) due to 2 errors"));
        assert!(!is_finding("    Checking parallax-base v0.1.0"));
    }
}
