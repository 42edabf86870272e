//! Finding or installing a compiler for `wasm32-unknown-unknown`.
//!
//! Two routes lead there, and the first that works is taken:
//! the standard library of the running toolchain (`rustup target add`, or a distribution that ships it),
//! or Debian's `rustc-web` packages with the standard library built from source.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::shell;

const TARGET: &str = "wasm32-unknown-unknown";

/// The name under which rustup knows Debian's compiler.
const DEBIAN_TOOLCHAIN: &str = "wasm";

const DEBIAN_PACKAGES: &[&str] =
    &["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm", "rust-web-clippy"];

/// A way to compile for the browser.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Toolchain {
    /// The running toolchain has the target.
    Target,
    /// Debian's compiler, linked into rustup, builds the standard library itself.
    Debian,
}

impl Toolchain {
    /// `cargo <subcommand>` for the target; the caller adds packages and lints.
    pub(crate) fn cargo(self, subcommand: &str) -> Command {
        let mut cargo = match self {
            Self::Target => shell::cargo(&[subcommand, "--target", TARGET]),
            Self::Debian => {
                let toolchain = format!("+{DEBIAN_TOOLCHAIN}");
                let mut cargo = shell::cargo(&[
                    &toolchain,
                    subcommand,
                    "--target",
                    TARGET,
                    "-Zbuild-std=std,panic_abort",
                ]);
                // `-Zbuild-std` is an unstable flag of a stable compiler.
                cargo.env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTC").env_remove("RUSTDOC");
                cargo
            }
        };
        // A folder of its own: another compiler must not evict what the native one has built.
        cargo.env("CARGO_TARGET_DIR", shell::root().join("target/wasm"));
        cargo
    }

    /// Downloads what compiling needs, so that a failure later is a finding and not the network.
    pub(crate) fn fetch(self) -> Result<()> {
        let mut fetch = self.cargo("fetch");
        fetch.arg("--locked");
        shell::quiet(fetch)
    }

    pub(crate) fn describe(self) -> String {
        match self {
            Self::Target => format!("target {TARGET} of the running toolchain"),
            Self::Debian => {
                format!("Debian's rustc-web as rustup toolchain `{DEBIAN_TOOLCHAIN}`")
            }
        }
    }
}

/// The toolchain that is there already.
pub(crate) fn find() -> Option<Toolchain> {
    if has_target() {
        Some(Toolchain::Target)
    } else if has_debian() {
        Some(Toolchain::Debian)
    } else {
        None
    }
}

/// The toolchain that is there, or that could be installed without asking. The error says in one
/// line what the user can do instead.
pub(crate) fn find_or_install() -> Result<Toolchain> {
    if let Some(toolchain) = find() {
        return Ok(toolchain);
    }
    let by_rustup = shell::quiet(shell::command("rustup", &["target", "add", TARGET]));
    if by_rustup.is_ok() && has_target() {
        return Ok(Toolchain::Target);
    }
    install_debian().map_err(|why| {
        anyhow::anyhow!("no compiler for {TARGET}; run `rustup target add {TARGET}` ({why:#})")
    })
}

fn install_debian() -> Result<Toolchain> {
    if !shell::has_apt() {
        anyhow::bail!("and there is no apt-get to try Debian's rustc-web");
    }
    if !shell::is_root() {
        anyhow::bail!("or, as root on Debian, run `cargo xtask setup`");
    }
    shell::apt_install(DEBIAN_PACKAGES)?;
    shell::quiet(shell::command("rustup", &["toolchain", "link", DEBIAN_TOOLCHAIN, "/usr"]))?;
    if !has_debian() {
        anyhow::bail!("Debian's rustc-web is older than this workspace needs");
    }
    Ok(Toolchain::Debian)
}

fn has_target() -> bool {
    shell::output(shell::command("rustc", &["--print", "sysroot"])).is_some_and(|sysroot| {
        Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).join("lib").is_dir()
    })
}

fn has_debian() -> bool {
    let toolchain = format!("+{DEBIAN_TOOLCHAIN}");
    Path::new("/usr/lib/rustlib/src/rust/library/std").exists()
        && shell::output(shell::cargo(&[&toolchain, "clippy", "--version"])).is_some()
        && shell::output(shell::command("rustc", &[&toolchain, "--version"]))
            .as_deref()
            .and_then(minor_version)
            .is_some_and(|minor| minor >= needed_minor())
}

/// The `90` of `rustc 1.90.0 (...)`.
fn minor_version(text: &str) -> Option<u32> {
    text.split_whitespace().nth(1)?.split('.').nth(1)?.parse().ok()
}

/// The minor version of the oldest compiler that the workspace accepts.
fn needed_minor() -> u32 {
    minor_version(concat!("rustc ", env!("CARGO_PKG_RUST_VERSION"))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_rustc_prints_them() {
        assert_eq!(minor_version("rustc 1.96.0 (ac68faa20 2026-05-28)"), Some(96));
        assert_eq!(minor_version("error"), None);
        assert!(needed_minor() >= 85, "edition 2024 needs 1.85");
    }
}
