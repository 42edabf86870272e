//! Conversions and exports that are killed at any moment: what was requested is there in full or
//! not at all, and the next run removes what was left and succeeds.

#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{files_in, otf2_trace, skip};

/// How often each kind of run is killed.
const KILLS: u32 = 50;

/// After how many of them one is left to finish.
const BETWEEN: u32 = 5;

/// What is run, what it makes, and whether that was there before.
struct Case {
    arguments: Vec<String>,
    cache: Option<PathBuf>,
    /// Where it writes: nothing else may be in there afterwards.
    folder: PathBuf,
    old: Option<(PathBuf, Vec<u8>)>,
}

impl Case {
    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.args(&self.arguments).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(cache) = &self.cache {
            command.env("PARALLAX_CACHE", cache);
        }
        command
    }

    /// As it was before.
    fn reset(&self) {
        for entry in fs::read_dir(&self.folder).unwrap() {
            let path = entry.unwrap().path();
            if is_unfinished(&path) {
                continue;
            }
            let removed =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.unwrap();
        }
        if let Some((path, bytes)) = &self.old {
            fs::write(path, bytes).unwrap();
        }
    }

    /// How many unfinished things there are, and everything else.
    fn found(&self) -> (usize, Vec<(PathBuf, Vec<u8>)>) {
        let mut found = Vec::new();
        let mut num_unfinished = 0;
        for entry in fs::read_dir(&self.folder).unwrap() {
            let path = entry.unwrap().path();
            if is_unfinished(&path) {
                num_unfinished += 1;
            } else if path.is_dir() {
                found.extend(files_in(&path));
            } else {
                let bytes = fs::read(&path).unwrap();
                found.push((path, bytes));
            }
        }
        found.sort();
        (num_unfinished, found)
    }
}

fn is_unfinished(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "partial")
}

/// Kills `case` at moments over its whole duration.
fn kill_at_any_moment(case: &Case, seed: u64) {
    case.reset();
    let before = case.found().1;
    let mut shortest = Duration::MAX;
    for _ in 0..3 {
        case.reset();
        let started = Instant::now();
        assert!(case.command().status().unwrap().success(), "{:?}", case.arguments);
        shortest = shortest.min(started.elapsed());
    }
    let (left, complete) = case.found();
    assert_eq!(left, 0);
    assert_ne!(complete, before, "it makes something");

    let mut state = seed;
    let (mut most_left, mut num_killed) = (0, 0);
    for kill in 0..KILLS {
        case.reset();
        // A linear congruential generator, and a moment in each of as many parts of the duration.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let within = f64::from((state >> 33) as u32 % 1000) / 1000.0;
        let moment = shortest.mul_f64((f64::from(kill * 7 % KILLS) + within) / f64::from(KILLS));
        let mut child = case.command().spawn().unwrap();
        std::thread::sleep(moment);
        let _ = child.kill();
        num_killed += usize::from(!child.wait().unwrap().success());
        let (left, found) = case.found();
        most_left = most_left.max(left);
        assert!(found == before || found == complete, "seed {seed}, kill {kill} after {moment:?}");
        if kill % BETWEEN == BETWEEN - 1 {
            case.reset();
            assert!(case.command().status().unwrap().success());
            let (left, found) = case.found();
            assert_eq!(left, 0, "what dead processes left is removed");
            assert!(found == complete, "seed {seed}, after kill {kill}");
        }
    }
    eprintln!("{num_killed} of {KILLS} runs of {shortest:?} did not end, {most_left} left at once");
    assert!(num_killed > 5 && most_left > 0, "the moments say nothing: {num_killed}, {most_left}");
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/reactor/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_killed_conversion_leaves_all_or_nothing() {
    let place = tempfile::tempdir().unwrap();
    let trace = otf2_trace(place.path(), 4000);
    let folder = place.path().join("out");
    fs::create_dir(&folder).unwrap();
    let arguments = vec!["convert".into(), text(&trace), text(&folder.join("run.parallax"))];
    kill_at_any_moment(&Case { arguments, cache: None, folder, old: None }, 16);
}

#[test]
fn a_killed_question_leaves_all_or_nothing_in_the_cache() {
    let place = tempfile::tempdir().unwrap();
    let trace = otf2_trace(place.path(), 4000);
    let folder = place.path().join("cache");
    fs::create_dir(&folder).unwrap();
    let arguments = vec!["info".into(), text(&trace)];
    kill_at_any_moment(&Case { arguments, cache: Some(folder.clone()), folder, old: None }, 17);
}

#[test]
fn a_killed_export_leaves_the_old_file_or_the_new_one() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().to_owned();
    let path = folder.join("values.csv");
    let arguments = ["query", &fixture("n1024-p8"), "-o", &text(&path)].map(str::to_owned).to_vec();
    let old = Some((path, b"old".to_vec()));
    kill_at_any_moment(&Case { arguments, cache: None, folder, old }, 18);
}

#[test]
fn a_killed_export_of_a_page_leaves_the_old_one_or_the_new_one() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().to_owned();
    let path = folder.join("report.html");
    let arguments =
        ["export", &fixture("n1024-p8"), "--html", &text(&path)].map(str::to_owned).to_vec();
    let case = Case { arguments, cache: None, folder, old: Some((path, b"old".to_vec())) };
    let tried = case.command().stderr(Stdio::piped()).output().unwrap();
    if String::from_utf8_lossy(&tried.stderr).contains("cargo xtask web") {
        return skip("this build has no page to put data into");
    }
    kill_at_any_moment(&case, 19);
}
