//! Which rank of an MPI program a process is: launchers say so in its environment.

use std::fs;

/// Variables of Open MPI, MPICH and its relatives, PMIx, MVAPICH, PALS, Flux and Slurm. Slurm also
/// sets its own for what is no rank, such as a batch script, so that it comes last.
const VARIABLES: [&str; 7] = [
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMIX_RANK",
    "MV2_COMM_WORLD_RANK",
    "PALS_RANKID",
    "FLUX_TASK_RANK",
    "SLURM_PROCID",
];

/// The rank of a process that runs; `None` when it is none, or has ended already.
pub(crate) fn of(pid: u32) -> Option<u64> {
    rank(&fs::read(format!("/proc/{pid}/environ")).ok()?)
}

/// The rank in an environment: `NAME=VALUE`, each ended by a zero byte.
fn rank(environment: &[u8]) -> Option<u64> {
    let texts =
        || environment.split(|byte| *byte == 0).filter_map(|text| str::from_utf8(text).ok());
    VARIABLES.iter().find_map(|name| {
        let value = |text: &str| text.strip_prefix(name)?.strip_prefix('=')?.parse().ok();
        texts().find_map(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_of_the_launcher_counts_before_that_of_the_batch_system() {
        let both = b"SLURM_PROCID=0\0PMI_RANK=3\0PMI_RANKS=9\0";
        assert_eq!(rank(both), Some(3));
        assert_eq!(rank(b"SLURM_PROCID=5\0"), Some(5));
        assert_eq!(rank(b"PATH=/bin\0PMI_RANKS=9\0"), None);
        assert_eq!(rank(b""), None);
    }
}
