//! The header, compiled with the compilers that are there. That recordings are read does not rest
//! on these tests: `fixtures/measured` has a real one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop")]

use std::path::{Path, PathBuf};
use std::process::Command;

use parallax_base::{Limits, MemorySource};
use parallax_testkit::needs::{self, Without};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a program against the header; `None` where the compiler is absent.
fn compile(compiler: &str, flags: &[&str], source: &Path, program: &Path) -> Option<()> {
    if !needs::program(compiler, Without::Test) {
        return None;
    }
    let output = Command::new(compiler)
        .args(flags)
        .args(["-Wall", "-Wextra", "-Wshadow", "-Werror", "-pthread"])
        .arg("-I")
        .arg(project().join("crates/measure/include"))
        .arg("-o")
        .arg(program)
        .arg(source)
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

/// Runs a program and counts calls, executions, iterations, threads and kinds of issues.
fn counts(program: &Path, recording: &Path) -> ([usize; 4], Vec<&'static str>) {
    let status = Command::new(program).env("PARALLAX_OUT", recording).output().unwrap().status;
    // Some of these programs end with a signal.
    let _ = status.code();
    let source = MemorySource::shared(std::fs::read(recording).unwrap());
    let experiment = parallax_import::open_file(&source, "run.plxm", &Limits::default()).unwrap();
    let run = experiment.activations.as_ref().unwrap();
    let of = |kind: &str| run.tree.iter().filter(|&a| run.tree.kind(a).name() == kind).count();
    let kinds = experiment.issues.list().iter().map(|issue| issue.kind).collect();
    ([of("call"), of("loop execution"), of("iteration"), run.threads.len()], kinds)
}

#[test]
fn the_program_of_the_fixture_records_itself() {
    let folder = tempfile::tempdir().unwrap();
    let source = project().join("fixtures/measured/image.c");
    for (number, flags) in
        ["-std=c11 -O0", "-std=gnu11 -O2", "-std=c11 -O2 -fPIC"].iter().enumerate()
    {
        let program = folder.path().join(format!("image{number}"));
        let flags: Vec<&str> = flags.split(' ').collect();
        if compile("cc", &flags, &source, &program).is_none() {
            return;
        }
        let recording = folder.path().join(format!("{number}.plxm"));
        assert_eq!(counts(&program, &recording), ([41, 6, 161, 3], vec![]), "{flags:?}");
    }
    let off = folder.path().join("off");
    compile("cc", &["-std=c11", "-DPARALLAX_OFF", "-Wno-unused"], &source, &off).unwrap();
    let recording = folder.path().join("off.plxm");
    assert!(Command::new(&off).env("PARALLAX_OUT", &recording).output().unwrap().status.success());
    assert!(!recording.exists());
}

#[test]
fn a_crash_leaves_what_was_recorded_until_then() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("crash.c"), folder.path().join("crash"));
    let text = r#"
        #include <signal.h>
        #include "parallax.h"
        static int steps;
        static void step(int number) {
            PARALLAX_FUNCTION();
            PARALLAX_UPDATE(steps);
            if (++steps == 700) raise(SIGKILL);
            (void)number;
        }
        int main(void) {
            PARALLAX_FUNCTION();
            PARALLAX_LOOP()
            for (int i = 0; i < 1000; i++) {
                PARALLAX_ITERATION();
                step(i);
            }
        }
    "#;
    std::fs::write(&source, text).unwrap();
    if compile("cc", &["-std=gnu11", "-O1"], &source, &program).is_none() {
        return;
    }
    let found = counts(&program, &folder.path().join("crash.plxm"));
    assert_eq!(found, ([701, 1, 700, 1], vec!["call-open"]));
}

#[test]
fn cpp_leaves_scopes_when_an_exception_passes() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("throws.cpp"), folder.path().join("throws"));
    let text = r#"
        #include <thread>
        #include <vector>
        #include "parallax.h"
        struct Grid {
            std::vector<int> cells;
            void step(int number) {
                PARALLAX_FUNCTION();
                PARALLAX_LOOP()
                while (true) {
                    PARALLAX_ITERATION();
                    PARALLAX_WRITE(cells[0]);
                    if (++cells[0] % 3 == 0) throw number;
                }
            }
        };
        int main() {
            PARALLAX_FUNCTION();
            Grid grid{{0, 0}};
            for (int i = 0; i < 4; i++) {
                PARALLAX_REGION("attempt");
                try { grid.step(i); } catch (int) {}
            }
            std::thread worker([] { PARALLAX_REGION("worker"); });
            auto handle = worker.native_handle();
            PARALLAX_THREAD_STARTED(handle);
            worker.join();
            PARALLAX_THREAD_JOINED(handle);
        }
    "#;
    std::fs::write(&source, text).unwrap();
    if compile("c++", &["-std=c++17", "-O1"], &source, &program).is_none() {
        return;
    }
    let found = counts(&program, &folder.path().join("throws.plxm"));
    assert_eq!(found, ([1 + 4 + 4 + 1, 4, 12, 2], vec![]));
}
