//! Programs with planted call paths and shares, and what their recordings say.

#![allow(dead_code, reason = "each test uses some of this")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use parallax_testkit::needs::{self, Without};
use serde_json::{Map, Value};

use super::common::{compile, rows, skip, tree};

/// What may take samples, as it is chosen.
const SAMPLERS: [&str; 2] = ["perf-event", "ptrace"];

/// Work that no compiler removes; 1 is some hundred microseconds.
pub(crate) const WORK: &str = r"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
volatile unsigned long sink;
static inline __attribute__((always_inline)) void work(int amount) {
    unsigned long x = 88172645463325252ul;
    for (long i = 0; i < amount * 100000l; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
    sink = x;
}
";

/// A folder with a program that was compiled from a text.
pub(crate) struct Program {
    pub(crate) folder: tempfile::TempDir,
    /// What takes samples here.
    samplers: Vec<&'static str>,
}

impl Program {
    /// `None` where there is no compiler, or where the kernel does not let anybody take samples.
    pub(crate) fn new(compiler: &str, flags: &[&str], text: &str) -> Option<Self> {
        if !needs::program(compiler, Without::Test) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join(if compiler == "c++" { "app.cpp" } else { "app.c" });
        fs::write(&source, format!("{WORK}{text}")).unwrap();
        let mut compiler = Command::new(compiler);
        compiler.args(flags).args(["-Wall", "-Werror", "-pthread", "-o"]);
        compile(compiler.arg(folder.path().join("app")).arg(source));
        let mut program = Self { folder, samplers: Vec::new() };
        for sampler in SAMPLERS {
            let tried = program.record(&["--sampler", sampler, "-o", sampler], &["true"]);
            match String::from_utf8_lossy(&tried.stderr) {
                said if said.contains("does not allow") => skip(&format!("{sampler}: {said}")),
                _ => program.samplers.push(sampler),
            }
        }
        if program.samplers.is_empty() {
            needs::skip(Without::Test, "the kernel does not allow samples to be taken");
            return None;
        }
        Some(program)
    }

    pub(crate) fn record(&self, options: &[&str], command: &[&str]) -> Output {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_parallax"));
        tool.current_dir(self.folder.path()).arg("record").args(options).arg("--").args(command);
        tool.output().unwrap()
    }

    /// What may be chosen to take samples here.
    pub(crate) fn samplers(&self) -> impl Iterator<Item = &'static str> {
        self.samplers.iter().copied()
    }

    /// The archives of runs that must succeed, by what took the samples.
    pub(crate) fn recorded(&self, command: &[&str]) -> Vec<PathBuf> {
        self.samplers().map(|sampler| self.recorded_by(sampler, command)).collect()
    }

    /// The archive of a run that must succeed.
    pub(crate) fn recorded_by(&self, sampler: &str, command: &[&str]) -> PathBuf {
        let name = format!("{sampler}.parallax");
        let path = self.folder.path().join(&name);
        let _ = fs::remove_dir_all(&path);
        let options = ["--sampler", sampler, "--frequency", "999", "-o", &name];
        let output = self.record(&options, command);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        path
    }
}

/// Seconds by function: of a metric, by a column such as `inclusive`.
pub(crate) fn times(archive: &Path, metric: &str, column: &str) -> Vec<(String, f64)> {
    let rows = rows(&["tree", archive.to_str().unwrap(), "--all", "--metric", metric]);
    let value = |row: &Map<String, Value>| row[column].as_f64().unwrap_or_default();
    rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), value(row))).collect()
}

pub(crate) fn time_of(times: &[(String, f64)], name: &str) -> f64 {
    times.iter().filter(|(known, _)| known == name).map(|(_, seconds)| seconds).sum()
}

/// Call paths that have processor time, from the outermost function that a test knows to the
/// innermost, without what the system puts above and below.
pub(crate) fn paths(archive: &Path, known: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (names, _) in tree(&["tree", archive.to_str().unwrap(), "--all", "--metric", "realtime"]) {
        let path = names.iter().map(String::as_str);
        let path: Vec<&str> = path.filter(|name| known.contains(name)).collect();
        let path = path.join(" > ");
        if !path.is_empty() && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

pub(crate) fn assert_path(paths: &[String], wanted: &str) {
    assert!(paths.iter().any(|path| path == wanted), "no path {wanted} in {paths:#?}");
}

/// Sends a signal, with the shell: `kill` as a program is not on every system.
pub(crate) fn sent(signal: &str, pid: &str) -> bool {
    let kill = Command::new("sh").args(["-c", r#"kill "$0" "$1""#, signal, pid]).status();
    kill.unwrap().success()
}

/// Ends what runs from this file: a tool that is killed leaves the program running.
pub(crate) fn end_all(program: &Path) {
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        if fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == program) {
            let pid = entry.file_name().to_string_lossy().into_owned();
            sent("-KILL", &pid);
        }
    }
}
