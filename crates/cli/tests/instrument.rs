//! `instrument`: programs that record themselves without marks.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helper may fail the test")]

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{answer, rows, run};
use parallax_testkit::needs::{self, Without};

/// Fills an array in two calls, and adds it up in two threads. With `RACE`, nothing orders the
/// updates of the sum.
const SUMS: &str = r#"
#include <pthread.h>
#include "parallax.h"
enum { SIZE = 400 };
static int values[SIZE];
static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static void fill(int from, int to) {
    PARALLAX_FUNCTION();
    for (int i = from; i < to; i++) {
        PARALLAX_WRITE(values[i]);
        values[i] = i;
    }
}
__attribute__((noinline)) static int sum(int from, int to) {
    PARALLAX_FUNCTION();
    int sum = 0;
    for (int i = from; i < to; i++) {
        PARALLAX_READ(values[i]);
        sum += values[i];
    }
    return sum;
}
static void *worker(void *half) {
    PARALLAX_FUNCTION();
    int from = half ? SIZE / 2 : 0, part = sum(from, from + SIZE / 2);
#ifndef RACE
    pthread_mutex_lock(&lock);
    PARALLAX_LOCK_ACQUIRED(&lock);
#endif
    PARALLAX_UPDATE(total);
    total += part;
#ifndef RACE
    PARALLAX_LOCK_RELEASES(&lock);
    pthread_mutex_unlock(&lock);
#endif
    return 0;
}
int main(void) {
    PARALLAX_FUNCTION();
    fill(0, SIZE / 2);
    fill(SIZE / 2, SIZE);
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) {
        pthread_create(&threads[i], 0, worker, (void *)i);
        PARALLAX_THREAD_STARTED(threads[i]);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], 0);
        PARALLAX_THREAD_JOINED(threads[i]);
    }
}
"#;

fn header() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../measure/include");
    format!("-I{}", folder.display())
}

/// A folder for programs and recordings, and the compilers that are there.
fn workplace() -> (tempfile::TempDir, Vec<&'static str>) {
    let is_there = |name: &&str| needs::program(name, Without::Part);
    let clang = ["clang", "clang-14"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    let compilers = ["gcc"].into_iter().chain(clang.or(Some("clang"))).filter(is_there).collect();
    (tempfile::tempdir().unwrap(), compilers)
}

/// Compiles and runs a program; its recording.
fn recording(folder: &Path, name: &str, source: &str, compiler: &[&str]) -> String {
    let (text, program) = (folder.join(name), folder.join(format!("{name}.out")));
    std::fs::write(&text, source).unwrap();
    let output = Command::new(compiler[0])
        .args(&compiler[1..])
        .arg(header())
        .args([&text, Path::new("-o"), &program])
        .args((!compiler.iter().any(|word| word.starts_with("-O"))).then_some("-O1"))
        .arg("-pthread")
        .env("PARALLAX_CACHE", folder.join("cache"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let recording = folder.join(format!("{name}.plxm"));
    let output = Command::new(&program).env("PARALLAX_OUT", &recording).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    recording.to_str().unwrap().to_owned()
}

/// The same compiler behind `parallax instrument`.
fn instrumented<'a>(compiler: &[&'a str]) -> Vec<&'a str> {
    [&[env!("CARGO_BIN_EXE_parallax"), "instrument"], compiler].concat()
}

/// How often each thread calls each function.
fn calls(recording: &str) -> BTreeSet<(String, String, u64)> {
    let text = |cell: &serde_json::Value| cell.as_str().unwrap().to_owned();
    rows(&["query", recording, "-m", "CALLS"])
        .iter()
        .map(|row| {
            (text(&row["location"]), text(&row["context"]), row["value"].as_f64().unwrap() as u64)
        })
        .collect()
}

/// Reads and writes of a variable, and how many threads do them.
fn accesses(recording: &str, name: &str) -> [serde_json::Value; 3] {
    let rows = rows(&["references", recording]);
    let row = rows.iter().find(|row| row["reference"] == name).unwrap();
    ["reads", "writes", "threads"].map(|column| row[column].clone())
}

