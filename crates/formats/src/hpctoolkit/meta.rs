//! `meta.db`: everything but values and samples.

use std::sync::Arc;

use parallax_base::{ByteSource, Issues, Limits, Place, Severity, Stage, read_range};

use super::context::{self, Contexts, NONE, Tables};
use super::header::{FileKind, Header, Section};
use super::layout::{self, file, function, identifier_names, table};
use super::metrics::{self, MetricRecord, ScopeRecord};
use super::names::Names;
use super::record::{Record, Table};
use crate::FormatError;

/// A load module: an executable or a shared library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleRecord {
    /// Path on the measured machine.
    pub path: Arc<str>,
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFileRecord {
    /// Path: absolute, or relative to the database when it was copied into it.
    pub path: Arc<str>,
    /// Whether the database claims to hold a copy.
    pub is_copied: bool,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionRecord {
    /// Name; `None` for an anonymous one.
    pub name: Option<Arc<str>>,
    /// Row of the module table, or [`NONE`].
    pub module: u32,
    /// Offset of the entry in the module.
    pub offset: u64,
    /// Row of the source file table, or [`NONE`].
    pub file: u32,
    /// Line of the definition; 0 when unknown.
    pub line: u32,
}

/// The content of `meta.db`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaDb {
    /// Whether the file has the layout of the 2022 draft.
    pub is_draft: bool,
    /// Name of the measured program.
    pub title: Arc<str>,
    /// Free text of the writer.
    pub description: Arc<str>,
    /// Names of identifier kinds; identity tuples hold indices into this.
    pub identifier_kinds: Vec<Arc<str>>,
    /// Propagation scopes.
    pub scopes: Vec<ScopeRecord>,
    /// Metrics.
    pub metrics: Vec<MetricRecord>,
    /// Load modules.
    pub modules: Vec<ModuleRecord>,
    /// Source files.
    pub files: Vec<SourceFileRecord>,
    /// Functions.
    pub functions: Vec<FunctionRecord>,
    /// The calling context tree.
    pub contexts: Contexts,
}

// Sections in header order.
const GENERAL: usize = 0;
const IDENTIFIERS: usize = 1;
const METRICS: usize = 2;
const CONTEXT: usize = 3;
const MODULES: usize = 5;
const FILES: usize = 6;
const FUNCTIONS: usize = 7;
const NUM_SECTIONS: u64 = 8;

impl MetaDb {
    /// Reads the whole file.
    ///
    /// Broken records are reported to `issues` and left out or replaced by a placeholder; columns
    /// keep their numbering so that what points to them stays right.
    ///
    /// # Errors
    /// When the file is not a `meta.db` of version 4, cannot be read, or is larger than `limits`
    /// allow for metadata.
    pub fn read(
        source: &dyn ByteSource,
        limits: &Limits,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        let file = FileKind::Meta.file_name();
        let header = Header::read(source, FileKind::Meta, NUM_SECTIONS, issues)?;
        limits
            .metadata("the metadata of the database", source.len())
            .map_err(|cause| FormatError::Limit { file: file.into(), cause })?;
        let bytes = read_range(source, 0, source.len()).map_err(|e| FormatError::read(file, e))?;
        let meta = Record::new(&bytes);
        let mut names = Names::new(meta);
        let mut reader = Reader { meta, names: &mut names, issues };

        let general = header.section(GENERAL).start;
        let title = reader.name(general + layout::general::TITLE, "title of the program");
        let description = reader.name(general + layout::general::DESCRIPTION, "description");
        let identifier_kinds = reader.identifier_kinds(header.section(IDENTIFIERS));
        let modules_table = reader.table(header.section(MODULES), layout::module::SIZE, "module");
        let files_table = reader.table(header.section(FILES), file::SIZE, "source file");
        let functions_table = reader.table(header.section(FUNCTIONS), function::SIZE, "function");
        let tables =
            Tables { functions: functions_table, files: files_table, modules: modules_table };
        let modules = reader.modules(modules_table);
        let files = reader.files(files_table);
        let functions = reader.functions(&tables);
        let metrics = metrics::read(meta, &mut names, header.section(METRICS), issues);
        let contexts = context::read(
            meta,
            &mut names,
            header.section(CONTEXT),
            &tables,
            metrics.is_draft,
            limits,
            issues,
        );
        Ok(Self {
            is_draft: metrics.is_draft,
            title,
            description,
            identifier_kinds,
            scopes: metrics.scopes,
            metrics: metrics.metrics,
            modules,
            files,
            functions,
            contexts,
        })
    }
}

