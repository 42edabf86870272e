//! The common header, the section table and the footer; recognising files.

use parallax_base::{ByteSource, Issues, Place, Severity, Stage, read_range};

use super::layout::{FOOTER_BYTES, FOOTER_SIZE, MAGIC, MAJOR, header, section_pair};
use super::record::Record;
use crate::FormatError;

/// One of the four files of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Metrics, identifier kinds, modules, files, functions and the calling context tree.
    Meta,
    /// Values by profile.
    Profile,
    /// The same values by context.
    Context,
    /// Traces.
    Trace,
}

impl FileKind {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Meta, Self::Profile, Self::Context, Self::Trace];

    /// The name of the file inside a database folder.
    #[must_use]
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Meta => "meta.db",
            Self::Profile => "profile.db",
            Self::Context => "cct.db",
            Self::Trace => "trace.db",
        }
    }

    pub(super) const fn code(self) -> &'static [u8; 4] {
        match self {
            Self::Meta => b"meta",
            Self::Profile => b"prof",
            Self::Context => b"ctxt",
            Self::Trace => b"trce",
        }
    }

    pub(super) const fn footer(self) -> &'static [u8; 8] {
        match self {
            Self::Meta => b"_meta.db",
            Self::Profile => b"_prof.db",
            Self::Context => b"__ctx.db",
            Self::Trace => b"trace.db",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Meta => "an HPCToolkit v4 meta.db",
            Self::Profile => "an HPCToolkit v4 profile.db",
            Self::Context => "an HPCToolkit v4 cct.db",
            Self::Trace => "an HPCToolkit v4 trace.db",
        }
    }
}

/// What the first bytes of a file say it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recognised {
    /// A file of a v4 database.
    V4(FileKind),
    /// A file of an HPCToolkit format older than v4, or raw measurements; it is named, not read.
    Old(&'static str),
    /// Something else.
    Foreign,
}

/// Looks at the first bytes (32 are enough; 512 to see through an XML prologue) of a file.
#[must_use]
pub fn recognise(prefix: &[u8]) -> Recognised {
    if let Some(rest) = prefix.strip_prefix(MAGIC) {
        let kind = FileKind::ALL.into_iter().find(|kind| rest.starts_with(kind.code()));
        return kind.map_or(Recognised::Foreign, Recognised::V4);
    }
    const OLD: [(&[u8], &str); 8] = [
        (b"HPCPROF-profdb__", "an HPCToolkit profile.db older than v4"),
        (b"HPCPROF-cctdb___", "an HPCToolkit cct.db older than v4"),
        (b"HPCPROF-tracedb_", "an HPCToolkit trace.db older than v4"),
        (b"HPCPROF-metricdb", "an HPCToolkit metric-db of database version 2 or 3"),
        (b"HPCPROF-", "an HPCToolkit database file older than v4"),
        (b"HPCRUN-profile__", "a raw HPCToolkit measurement (.hpcrun)"),
        (b"HPCRUN-trace____", "a raw HPCToolkit trace (.hpctrace)"),
        (b"HPCRUN-", "a raw HPCToolkit measurement"),
    ];
    if let Some((_, what)) = OLD.iter().find(|(magic, _)| prefix.starts_with(magic)) {
        return Recognised::Old(what);
    }
    let text = String::from_utf8_lossy(prefix);
    if text.contains("<HPCToolkitExperiment") || text.contains("hpc-experiment") {
        return Recognised::Old("an HPCToolkit experiment.xml (database version 2, 3 or early 4)");
    }
    if text.contains("<HPCToolkitStructure") {
        return Recognised::Old("an HPCToolkit structure file (.hpcstruct)");
    }
    Recognised::Foreign
}

/// One (size, pointer) pair of the section table; clamped to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) start: u64,
    pub(super) size: u64,
}

impl Section {
    pub(super) const fn end(self) -> u64 {
        self.start.saturating_add(self.size)
    }
}

/// The header of one file: which sections it has and where.
pub(super) struct Header {
    pub(super) sections: Vec<Section>,
}