#[test]
fn a_program_without_marks_has_the_calls_and_accesses_of_the_one_with_marks() {
    let (folder, compilers) = workplace();
    for compiler in compilers {
        let of = |name: &str, words: &[&str]| {
            recording(folder.path(), &format!("{name}.c"), SUMS, words)
        };
        let marked = of("marked", &[compiler]);
        let found = of("instrumented", &instrumented(&[compiler]));
        assert_eq!(calls(&found), calls(&marked), "{compiler}");
        assert_eq!(calls(&found).iter().map(|row| row.2).sum::<u64>(), 2 * 7);
        assert_eq!(accesses(&found, "values"), accesses(&marked, "values"), "{compiler}");
        assert_eq!(accesses(&found, "values")[..2], [400, 400]);
        assert_eq!(accesses(&found, "total"), accesses(&marked, "total"), "{compiler}");
        let lines = rows(&["tree", &found]);
        let of_sum = lines.iter().find(|row| row["name"] == "sum").unwrap();
        assert_eq!(of_sum["place"], "instrumented.c:15", "{of_sum:?}");
        let loops = ["loop at instrumented.c:10: 2 x 200", "loop at instrumented.c:18: 2 x 200"];
        assert!(loops_of(&found).is_superset(&loops.map(str::to_owned).into()), "{compiler}");
        let info = answer(&["info", &found]);
        assert_eq!(info["activations"]["threads"], 3);
    }
}

/// Each loop with its executions, and the iterations of one.
fn loops_of(recording: &str) -> BTreeSet<String> {
    let rows = rows(&["loops", recording]);
    let words = rows.iter().map(|row| {
        assert_eq!(row["iterations_min"], row["iterations_max"], "{row:?}");
        format!(
            "{}: {} x {}",
            row["loop"].as_str().unwrap(),
            row["executions"],
            row["iterations_max"]
        )
    });
    words.collect()
}

/// Loops of every form, each with its line, how often it is entered and how often it goes round.
/// `total`, `list` and `grid` make some of them depend on what came before.
const LOOPS: &str = r#"
enum { SIZE = 40 };
double grid[SIZE][SIZE], next[SIZE][SIZE];
static volatile int total;
static struct node { struct node *next; int value; } nodes[SIZE];
static inline double middle(const double *row, int at) {
    double sum = 0;
    for (int i = -1; i < 2; i++)
        sum += row[at + i];
    return sum / 3;
}
__attribute__((noinline)) static void smooth(void) {
    for (int i = 1; i < SIZE - 1; i++)
        for (int j = 1; j < SIZE - 1; j++) {
            if (i == j)
                continue;
            next[i][j] = middle(grid[i], j);
        }
}
__attribute__((noinline)) static void sweep(void) {
    for (int i = 1; i < SIZE; i++)
        grid[i][0] = grid[i - 1][0] + 1;
}
__attribute__((noinline)) static int find(int value) {
    struct node *node = nodes;
    while (node->value != value)
        node = node->next;
    return node != 0;
}
__attribute__((noinline)) static void count(void) {
    int left = SIZE;
    do {
        total++;
    } while (--left > 0);
    for (int i = 0; i < total - SIZE; i++)
        total--;
}
int main(void) {
    for (int i = 0; i < SIZE; i++) {
        nodes[i].next = &nodes[(i + 1) % SIZE];
        nodes[i].value = i;
    }
    for (int step = 0; step < 5; step++) {
        smooth();
        sweep();
    }
    count();
    return find(SIZE - 1) - 1;
}
"#;

#[test]
fn loops_have_their_lines_and_iterations_however_they_are_compiled() {
    let (folder, compilers) = workplace();
    for compiler in compilers {
        for level in ["-O0", "-O1"] {
            let words = instrumented(&[compiler, level]);
            let found = recording(folder.path(), "loops.c", LOOPS, &words);
            let loops = loops_of(&found);
            let planted = [
                "loop at loops.c:13: 5 x 38",
                "loop at loops.c:14: 190 x 38",
                "loop at loops.c:21: 5 x 39",
                "loop at loops.c:26: 1 x 39",
                "loop at loops.c:33: 1 x 40",
                "loop at loops.c:39: 1 x 40",
                "loop at loops.c:43: 1 x 5",
            ];
            for planted in planted {
                assert!(loops.contains(planted), "{compiler} {level} {planted}: {loops:#?}");
            }
            let advice = rows(&["advise", &found]);
            let verdict = |name: &str| {
                let found = advice.iter().find(|row| row["loop"].as_str().unwrap().ends_with(name));
                found.unwrap()["verdict"].as_str().unwrap().to_owned()
            };
            assert_eq!(verdict("loops.c:21"), "dependent");
            assert_eq!(verdict("loops.c:13"), "independent in memory");
            assert_eq!(verdict("loops.c:14"), "independent in memory");
        }
    }
}

