//! Recordings of programs whose hot lines and loops are known.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use common::{answer, compile, printed, rows, takes_samples};
use parallax_testkit::needs::{self, Without};
use serde_json::{Map, Value};

/// Loops are only found in the machine code of one processor.
const HAS_LOOPS: bool = cfg!(target_arch = "x86_64");

struct Program(tempfile::TempDir);

impl Program {
    /// `None` where there is no compiler, or where the kernel does not let anybody take samples.
    fn new(compiler: &str, flags: &[&str], source: &str, text: &str) -> Option<Self> {
        if !needs::program(compiler, Without::Test) {
            return None;
        }
        let program = Self(tempfile::tempdir().unwrap());
        fs::write(program.0.path().join(source), text).unwrap();
        let mut command = Command::new(compiler);
        compile(command.current_dir(program.0.path()).args(flags).args(["-o", "app", source]));
        let tried = program.tool(&["-o", "tried.parallax"]).output().unwrap();
        takes_samples(&tried).then_some(program)
    }

    fn tool(&self, options: &[&str]) -> Command {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_parallax"));
        tool.current_dir(self.0.path()).arg("record").args(options).args(["--", "./app"]);
        tool
    }

    /// The archive of a run that must succeed.
    fn recorded(&self, options: &[&str]) -> PathBuf {
        let path = self.0.path().join("run.parallax");
        let _ = fs::remove_dir_all(&path);
        let output = self.tool(&[&["-o", "run.parallax"], options].concat()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        path
    }
}

/// The tree of a metric: each context with the names of those above it, from the one with the given
/// name on, and its row.
fn tree(archive: &str, metric: &str, from: &str) -> Vec<(String, Map<String, Value>)> {
    let all = common::tree(&["tree", archive, "--all", "--metric", metric]).into_iter();
    let below = all.filter_map(|(names, row)| {
        let first = names.iter().position(|name| name == from)?;
        Some((names[first..].join(" > "), row))
    });
    below.collect()
}

fn sum(tree: &[(String, Map<String, Value>)], path: &str, column: &str) -> f64 {
    let own = tree.iter().filter(|(own, _)| own == path);
    own.map(|(_, row)| row[column].as_f64().unwrap_or_default()).sum()
}

fn paths(tree: &[(String, Map<String, Value>)]) -> Vec<&str> {
    tree.iter().map(|(path, _)| path.as_str()).collect()
}

/// Operations that wait for each other: `S4` is a unit of time, all on one line.
const HOT: &str = "\
#define NOINLINE __attribute__((noinline, noclone))
#define S(x) (x ^= x << 13, x ^= x >> 7, x ^= x << 17)
#define S4(x) (S(x), S(x), S(x), S(x))
volatile unsigned long sink = 1;
NOINLINE unsigned long callee(unsigned long x) {
    for (long i = 0; i < 2000; i++)
        S4(x);
    return x;
}
NOINLINE void hot(void) {
    unsigned long x = sink;
    for (long i = 0; i < 2000; i++) {
        for (long j = 0; j < 8000; j++) {
            S4(x);
            S4(x), S4(x), S4(x);
        }
        x += callee(x);
    }
    sink = x;
}
int main(void) { hot(); return 0; }
";

#[test]
fn hot_lines_and_loops_have_their_planted_shares() {
    let flags = ["-O1", "-g", "-Wall", "-Werror"];
    let Some(program) = Program::new("cc", &flags, "app.c", HOT) else { return };
    let archive = program.recorded(&[]);
    let archive = archive.to_str().unwrap();
    let tree = tree(archive, "cputime", "hot");
    let hot = sum(&tree, "hot", "inclusive");
    assert!(hot > 0.1, "too little was recorded: {:?}", paths(&tree));
    let (outer, inner) = match HAS_LOOPS {
        true => ("hot > loop at app.c:12", "hot > loop at app.c:12 > loop at app.c:13"),
        false => ("hot", "hot"),
    };
    let lines = [14, 15].map(|line| sum(&tree, &format!("{inner} > app.c:{line}"), "exclusive"));
    let share = lines[1] / (lines[0] + lines[1]);
    assert!((share - 0.75).abs() < 0.1, "{share} of the time in line 15, planted 0.75: {tree:#?}");
    // Of 34,000 units in each iteration of the outer loop, 2,000 are in what is called.
    let callee = sum(&tree, &format!("{outer} > callee"), "inclusive");
    let share = callee / hot;
    assert!((share - 0.059).abs() < 0.04, "{share} in `callee`, planted 0.059: {tree:#?}");
    let rest = hot - callee - lines[0] - lines[1];
    assert!((0.0..0.1 * hot).contains(&rest), "{rest} s in other lines: {tree:#?}");
    if HAS_LOOPS {
        let [all, inside] = [outer, inner].map(|path| sum(&tree, path, "inclusive"));
        assert!(all > 0.98 * hot && (all - inside - callee).abs() < 0.05 * hot, "{tree:#?}");
        let callee = format!("{outer} > callee > loop at app.c:6 > app.c:7");
        assert!(sum(&tree, &callee, "exclusive") > 0.0, "{:?}", paths(&tree));
    }
    // The views by line, loop and file have the same, and the source has its text.
    let line = rows(&["flat", archive, "--by", "line"]);
    assert_eq!(line[0]["name"], "app.c:15", "{line:?}");
    let source = answer(&["source", archive, "app.c"]);
    let text = format!("{source}");
    assert!(text.contains("S4(x), S4(x), S4(x);"), "{text}");
    if HAS_LOOPS {
        let selected =
            rows(&["query", archive, "-c", "function(hot).loop(app.c:13).line(app.c:15)"]);
        assert!(!selected.is_empty());
    }
}

#[test]
fn functions_have_the_same_times_with_and_without_their_lines() {
    let flags = ["-O1", "-g", "-Wall", "-Werror"];
    let Some(program) = Program::new("cc", &flags, "app.c", HOT) else { return };
    let mut seen = Vec::new();
    for detail in ["functions", "loops", "lines"] {
        let archive = program.recorded(&["--detail", detail, "--no-sources"]);
        assert!(!archive.join("src").exists());
        let archive = archive.to_str().unwrap();
        let all = rows(&["tree", archive, "--all", "--metric", "cputime"]);
        let kinds =
            ["function", "loop", "line"].map(|kind| all.iter().any(|row| row["kind"] == kind));
        let is_loops = HAS_LOOPS && detail != "functions";
        assert_eq!(kinds, [true, is_loops, detail == "lines"], "{detail}");
        let flat = rows(&["flat", archive, "--metric", "cputime"]);
        let whole: f64 = flat.iter().filter_map(|row| row["exclusive"].as_f64()).sum();
        let share = |name: &str| {
            let own = flat.iter().find(|row| row["name"] == name).unwrap();
            own["exclusive"].as_f64().unwrap() / whole
        };
        seen.push([share("hot"), share("callee")]);
        // Exclusive times add up to the whole.
        let top = all.iter().filter(|row| row["depth"] == all[0]["depth"]);
        let sum: f64 = top.filter_map(|row| row["inclusive"].as_f64()).sum();
        assert!((whole / sum - 1.0).abs() < 1e-6, "{detail}: {whole} s of {sum} s");
        let report = printed(&["report", archive, "--width", "200"]);
        assert!(report.contains("hot"), "{report}");
    }
    for [hot, callee] in &seen {
        assert!((hot - seen[0][0]).abs() < 0.05 && (callee - seen[0][1]).abs() < 0.05, "{seen:?}");
    }
}

#[test]
fn loops_and_lines_of_inlined_functions_are_below_these() {
    let text = "\
volatile unsigned long sink = 1;
static inline __attribute__((always_inline)) unsigned long inlined(unsigned long x) {
    for (long i = 0; i < 20000; i++)
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    return x;
}
__attribute__((noinline)) void outer(void) {
    for (int i = 0; i < 6000; i++)
        sink = inlined(sink);
}
int main(void) { outer(); return 0; }
";
    let Some(program) = Program::new("cc", &["-O2", "-g"], "app.c", text) else { return };
    let archive = program.recorded(&[]);
    let tree = tree(archive.to_str().unwrap(), "cputime", "outer");
    let path = match HAS_LOOPS {
        true => "outer > loop at app.c:8 > inlined > loop at app.c:3",
        false => "outer > inlined",
    };
    let all = sum(&tree, "outer", "inclusive");
    let own = sum(&tree, path, "inclusive");
    let lines: f64 =
        [3, 4].map(|line| sum(&tree, &format!("{path} > app.c:{line}"), "exclusive")).iter().sum();
    assert!(all > 0.05 && own > 0.9 * all && lines > 0.9 * all, "{tree:#?}");
}

#[test]
fn programs_without_debug_information_have_functions_only() {
    let Some(program) = Program::new("cc", &["-O1"], "app.c", HOT) else { return };
    let archive = program.recorded(&[]);
    let tree = tree(archive.to_str().unwrap(), "cputime", "hot");
    assert!(sum(&tree, "hot", "inclusive") > 0.1, "{tree:#?}");
    assert!(tree.iter().all(|(_, row)| row["kind"] == "function"), "{:?}", paths(&tree));
    assert!(sum(&tree, "hot > callee", "inclusive") > 0.0, "{:?}", paths(&tree));
}

#[test]
fn programs_in_rust_have_loops_and_lines() {
    let text = "\
#[inline(never)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..a.len() {
        sum += a[i] / b[i];
    }
    sum
}
fn main() {
    let v: Vec<f64> = (1..4000).map(f64::from).collect();
    let mut sum = 0.0;
    let mut n = 0;
    while n < 20000 {
        sum += dot(&v, std::hint::black_box(&v));
        n += 1;
    }
    println!(\"{sum}\");
}
";
    let flags = ["-O", "-g", "--edition", "2021"];
    let Some(program) = Program::new("rustc", &flags, "app.rs", text) else { return };
    let archive = program.recorded(&[]);
    let tree = tree(archive.to_str().unwrap(), "cputime", "app::dot");
    let all = sum(&tree, "app::dot", "inclusive");
    let own = match HAS_LOOPS {
        true => "app::dot > loop at app.rs:4 > app.rs:5",
        false => "app::dot > app.rs:5",
    };
    assert!(all > 0.05 && sum(&tree, own, "exclusive") > 0.5 * all, "{tree:#?}");
    if HAS_LOOPS {
        let main = rows(&["flat", archive.to_str().unwrap(), "--by", "loop"]);
        assert!(main.iter().any(|row| row["name"] == "loop at app.rs:13"), "{main:?}");
    }
}

