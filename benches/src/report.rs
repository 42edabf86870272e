//! The tables.

use crate::data::Database;
use crate::options::Format;
use crate::peers::{Outcome, Peer, UNKNOWN_ROWS};
use crate::probe::Measured;
use crate::work::Work;

/// Answers of fewer bytes are not weighed: the allocator keeps some megabytes for itself.
const LEAST_WEIGHED: u64 = 10_000_000;

/// Largest share of the bytes of an answer that memory may take.
const MOST_MEMORY: f64 = 2.0;

/// Collects what was measured and prints it at the end.
pub(crate) struct Report {
    machine: String,
    format: Format,
    databases: Vec<Vec<String>>,
    ours: Vec<Vec<String>>,
    peers: Vec<Vec<String>>,
    pairs: Vec<Vec<String>>,
    notes: Vec<String>,
    num_missed: usize,
}

impl Report {
    pub(crate) fn new(machine: String, format: Format) -> Self {
        Self {
            machine,
            format,
            databases: Vec::new(),
            ours: Vec::new(),
            peers: Vec::new(),
            pairs: Vec::new(),
            notes: Vec::new(),
            num_missed: 0,
        }
    }

    pub(crate) fn database(&mut self, database: &Database) {
        self.databases.push(vec![
            grouped(u64::from(database.ranks)),
            grouped(database.option("contexts")),
            grouped(database.count("values")),
            grouped(database.count("samples")),
            bytes(database.count("bytes")),
        ]);
    }

    pub(crate) fn ours(&mut self, work: Work, ranks: u32, measured: Measured) {
        let Measured { times, memory, answer } = measured;
        let mut verdicts = Vec::new();
        if let Some(target) = work.target(ranks) {
            verdicts.push((format!("< {}", millis(target.millis)), times.median < target.millis));
        }
        let mut per_answer = String::new();
        if answer.bytes > 0 {
            let share = memory.own as f64 / answer.bytes as f64;
            per_answer = format!("{share:.2}");
            if work.has_memory_target() && answer.bytes >= LEAST_WEIGHED {
                verdicts.push((format!("memory < {MOST_MEMORY:.0} x answer"), share < MOST_MEMORY));
            }
        }
        self.num_missed += verdicts.iter().filter(|(_, is_met)| !is_met).count();
        let verdicts: Vec<String> = verdicts
            .into_iter()
            .map(|(what, is_met)| format!("{what}: {}", if is_met { "ok" } else { "MISSED" }))
            .collect();
        self.ours.push(vec![
            work.name().to_owned(),
            grouped(u64::from(ranks)),
            grouped(answer.rows),
            millis(times.median),
            format!("{} to {}", millis(times.min), millis(times.max)),
            millis(times.first),
            bytes(memory.own),
            per_answer,
            bytes(memory.peak),
            verdicts.join("; "),
        ]);
    }

    pub(crate) fn peer(
        &mut self,
        work: Work,
        ranks: u32,
        ours: &Measured,
        peer: Peer,
        outcome: Outcome,
    ) {
        let mut row =
            vec![work.name().to_owned(), grouped(u64::from(ranks)), peer.name().to_owned()];
        match outcome {
            Outcome::Measured(theirs) => {
                if ![ours.answer.rows, UNKNOWN_ROWS].contains(&theirs.answer.rows) {
                    self.notes.push(format!(
                        "{} at {} ranks: {} gives {} rows, Parallax {}",
                        work.name(),
                        grouped(u64::from(ranks)),
                        peer.name(),
                        grouped(theirs.answer.rows),
                        grouped(ours.answer.rows),
                    ));
                }
                let difference = (theirs.answer.sum - ours.answer.sum).abs();
                if difference > 1e-9 * ours.answer.sum.abs() {
                    self.notes.push(format!(
                        "{} at {} ranks: the values of {} sum up to {}, those of Parallax to {}",
                        work.name(),
                        grouped(u64::from(ranks)),
                        peer.name(),
                        theirs.answer.sum,
                        ours.answer.sum,
                    ));
                }
                row.extend([
                    millis(theirs.times.median),
                    millis(ours.times.median),
                    ratio(theirs.times.median, ours.times.median),
                    bytes(theirs.memory.own),
                    bytes(ours.memory.own),
                    memory_ratio(theirs.memory.own, ours.memory.own),
                ]);
            }
            Outcome::Failed(why) => {
                let name = peer.name();
                self.notes.push(format!("{} at {ranks} ranks: {name} fails: {why}", work.name()));
                row.extend(["failed".to_owned(), millis(ours.times.median)]);
            }
            Outcome::Absent(why) => {
                let note = format!("{} is not available: {why}", peer.name());
                if !self.notes.contains(&note) {
                    self.notes.push(note);
                }
                row.extend(["not available".to_owned(), millis(ours.times.median)]);
            }
        }
        self.peers.push(row);
    }

