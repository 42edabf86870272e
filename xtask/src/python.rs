//! Folders with Python packages in them, below `target`; the package of ours, and its tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::shell;

/// The folder of the package.
pub(crate) const PACKAGE: &str = "crates/python";

/// What the tests of the package need besides it, with versions.
const REQUIREMENTS: &str = "crates/python/tests/requirements.txt";

/// Makes a virtual environment at `folder`, which is emptied, and installs `packages` into it.
/// Gives the path of its Python.
pub(crate) fn environment(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let path = folder.to_string_lossy();
    let make = || shell::quiet(shell::command("python3", &["-m", "venv", "--clear", &path]));
    if let Err(why) = make() {
        if !(shell::is_root() && shell::has_apt()) {
            bail!("no Python with the module venv ({why:#})");
        }
        shell::apt_install(&["python3", "python3-venv", "ca-certificates"])?;
        make()?;
    }
    let python = folder.join("bin/python");
    let mut pip = shell::command(&python.to_string_lossy(), &["-m", "pip", "install", "--quiet"]);
    pip.arg("--disable-pip-version-check").args(packages);
    shell::quiet(pip).with_context(|| format!("cannot install {}", packages.join(", ")))?;
    Ok(python)
}

/// A Python with what the tests of the package need, made on the first call and whenever the list of
/// that changes.
pub(crate) fn for_tests() -> Result<PathBuf> {
    let (root, folder) = (shell::root(), shell::root().join("target/tools/python-tests"));
    let (python, kept) = (folder.join("bin/python"), folder.join("requirements.txt"));
    let wanted = std::fs::read_to_string(root.join(REQUIREMENTS))
        .with_context(|| format!("cannot read {REQUIREMENTS}"))?;
    let is_current = std::fs::read_to_string(&kept).is_ok_and(|kept| kept == wanted);
    if is_current && python.exists() {
        return Ok(python);
    }
    println!("  fetching libraries for Python into target/tools");
    let python = environment(&folder, &["-r", REQUIREMENTS])?;
    std::fs::write(kept, wanted)?;
    Ok(python)
}

/// Installs a wheel, and nothing that it might want, into the environment of `python`.
pub(crate) fn install(python: &Path, wheel: &Path) -> Result<()> {
    let words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"];
    let mut pip = shell::command(&python.to_string_lossy(), &words);
    pip.args(["--no-deps", "--force-reinstall"]).arg(wheel);
    shell::quiet(pip).with_context(|| format!("cannot install {}", wheel.display()))
}

/// The command that runs the tests of the package, which is installed where `python` is.
pub(crate) fn tests(python: &Path) -> Command {
    let mut pytest = shell::command(&python.to_string_lossy(), &["-m", "pytest", "-q", PACKAGE]);
    // Whatever the user has set must not stand in for what was installed.
    pytest.env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
    pytest
}
