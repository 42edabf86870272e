//! Parallel regions without marks: programs in which the compiler put them, whose lines are known.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::rows;
use parallax_testkit::needs::{self, Without};
use serde_json::Value;

/// Two regions, one of them in a loop.
const SOLVER: &str = "double solve(double *x, int n) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    for (int step = 0; step < 3; step++) {
#pragma omp parallel for schedule(dynamic, 100)
        for (int i = 0; i < n; i++) x[i] += 1.0 / (step + i + 1);
    }
    return sum;
}
";

/// A region below the file of another one that is called the same, and with other lines.
const PARTS: &str = "
double assemble(double *x, int n);
double assemble(double *x, int n) {
    double sum = 0;


#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < n; i++) x[i] = i;
#pragma omp atomic
        sum += 1;
    }
    return sum;
}
";

const MAIN: &str = "#include <stdlib.h>
double solve(double *x, int n);
double assemble(double *x, int n);
int main(void) {
    int n = 20000;
    double *x = malloc(n * sizeof *x);
    double sum = assemble(x, n) + solve(x, n);
    free(x);
    return sum < 0;
}
";

const SOLVER_FILES: [(&str, &str); 3] =
    [("main.c", MAIN), ("a/part.c", PARTS), ("b/part.c", SOLVER)];

/// Whether a compiler is there, and has what its OpenMP needs.
fn has_openmp(compiler: &str) -> bool {
    let mut command = Command::new(compiler);
    command.args(["-fopenmp", "-x", "c", "-", "-o", "/dev/null"]).stdin(Stdio::piped());
    let Ok(mut child) = command.stderr(Stdio::null()).spawn() else { return false };
    let text = b"#include <omp.h>\nint main(void) { return omp_get_num_threads() - 1; }\n";
    child.stdin.take().unwrap().write_all(text).unwrap();
    child.wait().unwrap().success()
}

/// A folder with a program.
struct Built {
    folder: tempfile::TempDir,
}

impl Built {
    /// Compiles files of these names and texts; `None` where there is no compiler with OpenMP.
    fn new(flags: &[&str], files: &[(&str, &str)]) -> Option<Self> {
        needs::program("gcc", Without::Test).then(|| Self::by("gcc", flags, files))
    }

    /// The same, by each compiler that is there: gcc, and clang with the runtime of LLVM.
    fn each(files: &[(&str, &str)]) -> Vec<(&'static str, Self)> {
        let flags = &["-fopenmp", "-g"];
        let by_gcc = Self::new(flags, files).map(|app| ("gcc", app));
        let clang = ["clang", "clang-14"].into_iter().find(|name| has_openmp(name));
        if clang.is_none() {
            needs::skip(Without::Part, "there is no clang with libomp");
        }
        let by_clang = clang.map(|name| (name, Self::by(name, flags, files)));
        by_gcc.into_iter().chain(by_clang).collect()
    }

    fn by(compiler: &str, flags: &[&str], files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../measure/include");
        let mut compiler = Command::new(compiler);
        compiler.current_dir(folder.path()).arg("-I").arg(include).args(["-O1", "-pthread"]);
        compiler.args(flags).args(["-o", "app"]).args(files.iter().map(|(name, _)| name));
        let output = compiler.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { folder }
    }

    fn solver(flags: &[&str]) -> Option<Self> {
        Self::new(flags, &SOLVER_FILES)
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("sweep.json")
    }

    fn measure(&self, options: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(self.folder.path()).env_remove("CC").arg("measure").args(options);
        command.arg("-o").arg(self.file()).args(["--", "./app"]);
        command.output().unwrap()
    }

    /// What was said, and the file.
    fn measured(&self, options: &[&str]) -> (String, Value) {
        let output = self.measure(options);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        (said, serde_json::from_slice(&fs::read(self.file()).unwrap()).unwrap())
    }
}

/// Paths of regions with the number of their entries.
fn counts(run: &Value) -> Vec<(&str, usize)> {
    let regions = run["regions"].as_object().unwrap().iter();
    regions.map(|(path, entries)| (path.as_str(), entries.as_array().unwrap().len())).collect()
}

const AUTOMATIC: &[&str] = &["--auto-regions", "--cores", "1,2"];

#[test]
fn parallel_regions_are_numbered_by_file_and_line_in_all_runs() {
    for (compiler, app) in Built::each(&SOLVER_FILES) {
        regions_of_the_solver(compiler, &app);
    }
}

