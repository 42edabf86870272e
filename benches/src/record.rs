//! `parallax-benches record`: what recording by sampling costs a program, beside `perf` and `samply`,
//! and whether all of them find the same functions.
//!
//! Each thread of the program has three functions with a tenth, three tenths and six tenths of its
//! time. The program says how long it took, how much processor time, and how much its recorder took
//! meanwhile. It runs alone and under each recorder, one after the other, in several rounds: with one
//! thread, and with one for each processor, so that none is free. A recorder that is not there, or
//! that the kernel does not let, is named.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::machine;

/// The first word of this benchmark's command line.
pub(crate) const COMMAND: &str = "record";

/// Each recorder records so often; the median counts.
const ROUNDS: usize = 9;

/// Samples a second.
const FREQUENCY: &str = "999";

const FUNCTIONS: [&str; 3] = ["large", "middle", "small"];

const PROGRAM: &str = r#"
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
static inline __attribute__((always_inline)) unsigned long steps(unsigned long x, long count) {
    for (long i = 0; i < count; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}
APART static unsigned long small(unsigned long x) { return steps(x, 10000) + 1; }
APART static unsigned long middle(unsigned long x) { return steps(x, 30000) + 1; }
APART static unsigned long large(unsigned long x) { return steps(x, 60000) + 1; }
static long amount;
static volatile unsigned long sink;
static void *work(void *own) {
    unsigned long x = 88172645463325252ul + (unsigned long)own;
    for (long i = amount; i > 0; i--) x = large(middle(small(x)));
    sink = x;
    return NULL;
}
static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}
/* Processor time of the process that started this one, without what it starts besides. */
static double recorder(void) {
    char path[400];
    double all = 0, own;
    snprintf(path, sizeof path, "/proc/%d/task", getppid());
    DIR *tasks = opendir(path);
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", getppid(), task->d_name);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%lf", &own) == 1) all += own / 1e9;
        if (file) fclose(file);
    }
    if (tasks) closedir(tasks);
    return all;
}
int main(int argc, char **argv) {
    amount = argc > 1 ? atol(argv[1]) : 0;
    long threads = argc > 2 ? atol(argv[2]) : 1;
    pthread_t others[1024];
    double others_time = recorder(), begin = now(CLOCK_MONOTONIC);
    for (long i = 1; i < threads && i < 1024; i++) pthread_create(&others[i], NULL, work, (void *)i);
    work(NULL);
    for (long i = 1; i < threads && i < 1024; i++) pthread_join(others[i], NULL);
    double took = now(CLOCK_MONOTONIC) - begin;
    fprintf(stderr, "seconds %.6f %.6f %.6f %.6f\n", took, now(CLOCK_PROCESS_CPUTIME_ID),
            recorder() - others_time, now(CLOCK_REALTIME));
    return 0;
}
"#;

/// How the program is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Alone,
    Parallax,
    PerfStacks,
    PerfPointers,
    Samply,
}

impl Way {
    const ALL: [Self; 5] =
        [Self::Alone, Self::Parallax, Self::PerfStacks, Self::PerfPointers, Self::Samply];

    const fn name(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Parallax => "parallax record",
            Self::PerfStacks => "perf record, 16 KiB of stack",
            Self::PerfPointers => "perf record, frame pointers",
            Self::Samply => "samply record",
        }
    }
}

/// The program in its folder, and what it is run by.
struct Bench {
    folder: PathBuf,
    tool: PathBuf,
    amount: String,
    threads: usize,
}

/// What a run took, in seconds.
#[derive(Clone, Copy)]
struct Run {
    /// Of the program's work, by the clock.
    elapsed: f64,
    /// Of processor time of the program.
    processor: f64,
    /// Of processor time of the recorder meanwhile.
    recorder: f64,
    /// From the end of the program until the recorder ended.
    after: f64,
}

