//! Times of regions inside measured programs: each program's structure is known, so that what is in
//! the file can be compared with it.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{printed, rows};
use parallax_testkit::needs::{self, Without};
use serde_json::Value;

/// A folder with a program that was compiled against the header.
struct Marked {
    folder: tempfile::TempDir,
}

impl Marked {
    /// `None` where there is no compiler.
    fn new(compiler: &str, flags: &[&str], text: &str) -> Option<Self> {
        if !needs::program(compiler, Without::Test) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let name = if compiler == "c++" { "app.cpp" } else { "app.c" };
        let source = folder.path().join(name);
        fs::write(&source, text).unwrap();
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../measure/include");
        let output = Command::new(compiler)
            .args(flags)
            .args(["-Wall", "-Wextra", "-Wshadow", "-Werror", "-pthread", "-I"])
            .arg(include)
            .arg("-o")
            .arg(folder.path().join("app"))
            .arg(source)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(Self { folder })
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("sweep.json")
    }

    fn measure(&self, options: &[&str], program: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        command.current_dir(self.folder.path()).arg("measure").args(options);
        command.arg("-o").arg(self.file()).arg("--").args(program);
        command.output().unwrap()
    }

    /// The runs of the file, and what it says of their regions.
    fn runs(&self, options: &[&str], program: &[&str]) -> (Value, Value) {
        let output = self.measure(options, program);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let file: Value = serde_json::from_slice(&fs::read(self.file()).unwrap()).unwrap();
        (file["data"].clone(), file["config"]["data_descriptor"]["extras"].clone())
    }
}

/// Paths of regions with the number of their entries.
fn counts(run: &Value) -> Vec<(&str, usize)> {
    let regions = run["regions"].as_object().unwrap().iter();
    regions.map(|(path, entries)| (path.as_str(), entries.as_array().unwrap().len())).collect()
}

#[test]
fn regions_of_threads_children_and_wrappers_are_in_the_file() {
    let text = r#"
        #include "pascalops.h"
        #include <sys/wait.h>
        static void *work(void *what) {
            (void)what;
            pascal_start(5);
            pascal_stop(5);
            return NULL;
        }
        int main(void) {
            pascal_start(1);
            for (int i = 0; i < 3; i++) {
                pascal_start(2);
                pascal_stop(2);
            }
            pthread_t threads[2];
            for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
            for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
            if (fork() == 0) {
                pascal_start(-7);
                pascal_stop(-7);
                /* Not its own. */
                pascal_stop(1);
                _exit(0);
            }
            wait(NULL);
            pascal_stop(1);
            /* Never stopped, and stopped without a start. */
            pascal_start(3);
            pascal_stop(4);
            return 0;
        }
    "#;
    for flags in [["-std=c11", "-O0"], ["-std=gnu11", "-O3"]] {
        if Marked::new(
            "cc",
            &flags,
            "#include \"pascalops.h\"\nint main(void) { pascal_start(1); }",
        )
        .is_none()
        {
            return;
        }
    }
    let Some(app) = Marked::new("cc", &["-std=gnu11", "-O2"], text) else { return };
    // A shell between the tool and the program does not matter.
    let (data, extras) = app.runs(&["--cores", "1"], &["sh", "-c", "./app; exit $?"]);
    let run = &data["1;1"];
    assert_eq!(counts(run), [("-7", 1), ("1", 1), ("1.2", 3), ("5", 2)]);
    assert_eq!(extras["regions"]["values"].as_array().unwrap().len(), 6);
    let [begin, end] = ["start_time", "stop_time"].map(|name| run[name].as_f64().unwrap());
    let whole = &run["regions"]["1"][0];
    let number = |entry: &Value, at: usize| entry[at].as_f64().unwrap();
    for entries in run["regions"].as_object().unwrap().values() {
        for entry in entries.as_array().unwrap() {
            assert!(number(entry, 0) <= number(entry, 1), "{entry}");
            // Clocks of the run and of its regions are set by the wall clock.
            assert!(number(entry, 0) >= begin - 1.0 && number(entry, 1) <= end + 1.0, "{entry}");
            assert!(number(whole, 0) <= number(entry, 0) && number(entry, 1) <= number(whole, 1));
            assert!(entry[5].as_str().unwrap().ends_with("app.c"), "{entry}");
        }
    }
    let threads: Vec<u64> = ["1", "5"]
        .iter()
        .flat_map(|path| run["regions"][path].as_array().unwrap())
        .map(|entry| entry[4].as_u64().unwrap())
        .collect();
    assert!(threads[0] != threads[1] && threads[1] != threads[2] && threads[0] != threads[2]);
    assert_eq!((whole[2].as_u64(), whole[3].as_u64()), (Some(11), Some(27)));
    // Without the tool the marks do nothing.
    assert!(Command::new(app.folder.path().join("app")).status().unwrap().success());
}

