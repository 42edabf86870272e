//! `cargo xtask fresh`: a command of this list on a machine that has nothing.
//!
//! The machine is a minimal Debian in a folder, made with debootstrap: a compiler for C, git, Rust
//! as rustup installs it, and the files of this working tree. It shows what set-up forgets.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::{setup, shell};

/// The release, which is what the documents promise to work on.
const SUITE: &str = "bookworm";

/// What somebody has who can compile anything at all.
const PACKAGES: &str = "--include=ca-certificates,gcc,git,libc6-dev";

/// Where the repository lies inside.
const PLACE: &str = "root/parallax";

/// Where the corpus lies inside, if it is to be there: tests find it next to the repository.
const CORPUS: &str = "root/shared";

/// Enters the machine `$0` with the corpus `$1`, which may be empty, and runs the rest. The mounts end with the name space that they are in.
const ENTER: &str = r#"
set -e
mount -t proc proc "$0/proc"
mount --rbind /sys "$0/sys"
mount --rbind /dev "$0/dev"
corpus=$1
shift
if [ -n "$corpus" ]; then
  mount --bind "$corpus" "$0/root/shared"
  mount -o remount,bind,ro "$0/root/shared"
fi
exec chroot "$0" "$@"
"#;

/// Settings of the network and of registries, by their beginnings: without them a machine behind a
/// proxy would be another one than this.
const KEPT_VARIABLES: [&str; 8] = [
    "CARGO_HTTP_",
    "CARGO_NET_",
    "PIP_",
    "NPM_CONFIG_",
    "npm_config_",
    "SSL_CERT_",
    "HTTP_PROXY",
    "HTTPS_PROXY",
];

pub(crate) fn run(mut args: Args) -> Result<()> {
    let corpus = match args.take_flag("--with-corpus") {
        true => {
            let found = setup::corpus()?.context("no corpus; PARALLAX_CORPUS names its folder")?;
            Some(found.canonicalize()?)
        }
        false => None,
    };
    let mut words = args.rest();
    if words.is_empty() {
        words.push("test".to_owned());
    }
    if !(shell::is_root() && shell::has_apt()) {
        bail!("run this as root on Debian: it makes a minimal Debian in a folder and enters it");
    }
    let place = shell::root().join("target/fresh");
    let base = base(&place)?;
    let root = place.join("root");
    println!("making a copy of it in {}", root.display());
    remove(&root)?;
    shell::run(shell::command("cp", &["-a", &text(&base), &text(&root)]))?;
    take_rust(&root)?;
    take_repository(&root)?;
    take_network(&root);
    if corpus.is_some() {
        std::fs::create_dir_all(root.join(CORPUS))?;
    }

    println!("\n$ cargo xtask {}   (in {})\n", words.join(" "), root.display());
    let mut inside = shell::command("unshare", &["--mount", "sh", "-c", ENTER, &text(&root)]);
    inside.arg(corpus.as_deref().unwrap_or(Path::new("")));
    inside.args(["env", "-i", "HOME=/root", "LANG=C.UTF-8", "CARGO_TERM_COLOR=never"]);
    inside
        .arg("PATH=/root/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    if corpus.is_some() {
        inside.arg("PARALLAX_REQUIRE_CORPUS=1");
    }
    for (name, value) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let upper = name.to_uppercase();
        if KEPT_VARIABLES.iter().any(|kept| name.starts_with(kept) || upper.starts_with(kept)) {
            inside.arg(format!("{name}={}", value.to_string_lossy()));
        }
    }
    inside.args(["sh", "-c", r#"cd "$0" && exec cargo xtask "$@""#]).arg(format!("/{PLACE}"));
    inside.args(words);
    shell::run_ours(inside)
}

/// The minimal system, which is made once.
fn base(place: &Path) -> Result<PathBuf> {
    let base = place.join("base");
    if base.join("usr/bin/gcc").exists() {
        return Ok(base);
    }
    if shell::output(shell::command("debootstrap", &["--version"])).is_none() {
        shell::apt_install(&["debootstrap"])?;
    }
    std::fs::create_dir_all(place)?;
    let half = place.join("half");
    remove(&half)?;
    println!("making a minimal Debian in {}", base.display());
    let words = ["--variant=minbase", PACKAGES, SUITE, &text(&half)];
    shell::quiet(shell::command("debootstrap", &words))?;
    std::fs::rename(&half, &base)?;
    Ok(base)
}

/// Removes what an earlier call made; nothing is mounted there any more.
fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Gives it the toolchain that runs here, where rustup would have put it.
fn take_rust(root: &Path) -> Result<()> {
    let sysroot = shell::output(shell::command("rustc", &["--print", "sysroot"]))
        .context("no Rust compiler")?;
    let rustup = shell::output(shell::command("sh", &["-c", "command -v rustup"]))
        .context("no rustup; a fresh machine has Rust from it")?;
    let sysroot = PathBuf::from(sysroot.trim());
    let name = sysroot.file_name().and_then(OsStr::to_str).context("a toolchain without a name")?;
    let toolchains = root.join("root/.rustup/toolchains");
    let programs = root.join("root/.cargo/bin");
    std::fs::create_dir_all(&toolchains)?;
    std::fs::create_dir_all(&programs)?;
    shell::run(shell::command("cp", &["-a", &text(&sysroot), &text(&toolchains)]))?;
    let settings =
        format!("version = \"12\"\ndefault_toolchain = \"{name}\"\nprofile = \"minimal\"\n");
    std::fs::write(root.join("root/.rustup/settings.toml"), settings)?;
    // One program under many names.
    std::fs::copy(rustup.trim(), programs.join("rustup"))?;
    for name in ["cargo", "rustc", "rustdoc", "rustfmt", "cargo-fmt", "cargo-clippy"] {
        let link = programs.join(name);
        shell::run(shell::command("ln", &["-sf", "rustup", &text(&link)]))?;
    }
    Ok(())
}

/// Gives it the files of the working tree, as a clone would have them with what is changed here.
fn take_repository(root: &Path) -> Result<()> {
    let to = root.join(PLACE);
    std::fs::create_dir_all(&to)?;
    let script = r#"git ls-files -z --cached --others --exclude-standard --deduplicate |
        tar --create --null --ignore-failed-read --files-from=- | tar --extract --directory="$0""#;
    shell::run(shell::command("sh", &["-c", script, &text(&to)]))
}

/// How this machine reaches others; what is not here is not needed.
fn take_network(root: &Path) {
    for path in ["etc/resolv.conf", "etc/hosts", "etc/ssl/certs/ca-certificates.crt"] {
        let _ = std::fs::copy(Path::new("/").join(path), root.join(path));
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
