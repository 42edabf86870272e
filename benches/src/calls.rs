//! `parallax-benches calls [MEGABYTES...]`: databases of Parceive, from the file to calls, loops,
//! iterations and what they read and write.
//!
//! The peer is SQLite on the same file: reading every row of every table, which is less than any
//! processing must do, and the joins that Parceive's pipeline stores (callers, groups, references
//! of calls), with the indexes it makes. The paper's own time is for its machine.
//!
//! Each measurement is a process of its own, so that its memory is its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use parallax_base::{Limits, Source};
use parallax_import::open_file;
use parallax_native::MappedFile;
use parallax_testkit::parceive::Program;
use parallax_testkit::sqlite::Connection;

use crate::{machine, probe};

/// The first word of this benchmark's command line.
pub(crate) const COMMAND: &str = "calls";

/// Sizes, in megabytes, and the seconds that processing may take.
const SIZES: [u64; 2] = [4, 1_000];

/// What Parceive's pipeline makes of a database, by what it needs: who calls whom, groups, and what
/// calls read and write. Temporary tables, so that the file stays as it is.
const JOINS: &str = "
PRAGMA temp_store = MEMORY;
CREATE TEMP TABLE Callers AS
  SELECT c.Id, c.Thread, c.Function, c.Start, c.\"End\", s.Call AS Caller
  FROM Call c LEFT JOIN Instruction i ON i.Id = c.Instruction LEFT JOIN Segment s ON s.Id = i.Segment;
CREATE INDEX temp.ByCaller ON Callers(Function, Caller);
CREATE TEMP TABLE Groups AS
  SELECT Function, Caller, Thread, COUNT(*) AS Count, MIN(Start), MAX(\"End\"), SUM(\"End\" - Start)
  FROM Callers GROUP BY Function, Caller, Thread;
CREATE TEMP TABLE CallReference AS
  SELECT s.Call, a.Reference, SUM(a.Type = 1) AS Reads, SUM(a.Type = 2) AS Writes
  FROM Access a JOIN Instruction i ON i.Id = a.Instruction JOIN Segment s ON s.Id = i.Segment
  GROUP BY s.Call, a.Reference;
";

struct Way {
    name: &'static str,
    title: &'static str,
    work: fn(&Path) -> Result<u64>,
}

const WAYS: [Way; 3] = [
    Way { name: "ours", title: "Parallax, ready to be asked", work: ours },
    Way { name: "rows", title: "SQLite, every row", work: rows },
    Way { name: "joins", title: "SQLite, the joins of Parceive", work: joins },
];

/// Runs all sizes, or those that are named; with a way and a path, that measurement alone.
pub(crate) fn answer(words: &[String]) -> Result<()> {
    if let [way, path] = words
        && let Some(way) = WAYS.iter().find(|known| known.name == way)
    {
        let start = Instant::now();
        let count = (way.work)(Path::new(path))?;
        println!("{} {count} {}", start.elapsed().as_secs_f64(), probe::peak_bytes()?);
        return Ok(());
    }
    let sizes = words.iter().map(|word| word.parse().with_context(|| format!("`{word}`")));
    let mut sizes: Vec<u64> = sizes.collect::<Result<_>>()?;
    if sizes.is_empty() {
        sizes.extend(SIZES);
    }
    println!("{}\n", machine::describe());
    println!("| database | what | time | memory | |\n|---|---|---|---|---|");
    for size in sizes {
        let path = database(size)?;
        let bytes = std::fs::metadata(&path)?.len();
        let target = if bytes < 100_000_000 { 0.1 } else { 20.0 };
        for way in &WAYS {
            let (seconds, peak) = best(way, &path)?;
            let note = match way.name {
                "ours" if seconds <= target => format!("target {target} s: ok"),
                "ours" => format!("target {target} s: MISSED"),
                _ => String::new(),
            };
            let megabytes = bytes as f64 / 1e6;
            let what = way.title;
            println!(
                "| {megabytes:.1} MB | {what} | {seconds:.3} s | {} MiB | {note} |",
                peak >> 20
            );
        }
    }
    println!("\nThe paper: 8.77 s for 3.9 MB, on its authors' machine.");
    Ok(())
}

/// The fastest of three processes, and the most memory of any.
fn best(way: &Way, path: &Path) -> Result<(f64, u64)> {
    let mut best = (f64::INFINITY, 0);
    for _ in 0..3 {
        let mut command = Command::new(std::env::current_exe()?);
        let done = command.args([COMMAND, way.name]).arg(path).output()?;
        let text = String::from_utf8_lossy(&done.stdout);
        let mut words = text.split_whitespace();
        let (Some(seconds), Some(_), Some(peak)) = (words.next(), words.next(), words.next())
        else {
            bail!("{}: {}", way.title, String::from_utf8_lossy(&done.stderr));
        };
        best = (best.0.min(seconds.parse()?), best.1.max(peak.parse()?));
    }
    Ok(best)
}

/// A database of about so many megabytes, made once.
fn database(megabytes: u64) -> Result<PathBuf> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/bench-data"));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("calls-{megabytes}.db"));
    if !path.exists() {
        eprintln!("making {}", path.display());
        let unfinished = folder.join("calls-unfinished.db");
        drop(std::fs::remove_file(&unfinished));
        Program::of_size(megabytes * 1_000_000).write_file(&unfinished)?;
        std::fs::rename(&unfinished, &path)?;
    }
    Ok(path)
}

fn ours(path: &Path) -> Result<u64> {
    let source: Source = Arc::new(MappedFile::open(path)?);
    let experiment = open_file(&source, "calls.db", &Limits::default())?;
    let activations = experiment.activations.context("no activations")?;
    Ok(activations.tree.len() as u64 + activations.touches.len() as u64)
}

fn rows(path: &Path) -> Result<u64> {
    let connection = Connection::open(path)?;
    let mut names = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?;
    let names: Vec<String> =
        names.query_map([], |row| row.get(0))?.collect::<std::result::Result<_, _>>()?;
    let mut count = 0;
    for name in names {
        let mut table = connection.prepare(&format!("SELECT * FROM \"{name}\""))?;
        let columns = table.column_count();
        let mut rows = table.query([])?;
        while let Some(row) = rows.next()? {
            // A value is decoded when it is asked for.
            for column in 0..columns {
                count += u64::from(row.get_ref(column)?.as_i64().is_ok());
            }
        }
    }
    Ok(count)
}

fn joins(path: &Path) -> Result<u64> {
    let connection = Connection::open(path)?;
    connection.execute_batch(JOINS)?;
    let count = "SELECT (SELECT COUNT(*) FROM Groups) + (SELECT COUNT(*) FROM CallReference)";
    let count: i64 = connection.query_row(count, [], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}
