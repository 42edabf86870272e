//! `cargo xtask web`: the application in a browser, from its types to its files in `web/dist`
//! and `web/dist-single`.
//!
//! Five parts, each of which can be asked for by name; without a name all of them, in this order.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::test::FEATURES;
use crate::{node, shell, wasm};

/// One part.
struct Step {
    name: &'static str,
    run: fn() -> Result<()>,
}

const STEPS: &[Step] = &[
    Step { name: "types", run: types },
    Step { name: "engine", run: engine },
    Step { name: "samples", run: samples },
    Step { name: "page", run: page },
    Step { name: "report", run: report },
];

pub(crate) fn run(args: Args) -> Result<()> {
    let wanted = args.positional()?;
    if let Some(unknown) = wanted.iter().find(|name| STEPS.iter().all(|part| part.name != **name)) {
        let parts: Vec<&str> = STEPS.iter().map(|part| part.name).collect();
        bail!("no part `{unknown}`; there are {}", parts.join(", "));
    }
    for part in STEPS {
        if wanted.is_empty() || wanted.iter().any(|name| name == part.name) {
            println!("\n== {}", part.name);
            (part.run)().with_context(|| format!("web {}", part.name))?;
        }
    }
    Ok(())
}

/// Everything, but only what changed since.
pub(crate) fn build() -> Result<()> {
    engine()?;
    samples()?;
    page()?;
    report()
}

/// Writes the protocol down for TypeScript, with the test that compares it otherwise.
fn types() -> Result<()> {
    let mut test = shell::cargo(&["test", "--locked", "--quiet", "--workspace"]);
    test.args(FEATURES).args(["--test", "typescript"]).env("PARALLAX_BLESS", "1");
    shell::run(test)
}

/// Compiles the engine for the browser, and its JavaScript side.
fn engine() -> Result<()> {
    let toolchain = wasm::find_or_install()?;
    let mut build = toolchain.cargo("build");
    build.args(["--locked", "--package", "parallax-wasm", "--profile", "browser"]);
    build.env("RUSTFLAGS", "-C target-feature=+simd128");
    shell::run(build)?;
    let compiled =
        shell::root().join("target/wasm/wasm32-unknown-unknown/browser/parallax_wasm.wasm");
    let out = web().join("src/engine-client/pkg");
    if is_newer(&out.join("parallax_wasm_bg.wasm"), &compiled) {
        return Ok(());
    }
    let mut bindgen = shell::cargo(&["run", "--locked", "--quiet", "--package", "xtask-bindgen"]);
    bindgen.arg("--").arg(&compiled).arg(&out);
    shell::run(bindgen)
}

/// Whether `made` is there and not older than `from`.
fn is_newer(made: &Path, from: &Path) -> bool {
    let time = |path: &Path| std::fs::metadata(path).and_then(|m| m.modified()).ok();
    matches!((time(made), time(from)), (Some(made), Some(from)) if made >= from)
}

/// Copies the data that the application shows to somebody who has none: the fixtures.
fn samples() -> Result<()> {
    let out = web().join("public/samples");
    let list = shell::root().join("fixtures/samples.json");
    let text = std::fs::read_to_string(&list).context("cannot read fixtures/samples.json")?;
    let samples: Vec<serde_json::Value> =
        serde_json::from_str(&text).context("fixtures/samples.json is not a list")?;
    let _ = std::fs::remove_dir_all(&out);
    let mut index = Vec::new();
    for mut sample in samples {
        let from = sample.get("from").and_then(|from| from.as_str()).unwrap_or_default().to_owned();
        let only: Vec<String> = sample
            .get("only")
            .and_then(|only| serde_json::from_value(only.clone()).ok())
            .unwrap_or_default();
        let id = sample.get("id").and_then(|id| id.as_str()).unwrap_or_default().to_owned();
        let folder = shell::root().join("fixtures").join(&from);
        let mut files = Vec::new();
        let is_chosen = |path: &str| {
            only.is_empty()
                || only.iter().any(|wanted| {
                    path == wanted
                        || path.strip_prefix(wanted.as_str()).is_some_and(|r| r.starts_with('/'))
                })
        };
        for path in files_below(&folder)? {
            if is_chosen(&path) && !path.ends_with("README.md") {
                let to = out.join(&id).join(&path);
                std::fs::create_dir_all(to.parent().unwrap_or(&out))?;
                std::fs::copy(folder.join(&path), &to)
                    .with_context(|| format!("cannot copy {path} of sample {id}"))?;
                // The page asks for files relative to the folder of all samples.
                files.push(format!("{id}/{path}"));
            }
        }
        if files.is_empty() {
            bail!("sample {id} has no files in fixtures/{from}");
        }
        if let Some(sample) = sample.as_object_mut() {
            sample.remove("from");
            sample.remove("only");
            sample.insert("files".to_owned(), files.into());
        }
        index.push(sample);
    }
    let text = serde_json::to_string_pretty(&index)?;
    std::fs::write(out.join("index.json"), text + "\n")?;
    Ok(())
}

/// The files below `folder` as sorted paths relative to it.
fn files_below(folder: &Path) -> Result<Vec<String>> {
    let mut out = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        let entries =
            std::fs::read_dir(&next).with_context(|| format!("cannot list {}", next.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if let Some(path) = path.strip_prefix(folder).ok().and_then(Path::to_str) {
                out.push(path.to_owned());
            }
        }
    }
    out.sort();
    Ok(out)
}

/// Bundles the page.
fn page() -> Result<()> {
    packages()?;
    shell::run(npm(&["run", "--silent", "build"])?)
}

/// Bundles the page that `parallax export` puts data into: one file with the engine inside.
fn report() -> Result<()> {
    packages()?;
    shell::run(npm(&["run", "--silent", "build", "--", "--mode", "single"])?)
}

/// Installs the packages of the page, when the lock file changed since the last time.
pub(crate) fn packages() -> Result<()> {
    let lock = web().join("package-lock.json");
    if is_newer(&web().join("node_modules/.package-lock.json"), &lock) {
        return Ok(());
    }
    shell::quiet(npm(&["ci", "--no-audit", "--no-fund"])?)
        .context("the packages of the page cannot be installed")
}

/// `npm` in the folder of the application.
///
/// # Errors
/// When there is no Node.js and none can be had.
pub(crate) fn npm(args: &[&str]) -> Result<Command> {
    let mut npm = node::find_or_install()?.npm(args);
    npm.current_dir(web());
    Ok(npm)
}

/// A browser for the tests: the one that `PARALLAX_CHROMIUM` names, or one of the system.
pub(crate) fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("PARALLAX_CHROMIUM").map(PathBuf::from);
    let known = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    named.into_iter().chain(known.map(PathBuf::from)).find(|path| path.is_file())
}

/// The browser that is there, or that could be installed without asking.
pub(crate) fn chromium_or_install() -> Result<PathBuf> {
    if let Some(found) = chromium() {
        return Ok(found);
    }
    if !(shell::has_apt() && shell::is_root()) {
        bail!("no Chromium; install it, or name one in PARALLAX_CHROMIUM");
    }
    shell::apt_install(&["chromium", "fonts-dejavu-core"])?;
    chromium().context("Debian's package chromium came without a program")
}

fn web() -> PathBuf {
    shell::root().join("web")
}