    /// A row of two builds against each other.
    pub(crate) fn pair(&mut self, row: Vec<String>) {
        self.pairs.push(row);
    }

    pub(crate) fn print(&self) {
        println!("{}\n", self.machine);
        if !self.pairs.is_empty() {
            let heads =
                ["work", "ranks", "old", "middle half", "new", "middle half", "ratio", "verdict"];
            self.table(&["ranks", "contexts", "values", "samples", "on disk"], &self.databases);
            self.table(&heads, &self.pairs);
            return;
        }
        self.table(&["ranks", "contexts", "values", "samples", "on disk"], &self.databases);
        self.table(
            &[
                "work",
                "ranks",
                "rows",
                "median",
                "fastest to slowest",
                "first",
                "own memory",
                "x answer",
                "peak with files",
                "target",
            ],
            &self.ours,
        );
        if !self.peers.is_empty() {
            self.table(
                &[
                    "work",
                    "ranks",
                    "peer",
                    "peer's time",
                    "ours",
                    "ratio",
                    "peer's memory",
                    "ours",
                    "ratio",
                ],
                &self.peers,
            );
        }
        for note in &self.notes {
            println!("- {note}");
        }
        match self.num_missed {
            0 => println!("\nno target missed"),
            missed => println!("\ntargets missed: {missed}"),
        }
    }

    fn table(&self, heads: &[&str], rows: &[Vec<String>]) {
        let cell = |row: &Vec<String>, i: usize| row.get(i).cloned().unwrap_or_default();
        if self.format == Format::Markdown {
            println!("| {} |", heads.join(" | "));
            println!("|{}", "---|".repeat(heads.len()));
            for row in rows {
                let cells: Vec<String> = (0..heads.len()).map(|i| cell(row, i)).collect();
                println!("| {} |", cells.join(" | "));
            }
            println!();
            return;
        }
        let widths: Vec<usize> = (0..heads.len())
            .map(|i| {
                rows.iter().map(|row| cell(row, i).len()).max().unwrap_or(0).max(heads[i].len())
            })
            .collect();
        let print = |cells: Vec<String>| {
            let mut line = String::new();
            for (i, (text, &width)) in cells.iter().zip(&widths).enumerate() {
                // Words to the left, numbers to the right.
                let is_number = text.starts_with(|c: char| c.is_ascii_digit());
                let padded =
                    if is_number { format!("{text:>width$}") } else { format!("{text:<width$}") };
                line += if i == 0 { "" } else { "  " };
                line += &padded;
            }
            println!("{}", line.trim_end());
        };
        print(heads.iter().map(|&head| head.to_owned()).collect());
        for row in rows {
            print((0..heads.len()).map(|i| cell(row, i)).collect());
        }
        println!();
    }
}

/// A time with a unit that suits it.
pub(crate) fn millis(millis: f64) -> String {
    match millis {
        t if t >= 10_000.0 => format!("{:.1} s", t / 1e3),
        t if t >= 1_000.0 => format!("{:.2} s", t / 1e3),
        t if t >= 100.0 => format!("{t:.0} ms"),
        t if t >= 10.0 => format!("{t:.1} ms"),
        t => format!("{t:.2} ms"),
    }
}

/// Bytes in decimal units.
fn bytes(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{:.2} GB", b / 1e9),
        b if b >= 1e7 => format!("{:.0} MB", b / 1e6),
        b => format!("{:.1} MB", b / 1e6),
    }
}

fn ratio(theirs: f64, ours: f64) -> String {
    match theirs / ours.max(f64::MIN_POSITIVE) {
        ratio if !ratio.is_finite() || ours <= 0.0 => "-".to_owned(),
        ratio if ratio >= 10.0 => format!("{ratio:.0}"),
        ratio => format!("{ratio:.1}"),
    }
}

/// A ratio to less than a megabyte says more about the allocator than about the work.
fn memory_ratio(theirs: u64, ours: u64) -> String {
    if ours < 1_000_000 { "-".to_owned() } else { ratio(theirs as f64, ours as f64) }
}

/// A count with commas.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