#[test]
fn the_planted_race_is_found_and_none_where_a_lock_orders() {
    let (folder, compilers) = workplace();
    for compiler in compilers {
        let racy = format!("#define RACE\n{SUMS}");
        let words = instrumented(&[compiler]);
        let found =
            rows(&["advise", &recording(folder.path(), "racy.c", &racy, &words), "--by", "race"]);
        assert!(!found.is_empty(), "{compiler}");
        assert!(found.iter().all(|row| row["reference"] == "total"), "{found:?}");
        let ordered = recording(folder.path(), "ordered.c", SUMS, &words);
        assert!(rows(&["advise", &ordered, "--by", "race"]).is_empty(), "{compiler}");
    }
}

/// Each of these orders threads by other means than a lock, and nothing else does.
/// Everything of OpenMP that orders threads. With `RACE`, nothing orders the updates of `racy`.
const OPENMP: &str = r#"
#include <omp.h>
enum { SIZE = 200 };
static double a[SIZE], b[SIZE];
static int racy, safe, locked, total, count, ordered, chunks, parts[4], handed, from_task;
static omp_lock_t lock;
static int tree(int n) {
    int x = 0, y = 0;
    if (n < 2)
        return n;
#pragma omp task shared(x)
    x = tree(n - 1);
#pragma omp task shared(y)
    y = tree(n - 2);
#pragma omp taskwait
    return x + y;
}
int main(void) {
    int result = 0, before = 0, after = 0;
    omp_init_lock(&lock);
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(3)
        {
            int own = 0;
#pragma omp for
            for (int i = 0; i < SIZE; i++)
                a[i] = i;
#pragma omp for schedule(dynamic, 10)
            for (int i = 0; i < SIZE; i++)
                b[i] = a[SIZE - 1 - i];
#pragma omp critical
            safe++;
#pragma omp critical(other)
            chunks++;
            omp_set_lock(&lock);
            locked++;
            omp_unset_lock(&lock);
#ifdef RACE
            racy++;
#endif
#pragma omp for reduction(+ : total)
            for (int i = 0; i < SIZE; i++)
                total += b[i];
#pragma omp for ordered
            for (int i = 0; i < 12; i++) {
#pragma omp ordered
                ordered += i;
            }
#pragma omp sections
            {
#pragma omp section
                parts[0] = 1;
#pragma omp section
                parts[1] = 2;
            }
#pragma omp single copyprivate(own)
            own = parts[0] + parts[1];
#pragma omp single
            result = tree(5);
#pragma omp atomic
            count += result + own;
#pragma omp single
            {
#pragma omp task depend(out : handed)
                handed = 3;
#pragma omp task depend(in : handed)
                from_task = handed;
#pragma omp taskloop
                for (int i = 0; i < SIZE; i++)
                    a[i] = b[i] + 1;
            }
#pragma omp master
            before = from_task;
        }
#pragma omp parallel for num_threads(2) schedule(guided)
        for (int i = 0; i < SIZE; i++)
            b[i] = a[i];
        after = before + b[0] > 0;
    }
    return !(safe == 9 && locked == 9 && result == 5 && ordered == 198 && after == 1 && count == 72);
}
"#;

#[test]
fn what_orders_threads_in_openmp_makes_no_race_and_the_planted_one_is_found() {
    let (folder, _) = workplace();
    for (name, option) in [("ordered", "-DORDERED"), ("racy", "-DRACE")] {
        let words = instrumented(&["gcc", "-fopenmp", option]);
        let found = recording(folder.path(), &format!("{name}.c"), OPENMP, &words);
        let races = rows(&["advise", &found, "--by", "race"]);
        let names: BTreeSet<&str> =
            races.iter().map(|row| row["reference"].as_str().unwrap()).collect();
        let planted = if option == "-DRACE" { BTreeSet::from(["racy"]) } else { BTreeSet::new() };
        assert_eq!(names, planted, "{races:#?}");
        // Of the main thread, and of the threads of the library.
        let tree = rows(&["tree", &found]);
        let regions = tree.iter().filter(|row| row["name"] == "parallel region");
        assert_eq!(regions.count(), 2, "{tree:#?}");
    }
}