fn regions_of_the_solver(compiler: &str, app: &Built) {
    let (said, file) = app.measured(AUTOMATIC);
    assert!(!said.contains("debug information") && !said.contains("no parallel region"), "{said}");
    // Files of the same name are told apart by their folders, and come in the order of their names.
    let expected = [("100003", 1), ("100006", 3), ("7", 1)];
    for run in ["1;1", "2;1"] {
        assert_eq!(counts(&file["data"][run]), expected, "{compiler}, {run}");
    }
    assert_eq!(file["config"]["sweep"]["auto_regions"], true);
    let files = file["config"]["automatic_regions"]["files"].as_array().unwrap();
    let ends = ["a/part.c", "b/part.c"];
    assert_eq!(files.len(), ends.len());
    assert!(files.iter().zip(ends).all(|(file, end)| file.as_str().unwrap().ends_with(end)));
    let rows = rows(&["scaling", app.file().to_str().unwrap(), "--table", "regions"]);
    let shown: Vec<[&str; 3]> = rows
        .iter()
        .map(|row| ["region", "kind", "name"].map(|column| row[column].as_str().unwrap()))
        .collect();
    let expected = [
        ["0", "program", "whole program"],
        ["7", "automatic", "part.c:7"],
        ["100003", "automatic", "part.c:3"],
        ["100006", "automatic", "part.c:6"],
    ];
    assert_eq!(shown, expected);
    assert!(rows[1]["file"].as_str().unwrap().ends_with("a/part.c"));
    assert_eq!((&rows[2]["first_line"], &rows[2]["last_line"]), (&3.into(), &3.into()));
    // A later sweep of the same program numbers them alike.
    fs::remove_file(app.file()).unwrap();
    let (_, again) = app.measured(&["--auto-regions", "--cores", "2"]);
    assert_eq!(counts(&again["data"]["2;1"]), counts(&file["data"]["2;1"]));
}