impl Header {
    /// Reads the header and `count` section pairs; checks magic, major version and footer.
    ///
    /// A missing footer (a truncated or unfinished file) and sections that reach past the end are
    /// reported and clamped: what lies inside stays readable.
    pub(super) fn read(
        source: &dyn ByteSource,
        kind: FileKind,
        count: u64,
        issues: &mut Issues,
    ) -> Result<Self, FormatError> {
        let file = kind.file_name();
        let len = source.len();
        let prefix_len = len.min(header::SIZE);
        let prefix = read_range(source, 0, prefix_len).map_err(|e| FormatError::read(file, e))?;
        match recognise(&prefix) {
            Recognised::V4(found) if found == kind => {}
            Recognised::V4(found) => {
                return Err(FormatError::NotThisFormat {
                    file: file.into(),
                    expected: kind.description(),
                    found: format!("the header of {}", found.description()),
                });
            }
            Recognised::Old(what) => {
                return Err(FormatError::Unsupported {
                    file: file.into(),
                    what: what.into(),
                    hint: "run hpcprof of HPCToolkit 2023 or later on the measurements",
                });
            }
            Recognised::Foreign => {
                return Err(FormatError::NotThisFormat {
                    file: file.into(),
                    expected: kind.description(),
                    found: printable(&prefix),
                });
            }
        }
        let prefix = Record::new(&prefix);
        let (major, minor) = match (prefix.u8(header::MAJOR), prefix.u8(header::MINOR)) {
            (Some(major), Some(minor)) => (major, minor),
            _ => {
                return Err(FormatError::malformed(file, len, "the file ends inside its header"));
            }
        };
        if major != MAJOR {
            return Err(FormatError::Unsupported {
                file: file.into(),
                what: format!("of format version {major}.{minor}"),
                hint: "this program reads version 4",
            });
        }
        check_footer(source, kind, issues)?;

        let table = read_range(source, header::SIZE, count * section_pair::SIZE)
            .map_err(|_| FormatError::malformed(file, len, "the file ends in its section table"))?;
        let table = Record::new(&table);
        let mut sections = Vec::new();
        for i in 0..count {
            let at = i * section_pair::SIZE;
            let word = |field: u64| table.u64(at + field).unwrap_or(0);
            let (size, start) = (word(section_pair::LENGTH), word(section_pair::START));
            let room = len.saturating_sub(start);
            if size > room {
                let place = Place::Byte { file: file.into(), offset: header::SIZE + at };
                issues.report(Severity::Error, Stage::Read, "section-outside", place, || {
                    format!(
                        "section {i} claims {size} bytes at offset {start}, \
                         but the file has {len}; what lies inside is read"
                    )
                });
            }
            sections.push(Section { start: start.min(len), size: size.min(room) });
        }
        Ok(Self { sections })
    }

    /// Section `i`; empty when the table is shorter.
    pub(super) fn section(&self, i: usize) -> Section {
        self.sections.get(i).copied().unwrap_or(Section { start: 0, size: 0 })
    }
}

fn check_footer(
    source: &dyn ByteSource,
    kind: FileKind,
    issues: &mut Issues,
) -> Result<(), FormatError> {
    let file = kind.file_name();
    let len = source.len();
    let mut found = [0; FOOTER_BYTES];
    if len >= FOOTER_SIZE {
        let at = len - FOOTER_SIZE;
        source.read_at(at, &mut found).map_err(|e| FormatError::read(file, e))?;
    }
    if &found != kind.footer() {
        let place = Place::Byte { file: file.into(), offset: len };
        issues.report(Severity::Error, Stage::Read, "no-footer", place, || {
            format!(
                "the file does not end with {:?}: it is truncated or was not finished; \
                 what is complete is read",
                String::from_utf8_lossy(kind.footer())
            )
        });
    }
    Ok(())
}

/// The first bytes in readable form.
fn printable(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing (the file is empty)".into();
    }
    format!("\"{}\"", bytes.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_v4_old_and_foreign_files_apart() {
        assert_eq!(recognise(b"HPCTOOLKITprof\x04\0"), Recognised::V4(FileKind::Profile));
        assert!(matches!(recognise(b"HPCPROF-tracedb_..."), Recognised::Old(_)));
        let xml = br#"<?xml version="1.0"?><!DOCTYPE HPCToolkitExperiment><HPCToolkitExperiment version="2.2">"#;
        assert!(matches!(recognise(xml), Recognised::Old(_)));
        for foreign in [&b""[..], b"HPCTOOLKIT", b"HPCTOOLKITxxxx", b"\x7fELF", b"{}"] {
            assert_eq!(recognise(foreign), Recognised::Foreign);
        }
    }
}
