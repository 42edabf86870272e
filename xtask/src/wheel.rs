//! `cargo xtask wheel`: the Python package as a wheel, with the command line tool inside, tried in an
//! environment that has nothing else.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::test::FEATURES;
use crate::{python, shell};

const MATURIN: &str = "maturin==1.16.0";

/// Where wheels go.
const OUT: &str = "target/wheels";

/// Where that of the tests is assembled.
const FOR_TESTS: &str = "target/python";

/// What is put into a wheel besides modules: `scripts` become programs of the environment. maturin
/// finds the folder by the name of the module.
const DATA: &str = "crates/python/parallax._native.data";

/// What shows that the package works where nothing else is installed.
const TRIAL: &str = "import parallax, subprocess, sys\n\
    experiment = parallax.open(sys.argv[1])\n\
    answer = experiment.query(profiles='rank(0)', contexts='function(MPI_*)')\n\
    assert answer.rows.num_rows > 0, answer\n\
    print(experiment)\n";

/// Bytes of the released tool at most, with the web application inside.
const MOST_TOOL_BYTES: u64 = 30_000_000;

/// Packs a folder into a wheel: an archive whose last file lists the others with their digests, and
/// whose name says for which interpreters it is.
const PACK: &str = include_str!("wheel/pack.py");

pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    let maturin = maturin()?;

    println!("\n[1/3] building the command line tool");
    shell::run(shell::cargo(&["build", "--locked", "--release", "--package", "parallax-cli"]))?;
    let scripts = shell::root().join(DATA).join("scripts");
    std::fs::create_dir_all(&scripts)?;
    let tool = format!("parallax{EXE_SUFFIX}");
    let built = shell::root().join("target/release").join(&tool);
    check_size(&built)?;
    copy(&built, &scripts.join(&tool))?;

    println!("\n[2/3] building the wheel");
    let out = shell::root().join(OUT);
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    let manifest = format!("{}/Cargo.toml", python::PACKAGE);
    let words = ["build", "--locked", "--release", "--out", OUT, "--manifest-path"];
    let mut build = shell::command(&maturin.to_string_lossy(), &words);
    build.arg(manifest);
    shell::run(build)?;
    let wheel = out.join(only(&out, ".whl")?);

    println!("\n[3/3] installing it into an empty environment, and asking a question");
    let folder = shell::root().join("target/tools/wheel-trial");
    let python = python::environment(&folder, &[&wheel.to_string_lossy()])?;
    let data = shell::root().join("fixtures/reactor/n1024-p8");
    let mut trial = shell::command(&python.to_string_lossy(), &["-c", TRIAL]);
    // Whatever the user has set must not stand in for what was installed.
    trial.arg(&data).env_remove("PYTHONPATH");
    shell::run(trial)?;
    let mut tool = shell::command(&folder.join("bin/parallax").to_string_lossy(), &["--version"]);
    tool.env_remove("PYTHONPATH");
    shell::run(tool)?;
    println!("\n{}", wheel.display());
    Ok(())
}

/// Whether the tool is as small as a release should be; debug information alone is 100 MB.
fn check_size(tool: &Path) -> Result<()> {
    let bytes = std::fs::metadata(tool).with_context(|| format!("no {}", tool.display()))?.len();
    println!("  {}: {:.1} MB", tool.display(), bytes as f64 / 1e6);
    if bytes > MOST_TOOL_BYTES {
        bail!("a released tool may have {} MB", MOST_TOOL_BYTES / 1_000_000);
    }
    Ok(())
}

