//! Folders with Python packages in them, below `target`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::shell;

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