#[test]
fn events_are_counted_by_line() {
    let text = "\
#define _GNU_SOURCE
#include <sys/mman.h>
__attribute__((noinline)) void touch(volatile char *pages) {
    for (long i = 0; i < 1000; i++)
        pages[i * 4096] = 1;
    for (long i = 1000; i < 6000; i++)
        pages[i * 4096] = 1;
}
int main(void) {
    void *got = mmap(0, 6000 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) return 3;
    madvise(got, 6000 * 4096, MADV_NOHUGEPAGE);
    touch(got);
    return 0;
}
";
    let Some(program) = Program::new("cc", &["-O1", "-g"], "app.c", text) else { return };
    let archive = program.recorded(&["--counters", "page-faults@25"]);
    let tree = tree(archive.to_str().unwrap(), "page-faults", "touch");
    for (start, line, planted) in [(4, 5, 1000.0), (6, 7, 5000.0)] {
        let path = match HAS_LOOPS {
            true => format!("touch > loop at app.c:{start} > app.c:{line}"),
            false => format!("touch > app.c:{line}"),
        };
        let found = sum(&tree, &path, "exclusive");
        assert!(
            (found - planted).abs() <= 0.06 * planted,
            "{path}: {found} of {planted}: {tree:#?}"
        );
    }
}