#[test]
fn threads_that_start_their_first_regions_together_are_all_recorded() {
    let text = r#"
        #include "pascalops.h"
        static pthread_barrier_t together;
        static void *work(void *what) {
            pthread_barrier_wait(&together);
            pascal_start(1);
            pascal_stop(1);
            return what;
        }
        int main(void) {
            pthread_t threads[8];
            pthread_barrier_init(&together, NULL, 8);
            for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, NULL);
            for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
            return 0;
        }
    "#;
    let Some(app) = Marked::new("cc", &["-std=gnu11", "-O2"], text) else { return };
    let (data, _) = app.runs(&["--cores", "1", "--reps", "10"], &["./app"]);
    for run in data.as_object().unwrap().values() {
        assert_eq!(counts(run), [("1", 8)]);
    }
}

#[test]
fn a_region_that_does_not_scale_is_found() {
    // Sleeping takes its time on any machine, however many processors there are.
    let text = r#"
        #include "pascalops.h"
        int main(void) {
            long cores = atol(getenv("OMP_NUM_THREADS"));
            pascal_start(1);
            pascal_start(1);
            usleep((useconds_t)(400000 / cores));
            pascal_stop(1);
            pascal_start(2);
            usleep(200000);
            pascal_stop(2);
            pascal_stop(1);
            return 0;
        }
    "#;
    let Some(app) = Marked::new("cc", &["-std=gnu11", "-O2"], text) else { return };
    let (data, _) = app.runs(&["--cores", "1,2,4"], &["./app"]);
    assert_eq!(counts(&data["4;1"]), [("1", 1), ("1.1", 1), ("1.2", 1)]);
    let file = app.file();
    let file = file.to_str().unwrap();
    let maps = rows(&["scaling", file, "--table", "maps", "--region", "1.2"]);
    assert_eq!(maps.len(), 3, "{maps:?}");
    let text = printed(&["scaling", file, "--color", "never", "--width", "200"]);
    let most = text.lines().find(|line| line.contains("of the program's overhead")).unwrap();
    assert!(most.contains("region 1.2"), "{text}");
}

#[test]
fn cpp_leaves_regions_when_an_exception_passes() {
    let text = r#"
        #include "pascalops.h"
        #include <thread>
        static void step(int number) {
            pascal::region inside(2);
            if (number % 2) throw number;
        }
        int main() {
            pascal::region whole(1);
            for (int i = 0; i < 4; i++) {
                try { step(i); } catch (int) {}
            }
            std::thread([] { pascal::region other(3); }).join();
        }
    "#;
    let Some(app) = Marked::new("c++", &["-std=c++17", "-O2"], text) else { return };
    let (data, _) = app.runs(&["--cores", "1"], &["./app"]);
    assert_eq!(counts(&data["1;1"]), [("1", 1), ("1.2", 4), ("3", 1)]);
    let off = Marked::new("c++", &["-std=c++17", "-DPASCAL_OFF", "-Wno-unused"], text).unwrap();
    let (data, extras) = off.runs(&["--cores", "1"], &["./app"]);
    assert!(data["1;1"]["regions"].is_null() && extras.is_null());
}

