//! `cargo xtask bench`: Parallax and its peers, on the same machine in the same run.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::args::Args;
use crate::{python, shell, web};

/// Peers from PyPI that can do some of the work.
const PEERS: &[&str] = &["llnl-hatchet", "otf2", "perfetto"];

pub(crate) fn run(args: Args) -> Result<()> {
    let words = args.rest();
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
