//! A disk that is full: what could not be written, where, how much it takes, what to do; and nothing
//! half written is left. The disk is a small file system in memory, seen by a test's programs alone.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{otf2_trace, skip};

const PARALLAX: &str = env!("CARGO_BIN_EXE_parallax");

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/reactor/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs the tool with a disk of `kilobytes` at `disk`, on which there is a file `old.csv`; its
/// standard output ends with what is there afterwards. `None` where no disk can be mounted.
fn with_disk(kilobytes: u32, disk: &Path, cache: &Path, arguments: &[&str]) -> Option<Output> {
    const SCRIPT: &str = "mount -t tmpfs -o size=\"$1\"k,nr_inodes=400 none \"$2\" || exit 99; \
        echo old > \"$2/old.csv\"; disk=\"$2\"; shift 2; \"$@\"; code=$?; \
        echo; ls -A \"$disk\"; cat \"$disk/old.csv\"; exit $code";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", SCRIPT, "sh", &kilobytes.to_string()]).arg(disk);
    command.arg(PARALLAX).args(arguments).env("PARALLAX_CACHE", cache);
    let output = command.output().ok()?;
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_possible = output.status.code() != Some(99) && !error.contains("unshare");
    if !is_possible {
        skip("no file system can be mounted here");
    }
    is_possible.then_some(output)
}

/// The error, which has to have all of these parts; nothing but the old file is left.
fn check(output: &Output, parts: &[&str]) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    for part in parts {
        assert!(error.contains(part), "{part}: {error}");
    }
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let listed = listed.trim_start();
    assert_eq!(listed, "old.csv\nold\n", "{error}");
}

#[test]
fn a_conversion_to_a_full_disk_says_what_it_takes_and_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let disk = place.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let trace = otf2_trace(place.path(), 5000);
    let archive = disk.join("run.parallax");
    let arguments = ["convert", trace.to_str().unwrap(), archive.to_str().unwrap()];
    let cache = place.path().join("cache");
    let Some(output) = with_disk(100, &disk, &cache, &arguments) else { return };
    let what = format!("cannot write {}", archive.display());
    let parts = [&what, "no space is left", " kB are needed and ", " kB are free", "another disk"];
    check(&output, &parts);
    let Some(output) = with_disk(100_000, &disk, &cache, &arguments) else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_full_cache_is_named_with_what_to_do() {
    let place = tempfile::tempdir().unwrap();
    let disk = place.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let trace = otf2_trace(place.path(), 5000);
    let arguments = ["info", trace.to_str().unwrap()];
    let Some(output) = with_disk(100, &disk, &disk, &arguments) else { return };
    let what = format!("in the cache {}", disk.display());
    check(&output, &[&what, "traces.otf2", "no space is left", "are needed", "PARALLAX_CACHE"]);
}

#[test]
fn an_answer_that_does_not_fit_leaves_the_old_file() {
    let place = tempfile::tempdir().unwrap();
    let disk = place.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let old = disk.join("old.csv");
    let arguments = ["trace", &fixture("n1024-p8"), "-o", old.to_str().unwrap()];
    let Some(output) = with_disk(100, &disk, place.path(), &arguments) else { return };
    let what = format!("cannot write {}", old.display());
    check(&output, &[&what, "no space is left", "are needed and", "are free", "another disk"]);
    let page = disk.join("report.html");
    let arguments = ["export", &fixture("n1024-p8"), "--html", page.to_str().unwrap()];
    let Some(output) = with_disk(100, &disk, place.path(), &arguments) else { return };
    if String::from_utf8_lossy(&output.stderr).contains("cargo xtask web") {
        return skip("this build has no page to put data into");
    }
    let what = format!("cannot write {}", page.display());
    check(&output, &[&what, "no space is left", "at most", "are free", "another disk"]);
}

/// Records a program that fills the disk when there is a snapshot, and recovers that when there is room.
/// The output ends with what is then on the disk.
const FILLED: &str = "mount -t tmpfs -o size=20000k,nr_inodes=400 none \"$1\" || exit 99; cd \"$1\"; \
    \"$2\" record -o run.parallax -- sh -c 'n=0; \
        while [ ! -e .run.parallax.*.partial/snapshot ] && [ $n -lt 1000000 ]; do n=$((n + 1)); done; \
        head -c 50m /dev/zero > fill; n=0; while [ $n -lt 300000 ]; do n=$((n + 1)); done; exit 0'; \
    echo \"status $?\"; rm fill; \"$2\" record --recover run.parallax; echo \"status $?\"; \
    \"$2\" info run.parallax > /dev/null; echo \"status $?\"; ls -A";

#[test]
fn a_recording_that_fills_the_disk_is_recovered_when_there_is_room() {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    let output = command.args(["-m", "sh", "-c", FILLED, "sh"]).arg(place.path()).arg(PARALLAX);
    let Ok(output) = output.output() else { return skip("there is no unshare") };
    let error =
        String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    if output.status.code() == Some(99) || error.contains("unshare") {
        return skip("no file system can be mounted here");
    }
    if error.contains("does not allow samples") {
        return skip("the kernel does not allow samples to be taken");
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said, "status 1\nstatus 0\nstatus 0\nrun.parallax\n", "{error}");
    let advice = "what was recorded before can be kept: `parallax record --recover run.parallax`";
    assert!(error.contains("cannot write run.parallax") && error.contains(advice), "{error}");
}

#[test]
fn an_output_that_takes_nothing_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(PARALLAX);
    let output = command.args(["flat", &fixture("n256-p1")]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("No space left on device"), "{error}");
}
