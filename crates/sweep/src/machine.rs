//! What is kept about the machine, the moment and the environment.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::topology::{self, Processor};

/// What the variables begin with that change how parallel programs run. Others are not kept: they may
/// be secret.
const KEPT_VARIABLES: [&str; 22] = [
    "OMP_",
    "KMP_",
    "GOMP_",
    "LIBOMP",
    "MKL_",
    "OPENBLAS_",
    "BLIS_",
    "RAYON_",
    "TBB_",
    "OMPI_MCA_",
    "MPICH_",
    "I_MPI_",
    "UCX_",
    "FI_",
    "PMIX_MCA_",
    "CUDA_VISIBLE",
    "ROCR_VISIBLE",
    "MALLOC_",
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "SLURM_JOB",
];

/// The machine, as one object.
pub(crate) fn machine(processors: &[Processor]) -> Value {
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = information.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        matches!(name.trim(), "model name" | "Model" | "cpu").then(|| value.trim().to_owned())
    });
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let memory = memory.and_then(|text| text.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    let governor = processors
        .first()
        .and_then(|p| line(&format!("{}/cpu{}/cpufreq/scaling_governor", topology::SYSTEM, p.id)));
    let cores = processors.iter().filter(|p| p.sibling == 0).count();
    let mut sockets: Vec<u32> = processors.iter().map(|p| p.socket).collect();
    sockets.sort_unstable();
    sockets.dedup();
    let ids: Vec<u32> = processors.iter().map(|p| p.id).collect();
    json!({
        "model": model,
        "sockets": sockets.len(),
        "cores": cores,
        "processors": ids,
        "memory_bytes": memory.map(|kib| kib.saturating_mul(1024)),
        "governor": governor,
    })
}

/// The variables of this process that change how parallel programs run.
pub(crate) fn environment() -> Value {
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        let is_kept = KEPT_VARIABLES.iter().any(|start| name.starts_with(start));
        is_kept.then(|| (name, Value::from(value.to_string_lossy().into_owned())))
    });
    Value::Object(variables.collect::<Map<_, _>>())
}

/// The name of this machine.
pub(crate) fn host() -> String {
    line("/proc/sys/kernel/hostname").unwrap_or_default()
}

/// System and version, such as `Linux-6.1.0`.
pub(crate) fn kernel() -> String {
    let release = line("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux-{release}")
}

fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(Path::new(path)).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Seconds since 1970, UTC.
pub(crate) fn epoch(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64()
}

/// `DD-MM-YYYY_HH:MM:SS` in UTC, as PaScal Analyzer writes it.
pub(crate) fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Days to a date of the Gregorian calendar, in years that begin in March (H. Hinnant,
    // "chrono-compatible low-level date algorithms").
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{day:02}-{month:02}-{year}_{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let at = |seconds| date(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "01-01-1970_00:00:00");
        assert_eq!(at(951_827_696), "29-02-2000_12:34:56");
        assert_eq!(at(1_758_615_243), "23-09-2025_08:14:03");
        assert_eq!(at(4_107_542_399), "28-02-2100_23:59:59");
        assert_eq!(at(4_107_542_400), "01-03-2100_00:00:00");
    }
}
