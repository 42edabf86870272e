//! The reply of `report`: findings, and several tables in one document.

use std::collections::BTreeMap;

use parallax_service::analysis::report::{Finding, Report};
use parallax_service::{Opened, Table};
use serde::{Deserialize, Serialize};

use crate::{WireError, write_json};

/// A table inside a larger reply: `{"columns":[{"name","type","unit"}],"rows":[[...]]}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(transparent)]
pub struct TableReply(
    #[cfg_attr(
        feature = "typescript",
        ts(
            type = "{ columns: { name: string; type: string; unit: string }[]; rows: (string | number | boolean | null)[][] }"
        )
    )]
    serde_json::Value,
);

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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FindingReply {
    /// What it is about, a stable name such as `Mpi` or `Imbalance`.
    pub kind: String,
    /// One or two sentences.
    pub text: String,
    /// Share of the program's cost at stake, in per cent.
    pub percent: f64,
    /// The numbers it rests on.
    pub evidence: Vec<EvidenceReply>,
    /// Id of the context that it is about; null where it is about a function or the whole program.
    pub context_id: Option<u32>,
    /// The command to ask next.
    pub next: String,
}

/// What `report` says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
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
    /// What could not be looked at, and why; remarks about the data.
    pub notes: Vec<String>,
    /// Tables by name: `categories`, `routines`, `functions`, `gpu`, `hot_path`, `metrics`.
    pub tables: BTreeMap<String, TableReply>,
}

impl ReportReply {
    /// The reply for `report` about `opened`; `path` is what a person types to open it again, and
    /// `notes` are those of the answer.
    ///
    /// # Errors
    ///
    /// [`WireError`] when a table has columns that answers do not carry.
    pub fn of(
        report: &Report,
        notes: &[String],
        opened: &Opened,
        path: &str,
    ) -> Result<Self, WireError> {
        let tables = [
            ("categories", report.categories_table()),
            ("routines", report.routines_table()),
            ("functions", report.functions_table()),
            ("gpu", report.gpu_table()),
            ("hot_path", report.hot_path_table(opened.session())),
            ("metrics", report.metrics_table()),
        ];
        let finding = |finding: &Finding| FindingReply {
            kind: format!("{:?}", finding.kind),
            text: finding.text.clone(),
            percent: finding.percent,
            evidence: finding
                .evidence
                .iter()
                .map(|e| EvidenceReply {
                    what: e.what.clone(),
                    value: e.value,
                    unit: e.unit.clone(),
                })
                .collect(),
            context_id: finding.context.map(|context| opened.session().tree().source_id(context)),
            next: next_command(finding, path),
        };
        Ok(Self {
            title: report.title.clone(),
            metric: report.metric.map(|_| report.metric_name.clone()),
            unit: report.unit.to_string(),
            reason: report.reason.clone(),
            total: report.total,
            helper_total: report.helper_total,
            program_total: report.program_total,
            samples: report.num_samples,
            ranks: report.num_ranks as u64,
            locations: report.num_locations as u64,
            findings: report.findings.iter().map(finding).collect(),
            notes: notes.to_vec(),
            tables: tables
                .iter()
                .map(|(name, table)| Ok(((*name).to_owned(), TableReply::of(table)?)))
                .collect::<Result<_, WireError>>()?,
        })
    }
}

/// The command that a finding suggests, as it can be typed.
fn next_command(finding: &Finding, path: &str) -> String {
    // The command may have options: they follow the path.
    let (word, options) =
        finding.next.command.split_once(' ').unwrap_or((finding.next.command, ""));
    if !options.is_empty() {
        return format!("parallax {word} {path} {options}");
    }
    let contexts = finding.next.contexts.as_ref();
    match (finding.next.command, contexts) {
        (command @ ("tree" | "flat"), Some(contexts)) => {
            format!("parallax {command} {path} --from '{contexts}'")
        }
        (command @ "callers", Some(contexts)) => {
            let name = contexts.trim_start_matches("function(").trim_end_matches(')');
            format!("parallax {command} {path} --function '{name}'")
        }
        (command, Some(contexts)) => format!("parallax {command} {path} -c '{contexts}'"),
        (command, None) => format!("parallax {command} {path}"),
    }
}
