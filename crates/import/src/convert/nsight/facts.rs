//! What an export says about the machine, the collection and the tool.

use parallax_base::{Issues, Place, Severity, Stage};
use parallax_formats::archive::keys;
use parallax_formats::nsight::{FactRow, GpuRow, MessageRow, NsightDb, StartRow};

use crate::events::{Conversion, ConversionError};

/// Variables by which launchers of MPI tell a process its rank: those of Open MPI, MPICH and its
/// relatives, PMIx, MVAPICH, PALS, Flux and Slurm.
const RANK_VARIABLES: [&str; 7] = [
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMIX_RANK",
    "MV2_COMM_WORLD_RANK",
    "PALS_RANKID",
    "FLUX_TASK_RANK",
    "SLURM_PROCID",
];

/// Properties of the machine that are facts of the execution, and their names there.
const PROPERTIES: [(&str, &str); 4] = [
    ("Hostname", "Hostname"),
    ("OsDescription", "operating system"),
    ("CpuDescription", "processor"),
    ("CpuCores", "processor cores"),
];

/// Most words of the command line.
const MOST_WORDS: usize = 256;
/// Longest command line, in bytes.
const LONGEST_COMMAND: usize = 4096;

/// What is known.
#[derive(Default)]
pub(super) struct Facts {
    epoch_nanos: Option<i64>,
    facts: Vec<(String, String)>,
    /// The rank that the environment of the tool says.
    rank: Option<u64>,
}

impl Facts {
    pub(super) fn read(db: &NsightDb, issues: &mut Issues) -> Result<Self, ConversionError> {
        let mut own = Self::default();
        db.scan("TARGET_INFO_SESSION_START_TIME", issues, |(row, _): (StartRow, u64)| {
            own.epoch_nanos = own.epoch_nanos.or(row.epoch_nanos);
            Ok::<(), ConversionError>(())
        })?;
        for table in ["META_DATA_EXPORT", "EXPORT_META_DATA"] {
            db.scan(table, issues, |(row, _): (FactRow, u64)| {
                if row.name.as_deref() == Some("EXPORT_PRODUCT_VERSION") {
                    own.add("Nsight Systems", row.value);
                }
                Ok::<(), ConversionError>(())
            })?;
        }
        let mut command: Vec<String> = Vec::new();
        db.scan("META_DATA_CAPTURE", issues, |(row, _): (FactRow, u64)| {
            let is_word = row.name.is_some_and(|name| {
                name == "PROCESS_0:COMMAND" || name.starts_with("PROCESS_0:ARGUMENT_")
            });
            if is_word && command.len() < MOST_WORDS {
                command.extend(row.value);
            }
            Ok::<(), ConversionError>(())
        })?;
        let command = command.join(" ");
        if !command.is_empty() && command.len() <= LONGEST_COMMAND {
            own.add("command", Some(command));
        }
        db.scan("TARGET_INFO_SYSTEM_ENV", issues, |(row, _): (FactRow, u64)| {
            let (Some(name), Some(value)) = (row.name, row.value) else { return Ok(()) };
            match name.as_str() {
                "DeviceEnvironment" => own.rank = own.rank.or_else(|| rank(&value)),
                "CudaDriverVersion" => own.add("CUDA driver", cuda_version(&value)),
                _ => {
                    let known = PROPERTIES.iter().find(|(own, _)| *own == name);
                    if let Some((_, known)) = known {
                        own.add(known, Some(value));
                    }
                }
            }
            Ok::<(), ConversionError>(())
        })?;
        db.scan("TARGET_INFO_GPU", issues, |(row, _): (GpuRow, u64)| {
            if let (Some(device), Some(mut about)) = (row.device, row.name) {
                if let Some(bytes) = row.memory_bytes {
                    about = format!("{about}, {:.1} GiB", bytes as f64 / f64::from(1 << 30));
                }
                if let Some(count) = row.multiprocessors {
                    about = format!("{about}, {count} multiprocessors");
                }
                own.add(&format!("GPU {device}"), Some(about));
            }
            Ok::<(), ConversionError>(())
        })?;
        Ok(own)
    }

