//! `parallax-benches regions`: what a mark of `pascalops.h` costs, and what marks cost a kernel.
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
    let time = |program: &str, records: bool| {
        fastest(|| Ok(run(folder.path(), program, records, &kernel)?.1 / 1e6))
    };
    let (plain, marked) = (time("plain", false)?, time("marked", true)?);
    let per_second = 50_000.0 / (marked / 1e3);
    println!("kernel without marks         {plain:6.1} ms");
    println!("kernel with marks            {marked:6.1} ms, {per_second:.0} regions a second");
    println!("overhead                     {:6.2} %", 100.0 * (marked / plain - 1.0));
    Ok(())
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
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().map_while(|word| word.parse::<f64>().ok());
    let both = numbers.next().zip(numbers.next());
    both.with_context(|| format!("{program} printed {text:?}"))
}
