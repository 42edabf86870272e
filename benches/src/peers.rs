//! Other programs that can do some of the work, each run in a Python of its own.
//!
//! Nothing of them is part of Parallax: they are imported from where the user has them.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::data::Database;
use crate::probe::{Measured, Memory, Times};
use crate::work::{Answer, Bench, Work};

const SCRIPT: &str = include_str!("peers.py");

/// Warm runs of a peer: most take seconds.
const REPEATS: u32 = 3;

/// Stands for a number of rows that cannot be compared.
pub(crate) const UNKNOWN_ROWS: u64 = u64::MAX;

/// Another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// `llnl-hatchet` of PyPI.
    Hatchet,
    /// The compiled reader of hpcanalysis, where `hpcanalysis_cpp` can be imported (it is not on
    /// PyPI; `PYTHONPATH` leads to one that was built by hand).
    HpcanalysisCpp,
    /// A few lines of numpy written for this comparison: what a reader in Python can reach at best.
    Numpy,
}

/// What came of asking a peer.
pub(crate) enum Outcome {
    Measured(Measured),
    /// It failed on this database, with what it said.
    Failed(String),
    /// It is not there, and why.
    Absent(String),
}

impl Peer {
    /// The name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Hatchet => "llnl-hatchet",
            Self::HpcanalysisCpp => "hpcanalysis C++",
            Self::Numpy => "plain numpy",
        }
    }

    /// The name in `peers.py`.
    fn key(self) -> &'static str {
        match self {
            Self::Hatchet => "hatchet",
            Self::HpcanalysisCpp => "hpcanalysis",
            Self::Numpy => "numpy",
        }
    }

    /// Whether it is worth asking: hpcanalysis makes a dictionary of every row, and tens of
    /// millions of them do not fit into the memory of an ordinary machine.
    pub(crate) fn is_meant_for(self, work: Work, ranks: u32) -> bool {
        let most = if work == Work::Pruned { 10_000 } else { 1_000 };
        self != Self::HpcanalysisCpp || ranks <= most
    }
}

/// Where the peers are.
pub(crate) struct Peers {
    python: Option<PathBuf>,
}

impl Peers {
    /// The Python that `cargo xtask bench` prepares: named by `PARALLAX_BENCH_PYTHON`, or left in
    /// `target/bench-venv` by an earlier run.
    pub(crate) fn find() -> Self {
        let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench-venv"));
        let named = std::env::var_os("PARALLAX_BENCH_PYTHON").map(PathBuf::from);
        let python = named.unwrap_or_else(|| root.join("bin/python"));
        Self { python: python.exists().then_some(python) }
    }

    /// Asks a peer for the same work on the same database.
    pub(crate) fn measure(&self, peer: Peer, work: Work, database: &Database) -> Result<Outcome> {
        let Some(python) = &self.python else {
            let why = "no Python with the peers; `cargo xtask bench` installs them when online";
            return Ok(Outcome::Absent(why.into()));
        };
        let bench = Bench::new(work, &database.folder)?;
        let ids: Vec<String> = bench.pruned().iter().map(u32::to_string).collect();
        drop(bench);
        let mut child = Command::new(python)
            .args(["-c", SCRIPT, work.name(), peer.key()])
            .arg(&database.folder)
            .arg(REPEATS.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", python.display()))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(ids.join(" ").as_bytes())?;
        }
        let output = child.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        // Peers may print; the answer is the last line.
        let answer = text.lines().last().and_then(|line| serde_json::from_str(line).ok());
        let answer: Value = match answer {
            Some(answer) if output.status.success() => answer,
            _ => return Ok(Outcome::Failed(format!("ended with {}", output.status))),
        };
        Ok(outcome(&answer))
    }
}

fn outcome(answer: &Value) -> Outcome {
    if let Some(why) = answer["absent"].as_str() {
        return Outcome::Absent(why.to_owned());
    }
    if let Some(why) = answer["error"].as_str() {
        return Outcome::Failed(why.to_owned());
    }
    let times = answer["times"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut times = times.iter().filter_map(Value::as_f64);
    let first = times.next().unwrap_or(0.0);
    let count = |name: &str| answer[name].as_u64().unwrap_or(0);
    Outcome::Measured(Measured {
        times: Times::new(first, times.collect()),
        memory: Memory { own: count("own"), peak: count("peak") },
        answer: Answer {
            // Peers that give something else than rows say nothing about them.
            rows: answer["rows"].as_u64().unwrap_or(UNKNOWN_ROWS),
            bytes: 0,
            sum: answer["sum"].as_f64().unwrap_or(f64::NAN),
        },
    })
}
