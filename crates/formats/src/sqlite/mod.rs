//! SQLite databases: tables read from the b-tree format of the file, without SQLite.
//!
//! Only what an analysis of recorded data needs: tables are scanned in the order of their rows.
//! Nothing is written, no index is used, and a journal next to the file is not replayed. The format
//! is described in FORMAT.md; why there is a reader of our own is in ADR 0022.

mod btree;
mod header;
mod pages;
mod record;
mod schema;

use std::ops::ControlFlow;

use parallax_base::{ByteSource, Issues, Limits, Place, Severity, Source, Stage, read_range};

use crate::FormatError;

pub use header::{Encoding, Header};
pub use record::{Row, Value};
pub use schema::{Column, Table};

/// The first bytes of every database.
pub const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Page 1 starts with a header of this length.
pub(crate) const HEADER_LEN: u64 = 100;

/// Whether a file is a database of SQLite, by its first bytes.
#[must_use]
pub fn is_sqlite(source: &dyn ByteSource) -> bool {
    read_range(source, 0, MAGIC.len() as u64).is_ok_and(|bytes| *bytes == MAGIC[..])
}

/// An open database: its header and the tables of its schema.
#[derive(Clone)]
pub struct Database {
    source: Source,
    file: String,
    header: Header,
    tables: Vec<Table>,
    limits: Limits,
}

impl Database {
    /// Reads the header and the schema. `file` names the source in messages.
    ///
    /// # Errors
    /// When the source is no database, or its schema cannot be read.
    pub fn open(
        source: Source,
        file: &str,
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        let header = Header::read(&*source, file)?;
        let place = || Place::File { file: file.to_owned() };
        if header.is_write_ahead {
            issues.report(Severity::Note, Stage::Read, "write-ahead-log", place(), || {
                format!(
                    "the database was written with a write-ahead log; if {file}-wal is next to it, \
                     what is only there is not read (open and close it with SQLite once)"
                )
            });
        }
        let wanted = u64::from(header.page_count) * u64::from(header.page_size);
        if wanted > source.len() {
            issues.report(Severity::Error, Stage::Read, "file-cut", place(), || {
                format!(
                    "the file has {} bytes, but its header says {wanted}; the copy may be \
                     incomplete, and rows in the missing part are omitted",
                    source.len()
                )
            });
        }
        let mut database =
            Self { source, file: file.to_owned(), header, tables: Vec::new(), limits: *limits };
        database.tables = schema::read(&database, issues)?;
        Ok(database)
    }

    /// The tables, in the order in which they were created.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The table of a name, in any case, as SQLite compares names.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// What the first bytes say.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The name of the file in messages.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Number of bytes of the file.
    #[must_use]
    pub fn len_bytes(&self) -> u64 {
        self.source.len()
    }

    /// Calls `visit` with each row of `table`, in order of their row numbers, until it breaks.
    /// Damaged pages and rows are left out and reported.
    ///
    /// # Errors
    /// When the table is kept in a way that is not read, or the source fails.
    pub fn scan(
        &self,
        table: &Table,
        issues: &mut Issues,
        visit: &mut dyn FnMut(&Row<'_>) -> ControlFlow<()>,
    ) -> Result<(), FormatError> {
        if table.is_without_rowid {
            return Err(FormatError::Unsupported {
                file: self.file.clone(),
                what: format!("a database whose table {} is kept WITHOUT ROWID", table.name),
                hint: "copy the table into an ordinary one with SQLite",
            });
        }
        btree::scan(self, table, issues, visit)
    }
}

/// Reads pages of a table again whose numbers are known from a scan.
pub struct Leaves {
    database: Database,
    table: Table,
    buffers: btree::Buffers,
}

impl Leaves {
    /// A reader of the leaves of `table`.
    #[must_use]
    pub fn new(database: &Database, table: &Table) -> Self {
        let buffers = btree::Buffers::new(database);
        Self { database: database.clone(), table: table.clone(), buffers }
    }

    /// Calls `visit` with each row of a page that [`Row::page`] named. Damaged rows are not visited;
    /// the scan has reported them.
    ///
    /// # Errors
    /// When the source fails.
    pub fn visit(&mut self, page: u32, visit: &mut dyn FnMut(&Row<'_>)) -> Result<(), FormatError> {
        let Self { database, table, buffers } = self;
        let mut known = Issues::new();
        let mut each = |row: &Row<'_>| {
            visit(row);
            ControlFlow::Continue(())
        };
        btree::leaf(database, table, buffers, page, &mut known, &mut each).map(|_| ())
    }
}
