//! Folders with Python packages in them, below `target`; the package of ours, and its tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::shell;
use crate::test::TYPES;

/// The folder of the package.
pub(crate) const PACKAGE: &str = "crates/python";

/// What the tests of the package need, with versions.
const REQUIREMENTS: &str = "crates/python/tests/requirements.txt";

/// Where the package is put together for its tests.
const SITE: &str = "target/python";

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

/// Builds the package as tests need it, in the build of all other tests.
pub(crate) fn build() -> Result<()> {
    let mut cargo = shell::cargo(&["build", "--locked", "--workspace", "--lib"]);
    cargo.args(TYPES);
    shell::run(cargo)?;
    let (root, site) = (shell::root(), shell::root().join(SITE).join("parallax"));
    if site.exists() {
        std::fs::remove_dir_all(&site)?;
    }
    copy(&root.join(PACKAGE).join("python/parallax"), &site)?;
    let (built, module) = if cfg!(windows) {
        ("parallax_python.dll", "_native.pyd")
    } else if cfg!(target_os = "macos") {
        ("libparallax_python.dylib", "_native.abi3.so")
    } else {
        ("libparallax_python.so", "_native.abi3.so")
    };
    let built = root.join("target/debug").join(built);
    std::fs::copy(&built, site.join(module))
        .with_context(|| format!("cannot copy {}", built.display()))?;
    Ok(())
}

/// The command that runs the tests of the package.
pub(crate) fn tests(python: &Path) -> Command {
    let mut pytest = shell::command(&python.to_string_lossy(), &["-m", "pytest", "-q", PACKAGE]);
    pytest.env("PYTHONPATH", shell::root().join(SITE));
    pytest.env("PYTHONDONTWRITEBYTECODE", "1");
    pytest
}

/// Copies a folder with everything in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in
        std::fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))?
    {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
