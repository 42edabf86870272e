//! One measurement in a process of its own: this program calls itself.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::data::Database;
use crate::work::{Answer, Bench, Work};

/// The word by which the program knows that it is to measure and not to report.
pub(crate) const COMMAND: &str = "measure-one";

/// Times of one measurement, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    /// The first run of the process: nothing mapped, nothing allocated.
    pub(crate) first: f64,
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Times {
    /// The first run and the ones after it.
    pub(crate) fn new(first: f64, mut warm: Vec<f64>) -> Self {
        warm.sort_by(f64::total_cmp);
        let at = |i: usize| warm.get(i).copied().unwrap_or(first);
        Self {
            first,
            median: at(warm.len() / 2),
            min: at(0),
            max: warm.last().copied().unwrap_or(first),
        }
    }
}

/// Memory of one measurement, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Memory {
    /// Own memory at its peak, beyond what the process held before the question.
    pub(crate) own: u64,
    /// All memory of the process at its peak, pages of mapped files included.
    pub(crate) peak: u64,
}

/// What one measurement found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measured {
    pub(crate) times: Times,
    pub(crate) memory: Memory,
    pub(crate) answer: Answer,
}

/// Measures time in one process and memory in another.
pub(crate) fn measure(work: Work, database: &Database, repeats: u32) -> Result<Measured> {
    let program = std::env::current_exe().context("where this program is")?;
    let time = ask(&program, "time", work, database, repeats)?;
    let memory = ask(&program, "memory", work, database, repeats)?;
    let count = |value: &Value, name: &str| value[name].as_u64().unwrap_or(0);
    Ok(Measured {
        times: times(&time),
        memory: Memory { own: count(&memory, "own"), peak: count(&memory, "peak") },
        answer: Answer {
            rows: count(&time, "rows"),
            bytes: count(&time, "bytes"),
            sum: float(&time, "sum"),
        },
    })
}

/// Measures time by the program of any build.
pub(crate) fn time_of(
    program: &Path,
    work: Work,
    database: &Database,
    repeats: u32,
) -> Result<Times> {
    Ok(times(&ask(program, "time", work, database, repeats)?))
}

fn ask(program: &Path, what: &str, work: Work, database: &Database, repeats: u32) -> Result<Value> {
    let output = Command::new(program)
        .args([COMMAND, what, work.name()])
        .arg(&database.folder)
        .arg(repeats.to_string())
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start the measuring process")?;
    if !output.status.success() {
        bail!("measuring `{}` failed: {}", work.name(), output.status);
    }
    serde_json::from_slice(&output.stdout).context("the measuring process printed no JSON")
}

fn float(value: &Value, name: &str) -> f64 {
    value[name].as_f64().unwrap_or(0.0)
}

fn times(value: &Value) -> Times {
    let warm = value["warm"].as_array().map(Vec::as_slice).unwrap_or_default();
    Times::new(float(value, "first"), warm.iter().filter_map(Value::as_f64).collect())
}

/// The other side of [`measure`]: `time|memory WORK FOLDER REPEATS`.
pub(crate) fn answer(words: &[String]) -> Result<()> {
    let [what, name, folder, repeats] = words else { bail!("{COMMAND} is for this program only") };
    let work = Work::by_name(name).with_context(|| format!("no work is called `{name}`"))?;
    let bench = Bench::new(work, Path::new(folder))?;
    let value = match what.as_str() {
        "time" => time(work, &bench, repeats.parse()?)?,
        _ => memory(work, &bench)?,
    };
    println!("{value}");
    Ok(())
}

fn time(work: Work, bench: &Bench<'_>, repeats: u32) -> Result<Value> {
    let once = || -> Result<(f64, Answer)> {
        let start = Instant::now();
        let done = bench.run(work)?;
        let millis = start.elapsed().as_secs_f64() * 1e3;
        Ok((millis, done.answer()))
    };
    let (first, answer) = once()?;
    let mut warm = Vec::new();
    for _ in 0..repeats {
        warm.push(once()?.0);
    }
    Ok(json!({
        "first": first,
        "warm": warm,
        "rows": answer.rows,
        "bytes": answer.bytes,
        "sum": answer.sum,
    }))
}

/// Own memory at the peak of a run. The kernel keeps the peak of all memory only, in which pages of
/// mapped files count; so the work is done twice and the peak of the second run taken, when those
/// pages are there already and do not grow any more.
fn memory(work: Work, bench: &Bench<'_>) -> Result<Value> {
    let before = Status::read()?;
    drop(bench.run(work)?);
    let first = Status::read()?;
    // Writing 5 sets the peak back to what is held now.
    fs::write("/proc/self/clear_refs", "5").context("cannot reset the peak of memory")?;
    let kept = bench.run(work)?;
    let second = Status::read()?;
    drop(kept);
    let own = second.peak.saturating_sub(second.mapped).saturating_sub(before.own);
    Ok(json!({ "own": own, "peak": second.peak.max(first.peak) }))
}

/// Memory of this process, in bytes.
struct Status {
    /// The peak of everything.
    peak: u64,
    /// Allocated now.
    own: u64,
    /// Pages of mapped files now.
    mapped: u64,
}

/// The most bytes of memory that this process has had.
pub(crate) fn peak_bytes() -> Result<u64> {
    Ok(Status::read()?.peak)
}

impl Status {
    fn read() -> Result<Self> {
        let text = fs::read_to_string("/proc/self/status").context("no /proc/self/status")?;
        let field = |name: &str| -> Result<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            let kibibytes = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
            let kibibytes: u64 = kibibytes.with_context(|| format!("no {name} in status"))?;
            Ok(kibibytes * 1024)
        };
        Ok(Self { peak: field("VmHWM:")?, own: field("RssAnon:")?, mapped: field("RssFile:")? })
    }
}
