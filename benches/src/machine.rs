//! Where the figures come from.

use std::fs::read_to_string;

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
        "{model}, {cores} cores, {} GiB of memory, Linux {}; load before the run {}",
        kibibytes >> 20,
        system.trim(),
        load.join(" "),
    )
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim())
}
