//! Databases of Parceive: rows of all of its tables, whatever the generation of the schema.
//!
//! Columns are looked for by name, never assumed: see FORMAT.md next to this file.

mod ids;
mod rows;
mod wall_clock;

use std::marker::PhantomData;
use std::ops::ControlFlow;

use parallax_base::{Issues, Limits, Place, Severity, Source, Stage};

use crate::FormatError;
use crate::sqlite::{self, Column, Database, Leaves, Row, Table};

pub use ids::{Ids, Key};
pub use rows::{
    AccessKind, AccessRow, CallRow, CallTagRow, ExecutionRow, FileRow, FunctionRow, ImageRow,
    InstructionKind, InstructionRow, InstructionTagRow, IterationRow, LoopRow, MemberRow,
    ReferenceRow, SegmentRow, TagInstanceRow, TagRow, ThreadRow,
};
pub use wall_clock::WallTime;

/// The tables by which a database of Parceive is known.
const REQUIRED: [&str; 4] = ["Call", "Segment", "Instruction", "Function"];

/// Whether a file is a database of Parceive: one of SQLite with its tables. Reads the schema.
#[must_use]
pub fn is_parceive(source: &Source) -> bool {
    if !sqlite::is_sqlite(&**source) {
        return false;
    }
    let database =
        Database::open(Source::clone(source), "", &Limits::default(), &mut Issues::new());
    database.is_ok_and(|database| missing(&database).next().is_none())
}

fn missing(database: &Database) -> impl Iterator<Item = &'static str> + '_ {
    REQUIRED.into_iter().filter(|name| database.table(name).is_none())
}

/// How old a schema is, for users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// Autumn 2015: ids may be text, loops have numbers, executions of loops have durations only.
    Y2015,
    /// Since summer 2016: all ids are numbers.
    Y2016,
}

impl Generation {
    /// The year.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Y2015 => "2015",
            Self::Y2016 => "2016",
        }
    }
}

/// An open database of Parceive.
pub struct ParceiveDb {
    database: Database,
    ids: Ids,
}

impl ParceiveDb {
    /// Reads the schema. `file` names the source in messages.
    ///
    /// # Errors
    /// When the source is no database of SQLite, its schema cannot be read, or it lacks a table
    /// without which nothing can be said.
    pub fn open(
        source: Source,
        file: &str,
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        let database = Database::open(source, file, limits, issues)?;
        let missing: Vec<_> = missing(&database).collect();
        if !missing.is_empty() {
            let names: Vec<_> =
                database.tables().iter().take(5).map(|table| table.name.as_str()).collect();
            return Err(FormatError::NotThisFormat {
                file: file.to_owned(),
                expected: "a database of Parceive",
                found: format!(
                    "a database of SQLite with the tables {}; {} are missing",
                    if names.is_empty() { "none".to_owned() } else { names.join(", ") },
                    missing.join(", ")
                ),
            });
        }
        Ok(Self { database, ids: Ids::default() })
    }

    /// How old the schema is.
    #[must_use]
    pub fn generation(&self) -> Generation {
        let has = |table: &str, column: &str| {
            self.database.table(table).is_some_and(|table| table.has(column))
        };
        let is_old = has("Loop", "No")
            || has("LoopIteration", "Segment")
            || (has("Segment", "Loop") && !has("Segment", "LoopIteration"));
        if is_old { Generation::Y2015 } else { Generation::Y2016 }
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

    /// Ids of text that were met so far.
    #[must_use]
    pub const fn ids(&self) -> &Ids {
        &self.ids
    }

    /// Calls `visit` with each row of a table, in order; nothing when the table is not there.
    ///
    /// # Errors
    /// When the source fails.
    pub fn scan<R: rows::FromRow>(
        &mut self,
        issues: &mut Issues,
        mut visit: impl FnMut(R),
    ) -> Result<(), FormatError> {
        self.scan_pages(issues, |row, _| visit(row))
    }

    /// As [`ParceiveDb::scan`], with the page that each row is in, for [`ParceiveDb::pages`].
    ///
    /// # Errors
    /// When the source fails.
    pub fn scan_pages<R: rows::FromRow>(
        &mut self,
        issues: &mut Issues,
        mut visit: impl FnMut(R, u32),
    ) -> Result<(), FormatError> {
        let Self { database, ids } = self;
        let Some(table) = R::TABLES.iter().find_map(|name| database.table(name)) else {
            return Ok(());
        };
        let columns = R::columns(table);
        let mut unusable = 0_u64;
        database.scan(table, issues, &mut |row: &Row<'_>| {
            match R::from_row(&columns, row, ids) {
                Some(found) => visit(found, row.page()),
                None => unusable += 1,
            }
            ControlFlow::Continue(())
        })?;
        if unusable > 0 {
            let place = Place::File { file: database.file().to_owned() };
            issues.report_many(
                Severity::Warning,
                Stage::Read,
                "row-without-id",
                place,
                unusable,
                || format!("a row of table {} lacks what it is known by; omitted", table.name),
            );
        }
        Ok(())
    }

    /// A reader that reads pages of a table again, while the table or another one is scanned.
    /// `None` when the table is not there.
    #[must_use]
    pub fn pages<R: rows::FromRow>(&self) -> Option<RowPages<R>> {
        let table = R::TABLES.iter().find_map(|name| self.database.table(name))?;
        let (columns, leaves) = (R::columns(table), Leaves::new(&self.database, table));
        Some(RowPages { leaves, columns, ids: Ids::default(), row: PhantomData })
    }

    /// Whether a table has a column.
    #[must_use]
    pub fn has(&self, table: &str, column: &str) -> bool {
        self.database.table(table).is_some_and(|table: &Table| table.has(column))
    }
}

/// Rows of one table, page by page. Ids that are text get other numbers here than in a scan.
pub struct RowPages<R> {
    leaves: Leaves,
    columns: Vec<Column>,
    ids: Ids,
    row: PhantomData<R>,
}

impl<R: rows::FromRow> RowPages<R> {
    /// Calls `visit` with each row of a page that a scan named, in the same order.
    ///
    /// # Errors
    /// When the source fails.
    pub fn visit(&mut self, page: u32, mut visit: impl FnMut(R)) -> Result<(), FormatError> {
        let Self { leaves, columns, ids, .. } = self;
        leaves.visit(page, &mut |row| {
            if let Some(found) = R::from_row(columns, row, ids) {
                visit(found);
            }
        })
    }
}
