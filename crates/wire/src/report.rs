//! The reply of `report`: findings, and several tables in one document.

use std::collections::BTreeMap;

use parallax_service::Table;
use serde::{Deserialize, Serialize};

use crate::{WireError, write_json};

/// A table inside a larger reply: `{"columns":[{"name","type","unit"}],"rows":[[...]]}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TableReply(serde_json::Value);

impl TableReply {
    /// The same document that [`write_json`] makes of `table`. For tables that are small: all rows
    /// are in memory.
    ///
    /// # Errors
    ///
    /// [`WireError`] when the table has columns that answers do not carry.
    pub fn of(table: &Table) -> Result<Self, WireError> {
        let mut bytes = Vec::new();
        write_json(table, &mut bytes)?;
        let value = serde_json::from_slice(&bytes).map_err(std::io::Error::from)?;
        Ok(Self(value))
    }
}

/// A number that a finding rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceReply {
    /// What it is.
    pub what: String,
    /// The number.
    pub value: f64,
    /// Its unit symbol.
    pub unit: String,
}

/// Something that bounds the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingReply {
    /// What it is about, a stable name such as `Mpi` or `Imbalance`.
    pub kind: String,
    /// One or two sentences.
    pub text: String,
    /// Share of the program's cost at stake, in per cent.
    pub percent: f64,
    /// The numbers it rests on.
    pub evidence: Vec<EvidenceReply>,
    /// The command to ask next.
    pub next: String,
}

/// What `report` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportReply {
    /// Name of the measured program.
    pub title: String,
    /// The metric that stands for cost; null when nothing was measured.
    pub metric: Option<String>,
    /// Its unit symbol.
    pub unit: String,
    /// Why it was chosen.
    pub reason: String,
    /// Cost of everything that was measured.
    pub total: f64,
    /// The part of it on helper threads.
    pub helper_total: f64,
    /// The rest: what shares are of.
    pub program_total: f64,
    /// About how many samples the total stands on; null where that cannot be said.
    pub samples: Option<f64>,
    /// Number of ranks.
    pub ranks: u64,
    /// Number of locations.
    pub locations: u64,
    /// What bounds the program, the most important first.
    pub findings: Vec<FindingReply>,
    /// Tables by name: `categories`, `routines`, `functions`, `gpu`, `hot_path`, `metrics`.
    pub tables: BTreeMap<String, TableReply>,
}