#[test]
fn a_sweep_goes_on_only_with_what_it_was_begun_with() {
    let Some(app) = Built::solver(&["-fopenmp", "-g"]) else { return };
    app.measured(&["--cores", "1"]);
    let output = app.measure(&["--resume", "--auto-regions", "--cores", "1,2"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(said.contains("automatic regions differ: there no, now yes"), "{said}");
    fs::remove_file(app.file()).unwrap();
    app.measured(&["--auto-regions", "--cores", "1"]);
    let (said, file) = app.measured(&["--resume", "--auto-regions", "--cores", "1,2"]);
    assert_eq!(counts(&file["data"]["1;1"]), counts(&file["data"]["2;1"]), "{said}");
}

#[test]
fn marks_and_parallel_regions_nest_in_each_other_on_all_threads() {
    let text = r#"#include "pascalops.h"
        #include <omp.h>
        static void work(void) { pascal_start(4); usleep(100); pascal_stop(4); }
        int main(void) {
            for (int step = 0; step < 2; step++) {
                pascal_start(1);
                #pragma omp parallel
                {
                    pascal_start(2);
                    pascal_stop(2);
                    /* Started by another thread. */
                    if (omp_get_thread_num() > 0) pascal_stop(1);
                    #pragma omp parallel num_threads(1)
                    pascal_start(3);
                    #pragma omp for
                    for (int i = 0; i < 50; i++)
                        #pragma omp task
                        work();
                }
                pascal_stop(1);
            }
            /* The line of a region that is also the number of a mark. */
            pascal_start(25);
            pascal_stop(25);
            #pragma omp parallel
            pascal_start(4);
            return 0;
        }
    "#;
    for (compiler, app) in Built::each(&[("main.c", text)]) {
        nested_regions(compiler, &app);
    }
}

fn nested_regions(compiler: &str, app: &Built) {
    let (_, file) = app.measured(&["--auto-regions", "--cores", "2"]);
    let run = &file["data"]["2;1"];
    let expected = [
        ("1", 2),
        ("1.7", 2),
        ("1.7.13", 4),
        ("1.7.2", 4),
        // Tasks, most of which are executed when the body has returned.
        ("1.7.4", 100),
        ("25", 1),
        ("50025", 1),
    ];
    assert_eq!(counts(run), expected, "{compiler}");
    let threads = |path: &str| {
        let entries = run["regions"][path].as_array().unwrap().iter();
        let threads: std::collections::BTreeSet<u64> =
            entries.map(|entry| entry[4].as_u64().unwrap()).collect();
        threads.len()
    };
    assert_eq!((threads("1.7"), threads("1.7.2"), threads("1.7.13")), (1, 2, 2));
    assert!(run["regions"]["1.7.2"][0][5].as_str().unwrap().ends_with("main.c"));
}

#[test]
fn programs_that_are_started_without_the_library_record_for_themselves() {
    // The variable that leads marks to the library is inherited, and what it names is not there.
    let text = r#"#include "pascalops.h"
        int main(int argc, char **argv) {
            pascal_start(argc);
            #pragma omp parallel
            usleep(1 + (argv == NULL));
            pascal_stop(argc);
            return argc > 1 ? 0 : system("env -u LD_PRELOAD ./app 2; ./app 2 3");
        }
    "#;
    let Some(app) = Built::new(&["-fopenmp", "-g"], &[("main.c", text)]) else { return };
    let (_, file) = app.measured(&["--auto-regions", "--cores", "1"]);
    let expected = [("1", 1), ("1.4", 1), ("2", 1), ("3", 1), ("3.4", 1)];
    assert_eq!(counts(&file["data"]["1;1"]), expected);
}

#[test]
fn without_debug_information_functions_or_addresses_are_the_names() {
    let Some(app) = Built::solver(&["-fopenmp"]) else { return };
    let (said, file) = app.measured(AUTOMATIC);
    assert!(said.contains("app has no debug information"), "{said}");
    let regions = file["data"]["1;1"]["regions"].as_object().unwrap();
    assert_eq!(regions.keys().collect::<Vec<_>>(), ["1", "2", "3"]);
    let shown = |app: &Built| -> Vec<String> {
        let rows = rows(&["scaling", app.file().to_str().unwrap(), "--table", "regions"]);
        rows.iter().skip(1).map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let names = shown(&app);
    assert_eq!(names, ["assemble._omp_fn.0", "solve._omp_fn.1", "solve._omp_fn.0"]);

    let Some(app) = Built::solver(&["-fopenmp", "-s"]) else { return };
    let (said, file) = app.measured(AUTOMATIC);
    assert!(said.contains("app has no debug information"), "{said}");
    assert_eq!(counts(&file["data"]["1;1"]), counts(&file["data"]["2;1"]));
    let names = shown(&app);
    assert!(names.iter().all(|name| name.starts_with("app+0x")) && names.len() == 3, "{names:?}");
}

/// Threads that end in all the ways that there are, one perhaps before it has begun; with a mark and a
/// parallel region in another.
const THREADS: &str = "#include \"pascalops.h\"
#include <unistd.h>

static void *work(void *data) {
    if (data) pthread_exit(NULL);
    pascal_start(3);
#pragma omp parallel num_threads(2)
    usleep(1000);
    pascal_stop(3);
    return NULL;
}

static void *waits(void *data) {
    for (;;) pause();
    return data;
}

int main(void) {
    pthread_t threads[3];
    pascal_start(2);
    pthread_create(&threads[0], NULL, work, NULL);
    pthread_create(&threads[1], NULL, work, threads);
    pthread_create(&threads[2], NULL, waits, NULL);
    pthread_cancel(threads[2]);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    pascal_stop(2);
    return 0;
}
";

#[test]
fn threads_are_regions_of_the_functions_with_which_they_start() {
    let files = [("threads.c", THREADS)];
    let Some(app) = Built::new(&["-fopenmp", "-g"], &files) else { return };
    let (said, file) = app.measured(&["--auto-regions", "--cores", "1"]);
    assert!(!said.contains("debug information") && !said.contains("no parallel region"), "{said}");
    let run = &file["data"]["1;1"];
    // The thread that OpenMP starts is none of the program's.
    assert_eq!(counts(run), [("13", 1), ("2", 1), ("4", 2), ("4.3", 1), ("4.3.7", 1)]);
    let place = &run["regions"]["4"][0];
    assert_eq!((&place[2], &place[3]), (&4.into(), &4.into()));
    assert!(place[5].as_str().unwrap().ends_with("threads.c"), "{place}");
    let threads: Vec<&Value> = (0..2).map(|at| &run["regions"]["4"][at][4]).collect();
    assert_ne!(threads[0], threads[1]);
    // Without debug information, the names of the functions are left.
    let Some(app) = Built::new(&["-fopenmp"], &files) else { return };
    let (said, _) = app.measured(&["--auto-regions", "--cores", "1"]);
    assert!(said.contains("debug information"), "{said}");
    let rows = rows(&["scaling", app.file().to_str().unwrap(), "--table", "regions"]);
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert!(names.contains(&"work") && names.contains(&"waits"), "{names:?}");
}

#[test]
fn a_program_without_parallel_regions_is_said_to_have_none() {
    let text = "int main(void) { return 0; }";
    let Some(app) = Built::new(&[], &[("main.c", text)]) else { return };
    let (said, file) = app.measured(AUTOMATIC);
    assert!(said.contains("warning: no parallel regions found"), "{said}");
    assert!(file["data"]["1;1"]["regions"].is_null());
    assert_eq!(file["config"]["auto_instrumentation"], true);
}

#[test]
fn a_machine_without_a_compiler_is_told_what_it_lacks() {
    let Some(app) = Built::new(&[], &[("main.c", "int main(void) { return 0; }")]) else { return };
    for (compiler, expected) in [
        ("no-such-compiler", "no-such-compiler cannot be run"),
        ("false", "false does not compile"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(app.folder.path()).env("CC", compiler);
        command.args(["measure", "--auto-regions", "--cores", "1", "-o", "x.json", "--", "./app"]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(expected), "{said}");
        // Nothing was run, and nothing was written.
        assert!(!app.folder.path().join("x.json").exists());
    }
}
