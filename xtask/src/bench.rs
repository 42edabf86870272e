//! `cargo xtask bench`: Parallax and its peers, on the same machine in the same run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::args::Args;
use crate::{python, shell, web};

/// Peers from PyPI that can do some of the work.
const PEERS: &[&str] = &["llnl-hatchet", "otf2", "perfetto"];

pub(crate) fn run(mut args: Args) -> Result<()> {
    let against: Option<String> = args.take_value("--against")?;
    let words = args.rest();
    if let Some(commit) = against {
        return paired(&commit, words);
    }
    if words == ["web"] {
        return page();
    }
    let mut bench =
        shell::cargo(&["run", "--release", "--locked", "--package", "parallax-benches"]);
    bench.arg("--").args(words);
    match peers() {
        Ok(python) => {
            bench.env("PARALLAX_BENCH_PYTHON", python);
        }
        Err(why) => println!("peers skipped: {why:#}"),
    }
    shell::run_ours(bench)
}

/// This build and that of another commit, measured in turn.
fn paired(commit: &str, words: Vec<String>) -> Result<()> {
    let old = build_of(commit)?;
    shell::run(shell::cargo(BUILD))?;
    let mut bench = shell::command("target/release/parallax-benches", &["--against"]);
    bench.arg(old).args(words);
    shell::run_ours(bench)
}

/// What both builds are made with.
const BUILD: &[&str] = &[
    "build",
    "--release",
    "--locked",
    "--package",
    "parallax-benches",
    "--package",
    "parallax-cli",
];

/// The folder of the programs of a commit, built when they are not there yet.
fn build_of(commit: &str) -> Result<PathBuf> {
    let named = shell::command("git", &["rev-parse", "--verify", &format!("{commit}^{{commit}}")]);
    let hash = shell::output(named).with_context(|| format!("{commit} is no commit"))?;
    let hash = hash.trim();
    let folder = shell::root().join("target/against");
    let (source, programs) = (folder.join("source"), folder.join(hash));
    if programs.join("parallax").is_file() {
        return Ok(programs);
    }
    println!("building {hash}");
    if source.exists() {
        fs::remove_dir_all(&source)?;
    }
    fs::create_dir_all(&source)?;
    let tar = folder.join("source.tar");
    shell::quiet(shell::command("git", &["archive", "--output", &tar.to_string_lossy(), hash]))?;
    shell::quiet(shell::command(
        "tar",
        &["-xf", &tar.to_string_lossy(), "-C", &source.to_string_lossy()],
    ))?;
    fs::remove_file(&tar)?;
    let mut build = shell::cargo(BUILD);
    build.current_dir(&source).env("CARGO_TARGET_DIR", folder.join("build"));
    shell::run(build)?;
    fs::create_dir_all(&programs)?;
    for program in ["parallax-benches", "parallax"] {
        fs::copy(folder.join("build/release").join(program), programs.join(program))?;
    }
    Ok(programs)
}

/// The application in a browser: speed and memory in one Chromium, next to what the browser itself
/// can do with the same file.
fn page() -> Result<()> {
    let chromium = web::chromium_or_install()?;
    web::build()?;
    let mut data = shell::cargo(&["run", "--release", "--locked", "--package", "parallax-benches"]);
    data.args(["--", "web-data"]);
    let places = shell::output(data).context("the data could not be made")?;
    let mut bench = web::npm(&["run", "--silent", "bench"])?;
    bench.env("PARALLAX_CHROMIUM", chromium);
    for line in places.lines() {
        let (name, path) = line.split_once(' ').context("an unexpected answer")?;
        bench.env(format!("PARALLAX_BENCH_{}", name.to_uppercase()), path);
    }
    shell::run_ours(bench)
}

/// A Python with the peers in it, made on the first call in a folder of its own.
fn peers() -> Result<PathBuf> {
    let venv = shell::root().join("target/bench-venv");
    let python = venv.join("bin/python");
    if has_peers(&python) {
        return Ok(python);
    }
    println!("installing {} for comparison", PEERS.join(", "));
    python::environment(&venv, PEERS)
}

fn has_peers(python: &Path) -> bool {
    shell::output(shell::command(
        &python.to_string_lossy(),
        &["-c", "import hatchet, otf2, perfetto"],
    ))
    .is_some()
}
