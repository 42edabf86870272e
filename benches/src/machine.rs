//! Where the figures come from.

use std::fs::read_to_string;
use std::thread::sleep;
use std::time::Duration;

/// How long others are watched before the run.
const WATCHED: Duration = Duration::from_secs(1);

/// One line about the machine: a figure without it is not a figure.
pub(crate) fn describe() -> String {
    let cpus = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = field(&cpus, "model name").unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes = field(&memory, "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .unwrap_or(0);
    let system = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split_whitespace().take(3).collect();
    format!(
        "{model}, {cores} cores, {} GiB of memory, Linux {}; before the run others kept {} of the \
         cores busy, load {}",
        kibibytes >> 20,
        system.trim(),
        busy_cores().map_or("an unknown number".to_owned(), |busy| format!("{busy:.1}")),
        load.join(" "),
    )
}

/// How many cores other programs keep busy now: the load average is minutes old and counts this
/// program's own builds and earlier runs.
fn busy_cores() -> Option<f64> {
    let before = ticks()?;
    sleep(WATCHED);
    let after = ticks()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let all = after.all.checked_sub(before.all).filter(|&all| all > 0)?;
    let idle = after.idle.saturating_sub(before.idle);
    Some(cores as f64 * (1.0 - idle as f64 / all as f64).max(0.0))
}

/// Time that all cores spent since the start of the machine, in the kernel's ticks.
struct Ticks {
    all: u64,
    idle: u64,
}

fn ticks() -> Option<Ticks> {
    let text = read_to_string("/proc/stat").ok()?;
    let words = text.lines().next()?.split_whitespace().skip(1);
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already.
    let ticks: Vec<u64> = words.take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    Some(Ticks { all: ticks.iter().sum(), idle: ticks.get(3)? + ticks.get(4)? })
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim())
}