#[test]
fn what_orders_threads_in_cpp_makes_no_race() {
    let (folder, compilers) = workplace();
    let source = r"
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
static std::mutex mutex;
static std::condition_variable filled;
static std::queue<int *> queue;
static std::atomic<bool> is_ready{false};
static long sum, flag;
static void consume() {
    for (int i = 0; i < 50; i++) {
        std::unique_lock<std::mutex> lock(mutex);
        filled.wait(lock, [] { return !queue.empty(); });
        int *item = queue.front();
        queue.pop();
        lock.unlock();
        sum += *item;
        delete item;
    }
    while (!is_ready.load()) std::this_thread::yield();
    flag++;
}
int main() {
    std::thread consumer(consume);
    for (int i = 0; i < 50; i++) {
        int *item = new int(i);
        std::lock_guard<std::mutex> lock(mutex);
        queue.push(item);
        filled.notify_one();
    }
    flag = 1;
    is_ready = true;
    consumer.join();
    return sum == 1225 && flag == 2 ? 0 : 1;
}
";
    for compiler in compilers {
        let cpp = compiler.replace("gcc", "g++").replace("clang", "clang++");
        if !needs::program(&cpp, Without::Part) {
            continue;
        }
        let found = recording(folder.path(), "queue.cc", source, &instrumented(&[&cpp]));
        let races = rows(&["advise", &found, "--by", "race"]);
        assert!(races.is_empty(), "{cpp}: {races:?}");
        let [reads, writes, threads, ..] = accesses(&found, "sum");
        assert_eq!((reads, writes, threads), (51.into(), 50.into(), 2.into()), "{cpp}");
        let without = recording(folder.path(), "plain.cc", &source.replace("is_ready = true", "is_ready.exchange(true)").replace("std::atomic<bool> is_ready{false}", "volatile bool plain; static struct { bool load() { return plain; } void exchange(bool to) { plain = to; } } is_ready"), &instrumented(&[&cpp]));
        let races = rows(&["advise", &without, "--by", "race"]);
        assert!(races.iter().any(|row| row["reference"] == "flag"), "{cpp}: {races:?}");
    }
}

#[test]
fn a_program_that_was_killed_gets_its_names_later() {
    let (folder, compilers) = workplace();
    if !compilers.contains(&"gcc") {
        return;
    }
    let source = "#include <signal.h>\nstatic int steps;\n\
                  __attribute__((noinline)) static void step(void) { steps++; }\n\
                  int main(void) { step(); raise(SIGKILL); }\n";
    let text = folder.path().join("killed.c");
    std::fs::write(&text, source).unwrap();
    let program = folder.path().join("killed");
    let output = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(["instrument", "gcc", "-O1"])
        .args([&text, Path::new("-o"), &program])
        .env("PARALLAX_CACHE", folder.path().join("cache"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let recording: PathBuf = folder.path().join("killed.plxm");
    assert!(
        !Command::new(&program).env("PARALLAX_OUT", &recording).output().unwrap().status.success()
    );
    let name = recording.to_str().unwrap();
    let kinds = |name: &str| answer(&["info", name])["issue_list"].to_string();
    assert!(kinds(name).contains("addresses-unnamed"), "{}", kinds(name));
    assert!(run(&["instrument", "--names", name]).status.success());
    assert!(!kinds(name).contains("addresses-unnamed"), "{}", kinds(name));
    let names: Vec<String> = calls(name).into_iter().map(|row| row.1).collect();
    assert!(names.iter().any(|name| name == "step"), "{names:?}");
    // A second time there is nothing to do.
    let before = std::fs::read(&recording).unwrap();
    assert!(run(&["instrument", "--names", name]).status.success());
    assert_eq!(std::fs::read(&recording).unwrap(), before);
}

#[test]
fn what_cannot_be_recorded_is_refused_and_the_status_is_that_of_the_compiler() {
    let cache = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_parallax"))
            .arg("instrument")
            .args(arguments)
            .env("PARALLAX_CACHE", cache.path())
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    for clang in ["clang", "clang-14"] {
        if Command::new(clang).arg("--version").output().is_ok() {
            let (status, said) = refused(&[clang, "-fopenmp", "a.c"]);
            assert!(status == 1 && said.contains("OpenMP"), "{status} {said}");
        }
    }
    let (status, said) = refused(&["no-such-compiler", "a.c"]);
    assert!(status == 1 && said.contains("cannot run no-such-compiler"), "{status} {said}");
    let (status, said) = refused(&["cat", "-c", "a.c"]);
    assert!(status == 1 && said.contains("neither gcc nor clang"), "{status} {said}");
    let (status, _) = refused(&["--names", "no-such-file.plxm"]);
    assert_eq!(status, 1);
    if needs::program("gcc", Without::Part) {
        let (status, said) = refused(&["gcc", "-c", "no-such-source.c"]);
        assert!(status == 1 && said.contains("no-such-source.c"), "{status} {said}");
    }
}