    /// Adds a fact; of repeated names the first counts.
    fn add(&mut self, name: &str, value: Option<String>) {
        let value = value.filter(|value| !value.trim().is_empty());
        if let Some(value) = value
            && !self.facts.iter().any(|(own, _)| own == name)
        {
            self.facts.push((name.to_owned(), value));
        }
    }

    /// The rank of the process that the tool started, where a launcher of MPI started the tool.
    pub(super) const fn rank(&self) -> Option<u64> {
        self.rank
    }

    /// Tells the archive.
    pub(super) fn tell(self, conversion: &mut Conversion) {
        conversion.fact(keys::FORMAT, "Nsight Systems");
        if let Some(nanos) = self.epoch_nanos.filter(|&nanos| nanos > 0) {
            conversion.fact(keys::EPOCH_OFFSET_NANOS, nanos.to_string());
        }
        for (name, value) in self.facts {
            conversion.fact(format!("{}{name}", keys::FACT), value);
        }
    }
}

/// Longest part of a message of the tool that is shown, in characters, and most messages.
const LONGEST_MESSAGE: usize = 240;
const MOST_MESSAGES: usize = 8;

/// Reports what the tool said of its own collection, such as that events were lost.
pub(super) fn report_messages(db: &NsightDb, issues: &mut Issues) -> Result<(), ConversionError> {
    let (mut texts, mut count, mut has_errors) = (Vec::new(), 0_u64, false);
    db.scan(super::MESSAGES, issues, |(row, _): (MessageRow, u64)| {
        let is_error = row.severity == Some(MessageRow::ERROR);
        if !is_error && row.severity != Some(MessageRow::WARNING) {
            return Ok(());
        }
        count += 1;
        has_errors |= is_error;
        let text = row.text.unwrap_or_default();
        let words: Vec<&str> = text.split_whitespace().collect();
        let whole = words.join(" ");
        let mut text: String = whole.chars().take(LONGEST_MESSAGE).collect();
        if text.len() < whole.len() {
            text.push('…');
        }
        if texts.len() < MOST_MESSAGES && !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
        Ok::<(), ConversionError>(())
    })?;
    if count > 0 {
        let severity = if has_errors { Severity::Warning } else { Severity::Note };
        let place = Place::File { file: db.file().to_owned() };
        issues.report_many(severity, Stage::Read, "tool-messages", place, count, || {
            format!("Nsight Systems reported: {}", texts.join("; "))
        });
    }
    Ok(())
}

/// The rank in an environment: `NAME=VALUE`, separated by zero bytes or by semicolons.
fn rank(environment: &str) -> Option<u64> {
    let variables = || environment.split(['\0', ';']);
    RANK_VARIABLES.iter().find_map(|name| {
        let value = |text: &str| text.strip_prefix(name)?.strip_prefix('=')?.parse().ok();
        variables().find_map(value)
    })
}

/// `12000` is `12.0`.
fn cuda_version(number: &str) -> Option<String> {
    let number: u32 = number.trim().parse().ok()?;
    Some(format!("{}.{}", number / 1000, number % 1000 / 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_in_environments_of_both_forms() {
        assert_eq!(rank("SLURM_PROCID=0\0PMI_RANK=3\0PMI_RANKS=9"), Some(3));
        assert_eq!(rank("A=1;SLURM_PROCID=5;B=2"), Some(5));
        assert_eq!(rank("PMI_RANKS=9;X=PMI_RANK=1"), None);
    }

    #[test]
    fn versions_of_drivers_have_a_dot() {
        assert_eq!(cuda_version("12040").as_deref(), Some("12.4"));
        assert_eq!(cuda_version("unknown"), None);
    }
}
