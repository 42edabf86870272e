//! Files that are shortened while the tool reads them: an error that says so, never a signal, and
//! never an answer made of what was not there.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::fs::{self, OpenOptions};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use common::{files_in, otf2_trace};

/// How often a file is shortened.
const CUTS: u32 = 24;

#[test]
fn a_file_that_is_shortened_while_it_is_converted_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    let trace = otf2_trace(place.path(), 6000);
    let events = place.path().join("traces/7.evt");
    let whole = fs::read(&events).unwrap();
    let archive = place.path().join("run.parallax");
    let convert = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.arg("convert").arg(&trace).arg(&archive);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started = Instant::now();
    assert!(convert().wait().unwrap().success());
    let (duration, complete) = (started.elapsed(), files_in(&archive));
    let (mut num_lost, mut num_complete) = (0, 0);
    // On a machine that is busy with other things, the moments may be the wrong ones for a while.
    for cut in 0..CUTS * 4 {
        if cut >= CUTS && num_lost > 0 {
            break;
        }
        fs::write(&events, &whole).unwrap();
        let _ = fs::remove_dir_all(&archive);
        let child = convert();
        std::thread::sleep(duration.mul_f64(f64::from(cut % CUTS) / f64::from(CUTS)));
        // Whole pages, or a few bytes of the last one.
        let len = if cut % 2 == 0 { 4096 } else { whole.len() as u64 - 9 };
        OpenOptions::new().write(true).open(&events).unwrap().set_len(len).unwrap();
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), None, "cut {cut}: {error}");
        if error.contains("7.evt was truncated by another program") {
            assert_eq!(output.status.code(), Some(1));
            assert!(!archive.exists(), "cut {cut}");
            num_lost += 1;
        } else if output.status.success() && files_in(&archive) == complete {
            num_complete += 1;
        } else {
            // It was short before it was opened, which is a damaged trace: that is said.
            assert!(error.contains("7.evt") || error.contains("location"), "cut {cut}: {error}");
        }
    }
    eprintln!("{num_lost} were lost on the way, {num_complete} were read before");
    assert!(num_lost > 0, "no cut met the reading, which takes {duration:?}");
}
