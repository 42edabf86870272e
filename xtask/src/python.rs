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

/// A server of object stores, which tests of the tool start themselves.
pub(crate) const OBJECT_STORE: Libraries = Libraries {
    folder: "target/tools/object-store",
    requirements: "crates/cli/tests/store/requirements.txt",
    is_whole: false,
    tests: &[],
};

/// Makes a virtual environment at `folder`, which is emptied, and installs `packages` into it.
/// Gives the path of its Python.
pub(crate) fn environment(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    environment_of("python3", folder, packages)
}

fn environment_of(interpreter: &str, folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let path = folder.to_string_lossy();
    let make = || shell::quiet(shell::command(interpreter, &["-m", "venv", "--clear", &path]));
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

/// Minor versions of CPython 3 that the package is for.
const MINORS: std::ops::RangeInclusive<u32> = 10..=14;
/// Tests of what the native module does, which other versions of CPython run as well.
const CORE_TESTS: [&str; 7] = [
    "crates/python/tests/test_opening.py",
    "crates/python/tests/test_tables.py",
    "crates/python/tests/test_devices.py",
    "crates/python/tests/test_questions.py",
    "crates/python/tests/test_lifetimes.py",
    "crates/python/tests/test_hpcanalysis.py",
    "crates/python/tests/test_regions.py",
];
/// Libraries that these tests need, in the versions of the whole list.
const CORE_LIBRARIES: [&str; 5] = ["pytest", "pandas", "polars", "pyarrow", "duckdb"];

/// Another CPython than the one that runs all tests.
pub(crate) struct Other {
    minor: u32,
    interpreter: String,
}

/// Versions of CPython that this machine has besides that of `python`, one for each minor version:
/// on the path, or where pyenv keeps them.
pub(crate) fn others(python: &Path) -> Vec<Other> {
    let minor_of = |interpreter: &str| {
        let words = ["-c", "import sys; print(sys.version_info[1])"];
        shell::output(shell::command(interpreter, &words))?.trim().parse::<u32>().ok()
    };
    let own = minor_of(&python.to_string_lossy());
    let home = std::env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(|| {
        let home = std::env::var_os("HOME")?;
        Some(PathBuf::from(home).join(".pyenv"))
    });
    let kept = home.and_then(|home| std::fs::read_dir(home.join("versions")).ok());
    let kept: Vec<PathBuf> = kept.into_iter().flatten().flatten().map(|e| e.path()).collect();
    let of_minor = |minor: u32| {
        let start = format!("3.{minor}.");
        let is_it = |folder: &&PathBuf| {
            folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&start))
        };
        let pyenv = kept.iter().find(is_it).map(|folder| folder.join("bin/python"));
        let on_path = format!("python3.{minor}");
        let all = [Some(on_path), pyenv.map(|path| path.to_string_lossy().into_owned())];
        let interpreter = all.into_iter().flatten().find(|one| minor_of(one) == Some(minor))?;
        Some(Other { minor, interpreter })
    };
    MINORS.filter(|minor| Some(*minor) != own).filter_map(of_minor).collect()
}

impl Other {
    /// What this version is called.
    pub(crate) fn name(&self) -> String {
        format!("CPython 3.{}", self.minor)
    }

    /// A Python of this version with the libraries that the core tests need.
    pub(crate) fn python(&self) -> Result<PathBuf> {
        let folder = shell::root().join(format!("target/tools/python-3.{}", self.minor));
        let (python, kept) = (folder.join("bin/python"), folder.join("requirements.txt"));
        let all = std::fs::read_to_string(shell::root().join(COMMON.requirements))
            .with_context(|| format!("cannot read {}", COMMON.requirements))?;
        let is_core =
            |line: &&str| CORE_LIBRARIES.iter().any(|name| line.split("==").next() == Some(name));
        let wanted: Vec<&str> = all.lines().filter(is_core).collect();
        if std::fs::read_to_string(&kept).is_ok_and(|kept| kept == wanted.join("\n")) {
            return Ok(python);
        }
        println!("  fetching libraries for {}", self.name());
        let python = environment_of(&self.interpreter, &folder, &wanted)?;
        std::fs::write(kept, wanted.join("\n"))?;
        Ok(python)
    }

    /// The command that runs the core tests.
    pub(crate) fn tests(python: &Path) -> Command {
        let mut pytest = shell::command(&python.to_string_lossy(), &["-m", "pytest", "-q"]);
        pytest.args(CORE_TESTS).env_remove("PYTHONPATH").env("PYTHONDONTWRITEBYTECODE", "1");
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