/// Measures and prints.
pub(crate) fn answer(_words: &[String]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("app.c");
    fs::write(&source, PROGRAM)?;
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-g", "-fno-omit-frame-pointer", "-pthread", "-o"]);
    compiler.arg(folder.path().join("app"));
    if !compiler.arg(source).status().context("no C compiler")?.success() {
        bail!("the program does not compile");
    }
    let tool = std::env::current_exe()?.with_file_name("parallax");
    if !tool.exists() {
        bail!("{} is not there; `cargo xtask bench record` builds it", tool.display());
    }
    let amount = "500".to_owned();
    let mut bench = Bench { folder: folder.path().to_owned(), tool, amount, threads: 1 };
    // About two seconds, on whatever machine this is.
    let trial = bench.run(Way::Alone)?.processor;
    bench.amount = format!("{:.0}", (500.0 * 2.0 / trial).clamp(100.0, 1e7));

    println!("{}", machine::describe());
    let mut ways = vec![Way::Alone];
    for way in Way::ALL.into_iter().skip(1) {
        match bench.run(way).and_then(|_| bench.shares(way)) {
            Ok(_) => ways.push(way),
            Err(why) => println!("without {}: {why:#}", way.name()),
        }
    }
    bench.compare(&ways)?;
    bench.threads = std::thread::available_parallelism()?.get();
    ways.retain(|way| matches!(way, Way::Alone | Way::Parallax | Way::PerfStacks));
    bench.compare(&ways)
}

