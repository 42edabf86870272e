//! Running other programs from the repository root.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// The root of the repository: the folder above this crate.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), Path::to_path_buf)
}

/// A program that runs in the repository root.
pub(crate) fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// `cargo` as the user called it, so that a chosen toolchain stays chosen, without what `cargo run`
/// says about this program: build scripts that look at it would run again, and everything above their
/// packages would be compiled again, each time the same is built with and without `cargo xtask`.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut cargo = command("cargo", args);
    let is_of_this = |name: &str| {
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name == "OUT_DIR"
    };
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_of_this) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// The command as the user would type it.
pub(crate) fn shown(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

/// Runs with the terminal attached; an exit status other than 0 is an error.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(&command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", shown(&command));
    }
    Ok(())
}

/// The program that ran has said what is wrong; nothing is to be added.
#[derive(Debug)]
pub(crate) struct AlreadySaid;

impl std::fmt::Display for AlreadySaid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("see above")
    }
}

impl std::error::Error for AlreadySaid {}

/// Runs a program of ours, whose own message is enough when it fails.
pub(crate) fn run_ours(mut command: Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(&command)))?;
    if status.success() { Ok(()) } else { Err(AlreadySaid.into()) }
}

/// What the program wrote to standard output, or `None` when it is missing or failed.
pub(crate) fn output(mut command: Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs in silence; on failure the error carries the last line that the program wrote.
pub(crate) fn quiet(mut command: Command) -> Result<()> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", shown(&command)))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
    bail!("`{}` failed: {}", shown(&command), last.trim())
}

/// Runs and passes every line of both streams on, showing each to `see` as well.
/// Returns whether the program succeeded.
pub(crate) fn watch(mut command: Command, mut see: impl FnMut(&str)) -> Result<bool> {
    if std::io::stdout().is_terminal() && std::env::var_os("CARGO_TERM_COLOR").is_none() {
        // A pipe lies between cargo and the terminal, so cargo has to be told.
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", shown(&command)))?;
    let (send, receive) = mpsc::channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|s| Box::new(s) as _),
        child.stderr.take().map(|s| Box::new(s) as _),
    ];
    for stream in streams.into_iter().flatten() {
        let send = send.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
    }
    drop(send);
    for line in receive {
        println!("{line}");
        see(&line);
    }
    Ok(child.wait()?.success())
}

/// True where nothing may be left out: in CI, and where that is asked for.
pub(crate) fn must_be_whole() -> bool {
    ["CI", "PARALLAX_REQUIRE_WEB"].iter().any(|name| is_on(std::env::var_os(name).as_deref()))
}

/// Variables are switched off by nothing, `0` and `false`.
fn is_on(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
}

/// True for the super-user, who alone can install packages without being asked.
pub(crate) fn is_root() -> bool {
    output(command("id", &["-u"])).is_some_and(|id| id.trim() == "0")
}

/// True on Debian, Ubuntu and their kin.
pub(crate) fn has_apt() -> bool {
    output(command("apt-get", &["--version"])).is_some()
}

/// Installs Debian packages; needs the super-user.
pub(crate) fn apt_install(packages: &[&str]) -> Result<()> {
    const NETWORK: [&str; 4] = ["-o", "Acquire::http::Timeout=20", "-o", "DPkg::Lock::Timeout=300"];
    let apt = |words: &[&str]| {
        let mut apt = command("apt-get", &NETWORK);
        apt.args(["-q", "-y"]).args(words).env("DEBIAN_FRONTEND", "noninteractive");
        quiet(apt)
    };
    apt(&["update"])?;
    let mut words = vec!["install", "--no-install-recommends"];
    words.extend(packages);
    apt(&words)
}

/// `90.1` seconds as `1 min 30 s`, `1.24` as `1.2 s`.
pub(crate) fn seconds(time: Duration) -> String {
    let secs = time.as_secs();
    if secs < 60 {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} min {} s", secs / 60, secs % 60)
    }
}

/// The text of a line without its terminal colour sequences (`ESC [ ... m`).
pub(crate) fn without_colours(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for (nth, part) in line.split("\u{1b}[").enumerate() {
        text.push_str(if nth == 0 { part } else { part.split_once('m').map_or("", |p| p.1) });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_switched_off_by_nothing_by_0_and_by_false() {
        let is_on = |text: &str| is_on(Some(OsStr::new(text)));
        assert!(is_on("true") && is_on("1"));
        assert!(!is_on("") && !is_on("0") && !is_on("false"));
    }

    #[test]
    fn what_is_built_does_not_depend_on_this_program() {
        // Cargo sets it for tests as for `cargo run`.
        assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
        let cargo = cargo(&["build"]);
        let removed = |name: &str| cargo.get_envs().any(|(of, to)| of == name && to.is_none());
        assert!(removed("CARGO_PKG_NAME") && removed("CARGO_MANIFEST_DIR"));
        assert!(!removed("PATH"));
    }
}