#[test]
fn a_program_that_is_killed_or_has_no_room_keeps_what_it_recorded() {
    let text = r#"
        #include "pascalops.h"
        #include <signal.h>
        int main(int argc, char **argv) {
            (void)argv;
            for (int i = 0; i < (argc > 1 ? 100000 : 50); i++) {
                pascal_start(1);
                pascal_stop(1);
            }
            pascal_start(2);
            if (argc == 1) raise(SIGKILL);
            return 0;
        }
    "#;
    let Some(app) = Marked::new("cc", &["-std=gnu11", "-O2"], text) else { return };
    let output = app.measure(&["--cores", "1"], &["./app"]);
    assert_eq!(output.status.code(), Some(1));
    let file: Value = serde_json::from_slice(&fs::read(app.file()).unwrap()).unwrap();
    assert_eq!(counts(&file["data"]["1;1"]), [("1", 50)]);
    fs::remove_file(app.file()).unwrap();

    let options = ["--cores", "1", "--env", "PARALLAX_LIMIT_MB=2"];
    let output = app.measure(&options, &["./app", "many"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("1 of 1 runs ran out of memory for the times of their regions"),
        "{said}"
    );
    let file: Value = serde_json::from_slice(&fs::read(app.file()).unwrap()).unwrap();
    let kept = counts(&file["data"]["1;1"])[0].1;
    assert!(kept > 10_000 && kept < 100_000, "{kept}");
    assert_eq!(file["data"]["1;1"]["regions_cut"], true);
}

/// Marks of both kinds of integers, with and without a place, and on two threads.
const FORTRAN: &str = "program app
    use pascalops
    use, intrinsic :: iso_fortran_env, only: int64
    implicit none
    integer :: i
    call pascal_start(1, __LINE__, __FILE__)
    do i = 1, 3
        call pascal_start(2)
        call pascal_stop(2)
    end do
    call pascal_stop(1, __LINE__, __FILE__)
!$omp parallel num_threads(2)
    call pascal_start(7_int64)
    call pascal_stop(7_int64)
!$omp end parallel
end program app
";

#[test]
fn fortran_programs_mark_regions_with_the_module() {
    for compiler in ["cc", "gfortran"] {
        if !needs::program(compiler, Without::Test) {
            return;
        }
    }
    let app = Marked { folder: tempfile::tempdir().unwrap() };
    let folder = app.folder.path();
    fs::write(folder.join("app.F90"), FORTRAN).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../measure/include");
    let compiled = |compiler: &str, words: &[&str], file: &str| {
        let mut command = Command::new(compiler);
        command.current_dir(folder).args(["-Wall", "-Wextra", "-Werror"]).args(words);
        let output = command.arg(include.join(file)).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    compiled("cc", &["-O2", "-pthread", "-c"], "pascalops_fortran.c");
    compiled("gfortran", &["-O2", "-std=f2008", "-c"], "pascalops.f90");
    let mut linker = Command::new("gfortran");
    linker.current_dir(folder).args(["-O2", "-std=f2008", "-fopenmp", "-pthread", "-o", "app"]);
    linker.args(["app.F90", "pascalops.o", "pascalops_fortran.o"]);
    assert!(linker.status().unwrap().success());
    let (data, _) = app.runs(&["--cores", "1"], &["./app"]);
    let run = &data["1;1"];
    assert_eq!(counts(run), [("1", 1), ("1.2", 3), ("7", 2)]);
    let place = |region: &str| [2, 3, 5].map(|at| run["regions"][region][0][at].to_string());
    assert_eq!(place("1"), ["6", "11", "\"app.F90\""]);
    assert_eq!(place("1.2"), ["0", "0", "\"\""]);
    let threads: Vec<&Value> = (0..2).map(|at| &run["regions"]["7"][at][4]).collect();
    assert_ne!(threads[0], threads[1]);
}

#[test]
fn parallel_directives_get_marks_and_are_regions_then() {
    let text = r#"
        #include <stdio.h>
        static double a[1000];
        int main(int argc, char **argv) {
            (void)argv;
            if (argc > 0)
                #pragma omp parallel for
                for (int i = 0; i < 1000; i++)
                    a[i] = i;
            for (int round = 0; round < 3; round++) {
                #pragma omp parallel
                {
                    #pragma omp for
                    for (int i = 0; i < 1000; i++) a[i] += 1;
                }
            }
            return a[3] != 6;
        }
    "#;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plain.c");
    fs::write(&file, text).unwrap();
    let mark = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
        let output = command.arg("mark").arg(&file).args(options).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    let (marked, said) = mark(&[]);
    assert!(said.contains("regions 1 (line 7), 2 (line 11)"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let Some(program) = Marked::new("gcc", &["-fopenmp", "-O1"], &marked) else { return };
    let (runs, _) = program.runs(&["--cores", "2", "--reps", "1"], &["./app"]);
    assert_eq!(counts(&runs["2;1"]), [("1", 1), ("2", 3)]);
    // In the file itself; a second time there is nothing to do.
    assert_eq!(mark(&["--write"]).0, "");
    assert_eq!(fs::read_to_string(&file).unwrap(), marked);
    assert!(mark(&["--write"]).1.contains("no parallel directives without marks"));
    assert_eq!(fs::read_to_string(&file).unwrap(), marked);
}