fn median(runs: &[Run], of: impl Fn(&Run) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Bench {
    /// Runs the program in each way in turn, and prints medians.
    fn compare(&self, ways: &[Way]) -> Result<()> {
        let mut runs: Vec<Vec<Run>> = vec![Vec::new(); ways.len()];
        for _ in 0..ROUNDS {
            for (way, runs) in ways.iter().zip(&mut runs) {
                runs.push(self.run(*way)?);
            }
        }
        let alone = runs.first().context("nothing ran")?;
        let alone = (median(alone, |run| run.elapsed), median(alone, |run| run.processor));
        println!("\nthreads: {}", self.threads);
        println!(
            "{:<30} {:>9} {:>8} {:>11} {:>8} {:>10} {:>8}   {}",
            "",
            "seconds",
            "more",
            "processor",
            "more",
            "recorder",
            "after",
            FUNCTIONS.join(", ")
        );
        for (way, runs) in ways.iter().zip(&runs) {
            let shares = match way {
                Way::Alone => "planted 60, 30, 10 %".to_owned(),
                way => self.shares(*way)?.map(|share| format!("{share:.1}")).join(", "),
            };
            let (elapsed, processor) =
                (median(runs, |run| run.elapsed), median(runs, |run| run.processor));
            println!(
                "{:<30} {elapsed:>8.3}s {:>6.2} % {processor:>10.3}s {:>6.2} % {:>9.4}s {:>7.3}s   \
                 {shares}",
                way.name(),
                100.0 * (elapsed / alone.0 - 1.0),
                100.0 * (processor / alone.1 - 1.0),
                median(runs, |run| run.recorder),
                median(runs, |run| run.after),
            );
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn run(&self, way: Way) -> Result<Run> {
        let app = self.path("app");
        let mut command = match way {
            Way::Alone => Command::new(&app),
            Way::Parallax => {
                let _ = fs::remove_dir_all(self.path("run.parallax"));
                let mut command = Command::new(&self.tool);
                command.args(["record", "--frequency", FREQUENCY, "-o", "run.parallax", "--"]);
                command
            }
            Way::PerfStacks | Way::PerfPointers => {
                let stacks = if way == Way::PerfStacks { "dwarf,16384" } else { "fp" };
                let mut command = Command::new("perf");
                command.args(["record", "-q", "-e", "cpu-clock:u", "-F", FREQUENCY]);
                command.args(["--call-graph", stacks, "-o", "perf.data", "--"]);
                command
            }
            Way::Samply => {
                let mut command = Command::new("samply");
                command.args(["record", "--save-only", "--rate", FREQUENCY]);
                command.args(["-o", "samply.json", "--"]);
                command
            }
        };
        if way != Way::Alone {
            command.arg(&app);
        }
        command.current_dir(&self.folder).arg(&self.amount).arg(self.threads.to_string());
        let output = command.stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("cannot run {way:?}"))?;
        let ended = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs_f64();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = said.lines().find_map(|line| line.strip_prefix("seconds "));
        let numbers = line.unwrap_or_default().split_whitespace().map(str::parse).collect();
        let numbers: Vec<f64> = Result::unwrap_or_default(numbers);
        match *numbers {
            [elapsed, processor, recorder, end] if output.status.success() => {
                let recorder = if way == Way::Alone { 0.0 } else { recorder };
                Ok(Run { elapsed, processor, recorder, after: ended - end })
            }
            _ => bail!("{}", said.lines().take(3).collect::<Vec<_>>().join(" ")),
        }
    }

    /// Per cent of the samples of the three functions together that each has, by the last run.
    fn shares(&self, way: Way) -> Result<[f64; 3]> {
        let found = match way {
            Way::Alone => HashMap::new(),
            Way::Parallax => self.shares_of_parallax()?,
            Way::PerfStacks | Way::PerfPointers => self.shares_of_perf()?,
            Way::Samply => self.shares_of_samply()?,
        };
        let shares = FUNCTIONS.map(|name| found.get(name).copied().unwrap_or(0.0));
        let sum: f64 = shares.iter().sum();
        if sum <= 0.0 {
            bail!("no function of the program was found");
        }
        Ok(shares.map(|share| 100.0 * share / sum))
    }

    fn shares_of_parallax(&self) -> Result<HashMap<String, f64>> {
        let mut command = Command::new(&self.tool);
        command.args(["flat", "--json"]).arg(self.path("run.parallax"));
        let reply: Value = serde_json::from_slice(&command.output()?.stdout)?;
        let rows = reply.get("rows").and_then(Value::as_array).context("no rows")?;
        let row = |row: &Value| Some((row.get(0)?.as_str()?.to_owned(), row.get(3)?.as_f64()?));
        Ok(rows.iter().filter_map(row).collect())
    }

    fn shares_of_perf(&self) -> Result<HashMap<String, f64>> {
        let mut command = Command::new("perf");
        command.args(["report", "--stdio", "--no-children", "-g", "none", "-F", "overhead,symbol"]);
        command.arg("-i").arg(self.path("perf.data"));
        let text = String::from_utf8_lossy(&command.output()?.stdout).into_owned();
        let line = |line: &str| {
            let (share, name) = line.trim().split_once('%')?;
            Some((name.split_whitespace().last()?.to_owned(), share.parse().ok()?))
        };
        Ok(text.lines().filter_map(line).collect())
    }

    /// Samples by function of the profile, in which functions are addresses in their file.
    fn shares_of_samply(&self) -> Result<HashMap<String, f64>> {
        let profile: Value = serde_json::from_slice(&fs::read(self.path("samply.json"))?)?;
        let functions = symbols(&self.path("app"))?;
        let mut found = HashMap::new();
        for thread in profile.get("threads").and_then(Value::as_array).into_iter().flatten() {
            let column = |table: &str, name: &str| -> Vec<Option<i64>> {
                let values = thread.get(table).and_then(|table| table.get(name));
                let values = values.and_then(Value::as_array).into_iter().flatten();
                values.map(Value::as_i64).collect()
            };
            let frames = column("stackTable", "frame");
            let addresses = column("frameTable", "address");
            let at = |list: &[Option<i64>], place: i64| *list.get(usize::try_from(place).ok()?)?;
            for stack in column("samples", "stack").into_iter().flatten() {
                let address = at(&frames, stack).and_then(|frame| at(&addresses, frame));
                let Some(address) = address.and_then(|address| u64::try_from(address).ok()) else {
                    continue;
                };
                let function = functions.iter().rfind(|(start, _)| *start <= address);
                if let Some((_, name)) = function {
                    *found.entry(name.clone()).or_insert(0.0) += 1.0;
                }
            }
        }
        Ok(found)
    }
}

/// Functions of a program by their addresses, ascending.
fn symbols(app: &Path) -> Result<Vec<(u64, String)>> {
    let output = Command::new("nm").args(["--numeric-sort", "--defined-only"]).arg(app).output();
    let text = String::from_utf8_lossy(&output.context("no nm")?.stdout).into_owned();
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok()?;
        Some((address, words.nth(1)?.to_owned()))
    };
    Ok(text.lines().filter_map(line).collect())
}
