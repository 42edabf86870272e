//! `cargo xtask setup`: what the other commands need, installed where that is possible without asking.
//!
//! Every item says in one line that it is there, that it was installed, or how to get it.
//! Running it again changes nothing.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::args::Args;
use crate::{node, python, shell, wasm, web, wheel};

pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    base()?;
    programs();
    show("runner", &runner_line());
    for (component, binary) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        show(component, &component_line(component, binary));
    }
    match wasm::find_or_install() {
        Ok(toolchain) => show("wasm", &toolchain.describe()),
        Err(why) => show("wasm", &format!("absent: {why:#}")),
    }
    match node::find_or_install().and_then(|node| web::packages().map(|()| node)) {
        Ok(node) => show("node", &format!("{}; packages of the page installed", node.describe())),
        Err(why) => show("node", &format!("absent: {why:#}")),
    }
    match web::chromium_or_install() {
        Ok(path) => show("chromium", &path.display().to_string()),
        Err(why) => show("chromium", &format!("absent: {why:#}")),
    }
    match python::COMMON.python().and_then(|_| wheel::maturin()) {
        Ok(_) => show("python", "libraries for the tests of the package installed"),
        Err(why) => show("python", &format!("libraries for tests absent: {why:#}")),
    }
    object_store();
    match python::INTEROP.python() {
        Ok(_) => show("hatchet", "Hatchet, Thicket, Extra-P and plotnine installed for tests"),
        Err(why) => show("hatchet", &format!("absent, tests are skipped: {why:#}")),
    }
    println!("\nready: `cargo xtask demo` and `cargo xtask test`");
    Ok(())
}

/// What building and testing need: a compiler, a linker and the test data.
/// Called by every command that builds; only what is missing costs time.
pub(crate) fn base() -> Result<()> {
    println!("setup");
    let Some(version) = shell::output(shell::command("rustc", &["--version"])) else {
        bail!("no Rust compiler; install one from https://rustup.rs");
    };
    show("rust", version.trim());
    show("corpus", corpus_line()?);
    if let Some(line) = disk_line() {
        show("disk", &line);
    }
    Ok(())
}

/// Kilobytes that building and testing everything from nothing takes, with room for temporary files.
const ROOM: u64 = 30_000_000;

/// How much room the disk has, where too little could be the reason for failures to come.
fn disk_line() -> Option<String> {
    let target = shell::root().join("target");
    let place = if target.is_dir() { target } else { shell::root() };
    let told = shell::output(shell::command("df", &["-Pk", place.to_str()?]))?;
    let free: u64 = told.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    (free < ROOM).then(|| {
        format!(
            "{} GB free at {}: building and testing everything from nothing takes up to {} GB",
            free / 1_000_000,
            place.display(),
            ROOM / 1_000_000
        )
    })
}

/// Programs that tests compare with or compile with, and Debian's packages of them.
const PROGRAMS: [(&str, &str); 9] = [
    ("python3", "python3"),
    ("otf2-print", "otf2-tools"),
    ("c++", "g++"),
    ("clang", "clang"),
    ("mpicc", "libopenmpi-dev"),
    ("mpirun", "openmpi-bin"),
    ("gfortran", "gfortran"),
    ("munged", "munge"),
    ("slurmd", "slurm-wlm"),
];

/// Where drivers for Vulkan say that they are there.
const VULKAN_DRIVERS: [&str; 2] = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/// Where drivers for EGL say so, by which Chromium brings what WebGPU draws onto canvases.
const EGL_DRIVERS: &str = "/usr/share/glvnd/egl_vendor.d";

/// A GPU in software, for tests of kernels and of WebGPU; without any GPU those of kernels are skipped.
fn graphics() {
    let has_file =
        |folder: &str| std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    if VULKAN_DRIVERS.into_iter().any(has_file) && has_file(EGL_DRIVERS) {
        return;
    }
    if !(cfg!(target_os = "linux") && shell::is_root() && shell::has_apt()) {
        show("vulkan", "absent, tests are skipped: Debian's package mesa-vulkan-drivers has it");
        return;
    }
    match shell::apt_install(&["libvulkan1", "mesa-vulkan-drivers", "libegl1", "libegl-mesa0"]) {
        Ok(()) => show("vulkan", "installed"),
        Err(why) => show("vulkan", &format!("absent, tests are skipped: {why:#}")),
    }
}

