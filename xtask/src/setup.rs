//! `cargo xtask setup`: what the other commands need, installed where that is possible without asking.
//!
//! Every item says in one line that it is there, that it was installed, or how to get it.
//! Running it again changes nothing.

use anyhow::{Result, bail};

use crate::args::Args;
use crate::{shell, wasm, web};

pub(crate) fn run(args: Args) -> Result<()> {
    args.finish()?;
    base()?;
    show("runner", &runner_line());
    for (component, binary) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        show(component, &component_line(component, binary));
    }
    match wasm::find_or_install() {
        Ok(toolchain) => show("wasm", &toolchain.describe()),
        Err(why) => show("wasm", &format!("absent: {why:#}")),
    }
    match web::node().and_then(|version| web::packages().map(|()| version)) {
        Ok(version) => show("node", &format!("{version}; packages of the page installed")),
        Err(why) => show("node", &format!("absent: {why:#}")),
    }
    match web::chromium_or_install() {
        Ok(path) => show("chromium", &path.display().to_string()),
        Err(why) => show("chromium", &format!("absent: {why:#}")),
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
    show("corpus", &corpus_line());
    Ok(())
}

/// True when nextest can run the tests; `cargo test` does otherwise, more slowly.
pub(crate) fn has_nextest() -> bool {
    shell::output(shell::cargo(&["nextest", "--version"])).is_some()
}

fn show(item: &str, state: &str) {
    println!("  {item:<8} {state}");
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

/// Real databases beside the repository: tests read them where they are.
fn corpus_line() -> String {
    let corpus = std::env::var_os("PARALLAX_CORPUS")
        .map_or_else(|| shell::root().join("../shared"), std::path::PathBuf::from);
    if corpus.is_dir() {
        "found: tests on real databases run".to_owned()
    } else {
        "absent: tests on it are skipped (PARALLAX_CORPUS names its folder)".to_owned()
    }
}
