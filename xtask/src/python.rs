//! Folders with Python packages in them, below `target`; the package of ours, and its tests.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::shell;

/// The folder of the package.
pub(crate) const PACKAGE: &str = "crates/python";

/// Libraries that tests of the package need, in an environment of their own below `target/tools`.
pub(crate) struct Libraries {
    /// Folder of the environment.
    folder: &'static str,
    /// Their names and versions.
    requirements: &'static str,
    /// The list is whole, and leaves out what its libraries want for other purposes.
    is_whole: bool,
    /// The tests, as pytest takes them.
    tests: &'static [&'static str],
}

/// What most tests need.
pub(crate) const COMMON: Libraries = Libraries {
    folder: "target/tools/python-tests",
    requirements: "crates/python/tests/requirements.txt",
    is_whole: false,
    tests: &[PACKAGE, "--ignore", "crates/python/tests/interop"],
};

/// Libraries of the field, which want older versions of pandas and NumPy.
pub(crate) const INTEROP: Libraries = Libraries {
    folder: "target/tools/python-interop",
    requirements: "crates/python/tests/interop/requirements.txt",
    is_whole: true,
    tests: &["crates/python/tests/interop"],
};

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

impl Libraries {
    /// A Python with these libraries, made on the first call and whenever the list of them changes.
    pub(crate) fn python(&self) -> Result<PathBuf> {
        let (root, folder) = (shell::root(), shell::root().join(self.folder));
        let (python, kept) = (folder.join("bin/python"), folder.join("requirements.txt"));
        let wanted = std::fs::read_to_string(root.join(self.requirements))
            .with_context(|| format!("cannot read {}", self.requirements))?;
        let is_current = std::fs::read_to_string(&kept).is_ok_and(|kept| kept == wanted);
        if is_current && python.exists() {
            return Ok(python);
        }
        println!("  fetching libraries for Python into {}", self.folder);
        let mut packages = vec!["-r", self.requirements];
        packages.extend(self.is_whole.then_some("--no-deps"));
        let python = environment(&folder, &packages)?;
        std::fs::write(kept, wanted)?;
        Ok(python)
    }

    /// The command that runs the tests, where the package is installed beside the libraries.
    pub(crate) fn tests(&self, python: &Path) -> Command {
        let mut pytest = shell::command(&python.to_string_lossy(), &["-m", "pytest", "-q"]);
        // Whatever the user has set must not stand in for what was installed.
        pytest.args(self.tests).env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
        pytest
    }
}

/// Installs a wheel, and nothing that it might want, into the environment of `python`.
pub(crate) fn install(python: &Path, wheel: &Path) -> Result<()> {
    let words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"];
    let mut pip = shell::command(&python.to_string_lossy(), &words);
    pip.args(["--no-deps", "--force-reinstall"]).arg(wheel);
    shell::quiet(pip).with_context(|| format!("cannot install {}", wheel.display()))
}
