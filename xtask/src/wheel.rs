//! `cargo xtask wheel`: the Python package as a wheel, with the command line tool inside, tried in an
//! environment that has nothing else.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::{python, shell};

const MATURIN: &str = "maturin==1.16.0";

/// Where wheels go.
const OUT: &str = "target/wheels";

/// What is put into a wheel beside modules: `scripts` become programs of the environment. maturin
/// finds the folder by the name of the module.
const DATA: &str = "crates/python/parallax._native.data";

/// What shows that the package works where nothing else is installed.
const TRIAL: &str = "import parallax, subprocess, sys\n\
    experiment = parallax.open(sys.argv[1])\n\
    answer = experiment.query(profiles='rank(0)', contexts='function(MPI_*)')\n\
    assert answer.rows.num_rows > 0, answer\n\
    print(experiment)\n";

pub(crate) fn run(mut args: Args) -> Result<()> {
    let is_debug = args.take_flag("--debug");
    args.finish()?;
    let maturin = maturin()?;
    let profile = if is_debug { "dev" } else { "release" };

    println!("\n[1/3] building the command line tool");
    let words = ["build", "--locked", "--package", "parallax-cli", "--profile", profile];
    shell::run(shell::cargo(&words))?;
    put_tool(if is_debug { "debug" } else { "release" })?;

    println!("\n[2/3] building the wheel");
    let out = shell::root().join(OUT);
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    let manifest = format!("{}/Cargo.toml", python::PACKAGE);
    let words = ["build", "--locked", "--profile", profile, "--out", OUT, "--manifest-path"];
    let mut build = shell::command(&maturin.to_string_lossy(), &words);
    build.arg(manifest);
    shell::run(build)?;
    let wheel = made(&out)?;

    println!("\n[3/3] installing it where nothing else is, and asking a question");
    let folder = shell::root().join("target/tools/wheel-trial");
    let python = python::environment(&folder, &[&wheel.to_string_lossy()])?;
    let data = shell::root().join("fixtures/reactor/n1024-p8");
    let mut trial = shell::command(&python.to_string_lossy(), &["-c", TRIAL]);
    // Whatever a person has set must not stand in for what was installed.
    trial.arg(&data).env_remove("PYTHONPATH");
    shell::run(trial)?;
    let mut tool = shell::command(&folder.join("bin/parallax").to_string_lossy(), &["--version"]);
    tool.env_remove("PYTHONPATH");
    shell::run(tool)?;
    println!("\n{}", wheel.display());
    Ok(())
}

/// Puts the tool where it goes into the wheel.
fn put_tool(folder: &str) -> Result<()> {
    let name = if cfg!(windows) { "parallax.exe" } else { "parallax" };
    let scripts = shell::root().join(DATA).join("scripts");
    std::fs::create_dir_all(&scripts)?;
    let tool = shell::root().join("target").join(folder).join(name);
    std::fs::copy(&tool, scripts.join(name))
        .with_context(|| format!("cannot copy {}", tool.display()))?;
    Ok(())
}

/// maturin, in a folder of its own.
fn maturin() -> Result<PathBuf> {
    let folder = shell::root().join("target/tools/maturin");
    let program = folder.join("bin/maturin");
    if shell::output(shell::command(&program.to_string_lossy(), &["--version"])).is_none() {
        println!("  fetching {MATURIN} into target/tools");
        python::environment(&folder, &[MATURIN])?;
    }
    Ok(program)
}

/// The wheel in a folder.
fn made(folder: &Path) -> Result<PathBuf> {
    let entries = std::fs::read_dir(folder)?.filter_map(Result::ok).map(|entry| entry.path());
    let wheel = entries.into_iter().find(|path| path.extension().is_some_and(|end| end == "whl"));
    match wheel {
        Some(wheel) => Ok(wheel),
        None => bail!("maturin left no wheel in {}", folder.display()),
    }
}
