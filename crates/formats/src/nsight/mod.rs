//! SQLite exports of Nsight Systems: rows of threads, GPUs, calls, ranges and samples.
//!
//! Tables are created by the exporter when they are needed, and columns come and go with versions:
//! both are looked for by name, never assumed. See FORMAT.md next to this file.

mod rows;

use std::collections::HashMap;
use std::ops::ControlFlow;

use parallax_base::{Issues, Limits, Source};

use crate::FormatError;
use crate::sqlite::{self, Column, Database, Row, Table};

pub use rows::{
    CallRow, ContextStream, CopyRow, FactRow, FillRow, FrameRow, GpuRow, GraphRow, KernelRow,
    MessageRow, NvtxRow, ProcessRow, RankRow, SampleRow, StartRow, StreamName, ThreadRow, Work,
    memory_kind,
};

/// The first bytes of a report (`.nsys-rep`, `.qdrep`), before it is exported.
const REPORT_MAGIC: &[u8] = b"NVIDIA Tegra Profiler Report";

/// The table that has all texts.
const STRINGS: &str = "StringIds";
/// One of these is in every export.
const ABOUT: [&str; 2] = ["TARGET_INFO_SESSION_START_TIME", "TARGET_INFO_GPU"];

/// About what a text takes besides itself.
const TEXT_BYTES: u64 = 48;

/// Whether a file is a database that `nsys export --type sqlite` wrote. Reads the schema.
#[must_use]
pub fn is_nsight(source: &Source) -> bool {
    if !sqlite::is_sqlite(&**source) {
        return false;
    }
    let database =
        Database::open(Source::clone(source), "", &Limits::default(), &mut Issues::new());
    database.is_ok_and(|database| is_export(&database))
}

/// Whether `head` is of a report, which only tools of Nsight Systems read.
#[must_use]
pub fn is_report(head: &[u8]) -> bool {
    head.starts_with(REPORT_MAGIC)
}

fn is_export(database: &Database) -> bool {
    let has = |name: &str| database.table(name).is_some();
    has(STRINGS) && ABOUT.into_iter().any(has)
}

/// The process of a `globalTid`, which has virtual machine and process before the thread.
#[must_use]
pub const fn process_of(thread: i64) -> i64 {
    thread & !0xff_ffff
}

/// The number that the system has for the process of a `globalTid` or `globalPid`.
#[must_use]
pub const fn pid_of(id: i64) -> u64 {
    (id.cast_unsigned() >> 24) & 0xff_ffff
}

/// The number that the system has for the thread of a `globalTid`; 0 in the rows of processes.
#[must_use]
pub const fn tid_of(thread: i64) -> u64 {
    thread.cast_unsigned() & 0xff_ffff
}

/// A table of which every row is a call of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTable {
    /// Its name.
    pub name: String,
    /// What the functions are of: `cuda`, `osrt`, `MPI`.
    pub group: String,
}

/// Texts by their number.
#[derive(Debug, Default)]
pub struct Strings {
    texts: HashMap<i64, Box<str>>,
}

impl Strings {
    /// The text of a number; `None` where the table lacks it.
    #[must_use]
    pub fn get(&self, id: i64) -> Option<&str> {
        self.texts.get(&id).map(|text| &**text)
    }
}

/// A row of one or several tables.
pub trait Record: Sized {
    /// The columns that are wanted, in the order in which [`Cells`] has them.
    const COLUMNS: &'static [&'static str];

    /// The row.
    fn read(cells: &Cells<'_>) -> Self;
}

/// The wanted columns of a row.
pub struct Cells<'c> {
    columns: &'c [Column],
    row: &'c Row<'c>,
}

impl Cells<'_> {
    /// A whole number; `None` for null, for a column that the table lacks, and for other types.
    #[must_use]
    pub fn integer(&self, at: usize) -> Option<i64> {
        self.row.integer(*self.columns.get(at)?)
    }

    /// As [`Cells::integer`], where it cannot be negative.
    #[must_use]
    pub fn unsigned(&self, at: usize) -> Option<u64> {
        u64::try_from(self.integer(at)?).ok()
    }

    /// A text; `None` for null and for a column that the table lacks.
    #[must_use]
    pub fn text(&self, at: usize) -> Option<String> {
        self.row.text(*self.columns.get(at)?)
    }
}

/// An open export.
pub struct NsightDb {
    database: Database,
}

impl NsightDb {
    /// Reads the schema. `file` names the source in messages.
    ///
    /// # Errors
    /// When the source is no database of SQLite, its schema cannot be read, or it is no export.
    pub fn open(
        source: Source,
        file: &str,
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        let database = Database::open(source, file, limits, issues)?;
        if !is_export(&database) {
            return Err(FormatError::NotThisFormat {
                file: file.to_owned(),
                expected: "an SQLite export of Nsight Systems",
                found: format!("a database of SQLite without {STRINGS} or {}", ABOUT.join(", ")),
            });
        }
        Ok(Self { database })
    }

    /// The name of the file in messages.
    #[must_use]
    pub fn file(&self) -> &str {
        self.database.file()
    }

