//! `parallax-benches regions`: what a mark of `pascalops.h` costs, and what marks cost a kernel; the
//! same of parallel regions that `parallax_omp.c` records without marks.
//!
//! The program is compiled with the C compiler of the machine. It marks an empty region, with and
//! without recording, and a kernel that enters 100,000 regions a second, beside itself without marks.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::machine;

/// The first word of this benchmark's command line.
pub(crate) const COMMAND: &str = "regions";

/// Runs of each kind; the fastest counts.
const RUNS: usize = 9;

const PROGRAM: &str = r#"
#include "pascalops.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}
static __attribute__((noinline)) unsigned long long steps(long count, unsigned long long x) {
    for (long i = 0; i < count; i++) {
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        x ^= x >> 29;
    }
    return x;
}
int main(int argc, char **argv) {
    const long marks = atol(argv[1]), parts = atol(argv[2]), length = argc > 3 ? atol(argv[3]) : 0;
    double begin = now();
    for (long i = 0; i < marks; i++) {
        pascal_start(1);
        pascal_stop(1);
    }
    const double of_marks = now() - begin;
    unsigned long long sum = 1;
    begin = now();
    for (long i = 0; i < parts; i++) {
        pascal_start(2);
        sum = steps(length, sum);
        pascal_stop(2);
    }
    printf("%f %f %d\n", marks ? of_marks / (double)marks / 2 : 0, now() - begin, sum == 42);
    return 0;
}
"#;

const PARALLEL: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}
int main(int argc, char **argv) {
    const long empty = atol(argv[1]), parts = atol(argv[2]), length = argc > 3 ? atol(argv[3]) : 0;
    unsigned long long sum = 1;
    double begin = now();
    for (long i = 0; i < empty; i++) {
#pragma omp parallel reduction(+ : sum)
        sum += 1;
    }
    const double of_empty = now() - begin;
    begin = now();
    for (long i = 0; i < parts; i++) {
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (int part = 0; part < 4; part++) {
            unsigned long long x = (unsigned long long)part;
            for (long k = 0; k < length / 4; k++) {
                x = x * 6364136223846793005ULL + 1442695040888963407ULL;
                x ^= x >> 29;
            }
            sum += x;
        }
    }
    printf("%f %f %d\n", empty ? of_empty / (double)empty : 0, now() - begin, sum == 42);
    return 0;
}
"#;

/// Measures and prints.
pub(crate) fn answer(_words: &[String]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let build = |name: &str, flags: &[&str]| -> Result<()> {
        let source = folder.path().join("marks.c");
        std::fs::write(&source, PROGRAM)?;
        let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/measure/include");
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-pthread", "-I"]).arg(include).args(flags);
        compiler.arg("-o").arg(folder.path().join(name)).arg(source);
        let status = compiler.status().context("no C compiler")?;
        if status.success() { Ok(()) } else { bail!("the program does not compile") }
    };
    build("marked", &[])?;
    build("plain", &["-DPASCAL_OFF"])?;

    println!("{}\n", machine::describe());
    let marks =
        |records: bool| fastest(|| Ok(run(folder.path(), "marked", records, &["4000000", "0"])?.0));
    println!("a mark that is recorded      {:6.1} ns", marks(true)?);
    println!("a mark without recording     {:6.1} ns", marks(false)?);

    // Nearly ten microseconds of work in each region.
    let kernel = ["0", "50000", "5600"];
    let (plain, marked) = in_turn(|is_marked| {
        let program = if is_marked { "marked" } else { "plain" };
        Ok(run(folder.path(), program, is_marked, &kernel)?.1 / 1e6)
    })?;
    let per_second = 50_000.0 / (marked / 1e3);
    println!("kernel without marks         {plain:6.1} ms");
    println!("kernel with marks            {marked:6.1} ms, {per_second:.0} regions a second");
    println!("overhead                     {:6.2} %\n", 100.0 * (marked / plain - 1.0));
    parallel(folder.path())
}

/// Parallel regions of gcc's OpenMP, with the library and without it in turn.
fn parallel(folder: &Path) -> Result<()> {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/measure/include");
    std::fs::write(folder.join("parallel.c"), PARALLEL)?;
    let compiled = |words: &[&str], source: &Path| -> Result<()> {
        let mut compiler = Command::new("cc");
        compiler.current_dir(folder).args(["-O2", "-pthread"]).args(words).arg(source);
        if compiler.status()?.success() { Ok(()) } else { bail!("{words:?} does not compile") }
    };
    compiled(&["-fopenmp", "-o", "parallel"], Path::new("parallel.c"))?;
    let flags = ["-shared", "-fPIC", "-fvisibility=hidden", "-ftls-model=initial-exec"];
    let words = [&flags[..], &["-o", "parallax_omp.so"]].concat();
    compiled(&words, &include.join("parallax_omp.c"))?;
    let library = folder.join("parallax_omp.so");
    let once = |is_loaded: bool, threads: &str, words: &[&str]| {
        let regions = tempfile::tempdir()?;
        let mut command = Command::new(folder.join("parallel"));
        command.args(words).env("OMP_NUM_THREADS", threads).env_remove("PARALLAX_REGIONS");
        if is_loaded {
            command.env("LD_PRELOAD", &library).env("PARALLAX_REGIONS", regions.path());
        }
        numbers(&mut command)
    };
    for threads in ["1", "2"] {
        let empty = in_turn(|is_loaded| Ok(once(is_loaded, threads, &["50000", "0"])?.0))?;
        let kernel = ["0", "5000", "20000"];
        let kernel = in_turn(|is_loaded| Ok(once(is_loaded, threads, &kernel)?.1 / 1e6))?;
        println!("parallel regions of {threads} threads:");
        println!("an empty one                 {:6.1} ns, recorded {:.1} ns", empty.0, empty.1);
        let per_second = 5_000.0 / (kernel.1 / 1e3);
        println!("kernel                       {:6.1} ms", kernel.0);
        println!("kernel, recorded             {:6.1} ms, {per_second:.0} a second", kernel.1);
        println!("overhead                     {:6.2} %", 100.0 * (kernel.1 / kernel.0 - 1.0));
    }
    Ok(())
}

/// The fastest without and with something, one run of each after the other.
fn in_turn(mut once: impl FnMut(bool) -> Result<f64>) -> Result<(f64, f64)> {
    (0..RUNS).try_fold((f64::INFINITY, f64::INFINITY), |(without, with), _| {
        Ok((once(false)?.min(without), once(true)?.min(with)))
    })
}

fn fastest(mut once: impl FnMut() -> Result<f64>) -> Result<f64> {
    (0..RUNS).try_fold(f64::INFINITY, |least, _| Ok(once()?.min(least)))
}

/// Nanoseconds of a mark and of the kernel.
fn run(folder: &Path, program: &str, records: bool, words: &[&str]) -> Result<(f64, f64)> {
    let regions = tempfile::tempdir()?;
    let mut command = Command::new(folder.join(program));
    command.args(words).env_remove("PARALLAX_REGIONS");
    if records {
        command.env("PARALLAX_REGIONS", regions.path());
    }
    numbers(&mut command)
}

/// The first two numbers that a program prints.
fn numbers(command: &mut Command) -> Result<(f64, f64)> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().map_while(|word| word.parse::<f64>().ok());
    let both = numbers.next().zip(numbers.next());
    both.with_context(|| format!("{command:?} printed {text:?}"))
}
