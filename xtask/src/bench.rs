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
    let is_page = words == ["web"];
    match against {
        Some(commit) if is_page => return paired_pages(&commit),
        Some(commit) => return paired(&commit, words),
        None if is_page => return page(None),
        None => {}
    }
    if words.first().is_some_and(|word| word == "record") {
        // It runs the tool as it is installed.
        shell::run(shell::cargo(BUILD))?;
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
    let hash = hash_of(commit)?;
    let folder = shell::root().join(AGAINST);
    let programs = folder.join(&hash);
    if programs.join("parallax").is_file() {
        return Ok(programs);
    }
    let source = source_of(&hash)?;
    let mut build = shell::cargo(BUILD);
    build.current_dir(&source).env("CARGO_TARGET_DIR", folder.join("build"));
    shell::run(build)?;
    fs::create_dir_all(&programs)?;
    for program in ["parallax-benches", "parallax"] {
        fs::copy(folder.join("build/release").join(program), programs.join(program))?;
    }
    Ok(programs)
}

/// Where builds of other commits are, in a folder of each.
const AGAINST: &str = "target/against";

fn hash_of(commit: &str) -> Result<String> {
    let named = shell::command("git", &["rev-parse", "--verify", &format!("{commit}^{{commit}}")]);
    let hash = shell::output(named).with_context(|| format!("{commit} is no commit"))?;
    Ok(hash.trim().to_owned())
}

/// The files of a commit, in a folder of their own.
fn source_of(hash: &str) -> Result<PathBuf> {
    println!("building {hash}");
    let folder = shell::root().join(AGAINST);
    let source = folder.join("source");
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
    Ok(source)
}

/// This page and that of another commit, measured in turn in one browser.
fn paired_pages(commit: &str) -> Result<()> {
    let hash = hash_of(commit)?;
    let kept = shell::root().join(AGAINST).join(&hash).join("dist");
    if !kept.is_dir() {
        let source = source_of(&hash)?;
        // As that commit builds itself: its engine, its samples, its packages.
        let mut build = shell::cargo(&["xtask", "web", "engine", "samples", "page"]);
        build.current_dir(&source);
        shell::run(build)?;
        fs::create_dir_all(kept.parent().context("a folder below target")?)?;
        fs::rename(source.join("web/dist"), &kept)?;
        fs::remove_dir_all(&source)?;
    }
    page(Some(&kept))
}

/// The application in a browser: speed and memory in one Chromium, next to what the browser itself
/// can do with the same file, or next to the page in `other`.
fn page(other: Option<&Path>) -> Result<()> {
    let chromium = web::chromium_or_install()?;
    web::build()?;
    let mut data = shell::cargo(&["run", "--release", "--locked", "--package", "parallax-benches"]);
    data.args(["--", "web-data"]);
    let places = shell::output(data).context("the data could not be made")?;
    let mut bench = web::npm(&["run", "--silent", "bench"])?;
    bench.env("PARALLAX_CHROMIUM", chromium);
    if let Some(other) = other {
        bench.env("PARALLAX_WEB_DIST_OTHER", other);
    }
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