    /// Number of bytes of the file.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.database.len_bytes()
    }

    /// All texts.
    ///
    /// # Errors
    /// When the source fails, or they are more than the limits allow.
    pub fn strings(&self, limits: &Limits, issues: &mut Issues) -> Result<Strings, FormatError> {
        let (mut strings, mut bytes) = (Strings::default(), 0_u64);
        self.scan(STRINGS, issues, |(text, _): (TextRow, u64)| {
            if let (Some(id), Some(text)) = (text.id, text.value) {
                bytes += text.len() as u64 + TEXT_BYTES;
                limits
                    .metadata("the texts of the trace", bytes)
                    .map_err(|cause| FormatError::Limit { file: self.file().to_owned(), cause })?;
                strings.texts.insert(id, text.into_boxed_str());
            }
            Ok::<(), FormatError>(())
        })?;
        Ok(strings)
    }

    /// The tables of calls: of those that enclose others at the same time, the outer ones first.
    #[must_use]
    pub fn call_tables(&self) -> Vec<CallTable> {
        let tables = self.database.tables().iter().filter(|table| is_of_calls(table));
        let mut tables: Vec<CallTable> = tables
            .map(|table| CallTable { name: table.name.clone(), group: group_of(&table.name) })
            .collect();
        let is_inner = |table: &CallTable| match table.group.as_str() {
            "osrt" => 2,
            "cuda" => 1,
            _ => 0,
        };
        tables.sort_by_key(is_inner);
        tables
    }

    /// Whether there is a table of this name with a column of that name.
    #[must_use]
    pub fn has(&self, table: &str, column: &str) -> bool {
        self.database.table(table).is_some_and(|table| table.has(column))
    }

    /// Tables with rows of events or call stacks that are not among `read`.
    ///
    /// # Errors
    /// When the source fails.
    pub fn others(&self, read: &[&str]) -> Result<Vec<String>, FormatError> {
        let mut out = Vec::new();
        for table in self.database.tables() {
            let is_of_events = ["start", "timestamp", "rawTimestamp", "stackDepth"];
            let is_read = read.iter().any(|name| table.name.eq_ignore_ascii_case(name))
                || is_of_calls(table)
                || table.is_without_rowid;
            if is_read || !is_of_events.into_iter().any(|column| table.has(column)) {
                continue;
            }
            let mut has_rows = false;
            self.database.scan(table, &mut Issues::new(), &mut |_| {
                has_rows = true;
                ControlFlow::Break(())
            })?;
            if has_rows {
                out.push(table.name.clone());
            }
        }
        Ok(out)
    }

    /// Calls `visit` with each row of a table and about how many bytes of the file it takes, in
    /// order, until that fails; nothing where the table is not there.
    ///
    /// # Errors
    /// When the source fails, or `visit` does.
    pub fn scan<R: Record, E: From<FormatError>>(
        &self,
        table: &str,
        issues: &mut Issues,
        mut visit: impl FnMut((R, u64)) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(table) = self.database.table(table) else { return Ok(()) };
        let columns: Vec<Column> = R::COLUMNS.iter().map(|name| table.column(name)).collect();
        let mut failed = None;
        self.database.scan(table, issues, &mut |row| {
            let record = R::read(&Cells { columns: &columns, row });
            match visit((record, row.len_bytes())) {
                Ok(()) => ControlFlow::Continue(()),
                Err(cause) => {
                    failed = Some(cause);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }
}

/// A row of [`STRINGS`].
struct TextRow {
    id: Option<i64>,
    value: Option<String>,
}

impl Record for TextRow {
    const COLUMNS: &'static [&'static str] = &["id", "value"];

    fn read(cells: &Cells<'_>) -> Self {
        Self { id: cells.integer(0), value: cells.text(1) }
    }
}

/// Tables that have the columns of calls and are none: marks, frames of graphics, what the
/// measurement itself costs, and second records of what tables of calls have.
const NO_CALLS: [&str; 5] = ["NVTX", "WORKLOAD", "DEBUG", "OVERHEAD", "CUDA_GRAPH"];

fn is_of_calls(table: &Table) -> bool {
    let name = table.name.to_ascii_uppercase();
    ["start", "end", "globalTid"].into_iter().all(|column| table.has(column))
        && ["nameId", "textId"].into_iter().any(|column| table.has(column))
        && !NO_CALLS.into_iter().any(|part| name.contains(part))
}

/// What the functions of a table of calls are of.
fn group_of(table: &str) -> String {
    const GROUPS: [(&str, &str); 7] = [
        ("CUPTI_ACTIVITY_KIND_RUNTIME", "cuda"),
        ("CUPTI_ACTIVITY_KIND_OPENACC", "OpenACC"),
        ("OSRT", "osrt"),
        ("MPI_", "MPI"),
        ("CUDNN", "cuDNN"),
        ("CUBLAS", "cuBLAS"),
        ("OPENMP", "OpenMP"),
    ];
    let known = GROUPS.iter().find(|(start, _)| table.starts_with(start));
    let bare = || ["_API", "_EVENTS"].iter().find_map(|end| table.strip_suffix(end));
    known.map_or_else(|| bare().unwrap_or(table), |(_, group)| group).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_processes_and_threads_are_parts_of_one() {
        let id = 302_119_224_788_643;
        assert_eq!((pid_of(id), tid_of(id)), (1_230_493, 1_230_499));
        assert_eq!((process_of(id), tid_of(process_of(id))), (302_119_223_558_144, 0));
        // Numbers of machines may reach the highest bit.
        assert_eq!(pid_of(-144_115_188_075_855_872), 0);
    }

    #[test]
    fn reports_are_known_by_their_first_bytes() {
        assert!(is_report(b"NVIDIA Tegra Profiler Report 2024@5@1@113"));
        assert!(!is_report(b"NVIDIA") && !is_report(b""));
    }
}