/// LLVM's runtime of OpenMP, where clang is there without it.
fn openmp() {
    let said = |name: &str, option: &str| shell::output(shell::command(name, &[option]));
    let clang = ["clang", "clang-14"].into_iter().find(|name| said(name, "--version").is_some());
    let Some(clang) = clang else { return };
    let version = said(clang, "-dumpversion").unwrap_or_default();
    let major = version.split('.').next().unwrap_or_default().trim();
    let place = format!("/usr/lib/llvm-{major}/lib/libomp.so");
    if major.is_empty() || std::path::Path::new(&place).exists() {
        return;
    }
    let package = format!("libomp-{major}-dev");
    if !(shell::is_root() && shell::has_apt()) {
        show("libomp", &format!("absent, tests are skipped: Debian's package {package} has it"));
        return;
    }
    match shell::apt_install(&[&package]) {
        Ok(()) => show("libomp", "installed"),
        Err(why) => show("libomp", &format!("absent, tests are skipped: {why:#}")),
    }
}

/// Programs without which single tests are skipped, installed where that is possible.
pub(crate) fn programs() {
    graphics();
    packages();
    // After them: its version is that of clang.
    openmp();
}

/// What is missing of [`PROGRAMS`].
fn packages() {
    let is_there = |name: &str| shell::output(shell::command(name, &["--version"])).is_some();
    let absent: Vec<_> = PROGRAMS.into_iter().filter(|(name, _)| !is_there(name)).collect();
    if absent.is_empty() {
        return;
    }
    let packages: Vec<&str> = absent.iter().map(|(_, package)| *package).collect();
    let installed = if shell::is_root() && shell::has_apt() {
        shell::apt_install(&packages).map_err(|why| format!("{why:#}"))
    } else {
        Err(format!("Debian's package {} has it", packages.join(", ")))
    };
    for (name, _) in absent {
        match &installed {
            Ok(()) if is_there(name) => show(name, "installed"),
            Ok(()) => show(name, "absent: its package came without it; tests are skipped"),
            Err(why) => show(name, &format!("absent, tests are skipped: {why}")),
        }
    }
}

/// A server of object stores; tests that read from one are skipped without it.
pub(crate) fn object_store() {
    match python::OBJECT_STORE.python() {
        Ok(_) => show("s3", "a server for tests installed"),
        Err(why) => show("s3", &format!("absent, tests are skipped: {why:#}")),
    }
}

/// True when nextest can run the tests; `cargo test` does otherwise, more slowly.
pub(crate) fn has_nextest() -> bool {
    shell::output(shell::cargo(&["nextest", "--version"])).is_some()
}

fn show(item: &str, state: &str) {
    println!("  {item:<10} {state}");
}

fn runner_line() -> String {
    if has_nextest() {
        "cargo-nextest".to_owned()
    } else {
        "cargo test (cargo-nextest is faster: `cargo install --locked cargo-nextest`)".to_owned()
    }
}

fn component_line(component: &str, subcommand: &str) -> String {
    let is_there = || shell::output(shell::cargo(&[subcommand, "--version"]));
    if let Some(version) = is_there() {
        return version.trim().to_owned();
    }
    match shell::quiet(shell::command("rustup", &["component", "add", component])) {
        Ok(()) if is_there().is_some() => "installed".to_owned(),
        Ok(()) => format!("absent: rustup added {component}, but `cargo {subcommand}` fails"),
        Err(why) => format!("absent: `rustup component add {component}` ({why:#})"),
    }
}

/// Real databases next to the repository: tests read them where they are.
fn corpus_line() -> Result<&'static str> {
    Ok(match corpus()? {
        Some(_) => "found: tests on real databases run",
        None => "absent: tests on it are skipped (PARALLAX_CORPUS names its folder)",
    })
}

/// The folder of the corpus, by name or next to the repository.
///
/// A name that leads nowhere is a typing error, and no reason to skip all tests on it.
pub(crate) fn corpus() -> Result<Option<PathBuf>> {
    let named = std::env::var_os("PARALLAX_CORPUS").map(PathBuf::from);
    let is_corpus = |path: &PathBuf| path.join("data").is_dir();
    match named {
        Some(path) if is_corpus(&path) => Ok(Some(path)),
        Some(path) => bail!(
            "PARALLAX_CORPUS is `{}`, which is no folder with a folder `data` in it",
            path.display()
        ),
        None => Ok(Some(shell::root().join("../shared")).filter(is_corpus)),
    }
}
