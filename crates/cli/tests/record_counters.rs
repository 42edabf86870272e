//! `record --counters`: events by call path, of programs of which it is known where they happen.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use common::{compile, printed, rows, takes_samples, tree};
use parallax_testkit::needs::{self, Without};

/// Pages that `few` and `many` touch first, each below `touch`, in each of two threads.
const FEW: f64 = 1000.0;
const MANY: f64 = 5000.0;

const PROGRAM: &str = r"
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
static volatile unsigned long sink;
APART static void touch(volatile char *pages, long count, long size) {
    for (long i = 0; i < count; i++) pages[i * size] = 1;
    sink++;
}
static volatile char *fresh(long bytes) {
    void *got = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) _exit(3);
    madvise(got, bytes, MADV_NOHUGEPAGE);
    return got;
}
APART static void few(long size) { touch(fresh(1000 * size), 1000, size); sink++; }
APART static void many(long size) { touch(fresh(5000 * size), 5000, size); sink++; }
APART static void spin(void) { for (long i = 0; i < 800000000; i++) sink += i; }
static void *whole(void *size) { few((long)size); many((long)size); return 0; }
int main(void) {
    long size = sysconf(_SC_PAGESIZE);
    pthread_t other;
    if (pthread_create(&other, 0, whole, (void *)size)) return 2;
    whole((void *)size);
    pthread_join(other, 0);
    spin();
    return 0;
}
";

struct Program(tempfile::TempDir);

impl Program {
    /// `None` where there is no compiler, or where the kernel does not let anybody take samples.
    fn new() -> Option<Self> {
        if !needs::program("cc", Without::Test) {
            return None;
        }
        let program = Self(tempfile::tempdir().unwrap());
        fs::write(program.0.path().join("app.c"), PROGRAM).unwrap();
        let mut compiler = Command::new("cc");
        compiler.current_dir(program.0.path());
        compile(compiler.args(["-O1", "-g", "-Wall", "-Werror", "-pthread", "-o", "app", "app.c"]));
        let tried = program.record(&["--sampler", "perf-event", "-o", "tried.parallax"]);
        takes_samples(&tried).then_some(program)
    }

    fn record(&self, options: &[&str]) -> Output {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_parallax"));
        tool.current_dir(self.0.path()).arg("record").args(options).args(["--", "./app"]);
        tool.output().unwrap()
    }

    fn recorded(&self, counters: &str) -> PathBuf {
        let output = self.record(&["-o", "run.parallax", "--counters", counters]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.0.path().join("run.parallax")
    }
}

/// A value of each function below others: `few > touch`.
fn values(archive: &str, metric: &str, column: &str) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for (names, row) in tree(&["tree", archive, "--all", "--metric", metric]) {
        // Values of functions include those of their loops and lines.
        if row["kind"] != "function" {
            continue;
        }
        let known = ["few", "many", "touch", "spin"];
        let names = names.iter().map(String::as_str);
        let path: Vec<&str> = names.filter(|name| known.contains(name)).collect();
        found.push((path.join(" > "), row[column].as_f64().unwrap_or_default()));
    }
    found
}

fn sum(values: &[(String, f64)], path: &str) -> f64 {
    values.iter().filter(|(own, _)| own == path).map(|(_, value)| value).sum()
}

#[test]
fn events_are_where_they_happened() {
    let Some(program) = Program::new() else { return };
    let archive = program.recorded("page-faults@25,task-clock");
    let archive = archive.to_str().unwrap();
    let faults = values(archive, "page-faults", "exclusive");
    for (path, planted) in [("few > touch", 2.0 * FEW), ("many > touch", 2.0 * MANY)] {
        let found = sum(&faults, path);
        assert!((found - planted).abs() <= 0.05 * planted, "{path}: {found}, planted {planted}");
    }
    assert!(sum(&faults, "spin") < 100.0, "{faults:?}");
    // What a function caused with what it calls, and the whole.
    let inclusive = values(archive, "page-faults", "inclusive");
    let many: f64 = inclusive.iter().filter(|(path, _)| path == "many").map(|(_, v)| v).sum();
    assert!((many - 2.0 * MANY).abs() <= 0.05 * 2.0 * MANY, "{inclusive:?}");
    // Each thread has its own.
    let balance = rows(&["balance", archive, "-m", "page-faults", "-c", "function(touch)"]);
    assert_eq!(balance[0]["with_value"], 2, "{balance:?}");
    // The sum is that of the counter: what is planted, and what every program needs.
    let whole: f64 = faults.iter().map(|(_, value)| value).sum();
    assert!((2.0 * (FEW + MANY)..2.0 * (FEW + MANY) + 1000.0).contains(&whole), "{faults:?}");
    // The clock by an event is the clock by samples, within what samples can tell.
    let (clock, time) =
        (values(archive, "task-clock", "exclusive"), values(archive, "cputime", "exclusive"));
    let (clock, time) = (sum(&clock, "spin"), sum(&time, "spin"));
    assert!(time > 0.05 && (clock / time - 1.0).abs() < 0.2, "{clock} s, {time} s");
}

#[test]
fn without_counters_there_are_none_and_unknown_ones_are_named() {
    let Some(program) = Program::new() else { return };
    let refused = |counters: &str, expected: &[&str]| {
        let output = program.record(&["-o", "none.parallax", "--counters", counters]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success());
        assert!(expected.iter().all(|part| message.contains(part)), "{message}");
        assert!(!program.0.path().join("none.parallax").exists());
    };
    refused("page-faults,fuel", &["\"fuel\"", "cache-misses"]);
    refused("page-faults@0", &["EVENT@N"]);
    refused("page-faults@many", &["EVENT@N"]);
    assert!(program.record(&["-o", "plain.parallax"]).status.success());
    let archive = program.0.path().join("plain.parallax");
    let info = printed(&["info", archive.to_str().unwrap()]);
    assert!(info.contains("CPUTIME") && !info.contains("page-faults"), "{info}");
}
