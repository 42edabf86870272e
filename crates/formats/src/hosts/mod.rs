//! Host tables: which node has which address and name, and where it stands.
//!
//! [`read`] finds out by content which of these a file is: a table with the columns `hostid`,
//! `address`, `name`, `xname`, `group`, `rack`, `chassis`, `slot`, `switch`; `/etc/hosts`; the output
//! of `pbsnodes -F json`; `topology.conf` of Slurm, or what `scontrol show topology` prints.
//! [`read_system`] reads how the names of a system's nodes say where they stand.
//! FORMAT.md has the grammar of each.

mod etc_hosts;
mod hostlist;
mod pbs;
mod slurm;
mod system;
mod table;

use std::net::Ipv4Addr;

pub use hostlist::{MAX_LISTED, expand};
pub use system::{MAX_PARTS, NamePart, SystemText, read_system};

/// What a host table may be at most: beyond any machine, and small in memory.
const MAX_BYTES: usize = 256 << 20;
/// Hosts of a table at most.
pub const MAX_HOSTS: usize = 1 << 20;

/// Why a host table cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// It is none of the known kinds.
    #[error(
        "{file} is no host table: {what}; known are a table with the columns hostid,xname, /etc/hosts, the output of pbsnodes -F json, and Slurm's topology.conf"
    )]
    Unknown {
        /// Which file.
        file: String,
        /// What was found instead.
        what: String,
    },
    /// A line cannot be read.
    #[error("{file}, line {line}: {what}")]
    Line {
        /// Which file.
        file: String,
        /// From 1.
        line: u64,
        /// What was expected and what was found.
        what: String,
    },
    /// The file is larger than any machine's.
    #[error("{file} has more than {limit} {what}")]
    TooLarge {
        /// Which file.
        file: String,
        /// Of what.
        what: &'static str,
        /// How many are read.
        limit: usize,
    },
}

impl HostError {
    fn line(file: &str, line: u64, what: impl Into<String>) -> Self {
        Self::Line { file: file.to_owned(), line, what: what.into() }
    }
}

/// What kind of host table it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostFormat {
    /// A table with a head.
    Table,
    /// `/etc/hosts`.
    EtcHosts,
    /// `pbsnodes -F json`.
    PbsNodes,
    /// Slurm's `topology.conf`, or `scontrol show topology`.
    Slurm,
}

impl HostFormat {
    /// Display name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table => "a host table",
            Self::EtcHosts => "/etc/hosts",
            Self::PbsNodes => "pbsnodes -F json",
            Self::Slurm => "a topology of Slurm",
        }
    }
}

/// Where a host stands, as far as a table says so; texts as they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostPlace {
    /// Group of switches.
    pub group: Option<String>,
    /// Rack, or cabinet.
    pub rack: Option<String>,
    /// Chassis in its rack.
    pub chassis: Option<String>,
    /// Slot in its chassis.
    pub slot: Option<String>,
    /// The switch that it is connected to.
    pub switch: Option<String>,
}

/// One host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostRecord {
    /// Where it is written, from 1; 0 where the format has no lines.
    pub line: u64,
    /// What `gethostid` gives there.
    pub host_id: Option<u32>,
    /// Its addresses.
    pub addresses: Vec<Ipv4Addr>,
    /// Its names; the first one is its own.
    pub names: Vec<String>,
    /// Where it stands.
    pub place: HostPlace,
}

/// A host table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFile {
    /// What it is.
    pub format: HostFormat,
    /// The hosts, in the order of the file.
    pub hosts: Vec<HostRecord>,
    /// What was passed over, such as addresses of IPv6, in sentences.
    pub notes: Vec<String>,
}

/// Reads a host table of any kind. `file` is its name, for messages.
///
/// # Errors
/// When it is of no known kind, a line cannot be read, or it is too large.
pub fn read(bytes: &[u8], file: &str) -> Result<HostFile, HostError> {
    let text = decoded(bytes, file)?;
    let meant = || lines(text).map(|(_, line)| line).filter(|line| !line.is_empty());
    let Some(first) = meant().next() else {
        return Err(HostError::Unknown { file: file.to_owned(), what: "it is empty".into() });
    };
    if text.trim_start().starts_with('{') {
        return pbs::read(text, file);
    }
    let lower = first.to_ascii_lowercase();
    if lower.starts_with("switchname=") || lower.starts_with("blockname=") {
        return slurm::read(text, file);
    }
    let word = first.split_whitespace().next().unwrap_or_default();
    if !first.contains(',') && word.parse::<std::net::IpAddr>().is_ok() {
        return etc_hosts::read(text, file);
    }
    table::read(text, file)
}

fn decoded<'a>(bytes: &'a [u8], file: &str) -> Result<&'a str, HostError> {
    if bytes.len() > MAX_BYTES {
        let file = file.to_owned();
        return Err(HostError::TooLarge { file, what: "bytes", limit: MAX_BYTES });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        HostError::line(file, line, "this is not text in UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Lines with their numbers, without comments (from `#` on) and blanks around them.
fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    (1..).zip(text.lines()).map(|(number, line)| {
        let line = line.split('#').next().unwrap_or_default();
        (number, line.trim())
    })
}

fn push(hosts: &mut Vec<HostRecord>, host: HostRecord, file: &str) -> Result<(), HostError> {
    if hosts.len() >= MAX_HOSTS {
        let file = file.to_owned();
        return Err(HostError::TooLarge { file, what: "hosts", limit: MAX_HOSTS });
    }
    hosts.push(host);
    Ok(())
}