struct Reader<'a, 'i> {
    meta: Record<'a>,
    names: &'i mut Names<'a>,
    issues: &'i mut Issues,
}

impl Reader<'_, '_> {
    fn fault(&mut self, offset: u64, what: impl FnOnce() -> String) {
        let place = Place::Byte { file: FileKind::Meta.file_name().into(), offset };
        self.issues.report(Severity::Error, Stage::Read, "metadata-record", place, what);
    }

    /// The string whose pointer is at `at`.
    fn name(&mut self, at: u64, what: &str) -> Arc<str> {
        let pointer = self.meta.u64(at);
        pointer.and_then(|pointer| self.names.get(pointer)).unwrap_or_else(|| {
            self.fault(at, || format!("the {what} cannot be read"));
            format!("<unreadable {what}>").into()
        })
    }

    fn identifier_kinds(&mut self, section: Section) -> Vec<Arc<str>> {
        let start = self.meta.u64(section.start + identifier_names::NAMES).unwrap_or(0);
        let count = self.meta.u8(section.start + identifier_names::COUNT).unwrap_or(0).into();
        let (table, lost) = Table::clamped(start, count, 8, self.meta.len());
        if lost > 0 {
            self.fault(section.start, || {
                format!("{lost} of {count} identifier kinds lie outside the file")
            });
        }
        (0..table.len).map(|i| self.name(table.at(i), "identifier kind")).collect()
    }

    /// A table described by the common (pointer, count, stride) header.
    fn table(&mut self, section: Section, least: u64, what: &str) -> Table {
        let start = self.meta.u64(section.start + table::START).unwrap_or(0);
        let count = self.meta.u32(section.start + table::COUNT).unwrap_or(0).into();
        let stride = self.meta.u16(section.start + table::STRIDE).unwrap_or(0).into();
        if count > 0 && stride < least {
            self.fault(section.start, || {
                format!("{what} records of {stride} bytes are too short for their {least} bytes")
            });
            return Table { start, len: 0, stride };
        }
        let (table, lost) = Table::clamped(start, count, stride, self.meta.len());
        if lost > 0 {
            self.fault(section.start, || {
                format!("{lost} of {count} {what} records lie outside the file; they are omitted")
            });
        }
        table
    }

    fn modules(&mut self, table: Table) -> Vec<ModuleRecord> {
        let name =
            |i| ModuleRecord { path: self.name(table.at(i) + layout::module::PATH, "module path") };
        (0..table.len).map(name).collect()
    }

    fn files(&mut self, table: Table) -> Vec<SourceFileRecord> {
        let record = |i| {
            let at = table.at(i);
            let is_copied = self.meta.u32(at + file::FLAGS).unwrap_or(0) & 1 != 0;
            SourceFileRecord { path: self.name(at + file::PATH, "source file path"), is_copied }
        };
        (0..table.len).map(record).collect()
    }

    fn functions(&mut self, tables: &Tables) -> Vec<FunctionRecord> {
        let mut out = Vec::new();
        for i in 0..tables.functions.len {
            let at = tables.functions.at(i);
            let meta = self.meta;
            let word = |field: u64| meta.u64(at + field).unwrap_or(0);
            let (module, offset) = (word(function::MODULE), word(function::OFFSET));
            let name = (word(function::NAME) != 0)
                .then(|| self.name(at + function::NAME, "function name"));
            out.push(FunctionRecord {
                name,
                module: self.row(at, module, tables.modules, "module"),
                offset,
                file: self.row(at, word(function::FILE), tables.files, "source file"),
                line: self.meta.u32(at + function::LINE).unwrap_or(0),
            });
        }
        out
    }

    fn row(&mut self, at: u64, pointer: u64, table: Table, what: &str) -> u32 {
        if pointer == 0 {
            return NONE;
        }
        let row = table.index_of(pointer).and_then(|i| u32::try_from(i).ok());
        row.unwrap_or_else(|| {
            self.fault(at, || format!("offset {pointer} is not the start of a {what}"));
            NONE
        })
    }
}
