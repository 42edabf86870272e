//! Writing an archive: rows go to their tables batch by batch, the manifest comes last.

use std::sync::Arc;

use arrow_schema::ArrowError;
use parallax_base::FolderSink;

use super::records::{Fact, Record};
use super::table::{ColumnData, Layout, TableWriter};
use super::{TABLES, VERSION, keys};

/// Writes the tables of an archive into a folder.
pub struct ArchiveWriter {
    sink: Arc<dyn FolderSink>,
    tables: Vec<(&'static Layout, TableWriter)>,
}

/// Why an archive could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {file}: {cause}")]
pub struct WriteError {
    /// Which of its files.
    pub file: &'static str,
    /// What the storage said.
    pub cause: ArrowError,
}

impl ArchiveWriter {
    /// Begins all tables in `sink`; the manifest is written by [`ArchiveWriter::finish`].
    ///
    /// # Errors
    /// When a file cannot be made.
    pub fn new(sink: Arc<dyn FolderSink>) -> Result<Self, WriteError> {
        let tables = TABLES.iter().map(|&layout| Ok((layout, begin(&*sink, layout)?)));
        let tables = tables.collect::<Result<_, _>>()?;
        Ok(Self { sink, tables })
    }

    /// Writes `rows` as one batch of their table.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write<R: Record>(&mut self, rows: Vec<R>) -> Result<(), WriteError> {
        self.write_columns(R::LAYOUT, R::columns(rows))
    }

    /// Writes one batch of a table from columns in its order.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_columns(
        &mut self,
        layout: &'static Layout,
        columns: Vec<ColumnData>,
    ) -> Result<(), WriteError> {
        let file = layout.file;
        let fail = |cause| WriteError { file, cause };
        let Some((_, table)) = self.tables.iter_mut().find(|(known, _)| known.file == file) else {
            let cause = ArrowError::InvalidArgumentError("no table of an archive".into());
            return Err(fail(cause));
        };
        table.write(columns).map_err(fail)
    }

    /// A writer of the same archive that continues all of its tables in `sink`, whose files are what
    /// follows the bytes of [`ArchiveWriter::lengths`]. This one goes on as if nothing had happened.
    ///
    /// # Errors
    /// When what was written cannot be handed to the storage, or a file cannot be made.
    pub fn fork(&mut self, sink: Arc<dyn FolderSink>) -> Result<Self, WriteError> {
        let fork = |(layout, table): &mut (&'static Layout, TableWriter)| {
            let fail = |cause| WriteError { file: layout.file, cause };
            let file = sink.create(layout.file).map_err(|e| fail(io_error(e)))?;
            Ok((*layout, table.fork(file).map_err(fail)?))
        };
        let tables = self.tables.iter_mut().map(fork).collect::<Result<_, _>>()?;
        Ok(Self { sink, tables })
    }

    /// The files of all tables, and how long they are so far.
    pub fn lengths(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.tables.iter().map(|(layout, table)| (layout.file, table.len_bytes()))
    }

    /// Ends all tables and writes the manifest: from now on it is an archive.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn finish(self, facts: Vec<(String, String)>) -> Result<(), WriteError> {
        for (layout, table) in self.tables {
            table.finish().map_err(|cause| WriteError { file: layout.file, cause })?;
        }
        let layout = Fact::LAYOUT;
        let fail = |cause| WriteError { file: layout.file, cause };
        let version = (keys::VERSION.to_owned(), VERSION.to_string());
        let facts = [version].into_iter().chain(facts);
        let facts = facts.map(|(key, value)| Fact { key, value }).collect();
        let mut manifest = begin(&*self.sink, layout)?;
        manifest.write(Fact::columns(facts)).map_err(fail)?;
        manifest.finish().map_err(fail)
    }
}

fn begin(sink: &dyn FolderSink, layout: &'static Layout) -> Result<TableWriter, WriteError> {
    let fail = |cause| WriteError { file: layout.file, cause };
    let file = sink.create(layout.file).map_err(|e| fail(io_error(e)))?;
    TableWriter::new(layout, file).map_err(fail)
}

fn io_error(error: std::io::Error) -> ArrowError {
    ArrowError::IoError(error.to_string(), error)
}