/// Puts a wheel together from the build of the tests: what maturin compiles for itself has other
/// features of the same libraries, and would compile most of them once more. Gives its path.
pub(crate) fn for_tests(maturin: &Path, python: &Path) -> Result<PathBuf> {
    // Targets of tests are named so that features are those of the tests, too.
    let mut cargo = shell::cargo(&["build", "--locked", "--workspace", "--lib", "--bins"]);
    cargo.arg("--tests").args(FEATURES);
    shell::run(cargo)?;

    let (root, folder) = (shell::root(), shell::root().join(FOR_TESTS));
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let content = folder.join("content");
    let package = content.join("parallax");
    copy(&root.join(python::PACKAGE).join("python/parallax"), &package)?;
    // The name and number of the version come from maturin, as the rest of the metadata does.
    let mut metadata = shell::command(&maturin.to_string_lossy(), &["pep517", "write-dist-info"]);
    metadata.arg("--metadata-directory").arg(&content).arg("--interpreter").arg(python);
    metadata.arg("--locked").current_dir(root.join(python::PACKAGE));
    shell::quiet(metadata).context("maturin cannot write the metadata of the package")?;
    let information = only(&content, ".dist-info")?;
    let name = information.trim_end_matches(".dist-info");

    let built = root.join("target/debug");
    let module = if cfg!(windows) { "_native.pyd" } else { "_native.abi3.so" };
    let library = format!("{DLL_PREFIX}parallax_python{DLL_SUFFIX}");
    copy(&built.join(library), &package.join(module))?;
    let scripts = content.join(format!("{name}.data/scripts"));
    std::fs::create_dir_all(&scripts)?;
    let tool = format!("parallax{EXE_SUFFIX}");
    copy(&built.join(&tool), &scripts.join(&tool))?;

    let mut pack = shell::command(&python.to_string_lossy(), &["-c", PACK]);
    pack.arg(&content).arg(&folder);
    shell::quiet(pack).context("cannot pack the wheel")?;
    std::fs::remove_dir_all(content)?;
    Ok(folder.join(only(&folder, ".whl")?))
}

/// Copies a file, or a folder with everything in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let context = || format!("cannot copy {}", from.display());
    if !from.is_dir() {
        return std::fs::copy(from, to).map(|_| ()).with_context(context);
    }
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(context)? {
        let entry = entry?;
        // What an interpreter has left there is no part of the package.
        if entry.file_name() != "__pycache__" {
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// maturin, in a folder of its own.
pub(crate) fn maturin() -> Result<PathBuf> {
    let folder = shell::root().join("target/tools/maturin");
    let program = folder.join("bin/maturin");
    if shell::output(shell::command(&program.to_string_lossy(), &["--version"])).is_none() {
        println!("  fetching {MATURIN} into target/tools");
        python::environment(&folder, &[MATURIN])?;
    }
    Ok(program)
}

/// The name of the one entry of a folder with this ending.
fn only(folder: &Path, ending: &str) -> Result<String> {
    let entries = std::fs::read_dir(folder)?.filter_map(Result::ok);
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    match names.find(|name| name.ends_with(ending)) {
        Some(name) => Ok(name),
        None => bail!("there is no {ending} in {}", folder.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_are_too_large_are_refused() {
        let place = std::env::temp_dir().join(format!("tool-{}", std::process::id()));
        let file = std::fs::File::create(&place).unwrap();
        file.set_len(MOST_TOOL_BYTES).unwrap();
        assert!(check_size(&place).is_ok());
        file.set_len(MOST_TOOL_BYTES + 1).unwrap();
        assert!(check_size(&place).unwrap_err().to_string().contains("30 MB"));
        std::fs::remove_file(&place).unwrap();
        assert!(check_size(&place).is_err());
    }

    #[test]
    fn a_release_has_no_debug_information_and_the_profile_for_it_has() {
        let manifest = std::fs::read_to_string(shell::root().join("Cargo.toml")).unwrap();
        let profile = |name: &str| {
            let (_, rest) = manifest.split_once(&format!("[profile.{name}]\n")).unwrap();
            rest.split("\n\n").next().unwrap().to_owned()
        };
        let release = profile("release");
        assert!(release.contains("debug = false") && release.contains("strip = \"symbols\""));
        let profiling = profile("profiling");
        assert!(profiling.contains("inherits = \"release\""), "{profiling}");
        assert!(profiling.contains("debug = \"line-tables-only\""), "{profiling}");
        assert!(profiling.contains("strip = \"none\""), "{profiling}");
    }
}
