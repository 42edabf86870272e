//! What a test needs besides the repository: the corpus of real data, and programs.
//!
//! Every test asks here, so that one that could not run is counted as skipped and never as passed.
//! A runner of tests shows nobody what a passing test prints, and neither runner lets a test say
//! that it was skipped. Each skip is therefore a line of its own in the file that the variable
//! [`SKIPPED`] names; `cargo xtask test` sets it, and reads the file for its closing line.
//!
//! - `PARALLAX_CORPUS` names the folder of the corpus; without it that is `shared` next to the
//!   repository. A value that names no corpus is an error, always: it is a typing error.
//! - `PARALLAX_REQUIRE_CORPUS` (not empty, not `0`) makes an absent corpus an error, and so is then
//!   every single file of it that a test asks for and that is not there.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that names the file for lines about skipped tests.
///
/// A line has four fields between tabulators: `test` or `part`, the program of the test, the test,
/// and why.
pub const SKIPPED: &str = "PARALLAX_SKIPPED_TESTS";

const CORPUS: &str = "PARALLAX_CORPUS";
const REQUIRE: &str = "PARALLAX_REQUIRE_CORPUS";

/// What is not tested where something is absent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Without {
    /// The whole test.
    Test,
    /// A part of it; the rest is a test all the same.
    Part,
}

/// The folder of the corpus; without it the test is skipped.
///
/// # Panics
/// When `PARALLAX_CORPUS` names no corpus, or when there is none and it is required.
#[must_use]
pub fn corpus() -> Option<PathBuf> {
    corpus_of(Without::Test)
}

/// The folder of the corpus, for a test of which all or a part needs it.
///
/// # Panics
/// As [`corpus`].
#[must_use]
pub fn corpus_of(without: Without) -> Option<PathBuf> {
    let named = std::env::var_os(CORPUS);
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let found = find(named, &default);
    assert!(found.is_ok(), "{}", found.err().unwrap_or_default());
    let found = found.ok().flatten();
    if found.is_none() {
        absent(without, "no corpus");
    }
    found
}

/// A file or folder of the corpus, by its path with `/`; without it the test is skipped.
///
/// # Panics
/// As [`corpus`], and when the path is not there and the corpus is required.
#[must_use]
pub fn corpus_path(path: &str) -> Option<PathBuf> {
    let found = corpus()?.join(path);
    if !found.exists() {
        absent(Without::Test, &format!("{path} is not in the corpus"));
        return None;
    }
    Some(found)
}

/// Whether a program is there; without it the test, or a part of it, is skipped.
#[must_use]
pub fn program(name: &str, without: Without) -> bool {
    let mut command = Command::new(name);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let is_there = command.status().is_ok();
    if !is_there {
        skip(without, &format!("no {name}"));
    }
    is_there
}

/// Says that this test is skipped, or a part of it, and why.
///
/// # Panics
/// When the file for such lines cannot be written.
pub fn skip(without: Without, why: &str) {
    let what = match without {
        Without::Test => "test",
        Without::Part => "part",
    };
    eprintln!("skipped: {why}");
    let Some(path) = std::env::var_os(SKIPPED) else { return };
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let line = format!("{what}\t{program}\t{}\t{why}\n", name_of_test());
    // Many processes write here; a short line that is appended at once stays whole.
    let file = std::fs::OpenOptions::new().append(true).create(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    assert!(written.is_ok(), "cannot write {}: {written:?}", Path::new(&path).display());
}

/// The corpus that is named, or the one at `default`; `None` where there is none, an error where
/// one is named that is none.
fn find(named: Option<OsString>, default: &Path) -> Result<Option<PathBuf>, String> {
    let is_corpus = |path: &Path| path.join("data").is_dir();
    match named.map(PathBuf::from) {
        Some(path) if is_corpus(&path) => Ok(Some(path)),
        Some(path) => Err(format!(
            "{CORPUS} is `{}`, which is no folder with a folder `data` in it; name the corpus, or \
             unset the variable",
            path.display()
        )),
        None => Ok(is_corpus(default).then(|| default.to_owned())),
    }
}

fn absent(without: Without, why: &str) {
    let is_required = is_on(std::env::var_os(REQUIRE).as_deref());
    assert!(!is_required, "{why}, and {REQUIRE} is set");
    skip(without, why);
}

fn is_on(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

/// The runner names the thread of a test after it; where it runs it on the main thread, it was
/// asked for by its name.
fn name_of_test() -> String {
    let thread = std::thread::current();
    match thread.name() {
        Some(name) if name != "main" => name.to_owned(),
        _ => std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_corpus_is_an_error_and_an_absent_default_is_none() {
        let place = tempfile::tempdir().unwrap();
        let (full, empty) = (place.path().join("full"), place.path().join("empty"));
        std::fs::create_dir_all(full.join("data")).unwrap();
        std::fs::create_dir_all(&empty).unwrap();
        let none = place.path().join("none");
        assert_eq!(find(None, &full), Ok(Some(full.clone())));
        assert_eq!(find(None, &none), Ok(None));
        assert_eq!(find(None, &empty), Ok(None), "another folder of this name");
        assert_eq!(find(Some(full.clone().into()), &none), Ok(Some(full.clone())));
        for wrong in [none.as_os_str(), empty.as_os_str(), OsStr::new("")] {
            let error = find(Some(wrong.to_owned()), &full).unwrap_err();
            assert!(error.starts_with("PARALLAX_CORPUS is `"), "{error}");
        }
    }

    #[test]
    fn variables_are_switched_off_by_nothing_and_by_0() {
        let is_on = |text: &str| is_on(Some(OsStr::new(text)));
        assert!(is_on("1") && is_on("yes") && !is_on("0") && !is_on(""));
    }
}
